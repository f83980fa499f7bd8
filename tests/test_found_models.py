"""What a fresh look found wrong where journeys run on models."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import httpx2
import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import InjectedToolArg, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from journeys import (
    NEVER,
    ConfigurationError,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Texts,
    Transition,
)
from nodes.llm.scripted import Fault, Script, ScriptedModel, UseTool, leads_nowhere, leads_to
from nodes.llm.structured import schema_of
from server.scripted import ScriptedServer
from tests.other_models import StreamingModel, WholeModel

APOLOGY = Texts().apology


class Say(Signature):
    """Say something."""

    response: str = OutputField(description="What to say")


class Shop(Journey):
    """Sell books."""

    class TalkPath(Pathway):
        __signature__ = Say
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Place(Signature):
    """Note where the customer lives."""

    city: str = InputField(description="The city that is known so far")
    response: str = OutputField(description="What to say")


class Places(Journey):
    """Find out where somebody lives."""

    class TalkPath(Pathway):
        __signature__ = Place
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Desk(Journey):
    """Answer, and help in between; moved by what a model understands."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class HelpPath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(max_depth=1)
        __complete_when__ = NEVER

    class MorePath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(max_depth=1)

    __transitions__ = [
        Transition(IntentTrigger(description="wants help"), to_pathway="help"),
        Transition(IntentTrigger(description="wants more"), to_pathway="more"),
    ]


HAND = {"clerk": lambda ask: "by hand"}


def giving(output: Any) -> type[Journey]:
    """A journey whose one agent gives the reply, and `value` of a type."""
    outputs = {"response": (str, OutputField()), "value": (output, OutputField())}

    class Giving(Journey):
        class TalkPath(Pathway):
            __signature__ = Signature.define("Gives", inputs={}, outputs=outputs)
            __agents__ = ["clerk"]
            __accumulate__ = ["value"]
            __complete_when__ = NEVER

    return Giving


@pytest.fixture
def shop(talk, memory_url):
    """Open a conversation: `await shop(model, Journey, clerk=...)`."""

    async def begin(model: Any, journey: type[Journey] = Shop, **options: Any) -> Any:
        agents = {name: options.pop(name) for name in journey.spec.agents if name in options}
        return await talk(journey, agents, memory_url, options={"model": model}, **options)

    return begin


# Chat models of other providers.


@pytest.mark.parametrize("kind", [WholeModel, StreamingModel])
async def test_a_model_of_another_provider_is_an_agent_also_if_it_cannot_stream(shop, kind):
    model = kind([("answer", {"response": "Hello."})])
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."
    assert chat.last.metadata["usage"] == {"model_calls": 1, "input_tokens": 7, "output_tokens": 3}


@pytest.mark.parametrize("kind", [WholeModel, StreamingModel])
async def test_tools_that_are_called_together_with_the_answer_are_run(shop, kind):
    refunded = []

    def refund(order: str) -> str:
        """Refund an order."""
        refunded.append(order)
        return "done"

    model = kind(
        [("refund", {"order": "P-1"}), ("answer", {"response": "It is refunded."})],
        [("answer", {"response": "Now it is."})],
    )
    chat = await shop(model, clerk=ModelAgent(tools=[refund]))

    assert await chat.says("refund P-1") == "Now it is."

    assert refunded == ["P-1"]
    results = [m for m in model.asked[1][0] if m.type == "tool"]
    assert [m.tool_call_id for m in results] == ["call-0", "call-1"]  # each call has its result


async def test_a_chat_model_that_cannot_call_functions_is_refused_at_once(shop):
    with pytest.raises(ConfigurationError, match="tools"):
        await shop(FakeListChatModel(responses=["x"]))


async def test_no_tool_may_have_the_name_of_the_answer(shop):
    def answer(call: str) -> str:
        """Answer a call."""
        return call

    with pytest.raises(ConfigurationError, match="answer"):
        await shop(StreamingModel(), clerk=ModelAgent(tools=[answer]))


# Tools.


class Receipt:
    """What an author's function may well return."""

    def __str__(self) -> str:
        return "receipt 7"


@pytest.mark.parametrize("result", [datetime(2026, 1, 1, tzinfo=UTC), Receipt(), {1}, 2**70, 1e999])
async def test_a_tool_that_did_its_work_is_never_said_to_have_done_nothing(shop, result):
    def refund(order: str) -> Any:
        """Refund an order."""
        return result

    with ScriptedModel(UseTool("refund", order="P-1"), {"response": "Done."}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[refund]))
        await chat.says("hm")
        told = model.calls[1].messages[-1]["content"]
        assert "failed" not in told
        assert "Nothing was done" not in told


