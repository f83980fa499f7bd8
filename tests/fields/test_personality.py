"""Style of an assistant: its greeting, and the instructions on style for its models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Concierge,
    ConfigurationError,
    Field,
    InputField,
    IntentTrigger,
    Journey,
    Locale,
    OutputField,
    Pathway,
    Personality,
    Range,
    Signature,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, leads_nowhere
from journeygraph.server.access.callers import ANYONE
from journeygraph.server.mcp.offers import JourneyOffer
from tests.support import api, command
from tests.support.api import one
from tests.support.command import run

GREETING = "Moin! Ich bin Ada. {name}, was darf es sein?"
serve = api.serve
folder = command.folder
ADA = Personality(
    name="Ada",
    tone="warm and brief",
    formality="casual",
    emojis=True,
    greeting=GREETING,
)


class Order(Signature):
    """Take an order."""

    wish: str = InputField(description="What they want")
    response: str = OutputField(description="What to say")


class Bakery(Journey):
    """Sell bread."""

    __personality__ = ADA
    __locale__ = Locale(language="de")

    class OrderPath(Pathway):
        __signature__ = Order
        __complete_when__ = NEVER


class Broken(Bakery):
    __degrade__ = "freeform"

    class OrderPath(Pathway):
        __agents__ = ["baker"]
        __complete_when__ = NEVER


class Hours(Journey):
    """Say when we are open."""

    __activation__ = [IntentTrigger(["open"], "asks when we are open")]
    __personality__ = Personality(formality="formal")

    class SayPath(Pathway):
        __signature__ = Order


class House(Concierge):
    """Show people around."""

    __journeys__ = [Hours]
    __otherwise__ = "freeform"
    __personality__ = ADA
    __locale__ = Locale(language="de")


def _is_ada(system: str) -> None:
    assert "Your name is Ada." in system
    assert "Your tone: warm and brief." in system
    assert "Be casual" in system
    assert "emoji where it fits" in system
    assert "Your language is German" in system
    assert 'say "du"' in system


def _baker(request: Any) -> str:
    raise OSError("the oven is cold")


async def test_a_model_agent_is_told_how_to_speak(
    talk: Callable[..., Any], memory_url: str
) -> None:
    with ScriptedModel({"response": "Klar! 🥐"}) as model:
        chat = await talk(Bakery, {}, memory_url, options={"model": model})
        assert await chat.says("Ein Croissant") == "Klar! 🥐"
        _is_ada(model.calls[0].messages[0]["content"])
        assert model.calls[0].messages[1] == {"role": "assistant", "content": GREETING}


async def test_who_declares_no_personality_tells_models_nothing_of_it(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Plain(Journey):
        OrderPath = Bakery.OrderPath

    with ScriptedModel({"response": "Yes."}) as model:
        await (await talk(Plain, {}, memory_url, options={"model": model})).says("Bread")
        assert "How you speak" not in model.calls[0].text


async def test_a_free_answer_in_place_of_a_journey_that_failed_has_its_manner(
    talk: Callable[..., Any], memory_url: str
) -> None:
    with ScriptedModel({"response": "Moment!"}) as model:
        chat = await talk(Broken, {"baker": _baker}, memory_url, options={"model": model})
        assert await chat.says("Brot") == "Moment!"
        _is_ada(model.calls[0].messages[0]["content"])


async def test_a_reception_and_the_journeys_behind_it_speak_each_in_their_manner(
    talk: Callable[..., Any], memory_url: str
) -> None:
    told: list[Any] = [leads_nowhere, {"response": "Hallo!"}, {"response": "We are open."}]
    with ScriptedModel(*told) as model:
        chat = await talk(House, {}, memory_url, options={"model": model})
        assert chat.greeting == GREETING
        assert await chat.says("Wer bist du?") == "Hallo!"
        _is_ada(model.calls[1].messages[0]["content"])
        assert await chat.says("When are you open?") == "We are open."
        formal = model.calls[2].messages[0]["content"]
        assert "Be formal" in formal
        assert "Ada" not in formal


async def test_a_greeting_is_said_at_start_word_by_word_and_is_part_of_the_talk(
    talk: Callable[..., Any], memory_url: str
) -> None:
    chat = await talk(Broken, {"baker": lambda request: "Gern."}, memory_url)
    assert chat.greeting == GREETING  # as it is written: nothing is filled in
    (first,) = await chat.journey.transcript()
    assert (first.role, first.content, first.turn) == ("assistant", GREETING, 0)
    assert await chat.says("Brot") == "Gern."
    session = (await chat.restored()).journey
    again = await session.get_session_state()
    assert again.greeting == GREETING
    assert [m["content"] for m in again.conversation_history] == [GREETING, "Brot", "Gern."]
    assert (await session.rollback(0)).greeting == GREETING


async def test_without_a_greeting_nothing_is_said_first(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Silent(Broken):
        __personality__ = Personality(name="Ada")

    chat = await talk(Silent, {"baker": _baker}, memory_url)
    assert chat.greeting == ""
    assert await chat.journey.transcript() == []
    assert (await chat.journey.get_session_state()).conversation_history == []


async def test_a_greeting_goes_out_over_http(serve: Callable[..., Any]) -> None:
    api = await serve(one(Broken, baker=lambda request: "Gern."), one(Hours), model=False)
    begun = await api.client.post("/v1/sessions", json={"journey_id": "broken", "session_id": "s"})
    assert begun.json()["greeting"] == GREETING
    history = await api.client.get("/v1/sessions/s/history")
    assert [(e["role"], e["content"]) for e in history.json()["entries"]] == [
        ("assistant", GREETING)
    ]
    reply = await api.says("/v1/sessions/s", "Brot")
    assert reply["message"] == "Gern."
    assert (await api.client.get("/v1/sessions/s")).json()["greeting"] == GREETING


def test_a_personality_that_cannot_be_is_refused_by_name() -> None:
    for wrong, said in (
        ({"formality": "formel"}, "Did you mean 'formal'"),
        ({"emojis": "yes"}, "emojis is 'yes'; it must be True or False"),
        ({"greeting": None}, "greeting is None"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            Personality(**wrong)


async def test_who_talks_through_mcp_hears_the_greeting_with_the_first_answer() -> None:
    app_state = api.wired(one(Broken, baker=lambda request: "Gern."))
    offer = JourneyOffer("broken", app_state)
    async with app_state.opened():
        for said, heard in (("Brot", f"{GREETING}\n\nGern."), ("Danke", "Gern.")):
            answered = await offer.begin({"message": said, "session_id": "m-1"}, None, ANYONE)
            assert answered.structured["message"] == heard


GREETER = '''
from journeygraph import Journey, Pathway, Personality


class Greeter(Journey):
    """Say hello."""

    __personality__ = Personality(greeting="Hi, I am Ada.")

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


AGENTS = {"clerk": lambda request: "Fine."}
DEMO_MESSAGES = ["How are you?"]
'''


@pytest.mark.usefixtures("folder")
def test_chat_and_demo_begin_with_the_greeting(tmp_path: Path) -> None:
    Path("greeter.py").write_text(GREETER)
    words = ("chat", "greeter:Greeter", "--store", "sqlite:///g.db", "-s", "one")
    talk = run(*words[:4], typed="How are you?\n/history\n").stdout
    assert talk.index("Hi, I am Ada.") < talk.index("How are you?") < talk.index("Fine.")
    assert "starts in talk" in talk
    assert "Hi, I am Ada." in run(*words, typed="").stdout
    assert "Hi, I am Ada." not in run(*words, typed="").stdout  # it goes on
    demo = run("demo", "greeter:Greeter", "--fast").stdout
    assert demo.index("Hi, I am Ada.") < demo.index("How are you?")


class Table(Journey):
    """Book a table."""

    __personality__ = Personality(greeting="Good day!")

    class BookPath(Pathway):
        __fields__ = [
            Field("guests", "integer", "For how many?", validators=[Range(1, 20)]),
            Field("garden", "boolean", "Outside?", when=lambda known: known["guests"] > 4),
            Field("guest", "name", "In which name?"),
        ]


async def test_the_first_question_follows_the_greeting_and_can_be_answered_at_once(
    talk: Callable[..., Any], memory_url: str
) -> None:
    chat = await talk(Table, {}, memory_url)
    assert chat.greeting == "Good day!\n\nFor how many?"
    await chat.restored()
    assert await chat.says("4") == "In which name?"
    for number, (known, greeting, reply) in enumerate(
        (
            ({"guests": 2}, "Good day!\n\nIn which name?", "Thank you, that is all I need."),
            ({"guests": 6}, "Good day!", "Outside?"),  # only the first turn makes sure of the six
            ({"guests": 2, "guest": "Lee"}, "Good day!", "Thank you, that is all I need."),
        )
    ):
        chat = await talk(Table, {}, memory_url, session_id=f"k-{number}", context=known)
        assert (chat.greeting, await chat.says("Kim")) == (greeting, reply)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Hello", ""),
        ("Hi there!", ""),
        ("my aunt has her birthday", ""),
        ("I need a table please", "Gladly.\n\n"),
        ("could I get a table?", "Gladly.\n\n"),
        ("is there a car park?", "I cannot answer that here.\n\n"),
        ("please cancel my table", "I did not understand that.\n\n"),
        ("I don't want the table by the door any more", "I did not understand that.\n\n"),
    ],
)
async def test_a_first_message_is_welcomed_or_answered_as_it_opens_the_conversation(
    talk: Callable[..., Any], memory_url: str, message: str, answer: str
) -> None:
    chat = await talk(Table, {}, memory_url)
    assert await chat.says(message) == f"{answer}For how many?"
    assert (await chat.journey.attempts("guests")) == []
    assert await chat.says("my cat is 12, ha") != "For how many?"  # that is no beginning any more


async def test_a_greeting_is_no_answer_to_the_question_behind_it(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Wish(Journey):
        __personality__ = Personality(greeting="Good day!")

        class WishPath(Pathway):
            __fields__ = [
                Field("wish", "text", "What do you wish?", verbatim=True),
                Field("n", "integer", "N?"),
            ]

    chat = await talk(Wish, {}, memory_url)
    assert await chat.says("Hello!") == "What do you wish?"
    assert await chat.says("A pony.") == "N?"
