"""The frozen specification that every journey becomes; the compiler reads nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from journeygraph.journeys.agents.tools import Call, ToolSpec
from journeygraph.journeys.declarations.behaviors import Known, MergeStrategy, ReturnToSpecific
from journeygraph.journeys.declarations.effects import Effect
from journeygraph.journeys.declarations.escalation import Escalation
from journeygraph.journeys.declarations.fields import Field as FormField
from journeygraph.journeys.declarations.fields import Form
from journeygraph.journeys.declarations.guidelines import Guideline, GuidelineSpec, Validation
from journeygraph.journeys.declarations.knowledge import Knowledge, retriever_names
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.silence import Silence
from journeygraph.journeys.declarations.transitions import (
    BaseTrigger,
    ConditionTrigger,
    EventTrigger,
    IntentTrigger,
    TimeTrigger,
)
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    ContextName,
    Listed,
    Name,
    OneOf,
    Seconds,
    Short,
    Text,
    ToolName,
)
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.locale import NOWHERE, Locale
from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.spec.pathway_values import (
    Accumulated,
    Collected,
    Contract,
    Ends,
    NextId,
    OnArrival,
    Output,
    Returns,
    Working,
)

RESERVED_IDS = ("understand", "settle", "check_reply")
"""Names of the graph's own nodes."""
MOVE, ACTIVATION, HAND_OVER, CANCEL = "move", "activation", "hand_over", "cancel"
STRANDED = MOVED, REFUSED = "move", "refuse"
"""Treatment of a session whose pathway does not exist in this version."""
"""Kinds of transitions."""
MAX_HOPS = 10
"""Most pathways that run in one turn."""


@dataclass(frozen=True, slots=True)
class Update:
    """One entry of a `context_update`: `how` is append, set, copy, clear, or call.

    `function` is called where that is "call", with the message and the context.
    """

    target: str
    how: str
    argument: str
    function: Callable[[str, dict[str, Any]], Any] | None = None


def _name_of(one: Any) -> Any:
    return getattr(one, "tool", None) or getattr(one, "name", one)


def names_twice(definition: Definition, of: str) -> Iterator[Fault]:
    """Return the faults of a list of a definition that names something twice."""
    held = getattr(definition, of)
    names = [_name_of(one) for one in held] if isinstance(held, tuple) else []
    for number, name in enumerate(names if definition.has_sound(of) else ()):
        if name in names[:number]:
            yield Fault(f"'{name}' occurs twice in {of}.", of, number, remedy="Remove one of them.")


def fields_twice(form: Form | None, key: str) -> Iterator[Fault]:
    """Return the faults of fields with the name of another one, which a definition has as `key`."""
    fields = form.fields if form and form.has_sound("") else ()
    for number, asked in enumerate(fields):
        if asked.name in [other.name for other in fields[:number]]:
            message = f"the field '{asked.name}' is declared twice."
            yield Fault(message, key, number, "name", remedy="Rename one of them.")