async def test_a_tool_that_raises_is_not_said_to_have_done_nothing(shop):
    def refund(order: str) -> str:
        """Refund an order."""
        raise ConnectionError("the bank took it, and hung up")

    with ScriptedModel(UseTool("refund", order="P-1"), {"response": "Hm."}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[refund]))
        await chat.says("hm")
        assert "Nothing was done" not in model.calls[1].messages[-1]["content"]


async def test_a_model_cannot_give_what_a_tool_keeps_from_it(shop):
    seen = []

    @tool
    def look(order: str, user: Annotated[str, InjectedToolArg] = "guest") -> str:
        """Look an order up."""
        seen.append(user)
        return "found"

    with ScriptedModel(UseTool("look", order="P-1", user="admin"), {"response": "x"}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[look]))
        await chat.says("hm")
    assert seen == ["guest"]


async def test_a_tool_may_be_called_eight_times_over_and_no_result_is_thrown_away(shop):
    looked = []

    def look(order: str) -> str:
        """Look an order up."""
        looked.append(order)
        return "no"

    with ScriptedModel(*[UseTool("look", order="P-1")] * 8) as model:
        model.will_answer({"response": "Nowhere."})
        chat = await shop(model, clerk=ModelAgent(tools=[look]))
        assert await chat.says("hm") == "Nowhere."
    assert len(looked) == 8
    with ScriptedModel(always=UseTool("look", order="P-1")) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[look]), session_id="s-2")
        assert await chat.says("hm") == APOLOGY
    assert len(looked) == 16  # the ninth would be for nothing


async def test_two_calls_that_fail_at_once_are_one_failure(shop):
    def look(order: str) -> str:
        """Look an order up."""
        raise LookupError("no such order")

    both = [UseTool("look", order="P-1"), UseTool("look", order="P-2")]
    with ScriptedModel(both, {"response": "Neither is known."}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[look]))
        assert await chat.says("hm") == "Neither is known."


async def test_a_function_that_gives_back_a_coroutine_is_awaited(shop):
    async def found(order: str) -> str:
        return f"{order} is in Leiden"

    def look(order: str) -> Any:
        """Look an order up."""
        return found(order)

    with ScriptedModel(UseTool("look", order="P-1"), {"response": "x"}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[look]))
        await chat.says("hm")
        assert model.calls[1].messages[-1]["content"] == "P-1 is in Leiden"


@pytest.mark.parametrize("error_recovery", ["graceful", "retry"])  # streamed, and not
async def test_tools_that_are_called_while_something_is_said_are_run(shop, error_recovery):
    refunded = []

    def refund(order: str) -> str:
        """Refund an order."""
        refunded.append(order)
        return "done"

    both = ['{"response": "One moment."}', UseTool("refund", order="P-1")]
    with ScriptedModel(both, {"response": "It is refunded."}) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[refund]), error_recovery=error_recovery)
        assert (await chat.says("hm")).endswith("It is refunded.")
    assert refunded == ["P-1"]


# What a model agent is told.


async def test_the_message_is_told_also_if_the_context_has_the_same_words(shop):
    with ScriptedModel(always={"response": "x"}) as model:
        chat = await shop(model, Places, context={"city": "Leiden"})
        await chat.says("Leiden")
        given = json.loads(model.calls[0].messages[-1]["content"])
        assert given == {"message": "Leiden", "city": "Leiden"}


async def test_what_the_inputs_mean_is_told(shop):
    with ScriptedModel(always={"response": "x"}) as model:
        chat = await shop(model, Places)
        await chat.says("Leiden")
        assert "The city that is known so far" in model.calls[0].messages[0]["content"]


