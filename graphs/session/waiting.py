"""Sessions that wait for the answer to an agent's question from LangGraph's `interrupt()`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.types import Command

from journeygraph.graphs.pipelines.failures import asks_of
from journeygraph.graphs.session.session import StoredSession
from journeygraph.graphs.storage.checkpoints import ROOT, NotStorable, PausedRun
from journeygraph.graphs.storage.statements import Row
from journeygraph.journeys import (
    NotWaitingError,
    PathwayExecutionError,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.commands import Cancel, Human
from journeygraph.nodes.journal import KINDS, WAITING
from journeygraph.nodes.json_data import plain
from journeygraph.nodes.services import Services, brought_locale, setting_of
from journeygraph.nodes.state.messages import Message, add_messages
from journeygraph.nodes.state.phases import phase_of
from journeygraph.nodes.state.session import OpenQuestion, Turn, Waiting

_MOST_REASON = 300
"""Maximum number of a question's characters in the audit."""
_RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class WaitingSession:
    """State of a session that waits for an answer.

    Attributes:
        values: Its state.
        waiting: The questions, and the run that asks them.
    """

    values: Mapping[str, Any]
    waiting: Waiting

    @property
    def asks(self) -> list[OpenQuestion]:
        """Open questions, in order."""
        return self.waiting["asks"]

    @property
    def first(self) -> OpenQuestion:
        """First open question: a message answers that one."""
        return self.asks[0]

    def answers(self, value: Any) -> dict[str, Any]:
        """Return the answers in a value, by the ids of the questions.

        Raises:
            NotWaitingError: It has an unknown id, or does not say which of several questions it
                answers.
        """
        ids = [ask["id"] for ask in self.asks]
        if isinstance(value, dict) and value and value.keys() <= set(ids):
            return value
        named = isinstance(value, dict) and any(_looks_like_id(name) for name in value)
        if named or len(ids) > 1:
            raise NotWaitingError(
                f"The answer has no id of an open question. Give resume({{id: value}}); the "
                f"open questions have the ids: {', '.join(ids)}.",
                ids,
            )
        return {ids[0]: value}

    def is_known(self, services: Services) -> bool:
        """Return whether all asking agents still exist: the journey may have a new version."""
        return all(
            ask["pathway"] in services.spec.pathways
            and (ask["agent"] is None or (ask["pathway"], ask["agent"]) in services.agents)
            for ask in self.asks
        )

    async def given_up(self, services: Services, turn: Turn) -> str:
        """Return the reason why a message is not a valid answer; "" if it is valid."""
        if not self.is_known(services):
            return "the journey has changed"
        asking: Turn = {**turn, "run": self.first["pathway"]}
        services = services.localized(brought_locale(self.values))
        language = setting_of(services, asking).language
        await asyncio.to_thread(part("language").load, language)  # once; it takes up to a second
        return _gives_up(services, asking)

    def going_on(self, turn: Turn, messages: Sequence[Message]) -> PausedRun:
        """Return the run to resume in a turn; its past work becomes part of that turn."""
        run = PausedRun.unpacked(self.waiting["run"])
        begun: Turn = run.values["turn"]
        window: list[Message] = self.values["messages"]
        phase = phase_of(self.values["position"], window).value
        # What stands whether or not the turn does was audited with the turn that waits.
        audit = [event for event in begun["audit"] if event["kind"] not in (_RESUMED, *KINDS)]
        record: Turn = {
            **begun,
            "number": turn["number"],
            "at": turn["at"],
            "message": turn["message"],
            "replies": [],
            "audit": [*turn["audit"], *audit],
            "phase": phase,
        }
        record.pop("worded", None)
        record.pop("correction", None)
        if correction := turn.get("correction"):
            record["correction"] = correction
        return run.going_on({"turn": record, "messages": add_messages(window, list(messages))})


