"""Clients of the OpenAI API: responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.http.test_http_turns import Gate
from tests.support import api as helpers
from tests.support import openai_clients
from tests.support.api import Api, one
from tests.support.openai_clients import assistant, turns_of, user
from tests.support.solo import Solo

serve, api, client_of = helpers.serve, helpers.api, openai_clients.client_of
Serve = Callable[..., Any]
Clients = Callable[..., AsyncOpenAI]


def session_in(response: Any) -> str:
    session_id: str = response.conversation.id
    return session_id


async def test_a_response_is_continued_by_its_id(api: Api, client_of: Clients) -> None:
    responses = client_of(api).responses

    first = await responses.create(model="parcel", input="hello", temperature=0)
    second = await responses.create(
        model="parcel", input="how much?", previous_response_id=first.id, instructions="Rhyme."
    )
    by_name = await responses.create(
        model="parcel", input="street=Elm", conversation=session_in(first)
    )

    assert [each.output_text for each in (first, second, by_name)] == [
        "address: hello",
        "prices: how much?",
        "address: street=Elm",
    ]
    assert second.previous_response_id == first.id
    assert second.conversation == first.conversation
    assert await turns_of(api, session_in(first)) == ["hello", "how much?", "street=Elm"]


async def test_a_message_after_the_same_response_is_taken_once(
    api: Api, client_of: Clients
) -> None:
    responses = client_of(api).responses
    first = await responses.create(model="parcel", input="hello", user="call-1")

    said: Any = {"model": "parcel", "input": "yes", "previous_response_id": first.id}
    second = await responses.create(**said)
    again = await responses.create(**said)
    third = await responses.create(**{**said, "previous_response_id": second.id})
    late = await responses.create(**said)

    assert {each.output_text for each in (second, again, third, late)} == {"address: yes"}
    assert await turns_of(api) == ["hello", "yes", "yes"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_response_of_a_session_that_was_deleted_begins_no_other_one(
    api: Api, client_of: Clients, stream: bool
) -> None:
    responses = client_of(api).responses
    first = await responses.create(model="parcel", input="hello", user="call-1")
    await api.client.delete("/v1/sessions/call-1")

    said: Any = {"model": "parcel", "input": "yes", "previous_response_id": first.id}
    with pytest.raises(openai.NotFoundError) as refused:
        await responses.create(**said, stream=stream)

    assert refused.value.code == "session_not_found"
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []


async def test_a_conversation_as_input_is_one_turn_for_its_last_message(
    api: Api, client_of: Clients
) -> None:
    responses = client_of(api).responses
    first = await responses.create(model="parcel", input="hello", conversation="call-1")
    said: list[Any] = [user("hello"), *first.output, user("how much?")]

    for _ in range(2):
        reply = await responses.create(model="parcel", input=said, conversation={"id": "call-1"})

    assert reply.output_text == "prices: how much?"
    assert await turns_of(api) == ["hello", "how much?"]


async def test_words_are_streamed_while_they_are_said(serve: Serve, client_of: Clients) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))

    async with client_of(api).responses.stream(model="solo", input="hi", user="call-1") as stream:
        heard = []
        async for event in stream:
            heard.append(event)
            if event.type == "response.output_text.delta":
                gate.let.set()
        final = await stream.get_final_response()

    deltas = [each.delta for each in heard if each.type == "response.output_text.delta"]
    assert deltas == ["Hold ", "on."]
    assert [each.type for each in heard][-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [each.sequence_number for each in heard] == list(range(len(heard)))
    assert (final.output_text, final.status) == ("Hold on.", "completed")
    assert session_in(final) == "call-1"


async def failing(payload: dict[str, Any]) -> AsyncIterator[str]:
    yield "I look "
    raise ValueError("canary")


async def test_a_reply_that_replaces_what_was_streamed_follows_it(
    serve: Serve, client_of: Clients
) -> None:
    api = await serve(one(Solo, clerk=failing))

    async with client_of(api).responses.stream(model="solo", input="hi", user="call-1") as stream:
        final = await stream.get_final_response()

    entries = (await api.client.get("/v1/sessions/call-1/history")).json()["entries"]
    assert final.output_text == f"I look \n\n{entries[-1]['content']}"


async def test_a_turn_that_fails_is_an_event(serve: Serve, client_of: Clients) -> None:
    api = await serve(one(Solo, clerk=failing), error_recovery="fail_fast")

    stream = await client_of(api).responses.create(
        model="solo", input="hi", user="call-1", stream=True
    )
    *_, last = [event async for event in stream]

    assert (last.type, getattr(last, "code", "")) == ("error", "internal_error")
    assert await turns_of(api) == []


@pytest.mark.parametrize(
    ("change", "code", "param"),
    [
        ({"input": []}, "invalid_request", "input"),
        ({"input": [assistant("a")]}, "no_user_message", None),
        ({"input": [user("a"), assistant("b"), user("c")], "user": None}, "session_required", None),
        ({"input": [user([{"type": "input_image"}])]}, "invalid_request", "input"),
        ({"input": [{"type": "function_call_output"}]}, "invalid_request", "input"),
        ({"tools": [{"type": "web_search"}]}, "invalid_request", "tools"),
        ({"background": True}, "invalid_request", "background"),
        ({"prompt": {"id": "p"}}, "invalid_request", "prompt"),
        ({"text": {"format": {"type": "json_object"}}}, "invalid_request", "text"),
        ({"previous_response_id": "resp_1"}, "invalid_response_id", None),
        ({"previous_response_id": "resp_YQ_1", "conversation": "b"}, "several_sessions", None),
    ],
)
async def test_what_is_not_supported_is_refused(
    api: Api, client_of: Clients, change: dict[str, Any], code: str, param: str | None
) -> None:
    asked: Any = {"model": "parcel", "input": "hello", "user": "call-1", **change}

    with pytest.raises(openai.BadRequestError) as refused:
        await client_of(api).responses.create(**asked)

    assert (refused.value.code, refused.value.param) == (code, param)
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []
