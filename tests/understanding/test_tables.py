"""What comes of the messages of the tables, with no model and with one that is right or is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.understanding.assistants import LANGUAGES, SIX
from tests.understanding.judging import SHOWN, SILENT, UNREACHED, Judged
from tests.understanding.rows import Row, rows_of
from tests.understanding.run import described, judge_all, summary

HERE = Path(__file__).parent
SLICE = 6
"""Of so many rows one is tried with a model that is of no use."""


@cache
def rows(table: str) -> Sequence[Row]:
    folder = HERE / "tables" if table in LANGUAGES else HERE
    return rows_of(folder / f"{table}.yaml")


def limits(model: str, table: str) -> list[int]:
    read = YAML(typ="safe").load((HERE / "limits.yaml").read_text(encoding="utf-8"))
    found: list[int] = read[model][table]
    return found


def check(found: Sequence[Judged], model: str, table: str) -> None:
    wrong = [one for one in found if one.outcome in (SHOWN, SILENT)]
    silent = [one for one in wrong if one.outcome == SILENT]
    unreached = [one for one in found if one.outcome == UNREACHED]
    all_of_it = "\n\n".join([*map(described, [*unreached, *wrong]), summary(found)])
    assert not unreached, all_of_it
    most, most_silent = limits(model, table)
    assert len(wrong) <= most, all_of_it
    assert len(silent) <= most_silent, all_of_it


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_tries_every_assistant_alike(language: str) -> None:
    counts = Counter(row.assistant for row in rows(language))

    assert set(counts) == set(SIX)
    assert min(counts.values()) >= 45
    assert len({(row.assistant, row.asked, row.message) for row in rows(language)}) == 300


@pytest.mark.long
@pytest.mark.parametrize("model", ["none", "right"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_few_messages_are_read_wrong(language: str, model: str) -> None:
    check(await judge_all(rows(language), language, model), model, language)


@pytest.mark.parametrize("model", ["none", "right"])
async def test_what_was_once_read_wrong_is_not_any_more(model: str) -> None:
    check(await judge_all(rows("once_wrong"), "en", model), model, "once_wrong")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_model_that_gives_no_answer_is_as_none(language: str) -> None:
    some = rows(language)[::SLICE]

    without = await judge_all(some, language)
    silent = await judge_all(some, language, "silent")

    assert any(one.came and one.came.calls for one in silent)
    assert [(one.row, str(one.came)) for one in silent] == [
        (one.row, str(one.came)) for one in without
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_model_that_is_wrong_changes_nothing_of_what_is_certain(language: str) -> None:
    some = rows(language)[1::SLICE]

    without = await judge_all(some, language)
    hostile = await judge_all(some, language, "hostile")

    for alone, beside in zip(without, hostile, strict=True):
        assert beside.came, described(beside)
        assert beside.came.reply, described(beside)
        if not beside.came.calls:
            assert str(beside.came) == str(alone.came), described(beside)
