"""The dialogue of a journey that collects, repairs or comes back, as parts of a turn.

It reads and decides only where it has the floor; elsewhere the agents of the pathway answer.

Source: DESIGN section 3; reference traces T01 to T35.
"""

from __future__ import annotations

from nodes.collect import FORM, is_collected
from nodes.commands import Command
from nodes.deciding import decide, is_deaf
from nodes.draft import TurnDraft, draft_of
from nodes.effect_outcome import EFFECTS, remember_effects, went_well
from nodes.forms.claims import claimed
from nodes.interpret import Reading
from nodes.language import ready_to_hear
from nodes.legal import limits_of
from nodes.listening import (
    asking_in,
    authors_first,
    guessed,
    heard_for,
    heard_in,
    in_free_text,
    welcome,
)
from nodes.repair.coming_back import completed
from nodes.settle import Hop
from nodes.steer import steer
from nodes.talk import DialogueState, with_dialogue
from nodes.visits import overwritten

ONLY_CODE = ("condition",)
"""Tiers that are judged though the message wholly answers what was asked."""


def has_floor(draft: TurnDraft) -> bool:
    """Say whether the dialogue answers, and not the agents of the pathway alone.

    It does where the session stands in a form or in a pathway with effects, where nobody else could
    answer, where something is asked, queued, or collected, and in a journey that declares repair.
    """
    spec, dialogue = draft.spec, draft.dialogue
    places = {draft.here.id, draft.position["pathway"]}
    places |= {frame["pathway"] for frame in draft.position["stack"]}
    return bool(
        spec.has_repair
        or any(spec.pathways[id_].form or spec.pathways[id_].effects for id_ in places)
        or is_deaf(draft)
        or dialogue.asked
        or dialogue.queued
        or dialogue.finished
        or any(draft.fields.values())
    )


async def read_message(draft: TurnDraft, reading: Reading) -> None:
    """Read what a message says of fields and of the dialogue, without a model."""
    if not has_floor(draft):
        return
    await ready_to_hear(draft.setting.language)
    await welcome(draft)
    reading.welcomed = len(draft.replies)
    reading.heard = heard_in(draft, draft.message)


async def weigh_free_text(draft: TurnDraft, reading: Reading) -> None:
    """Tell an answer in free text from an intent."""
    if has_floor(draft):
        heard, verdicts = await in_free_text(draft, reading.heard, reading.verdicts)
        reading.heard = heard
        if heard.whole:
            verdicts = [verdict for verdict in verdicts if verdict.tier in ONLY_CODE]
        reading.verdicts = verdicts


async def ask_about_form(draft: TurnDraft, reading: Reading) -> None:
    """Have a model asked what the message makes of the form, here or where it may lead.

    A model that is asked about guidelines alone is shown the form as well: requests that begin
    alike cost less.
    """
    if draft.services.models is None:
        return
    floor = has_floor(draft)
    is_asked = not reading.heard.sure and _may_fill(draft, reading, floor=floor)
    if is_asked or (floor and reading.weighed.asked):
        reading.form = asking_in(draft, is_asked=is_asked)


def _may_fill(draft: TurnDraft, reading: Reading, *, floor: bool) -> bool:
    """Say whether something is open that a message may answer or change."""
    forms = any(draft.spec.pathways[t.target].form for t in reading.questions)
    here = reading.questions or draft.here.form is not None or draft.dialogue.asked
    return forms or (floor and bool(here))


async def decide_dialogue(draft: TurnDraft, reading: Reading) -> bool:
    """Decide the turn where the dialogue has the floor; say whether it does."""
    if not (has_floor(draft) or _leads_to_form(draft, reading)):
        return False
    said = reading.answer.commands if reading.has_answer else _without_model(draft, reading)
    limits = limits_of(draft.services.config)
    await decide(draft, [*reading.verdicts, *said], limits)
    return True


def _leads_to_form(draft: TurnDraft, reading: Reading) -> bool:
    """Say whether the message leads to a pathway with fields, which it may fill at once."""
    limits = limits_of(draft.services.config)
    run = steer(draft.spec, draft.standing, reading.commands, limits).run
    return run is not None and draft.spec.pathways[run].form is not None


def _without_model(draft: TurnDraft, reading: Reading) -> list[Command]:
    """Return what a message says, where no model was asked or none answered."""
    message, heard, free = draft.message, reading.heard, reading.verdicts
    said = authors_first(heard, free)
    leads = any(v.holds and not v.error for v in free if v.tier not in ("always",))
    if leads:
        known = {getattr(command, "field", None) for command in said}
        more = [c for c in heard_for(draft, message, free) if getattr(c, "field", "") not in known]
        return [*said, *more]
    return said or guessed(draft, message)