class PathwaySpec(Definition):
    """A stretch of the conversation.

    `agents` are the names that the journey registers agents for; `pipeline` is how all of its
    agents work together, None without agents. `journey` is the id of the journey that it is a part
    of, where several are one; `forgets` names what the context loses when it leads on to `next`. It
    compiles to a subgraph.

    Attributes:
        kind: `tool` requires `calls`. `collect` stays until it has its `fields`, and its `outputs`
            if it declares any; one of the two is required. `chat` requires none of these. Every
            kind may have every key.
        title: Its name for users, such as "the transfer". Default: its id, in words.
        purpose: Its purpose.
        form: Values that it asks the user for itself before its agents run, also in the turn in
            which another pathway leads to it: a list of `Field`, or a `Form`.
        effects: Tools that are called once, when its fields are collected and confirmed: a name, or
            an `Effect`.
        interruptible: False: detours wait until it is complete. A list of fields: it can be
            interrupted only while it asks for these.
        knowledge: Source for questions while it collects, or if no agent answers them. Default: the
            journey's.
        action: The task of its agents, in words; it is part of the prompt of model agents.
        say: A fixed reply, instead of agents; {name} is replaced by a value of the context.
        tools: Names of the tools that model agents may use here. Default: only tools of guidelines
            that hold.
        agents: Names of registered agents, in their order; []: no agent runs. Default: one, with
            the name of the pathway; none if it has `fields` or `say`.
        pipeline: Cooperation of its agents: the name of a pattern, or `{pattern}` with its
            settings and roles. Default: `sequential`.
        inputs: Context names that its agents get besides the message; a model sees no other part of
            the context.
        outputs: Outputs of its agents besides the reply, stored in the context: name -> JSON
            Schema, and `merge`.
        guidelines: Rules of behaviour that hold only here.
        calls: Tools that are called before its agents run: a name, or a `Call`. The agents get the
            results as `tool_results`.
        complete_when: Names that the context must have, an expression (`{when}`), or `never`.
            `{known: name}` counts also if it was written on an earlier visit. Default: `collect`:
            all its outputs; otherwise after its agents have run once, but not in the turn that
            entered it.
        next: Id of the pathway that follows when it is complete; not a detour. Default: the journey
            is complete.
        runs_on_arrival: `run`: its agents run in the turn in which another pathway leads to it.
            Default: `wait`.
        timeout: Longest run in seconds. Default: the config's.
    """

    model_config = ConfigDict(title="State")
    unwritten = frozenset(
        {"id", "where", "signature", "accumulate", "returns", "journey", "forgets"}
    )

    id: str = ""
    where: str = ""
    _: KW_ONLY
    kind: Annotated[str, OneOf(("chat", "tool", "collect"))] = Field(default="chat", init=False)
    title: Text = ""
    purpose: Text = ""
    form: Collected = Field(default=None, validation_alias="fields")
    effects: Listed[Annotated[Effect, Short("tool")]] = ()
    interruptible: Annotated[bool | Listed[str], BY_SHAPE] = True
    knowledge: Annotated[Knowledge, Short("retriever")] | None = None
    action: Text = ""
    say: Text = Field(default="", init=False)
    tools: Listed[ToolName] | None = None
    agents: Listed[ContextName] = ()
    pipeline: Working = None
    inputs: Listed[Name] = Field(default=(), init=False)
    outputs: Mapping[Name, Output] = Field(default={}, init=False)
    guidelines: Listed[Guideline] = Field(default=(), init=False)
    calls: Listed[Annotated[Call, Short("tool")]] = ()
    complete_when: Ends = None
    next: NextId | None = None
    runs_on_arrival: OnArrival = Field(default=False, validation_alias="on_arrival")
    timeout: Seconds | None = None
    signature: Contract = None
    accumulate: Accumulated = Field(default_factory=dict)
    returns: Returns = None
    journey: str = ""
    forgets: Listed[str] = ()

    @rule()
    def _names_stand_once(self) -> Iterator[Fault]:
        for of in ("agents", "tools", "calls", "effects", "complete_when"):
            yield from names_twice(self, of)
        yield from fields_twice(self.form, "form")

    @rule("interruptible")
    def _is_interruptible_at_its_fields(self) -> Iterator[Fault]:
        known = [field.name for field in self.form.fields] if self.form else []
        names = () if isinstance(self.interruptible, bool) else self.interruptible
        for number, name in enumerate(names if known or self.has_sound("fields") else ()):
            if name not in known:
                message, hint = f"'{name}' is not a field of it.", did_you_mean(name, known)
                there = f"Its fields: {', '.join(known)}." if known else "It has no fields."
                yield Fault(message, "interruptible", number, remedy=f"{hint} {there}")

    @property
    def is_detour(self) -> bool:
        """Return whether a transition into it pauses the present pathway."""
        return self.returns is not None

    @property
    def awaited(self) -> tuple[str, ...]:
        """The context names that complete it; none if something else does."""
        criterion = self.complete_when if isinstance(self.complete_when, tuple) else ()
        return tuple(item.name if isinstance(item, Known) else item for item in criterion)

    @property
    def anew(self) -> tuple[str, ...]:
        """Those of `awaited` that it has to write again on each visit, if it writes them itself."""
        criterion = self.complete_when
        if not isinstance(criterion, tuple):
            return ()
        # Without a form to begin anew, what was done once is not done again.
        done = {effect.save or effect.tool for effect in self.effects if self.form is None}
        return tuple(item for item in criterion if isinstance(item, str) and item not in done)

    @property
    def fields(self) -> Sequence[FormField]:
        """The fields of its form."""
        return self.form.fields if self.form else ()

    @property
    def collects(self) -> bool:
        """Return whether it asks for values, for its fields or its effects."""
        return self.form is not None or bool(self.effects)

    def with_agents(
        self, pipeline: PatternPipeline | None, agents: Sequence[str], **more: Any
    ) -> PathwaySpec:
        """Return it with who works here, and with what follows from what it declares."""
        fields = type(self).__pydantic_fields__
        of_files = {name: fields[name].get_default() for name in self.hidden(is_code=True)}
        derived = {
            **of_files,
            "title": self.title or self.id.replace("_", " "),
            "runs_on_arrival": self.runs_on_arrival or self.form is not None,
            "pipeline": pipeline,
            "agents": tuple(agents),
        }
        return self.model_copy(update={**derived, **more})


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
        """Return its trigger in a few words."""
        return self.trigger.label

    @property
    def is_condition(self) -> bool:
        """Return whether it fires by a condition on the context, once until seen false."""
        return isinstance(self.trigger, ConditionTrigger)

    def applies_in(self, *pathways: str) -> bool:
        """Return whether one of these pathways is among its sources."""
        return self.sources == ("*",) or any(pathway in self.sources for pathway in pathways)


