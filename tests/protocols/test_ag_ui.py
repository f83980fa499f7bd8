"""Clients of AG-UI: threads are sessions, and runs are turns."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from ag_ui.core import Event, RunAgentInput
from langgraph.types import interrupt
from pydantic import TypeAdapter

from tests.http.test_http_turns import Gate
from tests.support import api as helpers
from tests.support.api import KEY, Api, one
from tests.support.openai_clients import turns_of
from tests.support.solo import Solo

serve, api = helpers.serve, helpers.api
Serve = Callable[..., Any]
EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def run_of(*messages: Any, thread: str = "call-1", **more: Any) -> dict[str, Any]:
    """The input of a run, as the official models write it; a text is a message of the user."""
    said = [
        {"id": f"m-{number}", "role": "user", "content": one} if isinstance(one, str) else one
        for number, one in enumerate(messages)
    ]
    fixed = {"threadId": thread, "runId": "r-1", "messages": said, "state": {}, "context": []}
    given = RunAgentInput.model_validate({**fixed, "tools": [], "forwardedProps": {}, **more})
    written: dict[str, Any] = given.model_dump(by_alias=True)
    return written


def event_of(line: str) -> Any:
    """An event of a stream, checked: what the protocol does not name is refused."""
    sent = json.loads(line.removeprefix("data: "))
    event = EVENT.validate_python(sent)
    assert not event.model_extra, event.model_extra
    return event


async def runs(api: Api, given: Any, journey: str = "parcel") -> list[Any]:
    answer = await api.client.post(f"/v1/ag-ui/{journey}", json=given)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [event_of(line) for line in answer.text.splitlines() if line.startswith("data:")]


def text_in(events: list[Any]) -> str:
    return "".join(each.delta for each in events if each.type == "TEXT_MESSAGE_CONTENT")


async def test_a_run_is_a_turn_of_the_session(api: Api) -> None:
    asked = {"id": "m-0", "role": "assistant", "content": "Where to?"}

    first = await runs(api, run_of(asked, "street=Elm"))
    second = await runs(api, run_of(asked, "street=Elm", "how much?"))

    assert [each.type for each in first] == [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STATE_SNAPSHOT",
        "RUN_FINISHED",
    ]
    assert (first[0].thread_id, first[-1].run_id) == ("call-1", "r-1")
    assert len({each.message_id for each in first[1:4]}) == 1
    assert first[-2].snapshot["context"]["street"] == "Elm"
    assert first[-2].snapshot["pathway_id"] == "payment"
    assert (first[-1].outcome.type, first[-1].usage[0].input_tokens) == ("success", 0)
    assert text_in(second) == "prices: how much?"
    assert await turns_of(api) == ["street=Elm", "how much?"]


async def test_words_are_streamed_while_they_are_said(serve: Serve) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))

    heard = []
    async with api.client.stream("POST", "/v1/ag-ui/solo", json=run_of("hi")) as answer:
        assert answer.headers["X-Session-Id"] == "call-1"
        async for line in answer.aiter_lines():
            heard += [event_of(line)] if line else []
            if line and heard[-1].type == "TEXT_MESSAGE_CONTENT":
                gate.let.set()

    assert [each.delta for each in heard if each.type == "TEXT_MESSAGE_CONTENT"] == ["Hold ", "on."]


async def test_a_message_that_is_sent_again_is_no_second_turn(api: Api) -> None:
    first = await runs(api, run_of("hello"))
    await runs(api, run_of("hello", "how much?"))
    again = await runs(api, run_of("hello", runId="r-2"))
    other = await api.client.post("/v1/ag-ui/parcel", json=run_of("other words"))

    assert text_in(again) == text_in(first) == "address: hello"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert await turns_of(api) == ["hello", "how much?"]


def asking(payload: dict[str, Any]) -> str:
    return f"Noted: {interrupt('How do you pay?')}."


@pytest.mark.parametrize("by_message", [False, True])
async def test_the_question_of_an_agent_is_an_interrupt_that_is_resumed(
    serve: Serve, by_message: bool
) -> None:
    api = await serve(one(Solo, clerk=asking))

    *_, asked = await runs(api, run_of("hello"), "solo")
    (open_,) = asked.outcome.interrupts
    answer = {"interruptId": open_.id, "status": "resolved", "payload": "by card"}
    given = run_of("hello", "by card") if by_message else run_of("hello", resume=[answer])
    resumed = await runs(api, given, "solo")
    again = await runs(api, given, "solo")

    assert (open_.reason, open_.message) == ("question", "How do you pay?")
    assert text_in(resumed) == text_in(again) == "Noted: by card."
    assert resumed[-1].outcome.type == "success"


async def test_an_answer_to_a_question_begins_no_session(api: Api) -> None:
    answer = {"interruptId": "i", "status": "resolved", "payload": "by card"}

    refused = await api.client.post("/v1/ag-ui/parcel", json=run_of("hello", resume=[answer]))

    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []


async def failing(payload: dict[str, Any]) -> AsyncIterator[str]:
    yield "I look "
    raise ValueError("canary")


async def test_a_snapshot_replaces_what_was_streamed_if_the_reply_is_another(serve: Serve) -> None:
    api = await serve(one(Solo, clerk=failing))

    heard = await runs(api, run_of("hi"), "solo")

    (snapshot,) = [each for each in heard if each.type == "MESSAGES_SNAPSHOT"]
    entries = (await api.client.get("/v1/sessions/call-1/history")).json()["entries"]
    assert text_in(heard) == f"I look \n\n{entries[-1]['content']}"
    assert [each.content for each in snapshot.messages] == [each["content"] for each in entries]
    assert snapshot.messages[-1].id == heard[1].message_id


async def test_a_turn_that_fails_ends_the_run_with_an_error(serve: Serve) -> None:
    api = await serve(one(Solo, clerk=failing), error_recovery="fail_fast")

    *_, last = await runs(api, run_of("hi"), "solo")

    assert (last.type, last.code) == ("RUN_ERROR", "internal_error")
    assert "canary" not in last.message
    assert await turns_of(api) == []


IMAGE = {"type": "image", "source": {"type": "url", "value": "data:,", "mimeType": "image/png"}}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (run_of(), "no_user_message"),
        (run_of({"id": "m", "role": "assistant", "content": "a"}), "no_user_message"),
        (run_of("a", thread="no session"), "invalid_session_id"),
        (
            run_of("a", tools=[{"name": "f", "description": "d", "parameters": {}}]),
            "invalid_request",
        ),
        (run_of("a", resume=[{"interruptId": "i", "status": "cancelled"}]), "invalid_request"),
        (
            run_of({"id": "m", "role": "user", "content": [IMAGE]}),
            "invalid_request",
        ),
    ],
)
async def test_what_is_not_supported_is_refused(api: Api, given: Any, code: str) -> None:
    answer = await api.client.post("/v1/ag-ui/parcel", json=given)

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []


async def test_an_unknown_journey_and_a_wrong_key_are_refused(serve: Serve) -> None:
    api = await serve(keys=(KEY,))

    refused = await api.client.post("/v1/ag-ui/parcel", json=run_of("hi"))
    headers = {"Authorization": f"Bearer {KEY}"}
    unknown = await api.client.post("/v1/ag-ui/ghost", json=run_of("hi"), headers=headers)

    assert (refused.status_code, unknown.status_code) == (401, 404)
