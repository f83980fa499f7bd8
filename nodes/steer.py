"""Decide where a message leads: verdicts and commands in, position out; pure and total.

`steer` never raises. It moves the session only along transitions that are legal now; whatever
else is asked for is dropped and audited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from journeygraph.journeys import IntentTrigger, JourneyConfig, JourneySpec, TransitionSpec
from journeygraph.journeys.declarations.behaviors import ReturnToSpecific
from journeygraph.journeys.spec.spec import ACTIVATION, CANCEL, MOVE
from journeygraph.nodes.commands import Command, Go, Verdict
from journeygraph.nodes.state.context import Op
from journeygraph.nodes.state.session import Fired, Judged, Position
from journeygraph.nodes.state.stack import Entered, Situation, back, left, move, note

_SURE = ("condition", "event", "timer", "pattern", "own", "always")
"""Tiers of verdicts that no model gave."""


def places(spec: JourneySpec, position: Position) -> tuple[str, ...]:
    """Return the pathways whose transitions apply now: the present one, and where it returns."""
    here = position["pathway"]
    if not position["returning"]:
        return (here,)
    returns = spec.pathways[here].returns
    if isinstance(returns, ReturnToSpecific):
        return (here, returns.target_pathway)
    return (here, position["stack"][-1]["pathway"]) if position["stack"] else (here,)


def allowed_transitions(spec: JourneySpec, position: Position) -> list[TransitionSpec]:
    """Return the transitions that may fire now, the first to be asked first."""
    fired = position["fired"]
    return [t for t in spec.leaving(*places(spec, position)) if t.id not in fired]


def is_sure(transition: TransitionSpec, verdict: Verdict, least: float, activation: float) -> bool:
    """Return whether a verdict is sure enough.

    Args:
        transition: The transition in question; its own threshold comes first.
        activation: Confidence that a model must exceed to start a journey of a concierge.
    """
    if not is_share(verdict.confidence):
        return False
    own = getattr(transition.trigger, "confidence_threshold", None)
    if transition.kind == ACTIVATION:
        # What is not a model is sure, also where nobody can be surer than is asked for.
        return verdict.tier in _SURE or verdict.confidence > (activation if own is None else own)
    return verdict.confidence >= (least if own is None else own)


def is_share(confidence: float) -> bool:
    """Return whether it is a confidence at all."""
    return 0.0 <= confidence <= 1.0


def asks_model(transition: TransitionSpec) -> bool:
    """Return whether a model may judge a transition: an intent whose author allows it."""
    trigger = transition.trigger
    return isinstance(trigger, IntentTrigger) and trigger.use_llm_fallback


@dataclass(frozen=True, slots=True)
class SteeringLimits:
    """Limits of `steer`: maximum number of paused pathways, and least confidence of a verdict.

    A journey of a concierge begins only with more than `activation`.
    """

    depth: int
    confidence: float
    activation: float = 0.7


def limits_of(config: JourneyConfig) -> SteeringLimits:
    """Return the limits that a journey is run with."""
    sure, starts = config.intent_confidence_threshold, config.activation_confidence_threshold
    return SteeringLimits(config.max_pathway_depth, sure, starts)


MODELS = ("model", "cache")
"""Tiers whose verdicts come from a model."""
BY_NAME = "asked for by name"
OUTSIDE = "outside_closed_set"
UNSURE = "below_threshold"
"""Flags of a turn in which a model asked for what is not open, or was not sure enough."""


@dataclass(frozen=True, slots=True)
class Steering:
    """The decision: the position, the pathway to run (None: none), and a text instead.

    `refused_depth` is the depth that was asked for and is over the limit; `judged` is what a model
    given that moved nothing, and `flags` what was wrong with it.
    """

    position: Position
    run: str | None
    entered: Entered
    say: Literal["", "closing", "too_deep", "cancelled"] = ""
    ops: list[Op] = field(default_factory=list)
    transition: Fired | None = None
    audit: list[dict[str, Any]] = field(default_factory=list)
    refused_depth: tuple[int, int] | None = None
    judged: Judged | None = None
    flags: tuple[str, ...] = ()


def steer(
    spec: JourneySpec, situation: Situation, commands: Sequence[Command], limits: SteeringLimits
) -> Steering:
    """Decide where a message leads."""
    audit: list[dict[str, Any]] = []
    if not commands and not situation.position["fired"]:
        return _stay(spec, situation, audit)
    situation = situation.at(rearmed(spec, situation.position, commands))
    held, doubts = _held(spec, situation.position, commands, limits, audit)
    chosen = held[0] if held else None
    for transition, verdict in held[1:]:
        if verdict.tier != "always":
            audit.append(
                _row("dropped", situation, transition, verdict, "another transition fired")
            )
    if chosen:
        steering = _fire(spec, situation, *chosen, limits, audit)
    else:
        steering = _stay(spec, situation, audit)
    judged = None if steering.transition else _surest(commands)
    return replace(steering, judged=judged, flags=doubts) if judged or doubts else steering


def _stay(spec: JourneySpec, situation: Situation, audit: list[dict[str, Any]]) -> Steering:
    if situation.position["returning"]:
        return _return(spec, situation, audit)
    if situation.position["status"] == "complete" and not situation.position["stack"]:
        return Steering(situation.position, None, "stay", say="closing", audit=audit)
    return Steering(situation.position, situation.position["pathway"], "stay", audit=audit)


def rearmed(spec: JourneySpec, position: Position, commands: Sequence[Command]) -> Position:
    """Arm the conditions again that were seen false; what a model thinks of them does not count."""
    if not position["fired"]:
        return position
    known = {transition.id for transition in spec.transitions}
    judged = [c for c in commands if isinstance(c, Verdict) and c.tier == "condition"]
    false = {verdict.question for verdict in judged if not verdict.holds}
    fired = [name for name in position["fired"] if name in known and name not in false]
    return position if fired == position["fired"] else {**position, "fired": fired}


HeldTransitions = list[tuple[TransitionSpec, Verdict]]


def _held(
    spec: JourneySpec,
    position: Position,
    commands: Sequence[Command],
    limits: SteeringLimits,
    audit: list[dict[str, Any]],
) -> tuple[HeldTransitions, tuple[str, ...]]:
    """Return the legal transitions that hold, the first to count first, and flags of what did not.

    What is dropped is audited.
    """
    allowed = {transition.id: transition for transition in allowed_transitions(spec, position)}
    held: HeldTransitions = []
    doubts: dict[str, None] = {}
    for command in commands:
        verdict = _as_verdict(command, allowed)
        if verdict is None:
            audit.append(note("dropped", position, reason=_why_dropped(command)))
            doubts[OUTSIDE] = None
            continue
        if verdict.error:
            audit.append(_raised(position, verdict))
        transition = allowed.get(verdict.question)
        if not _says_yes(verdict, position):
            continue
        if transition is None or (verdict.tier in MODELS and not asks_model(transition)):
            if verdict.tier in MODELS:  # a condition may well hold where its transition is not open
                audit.append(_closed_question(position, verdict))
                doubts[OUTSIDE] = None
        elif is_sure(transition, verdict, limits.confidence, limits.activation):
            held.append((transition, verdict))
        else:
            reason = _why_unsure(verdict.confidence)
            audit.append(_row("dropped", Situation(position), transition, verdict, reason))
            doubts[UNSURE] = None
    order = {id_: place for place, id_ in enumerate(allowed)}
    held.sort(key=lambda item: _rank(item[0], item[1], order[item[0].id]))
    return held, tuple(doubts)


def _surest(commands: Sequence[Command]) -> Judged | None:
    """Return what a model was surest of; a claim that something holds comes before a denial."""
    said = [c for c in commands if isinstance(c, Verdict) and c.tier in MODELS]
    said += [
        Verdict("", True, c.tier, c.confidence, BY_NAME) for c in commands if isinstance(c, Go)
    ]
    if not said:
        return None
    first = max(said, key=lambda verdict: (verdict.holds, verdict.confidence))
    sure = first.confidence if is_share(first.confidence) else 0.0
    return Judged(tier=first.tier, confidence=sure, reason=first.reason)


def _says_yes(verdict: Verdict, position: Position) -> bool:
    too_soon = verdict.tier == "always" and position["returning"]
    return verdict.holds and not verdict.error and not too_soon


def _why_unsure(confidence: float) -> str:
    return "confidence too low" if is_share(confidence) else f"{confidence} is not a confidence"


_TIERS = {"model": 1, "cache": 1, "command": 1, "always": 2}


def _rank(transition: TransitionSpec, verdict: Verdict, place: int) -> tuple[Any, ...]:
    tier = _TIERS.get(verdict.tier, 0)
    sure = -verdict.confidence if tier == 1 else 0.0
    return (tier, -transition.priority, sure, place)


def _as_verdict(command: Command, allowed: Mapping[str, TransitionSpec]) -> Verdict | None:
    if isinstance(command, Verdict):
        return command
    if isinstance(command, Go):
        for transition in allowed.values():
            # What an author keeps from models is not there to be talked over.
            if asks_model(transition) and transition.target == command.target:
                sure = command.confidence
                return Verdict(transition.id, True, command.tier, sure, BY_NAME)
    return None


def _why_dropped(command: Command) -> str:
    if isinstance(command, Go):
        return f"no transition leads to '{command.target}' from here"
    return f"'{type(command).__name__.lower()}' has no effect here"


def _closed_question(position: Position, verdict: Verdict) -> dict[str, Any]:
    return note("dropped", position, reason=f"'{verdict.question}' is not open here")


def _raised(position: Position, verdict: Verdict) -> dict[str, Any]:
    return note("condition_raised", position, trigger=verdict.question, reason=verdict.error)


def _row(
    kind: str, situation: Situation, transition: TransitionSpec, verdict: Verdict, reason: str
) -> dict[str, Any]:
    return note(
        kind,
        situation.position,
        to=transition.target,
        trigger=transition.label,
        reason=reason,
        confidence=verdict.confidence if is_share(verdict.confidence) else None,
    )


def _fire(
    spec: JourneySpec,
    situation: Situation,
    transition: TransitionSpec,
    verdict: Verdict,
    limits: SteeringLimits,
    audit: list[dict[str, Any]],
) -> Steering:
    before = situation.position
    if transition.is_condition:
        situation = situation.at({**before, "fired": [*before["fired"], transition.id]})
    moved = move(spec, situation, transition, limits.depth)
    if moved.refused_depth:
        reason = "depth {} exceeds the limit of {}".format(*moved.refused_depth)
        audit.append(_row("depth_refused", situation, transition, verdict, reason))
        return Steering(
            situation.position,
            None,
            "stay",
            say="too_deep",
            audit=audit,
            refused_depth=moved.refused_depth,
        )
    audit.append(_row("transition", situation, transition, verdict, verdict.reason))
    fired = Fired(
        id=transition.id,
        source=before["pathway"],
        target=transition.target,
        intent=transition.label,
        tier=verdict.tier,
        confidence=verdict.confidence,
        reason=verdict.reason,
    )
    cancels, stays = transition.kind == CANCEL, transition.kind == MOVE
    return Steering(
        moved.position if stays else left(spec, moved.position, before["pathway"]),
        None if cancels else transition.target,
        # What begins is entered as by itself: its first turn is that of the journey alone.
        "transition" if stays else "arrival",
        say="cancelled" if cancels else "",
        ops=moved.ops,
        transition=fired,
        audit=[*audit, *moved.audit],
    )


def _return(spec: JourneySpec, situation: Situation, audit: list[dict[str, Any]]) -> Steering:
    moved = back(spec, situation)
    ended = moved.position["status"] == "complete" and not moved.position["stack"]
    return Steering(
        moved.position,
        None if ended else moved.position["pathway"],
        "return",
        say="closing" if ended else "",
        ops=moved.ops,
        audit=[*audit, *moved.audit],
    )


def unsettled(
    open_now: Sequence[TransitionSpec], position: Position, verdicts: Sequence[Verdict]
) -> list[TransitionSpec]:
    """Return those of the open transitions that a model may judge; none if a free one holds."""
    held = {v.question for v in verdicts if v.tier != "always" and _says_yes(v, position)}
    if held and any(transition.id in held for transition in open_now):
        return []
    return [transition for transition in open_now if asks_model(transition)]
