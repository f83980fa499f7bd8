"""The client of the API: what it asks is done once, and its streams continue."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import httpx2
import pytest

from journeygraph import Escalation, Field, Journey, Pathway
from journeygraph.server import client as clients
from journeygraph.server.client import ApiError, JourneyClient
from journeygraph.server.discover.journeys import Served
from tests.http.test_http_turns import Gate
from tests.support import api as helpers
from tests.support.api import KEY, Api, one
from tests.support.solo import Solo

serve, api = helpers.serve, helpers.api
Serve = Callable[..., Any]
Clients = Callable[..., JourneyClient]


class Lossy(httpx2.AsyncBaseTransport):
    """A network that loses answers: some before their head, some behind a text of their body."""

    def __init__(self, answers: int = 0, behind: list[str] | None = None) -> None:
        self._real = httpx2.AsyncHTTPTransport()
        self._answers, self._behind = answers, behind or []
        self.sent: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        answer = await self._real.handle_async_request(request)
        if self._answers:
            self._answers -= 1
            await answer.aread()
            raise httpx2.ReadError("lost")
        if self._behind:
            answer.stream = Cut(answer.stream, self._behind.pop(0).encode())
        return answer

    async def aclose(self) -> None:
        await self._real.aclose()


class Cut(httpx2.AsyncByteStream):
    """A body that is lost behind a text."""

    def __init__(self, whole: Any, text: bytes) -> None:
        self._whole, self._text = whole, text

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._whole:
            before, found, _ = part.partition(self._text)
            yield before + found
            if found:
                raise httpx2.ReadError("lost")

    async def aclose(self) -> None:
        await self._whole.aclose()


@pytest.fixture
async def client_of(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Clients]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    async with AsyncExitStack() as stack:

        def made(api: Api | str, **options: Any) -> JourneyClient:
            url = api if isinstance(api, str) else f"http://127.0.0.1:{api.port}"
            client = JourneyClient(url, KEY, **options)
            stack.push_async_callback(client.close)
            return client

        yield made


async def test_a_session_is_begun_read_and_deleted(serve: Serve, client_of: Clients) -> None:
    client = client_of(await serve(keys=(KEY,)))

    session = await client.begin("parcel", "s-1", context={"customer": "C-1"})
    reply = await session.says("street=Elm")
    history = await client.session("s-1").history()

    assert session.begun
    assert session.begun.pathway_id == "address"
    assert (reply.message, reply.pathway_id) == ("address: street=Elm", "payment")
    assert reply.accumulated_context["customer"] == "C-1"
    assert [entry.content for entry in history.entries] == ["street=Elm", "address: street=Elm"]
    assert [one.session_id for one in (await client.sessions("parcel")).sessions] == ["s-1"]
    assert (await session.rollback(0)).version == 2
    assert (await (await session.fork(1, "s-2")).state()).pathway_id == "payment"
    await session.delete()
    with pytest.raises(ApiError) as gone:
        await session.state()
    assert (gone.value.status, gone.value.code) == (404, "session_not_found")
    assert gone.value.problem


async def test_a_rule_for_a_busy_session_is_sent(serve: Serve, client_of: Clients) -> None:
    gate = Gate()
    client = client_of(await serve(Served(Solo, {"clerk": gate})))
    session = await client.begin("solo")
    first = asyncio.ensure_future(session.says("m0"))
    await gate.begun.wait()

    asked = [session.says("m1", when_busy="reject"), session.resume(1, when_busy="reject")]
    refused = await asyncio.gather(*asked, return_exceptions=True)
    streams = session.stream("m1", when_busy="reject"), session.stream_resume(1, when_busy="reject")
    for stream in streams:
        with pytest.raises(ApiError, match="session_busy"):
            await anext(stream)
    gate.let.set()

    assert [str(error)[-13:-1] for error in refused] == ["session_busy", "session_busy"]
    assert (await first).message == "Hold on."


async def test_what_is_asked_is_done_once_if_its_answer_is_lost(
    api: Api, client_of: Clients
) -> None:
    lossy = Lossy(answers=2)
    client = client_of(api, transport=lossy)

    session = await client.begin("parcel")
    lossy._answers = 2
    reply = await session.says("hello")

    assert reply.message == "address: hello"
    assert (await session.state()).version == 1
    assert len((await client.sessions()).sessions) == 1
    keys = [request.headers.get("idempotency-key") for request in lossy.sent[:6]]
    assert len(keys) == 6
    assert [len({*keys[:3]}), len({*keys[3:]}), len({*keys})] == [1, 1, 2]


async def counting(payload: dict[str, Any]) -> AsyncIterator[str]:
    for number in range(20):
        yield f"{number} \u2028"
        await asyncio.sleep(0)


async def test_a_stream_continues_behind_its_last_event(serve: Serve, client_of: Clients) -> None:
    api = await serve(one(Solo, clerk=counting))
    lossy = Lossy()
    session = await client_of(api, transport=lossy).begin("solo")
    lossy._behind = ['"3 ', '"9 ', "event: do"]

    events = [event async for event in session.stream("hi")]

    reply = events[-1].reply
    assert reply
    tokens = [event.data["text"] for event in events if event.type == "token"]
    assert tokens == [f"{number} \u2028" for number in range(20)]
    assert reply.message == "".join(tokens)
    assert [request.method for request in lossy.sent] == ["POST", "POST", "GET", "GET", "GET"]
    assert [event.type for event in events if event.type != "token"] == ["pathway", "done"]
    assert (await session.state()).version == 1


async def test_a_stream_that_is_lost_before_its_first_event_is_asked_for_again(
    serve: Serve, client_of: Clients
) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    lossy = Lossy()
    session = await client_of(api, transport=lossy).begin("solo")
    gate.let.set()
    lossy._answers = 1

    events = [event async for event in session.stream("hi")]

    assert events[-1].reply
    assert events[-1].reply.message == "Hold on."
    assert (await session.state()).version == 1
    assert [request.method for request in lossy.sent] == ["POST", "POST", "POST", "GET"]


async def test_a_reader_who_leaves_ends_no_turn(serve: Serve, client_of: Clients) -> None:
    gate = Gate()
    session = await client_of(await serve(one(Solo, clerk=gate))).begin("solo")

    stream: Any = session.stream("hi")
    async with aclosing(stream) as events:
        assert [(await anext(events)).type, (await anext(events)).type] == ["pathway", "token"]
    gate.let.set()
    changes: Any = session.changes(0)
    async with aclosing(changes) as versions:
        assert (await anext(versions)).reply == "Hold on."


async def test_changes_by_others_are_seen_until_the_session_is_deleted(
    api: Api, client_of: Clients
) -> None:
    lossy = Lossy(behind=["id: 0", "id: 0", '"street=Elm"', "id: 2"])
    session = await client_of(api).begin("parcel", "s-1")
    seen = []

    async def look() -> None:
        async for version in client_of(api, transport=lossy).session("s-1").changes(0):
            seen.append((version.version, version.message))
            if version.version == 3:
                await session.delete()

    looking = asyncio.create_task(look())
    for message in ("hello", "street=Elm", "card=1"):
        await session.says(message)
    await looking

    assert seen == [(1, "hello"), (2, "street=Elm"), (3, "card=1")]
    assert lossy._behind == []


class Desk(Journey):
    __escalation__ = Escalation(on_request=True)

    class TalkPath(Pathway):
        __fields__ = [Field("name", "text", "Your name?")]


async def test_operators_have_an_inbox(serve: Serve, client_of: Clients) -> None:
    client = client_of(await serve(one(Desk)))
    session = await client.begin("desk")
    await session.says("I want to talk to a human")

    (entry,) = (await client.escalations()).escalations
    claimed = await client.claim(entry.id, "ann")
    await client.operator_says(entry.id, "Hello, this is Ann.", "ann")
    released = await client.release(entry.id, "ann")

    assert (entry.session_id, entry.status) == (session.id, "open")
    assert (claimed.status, claimed.claimed_by, released.status) == ("claimed", "ann", "released")
    said = [one.content for one in (await session.history()).entries]
    assert "Hello, this is Ann." in said


def problem(status: int, code: str) -> dict[str, Any]:
    body = {"type": "about:blank", "title": "t", "status": status, "detail": "d", "code": code}
    return {**body, "request_id": "r"}


def event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\nid: 1:0:ab\n\n"


async def test_a_turn_whose_outcome_is_not_known_is_taken_again(
    api: Api, client_of: Clients
) -> None:
    await client_of(api).begin("parcel", "s-1")
    real, asked = httpx2.AsyncHTTPTransport(), []

    class Ended(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            asked.append(request.headers["idempotency-key"])
            if len(asked) > 1:
                return await real.handle_async_request(request)
            text = event("token", {"text": "addr"}) + event("error", problem(503, "unknown"))
            return httpx2.Response(200, text=text)

        async def aclose(self) -> None:
            await real.aclose()

    session = client_of(api, transport=Ended()).session("s-1")

    events = [event async for event in session.stream("hello")]

    assert [event.type for event in events if event.type != "pathway"] == [
        *("token", "again"),
        *("token", "done"),
    ]
    assert len({*asked}) == 1


@pytest.mark.parametrize(
    ("answers", "tries", "code"),
    [
        ([503, 429, 503, 503, 503, 503], 6, "busy"),
        ([422], 1, "busy"),
        ([409], 1, "busy"),
        ([503, 422], 2, "busy"),
        ([200], 1, "no_problem"),
        ([0] * 6, 6, "no_answer"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
async def test_only_what_may_succeed_is_sent_again(
    client_of: Clients, answers: list[int], tries: int, code: str, streams: bool
) -> None:
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        status = answers[len(asked) - 1]
        if not status:
            raise httpx2.ConnectError("nothing there")
        if status == 200:
            return httpx2.Response(404, text="<html>")
        headers = {"Retry-After": "0"}
        return httpx2.Response(status, json=problem(status, "busy"), headers=headers)

    transport = httpx2.MockTransport(answer)
    session = client_of("http://127.0.0.1:1", transport=transport).session("s-1")

    with pytest.raises(ApiError) as refused:
        _ = [one async for one in session.stream("hi")] if streams else await session.says("hi")

    assert (len(asked), refused.value.code) == (tries, code)
