"""Outcomes of the effects of a pathway, as a session keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys import Effect, PathwaySpec
from nodes.state.context import Op
from nodes.state.dialogue_state import Asked, Attempted, DialogueState

EFFECTS = "effects"
"""Name of what a pathway's progress has of its effects: an `Outcome` as a dict."""


@dataclass(slots=True)
class Outcome:
    """Outcome of a pathway's effects; a dict in the progress.

    Attributes:
        said: What the user is told, in order.
        kept: Names of the context, and the results that are kept under them.
        done: Step -> key under which it was taken; also those of an earlier unfinished turn.
        audit: What happened, as events of the audit.
        ended: How it ended: done; failed (the last try did nothing) or late (outcome unknown, safe
            to repeat by its key), which wait for a yes to be tried again; unsure; or outdated (a
            value that it would use is refused by now, and asked for again). In all cases but done
            the steps behind it were not taken.
        unsure: The step without knowledge of whether it was taken; empty: none.
        asked: What the user is asked then: whether to try again, whether to call a person, or for a
            value.
        attempts: At fields, where values were taken back.
        ops: What that changes in the context.
        dialogue: Attributes of the dialogue state that this changes, with their new values.
    """

    said: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    audit: list[dict[str, Any]] = field(default_factory=list)
    ended: str = "done"
    unsure: str = ""
    asked: Asked | None = None
    attempts: list[Attempted] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    dialogue: dict[str, Any] = field(default_factory=dict)


def step_of(pathway: PathwaySpec, effect: Effect) -> str:
    """Return the name of an effect's step."""
    return f"{pathway.id}.{effect.tool}"


def step_renamed(step: str, renamed: Callable[[str], str]) -> str:
    """Return the name of a step whose pathway may have another name by now."""
    pathway, _, tool = step.partition(".")
    return f"{renamed(pathway)}.{tool}"


def went_well(progress: Mapping[str, Any]) -> bool:
    """Return whether all effects of a pathway are taken, so that its tools and agents may work."""
    return EFFECTS not in progress or progress[EFFECTS]["ended"] == "done"


def record_effects(dialogue: DialogueState, outcome: Mapping[str, Any]) -> None:
    """Note which effects of a pathway were taken, and what was asked then."""
    for name, value in outcome["dialogue"].items():
        setattr(dialogue, name, value)
    keys = {step: [*dialogue.done.get(step, []), key] for step, key in outcome["done"].items()}
    dialogue.done = {**dialogue.done, **keys}
    dialogue.taken = [*dialogue.taken, *outcome["done"]]
    dialogue.unsure = [step for step in dialogue.unsure if step not in keys]
    if outcome["unsure"] and outcome["unsure"] not in dialogue.unsure:
        dialogue.unsure = [*dialogue.unsure, outcome["unsure"]]
    dialogue.asked = outcome["asked"] or dialogue.asked


def begin_effects_anew(dialogue: DialogueState, pathway: PathwaySpec) -> None:
    """Let the effects of a pathway be taken again: it begins anew."""
    steps = [step_of(pathway, effect) for effect in pathway.effects]
    dialogue.taken = [step for step in dialogue.taken if step not in steps]
    dialogue.unsure = [step for step in dialogue.unsure if step not in steps]
