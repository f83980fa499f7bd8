"""What keeping an output costs in a large context, against writing that context out once."""

from __future__ import annotations

import json
import random
from typing import Any

from nodes.context import Context, Op, checked
from nodes.plain import canonical, size
from tests.benchmarks.material import sentence
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration

ROUNDS = 100
SIZE = 1_000_000
LIMIT = 1024 * 1024


async def merging(steps: Steps) -> list[Figure]:
    """Small updates of every kind into contexts of a megabyte."""
    mixed, texts, records = _documents(), {"log": _texts()}, {"log": _records()}
    small: list[Op] = [
        ["replace", "topic", "knee"],
        ["merge", "patient", {"town": "Leiden"}],
        ["union", "rejected", ["dr-meyer"]],
    ]
    entry = {"id": "e-new", "text": "one more", "score": 3}
    beside = ["replace", "topic", "knee"]
    cases: list[tuple[str, Context, list[Op]]] = [
        ("three small values into", mixed, small),
        ("append to a list of records of", records, [["append", "log", entry], beside]),
        ("undeclared list of texts of", texts, [["auto", "log", ["one more"]], beside]),
        ("undeclared list of records of", records, [["auto", "log", [entry]], beside]),
        ("undeclared dict into", mixed, [["auto", "documents", {"d-7": {"read": True}}]]),
    ]
    figures = [await _compared(steps, *case) for case in cases]
    return [*figures, await _standard_library(steps, mixed, small)]


async def _compared(steps: Steps, what: str, context: Context, ops: list[Op]) -> Figure:
    rounds = steps(what, ROUNDS)
    pairs = await alternate(_merging(context, ops), _writing(context), rounds)
    return pairs.figure(f"merge: {what} 1 MB", "one canonical JSON of it", 2.0, duration)


async def _standard_library(steps: Steps, context: Context, ops: list[Op]) -> Figure:
    async def written() -> None:
        json.dumps(context, sort_keys=True)

    pairs = await alternate(_merging(context, ops), written, steps("json.dumps", ROUNDS // 4))
    return pairs.figure(
        "merge: three small values into 1 MB", "json.dumps(sort_keys)", 2.0, duration
    )


def _merging(context: Context, ops: list[Op]) -> Action:
    async def merge() -> None:
        checked(context, ops, LIMIT)

    return merge


def _writing(context: Context) -> Action:
    async def write() -> None:
        canonical(context)

    return write


def _filled(entry: Any, start: Any) -> Any:
    """Add entries until there is a megabyte of them."""
    total, number = size(start), 0
    while total < SIZE:
        key, value = entry(number)
        start.append(value) if isinstance(start, list) else start.update({key: value})
        total, number = total + size(value) + len(key) + 4, number + 1
    return start


def _record(number: int) -> tuple[str, Any]:
    dice = random.Random(number)
    record = {"id": f"e-{number}", "text": sentence(dice, 60, 300), "score": number % 7}
    return f"d-{number}", {**record, "tags": ["a", "b"], "by": {"name": "desk", "shift": 2}}


def _documents() -> Context:
    kept = {"topic": "back", "patient": {"name": "Ada Park"}, "rejected": ["dr-okafor"]}
    return {**kept, "documents": _filled(_record, {})}


def _records() -> list[Any]:
    listed: list[Any] = _filled(_record, [])
    return listed


def _texts() -> list[Any]:
    listed: list[Any] = _filled(lambda n: ("", sentence(random.Random(n), 60, 300)), [])
    return listed
