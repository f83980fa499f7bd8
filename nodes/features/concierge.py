"""The journeys of a concierge, as parts of a turn: what is near, what begins, what ends.

A message that starts no journey is answered here: ask which one, say so, or talk freely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from journeygraph.journeys import JourneySpec, ModelError
from journeygraph.journeys.reading.reader import journey_id
from journeygraph.journeys.spec.spec import ACTIVATION
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.commands import Verdict
from journeygraph.nodes.draft import PathwayRun, TurnDraft
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm.replies import freeform
from journeygraph.nodes.payloads import GUIDELINES, given_in_turn
from journeygraph.nodes.replies.scope import is_own_voice
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.context import Op
from journeygraph.nodes.state.interpretation import Interpretation
from journeygraph.nodes.state.secrets import without_secrets
from journeygraph.nodes.state.session import AgentOutput, Completed, PathwayState, Update
from journeygraph.nodes.state.stack import left, note, overwritten, written_names
from journeygraph.nodes.steer import MODELS, allowed_transitions
from journeygraph.nodes.texts import worded


class ConciergeJourneys(Capability):
    """The journeys of a concierge: which are near, which one begins, which one ends."""

    def complete(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Note which journeys a model held likely, and since when the present one is active."""
        if draft.transition is None:
            draft.turn["near"] = _nearest(draft, reading)
        pathways = draft.spec.pathways
        active = pathways[draft.position["pathway"]].journey
        if active and active != pathways[draft.turn["begun_in"]].journey:
            draft.position = {**draft.position, "activated_at": draft.turn["at"]}

    def record(self, run: PathwayRun) -> None:
        """Mark what the reception says as the runtime's own words."""
        if is_own_voice(run.services.spec, run.services.texts, run.turn):
            run.turn["worded"] = [*range(len(run.turn["replies"]))]

    def lead(self, run: PathwayRun) -> None:
        """Free the session of a journey that a pathway has just completed, and forget its names."""
        pathway, spec = run.pathway, run.services.spec
        if not pathway.journey or run.position["pathway"] != spec.reception:
            return
        values = {name: run.context[name] for name in pathway.forgets if name in run.context}
        ops: list[Op] = [["clear", name, None, pathway.id] for name in values]
        reason = f"'{pathway.journey}' is complete"
        event = note("journey_completed", run.position, to=spec.reception, reason=reason)
        event["from"] = pathway.id
        run.turn["audit"].append(event)
        run.turn["completed"] = Completed(journey=pathway.journey, values=values)
        run.change(*ops)
        run.position = overwritten(left(spec, run.position, pathway.id), written_names(ops))


def _nearest(draft: TurnDraft, reading: Interpretation) -> list[str]:
    """Return the journeys that a model held likely, the likeliest first."""
    pathways = draft.spec.pathways
    starts = {
        move.id: pathways[move.target].journey
        for move in allowed_transitions(draft.spec, reading.position)
        if move.kind == ACTIVATION
    }
    judged = [c for c in reading.commands if isinstance(c, Verdict) and c.tier in MODELS]
    likely = [v for v in judged if v.holds and v.question in starts and 0 < v.confidence <= 1]
    likely.sort(key=lambda verdict: -verdict.confidence)
    return list(dict.fromkeys(starts[verdict.question] for verdict in likely))


_SENTENCE = re.compile(r"(?<=[.!?])\s")


async def receive(state: PathwayState, services: Services) -> Update:
    """Answer as the concierge is configured to."""
    outcome, texts = services.spec.otherwise, services.texts
    said, flags = texts.unsure, list[str]()
    if outcome == "ask":
        listed = offered(services.spec, state["turn"].get("near", []))
        said = worded(texts.which, journeys=listed)
    elif outcome == "freeform":
        said, flags = await _freely(state, services, said)
    given: dict[str, Any] = {"response": said}
    answer = AgentOutput(agent=outcome, place=0, wave=0, values=given, flags=flags, streamed=False)
    return {"results": [answer]}


def offered(spec: JourneySpec, near: Sequence[str]) -> str:
    """Return the journeys that a message can start, one a line; those that it is near to first."""
    started = [id_ for id_, part in spec.parts.items() if part.activation]
    ids = dict.fromkeys([*near, *started])
    return "".join(f"\n- {_offer(spec.parts[id_])}" for id_ in ids)


def _offer(part: JourneySpec) -> str:
    """Return a journey as users see it: its name, and the first sentence of its purpose.

    A class is named for its author; its id, as words, is for users.
    """
    is_class = journey_id(part.name) == part.id
    name = part.id.replace("_", " ").capitalize() if is_class else part.name
    purpose = _SENTENCE.split(" ".join(part.purpose.split()), maxsplit=1)[0]
    return f"{name}: {purpose}" if purpose else name


async def _freely(state: PathwayState, services: Services, otherwise: str) -> tuple[str, list[str]]:
    """Return a model's answer; without a model, or if it fails, the fixed text."""
    if services.models is None:
        return otherwise, ["model_not_configured"]
    usage = services.usage or Usage()
    spec, config = services.spec, services.config
    rules = given_in_turn(state, spec.entry).get(GUIDELINES, [])
    messages = without_secrets(spec, state)
    language = services.locale_in(spec.entry).language
    try:
        said = await freeform(
            config,
            services.models,
            usage,
            messages,
            spec,
            rules=rules,
            personality=spec.personality,
            language=language,
        )
    except ModelError as failure:
        return otherwise, [f"freeform_failed:{failure.kind}"]
    return said, []
