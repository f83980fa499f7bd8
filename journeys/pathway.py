"""Pathways: the stretches of a journey, as an author writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from journeys.agents.signature import Signature
from journeys.agents.tools import Call
from journeys.notions.behaviors import (
    Known,
    MergeStrategy,
    Never,
    ReturnToPrevious,
    ReturnToSpecific,
)
from journeys.notions.effects import Effect
from journeys.notions.fields import Field, Form
from journeys.notions.guidelines import Guideline
from journeys.pipelines.pattern import PatternPipeline


class Pathway:
    """A phase of a journey; nest subclasses of it in a `Journey`.

    Its id is the class name without the suffix `Pathway` or `Path`, in snake case. The docstring
    says what it is for. Subclasses inherit what they do not set.

    Attributes:
        __signature__: The contract of its agents: a Signature class or instance.
        __agents__: Names of the agents that run, in order. None: nothing runs, nothing is said.
        __action__: What its agents are to do here, in words; models are told it as instructions.
        __calls__: Tools that are called before the agents work, each a `Call` or a name; the agents
            are given the results as `tool_results`.
        __title__: What users are told it is called, such as "the transfer"; default: its id.
        __fields__: What it collects before its agents work: a list of `Field`, or a `Form`. It asks
            for them by itself, also in the turn in which another pathway leads here.
        __effects__: What is done once, when its fields are collected and confirmed: each an
            `Effect`, or the name of a tool.
        __knowledge__: Where questions of users are looked up while it collects, or where no agent
            answers them: a retriever, or `Knowledge`. Default: that of the journey.
        __interruptible__: False: until it is complete, detours wait, and start then. Names of
            fields: it may be interrupted while it asks for those alone.
        __guidelines__: Rules of behaviour that hold in this pathway alone.
        __tools__: Names of the tools that model agents may use here. None: all that they bring, but
            for those that a guideline gives them only when it holds.
        __pipeline__: How they work together: "sequential" (default) or the name of another of the
            nine patterns, or a pipeline as an object, which brings its agents along: by themselves,
            or by names that the journey registers.
        __pipeline_config__: Settings of a pattern that is named, who has a role in it (a name in
            `__agents__`; the others are the peers), and `error_handling`. An agent's failure is the
            turn's unless that says "graceful".
        __accumulate__: Outputs kept in the context: a list of names, or name -> MergeStrategy
            (None for the undeclared rule).
        __complete_when__: Context names that must be there and not None, a callable on the
            context, or `NEVER`. Entered again once it was complete, it has to write those anew
            that it wrote itself, but for `known("name")`. Undeclared: complete after a run that was
            entered neither by a transition nor by a return; a detour after every run.
        __next__: Where a complete pathway leads; without it, and without a return behaviour, the
            journey is complete. Never a detour.
        __return_behavior__: Makes it a detour: ReturnToPrevious() or ReturnToSpecific("id").
        __runs_on_arrival__: Run in the same turn in which another pathway leads here.
        __timeout__: Longest run in seconds; replaces the config's.

    Source: ADR-025 section 5.2, ADR-018; readings in docs/journeys.md.
    """

    __signature__: ClassVar[type[Signature] | Signature | None] = None
    __agents__: ClassVar[Sequence[str]] = ()
    __action__: ClassVar[str] = ""
    __calls__: ClassVar[Sequence[Call | str]] = ()
    __title__: ClassVar[str] = ""
    __fields__: ClassVar[Sequence[Field] | Form] = ()
    __effects__: ClassVar[Sequence[Effect | str]] = ()
    __knowledge__: ClassVar[Any] = None
    __interruptible__: ClassVar[bool | Sequence[str]] = True
    __guidelines__: ClassVar[Sequence[Guideline]] = ()
    __tools__: ClassVar[Sequence[str] | None] = None
    __pipeline__: ClassVar[str | PatternPipeline] = "sequential"
    __pipeline_config__: ClassVar[Mapping[str, Any]] = {}
    __accumulate__: ClassVar[Sequence[str] | Mapping[str, MergeStrategy | None]] = ()
    __complete_when__: ClassVar[Sequence[str | Known] | Callable[..., Any] | Never | None] = None
    __next__: ClassVar[str | None] = None
    __return_behavior__: ClassVar[ReturnToPrevious | ReturnToSpecific | None] = None
    __runs_on_arrival__: ClassVar[bool] = False
    __timeout__: ClassVar[float | None] = None


PATHWAY_ATTRIBUTES = tuple(
    name for name in Pathway.__annotations__ if name.startswith("__") and name.endswith("__")
)
"""Every attribute that a pathway body may set."""
