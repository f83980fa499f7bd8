"""Pathways: the stretches of a journey, as an author writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from journeygraph.journeys.agents.signature import Signature
from journeygraph.journeys.agents.tools import Call
from journeygraph.journeys.declarations.behaviors import (
    Known,
    MergeStrategy,
    Never,
    ReturnToPrevious,
    ReturnToSpecific,
)
from journeygraph.journeys.declarations.effects import Effect
from journeygraph.journeys.declarations.fields import Field, Form
from journeygraph.journeys.declarations.guidelines import Guideline
from journeygraph.journeys.pipelines.pattern import PatternPipeline


class Pathway:
    """A phase of a journey; nest subclasses of it in a `Journey`.

    Its id is the class name without the suffix `Pathway` or `Path`, in snake case. The docstring
    says what it is for. Subclasses inherit what they do not set.

    Most attributes are those of `PathwaySpec`, which the states of files have too; a table of all
    of them is in docs/reference/journeys.md.

    Attributes:
        __signature__: The `Signature` of its agents: the sources of their inputs, the types of
            their outputs. Default: agents get only the payload; outputs are taken as they are.
        __agents__: Names of the agents that run, in order; []: no agent runs and there is no reply.
            Default: with a signature one, with the name of the pathway; else none.
        __tools__: Names of the tools that its model agents may use here; []: none. Other tools of
            these agents are neither shown to the model nor run. Default: all tools of the agents
            and the journey; a tool that a guideline names only while that guideline holds.
        __pipeline__: Pattern of its agents: "sequential", one after the other, each sees the
            outputs of those before it; "parallel", at the same time; another of the nine patterns
            by name; or a `Pipeline` object, which brings its own agents.
        __pipeline_config__: Settings of a pattern that is given by name; its roles, such as
            `{"synthesizer": "writer"}`, with names from `__agents__`; and `error_handling`. The
            failure of an agent fails the turn unless this is "graceful".
        __accumulate__: Outputs to store in the context: names, or name -> `MergeStrategy` (None:
            the undeclared rule).
        __complete_when__: Context names that must be there and not None, a function of the context,
            or `NEVER`. On a second visit, names that the pathway itself wrote must be written
            again, except `known("name")`. Default: complete after a run that was entered neither by
            a transition nor by a return; a detour after every run.
        __return_behavior__: Makes it a detour: `ReturnToPrevious()` or `ReturnToSpecific("id")`.
            Default: no detour.
        __runs_on_arrival__: True: its agents run in the turn in which another pathway leads to it.

    Source: ADR-025 section 5.2, ADR-018; readings in docs/reference/journeys.md.
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
