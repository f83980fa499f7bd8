"""Turns over HTTP: streamed, at once, hung up on, and stopped."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import EventTrigger, IntentTrigger, Journey, Pathway, Transition
from journeygraph.graphs.storage.store import open_store
from journeygraph.server.app import app_of
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http import request_middleware
from tests.support import api as helpers
from tests.support.api import Api, events_in, message_request, one, serving, wired
from tests.support.clerks import staff
from tests.support.post_office import Parcel
from tests.support.solo import APOLOGY, Solo

serve, api = helpers.serve, helpers.api


class Bill(Journey):
    class Pay(Pathway):
        __agents__ = ["clerk"]

    class Paid(Pathway):
        __agents__ = ["cashier"]

    __entry_pathway__ = "pay"
    __transitions__ = [Transition(EventTrigger("payment_received"), to_pathway="paid")]


def asking(payload: dict[str, Any]) -> str:
    return f"Noted: {interrupt('How do you pay?')}."


def thanking(payload: dict[str, Any]) -> str:
    return f"Thank you for {payload['context']['amount']}."


class Gate:
    """An agent that says a first word, and continues when it is released."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.let = asyncio.Event()

    async def __call__(self, payload: dict[str, Any]) -> AsyncIterator[str]:
        yield "Hold "
        self.begun.set()
        await self.let.wait()
        yield "on."


async def until(holds: Callable[[], Any]) -> Any:
    """Wait until something holds."""
    async with asyncio.timeout(110):
        while not (found := await holds()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


async def test_a_stream_tells_where_it_goes_then_what_is_said_then_that_it_is_kept(
    api: Api,
) -> None:
    parcel = await api.begin()

    told = await api.hears(parcel, "how much is it?")

    assert [name for name, _ in told] == ["transition", "pathway", "token", "done"]
    assert told[0][1] == {"from": "address", "to": "prices", "intent": "how much"}
    assert told[1][1] == {"pathway": "prices"}
    assert told[2][1] == {"text": "prices: how much is it?"}
    assert told[3][1]["message"] == "prices: how much is it?"
    assert (await api.client.get(parcel)).json()["version"] == 1


async def test_done_holds_what_the_other_answer_would_be(api: Api) -> None:
    one, two = await api.begin(session_id="one"), await api.begin(session_id="two")

    reply = await api.says(one, "street=Elm")
    (*_, (name, done)) = await api.hears(two, "street=Elm")

    assert name == "done"
    assert {**done, "session_id": ""} == {**reply, "session_id": ""}


async def test_an_event_from_outside_is_a_turn(serve: Callable[..., Any]) -> None:
    api = await serve(one(Bill, clerk=asking, cashier=thanking))
    bill = await api.begin("bill")
    send = partial(api.client.post, f"{bill}/events")
    paid = {"name": "payment_received", "data": {"amount": 40}}

    ignored = await send(json={"name": "unknown"}, headers=helpers.EVENTS)  # it has no stream
    first = await send(json=paid, headers={"Idempotency-Key": "p-1"})
    again = await send(json=paid, headers={"Idempotency-Key": "p-1"})
    await api.client.post(f"{bill}/rollback", json={"version": 0})
    await api.says(bill, "hello")
    refused = await send(json=paid)

    assert (ignored.json()["message"], ignored.json()["transition_to"]) == ("", None)
    assert first.json()["message"] == "Thank you for 40."
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replay"] == "true"
    assert (refused.status_code, refused.json()["code"]) == (409, "waiting")
    assert "waits for an answer" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("accept", "streamed"),
    [
        ("text/event-stream", True),
        ("text/event-stream, application/json;q=0.5", True),
        ("application/json, text/event-stream", False),
        ("text/event-stream;q=0", False),
        ("*/*", False),
        ("text/html", False),
    ],
)
async def test_accept_decides_how_a_turn_is_told(api: Api, accept: str, streamed: bool) -> None:
    parcel = await api.begin()

    answer = await api.client.post(
        f"{parcel}/messages", json={"message": "hello"}, headers={"Accept": accept}
    )

    kind = "text/event-stream" if streamed else "application/json"
    assert answer.headers["content-type"].startswith(kind)


async def test_words_are_told_while_they_are_said(serve: Callable[..., Any]) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    session = await api.begin("solo")

    async with api.client.stream(
        "POST", f"{session}/messages", json={"message": "hi"}, headers=helpers.EVENTS
    ) as answer:
        lines = answer.aiter_lines()
        while await anext(lines) != "event: token":
            pass
        assert json.loads((await anext(lines)).removeprefix("data: ")) == {"text": "Hold "}
        assert (await api.client.get(session)).json()["version"] == 0
        gate.let.set()
        rest = [line async for line in lines]

    assert "event: done" in rest
    assert (await api.client.get(session)).json()["version"] == 1


