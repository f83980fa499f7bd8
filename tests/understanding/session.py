"""One session for each row of a table: up to where the row begins, and through its message."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from journeygraph import (
    AuditEntry,
    FormView,
    Journey,
    JourneyConfig,
    JourneyResponse,
    JourneySession,
)
from journeygraph.nodes.json_data import clocked
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.nodes.values.checking import shown
from journeygraph.nodes.values.setting import Setting
from tests.understanding import assistants
from tests.understanding.judging import UNREACHED, Came, Judged, judged
from tests.understanding.models import Answers
from tests.understanding.rows import Row, same

TODAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
GREETING = {"en": "hello", "de": "hallo", "es": "hola", "fr": "bonjour"}
SKIP = {
    "en": "rather not say",
    "de": "möchte ich nicht sagen",
    "es": "prefiero no decirlo",
    "fr": "je préfère ne pas le dire",
}
YES = {"en": "yes", "de": "ja", "es": "sí", "fr": "oui"}
MOST_SETUP = 5
"""Most messages until the state of a row must be reached."""
REPAIRS = ("repeat", "wait", "explain", "status", "back", "restart")


async def judge_all(rows: Iterable[Row], language: str, mode: str = "none") -> list[Judged]:
    """Return how all rows of a table are judged, with a model that answers as the mode says."""
    found = []
    async with a_store() as url:
        for row in rows:
            own = row.language or language
            answers = None if mode == "none" else Answers(mode, random.Random(row.number), own)
            model = ScriptedModel(always=answers) if answers else None
            found.append(await Session(row, own, url, model, answers).judge())
    return found


@asynccontextmanager
async def a_store() -> AsyncIterator[str]:
    """Open a store in memory and set the clock to TODAY; return its URL.

    It lives as long as somebody holds it.
    """
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")
    agents, tools = assistants.agents_of("bank", "en"), assistants.tools_of("bank")
    held = assistants.assistant_of("bank", "en")
    with clock():
        async with held("held", config, agents=agents, tools=tools, model=False) as holder:
            await holder.get_session_state()
            yield config.persistence


@contextmanager
def clock() -> Iterator[None]:
    """Set the product's clock to TODAY, a thousandth of a second later at each call."""
    looks = 0

    def now() -> datetime:
        nonlocal looks
        looks += 1
        return TODAY + timedelta(milliseconds=looks)

    with clocked(now):
        yield


