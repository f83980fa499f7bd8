"""Search a journey without a model for dead ends, unreachable parts and loops.

Breadth first: from each state of a session, every message that may lead on is tried. States are
the same if the session is in the same place, with the same question, the same names known, and the
same values of those that conditions read.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from journeygraph.graphs.agents.registry import check_all
from journeygraph.graphs.records.listing import cursor_behind
from journeygraph.journeys import (
    NEVER,
    AgentNotRegisteredError,
    AlwaysTrigger,
    AuditEntry,
    EventTrigger,
    Field,
    IntentTrigger,
    Journey,
    JourneyResponse,
    JourneySpec,
    PathwaySpec,
    TimeTrigger,
    TransitionSpec,
)
from journeygraph.journeys.locale import DEFAULT
from journeygraph.journeys.spec.warning_signs import kept_names
from journeygraph.nodes.llm.models import only
from journeygraph.nodes.state.escalation import WITH_PERSON
from journeygraph.server.conversations.coverage import fired_in
from journeygraph.server.conversations.samples import WRONG, results_of_effects, samples_of
from journeygraph.server.conversations.stubs import stubbed_tools
from journeygraph.server.discover.declarations import Declarations
from journeygraph.server.discover.journeys import FoundJourney
from journeygraph.server.settings import Settings

_OPENER = "hello"
_MOST_PATTERNS, _MOST_OPTIONS = 2, 6
_PROGRESS = ("field_set", "field_corrected", "field_cleared", "effect_done", "tool_done")


@dataclass(frozen=True)
class SearchBounds:
    """Bounds of a search.

    Attributes:
        turns: Longest conversation.
        alike: Most states with the same place and question that are searched; others differ only
            in the names that are known.
    """

    seconds: float = 50.0
    turns: int = 14
    states: int = 2000
    alike: int = 5


@dataclass(frozen=True)
class ExplorerFinding:
    """A fault of a journey, or a part that the search did not reach.

    Attributes:
        kind: dead end, unreachable, loop, or open: it is not known, for the stated reason.
        place: File and line of its declaration.
        conversation: The shortest messages that show it.
    """

    kind: str
    what: str
    why: str
    place: str
    conversation: Sequence[str] = ()

    @property
    def is_fault(self) -> bool:
        """Return whether it is a fault of the journey."""
        return self.kind != "open"


class _Key(NamedTuple):
    """Things that tell states apart."""

    pathway: str
    stack: tuple[str, ...] = ()
    returning: bool = False
    complete: bool = False
    with_person: bool = False
    field: str | None = None
    kind: str | None = None
    known: tuple[tuple[str, Any], ...] = ()

    def same_as(self, other: _Key) -> bool:
        """Return whether nothing is won on the way from another state."""
        one, two = (key._replace(stack=(), returning=False, kind=None) for key in (self, other))
        return one == two


@dataclass
class _State:
    """A state of a session, by the shortest conversation that leads to it."""

    key: _Key
    version: int
    said: tuple[str, ...]
    pathway: str
    response: JourneyResponse | None
    asked: Mapping[str, Any] | None
    next: dict[str, _Edge] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        response = self.response
        if response is None:
            return False
        return response.is_journey_complete or WITH_PERSON in response.metadata["flags"]


@dataclass(frozen=True)
class _Edge:
    target: _Key
    kinds: frozenset[str]
    failed: str = ""


@dataclass
class Explored:
    """Outcome of a search.

    Attributes:
        whole: True if no bound ended it.
    """

    spec: JourneySpec
    states: int = 0
    turns: int = 0
    seconds: float = 0.0
    whole: bool = True
    fired: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    findings: list[ExplorerFinding] = field(default_factory=list)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "journey": self.spec.id,
            "states": self.states,
            "turns": self.turns,
            "seconds": round(self.seconds, 1),
            "whole": self.whole,
            "transitions": {"fired": len(self.fired), "all": len(self.spec.transitions)},
            "pathways": {"visited": len(self.visited), "all": len(self.spec.pathways)},
            "findings": [
                {
                    "kind": one.kind,
                    "what": one.what,
                    "why": one.why,
                    "place": one.place,
                    "conversation": list(one.conversation),
                }
                for one in self.findings
            ],
        }


async def explore(
    found: FoundJourney,
    *,
    limits: SearchBounds | None = None,
    given: Sequence[str] = (),
    effects: bool = False,
    watch: Callable[[Explored], None] | None = None,
) -> Explored:
    """Search a journey.

    Args:
        given: Messages that are tried everywhere, such as a code that no sample is.
        effects: True to call the functions of effects; otherwise their results are invented.
        watch: Called after each state.

    Raises:
        CommandError: Agents are missing without a model.
    """
    agents = found.agents_with(has_model=False)
    try:
        with only(False):
            check_all(found.journey.spec, agents, has_model=False)
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    config, name = Settings().config("memory://"), secrets.token_hex(8)
    if found.journey.spec.sensitive and config.encryption_key is None:
        config = replace(config, encryption_key=secrets.token_bytes(32))
    config = replace(config, persistence=f"memory://{name}", keep_versions=10**9)
    tools, spec = found.tools, found.journey.spec
    if not effects:
        tools |= stubbed_tools(spec, tools, results_of_effects(spec))
    parts: dict[str, Any] = {"agents": agents, "tools": tools, "model": False}
    with only(False):
        async with found.journey(f"explore-{name}", config, **parts) as journey:
            search = _Search(found, journey, limits or SearchBounds(), given, watch)
            return await search.run()


class _Search:
    def __init__(
        self,
        found: FoundJourney,
        journey: Journey,
        limits: SearchBounds,
        given: Sequence[str],
        watch: Callable[[Explored], None] | None,
    ) -> None:
        self.outcome = Explored(found.journey.spec)
        self._found = found
        self._journey = journey
        self._limits = limits
        self._given = list(given)
        self._watch = watch
        self._spec = found.journey.spec
        self._compared = _compared(found.journey.spec)
        self._states: dict[_Key, _State] = {}
        self._version = 0
        self._alike: Counter[Any] = Counter()
        self._tried: dict[str, tuple[str, ...]] = {}
        """Transition -> the shortest conversation in which its pattern was tried."""

    async def run(self) -> Explored:
        begun = time.monotonic()
        session = await self._journey.start(self._found.sample_context, locale=DEFAULT)
        pathway = session.current_pathway_id
        self.outcome.visited.add(pathway)
        queue = [_State(_Key(pathway, kind="begin"), 0, (), pathway, None, session.asked)]
        self._states[queue[0].key] = queue[0]
        while queue and self.outcome.whole:
            state = queue.pop(0)
            if len(state.said) >= self._limits.turns:
                self.outcome.whole = False
                break
            for message in self._messages(state):
                if time.monotonic() - begun > self._limits.seconds:
                    self.outcome.whole = False
                    break
                if new := await self._try(state, message):
                    queue.append(new)
            self.outcome.states = len(self._states)
            self.outcome.seconds = time.monotonic() - begun
            self.outcome.whole &= len(self._states) < self._limits.states
            if self._watch:
                self._watch(self.outcome)
        self.outcome.findings = [*_Judge(self).findings()]
        return self.outcome

    async def _try(self, state: _State, message: str) -> _State | None:
        if self._version != state.version:
            self._version = (await self._journey.rollback(state.version)).version
        response = await self._journey.process_message(message)
        self.outcome.turns += 1
        moved = response.metadata["version"] > self._version
        self._version = max(self._version, response.metadata["version"])
        rows = await self._rows(response) if moved else []
        said = (*state.said, message)
        self.outcome.visited |= {*response.metadata["ran"], response.pathway_id}
        self._note(state, said, rows)
        failed = (response.metadata["error"] or {}).get("message", "")
        key = state_of(response, self._compared)
        state.next[message] = _Edge(key, frozenset(row.kind for row in rows), failed)
        if key in self._states:
            return None
        asked = response.metadata["asked"]
        new = _State(key, self._version, said, response.pathway_id, response, asked)
        return self._added(new)

    def _added(self, new: _State) -> _State | None:
        self._states[new.key] = new
        alike = new.key[:-1]
        self._alike[alike] += 1
        if self._alike[alike] > self._limits.alike or (new.is_over and not self._leaves(new)):
            return None
        return new

    def _note(self, state: _State, said: tuple[str, ...], rows: Sequence[AuditEntry]) -> None:
        for row in rows:
            if row.kind == "transition":
                self.outcome.fired |= {one.id for one in fired_in(self._spec, row)}
        for one in self._spec.leaving(state.pathway, *self._paused(state)):
            if said[-1] in getattr(one.trigger, "patterns", ()):
                self._tried.setdefault(one.id, said)

    def _leaves(self, state: _State) -> bool:
        response = state.response
        with_person = response is not None and WITH_PERSON in response.metadata["flags"]
        return not with_person and bool(self._spec.leaving(state.pathway))

    async def _rows(self, response: JourneyResponse) -> list[AuditEntry]:
        version = response.metadata["version"]
        rows = await self._journey.manager.audit(after=cursor_behind(version) if version else None)
        return [row for row in rows if row.turn == version]

    def _paused(self, state: _State) -> list[str]:
        stack = state.response.metadata["pathway_stack"] if state.response else []
        return list(stack)

    def _messages(self, state: _State) -> list[str]:
        made = [*self._answers(state), *self._moves(state), *self._others(state)]
        return list(dict.fromkeys(made))

    def _answers(self, state: _State) -> Iterator[str]:
        asked = state.asked
        if asked is None:
            return
        yield from [option["payload"] for option in asked["options"]][:_MOST_OPTIONS]
        if asked["field"] is None:
            yield from ("yes", "no")
            return
        for one in self._fields(asked["field"]):
            yield from samples_of(one)
            if not one.required:
                yield "rather not say"
        yield WRONG

    def _fields(self, name: str) -> list[Field]:
        forms = [p.form for p in self._spec.pathways.values() if p.form]
        return [one for form in forms for one in form.fields if one.name == name][:1]

    def _moves(self, state: _State) -> Iterator[str]:
        for one in self._spec.leaving(state.pathway, *self._paused(state)):
            yield from list(getattr(one.trigger, "patterns", ()))[:_MOST_PATTERNS]

    def _others(self, state: _State) -> Iterator[str]:
        if state.asked is None or state.asked["field"] is None:
            yield _OPENER
            yield from self._found.demo_messages
        elif not state.said:
            yield _OPENER
        yield from self._given


def state_of(response: JourneyResponse, compared: Set[str] = frozenset()) -> _Key:
    """Return the place, the question, and the names that are known after a turn.

    Args:
        compared: Names whose values count too.
    """
    data = response.metadata
    asked = data["asked"] or {}
    known = {
        name: value if isinstance(value, bool) or name in compared else True
        for name, value in response.accumulated_context.items()
        if value not in (None, [], {})
    }
    return _Key(
        response.pathway_id,
        tuple(data["pathway_stack"]),
        data["returning"],
        response.is_journey_complete,
        WITH_PERSON in data["flags"],
        asked.get("field"),
        asked.get("kind"),
        tuple(sorted((name, _hashable(value)) for name, value in known.items())),
    )


def _hashable(value: Any) -> Any:
    return value if isinstance(value, (str, int, float)) else json.dumps(value, default=str)


def _compared(spec: JourneySpec) -> set[str]:
    conditions = [getattr(one.trigger, "condition", None) for one in spec.transitions]
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    conditions += [one.when for form in forms for one in form.fields]
    conditions += [pathway.complete_when for pathway in spec.pathways.values()]
    return {name for one in conditions for name in _texts_in(one)} & kept_names(spec)


def _texts_in(condition: Any) -> set[str]:
    code = getattr(condition, "__code__", None)
    texts = code.co_consts if code else getattr(condition, "reads", ())
    return {one for one in texts if isinstance(one, str)}


class _Judge:
    """Judges a journey by a search."""

    def __init__(self, search: _Search) -> None:
        self._search = search
        self._spec = search._spec
        self._outcome = search.outcome
        self._places = Declarations(search._found.journey)
        self._states = search._states

    def findings(self) -> Iterator[ExplorerFinding]:
        found = [*self._dead_ends(), *self._loops(), *self._unreachable()]
        yield from sorted(found, key=lambda one: not one.is_fault)

    def _dead_ends(self) -> Iterator[ExplorerFinding]:
        seen: set[tuple[str, str]] = set()
        for state in self._states.values():
            is_detour = self._spec.pathways[state.pathway].is_detour
            if state.is_over or is_detour or not state.next or not self._stays(state):
                continue
            finding = self._stuck(state)
            if finding and (finding.kind, finding.what) not in seen:
                seen.add((finding.kind, finding.what))
                yield finding

    def _stays(self, state: _State) -> bool:
        """Return whether no message leads on, but perhaps into a detour and back."""
        targets = [edge.target for edge in state.next.values()]
        return state.response is not None and all(
            key.same_as(state.key) or self._spec.pathways[key.pathway].is_detour for key in targets
        )

    def _stuck(self, state: _State) -> ExplorerFinding | None:
        pathway = self._spec.pathways[state.pathway]
        place, said = self._places.of_pathway(pathway), state.said
        asked = state.asked
        if failed := next((e.failed for e in state.next.values() if e.failed), ""):
            return ExplorerFinding("open", pathway.id, f"turns fail here: {failed}", place, said)
        if asked and asked["field"]:
            tried = ", ".join(repr(text) for text in list(state.next)[:4])
            where = self._places.of_field(pathway, asked["field"])
            why = f"no tried value of '{asked['field']}' is taken ({tried}, ...)"
            return ExplorerFinding("open", f"field {asked['field']}", why, where, said)
        leaving = [t for t in self._spec.leaving(pathway.id) if t.target != pathway.id]
        leaving = [t for t in leaving if not self._spec.pathways[t.target].is_detour]
        if any(_needs_model(one) for one in leaving):
            why = "only a model can see its transitions, which have no patterns"
            return ExplorerFinding("open", pathway.id, why, place, said)
        if leaving:
            why = "no tried message fires one of its transitions"
            return ExplorerFinding("open", pathway.id, why, place, said)
        if why := self._never_completes(pathway):
            return ExplorerFinding("dead end", pathway.id, why, place, said)
        why = "no tried message completes it; try others by --try"
        return ExplorerFinding("open", pathway.id, why, place, said)

    def _never_completes(self, pathway: PathwaySpec) -> str:
        if pathway.complete_when is NEVER:
            alone = len(self._spec.pathways) == 1
            return "" if alone else "it is never complete, and no transition leads out of it"
        known = kept_names(self._spec) | {*self._search._found.sample_context}
        missing = [name for name in pathway.awaited if name not in known]
        if missing:
            names = ", ".join(f"'{name}'" for name in missing)
            return f"it waits for {names}, which nothing sets, and no transition leads out of it"
        return ""

    def _loops(self) -> Iterator[ExplorerFinding]:
        seen: set[frozenset[str]] = set()
        for closed in self._closed():
            ids = list(dict.fromkeys(state.pathway for state in closed))
            if len(ids) < 2 or frozenset(ids) in seen:
                continue
            seen.add(frozenset(ids))
            first = min(closed, key=lambda state: len(state.said))
            place = self._places.of_pathway(self._spec.pathways[first.pathway])
            if any(self._may_complete(self._spec.pathways[id_]) for id_ in ids):
                why = "every tried message leads around in them; try others by --try"
                yield ExplorerFinding("open", " → ".join(ids), why, place, first.said)
                continue
            why = "every message leads around in them, and nothing is collected or done"
            yield ExplorerFinding("loop", " → ".join(ids), why, place, first.said)

    def _may_complete(self, pathway: PathwaySpec) -> bool:
        """Return whether a pathway waits for what a message may bring that was not tried."""
        waits = bool(pathway.awaited) or callable(pathway.complete_when)
        return waits and not self._never_completes(pathway)

    def _closed(self) -> Iterator[list[_State]]:
        """Yield the sets of states that no message leaves, and in which nothing is won."""
        reached = {key: self._reached(key) for key in self._states}
        done: set[frozenset[_Key]] = set()
        for keys in reached.values():
            if keys in done or not all(reached[key] == keys for key in keys):
                continue
            done.add(keys)
            states = sorted((self._states[key] for key in keys), key=lambda one: len(one.said))
            if states and not any(map(self._wins, states)):
                yield states

    def _reached(self, key: _Key) -> frozenset[_Key]:
        found: set[_Key] = set()
        waiting = [key]
        while waiting:
            for edge in self._states[waiting.pop()].next.values():
                to = edge.target
                if to not in found and not self._spec.pathways[to.pathway].is_detour:
                    found.add(to)
                    waiting.append(to)
        return frozenset(found)

    def _wins(self, state: _State) -> bool:
        """Return whether something is done in a state, or may be done that was not tried."""
        never = self._spec.pathways[state.pathway].complete_when is NEVER
        kinds = {kind for edge in state.next.values() for kind in edge.kinds}
        failed = any(edge.failed for edge in state.next.values())
        return state.is_over or never or not state.next or failed or bool(kinds & {*_PROGRESS})

    def _unreachable(self) -> Iterator[ExplorerFinding]:
        visited = self._outcome.visited
        for id_, pathway in self._spec.pathways.items():
            if id_ in visited:
                continue
            ways = [t for t in self._spec.transitions if t.target == id_]
            ways += [p for p in self._spec.pathways.values() if p.next == id_]  # type: ignore[misc]
            place = self._places.of_pathway(pathway)
            if id_ not in self._spec.reachable or not ways:
                yield ExplorerFinding("unreachable", id_, "nothing leads to it", place)
            else:
                yield ExplorerFinding("open", id_, "no tried conversation leads to it", place)
        for one in self._spec.transitions:
            if one.id not in self._outcome.fired:
                yield self._missed(one)

    def _missed(self, one: TransitionSpec) -> ExplorerFinding:
        what = f"transition to {one.target}: {one.label}"
        place = self._places.of_transition(self._spec, one)
        if _needs_model(one):
            return ExplorerFinding(
                "open", what, "it has no patterns, so only a model can fire it", place
            )
        sources = self._spec.pathways if one.sources == ("*",) else one.sources
        if not {*sources} & {*self._spec.reachable}:
            return ExplorerFinding("unreachable", what, "no session can reach its source", place)
        if not {*sources} & self._outcome.visited:
            return ExplorerFinding("open", what, "no tried conversation reaches its source", place)
        if said := self._search._tried.get(one.id):
            rivals = [t for t in self._spec.transitions if t.id != one.id and _shadows(t, one)]
            if rivals:
                why = f"the transition to {rivals[0].target} has its patterns, and comes before it"
                return ExplorerFinding("unreachable", what, why, place, said)
            return ExplorerFinding("open", what, "its tried patterns led elsewhere", place, said)
        if one.is_condition:
            names = kept_names(self._spec) | {*self._search._found.sample_context}
            read = _names_read(one)
            if read and not read & names:
                why = f"its condition reads {', '.join(sorted(read))}, which nothing sets"
                return ExplorerFinding("unreachable", what, why, place)
            return ExplorerFinding(
                "open", what, "its condition held in no tried conversation", place
            )
        return ExplorerFinding("open", what, _untried(one), place)


def _untried(one: TransitionSpec) -> str:
    if isinstance(one.trigger, EventTrigger):
        return "only an event fires it, and none was tried"
    if isinstance(one.trigger, TimeTrigger):
        return "only a time without a message fires it, and none was tried"
    return "no tried message fires it"


def _needs_model(one: TransitionSpec) -> bool:
    return isinstance(one.trigger, IntentTrigger) and not one.trigger.patterns


def _shadows(other: TransitionSpec, one: TransitionSpec) -> bool:
    """Return whether a transition fires wherever another one could, and before it."""
    if isinstance(other.trigger, AlwaysTrigger):
        return False
    patterns = {*getattr(one.trigger, "patterns", ())}
    same = patterns and patterns <= {*getattr(other.trigger, "patterns", ())}
    wider = other.sources == ("*",) or {*one.sources} <= {*other.sources}
    return bool(same and wider and other.priority > one.priority)


class _Probe(dict[str, Any]):
    """A context that notes which names are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return nothing, and note the name."""
        self.read.add(name)
        return default

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return False


def _names_read(one: TransitionSpec) -> set[str]:
    """Return the names of the context that a condition reads first; empty if that is not known."""
    probe, condition = _Probe(), getattr(one.trigger, "condition", None)
    if reads := getattr(condition, "reads", None):
        return set(reads)
    with suppress(Exception):
        condition(probe)  # type: ignore[misc]
    return probe.read
