"""Clients of the OpenAI API: chat completions, and the list of models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, BadRequestError, ConflictError

from journeygraph import NEVER, Journey, Pathway
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.access.limits import RateLimits, read_limits
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.event_logs import TurnLog
from journeygraph.server.protocols import client_turns
from journeygraph.server.protocols.client_turns import Heard
from tests.http.test_http_models import Weather
from tests.http.test_http_turns import Gate, until
from tests.support import api as helpers
from tests.support import openai_clients
from tests.support.api import KEY, Api, one
from tests.support.openai_clients import assistant, turns_of, user
from tests.support.solo import Solo

serve, api, client_of = helpers.serve, helpers.api, openai_clients.client_of
Serve = Callable[..., Any]
Clients = Callable[..., AsyncOpenAI]
SESSION = {"X-Session-Id": "call-1"}


async def test_a_client_talks_to_a_journey_as_to_a_model(api: Api, client_of: Clients) -> None:
    client = client_of(api)
    said: list[Any] = [{"role": "system", "content": "You are a pirate."}]

    for message in ("how much is it?", "street=Elm"):
        said.append(user(message))
        done = await client.chat.completions.create(
            model="parcel", messages=said, temperature=0.2, max_tokens=5, extra_headers=SESSION
        )
        said.append(assistant(done.choices[0].message.content or ""))

    assert [each["content"] for each in said[2::2]] == [
        "prices: how much is it?",
        "address: street=Elm",
    ]
    assert (done.model, done.choices[0].finish_reason) == ("parcel", "stop")
    assert await turns_of(api) == ["how much is it?", "street=Elm"]


async def streamed(client: AsyncOpenAI, **asked: Any) -> list[Any]:
    stream = await client.chat.completions.create(stream=True, **asked)
    return [chunk async for chunk in stream]


def text_in(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_words_are_streamed_while_they_are_said(serve: Serve, client_of: Clients) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))

    stream = await client_of(api).chat.completions.create(
        model="solo", messages=[user("hi")], user="call-1", stream=True
    )
    heard = []
    async for chunk in stream:
        heard.append(chunk.choices[0])
        if chunk.choices[0].delta.content:
            gate.let.set()

    assert heard[0].delta.role == "assistant"
    assert [each.delta.content for each in heard[1:]] == ["Hold ", "on.", None]
    assert heard[-1].finish_reason == "stop"
    assert await turns_of(api) == ["hi"]


def chat_request(api: Api) -> bytes:
    """The bytes of a request for a stream."""
    body = json.dumps({"model": "solo", "messages": [user("hi")], "user": "call-1", "stream": True})
    lines = (
        "POST /v1/chat/completions HTTP/1.1",
        f"Host: 127.0.0.1:{api.port}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join([*lines, "", body]).encode()


async def test_a_stream_is_kept_alive_and_its_turn_continues_without_the_client(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_turns, "PING_SECONDS", 0.05)
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))

    async with api.connected() as (reader, writer):
        writer.write(chat_request(api))
        await reader.readuntil(b"Hold ")
        await reader.readuntil(b": ping\n\n")
    assert await turns_of(api) == []
    gate.let.set()

    assert await until(lambda: turns_of(api)) == ["hi"]


async def test_the_same_conversation_sent_again_is_no_second_turn(
    api: Api, client_of: Clients
) -> None:
    client = client_of(api)
    first = [user("hello")]
    second = [*first, assistant("address: hello"), user("how much?")]

    async def say(messages: Any, **more: Any) -> Any:
        return await client.chat.completions.with_raw_response.create(
            model="parcel", messages=messages, extra_headers=SESSION, **more
        )

    answers = [await say(messages) for messages in (first, first, second, second)]
    chunks = await streamed(client, model="parcel", messages=second, extra_headers=SESSION)

    replies = [answer.parse().choices[0].message.content for answer in answers]
    assert replies == ["address: hello"] * 2 + ["prices: how much?"] * 2
    assert text_in(chunks) == "prices: how much?"
    assert ["Idempotent-Replay" in answer.headers for answer in answers] == [False, True] * 2
    assert await turns_of(api) == ["hello", "how much?"]


async def test_the_same_words_later_are_a_new_turn(api: Api, client_of: Clients) -> None:
    client = client_of(api)
    again = [user("yes"), assistant("address: yes"), user("yes")]

    said: list[Any] = [[user("a")], [user("yes")], [user("yes")], again, [user("b")], again]
    for messages in said:
        await client.chat.completions.create(
            model="parcel", messages=messages, extra_headers=SESSION
        )

    assert await turns_of(api) == ["a", "yes", "yes", "yes", "b", "yes"]


async def test_two_requests_at_once_with_one_conversation_are_one_turn(
    serve: Serve, client_of: Clients
) -> None:
    gate = Gate()
    api = await serve(one(Solo, clerk=gate))
    client = client_of(api)
    asked: Any = {"model": "solo", "messages": [user("hi")], "user": "call-1"}

    both = [asyncio.create_task(client.chat.completions.create(**asked)) for _ in range(2)]
    await gate.begun.wait()
    gate.let.set()

    assert {(await each).choices[0].message.content for each in both} == {"Hold on."}
    assert await turns_of(api) == ["hi"]


# --- A caller who interrupts ----------------------------------------------------------------------


class Speaker:
    """An agent that says two words, the second when it is released; it counts its runs."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.let = asyncio.Event()
        self.spoken = asyncio.Event()

    async def __call__(self, payload: dict[str, Any]) -> AsyncIterator[str]:
        self.heard.append(payload["message"])
        yield f"To {payload['message']}: "
        self.spoken.set()
        await self.let.wait()
        yield "done."


@pytest.mark.parametrize("partial", [False, True], ids=["no reply", "a part of the reply"])
@pytest.mark.parametrize(("rule", "kept"), [("enqueue", ["one", "two"]), ("interrupt", ["two"])])
async def test_a_caller_who_speaks_into_the_reply_loses_and_doubles_nothing(
    serve: Serve, client_of: Clients, rule: str, kept: list[str], partial: bool
) -> None:
    speaker = Speaker()
    api = await serve(one(Solo, clerk=speaker))
    client = client_of(api, default_headers={**SESSION, "X-When-Busy": rule})
    asked: Any = {"model": "solo", "messages": [user("one")]}

    first = await client.chat.completions.create(**asked, stream=True)
    async for chunk in first:
        if "To one" in (chunk.choices[0].delta.content or ""):
            break
    await first.close()  # as a voice framework does it when the caller speaks
    said = [assistant("To one:")] if partial else []
    asked["messages"] = [user("one"), *said, user("two")]
    second = asyncio.create_task(streamed(client, **asked))
    again = asyncio.create_task(streamed(client, **asked))  # sent twice, as after a lost answer
    if rule == "interrupt":
        await until(lambda: heard(speaker, "two"))
    speaker.let.set()

    assert {text_in(chunks) for chunks in (await second, await again)} == {"To two: done."}
    assert await turns_of(api) == kept
    assert speaker.heard == ["one", "two"]


async def heard(speaker: Speaker, message: str) -> bool:
    return message in speaker.heard


async def test_a_request_that_must_not_wait_is_refused_in_the_shape_of_the_protocol(
    serve: Serve, client_of: Clients
) -> None:
    speaker = Speaker()
    api = await serve(one(Solo, clerk=speaker))
    client = client_of(api)
    asked: Any = {"model": "solo", "extra_headers": {**SESSION, "X-When-Busy": "reject"}}
    first = asyncio.create_task(
        client.chat.completions.create(messages=[user("one")], **asked, stream=True)
    )
    await speaker.spoken.wait()

    with pytest.raises(ConflictError) as busy:
        await client.chat.completions.create(messages=[user("two")], **asked)
    asked["extra_headers"]["X-When-Busy"] = "shout"
    with pytest.raises(BadRequestError) as unknown:
        await client.chat.completions.create(messages=[user("two")], **asked)
    speaker.let.set()
    await (await first).close()

    assert busy.value.code == "session_busy"
    assert unknown.value.code == "invalid_request"
    assert "interrupt" in unknown.value.message


async def test_a_key_repeats_its_answer_also_after_another_turn(
    api: Api, client_of: Clients
) -> None:
    client = client_of(api)

    async def say(text: str, key: str, **more: str) -> Any:
        headers = {"Idempotency-Key": key, **more}
        answer = await client.chat.completions.with_raw_response.create(
            model="parcel", messages=[user(text)], extra_headers=headers
        )
        return answer.headers["X-Session-Id"], answer.parse().choices[0].message.content

    session, reply = await say("hello", "k-1")
    await say("how much?", "k-2", **{"X-Session-Id": session})

    assert await say("hello", "k-1") == (session, reply)
    assert await turns_of(api, session) == ["hello", "how much?"]
    with pytest.raises(openai.BadRequestError) as refused:
        await say("other", "k-1")
    assert refused.value.code == "idempotency_key_reused"


async def test_without_a_session_a_new_one_begins_and_a_later_request_must_name_it(
    api: Api, client_of: Clients
) -> None:
    client = client_of(api)

    begun = await client.chat.completions.with_raw_response.create(
        model="parcel", messages=[user("hello")]
    )
    session = begun.headers["X-Session-Id"]
    later: Any = [user("hello"), assistant("address: hello"), user("how much?")]

    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(model="parcel", messages=later)
    assert refused.value.code == "session_required"
    assert "X-Session-Id" in refused.value.message
    await client.chat.completions.create(
        model="parcel", messages=later, extra_headers={"X-Session-Id": session}
    )
    assert await turns_of(api, session) == ["hello", "how much?"]


async def failing(payload: dict[str, Any]) -> AsyncIterator[str]:
    yield "I look "
    raise ValueError("canary")


async def test_a_reply_that_replaces_what_was_streamed_follows_it(
    serve: Serve, client_of: Clients
) -> None:
    api = await serve(one(Solo, clerk=failing))

    chunks = await streamed(client_of(api), model="solo", messages=[user("hi")], user="call-1")

    entries = (await api.client.get("/v1/sessions/call-1/history")).json()["entries"]
    assert text_in(chunks) == f"I look \n\n{entries[-1]['content']}"


@pytest.mark.parametrize(
    ("tokens", "reply", "pieces"),
    [
        (["a", "b"], "ab", ["a", "b"]),
        ([], "ab", ["ab"]),
        (["a"], "ab", ["a", "b"]),
        (["a", "\n\nc"], "c", ["a", "\n\nc", ("replaced", "c")]),
        (["a"], "c", ["a", "\n\nc", ("replaced", "c")]),
        (["a", ""], "a", ["a"]),
        ([], "", []),
    ],
)
async def test_the_texts_of_a_stream_end_with_the_reply(
    tokens: list[str], reply: str, pieces: list[Any]
) -> None:
    log = TurnLog("call-1")
    for token in tokens:
        log.add("token", json.dumps({"text": token}))
    log.add("done", json.dumps({"message": reply}))
    log.end()

    heard = [piece async for piece in Heard(log.events, {}).pieces()]

    assert heard[-1].kind == "done"
    assert heard[:-1] == [("text", one) if isinstance(one, str) else one for one in pieces]


async def test_a_turn_that_fails_is_an_error_of_the_stream(
    serve: Serve, client_of: Clients
) -> None:
    api = await serve(one(Solo, clerk=failing), error_recovery="fail_fast")

    with pytest.raises(openai.APIError) as failed:
        await streamed(client_of(api), model="solo", messages=[user("hi")], user="call-1")

    assert failed.value.code == "internal_error"
    assert "canary" not in str(failed.value)
    assert await turns_of(api) == []


@pytest.mark.parametrize(
    ("change", "kind", "code", "param"),
    [
        ({"model": "gpt-4o"}, openai.NotFoundError, "journey_not_found", None),
        ({"model": "parcel@9"}, openai.NotFoundError, "journey_not_found", None),
        ({"messages": [assistant("a")]}, None, "no_user_message", None),
        ({"messages": [user("a"), assistant("b")]}, None, "no_user_message", None),
        ({"messages": [user("a\u0007")]}, None, "invalid_message", None),
        ({"messages": []}, None, "invalid_request", "messages"),
        ({"messages": [{"role": "tool"}]}, None, "invalid_request", "messages"),
        ({"messages": [user([{"type": "image_url"}])]}, None, "invalid_request", "messages"),
        ({"tools": [{"type": "function"}]}, None, "invalid_request", "tools"),
        ({"n": 2}, None, "invalid_request", "n"),
        ({"response_format": {"type": "json_object"}}, None, "invalid_request", "response_format"),
        ({"modalities": ["audio"]}, None, "invalid_request", "modalities"),
        ({"logprobs": True}, None, "invalid_request", "logprobs"),
        ({"user": "no session"}, None, "invalid_session_id", None),
        ({"messages": [user("a" * 1_100_000)]}, openai.APIStatusError, "body_too_large", None),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_is_not_supported_is_refused_in_the_shape_of_the_protocol(
    api: Api,
    change: dict[str, Any],
    kind: type[Exception] | None,
    code: str,
    param: Any,
    stream: bool,
    client_of: Clients,
) -> None:
    asked: Any = {"model": "parcel", "messages": [user("hello")], "user": "call-1", **change}

    with pytest.raises(kind or openai.BadRequestError) as refused:
        await client_of(api).chat.completions.create(**asked, stream=stream)

    error: Any = refused.value
    assert (error.code, error.param) == (code, param)
    assert error.type == "invalid_request_error"
    assert error.body["message"]
    assert (await api.client.get("/v1/sessions")).json()["sessions"] == []


async def test_a_session_of_another_journey_is_refused(api: Api, client_of: Clients) -> None:
    await api.begin("letter", "call-1")

    with pytest.raises(openai.ConflictError) as refused:
        await client_of(api, max_retries=2).chat.completions.create(
            model="parcel", messages=[user("hello")], user="call-1"
        )

    assert refused.value.code == "other_journey"
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert await turns_of(api) == []


async def test_a_wrong_key_is_refused_before_the_body_is_read(
    serve: Serve, client_of: Clients
) -> None:
    api = await serve(keys=(KEY,), client={"Authorization": f"Bearer {KEY}"})

    with pytest.raises(openai.AuthenticationError) as refused:
        await client_of(api, "wrong").chat.completions.create(model="parcel", messages=[])

    assert (refused.value.type, refused.value.code) == ("authentication_error", "unauthorized")
    done = await client_of(api).chat.completions.create(model="parcel", messages=[user("hello")])
    assert done.choices[0].message.content == "address: hello"


async def test_usage_is_that_of_the_model_calls_of_the_turn(
    serve: Serve, client_of: Clients
) -> None:
    asked: Any = {"model": "weather", "messages": [user("How is it?")]}
    counted = []
    async with ScriptedModel() as model:
        api = await serve(one(Weather), model=model)
        client = client_of(api)
        model.will_answer(*[{"response": "It is sunny."}] * 4)
        reply = await api.says(await api.begin("weather"), "How is it?")
        done = await client.chat.completions.create(**asked)
        options: Any = {"stream_options": {"include_usage": True}}
        *_, last = await streamed(client, **asked, **options)
        response = await client.responses.create(model="weather", input="How is it?")
    for usage in (done.usage, last.usage):
        assert usage
        counted.append((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens))
    assert response.usage
    counted.append(
        (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens)
    )

    own = reply["metadata"]["usage"]
    read, written = own["input_tokens"], own["output_tokens"]
    assert read * written > 0
    assert counted == [(read, written, read + written)] * 3
    assert last.choices == []


async def test_texts_in_parts_are_one_message(api: Api, client_of: Clients) -> None:
    parts = [{"type": "text", "text": "how"}, {"type": "text", "text": "much"}]

    await client_of(api).chat.completions.create(
        model="parcel", messages=[user(parts)], user="call-1"
    )

    assert await turns_of(api) == ["how\nmuch"]


def solo(version: str) -> Served:
    class Solo(Journey):
        __version__ = version

        class TalkPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

    return one(Solo, clerk=lambda _: version)


async def test_the_models_are_the_journeys_with_their_versions(
    serve: Serve, client_of: Clients
) -> None:
    client = client_of(await serve(solo("new"), versions=[solo("old")]))

    listed = [model.id async for model in client.models.list()]
    asked: Any = {"messages": [user("hi")]}
    done = [await client.chat.completions.create(model=name, **asked) for name in listed]
    kept = [
        await client.chat.completions.create(
            model=name, messages=[user(f"I am {name}")], user="call-1"
        )
        for name in reversed(listed)
    ]

    assert listed == ["solo", "solo@old"]
    assert [each.choices[0].message.content for each in done] == ["new", "old"]
    assert [each.choices[0].message.content for each in kept] == ["old", "old"]
    assert (await client.models.retrieve("solo@old")).id == "solo@old"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("solo@3")


async def test_a_page_of_another_origin_may_name_the_session_and_read_its_name(
    serve: Serve,
) -> None:
    api = await serve(cors_origins=["https://shop.example"])
    path, origin = "/v1/chat/completions", {"Origin": "https://shop.example"}
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-session-id",
    }
    body = {"model": "parcel", "messages": [user("hello")]}

    allowed = await api.client.options(path, headers={**origin, **asked})
    answer = await api.client.post(path, json=body, headers={**origin, **SESSION})

    assert allowed.status_code == 200
    assert "X-Session-Id" in answer.headers["access-control-expose-headers"]
    assert answer.headers["X-Session-Id"] == "call-1"


async def test_a_name_of_a_session_belongs_to_the_user_of_the_key(
    serve: Serve, client_of: Clients
) -> None:
    api = await serve(keys=Keys(uses_stored=True))
    assert api.app_state.keys.stored is not None
    make = api.app_state.keys.stored.create
    server = await made_key(make, "admin")
    keys = [await made_key(make, "talk", user=name) for name in ("ann", "ben", "ann")]
    bound = await made_key(make, "talk", user="ann", session="s-9")

    begun = []
    for key in (server, *keys):
        said = await client_of(api, key).chat.completions.with_raw_response.create(
            model="parcel", messages=[user("hello")], extra_headers=SESSION
        )
        begun.append(said.headers["x-session-id"])
    assert begun[0] == "call-1"
    assert len(set(begun)) == 3
    assert begun[1] == begun[3]
    known = {"X-Session-Id": begun[1]}
    again = await client_of(api, keys[0]).chat.completions.with_raw_response.create(
        model="parcel", messages=[user("street=Elm")], extra_headers=known
    )
    assert again.headers["x-session-id"] == begun[1]
    own = await client_of(api, bound).chat.completions.with_raw_response.create(
        model="parcel", messages=[user("hello")]
    )
    assert own.headers["x-session-id"] == "s-9"
    with pytest.raises(openai.NotFoundError):
        await client_of(api, bound).chat.completions.create(
            model="parcel", messages=[user("hello")], extra_headers=known
        )


async def test_a_session_that_begins_with_a_message_counts_as_one(
    serve: Serve, client_of: Clients
) -> None:
    limits = RateLimits(read_limits("sessions", "key 1/minute"))
    api = await serve(keys=Keys([KEY], limits=limits), limits=limits)
    client = client_of(api)
    said: Any = {"model": "parcel", "messages": [user("hello")]}

    await client.chat.completions.create(**said, extra_headers=SESSION)
    with pytest.raises(openai.RateLimitError) as refused:
        await client.chat.completions.create(**said)
    later = {**said, "messages": [user("how much?")]}
    await client.chat.completions.create(**later, extra_headers=SESSION)

    error: Any = refused.value
    assert (error.type, error.code) == ("rate_limit_error", "too_many_requests")
    assert int(refused.value.response.headers["retry-after"]) > 0
    listed = await api.client.get("/v1/sessions", headers={"Authorization": f"Bearer {KEY}"})
    assert [one["session_id"] for one in listed.json()["sessions"]] == ["call-1"]


async def test_a_name_of_a_user_counts_as_one_session(serve: Serve, client_of: Clients) -> None:
    limits = RateLimits(read_limits("sessions", "key 1/minute"))
    api = await serve(keys=Keys(uses_stored=True, limits=limits), limits=limits)
    assert api.app_state.keys.stored is not None
    client = client_of(api, await made_key(api.app_state.keys.stored.create, "talk", user="ann"))

    replies = [
        await client.chat.completions.create(
            model="parcel", messages=[user(text)], extra_headers=SESSION
        )
        for text in ("hello", "how much?")
    ]

    said = [reply.choices[0].message.content for reply in replies]
    assert said == ["address: hello", "prices: how much?"]


async def made_key(make: Any, *scopes: str, **more: Any) -> str:
    """Make a key; return it."""
    return str((await make(KeyRequest(scopes, **more))).secret)
