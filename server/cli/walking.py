"""Which files of a folder may hold journeys, told without importing any of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_MENTIONED = re.compile(rb"\bjourneys\b|Journey\b")
_PASSED_OVER = frozenset({"__pycache__", "node_modules", "build", "dist", "tests", "test"})
_TEST = re.compile(r"test_.*|.*_test|conftest|setup")
# At the margin, or in braces: all of JSON is YAML too.
_YAML_KEYS = re.compile(
    rb"(?:^|[{,][ \t]*)[\"']?(states|journeys|guidelines)[\"']?[ \t]*:", re.MULTILINE
)
_JSON_KEYS = re.compile(rb"\"(states|journeys|guidelines)\"\s*:")
# An agent in a file has both.
_AGENT_KEYS = [
    (
        re.compile(rb"(?:^|[{,][ \t]*)[\"']?%s[\"']?[ \t]*:" % key, re.MULTILINE),
        re.compile(rb"\"%s\"\s*:" % key),
    )
    for key in (b"id", b"fields")
]
_MARKS = ("__transitions__", "__entry_pathway__")


def journey_files(folder: Path) -> Iterator[Path]:
    """Files in which a journey is written, hidden folders, environments and tests left out.

    A file that mentions journeys and is no valid Python is among them: that is a fault to report.
    So is a YAML or JSON file that looks like a definition.
    """
    for entry in sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        if entry.is_dir():
            if _is_walked(entry):
                yield from journey_files(entry)
        elif not _TEST.fullmatch(entry.stem) and _may_hold_one(entry):
            yield entry


def is_definition(place: str | Path) -> bool:
    """Say whether a name is that of a definition file, whether there is one or not."""
    return Path(place).suffix.lower() in (".yaml", ".yml", ".json")


def _is_walked(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _PASSED_OVER
    return not (hidden or folder.is_symlink() or (folder / "pyvenv.cfg").exists())


def _may_hold_one(file: Path) -> bool:
    if is_definition(file):
        return _looks_like_definition(file.read_bytes(), file.suffix.lower() == ".json")
    if file.suffix != ".py":
        return False
    source = file.read_bytes()
    if not _MENTIONED.search(source):
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return True
    return any(isinstance(node, ast.ClassDef) and looks_like_journey(node) for node in tree.body)


def _looks_like_definition(text: bytes, is_json: bool) -> bool:
    if (_JSON_KEYS if is_json else _YAML_KEYS).search(text):
        return True
    return all(keys[is_json].search(text) for keys in _AGENT_KEYS)


def parsed(file: Path) -> list[ast.stmt]:
    """The statements of a file; none if it cannot be read."""
    try:
        return ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []


def looks_like_journey(node: ast.ClassDef) -> bool:
    """By the name of a base, by a pathway inside, or by what only journeys declare."""
    return _has_base(node, "Journey") or any(
        _has_base(part, "Pathway") if isinstance(part, ast.ClassDef) else _is_mark(part)
        for part in node.body
    )


def _has_base(node: ast.ClassDef, ending: str) -> bool:
    return any(ast.unparse(base).endswith(ending) for base in node.bases)


def _is_mark(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id in _MARKS for target in targets)
