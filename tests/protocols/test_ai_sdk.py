"""Clients of the AI SDK: chats of a page are sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from journeygraph.server.http.auth import Keys
from tests.http.test_http_turns import Gate
from tests.http.test_keys import made
from tests.support import api as helpers
from tests.support.api import Api, one
from tests.support.openai_clients import turns_of
from tests.support.solo import Solo

serve, api = helpers.serve, helpers.api
Serve = Callable[..., Any]
CHUNKS: dict[str, set[str]] = {
    "start": {"messageId"},
    "start-step": set(),
    "text-start": {"id"},
    "text-delta": {"id", "delta"},
    "text-end": {"id"},
    "finish-step": set(),
    "finish": {"messageMetadata"},
    "error": {"errorText"},
}
"""Fields of the chunks that we send. The AI SDK 5 refuses a chunk with any other field."""


def chat_of(*texts: str, chat: str = "call-1", **more: Any) -> dict[str, Any]:
    """The body of a request, as `useChat` sends it, with replies between the messages."""
    messages: list[Any] = []
    for number, text in enumerate(texts):
        if number:
            replied = [{"type": "step-start"}, {"type": "text", "text": "...", "state": "done"}]
            messages.append({"id": f"a-{number}", "role": "assistant", "parts": replied})
        parts = [{"type": "text", "text": text}]
        messages.append({"id": f"m-{number}", "role": "user", "parts": parts})
    return {"id": chat, "messages": messages, "trigger": "submit-message", **more}


def chunks_in(text: str) -> list[Any]:
    """The chunks of a stream, checked."""
    blocks = text.split("\n\n")
    assert blocks[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(block.removeprefix("data: ")) for block in blocks[:-2]]
    for chunk in chunks:
        assert {*chunk} == {"type", *CHUNKS[chunk["type"]]}
    return chunks


async def talks(api: Api, given: Any, journey: str = "parcel") -> list[Any]:
    answer = await api.client.post(f"/v1/ai-sdk/{journey}", json=given)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    return chunks_in(answer.text)


def text_in(chunks: list[Any]) -> str:
    return "".join(each["delta"] for each in chunks if each["type"] == "text-delta")


async def test_a_page_talks_to_a_journey(api: Api) -> None:
    first = await talks(api, chat_of("street=Elm"))
    second = await talks(api, chat_of("street=Elm", "how much?", custom="ignored"))

    assert [each["type"] for each in first] == [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ]
    assert text_in(first) == "address: street=Elm"
    metadata = first[-1]["messageMetadata"]
    assert (metadata["session_id"], metadata["pathway_id"]) == ("call-1", "payment")
    assert (metadata["version"], metadata["is_journey_complete"]) == (1, False)
    assert text_in(second) == "prices: how much?"
    assert await turns_of(api) == ["street=Elm", "how much?"]


async def test_words_are_streamed_while_they_are_said(serve: Serve) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))

    said = ""
    async with api.client.stream("POST", "/v1/ai-sdk/solo", json=chat_of("hi")) as answer:
        async for part in answer.aiter_text():
            said += part
            if "Hold " in said:
                gate.let.set()

    deltas = [each["delta"] for each in chunks_in(said) if each["type"] == "text-delta"]
    assert deltas == ["Hold ", "on."]


async def test_a_message_that_is_sent_again_or_regenerated_is_no_second_turn(api: Api) -> None:
    first = await talks(api, chat_of("hello"))
    again = await talks(api, chat_of("hello", trigger="regenerate-message", messageId="a-1"))
    edited = await api.client.post("/v1/ai-sdk/parcel", json=chat_of("other words"))

    assert text_in(again) == text_in(first) == "address: hello"
    assert (edited.status_code, edited.json()["code"]) == (422, "idempotency_key_reused")
    assert await turns_of(api) == ["hello"]


async def failing(payload: dict[str, Any]) -> AsyncIterator[str]:
    yield "I look "
    raise ValueError("canary")


async def test_a_reply_that_replaces_what_was_streamed_follows_it(serve: Serve) -> None:
    api = await serve(one(Solo, clerk=failing))

    chunks = await talks(api, chat_of("hi"), "solo")

    entries = (await api.client.get("/v1/sessions/call-1/history")).json()["entries"]
    assert text_in(chunks) == f"I look \n\n{entries[-1]['content']}"


async def test_a_turn_that_fails_is_an_error_of_the_stream(serve: Serve) -> None:
    api = await serve(one(Solo, clerk=failing), error_recovery="fail_fast")

    *_, last = await talks(api, chat_of("hi"), "solo")

    assert last["type"] == "error"
    assert "canary" not in last["errorText"]
    assert await turns_of(api) == []


# --- A page that was loaded again -----------------------------------------------------------------


async def resumed(api: Api, chat: str = "call-1", **headers: str) -> tuple[int, str]:
    """Return the answer to `useChat` with `resume` when its page is loaded."""
    answer = await api.client.get(f"/v1/ai-sdk/solo/{chat}/stream", headers=headers)
    return answer.status_code, answer.text


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_page_that_is_loaded_again_gets_the_message_that_is_being_said(
    postgres_url: str, serve: Serve, elsewhere: bool
) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate), url=postgres_url)
    page = await serve(one(Solo, clerk=Gate()), url=postgres_url) if elsewhere else api
    assert await resumed(page) == (204, "")

    async with api.client.stream("POST", "/v1/ai-sdk/solo", json=chat_of("hi")):
        await gate.begun.wait()
    again = asyncio.create_task(resumed(page))
    await asyncio.wait([again], timeout=0.1)  # it waits for the rest
    assert not again.done()
    gate.let.set()
    status, text = await again

    assert (status, text_in(chunks_in(text))) == (200, "Hold on.")
    assert chunks_in(text)[-1]["messageMetadata"]["version"] == 1
    assert await turns_of(api) == ["hi"]
    if elsewhere:
        assert await resumed(page) == (204, "")


async def test_only_the_user_of_a_chat_gets_its_message(serve: Serve) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate), keys=Keys(uses_stored=True))
    ann, ben = await made(api, "talk", user="ann"), await made(api, "talk", user="ben")
    desk = await made(api, "talk")
    begun = {"json": chat_of("hi"), "headers": ann}

    async with api.client.stream("POST", "/v1/ai-sdk/solo", **begun) as stream:
        await gate.begun.wait()
        chat = stream.headers["x-session-id"]
        assert chat != "call-1", "a user's name of a chat is not its id"
        for key, name in ((ben, "call-1"), (ben, chat), (desk, "call-1")):
            assert await resumed(api, name, **key) == (204, "")
        other = await api.client.get(f"/v1/ai-sdk/parcel/{chat}/stream", headers=desk)
        assert other.status_code == 204
        gate.let.set()
        status, text = await resumed(api, **ann)

    assert (status, text_in(chunks_in(text))) == (200, "Hold on.")


FILE = {"type": "file", "mediaType": "image/png", "url": "data:,"}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"id": "call-1", "messages": []}, "no_user_message"),
        ({"id": "call-1", "messages": [{"role": "assistant", "parts": []}]}, "no_user_message"),
        (chat_of("a", chat="no session"), "invalid_session_id"),
        (chat_of("a", chat=""), "invalid_request"),
        (
            {"id": "call-1", "messages": [{"id": "m", "role": "user", "parts": [FILE]}]},
            "invalid_request",
        ),
    ],
)
async def test_what_is_not_supported_is_refused(api: Api, given: Any, code: str) -> None:
    answer = await api.client.post("/v1/ai-sdk/parcel", json=given)

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []
