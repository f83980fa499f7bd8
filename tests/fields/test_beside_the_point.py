"""Three sentences for what is no answer: a question, an attempt at the value, anything else."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import Effect, Field, Journey, Locale, Pathway, Texts
from journeygraph.journeys.languages import texts_in
from journeygraph.nodes.llm.scripted import (
    ScriptedModel,
    confirm,
    explain,
    fill,
    off_topic,
    repeat,
    says,
    status,
    wait,
)
from tests.support.talk import Talk

QUESTIONS = {
    "en": ["do you have a garden?", "how far is it to the station", "is breakfast included?"],
    "es": ["¿tienen jardín?", "cuánto se tarda hasta la estación", "¿está incluido el desayuno?"],
    "de": ["haben Sie einen Garten?", "wie weit ist es zum Bahnhof", "gibt es auch Frühstück?"],
}
ATTEMPTS = {
    "en": ["whenever it suits you", "on the day of the match", "as soon as it opens again"],
    "es": ["en cuanto se pueda", "el mismo del gran partido", "según como vaya"],
    "de": ["sobald es eben passt", "an dem Tag vom großen Spiel", "wenn offen ist"],
}
REMARKS = {
    "en": ["my neighbour plays jazz all night long", "I am so glad that they won the cup at last"],
    "es": ["mi vecino toca la trompeta toda la santa noche en casa"],
    "de": ["mein Nachbar spielt die ganze Nacht Jazz", "ich freue mich so für meine Mannschaft"],
}


class Inn(Journey):
    """Book a room."""

    class RoomPath(Pathway):
        """Book a room."""

        __fields__ = [Field("arrival", "date", "Which day?", label="day of arrival")]


async def inn(url: str, language: str = "en", **options: Any) -> Talk:
    options.setdefault("model", False)
    talk = await Talk.begin(Inn, {}, url, locale=Locale(language=language), options=options)
    await talk.says({"en": "hello", "de": "hallo", "es": "hola"}[language])
    return talk


def texts(language: str) -> Texts:
    return texts_in(language)


@pytest.mark.parametrize(
    ("language", "message"), [(one, said) for one, all_ in QUESTIONS.items() for said in all_]
)
async def test_a_question_is_said_to_have_no_answer_here(
    memory_url: str, language: str, message: str
) -> None:
    talk = await inn(memory_url, language)
    assert await talk.says(message) == f"{texts(language).cannot_answer}\n\nWhich day?"
    assert await stood(talk) == {"off_topic": 1}


@pytest.mark.parametrize(
    ("language", "message"), [(one, said) for one, all_ in ATTEMPTS.items() for said in all_]
)
async def test_an_attempt_is_said_not_to_be_read_as_what_was_asked(
    memory_url: str, language: str, message: str
) -> None:
    talk = await inn(memory_url, language)
    reply = texts(language).not_read.format(field="day of arrival")
    assert (await talk.says(message)).startswith(reply)
    assert talk.last.metadata["asked"]["field"] == "arrival"


@pytest.mark.parametrize(
    ("language", "message"), [(one, said) for one, all_ in REMARKS.items() for said in all_]
)
async def test_anything_else_leads_back(memory_url: str, language: str, message: str) -> None:
    talk = await inn(memory_url, language)
    assert await talk.says(message) == f"{texts(language).off_topic}\n\nWhich day?"
    assert await stood(talk) == {"off_topic": 1}


@pytest.mark.parametrize(
    "message",
    [
        "for the two of us an hour later would suit better",
        "the stay should then be shorter by half",
    ],
)
async def test_what_compares_is_not_led_back_from(memory_url: str, message: str) -> None:
    talk = await inn(memory_url, "en")
    assert (await talk.says(message)).startswith(texts("en").noise)


async def test_each_of_them_counts_and_the_third_is_told_what_this_is_for(memory_url: str) -> None:
    talk = await inn(memory_url)
    for said in (QUESTIONS["en"][0], ATTEMPTS["en"][0]):
        await talk.says(said)
    reply = await talk.says(REMARKS["en"][0])
    assert reply.startswith(
        "I can only help with what we are here for: room.\n\n"
        "What I need is the day of arrival: for example "
    )


async def test_beside_a_model_the_question_is_told_from_small_talk(memory_url: str) -> None:
    answers = [says(), says(off_topic()), says(off_topic())]
    talk = await inn(memory_url, model=ScriptedModel(understanding=answers))
    assert (await talk.says("do you have a garden?")).startswith(Texts().cannot_answer)
    assert (await talk.says("on the day of the match")).startswith(Texts().off_topic)


async def test_what_a_model_makes_nothing_of_is_said_not_to_be_read(memory_url: str) -> None:
    talk = await inn(memory_url, model=ScriptedModel(understanding=[says(), says(), says()]))
    said = await talk.says("on the day of the match")
    assert said == "I did not get that as the day of arrival.\n\nWhich day?"
    assert (await talk.says("do you have a garden?")).startswith(Texts().cannot_answer)


async def stood(talk: Talk) -> dict[str, Any]:
    """Return the counters of failures, and check that there are no values."""
    session, head = await talk.journey.manager._known()  # what a test sees and a user does not
    position = (await session.values(head))["position"]
    assert talk.context.get("arrival") is None
    counters = ("off_topic", "unclear", "retries", "failures")
    return {name: n for name in counters if (n := position.get("talk", {}).get(name))}


class Ferry(Journey):
    """Sell places on a ferry."""

    class PlacePath(Pathway):
        """Book a place."""

        __title__ = "the place"
        __fields__ = [
            Field("deck", "enum", "Which deck?", choices=["upper", "lower"]),
            Field("leaving", "date", "On which day?", confirm=True),
        ]
        __effects__ = [Effect("book", {"deck": "deck"}, done="Booked.")]


VAGUE = "well, as my aunt always says about such things"
UNSUPPORTED = Texts().unsupported.format(tasks="the place")


async def ferry(url: str, answer: Any, *said: str) -> tuple[Talk, list[str]]:
    """Begin a talk, beside a model that answers so to the first vague message."""
    booked: list[str] = []

    async def book(deck: str) -> None:
        """Book a place."""
        booked.append(deck)

    model = ScriptedModel(understanding=[says(), answer])
    talk = await Talk.begin(Ferry, {}, url, options={"model": model, "tools": {"book": book}})
    for message in ("hello", *said):
        await talk.says(message)
    return talk, booked


def asked(talk: Talk) -> str:
    """Return the field or the kind of the question that is open."""
    question = talk.last.metadata["asked"]
    return question["field"] or question["kind"]


@pytest.mark.parametrize(
    ("aside", "said"),
    [(off_topic(unsupported=True), UNSUPPORTED), (off_topic(), Texts().off_topic)],
)
async def test_a_yes_to_a_summary_is_carried_out_beside_what_cannot_be_done(
    memory_url: str, aside: Any, said: str
) -> None:
    talk, booked = await ferry(memory_url, says(confirm(), aside), "upper", "tomorrow")
    assert asked(talk) == "summary"
    reply = await talk.says(VAGUE)
    assert booked == ["upper"]
    assert reply.split("\n\n")[:2] == [said, "Booked."]


@pytest.mark.parametrize("aside", [wait(), repeat(), explain(), explain("deck"), status()])
async def test_a_yes_beside_what_is_asked_for_first_waits(memory_url: str, aside: Any) -> None:
    talk, booked = await ferry(memory_url, says(confirm(), aside), "upper", "tomorrow")
    await talk.says(VAGUE)
    assert booked == []
    assert asked(talk) == "summary"
    await talk.says("yes")
    assert booked == ["upper"]


ASIDES = [off_topic(unsupported=True), off_topic(), wait(), repeat(), explain(), status()]


@pytest.mark.parametrize("aside", ASIDES)
async def test_the_next_question_is_asked_whatever_is_said_beside_a_value(
    memory_url: str, aside: Any
) -> None:
    talk, _ = await ferry(memory_url, says(fill(leaving="tomorrow"), aside), "upper")
    await talk.says(VAGUE)
    assert asked(talk) == "summary"


class Trip(Journey):
    """Book a trip."""

    class TripPath(Pathway):
        """Book a trip."""

        __fields__ = [
            Field("day", "date", "Which day?", label="day"),
            Field("adults", "integer", "How many adults?", label="number of adults"),
            Field("kids", "integer", "How many children?", label="number of children"),
            Field("guest", "name", "In which name?", label="name"),
        ]


@pytest.mark.parametrize(
    ("language", "message", "unread"),
    [
        ("en", "tomorrow, 9 adults and a small baby", "a small baby"),
        ("en", "tomorrow, and it goes to guy kephart", "goes to guy kephart"),
        ("en", "tomorrow, my booking is under shley", "booking is under shley"),
        ("de", "morgen, und unser Baby kommt mit", "Baby kommt"),
    ],
)
async def test_a_name_or_what_is_counted_is_not_dropped_next_to_a_value(
    memory_url: str, language: str, message: str, unread: str
) -> None:
    options = {"model": False}
    talk = await Talk.begin(Trip, {}, memory_url, locale=Locale(language=language), options=options)
    await talk.says({"en": "hello", "de": "hallo", "es": "hola"}[language])
    assert unread in await talk.says(message)


class Transfer(Journey):
    """Send money."""

    class SendPath(Pathway):
        """Send money."""

        __fields__ = [
            Field("day", "date", "Which day?", label="day"),
            Field("amount", "money", "How much?", label="amount", currency="GBP"),
        ]


async def test_an_amount_in_another_currency_is_repeated(memory_url: str) -> None:
    talk = await Talk.begin(Transfer, {}, memory_url, options={"model": False})
    await talk.says("hello")
    assert "40 euros" in await talk.says("40 euros tomorrow")
    assert "day" in talk.context
