"""Conditions that call a person, and the phases of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from journeygraph import (
    ConversationPhase,
    Escalation,
    Field,
    InvalidPhaseError,
    Journey,
    JourneyConfig,
    Pathway,
)
from journeygraph.nodes.features.takeover import Person
from journeygraph.nodes.llm import scripted
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.nodes.state.escalation import PolicyFacts, policy_met
from journeygraph.nodes.state.phases import PhaseFacts, next_phase
from journeygraph.nodes.state.session import Position, Turn
from tests.support.bike_shop import Workshop, clerk, workshop

GREETING, COLLECTING = ConversationPhase.GREETING, ConversationPhase.COLLECTING
ESCALATED, COMPLETED = ConversationPhase.ESCALATED, ConversationPhase.COMPLETED
TAKEN, DONE = PhaseFacts(taken_over=True), PhaseFacts(complete=True)


class Wash(Journey):
    """Wash a bicycle."""

    class WashPath(Pathway):
        """Note when."""

        __fields__ = [
            Field("day", "enum", "Which day?", choices=["monday", "friday"]),
            Field("wax", "boolean", "With wax?", required=False),
        ]


def wash(policy: Escalation | None) -> type[Journey]:
    """The journey under a policy."""
    return type("Wash", (Wash,), {"__escalation__": policy, "__module__": __name__})


def test_a_phase_follows_from_facts_or_is_refused() -> None:
    silent = PhaseFacts(spoken=False)
    allowed: list[tuple[ConversationPhase, PhaseFacts, ConversationPhase]] = [
        (GREETING, silent, GREETING),
        (GREETING, PhaseFacts(), COLLECTING),
        (GREETING, TAKEN, ESCALATED),
        (GREETING, DONE, COMPLETED),
        (COLLECTING, PhaseFacts(), COLLECTING),
        (COLLECTING, TAKEN, ESCALATED),
        (COLLECTING, DONE, COMPLETED),
        (COLLECTING, PhaseFacts(complete=True, taken_over=True), ESCALATED),
        (COMPLETED, DONE, COMPLETED),
        (COMPLETED, TAKEN, ESCALATED),
        (COMPLETED, PhaseFacts(reopened=True), COLLECTING),
        (ESCALATED, TAKEN, ESCALATED),
        (ESCALATED, PhaseFacts(released=True), COLLECTING),
        (ESCALATED, PhaseFacts(released=True, complete=True), COMPLETED),
    ]
    for phase, facts, target in allowed:
        assert next_phase(phase, facts) is target, (phase, facts)
    refused: list[tuple[ConversationPhase, PhaseFacts, str]] = [
        (GREETING, PhaseFacts(spoken=False, taken_over=True), "has not sent a message"),
        (COLLECTING, silent, "this move is not allowed"),
        (COMPLETED, PhaseFacts(), "no part of the journey ran again"),
        (COMPLETED, silent, "this move is not allowed"),
        (ESCALATED, PhaseFacts(), "it was not released"),
        (ESCALATED, DONE, "it was not released"),
        (ESCALATED, silent, "this move is not allowed"),
    ]
    for phase, facts, why in refused:
        with pytest.raises(InvalidPhaseError, match=f"'{phase}' cannot become .*{why}"):
            next_phase(phase, facts)


async def test_a_session_says_its_phase_from_the_greeting_to_the_end_and_back(
    memory_url: str,
) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with wash(Escalation())("s-1", config, model=False) as journey:
        phases = [(await journey.start()).phase]
        await journey.process_message("")
        phases.append((await journey.manager.restore()).phase)
        for message in ("hello", "friday", "no", "a person, please"):
            reply = await journey.process_message(message)
            phases.append(ConversationPhase(reply.metadata["phase"]))
        await journey.manager.claim("ann")
        phases.append((await journey.manager.release("ann")).phase)
        ended = (await journey.manager.restore()).is_journey_complete

    assert phases == [
        *(GREETING, GREETING, COLLECTING, COLLECTING, COMPLETED, ESCALATED, COMPLETED)
    ]
    assert ended


async def test_a_move_that_is_none_is_never_committed(
    memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something in a turn forgets that a person has the conversation: the turn fails instead."""
    true, forgets = Person.close, False

    def forgetful(
        person: Person, services: Any, state: Mapping[str, Any], turn: Turn
    ) -> tuple[Position, Turn]:
        position, turn = true(person, services, state, turn)
        lost: Any = {**position, "talk": {**position["talk"], "takeover": None}}
        return (lost if forgets and turn["kind"] != "failure" else position), turn

    monkeypatch.setattr(Person, "close", forgetful)  # the graph is built with it
    monkeypatch.setitem(vars(Workshop.spec), "compiled", {})
    async with workshop("s-1", memory_url) as journey:
        await journey.start()
        await journey.process_message("a person, please")
        forgets = True
        failed = await journey.process_message("hello?")
        forgets = False
        phase = (await journey.manager.restore()).phase

    assert failed.metadata["error"]["type"] == "InvalidPhaseError"
    assert phase is ESCALATED


