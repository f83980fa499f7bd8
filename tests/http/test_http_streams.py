"""Streams that continue: the events of a turn, and the versions of a session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from journeygraph.graphs.storage.store import open_store
from journeygraph.server.http import event_logs
from journeygraph.server.http.event_logs import EventId
from tests.http.test_http_turns import Gate, until
from tests.support import api as helpers
from tests.support.api import EVENTS, Api, one, serving, wired
from tests.support.bike_shop import Workshop, clerk
from tests.support.solo import Solo

serve, api = helpers.serve, helpers.api
Serve = Callable[..., Any]
Event = tuple[str, str, Any]


class Stream:
    """The events of an open stream, as (type, id, data)."""

    def __init__(self, answer: Any) -> None:
        self.headers = answer.headers
        self._lines = answer.aiter_lines()

    async def next(self) -> Event | None:
        """Return the next event; None at the end. An id alone has the type `id`."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line and line[0] != ":":
                name, _, value = line.partition(": ")
                fields[name] = value
            elif not line and fields:
                data = json.loads(fields.get("data", "null"))
                return fields.get("event", "id"), fields.get("id", ""), data
        return None

    async def take(self, number: int) -> list[Event]:
        """Return the next events."""
        return [event for _ in range(number) if (event := await self.next())]

    async def rest(self) -> list[Event]:
        """Return all events until the end."""
        found = []
        while event := await self.next():
            found.append(event)
        return found


@asynccontextmanager
async def opened(
    api: Api, path: str, last: str = "", message: str | None = None, **headers: str
) -> AsyncIterator[Stream]:
    """Open a stream; with a message, that of its turn."""
    given = EVENTS | ({"Last-Event-ID": last} if last else {}) | headers
    asked: dict[str, Any] = {} if message is None else {"json": {"message": message}}
    method = "GET" if message is None else "POST"
    async with api.client.stream(method, path, headers=given, **asked) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Stream(answer)


async def refused(api: Api, path: str, last: str = "") -> tuple[int, str]:
    """Return status and code of a stream that is refused."""
    headers = {"Last-Event-ID": last} if last else {}
    answer = await api.client.get(path, headers=headers)
    return answer.status_code, answer.json()["code"]


def ids(found: list[Event]) -> list[EventId]:
    """Return the ids of events."""
    read = [EventId.of(id_) for _, id_, _ in found]
    assert None not in read
    return [one for one in read if one]


async def test_a_client_that_connects_again_gets_each_event_once_and_in_order(serve: Serve) -> None:
    gate = Gate()

    async def agent(payload: dict[str, Any]) -> AsyncIterator[str]:
        async for word in gate(payload):
            yield word
        for number in range(50):
            yield f" {number}"

    api = await serve(one(Solo, clerk=agent))
    session = await api.begin("solo")

    found: list[Event] = []
    async with opened(api, f"{session}/messages", message="hi") as stream:
        while not any("Hold" in str(data) for _, _, data in found):
            found += await stream.take(1)
    resumed = f"{session}/turns/1/events"
    async with opened(api, resumed, found[-1][1]) as stream:
        gate.let.set()
        found += await stream.take(5)
    async with opened(api, resumed, found[-1][1]) as stream:
        found += await stream.rest()
    async with opened(api, resumed, found[-1][1]) as stream:
        assert await stream.rest() == []
    async with opened(api, resumed) as stream:
        assert await stream.rest() == found

    assert [each[1] for each in ids(found)] == list(range(len(found)))
    assert {(each.turn, each.run) for each in ids(found)} == {(1, ids(found)[0].run)}
    said = "".join(data["text"] for name, _, data in found if name == "token")
    assert found[-1][0] == "done"
    assert found[-1][2]["message"] == said == "Hold on." + "".join(f" {n}" for n in range(50))


@pytest.mark.parametrize("is_late", [False, True])
async def test_another_process_sends_the_whole_reply_after_the_commit(
    serve: Serve, store_url: str, is_late: bool
) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate), url=store_url)
    session = await api.begin("solo")
    other = await serve(one(Solo, clerk=Gate()), url=store_url)

    async with opened(api, f"{session}/messages", message="hi") as stream:
        [(_, last, _)] = await stream.take(1)
        await gate.begun.wait()
        if is_late:
            gate.let.set()
            rest = await stream.rest()
            assert len(other.app_state.turns.watched) == 0
        async with opened(other, f"{session}/turns/1/events", last) as elsewhere:
            if not is_late:
                await until(lambda: _true(len(other.app_state.turns.watched)))
                gate.let.set()
                rest = await stream.rest()
            found = await elsewhere.rest()

    assert [name for name, _, _ in found] == ["done"]
    assert found[0][2] == rest[-1][2]
    async with opened(other, f"{session}/turns/1/events", found[0][1]) as elsewhere:
        assert await elsewhere.rest() == []


async def _true(value: Any) -> Any:
    return value


async def test_a_turn_without_a_stream_has_one_afterwards(api: Api) -> None:
    session = await api.begin()
    reply = await api.says(session, "street=Elm")

    async with opened(api, f"{session}/turns/1/events") as stream:
        assert [(name, data) for name, _, data in await stream.rest()] == [("done", reply)]


