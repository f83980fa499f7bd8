"""Costs of collecting: in calls of a model, in the time of a turn, and to decide on commands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from journeygraph import (
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.draft import beginning, draft_of, new_turn
from journeygraph.nodes.features.decide import decide
from journeygraph.nodes.llm.command_schema import command_in
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, correct, fill, says
from journeygraph.nodes.services import Services
from journeygraph.nodes.turn.understand import matcher_of
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration, scratch

ROUNDS, DECISIONS = 60, 500
ATTEMPTS = 200
_LIMIT = 0.001
_LETTERS_A_TOKEN = 4
_THINGS = (
    *("rooms", "windows", "doors", "lamps", "chairs", "tables", "beds", "shelves", "carpets"),
    *("mirrors", "curtains", "plates", "bowls", "glasses", "spoons", "knives", "towels", "pillows"),
    *("blankets", "clocks", "radios", "bicycles", "ladders", "buckets", "brooms", "hammers"),
    *("boxes", "baskets", "bottles", "candles"),
)


async def forms(steps: Steps) -> list[Figure]:
    """All figures of collecting."""
    asked = await _calls(Cards, _SAID, "collecting", most=1)
    free = await _calls(Choices, _CHOSEN, "choices, ordinals, numbers, repeats, yes", most=0)
    turns = [await _history(steps), await _offline(steps)]
    return [asked, free, *turns, await _decided(steps), await _tokens()]


class Cards(Journey):
    """Answer for the cards of a bank."""

    __escalation__ = Escalation()

    class OrderPath(Pathway):
        """Order a new card."""

        __title__ = "the order"
        __fields__ = [
            Field("kind", "enum", "Which kind?", choices=["debit", "credit", "prepaid"]),
            Field("name", "name", "Whose name is on it?"),
            Field("limit", "integer", "Which limit a month?", confirm=True),
            Field("wish", "text", "Any wishes?", required=False),
        ]

    class FeesPath(Pathway):
        """Tell what a card costs."""

        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="asks what a card costs"), to_pathway="fees"),
    ]


class Choices(Journey):
    """Order a card by choosing."""

    class OrderPath(Pathway):
        """Order a new card."""

        __fields__ = [
            Field("kind", "enum", "Which kind?", choices=["debit", "credit", "prepaid"]),
            Field("colour", "enum", "Which colour?", choices=["green", "blue", "grey"]),
            Field("express", "boolean", "By express?"),
            Field("bank", "enum", "Which branch?", choices=["north", "south", "harbour"]),
            Field("sound", "enum", "Which sound?", choices=["bell", "none"], required=False),
            Field("limit", "integer", "Which limit a month?", confirm=True),
        ]

    __transitions__ = [
        Transition(IntentTrigger(description="asks what a card costs"), to_pathway="fees"),
    ]

    class FeesPath(Pathway):
        """Tell what a card costs."""

        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()


_SAID: list[tuple[str, dict[str, str]]] = [
    ("the one that you pay with right away, I think", {"kind": "debit"}),
    ("it is for my daughter, she is Lee Ann by her papers", {"name": "Lee Ann"}),
    ("well, a dozen hundreds or so", {"limit": "1200"}),
    ("nothing much, blue if there is any", {"wish": "blue"}),
]
"""What only a model understands, and what it makes of it."""
_CHOSEN: list[tuple[str, dict[str, str]]] = [
    (message, {})
    for message in (
        *("the second", "can you repeat that?", "blue", "yes please", "one moment"),
        *("the third one", "skip", "1200", "no, 1300", "yes"),
    )
]
"""What needs none."""


async def _calls(
    kind: type[Journey], said: list[tuple[str, dict[str, str]]], what: str, *, most: int
) -> Figure:
    """The calls of the turn that makes most of them."""
    meant = dict(said)

    def answer(call: Call) -> Any:
        values = meant[json.loads(call.message)["user_message"]]
        return says(fill(**values))(call)

    made: list[int] = []
    with scratch() as folder:
        async with _session(kind, folder / "cards.db", answer) as (journey, model):
            for message in meant:
                before = len(model.calls)
                await journey.process_message(message)
                made.append(len(model.calls) - before)
    worst = max(made)
    name = f"model calls a turn: {what} ({len(made)} turns)"
    shown = (str(worst), str(most))
    return Figure(
        name, "the calls allowed", *shown, worst / (most or 1), None, f"<= {most}", worst <= most
    )


@asynccontextmanager
async def _session(
    kind: type[Journey], file: Path, answer: Callable[[Call], Any] | None
) -> AsyncIterator[tuple[Journey, ScriptedModel]]:
    model = ScriptedModel(always=answer)
    config = JourneyConfig(persistence=f"sqlite:///{file}")
    agents = {name: lambda ask: "Nothing at all." for name in kind.spec.agents}
    asked = model if answer else False
    async with kind("bench", config, agents=agents, model=asked) as journey:
        await journey.start()
        yield journey, model


def _form(fields: int) -> type[Journey]:
    """Return a journey that counts so many things."""
    asked = [Field(name, "integer", f"How many {name}?") for name in _THINGS[:fields]]
    asked.append(Field("last", "date", "When was that?"))  # nothing but a date is an answer
    path = type("FormPath", (Pathway,), {"__fields__": asked})
    return type(
        f"Form{fields}", (Journey,), {"__doc__": "Count what is in a house.", "FormPath": path}
    )


class _Filled:
    """A session in which all fields but the last have a value, and the first ones change."""

    def __init__(self, fields: int) -> None:
        self.fields, self.turns = fields, count()
        self.values = {name: str(n) for n, name in enumerate(_THINGS[:fields])}

    def answer(self, call: Call) -> Any:
        number = next(self.turns)
        if not number:
            return says(fill(**self.values))(call)
        return says(correct(**{_THINGS[number % self.fields]: str(1_000 + number)}))(call)


async def _history(steps: Steps) -> Figure:
    """Change one of many fields after many changes, and one of few after none."""
    many, few = _Filled(30), _Filled(3)
    with scratch() as folder:
        async with (
            _session(_form(30), folder / "many.db", many.answer) as (old, _),
            _session(_form(3), folder / "few.db", few.answer) as (young, _),
        ):
            for journey, turns in ((old, ATTEMPTS - 30), (young, 1)):
                for _ in steps("attempts made before", turns):
                    await journey.process_message("as I said before")
            pairs = await alternate(_turn(old), _turn(young), steps("turns of both forms", ROUNDS))
    what = f"turn with 30 fields and {ATTEMPTS} attempts, SQLite, model that answers at once"
    return pairs.figure(what, "3 fields, at first", 1.3, duration)


def _turn(journey: Journey) -> Action:
    async def turn() -> None:
        reply = await journey.process_message("as I said before")
        assert reply.metadata["usage"]["model_calls"] == 1

    return turn


async def _offline(steps: Steps) -> Figure:
    """The same where nobody but the runtime hears what is changed."""
    with scratch() as folder:
        async with (
            _session(_form(30), folder / "many.db", None) as (old, _),
            _session(_form(3), folder / "few.db", None) as (young, _),
        ):
            for journey, fields in ((old, 30), (young, 3)):
                for number in range(fields):
                    await journey.process_message(str(number))
                await journey.process_message("2030-05-01")
            changed = _changing(old)
            for _ in steps("attempts made before", ATTEMPTS - 31):
                await changed()
            pairs = await alternate(changed, _changing(young), steps("turns of both", ROUNDS))
    what = f"turn with 30 fields of one type and {ATTEMPTS} attempts, SQLite, no model"
    return pairs.shown(what, "3 fields, at first", duration)


def _changing(journey: Journey) -> Action:
    values = count(1_000)

    async def turn() -> None:
        value = next(values)
        reply = await journey.process_message(f"no, the windows are {value}")
        assert reply.accumulated_context["windows"] == value

    return turn


_COMMANDS: list[dict[str, Any]] = [
    {"command": "fill", "field": "kind", "value": "debit"},
    {"command": "fill", "field": "colour", "value": "the blue one"},
    {"command": "fill", "field": "express", "value": "yes please"},
    {"command": "fill", "field": "limit", "value": "about 1200"},
    {"command": "fill", "field": "limit", "value": "1300"},
    {"command": "fill", "field": "verified", "value": "true"},
    {"command": "correct", "field": "limit", "value": "1400"},
    {"command": "choose", "target": "nothing that was offered"},
    {"command": "explain", "field": "express"},
    {"command": "go", "target": "fees"},
]
_TEN = json.dumps(
    [{"field": None, "value": None, "target": None, "confidence": 0.95, **c} for c in _COMMANDS]
)


async def _decided(steps: Steps) -> Figure:
    """Decide on ten commands of one message: values, moves, and what has to be dropped."""
    spec, config = Choices.spec, JourneyConfig()
    services = Services(spec, config, {}, matcher_of(spec))
    commands = [command_in(item) for item in json.loads(_TEN)]

    async def ours() -> None:
        turn, position = new_turn(1, message="all at once"), beginning(spec)
        state: Any = {"messages": [], "context": {}, "fields": {}}
        draft = draft_of(services, state, turn, position)
        await decide(draft, commands)
        assert draft.value("limit") == 1400

    async def theirs() -> None:
        json.loads(_TEN)

    pairs = await alternate(ours, theirs, steps("ten commands", DECISIONS))
    within = "within" if median(pairs.ours) < _LIMIT else "over"
    what = f"to decide on 10 commands, values and their checks among it ({within} 1 ms)"
    return pairs.shown(what, "json.loads of them", duration)


async def _tokens() -> Figure:
    """What is sent to understand a message where a form of ten fields is open."""
    sizes = [await _tokens_of(fields) for fields in (10, 1)]
    shown = [f"{size:.0f}" for size in sizes]
    ratio = sizes[0] / sizes[1]
    what = "prompt tokens to understand a message, form of 10 fields"
    return Figure(
        what, "of 1; four letters a token", shown[0], shown[1], ratio, None, "shown", reached=True
    )


async def _tokens_of(fields: int) -> float:
    with scratch() as folder:
        filled = _Filled(fields)
        async with _session(_form(fields), folder / "form.db", filled.answer) as (journey, model):
            await journey.process_message("as I said before")
            (call,) = model.calls
    asked = [call.body[name] for name in ("messages", "response_format")]
    return len(json.dumps(asked, ensure_ascii=False)) / _LETTERS_A_TOKEN
