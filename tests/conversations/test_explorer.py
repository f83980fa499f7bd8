"""`journeygraph explore`: planted faults are found with a short conversation, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from journeygraph import Field, Length, Range, Regex
from journeygraph.server.conversations.samples import samples_of, text_for
from tests.support.command import flat, folder, logging_as_before, run

__all__ = ["folder", "logging_as_before"]

SHOP = '''
from journeygraph import (
    NEVER, ConditionTrigger, Effect, Field, IntentTrigger, Journey, Pathway, Personality, Range,
    EventTrigger, Regex, ReturnToPrevious, TimeTrigger, Transition,
)

TAKEN = []


def order(item: str, code: str, idempotency_key: str) -> dict:
    """Order an item."""
    TAKEN.append(item)
    return {"number": "O-1"}


class Shop(Journey):
    """Sell something."""

    class OrderPath(Pathway):
        __fields__ = [
            Field("item", ask="What would you like?"),
            Field("code", ask="Which code?", validators=[Regex("[A-Z]{2}-[0-9]{3}")]),
        ]
        __effects__ = [Effect(order, done="It is {number}.")]
        __next__ = "after"

    class AfterPath(Pathway):
        __agents__ = ["clerk"]
        #after

    class HoursPath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    #pathways

    __transitions__ = [
        Transition(IntentTrigger(patterns=["open"]), to_pathway="hours"),
        #transitions
    ]


AGENTS = {"clerk": lambda ask: "Bye."}
'''


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "shop.py").write_text(SHOP)
    return folder


def planted(shop: Path, **parts: str) -> None:
    text = SHOP
    for name, part in parts.items():
        text = text.replace(f"#{name}", part)
    (shop / "shop.py").write_text(text)


def faults(code: int) -> list[tuple[str, str]]:
    shown = json.loads(run("explore", "shop.py", "--json", code=code).stdout)
    return [(one["kind"], one["what"]) for one in shown["findings"] if one["kind"] != "open"]


def test_nothing_is_invented_in_a_sound_journey(shop: Path) -> None:
    shown = json.loads(run("explore", "shop.py", "--json").stdout)

    assert shown["findings"] == []
    assert (shown["whole"], shown["transitions"]) == (True, {"fired": 1, "all": 1})
    assert shown["pathways"] == {"visited": 3, "all": 3}


LOST = """
    class LostPath(Pathway):
        __agents__ = ["clerk"]
"""
CIRCLE = """
    class FirstPath(Pathway):
        __agents__ = ["clerk"]
        __next__ = "second"

    class SecondPath(Pathway):
        __agents__ = ["clerk"]
        __next__ = "first"
"""
TO_FIRST = 'Transition(IntentTrigger(patterns=["round"]), to_pathway="first"),'
BEHIND_A_VALUE = """
    class MetalPath(Pathway):
        __fields__ = [Field("metal", "enum", "Which metal?", choices=["gold", "tin"])]
        __next__ = "route"

    class RoutePath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class TinPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
"""
TO_METAL = """Transition(
            IntentTrigger(patterns=["metal"]), from_pathway="order", to_pathway="metal"
        ),
        Transition(ConditionTrigger(lambda c: c.get("metal") == "gold", "gold"),
                   from_pathway="route", to_pathway="after"),
        Transition(ConditionTrigger(lambda c: c.get("metal") == "tin", "tin"),
                   from_pathway="route", to_pathway="tin"),
"""
WORDS = """
    class CodePath(Pathway):
        __agents__ = ["by_code"]
        __accumulate__ = ["code"]
        __complete_when__ = ["code"]

    class MailPath(Pathway):
        __agents__ = ["by_mail"]
        __accumulate__ = ["mail"]
        __complete_when__ = ["mail"]
"""
TO_WORDS = """Transition(IntentTrigger(patterns=["by code"]), to_pathway="code"),
        Transition(IntentTrigger(patterns=["by mail"]), from_pathway="code", to_pathway="mail"),
"""
FROM_LOST = 'Transition(IntentTrigger(patterns=["find"]), from_pathway="lost", to_pathway="order"),'
AGAIN = 'Transition(IntentTrigger(patterns=["again"]), from_pathway="after", to_pathway="{}"'
FIRST, SECOND = f"{AGAIN.format('order')}, priority=5),", f"{AGAIN.format('hours')}),"
PLANTED = [
    ({"after": "__complete_when__ = NEVER"}, [("dead end", "after")]),
    ({"after": '__complete_when__ = ["receipt"]'}, [("dead end", "after")]),
    ({"pathways": LOST}, [("unreachable", "lost")]),
    (
        {"pathways": LOST, "transitions": FROM_LOST},
        [("unreachable", "lost"), ("unreachable", "transition to order: find")],
    ),
    (
        {"transitions": FIRST + SECOND},
        [("unreachable", "transition to hours: again")],
    ),
    (
        {
            "transitions": 'Transition(ConditionTrigger(lambda c: c.get("vip"), "a vip"), '
            'to_pathway="after"),'
        },
        [("unreachable", "transition to after: a vip")],
    ),
    ({"pathways": CIRCLE, "transitions": TO_FIRST}, [("loop", "first → second")]),
    ({"pathways": BEHIND_A_VALUE, "transitions": TO_METAL}, [("dead end", "tin")]),
]


@pytest.mark.parametrize(("parts", "expected"), PLANTED)
def test_a_planted_fault_is_found_and_no_other(shop: Path, parts, expected) -> None:
    planted(shop, **parts)

    assert faults(code=1) == expected


def test_agents_that_wait_for_a_word_that_is_not_tried_are_no_loop(shop: Path) -> None:
    agents = """
