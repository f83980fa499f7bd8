"""Each notion is declared once: one class takes arguments, reads files and makes the schema."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from journeygraph import (
    Agent,
    AgentCard,
    AlwaysTrigger,
    Call,
    Check,
    ConditionTrigger,
    ConfigurationError,
    Effect,
    Escalation,
    Field,
    Form,
    Guideline,
    HandOver,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Knowledge,
    Length,
    Limits,
    Locale,
    OutputField,
    Pathway,
    Personality,
    Range,
    Regex,
    ReturnToPrevious,
    ReturnToSpecific,
    Signature,
    Skill,
    Transition,
    Validation,
    known,
)
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.faults import SourceLocation
from journeygraph.journeys.files.form import published
from journeygraph.journeys.files.loading import read_journey_text
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS

NOTHING: Any = None
MAPPING: Any = {"name": "a"}
NO_ARGUMENTS: Any = lambda: True  # noqa: E731
NOTIONS: list[Definition] = [
    Field("seats", "integer", "How many?", validators=[Range(1, 20)], retry_texts=["Sorry?"]),
    Form([Field("seats")], order="flexible"),
    Guideline(condition="it rains", action="offer an umbrella", keywords=["rain"]),
    Escalation(keywords=["lawyer"], after_seconds=60),
    Personality(name="Lena", formality="casual"),
    Validation(pii=["card"]),
    Effect("book", {"seats": "seats"}),
    Knowledge("handbook", passages=3),
    Locale(language="de-AT"),
    Regex("[A-Z]+"),
    Length(1, 3),
    IntentTrigger(["help"], "wants help"),
    ConditionTrigger(description="it is late"),
    Transition(IntentTrigger(["help"]), "start", "faq", {"asked": "set:yes"}, priority=3),
    HandOver("billing", "outage", IntentTrigger(["my line is dead"])),
    ReturnToPrevious(policy="ask"),
    ReturnToSpecific("start", max_depth=2),
    known("order"),
    Skill("refunds", examples=["I paid twice"]),
    AgentCard("billing", skills=[Skill("refunds")]),
    Agent(name="billing", weight=2),
    Limits(timeout=2.5, retries=1),
]


@pytest.mark.parametrize("made", NOTIONS, ids=lambda made: type(made).__name__)
def test_a_definition_is_frozen_and_equal_to_its_copies(made: Definition) -> None:
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other == made
    assert made.model_copy(update={next(iter(made.names())): "other"}) != made
    with pytest.raises(AttributeError, match="frozen"):
        setattr(made, next(iter(made.names())), "other")


def test_arguments_are_taken_by_position_and_name() -> None:
    assert Field("a", "date", "When?") == Field(type="date", ask="When?", name="a")
    assert list(inspect.signature(Field).parameters)[:3] == ["name", "type", "ask"]
    with pytest.raises(TypeError, match="takes 3 positional arguments, not 4"):
        Field("a", "date", "When?", "why")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="two values for 'name'"):
        Field("a", name="b")  # type: ignore[misc]


def test_lists_are_held_as_tuples_and_functions_as_validators() -> None:
    def is_even(value: int, context: Any) -> bool:
        return value % 2 == 0

    field = Field("a", validators=[is_even, Regex("a")], depends_on=["b"])

    assert field.validators == (Check(is_even), Regex("a"))
    assert field.depends_on == ("b",)


def test_a_form_of_another_moment_has_the_fields_of_that_moment() -> None:
    form = Form([Field("room", "enum", choices=lambda context: context["rooms"])])

    assert "room" in form  # its fields are known by name from here on
    assert form.at({"rooms": ["attic"]})["room"].choices == ["attic"]
    assert form.at({"rooms": ["cellar"]})["room"].choices == ["cellar"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as raised:
        Field("a", "integr", label=3, max_attemts=2, ttl=-1, extract=["("])  # type: ignore[arg-type,call-arg]

    assert str(raised.value).splitlines() == [
        "Field 'a': type is 'integr'; it must be one of text, integer, number, boolean, date, "
        "time, datetime, money, email, phone, name, full_name, address, enum, list. "
        "Did you mean 'integer'?",
        "Field 'a': ttl is -1; it must be above 0.",
        "Field 'a': '(' is not a valid pattern: missing ), unterminated subpattern at position 0.",
        "Field 'a': label is 3; it must be text.",
        "Field 'a': 'max_attemts' is not a valid argument of Field. Did you mean 'max_attempts'? "
        f"Known: {', '.join(Field.keys())}.",
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Field("a", "text", validators=[Range(1, 2)]), "values of type text have no order"),
        (lambda: Field("a", "date", validators=[Range("tomorow")]), "a date such as 2026-11-21"),
        (lambda: Field("a", "enum"), "choices is missing"),
        (lambda: Form([MAPPING]), "it must be Field(...)"),
        (lambda: Form([Field("a"), Field("a")]), "the field 'a' is declared twice"),
        (lambda: Effect("a b"), "use up to 64 of the characters"),
        (lambda: Escalation(when=NO_ARGUMENTS), "it must be a function that takes (context)"),
        (lambda: Personality(name=NOTHING), "name is None; it must be text"),
    ],
)
def test_the_rules_of_files_hold_for_class_bodies(make: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make()

    assert said in str(raised.value)


def test_a_fault_is_data() -> None:
    text = "id: a\nstates:\n  b:\n    next: c\n    fields:\n      - {name: d, ttl: -1}\n"
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(text, "a.yaml")

    following, negative = raised.value.faults
    assert (following.path, following.place) == (("next",), (4, 11))
    assert following.where == "a.yaml:3:3 state 'b'"
    assert negative.path == ("states", "b", "fields", 0, "ttl")
    assert (negative.message, negative.remedy) == ("ttl is -1", "it must be above 0.")
    assert negative == "a.yaml:6:24: ttl is -1; it must be above 0."
    assert following.message == "next is 'c', which is not a state of this journey."
    assert following.remedy == "Its states: b."
    assert str(negative) == "a.yaml:6:24: ttl is -1; it must be above 0."

    with pytest.raises(JourneyDefinitionError) as raised:

        class Trip(Journey):
            class StartPath(Pathway):
                __next__ = "nowhere"

    (fault,) = raised.value.faults
    assert (fault.path, fault.place, fault.where) == (("__next__",), None, "Trip.StartPath")


def test_a_fault_of_a_signature_is_data_in_class_bodies_and_files() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:

        class Ask(Signature):
            model_dump: str = OutputField(desc="a name that is taken")

    (fault,) = raised.value.faults
    assert (fault.where, fault.path) == ("Ask.model_dump", ("model_dump",))
    assert fault.message == "the name 'model_dump' is reserved by pydantic."
    assert fault.remedy == "Rename it."

    text = "id: a\nstates:\n  b: {outputs: {model_dump: {type: string}}}\n"
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(text, "a.yaml")

    (fault,) = raised.value.faults
    assert fault.path == ("states", "b", "outputs", "model_dump")
    assert fault.startswith("a.yaml:3:29: the name 'model_dump' is reserved")
    assert fault.remedy == "Rename it."


def test_what_a_class_declares_has_its_faults_at_once_with_their_paths() -> None:
    wrong: Any = {"__activation__": ["asks", 3], "__escalation__": 4, "__knowledge__": 5}
    with pytest.raises(JourneyDefinitionError) as raised:
        type("Trip", (Journey,), {**wrong, "APath": type("APath", (Pathway,), {})})

    assert [(fault.path, fault.where) for fault in raised.value.faults] == [
        (("__activation__", 1), "Trip"),
        (("__escalation__",), "Trip"),
        (("__knowledge__",), "Trip"),
    ]
    with pytest.raises(JourneyDefinitionError) as raised:

        class Walk(Journey):
            class StepPath(Pathway):
                __calls__ = ["find", Call("a b")]
                __agents__ = ["guide", "guide"]

    called, twice = sorted(raised.value.faults)
    assert (called.where, called.path) == ("Walk.StepPath.__calls__[1]", ("__calls__", 1, "tool"))
    assert (twice.where, twice.path) == ("Walk.StepPath", ("__agents__", 1))


def test_a_journey_does_not_keep_the_file_that_it_was_read_from() -> None:
    text = "id: a\nstates: {b: {inputs: [c]}}\nguidelines: [{condition: d, action: e}]\n"

    spec = read_journey_text(text, "a.yaml")

    things: list[Any] = [*spec.pathways.values(), *spec.guidelines]
    assert [type(thing.where) for thing in things] == [str, str]
    warnings = [*spec.warnings, *(warning for _, warning in spec.unset)]
    assert {type(warning.where) for warning in warnings} == {SourceLocation}
    assert {warning.place for warning in warnings} == {(2, 10), (2, 23)}
    assert spec.pathways["b"].where == "a.yaml:2:10 state 'b'"


def test_what_files_do_not_have_is_not_offered_to_them() -> None:
    head = "id: a\nstates: {b: {fields: [{name: c, %s}]}}\n"
    for key in ("asks: x", "validators: [{range: {least: a, message: b}}]"):
        with pytest.raises(JourneyDefinitionError, match=r"'(asks|message)' is not a valid key"):
            read_journey_text(head % key, "a.yaml")
    assert '"asks":' not in json.dumps(published())


def test_every_key_of_a_definition_says_what_it_is_in_the_schema() -> None:
    for made in NOTIONS:
        schema = type(made).model_json_schema()
        for name, part in schema["properties"].items():
            assert part.get("description"), f"{type(made).__name__}.{name}"


class Order(Journey):
    """Take an order."""

    class DrinkPath(Pathway):
        __fields__ = [Field("drink", ask="What to drink?")]
        __next__ = "meal"

    class MealPath(Pathway):
        __fields__ = [Field("meal", ask="What to eat?")]


class Old:
    """The same journey in another release."""

    class Order(Order):
        __version__ = "of another release"


def test_a_transition_of_a_file_is_that_of_a_class_body() -> None:
    text = """
        id: a
        states: {b: {}, c: {}}
        transitions:
          - {from: b, to: c, patterns: [x], condition: y, confidence: 0.5, update: {d: 'set:e'}}
          - {to: b, always: true, priority: 2}
    """

    class Trip(Journey):
        class BPath(Pathway):
            __agents__ = ["b"]

        class CPath(Pathway):
            __agents__ = ["c"]

        __transitions__ = [
            Transition(
                IntentTrigger(["x"], "y", confidence_threshold=0.5),
                from_pathway="b",
                to_pathway="c",
                context_update={"d": "set:e"},
            ),
            Transition(AlwaysTrigger(), to_pathway="b", priority=2),
        ]

    read = read_journey_text(text, "a.yaml").transitions
    assert [replace(move, where="") for move in read] == [
        replace(move, where="") for move in Trip.spec.transitions
    ]


def test_what_only_files_have_is_no_argument() -> None:
    with_detour: Any = {"detour": True}
    (fault,) = Transition(AlwaysTrigger(), to_pathway="a", **with_detour).faults
    assert fault.startswith(
        "'detour' is not a valid argument of Transition. Known: trigger, from_pathway,"
    )


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("confidence: 1", "it never fires"),
        ("always: false", "it never fires"),
        ("patterns: []", "it never fires"),
        ("always: true, patterns: [x]", "always cannot be combined with patterns"),
        ("when: 'true', condition: x, patterns: [x]", "combined with condition and patterns"),
        ("when: 'true', confidence: 1", "'confidence' is not a valid key of a condition trigger"),
        ("patterns: x", 'patterns is "x"; it must be a list'),
        ("paterns: [x]", "'paterns' is not a valid key of a transition. Did you mean 'patterns'?"),
        ("patterns: [x], detour: {return_to: 3}", "return_to is 3; it must be text, in quotes"),
        ("patterns: [x], detour: yes", 'detour is "yes"; it must be true or false'),
    ],
)
def test_a_wrong_rule_of_a_file_has_one_fault(rule: str, said: str) -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(f"id: a\nstates: {{b: {{}}}}\ntransitions: [{{to: b, {rule}}}]", "a.yaml")

    (fault,) = raised.value.faults
    assert said in fault
    assert fault.startswith("a.yaml:3:")


async def test_a_session_of_the_old_version_with_the_same_pathways_goes_on(tmp_path: Path) -> None:
    config = JourneyConfig(persistence=f"sqlite:///{tmp_path / 'a.db'}")
    async with Old.Order("s", config) as journey:
        await journey.start()
        await journey.process_message("hello")
        assert (await journey.process_message("tea")).message.endswith("What to eat?")

    assert Order.spec.version != Old.Order.spec.version
    async with await Order.restore("s", config) as journey:
        reply = await journey.process_message("soup")
        assert reply.is_journey_complete
        assert reply.accumulated == {"drink": "tea", "meal": "soup"}


PIPELINES = [
    "router",
    {"pattern": "router", "routing_strategy": "llm", "error_handling": "graceful"},
    {"pattern": "ensemble", "synthesizer": "x", "top_k": 2},
    {"pattern": "consensus", "threshold": 1, "voting_strategy": "weighted"},
    {"pattern": "debate", "judge": "x", "rounds": 1},
    {"pattern": "debate", "rounds": 0},
    {"pattern": "ensemble"},
    {"pattern": "router", "top_k": 2},
    {"pattern": "handoff", "handoff_condition": "f"},
    {"pattern": "rooter"},
    {"routing_strategy": "llm"},
    "rooter",
    3,
]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=str)
def test_the_published_schema_takes_the_pipelines_that_the_reader_takes(pipeline: Any) -> None:
    document = {"id": "a", "states": {"a": {"agents": ["x", "y"], "pipeline": pipeline}}}
    judge = jsonschema.Draft202012Validator(json.loads(json.dumps(published("journey"))))
    try:
        read_journey_text(json.dumps(document), "a.json")
    except JourneyDefinitionError:
        assert not judge.is_valid(document)
    else:
        judge.validate(document)


def test_the_published_schema_describes_each_setting_of_each_pattern() -> None:
    parts = published("journey")["$defs"]
    for kind, made in PATTERNS.items():
        words = next(part for part in parts.values() if part.get("title", "").endswith(kind))
        names = {*made.setting_names(), *made.role_names()} - {"handoff_condition"}
        assert names <= words["properties"].keys()
        assert all("description" in json.dumps(words["properties"][name]) for name in names)


def test_every_fault_of_a_file_has_its_remedy_apart_and_both_in_the_words_of_files() -> None:
    text = (
        "id: a\nstates:\n  b: {next: c, purpos: x, on_arrival: run}\n"
        "guidelines:\n  - {action: d, forbids: [e]}\ntransitions:\n  - {to: f}\n"
    )
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(text, "a.yaml")

    told = [(fault.message, fault.remedy) for fault in raised.value.faults]
    assert told == [
        ("next is 'c', which is not a state of this journey.", "Its states: b."),
        ("'purpos' is not a valid key of a state.", told[1][1]),
        ("it never applies.", "Give it a condition, `when` or keywords, or set always to true."),
        ("forbids and requires are only for critical guidelines.", "Set critical to true."),
        ("it never fires.", "Give it a condition in words, patterns, when, event, or after."),
        ("to is 'f', which is not a state of this journey.", "Its states: b."),
    ]
    assert told[1][1].startswith("Did you mean 'purpose'? Known: kind, title, ")


def test_a_fault_that_moves_outward_keeps_its_remedy() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        type("Trip", (Journey,), {"__guidelines__": [Guideline(action="")]})

    found = {fault.message: fault.remedy for fault in raised.value.faults}
    assert found["it does nothing."] == "Give it an action, tools, forbids or requires."
    assert str(raised.value.faults[0]).startswith("Trip.__guidelines__[0]: it does nothing. Give")
