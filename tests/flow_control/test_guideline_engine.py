"""Flow control, requirement "Guideline Engine", scenario by scenario.

Loading from the database is in test_definition_loading.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import Guideline, IntentTrigger, Transition
from journeygraph.nodes.llm.scripted import leads_nowhere, rules_hold
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
    state,
    system,
    word,
)

server, scripted, line = the_line.server, the_line.scripted, the_line.line
UNDERSTAND_AND_REPLY = ["understanding", "answer"]


# Scenario: Two-stage matching


@pytest.mark.parametrize("number", [20, 100, 1000])
async def test_two_stage_matching_costs_one_call_however_many_guidelines_there_are(
    line: Callable[..., Any], scripted: Callable[..., Any], number: int
) -> None:
    touched = [f"rule_{place}" for place in (3, 11, number - 1)]
    said = " and ".join(word(place) for place in (3, 11, number - 1))
    with scripted(rules_hold(*touched), HAPPY, leads_nowhere, HAPPY) as script:
        chat = await line(journey(__guidelines__=rules(number), **moves(10)))

        assert await chat.says(f"I have a question on {said}") == "Certainly."
        assert kinds(script) == UNDERSTAND_AND_REPLY
        assert chat.last.metadata["usage"]["model_calls"] == 2
        assert held(chat) == touched
        given = asked(script.calls[0])
        assert len(given["questions"]) == 10
        assert set(touched) <= {rule["rule"] for rule in given["rules"]}
        assert len(given["rules"]) <= 20
        for place in (3, 11, number - 1):
            assert f"mention the {word(place)} desk" in system(script.calls[1])

        await chat.says("Thank you")
        assert kinds(script) == UNDERSTAND_AND_REPLY * 2
        assert held(chat) == []


async def test_disabled_guidelines_are_neither_asked_about_nor_counted(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    off = [
        Guideline(id="off", condition="is sad", action="x", keywords=["roof"], enabled=False),
        Guideline(id="always_off", action="x", always=True, enabled=False),
        Guideline(id="code_off", action="x", when=lambda *_: True, enabled=False),
    ]
    with scripted() as script:
        chat = await line(journey(__guidelines__=off), {"clerk": ids})

        assert await chat.says("My roof!") == "none"
        assert (held(chat), script.calls) == ([], [])


# Scenario: Priority resolution


async def test_priority_resolution_is_by_scope_and_then_by_number(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """State before journey before global, whatever the numbers; then the higher number."""

    def rule(id_: str, priority: int, scope: str | None = None) -> Guideline:
        return Guideline(
            id=id_, condition=id_, action=f"do {id_}", always=True, priority=priority, scope=scope
        )

    desk = state(__guidelines__=[rule("state_low", -5), rule("state_high", 1)])
    listed = [
        rule("global_high", 99, "global"),
        rule("journey_low", 0),
        rule("global_low", 98, "global"),
        rule("journey_high", 50),
    ]
    order = [
        *("state_high", "state_low", "journey_high"),
        *("journey_low", "global_high", "global_low"),
    ]
    with scripted(rules_hold(*sorted(order)), HAPPY) as script:
        chat = await line(journey(DeskPath=desk, __guidelines__=listed))
        await chat.says("hello")

        assert held(chat) == order
        told = system(script.calls[1])
        places = [told.index(f"do {name}") for name in order]
        assert places == sorted(places)


async def test_state_guidelines_are_those_of_the_state_that_runs(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """Of the states to which the message may lead, all are asked about in the same one call."""
    body: dict[str, Any] = {
        "DeskPath": state(
            __guidelines__=[Guideline(id="here", condition="x", action="x", always=True)]
        ),
        "BillPath": state(
            __guidelines__=[Guideline(id="there", condition="x", action="y", always=True)]
        ),
        "__transitions__": [
            Transition(IntentTrigger(description="asks about a bill"), to_pathway="bill")
        ],
    }
    both = ("here", "there")
    with scripted(rules_hold(*both), HAPPY, rules_hold(*both, to="bill"), HAPPY) as script:
        chat = await line(journey(**body))
        await chat.says("one")
        assert held(chat) == ["here"]
        await chat.says("two")

        assert (chat.path, held(chat)) == (["desk", "bill"], ["there"])
        assert kinds(script) == UNDERSTAND_AND_REPLY * 2
        assert flags(chat) == []
