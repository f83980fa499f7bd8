"""Model agents of a journey: check them and make them callable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from journeygraph.graphs.agents.registry import Maker, timeout_of
from journeygraph.graphs.agents.tools import (
    reserved_in,
    tools_of,
)
from journeygraph.journeys import (
    ConfigurationError,
    ModelAgent,
    PathwaySpec,
)
from journeygraph.journeys.agents.signature import SignatureSpec
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.nodes.agents.adapters import Callee, as_agent
from journeygraph.nodes.agents.model_agent import ModelCaller, contract_of
from journeygraph.nodes.authored import Overdue
from journeygraph.nodes.llm.call import limited
from journeygraph.nodes.llm.client import ChatClient
from journeygraph.nodes.llm.models import (
    chat_of,
    check_name,
    has_none,
    provided,
    provider_of,
)
from journeygraph.nodes.llm.tools import toolbox_of
from journeygraph.nodes.pipelines.identity import identity_of

_SHARE = 0.9
"""Maximum share of a pathway's timeout for one model agent."""


def check_model_name(name: str, agent: ModelAgent) -> None:
    """Refuse a model agent with a name of a model that cannot be had here."""
    if isinstance(agent.model, str):
        check_name(agent.model, f"model of agent '{name}'")


def check_model_agent(
    name: str, agent: ModelAgent, places: Sequence[PathwaySpec], overdue: Overdue
) -> None:
    """Refuse a model agent whose tools, signature or model are not valid in its pathways."""
    toolbox_of(name, agent.tools, overdue)
    for pathway in places:
        contract_signature(pathway, name, agent)
    check_model_name(name, agent)
    if agent.model is not None and not isinstance(agent.model, str):
        chat_of(agent.model)


def model_agent(maker: Maker, pathway: PathwaySpec, path: str, given: ModelAgent) -> Callee:
    """Return how to call a model agent of a pathway.

    Raises:
        ConfigurationError: It has no signature, or no model.
    """
    name = path.rpartition("/")[2]
    if given.model is not None and has_none():
        return as_agent(name, _without_model(name), maker.overdue)
    signature = contract_signature(pathway, name, given)
    caller = ModelCaller(
        contract_of(maker.spec, pathway.id, signature, _language(maker, pathway, NOWHERE)),
        limited(
            _chat(maker, pathway, name, given),
            maker.config,
            given.max_tokens or maker.config.agent_max_tokens,
        ),
        toolbox_of(
            name,
            given.tools,
            maker.overdue,
            pathway.tools,
            shared=tools_of(maker.spec, pathway, maker.shared),
            reserved=reserved_in(maker.spec, pathway),
        ),
        # Before the pathway's own time is up: what a model failed at is not tried again.
        min(maker.config.model_timeout_seconds, _SHARE * timeout_of(pathway, maker.config)),
        partial(identity_of, pathway.pipeline, path, maker.known),
    )

    def localized(locale: Locale) -> Callee:
        language = _language(maker, pathway, locale)
        contract = contract_of(maker.spec, pathway.id, signature, language)
        spoken = replace(caller, contract=contract)
        return Callee(name, spoken, signature, spoken.asked)

    return Callee(name, caller, signature, caller.asked, localized)


def _language(maker: Maker, pathway: PathwaySpec, session: Locale) -> str | None:
    own = maker.spec.part_of(pathway.id).locale
    return in_force(own, session, maker.config.locale).language


def _chat(maker: Maker, pathway: PathwaySpec, name: str, given: ModelAgent) -> ChatClient:
    if given.model is not None and not isinstance(given.model, str):
        return maker.models.of(given.model) if maker.models else chat_of(given.model)
    if maker.models is None:
        if given.model and provider_of(given.model):
            return provided(given.model)
        raise ConfigurationError(
            f"Agent '{name}' is a ModelAgent, but no model is configured: set OPENAI_API_KEY, "
            "give it a model of another provider (such as 'anthropic:...'), or pass "
            "model=... to the journey."
        )
    if given.model:
        return maker.models.named(given.model)
    own = maker.spec.part_of(pathway.id).model
    return maker.models.named(own) if own else maker.models.step(maker.config.agent_model)


def _without_model(name: str) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    async def refuse(ask: Mapping[str, Any]) -> str:
        raise ConfigurationError(
            f"Agent '{name}' asks a model, and there is none here. Give its results as agents, or "
            "the answers of a model."
        )

    return refuse


def contract_signature(pathway: PathwaySpec, name: str, given: ModelAgent) -> SignatureSpec:
    """Return the limits and rules of a model agent in a pathway."""
    own = given.signature() if isinstance(given.signature, type) else given.signature
    signature = own.spec if own is not None else pathway.signature
    if signature is None:
        raise ConfigurationError(
            f"Agent '{name}' is a ModelAgent, but pathway '{pathway.id}' has no __signature__: "
            "give it one, or ModelAgent(signature=...)."
        )
    return signature
