"""Answer a question that is next to what was asked: a retriever finds passages, with sources."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from textwrap import shorten
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig

from journeygraph.journeys import Knowledge, ModelError, Passage
from journeygraph.nodes.authored import Overdue, contained, in_thread
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.commands import Ask, Fill
from journeygraph.nodes.draft import PathwayRun, Query, TurnDraft
from journeygraph.nodes.features.form_reading import parse_of
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.language.proposals import clauses_in, questions_in
from journeygraph.nodes.llm.call import limited, seconds_for, spent
from journeygraph.nodes.llm.client import RUN_CONFIG
from journeygraph.nodes.llm.prompts import manner
from journeygraph.nodes.llm.replies import answer_from
from journeygraph.nodes.llm.tools import told
from journeygraph.nodes.repair.clarify import KNOWLEDGE
from journeygraph.nodes.state.form_state import FORM
from journeygraph.nodes.state.interpretation import Interpretation, Parse
from journeygraph.nodes.steer import allowed_transitions, asks_model
from journeygraph.nodes.telemetry import ToolSpan, report
from journeygraph.nodes.telemetry.span import kind_of


class KnowledgeAnswers(Capability):
    """Questions of users that are looked up: read, and answered behind the decision."""

    async def weigh(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Read the questions of a message that may be looked up, without a model.

        A question is no value of the field that was asked for, and nothing that is exact is looked
        up. The rest of the message is read without it.
        """
        if not draft.spec.answers_in(draft.here.id) or not reading.is_read or reading.parse.exact:
            return
        questions = questions_in(draft.message, draft.setting.language)
        if not questions:
            return
        clauses = clauses_in(draft.message)
        rest = ", ".join(clause for clause in clauses if clause not in questions)
        parse = parse_of(draft, rest) if rest else Parse()
        asked = " ".join(questions) if parse.commands else draft.message.strip()
        commands = [replace(c, certain=False) if isinstance(c, Fill) else c for c in parse.commands]
        exact = not rest or parse.exact
        reading.parse = Parse([*commands, Ask(asked)], exact=exact, unread=parse.unread)
        # Whether a pathway of the author's own answers it, a model may have to say.
        is_judged = any(map(asks_model, allowed_transitions(draft.spec, reading.position)))
        reading.is_certain = exact and not is_judged

    async def answer(self, draft: TurnDraft) -> None:
        """Answer the question of the turn: by the journey's own pathway, or from knowledge.

        Nothing is counted against the user, for any result.
        """
        query = draft.query
        if query is None:
            return
        if query.own:
            draft.note("repaired", trigger=KNOWLEDGE)
            draft.aside = query.own
            return
        assert query.knowledge is not None
        passages = await _passages(draft, query.knowledge, query.question)
        if passages is None:
            _say(draft, query, draft.text("lookup_failed"))
            return
        text, used = await _answer(draft, query.question, passages)
        _audit(draft, query.knowledge, passages, used)
        if not used:
            _say(draft, query, draft.text("not_known"))
            return
        draft.sources = list(dict.fromkeys(passage.source for passage in used))
        reply = draft.text("answered", answer=text, sources=", ".join(draft.sources))
        draft.quoted.append(reply)
        _say(draft, query, reply)

    def gather(self, run: PathwayRun) -> None:
        """Say an answer that was held back before the form of the pathway asks on."""
        if run.turn.get("held") and run.progress.get(FORM, {}).get("asked"):
            _tell(run, len(run.state["turn"]["replies"]))

    def record(self, run: PathwayRun) -> None:
        """Say an answer that was held back behind what the pathway did."""
        if run.turn.get("held") and not run.is_aside:
            _tell(run, len(run.turn["replies"]))


def _say(draft: TurnDraft, query: Query, text: str) -> None:
    """Say it before the question is asked again, or behind what the message answered."""
    if query.place is not None:
        draft.replies.insert(query.place, text)
    elif draft.run is None:
        draft.replies.append(text)
    else:
        draft.held.append(text)


async def _passages(draft: TurnDraft, knowledge: Knowledge, question: str) -> list[Passage] | None:
    """Return what the retriever finds; None if it fails, which is audited."""
    services, retriever = draft.services, knowledge.retriever
    assert services.toolbox is not None
    if isinstance(retriever, str):
        retriever = services.retrievers[retriever]
    try:
        return await _retrieved(
            knowledge, retriever, question, draft.spec.id, services.toolbox.overdue
        )
    except Exception as error:  # whatever an author's function raises
        kind = kind_of(error)
        reason = kind if _is_sensitive(draft) else told(error)
        draft.note("knowledge_failed", trigger=knowledge.name, reason=reason)
        draft.flags.append(f"knowledge_failed:{kind}")
        report(logging.WARNING, "knowledge_failed", retriever=knowledge.name, error=kind)
        return None


