"""The key of a call is passed wherever a function takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Call,
    ConfigurationError,
    Effect,
    Field,
    InputField,
    Journey,
    ModelAgent,
    OutputField,
    Pathway,
    Signature,
    load_journey,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, UseTool

KEYS: list[str] = []


@pytest.fixture(autouse=True)
def fresh() -> None:
    KEYS.clear()


def book(day: str, idempotency_key: str) -> str:
    """Book.

    Args:
        day: The day.
        idempotency_key: The key.
    """
    KEYS.append(idempotency_key)
    return f"{day} it is"


FILE = """
id: desk
tools: [{function: {name: book, parameters: SCHEMA}}]
states:
  visit:
    fields: [{name: day, extract: ['[a-z]+day']}]
    effects: [{tool: book, save: booked, done: "{booked}."}]
    complete_when: never
"""


@pytest.mark.parametrize(
    "schema",
    [
        "{type: object, properties: {day: {type: string}}, required: [day]}",
        "{type: object, properties: {day: {type: string}}, additionalProperties: false}",
        "{type: object, properties: {day: {type: string}, idempotency_key: {type: string}},"
        " required: [day, idempotency_key]}",
    ],
    ids=["not listed", "closed", "listed"],
)
async def test_an_effect_of_a_file_gets_its_key_whatever_the_schema_lists(
    talk: Callable[..., Any], memory_url: str, tmp_path: Path, schema: str
) -> None:
    file = tmp_path / "desk.yaml"
    file.write_text(FILE.replace("SCHEMA", schema))
    options = {"tools": {"book": book}, "model": False}
    chat = await talk(load_journey(file), {}, memory_url, options=options)

    await chat.says("hello")
    assert await chat.says("sunday") == "sunday it is."
    assert len(KEYS) == 1


class Look(Journey):
    """Look."""

    class LookPath(Pathway):
        __agents__ = ["clerk"]
        __calls__ = [Call("book", {"day": "message"})]
        __complete_when__ = NEVER


async def test_a_call_gets_one_key_in_each_turn(talk: Callable[..., Any], memory_url: str) -> None:
    options = {"tools": {"book": book}, "model": False}
    agents = {"clerk": lambda ask: ask["tool_results"]["book"]}
    chat = await talk(Look, agents, memory_url, options=options)

    assert [await chat.says(day) for day in ("sunday", "sunday")] == ["sunday it is"] * 2
    assert len({*KEYS}) == 2


class Ask(Signature):
    """Answer."""

    message: str = InputField(description="The question")
    response: str = OutputField(description="The answer")


class Chatting(Journey):
    """Talk."""

    class TalkPath(Pathway):
        __signature__ = Ask
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


async def test_a_model_is_not_shown_the_key_and_its_call_gets_one(
    talk: Callable[..., Any], memory_url: str
) -> None:
    wish = UseTool("book", day="sunday", idempotency_key="made up")
    with ScriptedModel(wish, {"response": "Booked."}) as model:
        agents = {"clerk": ModelAgent(tools=[book])}
        chat = await talk(Chatting, agents, memory_url, options={"model": model})

        assert await chat.says("Book sunday") == "Booked."
        assert "idempotency_key" not in str(model.calls[0].body)
    assert len(KEYS) == 1
    assert KEYS != ["made up"]


def free(day: str, idempotency_key: str) -> bool:
    """Say whether a day is free."""
    KEYS.append(idempotency_key)
    return day == "sunday"


async def test_a_check_of_a_file_gets_a_key_too(
    talk: Callable[..., Any], memory_url: str, tmp_path: Path
) -> None:
    field = "{name: day, extract: ['[a-z]+day'], validators: [{check: free}]}"
    file = tmp_path / "desk.yaml"
    schema = "{type: object, properties: {day: {type: string}}}"
    file.write_text(
        f"id: desk\ntools: [{{function: {{name: free, parameters: {schema}}}}}]\n"
        f"states: {{visit: {{fields: [{field}], complete_when: never}}}}\n"
    )
    options = {"tools": {"free": free}, "model": False}
    chat = await talk(load_journey(file), {}, memory_url, options=options)

    await chat.says("sunday")
    assert chat.context["day"] == "sunday"
    assert KEYS


async def test_the_key_is_no_argument_that_an_author_gives(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Visit(Journey):
        class BookPath(Pathway):
            __fields__ = [Field("day")]
            __effects__ = [Effect("book", {"idempotency_key": "day"})]

    with pytest.raises(ConfigurationError, match="filled by the runtime"):
        await talk(Visit, {}, memory_url, options={"tools": {"book": book}, "model": False})
