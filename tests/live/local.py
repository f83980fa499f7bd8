"""Send the messages of the places with a model of a server, and sum up what the wire shows."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rich.console import Console

from journeygraph import Journey, JourneyConfig
from tests.live.places import Place, Shop, Workshop
from tests.live.wire import Exchange, watched

SETTINGS: dict[str, Any] = {
    "agent_model": "local",
    "intent_detection_model": "local",
    # It shares the cores of this machine: no call is to end by its time instead of its tokens.
    **dict.fromkeys(("intent_timeout_seconds", "model_timeout_seconds"), 240.0),
    **{"model_budget_seconds": 600.0, "pathway_timeout_seconds": 600.0},
    "turn_timeout_seconds": 900.0,
    "breaker_failures": 1_000,
    # An unused request would stop in the middle, and prove nothing.
    "speculate": False,
}


_WHOLE = ("stop", "tool_calls")


@dataclass
class Report:
    """Outcomes of messages.

    Attributes:
        exchanges: All calls of the model.
        messages: The number of messages, without those that lead to a place.
        effects: The effects that ran.
        outside: The messages in which a model gave something that was not open.
        crashes: The errors that were raised.
    """

    exchanges: Sequence[Exchange] = ()
    messages: int = 0
    effects: list[str] = field(default_factory=list)
    outside: int = 0
    crashes: list[str] = field(default_factory=list)

    @property
    def ended(self) -> list[Exchange]:
        """The calls with a whole answer: neither given up in time, nor at their limit."""
        return [call for call in self.exchanges if call.is_refused or call.finish in _WHOLE]

    @property
    def given_up(self) -> list[Exchange]:
        """The calls that the product gave up, such as a rewording that took too long."""
        return [call for call in self.exchanges if not call.is_refused and call.finish is None]

    @property
    def past(self) -> list[Exchange]:
        """The calls without a limit, or with more tokens than it."""
        return [
            call
            for call in self.exchanges
            if call.limit is None or call.tokens("completion") > call.limit
        ]

    @property
    def invalid(self) -> list[Exchange]:
        """The answers that do not follow their schema, though they did not reach their limit."""
        return [call for call in self.ended if not call.is_valid]

    @property
    def holds(self) -> bool:
        """Return whether all that must hold did."""
        failed = (self.invalid, self.past, self.effects, self.crashes)
        return bool(self.ended) and not any(failed)

    def rows(self) -> Iterator[tuple[str, object]]:
        """Yield the rows of the table that it is."""
        ended, valid = len(self.ended), len(self.ended) - len(self.invalid)
        yield "messages", self.messages
        by_purpose = Counter(call.purpose for call in self.exchanges)
        told = ", ".join(f"{name} {count}" for name, count in by_purpose.most_common())
        yield "calls", f"{len(self.exchanges)} ({told})"
        yield "valid answers", f"{valid} of {ended} ({valid / max(ended, 1):.0%})"
        yield "given up by their deadline", len(self.given_up)
        yield "cut off at their limit", len(self.exchanges) - ended - len(self.given_up)
        yield "calls past their limit", len(self.past)
        yield "messages with an answer outside the closed set", self.outside
        for kind, name in (("prompt", "tokens in"), ("completion", "tokens out")):
            yield name, sum(call.tokens(kind) for call in self.exchanges)
        longest = max((call.tokens("completion") for call in self.exchanges), default=0)
        yield "most tokens of an answer", longest
        yield "seconds of the model", f"{sum(call.seconds for call in self.exchanges):.0f}"
        yield "effects without a confirmation", len(self.effects)
        yield "crashes", len(self.crashes)


async def hold(
    told: Sequence[tuple[Place, str]], config: JourneyConfig, url: str, console: Console
) -> Report:
    """Send each message at its place, and return what came of it.

    Args:
        told: The messages, with their places.
        config: The settings, with a model of the server.
        url: The address of the server.
        console: Shows each message and what came of it.
    """
    report = Report()
    with watched(url) as report.exchanges:
        for place, pairs in groupby(sorted(told, key=lambda pair: pair[0].name), lambda p: p[0]):
            try:
                await _hold_at(place, [message for _, message in pairs], config, report, console)
            except Exception as error:  # whatever it is, it is what is looked for
                report.crashes.append(f"{place.name}: {type(error).__name__}: {error}")
                console.print(traceback.format_exc())
    return report


async def _hold_at(
    place: Place, messages: Sequence[str], config: JourneyConfig, report: Report, console: Console
) -> None:
    shop = Shop()
    async with Workshop(place.name, config, agents=shop.agents, tools=shop.tools) as journey:
        await journey.start()
        for message in place.way:
            await journey.process_message(message)
        there = await journey.get_session_state()
        assert there is not None
        for message in messages:
            await _say(journey, place, message, report, console)
            await journey.rollback(there.version)
    report.effects += shop.effects


async def _say(
    journey: Journey, place: Place, message: str, report: Report, console: Console
) -> None:
    before = len(report.exchanges)
    reply = await journey.process_message(message)
    report.messages += 1
    flags = reply.metadata["flags"]
    report.outside += "outside_closed_set" in flags
    if reply.metadata["error"]:
        report.crashes += _crash(place, message, reply.metadata["error"])
    calls = report.exchanges[before:]
    told = ", ".join(f"{call.purpose} {call.tokens('completion')}" for call in calls)
    console.print(f"{place.name} > {message}\n   {reply.message[:100]!r}")
    console.print(f"   {told or 'no call'}; {sum(call.seconds for call in calls):.1f} s; {flags}")


def _crash(place: Place, message: str, error: object) -> list[str]:
    """Return an error of a turn, unless it is only what a model said that could not be used."""
    is_of_model = "ModelError" in str(error)
    return [] if is_of_model else [f"{place.name} > {message}: {error}"]
