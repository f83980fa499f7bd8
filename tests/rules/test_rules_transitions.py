"""Transitions that fire: order, kinds of triggers, conditions that stay true (DESIGN.md 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import gives, said, staff


class Bank(Journey):
    """Look after a bank account; the tests add the rules."""

    class CounterPath(Pathway):
        __agents__ = ["counter"]
        __accumulate__ = {"risk": MergeStrategy.REPLACE, "name": None}
        __complete_when__ = NEVER

    class TransferPath(Pathway):
        __agents__ = ["transfer"]
        __accumulate__ = ["risk"]
        __complete_when__ = NEVER

    class FraudPath(Pathway):
        __agents__ = ["fraud"]
        __complete_when__ = NEVER

    class BalancePath(Pathway):
        __agents__ = ["balance"]
        __accumulate__ = ["risk"]
        __return_behavior__ = ReturnToPrevious()


def bank(*transitions: Transition) -> type[Journey]:
    return type("RuledBank", (Bank,), {"__transitions__": list(transitions)})


async def banking(talk: Any, url: str, *transitions: Transition, **options: Any) -> Any:
    journey = bank(*transitions)
    agents = staff(journey, **options.pop("agents", {}))
    return await talk(journey, agents, url, **options)


def risky(context: Mapping[str, Any]) -> bool:
    return context.get("risk") == "high"


class Shouted(BaseTrigger):
    """An author's own trigger."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        return message.isupper()


class Slowly(BaseTrigger):
    """An author's own trigger that has to wait for something."""

    async def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        await asyncio.sleep(0)
        return "send" in message


class Broken(BaseTrigger):
    """An author's own trigger that does not work."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        raise LookupError("no such table")


# --- Transition order ---------------------------------------------------------------------------


async def test_of_two_patterns_the_higher_priority_wins(talk, memory_url):
    """Transition order: priority descending, whatever is declared first."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send"), to_pathway="transfer", priority=1),
        Transition(said("stolen"), to_pathway="fraud", priority=2),
    )

    assert await chat.says("send it, my card is stolen") == "fraud: send it, my card is stolen"


async def test_of_two_equal_priorities_the_one_declared_first_wins(talk, memory_url):
    """Transition order: declaration order within."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("stolen"), to_pathway="fraud"),
        Transition(said("send"), to_pathway="transfer"),
    )

    await chat.says("send it, my card is stolen")

    assert chat.path == ["fraud"]


@pytest.mark.parametrize(("condition", "pattern", "where"), [(9, 5, "fraud"), (5, 9, "transfer")])
async def test_conditions_and_patterns_stand_in_one_list(
    talk, memory_url, condition, pattern, where
):
    """Transition order: one list."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send"), to_pathway="transfer", priority=pattern),
        Transition(ConditionTrigger(risky), to_pathway="fraud", priority=condition),
        context={"risk": "high"},
    )

    await chat.says("send it")

    assert chat.path == [where]


@pytest.mark.parametrize(
    ("own", "words", "where"),
    [(9, "SEND", "fraud"), (1, "SEND", "transfer"), (9, "send", "transfer")],
)
async def test_an_author_s_own_trigger_stands_in_the_same_list(talk, memory_url, own, words, where):
    """Transition order: free triggers are conditions, patterns and one's own."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send"), to_pathway="transfer", priority=5),
        Transition(Shouted(), to_pathway="fraud", priority=own),
    )

    await chat.says(words)

    assert chat.path == [where]


async def test_an_own_trigger_may_be_asynchronous(talk, memory_url):
    """Transition order: own triggers."""
    chat = await banking(talk, memory_url, Transition(Slowly(), to_pathway="transfer"))

    await chat.says("hello")
    await chat.says("send it")

    assert chat.path == ["counter", "transfer"]
    assert chat.last.metadata["tier"] == "own"


async def test_an_own_trigger_that_raises_is_false_and_audited(talk, memory_url):
    """Condition that stays true: a raising one is false, and audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(Broken(), to_pathway="fraud", priority=9),
        Transition(said("send"), to_pathway="transfer"),
    )

    assert await chat.says("send it") == "transfer: send it"
    audit = await chat.journey.audit()
    assert [row.kind for row in audit] == ["condition_raised", "transition"]
    assert "no such table" in audit[0].reason


