"""Measure the structure of the product: `python -m tests.support.house` prints its measures.

Rooms are folders of a package; a file at the root of a package is a room of its own. The door
from the language to the runtime is left out of the imports.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("journeys", "nodes", "graphs", "server")
DOOR = "journeys/door.py"
MOST_FILES = 12
"""Most Python files in a folder, `__init__.py` aside."""
_LEFT_OUT = ("examples", "migrations")
_RELATIVE = re.compile(r"(What|Which|Who|Whose|Whom|How|When|Where|Why|Whether)\b")
_UNHELPFUL = re.compile(
    r"(?<![Tt]here )\b(?:is|are) none\b"
    r"|\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|heard|beside)\b(?![`:\"])"
    r"|\b(?:comes?|came) to\b|\b[Tt]akes? note\b|\b[Ss]ay whether\b|\b[Ll]ets? go\b"
    r"|\bat hand\b|\bas it stands\b|\bof its own accord\b|\bin vain\b"
)
"""Words that make a sentence of a docstring harder to read, with a plain word for each."""


@dataclass(frozen=True)
class Source:
    """One file of the product.

    Attributes:
        path: Its path from the root.
        module: Its dotted name; that of a package for its `__init__.py`.
        tree: Its syntax tree.
        lines: The number of its lines.
    """

    path: Path
    module: str
    tree: ast.Module
    lines: int

    @property
    def is_counted(self) -> bool:
        """Whether folders and rooms count it: examples and migrations have layouts of their own."""
        return not any(part in _LEFT_OUT for part in self.path.parts)

    @property
    def room(self) -> str:
        """Return its folder; the file itself where it is at the root of a package."""
        return str(self.path if len(self.path.parts) == 2 else self.path.parent)


@cache
def sources() -> tuple[Source, ...]:
    """Return all files of the product, read once."""
    found = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            text, path = file.read_text(), file.relative_to(ROOT)
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            found.append(Source(path, module, ast.parse(text), len(text.splitlines())))
    return tuple(found)


def crowded() -> dict[str, int]:
    """Return folders with too many Python files, and how many each has."""
    counted = [one for one in sources() if one.is_counted and one.path.name != "__init__.py"]
    files = Counter(str(one.path.parent) for one in counted)
    return {folder: number for folder, number in files.items() if number > MOST_FILES}


def mutual() -> list[tuple[str, str]]:
    """Return pairs of rooms that import each other."""
    counted = [one for one in sources() if one.is_counted]
    rooms = {one.module: one.room for one in counted}
    edges = {
        (one.room, rooms[name])
        for one in counted
        if str(one.path) != DOOR
        for name in _imported(one.tree, rooms)
    }
    return sorted(pair for pair in edges if pair[0] < pair[1] and pair[::-1] in edges)


def _imported(tree: ast.Module, known: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                name = name if name in known else node.module
                if name in known:
                    yield name


def repeated() -> dict[str, int]:
    """Return file names that are used more than once, and how often."""
    names = Counter(one.path.name for one in sources() if one.is_counted)
    return {name: n for name, n in names.items() if n > 1 and name != "__init__.py"}


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring, those of attributes too.

    Examples are left out: their docstrings are prompts.
    """
    for one in (source for source in sources() if "examples" not in source.path.parts):
        for node in ast.walk(one.tree):
            body = getattr(node, "body", None)
            for part in body if isinstance(body, list) else ():
                value = part.value if isinstance(part, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield f"{one.path}:{value.lineno}", " ".join(value.value.split())


def questioning_docstrings() -> list[str]:
    """Return docstrings of any kind that begin with a question word."""
    return [f"{place}: {text}" for place, text in docstrings() if _RELATIVE.match(text)]


def unhelpful_docstrings() -> list[str]:
    """Return docstrings with words that never help a reader."""
    found = ((place, _UNHELPFUL.search(text)) for place, text in docstrings())
    return [f"{place}: {match[0]}" for place, match in found if match]


def function_lines() -> list[int]:
    """Return how many lines each function has, in ascending order."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for one in sources() for node in ast.walk(one.tree) if isinstance(node, kinds))
    return sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def main() -> None:
    """Print all measures."""
    lengths = function_lines()
    rows = {
        "files": len(sources()),
        "lines": sum(one.lines for one in sources()),
        f"folders of more than {MOST_FILES} files": crowded() or 0,
        "rooms that import each other": mutual() or 0,
        "file names used more than once": len(repeated()),
        "lines of a function, median": statistics.median(lengths),
        "lines of a function, p95": p95(lengths),
        "docstrings that begin with a question word": len(questioning_docstrings()),
        "docstrings with unhelpful words": len(unhelpful_docstrings()),
    }
    sys.stdout.writelines(f"{name}: {value}\n" for name, value in rows.items())


def p95(lengths: list[int]) -> int:
    """Return the length that 95 % of the functions do not exceed."""
    return lengths[round(0.95 * (len(lengths) - 1))]


if __name__ == "__main__":
    main()
