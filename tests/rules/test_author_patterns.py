"""Patterns of authors: judged when declared, and stopped where a message takes them long."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

from journeygraph import ConfigurationError, Field, Journey, JourneyConfig, Pathway, Regex
from journeygraph.journeys.phrases import LONGEST_MATCH, TOGETHER, MatchBudget
from journeygraph.nodes.draft import new_turn
from tests.support import api as helpers
from tests.support.api import one
from tests.support.command import run

serve = helpers.serve

SLOW = r"(?:[a-z ]|[a-z ])*$"
"""Takes exponentially long where another letter follows many of them."""
HOSTILE = "the old blue bus that stands behind the house by a tiny café"
assert len(HOSTILE) == 60


class Plate(Journey):
    """Ask for a number plate."""

    class AskPath(Pathway):
        __fields__ = [
            Field("plate", "text", "Which plate?", validators=[Regex(SLOW, "No plate.")]),
            Field("axles", "integer", "How many axles?", extract=[SLOW]),
        ]


class Weights(Journey):
    """Ask for the weights of many cars."""

    class AskPath(Pathway):
        __fields__ = [
            Field(f"car_{n}", "integer", f"What is the weight of car {n}?", extract=[f"{n}?{SLOW}"])
            for n in range(40)
        ]


async def test_a_message_of_60_characters_does_not_hold_up_the_server(
    serve: Callable[..., Any],
) -> None:
    api = await serve(one(Plate))
    session = await api.begin("plate")
    await api.says(session, "hello")

    reply, *healthy = await asyncio.gather(
        api.says(session, HOSTILE), *(api.client.get("/healthz") for _ in range(5))
    )
    assert [answer.status_code for answer in healthy] == [200] * 5
    assert reply["message"] == "No plate.\n\nWhich plate?"


async def test_a_message_that_forty_patterns_stumble_over_does_neither(
    serve: Callable[..., Any],
) -> None:
    api = await serve(one(Weights))
    session = await api.begin("weights")
    for message in ("hello", HOSTILE, "12"):
        reply, healthy = await asyncio.gather(
            api.says(session, message), api.client.get("/healthz")
        )
        assert healthy.status_code == 200
    assert reply["message"] == "What is the weight of car 1?"


async def test_a_value_that_takes_a_pattern_too_long_is_refused_and_audited() -> None:
    async with Plate("s-1", JourneyConfig(persistence="memory://plates"), model=False) as journey:
        await journey.start()
        await journey.process_message("hello")
        reply = await journey.process_message(HOSTILE)
        assert reply.message == "No plate.\n\nWhich plate?"
        assert (await journey.process_message("abc")).message.endswith("How many axles?")
        audit = await journey.audit()
        assert [(e.turn, e.kind, e.trigger) for e in audit if e.turn == 2] == [
            (2, "field_refused", "plate"),
            (2, "repaired", "invalid"),
            (2, "pattern_late", "plate"),
        ]
        late = "one of its patterns took longer than 50 ms: no match"
        assert [e.reason for e in audit if e.kind == "pattern_late"] == [late]
        await journey.delete()


async def test_the_same_in_a_graph_without_a_manager() -> None:
    graph = Plate.compile(model=False)
    said = {"messages": [{"role": "user", "content": HOSTILE}]}
    state = await graph.ainvoke({**said, "turn": new_turn(1, message=HOSTILE)})
    assert "Which plate?" in state["messages"][-1].content
    late = {e["trigger"] for e in state["turn"]["audit"] if e["kind"] == "pattern_late"}
    assert late


async def test_a_value_that_the_context_brings_is_held_against_patterns_as_well() -> None:
    async with Plate("s-2", JourneyConfig(persistence="memory://plates"), model=False) as journey:
        await journey.start({"plate": HOSTILE})
        reply = await journey.process_message("hello")
        assert reply.message == "No plate.\n\nWhich plate?"
        kinds = [(e.kind, e.trigger) for e in await journey.audit()]
        assert kinds == [("field_refused", "plate"), ("pattern_late", "plate")]
        await journey.delete()


def test_many_slow_patterns_cost_little_more_than_one() -> None:
    budget = MatchBudget()
    began = thread_time()
    for n in range(60):
        assert budget.search(f"f{n}", f"(?:{n})?{SLOW}b", HOSTILE) is None or n < 0
    for _ in range(1_000):  # what was stopped is not tried again
        assert budget.search("f0", f"(?:0)?{SLOW}b", HOSTILE) is None
    assert thread_time() - began < 2 * (TOGETHER + LONGEST_MATCH) + 60 * 0.01
    assert budget.search("order", r"[A-Z]{2}-\d{4}", "It is AB-1234.")[0] == "AB-1234"
    assert budget.fullmatch("order", r"[A-Z]{2}-(\d{4})", "AB-1234")[1] == "1234"


PORTABLE = [
    (r"\d{6}", "my code is 123456"),
    (r"(?i)order\s+(\w+)", "ORDER abc"),
    (r"(?P<n>\d+)(?:-(?P=n))?", "12-12"),
    (r"(a)?(?(1)b|c)", "ab"),
    (r"(?<=#)\d+(?!\d)", "order #77"),
    (r"\bÄpfel\b", "zwei Äpfel"),
    (r"[^\W\d_]+", "12 Straße"),
    (r"(?x) \d+ # a number", "a 12"),
    (r"a{,2}b", "aaab"),
    (r"{name}", "a {name}"),
    (r"x\{e\}", "x{e}"),
    (r"(?>\d+)\.", "12."),
    (r"\w++!", "hey!"),
]


@pytest.mark.parametrize(("pattern", "text"), PORTABLE)
def test_a_pattern_of_python_finds_what_python_finds(pattern: str, text: str) -> None:
    Field("x", extract=[pattern])
    wanted, found = re.search(pattern, text), MatchBudget().search("x", pattern, text)
    assert wanted is not None
    assert (found.span(), found.groups()) == (wanted.span(), wanted.groups())


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "missing ), unterminated subpattern at position 0"),
        ("x{e<=1}", r"'{e<=1}' is fuzzy matching; for the character itself write \{"),
        (
            "[[:alpha:]]",
            r"possible nested set at position 1; for the character itself write \[, \-",
        ),
        (r"[\w--\d]", "possible set difference at position 3; for the character itself write"),
        (r"\p{L}", r"bad escape \p"),
        ("(?<n>a)", "unknown extension ?<n"),
        ("a{99999999999}", "the repetition number is too large"),
        ("(" * 5_000 + ")" * 5_000, "recursion"),
        (b"x", "it must be text"),
        (7, "it must be text"),
    ],
)
def test_what_is_not_read_alike_is_a_fault_of_the_definition(pattern: Any, says: str) -> None:
    for declared in (lambda: Regex(pattern), lambda: Field("x", extract=[pattern])):
        with pytest.raises(ConfigurationError, match=re.escape(says)):
            declared()


FILE = """
id: plates
states:
  ask:
    fields:
      - {name: plate, ask: Which plate?, validators: [{regex: "x{e}"}]}
"""


def test_check_refuses_what_is_no_pattern_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "plates.yaml").write_text(FILE)
    checked = run("check", str(tmp_path / "plates.yaml"), code=1)
    assert "'{e}' is fuzzy matching" in checked.output
