"""Tools of model agents in pipelines: allowed, filled and confirmed as anywhere in a pathway."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from journeygraph import (
    NEVER,
    Agent,
    ConfigurationError,
    FromContext,
    InputField,
    Journey,
    ModelAgent,
    OutputField,
    Pathway,
    Pipeline,
    Signature,
    Tool,
)
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, UseTool

DONE: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    DONE.clear()


class Errand(Signature):
    """Run an errand."""

    message: str = InputField(description="What was asked")
    response: str = OutputField(description="What to say")


async def send(what: str, to: Annotated[str, FromContext("patient_id")]) -> str:
    """Send something to the patient."""
    DONE.append((what, to))
    return f"sent {what}"


async def stock() -> str:
    """Look what there is."""
    return "leaflets"


SEND = UseTool("send", what="a leaflet")


def said(words: str) -> dict[str, Any]:
    return {"response": words}


def worker(name: str, *tools: Any) -> Agent:
    return Agent(ModelAgent(signature=Errand, tools=tools), name=name)


def pipeline(*tools: Any) -> Any:
    """A pipeline within another one, the inner agent with the tools."""
    inner = Pipeline.sequential([worker("runner", *tools)], error_handling="fail-fast")
    return Pipeline.sequential([note_taker, inner.with_name("team")], error_handling="fail-fast")


def note_taker(ask: dict[str, Any]) -> dict[str, Any]:
    """Note the errand."""
    return {"noted": True}


class Office(Journey):
    """Run errands by a pipeline in a pipeline."""

    class ErrandPath(Pathway):
        __pipeline__ = pipeline(Tool(send, confirm=True), stock)
        __complete_when__ = NEVER


class Sparse(Journey):
    """Run errands, with one tool."""

    class ErrandPath(Pathway):
        __pipeline__ = pipeline(send, stock)
        __tools__ = ["stock"]
        __complete_when__ = NEVER


@pytest.fixture
def office(talk, memory_url):
    async def begin(model: ScriptedModel, journey: type[Journey] = Office, **agents: Any) -> Any:
        options = {"context": {"patient_id": "P-1"}, "options": {"model": model}}
        return await talk(journey, agents, memory_url, **options)

    return begin


def tools_said(model: ScriptedModel) -> list[str]:
    return [m["content"] for m in model.calls[-1].messages if m["role"] == "tool"]


async def test_an_effect_waits_for_the_user_in_a_pipeline_within_a_pipeline(office):
    with ScriptedModel(SEND, said("Shall I?"), SEND, SEND, said("Sent.")) as model:
        chat = await office(model)
        assert await chat.says("a leaflet please") == "Shall I?"
        assert DONE == []
        assert "unconfirmed:send" in chat.last.metadata["flags"]

        assert await chat.says("yes") == "Sent."
        assert DONE == [("a leaflet", "P-1")]
        assert "Not run" in tools_said(model)[1]


async def test_what_one_agent_asked_about_no_other_agent_may_do(office):
    class Desk(Journey):
        class ErrandPath(Pathway):
            __signature__ = Errand
            __agents__ = ["first", "second"]
            __pipeline__ = "parallel"
            __complete_when__ = NEVER

    asks: dict[str, bool] = {"first": True, "second": False}

    def answer(call: Call) -> Any:
        name = "first" if "stock" in call.tools else "second"
        used = [m for m in call.messages if m["role"] == "tool"]
        return SEND if asks[name] and not used else said(f"{name} here")

    with ScriptedModel(always=answer) as model:
        first = ModelAgent(tools=[Tool(send, confirm=True), stock])
        second = ModelAgent(tools=[Tool(send, confirm=True)])
        chat = await office(model, Desk, first=first, second=second)
        await chat.says("a leaflet please")
        asks.update(first=False, second=True)
        await chat.says("yes")
        assert DONE == []


async def test_without_a_user_who_can_be_asked_an_effect_is_refused_with_the_reason():
    with ScriptedModel(SEND) as model:
        alone = Pipeline.sequential([worker("runner", Tool(send, confirm=True))]).with_model(model)
        result = await alone.run(message="a leaflet", context={"patient_id": "P-1"})

        (failed,) = result["pipeline"]["failed"]
        assert failed["kind"] == "ModelError"
        assert "'send' needs a confirmation by the user, which is not possible" in failed["error"]
        assert DONE == []


async def test_a_pipeline_alone_fills_parameters_from_the_context_it_is_given():
    hostile = UseTool("send", what="a bill", to="P-2")
    with ScriptedModel(hostile, said("Sent.")) as model:
        alone = Pipeline.sequential([worker("runner", send)]).with_model(model)
        await alone.run(message="a bill", context={"patient_id": "P-1"})
        assert DONE == [("a bill", "P-1")]


async def test_an_allowlist_holds_in_a_pipeline_within_a_pipeline(office):
    with ScriptedModel(SEND, said("I may not.")) as model:
        chat = await office(model, Sparse)
        assert await chat.says("send it all") == "I may not."
        assert model.calls[0].tools == ["stock"]
        assert "no such tool" in tools_said(model)[0]
        assert DONE == []


def test_a_name_that_nobody_in_a_pipeline_brings_is_an_error_at_the_start():
    class Wrong(Journey):
        class ErrandPath(Pathway):
            __pipeline__ = pipeline(send, stock)
            __tools__ = ["stok"]

    with pytest.raises(ConfigurationError, match="Did you mean 'stock'"):
        Wrong.compile(model=ScriptedModel())


def test_a_registered_pipeline_that_an_allowlist_does_not_reach_is_refused():
    class Desk(Journey):
        class ErrandPath(Pathway):
            __agents__ = ["team"]
            __tools__ = ["stock"]

    with pytest.raises(ConfigurationError, match="does not apply within the pipeline"):
        Desk.compile(agents={"team": pipeline(send, stock)}, model=ScriptedModel())
    Desk.compile(agents={"team": pipeline(stock)}, model=ScriptedModel())
