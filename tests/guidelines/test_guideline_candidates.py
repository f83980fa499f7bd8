"""Stage one: which guidelines a message may touch, by its words and without a model."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import GuidelineSpec, Scope
from journeygraph.nodes.guidelines.index import MOST_SCORED, Index, index_of
from journeygraph.nodes.guidelines.resolve import resolve
from journeygraph.nodes.state.interpretation import HeldGuideline
from tests.guidelines.recall.stage_one import MOST, found, recall

# A busy machine is slow, not wrong.

HERE = [("desk", "shop")]


def rule(
    name: str, *keywords: str, condition: str = "it applies", scope: str = "journey", **more: Any
) -> GuidelineSpec:
    place = {"global": (None, None), "journey": ("shop", None), "state": ("shop", "desk")}
    journey, pathway = place[scope]
    given_ = {"journey": journey, "pathway": pathway, **more}
    return GuidelineSpec(
        id=name,
        scope=Scope(scope),
        condition=condition,
        action=f"do {name}",
        keywords=keywords,
        **given_,
    )


def asked(
    rules: Sequence[GuidelineSpec],
    message: str,
    most: int = 20,
    places: Sequence[tuple[str, str]] = HERE,
) -> list[str]:
    return [one.guideline.id for one in Index(rules).candidates(message, places, most)]


def holding(rules: Sequence[GuidelineSpec], message: str, **options: Any) -> list[str]:
    return [one.guideline.id for one in Index(rules).by_keyword(message, HERE, 20, **options)]


SAID = [
    # a keyword, and a message that says it
    ("cancel", "I CANCELLED it"),
    ("cancel", "about the cancellation"),
    ("cancellation", "cancelling, please"),
    ("refund", "why was I never refunded?"),
    ("my bill was", "what is on the bills"),
    ("invoices", "that invoice"),
    ("steal", "it was stolen"),
    ("stolen", "they stole it"),
    ("pay", "I paid yesterday"),
    ("children", "with a child"),
    ("policies", "my policy"),
    # phrases
    ("opening hours", "what are the opening hours"),
    ("opening hours", "hours of opening"),
    ("change my mind", "I changed our mind"),
    ("log in", "I can't log in."),
    ("how much", "so how much is it"),
    # hyphens and apostrophes
    ("e-mail", "an email"),
    ("email", "by e-mail"),
    ("check-up", "my checkup"),
    ("checkup", "for a check-up"),
    ("rear-ended", "they rear ended me"),
    ("can't afford", "we cant afford it"),
    ("what's on", "what\u2019s on today"),
    # accents, case and composition
    ("caf\u00e9", "the cafe"),
    ("cafe", unicodedata.normalize("NFD", "caf\u00e9")),
    ("k\u00fcndigen", "ICH WILL K\u00dcNDIGEN"),
    ("stra\u00dfe", "STRASSE"),
    ("\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3", "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2"),
    # scripts without spaces
    ("\u8fd4\u91d1", "\u8fd4\u91d1\u3057\u3066\u304f\u3060\u3055\u3044"),
    ("\u9000\u6b3e", "\u6211\u60f3\u8981\u9000\u6b3e\u3002"),
    (
        "\u0e04\u0e37\u0e19\u0e40\u0e07\u0e34\u0e19",
        "\u0e02\u0e2d\u0e04\u0e37\u0e19\u0e40\u0e07\u0e34\u0e19",
    ),
    ("\ud658\ubd88", "\ud658\ubd88\uc744 \uc6d0\ud574\uc694"),
    # signs
    ("c++", "I write C++"),
    ("24/7", "open 24/7?"),
    ("???", "what???"),
    ("\U0001f525", "it is on \U0001f525"),
    ("\u20ac", "5 \u20ac"),
    # nearly
    ("insurance", "my insurence"),
    ("locked", "loced out"),
    ("bank", "the bnak"),
    ("insurance", "is it insured"),
    ("invoice", "my bill"),
    ("accident", "we had a collision"),
]


@pytest.mark.parametrize(("keyword", "message"), SAID, ids=range(len(SAID)))
def test_a_keyword_is_found_in_every_form(keyword: str, message: str) -> None:
    assert asked([rule("it", keyword)], message) == ["it"]


NOT_SAID = [
    ("app", "I am happy"),
    ("ring", "during spring"),
    ("cancel", ""),
    ("cancel", "?!"),
    ("refund", "hello there"),
    ("\u8fd4\u91d1", "\u91d1\u8fd4"),
    ("how much", "how are you"),
    ("car", "a card"),
    ("???", "what?"),
]


@pytest.mark.parametrize(("keyword", "message"), NOT_SAID, ids=range(len(NOT_SAID)))
def test_a_part_of_another_word_is_no_keyword(keyword: str, message: str) -> None:
    assert asked([rule("it", keyword)], message) == []


def test_without_keywords_the_words_of_the_condition_are_looked_for() -> None:
    rules = [rule("renewal", condition="the customer asks about the renewal of a contract")]
    assert asked(rules, "when does it renew") == ["renewal"]
    assert asked(rules, "as a customer I ask about the weather") == []
    chinese = [rule("refund", condition="\u5ba2\u6237\u60f3\u8981\u9000\u6b3e")]
    assert asked(chinese, "\u8bf7\u9000\u6b3e") == ["refund"]


def test_a_condition_without_a_word_to_look_for_is_considered_in_every_turn() -> None:
    rules = [rule("who", condition="the user asks who you are"), rule("lamp", "lamp")]
    assert asked(rules, "a lamp") == ["who", "lamp"]
    assert asked(rules, "hello", 0) == ["who"]


def test_rare_words_count_more_than_frequent_ones_and_several_more_than_one() -> None:
    rules = [rule(f"order {n}", "order") for n in range(5)] + [rule("violin", "violin")]
    assert asked(rules, "I order a violin")[0] == "violin"
    both = [rule("one", "lamp"), rule("two", "shade"), rule("both", "lamp", "shade")]
    assert asked(both, "a shade of a lamp")[0] == "both"
    scores = [one.score for one in Index(both).candidates("a shade of a lamp", HERE, 20)]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_a_whole_phrase_counts_more_than_a_word_of_it() -> None:
    rules = [rule("new", "new car"), rule("hire", "hire car"), rule("old", "old car")]
    assert asked(rules, "a hire car please")[0] == "hire"


def test_what_is_said_counts_more_than_what_is_nearly_said() -> None:
    rules = [rule("bill", "bill"), rule("invoice", "invoice")]
    assert asked(rules, "an invoice") == ["invoice", "bill"]
    assert asked(rules, "a bill") == ["bill", "invoice"]


def test_of_equals_the_narrower_scope_comes_first_then_priority_then_declaration() -> None:
    rules = [
        rule("everywhere", "lamp", scope="global", priority=9),
        rule("second", "lamp"),
        rule("third", "lamp"),
        rule("first", "lamp", priority=1),
        rule("here", "lamp", scope="state"),
    ]
    assert asked(rules, "a lamp") == ["here", "first", "second", "third", "everywhere"]
    assert asked(rules, "a lamp", 2) == ["here", "first"]


def test_those_considered_always_come_first_and_are_never_left_out() -> None:
    rules = [
        rule("lamp", "lamp"),
        rule("shade", "shade"),
        rule("mood", always=True),
        rule("danger", critical=True, scope="global"),
    ]
    assert asked(rules, "a lamp and a shade", 3) == ["mood", "danger", "lamp"]
    assert asked(rules, "hello", 1) == ["mood", "danger"]


def test_only_what_a_model_is_to_judge_is_a_candidate() -> None:
    rules = [
        rule("off", "lamp", enabled=False),
        rule("off always", always=True, enabled=False),
        rule("code", "lamp", when=lambda message, context: True),
        rule("word", "lamp", condition=""),
        rule("law", condition="", always=True),
        rule("asked", "lamp"),
    ]
    assert asked(rules, "a lamp") == ["asked"]
    index = Index(rules)
    assert [one.id for one in index.unasked(HERE)] == ["code", "law"]
    assert holding(rules, "a lamp") == ["word"]
    assert holding(rules, "a lamp", alone=True) == ["word", "asked"]


def test_guidelines_of_other_places_are_no_candidates() -> None:
    rules = [
        rule("desk", "lamp", scope="state"),
        rule("till", "lamp", scope="state", pathway="till"),
        rule("shop", "lamp"),
        rule("bank", "lamp", journey="bank"),
        rule("all", "lamp", scope="global"),
        rule("till always", scope="state", pathway="till", always=True),
        rule("till law", scope="state", pathway="till", always=True, condition=""),
    ]
    assert asked(rules, "lamp") == ["desk", "shop", "all"]
    assert asked(rules, "lamp", places=[]) == ["all"]
    assert asked(rules, "lamp", places=[("desk", "bank"), ("till", "bank")]) == [
        *("till always", "desk", "till", "bank", "all"),
    ]
    assert Index(rules).unasked(HERE) == []
    for one in rules:
        told = one.id in asked(rules, "lamp")
        assert told == (one.applies_in(*HERE[0]) and one.asks_model)


def test_a_keyword_that_holds_by_itself_must_be_said_as_it_is_written() -> None:
    rules = [rule("end", "not happy", condition=""), rule("bill", "bill", condition="")]
    assert holding(rules, "I am NOT happy with the bills") == ["end", "bill"]
    assert holding(rules, "happy, not!") == []
    assert holding(rules, "so happy about the invoice, and the blil") == []
    prices = [rule("up", "go up", condition=""), rule("poor", "can't pay", condition="")]
    assert holding(prices, "It rises!") == []
    assert holding(prices, "it went up, and we cant pay") == ["up", "poor"]


def test_a_candidate_tells_by_which_keywords_it_was_found() -> None:
    rules = [rule("lamp", "lamp", "table lamp", "bulb"), rule("mood", always=True)]
    mood, lamp = Index(rules).candidates("bulbs of a table-lamp", HERE, 20)
    assert set(lamp.keywords) == {"table lamp", "lamp", "bulb", "table"}
    assert (mood.keywords, mood.score) == ((), 0)
    many = rule("many", *(f"word{n}" for n in "abcdefgh"))
    (found_,) = Index([many]).candidates("worda wordb wordc wordd worde wordf wordg", HERE, 20)
    assert len(found_.keywords) == 5


def test_a_word_that_thousands_share_brings_up_the_first_ones_of_them() -> None:
    shared = [rule(f"r{n}", "order", priority=n) for n in range(5_000)]
    assert asked(shared, "my order", 3) == ["r4999", "r4998", "r4997"]
    special = rule("special", "order", "violin", priority=-1)
    assert asked([*shared, special], "order a violin", 2) == ["special", "r4999"]
    assert len(Index(shared).candidates("order", HERE, 10_000)) == MOST_SCORED


@pytest.mark.parametrize(
    "message",
    ["lamp " * 40_000, "\u00fc" * 200_000, "a-" * 100_000, "x" * 16_000, "\u8fd4" * 16_000],
    ids=["words", "one word", "hyphens", "letters", "signs"],
)
def test_a_very_long_message_is_read_to_its_end(message: str) -> None:
    assert "shade" in asked([rule("lamp", "lamp"), rule("shade", "shade")], f"{message} shade")


def test_what_holds_is_brought_into_the_order_of_declaration() -> None:
    rules = tuple(rule(name, "lamp") for name in ("a", "b", "c"))
    index = index_of(rules)
    held = [HeldGuideline(rules[2], "model"), HeldGuideline(rules[0], "model")]
    resolved = resolve(index.in_order(held))
    assert [item.guideline.id for item in resolved.matched] == ["a", "c"]


def test_the_same_guidelines_are_read_once() -> None:
    rules = (rule("lamp", "lamp"),)
    assert index_of(rules) is index_of(rules)
    assert index_of((*rules,)) is not index_of(rules)


TEXTS = st.text(max_size=40)


@given(st.lists(st.lists(TEXTS, max_size=3), max_size=5), TEXTS, st.integers(0, 6))
def test_any_text_is_read_and_nothing_more_is_returned_than_wanted(
    keywords: list[list[str]], message: str, most: int
) -> None:
    rules = [rule(f"r{n}", *words, condition=message) for n, words in enumerate(keywords)]
    one, other = asked(rules, message, most), asked(rules, message, most)
    assert one == other
    assert len(one) == len(set(one))
    # Those that have no word to look for are considered whatever is said.
    assert len(one) <= max(most, len(asked(rules, "", most)))


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), TEXTS, TEXTS)
def test_whoever_says_a_keyword_touches_its_guideline(phrase: str, before: str, after: str) -> None:
    assert asked([rule("it", phrase)], f"{before} {phrase} {after}") == ["it"]
    assert holding([rule("it", phrase, condition="")], f"{before} {phrase} {after}") == ["it"]


def test_most_guidelines_that_apply_are_found_in_the_messages_that_it_was_tuned_on() -> None:
    figures = recall("tuning")
    assert figures.messages >= 100
    assert figures.all >= 0.9
    assert figures.by_words >= 0.9
    assert all(len(one.candidates) <= MOST for one in found("tuning"))
