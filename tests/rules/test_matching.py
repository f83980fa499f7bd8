"""Matches of phrases; one matcher for all phrases gives the same result."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import NEVER, IntentTrigger, Journey, Pathway, Transition
from journeygraph.journeys.phrases import Matcher, normal, said
from journeygraph.nodes.turn.understand import matcher_of

# A busy machine is slow, not wrong.

HEARD = [
    # whole words, in any case, at any edge
    ("help", "help"),
    ("help", "I need HELP"),
    ("help", "help!"),
    ("help", "«help»"),
    ("help", "please—help—now"),
    ("help", "helpful help"),
    ("what is", "So, what   is\n the fee"),
    ("what is", "what\u00a0is it"),
    (" what  is ", "what is it"),
    # patterns whose own ends are no letters
    ("c++", "I write c++ code"),
    ("c++", "C++"),
    ("c++", "c++11"),
    ("help?", "help?"),
    ("help?", "help??"),
    ("order #", "order #4711"),
    ("order #", "my order # please"),
    ("#1", "you are #1!"),
    ("24/7", "open 24/7."),
    (".net", "ASP.NET"),
    ("100%", "100% sure"),
    ("?", "really?"),
    # apostrophes of every keyboard
    ("don't want", "I don’t want him"),
    ("don’t want", "I don't want him"),
    ("what's", "whatʼs up"),
    ("what's", "What＇s up"),
    ("patients'", "the patients’ room"),
    # case folding and composition
    ("straße", "STRASSE"),
    ("STRASSE", "Große Straße"),
    ("ΣΊΣΥΦΟΣ", "ο σίσυφος"),
    ("istanbul", "ISTANBUL"),
    ("café", "the cafe\u0301 there"),
    ("cafe\u0301", "CAFÉ"),
    ("naïve", "nai\u0308ve"),
    ("\u212bngström", "ett ångström"),
    ("ﬁne", "all FINE"),
    # scripts with and without spaces
    ("помощь", "Нужна ПОМОЩЬ!"),
    ("प्रश्न", "मेरा प्रश्न है"),
    ("مساعدة", "أريد مساعدة"),
    ("预约", "我想预约医生"),
    ("予約", "明日の予約をお願いします"),
    ("カード", "新しいカードをください"),
    ("ช่วย", "โปรดช่วยฉันด้วย"),
    ("ការ", "ការណាត់ជួប"),
    ("𠮷野", "私は𠮷野です"),
    ("카드", "제 카드 주세요"),
    # beside another script there is no edge to keep
    ("vip", "我是vip会员"),
    # emojis
    ("👍", "ok 👍"),
    ("👍", "👍👍🏽"),
    ("❤", "with ❤️"),
    ("❤️", "with ❤"),
    ("ok 👍", "OK 👍!"),
    ("a", "a"),
    ("aa", "aaa aa"),
    ("a a", "a a a"),
    ("_id", "the _id field"),
    ("help", "first\nhelp\nthen"),
    # other scripts from the right to the left
    ("עזרה", "אני צריך עזרה בבקשה"),
]

NOT_HEARD = [
    ("help", "That was helpful"),
    ("help", "unhelp"),
    ("help", "helps"),
    ("help", "help_desk"),
    ("help", "help2"),
    ("help", "self"),
    ("help?", "help"),
    ("help?", "unhelp?"),
    ("c++", "c+"),
    ("c++", "abc++"),
    ("order #", "preorder #4"),
    ("order #", "order"),
    ("#1", "#12"),
    ("100%", "2100%"),
    ("what is", "what was"),
    ("what is", "what, is"),
    ("don't", "dont"),
    ("cafe", "café"),
    ("cafe", "cafe\u0301"),
    ("café", "cafe"),
    ("e\u0301", "e"),
    ("помощ", "помощь"),
    ("मद", "मुझे मदद चाहिए"),
    ("कि", "किताब"),
    ("क", "कि"),
    ("แก", "แก้ไข"),
    ("สี", "สี่"),
    ("카드", "카드는"),
    ("i", "I\u0307"),
    ("👍🏽", "👍"),
    ("longer than the message", "longer"),
]


class Hall(Journey):
    class HallPath(Pathway):
        __complete_when__ = NEVER

    class OnePath(Pathway):
        __complete_when__ = NEVER


async def led_to(pattern: str, message: str, talk: Any, url: str) -> str | None:
    rules = [Transition(IntentTrigger([pattern], use_llm_fallback=False), to_pathway="one")]
    chat = await talk(type("Desk", (Hall,), {"__transitions__": rules}), {}, url)
    await chat.says(message)
    to: str | None = chat.last.transition_to
    return to


@pytest.mark.parametrize(("pattern", "message"), HEARD)
async def test_heard(pattern: str, message: str, talk: Any, memory_url: str) -> None:
    """Patterns: NFC, case-folded, whole words; a transition, the matcher and `said` agree."""
    assert await led_to(pattern, message, talk, memory_url) == "one"
    assert said(pattern, message)
    assert Matcher([(pattern, "q")]).match(message) == {"q": pattern}


@pytest.mark.parametrize(("pattern", "message"), NOT_HEARD)
async def test_not_heard(pattern: str, message: str, talk: Any, memory_url: str) -> None:
    assert await led_to(pattern, message, talk, memory_url) is None
    assert not said(pattern, message)
    assert Matcher([(pattern, "q")]).match(message) == {}


def test_nothing_is_heard_of_no_pattern_and_in_no_message() -> None:
    assert not said("", "anything")
    assert not said("help", "")
    assert Matcher([("", "q")]).match("anything") == {}


# One matcher for all.


def test_overlapping_patterns_are_all_heard() -> None:
    matcher = Matcher(
        [
            ("book", "one word"),
            ("book a", "two"),
            ("book a doctor", "three"),
            ("a doctor", "tail"),
            ("doctor please", "later"),
            ("notebook", "longer word"),
        ]
    )

    assert set(matcher.match("book a doctor please")) == {
        "one word",
        "two",
        "three",
        "tail",
        "later",
    }
    assert set(matcher.match("my notebook")) == {"longer word"}


def test_a_pattern_inside_a_word_does_not_hide_it_as_a_word() -> None:
    assert Matcher([("aa", "q")]).match("aaa aa") == {"q": "aa"}
    assert Matcher([("a b", "q")]).match("xa b a b") == {"q": "a b"}


def test_one_pattern_may_answer_several_questions_and_one_question_have_many_patterns() -> None:
    matcher = Matcher([("help", "faq"), ("HELP", "escalate"), ("aid", "faq")])

    assert matcher.match("help") == {"faq": "help", "escalate": "help"}
    assert matcher.match("first aid") == {"faq": "aid"}
    assert matcher.match("nothing") == {}


def test_a_matcher_without_patterns_hears_nothing() -> None:
    assert Matcher([]).match("anything") == {}


def test_the_matcher_of_a_journey_knows_every_intent_and_is_made_once() -> None:
    class Desk(Journey):
        class TalkPath(Pathway):
            __agents__ = ["clerk"]

        class FAQPath(Pathway):
            __agents__ = ["clerk"]

        __transitions__ = [
            Transition(IntentTrigger(["why", "how"]), to_pathway="faq"),
            Transition(IntentTrigger(["back"]), to_pathway="talk"),
        ]

    why, back = (transition.id for transition in Desk.spec.transitions)

    assert matcher_of(Desk.spec).match("How do I get back?") == {why: "how", back: "back"}
    assert matcher_of(Desk.spec) is matcher_of(Desk.spec)


# What holds for all text.

LETTERS = "aAbBsSßéE\u0301İıΣςσ क\u093f\u0947แก\u0e49你好か\u3099カ👍🏽\ufe0f_1+#?' ’\t\u00a0"
NARROW = st.text(alphabet=LETTERS, max_size=12)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TEXT = NARROW | ANY


@given(pattern=NARROW, message=NARROW)
def test_matcher_and_said_agree_on_dense_text(pattern: str, message: str) -> None:
    assert bool(Matcher([(pattern, "q")]).match(message)) == said(pattern, message)


@given(patterns=st.lists(TEXT, max_size=8), message=TEXT)
def test_a_matcher_of_many_patterns_hears_what_each_alone_would(
    patterns: list[str], message: str
) -> None:
    matcher = Matcher((pattern, str(place)) for place, pattern in enumerate(patterns))

    heard = {str(place) for place, pattern in enumerate(patterns) if said(pattern, message)}

    assert set(matcher.match(message)) == heard


@given(before=TEXT, pattern=TEXT, after=TEXT)
def test_a_pattern_between_spaces_is_always_heard(before: str, pattern: str, after: str) -> None:
    message = f"{before} {pattern} {after}"

    # A mark that begins a text belongs to the space before it, and would join what is there.
    begins_with_a_mark = any(
        unicodedata.combining(text[:1] or " ") for text in (normal(pattern), normal(after))
    )
    assert said(pattern, message) or not normal(pattern) or begins_with_a_mark


@given(text=TEXT)
def test_the_normal_form_is_final(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(text=TEXT)
def test_equivalent_writings_have_one_normal_form(text: str) -> None:
    composed, taken_apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)

    assert normal(composed) == normal(taken_apart) == normal(text)


@given(pattern=TEXT, message=TEXT)
def test_case_and_outer_space_make_no_difference(pattern: str, message: str) -> None:
    folded: Any = pattern.casefold()

    assert said(f"  {folded}\n", f"\t{message.casefold()} ") == said(pattern, message)