async def test_a_failed_turn_and_the_next_one_of_its_number_are_not_mixed(serve: Serve) -> None:
    fails = [True]

    async def agent(payload: dict[str, Any]) -> AsyncIterator[str]:
        yield "Well, "
        if fails.pop() if fails else False:
            raise RuntimeError
        yield payload["message"]

    api = await serve(one(Solo, clerk=agent), error_recovery="fail_fast")
    session = await api.begin("solo")
    async with opened(api, f"{session}/messages", message="one") as stream:
        failed = await stream.rest()
    async with opened(api, f"{session}/messages", message="two") as stream:
        stands = await stream.rest()

    assert (failed[-1][0], stands[-1][0]) == ("error", "done")
    assert {each.turn for each in ids(failed + stands)} == {1}
    for all_of_it in (failed, stands):
        async with opened(api, f"{session}/turns/1/events", all_of_it[0][1]) as stream:
            assert await stream.rest() == all_of_it[1:]
    async with opened(api, f"{session}/turns/1/events") as stream:
        assert await stream.rest() == stands


async def test_memory_for_events_is_bounded_and_the_gap_is_named(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_logs, "MOST_OF_TURN", 3_000)
    gate = Gate()

    async def agent(payload: dict[str, Any]) -> AsyncIterator[str]:
        async for word in gate(payload):
            yield word
        for _ in range(100):
            yield " more"

    api = await serve(one(Solo, clerk=agent))
    session = await api.begin("solo")
    async with opened(api, f"{session}/messages", message="hi") as stream:
        [first] = await stream.take(1)
    gate.let.set()
    await until(lambda: _true(not len(api.app_state.turns)))

    async with opened(api, f"{session}/turns/1/events", first[1]) as stream:
        gone, *kept = await stream.rest()
    assert gone[0] == "gone"
    numbers = [each.number for each in ids([gone, *kept])]
    assert numbers == list(range(numbers[0], 104))
    assert 1 < len(kept) < 20
    assert kept[-1][0] == "done"
    assert kept[-1][2]["message"].endswith("more more")
    log = api.app_state.turns.logs.find("default", "s-1", 1)
    assert log
    assert log.size < 3_000 + 5_000


@pytest.mark.parametrize(("name", "value"), [("KEPT_SECONDS", -1.0), ("MOST_OF_ALL", 100)])
async def test_events_of_ended_turns_are_dropped_and_the_reply_is_in_the_store(
    api: Api, monkeypatch: pytest.MonkeyPatch, name: str, value: float
) -> None:
    session = await api.begin()
    async with opened(api, f"{session}/messages", message="how much is it?") as stream:
        told = await stream.rest()
    async with opened(api, f"{session}/turns/1/events", told[0][1]) as stream:
        assert await stream.rest() == told[1:]

    monkeypatch.setattr(event_logs, name, value)

    async with opened(api, f"{session}/turns/1/events", told[0][1]) as stream:
        [(kind, _, reply)] = await stream.rest()
    assert (kind, reply) == ("done", told[-1][2])
    assert api.app_state.turns.logs.find("default", "s-1", 1) is None


async def test_a_stream_that_is_sent_again_says_so(serve: Serve, store_url: str) -> None:
    api = await serve(url=store_url)
    session, key = await api.begin(), {"Idempotency-Key": "k-1"}
    path = f"{session}/messages"
    async with opened(api, path, message="street=Elm", **key) as stream:
        assert "idempotent-replay" not in stream.headers
        first = await stream.rest()
    async with opened(api, path, message="street=Elm", **key) as stream:
        assert stream.headers["idempotent-replay"] == "true"
        [again] = await stream.rest()
    other = await api.client.post(path, json={"message": "x"}, headers={**EVENTS, **key})

    assert (again[0], again[2]) == ("done", first[-1][2])
    assert ids([again])[0].turn == 1
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_a_session_tells_what_others_do_in_it(serve: Serve, store_url: str) -> None:
    api = await serve(one(Workshop, clerk=clerk), url=store_url)
    other = await serve(one(Workshop, clerk=clerk), url=store_url)
    session = await api.begin("workshop")
    await api.says(session, "the city one")

    async with opened(api, f"{session}/events") as stream:
        assert await stream.next() == ("id", "1", None)
        await other.says(session, "a person, please")
        asked = await stream.next()
        [call] = (await api.client.get("/v1/escalations")).json()["escalations"]
        act = {"by": "ann", "message": "Hi, I am Ann."}
        await other.client.post(f"/v1/escalations/{call['id']}/messages", json=act)
        said = await stream.next()
    assert asked
    assert said
    assert (asked[:2], asked[2]["message"]) == (("version", "2"), "a person, please")
    assert (said[:2], said[2]["kind"]) == (("version", "3"), "operator")
    assert said[2]["reply"] == "Hi, I am Ann."

    await other.client.post(f"{session}/rollback", json={"version": 1})
    await api.says(session, "the blue one")
    async with opened(other, f"{session}/events", asked[1]) as stream:
        known, *found = await stream.take(4)
    assert known == ("id", "2", None)
    assert [(each[1], each[2]["kind"]) for each in found] == [
        ("3", "operator"),
        ("4", "rollback"),
        ("5", "turn"),
    ]
    versions = (await api.client.get(f"{session}/versions")).json()["versions"]
    assert [each[2] for each in found] == versions[3:]


