"""Faults of a definition at import: all at once, with class, offender and remedy."""

from __future__ import annotations

import functools
import math
import pathlib
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    InputField,
    IntentTrigger,
    Journey,
    JourneyDefinitionError,
    MergeStrategy,
    OutputField,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Signature,
    Transition,
)


class Ask(Signature):
    """Ask."""

    said: str = InputField(desc="what was said")
    response: str = OutputField(desc="the answer")


def pathway(name: str = "StartPath", **attributes: Any) -> type[Pathway]:
    """A pathway class with one agent; `next="x"` means `__next__ = "x"`."""
    body = {f"__{key}__": value for key, value in {"agents": ["clerk"], **attributes}.items()}
    return type(name, (Pathway,), body)


def journey(*pathways: type[Pathway], name: str = "Trip", **body: Any) -> type[Journey]:
    """A journey class with these pathways; other names go into its body as they are."""
    return type(name, (Journey,), {**{p.__name__: p for p in pathways}, **body})


def faults(*pathways: type[Pathway], **body: Any) -> tuple[str, ...]:
    """The faults of such a journey."""
    with pytest.raises(JourneyDefinitionError) as raised:
        journey(*pathways, **body)
    return raised.value.faults


def fault_of(**attributes: Any) -> str:
    """The only fault of a journey with a pathway of these attributes, and one called 'other'."""
    (only,) = faults(pathway(**attributes), pathway("OtherPath"))
    return only


def fault_of_transition(trigger: Any, **fields: Any) -> str:
    """The only fault of a journey with this transition."""
    rule = Transition(trigger, **{"to_pathway": "start", **fields})
    (only,) = faults(pathway(), __transitions__=[rule])
    return only


# Together, and in words that help.


def test_all_faults_of_a_journey_come_in_one_error() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:

        class Trip(Journey):
            __entry_pathway__ = "strat"
            __speed__ = "high"

            class StartPath(Pathway):
                __agents__ = "clerk"
                __next__ = "othr"

            class OtherPath(Pathway):
                __pipeline__ = "paralel"

            __transitions__ = [
                Transition(IntentTrigger("help"), from_pathway="nowhere", to_pathway="strt"),
            ]

    said = raised.value.faults
    assert len(said) == 8
    assert str(raised.value) == "\n".join(said)
    assert isinstance(raised.value, ValueError)
    assert [fault.partition(": ")[0] for fault in said] == [
        "Trip",
        "Trip.StartPath",
        "Trip.OtherPath",
        "Trip.__transitions__[0]",
        "Trip",
        "Trip.StartPath",
        "Trip.__transitions__[0]",
        "Trip.__transitions__[0]",
    ]


def test_a_fault_names_class_offender_and_remedy() -> None:
    assert fault_of(next="othr") == (
        "Trip.StartPath: __next__ is 'othr', which is not a pathway of this journey. Did you "
        "mean 'other'? "
        "Its pathways: start, other."
    )


# Names that nothing reads.


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("__acumulate__", "__accumulate__"),
        ("__agent__", "__agents__"),
        ("__return__", "__return_behavior__"),
        ("__complete__", "__complete_when__"),
    ],
)
def test_an_unknown_attribute_of_a_pathway(name: str, meant: str) -> None:
    (fault,) = faults(type("StartPath", (Pathway,), {name: ["clerk"]}))

    assert fault.startswith(f"Trip.StartPath: {name} is unknown. Did you mean '{meant}'? Known: ")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("agents", "__agents__"),
        ("acumulate", "__accumulate__"),
        ("next", "__next__"),
        ("_pipeline__", "__pipeline__"),
        ("complete_when_", "__complete_when__"),
    ],
)
def test_an_attribute_without_its_underscores(name: str, meant: str) -> None:
    (fault,) = faults(type("StartPath", (Pathway,), {name: ["clerk"]}))

    assert fault == f"Trip.StartPath: {name} is not a known attribute. Did you mean '{meant}'?"


def test_half_of_the_underscores_is_not_enough() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:

        class Trip(Journey):
            __entry_pathway = "start"
            transitions: list[Transition] = []

            class StartPath(Pathway):
                __agents = ["clerk"]

    assert raised.value.faults == (
        "Trip: __entry_pathway is not a known attribute. Did you mean '__entry_pathway__'?",
        "Trip: transitions is not a known attribute. Did you mean '__transitions__'?",
        "Trip.StartPath: __agents is not a known attribute. Did you mean '__agents__'?",
    )


