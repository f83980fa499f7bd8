"""A busy session and a busy server over HTTP: who waits, who is refused, and who goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from journeygraph import Journey
from journeygraph.graphs.session import jobs
from journeygraph.graphs.storage import leases
from journeygraph.server.access.callers import Scope
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import wire
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.turns import RunningTurns
from journeygraph.server.settings import Settings
from tests.http.test_http_access import with_key
from tests.http.test_keys import made
from tests.sessions.test_session_faults import Gate
from tests.sessions.test_unfinished_turns import KEPT, left
from tests.support import api as helpers
from tests.support import watching
from tests.support.api import KEY, Api, events_in
from tests.support.post_office import found
from tests.support.solo import Solo
from tests.support.watching import Watch

watch = watching.watch
Serve = Callable[..., Any]


serve = helpers.serve


class Sealed(Solo):
    """A sensitive journey."""

    __sensitive__ = True


async def busy(
    serve: Serve, journey: type[Journey] = Solo, **options: Any
) -> tuple[Api, str, Gate, asyncio.Task[Any]]:
    """Return a server with a session whose turn runs, the gate that holds it, and its request."""
    gate = Gate()
    api = await serve(Served(journey, {"clerk": gate}), **options)
    session = await api.begin(journey.spec.id)
    first = asyncio.ensure_future(sent(api, session, "m0"))
    await gate.reached.wait()
    return api, session, gate, first


async def sent(api: Api, session: str, message: str, **more: Any) -> Any:
    headers = more.pop("headers", {})
    body = {"message": message, **more}
    return await api.client.post(f"{session}/messages", json=body, headers=headers)


async def waits(api: Api, number: int) -> None:
    """Return when so many requests wait."""
    lock = api.app_state.directory.store.lock("s-1")
    while lock.waiting < number:  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def context(api: Api, session: str) -> Any:
    return (await api.client.get(f"{session}/context")).json()["context"]


async def test_of_ten_messages_the_last_one_is_refused_for_a_while(
    serve: Serve, store_url: str
) -> None:
    api, session, gate, first = await busy(serve, url=store_url)
    waiting = [asyncio.ensure_future(sent(api, session, f"m{n}")) for n in range(1, 9)]
    await waits(api, 8)

    refused = await sent(api, session, "m9")
    streamed = await sent(api, session, "m9", headers=helpers.EVENTS)
    gate.open.set()

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_waiting")
    assert refused.headers["retry-after"] == "1"
    assert streamed.status_code == 429
    answers = [(await one).json()["metadata"]["version"] for one in (first, *waiting)]
    assert sorted(answers) == list(range(1, 10))


@pytest.mark.parametrize("journey", [Solo, Sealed])
async def test_a_message_that_must_not_wait_is_refused(
    serve: Serve, store_url: str, journey: type[Journey]
) -> None:
    api, session, gate, first = await busy(
        serve, journey, url=store_url, encryption_key=bytes(range(32))
    )

    refused = await sent(api, session, "m1", when_busy="reject")
    gate.open.set()

    assert (refused.status_code, refused.json()["code"]) == (409, "session_busy")
    assert (await first).status_code == 200


async def test_a_newer_message_interrupts_the_turn(serve: Serve, store_url: str) -> None:
    api, session, gate, first = await busy(serve, url=store_url)

    second = asyncio.ensure_future(sent(api, session, "m1", when_busy="interrupt"))
    interrupted = await first
    gate.open.set()

    assert (interrupted.status_code, interrupted.json()["code"]) == (409, "turn_interrupted")
    assert (await second).json()["metadata"]["version"] == 1


async def test_a_stream_that_is_interrupted_ends_in_the_problem(
    serve: Serve, memory_url: str
) -> None:
    gate = Gate()
    api = await serve(Served(Solo, {"clerk": gate}), url=memory_url)
    session = await api.begin("solo")
    first = asyncio.ensure_future(sent(api, session, "m0", headers=helpers.EVENTS))
    await gate.reached.wait()

    second = asyncio.ensure_future(sent(api, session, "m1", when_busy="interrupt"))
    told = events_in((await first).text)
    gate.open.set()

    name, problem = told[-1]
    assert (name, problem["code"]) == ("error", "turn_interrupted")
    assert (await second).status_code == 200


@pytest.mark.parametrize("rule", ["reject", "interrupt"])
@pytest.mark.parametrize("journey", [Solo, Sealed])
async def test_a_request_sent_again_is_answered_again_while_a_newer_turn_runs(
    serve: Serve, store_url: str, journey: type[Journey], rule: str
) -> None:
    gate = Gate()
    gate.open.set()
    key = bytes(range(32))
    api = await serve(Served(journey, {"clerk": gate}), url=store_url, encryption_key=key)
    session = await api.begin(journey.spec.id)
    again = partial(sent, api, session, "m0", headers={"Idempotency-Key": "k"}, when_busy=rule)
    known = await again()
    gate.open.clear()
    gate.reached.clear()
    newer = asyncio.ensure_future(sent(api, session, "m1"))
    await gate.reached.wait()

    replayed = await again()
    gate.open.set()

    assert replayed.json() == known.json()
    assert replayed.headers["idempotent-replay"] == "true"
    assert (await newer).json()["metadata"]["version"] == 2


@pytest.mark.parametrize(
    ("place", "journey"),
    [("the same server", Solo), ("another server", Solo), ("another server", Sealed)],
)
async def test_a_request_sent_again_does_not_interrupt_its_own_turn(
    serve: Serve,
    postgres_url: str,
    watch: Watch,
    journey: type[Journey],
    place: str,
) -> None:
    gate = Gate()
    served = Served(journey, {"clerk": gate})
    options: Any = {"url": postgres_url, "encryption_key": bytes(range(32))}
    one = other = await serve(served, **options)
    if place == "another server":
        # Stores with pools of different sizes share nothing in the process.
        other = await serve(served, **options, database_pool_size=3)
    # What is loaded once would stop the loop of both servers, and the renewal of the lease with it.
    await other.begin(journey.spec.id, "s-2")
    session = await one.begin(journey.spec.id)
    named: Any = {"headers": {"Idempotency-Key": "k"}, "when_busy": "interrupt"}
    first = asyncio.ensure_future(sent(one, session, "m0", **named))
    await gate.reached.wait()

    again = asyncio.ensure_future(sent(other, session, "m0", **named))
    while not any(number for _, number in watch.points("journeygraph.turn.waiting")):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    if place == "another server":
        await renewed(postgres_url)
    gate.open.set()

    assert (await first).json()["metadata"]["version"] == 1
    assert (await again).json() == (await first).json()
    assert (await again).headers["idempotent-replay"] == "true"
    assert "idempotent-replay" not in (await first).headers


async def renewed(url: str) -> None:
    """Wait until the only lease is renewed twice.

    The loop counts only the time in which it waits. A query in it would take none of its time, so
    the lease would end by the clock of the database before it is renewed.
    """
    known: set[Any] = set()
    leases_now = "SELECT lease_until FROM sessions WHERE lease_until > now()"
    while len(known) < 3:
        known |= set(await asyncio.to_thread(found, url, leases_now))
        await asyncio.sleep(0.01)


async def test_an_unknown_rule_is_a_fault_of_the_request(serve: Serve, memory_url: str) -> None:
    api = await serve(url=memory_url)
    session = await api.begin()
    for path, body in (
        ("messages", {"message": "hi", "when_busy": "rejct"}),
        ("resume", {"value": 1, "when_busy": "coalesce"}),
    ):
        refused = await api.client.post(f"{session}/{path}", json=body)
        assert refused.status_code == 422
        assert "when_busy" in refused.text


@pytest.mark.parametrize("rule", ["enqueue", "reject", "interrupt"])
async def test_a_key_of_another_user_disturbs_no_turn(
    serve: Serve, store_url: str, rule: str
) -> None:
    gate = Gate()
    api = await serve(
        Served(Solo, {"clerk": gate}), url=store_url, keys=Keys([KEY], uses_stored=True)
    )
    api.client.headers.update(with_key(KEY))
    session = await api.begin("solo", user="ann")
    first = asyncio.ensure_future(sent(api, session, "m0"))
    await gate.reached.wait()
    other = await made(api, Scope.TALK, user="bob")

    refused = await sent(api, session, "m1", when_busy=rule, headers=other)
    gate.open.set()

    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
    assert (await first).status_code == 200


async def test_a_server_takes_the_turn_of_a_process_that_died(
    serve: Serve, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE", 0.3)
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.05)
    await left(postgres_url, idempotency_key="k")

    api = await serve(url=postgres_url)
    while found(postgres_url, KEPT):  # noqa: ASYNC110
        await asyncio.sleep(0.01)

    assert await context(api, "/v1/sessions/s-1") == {"street": "Main"}
    headers = {"Idempotency-Key": "k"}
    again = await sent(api, "/v1/sessions/s-1", "street=Main", headers=headers)
    assert again.headers["idempotent-replay"] == "true"
    assert again.json()["metadata"]["version"] == 1


@pytest.mark.parametrize("headers", [{}, helpers.EVENTS])
async def test_a_process_runs_so_many_turns_at_once(
    serve: Serve, memory_url: str, headers: dict[str, str]
) -> None:
    api, session, gate, first = await busy(serve, url=memory_url)
    api.app_state.turns = full = RunningTurns(1)
    running = asyncio.ensure_future(sent(api, session, "m1"))
    while not len(full):  # noqa: ASYNC110
        await asyncio.sleep(0.001)

    refused = await sent(api, session, "m2", headers=headers)
    gate.open.set()

    assert (refused.status_code, refused.json()["code"]) == (503, "too_many_turns")
    assert refused.headers["retry-after"] == "1"
    assert [(await one).status_code for one in (first, running)] == [200, 200]
    assert (await sent(api, session, "m2")).json()["metadata"]["version"] == 3


def test_the_most_turns_of_a_server_are_a_setting() -> None:
    app_state = wire(Settings(max_turns=1, persistence="memory://"), ["parcel_refund"])
    running = asyncio.Event()

    async def fill() -> bool:
        task = app_state.turns.begin(running.wait())
        full = app_state.turns.is_full
        task.cancel()
        return full

    assert asyncio.run(fill())
