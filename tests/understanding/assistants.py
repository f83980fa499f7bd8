"""Assistants as journeys: a task that collects, a second one, a question that is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from journeygraph import (
    ConfigurationError,
    Effect,
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    Locale,
    Pathway,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)

HERE = Path(__file__).parent
REGIONS = {"en": "GB", "de": "DE", "es": "ES", "fr": "FR"}
LANGUAGES = tuple(REGIONS)


def field(name: str, type: str = "text", *validators: Any, **more: Any) -> tuple[str, str, Any]:
    return name, type, {"validators": list(validators), **more}


OPTIONAL: Mapping[str, Any] = {"required": False}
COMING, PAST = Range("today"), Range(None, "today")
FIELDS: Mapping[str, Mapping[str, list[tuple[str, str, Any]]]] = {
    "restaurant": {
        "book_table": [
            field("party_size", "integer", Range(1, 20)),
            field("date", "date", COMING),
            field("time", "time", Range("12:00", "23:00")),
            field("name", "name"),
            field("seating", "enum", **OPTIONAL),
            field("wishes", **OPTIONAL),
        ],
        "order_taxi": [field("pickup_time", "time"), field("taxi_address", "address")],
    },
    "bank": {
        "send_money": [
            field("recipient", "name"),
            field("amount", "money", currency="EUR"),
            field("reference", **OPTIONAL),
        ],
        "block_card": [
            field("card_digits", "text", Regex(r"\d{4}"), extract=[r"(?<!\d)\d{4}(?!\d)"])
        ],
    },
    "clinic": {
        "book_visit": [
            field("full_name", "name"),
            field("date_of_birth", "date", PAST),
            field("phone", "phone"),
            field("reason"),
            field("urgency", "enum"),
            field("allergies", "list", **OPTIONAL),
        ],
        "prescription": [field("medicine")],
    },
    "hotel": {
        "book_room": [
            field("check_in", "date", COMING),
            field("check_out", "date", COMING),
            field("rooms", "integer", Range(1, 20)),
            field("guests", "integer", Range(1, 60)),
            field("breakfast", "boolean"),
            field("email", "email"),
            field("wishes", **OPTIONAL),
        ],
        "book_parking": [field("car_plate")],
    },
    "claim": {
        "file_claim": [
            field("accident_date", "date", PAST),
            field("place", "address"),
            field("damage"),
            field("injured", "boolean"),
            field("amount", "money", currency="EUR"),
            field(
                "policy_number",
                "text",
                Regex(r"[A-Za-z]{2}-\d{5}"),
                extract=[r"\b[A-Za-z]{2}-\d{5}\b"],
            ),
        ],
        "rental_car": [field("car_class", "enum")],
    },
    "telecom": {
        "change_plan": [
            field("plan", "enum"),
            field("phone", "phone"),
            field("start", "date", COMING),
        ],
        "report_fault": [field("fault"), field("since", "date", PAST)],
    },
    "employer": {
        "apply": [
            field("name", "name"),
            field("age", "integer", Range(14, 99)),
            field("years", "integer", Range(0, 80)),
            field("skills", "list"),
            field("income", "money", currency="EUR"),
            field("wage", "money", currency="EUR"),
            field("children", "integer", Range(0, 20)),
        ]
    },
    "vet": {
        "book_vet": [
            field("pet_name", "name"),
            field("symptoms", "list"),
            field("floor", "integer"),
            field("phone", "phone"),
            field("call_at", "time"),
        ]
    },
    "guesthouse": {
        "book_stay": [
            field("nights", "integer", Range(1, 60)),
            field("breakfast", "boolean"),
            field("name", "name"),
            field("wishes", **OPTIONAL),
        ]
    },
    "theatre": {
        "book_seats": [
            field("seats", "integer", Range(1, 30)),
            field("show", "enum"),
            field("name", "name"),
        ]
    },
}
"""Assistant -> task -> its fields, the main task first."""
SIX = ("restaurant", "bank", "clinic", "hotel", "claim", "telecom")
"""Those that speak English, German and Spanish; the others are there for single cases."""
TWO = ("restaurant", "hotel")
"""Those that speak French too."""


@cache
def words_of(assistant: str, language: str) -> Mapping[str, Any]:
    """Return the words of an assistant in a language."""
    words: Mapping[str, Any] = _words()[assistant][language]
    return words


@cache
def _words() -> Mapping[str, Any]:
    """Return the words of all assistants in all languages, read once."""
    with (HERE / "assistants.yaml").open(encoding="utf-8") as file:
        read: Mapping[str, Any] = YAML(typ="safe").load(file)
    return read


def main_task(assistant: str) -> str:
    """Return the id of the task that a session begins with."""
    return next(iter(FIELDS[assistant]))


def field_names(assistant: str) -> list[str]:
    """Return the names of the fields of the main task, in their order."""
    return [name for name, _, _ in FIELDS[assistant][main_task(assistant)]]


def is_optional(assistant: str, name: str) -> bool:
    return any(given == name and "required" in more for given, _, more in _all_fields(assistant))


def type_of(assistant: str, name: str) -> str:
    """Return the type of a field; empty where the assistant has none of the name."""
    return next((type for given, type, _ in _all_fields(assistant) if given == name), "")


def _all_fields(assistant: str) -> list[tuple[str, str, Any]]:
    return [each for fields in FIELDS[assistant].values() for each in fields]


@lru_cache
def locale_of(language: str) -> Locale:
    """Return where users are at home; it is in English where their language is not known."""
    try:
        return Locale(language=language, region=REGIONS[language], timezone="UTC")
    except ConfigurationError:
        return Locale(language="en", region=REGIONS[language], timezone="UTC")


@lru_cache
def assistant_of(assistant: str, language: str) -> type[Journey]:
    """Return an assistant as a journey."""
    words = words_of(assistant, language)
    body: dict[str, Any] = {
        "__doc__": next(iter(words["tasks"].values()))["means"],
        "__module__": __name__,
        "__escalation__": Escalation(),
        "__locale__": locale_of(language),
    }
    transitions: list[Transition] = []
    for task, fields in FIELDS[assistant].items():
        body[_class_name(task)] = _task(task, fields, words, is_main=not transitions)
        transitions.append(_transition(task, words["tasks"][task]))
    for name, info in words["info"].items():
        body[_class_name(name)] = _info(name, info)
        transitions.append(_transition(name, info))
    body["__transitions__"] = transitions
    return type(f"{assistant.title()}{language.title()}", (Journey,), body)


def _task(task: str, fields: Any, words: Mapping[str, Any], *, is_main: bool) -> type[Pathway]:
    own, first = words["tasks"][task], fields[0][0]
    body: dict[str, Any] = {
        "__doc__": own["means"],
        "__module__": __name__,
        "__title__": own["title"],
        "__fields__": [
            _field(name, type, more, words["fields"][name], is_confirmed=is_main)
            for name, type, more in fields
        ],
        "__effects__": [Effect(f"do_{task}", {"given": first}, done=own["done"])],
    }
    if not is_main:
        body["__return_behavior__"] = ReturnToPrevious()
    return type(_class_name(task), (Pathway,), body)


def _field(
    name: str, type: str, more: Mapping[str, Any], words: Mapping[str, Any], *, is_confirmed: bool
) -> Field:
    own = {key: words[key] for key in ("choices", "extract") if key in words}
    return Field(
        name,
        type,
        words["ask"],
        description=words["about"],
        label=words["label"],
        confirm=is_confirmed,
        **{**more, **own},
    )


def _info(name: str, info: Mapping[str, Any]) -> type[Pathway]:
    body = {
        "__doc__": info["means"],
        "__module__": __name__,
        "__title__": info["title"],
        "__agents__": [name],
        "__return_behavior__": ReturnToPrevious(policy="ask"),
    }
    return type(_class_name(name), (Pathway,), body)


def _transition(target: str, words: Mapping[str, Any]) -> Transition:
    trigger = IntentTrigger(patterns=words["phrases"], description=words["means"])
    return Transition(trigger, to_pathway=target)


def _class_name(name: str) -> str:
    return "".join(part.title() for part in name.split("_")) + "Path"


@cache
def agents_of(assistant: str, language: str) -> Mapping[str, Callable[..., Any]]:
    """Return the agents that answer the questions of an assistant."""
    info = words_of(assistant, language)["info"]
    return {name: (lambda ask, text=own["answer"]: text) for name, own in info.items()}


@cache
def taken_by(assistant: str) -> list[str]:
    """Return the tasks whose effects an assistant took; each try of a session empties it."""
    return []


@cache
def tools_of(assistant: str) -> Mapping[str, Callable[..., Any]]:
    """Return the effects of an assistant, which write down that they were taken."""

    def effect_of(task: str) -> Callable[..., Any]:
        def effect(given: object, idempotency_key: str) -> str:
            """Do what was collected."""
            taken_by(assistant).append(task)
            return "done"

        return effect

    return {f"do_{task}": effect_of(task) for task in FIELDS[assistant]}
