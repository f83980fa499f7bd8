"""A criterion of completion may be written in every way that Python has for a function."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from journeygraph import Journey, Pathway


def is_named(context: Any) -> bool:
    return "name" in context


class Rule:
    def __init__(self, name: str) -> None:
        self.name = name

    def holds(self, context: Any) -> bool:
        return self.name in context

    __call__ = holds


def has(name: str, context: Any) -> bool:
    return name in context


class ByLambda(Pathway):
    __complete_when__ = lambda context: "name" in context  # noqa: E731


class ByStaticMethod(Pathway):
    @staticmethod
    def __complete_when__(context: Any) -> bool:
        return "name" in context


class ByClassMethod(Pathway):
    WANTED = "name"

    @classmethod
    def __complete_when__(cls, context: Any) -> bool:
        return cls.WANTED in context


class ByFunctionInTheBody(Pathway):
    def __complete_when__(context: Any) -> bool:
        return "name" in context


class ByNamedFunction(Pathway):
    __complete_when__ = is_named


class ByBoundMethod(Pathway):
    __complete_when__ = Rule("name").holds


class ByCallableObject(Pathway):
    __complete_when__ = Rule("name")


class ByPartial(Pathway):
    __complete_when__ = functools.partial(has, "name")


class ByNames(Pathway):
    __complete_when__ = ("name",)


class Inherited(ByLambda):
    pass


@pytest.mark.parametrize(
    "base",
    [
        ByLambda,
        ByStaticMethod,
        ByClassMethod,
        ByFunctionInTheBody,
        ByNamedFunction,
        ByBoundMethod,
        ByCallableObject,
        ByPartial,
        ByNames,
        Inherited,
    ],
)
async def test_a_criterion_may_be_written_as(
    base: type[Pathway], talk: Any, memory_url: str
) -> None:
    class Trip(Journey):
        class AskPath(base):  # type: ignore[misc,valid-type]
            __agents__ = ["clerk"]
            __accumulate__ = ["name"]
            __next__ = "end"

        class EndPath(Pathway):
            __agents__ = ["host"]

    def clerk(payload: dict[str, Any]) -> dict[str, Any]:
        name = payload["message"].partition("I am ")[2]
        return {"response": f"Hello {name}", "name": name or None}

    chat = await talk(Trip, {"clerk": clerk, "host": lambda _: "Bye"}, memory_url)

    assert await chat.says("hm") == "Hello "
    assert await chat.says("I am Ada") == "Hello Ada"
    assert chat.path == ["ask", "end"]
    assert chat.last.metadata["flags"] == []
