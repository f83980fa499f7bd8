"""The check as a step of a graph: drawn, without a manager, and in a concierge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    Concierge,
    Guideline,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Pathway,
    Texts,
    Validation,
)
from journeygraph.graphs.compile import build
from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.flow_control.desk import NO_PROMISE, SAFE, VALID, DeskPath, desk, verdict

Talk = Callable[..., Any]
CARD = "4111 1111 1111 1111"


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "not"])
def test_the_check_is_there_where_a_journey_has_one(checked: bool) -> None:
    kind = desk(__validation__=Validation() if checked else None)
    graph = kind.compile(agents={"clerk": lambda given: "Hello."}, model=False)

    drawn = graph.get_graph(xray=True)
    assert ("check_reply" in drawn.nodes) is checked
    assert (
        any(edge.source == "settle" and edge.target == "check_reply" for edge in drawn.edges)
        is checked
    )
    assert ("check_reply" in build(kind.spec, JourneyConfig()).nodes) is checked
    assert "check_reply" not in mermaid(kind.spec)


def test_the_name_of_the_check_is_taken() -> None:
    with pytest.raises(JourneyDefinitionError, match="check_reply"):

        class Checking(Journey):
            class CheckReplyPath(Pathway):
                __agents__ = ["clerk"]


@pytest.mark.parametrize("mode", ["before_send", "after_send"])
async def test_a_compiled_graph_checks_its_replies(mode: str) -> None:
    kind = desk(NO_PROMISE, __validation__=Validation(mode=mode))
    graph = kind.compile(agents={"clerk": lambda given: f"guaranteed {CARD}"}, model=False)

    events = [part async for part in graph.astream({"messages": "Hi"}, stream_mode="custom")]
    values = await graph.ainvoke({"messages": "Hi"})

    expected = SAFE if mode == "before_send" else "guaranteed [card number]"
    assert values["messages"][-1].content == expected
    assert CARD not in str(events)
    assert expected in str(events)


class Billing(Journey):
    """Bills."""

    DeskPath = DeskPath
    __activation__ = [IntentTrigger(patterns=["bill"], use_llm_fallback=False)]
    __guidelines__ = [
        Guideline(id="sums", action="Name no sum.", critical=True, forbids=["refund"]),
        Guideline(id="kind", action="Be kind.", always=True),
    ]
    __validation__ = Validation(mode="after_send", confidence=0.5, pii=["card"])
    __safe_reply__ = "Ask billing."


class Outage(Journey):
    """Outages."""

    class RepairPath(Pathway):
        __agents__ = ["fitter"]

    __activation__ = [IntentTrigger(patterns=["outage"], use_llm_fallback=False)]


class House(Concierge):
    """Anything about the line."""

    __journeys__ = [Billing, Outage]
    __otherwise__ = "ask"
    __guidelines__ = [
        Guideline(id="notice", action="Say it.", critical=True, requires=["as is"]),
    ]
    __validation__ = Validation(pii=["email"])
    __safe_reply__ = "Ask anybody."


async def test_in_a_concierge_a_reply_is_checked_as_its_journey_says(
    talk: Talk, memory_url: str
) -> None:
    replies = iter([f"as is: refund, {CARD}", "as is, rude", "as is: a@example.com"])
    agents = {"clerk": lambda given: next(replies), "fitter": lambda given: ""}
    answers = [{"response": "as is: refund"}, verdict(0.6, "rude"), {"response": "as is."}, VALID]
    with ScriptedModel(*answers, VALID) as model:
        chat = await talk(House, agents, memory_url, options={"model": model})
        assert "Billing" in await chat.says("Hi")
        assert chat.last.metadata["checks"] == []

        assert await chat.says("my bill") == "Ask billing."
        assert await chat.says("go on") == "as is."
        assert await chat.says("go on") == "as is: [e-mail address]"
        checks = await chat.journey.checks()
        assert [check.outcome for check in checks] == ["replaced", "rewritten", "masked"]


async def test_in_a_concierge_the_rules_of_one_journey_are_not_those_of_another(
    talk: Talk, memory_url: str
) -> None:
    replies = iter(["as is: no refund", "nothing to say"])
    agents = {"clerk": lambda given: "", "fitter": lambda given: next(replies)}
    chat = await talk(House, agents, memory_url, options={"model": False})

    assert await chat.says("an outage") == "as is: no refund"
    assert await chat.says("an outage") == "Ask anybody."


async def test_in_a_concierge_the_reception_says_its_texts_as_they_are(
    talk: Talk, memory_url: str
) -> None:
    house = type("After", (House,), {"__validation__": Validation(mode="after_send")})
    agents = {"clerk": lambda given: "", "fitter": lambda given: ""}
    texts = Texts(which="Call +49 30 1234567, or say which:{journeys}")
    chat = await talk(house, agents, memory_url, options={"model": False}, texts=texts)

    events = [event async for event in chat.journey.stream_message("Hello")]
    heard = "".join(event.data["text"] for event in events if event.type == "token")
    assert heard.startswith("Call +49 30 1234567, or say which:")
    assert heard == events[-1].data["response"].message


class Loud(Concierge):
    """Bills are checked, outages are not."""

    __journeys__ = [Billing, Outage]
    __otherwise__ = "ask"


async def test_in_a_concierge_what_is_heard_is_what_is_sent_also_of_a_journey_without_checks(
    talk: Talk, memory_url: str
) -> None:
    agents = {"clerk": lambda given: f"bill {CARD}", "fitter": lambda given: f"line {CARD}"}
    chat = await talk(Loud, agents, memory_url, options={"model": False})

    for message, reply in [("outage", f"line {CARD}"), ("bill", "bill [card number]")]:
        events = [event async for event in chat.journey.stream_message(message)]
        heard = "".join(event.data["text"] for event in events if event.type == "token")
        assert heard == events[-1].data["response"].message == reply
