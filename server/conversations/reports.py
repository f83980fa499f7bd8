"""Reports of played conversations: for people, as JSON, as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from server.conversations.player import Played

_INDENT = " " * 4


def heading(played: Played) -> str:
    """Return a line with the name and the outcome of a conversation."""
    mark = "✓" if played.passed else "✗"
    turns = f"{played.turns} turn{'s' * (played.turns != 1)}"
    return f"{mark} {played.loaded.name}: {played.loaded.conversation.conversation} ({turns})"


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
    """Return how many conversations passed and failed."""
    failed = sum(not played.passed for played in games)
    seconds = sum(played.seconds for played in games)
    counted = f"{len(games)} conversation{'s' * (len(games) != 1)}"
    return f"{counted}: {len(games) - failed} passed, {failed} failed ({seconds:.1f} s)"


def as_data(played: Played) -> dict[str, Any]:
    """Return the outcome of a conversation as JSON."""
    return {
        "file": played.loaded.name,
        "conversation": played.loaded.conversation.conversation,
        "journey": played.loaded.found.journey.spec.id,
        "passed": played.passed,
        "turns": played.turns,
        "seconds": round(played.seconds, 3),
        "line": played.at,
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
    counts = {"tests": str(len(games)), "failures": str(failed), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites")
    about = {"name": "journeygraph", "time": f"{seconds:.3f}", **counts}
    suite = ElementTree.SubElement(root, "testsuite", about)
    for played in games:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=played.loaded.name,
            name=played.loaded.conversation.conversation,
            file=played.loaded.name,
            line=str(played.at),
            time=f"{played.seconds:.3f}",
        )
        if not played.passed:
            first = _legal(str(played.differences[0]))
            failure = ElementTree.SubElement(case, "failure", message=first)
            failure.text = _legal("\n".join(failure_lines(played)))
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _legal(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
