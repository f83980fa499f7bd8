"""`journeygraph mcp`, as a process that the SDK's own client talks to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError

from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys.examples.healthcare_referral import DEMO_MESSAGES
from journeygraph.server.access.keys import KeyRequest, StoredKeys
from tests.support import command
from tests.support.command import ROOT, flat, run
from tests.support.mcp_desk import (
    KEY,
    by_streams,
    offered,
    raw,
    server_processes,
    with_key,
    written,
)

folder = command.folder
logging_as_before = command.logging_as_before

REFERRAL = (f"{DEMO_MESSAGES[0]} My insurance number is INS-123456.", *DEMO_MESSAGES[1:])
PATHWAYS = ["booking", "faq", "booking", "booking", "booking", "confirmation"]
JSON = {"Accept": "application/json, text/event-stream"}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server over HTTP for the tests that leave it as it is: its folder and place."""
    place = written(tmp_path_factory.mktemp("desk"))
    with offered(place, "healthcare_referral", "parcel_refund", "desk.py:Desk") as (_, url):
        yield place, url


@pytest.fixture
def url(desk: tuple[Path, str]) -> str:
    return desk[1]


async def says(client: Client, message: str, session_id: str = "", tool: str = "desk") -> Any:
    """Say something to a journey; return the structured reply."""
    more = {"session_id": session_id} if session_id else {}
    result = await client.call_tool(tool, {"message": message, **more})
    assert not result.is_error, result.content
    return result.structured_content


def read(resource: Any) -> str:
    (content,) = resource.contents
    text: str = content.text
    return text


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content]


async def held(client: Client, messages: tuple[str, ...], session_id: str) -> list[Any]:
    return [await says(client, text, session_id, "healthcare_referral") for text in messages]


async def until_there(file: Path) -> None:
    async with asyncio.timeout(110):
        while not file.exists():  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.02)


# ---- conversations


