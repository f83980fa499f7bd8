"""Flow control, requirement "Graceful Degradation": the user gets an answer whatever fails.

How validation is bypassed is in test_response_validator.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from journeygraph import Guideline, IntentTrigger, Journey, Texts, Validation
from journeygraph.journeys.concierge import Concierge
from journeygraph.nodes import breaker
from journeygraph.nodes.llm.call import identity_of
from journeygraph.nodes.llm.client import quick_chat
from journeygraph.nodes.llm.models import chat_of
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, rules_hold
from journeygraph.nodes.turn import understand
from tests.flow_control import line as the_line
from tests.flow_control.line import (
    HAPPY,
    asked,
    flags,
    held,
    ids,
    journey,
    kinds,
    moves,
    rules,
    word,
)
from tests.support import api, watching
from tests.support.watching import Watch

server, scripted, line = the_line.server, the_line.scripted, the_line.line
watch, serve = watching.watch, api.serve

CANNED, REFUSED = Texts().apology, Texts().refused
OUTCOMES = {"canned": (CANNED, 0), "refuse": (REFUSED, 0), "freeform": ("We are sorry.", 1)}
FREELY = {"response": "We are sorry."}
VALID = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.95}
"""What a model says of replies where a critical guideline has them checked."""


# Scenario: Journey engine failure


def broken_agent(payload: dict[str, Any]) -> str:
    if "fire" in payload["message"]:
        raise RuntimeError("canary: the desk is on fire")
    return "Good day."


async def broken_runtime(*_: Any) -> Any:
    raise ZeroDivisionError("canary: a fault of our own")


@pytest.mark.parametrize("degrade", list(OUTCOMES))
@pytest.mark.parametrize("fails", ["an agent", "the engine"])
async def test_journey_engine_failure_goes_on_without_the_journey(
    line: Callable[..., Any],
    scripted: Callable[..., Any],
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
    degrade: str,
    fails: str,
) -> None:
    """Answered as the author chose, flagged, logged, counted; and the next message is as any."""
    said, calls = OUTCOMES[degrade]
    agent = broken_agent if fails == "an agent" else lambda _: "Good day."
    with scripted(*[FREELY] * calls) as script:
        chat = await line(journey(__degrade__=degrade), {"clerk": agent})
        assert await chat.says("Hello") == "Good day."
        with monkeypatch.context() as patch:
            if fails == "the engine":
                patch.setattr(understand, "free_verdicts", broken_runtime)
            assert await chat.says("My house is on fire") == said
        assert flags(chat) == ["failed", "journey_bypassed"]
        assert chat.last.pathway_id == "desk"
        assert kinds(script) == ["freeform"] * calls
        assert [call.tools for call in script.calls] == [[]] * calls

        assert await chat.says("Still there?") == "Good day."
        assert flags(chat) == []

    assert len(watch.events("turn_failed")) == 1
    assert "canary" not in watch.everything()


@pytest.mark.parametrize("degrade", list(OUTCOMES))
async def test_journey_engine_failure_is_no_error_to_a_client_over_http(
    serve: Callable[..., Any], scripted: Callable[..., Any], degrade: str
) -> None:
    said, calls = OUTCOMES[degrade]
    kind = journey(__degrade__=degrade)
    with scripted(*[FREELY] * calls):
        http = await serve(api.one(kind, clerk=broken_agent), model=None)
        session = await http.begin("claims_line")
        reply = await http.says(session, "My house is on fire")

    assert reply["message"] == said
    assert "journey_bypassed" in reply["metadata"]["flags"]


async def test_journey_engine_failure_by_time_is_answered_and_kept(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    async def endless(payload: Any) -> str:
        await asyncio.sleep(60)
        return "never"

    with scripted() as script:
        chat = await line(
            journey(__degrade__="freeform"), {"clerk": endless}, turn_timeout_seconds=0.05
        )

        assert await chat.says("Hello") == CANNED  # there is no time left to ask a model
        assert "journey_bypassed" in flags(chat)
        assert [said.content for said in await chat.journey.transcript()] == ["Hello", CANNED]
        assert script.calls == []


async def test_when_nothing_is_understood_a_concierge_asks_which_journey_is_meant(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """The call fails, so none starts; what needs no model holds; and the next message may start."""
    wanted = [journey(name, __activation__=[f"wants {name}"]) for name in ("Claims", "Sales")]
    everywhere = Guideline(id="brief", condition="x", action="be brief", always=True)
    body = {"__journeys__": wanted, "__doc__": "Help.", "__guidelines__": [everywhere]}
    with scripted("no json", rules_hold(to="sales.desk"), HAPPY) as script:
        chat = await line(type("Front", (Concierge,), body))

        said = await chat.says("I would like a policy")
        assert said.splitlines()[-2:] == ["- Claims: Settle claims.", "- Sales: Settle claims."]
        assert flags(chat) == ["understanding_failed:malformed", "guidelines_bypassed"]
        assert held(chat) == ["brief"]
        await chat.says("As I said")
        assert chat.path == ["concierge", "sales.desk"]
        assert kinds(script) == ["understanding", "understanding", "answer"]


async def test_journey_engine_failure_is_answered_as_the_active_journey_says(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """Of several journeys each has its own outcome; the session stays in the one that failed."""
    outcomes = {"Claims": "refuse", "Sales": "freeform", "Hours": "canned"}
    kinds_of = [
        journey(name, __activation__=[IntentTrigger(patterns=[name.lower()])], __degrade__=how)
        for name, how in outcomes.items()
    ]
    front = type("Front", (Concierge,), {"__journeys__": kinds_of, "__doc__": "Help."})
    for number, (name, how) in enumerate(outcomes.items()):
        said, calls = OUTCOMES[how]
        with scripted(*[FREELY] * calls):
            chat = await line(front, {"clerk": broken_agent}, session_id=f"s-{number}")
            assert await chat.says(name) == "Good day."
            assert await chat.says("There is a fire") == said
            assert chat.path[-1] == f"{name.lower()}.desk"


# Scenario: Guideline timeout


def guarded(**more: Any) -> type[Journey]:
    """A journey with a guideline of each kind."""
    return journey(
        __guidelines__=[
            Guideline(id="by_words", condition="x", action="a", keywords=["roof"]),
            Guideline(id="always", condition="x", action="b", always=True),
            Guideline(id="critical", condition="x", action="c", critical=True),
            Guideline(id="evaluate_conditions", action="d", when=lambda said, _: "roof" in said),
            Guideline(id="not_by_code", action="e", when=lambda said, _: "cellar" in said),
            Guideline(id="by_keyword", action="f", keywords=["roof"]),
        ],
        **more,
    )


@pytest.mark.parametrize(
    "fault",
    [
        Fault.hang(),
        Fault.status(500),
        Fault.status(401),
        Fault.refusal(),
        Fault.cut_after(),
        Fault.length(),
        Fault.html(),
        "no json",
        {"rules_that_hold": "all of them"},
        {"rules_that_hold": [{"rule": "by_words", "confidence": "very"}]},
    ],
    ids=[
        *("hang", "500", "401", "refusal", "cut", "length", "html", "prose"),
        *("no list", "no confidence"),
    ],
)
async def test_when_understanding_fails_what_needs_no_model_holds_all_the_same(
    line: Callable[..., Any], scripted: Callable[..., Any], fault: Any
) -> None:
    seconds = 0.3 if isinstance(fault, Fault) and fault.name == "hang" else 3.0
    with scripted(fault, VALID) as script:
        chat = await line(guarded(**moves(10)), {"clerk": ids}, intent_timeout_seconds=seconds)

        given = set((await chat.says("The roof leaks")).split(", "))
        assert given == {"always", "critical", "evaluate_conditions", "by_keyword"}
        assert (chat.path, kinds(script)) == (["desk"], ["understanding", "validation"])
        assert "guidelines_bypassed" in flags(chat)
        assert any(flag.startswith("understanding_failed:") for flag in flags(chat))
        assert "journey_bypassed" not in flags(chat)


async def test_when_understanding_works_only_what_it_names_holds_of_what_it_was_asked(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """The same message in the same journey: `always` is to be asked about, not to hold always."""
    with scripted(rules_hold("by_words"), VALID) as script:
        chat = await line(guarded(), {"clerk": ids})

        given = set((await chat.says("The roof leaks")).split(", "))
        assert given == {"by_words", "evaluate_conditions", "by_keyword"}
        rules_asked = {rule["rule"] for rule in asked(script.calls[0])["rules"]}
        assert rules_asked == {"by_words", "always", "critical"}
        assert flags(chat) == []


async def test_a_matcher_that_hangs_costs_its_own_guideline_and_no_more_time_than_it_has(
    line: Callable[..., Any], scripted: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def hangs(message: str, context: Any) -> bool:
        await asyncio.sleep(60)
        return True

    listed = [
        Guideline(id="hanging", action="a", when=hangs),
        Guideline(id="hanging_too", action="a", when=hangs),
        Guideline(id="hanging_critical", action="b", when=hangs, critical=True),
        Guideline(id="code", action="c", when=lambda *_: True),
        Guideline(id="asked", condition="x", action="d", always=True),
    ]
    with scripted(rules_hold("asked"), VALID), caplog.at_level(logging.WARNING, "journeygraph"):
        chat = await line(
            journey(__guidelines__=listed), {"clerk": ids}, guideline_timeout_seconds=0.05
        )

        said = await chat.says("Hello")
        assert said == "hanging_critical, code, asked"
        assert "guidelines_bypassed" in flags(chat)
    assert "event=guidelines_failed" in caplog.text
    assert "failed=3" in caplog.text


async def test_silence_opens_the_breaker_for_sixty_seconds(
    line: Callable[..., Any], scripted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times in a row; then the model is not called, and the probe carries the rules."""
    now = [1_000.0]
    monkeypatch.setattr(breaker, "_clock", lambda: now[0])
    talk_of = f"It is about {word(0)}"
    late = [Fault.hang()] * 3
    with scripted(*late, rules_hold("rule_0")) as script:
        chat = await line(
            journey(__guidelines__=rules(5), **moves(2)),
            {"clerk": ids},
            intent_timeout_seconds=0.3,
            intent_cache_ttl_seconds=0,
        )
        for _ in range(3):
            assert await chat.says(talk_of) == "none"
            assert flags(chat) == ["understanding_failed:timeout", "guidelines_bypassed"]

        for passed in (0, 59.9):
            now[0] += passed
            assert await chat.says(talk_of) == "none"
            assert flags(chat) == ["understanding_failed:unavailable", "guidelines_bypassed"]
            assert len(script.calls) == 3
        now[0] += 0.1
        assert await chat.says(talk_of) == "rule_0"
        assert (held(chat), flags(chat)) == (["rule_0"], [])
        assert asked(script.calls[3])["rules"]


