"""The clinic's papers: the directory of doctors, the handbook, and the insurance rules.

Each file is read when it is first needed, and once. All people, plans and prices are invented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

FRONT_DESK = "555-0140"
COORDINATION = "555-0142"


@dataclass(frozen=True, slots=True)
class Slot:
    """A weekly appointment time: a day's English name and a 24-hour clock time."""

    day: str
    time: str

    def __str__(self) -> str:
        return f"{self.day} {self.time}"

    @property
    def order(self) -> tuple[int, str]:
        """A key that sorts slots from Monday morning on."""
        return (WEEK.index(self.day), self.time)


@dataclass(frozen=True, slots=True)
class Doctor:
    """One entry of the directory."""

    id: str
    name: str
    specialty: str
    gender: str
    languages: tuple[str, ...]
    place: str
    years: int
    focus: str
    slots: tuple[Slot, ...]

    @property
    def surname(self) -> str:
        """The last word of the name."""
        return self.name.split()[-1]

    def card(self) -> dict[str, Any]:
        """What a conversation remembers of a doctor; always the same, so that lists can compare."""
        return {
            "id": self.id,
            "name": self.name,
            "specialty": self.specialty,
            "place": self.place,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What an insurance plan pays for, or why it does not."""

    name: str
    active: bool
    referral_needed: bool
    covers: tuple[str, ...] | None
    facts: Mapping[str, str]
    reason: str

    def pays_for(self, specialty: str) -> bool:
        """Say whether the plan covers a specialty; None in `covers` means that it covers all."""
        return self.covers is None or specialty in self.covers


@dataclass(frozen=True, slots=True)
class Entry:
    """A question of the handbook with its answer.

    `keywords` name the topic, `also` are weaker hints for the search.
    """

    policy: str
    question: str
    answer: str
    keywords: tuple[str, ...]
    also: tuple[str, ...]
    plan_fact: str


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def _directory() -> dict[str, Any]:
    data: dict[str, Any] = _read("doctors.json")
    return data


@cache
def doctors() -> tuple[Doctor, ...]:
    """Return the whole directory, slots in the order of the week."""
    return tuple(_doctor(row) for row in _directory()["doctors"])


def _doctor(row: dict[str, Any]) -> Doctor:
    slots = sorted((Slot(**slot) for slot in row["slots"]), key=lambda slot: slot.order)
    return Doctor(**{**row, "languages": tuple(row["languages"]), "slots": tuple(slots)})


def doctor_by_id(doctor_id: object) -> Doctor | None:
    """Return a doctor, or None for an id that the directory does not have."""
    return next((doctor for doctor in doctors() if doctor.id == doctor_id), None)


@cache
def specialties() -> Mapping[str, tuple[str, ...]]:
    """Return each specialty with the words that people use for it, its own name included."""
    rows = _directory()["specialties"]
    return {name: (name, *row["says"]) for name, row in rows.items()}


def preparation(specialty: str) -> str:
    """Return how to prepare for a visit; empty for an unknown specialty."""
    return str(_directory()["specialties"].get(specialty, {}).get("preparation", ""))


@cache
def places() -> Mapping[str, tuple[str, ...]]:
    """Return each district with the words that people use for it, its own name included."""
    return {name: (name, *row["says"]) for name, row in _directory()["places"].items()}


def directions(place: str) -> str:
    """Return how to get to a district; empty for an unknown one."""
    return str(_directory()["places"].get(place, {}).get("directions", ""))


@cache
def languages() -> tuple[str, ...]:
    """Return every language that some doctor speaks."""
    return tuple(sorted({language for doctor in doctors() for language in doctor.languages}))


@cache
def handbook() -> tuple[Entry, ...]:
    """Return the entries of the handbook."""
    return tuple(
        Entry(
            policy=row["policy"],
            question=row["question"],
            answer=row["answer"],
            keywords=tuple(row["keywords"]),
            also=tuple(row.get("also", ())),
            plan_fact=row.get("plan_fact", ""),
        )
        for row in _read("handbook.json")
    )


@cache
def handbook_topics() -> frozenset[str]:
    """Return the words that mark a question as one for the handbook."""
    return frozenset(word for entry in handbook() for word in entry.keywords)


@cache
def _eligibility() -> dict[str, Any]:
    rules: dict[str, Any] = _read("eligibility.json")
    return rules


@cache
def plans() -> Mapping[str, Plan]:
    """Return the known insurance plans by the letters that begin their numbers."""
    return {row["prefix"]: _plan(row) for row in _eligibility()["plans"]}


@cache
def self_pay() -> Plan:
    """Return the terms for patients who pay for themselves."""
    return _plan(_eligibility()["self_pay"])


def number_form() -> str:
    """Return, in words, what an insurance number looks like."""
    return str(_eligibility()["number_form"])


def _plan(row: dict[str, Any]) -> Plan:
    covers = row.get("covers", "all")
    return Plan(
        name=row["name"],
        active=row["active"],
        referral_needed=row.get("referral_needed", True),
        covers=None if covers == "all" else tuple(covers),
        facts={key: row[key] for key in ("specialist_copay", "deductible") if key in row},
        reason=row.get("reason", ""),
    )
