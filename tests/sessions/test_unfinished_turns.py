"""A process that dies in a turn: another one takes the turn, once, and under the same key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    IdempotencyKeyError,
    PathwayExecutionError,
    StateError,
)
from journeygraph.graphs.session import orphaned_turns
from journeygraph.graphs.storage import leases
from journeygraph.graphs.storage.leases import Leases
from journeygraph.graphs.storage.sealing import AesSeal
from journeygraph.server.logs import formatter
from tests.sessions.test_session_faults import Gate
from tests.storage.test_encryption import KEY, canary, clinic, doctor, spellings
from tests.storage.test_encryption_keys import BOTH, NEW, OLD, rotated
from tests.support.ferry import World, ferry, led_up
from tests.support.post_office import AGENTS, found, opened
from tests.support.postgres import connected
from tests.support.solo import Courier, Solo

KEPT = "SELECT message, tries FROM running_turns"
PARTS = "SELECT message FROM running_turns"
LEASE = 0.3


@pytest.fixture(autouse=True)
def _short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LEASE", LEASE)


async def died(reached: asyncio.Event, *turns: Any) -> None:
    """Run a turn, and end it in its agent as a kill does: nothing is written any more."""

    async def unwritten(self: Any, held: Any) -> None:
        self._held.discard(held)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Leases, "_ended", unwritten)
        running = [asyncio.ensure_future(turn) for turn in turns]
        await reached.wait()
        for one in running:
            one.cancel()
        await asyncio.wait(running)


async def left(url: str, **given: Any) -> None:
    """Leave a turn of a Parcel behind, whose process died in its agent."""
    gate = Gate()
    async with opened(url, agents={**AGENTS, "address": gate}, database_pool_size=2) as parcel:
        if await parcel.get_session_state() is None:
            await parcel.start()
        await died(gate.reached, parcel.process_message("street=Main", **given))


async def messages(journey: Any) -> list[str]:
    return [one.message for one in await journey.versions() if one.message is not None]


async def test_the_next_turn_of_the_session_takes_it_first(postgres_url: str) -> None:
    await left(postgres_url)

    async with opened(postgres_url) as parcel:
        reply = await parcel.process_message("card=1")

        assert reply.metadata["version"] == 2
        assert await messages(parcel) == ["street=Main", "card=1"]
        assert reply.accumulated_context == {"street": "Main", "card": "1"}
        assert next(row.kind for row in await parcel.audit() if row.turn == 1) == "taken_over"
    assert found(postgres_url, KEPT) == []


@pytest.mark.parametrize("act", ["rollback", "fork", "finish"])
async def test_what_is_no_message_takes_it_first_too(postgres_url: str, act: str) -> None:
    await left(postgres_url)

    async with opened(postgres_url) as parcel:
        if act == "finish":
            await parcel.manager.finish()
        else:
            await getattr(parcel, act)(0)
        assert (await messages(parcel))[0] == "street=Main"
    assert found(postgres_url, KEPT) == []


async def test_a_retry_under_its_key_gets_the_answer_of_the_turn(postgres_url: str) -> None:
    await left(postgres_url, idempotency_key="k-1")

    async with opened(postgres_url) as parcel:
        reply = await parcel.process_message("street=Main", idempotency_key="k-1")
        with pytest.raises(IdempotencyKeyError):
            await parcel.process_message("street=Elm", idempotency_key="k-1")

        assert (reply.replayed, reply.metadata["version"]) == (True, 1)
        assert await messages(parcel) == ["street=Main"]


async def test_the_answer_to_an_agent_goes_on(postgres_url: str) -> None:
    gate = Gate()

    async def asks(payload: dict[str, Any]) -> str:
        answer = interrupt("Which one?")
        await gate(payload)
        return f"You chose {answer}."

    def handle(size: int) -> Solo:
        config = opened(postgres_url, database_pool_size=size).config
        return Solo("s-1", config, agents={"clerk": asks})

    async with handle(2) as journey:
        await journey.start()
        await journey.process_message("hello")
        await died(gate.reached, journey.resume({"size": 4}))
    gate.open.set()

    async with handle(3) as journey:
        await journey.manager.finish()
        replies = [one.reply for one in await journey.versions()]
    assert replies[-1] == "You chose {'size': 4}."


async def test_an_event_goes_on(postgres_url: str) -> None:
    def handle(agent: Any) -> Any:
        return Courier("s-1", opened(postgres_url).config, agents={"cashier": agent})

    gate, data = Gate(), {"amount": 9}
    async with handle(gate) as journey:
        await journey.start()
        sent = journey.process_event("payment_received", data, idempotency_key="k")
        await died(gate.reached, sent)

    async with handle(lambda ask: f"Paid {ask['context']['amount']}.") as journey:
        reply = await journey.process_event("payment_received", data, idempotency_key="k")
        assert (reply.replayed, reply.message) == (True, "Paid 9.")
        assert [one.kind for one in await journey.versions()] == ["start", "event"]
        assert [row.kind for row in await journey.audit()][:2] == ["taken_over", "event"]


@pytest.mark.parametrize("moment", ["before charge", "after charge", "purser"])
async def test_its_effects_stay_once(postgres_url: str, tmp_path: Path, moment: str) -> None:
    reached, dead = asyncio.Event(), [True]

    async def held() -> None:
        reached.set()
        await asyncio.Event().wait()

    world = World(tmp_path, lambda met: held() if met == moment and dead else None)
    await led_up(postgres_url, world)
    async with ferry(postgres_url, world) as journey:
        await died(reached, journey.process_message("yes", idempotency_key="k"))
    dead.clear()

    async with ferry(postgres_url, world, database_pool_size=2) as journey:
        reply = await journey.process_message("yes", idempotency_key="k")

    assert "Safe trip with 2 from Harwich." in reply.message
    assert reply.replayed
    assert (world.reserved, world.payments) == (["Harwich 2"], 1)
    assert len(set(world.asked)) == 1


async def test_a_turn_that_ended_without_a_commit_leaves_nothing(postgres_url: str) -> None:
    def works(payload: dict[str, Any]) -> str:
        raise ValueError("on purpose")

    agents = {**AGENTS, "address": works}
    async with opened(postgres_url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.start()
        with pytest.raises(PathwayExecutionError):
            await parcel.process_message("hello")
        await parcel.process_message("")
        assert found(postgres_url, KEPT) == []
    gate = Gate()
    async with opened(postgres_url, agents={**AGENTS, "address": gate}) as parcel:
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        assert len(found(postgres_url, KEPT)) == 1
        turn.cancel()
        await asyncio.wait([turn])
        assert found(postgres_url, KEPT) == []


async def test_a_failure_that_its_caller_would_have_got_ends_it(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    await left(postgres_url)

    def works(payload: dict[str, Any]) -> str:
        raise ValueError("on purpose")

    agents = {**AGENTS, "address": works}
    async with opened(postgres_url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.manager.finish()
        assert await messages(parcel) == []
        failed, given_up = await parcel.audit()
    assert (failed.kind, given_up.kind) == ("failure", "turn_abandoned")
    assert "on purpose" in given_up.reason
    [logged] = [one for one in caplog.records if "turn_abandoned" in one.getMessage()]
    line = json.loads(formatter(for_people=False).format(logged))
    assert line["error"] == "PathwayExecutionError from ValueError"
    assert "on purpose" not in str(line)
    assert found(postgres_url, KEPT) == []


async def test_a_turn_that_ends_each_process_is_given_up(postgres_url: str) -> None:
    await left(postgres_url)
    gate = Gate()
    for size in (3, 4, 5):
        agents = {**AGENTS, "address": gate}
        gate.reached.clear()
        async with opened(postgres_url, agents=agents, database_pool_size=size) as parcel:
            await died(gate.reached, parcel.manager.finish())

    async with opened(postgres_url) as parcel:
        assert (await parcel.process_message("street=Elm")).metadata["version"] == 1
        assert await messages(parcel) == ["street=Elm"]
        [given_up] = [row for row in await parcel.audit() if row.kind == "turn_abandoned"]
    assert given_up.reason == "4 processes ended in it"


async def test_what_is_kept_of_a_sensitive_journey_is_sealed(postgres_url: str) -> None:
    gate = Gate()
    async with clinic(postgres_url) as journey:
        journey.manager.register_agent("doctor", gate)
        await journey.start()
        message = canary("message")
        await died(gate.reached, journey.process_message(message))
    [(kept,)] = found(postgres_url, PARTS)
    assert kept.startswith("aes256gcm:")
    assert not [word for word in spellings(canary("message")) if word in kept.encode()]

    async with clinic(postgres_url) as journey:
        await journey.manager.finish()
        assert await messages(journey) == [message]


async def test_what_is_kept_of_another_session_is_refused(postgres_url: str) -> None:
    gate = Gate()
    for session_id in ("s-1", "s-2"):
        gate.reached.clear()
        async with clinic(postgres_url, session_id) as journey:
            journey.manager.register_agent("doctor", gate)
            await journey.start()
            await died(gate.reached, journey.process_message("hello"))
    with connected(postgres_url) as connection:
        connection.execute(
            "UPDATE running_turns SET message = (SELECT message FROM running_turns WHERE "
            "session_id = 's-2') WHERE session_id = 's-1'"
        )
    async with clinic(postgres_url) as journey:
        await journey.process_message("next")
        assert await messages(journey) == ["next"]
        [given_up] = [row for row in await journey.audit() if row.kind == "turn_abandoned"]
    assert "table running_turns, row session_id 's-1'" in given_up.reason
    assert found(postgres_url, "SELECT session_id FROM running_turns") == [("s-2",)]


async def test_what_is_kept_is_encrypted_with_the_data_key_of_the_session(
    postgres_url: str,
) -> None:
    gate = Gate()
    async with clinic(postgres_url, key=OLD) as journey:
        journey.manager.register_agent("doctor", gate)
        await journey.start()
        await died(gate.reached, journey.process_message("hello"))
    [(kept,)] = found(postgres_url, PARTS)
    with pytest.raises(StateError):
        AesSeal(KEY).open(kept, "default|s-1|running")

    assert await rotated(postgres_url, BOTH) == []
    async with clinic(postgres_url, key=NEW) as journey:
        await journey.manager.finish()
        assert await messages(journey) == ["hello"]


async def test_a_data_key_that_changes_before_the_lease_is_read_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    kept_now = leases._kept

    async def kept(*asked: Any) -> Any:
        given.append(await kept_now(*asked))
        return given[-1] if len(given) > 1 else {**given[-1], "data_key": "of another session"}

    gate = Gate()
    async with clinic(postgres_url) as journey:
        journey.manager.register_agent("doctor", gate)
        await journey.start()
        monkeypatch.setattr(leases, "_kept", kept)
        await died(gate.reached, journey.process_message("hello"))
    async with clinic(postgres_url) as journey:
        await journey.manager.finish()
        assert await messages(journey) == ["hello"]
    assert len(given) >= 2


@pytest.mark.parametrize("change", ["rotated", "begun again"])
async def test_a_data_key_that_has_changed_since_the_last_turn_makes_no_session_busy(
    postgres_url: str, change: str
) -> None:
    async with clinic(postgres_url, key=OLD) as journey:
        await journey.start()
    async with clinic(postgres_url, key=BOTH) as journey:
        await journey.process_message("hello")
        if change == "rotated":
            assert await rotated(postgres_url, BOTH) == []
        else:
            async with clinic(postgres_url, key=BOTH) as other:
                await other.delete()
                await other.start()
        reply = await journey.process_message("again", when_busy="reject")

        assert reply.metadata["version"] == (2 if change == "rotated" else 1)
        assert (await messages(journey))[-1] == "again"


@pytest.mark.parametrize("is_sealed", [False, True])
async def test_the_audit_of_a_session_tells_of_turns_that_died(
    postgres_url: str, is_sealed: bool
) -> None:
    def handle(**agents: Any) -> Any:
        if is_sealed:
            journey = clinic(postgres_url)
            journey.manager.register_agent("doctor", agents.get("address", doctor))
            return journey
        return opened(postgres_url, agents={**AGENTS, **agents})

    for tries in (1, orphaned_turns.MOST_TRIES + 1):
        gate = Gate()
        for number in range(tries):
            gate.reached.clear()
            async with handle(address=gate) as journey:
                if await journey.get_session_state() is None:
                    await journey.start()
                manager = journey.manager
                act = manager.finish() if number else journey.process_message("hello")
                await died(gate.reached, act)
        async with handle() as journey:
            await journey.manager.finish()
            kinds = [row.kind for row in await journey.audit()]
    assert {"taken_over", "turn_abandoned"} <= set(kinds)
    assert found(postgres_url, KEPT) == []


async def test_a_message_that_was_left_behind_is_not_taken(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        with connected(postgres_url) as connection:
            connection.execute(
                "INSERT INTO running_turns VALUES ('default', 's-1', 1, 0, 'x', '{}', 0)"
            )
        await parcel.process_message("card=1")

        assert await messages(parcel) == ["street=Main", "card=1"]
    assert found(postgres_url, KEPT) == []


async def test_a_plain_journey_keeps_its_words(postgres_url: str) -> None:
    await left(postgres_url, idempotency_key="k")
    [(kept, tries)] = found(postgres_url, KEPT)
    part = json.loads(kept)
    assert (part["text"], part["value"], len(part["requests"]), tries) == (
        "street=Main",
        None,
        1,
        0,
    )


async def test_a_deleted_session_has_none(postgres_url: str) -> None:
    await left(postgres_url)
    async with opened(postgres_url) as parcel:
        await parcel.delete()
        assert found(postgres_url, KEPT) == []
        await parcel.start()
        assert (await parcel.process_message("card=1")).metadata["version"] == 1
