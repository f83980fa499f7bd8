"""Certain and doubtful readings: what is taken at once, said back, asked back, put to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from journeygraph import (
    Effect,
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Locale,
    Pathway,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, fill, says


class Dinner(Journey):
    """Book tables."""

    class TablePath(Pathway):
        """Book a table."""

        __title__ = "the table"
        __fields__ = [
            Field("guests", "integer", "How many guests?", validators=[Range(1, 20)], confirm=True),
            Field("hour", "time", "At what time?", confirm=True),
            Field("name", "name", "In which name?", confirm=True),
            Field("wishes", "text", "Any wishes?", required=False),
        ]
        __effects__ = [Effect("book", {"guests": "guests"}, done="Booked.")]

    class TaxiPath(Pathway):
        """Order a taxi."""

        __title__ = "the taxi"
        __fields__ = [Field("pickup", "address", "Where to?")]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class ParkingPath(Pathway):
        """Tell about parking."""

        __agents__ = ["parking"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(["taxi"], use_llm_fallback=True), to_pathway="taxi"),
        Transition(IntentTrigger(["parking"], use_llm_fallback=True), to_pathway="parking"),
    ]


class Evening:
    """A conversation at the desk of `Dinner`."""

    def __init__(self, journey: Journey, booked: list[int]) -> None:
        self.journey, self.booked, self.reply = journey, booked, ""

    async def says(self, *messages: str) -> str:
        for message in messages:
            answer = await self.journey.process_message(message)
            self.reply, self.at = answer.message, answer.pathway_id
        return self.reply

    async def values(self) -> dict[str, Any]:
        form = await self.journey.fields()
        return {name: each.current_value for name, each in form.fields.items()}

    async def unread(self) -> list[str]:
        return [e.reason for e in await self.journey.audit() if e.kind == "unread"]


@pytest.fixture
async def dinner(memory_url):
    opened: list[Journey] = []

    async def begin(model: Any = False, said: Sequence[str] = ()) -> Evening:
        booked: list[int] = []

        def book(guests: int, idempotency_key: str) -> None:
            "Book a table."
            booked.append(guests)

        journey = Dinner(
            f"s-{len(opened)}",
            JourneyConfig(persistence=memory_url),
            agents={"parking": lambda payload: "Behind the house."},
            tools={"book": book},
            model=model,
        )
        opened.append(journey)
        await journey.start()
        evening = Evening(journey, booked)
        await evening.says(*(said if model else ["hello", *said]))
        return evening

    yield begin
    for journey in opened:
        await journey.close()


async def test_a_correction_beside_an_answer_is_asked_back(dinner):
    chat = await dinner(said=["four"])
    assert await chat.says("sorry, five guests, and at 7 pm") == (
        "For the hour I have noted: 7:00 pm.\n\nShall I change the guests to 5?"
    )
    assert await chat.says("yes") == (
        "All right, I have changed the guests to 5.\n\nIn which name?"
    )
    assert await chat.unread() == []


async def test_a_value_beside_words_that_nothing_explains_is_said_back(dinner):
    chat = await dinner(said=["four"])
    reply = await chat.says("at 7 pm, and the babysitter is late")
    assert reply.startswith("For the hour I have noted: 7:00 pm.")
    assert reply.endswith("In which name?")
    assert await chat.unread() == ["babysitter is late"]


async def test_what_may_matter_is_said_back_though_something_was_taken(dinner):
    chat = await dinner(said=["four"])
    reply = await chat.says("at 7 pm, and how much is the menu?")
    assert "I cannot answer that here." in reply
    assert (await chat.values())["hour"] == "19:00"


async def test_a_doubtful_correction_is_asked_back(dinner):
    chat = await dinner(said=["four", "7 pm"])
    reply = await chat.says("sorry, five guests, if the dog gets well")
    assert reply.endswith("Shall I change the guests to 5?")
    assert (await chat.values())["guests"] == 4
    await chat.says("yes")
    assert (await chat.values())["guests"] == 5


async def test_a_text_is_said_back_before_anything_is_done(dinner):
    chat = await dinner(said=["four", "7 pm", "Lee"])
    reply = await chat.says("a quiet corner, and the heater on")
    assert reply.startswith("For the wishes I have noted: a quiet corner, and the heater on.")
    assert reply.endswith("Is that right?")
    assert chat.booked == []


async def test_a_value_to_drop_beside_words_that_nothing_takes_stays(dinner):
    chat = await dinner(said=["four", "7 pm"])
    await chat.says("drop the hour, the babysitter is late")
    assert (await chat.values())["hour"] == "19:00"


async def test_a_wish_behind_nothing_is_not_lost(dinner):
    chat = await dinner(said=["four", "7 pm", "Lee"])
    reply = await chat.says("nothing, I just wanted a window seat")
    assert reply.endswith("Any wishes?")
    assert chat.booked == []


async def test_a_doubtful_name_is_asked_for_again_and_a_doubtful_text_is_said_back(dinner):
    chat = await dinner(said=["four", "7 pm"])
    assert (await chat.says("for my brother")).endswith("In which name?")
    assert (await chat.values())["name"] is None
    await chat.says("Lee")
    reply = await chat.says("perhaps a quiet corner")
    assert reply.startswith("For the wishes I have noted: perhaps a quiet corner.")


@pytest.mark.parametrize(
    "message",
    [
        "actually a bit of shade on the table",
        "and half an hour later would be better for my aunt",
        "so one more of us is coming along, the twins are well again",
    ],
)
async def test_words_that_change_something_are_no_text_for_what_is_asked(dinner, message):
    chat = await dinner(said=["four", "7 pm", "Lee"])
    reply = await chat.says(message)
    assert reply.startswith("I did not understand that.")
    assert (await chat.values())["wishes"] is None


async def test_a_known_text_is_changed_by_its_label_after_a_yes(dinner):
    chat = await dinner(said=["four", "7 pm", "Lee", "a quiet corner"])
    reply = await chat.says("the wishes are a table by the window")
    assert reply == "Shall I change the wishes to a table by the window?"
    reply = await chat.says("yes")
    assert "- wishes: a table by the window" in reply
    assert chat.booked == []


async def test_half_a_yes_takes_no_effect_and_a_whole_one_does(dinner):
    chat = await dinner(said=["four", "7 pm", "Lee", "skip"])
    assert "Is that right?" in chat.reply
    reply = await chat.says("yes, and what is the soup?")
    assert "Is that right?" in reply
    assert chat.booked == []
    assert "Booked." in await chat.says("yes")
    assert chat.booked == [4]


async def test_a_yes_beside_a_pattern_is_a_whole_one(dinner):
    chat = await dinner(said=["four", "7 pm", "Lee", "skip"])
    reply = await chat.says("yes, and is there parking?")
    assert "Booked." in reply
    assert "Behind the house." in reply
    assert chat.booked == [4]


async def test_a_task_is_left_at_once_or_after_a_yes(dinner):
    chat = await dinner(said=["four"])
    assert await chat.says("stop, the dog is ill") == "Shall I give up the table?"
    assert (await chat.values())["guests"] == 4
    await chat.says("no")
    assert (await chat.says("7 pm")).endswith("In which name?")
    assert await chat.says("stop, the dog is ill") == "Shall I give up the table?"
    await chat.says("yes")
    assert (await chat.values())["guests"] is None


async def test_a_pattern_in_a_clause_that_denies_it_leads_nowhere(dinner):
    for said in ("I don't need a taxi", "no taxi please", "forget the taxi, at 7 pm"):
        chat = await dinner(said=["four"])
        await chat.says(said)
        assert chat.at == "table", said
    chat = await dinner(said=["four"])
    await chat.says("I need a taxi")
    assert chat.at == "taxi"


async def test_certain_readings_cost_no_call(dinner):
    async with ScriptedModel() as model:
        chat = await dinner(model, ["four", "sorry, five guests", "7 pm", "Lee"])
        assert (await chat.values())["guests"] == 5
        assert (await chat.values())["name"] == "Lee"
        assert model.calls == []


class Parcel(Journey):
    """Find a parcel."""

    class FindPath(Pathway):
        __fields__ = [
            Field("number", "text", "Which?", validators=[Regex(r"P-\d+")], extract=[r"P-\d+"]),
            Field("size", "enum", "Which size?", choices=["small", "large"]),
            Field("note", "text", "What is in it?"),
        ]

    class PricesPath(Pathway):
        __agents__ = ["prices"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(["prices"], use_llm_fallback=True), to_pathway="prices")
    ]


async def test_what_a_pattern_or_a_choice_matches_wholly_costs_no_call(memory_url):
    agents = {"prices": lambda payload: "Six euros."}
    config = JourneyConfig(persistence=memory_url)
    answers = says(), says()
    async with (
        ScriptedModel(*answers) as model,
        Parcel("s", config, agents=agents, model=model) as parcel,
    ):
        await parcel.start()
        await parcel.process_message("hello")
        await parcel.process_message("P-17")
        await parcel.process_message("small")
        assert len(model.calls) == 1
        await parcel.process_message("show me what it costs")  # a text may be anything
        assert len(model.calls) == 2


async def test_what_is_left_beside_a_pattern_of_a_field_is_not_lost(memory_url):
    agents = {"prices": lambda payload: "Six euros."}
    config = JourneyConfig(persistence=memory_url)
    async with Parcel("s", config, agents=agents, model=False) as parcel:
        await parcel.start()
        await parcel.process_message("hello")
        await parcel.process_message("P-17, and 20 euros on top")
        assert "20 euros" in " ".join(e.reason for e in await parcel.audit() if e.kind == "unread")


async def test_a_doubtful_reading_is_put_to_the_model_which_decides(dinner):
    answer = says(fill(hour="8 pm"))
    async with ScriptedModel(answer) as model:
        chat = await dinner(model, ["four"])
        await chat.says("at 7 pm, or rather when the babysitter comes, an hour later")
        assert (await chat.values())["hour"] == "20:00"
        (call,) = model.calls
        assert '"left_unread"' in call.text


async def test_two_patterns_are_put_to_the_model(dinner):
    async with ScriptedModel(says(to="parking")) as model:
        chat = await dinner(model, ["four"])
        await chat.says("is there parking for a taxi")
        assert chat.reply.startswith("Behind the house.")
        assert len(model.calls) == 1


async def test_a_model_that_fails_counts_as_none(dinner):
    async with ScriptedModel("I am not sure about that.") as model:
        chat = await dinner(model, ["four"])
        reply = await chat.says("at 7 pm, the dog is ill")
        assert "For the hour I have noted: 7:00 pm." in reply
        assert (await chat.values())["hour"] == "19:00"


async def test_every_value_is_in_a_command_an_attempt_or_the_audit(dinner):
    chat = await dinner(said=["four"])
    await chat.says("the menu at 35 euros, and 12 chairs, and the 3rd of May")
    values, unread = await chat.values(), " ".join(await chat.unread())
    assert values["guests"] == 4
    assert all(word in unread for word in ("35", "12", "3rd"))


class PickUp(Journey):
    """Collect parcels."""

    class ParcelPath(Pathway):
        """Collect a parcel."""

        __title__ = "the pick-up"
        __fields__ = [
            Field("weight", "number", "How many kilos is it?", validators=[Range(0.1, 900)]),
            Field("contactless", "boolean", "Shall we collect it without ringing?"),
            Field("slot", "time", "At what time?", validators=[Range("08:00", "18:00")]),
            Field("day", "date", "On which day?"),
        ]


async def test_a_bound_two_values_and_a_turned_no_are_asked_again(memory_url):
    journey = PickUp("s", JourneyConfig(persistence=memory_url), model=False)
    await journey.start()
    await journey.process_message("hello")
    for doubtful, plain in (
        ("12 or 13 kilos", "12 kilos"),
        ("don't ring", "no"),
        ("any time before 5", "at 5"),
        ("end of the month", "1 May 2031"),
    ):
        before = (await journey.fields()).fields
        await journey.process_message(doubtful)
        values = {k: v.current_value for k, v in (await journey.fields()).fields.items()}
        assert values == {k: v.current_value for k, v in before.items()}, doubtful
        await journey.process_message(plain)
    given = {k: v.current_value for k, v in (await journey.fields()).fields.items()}
    await journey.close()
    assert given == {"weight": 12.0, "contactless": False, "slot": "17:00", "day": "2031-05-01"}


class Repairs(Journey):
    """Send somebody who repairs it."""

    class VisitPath(Pathway):
        __title__ = "the visit"
        __fields__ = [
            Field("room", "text", "Which room?"),
            Field("leaks", "boolean", "Does it leak?"),
            Field("day", "date", "Which day?"),
            Field("code", "text", "Which code?", validators=[Regex(r"[A-Z0-9]{6}")]),
            Field("hour", "time", "From when on?", validators=[Range("17:00", "22:00")]),
            Field("owner", "full_name", "Your full name?"),
            Field("note", "text", "Anything else?"),
        ]


async def _repairs(url: str, language: str, *messages: str) -> tuple[str, dict[str, Any], set[str]]:
    """Return the last reply of a conversation, the values, and the words that were not read."""

    class Local(Repairs):
        __locale__ = Locale(language=language, timezone="Europe/Berlin")

    async with Local("s", JourneyConfig(persistence=url), model=False) as journey:
        await journey.start()
        for message in messages:
            reply = (await journey.process_message(message)).message
        form = (await journey.fields()).fields
        unread = {e.reason for e in await journey.audit() if e.kind == "unread"}
        return reply, {name: each.current_value for name, each in form.items()}, unread


class Reading(Journey):
    """Note when a meter was read."""

    class MeterPath(Pathway):
        __fields__ = [Field("day", "date", "Which day?"), Field("note", "text", "Anything else?")]


async def test_an_hour_that_no_field_takes_is_put_to_the_model_and_not_dropped(
    memory_url: str,
) -> None:
    for answers in ((), (says(), says(fill(day="3 May 2030")))):
        url = f"{memory_url}-{len(answers)}"
        async with (
            ScriptedModel(*answers) as model,
            Reading("s", JourneyConfig(persistence=url), model=model if answers else False) as desk,
        ):
            await desk.start()
            await desk.process_message("hello")
            reply = (await desk.process_message("on 3 May 2030 at 2pm")).message
            assert (await desk.fields()).fields["day"].current_value == "2030-05-03"
            assert answers or "I did not understand “2pm”." in reply
            assert len(model.calls) == len(answers)


async def test_a_spanish_name_of_three_words_has_two_family_names(
    memory_url: str,
) -> None:
    before = "hola", "la cocina", "sí", "2030-05-03", "R5TT2B", "18:00"
    _, values, _ = await _repairs(memory_url, "es-ES", *before, "Lucía Fernández Prieto")
    assert values["owner"] == {"given": "Lucía", "family": "Fernández Prieto"}