async def test_an_intent_of_one_s_own_is_asked_like_any_own_trigger(talk, memory_url):
    """Transition order: one's own trigger, also where it extends one of ours."""

    class Amount(IntentTrigger):
        def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
            return any(word.isdigit() for word in message.split())

    chat = await banking(talk, memory_url, Transition(Amount(), to_pathway="transfer"))

    await chat.says("some money")
    await chat.says("40 euros")

    assert chat.path == ["counter", "transfer"]


async def test_always_comes_last_whatever_its_priority(talk, memory_url):
    """Transition order: AlwaysTrigger last."""
    chat = await banking(
        talk,
        memory_url,
        Transition(AlwaysTrigger(), "counter", "transfer", priority=1000),
        Transition(said("stolen"), "counter", "fraud", priority=-5),
    )

    await chat.says("my card is stolen")
    assert chat.path == ["fraud"]


async def test_always_fires_when_nothing_else_does_and_where_it_applies(talk, memory_url):
    """Transition order: AlwaysTrigger."""
    chat = await banking(
        talk, memory_url, Transition(AlwaysTrigger(), "counter", "transfer", priority=1)
    )

    await chat.says("hello")
    assert (chat.last.transition_to, chat.last.metadata["tier"]) == ("transfer", "always")
    await chat.says("hello")
    assert (chat.last.transition_to, chat.last.pathway_id) == (None, "transfer")


async def test_always_does_not_keep_a_detour_from_returning(talk, memory_url):
    """Transition order: AlwaysTrigger not while returning."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("balance"), to_pathway="balance"),
        Transition(AlwaysTrigger(), to_pathway="transfer"),
    )
    await chat.says("my balance?")

    assert await chat.says("thanks") == "counter: thanks"
    assert chat.last.transition_to is None


@pytest.mark.parametrize(
    ("sources", "where"),
    [
        ("*", "fraud"),
        ("counter", "fraud"),
        (["transfer", "counter"], "fraud"),
        ("transfer", "counter"),
        (["transfer", "balance"], "counter"),
    ],
)
async def test_a_transition_applies_where_it_comes_from(talk, memory_url, sources, where):
    chat = await banking(talk, memory_url, Transition(said("stolen"), sources, "fraud"))

    await chat.says("stolen!")

    assert chat.path == [where]


async def test_what_was_outranked_is_audited(talk, memory_url):
    """Section 3: what is dropped is audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send"), to_pathway="transfer"),
        Transition(said("stolen"), to_pathway="fraud", priority=1),
    )

    await chat.says("send it, my card is stolen")

    rows = [(row.kind, row.to_pathway, row.trigger) for row in await chat.journey.audit()]
    assert rows == [("dropped", "transfer", "send"), ("transition", "fraud", "stolen")]


async def test_a_transition_to_where_one_stands_runs_it_again_and_moves_nothing(talk, memory_url):
    chat = await banking(talk, memory_url, Transition(said("again"), to_pathway="counter"))

    assert await chat.says("say that again") == "counter: say that again"
    assert (chat.last.transition_to, chat.last.pathway_changed) == ("counter", False)
    assert chat.stack == []


# --- Condition that stays true ------------------------------------------------------------------

WATCH = Transition(ConditionTrigger(risky), to_pathway="fraud", priority=100)
BACK = Transition(said("back"), "fraud", "counter")


