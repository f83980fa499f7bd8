"""Ask a retriever for passages, whatever it is, within the limits of its `Knowledge`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig

from journeys import Knowledge, Passage
from nodes.authored import Overdue, contained, in_thread
from nodes.json_data import cleaned
from nodes.llm.client import RUN_CONFIG
from nodes.telemetry import ToolRun

MOST_QUESTION = 1_000
"""Longest question, in characters; a longer one is cut."""
_MOST_SOURCE = 200
_SOURCES = ("source", "title", "url", "file_path", "id")
"""Names of a document's metadata that say where it stands, the first one first."""


async def retrieved(
    knowledge: Knowledge, retriever: Any, question: str, journey: str, overdue: Overdue
) -> list[Passage]:
    """Return the passages for a question, the best one first.

    Args:
        knowledge: Its limits.
        retriever: The retriever, where that is passed by its name.
        question: What is asked.
        journey: Id of the journey, for what is reported.
        overdue: Told of a thread that is left behind.

    Raises:
        TimeoutError: It took longer than it may.
        TypeError: It gave something else than passages.
        Exception: Whatever an author's function raises.
    """
    with ToolRun(knowledge.name, journey, kind="datastore"):
        async with asyncio.timeout(knowledge.timeout):
            with contained():
                given = await _given(knowledge, retriever, question[:MOST_QUESTION], overdue)
        return _passages(given, knowledge)


async def _given(knowledge: Knowledge, retriever: Any, question: str, overdue: Overdue) -> Any:
    if isinstance(retriever, Runnable):
        return await retriever.ainvoke(question, cast("RunnableConfig", RUN_CONFIG))
    if callable(ainvoke := getattr(retriever, "ainvoke", None)):
        return await ainvoke(question)
    body = retriever if inspect.isroutine(retriever) else getattr(retriever, "__call__", retriever)  # noqa: B004
    if inspect.iscoroutinefunction(retriever) or inspect.iscoroutinefunction(body):
        return await retriever(question)
    given = await in_thread(knowledge.name, lambda _: retriever(question), {}, overdue)
    return await given if inspect.isawaitable(given) else given


def _passages(given: Any, knowledge: Knowledge) -> list[Passage]:
    """Return what a retriever gave as passages; empty ones are omitted.

    Raises:
        TypeError: It is something else.
    """
    if given is None:
        return []
    single = isinstance(given, (str, Mapping, Passage)) or hasattr(given, "page_content")
    if not single and not isinstance(given, Iterable):
        raise TypeError(f"it gave {type(given).__name__} in place of a list of passages")
    found: list[Passage] = []
    for item in [given] if single else given:
        passage = _passage(item, knowledge)
        if passage.text:
            found.append(passage)
        if len(found) == knowledge.passages:
            break
    return found


def _passage(item: Any, knowledge: Knowledge) -> Passage:
    text: Any
    source: Any
    if isinstance(item, str):
        text, source = item, ""
    elif isinstance(item, Passage):
        text, source = item.text, item.source
    elif isinstance(item, Mapping):
        text, source = item.get("text", item.get("page_content")), _source(item)
        source = source or _source(item.get("metadata"))
    else:
        text = getattr(item, "page_content", None)
        source = _source(getattr(item, "metadata", None)) or str(getattr(item, "id", None) or "")
    if not isinstance(text, str):
        raise TypeError(f"it gave {type(item).__name__}, which has no text, in place of a passage")
    named = " ".join(cleaned(str(source)).split())[:_MOST_SOURCE]
    return Passage(_cut(cleaned(text).strip(), knowledge.characters), named or knowledge.name)


def _source(known: Any) -> str:
    if not isinstance(known, Mapping):
        return ""
    return next((str(known[name]) for name in _SOURCES if known.get(name)), "")


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return kept[: kept.rfind(" ") if " " in kept[most // 2 :] else len(kept)].rstrip() + "…"
