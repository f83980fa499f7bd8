"""Coverage: parts of a journey that conversations used and missed, each with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import flat, folder, logging_as_before, run

__all__ = ["folder", "logging_as_before"]

SHOP = '''
from journeygraph import (
    Effect, Field, Guideline, IntentTrigger, Journey, Pathway, Range, ReturnToPrevious, Transition,
)


def order(item: str, idempotency_key: str) -> str:
    """Order an item."""
    return "O-1"


class Shop(Journey):
    """Sell something."""

    __guidelines__ = [
        Guideline(id="kind", condition="always", action="be kind", always=True),
        Guideline(id="gift", condition="it is a gift", action="wrap it", keywords=["gift"]),
    ]

    class OrderPath(Pathway):
        __fields__ = [
            Field("item", ask="What would you like?"),
            Field("count", "integer", "How many?", validators=[Range(1, 9)]),
            Field("name", "name", "For whom?", when=lambda context: context.get("count") == 2),
        ]
        __effects__ = [Effect(order)]
        __next__ = "after"

    class AfterPath(Pathway):
        __agents__ = ["clerk"]

    class HoursPath(Pathway):
        __agents__ = ["clock"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(patterns=["open"]), to_pathway="hours"),
        Transition(
            IntentTrigger(patterns=["again"]),
            from_pathway="after",
            to_pathway="order",
        ),
    ]


AGENTS = {"clerk": lambda ask: "Bye.", "clock": lambda ask: "All day."}
'''
FIRST = """
conversation: an order
journey: shop.py
turns:
  - user: hello
  - user: a pear
  - user: "12"
  - bot: {attempts: {count: [invalid]}}
  - user: "3"
  - user: "yes"
  - bot: {effects: [order], pathway: after}
"""
SECOND = """
conversation: an order for two, with a question
journey: shop.py
turns:
  - user: hello
  - user: are you open?
  - user: a pear
  - user: "2"
  - user: Lee
  - user: "yes"
  - bot: {effects: [order]}
  - user: again
  - bot: {pathway: order}
"""


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop.py").write_text(SHOP)
    (folder / "first.conversation.yaml").write_text(FIRST)
    return folder


def line_of(text: str, after: int = 0) -> str:
    begins = SHOP.index("__transitions__") if after else 0
    number = SHOP[: SHOP.index(text, begins)].count("\n") + 1
    return f"shop.py:{number}"


def covered(*words: str) -> dict[tuple[str, str], tuple[str, int]]:
    [shown] = json.loads(run("test", ".", "--coverage", "--json", *words).stdout)["coverage"]
    return {(p["kind"], p["name"]): (p["place"], p["times"]) for p in shown["parts"]}


def test_each_part_has_its_place_and_is_counted(shop: Path) -> None:
    parts = covered()

    assert parts == {
        ("pathway", "order"): (line_of("class OrderPath"), 1),
        ("pathway", "after"): (line_of("class AfterPath"), 1),
        ("pathway", "hours"): (line_of("class HoursPath"), 0),
        ("transition", "any → hours: open"): (line_of('["open"]'), 0),
        ("transition", "after → order: again"): (line_of("Transition(\n", 1), 0),
        ("field", "item"): (line_of('Field("item"'), 1),
        ("field", "count"): (line_of('Field("count"'), 1),
        ("field", "name"): (line_of('Field("name"'), 0),
        ("refusal", "count is refused"): (line_of('Field("count"'), 1),
        ("guideline", "kind"): (line_of('id="kind"'), 5),
        ("guideline", "gift"): (line_of('id="gift"'), 0),
        ("effect", "order.order"): (line_of("Effect(order)"), 1),
        ("branch", "order → after"): (line_of("class OrderPath"), 1),
        ("branch", "name is asked"): (line_of('Field("name"'), 0),
        ("branch", "name is left out"): (line_of('Field("name"'), 1),
        ("branch", "after ends"): (line_of("class AfterPath"), 0),
        ("branch", "hours returns"): (line_of("class HoursPath"), 0),
    }


def test_fields_of_the_same_name_count_in_their_own_pathways(shop: Path) -> None:
    again = """
    class LendPath(Pathway):
        __fields__ = [
            Field("count", "integer", "How many to lend?", validators=[Range(1, 9)]),
            Field("fee", when=lambda context: context.get("count") == 2),
        ]
        __next__ = "after"

    class AfterPath"""
    lend = 'Transition(IntentTrigger(patterns=["lend"]), to_pathway="lend"),\n        Transition('
    twice = SHOP.replace("\n    class AfterPath", again).replace("Transition(\n", f"{lend}\n")
    (shop / "shop.py").write_text(twice)

    parts = {name for (_, name), (_, times) in covered().items() if times}
    assert {"order.count", "order.count is refused", "name is left out"} <= parts
    assert not parts & {"lend.count", "lend.count is refused", "fee is asked", "fee is left out"}
    with_lend = FIRST.replace("hello", "lend").replace("a pear", '"22"')
    (shop / "first.conversation.yaml").write_text(with_lend.split('  - user: "12"')[0])

    parts = {name for (_, name), (_, times) in covered().items() if times}
    assert parts >= {"lend.count is refused"}
    assert not parts & {"order.count", "order.count is refused", "lend.count"}


def test_all_conversations_of_a_journey_count_together(shop: Path) -> None:
    (shop / "second.conversation.yaml").write_text(SECOND)

    missed = {name for name, (_, times) in covered().items() if not times}

    assert missed == {("guideline", "gift"), ("branch", "after ends")}


def test_missed_parts_are_listed_with_their_places(shop: Path) -> None:
    shown = run("test", ".", "--coverage").stdout

    assert "Coverage of shop" in shown
    assert "transition 0 2" in flat(shown)
    assert f"✗ pathway hours  {line_of('class HoursPath')}" in shown
    assert "pathway order" not in shown


def test_places_in_definition_files(folder: Path) -> None:
    (folder / "first.conversation.yaml").write_text(
        "conversation: a\njourney: insurance_claim\nturns: [{user: hello}]\n"
    )

    parts = covered()

    [place] = [
        place
        for (_, name), (place, _) in parts.items()
        if name.endswith("assistance.place: emergency")
    ]
    file, _, number = place.rpartition(":")
    line = Path(file).read_text().splitlines()[int(number) - 1]
    assert (Path(file).name, "emergency" in line) == ("assistance.yaml", True)
    for (kind, name), (place, _) in parts.items():
        file, _, number = place.rpartition(":")
        line = Path(file).read_text().splitlines()[int(number) - 1]
        if kind in ("pathway", "guideline") and name != "concierge":
            assert name.rpartition(".")[2] in line, place