async def test_a_condition_that_stays_true_fires_once(talk, memory_url):
    """Condition that stays true; the others fire, and push, until the tenth turn fails."""
    chat = await banking(talk, memory_url, WATCH, BACK, context={"risk": "high"})

    for words in ["hello", "back", *["go on"] * 12]:
        await chat.says(words)

    assert chat.path == ["fraud", *["counter"] * 13]
    assert (await chat.audited()).count("transition") == 2


async def test_a_condition_fires_again_once_it_was_seen_false(talk, memory_url):
    """Condition that stays true: being seen false arms it again."""
    chat = await banking(talk, memory_url, WATCH, BACK)
    for words in ("risk=high", "hm", "back", "risk=low", "risk=high", "hm"):
        await chat.says(words)

    assert chat.path == ["counter", "fraud", "counter", "counter", "counter", "fraud"]


async def test_that_it_fired_survives_the_session_being_taken_up_again(talk, memory_url):
    """Condition that stays true, in a new process."""
    chat = await banking(talk, memory_url, WATCH, BACK, context={"risk": "high"})
    for words in ("hello", "back", "hm"):
        await chat.says(words)
        chat = await chat.restored()

    assert chat.path == ["fraud", "counter", "counter"]


async def test_a_condition_is_judged_at_the_start_of_a_turn(talk, memory_url):
    """Condition that stays true: what a turn finds out counts from the next one on."""
    chat = await banking(talk, memory_url, WATCH)

    await chat.says("risk=high")
    assert chat.path == ["counter"]
    await chat.says("so?")
    assert chat.path == ["counter", "fraud"]


async def test_a_condition_seen_false_while_another_pathway_speaks_is_armed_again(talk, memory_url):
    """Condition that stays true: judged at every position of the session."""
    watch = Transition(ConditionTrigger(risky), "counter", "fraud", priority=100)
    to_transfer = Transition(said("send"), to_pathway="transfer")
    to_counter = Transition(said("back"), to_pathway="counter")
    chat = await banking(talk, memory_url, watch, to_transfer, to_counter, context={"risk": "high"})
    for words in ("hello", "send it", "risk=low", "risk=high", "back", "so?"):
        await chat.says(words)

    assert chat.path == ["fraud", "transfer", "transfer", "transfer", "counter", "fraud"]


async def test_a_condition_outranked_by_another_stays_armed(talk, memory_url):
    """Condition that stays true: outranked it stays armed."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(risky), to_pathway="fraud", priority=1),
        Transition(said("send"), to_pathway="transfer", priority=5),
        context={"risk": "high"},
    )
    for words in ("send it", "and now?"):
        await chat.says(words)

    assert chat.path == ["transfer", "fraud"]


async def test_of_two_conditions_both_fire_one_after_the_other(talk, memory_url):
    """Condition that stays true: outranked it stays armed."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(risky), to_pathway="fraud", priority=1),
        Transition(ConditionTrigger(lambda c: "name" in c), to_pathway="transfer", priority=2),
        context={"risk": "high", "name": "Ann"},
    )
    for words in ("one", "two", "three"):
        await chat.says(words)

    assert chat.path == ["transfer", "fraud", "fraud"]


async def test_a_condition_true_where_it_does_not_apply_stays_armed(talk, memory_url):
    """Condition that stays true: true where its `from` does not apply."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(risky), "transfer", "fraud"),
        Transition(said("send"), "counter", "transfer"),
        context={"risk": "high"},
    )
    for words in ("hello", "hello", "send it", "go on"):
        await chat.says(words)

    assert chat.path == ["counter", "counter", "transfer", "fraud"]
    assert "dropped" not in await chat.audited()


async def test_a_condition_that_raises_is_false_audited_and_flagged(talk, memory_url):
    """Condition that stays true: a raising one is false, and audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(lambda c: c["risk"] == "high"), to_pathway="fraud"),
    )

    assert await chat.says("hello") == "counter: hello"
    assert "condition_raised" in chat.last.metadata["flags"]
    assert await chat.audited() == ["condition_raised"]
    await chat.says("risk=high")
    await chat.says("hm")
    assert chat.path == ["counter", "counter", "fraud"]
    assert chat.last.metadata["flags"] == []


