"""Any order of commands: what is collected is what a small reference says, and nothing is lost.

Hypothesis fills in, corrects, takes back, skips, leaves, returns, cancels, calls a person and lets
them go, restarts and rolls back. `STATE_MACHINE_EXAMPLES=500` hunts for longer, with new seeds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from journeygraph.nodes.commands import (
    Cancel,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    OffTopic,
    Skip,
    Wait,
)
from tests.support.properties import examples
from tests.traces.conversation import Chat
from tests.traces.orders import DEPTH, FORMS, ORDERS, Book

HUNTING = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=HUNTING or examples(6),
    stateful_step_count=30,
    derandomize=not HUNTING,
    phases=[Phase.generate, Phase.shrink] if HUNTING else [Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
NAMES = [*FORMS["order"], *FORMS["address"]]
NUMBERS = st.integers(-1, 11)


def someone_listens(machine: Any) -> bool:
    return not machine.book.taken_over


class Ordering(RuleBasedStateMachine):
    """A conversation in which a model understands every message as what the rule says."""

    numbers = count()

    def __init__(self, loop: asyncio.AbstractEventLoop, url: str = "") -> None:
        super().__init__()
        self.loop = loop
        self.url = url or f"memory://orders-{next(self.numbers)}"
        self.book = Book()
        self.books = [self.book]
        self.placed: list[int] = []

    def run(self, awaited: Any) -> Any:
        return self.loop.run_until_complete(awaited)

    @initialize(number=st.integers(0, 2))
    def begin(self, number: int) -> None:
        self.chat = Chat(ORDERS, self.url, scripted=True)
        self.run(self.chat.begin())
        self.says(Go("order"))
        self.stands(self.book)
        if number:
            self.fill_in(number)

    def says(self, *means: Command) -> None:
        """Say something that only the model understands; values stand in it as they are given.

        A value that does not would be read back, or asked about where another one is known.
        """
        values = [str(command.value) for command in means if isinstance(command, (Fill, Correct))]
        message = " ".join([f"zq {next(self.numbers)}x vb", *values])
        self.run(self.chat.says(message, *means))

    def stands(self, book: Book) -> None:
        """Remember what is expected after a message."""
        self.book = book
        self.books.append(book)

    @property
    def places(self) -> list[str]:
        """The pathways whose fields may be given now."""
        return [self.chat.at, *self.chat.stack]

    @property
    def asked(self) -> str:
        return self.chat.asked[0] if self.chat.asked else ""

    @property
    def at_order(self) -> bool:
        return bool(self.chat.at == "order" and not self.chat.stack)

    @property
    def returning(self) -> bool:
        return bool(self.chat.position["returning"])

    @rule(name=st.sampled_from(NAMES), number=NUMBERS, corrects=st.booleans())
    def give(self, name: str, number: int, corrects: bool) -> None:
        known = name in self.book.payload
        if self.book.done and name in FORMS["order"] and not known:
            return
        value: Any = number > 4 if name == "gift" else number
        raw = ("yes" if value else "no") if name == "gift" else str(number)
        after = self.book.filled(name, value, self.places)
        self.says(Correct(name, raw) if corrects and known else Fill(name, raw))
        self.stands(self.book if self.book.taken_over else after)

    @precondition(lambda self: someone_listens(self) and not self.book.done and self.at_order)
    @rule(number=st.integers(1, 2), again=st.integers(0, 3))
    def place(self, number: int, again: int) -> None:
        """Order, go back to before that, and order again: what was done counts."""
        self.fill_in(number)
        if again and self.book.done:
            self.roll_back(again)
            if someone_listens(self) and not self.book.done and self.at_order:
                self.fill_in(number)

    def fill_in(self, number: int) -> None:
        for name, given in (("count", number), ("gift", 0), ("note", 0), ("least", 1)):
            if name not in self.book.payload:
                self.give(name, given, False)
        if self.asked == "summary":
            self.say_yes()

    @precondition(someone_listens)
    @rule(name=st.sampled_from(NAMES))
    def take_back(self, name: str) -> None:
        used = self.book.done and name in FORMS["order"]
        takes = name in self.book.payload and not used
        after = self.book.taken_back(name) if takes else self.book
        self.says(Clear(name))
        self.stands(after)

    @rule(command=st.sampled_from([Skip(), Explain(), Wait(), OffTopic(), Fill("verified", "yes")]))
    def say_nothing_new(self, command: Command) -> None:
        asked = self.chat.asked
        keeps = isinstance(command, Skip) and asked and asked[0] == "field"
        after = self.book.kept(asked[1]) if keeps and asked else self.book
        self.says(command)
        self.stands(self.book if self.book.taken_over else after)

    @precondition(lambda self: someone_listens(self) and not self.book.done)
    @rule(to=st.sampled_from(["asking", "aside", "address", "order"]))
    def wander(self, to: str) -> None:
        """Go somewhere; the address, once it was given, is started again (a second visit)."""
        self.says(Go(to))
        self.stands(self.book.reset("address") if to == "address" else self.book)

    @precondition(lambda self: someone_listens(self) and self.book.done)
    @rule()
    def order_anew(self) -> None:
        self.says(Go("order"))
        self.stands(self.book.reset("order"))

    @precondition(lambda self: someone_listens(self) and self.asked not in ("field", "restart"))
    @rule()
    def say_yes(self) -> None:
        asked = self.asked
        self.says(Confirm())
        if asked == "summary":
            self.stands(self.ordered())
        elif asked in ("human", "change"):
            self.stands(replace(self.book, taken_over=True))
        else:
            self.stands(self.book)

    def ordered(self) -> Book:
        """The order is placed, unless that was done already in a future that was rolled back."""
        number = self.book.values["count"]
        lost = [
            place
            for place, was in enumerate(self.placed)
            if was == number and place not in self.book.known
        ]
        if not lost:
            self.placed.append(number)
            lost = [len(self.placed) - 1]
        return replace(self.book, done=True, known=(*self.book.known, lost[0]))

    @precondition(lambda self: someone_listens(self) and self.asked not in ("field", "restart"))
    @rule()
    def say_no(self) -> None:
        declined = self.chat.stack[-1:] if self.asked == "return" else []
        self.says(Deny())
        self.stands(self.book.reset(*declined))

    @precondition(lambda self: someone_listens(self) and not self.returning)
    @rule(everything=st.booleans())
    def give_up(self, everything: bool) -> None:
        given_up = self.places if everything else [self.chat.at]
        if self.book.done and not everything and not self.chat.stack:
            given_up = []  # what is done is not undone by a word
        self.says(Cancel(everything=everything))
        self.stands(self.book.reset(*given_up))

    @precondition(lambda self: someone_listens(self) and len(self.books) % 5 == 0)
    @rule()
    def call_a_person(self) -> None:
        self.says(Human())
        self.stands(replace(self.book, taken_over=True))

    @precondition(lambda self: self.book.taken_over)
    @rule()
    def let_the_person_go(self) -> None:
        self.run(self.chat.release())
        self.stands(replace(self.book, taken_over=False))

    @rule()
    def restart(self) -> None:
        self.run(self.chat.restart())

    @rule(back=st.integers(0, 6))
    def roll_back(self, back: int) -> None:
        version = max(len(self.books) - back, 0)
        if version >= len(self.books):
            return
        self.run(self.chat.roll_back(version))
        self.stands(self.books[version])

    @invariant()
    def the_payload_is_what_was_said_last(self) -> None:
        if not hasattr(self, "chat"):
            return
        assert self.chat.payload == self.book.payload
        assert bool(self.chat.talk.get("takeover")) == self.book.taken_over
        assert len(self.chat.stack) <= DEPTH
        assert [done.arguments["count"] for done in self.chat.world.calls] == self.placed

    def teardown(self) -> None:
        if not hasattr(self, "chat"):
            return
        try:
            self.go_on_to_the_end()
        finally:
            self.run(self.chat.journey.delete())
            self.run(self.chat.close())

    def go_on_to_the_end(self) -> None:
        """At every position, an order can be started and placed."""
        if self.book.taken_over:
            self.let_the_person_go()
        self.says(Cancel(everything=True))
        self.says(Go("order"))
        before = len(self.chat.world.calls)
        for name, raw in (("count", "7"), ("gift", "no"), ("note", "0"), ("least", "2")):
            self.says(Fill(name, raw))
        assert self.asked == "summary"
        self.says(Confirm())
        lost = 7 in self.placed
        assert len(self.chat.world.calls) == before + 1 or lost


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.mark.timeout(120 + 10 * HUNTING)
def test_any_order_of_commands_comes_to_what_was_said(
    store_url: str, loop: asyncio.AbstractEventLoop
) -> None:
    few = settings(SETTINGS, max_examples=HUNTING or 2)  # the rules are the same in every store
    chosen = SETTINGS if store_url.startswith("memory") else few
    run_state_machine_as_test(lambda: Ordering(loop, store_url), settings=chosen)  # type: ignore[arg-type]


def test_an_address_given_while_it_was_paused_is_begun_anew_when_it_is_gone_to_again(
    loop: asyncio.AbstractEventLoop,
) -> None:
    """The way on which the hunt found it: the answer completes the paused form."""
    orders = Ordering(loop)
    orders.begin(number=1)
    orders.order_anew()
    orders.wander("address")
    orders.wander("asking")
    orders.give("house", 0, corrects=False)
    assert orders.chat.payload == {"house": 0}
    orders.wander("address")
    assert (orders.chat.payload, orders.asked) == ({}, "field")
    orders.the_payload_is_what_was_said_last()
    orders.teardown()


def test_a_summary_that_a_rollback_shows_again_takes_another_value(
    loop: asyncio.AbstractEventLoop,
) -> None:
    """The way on which the hunt found it: a value in the message changes a known one."""
    orders = Ordering(loop)
    orders.begin(number=0)
    orders.place(number=1, again=0)
    orders.roll_back(back=2)
    orders.give("count", 2, corrects=False)
    orders.the_payload_is_what_was_said_last()
    orders.teardown()


@pytest.mark.parametrize("leaves_first", [True, False])
def test_what_was_taken_back_is_not_asked_for_in_another_task(
    loop: asyncio.AbstractEventLoop, leaves_first: bool
) -> None:
    """The way on which the hunt found it: whoever left it all is asked for what the order needs."""
    orders = Ordering(loop)
    orders.begin(number=0)
    orders.wander("address")
    orders.give("house", 7, corrects=False)
    if leaves_first:
        orders.give_up(everything=True)
        orders.take_back("house")
    else:
        orders.take_back("house")
        assert orders.chat.asked == ("field", "house")
        orders.give_up(everything=True)
    orders.wander("order")
    assert orders.chat.asked == ("field", "count")
    orders.the_payload_is_what_was_said_last()
    orders.teardown()
