"""Definition files with their modules, and the files of a folder that may contain journeys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from journeygraph.journeys import Journey, JourneyDefinitionError, JourneySpec, load_journey
from journeygraph.journeys.faults import Fault, TextPosition
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.journeys.files.loading import document_kind, read_guidelines_text
from journeygraph.server.discover.errors import CommandError, described, reworded
from journeygraph.server.discover.modules import looks_like_journey, module_at, shown

_PLACE = re.compile(r"\S+:(\d+):(\d+) ")
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


class FaultyFileError(CommandError):
    """A definition file has faults; `lines` name each with its file, line and column."""


def journey_at(file: Path) -> type[Journey]:
    """Return the journey of a file."""
    try:
        return load_journey(file)
    except JourneyDefinitionError as error:
        raise _faulty(file, error) from error


def checked_guidelines(file: Path) -> int | None:
    """Return the number of global guidelines in a file; None if it contains a journey."""
    try:
        text = file.read_bytes().decode("utf-8")
        if document_kind(text, file.name) != "guidelines":
            return None
        return len(read_guidelines_text(text, file.name))
    except UnicodeDecodeError:  # told where the journey is read
        return None
    except JourneyDefinitionError as error:
        raise _faulty(file, error) from error


def module_beside(file: Path) -> ModuleType:
    """Return the module of the same name in the same folder, with the agents of a journey.

    Without such a file it is an empty module.
    """
    beside = file.with_suffix(".py")
    if beside.is_file():
        return module_at(beside)
    module = ModuleType(shown(beside))
    module.__file__ = str(file)
    return module


def placed(file: Path, faults: Iterable[str]) -> Iterator[str]:
    """Return faults with the folder in front of their file's name."""
    folder = shown(file.parent)
    before = "" if folder == "." else f"{folder}/"
    for fault in faults:
        name = fault.file if isinstance(fault, Fault) else ""
        yield reworded(fault, f"{before}{fault}", file=f"{before}{name}" if name else "")


def place_in(file: Path, spec: JourneySpec, fault: Fault) -> TextPosition:
    """Return the place of a fault that was found without the text of its file."""
    owners = (("states", one.id) for one in spec.pathways.values() if one.where == fault.where)
    path = (*next(owners, ()), *fault.path)
    tree = read_tree(file.read_text(encoding="utf-8"), file.name)
    while path and path not in tree.values:
        path = path[:-1]
    given = _PLACE.match(fault.where)
    return tree.values[path] if path or not given else TextPosition(int(given[1]), int(given[2]))


def _faulty(file: Path, error: JourneyDefinitionError) -> FaultyFileError:
    return FaultyFileError(*placed(file, described(error)))


def journey_files(folder: Path) -> Iterator[Path]:
    """Return the files that may contain journeys, without hidden folders, environments and tests.

    A file that mentions journeys and is not valid Python is included, so that its fault is
    reported. So is a YAML or JSON file that looks like a definition.
    """
    for entry in sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        if entry.is_dir():
            if is_walked(entry):
                yield from journey_files(entry)
        elif not _TEST.fullmatch(entry.stem) and _may_hold_one(entry):
            yield entry


def is_definition(place: str | Path) -> bool:
    """Return whether a name has the ending of a definition file; the file need not exist."""
    return Path(place).suffix.lower() in (".yaml", ".yml", ".json")


def is_walked(folder: Path) -> bool:
    """Return whether a folder may contain journeys: it is not hidden, of tests or of libraries."""
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
