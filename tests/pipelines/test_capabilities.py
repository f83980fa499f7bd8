"""Choice of agents for a task by their cards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import (
    Agent,
    AgentCard,
    ConfigurationError,
    ModelAgent,
    OutputField,
    Pipeline,
    Signature,
    Skill,
    select_best_agent,
    select_top_k_agents,
)
from journeygraph.nodes.agents import select
from journeygraph.nodes.agents.select import Match, choose, ranking_of

# A busy machine is slow, not wrong.

SHOP = (
    AgentCard(
        "billing_clerk",
        "Explains bills and what was charged.",
        [Skill("billing", examples=["What is this fee for?"], synonyms=["invoice", "payment"])],
    ),
    AgentCard(
        "TechSupport",
        "Solves technical faults of lines and devices.",
        [
            Skill("troubleshooting", synonyms=["internet", "wifi", "outage", "router"]),
            Skill("e-mail", "Sets up mail programs.", ["My inbox is empty since yesterday"]),
        ],
    ),
    AgentCard(
        "sales",
        "Sells phones and plans.",
        [Skill("ordering", examples=["Which plan is the cheapest?"], synonyms=["buy", "upgrade"])],
    ),
    AgentCard("rueckgabe", "Kümmert sich um Rückgaben und Erstattungen.", [Skill("Rücksendung")]),
    AgentCard("配送", "注文した商品の配送を追跡します", [Skill("配達状況", synonyms=["荷物"])]),
    AgentCard("envío", "Sigue los envíos y las devoluciones.", [Skill("paquetes")]),
    AgentCard(
        "code", "Reviews programs.", [Skill("review", synonyms=["c++", "c#", "pull request"])]
    ),
)

CHOSEN = [
    # word forms
    ("Two invoices are wrong", "billing_clerk"),
    ("who invoiced me?", "billing_clerk"),
    ("I PAID TWICE, please look at my payments", "billing_clerk"),
    ("what did you bill me for", "billing_clerk"),
    ("upgrading my contract", "sales"),
    ("Can I order a phone", "sales"),
    # slips of the pen, and compounds
    ("my internt is slow", "TechSupport"),
    ("the invioce", "billing_clerk"),
    ("troubleshoting", "TechSupport"),
    ("Rücksendungsfrist?", "rueckgabe"),
    # examples, hyphens, names in parts
    ("my inbox is empty", "TechSupport"),
    ("the cheapest plan", "sales"),
    ("my wi-fi is down", "TechSupport"),
    ("email does not arrive", "TechSupport"),
    ("I want tech support", "TechSupport"),
    ("get me the clerk", "billing_clerk"),
    # other languages and scripts, with and without their accents
    ("Ich warte auf meine Erstattung", "rueckgabe"),
    ("RUCKGABE", "rueckgabe"),
    ("荷物はどこですか", "配送"),
    ("配達状況を教えてください", "配送"),
    ("¿dónde está mi paquete?", "envío"),
    ("un envio perdido", "envío"),
    ("my C++ does not compile", "code"),
    ("a pull request in C#", "code"),
]


@pytest.mark.parametrize(("task", "name"), CHOSEN, ids=[task for task, _ in CHOSEN])
async def test_the_agent_whose_card_speaks_of_the_task_is_chosen(task: str, name: str) -> None:
    chosen = await choose(task, SHOP, 1)
    assert chosen.flags == ()
    assert chosen.matches[0].name == name
    assert 0 < chosen.matches[0].score <= 1


@pytest.mark.parametrize(
    "task",
    [
        "hello",
        "What is it that you do, please?",  # only the commonest words, which cards have as well
        "xylophone",
        "c",
        "ü",
        "料理",
    ],
)
async def test_a_task_that_no_card_speaks_of_goes_by_declared_order(task: str) -> None:
    chosen = await choose(task, SHOP, 2)
    assert chosen.matches == (Match("billing_clerk", 0.0), Match("TechSupport", 0.0))
    assert chosen.flags == ("selection_fallback:no_match",)


@pytest.mark.parametrize("task", ["", "  \n", "?!", "👍", "_"])
async def test_a_task_without_words_goes_by_declared_order(task: str) -> None:
    chosen = await choose(task, SHOP, 1)
    assert chosen.matches == (Match("billing_clerk", 0.0),)
    assert chosen.flags == ("selection_fallback:no_task",)


def test_equals_stay_in_declared_order() -> None:
    cards = [AgentCard(name, "Refunds.") for name in ("one", "two", "three")]
    assert [match.name for match in ranking_of(cards).ranked("refund")] == ["one", "two", "three"]
    back = cards[::-1]
    assert [match.name for match in ranking_of(back).ranked("refund")] == ["three", "two", "one"]


def test_a_key_word_counts_more_than_running_text() -> None:
    cards = [
        AgentCard("first", "Writes letters, not poems."),
        AgentCard("second", skills=[Skill("poems")]),
    ]
    assert ranking_of(cards).ranked("a poem")[0].name == "second"


def test_one_skill_that_fits_beats_many_that_touch() -> None:
    topics = ["contract", "review", "clause", "penalty"]
    jack = AgentCard("jack", skills=[Skill(f"{topic} printing") for topic in topics])
    lawyer = AgentCard("lawyer", skills=[Skill("contract clause review"), Skill("penalty")])
    first, second = ranking_of([jack, lawyer]).ranked("review the clause of my contract")
    assert (first.name, second.name) == ("lawyer", "jack")
    assert first.score > second.score


def test_what_a_task_says_besides_lowers_the_score() -> None:
    ranking = ranking_of(SHOP)
    whole, part = ranking.ranked("invoice")[0], ranking.ranked("invoice for my zeppelin")[0]
    assert whole == Match("billing_clerk", 1.0)
    assert 0 < part.score < 1


def test_a_word_of_another_language_counts_little() -> None:
    cards = [AgentCard("tailor", "Makes a hat."), AgentCard("rechnung", "Stellt Rechnungen aus.")]
    ranking = ranking_of(cards)
    assert ranking.ranked("Wer hat die Rechnungen?")[0].name == "rechnung"
    assert ranking.ranked("a hat")[0].name == "tailor"


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
CARDS = st.builds(
    AgentCard,
    WORDS,
    st.lists(WORDS, max_size=4).map(" ".join),
    st.lists(
        st.builds(Skill, WORDS, WORDS, st.lists(WORDS, max_size=2), st.lists(WORDS, max_size=2)),
        max_size=3,
    ),
)


@given(st.lists(CARDS, min_size=1, max_size=6), st.text(max_size=60), st.randoms())
def test_scores_are_shares_and_do_not_depend_on_the_order(
    cards: list[AgentCard], task: str, random: Random
) -> None:
    scores = ranking_of(cards).scores(task)
    assert all(0 <= score <= 1 for score in scores)
    ranked = [match.score for match in ranking_of(cards).ranked(task)]
    assert ranked == sorted(scores, reverse=True)
    order = random.sample(range(len(cards)), len(cards))
    assert ranking_of([cards[place] for place in order]).scores(task) == pytest.approx(
        [scores[place] for place in order]
    )


@given(st.lists(CARDS, min_size=1, max_size=6), st.data())
def test_whoever_says_what_a_card_says_gets_that_card_or_one_that_says_it_too(
    cards: list[AgentCard], data: Any
) -> None:
    meant = data.draw(st.sampled_from(cards))
    scores = ranking_of(cards).scores(meant.name)
    own = scores[cards.index(meant)]
    assert own >= max(scores) or pytest.approx(own) == max(scores)


def test_the_same_agents_are_read_once() -> None:
    assert ranking_of(SHOP) is ranking_of(list(SHOP))
    assert ranking_of(SHOP) is not ranking_of(SHOP[1:])
    same_words = AgentCard("billing_clerk", "Cooks.")
    assert ranking_of([same_words]) is not ranking_of([SHOP[0]])


@pytest.mark.parametrize(
    "task",
    ["ab cd " * 200_000, "ü" * 1_000_000, "żółć ńandu " * 100_000, "a-" * 500_000],
    ids=["words", "one word", "accents", "hyphens"],
)
async def test_a_very_long_task_does_not_hold_the_loop(task: str) -> None:
    chosen = await choose(task, SHOP, 1)
    assert [match.score for match in chosen.matches] == [0.0]


async def test_of_a_very_long_task_the_beginning_counts() -> None:
    assert (await choose("zeppelin " * 1000 + "invoice", SHOP, 1)).flags == ()
    late = await choose("zeppelin " * 2000 + "invoice", SHOP, 1)
    assert late.flags == ("selection_fallback:no_match",)


class Meanings:
    """Embeds texts by the topics that they touch, and counts what it was asked."""

    TOPICS = (
        ("bill", "invoice", "money", "cash", "costly"),
        ("internet", "wifi", "line", "connection", "surf"),
        ("phone", "plan", "handset"),
    )

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return [
            [1e-9, *(float(any(word in text.lower() for word in topic)) for topic in self.TOPICS)]
            for text in texts
        ]

    async def aembed(self, texts: Sequence[str]) -> list[list[float]]:
        return self.embed(texts)


def fresh() -> tuple[AgentCard, ...]:
    return (
        AgentCard("sales", "Sells phones."),
        AgentCard("billing", "Explains an invoice."),
        AgentCard("tech", "Mends the wifi."),
    )


@pytest.mark.parametrize("way", ["sync", "async", "awaitable"])
async def test_embeddings_find_what_shares_no_word(way: str) -> None:
    meanings, cards = Meanings(), fresh()
    ways: dict[str, Any] = {
        "sync": meanings.embed,
        "async": meanings.aembed,
        "awaitable": lambda texts: meanings.aembed(texts),
    }
    chosen = await choose("I cannot surf", cards, 1, ways[way])
    assert chosen.flags == ()
    assert chosen.matches == (Match("tech", 0.5),)  # all of its meaning, none of its words
    assert (await choose("I cannot surf", cards, 1)).flags == ("selection_fallback:no_match",)


async def test_words_and_meaning_count_half_each() -> None:
    chosen = await choose("wifi", fresh(), 3, Meanings().embed)
    (first, second, third) = chosen.matches
    assert first.name == "tech"
    assert first.score == pytest.approx((0.6 + 1) / 2)  # of running text, and of the same topic
    assert (second.score, third.score) == (0, 0)


async def test_cards_are_embedded_once_for_each_function() -> None:
    meanings, other, cards = Meanings(), Meanings(), fresh()
    await choose("surf", cards, 1, meanings.embed)
    await choose("cash", cards, 1, meanings.embed)
    await choose("cash", cards[1:], 1, meanings.embed)  # the same cards in another pipeline
    assert len(meanings.texts) == 3 + 3
    await choose("cash", cards, 1, other.embed)
    assert len(other.texts) == 3 + 1


async def test_first_requests_at_once_embed_the_cards_once() -> None:
    meanings, cards = Meanings(), fresh()

    async def slow(texts: Sequence[str]) -> list[list[float]]:
        await asyncio.sleep(0.01)
        return meanings.embed(texts)

    await asyncio.gather(*(choose("surf", cards, 1, slow) for _ in range(10)))
    assert len(meanings.texts) == 3 + 10


async def test_a_function_that_hangs_holds_up_no_other_one() -> None:
    begun, cards = asyncio.Event(), fresh()

    async def never(texts: Sequence[str]) -> list[list[float]]:
        begun.set()
        await asyncio.Event().wait()
        return []

    hanging = asyncio.create_task(choose("surf", cards, 1, never))
    await begun.wait()
    chosen = await choose("surf", cards, 1, Meanings().embed)
    assert chosen.matches[0].name == "tech"
    hanging.cancel()


async def test_a_function_that_blocks_does_not_hold_the_loop() -> None:
    begun, let = threading.Event(), threading.Event()

    def blocking(texts: Sequence[str]) -> list[list[float]]:
        begun.set()
        let.wait()  # the loop alone lets it go on
        return [[1.0] for _ in texts]

    choosing = asyncio.create_task(choose("surf", fresh(), 1, blocking))
    while not begun.is_set():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert not choosing.done()
    let.set()
    await choosing


BROKEN: dict[str, tuple[Any, str]] = {
    "raises": (lambda texts: 1 / 0, "ZeroDivisionError"),
    "nothing": (lambda texts: None, "TypeError"),
    "too few": (lambda texts: [[1.0]] * (len(texts) - 1), "malformed"),
    "all zero": (lambda texts: [[0.0, 0.0]] * len(texts), "malformed"),
    "no number": (lambda texts: [[float("nan")]] * len(texts), "malformed"),
    "endless": (lambda texts: [[float("inf")]] * len(texts), "malformed"),
    "uneven": (lambda texts: [[1.0] * len(texts)] * len(texts), "malformed"),
    "texts": (lambda texts: ["ab"] * len(texts), "ValueError"),
}


@pytest.mark.parametrize("how", BROKEN)
async def test_embeddings_that_fail_leave_the_words(how: str) -> None:
    embed, kind = BROKEN[how]
    chosen = await choose("my invoices", fresh(), 1, embed)
    assert chosen.matches[0].name == "billing"
    assert chosen.flags == (f"embeddings_failed:{kind}",)
    neither = await choose("surf", fresh(), 1, embed)
    assert neither.flags == (f"embeddings_failed:{kind}", "selection_fallback:no_match")


async def test_embeddings_that_take_too_long_leave_the_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(select, "LONGEST", 0.05)

    async def never(texts: Sequence[str]) -> list[list[float]]:
        await asyncio.Event().wait()
        return []

    chosen = await choose("my invoices", fresh(), 1, never)
    assert chosen.matches[0].name == "billing"
    assert chosen.flags == ("embeddings_failed:TimeoutError",)


async def test_cancelling_a_choice_cancels_the_embedding() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def never(texts: Sequence[str]) -> list[list[float]]:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return []

    choosing = asyncio.create_task(choose("surf", fresh(), 1, never))
    await begun.wait()
    choosing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await choosing
    assert cancelled.is_set()


def bills(given: dict[str, Any]) -> str:
    """Explain bills and invoices."""
    return ""


def faults(given: dict[str, Any]) -> str:
    """Solve technical faults."""
    return ""


class Travel(Signature):
    """Book trains and flights."""

    response: str = OutputField(description="What to say")


class Weather:
    """Tells the weather."""

    __hash__ = None  # type: ignore[assignment]

    def run(self, given: dict[str, Any]) -> str:
        return ""


MIXED = [
    faults,
    bills,
    lambda given: "",
    Weather(),
    ModelAgent(signature=Travel),
    Pipeline.parallel([bills, faults]).with_name("letters", "Writes letters."),
    Agent(bills, name="taxes", description="Taxes."),
    "gardening",
]


@pytest.mark.parametrize(
    ("task", "place"),
    [
        ("an invoice", 1),
        ("a fault", 0),
        ("tomorrow's weather", 3),
        ("a train to Rome", 4),
        ("write a letter", 5),
        ("my tax", 6),
        ("the garden", 7),
    ],
)
def test_whatever_can_stand_in_a_pipeline_can_be_selected(task: str, place: int) -> None:
    assert select_best_agent(task, MIXED) is MIXED[place]
    assert select_top_k_agents(task, MIXED, k=2)[0] is MIXED[place]
    found = select_best_agent(task, MIXED, return_score=True)
    assert found["agent"] is MIXED[place]
    assert 0 < found["score"] <= 1
    assert "fallback" not in found


def test_the_card_of_what_is_selected_from_is_made_once() -> None:
    class Counted:
        name = "counted"
        asked = 0

        @property
        def description(self) -> str:
            self.asked += 1
            return "Counts invoices."

        def run(self, given: dict[str, Any]) -> str:
            return ""

    counted = Counted()
    assert select_best_agent("an invoice", [faults, counted]) is counted
    asked = counted.asked
    assert select_best_agent("more invoices", [bills, counted]) is bills
    assert counted.asked == asked > 0


def test_the_best_ones_come_first_and_with_their_scores() -> None:
    first, second, third = select_top_k_agents(
        "invoices, and a fault that bills explain", [faults, "other", bills], return_scores=True
    )
    assert [first["agent"], second["agent"], third["agent"]] == [bills, faults, "other"]
    assert first["score"] > second["score"] > third["score"] == 0


def test_selecting_where_nothing_fits_is_flagged() -> None:
    assert select_best_agent("zeppelin", [faults, bills]) is faults
    best = select_best_agent("zeppelin", [faults, bills], return_score=True)
    assert best == {"agent": faults, "score": 0.0, "fallback": True}
    assert select_top_k_agents("", [faults, bills], k=5) == [faults, bills]
    assert all(found["fallback"] for found in select_top_k_agents("", [faults, bills], 2, True))


@pytest.mark.parametrize(
    ("task", "agents", "k", "told"),
    [
        (None, [bills], 1, "The task is None"),
        ("bill", [], 1, r"The agents are \[\]"),
        ("bill", "bills", 1, "The agents are 'bills'"),
        ("bill", None, 1, "The agents are None"),
        ("bill", [bills], 0, "k is 0"),
        ("bill", [bills], True, "k is True"),
        ("bill", [None], 1, "None"),
    ],
    ids=["no task", "no agents", "text", "none", "zero", "bool", "no agent"],
)
def test_what_cannot_be_selected_from_is_refused(task: Any, agents: Any, k: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        select_top_k_agents(task, agents, k)


def test_a_pipeline_keeps_the_embeddings_that_it_is_given() -> None:
    meanings = Meanings()
    plain = Pipeline.router([bills, faults])
    pipeline = plain.with_embeddings(meanings.aembed)
    assert pipeline.embed == meanings.aembed
    assert pipeline == plain  # how it chooses, not what it is
    assert pipeline.with_limits(timeout=1).with_embeddings(None).embed is None
    with pytest.raises(ConfigurationError, match="embed is 'words'"):
        plain.with_embeddings("words")  # type: ignore[arg-type]


async def test_a_router_goes_by_words_and_by_meaning() -> None:
    def office(name: str) -> Any:
        async def answer(given: dict[str, Any]) -> dict[str, Any]:
            return {"response": name}

        return answer

    agents = [Agent(office(card.name), card.name, card.description) for card in fresh()]
    router = Pipeline.router(agents)
    assert (await router.run(message="my invoices"))["response"] == "billing"
    astray = await router.run(message="I cannot surf")
    assert astray["response"] == "sales"
    assert astray["pipeline"]["flags"] == ["selection_fallback:no_match"]
    found = await router.with_embeddings(Meanings().aembed).run(message="I cannot surf")
    assert found["response"] == "tech"
    assert found["pipeline"]["flags"] == []
    assert found["pipeline"]["selected"] == [{"agent": "tech", "score": 0.5}]
    failing = await router.with_embeddings(lambda texts: None).run(message="my invoices")
    assert failing["response"] == "billing"
    assert failing["pipeline"]["flags"] == ["embeddings_failed:TypeError"]
