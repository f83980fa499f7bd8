"""`steer` alone: whatever is understood, it never raises, and only moves along what is legal.

DESIGN.md section 3, and section 4, rows Stack at start, Depth limit and Transition order.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
)
from journeygraph.nodes import commands as c
from journeygraph.nodes.commands import Go, Verdict
from journeygraph.nodes.state.session import Frame, Position
from journeygraph.nodes.state.stack import Situation
from journeygraph.nodes.steer import Steering, SteeringLimits, allowed_transitions, steer


class Shouted(BaseTrigger):
    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        return message.isupper()


def wants(name: str, **more: Any) -> IntentTrigger:
    return IntentTrigger([name], **more)


class Garage(Journey):
    """Bring a car; every kind of pathway and trigger is in it."""

    class DeskPath(Pathway):
        __complete_when__ = NEVER

    class RepairPath(Pathway):
        __complete_when__ = NEVER

    class PaidPath(Pathway):
        pass

    class HoursPath(Pathway):
        __return_behavior__ = ReturnToPrevious()

    class PartsPath(Pathway):
        __return_behavior__ = ReturnToPrevious(preserve_context=False, max_depth=2)

    class MistakePath(Pathway):
        __return_behavior__ = ReturnToSpecific("desk", preserve_context=False)

    __transitions__ = [
        Transition(wants("hours"), to_pathway="hours", priority=5),
        Transition(
            wants("parts", confidence_threshold=0.9),
            to_pathway="parts",
            priority=5,
            context_update={"asked": "append:car", "note": "set:parts"},
        ),
        Transition(wants("mistake"), to_pathway="mistake", context_update={"car": "clear:"}),
        Transition(wants("repair"), "desk", "repair", priority=3),
        Transition(wants("again"), "repair", "repair", priority=3),
        Transition(wants("pay", use_llm_fallback=False), to_pathway="paid", priority=1),
        Transition(ConditionTrigger(lambda context: True, "is urgent"), to_pathway="repair"),
        Transition(Shouted(), "desk", "desk", priority=9),
        Transition(AlwaysTrigger(), "repair", "desk", priority=99),
    ]


SPEC = Garage.spec
BY_NAME = {transition.label: transition for transition in SPEC.transitions}
LIMITS = SteeringLimits(depth=3, confidence=0.7)
DETOURS = ("hours", "parts", "mistake")
PLAIN = ("desk", "repair", "paid")


def id_of(name: str) -> str:
    return BY_NAME[name].id


def situation(
    pathway: str = "desk", *paused: str, context: Any = None, question: str = "", **more: Any
) -> Situation:
    frames = [Frame(pathway=name, turn=1, question="", before=None) for name in paused]
    position: Position = {
        "journey": SPEC.id,
        "version": SPEC.version,
        "pathway": pathway,
        "stack": frames,
        "returning": False,
        "status": "active",
        "fired": [],
        "failures": 0,
        **more,  # type: ignore[typeddict-item]
    }
    return Situation(position, context or {}, question, 7)


def asked(where: Situation, *understood: c.Command, limits: SteeringLimits = LIMITS) -> Steering:
    return steer(SPEC, where, understood, limits)


def model(name: str, confidence: float = 0.9, *, holds: bool = True) -> Verdict:
    return Verdict(id_of(name), holds, "model", confidence, "because")


def pattern(name: str) -> Verdict:
    return Verdict(id_of(name), True, "pattern")


def kinds(steering: Steering) -> list[str]:
    return [row["kind"] for row in steering.audit]


# --- Several verdicts ---------------------------------------------------------------------------


def test_of_several_sure_verdicts_the_higher_priority_wins():
    """Transition order: several verdicts over the threshold: priority, then confidence."""
    result = asked(situation(), model("mistake", 1.0), model("repair", 0.8))

    assert (result.run, kinds(result)) == ("repair", ["dropped", "transition"])


def test_of_equal_priorities_the_surer_verdict_wins():
    """Transition order: then confidence."""
    assert asked(situation(), model("hours", 0.91), model("parts", 0.95)).run == "parts"
    assert asked(situation(), model("hours", 0.96), model("parts", 0.95)).run == "hours"


def test_of_equal_confidence_what_is_declared_first_wins():
    assert asked(situation(), model("parts", 0.95), model("hours", 0.95)).run == "hours"


def test_a_free_trigger_wins_over_any_model():
    """Transition order: free triggers first; the model only if none fired."""
    assert asked(situation(), model("hours", 1.0), pattern("pay")).run == "paid"


def test_always_comes_after_any_model():
    """Transition order: AlwaysTrigger last."""
    always = Verdict(id_of("always"), True, "always")

    assert asked(situation("repair"), always, model("mistake")).run == "mistake"
    assert asked(situation("repair"), always).run == "desk"


@pytest.mark.parametrize(("confidence", "where"), [(0.7, "hours"), (0.699, "desk"), (1.0, "hours")])
def test_a_verdict_counts_from_the_threshold_on(confidence, where):
    assert asked(situation(), model("hours", confidence)).run == where


def test_a_trigger_s_own_threshold_replaces_the_config_s():
    assert asked(situation(), model("parts", 0.89)).run == "desk"
    assert asked(situation(), model("parts", 0.9)).run == "parts"


@pytest.mark.parametrize("confidence", [math.nan, math.inf, -math.inf, 99.0, 1.01, -1.0, -0.0, 0])
@pytest.mark.parametrize("tier", ["model", "pattern", "condition", "own", "always"])
def test_a_confidence_that_is_none_or_too_small_is_dropped_and_audited(confidence, tier):
    """Section 3: whatever a model says is checked; the rest is dropped and audited."""
    result = asked(situation(), Verdict(id_of("hours"), True, tier, confidence))

    assert (result.run, result.transition, kinds(result)) == ("desk", None, ["dropped"])
    assert json.dumps(result.audit, allow_nan=False)


# --- What is not legal now ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [id_of("again"), "nothing like it", "", "IntentTrigger:*->vault", id_of("always")],
)
def test_an_answer_to_a_question_that_is_not_open_is_dropped_and_audited(question):
    """Section 3: checked against what is legal now."""
    result = asked(situation(), Verdict(question, True, "model", 0.99))

    assert (result.run, kinds(result)) == ("desk", ["dropped"])
    assert "not open" in result.audit[0]["reason"]


@pytest.mark.parametrize("name", ["is urgent", "Shouted", "pay"])
def test_a_model_has_no_say_in_what_it_is_never_asked(name):
    """Section 3; conditions, own triggers and bare patterns are free: no model judges them."""
    result = asked(situation(), model(name, 1.0))

    assert (result.run, result.transition, kinds(result)) == ("desk", None, ["dropped"])


def test_a_model_cannot_arm_a_condition_again():
    """Condition that stays true: being seen false is what the condition says, not a model."""
    before = situation(fired=[id_of("is urgent")])

    assert asked(before, model("is urgent", holds=False)).position["fired"] == [id_of("is urgent")]
    seen = Verdict(id_of("is urgent"), False, "condition")
    assert asked(before, seen).position["fired"] == []


def test_conditions_that_the_journey_does_not_have_any_more_are_forgotten():
    assert asked(situation(fired=["of an older version"])).position["fired"] == []


def test_going_somewhere_by_name_takes_an_intent_that_leads_there():
    """Vocabulary: command go."""
    assert asked(situation(), Go("repair")).transition == {
        "id": id_of("repair"),
        "source": "desk",
        "target": "repair",
        "intent": "repair",
        "tier": "command",
        "confidence": 1.0,
        "reason": "asked for by name",
    }


def test_what_may_fire_is_asked_in_the_order_in_which_it_counts():
    """Transition order: priority descending, declaration order within."""
    names = [transition.label for transition in allowed_transitions(SPEC, situation().position)]

    assert names == ["Shouted", "hours", "parts", "repair", "pay", "mistake", "is urgent"]


def test_going_by_name_takes_the_first_intent_that_counts():
    class TwoWays(Garage):
        __transitions__ = [
            Transition(wants("low"), to_pathway="repair", priority=1),
            Transition(wants("high"), to_pathway="repair", priority=2),
        ]

    taken = steer(TwoWays.spec, situation(), [Go("repair")], LIMITS).transition

    assert taken is not None
    assert taken["intent"] == "high"


@pytest.mark.parametrize(("where", "target"), [("paid", "repair"), ("desk", "vault"), ("desk", "")])
def test_going_where_no_intent_leads_is_dropped_and_audited(where, target):
    """Section 3; also where a condition leads, which is not there to be talked over."""
    result = asked(situation(where), Go(target))

    assert (result.run, result.transition, kinds(result)) == (where, None, ["dropped"])


OTHERS: list[c.Command] = [
    c.Fill("verified", "true"),
    c.Correct("name", "x"),
    c.Clear("name"),
    c.Confirm(),
    c.Deny(),
    c.Choose("2"),
    c.Cancel(everything=True),
    c.Skip(),
    c.Wait(),
    c.Repeat(),
    c.Explain(),
    c.OffTopic(),
    c.Human(),
]


@pytest.mark.parametrize("command", OTHERS, ids=lambda command: type(command).__name__)
def test_a_command_that_nothing_answers_is_dropped_and_audited(command):
    """Section 3; a field that is filled writes nothing into the context."""
    result = asked(situation(), command)

    assert (result.run, result.ops, result.say, kinds(result)) == ("desk", [], "", ["dropped"])
    assert type(command).__name__.lower() in result.audit[0]["reason"]


# --- Frames, closing, depth ---------------------------------------------------------------------


def test_a_frame_says_what_is_paused_when_and_over_which_question():
    """Stack at start: frames are data: pathway, turn, open question, before-image."""
    before = situation("repair", context={"car": "red"}, question="Which part?")

    (plain,) = asked(before, pattern("hours")).position["stack"]
    (image,) = asked(before, pattern("parts")).position["stack"]

    assert plain == {"pathway": "repair", "turn": 7, "question": "Which part?", "before": None}
    assert image["before"] == {"car": "red", "asked": ["red"], "note": "parts"}


def test_the_frame_of_a_detour_that_gave_its_place_away_is_kept():
    """Another detour while returning: over the same paused pathway, with its open question."""
    frame = Frame(pathway="repair", turn=3, question="Which part?", before=None)
    before = situation("hours", question="Until six.", stack=[frame], returning=True)

    result = asked(before, pattern("mistake"))

    (left,) = result.position["stack"]
    assert [left[name] for name in ("pathway", "turn", "question")] == ["repair", 3, "Which part?"]


# --- Whatever comes -----------------------------------------------------------------------------

QUESTIONS = st.sampled_from([*(t.id for t in SPEC.transitions), "", "no such question"])
TIERS = st.sampled_from(["model", "pattern", "condition", "own", "always", "command", "x"])
CONFIDENCES = st.floats() | st.sampled_from([0.7, 0.9, 1.0, 99.0, math.nan])
VERDICTS = st.builds(
    Verdict, QUESTIONS, st.booleans(), TIERS, CONFIDENCES, st.text(), st.sampled_from(["", "E"])
)
TARGETS = st.sampled_from([*PLAIN, *DETOURS, "", "nowhere"])
COMMANDS = st.lists(VERDICTS | st.builds(Go, TARGETS) | st.sampled_from(OTHERS), max_size=8)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
CONTEXTS = st.dictionaries(
    st.sampled_from(["car", "asked", "note", "x"]),
    st.none() | NUMBERS | st.text(max_size=3) | st.lists(NUMBERS, max_size=2),
)
LIMIT = st.builds(SteeringLimits, st.integers(1, 4), st.sampled_from([0.0, 0.7, 1.0]))
FIRED = st.lists(st.sampled_from([id_of("is urgent"), "gone"]), unique=True)


@st.composite
def reachable(draw: Any) -> Situation:
    """A session as its own moves leave it: a plain pathway below, detours above, each once."""
    chain = [draw(st.sampled_from(PLAIN)), *draw(st.permutations(DETOURS))]
    chain = chain[: draw(st.integers(1, len(chain)))]
    frames = [
        Frame(pathway=name, turn=1, question="", before=draw(st.none() | CONTEXTS))
        for name in chain[:-1]
    ]
    return situation(
        chain[-1],
        context=draw(CONTEXTS),
        stack=frames,
        returning=bool(frames) and draw(st.booleans()),
        status=draw(st.sampled_from(["active", "complete"])),
        fired=draw(FIRED),
    )


@st.composite
def anywhere(draw: Any) -> Situation:
    """Any position in known pathways, also one that no moves lead to."""
    names = st.sampled_from([*PLAIN, *DETOURS])
    frames = [
        Frame(pathway=draw(names), turn=1, question="", before=draw(st.none() | CONTEXTS))
        for _ in range(draw(st.integers(0, 5)))
    ]
    return situation(
        draw(names),
        context=draw(CONTEXTS),
        stack=frames,
        returning=draw(st.booleans()),
        status=draw(st.sampled_from(["active", "complete"])),
        fired=draw(FIRED),
    )


@given(where=anywhere(), understood=COMMANDS, limits=LIMIT)
def test_steer_never_raises_and_touches_nothing_it_was_given(
    where: Situation, understood: list[c.Command], limits: SteeringLimits
) -> None:
    """Section 3: pure and total."""
    before = copy.deepcopy((where.position, where.context))

    result = steer(SPEC, where, understood, limits)

    assert (where.position, where.context) == before
    assert result.position["pathway"] in SPEC.pathways
    assert result.run in (None, result.position["pathway"])
    assert (result.run is None) == bool(result.say)
    assert json.dumps([result.position, result.ops, result.audit], allow_nan=False)


@given(where=reachable(), understood=COMMANDS, limits=LIMIT)
def test_steer_moves_only_along_what_is_legal_leaves_each_detour_once_and_audits_all_moves(
    where: Situation, understood: list[c.Command], limits: SteeringLimits
) -> None:
    result = steer(SPEC, where, understood, limits)

    moves_only_along_what_is_legal_and_was_said(where, understood, result)
    leaves_a_stack_in_which_every_detour_stands_once(where, limits, result)
    audits_each_detour_that_is_entered_and_left(where, result)


def moves_only_along_what_is_legal_and_was_said(
    where: Situation, understood: list[c.Command], result: Steering
) -> None:
    """Section 3: the rest is dropped."""
    seen_false = {
        verdict.question
        for verdict in understood
        if isinstance(verdict, Verdict) and verdict.tier == "condition" and not verdict.holds
    }
    fired = [name for name in where.position["fired"] if name not in seen_false]
    armed: Position = {**where.position, "fired": fired}
    open_now = {transition.id: transition for transition in allowed_transitions(SPEC, armed)}

    if result.transition is None:
        assert result.entered in ("stay", "return")
        return
    taken = open_now[result.transition["id"]]
    assert result.run == result.position["pathway"] == taken.target
    yes = [v for v in understood if isinstance(v, Verdict) and v.question == taken.id and v.holds]
    went = [go for go in understood if isinstance(go, Go) and go.target == taken.target]
    assert [v for v in yes if 0.0 <= v.confidence <= 1.0 and not v.error] or went


def leaves_a_stack_in_which_every_detour_stands_once(
    where: Situation, limits: SteeringLimits, result: Steering
) -> None:
    """Stack at start, Detour asked for again, Depth limit."""
    before = where.position["stack"]
    names = [frame["pathway"] for frame in result.position["stack"]]
    here = result.position["pathway"]
    assert len({*names, here}) == len(names) + 1
    assert all(name in DETOURS for name in names[1:])
    assert (here in DETOURS) == bool(names)
    assert len(names) <= max(limits.depth, len(before))
    if len(names) > len(before):
        assert len(names) == len(before) + 1
        assert here in DETOURS
    if result.refused_depth:
        assert result.position == {**where.position, "fired": result.position["fired"]}
        assert (result.ops, result.transition, result.run) == ([], None, None)
    if result.position["status"] == "complete" and not names:
        assert result.run is None


def audits_each_detour_that_is_entered_and_left(where: Situation, result: Steering) -> None:
    """Issue, part 6: a row for each detour entered and left."""
    before = {*(frame["pathway"] for frame in where.position["stack"]), where.position["pathway"]}
    after = {*(frame["pathway"] for frame in result.position["stack"]), result.position["pathway"]}
    entered = {row["to"] for row in result.audit if row["kind"] == "detour_entered"}
    left = {row["from"] for row in result.audit if row["kind"] == "detour_left"}
    assert entered == {name for name in after - before if name in DETOURS}
    assert left == {name for name in before - after if name in DETOURS}