async def wait_of(session: StoredSession, head: Row) -> WaitingSession | None:
    """Return the waiting run of a session, or None."""
    if WAITING not in json.loads(head["flags"] or "[]"):
        return None
    values = await session.values(head)
    waiting = values["turn"].get("waiting")
    return WaitingSession(values, waiting) if waiting else None


def answer_to(answers: Mapping[str, Any]) -> Command[Any]:
    """Return LangGraph's command to resume; a breakpoint takes no answer."""
    return Command(resume={id_: value for id_, value in answers.items() if id_})


def resumed(
    wait: WaitingSession, answers: Mapping[str, Any], *, by_message: bool
) -> list[dict[str, Any]]:
    """Return the audit events of answers."""
    how = "answered by a message" if by_message else "answered by resume()"
    return [_event(_RESUMED, ask, how) for ask in wait.asks if ask["id"] in answers]


def abandoned(wait: WaitingSession, reason: str) -> list[dict[str, Any]]:
    """Return the audit events of unanswered questions."""
    return [_event("abandoned", ask, reason) for ask in wait.asks]


def waiting_turn(services: Services, turn: Turn, run: PausedRun) -> Turn:
    """Return the record of a turn whose run waits: message, questions and audit, without a move.

    Args:
        services: Services of the turn.
        turn: Its record at the start.
        run: The run.

    Raises:
        PathwayExecutionError: There is no open question, or the question or the run cannot be
            stored.
    """
    begun: Turn = run.values["turn"] if ROOT in run.checkpoints else turn
    pathway = begun["run"] or ""
    asks = asks_of(run.interrupts, services, pathway) if begun is not turn else []
    if not asks:
        raise PathwayExecutionError(pathway, "", "its run stopped before its end")
    for ask in asks:
        ask["value"] = _plain_value(ask)
    try:
        packed = run.packed()
    except NotStorable as error:
        first = asks[0]
        reason = (
            "it waits, but the state of its graph cannot be stored. Use only plain data, dates "
            f"and LangChain's messages in that state ({error})"
        )
        raise PathwayExecutionError(first["pathway"], first["agent"] or "", reason) from error
    done = services.running.journal.events if services.running.journal else []
    asked = [_event("waiting", ask, shown(ask)) for ask in asks]
    return {
        **turn,
        "kind": "waiting",
        "audit": [*turn["audit"], *done, *asked],
        "replies": [*begun["replies"], *filter(None, map(shown, asks))],
        "flags": [*begun["flags"], WAITING],
        "waiting": Waiting(asks=asks, run=packed, calls=services.running.calls.plain()),
    }


def shown(ask: OpenQuestion) -> str:
    """Return a question as text: a text unchanged, anything else as JSON."""
    value = ask["value"]
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _event(kind: str, ask: OpenQuestion, reason: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "from": ask["pathway"],
        "trigger": ask["agent"],
        "reason": reason[:_MOST_REASON],
    }


def _plain_value(ask: OpenQuestion) -> Any:
    try:
        return plain(ask["value"], "the value")
    except ValueError as error:
        reason = f"the value of interrupt() is not JSON: {error}"
        raise PathwayExecutionError(ask["pathway"], ask["agent"] or "", reason) from error


def _looks_like_id(name: str) -> bool:
    return len(name) == 32 and all(char in "0123456789abcdef" for char in name)


def _gives_up(services: Services, turn: Turn) -> str:
    """Return why a message is no answer to what is asked; empty if it is one.

    That is where all of it says that the user wants to stop, or to speak to a person.

    Args:
        services: Services of the turn.
        turn: A record with the message, and as `run` the pathway that waits.
    """
    setting = setting_of(services, turn)
    tasks = [p.title for id_, p in services.spec.pathways.items() if id_ == turn["run"]]
    command = part("language").exact_command(turn["message"] or "", setting, tasks)
    if isinstance(command, Cancel):
        return "the user wants to stop"
    return "the user asks for a person" if isinstance(command, Human) else ""
