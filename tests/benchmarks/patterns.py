"""Costs of patterns: a thousand of them against ten, on one message."""

from __future__ import annotations

import random

from journeygraph.journeys.phrases import Matcher
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration

ROUNDS, CALLS = 200, 200
FEW, MANY = 10, 1000
_MESSAGE = (
    "Hello again, how do I change my appointment, how do I get there, and how do I know what "
    "the visit will cost me in the end?"
)


async def patterns(steps: Steps) -> list[Figure]:
    """Patterns of all kinds, and patterns that share their first words."""
    return [
        await _compared(steps, "patterns", _apart(MANY)),
        await _compared(steps, "patterns sharing first words", _alike(MANY)),
    ]


async def _compared(steps: Steps, kind: str, listed: list[str]) -> Figure:
    many, few = _matcher(listed), _matcher(listed[:FEW])
    assert many.match(_MESSAGE).keys() == few.match(_MESSAGE).keys() == {"q-0"}
    rounds = steps(f"{MANY} {kind}", ROUNDS)
    pairs = await alternate(_matching(many), _matching(few), rounds, CALLS)
    return pairs.figure(f"{MANY:,} {kind}, one message", f"{FEW} {kind}", 2.0, duration)


def _matching(matcher: Matcher) -> Action:
    async def match() -> None:
        for _ in range(CALLS):
            matcher.match(_MESSAGE)

    return match


def _matcher(listed: list[str]) -> Matcher:
    return Matcher((pattern, f"q-{place}") for place, pattern in enumerate(listed))


def _words(number: int, seed: int) -> list[str]:
    dice = random.Random(seed)
    letters = "abcdefghiklmnoprstuvw"
    found = {"".join(dice.choices(letters, k=dice.randint(4, 9))) for _ in range(2 * number)}
    return sorted(found)[:number]


def _apart(number: int) -> list[str]:
    firsts, seconds = _words(number, 4), _words(number, 5)
    made = [f"{one} {other}" for one, other in zip(firsts, seconds, strict=True)]
    return ["change my appointment", *made][:number]


def _alike(number: int) -> list[str]:
    return ["how do i change my appointment", *(f"how do i {w}" for w in _words(number, 6))][
        :number
    ]
