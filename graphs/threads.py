"""What a compiled pipeline takes, and keeps of a thread from run to run where a saver keeps it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from graphs.binding import REPLY, reply_in
from nodes.messages import Message, said
from nodes.payloads import inputs_of
from nodes.state import Output, Update, add_notes, add_results

_NEW = "__new"
"""Marks inputs that were given to this run: a saver keeps those of the last one."""


def _as_new(old: dict[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(new or {}), _NEW: True}


class PipelineInput(TypedDict, total=False):
    """What starts a compiled pipeline: inputs, or messages, or both."""

    inputs: Annotated[dict[str, Any], _as_new]
    messages: Annotated[list[Any], add_messages]


class CompiledState(TypedDict, total=False):
    """The channels of a compiled pipeline."""

    inputs: Annotated[dict[str, Any], _as_new]
    results: Annotated[list[Output], add_results]
    progress: Annotated[dict[str, Any], add_notes]
    messages: Annotated[list[Any], add_messages]
    outputs: dict[str, Any]


async def begin(state: Any) -> Update:
    """Take the inputs, or what the messages say; forget what an earlier run of the thread left."""
    turn = (state.get("progress") or {}).get("turn")
    kept = {} if turn is None else {"turn": turn + 1}
    return {
        "inputs": Overwrite(inputs_of(_given(state))),
        "results": Overwrite([]),
        "progress": Overwrite({**kept, REPLY: str(uuid.uuid4())}),
    }


def answered(state: Mapping[str, Any], reply: Any) -> Update:
    """Return the reply as an update of the messages; none where the run was given none."""
    if not state.get("messages") or not reply:
        return {}
    return {"messages": [AIMessage(content=str(reply), id=reply_in(state))]}


def _given(state: Mapping[str, Any]) -> dict[str, Any]:
    kept = state.get("inputs") or {}
    inputs = {name: value for name, value in kept.items() if name != _NEW} if _NEW in kept else {}
    talk = said(state.get("messages") or [])
    # The thread of a run that was given inputs alone may end with what was answered before.
    if not talk or "message" in inputs or (inputs and _is_answered(talk)):
        return inputs
    return {**inputs, "message": talk[-1]["content"], "history": talk[:-1]}


def _is_answered(talk: list[Message]) -> bool:
    return talk[-1]["role"] == "assistant"
