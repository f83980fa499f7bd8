"""A feature changes the turns that use it, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeygraph import (
    ConditionTrigger,
    Effect,
    Escalation,
    Field,
    Guideline,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, leads_nowhere, leads_to
from tests.support.properties import examples
from tests.support.talk import Talk

FEATURES = ("person", "guideline", "form", "effect", "return", "knowledge")


def phrase(words: str, target: str) -> Transition:
    return Transition(IntentTrigger([words]), to_pathway=target)


@cache
def workshop(features: frozenset[str] = frozenset()) -> type[Journey]:
    """Return a journey that needs none of the features, with those that are asked for."""
    added: dict[str, Any] = {}

    class DeskPath(Pathway):
        """Say what is wrong with the bicycle."""

        __agents__ = ["clerk"]
        __accumulate__ = ["bicycle"]
        __complete_when__ = ("bicycle",)
        __next__ = "repair"

    class RepairPath(Pathway):
        """Agree on a repair."""

        __agents__ = ["mechanic"]
        __accumulate__ = ["agreed"]
        __complete_when__ = ("agreed",)

    class HoursPath(Pathway):
        """Say when the workshop is open."""

        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    class PartsPath(Pathway):
        """Look for a part."""

        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    moves = [
        phrase("opening hours", "hours"),
        phrase("spare part", "parts"),
        phrase("back to the desk", "desk"),
        Transition(
            ConditionTrigger(lambda known: known.get("bicycle") == "stolen"), to_pathway="hours"
        ),
    ]
    if "person" in features:
        added["__escalation__"] = Escalation(keywords=["lawyer"])
    if "guideline" in features:
        rule = Guideline(
            id="bell", condition="it is about a bell", action="ring", keywords=["glockenspiel"]
        )
        added["__guidelines__"] = [rule]
    if "form" in features:

        class InsurancePath(Pathway):
            """Insure the bicycle."""

            __fields__ = [Field("value", "number", ask="What is it worth?"), Field("owner", "name")]

        added["InsurancePath"] = InsurancePath
        moves.append(phrase("insure my bicycle", "insurance"))
    if "effect" in features:

        class SalePath(Pathway):
            """Sell the bicycle."""

            __agents__ = ["clerk"]
            __effects__ = [Effect("sell")]

        added["SalePath"] = SalePath
        moves.append(phrase("sell my bicycle", "sale"))
    if "return" in features:

        class TourPath(Pathway):
            """Show the workshop."""

            __agents__ = ["clerk"]
            __return_behavior__ = ReturnToPrevious(policy="ask")

        added["TourPath"] = TourPath
        moves.append(phrase("show me around", "tour"))
    if "knowledge" in features:

        class HistoryPath(Pathway):
            """Tell about the workshop."""

            __agents__ = ["clerk"]
            __knowledge__ = staticmethod(lambda question: [question])

        added["HistoryPath"] = HistoryPath
        moves.append(phrase("tell me its history", "history"))
    added |= {"DeskPath": DeskPath, "RepairPath": RepairPath, "HoursPath": HoursPath}
    added |= {"PartsPath": PartsPath, "__transitions__": moves, "__entry_pathway__": "desk"}
    added |= {"__doc__": "Repair bicycles.", "__module__": __name__}
    return type("Workshop", (Journey,), added)


async def clerk(inputs: dict[str, Any]) -> dict[str, Any]:
    message = inputs["message"]
    given = {"bicycle": message.split()[-1]} if message.startswith("my bicycle is") else {}
    return {"response": f"The clerk heard: {message}", **given}


async def mechanic(inputs: dict[str, Any]) -> dict[str, Any]:
    given = {"agreed": True} if inputs["message"] == "do it" else {}
    return {"response": "The mechanic nods.", **given}


def sell() -> str:
    """Sell the bicycle."""
    return "sold"


AGENTS = {"clerk": clerk, "mechanic": mechanic}
MESSAGES = (
    "hello",
    "my bicycle is red",
    "my bicycle is stolen",
    "opening hours?",
    "do you have a spare part",
    "opening hours and a spare part please",
    "what are your opening hours? and I want to go back to the desk",
    "back to the desk",
    "cancel",
    "stop that",
    "never mind",
    "wait a moment",
    "can you repeat that?",
    "what do you mean?",
    "yes",
    "no",
    "the second one",
    "42",
    "asdkfjh",
    "what's the weather like?",
    "skip",
    "actually, make it blue",
    "do it",
)
LONG = [MESSAGES[n] for n in (0, 10, 1, 8, 3, 12, 11, 5, 14, 15, 7, 16, 4, 13, 2, 9, 6, 19, 22, 20)]


def options(features: Iterable[str]) -> dict[str, Any]:
    return {"tools": {"sell": sell}} if "effect" in features else {}


def seen(talk: Talk) -> list[Any]:
    """Return all that a user and a program see of the turns, without the version."""
    own = {"session_id", "journey_version", "definition_version", "usage", "versions", "at"}
    return [
        (
            reply.message,
            reply.pathway_id,
            dict(reply.accumulated_context),
            {name: value for name, value in reply.metadata.items() if name not in own},
        )
        for reply in talk.replies
    ]


async def rows(talk: Talk) -> list[Any]:
    audit = await talk.journey.audit()
    return [
        (row.turn, row.kind, row.from_pathway, row.to_pathway, row.trigger, row.reason)
        for row in audit
        if row.kind != "version_changed"
    ]


async def held(features: Sequence[str], url: str, messages: Sequence[str], **more: Any) -> Any:
    talk = await Talk.begin(
        workshop(frozenset(features)), AGENTS, url, options={**options(features), **more}
    )
    for message in messages:
        await talk.says(message)
    result = seen(talk), await rows(talk)
    await talk.journey.close()
    return result


@pytest.mark.parametrize("features", [*([one] for one in FEATURES), FEATURES], ids="+".join)
async def test_a_feature_that_is_not_used_changes_no_turn(features, memory_url):
    plain = await held([], f"{memory_url}-plain", LONG)

    assert await held(features, memory_url, LONG) == plain


@pytest.mark.parametrize("features", [*([one] for one in FEATURES), FEATURES], ids="+".join)
async def test_nor_where_a_model_understands(features, memory_url):
    messages = ["I would like to know something", "when do you close?", "cancel that", "42"]

    def model() -> ScriptedModel:
        return ScriptedModel(leads_nowhere, leads_to("hours"), leads_nowhere, leads_nowhere)

    plain = await held([], f"{memory_url}-plain", messages, model=model())

    assert await held(features, memory_url, messages, model=model()) == plain


@settings(max_examples=examples(8), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(MESSAGES), st.sets(st.sampled_from(FEATURES))), max_size=12)
)
async def test_features_come_and_go_while_a_session_goes_on(steps):
    """Each turn may run another version of the journey; the session never notices."""
    url = f"memory://{uuid4()}"
    plain = await Talk.begin(workshop(), AGENTS, url, session_id="plain")
    other = await Talk.begin(workshop(), AGENTS, url, session_id="other")
    try:
        for message, features in steps:
            await plain.says(message)
            await other.journey.close()
            kind = workshop(frozenset(features))
            config = JourneyConfig(persistence=url)
            other.journey = await kind.restore("other", config, agents=AGENTS, **options(features))
            await other.says(message)
            assert seen(other) == seen(plain)
        assert await rows(other) == await rows(plain)
    finally:
        for talk in (plain, other):
            await talk.journey.delete()
            await talk.journey.close()