_PLAIN = ("", "return")
"""Policies of a return that need no dialogue."""


Judged = tuple[tuple[Fault, ...], tuple[tuple[str, Fault], ...]]
"""Warnings, and names that nothing sets."""


@dataclass(frozen=True, eq=False)
class JourneySpec:
    """A whole journey as data. `version` is a hash of it, unless the author gave one.

    `strategies` holds the one merge strategy of each accumulated name, `kept` the names that
    context updates read, `reachable` the pathways that a session can reach. `guidelines` are those
    of the journey and of all its pathways; `tools` are declared by name and handed over when it
    runs. `activation` says what starts it among other journeys, and `shared` what it leaves to
    them. `parts` are the journeys that a concierge is made of, by id, and `otherwise` says what it
    does with a message that starts none of them. `has_repair` says whether it declares repair
    patterns, or where it may be interrupted. `is_marked` says that its class is `__abstract__`.
    `stranded` is one of `STRANDED`. `is_of_the_moment` says that it is made for one context, see
    `at`. `where` names it in messages. `judged` are its warnings and the names that nothing sets,
    where what it was read from says more of them than its parts.
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
    escalation: Escalation | None = None
    personality: Personality = field(default_factory=Personality.model_construct)
    locale: Locale = NOWHERE
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    migrations: Mapping[str, str] = field(default_factory=dict)
    stranded: str = MOVED
    silence: Silence | None = None
    has_repair: bool = False
    is_marked: bool = False
    is_of_the_moment: bool = False
    where: str = ""
    judged: Judged | None = None

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """Probable mistakes in it."""
        return self._judged[0]

    @property
    def unset(self) -> tuple[tuple[str, Fault], ...]:
        """Names that something reads and nothing sets, each with a warning.

        They have to come from outside.
        """
        return self._judged[1]

    @cached_property
    def _judged(self) -> Judged:
        if self.judged is not None:
            return self.judged
        # A turn needs no warnings.
        from journeygraph.journeys.spec.warning_signs import (  # noqa: PLC0415
            kept_names,
            unset_names,
            warnings_of,
        )

        return tuple(warnings_of(self)), tuple(unset_names(self, kept_names(self)))

    @cached_property
    def moments(self) -> tuple[str, ...]:
        """Ids of the pathways in whose forms a function of the context has a say."""
        forms = {id_: pathway.form for id_, pathway in self.pathways.items()}
        return tuple(id_ for id_, form in forms.items() if form and form.is_of_the_moment)

    def at(self, context: Mapping[str, Any]) -> JourneySpec:
        """Return the journey as it is in a context: with the questions and options of now."""
        if not self.moments:
            return self
        pathways = dict(self.pathways)
        for id_ in self.moments:
            form = pathways[id_].form
            assert form is not None
            pathways[id_] = pathways[id_].model_copy(update={"form": form.at(context)})
        return replace(self, pathways=frozen(pathways), is_of_the_moment=True)

    @cached_property
    def compiled(self) -> dict[Any, Any]:
        """Graphs of this journey, by the settings that are built in; they live as long as it."""
        return {}

    @cached_property
    def _leaving(self) -> dict[tuple[str, ...], tuple[TransitionSpec, ...]]:
        return {}

    def leaving(self, *pathways: str) -> tuple[TransitionSpec, ...]:
        """Return the transitions with one of these pathways as a source, in order of priority."""
        found = self._leaving.get(pathways)
        if found is None:
            applying = (t for t in self.transitions if t.applies_in(*pathways))
            found = self._leaving[pathways] = tuple(sorted(applying, key=lambda t: -t.priority))
        return found

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The trigger of each transition in a few words, by the id of the transition."""
        return {transition.id: transition.label for transition in self.transitions}

    @cached_property
    def conditions(self) -> tuple[TransitionSpec, ...]:
        """The transitions that a condition on the context triggers."""
        return tuple(t for t in self.transitions if t.is_condition)

    @cached_property
    def self_judging(self) -> frozenset[str]:
        """Ids of transitions with a trigger of an author's own, perhaps on the ground of an intent.

        One that always holds is among them; one that waits for an event or for a time is not.
        """
        by_others = (IntentTrigger.evaluate, EventTrigger.evaluate, TimeTrigger.evaluate)
        others = (t for t in self.transitions if not t.is_condition)
        return frozenset(t.id for t in others if type(t.trigger).evaluate not in by_others)

    @cached_property
    def longest_timer(self) -> int:
        """Longest time without a message that has an effect, in seconds; 0 if none has."""
        times = [t.trigger.after for t in self.transitions if isinstance(t.trigger, TimeTrigger)]
        for silence in (one.silence for one in self._all):
            if silence:
                times += [silence.close_after or 0, *(one.after for one in silence.reminders)]
        return max(times, default=0)

    @property
    def has_timers(self) -> bool:
        """Return whether a time without a message has an effect anywhere in it."""
        return self.longest_timer > 0

    @cached_property
    def has_silence(self) -> bool:
        """Return whether it, or a part of it, has reminders or an end by silence."""
        return any(one.silence for one in self._all)

    def silence_in(self, pathway: str) -> Silence | None:
        """Return the silence of a pathway's journey, else of the whole."""
        return self.part_of(pathway).silence or self.silence

    @property
    def uses_dialogue(self) -> bool:
        """Return whether it has fields, effects, repair patterns or its own return policies."""
        return (
            self.has_repair
            or self.has_knowledge
            or any(
                pathway.form
                or pathway.effects
                or getattr(pathway.returns, "policy", "") not in _PLAIN
                for pathway in self.pathways.values()
            )
        )

    @cached_property
    def has_knowledge(self) -> bool:
        """Return whether questions of users are looked up anywhere in it, or in a part of it."""
        return any(self._known) or any("knowledge" in part.patterns for part in self._all)

    @property
    def retrievers(self) -> list[str]:
        """The names of the retrievers that are passed when it is opened."""
        return retriever_names(self._known)

    @property
    def _all(self) -> list[JourneySpec]:
        return [self, *self.parts.values()]

    @property
    def _known(self) -> list[Knowledge | None]:
        of_journeys = [part.knowledge for part in self._all]
        return [*of_journeys, *(pathway.knowledge for pathway in self.pathways.values())]

    @property
    def can_escalate(self) -> bool:
        """Return whether a person can be called anywhere in it, or in a part of it."""
        return any(part.escalation for part in (self, *self.parts.values()))

    @cached_property
    def is_judged_later(self) -> bool:
        """Return whether a model checks its replies after they are sent."""
        parts = (self, *self.parts.values())
        return {one.validation.mode for one in parts if one.validation} == {"after_send"}

    @property
    def why_abstract(self) -> str:
        """Return the reason why no session can start; empty if one can."""
        if self.entry:
            return ""
        if self.is_marked:
            return f"{self.name} is marked __abstract__: start a subclass of it."
        return f"{self.name} is abstract: it has no pathways."

    @property
    def reception(self) -> str | None:
        """Id of the pathway of a concierge between its journeys; None in others."""
        return self.entry if self.parts else None

    def part_of(self, pathway_id: str) -> JourneySpec:
        """Return the journey that a pathway belongs to: this one, unless it is made of several."""
        return self.parts.get(self.pathways[pathway_id].journey, self)

    def pattern_in(self, pathway_id: str, name: str) -> str | None:
        """Return the pathway that a journey has for a repair pattern; None for the built-in one."""
        return self.part_of(pathway_id).patterns.get(name)

    def knowledge_in(self, pathway_id: str) -> Knowledge | None:
        """Return where questions are looked up in a pathway: its own place comes first."""
        return self.pathways[pathway_id].knowledge or self.part_of(pathway_id).knowledge

    def answers_in(self, pathway_id: str) -> bool:
        """Return whether questions are looked up in a pathway, or one of its own answers them."""
        own = self.pattern_in(pathway_id, "knowledge")
        return bool(own or self.knowledge_in(pathway_id))

    def active_in(self, pathway_id: str) -> str | None:
        """Return the id of the journey that is active in a pathway; None if none is.

        That is this one; of a concierge one of its parts, and in its reception none.
        """
        if not self.parts:
            return self.id
        pathway = self.pathways.get(pathway_id)
        return pathway.journey or None if pathway else None

    @cached_property
    def agents(self) -> Mapping[str, tuple[str, ...]]:
        """Every agent name with the pathways that use it."""
        used: dict[str, list[str]] = {}
        for pathway in self.pathways.values():
            for agent in pathway.agents:
                used.setdefault(agent, []).append(pathway.id)
        return frozen({name: tuple(pathways) for name, pathways in used.items()})


