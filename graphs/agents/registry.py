"""Agents of a journey: check them and make them callable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from journeygraph.journeys import (
    Agent as DeclaredAgent,
)
from journeygraph.journeys import (
    AgentNotRegisteredError,
    ConfigurationError,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyError,
    JourneySpec,
    ModelAgent,
    PathwaySpec,
    PatternPipeline,
)
from journeygraph.journeys.agents.agent import Saying
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.languages import texts_of
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.agents.adapters import Callee, as_agent
from journeygraph.nodes.authored import Overdue
from journeygraph.nodes.json_data import now
from journeygraph.nodes.payloads import TOOL_RESULTS
from journeygraph.nodes.replies.scope import checks_of
from journeygraph.nodes.services import Services, setting_at
from journeygraph.nodes.texts import worded
from journeygraph.nodes.turn.understand import matcher_of

if TYPE_CHECKING:
    from journeygraph.nodes.llm.models import Models
    from journeygraph.nodes.llm.tools import Usable


def speaking(
    saying: Saying, spec: JourneySpec, config: JourneyConfig, pathway: str, session: Locale
) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """Return an agent that replies with a fixed text in the locale of the session.

    A text that needs the result of a call that failed in this turn is left out.
    """
    own = spec.part_of(pathway)
    texts = texts_of(own, config, session)
    calls = spec.pathways[pathway].calls

    async def said(ask: Mapping[str, Any]) -> str:
        if not saying.reads:
            return worded(saying.text)
        if saying.reads & part("calls").not_saved(calls, ask.get(TOOL_RESULTS, {})):
            return texts.lookup_failed
        locale = in_force(own.locale, session, config.locale)
        setting = setting_at(now(), locale)
        unknown = dict.fromkeys(saying.reads, "")
        known = part("forms").spoken(own, ask["context"], setting, texts.hidden)
        return worded(saying.text, **unknown | known)

    return said


def timeout_of(pathway: PathwaySpec, config: JourneyConfig) -> float:
    """Return the timeout of one try of a pathway's agent, in seconds."""
    return pathway.timeout or config.pathway_timeout_seconds


def check_agent(spec: JourneySpec, name: str, agent: Any, overdue: Overdue) -> None:
    """Refuse an agent that no pathway uses, or that is not a valid agent.

    Raises:
        JourneyDefinitionError: The journey is abstract.
    """
    if not spec.entry:
        raise JourneyDefinitionError([spec.why_abstract])
    known = spec.agents
    if name not in known:
        hint = did_you_mean(name, list(known))
        raise AgentNotRegisteredError(
            f"No pathway of {spec.name} uses an agent '{name}'.{hint} "
            f"Its agents: {', '.join(known) or 'none'}."
        )
    if isinstance(agent, DeclaredAgent):
        agent = agent.call
    if isinstance(agent, ModelAgent):
        places = [spec.pathways[pathway] for pathway in known[name]]
        part("model_agents").check_model_agent(name, agent, places, overdue)
    else:
        as_agent(name, agent, overdue)


def refusals(
    spec: JourneySpec,
    agents: Mapping[str, Any],
    overdue: Overdue = lambda agent: lambda: None,
    *,
    has_model: bool = False,
) -> Iterator[JourneyError]:
    """Yield why these agents cannot run a journey: each is not used or not valid, or some miss.

    Args:
        has_model: True if a model is configured; it runs every pathway that has a signature and no
            agent.
    """
    for name, agent in agents.items():
        try:
            check_agent(spec, name, agent, overdue)
        except JourneyError as error:
            yield error
    for _, path, agent in _places(spec):
        if isinstance(agent.call, ModelAgent):
            try:
                part("model_agents").check_model_name(path, agent.call)
            except ConfigurationError as error:
                yield error
    missing = {
        name: left
        for name, used in spec.agents.items()
        if name not in agents
        and (left := [id_ for id_ in used if not (has_model and spec.pathways[id_].signature)])
    }
    if missing:
        listed = "; ".join(f"'{name}' (in {', '.join(used)})" for name, used in missing.items())
        yield AgentNotRegisteredError(
            f"{spec.name} has no agent for: {listed}. Register each with "
            f"register_agent(name, agent), or pass agents={{...}}{_or_a_model(spec, missing)}.",
            [id_ for used in missing.values() for id_ in used],
        )


def check_all(
    spec: JourneySpec,
    agents: Mapping[str, Any],
    overdue: Overdue = lambda agent: lambda: None,
    *,
    has_model: bool = False,
) -> None:
    """Refuse agents with the first of their `refusals`, which has the arguments."""
    for error in refusals(spec, agents, overdue, has_model=has_model):
        raise error


