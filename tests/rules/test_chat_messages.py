"""Messages of a compiled journey: any form goes in, LangChain messages come out, dicts are kept."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from journeygraph import NEVER, Journey, Pathway, ReturnToPrevious, Transition
from journeygraph.graphs.storage.sealing import AesSeal
from tests.support.clerks import said

THREAD: Any = {"configurable": {"thread_id": "t"}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


class Desk(Journey):
    class DeskPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class FAQPath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("why"), to_pathway="faq")]


def echo(payload: dict[str, Any]) -> str:
    return f"heard {payload['message']}"


def desk(saver: Any = None, clerk: Any = echo) -> Any:
    return Desk.compile(agents={"clerk": clerk}, checkpointer=saver)


def shown(values: Any) -> list[tuple[str, Any]]:
    return [(m.type, m.content) for m in values["messages"]]


async def told(graph: Any, *messages: Any) -> list[tuple[str, Any]]:
    """What a thread has after each of these was its input."""
    for message in messages:
        values = await graph.ainvoke({"messages": message}, THREAD)
    return shown(values)


# Out.


async def test_every_way_out_gives_messages_of_langchain(capsys: Any) -> None:
    graph = desk(InMemorySaver())
    values = await graph.ainvoke({"messages": "one"}, THREAD)
    streamed = [part async for part in graph.astream({"messages": "two"}, THREAD)]
    whole = [p async for p in graph.astream({"messages": "why"}, THREAD, stream_mode="values")]
    state = await graph.aget_state(THREAD)
    history = [past async for past in graph.aget_state_history(THREAD)]

    assert values["messages"][-1].content == "heard one"
    (updated,) = streamed[-1]["settle"]["messages"]
    assert isinstance(updated, AIMessage)
    assert whole[-1]["messages"] == state.values["messages"]
    assert shown(state.values)[2:] == [
        *(("human", "two"), ("ai", "heard two")),
        *(("human", "why"), ("ai", "heard why")),
    ]
    assert state.values["messages"][3].id == updated.id
    for past in history:
        assert all(isinstance(m, BaseMessage) and m.id for m in past.values.get("messages", ()))
    values["messages"][-1].pretty_print()
    assert "Ai Message" in capsys.readouterr().out


async def test_a_message_is_the_same_wherever_it_is_read() -> None:
    graph = desk(InMemorySaver())
    values = await graph.ainvoke({"messages": [HumanMessage("one", id="m-1", name="ada")]}, THREAD)

    assert values["messages"][0] == HumanMessage("one", id="m-1", name="ada")
    reply = values["messages"][1]
    assert reply == AIMessage("heard one", id=reply.id)
    assert reply.model_dump() == AIMessage("heard one", id=reply.id).model_dump()
    assert (await graph.aget_state(THREAD)).values["messages"] == values["messages"]


async def test_what_a_reader_does_to_a_message_changes_no_other() -> None:
    graph = desk(InMemorySaver())
    values = await graph.ainvoke({"messages": "one"}, THREAD)
    for message in values["messages"]:
        message.additional_kwargs["x"] = message.response_metadata["x"] = 1
        getattr(message, "tool_calls", []).append("x")

    values = await graph.ainvoke({"messages": "two"}, THREAD)
    assert all(not m.additional_kwargs and not m.response_metadata for m in values["messages"])
    assert not any(getattr(m, "tool_calls", ()) for m in values["messages"])


# Kept.


@pytest.mark.parametrize("durability", ["exit", "sync", "async"])
async def test_what_is_kept_is_plain_json_in_a_window(durability: Any) -> None:
    saver = InMemorySaver()
    graph = desk(saver)
    for number in range(25):
        given: list[str | dict[str, Any]] = [{"type": "text", "text": f"n {number}"}, PICTURE]
        await graph.ainvoke({"messages": [HumanMessage(given)]}, THREAD, durability=durability)

    kept = [
        found.checkpoint["channel_values"]["messages"]
        async for found in saver.alist(THREAD)
        if "messages" in found.checkpoint["channel_values"]
    ]
    assert len(kept[0]) == 40
    for window in kept:
        assert json.loads(json.dumps(window)) == window
    read = (await graph.aget_state(THREAD)).values["messages"]
    assert read[-2].content == [{"type": "text", "text": "n 24"}, PICTURE]
    assert read[-1].content == "heard n 24"


async def test_pathways_keep_no_messages_of_langchain_either() -> None:
    class Broken(Desk):
        """Leaves the checkpoint of its pathway behind."""

    def clerk(payload: dict[str, Any]) -> str:
        raise OSError("down")

    saver = InMemorySaver()
    graph = Broken.compile(agents={"clerk": clerk}, checkpointer=saver)
    with pytest.raises(Exception, match="down"):
        await graph.ainvoke({"messages": [HumanMessage("one")]}, THREAD)

    spaces = {space for space in saver.storage["t"] if space}
    assert spaces
    for space in spaces:
        place: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": space}}
        found = await saver.aget_tuple(place)
        window = found.checkpoint["channel_values"].get("messages", []) if found else []
        assert [type(message) for message in window] == [dict] * len(window)


async def test_encrypted_and_strict_it_reads_back_what_it_wrote() -> None:
    saver = InMemorySaver(serde=AesSeal(b"k" * 32).serializer())
    graph = desk(saver)

    heard = await told(graph, HumanMessage("secret word"), [{"role": "user", "content": [PICTURE]}])

    assert [kind for kind, _ in heard] == ["human", "ai"] * 2
    assert heard[2][1] == [PICTURE]
    blobs = [*saver.blobs.values(), *(v for w in saver.writes.values() for v in w.values())]
    assert b"secret word" not in repr(blobs).encode()


async def test_a_thread_that_was_kept_before_goes_on() -> None:
    saver = InMemorySaver()
    graph = desk(saver)
    await told(graph, "one")
    found = await saver.aget_tuple(THREAD)
    assert found
    old = [
        {"role": "user", "content": "one", "id": "a-0", "type": "human"},
        {"role": "assistant", "content": "heard one", "id": "reply-1", "type": "ai"},
    ]
    values = {**found.checkpoint["channel_values"], "messages": old}
    del values["turn"]["id"]
    version: Any = found.checkpoint["channel_versions"]["messages"]
    version = saver.get_next_version(version, None)
    checkpoint: Any = {
        **found.checkpoint,
        "id": str(uuid.UUID(int=uuid.UUID(found.checkpoint["id"]).int + 1)),
        "channel_values": values,
        "channel_versions": {**found.checkpoint["channel_versions"], "messages": version},
    }
    await saver.aput(found.config, checkpoint, found.metadata, {"messages": version})

    assert shown((await graph.aget_state(THREAD)).values) == [("human", "one"), ("ai", "heard one")]
    assert await told(graph, "two") == [
        *(("human", "one"), ("ai", "heard one")),
        *(("human", "two"), ("ai", "heard two")),
    ]


# In.

SPOKEN: dict[str, Any] = {
    "text": "hello",
    "list of text": ["hello"],
    "pair": ("user", "hello"),
    "list of pairs": [("human", "hello")],
    "dict": {"role": "user", "content": "hello"},
    "dict with a type": [{"type": "human", "content": "hello", "id": "m-1"}],
    "dict with both": [{"type": "human", "role": "user", "content": "hello", "id": "m-1"}],
    "dict with a number as its id": [{"type": "human", "content": "hello", "id": 7}],
    "dict with more": [{"role": "user", "content": "hello", "name": "ada", "mood": "good"}],
    "message": HumanMessage("hello"),
    "list of messages": [HumanMessage("hello")],
    "LangChain's JSON": [HumanMessage("hello").to_json()],
    "LangChain's dict": [message_to_dict(HumanMessage("hello"))],
    "with instructions": [SystemMessage("Be kind."), HumanMessage("hello")],
    "with instructions in dicts": [
        {"role": "system", "content": "x"},
        {"role": "developer", "content": "x"},
        {"role": "user", "content": "hello"},
    ],
    "with a tool's result": [
        ToolMessage("42", tool_call_id="c"),
        {"role": "tool", "content": "42"},
        HumanMessage("hello"),
    ],
}


@pytest.mark.parametrize("way", SPOKEN)
async def test_a_message_may_be_written_as_a(way: str) -> None:
    values = await desk().ainvoke({"messages": SPOKEN[way]})

    assert shown(values) == [("human", "hello"), ("ai", "heard hello")]
    assert all(m.id and isinstance(m.id, str) for m in values["messages"])


BLOCKS: dict[str, Any] = {
    "text and a picture": ([{"type": "text", "text": "look"}, PICTURE], "look"),
    "bare text in a list": (["lo", "ok"], "look"),
    "a picture": ([PICTURE], ""),
    "a file": ([{"type": "file", "base64": "QQ==", "mime_type": "application/pdf"}], ""),
}


@pytest.mark.parametrize("way", BLOCKS)
async def test_blocks_come_back_as_they_were_and_their_text_is_read(way: str) -> None:
    blocks, text = BLOCKS[way]
    graph = desk(InMemorySaver())

    heard = await told(graph, [HumanMessage(blocks)], "and?")

    assert heard[:2] == [("human", blocks), ("ai", f"heard {text}")]


@pytest.mark.parametrize(
    "wrong", [[{"role": "usr", "content": "x"}], [5], [("a", "b", "c")], [None]]
)
async def test_what_is_no_message_is_refused(wrong: Any) -> None:
    graph = desk(InMemorySaver())
    await told(graph, "one")

    with pytest.raises((ValueError, NotImplementedError), match=r"(?i)message"):
        await graph.ainvoke({"messages": wrong}, THREAD)

    assert (await told(graph, "two"))[-1] == ("ai", "heard two")


async def test_an_assistant_s_chunk_and_its_data_are_kept() -> None:
    chunk = AIMessageChunk(content="Hi", id="c", response_metadata={"model": "m"})
    heard = await desk().ainvoke({"messages": [chunk, HumanMessage("hello")]})

    assert heard["messages"][0] == AIMessage("Hi", id="c", response_metadata={"model": "m"})


async def test_data_that_is_no_json_does_not_stop_a_thread() -> None:
    odd = HumanMessage(
        "hello", additional_kwargs={"at": datetime.now(UTC), "raw": b"\xff", "set": {1}}
    )
    graph = desk(InMemorySaver())

    heard = await told(graph, [odd], "again")

    assert heard[-1] == ("ai", "heard again")


# Changed by clients.


async def test_messages_are_removed_and_edited_as_langgraph_has_it() -> None:
    graph = desk(InMemorySaver())
    await told(graph, [HumanMessage("one", id="1")], [HumanMessage("two", id="2")])

    async def after(*messages: Any) -> list[Any]:
        await graph.aupdate_state(THREAD, {"messages": [*messages]})
        return [content for _, content in shown((await graph.aget_state(THREAD)).values)]

    assert await after(HumanMessage("uno", id="1")) == ["uno", "heard one", "two", "heard two"]
    assert await after(RemoveMessage("1")) == ["heard one", "two", "heard two"]
    assert await after(RemoveMessage("unknown")) == ["heard one", "two", "heard two"]
    assert await after({"type": "remove", "id": "2"}) == ["heard one", "heard two"]
    assert await after(AIMessage("noted", id="3"), RemoveMessage("3")) == ["heard one", "heard two"]
    state = await graph.aget_state(THREAD)
    assert await after(*state.values["messages"]) == ["heard one", "heard two"]
    assert await after(RemoveMessage(REMOVE_ALL_MESSAGES), ("user", "x")) == ["x"]
    await graph.aupdate_state(THREAD, {"messages": Overwrite([HumanMessage("new")])})
    assert (await told(graph, "next"))[0] == ("human", "new")


async def test_a_whole_conversation_sent_again_is_not_said_twice() -> None:
    graph = desk(InMemorySaver())
    await told(graph, "one")
    values = await graph.ainvoke({"messages": "two"}, THREAD)

    values = await graph.ainvoke({"messages": [*values["messages"], HumanMessage("three")]}, THREAD)

    said = [content for _, content in shown(values)]
    assert said == ["one", "heard one", "two", "heard two", "three", "heard three"]


async def test_a_conversation_longer_than_the_window_is_read_in_its_order() -> None:
    histories: list[Any] = []

    def clerk(payload: dict[str, Any]) -> str:
        histories.append([m["content"] for m in payload["history"]])
        return "yes"

    graph, sent = desk(InMemorySaver(), clerk), []
    for number in range(30):
        sent.append(HumanMessage(str(number), id=f"u{number}"))
        values = await graph.ainvoke({"messages": sent}, THREAD)
        sent.append(values["messages"][-1])

    assert histories[-1] == [m.content for m in sent[-41:-2]]
