"""Find the guidelines that hold in a turn: by words, by code, by the understanding call.

What a model has to judge goes into the one call that understands the message. When that call fails,
what needs no model holds all the same.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import GuidelineSpec, JourneyConfig, JourneySpec
from journeygraph.journeys.spec.spec import MAX_HOPS
from journeygraph.nodes.authored import contained
from journeygraph.nodes.breaker import breaker_of
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.commands import Verdict
from journeygraph.nodes.guidelines.index import GuidelineCandidate, index_of
from journeygraph.nodes.guidelines.resolve import resolve
from journeygraph.nodes.json_data import copied, words_of
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.interpretation import GuidelineCandidates, HeldGuideline
from journeygraph.nodes.state.session import Guided, Position
from journeygraph.nodes.state.stack import Situation, note
from journeygraph.nodes.steer import places
from journeygraph.nodes.telemetry import JOURNEY, measure, part_raised, report

if TYPE_CHECKING:
    from journeygraph.nodes.draft import TurnDraft
    from journeygraph.nodes.state.interpretation import Interpretation


BYPASSED = "guidelines_bypassed"
"""Flag of a turn in which guidelines could not be matched as they should be."""
_MOST_TOLD = 8
"""Most rules that a model made up which the audit of a turn names."""
Places = Collection[tuple[str, str]]
"""Pathways that may run, each with the journey that it belongs to."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """The guidelines that hold in a turn, the first to count first, and the audit of them."""

    guidelines: list[Guided] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)


def places_of(spec: JourneySpec, targets: Collection[str]) -> list[tuple[str, str]]:
    """Return where guidelines may be wanted: these pathways, and those that run on arrival then."""
    places: dict[tuple[str, str], None] = {}
    for target in targets:
        at: str | None = target
        for _ in range(MAX_HOPS):
            if at is None or (at, spec.part_of(at).id) in places:
                break
            places[at, spec.part_of(at).id] = None
            following = spec.pathways[at].next
            at = following if following and spec.pathways[following].runs_on_arrival else None
    return list(places)


class Guidelines(Capability):
    """The guidelines of a journey: asked before its form, and applied where the turn leads."""

    def load(self, config: JourneyConfig) -> None:
        """Build the index: thousands take a second, which no message should have to wait for."""
        index_of(self.spec.guidelines)

    async def ask(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Find the guidelines that may hold in all possible targets of this turn."""
        likely = draft.steered(reading.verdicts).run
        targets = {transition.target for transition in reading.questions}
        places = places_of(draft.spec, targets | ({likely} if likely else set()))
        anyway = bool(reading.questions)
        reading.guideline_candidates = await _weigh(
            draft.services, draft.situation, draft.message, places, anyway=anyway
        )

    def complete(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Write into the turn which guidelines hold where it leads."""
        places = places_of(draft.spec, [draft.run] if draft.run else [])
        found = guidance_of(draft.spec, reading.guideline_candidates, draft.position, places)
        draft.turn["guidelines"] = found.guidelines
        draft.turn["audit"] += found.audit
        draft.turn["flags"] += found.flags


async def _weigh(
    services: Services, situation: Situation, message: str, places: Places, *, anyway: bool
) -> GuidelineCandidates:
    """Find the guidelines that a message may touch: by its words, by code, and those always meant.

    Where no model is configured, the keywords that an author gave decide alone.

    Args:
        services: Services of the turn.
        situation: The situation of the session.
        message: The message of the user.
        places: The pathways that may run.
        anyway: True if a model is asked in any case. Where it is asked, words need not choose among
            guidelines that are few.
    """
    spec, config, position = services.spec, services.config, situation.position
    if not places:
        return GuidelineCandidates()
    index = index_of(spec.guidelines)
    most, alone = config.guideline_candidates, services.models is None
    asked = [c.guideline for c in index.candidates(message, places, most)]
    if asked or anyway:
        asked = index.whole(places, most) or asked
    held = [_said(c) for c in index.by_keyword(message, places, most, alone=alone)]
    coded = [guideline for guideline in index.unasked(places) if guideline.when is not None]
    held += [
        HeldGuideline(guideline, "always")
        for guideline in index.unasked(places)
        if guideline.when is None
    ]
    judged = await evaluate_conditions(spec, config, coded, message, situation.context)
    guideline_candidates = _with_code(judged, position)
    if services.models is None:
        held += [
            HeldGuideline(guideline, "always") for guideline in asked if guideline.needs_no_words
        ]
        asked = []
    return replace(
        guideline_candidates, asked=tuple(asked), held=(*held, *guideline_candidates.held)
    )


def _said(candidate: GuidelineCandidate) -> HeldGuideline:
    said = ", ".join(f"'{keyword}'" for keyword in candidate.keywords)
    return HeldGuideline(candidate.guideline, "keyword", reason=f"matched {said}")


def rules_here(spec: JourneySpec, position: Position, most: int) -> list[GuidelineSpec]:
    """Return the guidelines that a model may be asked about in the current pathway.

    Empty if there are more than twice as many as one call judges: to show them all would cost more
    than it saves.
    """
    if not spec.guidelines:
        return []
    where = places(spec, position)
    leads = (t.target for t in spec.transitions if t.applies_in(*where))
    return index_of(spec.guidelines).whole(places_of(spec, [*where, *leads]), 2 * most)


def bypassed(guideline_candidates: GuidelineCandidates) -> GuidelineCandidates:
    """Return what holds of them where the model fails: what needs none, and what always counts."""
    kept = [
        _unjudged(g, "could not be judged") for g in guideline_candidates.asked if g.needs_no_words
    ]
    return replace(
        guideline_candidates, asked=(), held=(*guideline_candidates.held, *kept), bypassed=True
    )


def _unjudged(guideline: GuidelineSpec, reason: str) -> HeldGuideline:
    return HeldGuideline(guideline, "bypassed", reason=reason)


def _with_code(judged: Answers, position: Position) -> GuidelineCandidates:
    held = [
        HeldGuideline(guideline, "code") for guideline, answer in judged.values() if answer is True
    ]
    audit = [
        note("condition_raised", position, trigger=guideline.id, reason=words_of(answer))
        for guideline, answer in judged.values()
        if isinstance(answer, Exception)
    ]
    if audit:
        report(logging.WARNING, "guidelines_failed", failed=len(audit))
    # A critical rule that cannot be judged holds: whoever breaks its matcher must not be rid of it.
    held += [
        _unjudged(guideline, "its matcher failed")
        for guideline, answer in judged.values()
        if isinstance(answer, Exception) and guideline.critical
    ]
    denied = tuple(id_ for id_, (_, answer) in judged.items() if answer is False)
    return GuidelineCandidates(
        held=tuple(held), denied=denied, audit=tuple(audit), bypassed=bool(audit)
    )


def judged(
    guideline_candidates: GuidelineCandidates,
    verdicts: Sequence[Verdict],
    position: Position,
    threshold: float,
) -> GuidelineCandidates:
    """Add what a model judged to hold, with more confidence than a threshold (flow control)."""
    asked = {guideline.id: guideline for guideline in guideline_candidates.asked}
    held, audit = list(guideline_candidates.held), list(guideline_candidates.audit)
    named = {verdict.question: verdict for verdict in verdicts}
    closed = [id_ for id_ in named if id_ not in asked]
    reasons = [f"'{id_}' is not open here" for id_ in closed[:_MOST_TOLD]]
    if more := len(closed) - len(reasons):
        reasons.append(f"{more} more are not open here")
    audit += [note("dropped", position, reason=reason) for reason in reasons]
    for verdict in (named[id_] for id_ in named if id_ in asked):
        if threshold < verdict.confidence <= 1.0:
            guideline = asked[verdict.question]
            held.append(HeldGuideline(guideline, "model", verdict.confidence, verdict.reason))
        else:
            audit.append(_dropped(position, verdict.question, "confidence too low", verdict))
    return replace(guideline_candidates, held=tuple(held), audit=tuple(audit))


def _dropped(
    position: Position, id_: str, reason: str, verdict: Verdict | HeldGuideline
) -> dict[str, Any]:
    sure = verdict.confidence if 0.0 <= verdict.confidence <= 1.0 else None
    return note("guideline_dropped", position, trigger=id_, reason=reason, confidence=sure)


def guidance_of(
    spec: JourneySpec, guideline_candidates: GuidelineCandidates, position: Position, places: Places
) -> Guidance:
    """Return the guidelines of the pathways that may run in this turn.

    Relations are settled in each pathway by itself: a rule of one that runs after another, or in
    the end not at all, drops nothing there.

    Source: flow control, priority resolution.
    """
    index = index_of(spec.guidelines)
    matched: dict[str, HeldGuideline] = {}
    counts_in: dict[str, list[str]] = {}
    dropped: dict[tuple[str, str], HeldGuideline] = {}
    for pathway, journey in places:
        applying = [
            one for one in guideline_candidates.held if one.guideline.applies_in(pathway, journey)
        ]
        resolution = resolve(index.in_order(applying))
        for held in resolution.matched:
            matched.setdefault(held.guideline.id, held)
            counts_in.setdefault(held.guideline.id, []).append(pathway)
        dropped |= {(held.guideline.id, why): held for held, why in resolution.dropped}
    holding = index.in_order(matched.values())
    for held in holding:
        measure("journeygraph.guideline.matched", {JOURNEY: spec.id, **_kind(held)})
    for held in dropped.values():
        measure("journeygraph.guideline.dropped", {JOURNEY: spec.id, **_kind(held)})
    audit = list(guideline_candidates.audit)
    audit += [_dropped(position, id_, why, held) for (id_, why), held in dropped.items()]
    audit += [
        note(
            "guideline",
            position,
            trigger=held.guideline.id,
            reason=held.reason or held.tier,
            confidence=held.confidence,
        )
        for held in holding
    ]
    flags = [BYPASSED] if guideline_candidates.bypassed else []
    found = [_guided(held, counts_in[held.guideline.id]) for held in holding]
    return Guidance(found, audit, flags)


def rules_ahead(
    spec: JourneySpec, guideline_candidates: GuidelineCandidates, pathway: str
) -> list[dict[str, Any]]:
    """Return the guidelines for an agent that is asked before a model has judged them.

    Those that hold without it are as they are later. Of the others, those that have only
    an action have their condition, and are `unsure`: no tools, no checks, no relations.
    """
    if not spec.guidelines:
        return []
    index, journey = index_of(spec.guidelines), spec.part_of(pathway).id
    held = [one for one in guideline_candidates.held if one.guideline.applies_in(pathway, journey)]
    sure = list(resolve(index.in_order(held)).matched)
    excluded = {id_ for guideline in spec.guidelines for id_ in guideline.excludes}
    unsure = [
        HeldGuideline(guideline, "model")
        for guideline in guideline_candidates.asked
        if guideline.applies_in(pathway, journey)
        and not (guideline.critical or guideline.tools or guideline.excludes)
        and not (guideline.depends_on or guideline.id in excluded)
    ]
    known = {one.guideline.id for one in held}
    ordered = resolve(index.in_order([*sure, *(u for u in unsure if u.guideline.id not in known)]))
    return [_rule_ahead(one.guideline, one not in sure) for one in ordered.matched]


def _rule_ahead(guideline: GuidelineSpec, is_unsure: bool) -> dict[str, Any]:
    action = guideline.action
    if is_unsure:
        action = f"When {guideline.condition}: {action}" if action else ""
    return {
        "id": guideline.id,
        "action": action,
        "tools": list(guideline.tools),
        "unsure": is_unsure,
    }


def _kind(held: HeldGuideline) -> dict[str, str]:
    # No id: a label for each of thousands would be too many. The span of the turn has them.
    return {
        "journeygraph.guideline.scope": held.guideline.scope.value,
        "journeygraph.guideline.tier": held.tier,
    }


def _guided(held: HeldGuideline, pathways: list[str]) -> Guided:
    guideline = held.guideline
    return Guided(
        id=guideline.id,
        scope=guideline.scope.value,
        journey=guideline.journey,
        pathway=guideline.pathway,
        pathways=pathways,
        action=guideline.action,
        tools=list(guideline.tools),
        tier=held.tier,
        confidence=held.confidence,
        reason=held.reason,
    )


Answers = dict[str, tuple[GuidelineSpec, bool | Exception]]
"""By id, the guidelines with the results of their matchers, or the reasons without one."""


async def evaluate_conditions(
    spec: JourneySpec,
    config: JourneyConfig,
    guidelines: Sequence[GuidelineSpec],
    message: str,
    context: Mapping[str, Any],
) -> Answers:
    """Ask the matchers of guidelines; one that is late counts as one that raised.

    One that is late again and again would cost every turn its time. What raises costs none, and
    may not raise for the next message: it is asked every time.

    Source: flow control, guideline timeout.
    """
    if not guidelines:
        return {}

    async def ask(guideline: GuidelineSpec) -> bool | Exception:
        what = ("matcher", spec.id, spec.version, guideline.id)
        breaker = breaker_of(what, config.breaker_failures, config.breaker_seconds)
        seconds = config.guideline_timeout_seconds
        try:
            with breaker.guarding(_was_late):
                # A copy each: what one does to it, no other one sees.
                return await _answer(guideline, message, copied(context), seconds)
        except Exception as error:
            part_raised("guideline", guideline.id, error)
            return error

    answers = await asyncio.gather(*map(ask, guidelines))
    pairs = zip(guidelines, answers, strict=True)
    return {guideline.id: (guideline, answer) for guideline, answer in pairs}


def _was_late(error: BaseException) -> bool | None:
    return True if isinstance(error, TimeoutError) else None


async def _answer(
    guideline: GuidelineSpec, message: str, context: Mapping[str, Any], seconds: float
) -> bool:
    assert guideline.when is not None
    async with asyncio.timeout(seconds):
        with contained():
            result = guideline.when(message, context)
            return bool(await result if inspect.isawaitable(result) else result)
