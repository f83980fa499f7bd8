"""Reports of played conversations: for people, as JSON, as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from journeygraph.server.conversations.player import Played

_INDENT = " " * 4


def heading(played: Played) -> str:
    """Return a line with the name and the outcome of a conversation."""
    mark = "-" if played.skipped else "✓" if played.passed else "✗"
    turns = f"{played.turns} turn{'s' * (played.turns != 1)}"
    run = f", run {played.run}" if played.run else ""
    run += f", {played.end}" if played.end else ""
    about = f"skipped: {played.skipped}" if played.skipped else f"{turns}{run}"
    return f"{mark} {played.loaded.name}: {played.loaded.conversation.conversation} ({about})"


def failure_lines(played: Played) -> Iterator[str]:
    """Yield the conversation up to the turn that differs, and how it differs."""
    width = max((len(line.who) for line in played.lines), default=0)
    for line in played.lines:
        first, *others = line.text.splitlines() or [""]
        yield f"{_INDENT}{line.who:<{width}}  {first}"
        yield from (f"{_INDENT}{'':<{width}}  {other}" for other in others if other.strip())
    place = f"{played.loaded.name}:{played.at}"
    for one in played.differences:
        yield f"{_INDENT}✗ {one.what} ({place})"
        yield f"{_INDENT}    expected  {one.expected}"
        yield f"{_INDENT}    got       {one.got}"


def summary(games: Sequence[Played]) -> str:
    """Return how many conversations passed and failed, each run one of them."""
    failed = sum(not played.passed for played in games)
    skipped = sum(bool(played.skipped) for played in games)
    seconds = sum(played.seconds for played in games)
    counted = f"{len(games)} conversation{'s' * (len(games) != 1)}"
    left_out = f", {skipped} skipped" if skipped else ""
    passed = len(games) - failed - skipped
    return f"{counted}: {passed} passed, {failed} failed{left_out} ({seconds:.1f} s)"


@dataclass(frozen=True)
class Runs:
    """Runs of a conversation with a live model or a simulated user.

    Attributes:
        file: The file; of simulated users also the conversation.
    """

    file: str
    passed: int
    total: int

    def pass_hat(self, k: int) -> float:
        """Return the estimated probability that k runs in a row all pass."""
        return comb(self.passed, k) / comb(self.total, k)


def runs_of(games: Sequence[Played]) -> list[Runs]:
    """Return the runs, by conversation."""
    by_file: dict[str, list[Played]] = {}
    for played in games:
        if played.run:
            name, title = played.loaded.name, played.loaded.conversation.conversation
            by_file.setdefault(f"{name}: {title}" if played.end else name, []).append(played)
    return [
        Runs(file, sum(one.passed for one in runs), len(runs)) for file, runs in by_file.items()
    ]


def pass_hats(runs: Sequence[Runs]) -> dict[int, float]:
    """Return pass^k for each k: the mean over the conversations."""
    most = min((one.total for one in runs), default=0)
    return {k: sum(one.pass_hat(k) for one in runs) / len(runs) for k in range(1, most + 1)}


def runs_as_data(runs: Sequence[Runs]) -> dict[str, Any]:
    """Return the runs and pass^k as JSON."""
    return {
        "runs": [{"file": r.file, "passed": r.passed, "total": r.total} for r in runs],
        "pass_hat": {str(k): round(share, 4) for k, share in pass_hats(runs).items()},
    }


def as_data(played: Played) -> dict[str, Any]:
    """Return the outcome of a conversation as JSON."""
    return {
        "file": played.loaded.name,
        "conversation": played.loaded.conversation.conversation,
        "journey": played.loaded.found.journey.spec.id,
        "passed": played.passed and not played.skipped,
        "skipped": played.skipped,
        "run": played.run,
        "end": played.end,
        "turns": played.turns,
        "seconds": round(played.seconds, 3),
        "line": played.at,
        "notes": played.notes,
        "differences": [
            {"what": d.what, "expected": d.expected, "got": d.got} for d in played.differences
        ],
        "transcript": [
            {"who": line.who, "text": line.text, "line": line.at} for line in played.lines
        ],
    }


def write_junit(games: Sequence[Played], file: Path) -> None:
    """Write the outcomes as JUnit XML."""
    failed = sum(not played.passed for played in games)
    seconds = sum(played.seconds for played in games)
    skipped = sum(bool(played.skipped) for played in games)
    counts = {"tests": str(len(games)), "failures": str(failed), "errors": "0"}
    counts["skipped"] = str(skipped)
    root = ElementTree.Element("testsuites")
    about = {"name": "journeygraph", "time": f"{seconds:.3f}", **counts}
    suite = ElementTree.SubElement(root, "testsuite", about)
    if hats := pass_hats(runs_of(games)):
        properties = ElementTree.SubElement(suite, "properties")
        for k, share in hats.items():
            about = {"name": f"pass^{k}", "value": f"{share:.4f}"}
            ElementTree.SubElement(properties, "property", about)
    for played in games:
        run = f" (run {played.run})" if played.run else ""
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=played.loaded.name,
            name=f"{played.loaded.conversation.conversation}{run}",
            file=played.loaded.name,
            line=str(played.at),
            time=f"{played.seconds:.3f}",
        )
        if played.skipped:
            ElementTree.SubElement(case, "skipped", message=played.skipped)
        if not played.passed:
            first = _legal(str(played.differences[0]))
            failure = ElementTree.SubElement(case, "failure", message=first)
            failure.text = _legal("\n".join(failure_lines(played)))
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _legal(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
