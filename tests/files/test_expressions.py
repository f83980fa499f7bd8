"""`when:` expressions: closed, bounded, and false where something is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import JourneyConfig, JourneyDefinitionError
from journeygraph.journeys.concierge import journey_class
from journeygraph.journeys.files.expressions import (
    ContextCondition,
    MessageCondition,
    expression_fault,
)
from journeygraph.journeys.files.loading import read_journey_text

CONTEXT = {
    "amount": 12,
    "share": 0.5,
    "name": "Ada",
    "flag": True,
    "list": [1, 2, 3],
    "claim": {"open": True, "parts": ["door", "roof"]},
    "none": None,
    "empty": "",
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("context.amount > 10", True),
        ("context.amount > 10.5 && context.share < 1", True),
        ("context.name == 'Ada' || context.nothing", True),
        ("context.claim.open && 'roof' in context.claim.parts", True),
        ("context.list.exists(x, x > 2)", True),
        ("context.list.all(x, x > 2)", False),
        ("size(context.list) == 3 && context.name.startsWith('A')", True),
        ("context.name.matches('^[A-Z][a-z]+$')", True),
        ("has(context.name) && !has(context.surname)", True),
        ("context.none == null", True),
        ("context['amount'] == 12", True),
        ("context.flag ? context.amount == 12 : false", True),
        ("timestamp('2026-11-21T10:00:00Z').getFullYear() == 2026", True),
    ],
)
def test_an_expression_is_judged_on_the_context(text: str, holds: bool) -> None:
    assert expression_fault(text, ["context"]) == ""
    assert ContextCondition(text)(CONTEXT) is holds


@pytest.mark.parametrize(
    "text",
    [
        "context.surname == 'L'",
        "context.surname != 'L'",
        "!(context.surname == 'L')",
        "context.claim.number > 1",
        "context.claims.first.number > 1",
        "context.list[7] > 1",
        "context['surname'] == 'L'",
    ],
)
def test_what_is_not_known_is_not_true(text: str) -> None:
    assert expression_fault(text, ["context"]) == ""
    assert ContextCondition(text)(CONTEXT) is False


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("context.name > 3", TypeError),
        ("context.amount", TypeError),
        ("context.amount / 0 > 1", ZeroDivisionError),
        ("context.amount + 9223372036854775807 > 1", OverflowError),
        ("int(context.name) > 1", ValueError),
        ("timestamp(context.name).getFullYear() > 1", ValueError),
    ],
)
def test_what_cannot_be_judged_is_an_error(text: str, error: type[Exception]) -> None:
    assert expression_fault(text, ["context"]) == ""
    with pytest.raises((error, RuntimeError)):
        ContextCondition(text)(CONTEXT)


async def test_an_error_counts_as_false_and_is_audited_and_the_unknown_is_not(
    memory_url: str,
) -> None:
    spec = read_journey_text(
        "id: claim\nstates: {talk: {complete_when: never}, fraud: {}}\n"
        "transitions:\n"
        "  - {to: fraud, when: context.unknown.amount > 1}\n"
        "  - {to: fraud, when: context.name > 1}\n",
        "claim.yaml",
    )
    config = JourneyConfig(persistence=memory_url)
    agents = {"talk": lambda ask: "Yes?", "fraud": lambda ask: "Fraud!"}
    async with journey_class(spec)("s-1", config, agents=agents) as journey:
        await journey.start({"name": "Ada"})
        reply = await journey.process_message("Hello")
        raised = [row for row in await journey.audit() if row.kind == "condition_raised"]

    assert reply.message == "Yes?"
    assert [row.trigger for row in raised] == ["ConditionTrigger:*->fraud#2"]


def test_a_guideline_hears_the_message_too() -> None:
    rule = MessageCondition("message.contains('hotline') && context.amount > 10")

    assert rule("the hotline, please", CONTEXT) is True
    assert rule("the number, please", CONTEXT) is False
    assert rule("the hotline, please", {}) is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("context.amount >", "CEL syntax error at character 17"),
        ("", "CEL syntax error"),
        ("'open", "CEL syntax error"),
        ("amount > 1", "Write context.amount?"),
        ("contxt.amount > 1", "Did you mean 'context'?"),
        ("message == 'x'", "Available: context."),
        ("context.list.exists(x, y > 1)", "the name 'y' is unknown"),
        ("open('/etc/passwd')", "the function 'open' is unknown"),
        ("context.name.lower() == 'ada'", "the function 'lower' is unknown"),
        ("type(context.name) == 'x'", "the function 'type' is unknown"),
        ("context.list.exists(x, context.list.exists(y, x == y))", "'exists' is inside"),
        ("context.list.all(x, context.list.filter(y, true) == [])", "'filter' is inside"),
        ("context.list.all(x, ')' == x || context . list. all ( y, true))", "'all' is inside"),
        ("context.list.all(x, '''a')''' == x || context.list.all(y, true))", "'all' is inside"),
        ("size(context.list.map(x, context.name + context.name)) > 0", "'map' is not supported"),
        ("context.name.matches(context.name)", "is not a text in quotes"),
        ("context.name.matches('(')", "not a valid regular expression"),
        (".context.amount > 1", "the name '.context' is unknown"),
        ("(" * 13 + "true" + ")" * 13, "more than 12 levels"),
        ("true" + " || true" * 300, "longer than 2,000 characters"),
        (" && ".join(["context.list.exists(x, x > 1)"] * 6), "more than 5 of"),
    ],
)
def test_what_is_outside_of_the_language_is_refused(text: str, said: str) -> None:
    assert said in expression_fault(text, ["context"])


@pytest.mark.parametrize("opening", ["(", "[", "{'a': ", "!", "-", "context.a[", "true ? "])
def test_no_depth_ends_the_process(opening: str) -> None:
    text = opening * (1_990 // len(opening))

    assert expression_fault(text, ["context"]) != ""


def test_the_cost_of_an_expression_is_bounded() -> None:
    numbers = {"list": list(range(450))}
    text = " || ".join(["context.list.exists(x, -x in [9] || x in context.list && x < 0)"] * 5)
    assert expression_fault(text, ["context"]) == ""

    assert ContextCondition(text)(numbers) is False

    with pytest.raises(ValueError, match="more than 500 values"):
        ContextCondition(text)({"list": list(range(600))})
    assert ContextCondition(text)({"list": [-1], "other": list(range(600))}) is True
    with pytest.raises(ValueError, match="more than 500 values"):
        ContextCondition("context.name + context.name == 'x'")({"name": "x" * 200_000})
    assert ContextCondition("context.name.contains('y')")({"name": "x" * 200_000}) is False


def test_a_pattern_cannot_run_away() -> None:
    text = "context.name.matches('^(a+)+$')"

    assert ContextCondition(text)({"name": "a" * 10_000 + "!"}) is False


def test_what_is_joined_again_and_again_cannot_end_the_process() -> None:
    grows = ".map(x, x + x + x + x)" * 4
    assert "more than 10 of '+'" in expression_fault(f"size([message]{grows}) > 1", ["message"])

    text = "size(context.text + context.text + '!') > 1"
    assert expression_fault(text, ["context"]) == ""
    assert ContextCondition(text)({"text": "ab", "other": "a" * 100_000}) is True
    with pytest.raises(ValueError, match="more than 500 values"):
        ContextCondition(text)({"text": "a" * 100_000})
    with pytest.raises(ValueError, match="more than 500 values"):
        MessageCondition("message + message == ''")("a" * 100_000, {})


@pytest.mark.parametrize(
    ("text", "is_too_large"),
    [
        (r"message.matches(r'^[A-Z]{2}-\d{4}-[a-z]{20}$')", False),
        (r"message.matches(r'[\w.]+@[\w.]+')", False),
        (r"message.matches(r'\w{200}')", True),
        (r"message.matches('(\\p{L}{10}){10}')", True),
        (r"message.matches(r'[\w.-]{50,}')", True),
        (r"['a'].exists(x, x.matches(r'^\w'))", False),
        (r"['a'].exists(x, x.matches(r'^\w{3}'))", True),
    ],
    ids=["number", "address", "letters", "nested", "set", "in a list", "many in a list"],
)
def test_a_pattern_that_takes_long_to_build_is_refused(text: str, is_too_large: bool) -> None:
    assert ("is too large" in expression_fault(text, ["message"])) is is_too_large


def test_expressions_are_equal_by_their_text() -> None:
    assert ContextCondition("context.a > 1") == ContextCondition("context.a > 1")
    assert ContextCondition("context.a > 1") != ContextCondition("context.a > 2")
    assert ContextCondition("context.a > 1").__name__ == "context.a > 1"


def test_every_place_of_a_file_judges_its_expressions() -> None:
    text = "id: claim\nactivation_conditions: [{when: a}]\nstates:\n  talk:\n"
    text += "    complete_when: {when: b}\n    guidelines: [{when: c, action: x}]\n"
    text += "transitions: [{to: talk, when: d}]\nguidelines: [{when: e, action: x}]\n"

    with pytest.raises(JourneyDefinitionError) as caught:
        read_journey_text(text, "claim.yaml")

    assert [fault.partition(". Write")[0] for fault in caught.value.faults] == [
        "claim.yaml:2:32: when: the name 'a' is unknown",
        "claim.yaml:5:27: when: the name 'b' is unknown",
        "claim.yaml:6:25: when: the name 'c' is unknown",
        "claim.yaml:7:32: when: the name 'd' is unknown",
        "claim.yaml:8:21: when: the name 'e' is unknown",
    ]


# Anything at all.

WORDS = "context message name list amount claim x y true null in has size 1 0 2.5 1u 'a' r'\\\\'"
SIGNS = ". ( ) [ ] { } ' \" - ! && || == != < > + * / % ? : , // ` int( timestamp( .matches("
PIECES = st.sampled_from(
    [*WORDS.split(), *SIGNS.split(), " ", "\n", ".exists(x, ", ".map(x, ", ".all(x, "]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))
JUDGED = (TypeError, ValueError, ArithmeticError, RuntimeError)


@given(TEXTS, st.dictionaries(st.sampled_from(["name", "list", "x"]), st.none() | st.text()))
def test_any_text_is_refused_or_judged(text: str, context: dict[str, Any]) -> None:
    if expression_fault(text, ["context", "message"]):
        return
    for known in (context, CONTEXT):
        try:
            held = MessageCondition(text)("a message", known)
        except JUDGED:
            continue
        assert isinstance(held, bool)
