"""Recall of stage one: the share of matching guidelines that it finds, by labelled messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from journeygraph import GuidelineSpec, Scope
from journeygraph.nodes.guidelines.index import Index

MOST = 20
"""Candidates of a message (flow control, two-stage matching)."""
HERE = Path(__file__).parent
PLACES = [("talk", "desk")]


@dataclass(frozen=True, slots=True)
class Found:
    """What stage one made of one labelled message."""

    message: str
    kind: str
    relevant: frozenset[str]
    candidates: tuple[str, ...]


def labelled(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    return entries


def guidelines(half: str = "") -> tuple[GuidelineSpec, ...]:
    """Return what the messages of a set are about; both halves share theirs."""
    name = "elsewhere_guidelines" if half == "elsewhere" else "guidelines"
    return tuple(_read(**entry) for entry in labelled(name))


def _read(
    id: str, scope: str, condition: str, keywords: list[str] | None = None, always: bool = False
) -> GuidelineSpec:
    (pathway, journey) = PLACES[0]
    return GuidelineSpec(
        id=id,
        scope=Scope(scope),
        condition=condition,
        action=id,
        journey=None if scope == "global" else journey,
        pathway=pathway if scope == "state" else None,
        keywords=tuple(keywords or ()),
        always=always,
    )


def found(half: str, most: int = MOST) -> Iterator[Found]:
    index = Index(guidelines(half))
    for entry in labelled(half):
        candidates = index.candidates(entry["message"], PLACES, most)
        yield Found(
            entry["message"],
            entry["kind"],
            frozenset(entry["relevant"]),
            tuple(candidate.guideline.id for candidate in candidates),
        )


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the guidelines that apply which are candidates.

    `by_words` leaves out those that are considered always; `candidates` is the mean of a message.
    """

    all: float
    by_words: float
    messages: int
    candidates: float


def recall(half: str, most: int = MOST) -> Recall:
    always = {guideline.id for guideline in guidelines(half) if guideline.always}
    results = list(found(half, most))
    pairs = [(id_, id_ in result.candidates) for result in results for id_ in result.relevant]
    worded = [hit for id_, hit in pairs if id_ not in always]
    return Recall(
        sum(hit for _, hit in pairs) / len(pairs),
        sum(worded) / len(worded),
        len(results),
        sum(len(result.candidates) for result in results) / len(results),
    )