for name in ("code", "mail"):
    AGENTS["by_" + name] = lambda ask, name=name: {
        "response": "Yes?", name: "x" if "4711" in ask["message"] else None
    }
"""
    planted(shop, pathways=WORDS, transitions=TO_WORDS)
    (shop / "shop.py").write_text((shop / "shop.py").read_text() + agents)

    assert faults(code=0) == []
    assert "try others by --try" in flat(run("explore", "shop.py").stdout)


def test_a_fault_is_shown_with_its_place_and_the_shortest_conversation(shop: Path) -> None:
    planted(shop, after="__complete_when__ = NEVER")
    text = (shop / "shop.py").read_text()
    line = text[: text.index("class AfterPath")].count("\n") + 1

    shown = run("explore", "shop.py", code=1).stdout

    assert "✗ dead end: after: it is never complete, and no transition leads out of it" in shown
    assert f"shop.py:{line}" in shown
    messages = re.findall(r"^    user  (.*)", shown, re.MULTILINE)
    assert len(messages) == 4
    assert "1 fault." in shown
    greets = '"""Sell something."""\n    __personality__ = Personality(greeting="Good day!")'
    (shop / "shop.py").write_text(text.replace('"""Sell something."""', greets))

    shown = run("explore", "shop.py", code=1).stdout

    assert len(re.findall(r"^    user  (.*)", shown, re.MULTILINE)) == 3


@pytest.mark.parametrize(
    ("trigger", "why"),
    [
        (
            'IntentTrigger(description="wants to leave")',
            "it has no patterns, so only a model can fire it",
        ),
        ("TimeTrigger(days=2)", "only a time without a message fires it, and none was tried"),
        ('EventTrigger("left")', "only an event fires it, and none was tried"),
    ],
)
def test_what_no_message_fires_is_no_fault(shop: Path, trigger: str, why: str) -> None:
    planted(shop, transitions=f'Transition({trigger}, from_pathway="after", to_pathway="order"),')

    shown = flat(run("explore", "shop.py").stdout)

    assert why in shown
    assert "No faults." in shown


def test_a_value_that_no_sample_is_can_be_given(shop: Path) -> None:
    secret = "validators=[lambda value, context: value == 'swordfish']"
    text = (shop / "shop.py").read_text()
    (shop / "shop.py").write_text(text.replace('validators=[Regex("[A-Z]{2}-[0-9]{3}")]', secret))

    shown = flat(run("explore", "shop.py").stdout)
    assert "? open: field code: no tried value of 'code' is taken" in shown

    given = json.loads(run("explore", "shop.py", "--try", "swordfish", "--json").stdout)
    assert given["findings"] == []


def test_effects_are_not_taken_unless_it_is_said(shop: Path) -> None:
    text = (shop / "shop.py").read_text()
    log = 'import pathlib; pathlib.Path("taken.txt").write_text("x")'
    (shop / "shop.py").write_text(text.replace("TAKEN.append(item)", log))

    shown = flat(run("explore", "shop.py").stdout)
    assert "The results of effects were made up" in shown
    assert not (shop / "taken.txt").exists()

    run("explore", "shop.py", "--effects")
    assert (shop / "taken.txt").exists()


def test_a_bound_ends_the_search_and_is_told(shop: Path) -> None:
    from journeygraph.server.conversations import explorer  # noqa: PLC0415

    assert explorer.SearchBounds().seconds < 60
    shown = run("explore", "table_booking", "--seconds", "1").stdout
    assert "The search ended at a bound; --seconds gives it more time." in shown


def test_missing_agents_are_named(folder: Path) -> None:
    assert "Bare has no agent for: 'one'" in flat(run("explore", "bare.py:Bare", code=1).stderr)
    assert "There is no journey 'shpo'" in flat(run("explore", "shpo", code=2).stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parcel_refund", "insurance_claim", "default_agent"])
def test_an_example_has_no_faults(folder: Path, name: str) -> None:
    shown = json.loads(run("explore", name, "--json").stdout)

    assert shown["findings"] == []
    assert shown["transitions"]["fired"] == shown["transitions"]["all"]


def test_samples_fit_their_fields() -> None:
    assert samples_of(Field("a", "integer", validators=[Range(3, 9)]))[:2] == ["3", "9"]
    assert samples_of(Field("a", "money", currency="EUR", validators=[Range(3)]))[0] == "3 EUR"
    assert samples_of(Field("a", "enum", choices=["x", "y"])) == ["x", "y"]
    assert "246810" in samples_of(Field("a", ask="Which code? (Here 246810.)"))
    assert samples_of(Field("a", validators=[Length(7)]))[0] == "a" * 7
    assert samples_of(Field("a", validators=[Regex(r"\d{4}")]))[0] == "1111"


@pytest.mark.parametrize(
    "pattern", [r"[A-Z]{2}-[0-9]{3}", r"\bto ([A-Z]\w+)", r"(a|b)+c?", r"[^x]y", r"\S+(\s+\S+)+"]
)
def test_a_text_for_a_pattern_matches_it(pattern: str) -> None:
    text = text_for(pattern)

    assert re.search(pattern, text) or pattern == r"[^x]y"