def test_the_first_policy_that_is_met_is_the_reason() -> None:
    every = Escalation(
        when_collected=True,
        failures=3,
        keywords=["lawyer", "Straße"],
        sentiment="the user is angry",
        when=lambda context: context.get("vip"),
        after_seconds=60,
    )
    met: list[tuple[dict[str, Any], str | None]] = [
        ({}, None),
        ({"asked": "asked"}, "asked"),
        ({"asked": "sentiment"}, "sentiment"),
        ({"asked": "whim"}, None),
        ({"message": "My LAWYER, says no"}, "keyword"),
        ({"message": "in der STRASSE"}, "keyword"),
        ({"message": "lawyers everywhere"}, None),
        ({"exhausted": ["day"], "failures": 9}, "max_attempts:day"),
        ({"failures": 2}, None),
        ({"failures": 3}, "failures:3"),
        ({"context": {"vip": True}}, "condition"),
        ({"context": {"vip": True}, "called": ["condition"]}, None),
        ({"seconds": 59.9}, None),
        ({"seconds": 60, "collected": True}, "timeout"),
        ({"seconds": 60, "collected": True, "called": ["timeout"]}, "collected"),
        ({"collected": True}, "collected"),
    ]
    for facts, reason in met:
        assert policy_met(every, PolicyFacts(**facts)) == reason, facts
    none = Escalation(on_request=False, attempts_exhausted=False)
    for facts, _ in met:
        assert policy_met(none, PolicyFacts(**facts)) is None, facts


@pytest.mark.parametrize(
    ("policy", "messages", "reason"),
    [
        pytest.param(Escalation(), ["a person, please"], "asked", id="asked for"),
        pytest.param(Escalation(keywords=["rust"]), ["there is RUST!"], "keyword", id="keyword"),
        pytest.param(
            Escalation(), ["hi", "blue", "green", "red"], "max_attempts:day", id="attempts"
        ),
        pytest.param(
            Escalation(when_collected=True), ["friday", "yes"], "collected", id="collected"
        ),
        pytest.param(
            Escalation(when_collected=True), ["friday", "skip"], "collected", id="left open"
        ),
        pytest.param(
            Escalation(when=lambda known: known.get("day") == "friday"),
            ["friday"],
            "condition",
            id="condition",
        ),
        pytest.param(Escalation(after_seconds=1e-6), ["hello"], "timeout", id="timeout"),
    ],
)
async def test_a_policy_calls_a_person_through_the_graph(
    memory_url: str, policy: Escalation, messages: list[str], reason: str
) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with wash(policy)("s-1", config, model=False) as journey:
        await journey.start()
        replies = [await journey.process_message(message) for message in messages]
        case = await journey.manager.escalation()
        audit = [event.reason for event in await journey.audit() if event.kind == "escalated"]

    assert [reply.metadata["phase"] for reply in replies[:-1]] == ["collecting"] * len(replies[:-1])
    assert replies[-1].metadata["phase"] == "escalated"
    assert case is not None
    assert case.entry.reason == case.payload["reason"] == reason
    assert audit == [reason]


