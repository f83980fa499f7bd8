"""Values inside longer messages are proposals: none is denied, related to something, or a part."""

import subprocess
import sys
from typing import Any

import pytest

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.finding import Scan
from journeygraph.nodes.values.setting import Setting
from tests.values.spellings import DE, ES, FR, US

SIZES = ["small", "large", "extra_large"]
FOUND: list[tuple[Setting, str, str, list[Any]]] = [
    (US, "integer", "table for 4 tomorrow at 7, name Lee", [4]),
    (US, "integer", "ok, and we are four by the way", [4]),
    (US, "integer", "call me at 415-555-2671 on Nov 22", []),
    (US, "integer", "it costs 40 euros for 3", [3]),
    (US, "date", "table for 4 tomorrow at 7, name Lee", ["2026-11-25"]),
    (US, "date", "from 22 Nov to 24 Nov", []),
    (US, "date", "I may come on Friday, the sun is so hot", ["2026-11-27"]),
    (US, "date", "is that possible on the 3rd?", []),
    (US, "time", "table for 4 tomorrow at 7, name Lee", ["07:00"]),
    (US, "time", "we are 7 people", []),
    (US, "time", "at 7pm under the name Lee", ["19:00"]),
    (US, "date", "on 3 May 20 people come", ["2027-05-03"]),
    (US, "datetime", "see you tomorrow at 7pm, my friend", ["2026-11-25T19:00"]),
    (US, "money", "send 40 euros to Maya", [{"amount": "40.00", "currency": "EUR"}]),
    (US, "money", "dinner at 7 p.m. for 5", [{"amount": "5.00", "currency": ""}]),
    (US, "email", "write to lee@example.com today", ["lee@example.com"]),
    (US, "phone", "ring 415-555-2671 first", ["+14155552671"]),
    (US, "phone", "on 2026-11-22 at 19:00", []),
    (US, "enum", "I'd say the extra large fits my dog", ["extra_large"]),
    (US, "address", "I live at 12 Baker Street, Ely and my cat is old", []),
    (US, "text", "anything at all", []),
    (DE, "date", "wir kommen am Freitag um 7", ["2026-11-27"]),
    (DE, "time", "wir kommen am Freitag um halb acht", ["07:30"]),
    (DE, "integer", "wir sind vier am Freitag", [4]),
    (ES, "date", "quisiera una mesa el viernes a las 8", ["2026-11-27"]),
    (FR, "date", "je voudrais une table vendredi à 20h", ["2026-11-27"]),
    (FR, "time", "je voudrais une table vendredi à 20h", ["20:00"]),
    (FR, "integer", "nous sommes quatre vendredi", [4]),
    (US, "integer", "about 9 people", [9]),
    (DE, "time", "so gegen 9 Uhr", ["09:00"]),
    (FR, "time", "vers 9h", ["09:00"]),
    (US, "date", "I'd say Thursday the 17th, please", ["2026-12-17"]),
    (DE, "date", "am Donnerstag, dem 17., würde es passen", ["2026-12-17"]),
    (ES, "date", "el jueves 17, por la tarde", ["2026-12-17"]),
]  # fmt: skip
RELATED = {
    US: [
        ("integer", "not 50 please"), ("integer", "we are 4 or 5"), ("integer", "one of three"),
        ("integer", "another three nights"), ("integer", "over 9 people"), ("integer", "3 more"),
        ("date", "not on friday"), ("date", "before friday"), ("date", "every friday please"),
        ("date", "one week later"), ("time", "some time after 7pm"), ("enum", "not the small"),
        ("money", "more than 50 euros"), ("date", "a week from tomorrow"),
        ("integer", "we had 3 but one is gone"), ("integer", "9 is too many, half of it"),
        ("date", "the first Monday in January"), ("date", "Thursday the 18th would be fine"),
    ],
    DE: [
        ("integer", "nicht vier"), ("integer", "über 40 Leute"), ("date", "nicht am Freitag"),
        ("date", "nach Freitag"), ("time", "nach 9 Uhr"), ("integer", "noch zwei dazu"),
        ("integer", "der Nachbar hat 9, die Hälfte reicht"), ("date", "erster Mittwoch im Mai"),
    ],
    ES: [
        ("integer", "otras dos noches"), ("date", "antes del viernes"), ("integer", "no cuatro"),
        ("date", "el jueves 18, por la tarde"), ("integer", "somos cinco pero uno ya lo tiene"),
    ],
    FR: [
        ("integer", "encore deux"), ("date", "avant vendredi"), ("time", "après 9h"),
        ("integer", "on était six, mais deux ne viennent pas"),
    ],
}  # fmt: skip


def _field(kind: str) -> Field:
    return Field("x", kind, choices=SIZES if kind == "enum" else ())


@pytest.mark.parametrize(("setting", "kind", "text", "values"), FOUND)
def test_values_are_proposed_for_the_longest_run_of_words(
    setting: Setting, kind: str, text: str, values: list[Any]
) -> None:
    spans = Scan(text, setting).found(_field(kind))
    assert [span.value for span in spans] == values
    assert all(text[span.start : span.end] == span.raw for span in spans)


def test_what_is_denied_related_or_blurred_is_not_proposed() -> None:
    wrong = [
        (kind, text, spans)
        for setting, texts in RELATED.items()
        for kind, text in texts
        if (spans := Scan(text, setting).found(_field(kind)))
    ]
    assert wrong == []


def test_of_two_values_one_of_which_is_denied_none_is_proposed() -> None:
    assert Scan("not on Friday, on Saturday", US).found(Field("x", "date")) == []
    assert Scan("my smal one", US).found(_field("enum")) == []


@pytest.mark.parametrize(
    ("setting", "said", "choice"),
    [
        (DE, "den offenen", "offen"), (DE, "einen roten bitte", "rot"), (US, "boxes", "box"),
        (US, "the box", "box"), (ES, "dos cajas grandes", "grande"), (US, "rots", "rots"),
    ],
)  # fmt: skip
def test_a_choice_is_found_with_the_ending_of_a_sentence(
    setting: Setting, said: str, choice: str
) -> None:
    field = Field("x", "enum", choices=["offen", "rot", "box", "grande", "rots"])
    assert [span.value for span in Scan(said, setting).found(field)] == [choice]


def test_the_authors_own_pattern_finds_a_value_anywhere() -> None:
    order = Field("order", extract=[r"\b([A-Z]{2}-\d{4})\b"])
    [span] = Scan("about order AB-1234: it is late", US).found(order)
    assert (span.value, span.raw, span.start, span.own) == ("AB-1234", "AB-1234", 12, True)
    assert Scan("about my order", US).found(order) == []


@pytest.mark.slow
def test_no_library_of_values_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys\n"
        "from journeygraph.nodes.values import reading as values\n"
        "heavy = {'text_to_num', 'phonenumbers', 'email_validator'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "values.load(['date'])\n"
        "assert heavy & set(sys.modules) == {'text_to_num'}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
