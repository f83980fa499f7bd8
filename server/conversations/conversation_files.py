"""Find the files of conversations, read them, and hold their names against the journey."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from journeygraph.journeys import Journey, JourneyDefinitionError, JourneySpec
from journeygraph.journeys.concierge import journey_class
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.files.journey_file import read_tree, refuse
from journeygraph.journeys.files.loading import text_of
from journeygraph.journeys.files.part import FilePart, FileSource, InFile
from journeygraph.journeys.locale import DEFAULT, in_force
from journeygraph.journeys.spec.warning_signs import kept_names
from journeygraph.nodes.json_data import cleaned
from journeygraph.server.conversations import PATTERNS
from journeygraph.server.conversations.conversation_form import (
    Asked,
    Conversation,
    Expected,
    Moved,
    Turn,
)
from journeygraph.server.discover.definition_files import is_definition, placed
from journeygraph.server.discover.errors import CommandError, reworded
from journeygraph.server.discover.journeys import FoundJourney, find
from journeygraph.server.discover.modules import shown

_RECORDING = "recording"
_SECRET = re.compile(r"(?:KEYS?|TOKEN|SECRET|PASSWORD|URL)$")
_LEAST_SECRET = 8
KINDS = (
    *("change", "clarify", "correction", "human", "leave", "more", "paused", "restart", "retry"),
    *("return", "start_over", "summary", "unclaimed", "wrong", "waiting"),
)
"""Kinds of questions that are not the question of a field; `waiting` is that of an agent."""


@dataclass(frozen=True)
class LoadedConversation:
    """A conversation, with the file and the journey of it.

    Attributes:
        lines: Line of the file in which each turn begins, or that of its simulated users.
    """

    path: Path
    conversation: Conversation
    found: FoundJourney
    lines: Sequence[int]

    @property
    def name(self) -> str:
        """Name of the file, from the current folder."""
        return shown(self.path)

    @property
    def begins(self) -> datetime | None:
        """The time at which it begins, in UTC; None: now."""
        clock = self.conversation.clock
        return clock and self.in_utc(clock)

    def in_utc(self, time: datetime) -> datetime:
        """Return a time in UTC; without a zone it is meant in that of the locale."""
        if time.tzinfo is None:
            own = self.found.journey.spec.locale
            zone = in_force(own, self.conversation.locale, DEFAULT).timezone
            time = time.replace(tzinfo=ZoneInfo(zone or "UTC"))
        return time.astimezone(UTC)

    @property
    def journey(self) -> type[Journey]:
        """The journey, beginning where the conversation does."""
        place = self.conversation.place
        journey: Any = self.found.journey
        return _placed(journey, place) if place else self.found.journey


@lru_cache(maxsize=64)
def _placed(journey: Any, place: str) -> type[Journey]:
    return journey_class(replace(journey.spec, entry=place), None)


class _InConversation(InFile):
    """A place of a file of a conversation, whose words are those of class bodies."""

    def worded(self, text: str) -> str:
        return text


class _Source(FileSource):
    """Source of definitions in a file of a conversation."""

    def __init__(self, part: FilePart) -> None:
        super().__init__(part)
        self._root = _InConversation(part, (), "")


def recording_of(file: Path) -> Path:
    """Return the file with the recorded answers of the model of a conversation."""
    stem = file.name.removesuffix(file.suffix).removesuffix(".conversation")
    return file.with_name(f"{stem}.{_RECORDING}.json")


def read_recording(file: Path) -> list[dict[str, Any]]:
    """Return the answers in a recording; none if there is no such file."""
    if not file.exists():
        return []
    read = json.loads(file.read_text(encoding="utf-8"))
    answers = read.get("answers") if isinstance(read, dict) else None
    keys = {"turn", "for", "schema", "shown", "wording", "usage"}
    if not isinstance(answers, list) or not all(keys <= {*one} for one in answers):
        raise ValueError("it is not a recording of a model")
    return answers


def write_recording(file: Path, answers: Sequence[Mapping[str, Any]]) -> None:
    """Write the answers of a model; the same answers make the same file.

    Raises:
        CommandError: A key or a password of the environment is among them.
    """
    text = cleaned(json.dumps({"answers": list(answers)}, ensure_ascii=False, indent=1)) + "\n"
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _LEAST_SECRET and value in text:
            fault = f"An answer of the model has the value of {name}. Nothing is written to {file}."
            raise CommandError(fault)
    file.write_text(text, encoding="utf-8")


def conversation_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of conversations at these places: files as named, folders by PATTERNS."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            inside = [*_inside(path)]
            found.update(dict.fromkeys(inside))
            if not inside:
                said = f"There is no conversation in {path}: no file {' or '.join(PATTERNS[:2])}."
                raise CommandError(said, exit_code=2)
        elif path.is_file():
            found[path] = None
        else:
            raise CommandError(f"There is no file or folder {path}.", exit_code=2)
    return list(found)


def _inside(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        if entry.is_dir():
            hidden = entry.name.startswith(".") or entry.name == "node_modules"
            if not (hidden or entry.is_symlink() or (entry / "pyvenv.cfg").exists()):
                yield from _inside(entry)
        elif any(fnmatch(entry.name, pattern) for pattern in PATTERNS):
            yield entry


def load_conversation(path: Path) -> LoadedConversation:
    """Return the conversation of a file."""
    try:
        return loaded_from(text_of(path), path)
    except JourneyDefinitionError as error:  # the file itself cannot be read
        raise CommandError(*placed(path, error.faults), exit_code=2) from error


def loaded_from(text: str, path: Path) -> LoadedConversation:
    """Return the conversation in a text, as a file of this path would hold it."""
    try:
        part, conversation = read_form(Conversation, text, path.name)
        found = _journey_of(part, conversation, path)
        _check_names(part, conversation, found.journey.spec)
        refuse(part.faults)
    except JourneyDefinitionError as error:
        lines = placed(path, [reworded(one, " ".join(one.split())) for one in error.faults])
        raise CommandError(*lines, exit_code=2) from error
    turns = [("turns", n) for n in range(len(conversation.turns))]
    steps: list[Any] = turns or [("users",)]
    return LoadedConversation(
        path, conversation, found, [part.tree.place(step).line for step in steps]
    )


Form = TypeVar("Form", bound=Definition)


def read_form(kind: type[Form], text: str, name: str) -> tuple[FilePart, Form]:
    """Return the definition in the text of a file, with the place of its parts."""
    tree = read_tree(text, name)
    part = FilePart(name, tree)
    form: Form | None = None
    if tree.value is not None and not tree.broken:
        form = kind.read(tree.value, _Source(part))
    part.note_text(tree.faults)
    refuse(part.faults)
    assert form is not None
    return part, form


def _journey_of(part: FilePart, conversation: Conversation, path: Path) -> FoundJourney:
    """Return the journey: a file is looked for next to the conversation first."""
    name = conversation.journey
    file, colon, inside = name.partition(":")
    beside = path.parent / file
    if (is_definition(file) or file.endswith(".py")) and beside.is_file():
        name = f"{beside}{colon}{inside}"
    try:
        found = _found(name, Path.cwd())
    except CommandError as error:
        if error.exit_code != 2:
            raise
        _note(part, " ".join(error.lines), "journey")
        raise JourneyDefinitionError(part.faults) from None
    if not found.journey.spec.entry:
        _note(part, found.journey.spec.why_abstract, "journey")
    refuse(part.faults)
    return found


@lru_cache(maxsize=64)
def _found(name: str, _: Path) -> FoundJourney:
    return find(name)


def _note(part: FilePart, said: str, *path: str | int, remedy: str = "") -> None:
    where = _InConversation(part, (), "")
    part.faults.append(Fault(said, *path, remedy=remedy, where=where))


class KnownNames:
    """The names of a journey, to which those of a file are held.

    Args:
        context: The names of the first context, and of the data of events.
    """

    def __init__(self, part: FilePart, context: Iterable[str], spec: JourneySpec) -> None:
        self.part = part
        self.fields = field_names(spec)
        self.pathways = list(spec.pathways)
        self.effects = [e.tool for pathway in spec.pathways.values() for e in pathway.effects]
        self.rules = [guideline.id for guideline in spec.guidelines]
        made = {*kept_names(spec), *self.fields, *context}
        made |= {name for name, _ in spec.unset} | _inputs_of(spec)
        self.context = sorted(made)
        self.name = spec.name
        self.tools = list(dict.fromkeys([*spec.tools, *self.effects, *_called(spec)]))
        self.agents = list(spec.agents)

    def check_functions(self, tools: Iterable[str], agents: Iterable[str]) -> None:
        """Note the tools and agents that the journey does not have."""
        self.check("tool", [(name, name) for name in tools], self.tools, "tools")
        self.check("agent", [(name, name) for name in agents], self.agents, "agents")

    def check(self, kind: str, names: Iterable[Any], known: Collection[str], *path: Any) -> None:
        """Note the names that the journey does not have.

        Args:
            names: The names, or pairs of a step and a name.
        """
        for one in names:
            steps, name = (one[:1], one[1]) if isinstance(one, tuple) else ((), one)
            if name in known:
                continue
            there = f"The {kind}s: {', '.join(known)}." if known else f"It has no {kind}s."
            remedy = f"{did_you_mean(str(name), list(known))} {there}"
            said = f"{self.name} has no {kind} '{name}'."
            _note(self.part, said, *path, *steps, remedy=remedy.strip())


def field_names(spec: JourneySpec) -> list[str]:
    """Return the names of all fields of a journey."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    return list(dict.fromkeys(field.name for form in forms for field in form.fields))


