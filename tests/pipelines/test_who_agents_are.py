"""Model agents know who they are: their card, their part in the pattern, and the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    Agent,
    Journey,
    ModelAgent,
    OutputField,
    Pathway,
    Pipeline,
    Signature,
    Skill,
)
from journeygraph.journeys.examples.pipelines import build_or_buy, investment_memo
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.pipelines.marked import Marked


class View(Signature):
    """Give your view."""

    response: str = OutputField(description="The view")


def model(name: str) -> Agent:
    return Agent(ModelAgent(signature=View), name=name)


def filled(schema: dict[str, Any], call: Any) -> dict[str, Any]:
    """Return an answer of a schema that keeps everybody at work."""
    given: dict[str, Any] = {}
    for name, part in schema["properties"].items():
        kinds = part.get("anyOf", [part])
        if name == "tasks":
            workers = [worker["name"] for worker in json.loads(call.message)["workers"]]
            given[name] = [{"task": "Do it.", "worker": worker} for worker in workers]
        elif any("enum" in kind or "const" in kind for kind in kinds):
            given[name] = _one_of(kinds, call)
        elif name == "done":
            seen = json.loads(call.message)
            given[name] = len(seen["board"]) >= len(seen["specialists"])
        else:
            plain = {"string": "x", "number": 0.5, "array": [], "boolean": True}
            given[name] = plain.get(kinds[0].get("type", ""))
    return given


def _one_of(kinds: list[dict[str, Any]], call: Any) -> Any:
    named = next(kind for kind in kinds if "enum" in kind or "const" in kind)
    names = named.get("enum") or [named["const"]]
    seen = json.loads(call.message).get("board", [])
    return names[len(seen) % len(names)]


def parts(call: Any) -> dict[str, Any]:
    properties: dict[str, Any] = call.schema["properties"]
    return properties


def obeys(call: Any) -> Any:
    return filled(call.schema, call)


PATTERNS: dict[str, Callable[[list[Any]], Any]] = {
    "sequential": Pipeline.sequential,
    "supervisor_worker": lambda peers: Pipeline.supervisor_worker(model("boss"), peers),
    "router": lambda peers: Pipeline.router(peers, routing_strategy="round-robin"),
    "ensemble": lambda peers: Pipeline.ensemble(peers, model("writer")),
    "blackboard": lambda peers: Pipeline.blackboard(peers, model("lead")),
    "consensus": Pipeline.consensus,
    "debate": lambda peers: Pipeline.debate(peers, rounds=2),
    "judged debate": lambda peers: Pipeline.debate(peers, rounds=2, judge=model("judge")),
    "handoff": lambda peers: Pipeline.handoff(peers, lambda outputs: True),
    "parallel": Pipeline.parallel,
    "aggregated": lambda peers: Pipeline.parallel(peers, aggregator=model("editor")),
}


def who(call: Any) -> str:
    """Return who the call says that the agent is: all of its place, which no other one has."""
    system = str(call.messages[0]["content"])
    assert "Who you are:\n- You are the agent '" in system
    return system.partition("Who you are:\n")[2].partition("\n\n")[0]


async def requests(pipeline: Any, times: int = 1) -> list[Any]:
    async with ScriptedModel(always=obeys) as asked:
        crew = pipeline.with_model(asked)
        for _ in range(times):
            result = await crew.run(message="Should we?")
            assert result["pipeline"]["status"] == "complete", result
    return list(asked.calls)


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_no_two_agents_are_ever_asked_the_same(pattern: str) -> None:
    """All of one signature and without a card of their own, as they are most alike."""
    pipeline = PATTERNS[pattern]([model("one"), model("two"), model("three")])
    pipeline = pipeline.with_name("crew")
    times = 3 if pattern == "router" else 1

    calls = await requests(pipeline, times)

    assert len({who(call) for call in calls}) == len(pipeline.members)
    assert len({call.text for call in calls}) == len(calls)
    for call in calls:
        names = {name for name in pipeline.members if f"'{name}'" in who(call)}
        assert names == set(pipeline.members)


@pytest.mark.parametrize("outer", PATTERNS)
@pytest.mark.parametrize("inner", ["sequential", "judged debate", "consensus", "parallel"])
async def test_agents_of_the_same_name_in_pipelines_within_know_in_which_they_are(
    outer: str, inner: str
) -> None:
    teams = [
        Agent(PATTERNS[inner]([model("one"), model("two")]), name=name) for name in ("red", "blue")
    ]
    pipeline = PATTERNS[outer](teams)

    calls = await requests(pipeline, 2 if outer == "router" else 1)

    assert len({who(call) for call in calls}) == len(list(pipeline.leaves))
    by_who: dict[str, set[str]] = {}
    for call in calls:
        by_who.setdefault(call.text, set()).add(who(call))
    assert all(len(agents) == 1 for agents in by_who.values())


@pytest.mark.parametrize("example", [build_or_buy, investment_memo], ids=lambda e: e.__name__)
async def test_agents_of_the_examples_differ(example: Any) -> None:
    calls = await requests(example.MODEL_PIPELINE)

    assert len({call.text for call in calls}) == len(calls)


async def test_a_card_and_a_part_stand_behind_what_all_agents_of_a_signature_are_told() -> None:
    skills = [Skill("law", "Reads contracts", synonyms=["contract"])]
    lawyer = Agent(ModelAgent(signature=View), "lawyer", "Knows the law.", skills)
    crew = Pipeline.ensemble([lawyer, model("other")], model("writer"))

    first, second, writer = await requests(crew)

    told = first.messages[0]["content"], second.messages[0]["content"]
    shared = told[0].partition("Who you are:")[0]
    assert told[1].startswith(shared)
    assert shared.startswith("Give your view.")
    assert told[0].removeprefix(shared).splitlines() == [
        "Who you are:",
        "- You are the agent 'lawyer'.",
        "- What you are for: Knows the law.",
        "- You can do: law: Reads contracts (contract)",
        "- You are expert 1 of 2: you give your own view. The synthesizer weighs all views.",
        "- The others: 'other' (Give your view), expert; 'writer' (Give your view), the "
        "synthesizer.",
    ]
    assert "You are the synthesizer" in who(writer)
    assert "'lawyer' (Knows the law), expert" in who(writer)


@pytest.mark.parametrize("pattern", ["consensus", "debate"])
async def test_a_vote_names_who_may_be_voted_for_and_takes_nobody_else(pattern: str) -> None:
    """One who failed to propose is not among them; a name that is not is sent back."""

    def votes(call: Any) -> Any:
        if "vote" not in parts(call):
            return {"response": f"I am {who(call)}"}
        sent_back = "does not fit" in call.text
        return {"vote": "two" if sent_back else "ill", "confidence": 1, "reason": "x"}

    def ill(payload: Any) -> str:
        raise OSError("down")

    crew = [model("one"), model("two"), Agent(ill, name="ill")]
    rounds = {"rounds": 1} if pattern == "debate" else {}
    pipeline = getattr(Pipeline, pattern)(crew, **rounds)
    async with ScriptedModel(always=votes) as asked:
        result = await pipeline.with_model(asked).run(message="Should we?")

    ballots = [call for call in asked.calls if "vote" in parts(call)]
    assert len(ballots) == 4  # each of the two, and each once more
    for call in ballots:  # null abstains
        choices = parts(call)["vote"]["anyOf"]
        assert [choice.get("enum") for choice in choices] == [["one", "two"], None]
    for name in ("one", "two"):
        own = [call for call in ballots if f"agent '{name}'" in who(call)]
        assert len(own) == 2
        told = f"You can vote for: 'one', 'two'. Your own is '{name}'."
        assert all(told in call.messages[0]["content"] for call in own)
    assert result["pipeline"].get("verdict", result["pipeline"].get("consensus"))["winner"] == "two"


async def test_agents_of_one_pathway_that_are_models_by_its_signature_differ(
    talk: Any, memory_url: str
) -> None:
    class Desk(Journey):
        class DeskPath(Pathway):
            __signature__ = View
            __agents__ = ["one", "two", "three"]
            __pipeline__ = "parallel"

    async with ScriptedModel(always=obeys) as asked:
        one = Agent(ModelAgent(), name="one", description="Counts the cost.")
        agents = {"one": one, "three": Marked("three")}
        chat = await talk(Desk, agents, memory_url, options={"model": asked})
        await chat.says("Should we?")

    assert len({call.text for call in asked.calls}) == 2
    assert "'one' (Counts the cost), colleague" in "".join(map(who, asked.calls))


async def test_of_many_others_an_agent_is_told_some() -> None:
    crew = Pipeline.router([model(f"agent_{n}") for n in range(60)], "round-robin")

    call = (await requests(crew))[0]

    assert "'agent_20' (Give your view), candidate; and 39 more." in who(call)