def use_wording(draft: TurnDraft, reading: Reading) -> None:
    """Let the model's own words stand where they ask what the runtime asks next.

    They never do where anything was refused, dropped, or done, nor with a number that nobody gave
    or a value that is not to be shown.
    """
    answer = reading.answer
    if not (reading.has_answer and answer.reply) or draft.run is None or draft.aside:
        return
    pathway = draft.spec.pathways[draft.run]
    asked = draft.sheet(pathway).asked()
    dropped = any(event["kind"] == "dropped" for event in draft.audit)
    refused = any(a["validation_status"] == "invalid" for a in draft.attempts)
    fits = asked is not None and asked["kind"] == "field" and asked["about"] == answer.asks
    if not fits or dropped or refused or draft.transition is not None:
        return
    if fault := claimed(draft, answer.reply):
        draft.flags.append(f"wording_refused:{fault}")
    else:
        draft.replies = [*draft.replies[: reading.welcomed], answer.reply]
        draft.asks = answer.asks or ""


def close_reading(draft: TurnDraft, reading: Reading) -> None:
    """Note in the dialogue state how the message was taken."""
    draft.note_late()
    dialogue = draft.dialogue
    dialogue.failures = dialogue.failures + 1 if _went_wrong(draft) else 0
    dialogue.last_at = draft.turn["at"]
    given = [a["field"] for a in draft.attempts if a["validation_status"] == "valid"]
    if given:
        draft.position = overwritten(draft.position, given)


def _went_wrong(draft: TurnDraft) -> bool:
    """Say whether a message was not understood, or nothing of it could be taken."""
    taken = any(a["validation_status"] in ("valid", "pending") for a in draft.attempts)
    kinds = {event["kind"] for event in draft.audit}
    noise = any(e["kind"] == "repaired" and e["trigger"] == "noise" for e in draft.audit)
    return not taken and bool(noise or kinds & {"unclear", "field_refused"})


def gather_form(hop: Hop) -> None:
    """Take over what a pathway's form and effects came to."""
    pathway, progress = hop.pathway, hop.progress
    parts = [progress[name] for name in (FORM, EFFECTS) if name in progress]
    for part in parts:
        hop.ops += [[*op, pathway.id] for op in part["ops"]]
        hop.say(*part["said"])
        hop.turn["audit"] += part["audit"]
        hop.attempt(part["attempts"])
    if EFFECTS in progress:
        kept = progress[EFFECTS]["kept"]
        hop.ops += [["replace", name, value, pathway.id] for name, value in kept.items()]
    known = (attempt["field"] for attempt in hop.attempts if attempt["source"] == "tool")
    hop.known = frozenset(known)
    hop.is_idle = not is_collected(progress) or not went_well(progress)


def remember(hop: Hop) -> None:
    """Note in the dialogue state what a pathway asked, and what it did.

    One that answered in place of a text leads back to what was to run.
    """
    if "aside" in hop.turn:
        hop.is_aside = True
        hop.turn["run"] = hop.turn.pop("aside")
        return
    dialogue = DialogueState.of(hop.position)
    if FORM in hop.progress:
        dialogue.asked = hop.progress[FORM]["asked"]
    elif dialogue.asked and dialogue.asked["kind"] in ("field", "summary"):
        dialogue.asked = None
    remember_effects(dialogue, hop.progress)
    hop.position = with_dialogue(hop.position, dialogue)


def lead_on(hop: Hop) -> None:
    """Go on after a complete pathway: with what waited, or with what it interrupted."""
    if hop.is_aside or not hop.is_complete:
        return
    draft = draft_of(hop.services, hop.after(), hop.turn, hop.position)
    draft.run, draft.entered = hop.turn["run"], hop.turn["entered"]
    completed(draft, hop.pathway, hop.services.config.max_pathway_depth)
    turn = hop.turn
    turn["run"], turn["entered"] = draft.aside or draft.run, draft.entered
    turn["moved"] = turn["moved"] or draft.position["pathway"] != turn["begun_in"]
    turn["transition"] = turn["transition"] or draft.transition
    turn["audit"] += draft.audit
    if draft.aside:
        turn["aside"] = draft.run
    hop.say(*draft.replies)
    hop.attempt(draft.attempts)
    hop.change(*([*op, hop.pathway.id] for op in draft.ops))
    hop.position = with_dialogue(draft.position, draft.dialogue)
