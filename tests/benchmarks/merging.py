"""Costs of an output in a large context, against writing that context once."""

from __future__ import annotations

import json

from journeygraph.nodes.json_data import canonical
from journeygraph.nodes.state.context import Context, Op, checked
from tests.benchmarks.material import record, records, texts
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration

ROUNDS = 100
LIMIT = 1024 * 1024


async def merging(steps: Steps) -> list[Figure]:
    """Small updates of every kind into contexts of a megabyte."""
    mixed, notes, listed = _documents(), {"log": texts()}, {"log": records()}
    small: list[Op] = [
        ["replace", "topic", "knee"],
        ["merge", "patient", {"town": "Leiden"}],
        ["union", "rejected", ["dr-meyer"]],
    ]
    entry = {**record(7), "id": "e-new"}
    beside = ["replace", "topic", "knee"]
    cases: list[tuple[str, Context, list[Op]]] = [
        ("three small values into 1 MB", mixed, small),
        ("APPEND to a list of records, 1 MB", listed, [["append", "log", entry], beside]),
        ("undeclared, to a list of texts, 1 MB", notes, [["auto", "log", ["one more"]], beside]),
        ("undeclared, to a list of records, 1 MB", listed, [["auto", "log", [entry]], beside]),
        ("undeclared, into a dict, 1 MB", mixed, [["auto", "documents", {"e-7": {"read": True}}]]),
    ]
    figures = [await _compared(steps, *case) for case in cases]
    return [*figures, await _standard_library(steps, mixed, small)]


async def _compared(steps: Steps, what: str, context: Context, ops: list[Op]) -> Figure:
    rounds = steps(what, ROUNDS)
    pairs = await alternate(_merging(context, ops), _writing(context), rounds)
    return pairs.figure(f"merge: {what}", "one canonical JSON of it", 2.0, duration)


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


def _documents() -> Context:
    kept = {"topic": "back", "patient": {"name": "Ada Park"}, "rejected": ["dr-okafor"]}
    return {**kept, "documents": {entry["id"]: entry for entry in records()}}
