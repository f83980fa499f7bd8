"""Decide the effect of a message in a journey that collects: answers first, then where it leads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from journeygraph.journeys import Field, JourneySpec, PathwaySpec
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    Repeat,
    Status,
    Verdict,
    Wait,
)
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.collect import SURE, as_first, fill
from journeygraph.nodes.forms.offer import asked_for, policy_of
from journeygraph.nodes.forms.questions import ask_again
from journeygraph.nodes.language.proposals import is_courtesy
from journeygraph.nodes.repair.answering import answered
from journeygraph.nodes.repair.clarify import (
    answer_first,
    clarify,
    digressed,
    not_understood,
    options_of,
    take_question,
    tasks_of,
)
from journeygraph.nodes.repair.resume import begin_next
from journeygraph.nodes.repair.tasks import (
    adopt,
    begun_already,
    cancel,
    cannot_reply,
    give_up_named,
    gives_up_here,
    is_blocked,
    is_changed,
    looked_back,
    postpone,
    put_off,
    status,
    switch,
    task_named,
)
from journeygraph.nodes.repair.wishes import (
    ambiguous,
    begins_later,
    held_moves,
    most_specific,
    wishes_in,
    without,
)
from journeygraph.nodes.state.form_state import owners
from journeygraph.nodes.steer import OUTSIDE, Steering, allowed_transitions, asks_model

Moves = list[Command]
AT_STAKE = ("summary", "correction", "retry", "leave")
"""Kinds of questions for which a yes with a restriction is not a yes."""
_NOT_READY = (Explain, Repeat, Status, Wait)
"""Commands with which a yes to such a question waits."""
_KEPT = ("change", "clarify", "human", "leave", "restart", "retry", "start_over", "wrong")
"""Kinds of questions that stay open while something else is answered."""


async def decide(draft: TurnDraft, commands: Sequence[Command]) -> None:
    """Decide a turn: what was asked is answered first, then the message leads on (T02, T07)."""
    agreed = _consistent(draft, allowed_commands(draft, commands))
    moves: Moves = [c for c in agreed if isinstance(c, (Verdict, Go))]
    said: list[Command] = [c for c in agreed if not isinstance(c, (Verdict, Go))]
    if human := next((c for c in said if isinstance(c, Human)), None):
        asked_for(draft, human.reason)
        _stay(draft)
        return
    moves, said, again = _begun_again(draft, moves, said)
    draft.leads_to = _elsewhere(draft, moves) if _leads_on(moves) else None
    others = give_up_named(draft, said)
    said = [c for c in said if c not in others]
    chosen = await _answered(draft, said)
    here = _for_here(draft, said, again)
    spoke = await fill(draft, here, fillable(draft)) or chosen is not None or bool(others)
    if draft.dialogue.takeover:
        return  # a person was called for what could not be taken; where it stands stays
    question = draft.dialogue.asked
    draft.leads_to = None
    await _led_on(draft, said, [*(chosen or []), *moves], spoke=spoke)
    asks = draft.dialogue.asked or (draft.run and draft.spec.pathways[draft.run].form)
    if question and question["kind"] in _KEPT and not asks:
        draft.ask(question)  # something else was answered in between
    _note_order(draft)
    _left_over(draft, [c for c in said if c not in here])


async def _answered(draft: TurnDraft, said: Sequence[Command]) -> list[Verdict] | None:
    """Take what answers the last question or looks back.

    Returns:
        The moves that it amounts to; None if the message does none of this.
    """
    if draft.leads_to and any(isinstance(command, Status) for command in said):
        status(draft)
    if looked_back(draft, said):
        return []
    asked = draft.dialogue.asked
    chosen = await answered(draft, said)
    if chosen is not None and draft.dialogue.asked is asked:
        draft.ask(None)
    return chosen


def _elsewhere(draft: TurnDraft, moves: Moves) -> PathwaySpec | None:
    fired = draft.steered(moves).transition
    leads = fired is not None and fired["target"] != draft.here.id
    return draft.spec.pathways[fired["target"]] if fired and leads else None


def _note_order(draft: TurnDraft) -> None:
    """Note what each queued wish waits for; begin one whose task was given up."""
    dialogue, place = draft.dialogue, draft.position["pathway"]
    dialogue.behind = {id_: dialogue.behind.get(id_, place) for id_ in dialogue.queued}
    asked = dialogue.asked
    if dialogue.queued and draft.run is None and asked and asked["kind"] == "more":
        begin_next(draft)


async def _led_on(draft: TurnDraft, said: Sequence[Command], moves: Moves, *, spoke: bool) -> None:
    given_up = next((c for c in said if isinstance(c, Cancel)), None)
    if given_up and given_up.task:
        moves = without(draft, moves, [draft.here.id])
    moves = most_specific(moves)
    wishes = wishes_in(draft, moves, said)
    if wishes:
        held = {wish.target for wish in held_moves(draft, moves)}
        moves = without(draft, moves, held - {wishes[0].target})
    elif not spoke and (unclear := ambiguous(draft, moves)):
        clarify(draft, options_of(draft, unclear))
        return
    await _follow(draft, said, draft.steered(moves), given_up, spoke=spoke)
    for wish in wishes[1:]:
        postpone(draft, wish.id)


async def _follow(
    draft: TurnDraft,
    said: Sequence[Command],
    steering: Steering,
    given_up: Cancel | None,
    *,
    spoke: bool,
) -> None:
    if steering.transition and not _ignored(draft, steering, said):
        await _moved(draft, steering, said, given_up, spoke=spoke)
    elif steering.refused_depth:
        put_off(draft, steering)
        _go_on(draft, draft.steered([]), spoke=spoke)
    elif not draft.settled and given_up:
        cancel(draft, everything=given_up.everything)
    elif not draft.settled:
        _stayed(draft, steering, said, spoke=spoke)


async def _moved(
    draft: TurnDraft,
    steering: Steering,
    said: Sequence[Command],
    given_up: Cancel | None,
    *,
    spoke: bool,
) -> None:
    assert steering.transition is not None
    id_, target = steering.transition["id"], draft.spec.pathways[steering.transition["target"]]
    if given_up:
        switch(draft, steering, everything=given_up.everything)
    elif draft.settled or (draft.goes_on and not target.is_detour):
        postpone(draft, id_)
        _go_on(draft, draft.steered([]), spoke=True)
        return
    elif (ends := spoke and _is_answered(draft)) or is_blocked(draft, steering):
        postpone(draft, id_, blocked=not ends)
        draft.run, draft.entered, draft.settled = draft.here.id, "stay", True
        return
    else:
        adopt(draft, steering)
    taken = {a["field"] for a in draft.attempts if a["validation_status"] != "cleared"}
    own = {field.name for field in target.fields} - taken
    values = [c for c in said if isinstance(c, Fill) and c.field in own]
    await fill(draft, values, target.fields)


def _stayed(draft: TurnDraft, steering: Steering, said: Sequence[Command], *, spoke: bool) -> None:
    asked = draft.dialogue.asked
    collects = _has_open_form(draft)
    is_open = asked is not None and asked["kind"] != "more"
    is_open = is_open and (collects or not draft.dialogue.pending)
    if spoke or is_open or collects or steering.say == "closing" or cannot_reply(draft):
        take_question(draft, said, spoke=spoke)
    if digressed(draft, said, spoke=spoke) or (draft.query and not spoke):
        _go_on(draft, steering, spoke=spoke)
    elif spoke:
        adopt(draft, steering)
    elif is_open:
        not_understood(draft)
        _go_on(draft, steering, spoke=False)
    elif cannot_reply(draft) and steering.say != "closing":
        _tell_tasks(draft)
    else:
        if collects:
            answer_first(draft)
        adopt(draft, steering)


def _go_on(draft: TurnDraft, steering: Steering, *, spoke: bool) -> None:
    """Continue after the replies: with the answered question, or with the same question."""
    asked = draft.dialogue.asked
    if draft.settled:
        return
    if spoke:
        adopt(draft, steering)
    elif asked and asked["kind"] not in ("field", "more"):
        ask_again(draft)
    else:
        _stay(draft)


def _tell_tasks(draft: TurnDraft) -> None:
    """Reply with the possible tasks if no agent can answer.

    Words that are not understood behind a reply, such as that the journey has changed, count less.
    """
    if draft.replies or is_courtesy(draft.message, draft.setting.language):
        draft.say("which", journeys=tasks_of(draft))
    else:
        draft.repair("unsupported", "unsupported", tasks=tasks_of(draft))
    draft.rest()


def _stay(draft: TurnDraft) -> None:
    """Ask the same question again, if one is open; nothing else runs."""
    if draft.settled:
        return
    draft.run = draft.here.id if _has_open_form(draft) else None
    draft.settled = True


def _ignored(draft: TurnDraft, steering: Steering, said: Sequence[Command]) -> bool:
    """Return whether a move leads to the current task, which the message continues."""
    assert steering.transition is not None
    if steering.transition["target"] != draft.here.id or draft.here.form is None:
        return False
    if any(t.updates for t in draft.spec.transitions if t.id == steering.transition["id"]):
        return draft.form_state().is_closed  # it changes something, and goes on with the task
    if draft.position["returning"]:
        return False  # it asks for what was interrupted, which is gone back to
    if not draft.form_state().is_begun or draft.here.id in draft.dialogue.finished:
        return False
    if any(isinstance(command, (Fill, Correct)) for command in said):
        return True
    if steering.transition["tier"] == "chosen":
        return False
    return begun_already(draft)


def _consistent(draft: TurnDraft, commands: Sequence[Command]) -> list[Command]:
    """Return commands that do not contradict each other; what does is dropped and audited.

    A value next to going back may be meant for either question; it is repeated.
    """
    kinds, asked = {type(command) for command in commands}, draft.dialogue.asked
    dropped: set[type] = set()
    reason = ""
    if len({c.option for c in commands if isinstance(c, Choose)}) > 1:
        dropped, reason = {Choose}, "the same message takes several options"
    elif gives_up_here(draft, commands):
        dropped = {Correct, Confirm} if _leads_on(commands) else {Fill, Correct, Confirm}
        reason = "the same message gives the task up"
    elif Confirm in kinds and any(isinstance(c, Deny) and not c.option for c in commands):
        dropped, reason = {Confirm, Deny}, "the same message says yes and no"
    elif asked and asked["kind"] in AT_STAKE and not kinds.isdisjoint(_NOT_READY):
        dropped, reason = {Confirm}, "the same message asks for something first"
    elif Back in kinds:
        dropped, reason = {Fill}, "the same message goes back"
        draft.missed = [c.value for c in commands if isinstance(c, Fill)]
    kept: list[Command] = []
    for command in commands:
        if type(command) in dropped:
            draft.note("dropped", trigger=type(command).__name__.lower(), reason=reason)
        else:
            kept.append(command)
    return kept


def _leads_on(commands: Sequence[Command]) -> bool:
    return any(isinstance(c, Go) or (isinstance(c, Verdict) and c.holds) for c in commands)


def fillable(draft: TurnDraft) -> list[Field]:
    """Return the fields that a message may give a value to: here, and of paused pathways."""
    found: dict[str, Field] = {}
    for place in draft.places:
        for field in draft.spec.pathways[place].fields:
            found.setdefault(field.name, field)
    for name in draft.dialogue.reopened:  # of a pathway that came before
        found.setdefault(name, draft.field(name))
    return list(found.values())


def _begun_again(
    draft: TurnDraft, moves: Moves, said: list[Command]
) -> tuple[Moves, list[Command], set[str]]:
    """Begin a finished task again where a message asks for it, with the values of the message.

    A message that changes a value of the task, and only names it, does not begin it again.

    Returns:
        The moves, the commands, and the names of the fields with values for the new start.
    """
    again: set[str] = set()
    for wish in held_moves(draft, moves) if draft.dialogue.finished else ():
        if wish.target not in draft.dialogue.finished:
            continue
        own = {field.name for field in draft.spec.pathways[wish.target].fields}
        is_named = any(isinstance(c, Go) and c.target == wish.target for c in moves)
        changes = [c for c in said if isinstance(c, Correct) and c.field in own]
        if changes and not is_named:
            moves = without(draft, moves, [wish.target])
        else:
            said = [as_first(c) if isinstance(c, Correct) and c in changes else c for c in said]
            again |= own
    return moves, said, again


def _for_here(draft: TurnDraft, said: Sequence[Command], again: Collection[str]) -> list[Command]:
    """Return commands without values for fields of pathways that the message may lead to.

    Values next to a task that is given up, or of a finished task that begins again, are for there.
    """
    known = {field.name for field in fillable(draft)}.difference(again)
    if gives_up_here(draft, said):
        known = set()
    here = [c for c in said if not isinstance(c, Fill) or c.field in known]
    return here + [c for c in said if isinstance(c, Fill) and not owners(draft.spec, c.field)]


def _left_over(draft: TurnDraft, elsewhere: Sequence[Command]) -> None:
    """Keep values for tasks that begin later; audit and repeat those that no task takes."""
    taken = {attempt["field"] for attempt in draft.attempts}
    used = {attempt["raw"] for attempt in draft.attempts}
    later = begins_later(draft)
    for command in elsewhere:
        if not isinstance(command, Fill) or command.field in taken:
            continue
        if command.field in later and SURE <= command.confidence <= 1:
            draft.dialogue.held = {**draft.dialogue.held, command.field: command.value}
            draft.dialogue.guess(command.field, True)
            draft.note("held", trigger=command.field, reason="its task begins later")
            continue
        draft.note("dropped", trigger="fill", reason=f"'{command.field}' is not asked for here")
        is_said = command.value in draft.message and command.value not in used
        if is_said and not draft.field(command.field).sensitive:
            draft.missed = [*draft.missed, command.value]


def _has_open_form(draft: TurnDraft) -> bool:
    return draft.here.collects and not draft.form_state().is_closed


def _is_answered(draft: TurnDraft) -> bool:
    asked = draft.dialogue.asked
    if draft.here.form is None or (asked and asked["kind"] in _KEPT):
        return False
    return draft.form_state().is_closed and draft.here.id not in draft.dialogue.finished


def allowed_commands(draft: TurnDraft, commands: Sequence[Command]) -> list[Command]:
    """Return the commands that answer, change or ask for something that is there.

    Values for fields, and moves that a transition leads to, are judged where they are made.
    """
    kept: list[Command] = []
    for command in commands:
        if reason := _why_not(draft, command):
            draft.note("dropped", trigger=type(command).__name__.lower(), reason=reason)
            draft.flags.append(OUTSIDE)
        else:
            kept.append(command)
    return kept


def _why_not(draft: TurnDraft, command: Command) -> str:
    if isinstance(command, (Confirm, Deny, Choose)):
        return _why_no_answer(draft, command)
    if isinstance(command, (Correct, Clear)):
        active = draft.spec.part_of(draft.here.id).id
        known = owners(draft.spec, command.field)
        elsewhere = known and not belongs(draft.spec, command.field, active)
        return f"'{command.field:.80}' belongs to another journey" if elsewhere else ""
    if isinstance(command, Cancel):
        open_now = not command.task or task_named(draft, command.task)
        return "" if open_now else f"no task '{command.task:.80}' is open"
    if isinstance(command, Go):
        leading = (t for t in allowed_transitions(draft.spec, draft.position) if asks_model(t))
        leads = any(t.target == command.target for t in leading)
        return "" if leads else f"no transition leads to '{command.target:.80}' here"
    if isinstance(command, Human) and command.reason != "asked":
        policy = policy_of(draft)
        return "" if policy and policy.sentiment else "escalation by sentiment is not enabled here"
    return ""


def _why_no_answer(draft: TurnDraft, command: Confirm | Deny | Choose) -> str:
    asked = draft.dialogue.asked
    option = "" if isinstance(command, Confirm) else command.option
    if option or isinstance(command, Choose):
        offered = [one["id"] for one in asked["options"]] if asked else []
        return "" if option in offered else f"'{option:.80}' was not offered"
    name = draft.dialogue.pending
    stays = asked is not None and (not name or is_changed(draft, name))
    return "" if stays else "there is no open question for this answer"


def belongs(spec: JourneySpec, name: str, part: str) -> bool:
    """Return whether a field belongs to a journey, which may be one of several in a concierge."""
    return part in [spec.part_of(owner.id).id for owner in owners(spec, name)]
