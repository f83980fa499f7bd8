"""The frozen specification that every journey becomes; the compiler reads nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from types import CellType, CodeType, MappingProxyType, MethodType, ModuleType
from typing import Any

from journeys.behaviors import Never, ReturnToPrevious, ReturnToSpecific
from journeys.calls import Call, ToolSpec
from journeys.context import MergeStrategy
from journeys.guidelines import GuidelineSpec
from journeys.io_fields import FieldSpec, SignatureSpec
from journeys.pipelines.pattern import PatternPipeline
from journeys.transitions import BaseTrigger, ConditionTrigger
from journeys.validation import Validation

RESERVED_IDS = ("understand", "settle", "check_reply")
"""Names of the graph's own nodes."""
MOVE, ACTIVATION, HAND_OVER, CANCEL = "move", "activation", "hand_over", "cancel"
"""Kinds of transitions."""
MAX_HOPS = 10
"""Most pathways that run in one turn."""

_HELD = -1
"""Stands among the ids of what is being hashed for: something else holds this."""

Completion = tuple[str, ...] | Callable[[Mapping[str, Any]], Any] | Never | None


@dataclass(frozen=True, slots=True)
class Update:
    """One entry of a `context_update`: `how` is append, set, copy or clear."""

    target: str
    how: str
    argument: str


@dataclass(frozen=True, slots=True)
class PathwaySpec:
    """One pathway: a stretch of the talk that compiles to a subgraph.

    `agents` are the names that the journey registers agents for; `pipeline` is how all of its
    agents work together, None where nobody works. `action` guides its agents, `calls` are made
    before they work. `journey` is the id of the journey that it is a part of, where several are
    one; `forgets` names what the context loses when it leads on to `next`.
    """

    id: str
    where: str
    purpose: str = ""
    signature: SignatureSpec | None = None
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    pipeline: PatternPipeline | None = None
    accumulate: Mapping[str, MergeStrategy | None] = field(default_factory=dict)
    next: str | None = None
    returns: ReturnToPrevious | ReturnToSpecific | None = None
    complete_when: Completion = None
    runs_on_arrival: bool = False
    timeout: float | None = None
    action: str = ""
    calls: tuple[Call, ...] = ()
    journey: str = ""
    forgets: tuple[str, ...] = ()

    @property
    def is_detour(self) -> bool:
        """Whether a transition into it pauses the present pathway."""
        return self.returns is not None


@dataclass(frozen=True, slots=True)
class TransitionSpec:
    """One transition; `id` names it in the state and in the audit, stable within a version.

    `kind` tells apart what a concierge adds to the moves within its journeys: what starts one,
    hands over to another, or gives one up.
    """

    id: str
    trigger: BaseTrigger
    sources: tuple[str, ...]
    target: str
    updates: tuple[Update, ...] = ()
    priority: int = 0
    where: str = ""
    kind: str = MOVE

    @property
    def label(self) -> str:
        """What makes it fire, in a few words."""
        return self.trigger.label

    @property
    def context_update(self) -> dict[str, str]:
        """The updates as an author writes them; a copy."""
        return {
            item.target: item.argument if item.how == "copy" else f"{item.how}:{item.argument}"
            for item in self.updates
        }

    @property
    def is_condition(self) -> bool:
        """Whether it fires by a condition on the context, once until seen false."""
        return isinstance(self.trigger, ConditionTrigger)

    def applies_in(self, *pathways: str) -> bool:
        """Say whether one of these pathways is among its sources."""
        return self.sources == ("*",) or any(pathway in self.sources for pathway in pathways)


@dataclass(frozen=True, slots=True, eq=False)
class JourneySpec:
    """A whole journey as data. `version` is a hash of it, unless the author gave one.

    `strategies` holds the one merge strategy of each accumulated name, `kept` the names that
    context updates read, `reachable` the pathways that a session can come to. `guidelines` are
    those of the journey and of all its pathways; `tools` are declared by name and handed over when
    it runs. `activation` says what starts it among other journeys, and `shared` what it leaves to
    them. `parts` are the journeys that a concierge is made of, by id, and `otherwise` says what it
    does with a message that starts none of them.
    """

    id: str
    name: str
    purpose: str
    entry: str
    pathways: Mapping[str, PathwaySpec]
    transitions: tuple[TransitionSpec, ...]
    strategies: Mapping[str, MergeStrategy | None]
    kept: frozenset[str]
    reachable: frozenset[str]
    sensitive: bool
    version: str
    warnings: tuple[str, ...] = ()
    guidelines: tuple[GuidelineSpec, ...] = ()
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    activation: tuple[BaseTrigger, ...] = ()
    shared: tuple[str, ...] = ()
    degrade: str = "canned"
    safe_reply: str = ""
    validation: Validation | None = None
    model: str | None = None
    parts: Mapping[str, JourneySpec] = field(default_factory=dict)
    otherwise: str = ""

    @property
    def reception(self) -> str | None:
        """Id of the pathway where a concierge stands between its journeys; None in others."""
        return self.entry if self.parts else None

    def part_of(self, pathway_id: str) -> JourneySpec:
        """Return the journey that a pathway belongs to: this one, unless it is made of several."""
        return self.parts.get(self.pathways[pathway_id].journey, self)

    def active_in(self, pathway_id: str) -> str | None:
        """Return the id of the journey that is active in a pathway; None where none is.

        That is this one; of a concierge one of its parts, and in its reception none.
        """
        if not self.parts:
            return self.id
        pathway = self.pathways.get(pathway_id)
        return pathway.journey or None if pathway else None

    @property
    def agents(self) -> dict[str, list[str]]:
        """Every agent name with the pathways that use it."""
        used: dict[str, list[str]] = {}
        for pathway in self.pathways.values():
            for agent in pathway.agents:
                used.setdefault(agent, []).append(pathway.id)
        return used