async def test_a_stream_is_kept_alive_while_nothing_is_said(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.1)
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    session = await api.begin("solo")

    async with api.connected() as (reader, writer):
        writer.write(message_request(api, session, "hi"))
        await reader.readuntil(b"Hold ")
        await reader.readuntil(b": ping\n\n")
        gate.let.set()
        await reader.readuntil(b"event: done")


async def test_who_hangs_up_after_the_first_word_loses_nothing(serve: Callable[..., Any]) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    session = await api.begin("solo")

    async with api.connected() as (reader, writer):
        writer.write(message_request(api, session, "hi"))
        await reader.readuntil(b"Hold ")
    await asyncio.sleep(0.1)  # the server has heard of it
    assert (await api.client.get(session)).json()["version"] == 0
    gate.let.set()

    async def answered() -> Any:
        return (await api.client.get(f"{session}/history")).json()["entries"]

    assert [each["content"] for each in await until(answered)] == ["hi", "Hold on."]


async def test_a_turn_that_nobody_hears_any_more_waits_for_nobody(
    serve: Callable[..., Any],
) -> None:
    gate = Gate()

    async def clerk(payload: dict[str, Any]) -> AsyncIterator[str]:
        async for word in gate(payload):
            yield word
        for _ in range(200):
            yield "More. "

    api = await serve(one(Solo, clerk=clerk))
    session = await api.begin("solo")
    async with api.connected() as (reader, writer):
        writer.write(message_request(api, session, "hi"))
        await reader.readuntil(b"Hold ")
    await asyncio.sleep(0.1)
    gate.let.set()

    async def ended() -> bool:
        return len(api.app_state.turns) == 0

    await until(ended)
    assert (await api.client.get(session)).json()["version"] == 1


async def test_who_hangs_up_on_a_json_answer_loses_nothing(serve: Callable[..., Any]) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    session = await api.begin("solo")

    request = message_request(api, session, "hi").replace(b"text/event-stream", b"*/*")
    async with api.connected() as (_, writer):
        writer.write(request)
        await gate.begun.wait()
    gate.let.set()

    async def answered() -> Any:
        return (await api.client.get(session)).json()["version"]

    assert await until(answered) == 1


@pytest.mark.parametrize("streamed", [False, True])
async def test_nine_messages_at_once_are_answered_one_by_one(
    serve: Callable[..., Any], store_url: str, streamed: bool
) -> None:
    api = await serve(url=store_url)
    parcel = await api.begin()
    headers = helpers.EVENTS if streamed else {}

    async def say(number: int) -> Any:
        body = {"message": f"heard={number}"}
        return await api.client.post(f"{parcel}/messages", json=body, headers=headers)

    answers = await asyncio.gather(*(say(number) for number in range(9)))

    replies = [events_in(each.text)[-1][1] if streamed else each.json() for each in answers]
    versions = [reply["metadata"]["version"] for reply in replies]
    assert sorted(versions) == list(range(1, 10))  # which of them came first is the network's
    context = (await api.client.get(f"{parcel}/context")).json()["context"]
    assert context["heard"] == [str(versions.index(turn)) for turn in range(1, 10)]


@pytest.mark.parametrize(
    ("message", "flag"), [("", "empty_message"), ("x" * 20_000, "too_long_message")]
)
async def test_empty_and_long_messages_are_answered_and_change_nothing(
    api: Api, message: str, flag: str
) -> None:
    parcel = await api.begin()

    reply = await api.says(parcel, message)
    told = await api.hears(parcel, message)

    assert reply["metadata"]["flags"] == [flag]
    assert [name for name, _ in told] == ["token", "done"]
    assert told[-1][1]["message"] == reply["message"] == told[0][1]["text"]
    assert (await api.client.get(parcel)).json()["version"] == 0


async def test_a_failure_is_apologised_for_and_its_words_stay_inside(
    serve: Callable[..., Any],
) -> None:
    def clerk(payload: dict[str, Any]) -> Any:
        raise RuntimeError("the password is tulip")

    api = await serve(one(Solo, clerk=clerk))
    session = await api.begin("solo")

    reply = await api.client.post(f"{session}/messages", json={"message": "hi"})
    told = await api.hears(session, "again")

    assert reply.json()["message"] == APOLOGY
    assert reply.json()["metadata"]["error"] == {"type": "PathwayExecutionError"}
    assert [name for name, _ in told] == ["pathway", "token", "done"]
    assert "tulip" not in reply.text + json.dumps(told)


