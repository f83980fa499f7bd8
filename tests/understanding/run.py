"""Run tables of messages: `python -m tests.understanding.run TABLE.yaml ...`."""

from __future__ import annotations

import argparse
import asyncio
import functools
import ssl
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.understanding import assistants
from tests.understanding.judging import ASKED, OUTCOMES, SHOWN, SILENT, UNREACHED, Judged
from tests.understanding.models import MODES
from tests.understanding.rows import Want, rows_of, same
from tests.understanding.session import judge_all

LISTED = {
    "wrong": (SHOWN, SILENT, UNREACHED),
    "asked": (ASKED, SHOWN, SILENT, UNREACHED),
    "all": OUTCOMES,
    "none": (),
}
"""The outcomes of which rows are listed, by name."""


def main() -> None:
    """Run what the command line names, and print the rows that went wrong, and counts."""
    given = _arguments()
    # The certificates of the world take 30 ms to load, for each model.
    ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]
    begun = time.perf_counter()
    found: list[Judged] = []
    for path in given.tables:
        rows = [
            row
            for row in rows_of(path)
            if given.desk in (None, row.assistant)
            and (not given.row or row.number in given.row)
            and given.kind in row.kind
        ]
        language = given.language or language_of(path)
        found += asyncio.run(judge_all(rows, language, given.model))
    listed = LISTED["all" if given.row else given.list]
    texts = [described(one) for one in found if one.outcome in listed]
    shares = "asked field filled: precision {:.3f}, recall {:.3f}"
    texts += [counts(found, "kind"), counts(found, "assistant")]
    texts.append(shares.format(*precision_and_recall(found)))
    texts.append(f"{summary(found)} ({time.perf_counter() - begun:.1f} s)")
    sys.stdout.write("\n\n".join(texts) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run tables of messages through assistants.")
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--model", choices=("none", *MODES), default="none")
    parser.add_argument("--desk", choices=tuple(assistants.FIELDS), help="only this assistant")
    parser.add_argument("--kind", default="", help="only rows whose kind has this in it")
    parser.add_argument("--row", type=int, action="append", help="only this row, from 1")
    parser.add_argument("--language", choices=assistants.LANGUAGES, help="not that of the name")
    parser.add_argument("--list", choices=tuple(LISTED), default="wrong")
    return parser.parse_args()


def language_of(path: Path) -> str:
    """Return the language of a table, which its file is named by; English where it is not."""
    return path.stem[:2] if path.stem[:2] in assistants.LANGUAGES else "en"


def counts(found: Sequence[Judged], by: str) -> str:
    """Return how often each outcome came, by the kind or the assistant of the rows."""
    groups: dict[str, Counter[str]] = {}
    for one in found:
        groups.setdefault(getattr(one.row, by), Counter())[one.outcome] += 1
    width = max([len(by), *map(len, groups)]) + 2
    lines = [by.ljust(width) + "  ".join(name.rjust(13) for name in OUTCOMES)]
    for name, of_it in [*sorted(groups.items()), ("all", sum(groups.values(), Counter()))]:
        lines.append(name.ljust(width) + "  ".join(str(of_it[o]).rjust(13) for o in OUTCOMES))
    return "\n".join(lines)


def summary(found: Sequence[Judged]) -> str:
    """Return the counts in one line, with the rows that cost a call of the model."""
    total, times = max(len(found), 1), Counter(one.outcome for one in found)
    shares = ", ".join(f"{name} {times[name]} ({times[name] / total:.0%})" for name in OUTCOMES)
    called = sum(1 for one in found if one.came and one.came.calls)
    return f"{len(found)} rows: {shares}; {called} asked the model ({called / total:.0%})"


def precision_and_recall(found: Sequence[Judged]) -> tuple[float, float]:
    """Return how often what the asked field got was right, and how often it got what was right."""
    filled = right = wanted = 0
    for one in found:
        name, came = one.row.asked, one.came
        if came is None or name not in assistants.field_names(one.row.assistant):
            continue
        kind, got = assistants.type_of(one.row.assistant, name), came.after.get(name)
        values = [want.set[name] for want in one.row.wants if name in want.set]
        filled += got is not None
        right += any(same(kind, value, got, alone=True) for value in values)
        wanted += name in one.row.wants[0].set
    return right / max(filled, 1), right / max(wanted, 1)


def described(one: Judged) -> str:
    """Return a row with what was wanted and what came."""
    lines = [
        f"[{one.outcome}] {one.row}",
        f"    kind:   {one.row.kind}",
        f"    known:  {dict(one.row.known)}",
        f"    wanted: {' | '.join(map(wanted, one.row.wants))}",
    ]
    if one.came:
        reply = one.came.reply.replace("\n", " / ")
        asked = " ".join(one.came.asked)
        lines += [f"    got:    {one.came}  (asked now: {asked})", f"    reply:  {reply}"]
    return "\n".join([*lines, *([f"    why:    {one.why}"] if one.why else [])])


def wanted(want: Want) -> str:
    """Return what is wanted, in a line."""
    parts = [f"{name}={value!r}" for name, value in want.set.items()]
    parts += [f"{name} emptied" for name in want.clear]
    return ", ".join([*parts, *want.does, *(["ask"] if want.asks else [])])


if __name__ == "__main__":
    main()
