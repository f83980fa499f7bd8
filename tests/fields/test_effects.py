"""Effects of a pathway: taken once when its fields are collected, and reported."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    ConfigurationError,
    Effect,
    Field,
    Journey,
    JourneyConfig,
    Pathway,
    PathwayExecutionError,
    SessionExpiredError,
    Tool,
)
from journeygraph.nodes.draft import new_turn
from tests.support.clocks import Clock
from tests.support.ferry import SAID, Ferry, World, ferry, led_up
from tests.support.post_office import found
from tests.support.proxy import Proxy

RETRY = "Shall I try again?"


class Moments:
    """Run an action at each next moment of a name, one after the other; None: no action."""

    def __init__(self) -> None:
        self.at: dict[str, list[Any]] = {}

    def __call__(self, moment: str) -> Any:
        planned = self.at.get(moment) or [None]
        trouble = planned.pop(0)
        if isinstance(trouble, BaseException):
            raise trouble
        return trouble and trouble()


@pytest.fixture
def moments() -> Moments:
    return Moments()


@pytest.fixture
def world(tmp_path: Path, moments: Moments) -> World:
    return World(tmp_path, moments)


def shape(text: str) -> str:
    """A text with keys, in which a name replaces the random part of each."""
    return re.sub(r"(?<=/s-1/)[0-9a-f]{16}(?=/)", "BIRTH", text)


async def kinds(journey: Journey, turn: int) -> list[tuple[str, str | None]]:
    """What was audited of the effects of a turn."""
    entries = [entry for entry in await journey.audit() if entry.turn == turn]
    return [(e.kind, e.trigger) for e in entries if e.kind.startswith("effect")]


async def test_they_are_done_in_order_and_told_before_the_agents_speak(
    memory_url: str, world: World
) -> None:
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        reply = await journey.process_message("yes")
        receipt = reply.accumulated_context["charge"]["receipt"]
        assert reply.message == (
            "Reserved from Harwich: 2 from Harwich.\n\n"
            f"Charged: {receipt}.\n\nSafe trip with 2 from Harwich."
        )
        assert reply.accumulated_context["reserved"] == "2 from Harwich"
        assert await kinds(journey, 4) == [("effect_done", "reserve"), ("effect_done", "charge")]
        assert [shape(key) for key in world.asked] == ["default/s-1/BIRTH/4/crossing.charge"]

        again = await journey.process_message("yes")
        assert (len(world.reserved), world.payments) == (1, 1)
        assert "Reserved" not in again.message


async def test_an_agent_that_fails_after_them_has_them_done_once(
    store_url: str, world: World, moments: Moments
) -> None:
    moments.at["purser"] = [RuntimeError("seasick")]
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        failed = await journey.process_message("yes")
        assert failed.metadata["error"]["type"] == "PathwayExecutionError"
        assert "reserved" not in failed.accumulated_context

        done = await journey.process_message("yes")
        assert done.message.endswith("Safe trip with 2 from Harwich.")
        assert done.accumulated_context["reserved"] == "2 from Harwich"
        assert (len(world.reserved), len(world.asked)) == (1, 1)


async def test_an_agent_that_is_tried_again_has_them_done_once(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["purser"] = [RuntimeError("seasick"), RuntimeError("still")]
    await led_up(memory_url, world)
    config: dict[str, Any] = {
        "error_recovery": "retry",
        "max_retries": 2,
        "retry_backoff_seconds": 0.01,
    }
    async with ferry(memory_url, world, **config) as journey:
        reply = await journey.process_message("yes")
        assert reply.message.endswith("Safe trip with 2 from Harwich.")
        assert (len(world.reserved), len(world.asked)) == (1, 1)


async def test_a_turn_that_was_not_kept_at_all_has_them_done_once(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["purser"] = [RuntimeError("seasick")]
    await led_up(memory_url, world)
    async with ferry(memory_url, world, error_recovery="fail_fast") as journey:
        with pytest.raises(PathwayExecutionError):
            await journey.process_message("yes")
        assert (await journey.versions())[-1].version == 3

        reply = await journey.process_message("yes")
        assert reply.message.endswith("Safe trip with 2 from Harwich.")
        assert (len(world.reserved), len(world.asked)) == (1, 1)


async def test_a_turn_that_was_not_kept_and_comes_with_other_values_is_another_step(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["purser"] = [RuntimeError("seasick")]
    await led_up(memory_url, world)
    async with ferry(memory_url, world, error_recovery="fail_fast") as journey:
        with pytest.raises(PathwayExecutionError):
            await journey.process_message("yes")
        await journey.process_message("make it 3")
        await journey.process_message("yes")
        assert world.reserved == ["Harwich 2", "Harwich 3"]
        assert len(set(world.asked)) == 2
        apart = [entry for entry in await journey.audit() if entry.kind == "effect_apart"]
        assert [entry.trigger for entry in apart] == ["reserve", "charge"]
        assert "default/s-1/BIRTH/4/crossing.reserve" in shape(apart[0].reason)


async def test_after_a_rollback_the_same_is_not_done_again_and_other_things_are(
    memory_url: str, world: World
) -> None:
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        await journey.process_message("yes")
        for _ in range(2):
            await journey.rollback(3)
            reply = await journey.process_message("yes")
            assert reply.message.endswith("Safe trip with 2 from Harwich.")
        assert (len(world.reserved), world.payments) == (1, 1)

        await journey.rollback(3)
        await journey.process_message("make it 3")
        await journey.process_message("yes")
        assert world.reserved == ["Harwich 2", "Harwich 3"]
        assert world.payments == 2


async def test_what_is_begun_anew_is_done_anew(memory_url: str, world: World) -> None:
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        await journey.process_message("yes")
        for message in ("another crossing", "Harwich", "2", "yes"):
            reply = await journey.process_message(message)
        assert reply.message.endswith("Safe trip with 2 from Harwich.")
        assert world.reserved == ["Harwich 2", "Harwich 2"]
        assert world.payments == 2


async def test_one_that_fails_says_why_and_waits_for_a_yes(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["before charge"] = [ValueError("the card has expired"), KeyError("secret")]
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        failed = await journey.process_message("yes")
        said = f"That did not work. The card has expired. Nothing was done. {RETRY}"
        assert failed.message == f"Reserved from Harwich: 2 from Harwich.\n\n{said}"
        assert not failed.is_journey_complete
        assert (failed.pathway_id, failed.accumulated_context["cars"]) == ("crossing", 2)

        unclear = await journey.process_message("the weather is nice")
        assert unclear.message.endswith(RETRY)
        failed = await journey.process_message("yes")
        assert failed.message == f"That did not work. Nothing was done. {RETRY}"
        assert await kinds(journey, 6) == [("effect_failed", "charge")]

        done = await journey.process_message("yes please")
        assert done.message.endswith("Safe trip with 2 from Harwich.")
        assert (len(world.reserved), world.payments) == (1, 1)
        assert len(set(world.asked)) == 1
        assert shape(world.asked[0]) == "default/s-1/BIRTH/4/crossing.charge"


async def test_one_that_failed_may_be_left(memory_url: str, world: World, moments: Moments) -> None:
    moments.at["before reserve"] = [ValueError("no ships today")]
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        await journey.process_message("yes")
        reply = await journey.process_message("no")
        assert "we leave crossing" in reply.message
        assert (world.reserved, world.asked) == ([], [])
        assert (await journey.fields()).collected == {}


async def test_one_without_an_answer_is_asked_again_only_by_its_key(
    memory_url: str, world: World, moments: Moments
) -> None:
    def never() -> Any:
        return asyncio.sleep(30)

    moments.at["after charge"] = [never, never]
    await led_up(memory_url, world)
    async with ferry(memory_url, world, pathway_timeout_seconds=1.0) as journey:
        late = await journey.process_message("yes")
        said = f"I have no answer yet. Asking again will not do it twice. {RETRY}"
        assert late.message == f"Reserved from Harwich: 2 from Harwich.\n\n{said}"
        assert len(world.asked) == 2
        done = await journey.process_message("yes")
        assert done.message.endswith("Safe trip with 2 from Harwich.")
        assert len(set(world.asked)) == 1
        assert shape(world.asked[0]) == "default/s-1/BIRTH/4/crossing.charge"
        assert (len(world.reserved), world.payments) == (1, 1)


async def test_one_without_an_answer_and_without_a_key_is_never_called_again(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["after reserve"] = [lambda: asyncio.sleep(30)]
    await led_up(memory_url, world)
    async with ferry(memory_url, world, pathway_timeout_seconds=0.4) as journey:
        unsure = await journey.process_message("yes")
        assert unsure.message == (
            "I could not find out whether that worked, so I will not do it twice.\n\n"
            "Would you like to speak to a person?"
        )
        assert await kinds(journey, 4) == [("effect_unsure", "reserve")]
        for message in ("no", "hm, all right", "and now?"):  # it was said once
            declined = await journey.process_message(message)
            assert declined.message == "Is there anything else?"
        assert await kinds(journey, 7) == []
        called = await journey.process_message("a person, please")
        assert "I am handing you over to a person" in called.message
        assert (world.reserved, world.asked) == (["Harwich 2"], [])


async def test_a_connection_that_is_cut_leaves_it_open_what_was_done(
    memory_url: str, world: World, moments: Moments
) -> None:
    moments.at["after reserve"] = [ConnectionResetError("gone")]
    await led_up(memory_url, world)
    async with ferry(memory_url, world) as journey:
        unsure = await journey.process_message("yes")
        assert unsure.message.startswith("I could not find out")
        assert len(world.reserved) == 1


async def test_a_network_that_loses_an_answer_of_the_store_makes_nobody_doubt(
    postgres_url: str, world: World, moments: Moments
) -> None:
    """That a step is begun, begun again, and done is each noted although nobody said so."""
    moments.at["before reserve"] = [ValueError("no ships today")]
    async with Proxy.to(postgres_url) as network:
        await led_up(network.url, world)
        async with ferry(network.url, world) as journey:
            network.loses = b"/4/crossing.reserve"
            assert RETRY in (await journey.process_message("yes")).message
            network.loses = b"/4/crossing.reserve"
            charge = b"/5/crossing.charge"
            moments.at["before charge"] = [lambda: _loses(network, charge)]
            reply = await journey.process_message("yes")
            assert reply.message.endswith("Safe trip with 2 from Harwich.")
            assert network.hit == 3
            assert (len(world.reserved), len(world.asked)) == (1, 1)


async def _loses(network: Proxy, words: bytes) -> None:
    network.loses = words


async def test_a_result_that_is_no_data_does_not_undo_what_was_done(memory_url: str) -> None:
    given: list[Any] = [{1, 2}, ["x" * 100_000]]

    class Storeroom(Journey):
        class FetchPath(Pathway):
            __fields__ = [Field("shelf", "integer", ask="Which shelf?")]
            __effects__ = ["fetch", "count"]

    def fetch(shelf: int) -> Any:
        """Fetch."""
        return given[0]

    def count(shelf: int) -> Any:
        """Count."""
        return given[1]

    config = JourneyConfig(persistence=memory_url)
    tools = {"fetch": fetch, "count": count}
    async with Storeroom("s-1", config, model=False, tools=tools) as journey:
        await journey.start()
        reply = await journey.process_message("3")
        assert reply.is_journey_complete
        context = reply.accumulated_context
        assert context["fetch"] == "[1,2]"
        assert context["count"].endswith("(cut here)")


async def test_a_new_session_of_an_id_has_other_keys_and_a_rollback_has_not(
    store_url: str, world: World
) -> None:
    for _ in range(2):
        await led_up(store_url, world)
        async with ferry(store_url, world) as journey:
            await journey.process_message("yes")
            await journey.delete()
    first, second = world.asked
    assert first != second
    assert shape(first) == shape(second) == "default/s-1/BIRTH/4/crossing.charge"
    assert world.payments == 2

    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        await journey.process_message("yes")
        await journey.rollback(3)
        await journey.process_message("yes")  # adopted: the same values
        assert len(world.asked) == 3
        await journey.rollback(0)
        for message in ("hello", "Dover", "1", "yes"):
            await journey.process_message(message)
    keys = [re.split(r"/\d+/", key)[0] for key in world.asked[2:]]
    assert len(keys) == 2
    assert keys[0] == keys[1]  # one session, one birth


def without_birth(saver: InMemorySaver) -> None:
    """Make all that a saver keeps look as an older release left it."""
    for place, kept in list(saver.blobs.items()):
        if place[2] == "position" and kept[0] != "empty":
            position = saver.serde.loads_typed(kept)
            del position["birth"]
            saver.blobs[place] = saver.serde.dumps_typed(position)


async def test_a_session_of_an_older_release_keeps_its_keys_and_finds_what_it_did(
    store_url: str, world: World, moments: Moments
) -> None:
    moments.at["purser"] = [RuntimeError("seasick")]
    saver = InMemorySaver()
    config = JourneyConfig(persistence=store_url, error_recovery="fail_fast")
    tools = {"reserve": world.reserve, "charge": world.charge}
    async with Ferry(
        "s-1", config, agents={"purser": world.purser}, model=False, tools=tools, saver=saver
    ) as journey:
        await journey.start()
        for message in SAID:
            await journey.process_message(message)
        without_birth(saver)
        with pytest.raises(PathwayExecutionError):
            await journey.process_message("yes")
        assert world.asked == ["default/s-1/4/crossing.charge"]

        reply = await journey.process_message("yes")
        assert reply.message.endswith("Safe trip with 2 from Harwich.")
        assert (len(world.reserved), len(world.asked)) == (1, 1)
        await journey.process_message("another crossing")
        for message in ("Dover", "1", "yes"):
            await journey.process_message(message)
        assert world.asked[1].startswith("default/s-1/")
        assert shape(world.asked[1]) == world.asked[1]


async def test_threads_without_a_manager_have_keys_of_their_own(world: World) -> None:
    """Also when their turns begin at the same moment, and when a thread is started again."""
    saver = InMemorySaver()
    tools = {"reserve": world.reserve, "charge": world.charge}
    graph = Ferry.compile({"purser": world.purser}, model=False, tools=tools, checkpointer=saver)

    async def booked(thread: str) -> None:
        config: Any = {"configurable": {"thread_id": thread}}
        for number, message in enumerate((*SAID, "yes"), 1):
            turn = {**new_turn(number, message=message), "at": "2026-11-22T10:00:00.000000+00:00"}
            said = {"messages": [{"role": "user", "content": message}], "turn": turn}
            await graph.ainvoke(said, config)

    await booked("a")
    await booked("b")
    await saver.adelete_thread("a")
    await booked("a")
    assert len(world.reserved) == world.payments == 3
    assert len(set(world.asked)) == 3


async def test_they_are_gone_with_their_session(kept_url: str, world: World) -> None:
    await led_up(kept_url, world)
    async with ferry(kept_url, world) as journey:
        await journey.process_message("yes")
        for remain in ((2, 2), (0, 0)):
            rows = [found(kept_url, f"SELECT * FROM {t}") for t in ("effects", "field_attempts")]
            assert tuple(map(len, rows)) == remain
            if remain != (0, 0):
                await journey.delete()
        await journey.start()
        for message in (*SAID, "yes"):
            await journey.process_message(message)
        assert len(world.reserved) == 2


async def test_they_are_gone_once_their_session_has_expired(
    kept_url: str, world: World, clock: Clock
) -> None:
    await led_up(kept_url, world)
    async with ferry(kept_url, world, session_ttl_seconds=60) as journey:
        await journey.process_message("yes")
        clock.passes(61)
        with pytest.raises(SessionExpiredError):
            await journey.fields()
    for table in ("effects", "field_attempts"):
        assert found(kept_url, f"SELECT count(*) FROM {table}") == [(0,)]


async def test_without_a_manager_one_turn_does_them_once(world: World, moments: Moments) -> None:
    moments.at["purser"] = [RuntimeError("seasick")]
    graph = Ferry.compile(
        {"purser": world.purser},
        JourneyConfig(error_recovery="retry", retry_backoff_seconds=0.01),
        model=False,
        tools={"reserve": world.reserve, "charge": world.charge},
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for message in (*SAID, "yes"):
        state = await graph.ainvoke({"messages": [{"role": "user", "content": message}]}, config)
    assert state["messages"][-1].content.endswith("Safe trip with 2 from Harwich.")
    assert (len(world.reserved), len(world.asked)) == (1, 1)


def test_a_tool_that_is_missing_or_is_called_wrongly_is_told_before_the_first_message() -> None:
    class Depot(Journey):
        class SendPath(Pathway):
            __fields__ = [Field("parcel", "text", ask="Which?")]
            __effects__ = [Effect("send", {"item": "parcel"})]

    def send(parcel: str) -> str:
        """Send."""
        return parcel

    for tools, says in (
        ({}, "Depot has no tool for: send"),
        ({"send": send}, "the tool 'send' has no parameter 'item'"),
        ({"send": Tool(send, confirm=True)}, "Give a field confirm=True"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            Depot.compile(model=False, tools=tools)