def _or_a_model(spec: JourneySpec, missing: Mapping[str, list[str]]) -> str:
    """Return the hint that a configured model would be enough, if that is true."""
    signed = all(spec.pathways[id_].signature for used in missing.values() for id_ in used)
    return ", or configure a model (OPENAI_API_KEY, or model=...)" if signed else ""


def services_of(
    spec: JourneySpec,
    config: JourneyConfig,
    agents: Mapping[str, Any],
    models: Models | None = None,
    overdue: Overdue = lambda agent: lambda: None,
    *,
    tools: Mapping[str, Any] | None = None,
) -> Services:
    """Return the services of a journey with these agents.

    Raises:
        AgentNotRegisteredError: Agents are missing, or one is not used.
        ConfigurationError: A `ModelAgent` has no model, or a tool is missing.
    """
    check_all(spec, agents, overdue, has_model=models is not None)
    known = {name: registered_agent(name, agent) for name, agent in agents.items()}
    toolbox, shared = None, {}
    if _uses_tools(spec, known, tools):
        toolbox, shared = part("tools").opened_tools(spec, known, tools or {}, overdue)
    agents = {name: agent.call for name, agent in known.items()}
    made = Maker(spec, config, models, overdue, shared, known)
    callable_agents = {
        (pathway.id, path): made.agent(
            pathway, path, agents.get(agent.name) if agent.call is None else agent.call
        )
        for pathway, path, agent in _places(spec)
    }
    return Services(
        part("tools").with_tools(spec, toolbox) if toolbox else spec,
        config,
        callable_agents,
        matcher_of(spec),
        known,
        models,
        toolbox=toolbox,
        checks=checks_of(spec),
        texts=texts_of(spec, config),
        retrievers={name: (tools or {})[name] for name in spec.retrievers},
    )


def _uses_tools(
    spec: JourneySpec, agents: Mapping[str, DeclaredAgent], tools: Mapping[str, Any] | None
) -> bool:
    places = spec.pathways.values()
    declared = spec.tools or spec.guidelines or spec.has_knowledge
    called = any(one.form or one.effects or one.calls or one.tools for one in places)
    given = [one.call for one in agents.values()]
    given += [agent.call for _, _, agent in _places(spec) if agent.call or agent.name not in agents]
    asks = any(one is None or isinstance(one, (ModelAgent, PatternPipeline)) for one in given)
    return bool(tools or declared or called or asks)


def services_to_read(spec: JourneySpec, config: JourneyConfig) -> Services:
    """Return the services that read the state of a session, without agents and models."""
    return Services(spec, config, {}, matcher_of(spec), texts=texts_of(spec, config))


# By identity, which lasts as long as the entry: it holds what was registered.
_registered: LRUCache[tuple[str, int], tuple[Any, DeclaredAgent]] = LRUCache(1024)


def registered_agent(name: str, given: Any) -> DeclaredAgent:
    """Return the registered agent of a name with its card, shared by all sessions."""
    key = (name, id(given))
    if key not in _registered:
        agent = given if isinstance(given, DeclaredAgent) else DeclaredAgent(given, name=name)
        _registered[key] = (given, agent.changed(name=name))
    return _registered[key][1]


def _places(spec: JourneySpec) -> Iterator[tuple[PathwaySpec, str, DeclaredAgent]]:
    for pathway in spec.pathways.values():
        if pathway.pipeline is not None:
            for path, agent in pathway.pipeline.leaves:
                yield pathway, path, agent


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes a registered object, or a configured model, the agent of a pathway."""

    spec: JourneySpec
    config: JourneyConfig
    models: Models | None
    overdue: Overdue
    shared: Mapping[str, Usable]
    known: Mapping[str, DeclaredAgent]

    def agent(self, pathway: PathwaySpec, path: str, given: Any) -> Callee:
        """Return how to call what is registered for a place, or a model where nothing is."""
        name = path.rpartition("/")[2]
        if given is None or isinstance(given, ModelAgent):
            made: Callee = part("model_agents").model_agent(
                self, pathway, path, given or ModelAgent()
            )
            return made
        if isinstance(given, Saying):
            return self._saying(pathway, name, given)
        return as_agent(name, given, self.overdue)

    def _saying(
        self, pathway: PathwaySpec, name: str, given: Saying, locale: Locale = NOWHERE
    ) -> Callee:
        said = speaking(given, self.spec, self.config, pathway.id, locale)
        localized = partial(self._saying, pathway, name, given)
        return replace(as_agent(name, said, self.overdue), localized=localized)