def test_an_attribute_without_its_underscores_beside_the_real_one() -> None:
    beside = type("StartPath", (Pathway,), {"__agents__": ["clerk"], "agents": ["boss"]})

    assert faults(beside) == (
        "Trip.StartPath: agents is not a known attribute. Did you mean '__agents__'?",
    )


def test_a_name_that_the_real_attribute_takes_its_value_from_is_read() -> None:
    names = ["clerk"]
    body = type("StartPath", (Pathway,), {"agents": names, "__agents__": names})

    assert journey(body).spec.pathways["start"].agents == ("clerk",)


def test_a_slip_in_a_plain_mixin_is_a_fault_and_its_own_life_is_not() -> None:
    class Base:
        __match_args__ = ()
        transitions: list[Transition] = []

        def version(self) -> str:
            return "mine"

    with pytest.raises(JourneyDefinitionError) as raised:

        class Trip(Base, Journey):
            pass

    assert raised.value.faults == (
        "Base: transitions is not a known attribute. Did you mean '__transitions__'?",
    )


def test_a_nested_class_that_is_called_a_pathway_and_is_none() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:

        class Trip(Journey):
            FilePath = pathlib.Path  # only named here, so it may be anything

            class AskPath:
                __agents__ = ["clerk"]

    assert raised.value.faults == ("Trip: AskPath is not a pathway. Write class AskPath(Pathway).",)


def test_helpers_and_constants_in_a_body_are_fine() -> None:
    class Trip(Journey):
        FEE = 3

        class StartPath(Pathway):
            _agents = ["clerk"]
            __agents__ = _agents

            @staticmethod
            def agent(name: str) -> str:
                return name

    assert Trip.spec.pathways["start"].agents == ("clerk",)


# Wrong values, one by one.


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"agents": "clerk"}, "__agents__ is 'clerk'; it must be a list."),
        ({"agents": {"clerk"}}, "__agents__ is {'clerk'}; it must be a list."),
        ({"agents": ["clerk", 3]}, "__agents__[1] is 3; it must be text."),
        ({"agents": [""]}, "__agents__[0] is ''; it must not be empty."),
        (
            {"agents": ["clerk", "boss", "clerk"]},
            "'clerk' occurs twice in agents.",
        ),
        ({"accumulate": "name"}, "__accumulate__ is 'name'; it must be a list."),
        ({"accumulate": ["a", "a"]}, "__accumulate__ is ['a', 'a']; 'a' must occur only once."),
        ({"accumulate": {3: None}}, "'3' is not a valid name: it must be text."),
        (
            {"accumulate": {"a": "unoin"}},
            "__accumulate__.a is 'unoin'; it must be one of replace, append, merge,",
        ),
        (
            {"pipeline": "paralel"},
            "it must be one of sequential, supervisor_worker,",
        ),
        ({"pipeline": 3}, "__pipeline__ is 3; it must be one of sequential,"),
        (
            {"next": "othr"},
            "__next__ is 'othr', which is not a pathway of this journey. Did you mean 'other'?",
        ),
        ({"next": 3}, "__next__ is 3; it must be text."),
        ({"signature": "Ask"}, "__signature__ is 'Ask'; it must be a Signature class or instance."),
        ({"signature": str}, "it must be a Signature class or instance."),
        ({"signature": Signature}, "it must be a Signature class or instance."),
        ({"complete_when": "name"}, "it must be names, a function of the context, or NEVER."),
        ({"complete_when": []}, "it must be names, a function of the context, or NEVER."),
        ({"complete_when": 3}, "it must be names, a function of the context, or NEVER."),
        ({"complete_when": ["a", 3]}, "3 in it is not a name."),
        ({"complete_when": lambda: True}, "callable with the context as its only argument."),
        ({"runs_on_arrival": "yes"}, "__runs_on_arrival__ is 'yes'; it must be True or False."),
        ({"timeout": 0}, "__timeout__ is 0; it must be above 0."),
        ({"timeout": "5"}, "it must be a number."),
        ({"timeout": True}, "it must be a number."),
        ({"timeout": math.inf}, "it must be a number."),
        ({"timeout": math.nan}, "it must be a number."),
        (
            {"return_behavior": ReturnToPrevious},
            "it must be ReturnToPrevious() or ReturnToSpecific('id').",
        ),
    ],
)
def test_a_wrong_value_in_a_pathway(attributes: dict[str, Any], said: str) -> None:
    fault = fault_of(**attributes)

    assert fault.startswith("Trip.StartPath: ")
    assert said in fault


