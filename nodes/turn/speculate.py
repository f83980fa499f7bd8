"""Ask the agent that is likely to answer while a model still understands the message."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import PathwaySpec
from journeygraph.nodes.agents.model_agent import ModelCaller, Speculation, record_of
from journeygraph.nodes.features.guidance import rules_ahead
from journeygraph.nodes.payloads import base_of, payload_of
from journeygraph.nodes.pipelines.work import Member
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.confirmation import Consent
from journeygraph.nodes.turn.run_agent import brief_of, is_live

if TYPE_CHECKING:
    from journeygraph.nodes.draft import TurnDraft
    from journeygraph.nodes.state.interpretation import Interpretation


def may_speculate(services: Services) -> bool:
    """Return whether this turn may ask ahead; each turn of a managed session asks once.

    A graph without a manager cannot end unused requests at its end.
    """
    is_managed = services.running.journal is not None
    return is_managed and services.config.speculate and record_of(services.spec).allows()


def speculate(draft: TurnDraft, reading: Interpretation) -> None:
    """Ask the one model agent of the pathway that the message leads to, unless a model objects."""
    services = draft.services
    member = _likely_member(draft, reading)
    agent = services.agents.get((member.pathway.id, member.path)) if member else None
    if member is None or agent is None or not isinstance(agent.call, ModelCaller):
        return
    if agent.call.chat.answers_in_order or agent.call.chat.rests:
        return
    agent = agent.at(services.locale)
    call: Any = agent.call
    state = {
        "messages": draft.messages,
        "context": draft.context,
        "fields": draft.fields,
        "turn": draft.turn,
    }
    brief = brief_of(state, member, services)
    if brief is None:
        return
    signature = agent.signature or member.pathway.signature
    payload, _ = payload_of(signature, base_of(state, services), brief)
    rules = rules_ahead(draft.spec, reading.guideline_candidates, member.pathway.id)
    record, most = record_of(draft.spec), services.config.speculate_max_wrong
    place = (member.pathway.id, member.path)
    ahead = Speculation(
        place,
        call.first_question(payload, rules, Consent(*place, draft.turn)),
        rules,
        partial(record.add, most=most),
    )
    ahead.begin(call.chat, call.seconds, live=is_live(services, member))
    services.running.speculation = ahead


def _likely_member(draft: TurnDraft, reading: Interpretation) -> Member | None:
    """Return the agent that answers if a model finds nothing else in the message.

    None if that is more than one agent, where something comes before it, where a trigger moved the
    session, or where the message may answer something else.
    """
    if draft.resumed or draft.turn.get("asked") or reading.parse.commands:
        return None
    if reading.is_read and draft.dialogue.asked:
        return None
    steering = draft.steered(reading.verdicts)
    if steering.run is None or steering.entered != "stay":
        return None
    return _only_member(draft.spec.pathways[steering.run])


def _only_member(pathway: PathwaySpec) -> Member | None:
    pipeline = pathway.pipeline
    if pipeline is None or pathway.collects or pathway.effects or pathway.calls:
        return None
    alone = pipeline.pattern == "sequential" and len(pipeline.agents) == 1
    if not alone or pipeline.limits.breaker_failures is not None:
        return None
    return Member(pathway, pipeline, pipeline.agents[0].name, has_word=True)
