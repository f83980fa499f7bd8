"""A script gives its answers in order, records what it was asked, and tells what did not add up."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from journeygraph.nodes.llm.scripted import (
    Call,
    Fault,
    Script,
    Slow,
    leads_nowhere,
    leads_to,
)
from journeygraph.nodes.llm.scripted.wire import Reply


class Order(BaseModel):
    number: str
    note: str | None = None


def asked(*messages: dict[str, Any], **more: Any) -> bytes:
    said = messages or ({"role": "user", "content": "Where is my parcel?"},)
    return json.dumps({"model": "small", "messages": list(said), **more}).encode()


def sent(reply: Reply) -> bytes:
    return b"".join(piece.data for piece in reply.pieces)


def spoken(reply: Reply) -> str:
    """What a reply says that is no stream."""
    return json.loads(sent(reply))["choices"][0]["message"]["content"]


def streamed(reply: Reply) -> list[dict[str, Any]]:
    """The chunks of a stream."""
    lines = [line.removeprefix("data: ") for line in sent(reply).decode().split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def wanting(schema: Any, name: str = "order", strict: bool = True) -> dict[str, Any]:
    wanted = {"name": name, "strict": strict, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


# Answers.


def test_an_answer_function_may_add_answers() -> None:
    def first(call: Call) -> str:
        script.will_answer("second")
        return "first"

    script = Script(first)

    assert [spoken(script.reply(asked())) for _ in range(2)] == ["first", "second"]
    script.check()


@pytest.mark.parametrize(
    "text", ["One two  three.\n", " a", "", "unbrokenunbrokenunbroken", "\n \n"]
)
@pytest.mark.parametrize("tokens", [None, 1, 4, 1000])
def test_the_pieces_of_a_stream_are_the_text(text: str, tokens: int | None) -> None:
    with Script(Slow(text, tokens=tokens)) as script:
        chunks = streamed(script.reply(asked(stream=True)))

    pieces = [chunk["choices"][0]["delta"].get("content") for chunk in chunks[1:-1]]
    assert "".join(pieces) == text
    assert "" not in pieces
    assert tokens is None or len(pieces) == min(tokens, len(text))
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


# Verdicts.


def understanding(*pathways: str) -> bytes:
    """A request for verdicts, as the runtime makes it."""
    data = {"questions": [{"question": f"to {place}", "leads_to": place} for place in pathways]}
    return asked(
        {"role": "user", "content": json.dumps(data)},
        **wanting({"properties": {"verdicts": {}}}, name="understanding", strict=False),
    )


def test_a_message_leads_to_one_pathway_or_to_none() -> None:
    with Script(leads_to("faq", confidence=0.6), leads_nowhere) as script:
        replies = [script.reply(understanding("faq", "booking")) for _ in range(2)]
    there, nowhere = (json.loads(spoken(reply))["verdicts"] for reply in replies)

    assert [(verdict["question"], verdict["holds"]) for verdict in there] == [
        ("to faq", True),
        ("to booking", False),
    ]
    assert there[0]["confidence"] == 0.6
    assert [verdict["holds"] for verdict in nowhere] == [False, False]


@pytest.mark.parametrize(
    ("request_body", "reason"),
    [
        (understanding("booking"), "no transition leads to 'faq' here"),
        (asked(), "not for verdicts"),
    ],
    ids=["elsewhere", "another call"],
)
def test_a_verdict_that_cannot_be_given_fails_the_script(request_body: bytes, reason: str) -> None:
    script = Script(leads_to("faq"))

    assert script.reply(request_body).status == 500
    with pytest.raises(AssertionError, match=reason):
        script.check()


# Pace.


def test_a_slow_answer_shares_its_time_out_behind_its_tokens() -> None:
    with Script(always=Slow("a" * 50, before=0.5, over=1.0, tokens=50)) as script:
        stream, whole = script.reply(asked(stream=True)), script.reply(asked())

    assert stream.wait == 0.5
    assert sum(piece.wait for piece in stream.pieces) == pytest.approx(1.0)
    assert [piece.wait for piece in stream.pieces if piece.spoken][:3] == [0, 0.02, 0.02]
    assert whole.wait == 1.5


def test_a_fault_can_be_slow() -> None:
    with Script(Slow(Fault.status(500), before=0.5)) as script:
        reply = script.reply(asked(stream=True))

    assert (reply.status, reply.wait) == (500, 0.5)


@pytest.mark.parametrize(
    ("after", "header"),
    [
        (2, "2"),
        (0.5, "0.5"),
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "Wed, 02 Jan 2030 03:04:05 GMT"),
    ],
)
def test_too_many_requests_say_when_to_come_again(after: Any, header: str) -> None:
    with Script(Fault.status(429, retry_after=after), Fault.status(429)) as script:
        told, silent = script.reply(asked()), script.reply(asked())

    assert (told.status, told.headers["retry-after"]) == (429, header)
    assert "retry-after" not in silent.headers


# The record.


def test_a_call_is_recorded_as_a_test_wants_to_see_it() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    wanted = {"name": "understanding", "strict": True, "schema": schema}
    request = asked(
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "First?"}]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Second?"},
        response_format={"type": "json_schema", "json_schema": wanted},
        tools=[{"type": "function", "function": {"name": "find", "parameters": {}}}],
        temperature=0.5,
        stream=True,
    )
    with Script("Yes.") as script:
        script.reply(request, authorized=True)
    (call,) = script.calls

    assert (call.number, call.model, call.temperature, call.stream) == (1, "small", 0.5, True)
    assert (call.schema, call.schema_name, call.tools) == (schema, "understanding", ["find"])
    assert call.text == "Be kind.\nFirst?\nYes.\nSecond?"
    assert call.message == "Second?"
    assert call.messages[2] == {"role": "assistant", "content": "Yes."}
    assert call.authorized
    assert call.body == json.loads(request)


def test_a_call_without_extras_is_recorded_too() -> None:
    with Script("Yes.") as script:
        script.reply(asked({"role": "system", "content": "Be kind."}))
    (call,) = script.calls

    assert (call.schema, call.schema_name, call.tools, call.temperature) == (None, "", [], None)
    assert (call.message, call.stream, call.authorized) == ("", False, False)


# What does not add up.


def test_a_function_that_fails_reaches_the_test() -> None:
    def refuses(call: Call) -> str:
        assert "please" in call.message, "the user was not polite"
        return "Certainly."

    script = Script(refuses, lambda call: None)  # type: ignore[arg-type, return-value]

    assert [script.reply(asked()).status for _ in range(2)] == [500, 500]
    with pytest.raises(AssertionError, match=r"call 1 failed.*not polite") as raised:
        script.check()
    assert "call 2 failed: TypeError" in str(raised.value)
    assert isinstance(raised.value.__cause__, AssertionError)


async def test_leaving_a_block_checks_unless_it_failed_already() -> None:
    with pytest.raises(AssertionError, match="unused answer"), Script("one"):
        pass
    with pytest.raises(AssertionError, match="unused answer"):
        async with Script("one"):
            pass
    with pytest.raises(KeyError), Script("one"):
        raise KeyError
    with pytest.raises(KeyError):
        async with Script("one"):
            raise KeyError


@pytest.mark.parametrize(
    "answer", [None, 7, b"text", [], [1], Order, ["text", 1]], ids=lambda answer: repr(answer)
)
def test_what_is_no_answer_is_refused_where_it_is_written(answer: Any) -> None:
    async def later(call: Call) -> str:
        return ""

    wrongs: list[Any] = [answer, later]
    for wrong in wrongs:
        with pytest.raises(TypeError):
            Script().will_answer(wrong)
        with pytest.raises(TypeError):
            Slow(wrong)
    if answer is not None:
        with pytest.raises(TypeError):
            Script(always=answer)


def test_a_fault_keeps_its_own_pieces() -> None:
    with pytest.raises(TypeError, match="its own pieces"):
        Slow(Fault.hang(), tokens=3)


def test_many_threads_get_one_answer_each() -> None:
    script = Script(*map(str, range(400)))
    got: list[str] = []

    def ask() -> None:
        got.extend(spoken(script.reply(asked())) for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    script.check()
    assert sorted(map(int, got)) == list(range(400))
    assert [call.number for call in script.calls] == list(range(1, 401))


# What OpenAI would refuse.

USER = {"role": "user", "content": "Hi"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "{}"}
CLOSED = {"type": "object", "additionalProperties": False}


def function(name: str = "find", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


@pytest.mark.parametrize(
    "request_body",
    [
        b"no json",
        b"[]",
        b'{"model": "small"}',
        b'{"model": "small", "messages": []}',
        b'{"model": "small", "messages": ["Hi"]}',
        b'{"messages": [{"role": "user", "content": "Hi"}]}',
        asked({"role": "user", "content": None}),
        asked(USER, RESULT),
        asked(USER, CALLING, USER),
        asked(USER, CALLING),
        asked(USER, CALLING, RESULT, RESULT),
        asked(tools=[]),
        asked(tools=[function("find it")]),
        asked(tools=[function(strict=True, parameters={"type": "object"})]),
        asked(tools=[{"type": "function"}]),
        asked(response_format={"type": "json_object"}),
        asked(**wanting(CLOSED, name="an order")),
        asked(**wanting({"type": "array", "items": CLOSED})),
        asked(**wanting({"type": "object"})),
        asked(**wanting({**CLOSED, "properties": {"number": {"type": "string"}}})),
        asked(**wanting({**CLOSED, "$defs": {"place": {"type": "object"}}})),
        asked(
            **wanting(
                {
                    **CLOSED,
                    "properties": {
                        "all": {"anyOf": [{"type": "array", "items": {"properties": {}}}]}
                    },
                    "required": ["all"],
                }
            )
        ),
    ],
)
def test_what_openai_refuses_is_refused(request_body: bytes) -> None:
    script = Script("unused")

    assert script.reply(request_body).status == 400
    assert script.calls == []
    with pytest.raises(AssertionError, match=r"OpenAI would refuse(.|\n)*unused answer"):
        script.check()


@pytest.mark.parametrize(
    "request_body",
    [
        asked(USER, CALLING, RESULT, USER),
        asked(USER, {**CALLING, "content": "Let me look."}, RESULT),
        asked(tools=[function(strict=True, parameters=CLOSED), function("other", parameters={})]),
        asked(
            {"role": "user", "content": "Answer in JSON"}, response_format={"type": "json_object"}
        ),
        asked(response_format={"type": "text"}),
        asked(**wanting({"type": "object"}, strict=False)),
        asked(
            **wanting(
                {
                    **CLOSED,
                    "properties": {"all": {"type": "array", "items": CLOSED}, "one": {"enum": [1]}},
                    "required": ["one", "all"],
                }
            )
        ),
    ],
)
def test_what_openai_takes_is_taken(request_body: bytes) -> None:
    with Script("Certainly.") as script:
        assert script.reply(request_body).status == 200