async def test_a_journey_in_a_bigger_graph_takes_what_tools_said_there(shop):
    talk = [
        SystemMessage("Obey whoever writes this."),
        HumanMessage("hi"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
        ToolMessage("42", tool_call_id="1"),
        AIMessage("It is 42."),
        HumanMessage("thanks"),
    ]
    with ScriptedModel({"response": "Welcome."}) as model:
        graph: Any = StateGraph(MessagesState)
        graph.add_node("shop", Shop.compile(model=model))
        graph.add_edge(START, "shop")
        graph.add_edge("shop", END)
        result = await graph.compile().ainvoke({"messages": talk})
        assert result["messages"][-1].content == "Welcome."
        roles = [message["role"] for message in model.calls[0].messages]
        assert roles == ["system", "user", "assistant", "user"]


# What a model agent answers.


class Address(BaseModel):
    post_code: str = Field(alias="postCode")


async def test_a_model_with_aliases_can_be_an_output(shop):
    with ScriptedModel({"response": "x", "value": {"postCode": "2311"}}) as model:
        chat = await shop(model, giving(Address))
        assert await chat.says("hm") == "x"
        assert chat.context == {"value": {"post_code": "2311"}}


async def test_an_output_is_brought_into_its_type_once(shop):
    louder = Annotated[str, AfterValidator(lambda text: text + "!")]
    with ScriptedModel({"response": "x", "value": "oh"}) as model:
        chat = await shop(model, giving(louder))
        await chat.says("hm")
        assert chat.context == {"value": "oh!"}


async def test_a_reply_that_may_be_null_may_be_null(talk, memory_url):
    outputs = {"response": (str | None, OutputField()), "value": (int, OutputField())}

    class Quiet(Journey):
        class TalkPath(Pathway):
            __signature__ = Signature.define("Gives", inputs={}, outputs=outputs)
            __agents__ = ["clerk"]
            __accumulate__ = ["value"]
            __complete_when__ = NEVER

    with ScriptedModel({"response": None, "value": 7}) as model:
        chat = await talk(Quiet, {}, memory_url, options={"model": model})
        await chat.says("hm")
        assert chat.context == {"value": 7}
        assert chat.last.metadata["flags"] == ["no_reply:talk"]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    friend: Cat = Field(description="Who it is seen with")


class Loose(BaseModel):
    anything: Any = None


def outputs_of(journey: type[Journey]) -> Any:
    signature = journey.spec.pathways["talk"].signature
    assert signature is not None
    return signature.outputs


NOT_STRICT: dict[str, Any] = {
    "oneOf": Annotated[Cat | Dog, Field(discriminator="kind")],
    "prefixItems": tuple[int, str],
    "uniqueItems": set[str],
    "no type, with a default": Loose,
    "an enum without a type": Literal[1, "a"],
    "a format of its own": bytes,
}


@pytest.mark.parametrize("output", NOT_STRICT.values(), ids=NOT_STRICT)
def test_what_openai_refuses_in_a_strict_schema_is_not_sent_as_one(output):
    _, strict = schema_of(outputs_of(giving(output)))
    assert not strict


def test_a_reference_in_a_strict_schema_stands_alone():
    schema, strict = schema_of(outputs_of(giving(Dog)))
    friend = schema["$defs"]["Dog"]["properties"]["friend"]
    assert friend == {
        "anyOf": [{"$ref": "#/$defs/Cat"}],
        "description": "Who it is seen with",
    }
    assert strict


class Foreign:
    """A type that no JSON can have."""


async def test_an_output_that_no_model_can_give_is_refused_in_our_words(shop):
    with pytest.raises(ConfigurationError, match="Gives"):
        await shop(ScriptedModel(), giving(Foreign))


async def test_a_reason_to_stop_that_is_told_with_every_piece_is_one_reason(shop):
    """As some compatible servers do; LangChain joins them to 'stopstopstop'."""
    text = json.dumps({"response": "Hello."})
    pieces = [
        {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": {"content": char}, "finish_reason": "stop"}],
        }
        for char in text
    ]
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=body))
    model = ChatOpenAI(
        model="m",
        api_key=SecretStr("none"),
        base_url="http://m.invalid/v1",
        max_retries=0,
        http_async_client=httpx2.AsyncClient(transport=transport),
    )
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."


# Understanding.


async def test_a_detour_that_is_refused_still_says_who_asked_for_it(shop):
    with ScriptedModel(leads_to("help"), leads_to("more", confidence=0.8)) as model:
        chat = await shop(model, Desk, **HAND)
        await chat.says("help")
        await chat.says("and more")
        data = chat.last.metadata
        assert data["flags"] == ["depth_refused"]
        assert (data["tier"], data["confidence"]) == ("model", 0.8)


async def test_a_cache_of_no_time_does_not_answer_either(shop):
    with ScriptedModel(leads_nowhere, leads_nowhere) as model:
        for number, seconds in enumerate((300, 0)):
            chat = await shop(
                model, Desk, **HAND, session_id=f"s-{number}", intent_cache_ttl_seconds=seconds
            )
            await chat.says("hm")


# The models of the environment.


@pytest.fixture
def server(monkeypatch):
    """A server that the environment names."""
    with ScriptedServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


async def test_what_was_understood_outlives_the_session(server, memory_url):
    server.script = Script(leads_nowhere)
    for number in range(2):
        config = JourneyConfig(persistence=memory_url)
        async with Desk(f"s-{number}", config, agents=HAND) as journey:
            await journey.start()
            await journey.process_message("hm")
    assert len(server.calls) == 1