@pytest.mark.parametrize("name", ["a:b", "a|b", "a/b", "__start__"])
def test_agent_names_keep_clear_of_langgraphs_own(name: str) -> None:
    assert f"'{name}' is not a valid name of an agent" in fault_of(agents=[name])


async def late(context: Any) -> bool:
    return True


class LateJudge:
    async def __call__(self, context: Any) -> bool:
        return True


@pytest.mark.parametrize("judge", [late, LateJudge(), functools.partial(late)])
def test_an_async_criterion_would_always_hold_and_is_refused(judge: Any) -> None:
    assert "an async one would always count as true" in fault_of(complete_when=judge)
    assert "an async one would always count as true" in fault_of_transition(ConditionTrigger(judge))


def test_a_name_has_one_merge_strategy_in_a_journey() -> None:
    (fault,) = faults(
        pathway(accumulate={"seen": MergeStrategy.UNION}),
        pathway("OtherPath", accumulate={"seen": "append"}),
    )

    assert fault == (
        "Trip.OtherPath: 'seen' is merged by 'append' here, and by 'union' in Trip.StartPath. "
        "Use one strategy for a name."
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"__entry_pathway__": 3}, "Trip: __entry_pathway__ is 3; it must be text."),
        ({"__version__": 3}, "Trip: __version__ is 3; it must be text."),
        ({"__sensitive__": "yes"}, "Trip: __sensitive__ is 'yes'; it must be True or False."),
        (
            {"__entry_pathway__": "strt"},
            "Trip: __entry_pathway__ is 'strt', which is not a pathway of this journey. Did "
            "you mean 'start'?",
        ),
        ({"__transitions__": "x"}, "Trip: __transitions__ is 'x'; it must be a list of Transition"),
        (
            {"__transitions__": Transition(AlwaysTrigger(), to_pathway="start")},
            "; it must be a list of Transition(...).",
        ),
        (
            {"__transitions__": [3]},
            "Trip.__transitions__[0]: it is 3; it must be a Transition(...).",
        ),
    ],
)
def test_a_wrong_value_in_a_journey(body: dict[str, Any], said: str) -> None:
    (fault,) = faults(pathway(), **body)

    assert said in fault


# Transitions.


class Mute(BaseTrigger):
    """Forgets to define evaluate."""


class Deaf(BaseTrigger):
    """Forgets the context."""

    def evaluate(self, message: str) -> bool:  # type: ignore[override]
        return True


