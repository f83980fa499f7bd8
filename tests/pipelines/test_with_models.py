"""Every pattern with model agents, in a pathway, on a model that answers from a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import InputField, Journey, ModelAgent, OutputField, Pathway, Pipeline, Signature
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from tests.pipelines.marked import Marked, mark


class Answer(Signature):
    """Answer a question about an order."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    order: str | None = OutputField(description="The order number, once it was said")


def answer(words: str, **also: Any) -> dict[str, Any]:
    return {"response": words, "order": "7", **also}


def desk(pattern: str, agents: list[str], **config: Any) -> type[Journey]:
    class Desk(Journey):
        """Answer questions."""

        class DeskPath(Pathway):
            __signature__ = Answer
            __agents__ = agents
            __pipeline__ = pattern
            __pipeline_config__ = config
            __accumulate__ = ["order"]

    return Desk


Script = Callable[[Any], Any]


@pytest.fixture
def chat(talk, memory_url):
    """Open a conversation with a desk, whose agents are all a model that obeys a script."""

    async def open_(journey: type[Journey], model: Any, **agents: Any) -> Any:
        return await talk(journey, agents, memory_url, options={"model": model})

    return open_


def asks_for(call: Any) -> set[str]:
    """What a call wants beyond the signature's outputs."""
    return set(call.schema["properties"]) - {"response", "order"}


def words_of(schema: dict[str, Any], name: str) -> str:
    return str(schema["properties"][name])


async def test_a_model_routes(chat):
    async with ScriptedModel({"agents": ["granite"], "reason": "it says so"}) as model:
        walnut, granite = Marked("walnut"), Marked("granite")
        journey = desk("router", ["walnut", "granite"], routing_strategy="llm")
        talk = await chat(journey, model, walnut=walnut, granite=granite)

        reply = await talk.says("the other one, please")

    assert reply == mark("granite")
    assert (walnut.calls, len(granite.calls)) == ([], 1)
    assert "the other one, please" in model.calls[0].text
    assert "walnut" in model.calls[0].text
    assert talk.last.metadata["usage"]["model_calls"] == 1


async def test_a_model_routes_to_a_model(chat):
    chosen = {"agents": ["granite"], "reason": "it says so"}
    async with ScriptedModel(chosen, answer("I am granite")) as model:
        journey = desk("router", ["walnut", "granite"], routing_strategy="llm")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert (reply, talk.context) == ("I am granite", {"order": "7"})


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param({"agents": ["nobody"], "reason": "?"}, id="nobody there is"),
        pytest.param({"agents": [], "reason": "?"}, id="nobody"),
        pytest.param("granite", id="no JSON"),
        pytest.param(Fault.status(400), id="refused"),
    ],
)
async def test_what_a_model_cannot_choose_is_chosen_by_the_cards_and_flagged(chosen):
    async with ScriptedModel(always=chosen) as model:
        pipeline = Pipeline.router([Marked("walnut"), Marked("granite")], "llm").with_model(model)
        result = await pipeline.run(message="granite, please")

    assert result["response"] == mark("granite")
    assert any(f.startswith("selection_fallback:model_") for f in result["pipeline"]["flags"])


async def test_without_a_model_the_cards_choose_and_a_flag_says_so():
    pipeline = Pipeline.router([Marked("walnut"), Marked("granite")], "llm").with_model(False)

    result = await pipeline.run(message="granite, please")

    assert result["response"] == mark("granite")
    assert "selection_fallback:model_not_configured" in result["pipeline"]["flags"]


async def test_a_model_finds_the_members_of_an_ensemble(chat):
    found = {"agents": ["harbour", "walnut"], "reason": "both know"}
    async with ScriptedModel(found, answer("in one word")) as model:
        members = {name: Marked(name) for name in ("walnut", "granite", "harbour")}
        agents = [*members, "writer"]
        config = {"synthesizer": "writer", "discovery_mode": "llm", "top_k": 2}
        talk = await chat(desk("ensemble", agents, **config), model, **members)

        reply = await talk.says("order 7, please")

    assert reply == "in one word"
    assert {name: len(member.calls) for name, member in members.items()} == {
        "walnut": 1,
        "granite": 0,
        "harbour": 1,
    }
    assert mark("walnut") in model.calls[1].text
    assert mark("harbour") in model.calls[1].text


async def test_a_model_supervises_models(chat):
    def obey(call: Any) -> Any:
        asked = asks_for(call)
        if "tasks" in asked:
            assert {"walnut", "granite"} <= set(call.text.replace('"', " ").split())
            return {"tasks": [{"task": "count it", "worker": "granite"}, {"task": "paint it"}]}
        if "reassign" in asked:
            assert "granite's part" in call.text
            return answer("all in all", reassign=[])
        return answer("granite's part" if "count it" in call.text else "walnut's part")

    async with ScriptedModel(always=obey) as model:
        journey = desk("supervisor_worker", ["walnut", "granite", "boss"], supervisor="boss")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert (reply, talk.context) == ("all in all", {"order": "7"})
    assert len(model.calls) == 4
    assert all("order 7, please" in call.text for call in model.calls)


