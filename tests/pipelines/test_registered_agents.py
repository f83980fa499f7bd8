"""Registered agents for the names in a pathway: agents with cards, and pipelines."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import NEVER, Agent, ConfigurationError, Journey, Pathway, Pipeline, Skill


def explains(given: dict[str, Any]) -> str:
    """Explain invoices and charges."""
    return "explained"


def mends(given: dict[str, Any]) -> str:
    """Mend lines and connections."""
    return "mended"


class Desk(Journey):
    class DeskPath(Pathway):
        __agents__ = ["first", "second"]
        __pipeline__ = "router"
        __complete_when__ = NEVER


@pytest.mark.parametrize(
    "agents",
    [
        {"first": explains, "second": mends},
        {
            "first": Agent(lambda given: "explained", "clerk", skills=[Skill("invoice")]),
            "second": Agent(lambda given: "mended", "fitter", skills=[Skill("connection")]),
        },
    ],
    ids=["functions", "agents with skills"],
)
async def test_a_named_router_goes_by_the_cards_of_what_was_registered(talk, memory_url, agents):
    chat = await talk(Desk, agents, memory_url)

    assert await chat.says("My connection is down") == "mended"
    assert await chat.says("My invoice is wrong") == "explained"


async def test_a_supervisor_is_shown_the_cards_of_what_was_registered(talk, memory_url):
    shown: list[Any] = []

    def boss(given: dict[str, Any]) -> dict[str, Any]:
        shown.append(given["workers"])
        return {"response": "done"}

    class Office(Journey):
        class OfficePath(Pathway):
            __agents__ = ["boss", "first", "second"]
            __pipeline__ = "supervisor_worker"
            __pipeline_config__ = {"supervisor": "boss"}

    chat = await talk(Office, {"boss": boss, "first": explains, "second": mends}, memory_url)
    await chat.says("My connection is down")

    assert [(card["name"], card["description"]) for card in shown[0]] == [
        ("first", "Explain invoices and charges."),
        ("second", "Mend lines and connections."),
    ]


async def test_a_vote_weighs_as_much_as_whoever_was_registered(talk, memory_url):
    class Board(Journey):
        class BoardPath(Pathway):
            __agents__ = ["a", "b", "c"]
            __pipeline__ = "consensus"
            __pipeline_config__ = {"voting_strategy": "weighted"}

    agents = {
        "a": lambda given: "yes",
        "b": lambda given: "yes",
        "c": Agent(lambda given: "no", "chair", weight=5),
    }
    chat = await talk(Board, agents, memory_url)

    assert await chat.says("Shall we?") == "no"


def broken(given: dict[str, Any]) -> str:
    raise LookupError("no such line")


class Help(Journey):
    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __accumulate__ = ["pipeline"]
        __complete_when__ = NEVER


@pytest.mark.parametrize("wrapped", [False, True], ids=["as it is", "as an agent"])
async def test_a_registered_pipeline_answers_and_keeps_how_to_itself(talk, memory_url, wrapped):
    pipeline = Pipeline.parallel([explains, mends])
    agent = pipeline.to_agent("desk", "Answers questions.") if wrapped else pipeline
    chat = await talk(Help, {"helper": agent}, memory_url)

    assert await chat.says("hello") == "explained\n\nmended"
    assert await chat.journey.snapshot() == {}


async def test_a_registered_pipeline_that_comes_to_nothing_fails_the_turn(talk, memory_url):
    chat = await talk(Help, {"helper": Pipeline.parallel([broken])}, memory_url)

    assert await chat.says("hello") == chat.journey.config.texts.apology
    assert "no such line" in chat.last.metadata["error"]["message"]


@pytest.mark.parametrize("given", [3, ["clerk"], {"a": 1}], ids=repr)
def test_what_cannot_be_called_is_no_agent(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="is not an agent"):
        Pipeline.parallel([explains, given])


async def test_an_agents_own_error_is_told_among_the_results_alone() -> None:
    def careful(given: dict[str, Any]) -> dict[str, Any]:
        return {"response": "checked", "error": "none", "pipeline": "blue"}

    outputs = await Pipeline.sequential([careful]).run(message="hello")

    assert "error" not in outputs
    assert outputs["pipeline"]["status"] == "complete"
    assert outputs["pipeline"]["results"][0]["outputs"]["error"] == "none"


async def test_a_name_that_an_agent_makes_up_does_not_fill_the_flags() -> None:
    def lost(given: dict[str, Any]) -> dict[str, Any]:
        return {"response": "hm", "handoff": {"to": "x" * 5_000, "reason": ""}}

    outputs = await Pipeline.handoff([lost, explains]).run(message="hello")

    assert outputs["pipeline"]["flags"] == [f"handoff_refused:unknown:{'x' * 64}"]
