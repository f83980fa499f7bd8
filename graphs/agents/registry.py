"""Agents of a journey: check them and make them callable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cachetools import LRUCache

from journeygraph.graphs.agents.tools import (
    check_allowed,
    reserved_in,
    shared_tools,
    tools_of,
    with_tools,
)
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
)
from journeygraph.journeys.agents.agent import Saying
from journeygraph.journeys.agents.signature import SignatureSpec
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.nodes.agents.adapters import Callee, as_agent
from journeygraph.nodes.authored import Overdue
from journeygraph.nodes.forms.questions import spoken
from journeygraph.nodes.json_data import now
from journeygraph.nodes.llm.call import limited
from journeygraph.nodes.llm.client import Chat
from journeygraph.nodes.llm.model_agent import ModelCaller, contract_of
from journeygraph.nodes.llm.models import (
    Models,
    chat_of,
    check_name,
    has_none,
    provided,
    provider_of,
)
from journeygraph.nodes.llm.tools import Usable, toolbox_of
from journeygraph.nodes.payloads import TOOL_RESULTS
from journeygraph.nodes.pipelines.identity import identity_of
from journeygraph.nodes.replies.scope import checks_of
from journeygraph.nodes.services import Services, setting_at
from journeygraph.nodes.texts import texts_of, worded
from journeygraph.nodes.turn.call_tools import not_saved
from journeygraph.nodes.turn.understand import matcher_of


def speaking(
    saying: Saying, spec: JourneySpec, config: JourneyConfig, pathway: str, session: Locale
) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """Return an agent that replies with a fixed text in the locale of the session.

    A text that needs the result of a call that failed in this turn is left out.
    """
    part = spec.part_of(pathway)
    texts = texts_of(part, config, session)
    calls = spec.pathways[pathway].calls

    async def said(ask: Mapping[str, Any]) -> str:
        if saying.reads & not_saved(calls, ask.get(TOOL_RESULTS, {})):
            return texts.lookup_failed
        locale = in_force(part.locale, session, config.locale)
        setting = setting_at(now(), locale)
        unknown = dict.fromkeys(saying.reads, "")
        return worded(saying.text, **unknown | spoken(part, ask["context"], setting, texts.hidden))

    return said


_SHARE = 0.9
"""Maximum share of a pathway's timeout for one model agent."""


def timeout_of(pathway: PathwaySpec, config: JourneyConfig) -> float:
    """Return the timeout of one try of a pathway's agent, in seconds."""
    return pathway.timeout or config.pathway_timeout_seconds


def check_agent(spec: JourneySpec, name: str, agent: Any, overdue: Overdue) -> None:
    """Refuse an agent that no pathway uses, or that is not a valid agent.

    Raises:
        AgentNotRegisteredError: The name is in no `__agents__`; with did-you-mean.
        ConfigurationError: The agent cannot be called, or one of its tools is not valid.
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
        toolbox_of(name, agent.tools, overdue)
        for pathway in known[name]:
            _contract_signature(spec.pathways[pathway], name, agent)
        _check_model_name(name, agent)
        if agent.model is not None and not isinstance(agent.model, str):
            chat_of(agent.model)
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
        spec: The journey, which is not abstract.
        agents: The registered agents, by name.
        overdue: Reports late agents.
        has_model: True if a model is configured; it runs every pathway that has a signature and no
            agent.
    """
    for name, agent in agents.items():
        try:
            check_agent(spec, name, agent, overdue)
        except JourneyError as error:
            yield error
    for _, path, agent in _places(spec):
        try:
            _check_model_name(path, agent)
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
    """Refuse agents with the first of their `refusals`, which has the arguments.

    Raises:
        AgentNotRegisteredError: An agent is not used, or agents are missing; the text names all of
            them with their pathways.
        ConfigurationError: An agent or one of its tools is not valid, or the provider of its model
            is unknown or not installed.
        JourneyDefinitionError: The journey is abstract.
    """
    for error in refusals(spec, agents, overdue, has_model=has_model):
        raise error


