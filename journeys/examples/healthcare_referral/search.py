"""Find the handbook entry that answers a question (BM25)."""

from __future__ import annotations

import re
from functools import cache

import bm25s

from journeys.examples.healthcare_referral.hearing import plain
from journeys.examples.healthcare_referral.material import Entry, handbook

# A word that names the topic is enough, or one rare word, or common ones that make up most of the
# question; otherwise an entry only shares a chance word with it. Tests hold both sides.
_LEAST_SCORE = 2.4
_LEAST_SCORE_A_WORD = 1.0
_STOP_WORDS = """
    a about an and any anything are as at be been but by can could did do does doing don't for
    from had has have he hello help her here hi him his how i i'd i'll i'm if in into is it it's
    its just know like long may me might more much my of on or our ours please policy question
    she should so some tell than thanks that that's the their them then there these they this
    those time to us was we were what what's when where which who will wish with wonder
    wondering would you your
"""


def answering(question: str) -> Entry | None:
    """Return the entry that fits the question best, or None if none fits well enough."""
    words = _words(question)
    if not words:
        return None
    scores = _index().get_scores(words)
    best = int(scores.argmax())
    entry = handbook()[best]
    topic = set(_words(" ".join(entry.keywords)))
    counted = 1 if topic & set(words) else len(words)
    fits = scores[best] >= min(_LEAST_SCORE, _LEAST_SCORE_A_WORD * counted)
    return entry if fits else None


@cache
def _index() -> bm25s.BM25:
    index = bm25s.BM25()
    index.index([_words(_text(entry)) for entry in handbook()], show_progress=False)
    return index


def _text(entry: Entry) -> str:
    # The question and the topic say more of what an entry is about than its answer does.
    topic = f"{entry.question} {' '.join(entry.keywords)}"
    return f"{topic} {topic} {' '.join(entry.also)} {entry.answer}"


def _words(text: str) -> list[str]:
    text = re.sub(r"^wait\b", "", plain(text)).replace("how much", "cost")
    words = re.findall(r"[a-z0-9][a-z0-9'-]*", text)
    return [_stem(word) for word in words if word not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP_WORDS.split())


def _stem(word: str) -> str:
    for ending in ("'s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word
