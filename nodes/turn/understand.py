"""Understand a message: interpret it, decide where it leads, and draft the turn."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from journeygraph.journeys import (
    AlwaysTrigger,
    ConditionTrigger,
    IntentTrigger,
    JourneySpec,
    MaxPathwayDepthError,
    TransitionSpec,
)
from journeygraph.journeys.phrases import Matcher
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.authored import contained
from journeygraph.nodes.capability import Capabilities
from journeygraph.nodes.commands import Noise, Verdict, command_name, matched
from journeygraph.nodes.draft import TurnDraft, check_known, open_draft
from journeygraph.nodes.json_data import copied, words_of
from journeygraph.nodes.language.lexicon import lexicon_ready, refused_in
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.interpretation import Interpretation
from journeygraph.nodes.state.session import Position, SessionState, Update
from journeygraph.nodes.state.stack import note
from journeygraph.nodes.steer import (
    MODELS,
    allowed_transitions,
    unsettled,
)
from journeygraph.nodes.telemetry import part_raised


async def understand(state: SessionState, services: Services, capabilities: Capabilities) -> Update:
    """Decide what this turn runs.

    Raises:
        ContextSizeExceededError: The context would be too large.
        MaxPathwayDepthError: Under fail_fast, when a detour would exceed the depth limit.
        PathwayNotFoundError: The session is in a pathway that this version never had.
    """
    draft = open_draft(state, services)
    if draft.turn["kind"] in ("event", "timer"):
        update: Update = await part("outside").take_outside(draft, capabilities)
        return update
    if (held := await _held(draft, capabilities)) is not None:
        return held
    if await _is_stopped(draft, capabilities):
        return draft.update()
    reading = await interpret(draft, capabilities)
    await _decide(draft, reading, capabilities)
    if journal := services.running.journal:
        journal.decision = decision_of(draft, reading)
    _check_ahead(draft)
    for one in capabilities:
        one.complete(draft, reading)
    return draft.update()


async def _held(draft: TurnDraft, capabilities: Capabilities) -> Update | None:
    """Return the changes of a turn in which nothing is decided; None if its message counts."""
    for one in capabilities:
        if (held := await one.hold(draft)) is not None:
            return held
    if draft.turn["kind"] == "turn" and draft.turn["message"] is not None:
        return None
    if draft.turn["kind"] == "start":
        greet(draft, capabilities)
    return draft.undecided()


async def _is_stopped(draft: TurnDraft, capabilities: Capabilities) -> bool:
    if draft.position["version"] == draft.spec.version:
        check_known(draft.spec, draft.position)
    elif await part("upgrade").has_moved(draft):
        return True
    if "pending" in draft.position:
        _take_pending(draft)
    return any(one.stop(draft) for one in capabilities)


def _check_ahead(draft: TurnDraft) -> None:
    """Stop a speculative request to an agent that does not run in this turn."""
    ahead = draft.services.running.speculation
    if ahead and (draft.run, draft.entered) != (ahead.place[0], "stay"):
        ahead.discard(draft.services.usage)


async def _decide(draft: TurnDraft, reading: Interpretation, capabilities: Capabilities) -> None:
    """Decide where the message leads, and answer what it asks next to that.

    A feature that has the floor decides, or else triggers do.
    """
    for one in capabilities:
        if await one.decide(draft, reading):
            break
    else:
        draft.adopt(draft.steered(reading.commands))
    if draft.refused_depth and draft.services.fails_fast:
        raise MaxPathwayDepthError(*draft.refused_depth)
    for one in capabilities:
        await one.answer(draft)


def _take_pending(draft: TurnDraft) -> None:
    """Allow the agents of this turn the confirmed calls; after a pause a yes is void."""
    emptied: Position = {**draft.position}
    asked = emptied.pop("pending")
    draft.position = emptied
    pause = timedelta(seconds=draft.services.config.resume_after_seconds)
    since = datetime.fromisoformat(draft.turn["at"]) - pause
    old = [one for one in asked if "at" in one and datetime.fromisoformat(one["at"]) < since]
    draft.turn["asked"] = [one for one in asked if one not in old]
    for one in old:
        reason = "the user was asked about it before a pause"
        draft.turn["audit"].append(note("dropped", emptied, trigger=one["tool"], reason=reason))


def greet(draft: TurnDraft, capabilities: Capabilities) -> None:
    """Say the greeting in the turn that begins a session; nothing if none is declared."""
    greeting = draft.spec.personality.greeting
    if not greeting:
        return
    draft.turn["replies"] = [greeting]
    for one in capabilities:
        one.greet(draft)


async def interpret(draft: TurnDraft, capabilities: Capabilities) -> Interpretation:
    """Return what is known of the message of a turn."""
    reading = Interpretation(draft.position)
    for one in capabilities:
        await one.read(draft, reading)
    services, message = draft.services, draft.message
    reading.open_now = open_now = allowed_transitions(services.spec, reading.position)
    verdicts = await free_verdicts(services, open_now, reading.position, message, draft.began)
    reading.verdicts = await wanted(verdicts, message, services, draft)
    for one in capabilities:
        await one.weigh(draft, reading)
    if not reading.is_certain:
        reading.questions = unsettled(open_now, reading.position, reading.verdicts)
    for one in capabilities:
        await one.ask(draft, reading)
    if reading.is_open and services.models is None:
        draft.turn["flags"].append("model_not_configured")
    elif reading.is_open:
        await part("understanding").ask_model(draft, reading)
    if not reading.has_answer:
        reading.verdicts = [*reading.doubted, *reading.verdicts]
    return reading


_MOST_LISTED = 20
"""Most candidates, commands, and guidelines that do not hold, in the decision of a turn."""
_NAMES = ("field", "option", "task", "target", "reason")
"""Attributes of commands that name what they are about."""


def decision_of(draft: TurnDraft, reading: Interpretation) -> dict[str, list[Any]]:
    """Return how a turn was decided, as plain data, without what is empty."""
    made: dict[str, list[Any]] = {}
    if reading.open_now or draft.transition:
        made["candidates"] = _candidates(draft, reading)
    said = reading.answer.commands if reading.has_answer else reading.parse.commands
    if said:
        meant = [c for c in said if not isinstance(c, (Verdict, Noise))][:_MOST_LISTED]
        made["commands"] = [[command_name(type(c)), _about(c), c.confidence] for c in meant]
    weighed = reading.guideline_candidates
    if weighed.asked or weighed.denied:
        held = {one.guideline.id for one in weighed.held}
        asked = [guideline.id for guideline in weighed.asked if guideline.id not in held]
        made["denied"] = [*weighed.denied, *asked][:_MOST_LISTED]
    return made


def _about(command: Any) -> str:
    found = (getattr(command, name, "") for name in _NAMES)
    return next(filter(None, found), "")


def _candidates(draft: TurnDraft, reading: Interpretation) -> list[list[Any]]:
    fired = draft.transition
    judged = {v.question: v for v in (*reading.doubted, *reading.verdicts)}
    judged |= {v.question: v for v in reading.answer.commands if isinstance(v, Verdict)}
    asked = {transition.id for transition in reading.questions} if reading.is_answered else ()
    labels = draft.spec.labels
    found: list[list[Any]] = []
    for transition in reading.open_now:
        ways: list[Any]
        if fired and fired["id"] == transition.id:
            continue
        if verdict := judged.get(transition.id):
            ways = [verdict.tier, verdict.holds, verdict.confidence]
            is_said = verdict.holds or verdict.tier in MODELS
            ways.append(verdict.error or (verdict.reason if is_said else ""))
        elif transition.id in asked:
            ways = ["model", False, None]
        elif getattr(transition.trigger, "patterns", ()):
            ways = ["pattern", False, None]
        else:
            ways = ["", None, None]
        found.append([labels[transition.id], transition.target, *ways])
    if len(found) > 1:
        found.sort(key=_rank)
    if fired:
        sure = [fired["tier"], True, fired["confidence"], fired["reason"], True]
        found.insert(0, [fired["intent"], fired["target"], *sure])
    return found[:_MOST_LISTED]


def _rank(candidate: list[Any]) -> int:
    """Return the place of a candidate: what holds, what was judged, and what was not."""
    return 0 if candidate[3] else 2 if candidate[4] is None else 1


async def free_verdicts(
    services: Services,
    open_now: Sequence[TransitionSpec],
    position: Position,
    message: str,
    context: Mapping[str, Any],
) -> list[Verdict]:
    """Answer every question that needs no model.

    Conditions are judged at every position of the session, so that a false result arms them again.
    """
    answered = services.matcher.match(message)
    conditions = services.spec.conditions
    judging = services.spec.self_judging
    others = [t for t in open_now if t.id in judging]
    intents = [t for t in open_now if t.id in answered and t.id not in judging]
    # A judge gets a copy: what it does to the context must change nothing.
    context = copied(context) if conditions or others else {}
    verdicts = [await _evaluated(services, t, "condition", message, context) for t in conditions]
    verdicts = [
        _told(services.spec, position, *each) for each in zip(conditions, verdicts, strict=True)
    ]
    verdicts += [matched(t.id, answered[t.id]) for t in intents]
    for transition in others:
        tier = "always" if isinstance(transition.trigger, AlwaysTrigger) else "own"
        verdicts.append(await _evaluated(services, transition, tier, message, context))
    return verdicts


async def wanted(
    verdicts: list[Verdict], message: str, services: Services, draft: TurnDraft
) -> list[Verdict]:
    """Return verdicts without patterns in a clause that says that their task is not wanted.

    Nothing is read where no pattern has matched.
    """
    said = {v.question for v in verdicts if v.tier == "pattern"}
    if not said:
        return verdicts
    language = draft.setting.language
    await lexicon_ready(language)
    patterns = [
        (pattern, transition.id)
        for transition in services.spec.transitions
        if transition.id in said and isinstance(transition.trigger, IntentTrigger)
        for pattern in transition.trigger.patterns
    ]
    refused = refused_in(message, patterns, language)
    return [v for v in verdicts if v.tier != "pattern" or v.question not in refused]


def _told(
    spec: JourneySpec, position: Position, transition: TransitionSpec, verdict: Verdict
) -> Verdict:
    """Return a verdict; ignore an error in a condition of another journey."""
    active = spec.pathways[position["pathway"]].journey
    sources = [spec.pathways[id_].journey for id_ in transition.sources if id_ != "*"]
    return verdict if active in sources or not sources else replace(verdict, error="")


async def _evaluated(
    services: Services,
    transition: TransitionSpec,
    tier: str,
    message: str,
    context: Mapping[str, Any],
) -> Verdict:
    """Ask a trigger; one that raises, or takes longer than a pathway may, is false and says so."""
    try:
        async with asyncio.timeout(services.config.pathway_timeout_seconds):
            with contained():
                result = transition.trigger.evaluate(message, context)
                holds = bool(await result if inspect.isawaitable(result) else result)
    except Exception as error:
        part_raised("condition", transition.trigger.label, error)
        return Verdict(transition.id, False, tier, error=words_of(error))
    reason = "became true" if isinstance(transition.trigger, ConditionTrigger) else tier
    return Verdict(transition.id, holds, tier, reason=reason)


def matcher_of(spec: JourneySpec) -> Matcher:
    """Return the matcher of a journey: every pattern of every intent."""
    return _matcher(
        tuple(
            (pattern, transition.id)
            for transition in spec.transitions
            if isinstance(transition.trigger, IntentTrigger)
            for pattern in transition.trigger.patterns
        )
    )


# By the patterns alone: a spec holds its pipelines, and these their agents.
@lru_cache(maxsize=256)
def _matcher(patterns: tuple[tuple[str, str], ...]) -> Matcher:
    return Matcher(patterns)