def _inputs_of(spec: JourneySpec) -> set[str]:
    signatures = [p.signature for p in spec.pathways.values() if p.signature]
    return {field.name for one in signatures for field in (*one.inputs, *one.outputs)}


def _check_names(part: FilePart, conversation: Conversation, spec: JourneySpec) -> None:
    events = (name for turn in conversation.turns for name in turn.data)
    names = KnownNames(part, [*conversation.context, *events], spec)
    if conversation.place:
        names.check("pathway", [conversation.place], names.pathways, "place")
    names.check_functions(conversation.tools, conversation.agents)
    for number, turn in enumerate(conversation.turns):
        if turn.bot is not None:
            _check_expected(names, turn.bot, "turns", number, "bot")
        _check_answers(names, turn, "turns", number, "model")
    for number, goal in enumerate(conversation.users.goals if conversation.users else ()):
        where = ("users", "goals", number)
        names.check("field", [(name, name) for name in goal.values], names.fields, *where, "values")
        _check_expected(names, goal.reaches, *where, "reaches")


def _called(spec: JourneySpec) -> Iterator[str]:
    for pathway in spec.pathways.values():
        yield from (call.tool for call in pathway.calls)
        yield from pathway.tools or ()
    yield from spec.retrievers


def _check_expected(names: KnownNames, bot: Expected, *path: Any) -> None:
    if bot.pathway:
        names.check("pathway", [bot.pathway], names.pathways, *path, "pathway")
    for key in ("path", "stack"):
        names.check("pathway", enumerate(getattr(bot, key)), names.pathways, *path, key)
    to = bot.transition.to if isinstance(bot.transition, Moved) else bot.transition
    if to is not None:
        names.check("pathway", [to], names.pathways, *path, "transition")
    for key, known, kind in (
        ("fields", names.fields, "field"),
        ("attempts", names.fields, "field"),
        ("context", names.context, "context name"),
    ):
        names.check(kind, [(name, name) for name in getattr(bot, key)], known, *path, key)
    names.check("effect", enumerate(bot.effects), names.effects, *path, "effects")
    names.check("rule", enumerate(bot.held), names.rules, *path, "rules")
    _check_asks(names, bot.asks, *path, "asks")


def _check_asks(names: KnownNames, asks: str | Asked | None, *path: Any) -> None:
    if isinstance(asks, Asked):
        if asks.field is not None:
            names.check("field", [asks.field], names.fields, *path, "field")
        return
    if asks is not None:
        names.check("question", [asks], [*names.fields, *KINDS], *path)


def _check_answers(names: KnownNames, turn: Turn, *path: Any) -> None:
    for number, answer in enumerate(turn.model):
        if isinstance(answer, str):
            continue
        if answer.to:
            names.check("pathway", [answer.to], names.pathways, *path, number, "to")
        if answer.asks:
            names.check("field", [answer.asks], names.fields, *path, number, "asks")
        names.check("rule", enumerate(answer.held), names.rules, *path, number, "rules")