async def test_every_journey_is_a_tool_with_a_schema(url: str) -> None:
    async with Client(url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert list(tools) == ["healthcare_referral", "parcel_refund", "desk"]
    assert tools["desk"].description is not None
    assert tools["desk"].description.startswith("Answer at a desk.")
    assert tools["desk"].input_schema["required"] == ["message"]
    assert set(tools["desk"].input_schema["properties"]) == {"message", "session_id"}
    assert "is_journey_complete" in (tools["desk"].output_schema or {})["properties"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_referral_with_a_detour_is_held_over_http(url: str, mode: str) -> None:
    async with Client(url, mode=mode) as client:
        replies = await held(client, REFERRAL, f"patient-{mode}")

    assert [reply["pathway_id"] for reply in replies] == PATHWAYS
    assert [reply["is_journey_complete"] for reply in replies] == [False] * 5 + [True]
    assert "40 dollars" in replies[1]["message"]
    assert "Dr. Alan Smith" not in replies[3]["message"].partition("For cardiology")[2]
    assert "Tuesday at 14:00" in replies[5]["message"]


@pytest.mark.slow
async def test_a_referral_over_stdio_goes_on_where_the_killed_server_left_it(folder: Path) -> None:
    server = by_streams(folder, "healthcare_referral")
    async with Client(server) as client:
        first = await held(client, REFERRAL[:3], "patient-1")
        (pid,) = server_processes(of=os.getpid())
        os.kill(pid, signal.SIGKILL)
    async with Client(server, mode="legacy") as client:
        second = await held(client, REFERRAL[3:], "patient-1")
        transcript = await client.read_resource("session://patient-1/transcript")

    assert [reply["pathway_id"] for reply in [*first, *second]] == PATHWAYS
    assert second[-1]["is_journey_complete"]
    said = json.loads(read(transcript))["entries"]
    assert [entry["content"] for entry in said if entry["role"] == "user"] == list(REFERRAL)


async def test_without_a_session_id_each_call_begins_one_and_says_which(url: str) -> None:
    async with Client(url) as client:
        first = await client.call_tool("desk", {"message": "hello"})
        begun = first.structured_content["session_id"]
        other = await says(client, "hello")
        again = await says(client, "once more", begun)

    assert other["session_id"] != begun
    assert again["message"] == "2: once more"
    assert texts(first) == ["1: hello", f"session_id: {begun}"]


async def test_many_clients_talk_at_once_and_keep_to_their_sessions(url: str) -> None:
    async with Client(url) as one, Client(url, mode="legacy") as two, Client(url) as three:
        clients = {"s-one": one, "s-two": two, "s-three": three}
        for number in (1, 2):
            replies = await asyncio.gather(
                *(says(client, name, name) for name, client in clients.items())
            )
            assert [r["message"] for r in replies] == [f"{number}: {name}" for name in clients]
        # All of them in one session, which none of them has begun: one after the other.
        everybody = enumerate(([one, two, three] * 3)[:8])  # no more may wait
        turns = await asyncio.gather(*(says(c, f"m{n}", "shared") for n, c in everybody))

    assert sorted(turn["message"][0] for turn in turns) == [str(n) for n in range(1, 9)]


async def test_progress_is_told_to_those_who_ask(url: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with Client(url) as client:
        await client.call_tool(
            "parcel_refund",
            {"message": "It is P-1042", "session_id": "p-1"},
            progress_callback=hear,
        )
        asked = {"message": "How long does a refund take?", "session_id": "p-1"}
        reply = await client.call_tool("parcel_refund", asked, progress_callback=hear)
        await says(client, "Good. Yes please.", "p-1", "parcel_refund")

    assert reply.structured_content["pathway_id"] == "policy"
    assert [said for _, said in told] == [
        "pathway find",
        "agent_started order_clerk",
        "agent_finished order_clerk",
        "transition refund policy",
        "pathway policy",
        "agent_started policy_clerk",
        "agent_finished policy_clerk",
    ]
    assert [number for number, _ in told] == [1, 2, 3, 1, 2, 3, 4]


async def test_a_turn_goes_on_when_its_client_has_gone(desk: tuple[Path, str]) -> None:
    place, url = desk
    async with Client(url) as client:
        asking = asyncio.create_task(says(client, "wait 0.5", "left"))
        await until_there(place / "begun")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    await until_there(place / "done")

    async with Client(url) as client:
        assert (await says(client, "back", "left"))["message"] == "2: back"


# ---- resources


async def test_journeys_are_drawn_and_transcripts_are_read(url: str) -> None:
    async with Client(url) as client:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        drawn = await client.read_resource("journey://desk/graph")
        await says(client, "hello", "r-1")
        told = await client.read_resource("session://r-1/transcript")

    assert [r.uri for r in listed] == [
        f"journey://{name}/graph" for name in ("healthcare_referral", "parcel_refund", "desk")
    ]
    assert [t.uri_template for t in templates] == ["session://{session_id}/transcript"]
    assert "flowchart TD" in read(drawn)
    entries = json.loads(read(told))["entries"]
    assert [(e["role"], e["content"]) for e in entries] == [
        ("user", "hello"),
        ("assistant", "1: hello"),
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "journey://desk/../graph",
        "journey://nobody/graph",
        "session://nobody/transcript",
        "session://..%2F..%2Fetc/transcript",
        "session://r-1/context",
        "x" * 5000,
    ],
    ids=lambda uri: uri[:30],
)
async def test_nothing_else_is_read(url: str, uri: str) -> None:
    async with Client(url) as client:
        with pytest.raises(MCPError, match="There is no resource with this name"):
            await client.read_resource(uri)


# ---- hostile clients


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "message: Field required"),
        ({"message": 7}, "message: Input should be a valid string"),
        ({"message": None}, "message: Input should be a valid string"),
        ({"message": "a\x00b"}, "control character U+0000 at position 1"),
        ({"message": "a", "tulip": 1}, "unknown argument"),
        ({"message": "a", "session_id": "../../etc"}, "session_id: String should match"),
        ({"message": "a", "session_id": ""}, "session_id: String should match"),
        ({"message": "a", "session_id": "x" * 201}, "session_id: String should match"),
        ({"message": "a", "session_id": {"$ne": 1}}, "session_id: Input should be a valid string"),
    ],
    ids=["none", "number", "null", "nul", "more", "path", "empty", "long", "object"],
)
async def test_arguments_that_do_not_fit_are_refused_without_an_echo(
    url: str, arguments: dict[str, Any], told: str
) -> None:
    async with Client(url) as client:
        result = await client.call_tool("desk", arguments)

    assert result.is_error
    (text,) = texts(result)
    assert told in text
    assert "tulip" not in text


async def test_a_message_that_is_too_long_gets_the_fixed_reply(url: str) -> None:
    async with Client(url) as client:
        reply = await says(client, "x" * 20_000, "long")

    assert "more than I can read" in reply["message"]


async def test_no_client_gets_into_another_journeys_session(url: str) -> None:
    async with Client(url) as client:
        await says(client, "hello", "mine")
        result = await client.call_tool("parcel_refund", {"message": "hi", "session_id": "mine"})

    assert result.is_error
    assert "belongs to another conversation" in texts(result)[0]


async def test_an_unknown_tool_is_answered_by_what_there_is(url: str) -> None:
    async with Client(url) as client:
        with pytest.raises(MCPError, match=r"no such tool\. Tools: healthcare_referral"):
            await client.call_tool("desk; rm -rf", {"message": "x"})