def empty_spec(id: str, name: str, purpose: str = "", *, is_marked: bool = False) -> JourneySpec:
    """Return the spec of a journey without pathways, which can be subclassed and not started."""
    return JourneySpec(
        id=id,
        name=name,
        purpose=purpose,
        entry="",
        pathways=frozen({}),
        transitions=(),
        strategies=frozen({}),
        kept=frozenset(),
        reachable=frozenset(),
        sensitive=False,
        version="",
        is_marked=is_marked,
    )


def reachable(
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    others: Iterable[str],
) -> frozenset[str]:
    """Return the ids of the pathways that a session can reach from its entry, or from others."""
    seen: set[str] = set()
    waiting = [entry, *others] if entry in pathways else []
    while waiting:
        at = pathways[waiting.pop()]
        if at.id in seen:
            continue
        seen.add(at.id)
        leads_to = [t.target for t in transitions if t.applies_in(at.id)]
        leads_to += [effect.change for effect in at.effects if effect.change]
        if at.next:
            leads_to.append(at.next)
        if isinstance(at.returns, ReturnToSpecific):
            leads_to.append(at.returns.target_pathway)
        waiting += [id_ for id_ in leads_to if id_ not in seen]
    return frozenset(seen)


def frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a read-only copy of a mapping."""
    return MappingProxyType(dict(mapping))
