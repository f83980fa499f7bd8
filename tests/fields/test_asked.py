"""The open question for clients: its field, its options, and the message that chooses each."""

from __future__ import annotations

import re
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Effect,
    Field,
    Form,
    IntentTrigger,
    Journey,
    Locale,
    Pathway,
    Range,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, says
from journeygraph.server.discover.journeys import Served
from tests.support import api as helpers
from tests.support.talk import Talk

serve = helpers.serve

SEATS = ["no preference", "window", "window, quiet", "5", "cancel", "Is it loud?", "the first"]


class Bistro(Journey):
    """Book a table in a bistro."""

    class TablePath(Pathway):
        """Book a table."""

        __title__ = "the table"
        __fields__ = Form(
            [
                Field("seat", "enum", "Which seat?", choices=SEATS, label="your seat"),
                Field("terrace", "boolean", "On the terrace?"),
                Field("people", "integer", "How many?", validators=[Range(1, 8)], confirm=True),
                Field("pin", "integer", "Which PIN?", sensitive=True),
            ],
            confirm_corrections=True,
        )
        __effects__ = [Effect("reserve", {"people": "people"}, done="It is kept.")]

    class TaxiPath(Pathway):
        """Call a taxi."""

        __title__ = "cancel"
        __fields__ = [Field("street", "text", "Which street?")]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class ParkingPath(Pathway):
        """Reserve a space for a car."""

        __title__ = "a space for the car"
        __fields__ = [Field("plate", "text", "Which plate?")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    __transitions__ = [
        Transition(IntentTrigger(patterns=["car", "taxi"], description="b"), to_pathway="taxi"),
        Transition(IntentTrigger(patterns=["car"], description="parking"), to_pathway="parking"),
        Transition(IntentTrigger(patterns=["yes", "window"], description="a"), to_pathway="taxi"),
    ]


def reserve(people: int) -> str:
    """Reserve a table."""
    return "B-1"


async def bistro(url: str, **more: Any) -> Talk:
    return await Talk.begin(Bistro, {}, url, options={"tools": {"reserve": reserve}, **more})


def asked(talk: Talk) -> dict[str, Any]:
    shown: dict[str, Any] = talk.last.metadata["asked"]
    return shown


def payloads(talk: Talk) -> list[str]:
    return [option["payload"] for option in asked(talk)["options"]]


@pytest.mark.parametrize("place", range(len(SEATS)))
async def test_each_option_of_an_enum_is_chosen_by_its_payload(memory_url: str, place: int) -> None:
    model = ScriptedModel(understanding=[says()])
    talk = await bistro(memory_url, model=model)
    await talk.says("hello")
    assert asked(talk) == {
        "field": "seat",
        "kind": "enum",
        "label": "your seat",
        "options": [{"label": seat, "payload": seat} for seat in SEATS],
        "hint": ", ".join(SEATS),
    }
    await talk.says(payloads(talk)[place])
    assert talk.context["seat"] == SEATS[place]
    assert talk.last.pathway_id == "table"
    assert len(model.calls) == 1


@pytest.mark.parametrize("language", ["en", "de", "es"])
@pytest.mark.parametrize("place", [0, 1])
async def test_a_boolean_is_answered_by_a_payload_in_each_language(
    memory_url: str, language: str, place: int
) -> None:
    talk = await Talk.begin(
        Bistro,
        {},
        memory_url,
        locale=Locale(language=language),
        options={"tools": {"reserve": reserve}},
    )
    await talk.says("hello")
    await talk.says("5")
    assert asked(talk)["kind"] == "boolean"
    assert (
        payloads(talk) == {"en": ["yes", "no"], "de": ["ja", "nein"], "es": ["sí", "no"]}[language]
    )
    await talk.says(payloads(talk)[place])
    assert talk.context["terrace"] is (place == 0)
    assert asked(talk)["field"] == "people"
    assert asked(talk)["options"] == []
    assert asked(talk)["hint"]


async def test_the_summary_the_correction_and_the_end(memory_url: str) -> None:
    talk = await bistro(memory_url)
    for said in ("hello", "window", "no", "4"):
        await talk.says(said)
    assert asked(talk)["field"] == "pin"
    await talk.says("4711")
    assert asked(talk) == {
        "field": None,
        "kind": "summary",
        "label": "the table",
        "options": [{"label": "yes", "payload": "yes"}, {"label": "no", "payload": "no"}],
        "hint": "",
    }
    await talk.says("no")
    assert asked(talk)["kind"] == "wrong"
    assert "number" not in str(asked(talk))
    assert [option["label"] for option in asked(talk)["options"]] == [
        "your seat", "terrace", "people", "pin",
    ]  # fmt: skip
    await talk.says("pin")
    assert (asked(talk)["field"], asked(talk)["kind"]) == ("pin", "integer")
    await talk.says("4712")
    await talk.says("six people instead of four")
    assert (asked(talk)["field"], asked(talk)["kind"]) == ("people", "correction")
    await talk.says(payloads(talk)[1])
    assert talk.context["people"] == 4
    assert asked(talk)["kind"] == "summary"
    await talk.says(payloads(talk)[0])
    assert talk.last.message.startswith("It is kept.")
    assert asked(talk) is None
    seen = [reply.metadata["asked"] for reply in talk.replies]
    assert not re.search("471[12]", str(seen))


async def test_what_is_ambiguous_is_chosen_by_a_payload_that_would_mean_something_else(
    memory_url: str,
) -> None:
    talk = await bistro(memory_url)
    await talk.says("hello")
    await talk.says("the car")
    assert asked(talk)["kind"] == "clarify"
    assert payloads(talk) == ["cancel", "a space for the car"]
    await talk.says("cancel")
    assert talk.last.pathway_id == "taxi"
    await talk.says("Elm Street")
    assert (asked(talk)["kind"], asked(talk)["label"]) == ("return", "the table")
    await talk.says("yes")
    assert asked(talk)["field"] == "seat"


class Twins(Journey):
    """Two things of one name."""

    class HomePath(Pathway):
        __fields__ = [Field("count", "integer", "How many?")]

    class OnePath(Pathway):
        __title__ = "A card"
        __fields__ = [Field("one", "integer", "The first?")]

    class OtherPath(Pathway):
        __title__ = "a card"
        __fields__ = [Field("other", "integer", "The other?")]

    __transitions__ = [
        Transition(IntentTrigger(patterns=["card"]), to_pathway="one"),
        Transition(IntentTrigger(patterns=["card"], description="x"), to_pathway="other"),
    ]


@pytest.mark.parametrize(("place", "pathway"), [(0, "one"), (1, "other")])
async def test_options_of_one_name_have_payloads_of_their_own(
    memory_url: str, place: int, pathway: str
) -> None:
    talk = await Talk.begin(Twins, {}, memory_url)
    await talk.says("hello")
    await talk.says("card")
    assert payloads(talk) == ["1. A card", "2. a card"]
    await talk.says(payloads(talk)[place].upper())
    assert talk.last.pathway_id == pathway


class Errands(Journey):
    """Three things to do."""

    class FirstPath(Pathway):
        __title__ = "the first thing"
        __fields__ = [Field("one", "integer", "One?")]

    class SecondPath(Pathway):
        __title__ = "the second thing"
        __fields__ = [Field("two", "integer", "Two?")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    class ThirdPath(Pathway):
        __title__ = "the third thing"
        __fields__ = [Field("three", "integer", "Three?")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    __transitions__ = [
        Transition(IntentTrigger(patterns=["second"]), to_pathway="second"),
        Transition(IntentTrigger(patterns=["third"]), to_pathway="third"),
    ]


@pytest.mark.parametrize(("place", "field"), [(0, "two"), (1, "one")])
async def test_one_of_the_paused_tasks_is_chosen_by_its_payload(
    memory_url: str, place: int, field: str
) -> None:
    talk = await Talk.begin(Errands, {}, memory_url)
    for said in ("hello", "second", "third", "3"):
        await talk.says(said)
    assert asked(talk)["kind"] == "paused"
    assert payloads(talk) == ["the second thing", "the first thing"]
    await talk.says(payloads(talk)[place])
    assert asked(talk)["field"] == field


class Agents(Journey):
    """Only agents."""

    class HomePath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


async def test_nothing_is_asked_where_agents_speak(memory_url: str) -> None:
    talk = await Talk.begin(Agents, {"clerk": lambda _: "What is it?"}, memory_url)
    await talk.says("hello")
    assert talk.last.metadata["asked"] is None


async def test_a_message_that_changes_nothing_still_says_what_is_asked(memory_url: str) -> None:
    talk = await bistro(memory_url)
    await talk.says("hello")
    await talk.says("")
    assert asked(talk)["field"] == "seat"


async def test_over_http_the_answer_and_the_stream_have_it_and_the_schema_describes_it(
    serve: Any,
) -> None:
    api = await serve(Served(Bistro, {}, {"reserve": reserve}))
    session = await api.begin("bistro")
    plain = await api.says(session, "hello")
    assert plain["metadata"]["asked"]["field"] == "seat"
    kind, done = (await api.hears(session, "window"))[-1]
    assert kind == "done"
    assert done["metadata"]["asked"]["options"] == [
        {"label": "yes", "payload": "yes"},
        {"label": "no", "payload": "no"},
    ]
    schemas = (await api.client.get("/openapi.json")).json()["components"]["schemas"]
    assert set(schemas["AskedNow"]["properties"]) == {"field", "kind", "label", "options", "hint"}
    assert set(schemas["AskedOption"]["properties"]) == {"label", "payload"}