async def test_more_versions_than_one_page_come_once_each(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeygraph.server.http.routes.events._AT_ONCE", 2)
    session = await api.begin()
    for number in range(5):
        await api.says(session, f"heard={number}")

    async with opened(api, f"{session}/events", "0") as stream:
        _, *found = await stream.take(6)

    assert [each[1] for each in found] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("end", ["deleted", "expired"])
async def test_the_end_of_a_session_ends_its_stream(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(event_logs, "LOOK_SECONDS", 0.02)
    api = await serve(session_ttl_seconds=1.0 if end == "expired" else 600.0)
    session = await api.begin()

    async with opened(api, f"{session}/events") as stream:
        await stream.next()
        if end == "deleted":
            await api.client.delete(session)
        assert await stream.rest() == [(end, "", {})]
    refusal = {"deleted": (404, "session_not_found"), "expired": (410, "session_expired")}[end]
    assert await refused(api, f"{session}/events") == refusal
    await until(lambda: _true(not len(api.app_state.turns.watched)))


async def test_a_server_that_stops_ends_the_streams_of_sessions() -> None:
    app_state = wired()
    async with serving(app_state) as api:
        session = await api.begin()
        async with opened(api, f"{session}/events") as stream:
            await stream.next()
            app_state.turns.close()
            assert await stream.rest() == []
        async with opened(api, f"{session}/events") as stream:  # of a connection that is still open
            assert await stream.rest() == [("id", "0", None)]


async def test_what_cannot_be_continued_is_refused_with_the_way_out(api: Api) -> None:
    session = await api.begin()
    await api.says(session, "street=Elm")
    await api.client.post(f"{session}/rollback", json={"version": 0})
    turn = f"{session}/turns"

    assert await refused(api, f"{turn}/1/events", "what") == (422, "invalid_event_id")
    assert await refused(api, f"{turn}/1/events", "2:0:ab") == (422, "invalid_event_id")
    assert await refused(api, f"{turn}/9/events") == (404, "turn_not_found")
    assert await refused(api, f"{turn}/0/events") == (422, "invalid_request")
    assert await refused(api, f"{turn}/2/events") == (410, "events_gone")
    assert await refused(api, f"{session}/events", "7") == (410, "events_gone")
    assert await refused(api, "/v1/sessions/nobody/events") == (404, "session_not_found")
    assert await refused(api, "/v1/sessions/nobody/turns/1/events") == (404, "session_not_found")


async def test_a_turn_that_is_never_committed_is_not_waited_for_for_ever(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeygraph.server.http.routes.events.GRACE_SECONDS", 0.0)
    api = await serve(turn_timeout_seconds=0.05)
    session = await api.begin()

    async with opened(api, f"{session}/turns/1/events") as stream:
        [(kind, _, problem)] = await stream.rest()

    assert (kind, problem["code"]) == ("error", "outcome_unknown")


async def test_one_query_looks_at_all_sessions_and_none_without_streams(
    serve: Serve, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_logs, "LOOK_SECONDS", 0.02)
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    api = await serve(url=url)
    sessions = [await api.begin(session_id=f"s-{number}") for number in range(5)]
    store = await open_store(url, None, api.app_state.config.database_pool_size)
    asked: list[str] = []
    try:
        async with opened(api, f"{sessions[0]}/events") as first:
            await first.next()
            async with opened(api, f"{sessions[1]}/events") as second:
                await second.next()
                async with opened(api, f"{sessions[1]}/events") as third:
                    await third.next()
                    store.saver.conn.set_trace_callback(asked.append)  # type: ignore[union-attr]
                    await until(lambda: _true(len(asked) > 5))
                    assert len(api.app_state.turns.watched) == 2
        await until(lambda: _true(not len(api.app_state.turns.watched)))
        assert {sql.count('"s-0"') + sql.count('"s-1"') for sql in asked[1:4]} == {2}
        assert all("json_each" in sql for sql in asked[1:4])
        asked.clear()
        await api.says(sessions[0], "hello")
        assert not [sql for sql in asked if "json_each('" in sql]
    finally:
        store.saver.conn.set_trace_callback(None)  # type: ignore[union-attr]
        await store.close()


async def test_a_store_that_fails_for_a_moment_does_not_end_a_stream(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_logs, "LOOK_SECONDS", 0.02)
    session = await api.begin()
    async with opened(api, f"{session}/events") as stream:
        await stream.next()
        with monkeypatch.context() as broken:
            broken.setattr("journeygraph.graphs.session.directory.read_heads", None)
            api.app_state.turns.watched.look("s-1")
            await until(lambda: _true("sessions_not_watched" in caplog.text))
        await api.says(session, "street=Elm")
        version = await stream.next()

    assert version
    assert version[:2] == ("version", "1")
