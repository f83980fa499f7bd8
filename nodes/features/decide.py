"""Decide the effect of a message in a journey that collects: answers first, then where it leads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from journeygraph.journeys import Field, JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.spec.spec import ACTIVATION, MOVE
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
from journeygraph.nodes.forms.collect import fill
from journeygraph.nodes.forms.offer import asked_for, policy_of
from journeygraph.nodes.forms.questions import ask_again
from journeygraph.nodes.language import is_courtesy
from journeygraph.nodes.repair.answering import answered, confirmed_corrections
from journeygraph.nodes.repair.clarify import (
    ambiguous,
    digressed,
    most_specific,
    not_understood,
    tasks_of,
    welcome_wish,
)
from journeygraph.nodes.repair.knowledge import take_question
from journeygraph.nodes.repair.resume import begin_next
from journeygraph.nodes.repair.tasks import (
    adopt,
    as_denial,
    as_kept,
    begun_already,
    cancel,
    cannot_reply,
    change_instead,
    drop_named,
    gives_up_here,
    go_on_elsewhere,
    is_blocked,
    is_changed,
    looked_back,
    postpone,
    put_off,
    status,
    switch,
    task_named,
    waiting_tasks,
)
from journeygraph.nodes.repair.wishes import (
    all_meant,
    alone,
    apart,
    ask_order,
    ask_which,
    begins_later,
    held_moves,
    hold,
    is_in_order,
    judged_in_turn,
    queue,
    values_for,
    values_with,
    without_given_up,
)
from journeygraph.nodes.state.form_state import owners
from journeygraph.nodes.steer import (
    OUTSIDE,
    Limits,
    Steering,
    allowed_transitions,
    asks_model,
    steer,
)

Moves = list[Command]
AT_STAKE = ("summary", "correction", "retry", "leave")
"""Kinds of questions for which a yes with a restriction is not a yes."""
_NOT_READY = (Explain, Repeat, Status, Wait)
"""Commands with which a yes to such a question waits."""
_KEPT = ("change", "clarify", "human", "leave", "restart", "retry", "start_over", "wrong")
"""Kinds of questions that stay open while something else is answered."""


async def decide(draft: TurnDraft, commands: Sequence[Command], limits: Limits) -> None:
    """Decide a turn: what was asked is answered first, then the message leads on (T02, T07).

    Args:
        draft: The turn; it is changed.
        commands: The commands of the message, with verdicts on transitions.
        limits: Depth and confidence.
    """
    agreed = _consistent(draft, allowed_commands(draft, commands))
    moves: Moves = [c for c in agreed if isinstance(c, (Verdict, Go))]
    said = [as_denial(draft, as_kept(draft, c)) for c in agreed if not isinstance(c, (Verdict, Go))]
    if human := next((c for c in said if isinstance(c, Human)), None):
        asked_for(draft, human.reason)
        _stay(draft)
        return
    again: Collection[str] = ()
    if draft.dialogue.finished:
        moves, said, again = _begun_again(draft, moves, said, limits)
    draft.leads_to = _elsewhere(draft, moves, limits) if _leads_on(moves) else None
    chosen = await _answered(draft, said)
    here = _for_here(draft, said, again)
    spoke = await fill(draft, here, fillable(draft)) or chosen is not None
    if draft.dialogue.takeover:
        return  # a person was called for what could not be taken; where it stands stays
    question = draft.dialogue.asked
    draft.leads_to = None
    if draft.changing:
        change_instead(draft, limits)
        _follows(draft, held_moves(draft, moves, limits), said)
    else:
        await _led_on(draft, said, [*(chosen or []), *moves], limits, spoke=spoke)
    if question and question["kind"] in _KEPT and not (draft.dialogue.asked or _asks(draft)):
        draft.ask(question)  # something else was answered in between
    _note_order(draft, limits)
    _left_over(draft, [c for c in said if c not in here])


async def _answered(draft: TurnDraft, said: Sequence[Command]) -> list[Verdict] | None:
    """Take what answers the last question or looks back.

    Returns:
        The moves that it amounts to; None if the message does none of this.
    """
    if draft.leads_to and any(isinstance(command, Status) for command in said):
        status(draft)
    if looked_back(draft, said) or await confirmed_corrections(draft, said):
        return []
    asked = draft.dialogue.asked
    chosen = answered(draft, said)
    if chosen is not None and draft.dialogue.asked is asked:
        draft.ask(None)
    return chosen


def _follows(draft: TurnDraft, wishes: Sequence[TransitionSpec], said: Sequence[Command]) -> None:
    """Queue wishes behind what runs now, with their values."""
    for transition in wishes:
        if transition.target != draft.run:
            target = draft.spec.pathways[transition.target]
            queue(draft, transition, values_for(draft, target, said))


def _elsewhere(draft: TurnDraft, moves: Moves, limits: Limits) -> PathwaySpec | None:
    """Return the pathway that a message leads to, unless it stays where it is."""
    target = _target(draft, steer(draft.spec, draft.situation, moves, limits))
    return target if target and target.id != draft.here.id else None


def _asks(draft: TurnDraft) -> bool:
    """Return whether the pathway that runs asks the next question."""
    return draft.run is not None and draft.spec.pathways[draft.run].form is not None


def _note_order(draft: TurnDraft, limits: Limits) -> None:
    """Note what each queued wish waits for; begin one whose task was given up."""
    dialogue, place = draft.dialogue, draft.position["pathway"]
    dialogue.behind = {id_: dialogue.behind.get(id_, place) for id_ in dialogue.queued}
    asked = dialogue.asked
    if dialogue.queued and draft.run is None and asked and asked["kind"] == "more":
        begin_next(draft, limits.depth)


async def _led_on(
    draft: TurnDraft, said: Sequence[Command], moves: Moves, limits: Limits, *, spoke: bool
) -> None:
    """Follow a message to where it leads, or stay; of several wishes to one after the other."""
    given_up = next((c for c in said if isinstance(c, Cancel)), None)
    if given_up or len(moves) > 1:
        moves = without_given_up(draft, most_specific(moves), given_up)
    parts = apart(draft, moves, limits) if len(moves) > 1 else []
    wishes = parts and all_meant(draft, parts)
    if not wishes and len(moves) > 1:
        wishes = judged_in_turn(draft, moves, said, limits)
    if wishes and not spoke and not is_in_order(draft, wishes, said):
        ask_order(draft, wishes, said)
        return
    if wishes:
        moves = alone(draft, moves, wishes[0])
    elif not spoke and (unclear := ambiguous(draft, _verdicts(moves), limits)):
        ask_which(draft, unclear, parts, said)
        return
    mine = [*values_with(draft, wishes[0], said), *_without_fills(said)] if wishes else said
    await _follow(draft, mine, moves, limits, spoke=spoke)
    for wish in wishes[1:]:
        queue(draft, wish.transition, values_with(draft, wish, said))


async def _follow(
    draft: TurnDraft, said: Sequence[Command], moves: Moves, limits: Limits, *, spoke: bool
) -> None:
    """Go where one wish leads, give a task up, or stay."""
    given_up = next((c for c in said if isinstance(c, Cancel)), None)
    steering = steer(draft.spec, draft.situation, moves, limits)
    if given_up and drop_named(draft, given_up, _target(draft, steering)):
        given_up, spoke = None, True
        if _target(draft, steering) is None and draft.position["returning"]:
            go_on_elsewhere(draft)
        steering = steer(draft.spec, draft.situation, moves, limits)
    if steering.transition and not _ignored(draft, steering, said):
        await _moved(draft, steering, said, given_up, limits, spoke=spoke)
    elif steering.refused_depth:
        put_off(draft, steering)
        _go_on(draft, _staying(draft, limits), spoke=spoke)
    elif draft.settled:
        return
    elif given_up:
        cancel(draft, everything=given_up.everything)
    else:
        _stayed(draft, steering, said, spoke=spoke)


def _staying(draft: TurnDraft, limits: Limits) -> Steering:
    return steer(draft.spec, draft.situation, [], limits)


def _target(draft: TurnDraft, steering: Steering) -> PathwaySpec | None:
    fired = steering.transition
    return draft.spec.pathways[fired["target"]] if fired else None


def _without_fills(said: Sequence[Command]) -> list[Command]:
    return [command for command in said if not isinstance(command, Fill)]


async def _moved(
    draft: TurnDraft,
    steering: Steering,
    said: Sequence[Command],
    given_up: Cancel | None,
    limits: Limits,
    *,
    spoke: bool,
) -> None:
    assert steering.transition is not None
    target = draft.spec.pathways[steering.transition["target"]]
    given = values_for(draft, target, said, behind_cancel=given_up is not None)
    if not given_up and (draft.settled or (draft.goes_on and not target.is_detour)):
        postpone(draft, None, queue=steering.transition["id"])
        hold(draft, target, _for_others(draft, given, target))
        _go_on(draft, _staying(draft, limits), spoke=True)
        return
    if given_up:
        if given_up.everything and waiting_tasks(draft):
            draft.repair("cancel", "cancelled_all")
        else:
            draft.repair("cancel", "left", task=draft.here.title)
        switch(draft, steering, everything=given_up.everything)
    elif is_blocked(draft, steering) or (spoke and _is_answered(draft)):
        postpone(draft, steering, blocked=not (spoke and _is_answered(draft)))
        hold(draft, target, _for_others(draft, given, target))
        return
    else:
        adopt(draft, steering)
    await fill(draft, _for_others(draft, given, target), _fields(target))


def _stayed(draft: TurnDraft, steering: Steering, said: Sequence[Command], *, spoke: bool) -> None:
    asked = draft.dialogue.asked
    waits = bool(asked and asked["kind"] not in ("field", "more"))
    is_open = bool(asked and asked["kind"] != "more" and _is_open(draft))
    _take_question(draft, steering, said, spoke=spoke, is_open=is_open)
    if digressed(draft, said, spoke=spoke) or (draft.query and not spoke):
        _go_on(draft, steering, spoke=spoke)
    elif spoke:
        adopt(draft, steering)
    elif is_open:
        not_understood(draft)
        if not draft.settled:
            ask_again(draft) if waits else _stay(draft)
    elif cannot_reply(draft) and steering.say != "closing":
        _tell_tasks(draft)
    else:
        if _has_open_form(draft):
            welcome_wish(draft)
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


def _take_question(
    draft: TurnDraft, steering: Steering, said: Sequence[Command], *, spoke: bool, is_open: bool
) -> None:
    """Have a question looked up where no agent is there to answer it."""
    if not draft.spec.has_knowledge:
        return
    is_ours = is_open or _has_open_form(draft) or cannot_reply(draft) or steering.say == "closing"
    if spoke or is_ours:
        take_question(draft, said, spoke=spoke)


def _tell_tasks(draft: TurnDraft) -> None:
    """Reply with the possible tasks if no agent can answer.

    Words that are not understood behind a reply, such as that the journey has changed, count less.
    """
    if draft.replies or is_courtesy(draft.turn["message"] or "", draft.setting.language):
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
    """Return commands that do not contradict each other; what does is dropped and audited."""
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
    kept: list[Command] = []
    for command in commands:
        if type(command) in dropped:
            draft.note("dropped", trigger=type(command).__name__.lower(), reason=reason)
        else:
            kept.append(command)
    return _without_answer(draft, kept) if Back in kinds else kept


def _without_answer(draft: TurnDraft, commands: Sequence[Command]) -> list[Command]:
    """Return commands without a value for the question that the message goes back from.

    It may be meant for the question before; it is repeated.
    """
    asked = draft.dialogue.asked
    about = asked["about"] if asked and asked["kind"] == "field" else ""
    given = [c for c in commands if isinstance(c, Fill) and c.field == about]
    for command in given:
        draft.note("dropped", trigger="fill", reason="the same message goes back")
        draft.missed = [*draft.missed, command.value]
    return [command for command in commands if command not in given]


def _leads_on(commands: Sequence[Command]) -> bool:
    """Return whether a message asks for something that it may lead to."""
    return any(isinstance(c, Go) or (isinstance(c, Verdict) and c.holds) for c in commands)


def fillable(draft: TurnDraft) -> list[Field]:
    """Return the fields that a message may give a value to: here, and of paused pathways."""
    places = [draft.here.id, draft.position["pathway"]]
    places += [frame["pathway"] for frame in reversed(draft.position["stack"])]
    found: dict[str, Field] = {}
    for place in places:
        for field in _fields(draft.spec.pathways[place]):
            found.setdefault(field.name, field)
    for name in draft.dialogue.reopened:  # of a pathway that came before
        found.setdefault(name, draft.field(name))
    return list(found.values())


def _fields(pathway: PathwaySpec) -> list[Field]:
    return list(pathway.form.fields) if pathway.form else []


def _begun_again(
    draft: TurnDraft, moves: Moves, said: Sequence[Command], limits: Limits
) -> tuple[Moves, list[Command], set[str]]:
    """Begin a finished task again where a message asks for it, with the values of the message.

    A message that changes a value of the task, and only names it, does not begin it again.

    Returns:
        The moves, the commands, and the names of the fields with values for the new start.
    """
    again: set[str] = set()
    for wish in held_moves(draft, moves, limits):
        if wish.target not in draft.dialogue.finished:
            continue
        own = {field.name for field in _fields(draft.spec.pathways[wish.target])}
        if any(isinstance(c, Go) and c.target == wish.target for c in moves):
            said = [_as_first(c) if getattr(c, "field", "") in own else c for c in said]
        elif any(isinstance(c, Correct) and c.field in own for c in said):
            moves = [m for m in moves if not (isinstance(m, Verdict) and m.question == wish.id)]
            continue
        again |= own
    return moves, [*said], again


def _as_first(command: Command) -> Command:
    """Return a change of a value as a first value."""
    if not isinstance(command, Correct):
        return command
    return Fill(command.field, command.value, command.confidence, command.read, command.certain)


def _for_here(
    draft: TurnDraft, said: Sequence[Command], again: Collection[str] = ()
) -> list[Command]:
    """Return commands without values for fields of pathways that the message may lead to.

    Args:
        draft: The turn.
        said: The commands.
        again: Names of fields of finished tasks that begin again.
    """
    if gives_up_here(draft, said):
        return _without_fills(said)  # what is said besides is for what comes instead
    known = {field.name for field in fillable(draft)}.difference(again)
    return [c for c in said if not isinstance(c, Fill) or c.field in known or _nowhere(draft, c)]


def _nowhere(draft: TurnDraft, command: Fill) -> bool:
    targets = {t.target for t in draft.spec.transitions if t.kind in (MOVE, ACTIVATION)}
    forms = [draft.spec.pathways[target].form for target in targets]
    return not any(form and command.field in form for form in forms)


def _for_others(draft: TurnDraft, said: Sequence[Command], target: PathwaySpec) -> list[Fill]:
    """Return the values that are left for the pathway that the message led to."""
    taken = {a["field"] for a in draft.attempts if a["validation_status"] != "cleared"}
    names = {field.name for field in _fields(target)}
    return [c for c in said if isinstance(c, Fill) and c.field in names and c.field not in taken]


def _left_over(draft: TurnDraft, elsewhere: Sequence[Command]) -> None:
    """Keep values for tasks that wait or are offered; audit and repeat those that no task takes."""
    taken = {attempt["field"] for attempt in draft.attempts}
    used = {attempt["raw"] for attempt in draft.attempts}
    for command in elsewhere:
        if not isinstance(command, Fill) or command.field in taken:
            continue
        is_said = command.value in draft.message and command.value not in used
        if is_said and _held_back(draft, command):
            continue
        draft.note("dropped", trigger="fill", reason=f"'{command.field}' is not asked for here")
        if is_said and not draft.field(command.field).sensitive:
            draft.missed = [*draft.missed, command.value]


def _held_back(draft: TurnDraft, command: Fill) -> bool:
    """Keep a value for the tasks that begin later and have its field; return whether any has."""
    later = [draft.spec.pathways[id_] for id_ in sorted(begins_later(draft)) if id_ != draft.run]
    targets = [each for each in later if each.form and command.field in each.form]
    for target in targets:
        hold(draft, target, [command])
    return bool(targets)


def _verdicts(moves: Moves) -> list[Verdict]:
    return [command for command in moves if isinstance(command, Verdict)]


def _has_open_form(draft: TurnDraft) -> bool:
    return draft.here.collects and not draft.form_state().is_closed


def _is_open(draft: TurnDraft) -> bool:
    asked = draft.dialogue.asked
    return _has_open_form(draft) or bool(asked and asked["kind"] != "field")


def _is_answered(draft: TurnDraft) -> bool:
    """Return whether the message completed the current form, which then ends first."""
    asked = draft.dialogue.asked
    if draft.here.form is None or (asked and asked["kind"] in _KEPT):
        return False
    return draft.form_state().is_closed and not _is_finished(draft)


def _is_finished(draft: TurnDraft) -> bool:
    return draft.here.id in draft.dialogue.finished


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
        elsewhere = owners(draft.spec, command.field) and not is_active(draft, command.field)
        return f"'{command.field:.80}' belongs to another journey" if elsewhere else ""
    if isinstance(command, Cancel):
        open_now = not command.task or task_named(draft, command.task)
        return "" if open_now else f"no task '{command.task:.80}' is open"
    if isinstance(command, Go):
        return (
            "" if _leads(draft, command) else f"no transition leads to '{command.target:.80}' here"
        )
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
    if asked and asked["kind"] == "field":
        known = draft.value(asked["about"]) is not None
        stays = is_changed(draft, asked["about"]) and (isinstance(command, Deny) or known)
    else:
        stays = asked is not None
    return "" if stays else "there is no open question for this answer"


def _leads(draft: TurnDraft, command: Go) -> bool:
    """Return whether a message may lead there: by what an author does not keep from models."""
    open_now = allowed_transitions(draft.spec, draft.position)
    return any(asks_model(t) and t.target == command.target for t in open_now)


def is_active(draft: TurnDraft, name: str) -> bool:
    """Return whether a field belongs to the journey that is active, and so may be spoken of."""
    return belongs(draft.spec, name, draft.spec.part_of(draft.here.id).id)


def belongs(spec: JourneySpec, name: str, part: str) -> bool:
    """Return whether a field belongs to a journey, which may be one of several in a concierge."""
    return part in [spec.part_of(owner.id).id for owner in owners(spec, name)]
