"""Fields, effects, escalation and personality in files are those that a class would declare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from journeygraph import (
    Effect,
    Escalation,
    Field,
    Form,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Knowledge,
    Locale,
    Pathway,
    Personality,
    ReturnToPrevious,
    Transition,
    load_journey,
)
from journeygraph.journeys.declarations.fields import (
    FIELD_TYPES,
    Check,
    Length,
    Range,
    Regex,
    ToolCheck,
)
from journeygraph.journeys.files.expressions import ContextCondition
from journeygraph.journeys.files.form import published
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.journeys.files.loading import read_journey_text

TABLE = """\
id: table
personality: {name: Lena, tone: warm, formality: casual, greeting: Hello!}
locale: {language: de, region: AT, timezone: Europe/Vienna, decimal_sign: ",", clock: 24h}
escalation: {when_collected: true, keywords: [lawyer], when: context.party_size > 12}
texts: {wait: Fine., de: {wait: Gut.}}
patterns: {off_topic: smalltalk}
knowledge: {retriever: house_notes, timeout: 2, passages: 3, characters: 500}
migrations: {reserve: book}
tools:
  - function: {name: is_free, parameters: {type: object, properties: {date: {type: string}}}}
  - function: {name: book_table}
states:
  book:
    title: the table
    knowledge: menu
    fields:
      order: flexible
      confirm_corrections: true
      fields:
        - name: party_size
          type: integer
          ask: For how many?
          description: The kitchen has to know.
          label: number of guests
          validators: [{range: {least: 1, most: 20}, message: We seat 1 to 20.}]
          retry_texts: [Sorry?]
          max_attempts: 2
        - name: date
          type: date
          depends_on: [party_size]
          validators: [{range: {least: today}}, {check: is_free, message: We are full.}]
          confirm: true
          ttl: 60
        - name: room
          type: enum
          choices: {inside: [in, indoors], outside: []}
          when: context.party_size > 6
        - {name: note, required: false, sensitive: true, validators: [{length: {most: 80}}]}
        - {name: code, validators: [{regex: "[A-Z]{3}"}], extract: ["code ([A-Z]+)"]}
        - {name: wishes, type: list, items: enum, choices: [vegan, halal]}
        - {name: deposit, type: money, currency: EUR}
    interruptible: [date, room]
    effects:
      - {tool: book_table, arguments: {}, save: booking, done: "Booked for {date}.", change: book}
    next: smalltalk
  smalltalk: {action: Chat., fields: [{name: mood}], effects: [book_table], agents: [host]}
  hours: {action: Say when we are open.}
transitions:
  - {to: hours, patterns: [open], detour: {policy: ask}}