@dataclass
class Session:
    """A session with an assistant.

    Attributes:
        row: The row of the table.
        language: The user's.
        url: The store's.
        model: The model to ask; None: no model.
        answers: The answers of the model; it gets the row when its message comes.
    """

    row: Row
    language: str
    url: str
    model: ScriptedModel | None = None
    answers: Answers | None = None

    async def judge(self) -> Judged:
        """Return how what comes of the message is judged."""
        async with self.opened() as journey:
            if fault := await self.reach(journey):
                return Judged(self.row, UNREACHED, None, fault)
            for message in self.row.before:
                await journey.process_message(message)
            return judged(self.row, await self._came(journey))

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Journey]:
        """Open the session; it is not begun."""
        self.taken.clear()
        async with assistants.assistant_of(self.row.assistant, self.language)(
            uuid.uuid4().hex,
            JourneyConfig(persistence=self.url),
            agents=assistants.agents_of(self.row.assistant, self.language),
            tools=assistants.tools_of(self.row.assistant),
            model=self.model or False,
        ) as journey:
            yield journey

    async def reach(self, journey: Journey) -> str:
        """Bring the session to where the row begins; return what keeps it from that.

        What is known the context brings; greeted back, the assistant asks for what is missing.
        """
        await journey.start({name: self._known(name) for name in self.row.known})
        if self.row.begins:
            return ""
        await journey.process_message(GREETING[self.spoken])
        asked = ("", "")
        for _ in range(MOST_SETUP):
            asked = _asked(await journey.fields())
            if self._is_there(asked):
                return self._differs(await _state(journey))
            message = self._next_message(asked)
            if not message:
                break
            await journey.process_message(message)
            if self.row.asked == "done" and asked[0] == "summary":
                self.taken.clear()
                return self._differs(await _state(journey))
        return f"{asked} is asked"

    def _is_there(self, asked: tuple[str, str]) -> bool:
        return asked[0] in ("field", "summary", "return") and self.row.asked in asked

    def _next_message(self, asked: tuple[str, str]) -> str:
        """Return what leads on to where the row begins; empty: nothing does."""
        words = assistants.words_of(self.row.assistant, self.language)
        if self.row.asked == "return":
            return str(next(iter(words["info"].values()))["phrases"][0])
        if self.row.asked == "done" and asked[0] == "summary":
            return YES[self.spoken]
        skips = asked[0] == "field" and assistants.is_optional(self.row.assistant, asked[1])
        return SKIP[self.spoken] if skips else ""

    @property
    def taken(self) -> list[str]:
        """The tasks whose effects were taken."""
        return assistants.taken_by(self.row.assistant)

    @property
    def spoken(self) -> str:
        """The language of the assistant; the user's, where that is known."""
        return assistants.locale_of(self.language).language or "en"

    def _differs(self, session: JourneySession) -> str:
        values = self._values(session.accumulated_context)
        for name, value in self.row.known.items():
            if not same(assistants.type_of(self.row.assistant, name), value, values.get(name)):
                return f"{name} is {values.get(name)!r}"
        return ""

    def _known(self, name: str) -> Any:
        value = self.row.known[name]
        if assistants.type_of(self.row.assistant, name) == "money":
            return {"amount": f"{float(value):.2f}", "currency": "EUR"}
        return value if isinstance(value, (bool, int, list)) else str(value)

    def _values(self, context: Mapping[str, Any]) -> dict[str, Any]:
        names = [
            n for fields in assistants.FIELDS[self.row.assistant].values() for n, _, _ in fields
        ]
        return {name: context[name] for name in names if context.get(name) is not None}

    async def _came(self, journey: Journey) -> Came:
        """Write the message, and return what came of it."""
        before = await _state(journey)
        known = self._values(before.accumulated_context)
        if self.answers:
            self.answers.begin(self.row, known)
        calls = self._calls
        reply = await journey.process_message(self.row.message)
        after, form = self._values(reply.accumulated_context), await journey.fields()
        audit = [e for e in await journey.audit() if e.turn == reply.metadata["version"]]
        does = {*self._done(audit, form), *self._moves(before.current_pathway_id, reply, audit)}
        return Came(
            known,
            after,
            does,
            _asked(form),
            reply.message,
            self._shown(after),
            [entry.reason or "" for entry in audit if entry.kind == "unread"],
            self._calls - calls,
        )

    @property
    def _calls(self) -> int:
        return len(self.model.calls) if self.model else 0

    def _shown(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return values as users read them, and what fields and pathways are called."""
        spec = assistants.assistant_of(self.row.assistant, self.language).spec
        setting = Setting(TODAY, assistants.REGIONS[self.language], self.spoken)
        forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
        fields = {field.name: field for form in forms for field in form.fields}
        titles = {name: field.title for name, field in fields.items()}
        titles |= {id_: pathway.title for id_, pathway in spec.pathways.items()}
        texts = {name: shown(fields[name], value, setting) for name, value in values.items()}
        return texts | {f"label:{name}": title for name, title in titles.items()}

    def _done(self, audit: Sequence[AuditEntry], form: FormView) -> Iterator[str]:
        """Yield what the message did besides giving values, and moving."""
        if assistants.main_task(self.row.assistant) in self.taken:
            yield "confirm"
        asked = {"wrong": "deny", "change": "offer", "restart": "restart"}
        if (kind := _asked(form)[0]) in asked:
            yield asked[kind]
        for entry in audit:
            if entry.kind == "repaired" and entry.trigger in REPAIRS:
                yield entry.trigger
            elif entry.kind == "escalated":
                yield "human"
            elif entry.kind == "field_cleared" and entry.reason == "left open by the user":
                yield "skip"
            elif entry.kind == "field_refused" and entry.reason == "the user refused to answer":
                yield "refuse"

    def _moves(
        self, stood: str, reply: JourneyResponse, audit: Sequence[AuditEntry]
    ) -> Iterator[str]:
        """Yield where the message led, or will lead."""
        main = assistants.main_task(self.row.assistant)
        if any(entry.kind == "cancelled" and entry.to_pathway == main for entry in audit):
            yield "cancel"
        elif self.row.asked == "return" and reply.pathway_id == main:
            yield "confirm"
        spec = assistants.assistant_of(self.row.assistant, self.language).spec
        waiting = {entry.trigger for entry in audit if entry.kind in ("queued", "blocked")}
        entered = {t.target for t in spec.transitions if t.id in waiting}
        entered |= {reply.pathway_id, *reply.metadata["pathway_stack"], *reply.metadata["ran"]}
        entered -= {main, stood}
        if reply.transition_to and reply.transition_to != main:
            entered.add(reply.transition_to)
        yield from (f"go:{id_}" for id_ in entered)


def _asked(form: FormView) -> tuple[str, str]:
    return (form.asked["kind"], form.asked["about"]) if form.asked else ("", "")


async def _state(journey: Journey) -> JourneySession:
    session = await journey.get_session_state()
    assert session is not None
    return session
