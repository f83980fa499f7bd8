"""Bytes that no client of good will sends: each is refused, none is repeated, nothing grows."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from journeygraph.server.app import app_of
from journeygraph.server.http import request_middleware, routing
from tests.support import api as helpers
from tests.support.api import Api, answer_in, one
from tests.support.solo import Solo, function

serve, api = helpers.serve, helpers.api


@pytest.fixture(params=["h11", "httptools"], autouse=True)
def protocol(request: pytest.FixtureRequest) -> Any:
    return request.param


CANARY = "kanarienvogel"
MESSAGES = "POST /v1/sessions/s-1/messages"
MEGABYTE = 1024 * 1024


def begin(context: str) -> bytes:
    """The body of a session that begins with some raw JSON as its context."""
    return f'{{"journey_id": "parcel", "context": {{"{CANARY}": {context}}}}}'.encode()


def said(raw: str) -> bytes:
    """The body of a message with some raw JSON as its text."""
    return f'{{"message": "{CANARY} {raw}"}}'.encode()


BODIES = {
    "nan": begin("NaN"),
    "infinity": begin("-Infinity"),
    "too large a number": begin("1e999"),
    "an int of 5,000 digits": begin("9" * 5_000),
    "an int beyond 64 bits": begin(str(2**63)),
    "an int below 64 bits": begin(str(-(2**63) - 1)),
    "lone surrogate in a value": begin('"\\ud800"'),
    "lone surrogate in a name": begin('{"\\udfff": 1}'),
    "encoded surrogate": begin('"') + b'\xed\xa0\x80"}}',
    "nul in a value": begin('"a\\u0000b"'),
    "nul in a name": begin('{"a\\u0000b": 1}'),
    "nul byte": begin('"\0"'),
    "depth 33": begin("[" * 31 + "]" * 31),
    "depth 100,000": begin("[" * 100_000 + "]" * 100_000),
    "depth 100,000, never closed": begin('{"a":' * 100_000),
    "duplicate names": begin('{"a": 1, "a": 2}'),
    "utf-16": begin("1").decode().encode("utf-16"),
    "utf-16 without its mark": begin("1").decode().encode("utf-16-le"),
    "bom": b"\xef\xbb\xbf" + begin("1"),
    "latin-1": begin('"é"').decode().encode("latin-1"),
    "half of it": begin("1")[:-3],
    "two of them": begin("1") * 2,
    "no JSON": CANARY.encode(),
    "an array": f'["{CANARY}"]'.encode(),
    "a text": f'"{CANARY}"'.encode(),
    "null": b"null",
    "unknown field": f'{{"journey_id": "parcel", "{CANARY}": 1}}'.encode(),
    "wrong type": f'{{"journey_id": ["{CANARY}"]}}'.encode(),
    "wrong context": f'{{"journey_id": "parcel", "context": ["{CANARY}"]}}'.encode(),
    "unknown journey": f'{{"journey_id": "{CANARY}"}}'.encode(),
    "surrogate in a refused field": f'{{"{CANARY}": "\\ud800"}}'.encode(),
    "id with a slash": f'{{"journey_id": "parcel", "session_id": "{CANARY}/../x"}}'.encode(),
    "id of 10 kB": f'{{"journey_id": "parcel", "session_id": "{CANARY * 800}"}}'.encode(),
    "id of unicode digits": f'{{"journey_id": "parcel", "session_id": "{CANARY}٣"}}'.encode(),
    "id that is a number": f'{{"journey_id": "parcel", "session_id": 7, "{CANARY}": 1}}'.encode(),
    "id ending in a newline": f'{{"journey_id": "parcel", "session_id": "{CANARY}\\n"}}'.encode(),
}


async def test_a_broken_body_is_refused_and_not_repeated(api: Api) -> None:
    answers = {what: await api.raw(body) for what, body in BODIES.items()}

    statuses = {what: status for what, (status, _, _) in answers.items()}
    assert {what: status for what, status in statuses.items() if not 400 <= status < 500} == {}
    for what, (status, headers, answer) in answers.items():
        assert headers["content-type"] == "application/problem+json", what
        assert CANARY not in answer.decode(), what
        assert json.loads(answer)["status"] == status, what
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []


@pytest.mark.parametrize(
    "body",
    [
        said("\\ud800"),
        said("\\u0000"),
        said("\\u0007"),
        said("\\u009f"),
        b'{"message": 7}',
        b"{}",
        b"",
        f'{{"message": ["{CANARY}"]}}'.encode(),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_broken_message_reaches_no_session(api: Api, body: bytes, accept: str) -> None:
    parcel = await api.begin()

    status, headers, answer = await api.raw(body, f"Accept: {accept}", line=MESSAGES)

    assert status == 422, answer
    assert headers["content-type"] == "application/problem+json"
    assert CANARY not in answer.decode()
    assert len((await api.client.get(f"{parcel}/versions")).json()["versions"]) == 1


@pytest.mark.parametrize("session", ["s-1", "unknown", "-is-no-id"])
async def test_both_ways_of_a_turn_refuse_a_body_alike(api: Api, session: str) -> None:
    await api.begin()
    line = f"POST /v1/sessions/{session}/messages"
    refused = {**BODIES, "a number": b'{"message": 7}', "empty": b"", "an empty object": b"{}"}

    for what, body in refused.items():
        status, _, answer = await api.raw(body, line=line)
        as_events = await api.raw(body, "Accept: text/event-stream", line=line)

        found, expected = json.loads(answer), json.loads(as_events[2])
        assert status == as_events[0], what
        assert {**found, "request_id": ""} == {**expected, "request_id": ""}, what


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/sessions/s-1/messages"])
async def test_a_client_that_leaves_within_its_body_is_no_failure(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(parts, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    whence: Any = {"client": ("127.0.0.1", 1), "query_string": b"", "headers": headers}
    asked = {"type": "http", "method": "POST", "path": path, "http_version": "1.1", **whence}
    await app_of(helpers.wired())(asked, receive, send)

    assert sent[0]["status"] == 400
    assert json.loads(sent[1]["body"])["code"] == "bad_request"
    assert "request_failed" not in caplog.text


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("Content-Encoding: gzip", gzip.compress(begin("1"), mtime=0)),
        ("Content-Encoding: br", begin("1")),
        ("Content-Type: application/x-www-form-urlencoded", b"journey_id=parcel"),
        ("Content-Type: text/plain", begin("1")),
        ("Content-Type: application/json; charset=utf-16", begin("1")),
        ("Content-Type: multipart/form-data; boundary=x", b"--x--"),
        ("Content-Type: ", begin("1")),
    ],
)
async def test_other_types_and_compressed_bodies_are_refused(
    api: Api, header: str, body: bytes
) -> None:
    status, _, answer = await api.raw(body, header)

    assert (status, json.loads(answer)["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("line", "most"),
    [("POST /v1/sessions", 64 * 1024 + MEGABYTE), (MESSAGES, 64 * 1024)],
    ids=["a context", "a message"],
)
async def test_bodies_are_limited_to_the_byte(api: Api, line: str, most: int) -> None:
    await api.begin()
    body = b"{}"

    statuses = [
        (await api.raw(body + b" " * (size - len(body)), line=line))[0] for size in (most, most + 1)
    ]

    assert statuses == [422, 413]


def resident() -> int:
    """Memory of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def upload(api: Api, *headers: str, chunk: bytes, times: int, line: str) -> Any:
    """Send a body piece by piece as long as the server accepts it; return the answer."""
    head = [f"{line} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers]
    async with api.connected() as (reader, writer):
        writer.write("\r\n".join([*head, "", ""]).encode())
        answer = asyncio.ensure_future(answer_in(reader))
        with suppress(ConnectionError):  # closed a while after the answer
            for _ in range(times):
                writer.write(chunk)
                await writer.drain()
        return await answer


@pytest.mark.long
@pytest.mark.parametrize("line", ["POST /v1/sessions", MESSAGES, "GET /healthz", "POST /nowhere"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_64_megabytes_are_not_kept(api: Api, line: str, chunked: bool) -> None:
    await api.begin()
    piece = b" " * (64 * 1024)
    chunk = b"10000\r\n" + piece + b"\r\n" if chunked else piece
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {64 * MEGABYTE}"
    before = resident()

    status, headers, _ = await upload(api, length, chunk=chunk, times=1024, line=line)
    assert status == {"GET /healthz": 200, "POST /nowhere": 404}.get(line, 413)
    assert headers["connection"] == "close"
    assert resident() - before < 16 * MEGABYTE


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_without_an_end_is_read_for_a_bounded_time(
    api: Api, monkeypatch: pytest.MonkeyPatch, chunked: bool
) -> None:
    monkeypatch.setattr(request_middleware, "REST_BYTES", 2 * MEGABYTE)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {10**15}"
    piece = b"10000\r\n" + b" " * (64 * 1024) + b"\r\n"

    async with api.connected() as (_, writer):
        writer.write(head_of(HOST, length, line="POST /v1/sessions HTTP/1.1"))
        with pytest.raises(ConnectionError):
            await lost(writer, piece)


EARLY = {
    "no key": ("POST /v1/sessions", 401),
    "no route": ("POST /v1/nowhere", 404),
    "no such method": ("PUT /v1/sessions", 405),
    "no key for a turn": (MESSAGES, 401),
    "a route without a body": ("GET /healthz", 200),
}


@pytest.mark.parametrize("what", EARLY)
@pytest.mark.parametrize("length", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
async def test_an_answer_before_the_end_of_a_body_ends_the_connection(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, what: str, length: str
) -> None:
    monkeypatch.setattr(request_middleware, "REST_SECONDS", 0.2)
    api = await serve(keys=(helpers.KEY,))
    line, expected = EARLY[what]

    async with api.connected() as (reader, writer):
        writer.write(head_of(HOST, length, line=f"{line} HTTP/1.1") + b"1")
        status, headers, _ = await answer_in(reader)
        with suppress(ConnectionError):  # and what comes after is no request
            writer.write(head_of(HOST))
            assert await reader.read() == b""
            await writer.drain()
            await lost(writer)

    assert (status, headers["connection"]) == (expected, "close")


async def lost(writer: asyncio.StreamWriter, piece: bytes = b" ") -> None:
    """Send bytes until the other side has closed the connection.

    Raises:
        ConnectionError: It has.
    """
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_a_body_that_was_read_leaves_the_connection_open(serve: Callable[..., Any]) -> None:
    api = await serve(keys=(helpers.KEY,))
    key = f"Authorization: Bearer {helpers.KEY}"
    named = (HOST, key, "Content-Type: application/json", "Content-Length: 2")
    refused = head_of(*named, line="POST /v1/sessions HTTP/1.1") + b"[]"
    empty = head_of(HOST, "Content-Length: 0", line="POST /v1/sessions HTTP/1.1")

    async with api.connected() as (reader, writer):
        statuses = []
        for request in (refused, empty, refused):
            writer.write(request)
            status, headers, _ = await answer_in(reader)
            statuses.append(status)
            assert "connection" not in headers

    assert statuses == [422, 401, 422]


@pytest.mark.parametrize(
    "lengths",
    [
        ("Content-Length: 2", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 2"),
    ],
)
async def test_a_body_with_two_ends_is_refused_and_nothing_after_it_is_read(
    api: Api, lengths: tuple[str, str]
) -> None:
    await api.begin()
    smuggled = head_of(HOST, line="DELETE /v1/sessions/s-1 HTTP/1.1")

    async with api.connected() as (reader, writer):
        named = (HOST, "Content-Type: application/json", *lengths)
        with suppress(ConnectionError):
            writer.write(head_of(*named, line=f"{MESSAGES} HTTP/1.1") + b"0\r\n\r\n" + smuggled)
            answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1") == 1
    assert (await api.client.get("/v1/sessions/s-1")).status_code == 200


ALLOWED = {
    "/v1/sessions": "GET, POST",
    "/v1/sessions/s-1": "DELETE, GET",
    "/v1/sessions/s-1/messages": "POST",
    "/v1/users/ann": "DELETE",
    "/v1/nowhere": None,
    "/healthz": "GET",
    "/docs": "GET, HEAD",
}


async def test_a_method_that_no_route_has_is_not_allowed(api: Api) -> None:
    async with api.connected() as (reader, writer):
        for line, allowed in ALLOWED.items():
            writer.write(head_of(HOST, line=f"PATCH {line} HTTP/1.1"))
            status, headers, answer = await answer_in(reader)
            expected = 405 if allowed else 404
            assert (status, json.loads(answer)["status"]) == (expected, expected)
            assert headers.get("allow") == allowed
        writer.write(head_of(HOST))
        assert (await answer_in(reader))[0] == 200


async def test_a_body_that_says_it_is_too_large_is_not_even_asked_for(api: Api) -> None:
    async with api.connected() as (reader, writer):
        writer.write(
            b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 67108864\r\n"
            b"Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n"
        )
        status, _, answer = await answer_in(reader)

    assert (status, json.loads(answer)["code"]) == (413, "body_too_large")


async def test_a_body_that_does_not_come_is_not_waited_for(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "BODY_SECONDS", 0.2)

    async with api.connected() as (reader, writer):
        writer.write(
            b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n"
            b"Content-Type: application/json\r\n\r\n{"
        )
        status, _, answer = await answer_in(reader)

    assert (status, json.loads(answer)["code"]) == (408, "body_too_slow")


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 30, "0x10", "٣"])
async def test_a_length_that_is_none_is_refused(api: Api, length: str) -> None:
    async with api.connected() as (reader, writer):
        writer.write(
            b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {length}\r\n\r\n{{}}".encode()
        )
        status = int((await reader.read(400)).split()[1])

    assert 400 <= status < 500


NOWHERE = [
    "GET /v1/sessions/../../etc/passwd",
    "GET /v1/sessions/%2e%2e%2fx",
    "GET /v1/sessions/'%20OR%201=1",
    "GET /v1/sessions/%25",
    "GET /v1/sessions/_",
    "GET /v1/sessions/%00",
    "GET /v1/sessions/%ff%fe",
    "GET /v1/sessions/%ed%a0%80",
    f"GET /v1/sessions/{'x' * 10_000}",
    "GET /v1/sessions/",
    "GET //v1/sessions",
    "GET /v1/journeys/%00",
    "GET /v1/journeys/parcel/graph/",
    "DELETE /v1/sessions/%00",
    "GET /docs/x",
    "POST /v1/sessions/s-1",
    "GET /redoc",
]


async def test_a_path_that_leads_nowhere_is_not_found(api: Api) -> None:
    for line in NOWHERE:
        status, headers, answer = await api.raw(b"", line=line)
        assert (line[:60], status) in ((line[:60], 404), ("POST /v1/sessions/s-1", 405))
        assert headers["content-type"] == "application/problem+json"
        assert json.loads(answer)["status"] == status


@pytest.mark.parametrize("name", ["%00", "%ff", "%ed%a0%80", "x" * 5_000, "%F0%9F%98%80"])
async def test_any_name_can_be_looked_for_in_a_context(api: Api, name: str) -> None:
    await api.begin()

    status, _, answer = await api.raw(b"", line=f"GET /v1/sessions/s-1/context?name={name}")

    assert (status, json.loads(answer)["context"]) == (200, {})


TEXTS = [
    "😀 e\u0301 \u202eabc\u202c \u200b \ufeff é",
    "tab\tand\nlines",
    "\U0010ffff",
    "' \" \\ </script>",
]


@pytest.mark.parametrize("text", TEXTS)
async def test_what_people_write_comes_back_as_it_was(serve: Callable[..., Any], text: str) -> None:
    api = await serve(one(Solo, clerk=function))
    session = await api.begin("solo", context={text: text})

    reply = await api.says(session, text)
    told = await api.hears(session, text)

    assert reply["message"] == told[-1][1]["message"] == f"heard {text}"
    assert reply["accumulated_context"][text] == text
    history = (await api.client.get(f"{session}/history")).json()["entries"]
    assert [each["content"] for each in history] == [text, f"heard {text}"] * 2


async def test_numbers_and_depth_at_their_limits_are_kept(api: Api) -> None:
    deepest: Any = 1
    for _ in range(30):  # the body itself and its context are two levels more
        deepest = [deepest]
    given = {"most": 2**63 - 1, "least": -(2**63), "small": 5e-324, "deepest": deepest}

    session = await api.begin(context=given)

    assert (await api.client.get(f"{session}/context")).json()["context"] == given


@pytest.mark.parametrize(
    "path", [b"/v1/sessions/\xc3\xa9", b"/\x00", b"/ x", b"*", b"http://x/v1/y"]
)
async def test_a_path_that_is_none_is_refused(api: Api, path: bytes) -> None:
    async with api.connected() as (reader, writer):
        writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        status = int((await reader.read(400)).split()[1])

    assert status in (400, 404)


@pytest.mark.parametrize("protocol", ["h11"])
async def test_a_head_of_a_megabyte_is_refused(api: Api) -> None:
    async with api.connected() as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * MEGABYTE)
        status = int((await reader.read(400)).split()[1])

    assert status == 400


HOST = "Host: 127.0.0.1"


def head_of(*headers: str, line: str = "GET /healthz HTTP/1.1") -> bytes:
    return "\r\n".join([line, *headers, "", ""]).encode("latin-1")


HEADS = {
    "a blank in a name": head_of(HOST, "X Y: 1"),
    "a blank before a colon": head_of("Host : a"),
    "nul in a value": head_of(HOST, "X: \0"),
    "two lengths": head_of(HOST, "Content-Length: 1", "Content-Length: 2"),
    "an unknown encoding": head_of(HOST, "Transfer-Encoding: gzip"),
}


@pytest.mark.parametrize("what", HEADS)
async def test_a_head_that_is_none_is_refused_and_its_connection_closed(
    api: Api, what: str
) -> None:
    async with api.connected() as (reader, writer):
        writer.write(HEADS[what])
        with suppress(ConnectionError):
            answer = await reader.readuntil(b"\r\n\r\n")
            rest = await reader.read()
            assert rest.count(b"HTTP/1.1") == 0

    assert answer.split()[1] in (b"400", b"501")


async def test_requests_sent_at_once_are_answered_in_their_order(api: Api) -> None:
    get = head_of(HOST)
    missing = head_of(HOST, line="GET /v1/sessions/none HTTP/1.1")

    async with api.connected() as (reader, writer):
        writer.write(get + missing + get)
        statuses = [(await answer_in(reader))[0] for _ in range(3)]

    assert statuses == [200, 404, 200]
