"""Run a table of messages through the assistants: `python -m tests.understanding.run TABLE.yaml`."""

from __future__ import annotations

import argparse
import asyncio
import functools
import random
import ssl
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from journeys import Journey, JourneyConfig
from nodes.draft import now as product_now
from nodes.llm.scripted import Call, ScriptedModel
from nodes.values import Setting, shown
from tests.understanding import assistants
from tests.understanding.judging import (
    ASKED,
    OUTCOMES,
    RIGHT,
    SHOWN,
    SILENT,
    UNREACHED,
    Came,
    Judged,
    judged,
)
from tests.understanding.models import Answers, MODES
from tests.understanding.rows import Row, rows_of, same

TODAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
GREETING = {"en": "hello", "de": "hallo", "es": "hola"}
SKIP = {"en": "rather not say", "de": "möchte ich nicht sagen", "es": "prefiero no decirlo"}
YES = {"en": "yes", "de": "ja", "es": "sí"}
MOST_SETUP = 5
"""Most messages until the state of a row must be reached."""


@contextmanager
def clock() -> Any:
    """Let it be TODAY for the product, a thousandth of a second later at each look."""
    looks = 0

    def now() -> datetime:
        nonlocal looks
        looks += 1
        return TODAY + timedelta(milliseconds=looks)

    kept = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("nodes", "graphs", "server"):
            was = getattr(module, "now", None)
            if was is product_now or getattr(was, "__module__", "") == "graphs.ledger":
                kept[module] = was
                module.now = now  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module, was in kept.items():
            module.now = was  # type: ignore[attr-defined]


