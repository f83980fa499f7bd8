"""Messages that were not understood at first, in gyms, at vets and to movers."""

from __future__ import annotations

from typing import Any

from journeygraph import (
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    Range,
    ReturnToPrevious,
    Transition,
)


class Gym(Journey):
    """Join a gym."""

    class Join(Pathway):
        __title__ = "the membership"
        __fields__ = [
            Field("plan", "enum", "Which plan?", choices={"basic": [], "premium": ["gold"]}),
            Field("start", "date", "When do you start?"),
            Field("full_name", "name", "What is your name?", label="name"),
            Field("age", "integer", "How old are you?", validators=[Range(16, 99)]),
            Field("email", "email", "What is your email?"),
        ]

    class Hours(Pathway):
        __title__ = "the opening hours"
        __fields__ = [Field("branch", "enum", "Which branch?", choices=["north", "south"])]
        __agents__ = ["desk"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [Transition(IntentTrigger(["opening hours"]), to_pathway="hours")]


class Vet(Journey):
    """See the vet."""

    class Visit(Pathway):
        __title__ = "the visit"
        __fields__ = [
            Field("animal", "enum", "What is it?", choices={"cat": ["kitten"], "dog": []}),
            Field("home", "address", "Where do you live?"),
            Field("day", "date", "On which day?"),
            Field("vaccinated", "boolean", "Is it vaccinated?"),
            Field("slot", "datetime", "When do you come?"),
            Field("note", "name", "Who comes?", label="visitor", confirm=True),
        ]


JOINED = ("gold", "1 March 2031", "Ann Lee", "27")


async def told(journey: type[Journey], *messages: str) -> tuple[str, dict[str, Any]]:
    """Return the last reply and what is collected."""
    config = JourneyConfig(persistence="memory://found")
    name = f"{journey.__name__}-{hash(messages)}"
    agents = {"desk": lambda ask: "Eight to six."} if journey is Gym else {}
    opened = journey(name, config, model=False, agents=agents)
    await opened.start()
    reply = ""
    for message in messages:
        reply = (await opened.process_message(message)).message
    form = await opened.fields()
    await opened.close()
    return reply, {name: each.current_value for name, each in form.fields.items()}


async def test_several_fields_are_corrected_in_one_message() -> None:
    for said, age, start in (
        ("actually I'm 28, and the start should be 3 March 2031", 28, "2031-03-03"),
        ("sorry, the age is 30 and the start is 4 March 2031", 30, "2031-03-04"),
        ("change the age to 31 and the start to 5 March 2031", 31, "2031-03-05"),
    ):
        _, values = await told(Gym, *JOINED, said)
        assert (values["age"], values["start"]) == (age, start), said


async def test_an_answer_and_a_correction_in_one_message_are_both_taken() -> None:
    reply, values = await told(Gym, *JOINED, "my email is a@b.com and the age is 28, not 27")
    assert (values["email"], values["age"]) == ("a@b.com", 28)
    assert "28" in reply


async def test_a_value_that_was_refused_is_said_anew_with_not() -> None:
    reply, values = await told(Gym, *JOINED[:3], "12", "not 12, 21")
    assert values["age"] == 21
    assert reply == "What is your email?"


async def test_the_name_of_somebody_else_is_not_the_users() -> None:
    for said in ("my dog's name is Rex", "his name is Rex"):
        reply, values = await told(Gym, *JOINED[:2], said)
        assert values["full_name"] is None, said
        assert reply.endswith("What is your name?")


async def test_what_was_meant_instead_is_no_refusal_to_go_back() -> None:
    reply, values = await told(
        Gym, *JOINED[:2], "what are your opening hours?", "north", "no, I meant south"
    )
    assert (values["branch"], values["plan"]) == ("south", "premium")
    assert reply == "All right, I have changed the branch to south.\n\nWhat is your name?"


async def test_an_answer_counts_beside_words_of_another_matter() -> None:
    said = ("gold", "what are your opening hours?", "south and the start is 2 March 2031")
    _, values = await told(Gym, *said)
    assert values["branch"] == "south"


async def test_the_kind_is_heard_where_the_sentence_is_about_it() -> None:
    _, values = await told(Vet, "hello", "my kitten is coughing")
    assert values["animal"] == "cat"


async def test_a_mere_date_is_no_address() -> None:
    reply, values = await told(Vet, "dog", "5 December 2030")
    assert (values["home"], values["day"]) == (None, "2030-12-05")
    assert reply == "Where do you live?"


VISITED = ("dog", "12 Oak Street, Leeds", "5 December 2030", "yes", "3 March 2031 at 10:00")


async def test_a_field_is_pointed_at_where_it_was_asked_what_is_wrong() -> None:
    for said in (("no", "the visitor"), ("the visitor",), ("no, the visitor",)):
        reply, values = await told(Vet, *VISITED, "Bo Hill", *said)
        assert reply.endswith("Who comes?"), said
        assert values["note"] is None


async def test_two_fields_are_emptied_and_asked_for_in_one_message() -> None:
    said = ("let me change the day and the visitor",)
    reply, values = await told(Vet, *VISITED, "Bo Hill", *said)
    assert (values["day"], values["note"]) == (None, None)
    reply, values = await told(Vet, *VISITED, "Bo Hill", *said, "Ann Hill", "6 December 2030")
    assert (values["day"], values["note"]) == ("2030-12-06", "Ann Hill")
    assert reply.endswith("Is that right?")


async def test_a_yes_is_taken_back_in_a_sentence() -> None:
    for said in ("oh wait, it is not vaccinated", "wait it is not vaccinated"):
        _, values = await told(Vet, *VISITED, said)
        assert values["vaccinated"] is False, said


async def test_what_is_told_behind_a_wait_is_no_reason_for_it() -> None:
    reply, values = await told(Vet, *VISITED, "wait, I did not mean a dog")
    assert values["animal"] is None
    assert "What is it?" in reply


async def test_another_day_keeps_the_time_of_the_moment() -> None:
    _, values = await told(Vet, *VISITED, "not 3 March 2031, on 4 March 2031")
    assert values["slot"] == "2031-03-04T10:00"


async def test_a_choice_is_heard_beside_a_day() -> None:
    _, values = await told(Gym, "A membership for gold on Saturday")
    assert values["plan"] == "premium"
    assert values["start"] is not None


class Seats(Journey):
    """Take a seat in the theatre."""

    class Seat(Pathway):
        __fields__ = [
            Field("evening", "date", "Which evening?"),
            Field("wish", "text", "Any wish?", required=False),
        ]


async def test_a_bare_no_is_no_value_but_a_refusal(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Seats("seats", config, model=False) as journey:
        await journey.start()
        for words in ("hello", "no", "yes", "3 March 2031", "no, thanks"):
            last = await journey.process_message(words)
        evening = [item.validation_status for item in await journey.attempts("evening")]
        wish = [item.validation_status for item in await journey.attempts("wish")]

    assert evening == ["valid"]
    assert wish == ["cleared"]
    assert "wish" not in last.accumulated_context
    assert last.is_journey_complete


async def test_a_number_beside_the_name_of_its_field_is_what_it_shall_be(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Ferry("ferry", config, model=False) as journey:
        await journey.start()
        for words in ("Dover", "2", "3 cars, please"):
            last = await journey.process_message(words)

    assert last.accumulated_context == {"port": "Dover", "cars": 3}
    assert "Is that right?" in last.message


class Ferry(Journey):
    """Cross the sea."""

    class Crossing(Pathway):
        __fields__ = [
            Field("port", "enum", "Which port?", choices=["Harwich", "Dover"]),
            Field("cars", "integer", "How many cars?", confirm=True),
        ]


class Library(Journey):
    """Get a reader's card."""

    class Card(Pathway):
        __title__ = "the card"
        __fields__ = [
            Field("reader", "full_name", "What is your full name?", label="name"),
            Field("born", "date", "When were you born?", validators=[Range(most="today")]),
            Field("floor", "integer", "Which floor do you live on?", validators=[Range(0, 99)]),
        ]


async def test_a_full_name_is_given_shown_and_corrected_as_one() -> None:
    reply, values = await told(Library, "hello", "Ada")
    assert values["reader"] is None
    assert reply.startswith("That does not look like a first and a last name.")

    reply, values = await told(Library, "my name is Ada van Dyke", "third of May nineteen ninety")
    assert values["reader"] == {"given": "Ada", "family": "van Dyke"}
    assert (values["born"], reply) == ("1990-05-03", "Which floor do you live on?")

    reply, values = await told(Library, "hello", "Ada van Dyke", "change the name to Ida Jansen")
    assert values["reader"] == {"given": "Ida", "family": "Jansen"}
    assert "Ida Jansen" in reply
    assert (await told(Library, "hello", "Ada Dyke", "3 May 1990", "second floor"))[1]["floor"] == 2


class Inn(Journey):
    """Book a room."""

    class Stay(Pathway):
        __title__ = "the stay"
        __fields__ = [
            Field("guests", "integer", "How many people?"),
            Field("day", "date", "Which day?"),
            Field("bags", "integer", "How many bags?"),
            Field("time", "time", "At what time is dinner?"),
            Field("name", "name", "In which name?"),
            Field("email", "email", "Your e-mail?"),
        ]


async def test_values_are_taken_as_people_say_them() -> None:
    guests = ("hello",)
    day = (*guests, "4")
    bags = (*day, "tomorrow")
    time = (*bags, "2")
    name = (*time, "at 7")
    for before, field, said, value in (
        (guests, "guests", "2 adults, 1 child", 3),
        (guests, "guests", "me and my sister", 2),
        (guests, "guests", "just me", 1),
        (guests, "guests", "2 of us and the kids", None),
        (bags, "bags", "none", 0),
        (bags, "bags", "keine", 0),
        (time, "time", "after 6", None),
        (time, "time", "07:00PM", "19:00"),
        (name, "name", "It's true", None),
        (name, "name", "the name's Bond, James Bond", "James Bond"),
        ((*name, "Lee"), "email", "me@x.org or you@x.org", None),
    ):
        assert (await told(Inn, *before, said))[1][field] == value, said
    for said in ("tomorrow week", "friday the 13th", "easter monday", "the day after christmas"):
        assert (await told(Inn, *day, said))[0] == "How many bags?", said