async def test_what_fails_inside_is_not_told(url: str) -> None:
    async with Client(url) as client:
        result = await client.call_tool("desk", {"message": "fail"})

    said = result.model_dump_json()
    assert "something went wrong" in said
    assert not any(
        word in said for word in ("tulip-secret", "Traceback", "RuntimeError", "desk.py")
    )


@pytest.mark.parametrize(
    "body",
    [b"{nope", b"[]", b"null", b'{"jsonrpc": "1.0"}', b"\xff\xfe", b"[" * 100_000],
    ids=["broken", "batch", "null", "version", "bytes", "deep"],
)
async def test_what_is_no_message_is_refused_and_the_server_lives_on(url: str, body: bytes) -> None:
    async with httpx2.AsyncClient(headers=JSON) as http:
        headers = {"Content-Type": "application/json"}
        answer = await http.post(url, content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text

    async with Client(url) as client:
        assert (await says(client, "still there?"))["message"] == "1: still there?"


async def test_a_body_of_many_megabytes_is_refused(url: str) -> None:
    async with httpx2.AsyncClient(headers=JSON) as http:
        headers = {"Content-Type": "application/json"}
        answer = await http.post(url, content=b" " * 5_000_000, headers=headers)
    assert answer.status_code == 413


async def test_standard_output_is_the_clients_alone_whatever_comes_in(folder: Path) -> None:
    with raw(written(folder), "desk.py:Desk") as process:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        call = {"name": "desk", "arguments": {"message": "hello"}}
        lines = [
            b"this is no message",
            b"\xff\xfe\x00",
            b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": %s}'
            % json.dumps(hello).encode(),
            b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
            b'{"jsonrpc": "2.0", "id": 2, "method": "no/such"}',
            b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": %s}'
            % json.dumps(call).encode(),
        ]
        process.stdin.write(b"\n".join(lines) + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        answers: dict[Any, Any] = {}
        while 3 not in answers:
            said = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            answers[said.get("id")] = said
        rest, errors = process.communicate(timeout=110)  # which closes its standard input

    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["result"]["structuredContent"]["message"] == "1: hello"
    assert rest == b""
    assert process.returncode == 0
    assert b"noise from an agent" in errors
    assert b"noise from a child" in errors
    assert b"Traceback" not in errors


# ---- who may ask


async def test_a_page_of_another_site_does_not_get_in(url: str) -> None:
    async with httpx2.AsyncClient(headers=JSON) as http:
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            answer = await http.post(url, json=LISTING, headers=headers)
            assert answer.status_code == 403, headers


async def test_with_keys_only_those_who_have_one_are_answered(folder: Path) -> None:
    with offered(
        written(folder), "desk.py:Desk", "--allow-host", "desk.example", JOURNEYGRAPH_API_KEYS=KEY
    ) as (_, url):
        async with httpx2.AsyncClient(headers=JSON) as http:
            for key in ({}, {"Authorization": "Bearer wrong-key-0123456789"}):
                refused = await http.post(url, json=LISTING, headers=key)
                assert refused.status_code == 401
                assert refused.json()["code"] == "unauthorized"
            mine = {"Authorization": f"Bearer {KEY}"}
            for host, status in (
                ("evil.example", 421),
                ("desk.example", 400),
                ("desk.example:80", 400),
            ):
                answer = await http.post(url, json=LISTING, headers={**mine, "Host": host})
                assert answer.status_code == status, host  # 400: let in, but no session
        async with with_key(url, KEY) as client:
            assert (await says(client, "hello"))["message"] == "1: hello"


async def key_of(folder: Path, tenant: str, **more: Any) -> str:
    store = await open_store(f"sqlite:///{folder / 'mcp.db'}", None, tenant=tenant)
    made = await StoredKeys(store).create(KeyRequest(("operate",), **more), tenant)
    await store.close()
    return made.secret


async def test_each_tenant_has_its_sessions(folder: Path) -> None:
    keys = {tenant: await key_of(folder, tenant) for tenant in ("default", "acme", "acme-corp")}
    limits = {"JOURNEYGRAPH_LIMIT_TURNS": "key 3/hour", "JOURNEYGRAPH_STORED_KEYS": "true"}
    with offered(written(folder), "desk.py:Desk", "desk.py:report", **limits) as (_, url):
        for tenant, key in keys.items():
            async with with_key(url, key) as client:
                assert (await says(client, f"tulip {tenant}", "s"))[
                    "message"
                ] == f"1: tulip {tenant}"
                kept = read(await client.read_resource("session://s/transcript"))
                assert [one for one in keys if f'tulip {one}"' in kept] == [tenant]
                assert (await says(client, "again", "s"))["message"] == "2: again"
                assert not (await client.call_tool("report", {"message": "x"})).is_error
                # A fourth call is one too many; reading is no turn.
                refused = await client.call_tool("desk", {"message": "more", "session_id": "s"})
                assert refused.is_error
                assert "turns" in texts(refused)[0]
                assert "again" in read(await client.read_resource("session://s/transcript"))
        bound = await key_of(folder, "acme", name="second")
        async with with_key(url, bound) as client:
            assert (await says(client, "third", "s"))["message"] == "3: third"
        await _keeps_its_protocol_session(url, keys)


async def _keeps_its_protocol_session(url: str, keys: dict[str, str]) -> None:
    """An id of the protocol's own session is of no use to another key."""
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}}
    hello["clientInfo"] = {"name": "a", "version": "1"}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    async with httpx2.AsyncClient(headers=JSON) as http:
        headers = {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}
        begun = await http.post(url, json=begin, headers=headers["acme"])
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
        for name, status in (("acme", 200), ("default", 404), ("acme-corp", 404)):
            answer = await http.post(url, json=LISTING, headers={**headers[name], **session})
            assert answer.status_code == status, name