"""

FIELDS = [
    Field(
        "party_size",
        "integer",
        "For how many?",
        description="The kitchen has to know.",
        label="number of guests",
        validators=[Range(1, 20, "We seat 1 to 20.")],
        retry_texts=["Sorry?"],
        max_attempts=2,
    ),
    Field(
        "date",
        "date",
        depends_on=["party_size"],
        validators=[Range("today"), Check(ToolCheck("is_free"), "We are full.")],
        confirm=True,
        ttl=60,
    ),
    Field(
        "room",
        "enum",
        choices={"inside": ["in", "indoors"], "outside": []},
        when=ContextCondition("context.party_size > 6"),
    ),
    Field("note", required=False, sensitive=True, validators=[Length(most=80)]),
    Field("code", validators=[Regex("[A-Z]{3}")], extract=["code ([A-Z]+)"]),
    Field("wishes", "list", items="enum", choices=["vegan", "halal"]),
    Field("deposit", "money", currency="EUR"),
]


class Table(Journey):
    __personality__ = Personality(name="Lena", tone="warm", formality="casual", greeting="Hello!")
    __locale__ = Locale(
        language="de", region="AT", timezone="Europe/Vienna", decimal_sign=",", clock="24h"
    )
    __escalation__ = Escalation(
        when_collected=True,
        keywords=["lawyer"],
        when=ContextCondition("context.party_size > 12"),
    )
    __texts__ = {"wait": "Fine.", "de": {"wait": "Gut."}}
    __patterns__ = {"off_topic": "smalltalk"}
    __knowledge__ = Knowledge("house_notes", timeout=2, passages=3, characters=500)
    __migrations__ = {"reserve": "book"}

    class BookPath(Pathway):
        __title__ = "the table"
        __knowledge__ = "menu"
        __fields__ = Form(FIELDS, order="flexible", confirm_corrections=True)
        __effects__ = [
            Effect("book_table", save="booking", done="Booked for {date}.", change="book")
        ]
        __interruptible__ = ["date", "room"]
        __next__ = "smalltalk"

    class SmalltalkPath(Pathway):
        __fields__ = [Field("mood")]
        __effects__ = ["book_table"]
        __agents__ = ["host"]

    class HoursPath(Pathway):
        __agents__ = ["hours"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [Transition(IntentTrigger(patterns=["open"]), to_pathway="hours")]


def test_a_file_collects_as_the_class_does() -> None:
    written, declared = read_journey_text(TABLE, "table.yaml"), Table.spec

    for name in ("book", "smalltalk", "hours"):
        was, wanted = written.pathways[name], declared.pathways[name]
        keys = ("title", "form", "effects", "interruptible", "runs_on_arrival", "returns")
        for key in (*keys, "knowledge"):
            assert getattr(was, key) == getattr(wanted, key), f"{name}: {key}"
        assert was.agents == wanted.agents
    for key in (
        "escalation",
        "personality",
        "locale",
        "texts",
        "patterns",
        "migrations",
        "knowledge",
    ):
        assert getattr(written, key) == getattr(declared, key), key
    assert written.warnings == ()


def test_every_key_and_type_of_a_field_can_be_written() -> None:
    for kind in FIELD_TYPES:
        choices = ", choices: [a]" if kind == "enum" else ""
        text = f"id: a\nstates: {{b: {{fields: [{{name: c, type: {kind}{choices}}}]}}}}\n"
        (field,) = read_journey_text(text, "a.yaml").pathways["b"].form.fields  # type: ignore[union-attr]
        assert field.type == kind


def test_the_published_schema_knows_what_is_collected() -> None:
    judge = jsonschema.Draft202012Validator(json.loads(json.dumps(published())))
    table = read_tree(TABLE, "table.yaml").value

    judge.validate(table)
    for path, value in (
        (("states", "book", "fields", "fields", 0, "typ"), "date"),
        (("states", "book", "fields", "fields", 0, "type"), "integr"),
        (("states", "book", "effects", 0, "tol"), "x"),
        (("escalation", "failures"), 0),
        (("personality", "language"), "de"),
        (("locale", "language"), "it"),
        (("knowledge", "passages"), 0),
        (("states", "book", "knowledge"), "a b"),
        (("transitions", 0, "detour", "policy"), "asc"),
    ):
        wrong = at = json.loads(json.dumps(table))
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        assert not judge.is_valid(wrong), path


HEAD = """\
id: table
tools: [{function: {name: is_free, parameters: {type: object, properties: {date: {type: string}}}}}]
states:
"""
WRONG = """\
  book:
    on_arrival: wait
    outputs: {a: {type: string}}
    fields:
      - {name: size, type: integr, choices: [a], validators: [{range: {least: 1, mst: 20}}]}
      - {name: date, type: date, validators: [{range: {least: tomorow}}, {check: is_fre}]}
      - {name: room, type: enum, when: context.size > 6 &&}
      - {name: date, extract: ["("], validators: [{length: {least: 4, most: 2}}, {}]}
      - {name: code, depends_on: [siz], validators: [{regex: a, check: is_free}]}
      - {type: time}
      - {name: price, type: money, currency: eur, ttl: -3, max_attempts: 0}
      - {name: colour, type: text, choices: [red]}
      - {name: Size}
      - {name: mood}
    interruptible: [dat]
    effects: [{tool: book, change: bok}, {tool: is_free, arguments: {dat: date}}, is_free]
  other: {fields: size, effects: 3, interruptible: maybe}
  empty: {kind: collect, fields: [{name: mood, type: number}]}
