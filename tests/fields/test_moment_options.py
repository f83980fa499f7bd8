"""Questions and options that a function decides, values that are not asked for, changes midway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ConfigurationError,
    Effect,
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    ModelAgent,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, off_topic, says
from tests.support.talk import Talk

Opened = Callable[..., Awaitable[Talk]]
SEATS = {"stalls": ["row A", "row B"], "balcony": ["row Y", "row Z"]}
TAKEN: list[tuple[str, str]] = []


@pytest.fixture(autouse=True)
def _empty_house() -> None:
    TAKEN.clear()


def rows(context: Mapping[str, Any]) -> list[str]:
    """Return the rows that are free, in the part of the house that is wanted."""
    passed = context.get("passed", ())
    return [row for row in SEATS[context["part"]] if row not in passed]


def which_row(context: Mapping[str, Any]) -> str:
    """Ask for a row."""
    return f"Free are {' and '.join(rows(context)) or 'none'}. Which one?"


def is_free(row: str, context: Mapping[str, Any]) -> bool | str:
    """Refuse a row of another part of the house."""
    return row in SEATS[context["part"]] or f"{row} is not in the {context['part']}."


def passed_by(message: str, context: Mapping[str, Any]) -> list[str]:
    """Return the rows that are not wanted: those that are named, else the first one."""
    if "oops" in message:
        raise RuntimeError("not now")
    free = rows(context)
    named = [row for row in free if row in message]
    return [*context.get("passed", []), *(named or free[:1])]


def reserve(part: str, row: str, idempotency_key: str, aid: str = "no") -> str:
    """Reserve a seat."""
    TAKEN.append((part, row))
    return f"{part}, {row}, {aid}"


class Theatre(Journey):
    """Reserve a seat."""

    class PlayPath(Pathway):
        __fields__ = [
            Field("part", "enum", "Stalls or balcony?", choices=list(SEATS)),
            Field("aid", "enum", asked=False, choices={"yes": ["wheelchair", "hearing aid"]}),
        ]
        __next__ = "seat"

    class SeatPath(Pathway):
        __title__ = "the seat"
        __fields__ = [
            Field("aid", "enum", asked=False, choices={"yes": ["wheelchair", "hearing aid"]}),
            Field(
                "row", "enum", which_row, choices=rows, validators=[is_free], depends_on=["part"]
            ),
            Field("name", "name", "In which name?"),
        ]
        __effects__ = [Effect(reserve, done="Reserved: {reserve}.")]
        __next__ = "foyer"

    class FoyerPath(Pathway):
        __agents__ = ["host"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(
            IntentTrigger(["another row", "not there"]),
            from_pathway="seat",
            to_pathway="seat",
            context_update={"passed": passed_by, "row": "clear:"},
        ),
        Transition(
            IntentTrigger(["move me"]),
            from_pathway="foyer",
            to_pathway="seat",
            context_update={"row": "clear:"},
        ),
        Transition(IntentTrigger(["another seat"]), from_pathway="foyer", to_pathway="seat"),
    ]


@pytest.fixture
def theatre(talk: Opened, memory_url: str) -> Opened:
    """Open a visit: `await theatre("said", ..., context=...)`."""

    async def begin(*said: str, **kwargs: Any) -> Talk:
        opened = await talk(Theatre, {"host": lambda ask: "Enjoy it."}, memory_url, **kwargs)
        for message in said:
            await opened.says(message)
        return opened

    return begin


async def test_the_options_are_those_of_the_moment(theatre: Opened) -> None:
    guest = await theatre("stalls")
    assert guest.last.message == "Free are row A and row B. Which one?"
    await guest.says("row Z")
    assert "row" not in guest.context

    await guest.says("row B")
    assert guest.context["row"] == "row B"


async def test_a_yes_takes_the_only_option_that_is_left(theatre: Opened) -> None:
    guest = await theatre("stalls", "yes")
    assert "row" not in guest.context

    assert await guest.says("another row") == "Free are row B. Which one?"
    assert await guest.says("yes please") == "In which name?"
    assert guest.context["row"] == "row B"


async def test_a_change_of_the_pathway_at_hand_goes_on_with_it(theatre: Opened) -> None:
    guest = await theatre("balcony", "another row please")
    assert guest.context["passed"] == ["row Y"]
    assert guest.last.message == "Free are row Z. Which one?"

    await guest.says("row Z")
    assert await guest.says("not there") == "Free are none. Which one?"
    assert "row" not in guest.context
    (taken, cleared) = await guest.journey.attempts("row")
    assert (taken.value, cleared.validation_status) == ("row Z", "cleared")


async def test_a_change_whose_function_raises_changes_nothing(theatre: Opened) -> None:
    guest = await theatre("balcony", "another row, oops")

    assert "passed" not in guest.context
    assert guest.last.metadata["error"] is None


async def test_what_is_never_asked_for_is_taken_where_it_is_said(theatre: Opened) -> None:
    guest = await theatre(
        "stalls please, and my grandmother comes in a wheelchair", "row A", "Lee", "yes"
    )
    assert guest.context["aid"] == "yes"
    assert "Reserved: stalls, row A, yes." in guest.last.message

    other = await theatre("stalls, no wheelchair", "row B", "Max", "yes", session_id="s-2")
    assert "aid" not in other.context
    assert "Reserved: stalls, row B, no." in other.last.message


async def test_a_field_that_depends_on_another_pathways_is_checked_again(theatre: Opened) -> None:
    guest = await theatre("stalls", "row A", "sorry, the part is balcony")

    assert "row A is not in the balcony." in guest.last.message
    assert guest.last.message.endswith("Free are row Y and row Z. Which one?")
    await guest.says("row Z")
    await guest.says("Lee")
    assert TAKEN == [("balcony", "row Z")]


async def test_after_the_effect_only_what_a_change_clears_is_asked_again(theatre: Opened) -> None:
    guest = await theatre("stalls", "row A", "Lee", "move me")
    assert guest.last.message == "Free are row A and row B. Which one?"
    assert guest.context["name"] == "Lee"

    assert "Reserved: stalls, row B, no." in await guest.says("row B")
    assert TAKEN == [("stalls", "row A"), ("stalls", "row B")]


async def test_without_such_a_change_a_completed_form_begins_anew(theatre: Opened) -> None:
    guest = await theatre("stalls", "row A", "Lee", "another seat", "row B")

    assert guest.last.message == "In which name?"


async def test_a_function_that_raises_has_no_options_yet(talk: Opened, memory_url: str) -> None:
    class Broken(Journey):
        """Ask what nobody can answer yet."""

        class OnlyPath(Pathway):
            __fields__ = [Field("row", "enum", which_row, choices=rows)]

    guest = await talk(Broken, {}, memory_url)

    assert await guest.says("hello") == "What is the row?"
    await guest.says("the last one")
    assert "row" not in guest.context


@pytest.mark.parametrize("given", [7, {"a": ["b"], 3: []}, ["", "x"], "rows"])
async def test_options_that_are_none_fail_the_turn_with_the_fields_name(
    talk: Opened, memory_url: str, given: Any
) -> None:
    class Odd(Journey):
        """Offer what is no list of texts."""

        class OnlyPath(Pathway):
            __fields__ = [
                Field("part", "enum", "Where?", choices=["left"]),
                Field("row", "enum", "Which?", choices=lambda known: given if known else ["a"]),
            ]

    guest = await talk(Odd, {}, memory_url)
    await guest.says("left")
    assert "Field 'row': choices is " in str(guest.last.metadata["error"])
    assert guest.context == {}


async def test_a_model_is_told_the_options_and_its_own_wording_of_them_is_not_used(
    talk: Opened, memory_url: str
) -> None:
    async with ScriptedModel(says(off_topic(), reply="A, B or Q?", asks="row")) as model:
        agents = {"host": lambda ask: "Enjoy it."}
        guest = await talk(Theatre, agents, memory_url, options={"model": model})
        await guest.says("stalls")
        said = await guest.says("Who plays tonight, by the way, and is it any good?")
    (call,) = model.calls

    assert said.endswith("Free are row A and row B. Which one?")
    assert '"takes":["row A","row B"]' in call.message
    assert "A, B or Q?" not in said


async def test_a_value_that_was_known_and_is_refused_is_answered_with_the_reason(
    theatre: Opened,
) -> None:
    guest = await theatre("stalls", context={"row": "row Z"})

    assert "row Z" not in str(guest.context.get("row"))
    assert len(guest.last.message.split("\n\n")) == 2
    assert guest.last.message.endswith("Free are row A and row B. Which one?")


# Effects that bring their function along


class Say(Signature):
    """Say something."""

    response: str = OutputField(description="What to say")


async def test_an_effects_own_function_is_offered_to_no_agent(
    talk: Opened, memory_url: str
) -> None:
    class Booth(Journey):
        """Reserve a seat, then talk."""

        class SeatPath(Pathway):
            __fields__ = [Field("part", "enum", "Where?", choices=["left"])]
            __effects__ = [Effect(sell)]
            __next__ = "chat"

        class ChatPath(Pathway):
            __signature__ = Say
            __agents__ = ["talker"]
            __complete_when__ = NEVER

    async with ScriptedModel({"response": "Hello."}) as model:
        options = {"model": model, "tools": {"look": look}}
        guest = await talk(Booth, {"talker": ModelAgent()}, memory_url, options=options)
        await guest.says("left")
        await guest.says("tell me something")

    assert guest.context["sell"] == "sold left"
    assert [call.tools for call in model.calls] == [["look"]]


def sell(part: str, idempotency_key: str) -> str:
    """Sell a seat."""
    return f"sold {part}"


def look() -> str:
    """Look."""
    return "nothing"


async def test_a_tool_that_is_handed_over_stands_in_for_an_effects_function(
    talk: Opened, memory_url: str
) -> None:
    def stand_in(part: str, row: str, idempotency_key: str) -> str:
        """Reserve nothing."""
        return "kept"

    options = {"tools": {"reserve": stand_in}}
    agents = {"host": lambda ask: "Enjoy it."}
    guest = await talk(Theatre, agents, memory_url, options=options)
    for message in ("stalls", "row A", "Lee"):
        await guest.says(message)

    assert guest.context["reserve"] == "kept"
    assert TAKEN == []


def test_two_functions_of_one_name_are_refused() -> None:
    def twin(part: str) -> str:
        return part

    twin.__name__ = "reserve"

    class Twins(Journey):
        """Two effects whose functions have one name."""

        class OnePath(Pathway):
            __fields__ = [Field("part", "enum", "Where?", choices=["left"])]
            __effects__ = [Effect(reserve)]
            __next__ = "two"

        class TwoPath(Pathway):
            __effects__ = [Effect(twin)]

    with pytest.raises(ConfigurationError, match="another effect also has a function 'reserve'"):
        Twins.compile(config=JourneyConfig(persistence="memory://twins"))


# Definitions


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"asked": "no"}, "asked is 'no'; it must be True or False"),
        ({"ask": 5}, "ask is 5; it must be text, or a function of the context"),
        ({"choices": 5}, "choices is 5; it must be a list, a dict, or a function of the context"),
    ],
)
def test_a_field_is_refused_with_what_it_must_be(fault: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Field(**{"name": "row", "type": "enum", "choices": ["a"], **fault})


def test_a_field_that_depends_on_nothing_there_is_a_fault() -> None:
    with pytest.raises(
        JourneyDefinitionError, match="depends on 'prt', which is not another field"
    ):

        class Misspelt(Journey):
            """Depend on a name that nobody collects."""

            class APath(Pathway):
                __fields__ = [Field("part", "enum", "Where?", choices=["left"])]

            class BPath(Pathway):
                __fields__ = [Field("row", "text", "Which?", depends_on=["prt"])]


def which_way(context: Mapping[str, Any]) -> Any:
    """Ask whether to show the rows, then for one of them."""
    if context.get("shown"):
        return "Row A or row B?"
    return "Shall I show you the rows?", ["Yes, please", "No"]


class Box(Journey):
    """Choose a row."""

    class ChoosePath(Pathway):
        __fields__ = [Field("row", "enum", which_way, choices=["row A", "row B"])]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(
            IntentTrigger(["please"]), to_pathway="choose", context_update={"shown": "set:yes"}
        )
    ]


async def test_the_options_are_those_of_the_question_that_is_asked(
    talk: Opened, memory_url: str
) -> None:
    chat = await talk(Box, {}, memory_url)

    assert (await chat.says("hello")).endswith("Shall I show you the rows?")
    assert labels(chat) == ["Yes, please", "No"]
    assert (await chat.says("Yes, please")).endswith("Row A or row B?")
    assert labels(chat) == ["row A", "row B"]


def labels(chat: Talk) -> list[str]:
    """The options of the open question."""
    return [option["label"] for option in chat.last.metadata["asked"]["options"]]


@pytest.mark.parametrize("said", [("Which?", "yes"), ("Which?", [""]), ("Which?", [1]), (1, ["a"])])
def test_a_question_with_other_answers_than_texts_is_refused(said: Any) -> None:
    field = Field("row", "enum", lambda context: said, choices=["row A"])

    with pytest.raises(ConfigurationError, match="text, or a pair of text and a list of answers"):
        field.answers_in({})


class Hall(Journey):
    """Choose a hall."""

    class ChoosePath(Pathway):
        __fields__ = [Field("hall", "enum", "Which hall?", choices=["red", "blue"])]
        __complete_when__ = NEVER


async def test_a_refusal_says_the_choices_once(talk: Opened, memory_url: str) -> None:
    chat = await talk(Hall, {}, memory_url)

    for message in ("hello", "green", "yellow"):
        assert (await chat.says(message)).count("red, blue") == 1
