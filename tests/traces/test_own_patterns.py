"""A journey may answer a repair by a pathway of its own; the question is asked again behind it."""

from __future__ import annotations

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


class Ferry(Journey):
    """Book a place on the ferry."""

    __patterns__ = {
        "continue": "onward",
        "invalid": "sorry",
        "off_topic": "smalltalk",
        "cancel": "farewell",
    }

    class BookingPath(Pathway):
        """Book a place."""

        __title__ = "the booking"
        __fields__ = [
            Field("seats", "integer", "How many seats?", validators=[Range(1, 9)]),
            Field("day", "date", "Which day?"),
        ]

    class WeatherPath(Pathway):
        """How the sea is."""

        __agents__ = ["skipper"]
        __return_behavior__ = ReturnToPrevious()

    class OnwardPath(Pathway):
        """Go back to the booking."""

        __agents__ = ["helm"]

    class SorryPath(Pathway):
        """What cannot be taken."""

        __agents__ = ["mate"]

    class SmalltalkPath(Pathway):
        """Whatever else is said."""

        __agents__ = ["parrot"]

    class FarewellPath(Pathway):
        """The booking is given up."""

        __agents__ = ["bell"]

    __transitions__ = [Transition(IntentTrigger(patterns=["weather"]), to_pathway="weather")]


CREW = {
    "skipper": lambda _: "The sea is calm.",
    "helm": lambda _: "Back on course.",
    "mate": lambda _: "No room for that.",
    "parrot": lambda _: "Polly says hello.",
    "bell": lambda _: "Ding, cancelled.",
}


async def test_pathways_answer_in_place_of_texts(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Ferry("ferry", config, agents=CREW, model=False) as journey:
        await journey.start()
        said = [
            (await journey.process_message(words)).message
            for words in ("hello", "12", "my dog swims well, you know", "4", "how is the weather?")
        ]
        away = await journey.get_session_state()
        done = [(await journey.process_message(words)).message for words in ("cancel", "cancel")]

    assert said == [
        "How many seats?",
        "No room for that.\n\nHow many seats?",
        "Polly says hello.\n\nWhat I need is the seats: 1 to 9, for example 4.",
        "Which day?",
        "The sea is calm.\n\nBack on course.\n\nWhich day?",
    ]
    assert away is not None
    assert (away.current_pathway_id, away.pathway_stack) == ("weather", ["booking"])
    assert all("Ding, cancelled." in reply for reply in done)