transitions:
  - {to: other, patterns: [a], detour: {policy: asc}}
  - {to: empty, patterns: [b], detour: {policy: ask, return_to: book}}
escalation: {when_collected: 3, keywords: lawyer, when: context.x >}
personality: {formality: casul, emojis: maybe}
texts: {wat: Fine., de: {wait: "{x} Gut."}}
patterns: {off_topc: book, noise: bok}
migrations: {reserve: bok}
"""
TOLD = """\
5:17: on_arrival has no effect: a state with fields always asks for them on arrival. Remove it.
6:14: outputs is for agents, and a state with fields has none by default. Name them in agents,
8:28: type is "integr"; it must be one of text, integer, number, boolean, date, time, datetime,
8:82: 'mst' is not a valid key of a range. Did you mean 'most'? Known: least, most.
9:63: least is 'tomorow'; it must be a date such as 2026-11-21, or today, in quotes.
9:82: 'is_fre' is not a tool of this file. Did you mean 'is_free'? Its tools: is_free.
10:9: choices is missing; it must be the values of an enum, and only of an enum.
10:40: when: CEL syntax error at character 20: mismatched input '<EOF>'.
11:16: the field 'date' is declared twice. Rename one of them.
11:32: '(' is not a valid pattern: missing ), unterminated subpattern at position 0.
11:60: most is 2, which is below 4.
11:82: it has no check. Write one of regex, range, length and check.
12:35 state 'book': field 'code' depends on 'siz', which is not another field. Did you mean 'size'?
12:54: it has regex and check. Write one of regex, range, length and check.
13:9: 'name' is missing in a field.
14:46: currency is "eur"; write three capital letters, such as EUR.
14:56: ttl is -3; it must be above 0.
14:74: max_attempts is 0; it must be at least 1.
15:45: choices is ['red']; it must be the values of an enum, and only of an enum.
16:16: name is "Size"; use lower-case letters, digits and '_', with a letter first.
18:21: 'dat' is not a field of it. Did you mean 'date'? Its fields: size, date, room, date,
19:22: 'book' is not a tool of this file. Its tools: is_free.
19:36 state 'book': change of the effect 'book' is 'bok', which is not a state of this journey.
19:75: 'dat' is not a parameter of is_free. Did you mean 'date'? It takes: date.
19:83: 'is_free' occurs twice in effects. Remove one of them.
20:19: fields is "size"; it must be a list.
20:34: effects is 3; it must be a list.
20:52: interruptible is "maybe"; it must be true or false.
21:35 state 'empty': the field 'mood' is text in 'book' and number here. Fields of one name are
23:49: policy is "asc"; it must be one of return, ask, choose, end. Did you mean 'ask'?
24:41: 'policy' is not a valid key of a detour to a state. It is only for detours with
25:30: when_collected is 3; it must be true or false.
25:43: keywords is "lawyer"; it must be a list.
25:57: when: CEL syntax error at character 12: mismatched input '<EOF>'.
26:26: formality is "casul"; it must be one of formal, neutral, casual. Did you mean 'casual'?
26:41: emojis is "maybe"; it must be true or false.
27:14: the runtime has no text 'wat'. Did you mean 'wait'?
27:32: the text 'wait' has the unknown placeholder {x}. It has no placeholders.
28:12 journey 'table': patterns: 'off_topc' is not a repair pattern. Did you mean 'off_topic'?
28:35 journey 'table': patterns['noise'] is 'bok', which is not a state of this journey. Did yo
29:23 journey 'table': migrations['reserve'] is 'bok', which is not a state of this journey. Di
"""


def test_all_faults_are_told_at_once_with_their_places_and_the_way_out() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(HEAD + WRONG, "table.yaml")

    found = [fault.removeprefix("table.yaml:") for fault in raised.value.faults]
    assert len(found) == len(TOLD.splitlines()), "\n".join(found)
    for fault, wanted in zip(found, TOLD.splitlines(), strict=True):
        assert fault.startswith(wanted), fault


SMELLS = {
    "{name: a, when: context.b > 1}": "field 'a' reads 'b' in `when`, which nothing here collects",
    "{name: a, when: context.a > 1}": "field 'a' reads its own value in `when`",
    "{name: a, when: context.b > 1}, {name: b, type: integer}": "which is asked for later",
    "{name: a, retry_texts: [x], max_attempts: 1}": "the last ones are never used",
    "{name: a, depends_on: [b]}, {name: b}": "has no validators, so nothing is checked",
    "{name: a, type: enum, choices: {x: [y], Y: []}}": "has 'y' for both 'x' and 'Y'",
}


def test_what_smells_is_told_where_it_stands() -> None:
    head = "id: a\nstates:\n  b:\n    fields: [%s]\n"
    for fields, said in SMELLS.items():
        (warning,) = read_journey_text(head % fields, "a.yaml").warnings
        assert warning.startswith("a.yaml:4:14 state 'b': "), warning
        assert said in warning

    asked = "migrations: {b: b}\ntools: [{function: {name: t, parameters: "
    asked += "{type: object, properties: {d: {type: string}}}}}]\n"
    effects = "    effects: [{tool: t, arguments: {d: c}}]\n"
    warnings = read_journey_text(head % "{name: a}" + effects + asked, "a.yaml").warnings
    assert [warning.partition(", which")[0] for warning in warnings] == [
        "a.yaml:5:15 state 'b': effect 't' reads 'c'",
        "a.yaml:6:17 journey 'a': migrations replaces 'b'",
    ]


def test_a_state_with_fields_has_no_agent_unless_it_names_one() -> None:
    text = "id: a\nstates: {b: {%s fields: [{name: c}]}}\n"

    def made(more: str = "") -> Any:
        return read_journey_text(text % more, "a.yaml").pathways["b"]

    assert (made().agents, made().pipeline, made().complete_when) == ((), None, None)
    assert made().runs_on_arrival
    assert made("kind: collect,").complete_when is None
    assert made("agents: [clerk],").agents == ("clerk",)
    assert made("agents: [clerk], kind: collect, outputs: {d: {type: string}},").complete_when == (
        "d",
    )


def test_the_version_of_a_file_follows_its_fields() -> None:
    spec = read_journey_text(TABLE, "table.yaml")

    assert read_journey_text(TABLE.replace("most: 20", "most: 21"), "table.yaml").version != (
        spec.version
    )
    commented = TABLE.replace("  book:", "  # the table\n  book:")
    assert read_journey_text(commented, "table.yaml").version == spec.version


KEYED = """\
id: order
tools:
  - function:
      name: place
      parameters:
        type: object
        properties:
          size: {type: integer}
          idempotency_key: {type: string, minLength: 8}
        required: [size, idempotency_key]
states:
  buy:
    fields: [{name: size, type: integer}]
    effects: [{tool: place, done: "Placed {size}."}]
"""


async def test_a_tool_that_requires_the_key_of_its_step_gets_it(
    tmp_path: Path, memory_url: str
) -> None:
    placed: list[tuple[int, str]] = []

    async def place(size: int, idempotency_key: str) -> str:
        """Place an order."""
        placed.append((size, idempotency_key))
        return "done"

    (tmp_path / "order.yaml").write_text(KEYED)
    order = load_journey(tmp_path / "order.yaml")
    async with order(
        "s-1", JourneyConfig(persistence=memory_url), tools={"place": place}
    ) as journey:
        await journey.start()
        response = await journey.process_message("7")

    assert response.message.startswith("Placed 7.")
    ((size, key),) = placed
    assert size == 7
    assert len(key) >= 8
    assert key != "idempotency_key"
