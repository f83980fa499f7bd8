"""Outcomes of the messages of the tables, without a model and with a right or a wrong one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.understanding.assistants import LANGUAGES, SIX, TWO
from tests.understanding.judging import SHOWN, SILENT, UNREACHED, Judged
from tests.understanding.rows import table
from tests.understanding.run import described, precision_and_recall, summary
from tests.understanding.session import judge_all

HERE = Path(__file__).parent
SLICE = 6
"""Of so many rows one is tried with a model that is of no use."""


def limits(model: str, name: str) -> list[Any]:
    read = YAML(typ="safe").load((HERE / "limits.yaml").read_text(encoding="utf-8"))
    found: list[Any] = read[model][name]
    return found


def check(found: Sequence[Judged], model: str, name: str) -> None:
    wrong = [one for one in found if one.outcome in (SHOWN, SILENT)]
    silent = [one for one in wrong if one.outcome == SILENT]
    unreached = [one for one in found if one.outcome == UNREACHED]
    all_of_it = "\n\n".join([*map(described, [*unreached, *wrong]), summary(found)])
    assert not unreached, all_of_it
    most, most_silent = limits(model, name)
    assert len(wrong) <= most, all_of_it
    assert len(silent) <= most_silent, all_of_it


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_tries_every_assistant_alike(language: str) -> None:
    counts = Counter(row.assistant for row in table(language))
    desks, size = (TWO, 100) if language == "fr" else (SIX, 300)

    assert set(counts) == set(desks)
    assert min(counts.values()) >= 45
    assert len({(row.assistant, row.asked, row.message) for row in table(language)}) == size


_SLOW_BUT_ENGLISH = [
    pytest.param(one, marks=[] if one == "en" else pytest.mark.slow) for one in LANGUAGES
]


@pytest.mark.long
@pytest.mark.parametrize("model", ["none", pytest.param("right", marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", _SLOW_BUT_ENGLISH)
async def test_few_messages_are_read_wrong(language: str, model: str) -> None:
    check(await judge_all(table(language), language, model), model, language)


@pytest.mark.parametrize("model", ["none", "right"])
async def test_what_was_once_read_wrong_is_not_any_more(model: str) -> None:
    check(await judge_all(table("once_wrong"), "en", model), model, "once_wrong")


@pytest.mark.long
async def test_an_answer_fills_the_field_that_was_asked_for() -> None:
    found = await judge_all(table("answers"), "en")

    precision, recall = precision_and_recall(found)

    least_precision, least_recall = limits("none", "answers")
    assert precision >= least_precision, summary(found)
    assert recall >= least_recall, summary(found)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_model_that_gives_no_answer_is_as_none(language: str) -> None:
    some = table(language)[::SLICE]

    without = await judge_all(some, language)
    silent = await judge_all(some, language, "silent")

    assert any(one.came and one.came.calls for one in silent)
    assert [(one.row, str(one.came)) for one in silent] == [
        (one.row, str(one.came)) for one in without
    ]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_model_that_is_wrong_changes_nothing_of_what_is_certain(language: str) -> None:
    some = table(language)[1::SLICE]

    without = await judge_all(some, language)
    hostile = await judge_all(some, language, "hostile")

    for alone, beside in zip(without, hostile, strict=True):
        assert beside.came, described(beside)
        assert beside.came.reply, described(beside)
        if not beside.came.calls:
            assert str(beside.came) == str(alone.came), described(beside)