@dataclass
class Session:
    """One session at a assistant, up to the message of a row and through it."""

    row: Row
    language: str
    url: str
    model: Any = False
    answers: Answers | None = None

    @property
    def taken(self) -> list[str]:
        return assistants.taken_by(self.row.assistant)

    async def judge(self) -> Judged:
        self.taken.clear()
        kind = assistants.assistant_of(self.row.assistant, self.language)
        journey = kind(
            uuid.uuid4().hex,
            JourneyConfig(persistence=self.url),
            agents=assistants.agents_of(self.row.assistant, self.language),
            tools=assistants.tools_of(self.row.assistant),
            model=self.model,
        )
        try:
            if fault := await self._reach(journey):
                return Judged(self.row, UNREACHED, None, fault)
            for message in self.row.before:
                await journey.process_message(message)
            return judged(self.row, await self._say(journey))
        finally:
            await journey.close()

    async def _reach(self, journey: Journey) -> str:
        """Bring the session to where the row begins; return what keeps it from that."""
        row, words = self.row, assistants.words_of(self.row.assistant, self.language)
        known = {name: self._known(name, value) for name, value in row.known.items()}
        await journey.start(known)
        if row.begins:
            return ""
        language = assistants.locale_of(self.language).language or "en"
        await journey.process_message(GREETING[language])
        for _ in range(MOST_SETUP):
            asked = (await journey.fields()).asked
            at = (asked["kind"], asked["about"]) if asked else ("", "")
            if row.asked in (at[1], at[0]) and at[0] in ("field", "summary", "return"):
                return await self._differs(journey)
            if row.asked == "done" and at[0] == "summary":
                await journey.process_message(YES[language])
                self.taken.clear()
                return await self._differs(journey)
            if row.asked == "return":
                info = next(iter(words["info"].values()))
                await journey.process_message(info["phrases"][0])
            elif at[0] == "field" and assistants.is_optional(row.assistant, at[1]):
                await journey.process_message(SKIP[language])
            else:
                return f"{at} is asked"
        return f"{at} is still asked"

    async def _differs(self, journey: Journey) -> str:
        session = await journey.get_session_state()
        values = self._values(session.accumulated_context)
        for name, value in self.row.known.items():
            if not same(assistants.type_of(self.row.assistant, name), value, values.get(name)):
                return f"{name} is {values.get(name)!r}"
        return ""

    def _known(self, name: str, value: Any) -> Any:
        kind = assistants.type_of(self.row.assistant, name)
        if kind == "money":
            return {"amount": f"{float(value):.2f}", "currency": "EUR"}
        return value if isinstance(value, (bool, int, list)) else str(value)

    def _values(self, context: Mapping[str, Any]) -> dict[str, Any]:
        names = [n for fields in assistants.FIELDS[self.row.assistant].values() for n, _, _ in fields]
        return {name: context[name] for name in names if context.get(name) is not None}

    async def _say(self, journey: Journey) -> Came:
        row = self.row
        session = await journey.get_session_state()
        before = self._values(session.accumulated_context)
        stood = session.current_pathway_id
        if self.answers:
            self.answers.begin(row, before)
        calls = len(self.model.calls) if self.model else 0
        reply = await journey.process_message(row.message)
        after = self._values(reply.accumulated_context)
        form = await journey.fields()
        audit = [e for e in await journey.audit() if e.turn == reply.metadata["version"]]
        asked = form.asked
        setting = Setting(TODAY, assistants.REGIONS[self.language], journey_language(self.language))
        spec = assistants.assistant_of(row.assistant, self.language).spec
        declared = {f.name: f for p in spec.pathways.values() for f in (p.form.fields if p.form else ())}
        texts = {name: shown(declared[name], value, setting) for name, value in after.items()}
        texts |= {f"label:{name}": f.title for name, f in declared.items()}
        texts |= {f"label:{id_}": p.title for id_, p in spec.pathways.items()}
        return Came(
            before,
            after,
            self._does(reply, audit, form, stood, spec),
            (asked["kind"], asked["about"]) if asked else ("", ""),
            reply.message,
            texts,
            [e.reason or e.trigger or "" for e in audit if e.kind == "unread"],
            (len(self.model.calls) if self.model else 0) - calls,
        )

    def _does(self, reply: Any, audit: Sequence[Any], form: Any, stood: str, spec: Any) -> set[str]:
        row, main = self.row, assistants.main_task(self.row.assistant)
        does: set[str] = set()
        if main in self.taken:
            does.add("confirm")
        cancelled = [e.to_pathway for e in audit if e.kind == "cancelled"]
        if main in cancelled:
            does.add("cancel")
        elif row.asked == "return" and reply.pathway_id == main:
            does.add("confirm")
        asked = form.asked or {"kind": "", "about": ""}
        if asked["kind"] == "wrong":
            does.add("deny")
        if asked["kind"] == "change":
            does.add("offer")
        if asked["kind"] == "restart" or any(e.kind in ("begun_anew", "task_restarted") for e in audit):
            does.add("restart")
        for entry in audit:
            if entry.kind == "repaired" and entry.trigger in ("repeat", "wait", "explain", "status", "back", "restart"):
                does.add(entry.trigger)
            if entry.kind == "escalated":
                does.add("human")
            if entry.kind == "field_cleared" and entry.reason == "left open by the user":
                does.add("skip")
            if entry.kind == "field_refused" and "would not say" in (entry.reason or ""):
                does.add("refuse")
        entered = {reply.transition_to, reply.pathway_id, *reply.metadata["pathway_stack"]}
        entered |= {id_ for id_ in reply.metadata["ran"]}
        queued = {e.trigger for e in audit if e.kind in ("queued", "blocked")}
        entered |= {t.target for t in spec.transitions if t.id in queued}
        entered -= {None, main, stood}
        if stood != main and reply.transition_to == stood:
            entered.add(stood)
        return does | {f"go:{id_}" for id_ in entered}


def journey_language(language: str) -> str:
    return assistants.locale_of(language).language or "en"


async def judge_all(rows: Iterable[Row], language: str, mode: str = "none") -> list[Judged]:
    """Return how all rows of a language are judged, with a model that answers as the mode says."""
    url = f"memory://{uuid.uuid4()}"
    found = []
    with clock():
        # A store in memory lives as long as somebody holds it.
        holder = assistants.assistant_of("bank", language)(
            "held", JourneyConfig(persistence=url),
            agents=assistants.agents_of("bank", language), tools=assistants.tools_of("bank"), model=False,
        )
        await holder.get_session_state()
        for row in rows:
            own = row.language or language
            answers = None if mode == "none" else Answers(mode, random.Random(row.number), own)
            model = ScriptedModel(always=answers) if answers else False
            found.append(await Session(row, own, url, model, answers).judge())
        await holder.close()
    return found


