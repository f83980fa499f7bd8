"""The dialogue of a journey that collects, repairs or comes back, as parts of a turn.

It reads and decides only where it has the floor; elsewhere the agents of the pathway answer.

Source: DESIGN section 3; reference traces T01 to T35.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from journeygraph.journeys import JourneyConfig, PathwaySpec
from journeygraph.nodes.capability import Capability, PathwayStep
from journeygraph.nodes.draft import PathwayRun, TurnDraft, draft_of
from journeygraph.nodes.features.decide import decide
from journeygraph.nodes.features.form_reading import (
    asking_in,
    known_values,
    led,
    parse_of,
    supported,
    weighed,
    welcome,
    without_model,
)
from journeygraph.nodes.forms.collect import collect
from journeygraph.nodes.forms.questions import ask_first, chosen, lines_of
from journeygraph.nodes.language.proposals import load_languages, questions_in, ready_to_read
from journeygraph.nodes.repair.resume import completed, left_unsure
from journeygraph.nodes.repair.tasks import cannot_reply
from journeygraph.nodes.repair.wishes import ambiguous, begins_later, held_moves, most_specific
from journeygraph.nodes.replies.wording import says
from journeygraph.nodes.state.context import kept
from journeygraph.nodes.state.dialogue_state import UNREAD, DialogueState, with_dialogue
from journeygraph.nodes.state.effects import EFFECTS, record_effects, went_well
from journeygraph.nodes.state.form_state import FORM, MOST_RAW, field_named, is_collected
from journeygraph.nodes.state.interpretation import Interpretation, Parse
from journeygraph.nodes.state.secrets import HIDDEN, secrets_in
from journeygraph.nodes.state.stack import overwritten
from journeygraph.nodes.values.checking import hint_of, kind_of
from journeygraph.nodes.values.finding import has_number
from journeygraph.nodes.values.reading import load as load_values

_MOST_QUOTED = 3


def _has_floor(draft: TurnDraft) -> bool:
    """Return whether the dialogue answers, and not the agents of the pathway alone.

    It does if the session is in a form or in a pathway with effects, if no agent could
    answer, where something is asked, queued, or collected, and in a journey that declares repair.
    """
    spec, dialogue = draft.spec, draft.dialogue
    return bool(
        spec.has_repair
        or dialogue.asked
        or dialogue.queued
        or dialogue.finished
        or any(draft.fields.values())
        or any(spec.pathways[id_].collects for id_ in draft.places)
        or cannot_reply(draft)
    )


def _may_fill(draft: TurnDraft, reading: Interpretation, *, floor: bool) -> bool:
    forms = any(draft.spec.pathways[t.target].form for t in reading.questions)
    here = reading.questions or draft.here.form is not None or draft.dialogue.asked
    left = reading.parse.commands or reading.parse.unread
    return forms or (floor and bool(here)) or (bool(left) and _leads_to_form(draft, reading))


def _leads_to_form(draft: TurnDraft, reading: Interpretation) -> bool:
    run = draft.steered(reading.commands).run
    wished = [t.target for t in held_moves(draft, reading.commands)]
    return any(draft.spec.pathways[id_].form for id_ in (*wished, *([run] if run else ())))


def _account_for(draft: TurnDraft, reading: Interpretation) -> None:
    """Audit the words that were not read; name them if nothing else replies to them.

    One word alone tells nothing, unless it counts. Those of a question cannot be answered.
    """
    unread = () if reading.has_answer else reading.parse.unread
    used = [attempt["raw"] for attempt in draft.attempts]
    parts = [part for part in unread if not any(part in raw for raw in used)]
    hidden = any(field.sensitive for field in draft.form_state().live)
    for part in parts:
        draft.note("unread", reason=HIDDEN if hidden else part[:MOST_RAW])
    if hidden or _is_replied_to(draft):
        parts = []
    language = draft.setting.language
    # What a message led to may answer its questions.
    questions = questions_in(draft.message, language) if parts and not draft.transition else ()
    asked = [part for part in parts if any(part in question for question in questions)]
    told = [part for part in parts if len(part.split()) > 1 or has_number(part, language)]
    told = [*draft.missed, *(part for part in told if part not in asked)]
    said = [draft.text("cannot_answer")] if asked and draft.query is None else []
    if told := list(dict.fromkeys(told))[:_MOST_QUOTED]:
        said.append(draft.text("unread", words=" \u2026 ".join(told)))
    is_end = draft.run is None and draft.replies[-1:] == [draft.text("closing")]
    place = len(draft.replies) - is_end
    draft.replies[place:place] = said


_ASKED_BACK = ("human", "leave", "restart", "start_over", "clarify", "paused")
"""Kinds of questions that say by themselves how a message was read."""
_NOT_READ = ("noise", "off_topic")
"""Repairs whose reply is about a message that was not read."""


def _is_replied_to(draft: TurnDraft) -> bool:
    """Return whether the reply is about the message as a whole, or an agent gives it."""
    if draft.run is not None and draft.spec.pathways[draft.run].pipeline is not None:
        return True
    if draft.attempts or draft.transition or draft.missed:
        return False
    asked, triggers = draft.dialogue.asked, {event.get("trigger") for event in draft.audit}
    is_asked_back = bool(asked and asked["kind"] in _ASKED_BACK)
    return is_asked_back or draft.dialogue.last_at is None or not triggers.isdisjoint(_NOT_READ)


def _use_wording(draft: TurnDraft, reading: Interpretation) -> None:
    """Use the model's own words if they ask what the runtime asks next.

    They never do where anything was refused, dropped, or done, nor with an unknown number or a
    value that must not be shown.
    """
    answer = reading.answer
    if not (reading.has_answer and answer.reply) or draft.run is None:
        return
    if draft.aside or draft.query:
        return
    pathway = draft.spec.pathways[draft.run]
    asked = draft.form_state(pathway).asked()
    dropped = any(event["kind"] == "dropped" for event in draft.audit)
    refused = any(a["validation_status"] == "invalid" for a in draft.attempts)
    fits = asked is not None and asked["kind"] == "field" and asked["about"] == answer.asks
    if not fits or dropped or refused or draft.transition is not None:
        return
    if asked and field_named(draft.spec, asked["about"]).asks:
        return  # with its options, as its author has worded it for this moment
    if fault := _claimed(draft, answer.reply):
        draft.flags.append(f"wording_refused:{fault}")
    else:
        draft.replies = [*draft.replies[: reading.welcomed], answer.reply]
        draft.asks = answer.asks or ""


def _close_reading(draft: TurnDraft) -> None:
    draft.note_stopped_patterns()
    dialogue = draft.dialogue
    dialogue.failures = dialogue.failures + 1 if _went_wrong(draft) else 0
    dialogue.last_at = draft.turn["at"]
    if dialogue.held:
        runs = draft.spec.pathways[draft.run].fields if draft.run else ()
        kept = {*begins_later(draft), *(field.name for field in runs)}
        dialogue.held = {name: raw for name, raw in dialogue.held.items() if name in kept}
    given = [a["field"] for a in draft.attempts if a["validation_status"] == "valid"]
    if given:
        draft.position = overwritten(draft.position, given)


def _went_wrong(draft: TurnDraft) -> bool:
    taken = any(a["validation_status"] in ("valid", "pending") for a in draft.attempts)
    kinds = {event["kind"] for event in draft.audit}
    noise = any(e["kind"] == "repaired" and e["trigger"] == "noise" for e in draft.audit)
    return not taken and bool(noise or kinds & {"unclear", "field_refused"})


_FIGURES = re.compile(r"\d+")


def _claimed(draft: TurnDraft, reply: str) -> str:
    """Return in a word why a model's reply must not be sent: "figures", "hidden"; empty if it may.

    A number that was not in the conversation is an invented value; in other words, what a value is
    cannot be found by code. Sensitive values are never sent.
    """
    if any(says(reply, secret) for secret in secrets_in(draft.spec, draft.fields)):
        return "hidden"
    given = {figure for text in _given(draft) for figure in _figures(text)}
    return "" if set(_figures(reply)) <= given else "figures"


def _given(draft: TurnDraft) -> Iterator[str]:
    yield draft.turn["message"] or ""
    yield draft.question
    yield draft.spec.part_of(draft.here.id).purpose
    for name, value in draft.context.items():
        yield f"{name} {value}"
    yield lines_of(draft, draft.form_state())
    for field in draft.here.fields:
        yield " ".join([field.ask, field.title, field.description, *field.ways])
        yield hint_of(field, draft.setting)


def _figures(text: str) -> list[str]:
    return [figure.lstrip("0") for figure in _FIGURES.findall(text)]


class Dialogue(Capability):
    """The dialogue of a journey that collects, acts, repairs, or comes back as it declares."""

    def load(self, config: JourneyConfig) -> None:
        """Load the languages, and the values of the fields."""
        load_languages(self.spec, config)
        for pathway in self.spec.pathways.values():
            if pathway.form:
                load_values(map(kind_of, pathway.form.fields))

    def steps(self, pathway: PathwaySpec) -> Sequence[PathwayStep]:
        """Return the step that collects, if a pathway has fields."""
        return [PathwayStep("collect", collect, "fields", is_collected)] if pathway.collects else []

    def greet(self, draft: TurnDraft) -> None:
        """Ask the first question behind the greeting."""
        ask_first(draft)

    async def read(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Read what a message says of fields and of the dialogue, without a model."""
        if not _has_floor(draft):
            return
        await ready_to_read(draft.setting.language)
        await welcome(draft)
        reading.welcomed = len(draft.replies)
        option = chosen(draft)
        reading.parse = Parse([option], exact=True) if option else parse_of(draft, draft.message)

    async def weigh(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Weigh what was read against the patterns that hold; a model judges two of them."""
        if not _has_floor(draft):
            leading = [
                v for v in reading.verdicts if v.holds and not v.error and v.tier == "pattern"
            ]
            reading.parse = led(draft, leading) if leading else reading.parse
            return
        reading.parse, reading.verdicts, is_certain = weighed(
            draft, reading.parse, reading.verdicts
        )
        if draft.services.models and ambiguous(draft, most_specific(reading.verdicts)):
            reading.doubted = [v for v in reading.verdicts if v.tier == "pattern"]
            reading.verdicts = [v for v in reading.verdicts if v.tier != "pattern"]
        else:
            reading.is_certain = is_certain

    async def ask(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Have a model asked what the message makes of the form, here or where it may lead.

        A model that is asked about guidelines alone is shown the form as well: requests that begin
        alike cost less.
        """
        if draft.services.models is None:
            return
        floor = _has_floor(draft)
        is_asked = not reading.is_certain and _may_fill(draft, reading, floor=floor)
        if is_asked or (floor and reading.guideline_candidates.asked):
            reading.form = asking_in(draft, reading.parse, is_asked=is_asked)

    async def decide(self, draft: TurnDraft, reading: Interpretation) -> bool:
        """Decide the turn where the dialogue has the floor; return whether it does."""
        if not (_has_floor(draft) or _leads_to_form(draft, reading)):
            return False
        if reading.has_answer:
            said = list(supported(draft, reading.answer.commands))
        else:
            said = without_model(draft, reading.parse, reading.verdicts)
        is_left = bool(reading.parse.unread and not reading.has_answer)
        draft.is_exact = reading.parse.exact and not is_left and not reading.has_answer
        draft.dialogue.guess(UNREAD, is_left)
        if is_left and not any(verdict.takes_words for verdict in reading.verdicts):
            for name in known_values(draft):
                draft.dialogue.guess(name, True)
        await decide(draft, [*reading.verdicts, *said])
        _account_for(draft, reading)
        return True

    def complete(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Use the words of a model where they fit, and note how the message was taken."""
        _use_wording(draft, reading)
        _close_reading(draft)

    def gather(self, run: PathwayRun) -> None:
        """Take over the outcome of a pathway's form and effects."""
        pathway, progress = run.pathway, run.progress
        if not (pathway.collects or pathway.effects):
            return
        parts = [progress[name] for name in (FORM, EFFECTS) if name in progress]
        for part in parts:
            run.ops += [[*op, pathway.id] for op in part["ops"]]
            run.say(*part["said"])
            run.turn["audit"] += part["audit"]
            run.attempt(part["attempts"])
        if EFFECTS in progress:
            results = progress[EFFECTS]["kept"]
            run.ops += [[*kept(name, value), pathway.id] for name, value in results.items()]
        known = (attempt["field"] for attempt in run.attempts if attempt["source"] == "tool")
        run.known = frozenset(known)
        run.is_idle = not is_collected(progress) or not went_well(progress)

    def record(self, run: PathwayRun) -> None:
        """Note in the dialogue state what a pathway asked, and what it did.

        One that answered in place of a text leads back to what was to run.
        """
        if "aside" in run.turn:
            run.is_aside = True
            run.turn["run"] = run.turn.pop("aside")
            return
        dialogue = DialogueState.of(run.position)
        if FORM in run.progress:
            dialogue.asked = run.progress[FORM]["asked"]
            own = run.pathway.form or ()
            dialogue.held = {name: raw for name, raw in dialogue.held.items() if name not in own}
        elif dialogue.asked and dialogue.asked["kind"] in ("field", "summary"):
            dialogue.asked = None
        if EFFECTS in run.progress:
            record_effects(dialogue, run.progress[EFFECTS])
        run.position = with_dialogue(run.position, dialogue)

    def lead(self, run: PathwayRun) -> None:
        """Go on after a complete pathway: with what waited, or with what it interrupted."""
        unsure = EFFECTS in run.progress and run.progress[EFFECTS]["ended"] == "unsure"
        unsure = unsure and DialogueState.of(run.position).asked is None
        if run.is_aside or not (run.is_complete or unsure):
            return
        draft = draft_of(run.services, run.after(), run.turn, run.position)
        draft.run, draft.entered = run.turn["run"], run.turn["entered"]
        if unsure:
            left_unsure(draft)
        else:
            completed(draft, run.pathway)
        turn = run.turn
        turn["run"], turn["entered"] = draft.aside or draft.run, draft.entered
        turn["moved"] = turn["moved"] or draft.position["pathway"] != turn["begun_in"]
        turn["transition"] = turn["transition"] or draft.transition
        turn["audit"] += draft.audit
        if draft.aside:
            turn["aside"] = draft.run
        run.say(*draft.replies)
        run.attempt(draft.attempts)
        run.change(*([*op, run.pathway.id] for op in draft.ops))
        run.position = with_dialogue(draft.position, draft.dialogue)
