"""Events from outside: turns without a message, which change the context and may move a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    ConditionTrigger,
    ConfigurationError,
    ContextMergeError,
    ContextSizeExceededError,
    Escalation,
    EventTrigger,
    Field,
    IntentTrigger,
    InvalidMessageError,
    Journey,
    JourneyDefinitionError,
    Pathway,
    PathwayExecutionError,
    ReturnToPrevious,
    Transition,
    WaitingError,
    load_journey,
)
from journeygraph.journeys.files.loading import read_journey_text
from journeygraph.nodes.llm.scripted import ScriptedModel

Talk = Callable[..., Any]


class Parcel(Journey):
    __entry_pathway__ = "address"
    __escalation__ = Escalation(keywords=("lawyer",))

    class Address(Pathway):
        __fields__ = [Field("street", ask="Which street?"), Field("floor", type="integer")]
        __next__ = "wait"

    class Wait(Pathway):
        __agents__ = ["waiter"]
        __complete_when__ = ("shipped",)

    class Paid(Pathway):
        __agents__ = ["cashier"]
        __next__ = "wait"

    class Delay(Pathway):
        __agents__ = ["speaker"]
        __return_behavior__ = ReturnToPrevious()

    class Ask(Pathway):
        __agents__ = ["asker"]

    __transitions__ = [
        Transition(EventTrigger("payment_received"), "wait", "paid"),
        Transition(EventTrigger("delayed"), to_pathway="delay"),
        Transition(ConditionTrigger(lambda context: context.get("lost")), to_pathway="delay"),
        Transition(IntentTrigger(["a question"]), to_pathway="ask"),
    ]


AGENTS: dict[str, Any] = {
    "waiter": lambda ask: f"Still waiting; you said {ask['message']!r}.",
    "cashier": lambda ask: f"Thank you for {ask['context']['amount'] * 1} euros.",
    "speaker": lambda ask: "It comes later.",
    "asker": lambda ask: f"Noted: {interrupt('What is it?')}.",
}


async def waiting(talk: Talk, store_url: str, **options: Any) -> Any:
    """Return a conversation whose session stands in `wait`."""
    call = await talk(Parcel, AGENTS, store_url, **options)
    for said in ("hello", "Elm Road", "2"):
        await call.journey.process_message(said)
    assert (await call.journey.manager.restore()).current_pathway_id == "wait"
    return call.journey


async def test_an_event_brings_its_data_and_moves_the_session(talk: Talk, store_url: str) -> None:
    journey = await waiting(talk, store_url)

    response = await journey.process_event("payment_received", {"amount": 40})

    assert response.message == "Thank you for 40 euros."
    assert (response.pathway_changed, response.transition_to) == (True, "paid")
    assert response.metadata["transition_intent"] == "event 'payment_received'"
    assert response.metadata["tier"] == "event"
    assert response.accumulated_context["amount"] == 40
    version = (await journey.versions())[-1]
    assert (version.kind, version.message, version.reply) == ("event", None, response.message)
    (event,) = [one for one in await journey.audit() if one.kind == "event"]
    assert (event.trigger, event.reason) == ("payment_received", "it set: amount")
    assert [one.role for one in await journey.transcript()][-2:] == ["assistant", "assistant"]


async def test_an_event_without_a_transition_changes_the_context_alone(
    talk: Talk, memory_url: str
) -> None:
    journey = await waiting(talk, memory_url)
    before = await journey.manager.restore()

    response = await journey.process_event("weighed", {"grams": 250, "street": None})

    after = await journey.manager.restore()
    assert (response.message, response.metadata["ran"]) == ("", [])
    assert response.accumulated_context == {"floor": 2, "grams": 250}
    assert after.current_pathway_id == before.current_pathway_id
    assert after.conversation_history == before.conversation_history
    assert after.version == before.version + 1


async def test_a_condition_that_an_event_makes_true_fires_once_until_it_was_false(
    talk: Talk, memory_url: str
) -> None:
    journey = await waiting(talk, memory_url)

    fired = [
        (await journey.process_event("tracked", {"lost": lost})).transition_to
        for lost in (True, True, False, True)
    ]

    assert fired == ["delay", None, None, "delay"]


async def test_a_detour_of_an_event_returns_to_the_open_question(
    talk: Talk, memory_url: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    await call.journey.process_message("hello")
    await call.journey.process_message("Elm Road")

    delayed = await call.journey.process_event("delayed")
    assert delayed.message.split("\n\n") == [
        "It comes later.",
        "Back to address.",
        "What is the floor?",
    ]
    response = await call.journey.process_message("2")

    assert response.accumulated_context["floor"] == 2
    assert response.pathway_id == "wait"


async def test_a_value_of_a_field_is_checked_and_not_asked_for(talk: Talk, memory_url: str) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    await call.journey.process_event("found", {"street": "Elm Road", "floor": "cellar"})

    response = await call.journey.process_message("hello")

    form = await call.journey.fields()
    assert form.fields["street"].value == "Elm Road"
    assert form.fields["street"].attempts[-1].source == "tool"
    assert form.fields["floor"].attempts[-1].validation_status == "invalid"
    assert response.metadata["asked"]["field"] == "floor"


async def test_an_event_that_is_sent_again_is_taken_once(talk: Talk, store_url: str) -> None:
    journey = await waiting(talk, store_url)

    first = await journey.process_event("payment_received", {"amount": 1}, idempotency_key="p-1")
    again = await journey.process_event("payment_received", {"amount": 1}, idempotency_key="p-1")

    assert (first.replayed, again.replayed) == (False, True)
    assert again.message == first.message
    assert again.metadata["version"] == first.metadata["version"]


@pytest.mark.parametrize("config", [{}, {"error_recovery": "fail_fast"}])
async def test_an_event_whose_pathway_fails_is_not_taken(
    talk: Talk, memory_url: str, config: dict[str, Any]
) -> None:
    journey = await waiting(talk, memory_url, **config)
    before = await journey.manager.restore()

    with pytest.raises(PathwayExecutionError, match="cashier"):
        await journey.process_event("payment_received", {"amount": None, "other": 1})

    after = await journey.manager.restore()
    assert after.version == before.version
    assert "other" not in after.accumulated_context
    assert (await journey.process_event("payment_received", {"amount": 3})).message


async def test_a_person_has_the_conversation_and_the_assistant_stays_silent(
    talk: Talk, memory_url: str
) -> None:
    journey = await waiting(talk, memory_url)
    await journey.process_message("lawyer")

    response = await journey.process_event("payment_received", {"amount": 40})

    assert (response.message, response.transition_to) == ("", None)
    assert response.metadata["flags"] == ["with_person"]
    assert response.accumulated_context["amount"] == 40
    released = await journey.release("Ada")
    assert released.current_pathway_id == "wait"


async def test_an_event_does_not_answer_an_agent_that_waits(talk: Talk, memory_url: str) -> None:
    journey = await waiting(talk, memory_url)
    await journey.process_message("a question")

    with pytest.raises(WaitingError, match=r"An agent of 'ask' waits .* send the event again"):
        await journey.process_event("payment_received", {"amount": 40})

    assert (await journey.process_message("the colour")).message == "Noted: the colour."


async def test_a_message_never_fires_an_event_trigger(talk: Talk, memory_url: str) -> None:
    journey = await waiting(talk, memory_url)

    response = await journey.process_message("payment_received")

    assert response.transition_to is None
    assert "said 'payment_received'" in response.message


@pytest.mark.parametrize(
    ("name", "data", "error", "said"),
    [
        ("", None, InvalidMessageError, "1 to 200 characters"),
        ("a\0b", None, InvalidMessageError, r"the control character U\+0000"),
        (7, None, InvalidMessageError, "of text, not 7"),
        ("paid", [1], ConfigurationError, "a dict of context values, not list"),
        ("paid", {"a": {1, 2}}, ContextMergeError, "data.a"),
        ("paid", {"a": "x" * 2_000_000}, ContextSizeExceededError, "a"),
    ],
)
async def test_a_wrong_event_changes_nothing(
    talk: Talk, memory_url: str, name: Any, data: Any, error: Any, said: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)

    with pytest.raises(error, match=said):
        await call.journey.process_event(name, data)

    assert (await call.journey.manager.restore()).version == 0


FILE = """\
id: parcel
states:
  wait: {agents: [waiter]}
  paid: {agents: [cashier]}
transitions:
  - {from: wait, to: paid, event: payment_received}
  - {from: wait, to: paid, condition: the user has paid}
"""


async def test_a_file_has_triggers_by_events_for_which_no_model_is_asked(
    talk: Talk, memory_url: str, tmp_path: Path
) -> None:
    (tmp_path / "parcel.yaml").write_text(FILE)
    agents = {name: AGENTS[name] for name in ("waiter", "cashier")}
    with ScriptedModel() as model:
        parcel = load_journey(tmp_path / "parcel.yaml")
        call = await talk(parcel, agents, memory_url, options={"model": model})
        ignored = await call.journey.process_event("unknown")
        response = await call.journey.process_event("payment_received", {"amount": 5})

    assert (ignored.message, ignored.metadata["flags"]) == ("", [])
    assert response.message == "Thank you for 5 euros."
    wrong = FILE.replace("event: payment_received", "event: paid, patterns: [i paid]")
    with pytest.raises(JourneyDefinitionError, match="event cannot be combined with patterns"):
        read_journey_text(wrong, "parcel.yaml")