async def test_a_condition_into_a_detour_fires_once_and_returns(talk, memory_url):
    """Condition that stays true, with When does a detour return."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(risky), to_pathway="balance"),
        context={"risk": "high"},
    )
    for words in ("one", "two", "three"):
        await chat.says(words)

    assert chat.path == ["balance", "counter", "counter"]


async def test_a_condition_is_judged_while_a_detour_waits_to_return(talk, memory_url):
    """Condition that stays true: at the start of every turn."""
    chat = await banking(talk, memory_url, WATCH, Transition(said("balance"), to_pathway="balance"))
    await chat.says("balance? risk=high")

    assert await chat.says("thanks") == "fraud: thanks"
    assert chat.stack == []


async def test_a_condition_may_disarm_itself_by_its_own_update(talk, memory_url):
    """Condition that stays true, with context_update."""
    chat = await banking(
        talk,
        memory_url,
        Transition(
            ConditionTrigger(risky),
            "counter",
            "counter",
            context_update={"risk": "set:checked", "name": "set:asked"},
        ),
    )
    fired = []
    for words in ("risk=high", "hm", "hm", "risk=high", "hm"):
        await chat.says(words)
        fired.append(chat.last.transition_to)

    assert fired == [None, "counter", None, None, "counter"]


async def test_what_a_condition_does_to_the_context_changes_nothing(talk, memory_url):
    """Condition that stays true; Function agents, What an agent does to the context."""

    def greedy(context: Any) -> bool:
        context["seen"] = True
        context["list"].append("more")
        return False

    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(greedy), to_pathway="fraud"),
        context={"list": ["one"]},
    )
    await chat.says("hello")

    assert chat.context == {"list": ["one"]}


async def test_a_condition_that_fired_in_a_failed_turn_is_still_armed(talk, memory_url):
    """Failure: position unchanged."""
    answers = iter([ValueError("down")])

    def fraud(payload: dict[str, Any]) -> str:
        for error in answers:
            raise error
        return "fraud desk"

    chat = await banking(talk, memory_url, WATCH, context={"risk": "high"}, agents={"fraud": fraud})

    await chat.says("hello")
    assert (chat.last.pathway_id, chat.last.transition_to) == ("counter", None)
    assert await chat.says("hello?") == "fraud desk"


async def test_a_rollback_takes_back_that_a_condition_fired(talk, memory_url):
    """Condition that stays true, with Rollback."""
    chat = await banking(talk, memory_url, WATCH, BACK, context={"risk": "high"})
    await chat.says("hello")
    await chat.journey.rollback(0)

    await chat.says("hello again")

    assert chat.path == ["fraud", "fraud"]


async def test_a_condition_without_a_function_never_fires(talk, memory_url):
    chat = await banking(talk, memory_url, Transition(ConditionTrigger(), to_pathway="fraud"))

    await chat.says("hello")

    assert chat.path == ["counter"]


async def test_a_turn_tells_what_moved_it_and_how_it_was_decided(talk, memory_url):
    """Response object: tier, intent, confidence, reasoning."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send", "transfer"), to_pathway="transfer"),
        Transition(ConditionTrigger(risky, description="looks risky"), to_pathway="fraud"),
        agents={"transfer": gives(risk="high")},
    )
    await chat.says("please transfer 40")
    pattern = chat.last.metadata
    await chat.says("go")
    condition = chat.last.metadata

    assert (pattern["tier"], pattern["transition_intent"], pattern["confidence"]) == (
        "pattern",
        "send",
        1.0,
    )
    assert "transfer" in pattern["reasoning"]
    assert (condition["tier"], condition["transition_intent"]) == ("condition", "looks risky")