def _check_model_name(name: str, agent: Any) -> None:
    call = agent.call if isinstance(agent, DeclaredAgent) else agent
    if isinstance(call, ModelAgent) and isinstance(call.model, str):
        check_name(call.model, f"model of agent '{name}'")


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
    shared = shared_tools(spec, tools or {})
    known = {name: registered_agent(name, agent) for name, agent in agents.items()}
    check_allowed(spec, known, shared)
    agents = {name: agent.call for name, agent in known.items()}
    made = _Maker(spec, config, models, overdue, shared, known)
    callable_agents = {
        (pathway.id, path): made.agent(
            pathway, path, agents.get(agent.name) if agent.call is None else agent.call
        )
        for pathway, path, agent in _places(spec)
    }
    toolbox = toolbox_of(spec.id, [], overdue, shared=shared)
    return Services(
        with_tools(spec, toolbox),
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
class _Maker:
    """Makes a registered object, or a configured model, the agent of a pathway."""

    spec: JourneySpec
    config: JourneyConfig
    models: Models | None
    overdue: Overdue
    shared: Mapping[str, Usable]
    known: Mapping[str, DeclaredAgent]

    def agent(self, pathway: PathwaySpec, path: str, given: Any) -> Callee:
        name = path.rpartition("/")[2]
        if isinstance(given, ModelAgent) and given.model is not None and has_none():
            return as_agent(name, _without_model(name), self.overdue)
        if given is None or isinstance(given, ModelAgent):
            return self._model_agent(pathway, path, given or ModelAgent())
        if isinstance(given, Saying):
            return self._saying(pathway, name, given)
        return as_agent(name, given, self.overdue)

    def _saying(
        self, pathway: PathwaySpec, name: str, given: Saying, locale: Locale = NOWHERE
    ) -> Callee:
        said = speaking(given, self.spec, self.config, pathway.id, locale)
        localized = partial(self._saying, pathway, name, given)
        return replace(as_agent(name, said, self.overdue), localized=localized)

    def _model_agent(self, pathway: PathwaySpec, path: str, given: ModelAgent) -> Callee:
        name = path.rpartition("/")[2]
        signature = _contract_signature(pathway, name, given)
        caller = ModelCaller(
            contract_of(self.spec, pathway.id, signature, self._language(pathway, NOWHERE)),
            limited(
                self._chat(pathway, name, given),
                self.config,
                given.max_tokens or self.config.agent_max_tokens,
            ),
            toolbox_of(
                name,
                given.tools,
                self.overdue,
                pathway.tools,
                shared=tools_of(self.spec, pathway, self.shared),
                reserved=reserved_in(self.spec, pathway),
            ),
            # Before the pathway's own time is up: what a model failed at is not tried again.
            min(self.config.model_timeout_seconds, _SHARE * timeout_of(pathway, self.config)),
            partial(identity_of, pathway.pipeline, path, self.known),
        )

        def localized(locale: Locale) -> Callee:
            language = self._language(pathway, locale)
            contract = contract_of(self.spec, pathway.id, signature, language)
            spoken = replace(caller, contract=contract)
            return Callee(name, spoken, signature, spoken.asked)

        return Callee(name, caller, signature, caller.asked, localized)

    def _language(self, pathway: PathwaySpec, session: Locale) -> str | None:
        own = self.spec.part_of(pathway.id).locale
        return in_force(own, session, self.config.locale).language

    def _chat(self, pathway: PathwaySpec, name: str, given: ModelAgent) -> Chat:
        if given.model is not None and not isinstance(given.model, str):
            return self.models.of(given.model) if self.models else chat_of(given.model)
        if self.models is None:
            if given.model and provider_of(given.model):
                return provided(given.model)
            raise ConfigurationError(
                f"Agent '{name}' is a ModelAgent, but no model is configured: set OPENAI_API_KEY, "
                "give it a model of another provider (such as 'anthropic:...'), or pass "
                "model=... to the journey."
            )
        if given.model:
            return self.models.named(given.model)
        own = self.spec.part_of(pathway.id).model
        return self.models.named(own) if own else self.models.step(self.config.agent_model)


def _without_model(name: str) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    async def refuse(ask: Mapping[str, Any]) -> str:
        raise ConfigurationError(
            f"Agent '{name}' asks a model, and there is none here. Give its results as agents, or "
            "the answers of a model."
        )

    return refuse


def _contract_signature(pathway: PathwaySpec, name: str, given: ModelAgent) -> SignatureSpec:
    """Return the limits and rules of a model agent in a pathway."""
    own = given.signature() if isinstance(given.signature, type) else given.signature
    signature = own.spec if own is not None else pathway.signature
    if signature is None:
        raise ConfigurationError(
            f"Agent '{name}' is a ModelAgent, but pathway '{pathway.id}' has no __signature__: "
            "give it one, or ModelAgent(signature=...)."
        )
    return signature