async def test_a_model_sends_a_part_back(chat):
    def obey(call: Any) -> Any:
        asked = asks_for(call)
        if "tasks" in asked:
            return {"tasks": [{"task": "count it", "worker": "granite"}]}
        if "reassign" in asked:
            return answer("no", reassign=[{"part": 1, "worker": None}])
        return answer(f"call {call.number}")

    async with ScriptedModel(always=obey) as model:
        journey = desk("supervisor_worker", ["walnut", "granite", "boss"], supervisor="boss")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert reply == "call 5"  # plan, part, review, part again, compose
    assert len(model.calls) == 5


async def test_a_model_controls_a_blackboard(chat):
    looks = iter(
        [
            answer("", done=False, next="granite", need=None),
            answer("", done=False, next=None, need="walnut"),
            answer("done at last", done=True, next=None, need=None),
        ]
    )

    def obey(call: Any) -> Any:
        return next(looks) if "done" in asks_for(call) else answer(f"found in {call.number}")

    async with ScriptedModel(always=obey) as model:
        journey = desk("blackboard", ["walnut", "granite", "boss"], controller="boss")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert reply == "done at last"
    assert len(model.calls) == 5
    assert "found in 2" in model.calls[2].text
    assert all(f"found in {number}" in model.calls[4].text for number in (2, 4))


async def test_models_come_to_a_consensus(chat):
    def obey(call: Any) -> Any:
        if "vote" in asks_for(call):
            assert set(call.schema["properties"]) == {"vote", "confidence", "reason"}
            assert "walnut" in words_of(call.schema, "vote")
            return {"vote": "granite", "confidence": 0.9, "reason": "clear"}
        return answer(f"proposal {call.number}")

    async with ScriptedModel(always=obey) as model:
        talk = await chat(desk("consensus", ["walnut", "granite", "harbour"]), model)

        reply = await talk.says("order 7, please")

    assert reply in {f"proposal {number}" for number in (1, 2, 3)}
    assert talk.context == {"order": "7"}
    assert len(model.calls) == 6
    for call in model.calls[3:]:
        assert all(f"proposal {number}" in call.text for number in (1, 2, 3))


async def test_models_debate_before_a_model(chat):
    def obey(call: Any) -> Any:
        if "winner" in asks_for(call):
            return answer("granite it is", winner="granite")
        return answer(f"argument {call.number}")

    async with ScriptedModel(always=obey) as model:
        journey = desk("debate", ["walnut", "granite", "judge"], rounds=2, judge="judge")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert reply == "granite it is"
    assert len(model.calls) == 5
    assert all(f"argument {number}" in model.calls[4].text for number in (1, 2, 3, 4))


async def test_a_model_hands_over_to_a_model(chat):
    handed = {"to": "granite", "reason": "it is about stones"}

    def obey(call: Any) -> Any:
        assert "handoff" in asks_for(call)
        if call.number == 1:
            return answer("one moment", handoff=handed)
        assert "it is about stones" in call.text
        return answer("here I am", handoff=None)

    async with ScriptedModel(always=obey) as model:
        talk = await chat(desk("handoff", ["walnut", "granite"]), model)

        reply = await talk.says("order 7, please")

    assert (reply, talk.context) == ("here I am", {"order": "7"})
    assert len(model.calls) == 2


async def test_models_work_in_parallel_for_a_model(chat):
    def obey(call: Any) -> Any:
        return answer("both") if "view" in call.text else answer(f"view {call.number}")

    async with ScriptedModel(always=obey) as model:
        journey = desk("parallel", ["walnut", "granite", "sum"], aggregator="sum")
        talk = await chat(journey, model)

        reply = await talk.says("order 7, please")

    assert (reply, len(model.calls)) == ("both", 3)
    assert "view 1" in model.calls[2].text
    assert "view 2" in model.calls[2].text


async def test_a_model_that_fails_in_a_pattern_fails_the_turn_and_changes_nothing(chat):
    async with ScriptedModel(always=Fault.status(400)) as model:
        talk = await chat(desk("consensus", ["walnut", "granite"]), model)

        reply = await talk.says("order 7, please")

    assert reply == talk.journey.config.texts.apology
    assert talk.context == {}
    assert "failed" in talk.last.metadata["flags"]


async def test_the_reply_of_the_last_model_is_heard_word_by_word(chat):
    def obey(call: Any) -> Any:
        return answer("a view") if call.number < 3 else answer("this is the end of it")

    async with ScriptedModel(always=obey) as model:
        journey = desk("ensemble", ["walnut", "granite", "writer"], synthesizer="writer")
        talk = await chat(journey, model)

        events = [event async for event in talk.journey.stream_message("order 7, please")]

    tokens = [event.data["text"] for event in events if event.type == "token"]
    assert "".join(tokens) == "this is the end of it"
    assert len(tokens) > 3


async def test_a_pipeline_of_models_runs_without_a_journey():
    def obey(call: Any) -> Any:
        return answer(f"proposal {call.number}")

    agents = [Pipeline.sequential([ModelAgent(signature=Answer)]).to_agent(n) for n in ("a", "b")]
    async with ScriptedModel(always=obey) as model:
        result = await Pipeline.parallel(agents).with_model(model).run(message="order 7, please")

    assert result["response"] == "proposal 1\n\nproposal 2"
    assert [entry["agent"] for entry in result["pipeline"]["results"]] == ["a/Answer", "b/Answer"]
