"""Forks: another session that begins in the state of a version of this one."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from journeygraph import (
    NEVER,
    ConfigurationError,
    Effect,
    Journey,
    JourneyConfig,
    JourneySession,
    Pathway,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    Tool,
    VersionNotFoundError,
)
from journeygraph.graphs.storage.checkpoints import PausedRun
from journeygraph.nodes.state.messages import GIVEN_BACK
from tests.storage.test_encryption import KEY, canary, clinic, everything, spellings
from tests.support.bike_shop import workshop
from tests.support.clerks import staff
from tests.support.clocks import Clock
from tests.support.ferry import SAID, World, ferry, led_up
from tests.support.post_office import AGENTS, Letter, Parcel, database, found, opened, rows
from tests.support.solo import Solo

Talk = Callable[..., Any]


async def sent(talk: Talk, url: str, **options: Any) -> Any:
    """A parcel of three turns: the street, a price in between, and the card."""
    call = await talk(Parcel, AGENTS, url, context={"customer": "C-1"}, **options)
    for message in ("street=Main", "how much is it?", "card=4711"):
        await call.says(message)
    return call


async def state_of(journey: Journey) -> JourneySession:
    state = await journey.get_session_state()
    assert state is not None
    return state


async def kinds(journey: Journey, kind: str) -> list[tuple[int, str | None, str]]:
    entries = [entry for entry in await journey.audit() if entry.kind == kind]
    return [(entry.turn, entry.trigger, entry.reason) for entry in entries]


async def test_a_fork_goes_on_from_a_version_and_the_session_stays_as_it_is(
    talk: Talk, store_url: str
) -> None:
    call = await sent(talk, store_url)
    before = await call.journey.get_session_state()

    begun = await call.journey.fork(1, "s-2")

    assert (begun.session_id, begun.version, begun.current_pathway_id) == ("s-2", 1, "payment")
    assert begun.accumulated_context == {"customer": "C-1", "street": "Main"}
    assert await call.journey.get_session_state() == before
    async with opened(store_url, "s-2") as fork:
        assert await fork.get_session_state() == begun
        reply = await fork.process_message("how much is it then?")
        assert (reply.message, reply.metadata["version"]) == ("prices: how much is it then?", 2)
        done = await fork.process_message("card=9999")
        assert done.is_journey_complete
        assert done.accumulated_context["card"] == "9999"
    assert (await call.journey.snapshot())["card"] == "4711"
    assert await call.says("hello") != ""


async def test_from_any_version_a_fork_goes_on_as_the_session_did(
    memory_url: str, tmp_path: Path
) -> None:
    messages, replies = [*SAID, "yes", "another crossing", "Dover"], []
    async with ferry(memory_url, World(tmp_path)) as journey:
        await journey.start()
        for version, message in enumerate(messages):
            await journey.fork(version, f"from-{version}")
            reply = await journey.process_message(message)
            replies.append((reply.message, reply.pathway_id, reply.accumulated_context))
    receipt = replies[3][2]["charge"]["receipt"]
    for begun in range(len(messages)):
        async with ferry(memory_url, World(tmp_path), f"from-{begun}") as fork:
            for version, message in enumerate(messages[begun:], begun):
                reply = await fork.process_message(message)
                own = reply.accumulated_context.get("charge", {}).get("receipt", receipt)
                assert reply.message.replace(own, receipt) == replies[version][0]
                assert reply.pathway_id == replies[version][1]


async def test_what_was_said_until_then_can_be_read_in_the_fork(talk: Talk, store_url: str) -> None:
    call = await sent(talk, store_url)
    await call.journey.fork(2, "s-2")

    async with opened(store_url, "s-2") as fork:
        assert await fork.transcript() == (await call.journey.transcript())[:4]
        assert await fork.versions() == (await call.journey.versions())[:3]
        copied = [(entry.turn, entry.kind) for entry in await fork.audit()]
        assert (
            copied[:-1]
            == [
                (entry.turn, entry.kind) for entry in await call.journey.audit() if entry.turn <= 2
            ][: len(copied) - 1]
        )
        history = [(one.version, one.value) for one in await fork.context_history("street")]
        assert history == [(1, "Main")]
        assert await fork.audit() != []


async def test_both_sessions_tell_of_the_fork(talk: Talk, store_url: str) -> None:
    call = await sent(talk, store_url)
    await call.journey.fork(1, "s-2")
    await call.journey.fork(1, "s-3")

    assert await kinds(call.journey, "forked_to") == [
        (1, "s-2", "from version 1 to session 's-2'"),
        (1, "s-3", "from version 1 to session 's-3'"),
    ]
    async with opened(store_url, "s-3") as fork:
        assert await kinds(fork, "forked_to") == []
        assert await kinds(fork, "forked_from") == [(1, "s-1", "from version 1 of session 's-1'")]
        await fork.fork(1, "s-4")
    async with opened(store_url, "s-4") as fork:
        assert [one[1] for one in await kinds(fork, "forked_from")] == ["s-1", "s-3"]


async def test_a_fork_is_rolled_back_to_where_it_began_and_not_before(
    talk: Talk, store_url: str
) -> None:
    call = await sent(talk, store_url)
    await call.journey.fork(2, "s-2")
    async with opened(store_url, "s-2") as fork:
        await fork.process_message("card=1")
        back = await fork.rollback(2)
        assert (back.version, back.current_pathway_id) == (4, "prices")
        for version in (0, 1):
            for refused in (fork.rollback(version), fork.fork(version)):
                with pytest.raises(
                    VersionNotFoundError, match=rf"version {version} .*in session 's-1'.*Fork that"
                ):
                    await refused
        begun = await fork.fork(3)
        assert (begun.version, begun.is_journey_complete) == (3, True)
        assert str(uuid.UUID(begun.session_id)) == begun.session_id
    async with opened(store_url, begun.session_id) as second:
        with pytest.raises(VersionNotFoundError, match="in session 's-1'"):
            await second.rollback(1)
        with pytest.raises(VersionNotFoundError, match="in session 's-2'"):
            await second.rollback(2)


async def test_a_version_that_was_rolled_back_to_is_forked_as_it_is(
    talk: Talk, store_url: str
) -> None:
    call = await sent(talk, store_url)
    await call.journey.rollback(1)

    begun = await call.journey.fork(4, "s-2")

    assert begun.accumulated_context == {"customer": "C-1", "street": "Main"}
    async with opened(store_url, "s-2") as fork:
        assert [row.rolled_back_to for row in await fork.versions()] == [None] * 4 + [1]
        assert [one.value for one in await fork.context_history("card")] == ["4711", None]
        assert (await fork.rollback(1)).version == 5  # the same state
        assert (await fork.process_message("card=2")).is_journey_complete


async def test_what_cannot_be_forked_says_why_and_leaves_nothing(
    talk: Talk, store_url: str
) -> None:
    call = await sent(talk, store_url)
    await talk(Letter, staff(Letter), store_url, session_id="letter")
    unknown: list[Any] = [4, -1, True, 1.0, "1", None, 10**30]
    for version in unknown:
        with pytest.raises(VersionNotFoundError, match="has no version"):
            await call.journey.fork(version, "s-2")
    for taken in ("s-1", "letter"):
        with pytest.raises(SessionExistsError, match=f"'{taken}' exists"):
            await call.journey.fork(1, taken)
    for name in ("", "x" * 201, "a\nb"):
        with pytest.raises(ConfigurationError):
            await call.journey.fork(1, name)
    async with opened(store_url, "letter") as other:
        with pytest.raises(StateError, match="belongs to the journey 'letter'"):
            await other.fork(0, "s-2")
    async with opened(store_url, "nobody") as nobody:
        with pytest.raises(SessionNotStartedError):
            await nobody.fork(0, "s-2")
    assert await call.journey.list() == ["s-1"]
    assert await kinds(call.journey, "forked_to") == []


async def test_a_version_whose_state_was_pruned_cannot_be_forked(
    talk: Talk, memory_url: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    for number in range(130):
        await call.says(f"hello {number}")

    with pytest.raises(VersionNotFoundError, match=r"version 5 .*pruned"):
        await call.journey.fork(5, "s-2")
    assert (await call.journey.fork(31, "s-2")).version == 31
    async with opened(memory_url, "s-2") as fork:
        for number in range(40):
            await fork.process_message(f"again {number}")
        assert len(await fork.versions()) == 72
        assert (await fork.rollback(31)).version == 72
        assert (await fork.fork(40)).version == 40


async def test_an_expired_session_is_neither_forked_nor_replaced(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    call = await sent(talk, store_url, session_ttl_seconds=60)
    await call.journey.fork(1, "s-2")
    clock.passes(61)
    with pytest.raises(SessionExpiredError, match="'s-1'"):
        await call.journey.fork(1, "s-3")
    other = await sent(talk, store_url, session_id="other")
    with pytest.raises(SessionExpiredError, match="'s-2' has expired"):
        await other.journey.fork(1, "s-2")
    assert (await other.journey.fork(1, "s-3")).version == 1


@pytest.mark.slow
async def test_a_long_session_is_forked_with_all_of_its_turns(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url, context={"kept": "x" * 5_000})
    for number in range(120):
        await call.says(f"how much {number}" if number % 3 else f"hello {number}")

    await call.journey.fork(110, "s-2")

    async with opened(store_url, "s-2") as fork:
        assert await fork.versions() == (await call.journey.versions())[:111]
        assert len(await fork.audit()) == 1 + len(
            [
                one
                for one in await call.journey.audit()
                if one.turn <= 110 and one.kind != "forked_to"
            ]
        )
        assert (await fork.process_message("street=Side")).metadata["version"] == 111
        assert await fork.snapshot() == {"kept": "x" * 5_000, "street": "Side"}


async def test_it_works_with_a_saver_of_ones_own(memory_url: str) -> None:
    saver = InMemorySaver()
    async with opened(memory_url, saver=saver) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        await parcel.fork(1, "s-2")
        await parcel.process_message("card=1")
    async with opened(memory_url, "s-2", saver=saver) as fork:
        assert await fork.snapshot() == {"street": "Main"}
        assert (await fork.process_message("card=2")).is_journey_complete
        assert (await fork.rollback(1)).accumulated_context == {"street": "Main"}


async def test_deleting_one_of_them_leaves_the_other(talk: Talk, kept_url: str) -> None:
    call = await sent(talk, kept_url)
    await call.journey.fork(3, "s-2")
    before = rows(kept_url)
    await call.journey.fork(3, "s-3")
    async with opened(kept_url, "s-3") as fork:
        await fork.delete()
    after = rows(kept_url)
    assert after == {**before, "audit": before["audit"] + 1}
    await call.journey.delete()
    async with opened(kept_url, "s-2") as fork:
        assert (await state_of(fork)).version == 3
        await fork.process_message("hello")


# ------------------------------------------------------------------ effects


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("version", [3, 4])
async def test_an_effect_that_was_taken_is_not_taken_again_in_a_fork(
    store_url: str, world: World, version: int
) -> None:
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        await journey.process_message("yes")
        await journey.fork(version, "s-2")
    async with ferry(store_url, world, "s-2") as fork:
        reply = await fork.process_message("yes")
        assert reply.accumulated_context["reserved"] == "2 from Harwich"
        assert len(reply.accumulated_context["charge"]["receipt"]) == 6
    assert (len(world.reserved), len(world.asked), world.payments) == (1, 1, 1)


async def test_one_with_other_values_is_taken_in_a_fork_and_that_is_noted(
    store_url: str, world: World
) -> None:
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        await journey.process_message("yes")
        await journey.fork(3, "s-2")
    async with ferry(store_url, world, "s-2") as fork:
        await fork.process_message("no, make it 3 cars")
        reply = await fork.process_message("yes")
        assert reply.accumulated_context["reserved"] == "3 from Harwich"
        assert [one[1] for one in await kinds(fork, "effect_apart")] == ["reserve", "charge"]
    assert world.reserved == ["Harwich 2", "Harwich 3"]
    births = {key.split("/")[2] for key in world.asked}
    assert len(births) == 2
    assert [key.split("/")[1] for key in world.asked] == ["s-1", "s-2"]


async def test_what_is_taken_after_the_fork_counts_only_where_it_was_taken(
    store_url: str, world: World
) -> None:
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        await journey.fork(3, "s-2")
        await journey.process_message("yes")
    async with ferry(store_url, world, "s-2") as fork:
        await fork.process_message("yes")
    assert (len(world.reserved), world.payments) == (2, 2)


async def test_a_fork_of_an_id_that_is_used_again_has_keys_of_its_own(
    memory_url: str, world: World
) -> None:
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        for _ in range(2):
            await journey.fork(3, "s-2")
            async with ferry(memory_url, world, "s-2") as fork:
                await fork.process_message("yes")
                await fork.delete()
    assert (len(set(world.asked)), world.payments) == (2, 2)


async def test_a_payment_with_an_unknown_outcome_is_asked_for_again_with_the_same_key(
    store_url: str, tmp_path: Path
) -> None:
    lost = [asyncio.CancelledError()]

    def trouble(moment: str) -> None:
        if moment == "after charge" and lost:
            raise lost.pop()

    world = World(tmp_path, trouble)
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.ensure_future(cancelled(journey))
        await journey.fork(3, "s-2")
    async with ferry(store_url, world, "s-2") as fork:
        reply = await fork.process_message("yes")
        assert reply.message.endswith("Safe trip with 2 from Harwich.")
    assert (len(world.reserved), world.payments, len(set(world.asked))) == (1, 1, 1)


async def cancelled(journey: Journey) -> None:
    """Say yes in a turn that is cancelled in the middle of an effect."""
    reply = await journey.process_message("yes")
    if reply.metadata["error"]:
        raise asyncio.CancelledError


# ------------------------------------------------------------------ people, questions, encryption


async def test_a_fork_of_a_session_with_a_person_is_with_the_assistant(store_url: str) -> None:
    async with workshop("s-1", store_url) as journey:
        await journey.start()
        for message in ("hello", "the city one", "can I talk to a person?"):
            reply = await journey.process_message(message)
        assert reply.metadata["phase"] == "escalated"
        await journey.claim("Kim")

        begun = await journey.fork(4, "s-2")

        assert begun.phase == "collecting"
        assert begun.conversation_history[-1]["content"] == GIVEN_BACK
        assert (await state_of(journey)).phase == "escalated"
        assert len(await journey.escalations()) == 1
    async with workshop("s-2", store_url) as fork:
        assert await fork.escalations() == []
        assert [one[0] for one in await kinds(fork, "released")] == [4]
        assert (await fork.process_message("tomorrow")).message != ""
        again = await fork.process_message("can I talk to a person?")
        assert again.metadata["phase"] == "escalated"
        assert [call.turn for call in await fork.escalations()] == [6]


def asks(payload: Any) -> str:
    return f"answered {interrupt('sure?')}"


async def test_a_fork_of_a_session_that_waits_for_an_answer_waits_too(
    talk: Talk, store_url: str
) -> None:
    call = await talk(Solo, {"clerk": asks}, store_url)
    await call.says("hello")
    await call.journey.fork(1, "s-2")
    assert await call.says("yes") == "answered yes"
    config = JourneyConfig(persistence=store_url)
    async with Solo("s-2", config, agents={"clerk": asks}) as fork:
        assert (await state_of(fork)).waiting[0]["value"] == "sure?"
        assert (await fork.resume("no")).message == "answered no"


class Sure(Journey):
    """Book something that asks once more."""

    class BookPath(Pathway):
        __effects__ = [Effect("book", save="booked")]
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


async def test_an_effect_that_waits_is_taken_with_keys_of_the_fork(
    talk: Talk, store_url: str
) -> None:
    keys: list[str] = []

    def book(idempotency_key: str) -> str:
        """Book it.

        Args:
            idempotency_key: Of the booking.
        """
        answer = interrupt("book it?")
        keys.append(idempotency_key)
        return str(answer)

    agents = {"clerk": lambda payload: "done"}
    tools = {"book": Tool(book)}
    call = await talk(Sure, agents, store_url, options={"tools": tools, "model": False})
    await call.says("hello")
    await call.journey.fork(1, "s-2")
    await call.says("yes")
    config = JourneyConfig(persistence=store_url)
    async with Sure("s-2", config, agents=agents, tools=tools, model=False) as fork:
        reply = await fork.process_message("no")
        assert reply.accumulated_context["booked"] == "no"
    assert [key.split("/")[1] for key in keys] == ["s-1", "s-2"]
    assert len({key.split("/")[2] for key in keys}) == 2


@pytest.mark.parametrize("birth", [{"birth": "old"}, {}], ids=["", "of an older release"])
def test_a_run_that_waits_is_of_the_fork_in_all_of_its_graphs(birth: Any) -> None:
    own: Any = {"journey": "solo", "pathway": "talk", **birth}
    inner: Any = {"journey": "other", "pathway": "talk"}
    run = PausedRun()
    for namespace, position in (("", own), ("talk:1", own), ("talk:1|clerk:2", inner)):
        config = {"configurable": {"checkpoint_ns": namespace}}
        run.put(config, {"id": "1", "channel_values": {"position": position}}, {})
    fork: Any = {**own, "birth": "new"}

    changed = run.with_position(fork)

    positions = [one["channel_values"]["position"] for one, _ in changed.checkpoints.values()]
    assert positions == [fork, fork, inner]
    assert run.values["position"] == own


async def test_a_fork_of_a_sensitive_session_is_sealed_for_itself(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    async with clinic(url) as journey:
        await journey.start({"name": canary("start")})
        for text in ("message", "trigger", "back"):
            await journey.process_message(canary(text))
        await journey.fork(2, "s-2")
        said = (await journey.transcript())[:4]
    async with clinic(url, "s-2") as fork:
        assert [(one.role, one.content) for one in await fork.transcript()] == [
            (one.role, one.content) for one in said
        ]
        reply = await fork.process_message(canary("back"))
        assert reply.message == canary("reply")
        assert [one[1] for one in await kinds(fork, "forked_from")] == ["s-1"]
        with pytest.raises(VersionNotFoundError, match="in session 's-1'"):
            await fork.rollback(0)
    stored = everything(url)
    for word in ("start", "message", "trigger", "reply", "context"):
        assert not any(spelling in stored for spelling in spellings(canary(word)))
    for key in (None, bytes(reversed(KEY))):
        with pytest.raises((ConfigurationError, StateError)):
            async with clinic(url, key=key) as journey:
                await journey.fork(1, "s-3")


async def test_a_fork_of_a_sensitive_session_goes_on_in_every_store(store_url: str) -> None:
    async with clinic(store_url) as journey:
        await journey.start({"name": canary("start")})
        for text in ("message", "trigger", "back"):
            await journey.process_message(canary(text))
        begun = await journey.fork(1, "s-2")
    async with clinic(store_url, "s-2") as fork:
        assert await fork.get_session_state() == begun
        findings = (await fork.process_message("again")).accumulated_context["findings"]
        assert findings == [canary("context")] * 2
        assert (await fork.rollback(1)).accumulated_context == begun.accumulated_context
        assert (await fork.state_at(0)).context == {"name": canary("start")}


async def test_what_is_sealed_for_one_of_them_is_refused_in_the_other(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    async with clinic(url) as journey:
        await journey.start({"name": canary("start")})
        await journey.process_message("hello")
        await journey.fork(1, "s-2")
    reply = "(SELECT reply FROM turns WHERE session_id = 's-1' AND version = 1)"
    with database(url) as connection:
        connection.execute(f"UPDATE turns SET reply = {reply} WHERE session_id = 's-2'")
    async with clinic(url, "s-2") as fork:
        with pytest.raises(StateError, match="cannot be decrypted"):
            await fork.transcript()


# ------------------------------------------------------------------ at the same time


async def test_a_fork_waits_for_the_turn_that_runs(talk: Talk, store_url: str) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(payload: dict[str, Any]) -> str:
        begun.set()
        await go.wait()
        return "at last"

    call = await talk(Solo, {"clerk": slow}, store_url)
    turn = asyncio.ensure_future(call.says("hello"))
    await begun.wait()
    forking = asyncio.ensure_future(call.journey.fork(1, "s-2"))
    await asyncio.sleep(0)
    go.set()
    assert await turn == "at last"
    assert (await forking).version == 1


async def test_of_two_forks_at_once_into_one_id_one_wins(store_url: str) -> None:
    async with opened(store_url) as one, opened(store_url, "other") as other:
        await one.start({"by": 1})
        await other.start({"by": 2})
        results = await asyncio.gather(
            one.fork(0, "s-2"), other.fork(0, "s-2"), return_exceptions=True
        )
        assert sorted(type(result).__name__ for result in results) == [
            "JourneySession",
            "SessionExistsError",
        ]
    async with opened(store_url, "s-2") as fork:
        by = (await fork.snapshot())["by"]
        assert [one[1] for one in await kinds(fork, "forked_from")] == [["s-1", "other"][by - 1]]


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(12))
async def test_a_cancelled_fork_is_there_as_a_whole_or_not_at_all(
    talk: Talk, store_url: str, steps: int
) -> None:
    call = await sent(talk, store_url)
    forking = asyncio.ensure_future(call.journey.fork(2, "s-2"))
    for _ in range(steps):
        await asyncio.sleep(0)
    forking.cancel()
    await asyncio.wait([forking])
    await call.says("hello")  # waits for what is still on its way

    noted = await kinds(call.journey, "forked_to")
    async with opened(store_url, "s-2") as fork:
        state = await fork.get_session_state()
        assert bool(noted) == (state is not None)
        if state:
            assert len(await fork.versions()) == 3
            assert (await fork.process_message("card=1")).is_journey_complete
        else:
            await fork.start()


async def test_a_fork_of_a_session_that_has_moved_on_is_refused(
    talk: Talk, kept_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = await sent(talk, kept_url)
    store = (await call.journey.manager._session()).store
    read = store.read

    async def slowly(query: Any, **parameters: Any) -> Any:
        rows = await read(query, **parameters)
        if "field_attempts" in str(query):
            found(kept_url, "UPDATE sessions SET version = version - 1 RETURNING version")
        return rows

    monkeypatch.setattr(store, "read", slowly)
    with pytest.raises(StateError, match="changed"):
        await call.journey.fork(1, "s-2")
    async with opened(kept_url, "s-2") as fork:
        assert await fork.get_session_state() is None