def table(found: Sequence[Judged], by: str) -> str:
    """Return how often each outcome came, by the kind or the assistant of the rows."""
    groups: dict[str, Counter[str]] = {}
    for one in found:
        groups.setdefault(getattr(one.row, by), Counter())[one.outcome] += 1
    width = max([len(by), *map(len, groups)]) + 2
    lines = [by.ljust(width) + "  ".join(name.rjust(13) for name in OUTCOMES)]
    for name, counts in [*sorted(groups.items()), ("all", sum(groups.values(), Counter()))]:
        lines.append(name.ljust(width) + "  ".join(str(counts[o]).rjust(13) for o in OUTCOMES))
    return "\n".join(lines)


def described(one: Judged) -> str:
    """Return a row with what was wanted and what came."""
    wanted = " | ".join(_wanted(want) for want in one.row.wants)
    lines = [f"[{one.outcome}] {one.row}", f"    kind:   {one.row.kind}", f"    known:  {dict(one.row.known)}", f"    wanted: {wanted}"]
    if one.came:
        reply = one.came.reply.replace("\n", " / ")
        lines += [f"    got:    {one.came}  (asked now: {' '.join(one.came.asked)})", f"    reply:  {reply}"]
    if one.why:
        lines.append(f"    why:    {one.why}")
    return "\n".join(lines)


def _wanted(want: Any) -> str:
    parts = [f"{name}={value!r}" for name, value in want.set.items()]
    parts += [f"{name} emptied" for name in want.clear]
    return ", ".join([*parts, *want.does, *(["ask"] if want.asks else [])])


def language_of(path: Path) -> str:
    """Return the language of a table, which its file is named by; English where it is not."""
    return path.stem[:2] if path.stem[:2] in assistants.LANGUAGES else "en"


def main() -> None:
    parser = argparse.ArgumentParser(description="Run a table of messages through the six assistants.")
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--model", choices=("none", *MODES), default="none")
    parser.add_argument("--desk", dest="assistant", choices=tuple(assistants.FIELDS))
    parser.add_argument("--kind", help="only rows whose kind has this in it")
    parser.add_argument("--row", type=int, action="append", help="only these rows, counted from 1")
    parser.add_argument("--language", choices=assistants.LANGUAGES, help="instead of the file's name")
    parser.add_argument("--list", choices=("wrong", "asked", "all", "none"), default="wrong")
    given = parser.parse_args()
    ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]
    found: list[Judged] = []
    begun = time.perf_counter()
    for path in given.tables:
        rows = [
            row
            for row in rows_of(path)
            if (not given.assistant or row.assistant == given.assistant)
            and (not given.row or row.number in given.row)
            and (not given.kind or given.kind in row.kind)
        ]
        language = given.language or language_of(path)
        found += asyncio.run(judge_all(rows, language, given.model))
    seconds = time.perf_counter() - begun
    listed = {
        "wrong": (SHOWN, SILENT, UNREACHED),
        "asked": (ASKED, SHOWN, SILENT, UNREACHED),
        "all": OUTCOMES,
        "none": (),
    }[given.list if not given.row else "all"]
    for one in found:
        if one.outcome in listed:
            print(described(one), end="\n\n")
    print(table(found, "kind"), end="\n\n")
    print(table(found, "assistant"), end="\n\n")
    print(summary(found), f"({seconds:.1f} s)")


def summary(found: Sequence[Judged]) -> str:
    """Return the counts in one line, with the calls of the model."""
    counts, total = Counter(one.outcome for one in found), max(len(found), 1)
    shares = ", ".join(f"{name} {counts[name]} ({counts[name] / total:.0%})" for name in OUTCOMES)
    called = sum(1 for one in found if one.came and one.came.calls)
    return f"{len(found)} rows: {shares}; {called} asked the model ({called / total:.0%})"


if __name__ == "__main__":
    main()