def reachable(
    entry: str, pathways: Mapping[str, PathwaySpec], transitions: Sequence[TransitionSpec]
) -> frozenset[str]:
    """Return the ids of the pathways that a session can come to."""
    seen: set[str] = set()
    waiting = [entry] if entry in pathways else []
    while waiting:
        at = pathways[waiting.pop()]
        if at.id in seen:
            continue
        seen.add(at.id)
        leads_to = [t.target for t in transitions if t.applies_in(at.id)]
        if at.next:
            leads_to.append(at.next)
        if isinstance(at.returns, ReturnToSpecific):
            leads_to.append(at.returns.target_pathway)
        waiting += [id_ for id_ in leads_to if id_ not in seen]
    return frozenset(seen)


def frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a read-only copy of a mapping."""
    return MappingProxyType(dict(mapping))


def content_hash(*parts: Any) -> str:
    """Return the sha256 of a definition: its data, and its callables by name and code."""
    canonical = json.dumps(_plain(parts), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a value as JSON; `within` are the objects that hold it, so that a circle ends."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Enum):
        return [type(value).__qualname__, value.name]
    if isinstance(value, (type, ModuleType)) or id(value) in within:
        return getattr(value, "__qualname__", getattr(value, "__name__", type(value).__name__))
    within = (*within, id(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item, within) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, within) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_plain(item, within), sort_keys=True) for item in value)
    return _plain_object(value, within)


def _plain_object(value: Any, within: tuple[int, ...]) -> Any:
    if isinstance(value, FieldSpec):
        default = "-" if value.required else _plain(value.default, within)
        # Where a function of an Annotated[...] stands in memory is different in every process.
        kind = re.sub(r" at 0x[0-9a-fA-F]+", "", str(value.annotation))
        return [value.name, kind, value.description, default, value.source]
    if isinstance(value, CodeType):
        consts = [_plain(item, within) for item in value.co_consts]
        return [value.co_code.hex(), list(value.co_names), consts]
    if isinstance(value, partial):
        return _plain((value.func, value.args, value.keywords), within)
    if isinstance(value, MethodType):
        return _plain((value.__func__, value.__self__), within)
    if code := getattr(value, "__code__", None):
        held = (value.__defaults__, value.__kwdefaults__, _enclosed(value))
        return [value.__qualname__, _plain(code, within), _plain(held, (*within, _HELD))]
    if isinstance(value, (bytes, complex, type(...))):
        return repr(value)
    return _plain_instance(value, within)


def _plain_instance(value: Any, within: tuple[int, ...]) -> Any:
    """Return an object as its class, the code of it, and what it holds.

    An object that is only held, such as a logger or a connection, counts by its class: what it
    holds in its turn is alive, and no part of a definition.
    """
    kind = type(value)
    named = getattr(value, "__dataclass_fields__", None)
    if named is None and _HELD in within and not isinstance(value, BaseTrigger):
        return kind.__qualname__
    held = vars(value) if named is None and hasattr(value, "__dict__") else named or {}
    inside = within if kind.__module__ in _OWN else (*within, _HELD)
    items = {name: _plain(getattr(value, name), inside) for name in held}
    return [kind.__qualname__, _plain(_codes(kind), within), items]


def _codes(kind: type) -> list[Any]:
    """Return the code of a class's methods; that of the language itself is no part of a journey."""
    bodies = [body for body in kind.__mro__ if body is not object and body.__module__ not in _OWN]
    methods = [getattr(m, "__func__", m) for body in bodies for m in vars(body).values()]
    return [code for method in methods if (code := getattr(method, "__code__", None))]


_OWN = tuple(
    f"journeys.{name}"
    for name in (
        "agent_card",
        "behaviors",
        "calls",
        "files.expressions",
        "guidelines",
        "io_fields",
        "model_agent",
        "pipelines.limits",
        "pipelines.pattern",
        "spec",
        "transitions",
        "validation",
    )
)


def _enclosed(function: Any) -> list[Any]:
    """Return what a function holds of where it was made; a name given later is not there yet."""
    cells = getattr(function, "__closure__", None) or ()
    # An empty cell equals another one, and has no contents to ask for.
    return [cell.cell_contents for cell in cells if cell != CellType()]
