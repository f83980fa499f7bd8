"""Agents: what they are given, what they may be, what they may give back (DESIGN.md section 4)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    AgentNotRegisteredError,
    InputField,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    SessionNotStartedError,
    Signature,
)
from tests.support.clerks import gives, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


class Order(Signature):
    """Note what a guest wants to eat."""

    words: str = InputField(description="What the guest just said", source="message")
    before: list = InputField(description="The talk so far", source="history")
    known: dict = InputField(description="All that is known", source="context")
    table: str = InputField(description="The table")
    waiter: str = InputField(default="Kim", description="Who serves")
    tags: list = InputField(default=[], description="Remarks")
    dish: str = OutputField(description="What is ordered")
    guests: int = OutputField(description="For how many")
    sides: list[str] = OutputField(description="What goes with it")
    note: str | None = OutputField(description="Anything else")


class Restaurant(Journey):
    """Serve a table."""

    class OrderPath(Pathway):
        __signature__ = Order
        __agents__ = ["waiter"]
        __accumulate__ = ["dish", "guests", "sides", "note", "wine"]
        __complete_when__ = NEVER


def one_agent() -> type[Journey]:
    class Solo(Journey):
        class TalkPath(Pathway):
            __agents__ = ["speaker"]
            __accumulate__ = ["mood"]
            __complete_when__ = NEVER

    return Solo


async def alone(talk: Any, url: str, agent: Any, **options: Any) -> Any:
    return await talk(one_agent(), {"speaker": agent}, url, **options)


# --- Agents not registered ----------------------------------------------------------------------


class Crew(Journey):
    """A trip with several who help."""

    class PackPath(Pathway):
        __agents__ = ["packer", "driver"]
        __next__ = "go"

    class GoPath(Pathway):
        __agents__ = ["driver", "guide"]


async def test_start_names_every_missing_agent_at_once(memory_url):
    """Agents not registered."""
    async with Crew("s-1", JourneyConfig(persistence=memory_url)) as journey:
        journey.register_agent("packer", gives())
        with pytest.raises(AgentNotRegisteredError, match=r"'driver' \(in pack, go\); 'guide'"):
            await journey.start()
        with pytest.raises(SessionNotStartedError):
            await journey.get_session_state() or await journey.process_message("hello")

        journey.manager.register_agent("driver", gives())
        journey.register_agent("guide", gives())
        session = await journey.start()

    assert session.current_pathway_id == "pack"


async def test_a_restored_session_asks_for_its_agents_at_the_first_message(talk, memory_url):
    """Agents not registered: for a restored session its first message."""
    chat = await talk(Crew, staff(Crew), memory_url)
    again = await Crew.restore("s-1", chat.journey.config)
    async with again:
        with pytest.raises(AgentNotRegisteredError, match=r"packer.*driver.*guide"):
            await again.process_message("hello")
        assert len(await again.versions()) == 1

        for name, agent in staff(Crew).items():
            again.register_agent(name, agent)
        assert (await again.process_message("hello")).message == "driver: hello"


async def test_restoring_with_some_agents_only_is_refused(talk, memory_url):
    """Agents not registered: or `restore(agents=)`."""
    chat = await talk(Crew, staff(Crew), memory_url)

    with pytest.raises(AgentNotRegisteredError, match=r"'driver'.*'guide'"):
        await Crew.restore("s-1", chat.journey.config, agents={"packer": gives()})


def test_a_name_that_no_pathway_uses_is_refused_with_a_hint(memory_url):
    """Agents not registered; a name too many is a slip."""
    journey = Crew("s-1", JourneyConfig(persistence=memory_url))

    with pytest.raises(AgentNotRegisteredError, match="Did you mean 'packer'"):
        journey.register_agent("paker", gives())
    with pytest.raises(AgentNotRegisteredError, match="Did you mean 'guide'"):
        Crew("s-2", JourneyConfig(persistence=memory_url), agents={"giude": gives()})


async def test_an_agent_registered_anew_takes_the_place_of_the_first(talk, memory_url):
    chat = await alone(talk, memory_url, lambda payload: "first")
    await chat.says("hello")
    chat.journey.register_agent("speaker", lambda payload: "second")

    assert await chat.says("hello") == "second"


# --- Which input gets the message; Function agents: what they are given -------------------------


async def given(talk: Any, url: str, *messages: str, **options: Any) -> dict[str, Any]:
    """What the waiter is given with the last message."""
    seen: list[dict[str, Any]] = []

    def waiter(payload: dict[str, Any]) -> str:
        seen.append(payload)
        return "very well"

    chat = await talk(Restaurant, {"waiter": waiter}, url, **options)
    for words in messages:
        await chat.says(words)
    return seen[-1]


async def test_what_an_agent_does_to_a_default_changes_nothing(talk, memory_url):
    def waiter(payload: dict[str, Any]) -> str:
        payload["tags"].append("mine")
        return str(payload["tags"])

    chat = await talk(Restaurant, {"waiter": waiter}, memory_url)

    assert [await chat.says("one"), await chat.says("two")] == ["['mine']", "['mine']"]


# --- Function agents: what they give back -------------------------------------------------------


async def test_an_agent_may_give_part_of_its_outputs_and_more_than_them(talk, memory_url):
    """Function agents: what is accumulated is kept."""
    agent = gives(dish="soup", note=None, wine="red", gossip="none of it", response="coming")
    chat = await talk(Restaurant, {"waiter": agent}, memory_url)

    assert await chat.says("soup") == "coming"
    assert chat.context == {"dish": "soup", "wine": "red"}


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ({"guests": "many"}, "guests"),
        ({"dish": {"name": "soup"}}, "dish"),
        ({"dish": 3}, "dish"),
        ({"sides": "bread"}, "sides"),
        ({"sides": ["bread", 1]}, "sides"),
    ],
)
async def test_an_output_of_another_type_than_declared_fails_the_turn(
    talk, memory_url, output, name
):
    """Function agents: types are checked where the signature declares them."""
    chat = await talk(Restaurant, {"waiter": gives(**output, wine="red")}, memory_url)

    assert await chat.says("soup") == APOLOGY
    error = chat.last.metadata["error"]
    assert error["type"] == "PathwayExecutionError"
    assert f"'{name}'" in error["message"]
    assert "'order'" in error["message"]
    assert chat.context == {}


async def test_what_is_not_declared_may_be_of_any_type(talk, memory_url):
    """Function agents."""
    chat = await talk(Restaurant, {"waiter": gives(wine=["red", 2])}, memory_url)
    await chat.says("wine")

    assert chat.context == {"wine": ["red", 2]}


async def test_a_pathway_without_agents_says_nothing(talk, memory_url):
    """A pathway without agents is allowed; others crash on the empty list."""

    class Pause(Journey):
        class WaitPath(Pathway):
            __next__ = "talk"

        class TalkPath(Pathway):
            __agents__ = ["speaker"]

    chat = await talk(Pause, staff(Pause), memory_url)

    assert [await chat.says("one"), await chat.says("two")] == ["", "speaker: two"]


# --- Several agents -----------------------------------------------------------------------------


def several(how: str) -> type[Journey]:
    class Team(Journey):
        class WorkPath(Pathway):
            __agents__ = ["first", "second", "third"]
            __pipeline__ = how
            __accumulate__ = ["a", "b", "c"]
            __complete_when__ = NEVER

    return Team


async def test_in_sequence_the_last_reply_counts_and_all_outputs_are_kept(talk, memory_url):
    """Several agents give `response`: sequential: the last; the others keep nothing at all."""
    agents = {
        "first": gives(response="one", a=1),
        "second": gives(response="two", b=2),
        "third": lambda payload: {"c": 3},
    }
    chat = await talk(several("sequential"), agents, memory_url)

    assert await chat.says("go") == "two"
    assert chat.context == {"a": 1, "b": 2, "c": 3}


async def test_in_parallel_the_replies_are_joined_in_declared_order(talk, memory_url):
    """Several agents give `response`: parallel: joined in declared order."""

    def after(seconds: float, **outputs: Any) -> Any:
        async def answer(payload: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(seconds)
            return outputs

        return answer

    agents = {
        "first": after(0.03, response="one", a=1),
        "second": after(0.0, b=2),
        "third": after(0.01, response="three", c=3),
    }
    chat = await talk(several("parallel"), agents, memory_url)

    assert await chat.says("go") == "one\n\nthree"
    assert chat.context == {"a": 1, "b": 2, "c": 3}


async def test_in_parallel_agents_run_at_the_same_time_on_the_same_inputs(talk, memory_url):
    """Several agents; each gets the pathway's inputs, none the outputs of another."""
    all_there = asyncio.Barrier(3)
    seen = []

    async def agent(payload: dict[str, Any]) -> str:
        await all_there.wait()
        seen.append(payload)
        return payload["message"]

    chat = await talk(
        several("parallel"), dict.fromkeys(several("parallel").spec.agents, agent), memory_url
    )

    assert await chat.says("go") == "go\n\ngo\n\ngo"
    assert seen == [{"message": "go", "context": {}, "history": []}] * 3


# --- Sync agents --------------------------------------------------------------------------------


async def test_sync_agents_of_many_sessions_run_at_the_same_time(talk, memory_url):
    """Sync agents: not a pool whose places run out."""
    together = threading.Barrier(20)

    def agent(payload: dict[str, Any]) -> str:
        together.wait(110)
        return "all here"

    chats = [await alone(talk, memory_url, agent, session_id=f"s-{n}") for n in range(20)]

    assert await asyncio.gather(*(chat.says("hello") for chat in chats)) == ["all here"] * 20
