"""The course that a turn takes while it is decided: what is said, kept, and run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import Field, JourneySpec, PathwaySpec
from journeys.behaviors import ReturnToSpecific
from journeys.regexes import LONGEST_MATCH
from nodes.context import Op, apply_ops
from nodes.forms.attempts import attempt, by_field
from nodes.forms.sheet import Sheet, current_value, field_named, owners, talk_of
from nodes.moves import Entered, Standing, note
from nodes.services import Services
from nodes.setting import setting_of
from nodes.speech import worded
from nodes.state import Fired, Judged, Position, SessionState, Turn
from nodes.talk import Asked, Attempted, FieldAttempt, Option, Talk, add_attempts
from nodes.telemetry.logs import report
from nodes.values import Setting, shown


@dataclass(slots=True)
class Course:
    """A turn that is being decided; what it is given is never changed, only what is its own.

    Attributes:
        services: What the turn works with.
        turn: Its record.
        setting: When and where the user speaks.
        position: Where the session stands, as far as that is decided.
        context: The context, likewise.
        fields: All attempts at fields that the state keeps, with those of this turn.
        talk: What the session remembers of its talk.
        words: What the runtime says before anything runs.
        attempts: The attempts of this turn.
        ops: What changes in the context.
        audit: What happened.
        flags: What the turn is marked with.
        run: The pathway that runs; None: nothing does.
        entered: How it is come to.
        transition: What fired.
        aside: The pathway that answers in place of a text, where the journey has one for that.
        refused_depth: The depth that was asked for, and the limit that it is over.
        asks: Name of the field that the model's own words ask for.
        changing: Name of the field that the user chose to change after an effect.
        judged: What a model was surest of, where nothing moved.
        near: The journeys of a concierge that it held likely then.
        settled: Whether what runs is decided.
        resumed: Whether the user comes back after a pause.
    """

    services: Services
    turn: Turn
    setting: Setting
    position: Position
    context: Mapping[str, Any]
    fields: dict[str, list[FieldAttempt]]
    talk: Talk
    question: str = ""
    words: list[str] = field(default_factory=list)
    attempts: list[Attempted] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    run: str | None = None
    entered: Entered = "stay"
    transition: Fired | None = None
    aside: str | None = None
    refused_depth: tuple[int, int] | None = None
    asks: str = ""
    changing: str = ""
    judged: Judged | None = None
    near: tuple[str, ...] = ()
    settled: bool = False
    resumed: bool = False

    @property
    def spec(self) -> JourneySpec:
        """The journey."""
        return self.services.spec

    @property
    def standing(self) -> Standing:
        """Where the session stands now, as moves see it."""
        return Standing(self.position, self.context, self.question, self.turn["number"])

    @property
    def here(self) -> PathwaySpec:
        """The pathway that the talk is about: where the session stands, or where it returns to."""
        return self.spec.pathways[talked_about(self.spec, self.position)]

    def sheet(self, pathway: PathwaySpec | None = None) -> Sheet:
        """Return the form of a pathway as it stands; default: of the one that is talked about."""
        return Sheet(pathway or self.here, self.fields, self.context, self.talk)

    def say(self, name: str, **values: Any) -> None:
        """Say a text of the catalogue, with what stands for its placeholders."""
        self.words.append(self.text(name, **values))

    def text(self, name: str, **values: Any) -> str:
        """Return a text of the catalogue."""
        texts = self.services.texts_in(self.position["pathway"])
        return worded(getattr(texts, name), **values)

    def repair(self, pattern: str, name: str, **values: Any) -> None:
        """Answer by a repair pattern: by a text, or by the pathway that the journey has for it."""
        self.answer(pattern, self.text(name, **values))

    def answer(self, pattern: str, text: str) -> None:
        """Answer by a repair pattern as `repair` does, with words that are found already."""
        self.note("repaired", trigger=pattern)
        if own := self.spec.pattern_in(self.here.id, pattern):
            self.aside = own
        else:
            self.words.append(text)

    def ask(self, asked: Asked | None) -> None:
        """Remember what the user is asked; the next message may answer it."""
        self.talk = {**self.talk, "asked": asked}

    def rest(self) -> None:
        """Run nothing; the words are the answer."""
        self.run, self.settled = None, True

    def listed(self, options: Sequence[Option]) -> str:
        """Return options as a list that the user may choose from by number."""
        return "\n".join(f"{n}. {option['label']}" for n, option in enumerate(options, 1))

    def note(self, kind: str, **details: Any) -> None:
        """Audit what happened."""
        self.audit.append(note(kind, self.position, **details))

    def note_late(self) -> None:
        """Audit the fields, one of whose patterns was stopped since the turn's step began."""
        late = self.setting.patterns.late
        if late:
            report(logging.WARNING, "pattern_late", fields=", ".join(late))
        reason = f"a pattern of it took longer than {LONGEST_MATCH * 1000:.0f} ms: no match"
        for name in late:
            self.note("pattern_late", trigger=name, reason=reason)

    def keep(self, name: str, status: Any, **details: Any) -> None:
        """Append an attempt at a field."""
        made = attempt(self.turn, name, status, **details)
        self.attempts.append(made)
        self.fields = add_attempts(self.fields, by_field([made]))

    def change(self, *ops: Op) -> None:
        """Change the context."""
        self.ops += ops
        self.context = apply_ops(dict(self.context), list(ops))

    def value(self, name: str) -> Any:
        """Return the value of a field; None if it has none."""
        return current_value(self.fields, name)

    def field(self, name: str) -> Field:
        """Return the field of a name: as it is declared here, else wherever it is.

        Raises:
            KeyError: There is none.
        """
        form = self.here.form
        return form[name] if form and name in form else field_named(self.spec, name)

    def shown(self, wanted: Field, value: Any) -> str:
        """Return a value as the user reads it."""
        if wanted.sensitive:
            return self.services.texts_in(self.position["pathway"]).hidden
        return shown(wanted, value, self.setting)

    def synced(self, *names: str) -> None:
        """Let the context tell of these fields what their forms tell, and of those beside them."""
        beside = {
            other.name
            for name in names
            for pathway in owners(self.spec, name)
            for other in (pathway.form.fields if pathway.form else ())
        }
        told: dict[str, dict[str, Any]] = {}
        for name in sorted(beside):
            mine = owners(self.spec, name)
            told |= {one.id: self.sheet(one).values for one in mine if one.id not in told}
            value = next((v for one in mine if (v := told[one.id].get(name)) is not None), None)
            was = self.context.get(name)
            touched = name in names or self.value(name) is not None
            if value is None and was is not None and touched:
                self.change(["clear", name, None])
            elif value is not None and value != was and (was is None or name in names):
                self.change(["replace", name, value])
            else:
                continue
            told = {}  # whether a field counts may hang on what has just changed


def talked_about(spec: JourneySpec, position: Position) -> str:
    """Return the pathway that the next message is about, if it leads nowhere else."""
    if not position["returning"]:
        return position["pathway"]
    returns = spec.pathways[position["pathway"]].returns
    if isinstance(returns, ReturnToSpecific):
        return returns.target_pathway
    return position["stack"][-1]["pathway"] if position["stack"] else position["pathway"]


def course_of(
    services: Services,
    state: SessionState,
    turn: Turn,
    position: Position,
    question: str = "",
) -> Course:
    """Return the course of a turn that begins."""
    return Course(
        services,
        turn,
        setting_of(services, turn),
        position,
        state.get("context", {}),
        dict(state.get("fields", {})),
        talk_of(position),
        question,
    )