async def test_a_turn_that_cannot_be_kept_ends_in_an_error_and_never_in_done(
    serve: Callable[..., Any],
) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    session = await api.begin("solo")

    telling = asyncio.create_task(api.hears(session, "hi"))
    await gate.begun.wait()
    assert (await api.client.delete(session)).status_code == 204
    gate.let.set()
    told = await telling

    assert [name for name, _ in told] == ["pathway", "token", "token", "error"]
    assert (told[-1][1]["status"], told[-1][1]["code"]) == (503, "try_again")
    assert (await api.client.get(session)).status_code == 404


async def test_what_nobody_expected_is_a_problem_without_a_word_of_it(
    serve: Callable[..., Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve()
    parcel = await api.begin()

    def broken(*_: Any) -> Any:
        raise LookupError("a secret of ours")

    monkeypatch.setattr(type(api.app_state.directory.store), "turn", broken)
    answers = [
        await api.client.post(f"{parcel}/messages", json={"message": "hi"}, headers=headers)
        for headers in ({"X-Request-Id": "trace-1"}, helpers.EVENTS)
    ]

    for answer in answers:
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "internal_error"
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
        assert "secret" not in answer.text
    assert "request_id=trace-1" in caplog.text
    assert "a secret of ours" in caplog.text


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_of_the_turn_itself_is_a_problem_as_well(
    serve: Callable[..., Any], caplog: pytest.LogCaptureFixture, streamed: bool
) -> None:
    def clerk(payload: dict[str, Any]) -> Any:
        raise RuntimeError("the password is tulip")

    api = await serve(one(Solo, clerk=clerk), error_recovery="fail_fast")
    session = await api.begin("solo")

    answer = await api.client.post(
        f"{session}/messages",
        json={"message": "hi"},
        headers=helpers.EVENTS if streamed else {},
    )

    problem = events_in(answer.text)[-1][1] if streamed else answer.json()
    assert (problem["status"], problem["code"]) == (500, "internal_error")
    assert "tulip" not in answer.text
    assert "tulip" in caplog.text


async def test_who_never_reads_a_stream_is_left_and_the_turn_goes_on(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_middleware, "STALL_SECONDS", 0.3)

    async def clerk(payload: dict[str, Any]) -> AsyncIterator[str]:
        for _ in range(600):
            yield "w" * 10_000
            await asyncio.sleep(0)

    api = await serve(one(Solo, clerk=clerk))
    session = await api.begin("solo")
    deaf = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.setblocking(False)
    await asyncio.get_running_loop().sock_connect(deaf, ("127.0.0.1", api.port))
    with deaf:
        await asyncio.get_running_loop().sock_sendall(deaf, message_request(api, session, "hi"))

        async def answered() -> Any:
            return (await api.client.get(session)).json()["version"]

        assert await until(answered) == 1

        async def ended() -> bool:
            return len(api.app_state.turns) == 0

        await until(ended)

        async def left() -> bool:
            coros = [repr(task.get_coro()) for task in asyncio.all_tasks()]
            return not any("RequestResponseCycle" in coro for coro in coros)

        await until(left)


async def test_a_client_that_is_slow_hears_every_word(
    serve: Callable[..., Any],
) -> None:
    words = [f"word{number} " for number in range(500)]

    async def clerk(payload: dict[str, Any]) -> AsyncIterator[str]:
        for word in words:
            yield word

    api = await serve(one(Solo, clerk=clerk))
    session = await api.begin("solo")

    told = await api.hears(session, "hi")

    assert [each["text"] for name, each in told if name == "token"] == words
    assert told[-1][0] == "done"


async def test_sessions_of_one_server_talk_at_the_same_time(serve: Callable[..., Any]) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate), one(Parcel, **staff(Parcel)))
    held, free = await api.begin("solo", "held"), await api.begin("parcel", "free")

    waiting = asyncio.create_task(api.says(held, "hi"))
    await gate.begun.wait()
    assert (await api.says(free, "street=Elm"))["pathway_id"] == "payment"
    gate.let.set()

    assert (await waiting)["message"] == "Hold on."


def _wide(pathways: int) -> type[Journey]:
    names = [f"Desk{number}" for number in range(pathways)]
    moves = [Transition(IntentTrigger(patterns=[name]), to_pathway=name.lower()) for name in names]
    paths = {
        f"{name}Path": type(f"{name}Path", (Pathway,), {"__agents__": ["clerk"]}) for name in names
    }
    return type(f"Wide{pathways}", (Journey,), {**paths, "__transitions__": moves})


