"""Values inside longer messages, and how sure they are."""

import subprocess
import sys
from typing import Any

import pytest

from journeygraph.journeys.notions.fields import Field
from journeygraph.nodes.values import found_in
from tests.values.spellings import DE, US

SIZES = ["small", "large"]
FOUND: list[tuple[str, str, list[Any], list[Any]]] = [
    # type, message, values that are certain, values that are not
    ("integer", "table for 4 tomorrow at 7, name Lee", [], [4]),
    ("integer", "my cat is 12, ha", [], [12]),
    ("integer", "call me at 415-555-2671 on Nov 22", [], []),
    ("integer", "no numbers here", [], []),
    ("date", "table for 4 tomorrow at 7, name Lee", ["2026-11-22"], []),
    ("date", "from 22 Nov to 24 Nov", ["2026-11-22", "2026-11-24"], []),
    ("date", "I may come on Friday", ["2026-11-27"], []),
    ("date", "not tomorrow", [], []),
    ("date", "is that possible on the 3rd?", [], ["2026-12-03"]),
    ("time", "table for 4 tomorrow at 7, name Lee", ["07:00"], []),
    ("time", "dinner tomorrow at 7 for two", ["19:00"], []),
    ("time", "at 7 Baker Street", [], ["07:00"]),
    ("time", "we are 7 people", [], ["07:00"]),
    ("time", "um 19 Uhr oder um 20 Uhr", ["19:00", "20:00"], []),
    ("datetime", "see you tomorrow at 7pm, my friend", ["2026-11-22T19:00"], []),
    ("money", "send 40 euros to Maya", [{"amount": "40.00", "currency": "EUR"}], []),
    ("money", "send 40 to Maya", [], [{"amount": "40.00", "currency": ""}]),
    ("money", "send money to Maya", [], []),
    ("money", "dinner at 7 p.m. for all 5 of us", [], [{"amount": "5.00", "currency": ""}]),
    ("money", "I won 500 euros", [{"amount": "500.00", "currency": "EUR"}], []),
    ("email", "write to lee@example.com or leo@example.com today",
     ["lee@example.com", "leo@example.com"], []),
    ("phone", "ring +49 30 901820 first", ["+4930901820"], []),
    ("phone", "ring 415-555-2671 first", [], ["+14155552671"]),
    ("phone", "on 2026-11-22 at 19:00", [], []),
    ("enum", "I'd say large fits my dog", ["large"], []),
    ("enum", "anything", [], []),
    ("name", "table for 4 tomorrow at 7, name Lee", ["Lee"], []),
    ("name", "Hi, my name is Anna Müller and I need a table", ["Anna Müller"], []),
    ("name", "book it under the name of van Dyke, please", ["van Dyke"], []),
    ("name", "I'm hungry", [], []),
    ("name", "send money to Maya", [], []),
    ("name", "Ich heiße Jürgen und möchte buchen", ["Jürgen"], []),
    ("address", "I live at 12 Baker Street, London and my cat is old",
     ["12 Baker Street, London"], []),
    ("address", "please send it to Hauptstraße 5, 10115 Berlin.",
     ["Hauptstraße 5, 10115 Berlin"], []),
    ("address", "12 Baker Street", [], []),
    ("text", "anything at all", [], []),
    ("boolean", "yes, and is there a fee?", [], [True]),
]  # fmt: skip


def test_values_are_found_in_messages_about_more() -> None:
    wrong = []
    for kind, text, certain, uncertain in FOUND:
        spans = found_in(Field("x", kind, choices=SIZES if kind == "enum" else ()), text, US)
        found = [s.value for s in spans if s.certain], [s.value for s in spans if not s.certain]
        if found != (certain, uncertain):
            wrong.append(f"{kind} in {text!r}: {found}")
        assert all(text[span.start : span.end] == span.raw for span in spans)
    assert not wrong, "\n".join(wrong)


def test_lists_are_found_by_the_shape_of_their_items() -> None:
    sizes = Field("x", "list", items="enum", choices=SIZES)

    [span] = found_in(sizes, "one of small and large each, please", US)
    assert (span.value, span.raw) == (["small", "large"], "small and large")
    assert found_in(Field("x", "list"), "eggs, milk", US) == []


def test_places_are_those_of_the_message_as_it_was_written() -> None:
    text = "ﬁne: \u201c22. November\u201d – für Anna"
    [span] = found_in(Field("x", "date"), text, DE)

    assert (span.raw, text[span.start : span.end]) == ("22. November", "22. November")


@pytest.mark.slow
def test_no_library_of_values_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys\n"
        "from journeygraph.nodes import values\n"
        "heavy = {'dateparser', 'phonenumbers', 'email_validator'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from journeygraph import Field\n"
        "values.load([Field('a', 'list', items='date')])\n"
        "assert heavy & set(sys.modules) == {'dateparser'}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_no_table_of_dates_is_read_once_its_field_is_loaded() -> None:
    code = (
        "import sys\n"
        "from journeygraph.nodes import values\n"
        "from datetime import datetime, UTC\n"
        "from journeygraph import Field\n"
        "from journeygraph.nodes.values.dates import date_elsewhere\n"
        "from journeygraph.nodes.values.scanning import Setting\n"
        "values.load([Field('a', 'date', 'When?')]), values.make_ready('en')\n"
        "known = set(sys.modules)\n"
        "said = ['a day before that', 'el 7 de julio', '3 stycznia', 'через 3 дня', '明後日']\n"
        "born, here = Field('b', 'date', 'Born?'), Setting(datetime(2026, 5, 1, tzinfo=UTC))\n"
        "found = [date_elsewhere(text, born, here) for text in said]\n"
        "assert found[2] == '2027-01-03', found\n"
        "assert not (late := set(sys.modules) - known), late\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