async def test_a_matcher_that_is_late_again_and_again_rests_for_sixty_seconds(
    line: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times; then it costs no turn its time, and what others decide holds as before."""
    now, asked_of = [1_000.0], list[str]()
    monkeypatch.setattr(breaker, "_clock", lambda: now[0])

    async def hangs(message: str, context: Any) -> bool:
        asked_of.append(message)
        await asyncio.sleep(0 if message == "mended" else 60)
        return True

    listed = [
        Guideline(id="slow", action="a", when=hangs),
        Guideline(id="strict", action="b", when=hangs, critical=True),
        Guideline(id="quick", action="c", when=lambda *_: True),
    ]
    chat = await line(
        journey(__guidelines__=listed),
        {"clerk": ids},
        options={"model": False},
        guideline_timeout_seconds=0.02,
    )
    for number in range(5):
        assert await chat.says(f"message {number}") == "strict, quick"
        assert "guidelines_bypassed" in flags(chat)
    assert asked_of == ["message 0"] * 2 + ["message 1"] * 2 + ["message 2"] * 2

    now[0] += 60
    assert await chat.says("mended") == "slow, strict, quick"
    assert flags(chat) == []


async def test_a_matcher_that_raises_is_asked_again_every_time(line: Callable[..., Any]) -> None:
    """It costs no time; and of other sessions it may know what it does not know of this one."""

    def needs_policy(message: str, context: Any) -> bool:
        return bool(context["policy"])

    listed = [Guideline(id="known", action="a", when=needs_policy)]
    kind, no_model = journey(__guidelines__=listed), {"model": False}
    stranger = await line(kind, {"clerk": ids}, options=no_model)
    for _ in range(4):
        assert await stranger.says("hello") == "none"
    known = await line(kind, {"clerk": ids}, no_model, session_id="s-2", context={"policy": "P"})

    assert await known.says("hello") == "known"


async def test_a_model_that_is_silent_in_one_session_is_not_waited_for_in_others(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """One breaker for understanding and agents, in all journeys of the process."""
    with scripted(Fault.hang(), Fault.hang()) as script:
        settings = {"breaker_failures": 2, "intent_timeout_seconds": 0.2}
        one = await line(journey(__guidelines__=rules(5)), model_timeout_seconds=0.2, **settings)
        other = await line(journey(**moves(2)), session_id="s-2", **settings)
        await one.says(word(0))
        assert kinds(script) == ["understanding", "answer"]

        await other.says(word(0))
        assert len(script.calls) == 2
        assert "failed too often recently" in other.last.metadata["error"]["message"]


async def test_a_model_that_answers_wrongly_is_asked_again_every_time(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """It costs no time; and what is wrong in one answer says nothing of the next."""
    wrong = ["no json", HAPPY] * 3
    with scripted(*wrong, rules_hold("rule_0"), HAPPY) as script:
        chat = await line(journey(__guidelines__=rules(5)), breaker_failures=1)
        for _ in range(4):
            assert await chat.says(word(0)) == "Certainly."

        assert kinds(script) == ["understanding", "answer"] * 4
        assert held(chat) == ["rule_0"]


async def test_a_silent_check_rests_with_its_model(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """The understanding's model is another one, and is asked as before."""
    kind = journey(__guidelines__=rules(5), __validation__=Validation(timeout_seconds=0.2))
    always = [rules_hold("rule_0"), Fault.hang()]
    with scripted(*always * 2, rules_hold("rule_0")) as script:
        chat = await line(
            kind,
            {"clerk": lambda ask: "Good."},
            validation_model="checker",
            breaker_failures=2,
        )
        for _ in range(3):
            assert await chat.says(word(0)) == "Good."
            assert flags(chat) == ["validation_bypassed"]

        assert kinds(script) == ["understanding", "validation"] * 2 + ["understanding"]


async def test_what_the_runtime_asks_has_one_budget_a_turn(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """Understanding, rewording and the check share it; an agent's time is its own."""
    kind = journey(
        __guidelines__=[*rules(5), Guideline(id="house", action="Be kind.", always=True)],
        __validation__=Validation(timeout_seconds=30),
    )
    with scripted(Fault.hang(), HAPPY, rules_hold(), HAPPY, Fault.hang()) as script:
        chat = await line(
            kind, intent_timeout_seconds=60, model_budget_seconds=0.5, breaker_failures=9
        )

        assert await chat.says(word(0)) == "Certainly."
        assert kinds(script) == ["understanding", "answer"]
        assert {"understanding_failed:timeout", "validation_bypassed"} <= set(flags(chat))
        assert await chat.says(word(0)) == "Certainly."
        assert kinds(script)[2:] == ["understanding", "answer", "validation"]
        assert flags(chat) == ["validation_bypassed"]


def test_a_model_is_known_by_its_provider_its_name_and_its_server() -> None:
    one = ChatOpenAI(model="a", base_url="http://one.example", api_key=SecretStr("x"))
    again = ChatOpenAI(model="a", base_url="http://one.example", api_key=SecretStr("y"))
    elsewhere = ChatOpenAI(model="a", base_url="http://two.example", api_key=SecretStr("x"))
    scripted_ones = [ScriptedModel(), ScriptedModel()]

    assert identity_of(chat_of(one)) == identity_of(chat_of(again))
    ours = quick_chat()(model="a", base_url="http://one.example", api_key=SecretStr("x"))
    assert identity_of(chat_of(one)) == identity_of(chat_of(ours))
    assert identity_of(chat_of(one, "b")) == identity_of(
        chat_of(ChatOpenAI(model="b", base_url="http://one.example", api_key=SecretStr("x")))
    )
    others = [chat_of(model) for model in (one, elsewhere, *scripted_ones)]
    assert len({identity_of(chat) for chat in [*others, chat_of(one, "b")]}) == 5