@pytest.mark.slow
async def test_over_streams_it_serves_the_tenant_of_the_settings(folder: Path) -> None:
    started = by_streams(written(folder), "desk.py:Desk")
    for tenant in ("acme", "default", "acme"):
        assert started.env is not None
        started.env["JOURNEYGRAPH_TENANT"] = tenant
        async with Client(started) as client:
            await says(client, f"tulip {tenant}", "s")
            kept = read(await client.read_resource("session://s/transcript"))
    assert kept.count("tulip acme") == 4  # what was said twice, with each reply
    assert "tulip default" not in kept


@pytest.mark.slow
async def test_a_session_goes_on_in_its_version_of_the_journey(folder: Path) -> None:
    old = (written(folder) / "desk.py").read_text()
    mark = '    """Answer at a desk."""\n'
    (folder / "older.py").write_text(old.replace(mark, f'{mark}\n    __version__ = "1"\n'))
    newer = old.replace(mark, f'{mark}\n    __version__ = "2"\n').replace("{len(said)}:", "new")
    (folder / "desk.py").write_text(newer)
    async with Client(by_streams(folder, "older.py:Desk")) as client:
        assert (await says(client, "hello", "s"))["message"] == "1: hello"
    both = by_streams(folder, "desk.py:Desk", "--versions", "older.py:Desk")
    async with Client(both) as client:
        assert (await says(client, "hello", "s"))["message"] == "2: hello"
        assert (await says(client, "hello", "t"))["message"] == "new hello"


def test_without_a_key_it_listens_to_this_machine_alone(folder: Path) -> None:
    told = run("mcp", "parcel_refund", "--http", "--host", "0.0.0.0", "--port", "0", code=2).stderr

    assert "without an API key" in told


# ---- beginning and end


@pytest.mark.slow
async def test_told_to_stop_it_lets_the_turn_finish(folder: Path) -> None:
    with offered(written(folder), "desk.py:Desk") as (process, url):
        # The SDK's client tells of a server that is gone when it is closed, as a group of errors.
        with suppress(BaseExceptionGroup):
            await _stopped_during_a_turn(folder, process, url)
        assert await asyncio.to_thread(process.wait, 10) == 0
        assert b"Traceback" not in process.stderr.read()
    async with Client(by_streams(folder, "desk.py:Desk")) as client:
        assert (await says(client, "back", "last"))["message"] == "2: back"


async def _stopped_during_a_turn(folder: Path, process: Any, url: str) -> None:
    """With a client that holds a stream open, which must not keep the server from ending."""
    async with Client(url) as client, Client(url, mode="legacy"):
        asking = asyncio.create_task(says(client, "wait 1", "last"))
        await until_there(folder / "begun")
        process.send_signal(signal.SIGTERM)
        assert (await asking)["message"] == "1: wait 1"


@pytest.mark.slow
def test_help_lists_the_command_and_does_not_load_the_sdk() -> None:
    assert re.search(r"mcp +Offer journeys", run("--help").stdout)
    assert "TARGET" in flat(run("mcp", "--help").stdout)
    script = (
        "import sys, journeygraph.server.cli.command_line; "
        "print([n for n in ('mcp', 'jsonschema') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_without_the_sdk_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    assert "pip install 'journeygraph[mcp]'" in run("mcp", "parcel_refund", code=1).stderr


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("parcel_refunt", "Did you mean 'parcel_refund'?"),
        ("desk.py:reprot", "'desk.py' has no pipeline 'reprot'. Did you mean 'report'?"),
        ("desk.py:Nobody", "has no journey 'Nobody'"),
        ("nowhere.py:x", "There is no file nowhere.py"),
        ("broken:Broken", "__next__ is 'oder'"),
    ],
)
def test_a_target_that_is_not_there_is_told(folder: Path, target: str, told: str) -> None:
    written(folder)

    assert told in flat(run("mcp", target, code=1 if "broken" in target else 2).stderr)
