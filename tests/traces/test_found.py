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


async def test_several_changes_in_one_message_are_asked_back_one_by_one() -> None:
    said = "sorry, the age is 30 and the start is 4 March 2031"
    reply, values = await told(Gym, *JOINED, said)
    assert (values["age"], reply) == (27, "Shall I change the age to 30?")
    _, values = await told(Gym, *JOINED, said, "yes", "yes")
    assert (values["age"], values["start"]) == (30, "2031-03-04")


async def test_an_answer_is_said_back_beside_a_change_that_is_asked_back() -> None:
    reply, values = await told(Gym, *JOINED, "my email is a@b.com and the age is 28")
    assert (values["email"], values["age"]) == ("a@b.com", 27)
    assert reply == "For the email I have noted: a@b.com.\n\nShall I change the age to 28?"


async def test_what_was_meant_instead_is_no_refusal_to_go_back() -> None:
    reply, values = await told(
        Gym, *JOINED[:2], "what are your opening hours?", "north", "no, I meant south"
    )
    assert (values["branch"], values["plan"]) == ("south", "premium")
    assert reply == "All right, I have changed the branch to south.\n\nWhat is your name?"


async def test_the_kind_is_heard_where_the_sentence_is_about_it() -> None:
    _, values = await told(Vet, "hello", "my kitten is coughing")
    assert values["animal"] == "cat"


async def test_a_mere_date_is_no_address() -> None:
    reply, values = await told(Vet, "dog", "5 December 2030")
    assert (values["home"], values["day"]) == (None, "2030-12-05")
    assert reply.startswith("For the day I have noted")
    assert reply.endswith("Where do you live?")


VISITED = ("dog", "12 Oak Street, Leeds", "5 December 2030", "yes", "3 March 2031 at 10:00")


async def test_a_field_is_pointed_at_where_it_was_asked_what_is_wrong() -> None:
    reply, values = await told(Vet, *VISITED, "Bo Hill", "no", "the visitor")
    assert reply.endswith("Who comes?")
    assert values["note"] is None


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


async def test_a_bare_no_is_no_value(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Seats("seats", config, model=False) as journey:
        await journey.start()
        for words in ("hello", "no", "yes", "3 March 2031", "no, thanks"):
            last = await journey.process_message(words)
        evening = [item.validation_status for item in await journey.attempts("evening")]
        wish = [item.validation_status for item in await journey.attempts("wish")]

    assert evening == ["invalid", "invalid", "valid"]
    assert wish == ["cleared"]
    assert "wish" not in last.accumulated_context
    assert last.is_journey_complete


async def test_a_number_beside_the_name_of_its_field_is_what_it_shall_be(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Ferry("ferry", config, model=False) as journey:
        await journey.start()
        for words in ("Dover", "2", "make it 3 cars, please"):
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

    reply, values = await told(Library, "my name is Ada van Dyke", "3 May 1990")
    assert values["reader"] == {"given": "Ada", "family": "van Dyke"}
    assert (values["born"], reply) == ("1990-05-03", "Which floor do you live on?")

    reply, values = await told(Library, "hello", "Ada van Dyke", "change the name to Ida Jansen")
    assert values["reader"] == {"given": "Ida", "family": "Jansen"}
    assert "Ida Jansen" in reply


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


async def test_what_is_no_single_value_is_asked_again() -> None:
    guests = ("hello",)
    bags = (*guests, "4", "tomorrow")
    time = (*bags, "2")
    name = (*time, "at 7")
    for before, field, said, value in (
        (guests, "guests", "2 adults, 1 child", None),
        (guests, "guests", "me and my sister", None),
        (guests, "guests", "2 of us and the kids", None),
        (bags, "bags", "none", 0),
        (time, "time", "after 6", None),
        (time, "time", "07:00PM", "19:00"),
        (name, "name", "It's true", None),
        ((*name, "Lee"), "email", "me@x.org or you@x.org", None),
    ):
        assert (await told(Inn, *before, said))[1][field] == value, said