async def test_the_edge_does_as_much_for_a_journey_of_any_size(
    serve: Callable[..., Any],
) -> None:
    """An empty message runs no graph: all that is left is what a message costs before that."""
    counts: list[int] = []

    def count(frame: Any, event: str, _: Any) -> None:
        counts[-1] += event == "call" and "/site-packages/" not in frame.f_code.co_filename

    for pathways in (5, 80):
        api = await serve(one(_wide(pathways), clerk=lambda _: "Hi."))
        session = await api.begin(f"wide{pathways}")
        for _ in range(3):
            counts.append(0)
            sys.setprofile(count)
            await api.says(session, " ")
            sys.setprofile(None)

    small, large = sorted(counts[:3])[1], sorted(counts[3:])[1]
    assert large < 1.2 * small


async def test_the_edge_adds_little_to_a_turn() -> None:
    app_state = wired()
    app = app_of(app_state)

    async def over_http() -> None:
        await posted(app, "/v1/sessions/s-1/messages", {"message": "how much?"})

    async with app_state.opened():
        await posted(app, "/v1/sessions", {"journey_id": "parcel", "session_id": "s-1"})
        async with Parcel("s-2", app_state.config, agents=staff(Parcel), model=False) as session:
            await session.start()

            async def in_process() -> None:
                await session.process_message("how much?")

            assert await calls_of(over_http) < 1.2 * await calls_of(in_process)


async def posted(app: Any, path: str, body: Any) -> None:
    """Have an application answer one request, without a server around it."""
    parts = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False},
    ]
    sent: list[Any] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> Any:
        return parts.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert sent[0]["status"] in (200, 201)