def is_late(context: Any) -> bool:
    return False


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("help", "trigger is 'help'; it must be a trigger such as IntentTrigger."),
        (AlwaysTrigger, "it must be a trigger such as IntentTrigger."),
        (Mute(), "Mute does not define evaluate. Write evaluate(self, message, context)."),
        (Deaf(), "evaluate of Deaf takes other arguments. Write evaluate(self,"),
        (AlwaysTrigger, "Call the class: AlwaysTrigger(...)."),
        (is_late, "trigger is <function is_late>; it must be"),
        (is_late, "Wrap it: ConditionTrigger(lambda context: ...)."),
        (ConditionTrigger(is_late, description=3), "description is 3; it must be text."),  # type: ignore[arg-type]
        (IntentTrigger(["x"], description=None), "description is None; it must be text."),  # type: ignore[arg-type]
        (IntentTrigger(["x"], use_llm_fallback="no"), "is 'no'; it must be True or False."),  # type: ignore[arg-type]
        (IntentTrigger(["x"], llm_model=3), "llm_model is 3; it must be text."),  # type: ignore[arg-type]
        (ConditionTrigger("x"), "condition is 'x'; it must be a function that takes (context)."),  # type: ignore[arg-type]
        (ConditionTrigger(lambda: True), "a function that takes (context)."),  # type: ignore[arg-type,misc]
        (IntentTrigger("help"), "patterns is 'help'; it must be a list."),
        (IntentTrigger(None), "patterns is None; it must be a list."),  # type: ignore[arg-type]
        (IntentTrigger(["help", " "]), "patterns[1] is ' '; it must not be empty."),
        (IntentTrigger([3]), "patterns[0] is 3; it must be text."),  # type: ignore[list-item]
        (IntentTrigger(["x"], confidence_threshold=1.1), "is 1.1; it must be at most 1."),
        (IntentTrigger(["x"], confidence_threshold=math.nan), "is nan; it must be a number."),
    ],
)
def test_a_wrong_trigger(trigger: Any, said: str) -> None:
    fault = fault_of_transition(trigger)

    assert fault.startswith("Trip.__transitions__[0]: ")
    assert said in fault


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"to_pathway": "strt"},
            "to_pathway is 'strt', which is not a pathway of this journey. Did you mean",
        ),
        ({"to_pathway": None}, "to_pathway is None, which is not a pathway of this journey."),
        (
            {"to_pathway": ""},
            "to_pathway is '', which is not a pathway of this journey. Its pathways: start.",
        ),
        (
            {"to_pathway": ["start"]},
            "to_pathway is ['start'], which is not a pathway of this journey.",
        ),
        (
            {"from_pathway": "strt"},
            "from_pathway is 'strt', which is not a pathway of this journey.",
        ),
        (
            {"from_pathway": ["start", "x"]},
            "from_pathway is 'x', which is not a pathway of this journey.",
        ),
        ({"from_pathway": []}, "from_pathway is []; it must not be empty."),
        ({"from_pathway": 3}, "from_pathway is 3; it must be text or a list."),
        ({"priority": "high"}, "priority is 'high'; it must be a whole number."),
        ({"priority": 1.5}, "priority is 1.5; it must be a whole number."),
        ({"priority": True}, "priority is True; it must be a whole number."),
        ({"context_update": ["a"]}, "context_update is ['a']; it must be a dict."),
        (
            {"context_update": {"a": 3}},
            "context_update.a is 3; it must be text such as 'set:3', or a function.",
        ),
        ({"context_update": {"a": "apend:b"}}, "'apend:' is unknown. Did you mean 'append'?"),
        ({"context_update": {"a": "append:"}}, "a context name must follow."),
        ({"context_update": {"a": "copy:"}}, "a context name must follow."),
        ({"context_update": {"a": ""}}, "a context name must follow."),
        ({"context_update": {"a": "clear:b"}}, "nothing may follow 'clear:'."),
        ({"context_update": {"": "set:b"}}, "'' is not a valid name: it must not be empty."),
    ],
)
def test_a_wrong_transition(fields: dict[str, Any], said: str) -> None:
    fault = fault_of_transition(AlwaysTrigger(), **fields)

    assert fault.startswith("Trip.__transitions__[0]: ")
    assert said in fault


def test_transitions_are_counted_as_they_are_written() -> None:
    said = faults(pathway(), __transitions__=[3, Transition(AlwaysTrigger(), to_pathway="nope")])

    assert said[0].startswith("Trip.__transitions__[0]: it is 3")
    assert said[1].startswith("Trip.__transitions__[1]: to_pathway is 'nope'")


@pytest.mark.parametrize(
    ("source", "applies"),
    [
        ("*", "start other third"),
        ("start", "start"),
        (["start"], "start"),
        (("start", "third"), "start third"),
        (["start", "*"], "start other third"),
    ],
)
def test_a_source_is_everywhere_an_id_or_several(source: Any, applies: str) -> None:
    rule = Transition(AlwaysTrigger(), from_pathway=source, to_pathway="other")
    places = (pathway(), pathway("OtherPath"), pathway("ThirdPath"))
    spec = journey(*places, __transitions__=[rule]).spec

    assert [id_ for id_ in spec.pathways if spec.transitions[0].applies_in(id_)] == applies.split()


# Ids.


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("IntakePath", "intake"),
        ("BookingPathway", "booking"),
        ("FAQPath", "faq"),
        ("UserRegistrationPath", "user_registration"),
        ("HTTPRetry2Path", "http_retry2"),
        ("ABTestPath", "ab_test"),
        ("Greeting", "greeting"),
        ("PathFinderPath", "path_finder"),
        ("ÜberblickPath", "überblick"),
        ("_Ask_AgainPath", "ask_again"),
    ],
)
def test_the_id_of_a_pathway_is_its_name_without_suffix_in_snake_case(name: str, id_: str) -> None:
    assert list(journey(pathway(name)).spec.pathways) == [id_]