async def test_an_attempt_that_was_not_taken_is_told_with_its_reason(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with wash(Escalation())("s-1", config, model=False) as journey:
        await journey.start()
        for message in ("hi", "blue", "green", "red"):
            await journey.process_message(message)
        case = await journey.manager.escalation()

    assert case is not None
    day = case.payload["fields"][0]
    assert (day["value"], day["is_collected"], day["validity"]) == (None, False, "invalid")
    assert [attempt["raw"] for attempt in day["attempts"]][-3:] == ["blue", "green", "red"]
    assert all(attempt["reason"] for attempt in day["attempts"])


async def test_turns_that_fail_in_a_row_call_a_person(memory_url: str) -> None:
    def broken(given: Any) -> dict[str, str]:
        raise OSError("the till is open")

    class Till(Workshop):
        """A workshop in which nothing works."""

        __escalation__ = Escalation(failures=2)

        class IntakePath(Pathway):
            """Talk."""

            __agents__ = ["broken"]

    config = JourneyConfig(persistence=memory_url)
    async with Till("s-1", config, agents={"broken": broken, "clerk": clerk}, model=False) as till:
        await till.start()
        first = await till.process_message("brakes")
        second = await till.process_message("brakes!")
        case = await till.manager.escalation()
        await till.manager.release("ann")
        third = await till.process_message("brakes?")

    assert [one.metadata["phase"] for one in (first, second, third)] == [
        *("collecting", "escalated", "collecting")
    ]
    assert case is not None
    assert case.entry.reason == "failures:2"


async def test_what_holds_on_calls_once_until_it_is_seen_false(memory_url: str) -> None:
    def is_friday(known: Mapping[str, Any]) -> bool:
        return known.get("day") == "friday"

    config = JourneyConfig(persistence=memory_url)
    async with wash(Escalation(when=is_friday))("s-1", config, model=False) as journey:
        await journey.start()
        await journey.process_message("friday")
        await journey.manager.release("ann")
        phases = [
            (await journey.process_message(message)).metadata["phase"]
            for message in ("what?", "make it monday", "make it friday")
        ]

    assert phases == ["collecting", "collecting", "escalated"]


async def test_a_condition_that_raises_calls_nobody_and_says_so(memory_url: str) -> None:
    policy = Escalation(when=lambda known: known["nothing"], keywords=["rust"])
    config = JourneyConfig(persistence=memory_url)
    async with wash(policy)("s-1", config, model=False) as journey:
        await journey.start()
        reply = await journey.process_message("hello")
        await journey.process_message("hello again")
        rust = await journey.process_message("rust")
        raised = [one.reason for one in await journey.audit() if one.kind == "condition_raised"]

    assert reply.metadata["phase"] == "collecting"
    assert rust.metadata["phase"] == "escalated"
    assert raised == ["Escalation(when=) raised KeyError: 'nothing'"] * 2


async def test_a_model_that_finds_the_user_angry_calls_a_person(memory_url: str) -> None:
    angry = scripted.human("sentiment")
    config = JourneyConfig(persistence=memory_url)
    phases = []
    for number, policy in enumerate((Escalation(sentiment="the user is angry"), Escalation())):
        model = ScriptedModel(always=scripted.says(angry))
        async with wash(policy)(f"s-{number}", config, model=model) as journey:
            await journey.start()
            reply = await journey.process_message("this is the third time that I ask you people")
            phases.append(reply.metadata["phase"])

    assert phases == ["escalated", "collecting"]


async def test_without_a_policy_there_is_nobody_to_call(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with wash(None)("s-1", config, model=False) as journey:
        await journey.start()
        reply = await journey.process_message("a person, please")
        assert await journey.manager.escalations() == []

    assert reply.metadata["phase"] == "collecting"
