"""Tools and resources of MCP servers, which are real processes here."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from langchain_core.tools import ToolException
from mcp import Client

from journeygraph import ConfigurationError, ModelAgent
from journeygraph.nodes.llm.mcp import Connected, open_mcp
from journeygraph.nodes.llm.scripted import ScriptedModel, UseTool
from tests.support import model_shop
from tests.support.command import ROOT
from tests.support.forked import Command
from tests.support.model_shop import Shop

shop = model_shop.shop

STDIO = [sys.executable, "-m", "tests.support.mcp_library"]
HERE = {"PYTHONPATH": str(ROOT)}
NOTHING: dict[str, Any] = {"context": {}, "history": []}

# Speaks just enough of the protocol to be connected to, and is quick to start.
BY_HAND = """
import json, signal, sys
for line in sys.stdin:
    asked = json.loads(line)
    known = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "by hand", "version": "1"},
        },
        "tools/list": {"tools": TOOLS},
        "tools/call": ANSWER,
    }
    if "id" in asked:
        found = known.get(asked["method"])
        said = {"result": found} if found else {"error": {"code": -32601, "message": "What?"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
        if asked["method"] == "tools/call":
            AFTERWARDS
"""
ANY = {"name": "any", "inputSchema": {"type": "object"}}


def by_hand(
    answer: Any = None, tools: Any = None, afterwards: str = "pass", begin: str = ""
) -> list[str]:
    """The command of a server that answers a tool's call with a given result."""
    given = answer or {"content": [{"type": "text", "text": "Done."}]}
    script = begin + BY_HAND.replace("TOOLS", repr([ANY] if tools is None else tools))
    script = script.replace("ANSWER", repr(given)).replace("AFTERWARDS", afterwards)
    return [sys.executable, "-c", script]


def at_a_port(port: int = 0) -> subprocess.Popen[bytes]:
    """Start the library at a port, forked: a new interpreter imports for a second."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = ["tests.support.mcp_library", "--http", str(port)]
    return Command(command, cwd=ROOT, env=dict(os.environ), **pipes)


def line_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout
    return process.stdout.readline().decode().strip()


@pytest.fixture(scope="module")
def library_url() -> Iterator[str]:
    """The library at a port, for all tests of this file."""
    process = at_a_port()
    yield line_of(process)
    process.kill()
    process.communicate()


# Over stdio a server is a new interpreter, which imports the SDK for most of a second.
@pytest.fixture(params=[pytest.param("stdio", marks=pytest.mark.slow), "http"])
def opened(request: pytest.FixtureRequest, library_url: str) -> Any:
    """Connect to the library, by each of the two ways."""
    if request.param == "http":
        return lambda **more: open_mcp(url=library_url, **more)
    return lambda **more: open_mcp(STDIO, env=HERE, **more)


@pytest.fixture
async def library(library_url: str) -> AsyncIterator[Connected]:
    async with open_mcp(url=library_url) as connected:
        yield connected


def tool_of(connected: Connected, name: str) -> Any:
    return {tool.name: tool for tool in connected.tools}[name]


def is_alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


# ---- tools


async def test_the_tools_of_a_server_are_tools_of_langchain(opened: Any) -> None:
    async with opened() as library:
        find = tool_of(library, "find_book")
        found = json.loads(await find.ainvoke({"words": "emma"}))

        assert library.name == "library"
        assert find.description == "Find books by words of their titles."
        assert find.args_schema["required"] == ["words"]
        assert found == {"books": ["b-2"], "asked": "emma", "mark": "library-4711"}


async def test_whatever_task_asks_is_answered(opened: Any) -> None:
    async with opened() as library:
        tool = tool_of(library, "find_book")
        asking = [asyncio.create_task(tool.ainvoke({"words": word})) for word in ("emma", "dick")]
        asking.append(asyncio.create_task(library.read("library://rules")))

        emma, dick, rules = await asyncio.gather(*asking)

    assert "b-2" in emma
    assert "b-1" in dick
    assert "No shouting." in rules


async def test_it_may_be_closed_by_another_task_than_opened_it(library_url: str) -> None:
    stack = contextlib.AsyncExitStack()
    library = await asyncio.create_task(stack.enter_async_context(open_mcp(url=library_url)))

    assert "ten to six" in await tool_of(library, "opening_hours").ainvoke({})
    await asyncio.create_task(stack.aclose())

    with pytest.raises(ToolException, match="'library' is closed"):
        await tool_of(library, "opening_hours").ainvoke({})


async def test_what_a_tool_says_of_its_failure_is_told(library: Connected) -> None:
    with pytest.raises(ToolException, match="b-1 is lent out until Friday"):
        await tool_of(library, "borrow").ainvoke({"book_id": "b-1"})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "'words' is required"),
        ({"words": 7}, "words: it must be string, not number"),
        ({"words": "emma", "limit": "many"}, "limit: it must be integer, not string"),
    ],
    ids=["missing", "type", "other"],
)
async def test_arguments_are_judged_by_the_schema(
    library: Connected, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(ToolException, match=told):
        await tool_of(library, "find_book").ainvoke(arguments)


async def test_no_address_in_a_schema_is_opened_and_no_pattern_run() -> None:
    def asked(where: str) -> dict[str, Any]:
        evil = {"a": {"$ref": where}, "b": {"type": "string", "pattern": "(a+)+$"}}
        return {**ANY, "inputSchema": {"type": "object", "properties": evil}}

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema"
        async with open_mcp(by_hand(tools=[asked(address)])) as server:
            given = {"a": {"x": 1}, "b": "a" * 40 + "!"}
            assert await tool_of(server, "any").ainvoke(given) == "Done."
        with pytest.raises(BlockingIOError):  # nobody came
            listener.accept()


async def test_an_allowlist_takes_those_tools_alone(library_url: str) -> None:
    async with open_mcp(url=library_url, tools=["opening_hours", "find_book"]) as library:
        assert [tool.name for tool in library.tools] == ["opening_hours", "find_book"]
        with pytest.raises(ConfigurationError, match="no tool 'borrow'"):
            library.agent("borrow")

    with pytest.raises(ConfigurationError, match=r"'find_bok'. Did you mean 'find_book'"):
        async with open_mcp(url=library_url, tools=["find_bok"]):
            pass


async def test_a_long_result_is_cut_and_an_endless_one_refused(library: Connected) -> None:
    assert len(await tool_of(library, "huge").ainvoke({"size": 100_000})) < 17_000
    assert (await library.agent("heap")({"size": 1000, **NOTHING}))["pile"] == "x" * 1000
    with pytest.raises(ToolException, match="more than 1000000 bytes"):
        await library.agent("heap")({"size": 1_500_000, **NOTHING})


async def test_names_are_written_as_models_take_them(library: Connected) -> None:
    assert "b-1 is yours" in await tool_of(library, "library_renew").ainvoke({"book_id": "b-1"})
    assert (
        "b-1 is yours"
        in (await library.agent("library.renew")({"book_id": "b-1", **NOTHING}))["response"]
    )


async def test_tools_that_a_model_cannot_tell_apart_are_refused() -> None:
    alike = [{**ANY, "name": "a.b"}, {**ANY, "name": "a/b"}]
    with pytest.raises(ConfigurationError, match=r"several tools .* 'a_b'"):
        async with open_mcp(by_hand(tools=alike)):
            pass
    async with open_mcp(by_hand(tools=alike), tools=["a/b"]) as server:
        assert await tool_of(server, "a_b").ainvoke({}) == "Done."


# ---- a tool as an agent


async def test_a_structured_result_is_the_outputs_of_an_agent(library: Connected) -> None:
    find = library.agent("find_book")

    outputs = await find({"words": "dick", "limit": 1, "other": True, **NOTHING})

    assert outputs == {"books": ["b-1"], "asked": "dick", "mark": "library-4711"}
    assert find.__name__ == "find_book"
    assert find.__doc__ == "Find books by words of their titles."


async def test_text_is_the_reply_and_the_message_goes_where_text_is_wanted(
    library: Connected,
) -> None:
    hours = await library.agent("opening_hours")({"message": "when?", **NOTHING})
    found = await library.agent("find_book")({"message": "emma", **NOTHING})

    assert hours["response"] == "From ten to six."
    assert found["asked"] == "emma"


async def test_no_server_gets_the_context_because_it_asks_for_it(library: Connected) -> None:
    known = {"message": "b-1", "context": {"ssn": "078-05-1120"}, "history": []}

    renewed = await library.agent("library.renew")(known)

    assert renewed["response"] == "b-1 is yours until May; nothing else is known."


async def test_an_agent_whose_tool_fails_raises(library: Connected) -> None:
    with pytest.raises(ToolException, match="lent out"):
        await library.agent("borrow")({"message": "b-1", **NOTHING})


async def test_a_model_agent_calls_a_tool_of_a_server_in_a_journey(shop, library_url):
    said = {"response": "Emma is b-2."}
    async with open_mcp(url=library_url, tools=["find_book"]) as library:
        with ScriptedModel(UseTool("find_book", words="emma"), said) as model:
            chat = await shop(model, Shop, clerk=ModelAgent(tools=[*library.tools]))

            assert await chat.says("Is Emma there?") == "Emma is b-2."

            assert "find_book" in model.calls[0].tools
            assert "library-4711" in model.calls[1].messages[-1]["content"]


async def test_a_model_is_told_of_a_failing_tool_once(shop, library_url):
    async with open_mcp(url=library_url) as library:
        with ScriptedModel(UseTool("borrow", book_id="b-1"), {"response": "Sorry."}) as model:
            chat = await shop(model, Shop, clerk=ModelAgent(tools=library.tools))

            assert await chat.says("I take b-1") == "Sorry."

            assert "lent out until Friday" in model.calls[1].messages[-1]["content"]


# ---- resources


async def test_mcp_resource_access(opened: Any, shop: Any) -> None:
    async with opened() as library:
        told = {resource.uri: resource for resource in library.resources}

        assert told["library://rules"].mime_type == "text/markdown"
        assert told["library://rules"].description == "The rules of the house."
        assert await library.read("library://rules") == "# Rules\nNo shouting."
        assert await library.read("library://books/b-3") == "Walden"
        uri = library.reader().args["uri"]
        assert uri["enum"] == ["library://rules", "library://stamp"]

        asks, says = UseTool("read_resource", uri="library://rules"), {"response": "Quiet, please."}
        with ScriptedModel(asks, says) as model:
            chat = await shop(model, Shop, clerk=ModelAgent(tools=[library.reader()]))
            assert await chat.says("May I sing?") == "Quiet, please."
            assert "No shouting." in model.calls[1].messages[-1]["content"]


@pytest.mark.parametrize(
    "uri",
    ["file:///etc/passwd", "library://rule", "library://books/a/b", "library://books", "", 7],
    ids=repr,
)
async def test_nothing_is_read_that_the_server_did_not_list(library: Connected, uri: Any) -> None:
    with pytest.raises(LookupError, match="has no resource"):
        await library.read(uri)


async def test_what_is_no_text_or_not_there_is_not_read(library: Connected) -> None:
    with pytest.raises(ToolException, match="is image/png, not text"):
        await library.read("library://stamp")
    with pytest.raises(ToolException, match="'library' says"):
        await library.read("library://books/b-99")


async def test_a_server_without_resources_has_no_reader() -> None:
    async with open_mcp(by_hand()) as server:
        assert server.resources == []
        with pytest.raises(ConfigurationError, match="has no resource"):
            server.reader()


# ---- servers that misbehave


async def test_a_server_that_takes_too_long_is_not_waited_for(library_url: str) -> None:
    async with open_mcp(url=library_url, timeout=2) as library:
        with pytest.raises(ToolException, match=r"did not answer within 2 seconds"):
            await tool_of(library, "slow").ainvoke({"seconds": 20})
        assert "ten to six" in await tool_of(library, "opening_hours").ainvoke({})


async def test_a_server_that_dies_is_told_at_once_and_nobody_hangs() -> None:
    died = 'print("", flush=True); raise SystemExit(3)'
    async with open_mcp(by_hand(begin="import sys\n", afterwards=died)) as server:
        assert await tool_of(server, "any").ainvoke({}) == "Done."
        for _ in range(2):
            with pytest.raises(ToolException, match="'by hand' has closed the connection"):
                await tool_of(server, "any").ainvoke({})


@pytest.mark.slow
async def test_a_server_that_dies_during_a_call_fails_that_call() -> None:
    async with open_mcp(STDIO, env=HERE, timeout=110) as library:
        slow = asyncio.create_task(tool_of(library, "slow").ainvoke({"seconds": 100}))
        await asyncio.sleep(0.1)
        with pytest.raises(ToolException, match="'library' has closed the connection"):
            await tool_of(library, "die").ainvoke({})
        with pytest.raises(ToolException, match="'library' has closed the connection"):
            await slow


async def test_a_server_over_http_that_dies_is_told_and_cancels_nobody() -> None:
    process = at_a_port()
    try:
        async with open_mcp(url=line_of(process)) as library:
            process.kill()
            process.wait()
            for _ in range(2):
                with pytest.raises(ToolException, match=r"'library' (has closed|failed|says)"):
                    await tool_of(library, "opening_hours").ainvoke({})
            await asyncio.sleep(0.05)  # the block goes on: it was not cancelled
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_that_is_back_at_its_place_is_found_again(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    def client(transport: Any) -> Client:
        return Client(transport, mode=mode, cache=None)

    monkeypatch.setattr("journeygraph.nodes.llm.mcp.connection._client", client)
    process = at_a_port()
    try:
        url = await asyncio.to_thread(line_of, process)
        async with open_mcp(url=url, timeout=110) as library:
            hours = tool_of(library, "opening_hours")
            await hours.ainvoke({})
            process.kill()
            process.communicate()
            process = at_a_port(int(url.removesuffix("/mcp").rpartition(":")[2]))
            assert await asyncio.to_thread(line_of, process) == url

            with suppress(ToolException):  # one may learn of it first
                await hours.ainvoke({})
            assert "ten to six" in await hours.ainvoke({})
    finally:
        process.kill()
        process.communicate()


MALFORMED = {
    "number": 5,
    "no content": {"content": "none"},
    "unknown block": {"content": [{"type": "smell", "text": "x"}]},
    "unfit for its schema": {"content": [], "structuredContent": {"n": "one"}},
}


@pytest.mark.parametrize("kind", MALFORMED)
async def test_a_malformed_answer_is_an_error_and_not_a_result(kind: str) -> None:
    tools = [{**ANY, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
    async with open_mcp(by_hand(MALFORMED[kind], tools), timeout=3) as server:
        with pytest.raises(ToolException, match="'by hand'"):
            await tool_of(server, "any").ainvoke({})


async def test_lines_that_are_no_messages_do_not_disturb() -> None:
    noise = "print('Starting up ...', flush=True)\n"
    async with open_mcp(by_hand(begin=noise)) as server:
        assert await tool_of(server, "any").ainvoke({}) == "Done."


@pytest.mark.parametrize(
    ("command", "seconds", "told"),
    [
        (["no-such-program-here"], 110, "cannot be started: there is no such program"),
        ([sys.executable, "-c", "pass"], 110, "has closed the connection"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], 1, "not ready within 1 seconds"),
    ],
    ids=["no program", "ends", "says nothing"],
)
async def test_what_is_no_server_is_told(command: list[str], seconds: float, told: str) -> None:
    with pytest.raises(ConnectionError, match=told):
        async with open_mcp(command, timeout=seconds):
            pass


async def test_where_nobody_listens_is_told() -> None:
    with pytest.raises(ConnectionError, match=r"'127.0.0.1:9/mcp' failed"):
        async with open_mcp(url="http://user:tulip@127.0.0.1:9/mcp?key=rose", timeout=5):
            pass


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ["x"], "url": "http://x"},
        {"command": "x"},
        {"command": []},
        {"command": ["x"], "headers": {"a": "b"}},
        {"url": "ftp://x"},
        {"url": "http://x", "env": {}},
        {"command": ["x"], "timeout": 0},
    ],
    ids=repr,
)
async def test_arguments_that_do_not_fit_together_are_refused(arguments: Any) -> None:
    with pytest.raises(ConfigurationError, match="open_mcp"):
        async with open_mcp(**arguments):
            pass


async def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'journeygraph\[mcp\]'"):
        async with open_mcp(["x"]):
            pass


# ---- processes


async def test_a_server_gets_no_key_of_ours_and_ends_with_the_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    async with open_mcp(STDIO, env={**HERE, "SHELF": "B"}) as library:
        known = await library.agent("surroundings")(NOTHING)
        assert is_alive(known["pid"])
        assert {"SHELF", "PATH"} <= set(known["names"])
        assert "OPENAI_API_KEY" not in known["names"]

    assert not is_alive(known["pid"])


@asynccontextmanager
async def stubborn(pids: list[int]) -> AsyncIterator[Connected]:
    """A server that does not end with its input or on a request to stop."""
    begin = "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    tells = {"content": [], "structuredContent": {"pid": "PID"}}
    command = by_hand(tells, begin=begin)
    command[2] = command[2].replace("'PID'", "os.getpid()") + "\nimport time\ntime.sleep(60)\n"
    async with open_mcp(command) as server:
        pids.append((await server.agent("any")(NOTHING))["pid"])
        yield server


async def test_a_cancelled_user_leaves_no_process_not_even_a_stubborn_one() -> None:
    pids: list[int] = []
    begun = asyncio.Event()

    async def use() -> None:
        async with stubborn(pids):
            begun.set()
            await asyncio.sleep(60)

    using = asyncio.create_task(use())
    await begun.wait()
    assert is_alive(pids[0])
    using.cancel()
    await asyncio.sleep(0.05)
    using.cancel()  # somebody in a hurry
    with pytest.raises(asyncio.CancelledError):
        await using

    assert not is_alive(pids[0])


async def test_a_cancelled_call_leaves_the_connection_as_it_was(library: Connected) -> None:
    calling = asyncio.create_task(tool_of(library, "slow").ainvoke({"seconds": 20}))
    await asyncio.sleep(0.1)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert "ten to six" in await tool_of(library, "opening_hours").ainvoke({})
