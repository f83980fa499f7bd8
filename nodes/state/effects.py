"""Effects of pathways: each step is taken once, and a session keeps their outcomes.

The port to where taken steps are kept is here, with its twin in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from cachetools import LRUCache

from journeygraph.journeys import Effect, PathwaySpec
from journeygraph.nodes.state.context import Op
from journeygraph.nodes.state.dialogue_state import Asked, Attempted, DialogueState
from journeygraph.nodes.state.session import Turn


@dataclass(frozen=True, slots=True)
class EffectStep:
    """A step to take.

    Attributes:
        birth: Of the session, which distinguishes it from others of the same id; empty: it is older
            than that.
        name: `pathway.tool`.
        digest: Of the arguments; only what was taken with the same ones counts.
    """

    turn: Turn
    birth: str
    name: str
    digest: str

    @property
    def place(self) -> str:
        """Parts of a key after the session's id: birth, turn and name."""
        return "/".join(filter(None, (self.birth, str(self.turn["number"]), self.name)))


@dataclass(frozen=True, slots=True)
class Taken:
    """Record of a step, with the key under which it is taken.

    `state` is free (the caller takes it now), done, or begun (outcome unknown). `apart` are the
    keys under which it was taken, or may have been, with other arguments, in turns that were not
    kept.
    """

    key: str
    state: Literal["free", "begun", "done"]
    result: Any = None
    apart: Sequence[str] = ()


class Effects(Protocol):
    """Keeps, outside of the turn, which steps of a session were taken."""

    async def begin(self, step: EffectStep, known: Collection[str]) -> Taken:
        """Note that a step is about to be taken, unless it was; return what is known of it.

        A step that failed before is free again, under the key that it had.

        Args:
            known: Keys that the session's state knows of: they are over, and count no more.

        Raises:
            StateError: The session has moved on without this turn, or the store failed.
        """

    async def done(self, key: str, result: Any) -> None:
        """Record a taken step and its result."""

    async def failed(self, key: str, reason: str) -> None:
        """Record a failed step and its reason."""


@dataclass(frozen=True, slots=True)
class _Noted:
    digest: str
    taken: Taken


class EffectsOfRun:
    """Effects of a run without a session: no step is taken twice in one turn.

    That covers steps that are run again within a turn. A turn that is sent again, manually or after
    a crash, is another turn here: only a manager's store knows what the one before it did.
    """

    def __init__(self) -> None:
        self._steps: LRUCache[str, _Noted] = LRUCache(4096)

    async def begin(self, step: EffectStep, known: Collection[str]) -> Taken:
        """Note that a step is about to be taken, unless it was in this turn."""
        # A graph without a manager does not know its thread. The birth is that of the thread, or
        # of the run where nothing is kept; when the turn began tells its turns apart, also after
        # a fork.
        key = f"default/{step.turn['at']}/{step.place}"
        found = self._steps.get(key)
        if found and found.digest == step.digest and found.taken.state != "free":
            return found.taken
        self._steps[key] = _Noted(step.digest, Taken(key, "begun"))
        return Taken(key, "free")

    async def done(self, key: str, result: Any) -> None:
        """Record a taken step and its result."""
        self._end(key, Taken(key, "done", result))

    async def failed(self, key: str, reason: str) -> None:
        """Note that a step was not taken."""
        self._end(key, Taken(key, "free"))

    def _end(self, key: str, taken: Taken) -> None:
        if key in self._steps:
            self._steps[key] = replace(self._steps[key], taken=taken)


EFFECTS = "effects"
"""Name of what a pathway's progress has of its effects: an `EffectsOutcome` as a dict."""


@dataclass(slots=True)
class EffectsOutcome:
    """Outcome of a pathway's effects; a dict in the progress.

    Attributes:
        done: Step -> key under which it was taken; also those of an earlier unfinished turn.
        ended: The outcome: done; failed (the last try did nothing), late (outcome unknown, safe
            to repeat by its key) or doubted (unknown with earlier values; not tried with these),
            which wait for a yes to be tried again; unsure; or outdated (a value that it would use
            is refused now, and asked for again). In all cases but done the steps behind it were
            not taken.
        unsure: The steps of the session with an unknown outcome, after this run.
        asked: The question to the user then: whether to try again, to call a person, or for a
            value.
        dialogue: Attributes of the dialogue state that this changes, with their new values.
    """

    said: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    audit: list[dict[str, Any]] = field(default_factory=list)
    ended: str = "done"
    unsure: list[str] = field(default_factory=list)
    asked: Asked | None = None
    attempts: list[Attempted] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    dialogue: dict[str, Any] = field(default_factory=dict)


def step_of(pathway: PathwaySpec, effect: Effect) -> str:
    """Return the name of an effect's step."""
    return f"{pathway.id}.{effect.tool}"


def step_renamed(step: str, renamed: Callable[[str], str]) -> str:
    """Return the name of a step whose pathway may have been renamed."""
    pathway, _, tool = step.partition(".")
    return f"{renamed(pathway)}.{tool}"


def went_well(progress: Mapping[str, Any]) -> bool:
    """Return whether all effects of a pathway are taken, so that its tools and agents may work."""
    return EFFECTS not in progress or progress[EFFECTS]["ended"] == "done"


def is_taken(dialogue: DialogueState, pathway: PathwaySpec) -> bool:
    """Return whether an effect of a pathway was taken since it was begun."""
    return any(step_of(pathway, effect) in dialogue.taken for effect in pathway.effects)


def may_be_taken(dialogue: DialogueState, pathway: PathwaySpec) -> bool:
    """Return whether an effect of a pathway was taken since it was begun, or may have been."""
    steps = [step_of(pathway, effect) for effect in pathway.effects]
    return any(step in (*dialogue.taken, *dialogue.unsure) for step in steps)


def record_effects(dialogue: DialogueState, outcome: Mapping[str, Any]) -> None:
    """Note which effects of a pathway were taken, and what was asked then."""
    for name, value in outcome["dialogue"].items():
        setattr(dialogue, name, value)
    keys = {step: [*dialogue.done.get(step, []), key] for step, key in outcome["done"].items()}
    dialogue.done = {**dialogue.done, **keys}
    dialogue.taken = [*dialogue.taken, *outcome["done"]]
    dialogue.unsure = outcome["unsure"]
    dialogue.asked = outcome["asked"] or dialogue.asked


def begin_effects_anew(dialogue: DialogueState, pathway: PathwaySpec) -> None:
    """Allow the effects of a pathway again, because it starts again."""
    steps = [step_of(pathway, effect) for effect in pathway.effects]
    dialogue.taken = [step for step in dialogue.taken if step not in steps]
    try_unsure_again(dialogue, pathway)


def try_unsure_again(dialogue: DialogueState, pathway: PathwaySpec) -> None:
    """Allow the effects of a pathway whose outcome is unknown, because the user wants them."""
    steps = [step_of(pathway, effect) for effect in pathway.effects]
    dialogue.unsure = [step for step in dialogue.unsure if step not in steps]