async def _answer(
    draft: TurnDraft, question: str, passages: list[Passage]
) -> tuple[str, list[Passage]]:
    """Return the answer and the passages that it is from; without a model, the best passage."""
    services, config = draft.services, draft.services.config
    if not passages:
        return "", []
    best = passages[0]
    seconds = seconds_for(draft.turn, config, config.model_timeout_seconds)
    if services.models is None or not seconds:
        return best.text, [best]
    part = draft.spec.part_of(draft.here.id)
    models = services.models
    chat = models.named(part.model) if part.model else models.step(config.agent_model)
    begun = asyncio.get_running_loop().time()
    try:
        text, places = await answer_from(
            limited(chat, config, config.wording_max_tokens),
            manner(part.personality, services.locale_in(draft.here.id).language),
            question,
            [passage.text for passage in passages],
            begun + seconds,
            services.usage or Usage(),
        )
    except ModelError as failure:
        draft.flags.append(f"answering_failed:{failure.kind}")
        return best.text, [best]
    finally:
        draft.turn = spent(draft.turn, begun)
    return text, [passages[place] for place in places]


def _audit(
    draft: TurnDraft, knowledge: Knowledge, passages: list[Passage], used: list[Passage]
) -> None:
    """Audit what was looked up: how much was found, and which sources the answer is from."""
    reason = f"{len(passages)} found, {len(used)} used"
    if used and not _is_sensitive(draft):
        reason += ": " + ", ".join(dict.fromkeys(passage.source for passage in used))
    draft.note(KNOWLEDGE, trigger=knowledge.name, reason=reason)


def _is_sensitive(draft: TurnDraft) -> bool:
    return draft.spec.sensitive or draft.spec.part_of(draft.here.id).sensitive


def _tell(run: PathwayRun, place: int) -> None:
    """Put the answer at its place; it is no text of the catalogue, which a model may word."""
    turn, held = run.turn, run.turn["held"]
    turn["replies"] = [*turn["replies"][:place], *held, *turn["replies"][place:]]
    turn["worded"] = [n if n < place else n + len(held) for n in turn.get("worded", ())]
    turn["held"] = []


MOST_QUESTION = 1_000
"""Longest question, in characters; a longer one is cut."""
_MOST_SOURCE = 200
_SOURCES = ("source", "title", "url", "file_path", "id")
"""Names of a document's metadata that hold its source, by priority."""


async def _retrieved(
    knowledge: Knowledge, retriever: Any, question: str, journey: str, overdue: Overdue
) -> list[Passage]:
    """Return the passages for a question, the best one first.

    Raises:
        TimeoutError: It took longer than it may.
        TypeError: It gave something else than passages.
        Exception: Whatever an author's function raises.
    """
    with ToolSpan(knowledge.name, journey, kind="datastore"):
        async with asyncio.timeout(knowledge.timeout):
            with contained():
                given = await _given_by(knowledge, retriever, question[:MOST_QUESTION], overdue)
        return _passages_of(given, knowledge)


async def _given_by(knowledge: Knowledge, retriever: Any, question: str, overdue: Overdue) -> Any:
    if isinstance(retriever, Runnable):
        return await retriever.ainvoke(question, cast("RunnableConfig", RUN_CONFIG))
    if callable(ainvoke := getattr(retriever, "ainvoke", None)):
        return await ainvoke(question)
    body = retriever if inspect.isroutine(retriever) else getattr(retriever, "__call__", retriever)  # noqa: B004
    if inspect.iscoroutinefunction(retriever) or inspect.iscoroutinefunction(body):
        return await retriever(question)
    given = await in_thread(knowledge.name, lambda _: retriever(question), {}, overdue)
    return await given if inspect.isawaitable(given) else given


def _passages_of(given: Any, knowledge: Knowledge) -> list[Passage]:
    """Return what a retriever gave as passages; empty ones are omitted.

    Raises:
        TypeError: It is something else.
    """
    if given is None:
        return []
    single = isinstance(given, (str, Mapping, Passage)) or hasattr(given, "page_content")
    if not single and not isinstance(given, Iterable):
        raise TypeError(f"it returned {type(given).__name__} instead of a list of passages")
    passages = (_passage(item, knowledge) for item in ([given] if single else given))
    return [*islice((one for one in passages if one.text), knowledge.passages)]


def _passage(item: Any, knowledge: Knowledge) -> Passage:
    if isinstance(item, str):
        given: Mapping[str, Any] = {"text": item}
    elif isinstance(item, Mapping):
        given = {"text": item.get("page_content"), **(item.get("metadata") or {}), **item}
    elif isinstance(item, Passage):
        given = {"text": item.text, "source": item.source}
    else:
        metadata = getattr(item, "metadata", None) or {}
        known = {"text": getattr(item, "page_content", None), "id": getattr(item, "id", "")}
        given = {**metadata, **known}
    text = given["text"]
    if not isinstance(text, str):
        raise TypeError(f"it returned {type(item).__name__} without text instead of a passage")
    source = next((str(given[name]) for name in _SOURCES if given.get(name)), knowledge.name)
    named = " ".join(cleaned(source).split())[:_MOST_SOURCE]
    text, most = cleaned(text).strip(), knowledge.characters
    return Passage(text if len(text) <= most else shorten(text, most, placeholder="…"), named)