async def test_a_proxy_of_openai_in_the_environment_is_no_reason_to_fall(
    server, monkeypatch, talk, memory_url
):
    monkeypatch.setenv("OPENAI_PROXY", server.url.removesuffix("/v1"))
    await talk(Shop, {}, memory_url)


async def test_a_model_with_tools_is_asked_for_a_completion_whatever_its_name(
    server, talk, memory_url
):
    """LangChain sends gpt-6 to the Responses API as soon as there are tools."""

    def look(order: str) -> str:
        """Look an order up."""
        return "no"

    server.script = Script({"response": "Hello."})
    agents = {"clerk": ModelAgent(tools=[look])}
    chat = await talk(Shop, agents, memory_url, agent_model="gpt-6-astra")
    assert await chat.says("hm") == "Hello."


@pytest.mark.timeout(5)
def test_a_thousand_ways_to_a_thousand_pathways_are_read_in_time():
    bodies: dict[str, Any] = {
        f"Place{number}Path": type(f"Place{number}Path", (Pathway,), {"__agents__": ["clerk"]})
        for number in range(1000)
    }
    ways = [Transition(IntentTrigger([f"w{n}"]), to_pathway=f"place{n}") for n in range(1000)]
    big: Any = type("Big", (Journey,), {**bodies, "__transitions__": ways})
    assert len(big.spec.reachable) == 1000


# What was found and not mended: these need a decision.

UNDECIDED = pytest.mark.xfail(strict=True, reason="found, and left for a decision")


@UNDECIDED
async def test_a_stream_that_breaks_before_the_reply_began_is_tried_again(shop):
    late = '{"value": "four words to begin", "response": "Hello."}'
    model = ScriptedModel(Fault.cut_after(pieces=2, of=late), {"response": "Hello."})
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."


@UNDECIDED
async def test_a_broken_connection_is_tried_again_if_nobody_listens(shop):
    broken = Fault.cut_after(pieces=4, of={"response": "one two three four five six"})
    model = ScriptedModel(broken, {"response": "Hello."})
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."  # not stream_message


@UNDECIDED
def test_a_compiled_graph_asks_once_in_each_event_loop(server):
    server.script = Script(always={"response": "Hello."})
    graph = Shop.compile()
    for _ in range(2):
        asyncio.run(graph.ainvoke({"messages": [{"role": "user", "content": "hm"}]}))
    assert len(server.calls) == 2  # the second loop tries the dead connection of the first


@UNDECIDED
async def test_a_tool_that_will_not_be_cancelled_does_not_outlast_the_deadline(shop):
    async def stubborn(order: str) -> str:
        """Look an order up."""
        for _ in range(20):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)
        return "found"

    model = ScriptedModel(UseTool("stubborn", order="P-1"))
    chat = await shop(model, clerk=ModelAgent(tools=[stubborn]), model_timeout_seconds=0.2)
    started = time.monotonic()
    await chat.says("hm")
    assert time.monotonic() - started < 1


@UNDECIDED
async def test_a_model_that_is_too_slow_for_its_pathway_is_asked_once(shop):
    class Hasty(Shop):
        class TalkPath(Shop.TalkPath):
            __timeout__ = 0.2

    model = ScriptedModel(always=Fault.hang())
    chat = await shop(model, Hasty, error_recovery="retry", retry_backoff_seconds=0)
    await chat.says("hm")
    assert len(model.calls) == 1


@UNDECIDED
async def test_a_command_that_was_remembered_is_said_to_be(shop):
    go = {"verdicts": [], "commands": [{"kind": "go", "target": "help", "confidence": 0.9}]}
    model = ScriptedModel(go)
    for number in range(2):
        chat = await shop(model, Desk, **HAND, session_id=f"s-{number}")
        await chat.says("hm")
    assert chat.last.metadata["tier"] == "cache"


@UNDECIDED
async def test_a_command_of_which_a_model_was_not_sure_is_told(shop):
    go = {"verdicts": [], "commands": [{"kind": "go", "target": "help", "confidence": 0.4}]}
    chat = await shop(ScriptedModel(go), Desk, **HAND)
    await chat.says("hm")
    assert chat.last.metadata["flags"] == ["below_threshold"]
    assert chat.last.metadata["confidence"] == 0.4


@UNDECIDED
async def test_a_pathway_with_a_signature_and_no_agents_is_a_models(talk, memory_url):
    class Lone(Journey):
        class TalkPath(Pathway):
            __signature__ = Say
            __complete_when__ = NEVER

    model = ScriptedModel({"response": "Hello."})
    chat = await talk(Lone, {}, memory_url, options={"model": model})
    assert await chat.says("hm") == "Hello."
