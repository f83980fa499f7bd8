"""Costs and rate of success of understanding a message: counts, not times."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tests.benchmarks.measure import SHOWN as WITHOUT_TARGET
from tests.benchmarks.measure import Figure, Steps
from tests.understanding.assistants import LANGUAGES
from tests.understanding.judging import ASKED, SHOWN, SILENT, Judged
from tests.understanding.rows import Row, Want, table
from tests.understanding.run import precision_and_recall
from tests.understanding.session import Session, a_store, judge_all

_ROOT = Path(__file__).parents[2]
_PRODUCT = f"{_ROOT / 'journeygraph'}/"
_WARM_UP = 3
_EXACT, _MESSAGE = "at 7 pm", "sorry, five people, and at 7 pm"
_KNOWN = {"party_size": 4, "date": "2026-11-27"}
_MOST_CALLS, _MOST_FILES = 1_200, 50
_MOST_WRONG = {"none": 0.08, "right": 0.01}
_MOST_ASKED = {"none": 0.5, "right": 0.02}
_LEAST = {"precision": 0.96, "recall": 0.77}


async def understanding(steps: Steps) -> list[Figure]:
    """The calls of functions in a turn that collects, and what comes of the tables."""
    for _ in steps(f"functions called for {_EXACT!r}", 1):
        figures = await _calls()
    for model in ("none", "right"):
        found: list[Judged] = []
        for at in steps(f"tables, model {model}", len(LANGUAGES)):
            language = LANGUAGES[at]
            here = await judge_all(table(language), language, model)
            figures += _of_table(here, language, model)
            found += here
        if model == "right":
            asking = [one for one in found if one.came and one.came.calls]
            share = len(asking) / len(found)
            figures.append(_shown("messages that ask the model", share))
    return figures + await _answers(steps)


def _of_table(found: Sequence[Judged], language: str, model: str) -> list[Figure]:
    counts = Counter(one.outcome for one in found)
    wrong, silent = counts[SHOWN] + counts[SILENT], counts[SILENT]
    where = f"of {len(found)} messages in '{language}', model {model}"
    return [
        _share(f"wrong {where}", wrong / len(found), _MOST_WRONG[model]),
        _share(f"wrong in silence {where}", silent / len(found), 0.0),
        _share(f"asked again {where}", counts[ASKED] / len(found), _MOST_ASKED[model]),
    ]


async def _answers(steps: Steps) -> list[Figure]:
    for _ in steps("single answers", 1):
        measured = precision_and_recall(await judge_all(table("answers"), "en"))
    return [
        Figure(
            f"{name} of the asked field",
            "least",
            f"{value:.3f}",
            f"{least:.2f}",
            value / least,
            None,
            f">= {least:g}",
            value >= least,
        )
        for (name, least), value in zip(_LEAST.items(), measured, strict=True)
    ]


def _share(what: str, share: float, most: float) -> Figure:
    ratio = share / most if most else float(share > 0)
    return Figure(
        what, "most", f"{share:.1%}", f"{most:.0%}", ratio, None, f"<= {most:.0%}", share <= most
    )


def _shown(what: str, share: float) -> Figure:
    return Figure(what, "of all", f"{share:.1%}", "100%", share, None, WITHOUT_TARGET, True)


async def _calls() -> list[Figure]:
    counted = await calls_of(_EXACT, "time", _KNOWN)
    proposed = await calls_of(_MESSAGE, "time", _KNOWN)
    calls, files = sum(counted.values()), len(counted)
    return [
        Figure(
            f"function calls of {_EXACT!r}, which is exact",
            "most",
            f"{calls:,}",
            f"{_MOST_CALLS:,}",
            calls / _MOST_CALLS,
            None,
            f"<= {_MOST_CALLS:,}",
            calls <= _MOST_CALLS,
        ),
        Figure(
            f"function calls of {_MESSAGE!r}, which is not",
            "of an exact one",
            f"{sum(proposed.values()):,}",
            f"{calls:,}",
            sum(proposed.values()) / calls,
            None,
            WITHOUT_TARGET,
            True,
        ),
        Figure(
            "files on their way",
            "most",
            str(files),
            str(_MOST_FILES),
            files / _MOST_FILES,
            None,
            f"<= {_MOST_FILES}",
            files <= _MOST_FILES,
        ),
    ]


async def calls_of(message: str, asked: str, known: Mapping[str, Any]) -> Counter[str]:
    """Return how often functions of each file of the product are called in the turn of a message.

    The restaurant has asked a question. Only the last of several turns alike is counted, when all
    is loaded.
    """
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_PRODUCT):
            counted[frame.f_code.co_filename] += 1

    row = Row(1, "restaurant", known, asked, message, [Want(asks=True)], "", {})
    async with a_store() as url:
        for _ in range(_WARM_UP + 1):
            counted.clear()
            session = Session(row, "en", url)
            async with session.opened() as journey:
                if fault := await session.reach(journey):
                    raise RuntimeError(f"the state was not reached: {fault}")
                sys.setprofile(count)
                try:
                    await journey.process_message(message)
                finally:
                    sys.setprofile(None)
    return counted