def test_two_classes_with_one_id() -> None:
    (fault,) = faults(pathway("BookingPath"), pathway("BookingPathway"))

    assert fault == (
        "Trip: BookingPath and BookingPathway both have the id 'booking'. Rename one of them."
    )


def test_an_empty_id() -> None:
    (fault,) = faults(pathway("Path"))

    assert fault == "Trip.Path: its id is empty. Give the class a name before the suffix."


@pytest.mark.parametrize("name", ["UnderstandPath", "SettlePathway"])
def test_a_reserved_id(name: str) -> None:
    (fault,) = faults(pathway(name))

    assert "is reserved for a node of the graph. Rename it." in fault


@pytest.mark.parametrize("name", ["MessagesPath", "ContextPath", "OutputsPath", "EndPath"])
async def test_ids_that_only_look_reserved_work(talk: Any, memory_url: str, name: str) -> None:
    chat = await talk(journey(pathway(name)), {"clerk": lambda _: "Hello"}, memory_url)

    assert await chat.says("hi") == "Hello"


# What leads where.


def test_a_detour_cannot_be_the_entry() -> None:
    fault = fault_of(return_behavior=ReturnToPrevious())

    assert fault == (
        "Trip: the first pathway 'start' is a detour, which has nothing to return to. "
        "Set __entry_pathway__ to another pathway."
    )


def test_a_detour_cannot_be_next() -> None:
    (fault,) = faults(pathway(next="faq"), pathway("FAQPath", return_behavior=ReturnToPrevious()))

    assert "__next__ is 'faq', a detour; only a transition leads to a detour." in fault


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        (
            {"return_behavior": ReturnToPrevious(), "next": "start"},
            "a detour returns when it is complete, so __next__ has no effect.",
        ),
        (
            {"return_behavior": ReturnToSpecific("strt")},
            "the return target is 'strt', which is not a pathway of this journey. Did you "
            "mean 'start'?",
        ),
        (
            {"return_behavior": ReturnToSpecific("faq")},
            "it returns to 'faq', which is itself a detour.",
        ),
        (
            {"return_behavior": ReturnToPrevious(max_depth=0)},
            "max_depth is 0; it must be at least 1.",
        ),
        (
            {"return_behavior": ReturnToSpecific("start", max_depth=1.5)},  # type: ignore[arg-type]
            "max_depth is 1.5; it must be a whole number.",
        ),
        (
            {"return_behavior": ReturnToPrevious(preserve_context="no")},  # type: ignore[arg-type]
            "preserve_context is 'no'; it must be True or False.",
        ),
        (
            {"return_behavior": ReturnToPrevious(), "runs_on_arrival": True},
            "a detour always runs in the turn in which a transition leads to it; remove its",
        ),
    ],
)
def test_a_wrong_detour(attributes: dict[str, Any], said: str) -> None:
    (fault,) = faults(pathway(), pathway("FAQPath", **attributes))

    assert fault.startswith(("Trip.FAQPath: ", "Trip.FAQPath.__return_behavior__: "))
    assert said in fault


@pytest.mark.parametrize("criterion", [None, ["name"]])
def test_an_endless_loop_of_arrivals(criterion: Any) -> None:
    (fault,) = faults(
        pathway(next="first"),
        pathway("FirstPath", next="second", runs_on_arrival=True, complete_when=criterion),
        pathway("SecondPath", next="first", runs_on_arrival=True),
    )

    assert fault == (
        "Trip.FirstPath: first -> second -> first run on arrival in an endless loop. "
        "Remove __runs_on_arrival__ from one of them."
    )


@pytest.mark.parametrize("criterion", [lambda context: "done" in context, NEVER])
def test_a_loop_that_a_criterion_can_end_is_allowed(criterion: Any) -> None:
    spec = journey(
        pathway("FirstPath", next="second", runs_on_arrival=True, complete_when=criterion),
        pathway("SecondPath", next="first", runs_on_arrival=True),
    ).spec

    assert spec.pathways["first"].next == "second"


def test_a_loop_with_a_pathway_that_waits_is_allowed() -> None:
    spec = journey(
        pathway("FirstPath", next="second", runs_on_arrival=True),
        pathway("SecondPath", next="first"),
    ).spec

    assert spec.entry == "first"
