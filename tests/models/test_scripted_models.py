"""A scripted model takes the place of a model of OpenAI: in process, and behind a real socket."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from journeygraph.nodes.llm.scripted import Call, Fault, Script, ScriptedModel, Slow, UseTool
from journeygraph.server.scripted import ScriptedServer

PATIENCE = 1.0  # seconds that the callers of these tests wait for bytes


class Order(BaseModel):
    number: str
    note: str | None


@tool
def find(number: str) -> str:
    """Find a parcel."""
    return f"{number} is in the depot"


@dataclass
class Line:
    """A model to talk to, and the script that it answers from."""

    model: ChatOpenAI
    script: Script

    async def say(self, *, stream: bool, words: str = "Where is it?", **more: Any) -> AIMessage:
        if not stream:
            return await self.model.ainvoke(words, **more)
        whole: AIMessageChunk | None = None
        async for chunk in self.model.astream(words, **more):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None
        return whole


@pytest.fixture(params=["in process", "socket"])
async def line(request: pytest.FixtureRequest) -> AsyncIterator[Line]:
    if request.param == "in process":
        async with ScriptedModel(timeout=PATIENCE) as scripted:
            yield Line(scripted, scripted.script)
        return
    async with ScriptedServer() as server, httpx2.AsyncClient() as client:
        model = ChatOpenAI(
            model="scripted",
            api_key=SecretStr("none"),
            base_url=server.url,
            timeout=PATIENCE,
            max_retries=0,
            stream_usage=True,
            http_async_client=client,
        )
        yield Line(model, server.script)


@pytest.mark.parametrize("stream", [False, True])
async def test_it_says_what_the_script_says(line: Line, stream: bool) -> None:
    line.script.will_answer("It is in the depot.")

    said = await line.say(stream=stream)

    assert said.content == "It is in the depot."
    assert said.response_metadata["finish_reason"] == "stop"
    assert said.usage_metadata is not None
    assert said.usage_metadata["input_tokens"] == 3
    assert said.usage_metadata["output_tokens"] == 5
    (call,) = line.script.calls
    assert (call.message, call.model, call.authorized) == ("Where is it?", "scripted", True)
    assert call.stream == stream


@pytest.mark.parametrize("stream", [False, True])
async def test_it_calls_tools(line: Line, stream: bool) -> None:
    line.script.will_answer(["Let me look.", UseTool("find", number="P-1")])
    calling = Line(line.model.bind_tools([find]), line.script)  # type: ignore[arg-type]

    said = await calling.say(stream=stream)

    (call,) = said.tool_calls
    assert (call["name"], call["args"]) == ("find", {"number": "P-1"})
    assert said.content == "Let me look."
    assert line.script.calls[0].tools == ["find"]
    found = find.invoke(call)
    line.script.will_answer(lambda call: call.messages[-1]["content"])
    assert (await line.model.ainvoke(["Where?", said, found])).content == "P-1 is in the depot"


async def test_it_answers_in_a_structure(line: Line) -> None:
    line.script.will_answer(Order(number="P-1", note=None))

    assert await line.model.with_structured_output(Order).ainvoke("Which?") == Order(
        number="P-1", note=None
    )
    (call,) = line.script.calls
    assert call.schema_name == "Order"
    assert call.schema is not None
    assert set(call.schema["properties"]) == {"number", "note"}


async def test_a_structure_streams(line: Line) -> None:
    line.script.will_answer({"number": "P-1", "note": "fragile, and late"})
    schema = {
        "type": "object",
        "properties": {"number": {"type": "string"}, "note": {"type": "string"}},
        "required": ["number", "note"],
        "additionalProperties": False,
    }
    wanted = {"name": "order", "strict": True, "schema": schema}
    form = {"type": "json_schema", "json_schema": wanted}

    pieces = [
        chunk.content
        async for chunk in line.model.astream("Which?", response_format=form)
        if chunk.content
    ]

    assert len(pieces) > 5
    assert "".join(map(str, pieces)) == '{"number": "P-1", "note": "fragile, and late"}'


async def test_pieces_come_when_they_are_due(line: Line) -> None:
    line.script.will_answer("warm up", Slow("a b c d e", before=0.1, over=0.5, tokens=5))
    await line.say(stream=True)
    start, due = time.perf_counter(), []

    async for chunk in line.model.astream("Hi"):
        if chunk.content:
            due.append(time.perf_counter() - start)

    assert len(due) == 5
    assert due[0] >= 0.1
    assert due == sorted(due)
    assert time.perf_counter() - start >= 0.6


# Faults: what reaches the caller. What the runtime makes of it is tested with the runtime.

SILENT = [Fault.null_content(), Fault.empty_content(), Fault.refusal("I will not.")]
BROKEN = [
    Fault.status(429, retry_after=1),
    Fault.status(500),
    Fault.status(503),
    Fault.status(401),
    Fault.status(400),
    Fault.html(),
    Fault.bad_json(),
    Fault.cut_after(pieces=2),
    Fault.cut_after(pieces=0, of={"response": "never seen"}),
    Fault.cut_after(pieces=1000),
    Fault.error_event(),
]


def named(fault: Fault) -> str:
    return fault.name


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", BROKEN, ids=named)
async def test_a_broken_answer_is_an_error(line: Line, fault: Fault, stream: bool) -> None:
    line.script.will_answer(fault)

    with pytest.raises(Exception) as raised:  # noqa: PT011  whatever the library makes of it
        await line.say(stream=stream)

    assert not isinstance(raised.value, AssertionError)
    line.script.check()
    line.script.will_answer("Here I am again.")
    assert (await line.say(stream=stream)).content == "Here I am again."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [Fault.no_choices(), Fault.null_choices()], ids=named)
async def test_an_answer_without_choices_says_nothing(
    line: Line, fault: Fault, stream: bool
) -> None:
    line.script.will_answer(fault)

    if stream:
        said = await line.say(stream=True)
        assert (said.content, said.response_metadata.get("finish_reason")) == ("", None)
    else:
        with pytest.raises((IndexError, TypeError)):
            await line.say(stream=False)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [Fault.hang(), Fault.stall_after(pieces=2)], ids=named)
async def test_silence_lasts_until_the_caller_gives_up(
    line: Line, fault: Fault, stream: bool
) -> None:
    line.script.will_answer(fault, fault)
    start = time.perf_counter()

    with pytest.raises(Exception, match="timed out"):
        await line.say(stream=stream)
    assert time.perf_counter() - start >= PATIENCE

    asking = asyncio.create_task(line.say(stream=stream))
    while len(line.script.calls) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    asking.cancel()
    with suppress(Exception, asyncio.CancelledError):
        await asking


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", SILENT, ids=named)
async def test_a_model_may_say_nothing(line: Line, fault: Fault, stream: bool) -> None:
    line.script.will_answer(fault)

    said = await line.say(stream=stream)

    assert (said.content, said.tool_calls) == ("", [])
    assert said.response_metadata["finish_reason"] == "stop"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "finish", "text"),
    [
        (Fault.length(pieces=2, of="one two three"), "length", "one two"),
        (Fault.length(pieces=1, of={"response": "one"}), "length", '{"respon'),
        (Fault.content_filter(pieces=1, of="one two"), "content_filter", "one"),
        (Fault.content_filter(pieces=0), "content_filter", ""),
        (Fault.no_finish(of="one two"), None, "one two"),
    ],
    ids=["length", "length of json", "filter", "filter at once", "no finish"],
)
async def test_a_model_may_stop_early(
    line: Line, fault: Fault, finish: str | None, text: str, stream: bool
) -> None:
    line.script.will_answer(fault)

    said = await line.say(stream=stream)

    assert said.content == text
    assert said.response_metadata.get("finish_reason") == finish


@pytest.mark.parametrize("fault", [Fault.cut_after, Fault.stall_after, Fault.error_event])
async def test_what_came_before_a_break_was_seen(line: Line, fault: Any) -> None:
    line.script.will_answer(fault(pieces=2, of="one two three four"))
    seen: list[str] = []

    async def listen() -> None:
        async for chunk in line.model.astream("Hi"):
            seen.append(str(chunk.content))

    with pytest.raises(Exception, match=r"Connection error|timed out|server had an error"):
        await listen()
    assert "".join(seen) == "one two"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("pieces", [1, 50])
async def test_a_model_may_say_far_too_much(line: Line, stream: bool, pieces: int) -> None:
    line.script.will_answer(Fault.huge(pieces=pieces), Fault.huge(size=100, field="response"))

    assert len(str((await line.say(stream=stream, timeout=120)).content)) == 10_000_000
    inside = json.loads(str((await line.say(stream=stream)).content))
    assert len(inside["response"]) == 100


@pytest.mark.parametrize("stream", [False, True])
async def test_text_of_a_model_may_be_unclean(line: Line, stream: bool) -> None:
    line.script.will_answer(Fault.unclean(), Fault.unclean(field="response"))

    plain, inside = await line.say(stream=stream), await line.say(stream=stream)

    assert {"\ud83d", "\x00"} <= set(str(plain.content))
    assert "\ud83d" in str(inside.content)
    assert "\\u0000" in str(inside.content)


async def test_a_model_may_call_what_cannot_be_called(line: Line) -> None:
    line.script.will_answer(Fault.illegal_tool("drop all"), Fault.bad_arguments("find"))

    illegal, bad = await line.say(stream=False), await line.say(stream=False)

    assert [call["name"] for call in illegal.tool_calls] == ["drop all"]
    assert [call["name"] for call in bad.invalid_tool_calls] == ["find"]


# The model in process alone.


def test_it_speaks_without_a_loop_too() -> None:
    answers = (Slow("one two", before=0.05, over=0.05), "three four", Fault.hang())
    with ScriptedModel(*answers, Fault.cut_after(), timeout=0.2) as model:
        start = time.perf_counter()
        assert model.invoke("Hi").content == "one two"
        assert time.perf_counter() - start >= 0.1
        assert "".join(str(chunk.content) for chunk in model.stream("Hi")) == "three four"
        with pytest.raises(Exception, match="timed out"):
            model.invoke("Hi")
        with pytest.raises(Exception, match="Connection error"):
            model.invoke("Hi")


async def test_it_needs_no_key_no_network_and_no_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async with ScriptedModel("Hello.") as model:
        assert (await model.ainvoke("Hi")).content == "Hello."


async def test_what_was_sent_is_not_sent_again() -> None:
    """OpenAI's client drains a stream after its end, and would wait for every pause once more."""
    hello = {"model": "small", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    async with ScriptedModel("Hello.") as model:
        client: Any = model.http_async_client
        request = client.build_request(
            "POST", f"{model.openai_api_base}/chat/completions", json=hello
        )
        response = await client.send(request, stream=True)
        once = [data async for data in response.stream]
        again = [data async for data in response.stream]

    assert b"Hello" in b"".join(once)
    assert again == []


async def test_settings_reach_the_call() -> None:
    async with ScriptedModel("Hello.", model="small", temperature=0.25) as model:
        await model.bind(stop=["."]).ainvoke("Hi")

    (call,) = model.calls
    assert (call.model, call.temperature, call.body["stop"]) == ("small", 0.25, ["."])
    with pytest.raises(TypeError):
        ScriptedModel(http_client=None)


LONG = UseTool("note", text="one two three four")


@pytest.mark.parametrize(
    ("answer", "said", "whole", "broken"),
    [
        ("one two three four", "one two three", 0, 0),
        ("one two three", "one two three", 0, 0),
        (["one two", LONG], "one two", 0, 1),
        ([UseTool("a"), LONG], "", 1, 0),
    ],
)
async def test_an_answer_ends_at_the_limit_of_its_call(
    answer: Any, said: str, whole: int, broken: int
) -> None:
    async with ScriptedModel(answer) as model:
        message = await model.bind(max_tokens=3).ainvoke("Hi")
    assert message.content == said
    assert (len(message.tool_calls), len(message.invalid_tool_calls)) == (whole, broken)
    is_cut = answer != "one two three"
    assert message.response_metadata["finish_reason"] == ("length" if is_cut else "stop")
    assert model.calls[0].max_tokens == 3


async def test_a_limit_under_two_names_is_refused() -> None:
    model = ScriptedModel(always="Hello.", extra_body={"max_tokens": 3})
    with pytest.raises(Exception, match="at the same time"):
        await model.bind(max_completion_tokens=3).ainvoke("Hi")


def test_a_model_tells_what_did_not_add_up() -> None:
    with pytest.raises(AssertionError, match="unused answer"), ScriptedModel("Hello."):
        pass
    silent = ScriptedModel()
    with pytest.raises(Exception, match="has no answer"):
        silent.invoke("Hi")
    with pytest.raises(AssertionError, match="has no answer"), silent:
        pass
    model = ScriptedModel(always="Hello.")
    model.will_answer("Good day.")
    with pytest.raises(AssertionError, match="Good day"):
        model.check()
    assert [model.invoke("Hi").content for _ in range(2)] == ["Good day.", "Hello."]
    model.check()


def test_a_copy_answers_from_the_same_script() -> None:
    with ScriptedModel("one", "two") as model:
        assert model.model_copy(update={"temperature": 1.0}).invoke("Hi").content == "one"
        assert model.with_retry().invoke("Hi").content == "two"
    assert [call.number for call in model.calls] == [1, 2]


async def test_a_function_sees_the_call_and_decides() -> None:
    def answer(call: Call) -> str | Fault:
        return "Hello." if "please" in call.text else Fault.status(400)

    async with ScriptedModel(always=answer) as model:
        assert (await model.ainvoke("please")).content == "Hello."
        with pytest.raises(Exception, match="400"):
            await model.ainvoke("now")