async def calls_of(turn: Callable[[], Any]) -> int:
    """Count the functions that a turn calls, once it has been taken before."""
    count = 0

    def note(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    for _ in range(3):
        await turn()
    sys.setprofile(note)
    await turn()
    sys.setprofile(None)
    return count


async def test_a_message_reads_its_session_once(serve: Callable[..., Any], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    api = await serve(url=url)
    session = await api.begin()
    store = await open_store(url, None, api.app_state.config.database_pool_size)
    asked: list[str] = []
    store.saver.conn.set_trace_callback(asked.append)  # type: ignore[union-attr]
    try:
        for say in (api.says, api.hears):
            asked.clear()
            await say(session, "hello")
            sweep = "ORDER BY sessions.expires_at"  # of the start, which may be later
            read = [sql for sql in asked if sql.startswith("SELECT") and sweep not in sql]
            assert len(read) == 1
    finally:
        await store.close()


async def test_services_are_made_once_for_all_messages(serve: Callable[..., Any]) -> None:
    looked: list[str] = []

    class Clerks(dict[str, Any]):
        """Agents that count the requests for all of them."""

        def items(self) -> Any:
            looked.append("items")
            return super().items()

    served = Served(Solo, Clerks(clerk=lambda ask: f"heard {ask['message']}"))
    api = await serve(served)
    session, other = await api.begin("solo", "one"), await api.begin("solo", "two")
    assert len(looked) > 0
    looked.clear()

    for place in (session, other, session):
        assert (await api.says(place, "hi"))["message"] == "heard hi"

    assert not looked


async def test_a_request_that_is_sent_again_with_its_key_is_done_once(api: Api) -> None:
    parcel, key = await api.begin(), {"Idempotency-Key": "k-1"}
    post = api.client.post
    body = {"message": "street=Elm"}

    first, again = [await post(f"{parcel}/messages", json=body, headers=key) for _ in range(2)]
    streamed = await post(f"{parcel}/messages", json=body, headers={**key, **helpers.EVENTS})
    other = await post(f"{parcel}/messages", json={"message": "x"}, headers=key)
    back, back_again = [
        await post(f"{parcel}/rollback", json={"version": 0}, headers={"Idempotency-Key": "k-2"})
        for _ in range(2)
    ]

    replays = [one.headers.get("idempotent-replay") for one in (first, again, back, back_again)]
    assert replays == [None, "true", None, "true"]
    assert again.json() == first.json()
    assert events_in(streamed.text) == [("done", first.json())]
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert back_again.json() == back.json()
    assert (await api.client.get(parcel)).json()["version"] == 2


async def test_a_session_that_is_begun_again_with_its_key_is_the_same_one(api: Api) -> None:
    def begin(context: Any, key: str) -> Any:
        body = {"journey_id": "parcel", "context": context}
        return api.client.post("/v1/sessions", json=body, headers={"Idempotency-Key": key})

    first, again = await asyncio.gather(*(begin({"customer": "C-1"}, "k") for _ in range(2)))
    fork = f"/v1/sessions/{first.json()['session_id']}/fork"
    forks = [
        await api.client.post(fork, json={"version": 0}, headers={"Idempotency-Key": "f"})
        for _ in range(2)
    ]

    assert [first.status_code, again.status_code] == [201, 201]
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]
    assert (await begin({"customer": "C-2"}, "k")).json()["code"] == "idempotency_key_reused"
    assert (await begin({"customer": "C-1"}, "k-2")).json()["session_id"] not in first.text
    assert forks[0].json() == forks[1].json()
    assert len((await api.client.get("/v1/sessions")).json()["sessions"]) == 3


@pytest.mark.parametrize("key", [b"", "zwölf".encode("latin-1"), b"x" * 201])
@pytest.mark.parametrize("place", ["", "/s-1/messages", "/s-1/rollback"])
async def test_a_key_that_cannot_be_one_changes_nothing(api: Api, place: str, key: bytes) -> None:
    await api.begin()
    body = {"": {"journey_id": "parcel"}, "/s-1/messages": {"message": "x"}}
    given = body.get(place, {"version": 0})

    refused = await api.client.post(
        f"/v1/sessions{place}", json=given, headers={b"Idempotency-Key": key}
    )

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_idempotency_key")
    assert len((await api.client.get("/v1/sessions")).json()["sessions"]) == 1
    assert (await api.client.get("/v1/sessions/s-1")).json()["version"] == 0


async def test_three_requests_that_were_aborted_are_one_turn(api: Api) -> None:
    parcel = await api.begin()
    body = json.dumps({"message": "street=Elm"})
    request = (
        f"POST {parcel}/messages HTTP/1.1\r\nHost: 127.0.0.1:{api.port}\r\n"
        "Content-Type: application/json\r\nIdempotency-Key: k\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    )
    for _ in range(3):
        async with api.connected() as (_, writer):
            writer.write(request.encode())
            await writer.drain()

    headers = {"Idempotency-Key": "k"}
    reply = await api.client.post(
        f"{parcel}/messages", json={"message": "street=Elm"}, headers=headers
    )

    assert reply.json()["metadata"]["version"] == 1
    assert (await api.client.get(parcel)).json()["version"] == 1


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_turn_that_the_end_of_the_server_cuts_off_is_told_and_can_be_sent_again(
    serve: Callable[..., Any], streamed: bool
) -> None:
    gate, more = Gate(), Gate()
    url = f"memory://cut-{streamed}"
    app_state = wired(one(Solo, clerk=gate), url=url)
    headers = {"Idempotency-Key": "k-1", **(helpers.EVENTS if streamed else {})}
    asked: Any = {"json": {"message": "hi"}, "headers": headers}
    async with serving(app_state) as api:
        session = await api.begin("solo")
        path = f"{session}/messages"
        answering = asyncio.create_task(api.client.post(path, **asked))
        await gate.begun.wait()
        app_state.turns.close(0.01)  # as a signal to stop does, with 20 seconds
        answer = await answering

    problem = events_in(answer.text)[-1][1] if streamed else answer.json()
    assert (problem["status"], problem["code"]) == (503, "outcome_unknown")
    assert "Idempotency-Key" in problem["detail"]
    if streamed:
        assert events_in(answer.text)[-1][0] == "error"
    else:
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"] == "1"

    more.let.set()
    again = await serve(one(Solo, clerk=more), url=url)
    replies = [await again.client.post(path, **asked) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert (await again.client.get(session)).json()["version"] == 1


async def test_a_request_that_is_cut_off_while_it_waits_for_its_session_is_told(
    serve: Callable[..., Any],
) -> None:
    gate = Gate()
    app_state = wired(one(Solo, clerk=gate))
    async with serving(app_state) as api:
        session = await api.begin("solo")
        path, body = f"{session}/messages", {"message": "hi"}

        def asks(**headers: str) -> asyncio.Task[Any]:
            return asyncio.create_task(api.client.post(path, json=body, headers=headers))

        first = asks()
        await gate.begun.wait()
        waiting = [asks(), asks(**helpers.EVENTS)]
        while len(app_state.turns) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        app_state.turns.close(0.01)
        answers = await asyncio.gather(first, *waiting)

    assert [answer.status_code for answer in answers] == [503, 503, 503]
    assert {answer.json()["code"] for answer in answers} == {"outcome_unknown"}
