"""Import the module of a file or of a dotted name; a failure has file and line.

A class body has no line numbers, so the place of a fault is searched in the source.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

import journeygraph.journeys
from journeygraph.journeys import Journey, JourneyDefinitionError
from journeygraph.journeys.faults import Fault, TextPosition
from journeygraph.server.discover.errors import CommandError, described

_LANGUAGE = Path(journeygraph.journeys.__file__ or "").parent
_EXAMPLES = _LANGUAGE / "examples"
_BY_PATH = "journey_file_"
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")
_NAME = re.compile(r"\w+")
_MARKS = ("__transitions__", "__entry_pathway__")


class LoadError(CommandError):
    """A module cannot be imported: its definition has faults, or its code fails.

    Attributes:
        place: File and line, shown from the current folder.
        unread: Journeys further down in the file, which were not read because of the fault.
    """

    def __init__(self, place: str, faults: list[str], cause: BaseException | None = None) -> None:
        file, _, line = place.rpartition(":")
        by_class = isinstance(cause, JourneyDefinitionError) and line.isdecimal()
        found = [fault if isinstance(fault, Fault) else Fault(fault) for fault in faults]
        if line.isdecimal():
            lines = [_placed(file, int(line), fault, by_class=by_class) for fault in found]
        else:
            lines = [fault.changed(f"{place}: {fault}") for fault in found]
        super().__init__(*lines)
        self.place = place
        self.faults = faults
        self.unread = journeys_after(Path(file), int(line)) if by_class else []


class NoSuchModuleError(CommandError):
    """There is no module with that name."""


def module_named(name: str) -> ModuleType:
    """Import a module by its dotted name."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise NoSuchModuleError(f"'{name}' is not a valid module name.", exit_code=2)

    def load() -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and f"{name}.".startswith(f"{error.name}."):
                message = f"There is no module '{error.name}'."
                raise NoSuchModuleError(message, exit_code=2) from None
            raise

    return _loaded(load, None)


def hidden_by_installed(name: str) -> Path | None:
    """Return the file in the current folder that a dotted name does not reach, or None.

    An installed module with that name has priority, so that no file can break the command itself.
    """
    here = Path.cwd().joinpath(*name.split(".")).with_suffix(".py")
    spec = importlib.util.find_spec(name.partition(".")[0]) if here.is_file() else None
    if spec is None or (spec.origin and Path(spec.origin).is_relative_to(Path.cwd())):
        return None
    return here


def module_at(file: Path) -> ModuleType:
    """Import a file: as a member of its package if it is in one, else by itself."""
    file = file.resolve()
    if not (file.parent / "__init__.py").is_file():
        return _loaded(lambda: _by_itself(file), file)
    try:
        module = module_named(_dotted(file))
    except NoSuchModuleError:
        return _loaded(lambda: _by_itself(file), file)
    # Another package of that name was imported before, perhaps one of our own.
    same = module.__file__ and Path(module.__file__).resolve() == file
    return module if same else _loaded(lambda: _by_itself(file), file)


def root_of(file: Path) -> Path:
    """Return the folder from which a file's package, or the file itself, is imported."""
    folder = file.resolve().parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _dotted(file: Path) -> str:
    root = root_of(file)
    parts = file.relative_to(root).with_suffix("").parts
    # In a checkout our packages lie beside `journeygraph`, and are imported as parts of it.
    ours = ("journeygraph",) if root == _LANGUAGE.resolve().parent else ()
    return ".".join((*ours, *(parts[:-1] if parts[-1] == "__init__" else parts)))


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Make the modules of a folder importable; unload its single files afterwards."""
    before = set(sys.modules)
    # Last, or a file of theirs would take the place of an installed module of its name.
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with suppress(ValueError):  # what was imported may have changed the path itself
            del sys.path[_last(sys.path, str(folder))]
        for name in set(sys.modules) - before:
            if _lies_in(folder, name):
                del sys.modules[name]


def _last(path: list[str], folder: str) -> int:
    return len(path) - 1 - path[::-1].index(folder)


def _lies_in(folder: Path, name: str) -> bool:
    """Return whether another folder can have a module with the same name."""
    file = getattr(sys.modules[name], "__file__", None)
    alone = "." not in name and not name.startswith(_BY_PATH)
    return alone and file is not None and Path(file).parent == folder


def journeys_in(module: ModuleType) -> list[type[Journey]]:
    """Return the journeys of a module, or those that a package exports from its own modules."""
    inside = f"{module.__name__}." if hasattr(module, "__path__") else module.__name__
    shown = [value for value in vars(module).values() if isinstance(value, type)]
    return [
        value
        for value in dict.fromkeys(shown)
        if issubclass(value, Journey) and value is not Journey
        if value.__module__ == module.__name__
        or value.__module__.startswith(inside)
        # One from a file belongs where it is loaded to.
        or getattr(value, "source", None)
    ]


def shown(path: Path | str) -> str:
    """Return a path relative to the current folder, if it is inside."""
    path = Path(path).resolve()
    cwd = Path.cwd()
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


def called(module: ModuleType) -> str:
    """Return the name of a module for its author: its dotted name, or its file."""
    name, file = module.__name__, module.__file__
    return shown(file) if name.startswith(_BY_PATH) and file else name


def file_of(journey: type[Journey]) -> str:
    """Return the file of a journey, relative to the current folder."""
    source: Path | None = getattr(journey, "source", None)
    file = source or getattr(sys.modules.get(journey.__module__), "__file__", None)
    return shown(file) if file else journey.__module__


def _by_itself(file: Path) -> ModuleType:
    # The name is made of the whole path: two files of one stem must not be taken for one module.
    name = _BY_PATH + "".join(c if c.isalnum() else "_" for c in str(file))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _loaded(load: Callable[[], ModuleType], file: Path | None) -> ModuleType:
    try:
        return load()
    except CommandError:
        raise
    except SystemExit:
        raise LoadError(_place(None, file), ["its import ends the program"]) from None
    except KeyboardInterrupt:
        raise LoadError(_place(None, file), ["its import was interrupted"]) from None
    except Exception as error:
        raise LoadError(_place(error, file), described(error), error) from error


def _placed(file: str, line: int, fault: Fault, *, by_class: bool) -> Fault:
    if fault.file and (loaded := Path(file).with_name(fault.file)).is_file():
        folder = str(loaded.parent)
        return fault.changed(f"{'' if folder == '.' else f'{folder}/'}{fault}", file=str(loaded))
    at = (line_of(Path(file), fault) if by_class else None) or line
    return fault.changed(f"{file}:{at}: {fault}", file=file, place=TextPosition(at, 1))


def _place(error: BaseException | None, file: Path | None) -> str:
    """Return the innermost line of the author's own code."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown(error.filename)}:{error.lineno or 1}"
    frames = traceback.extract_tb(error.__traceback__) if error else []
    for frame in reversed(frames):
        if _is_theirs(Path(frame.filename)):
            return f"{shown(frame.filename)}:{frame.lineno}"
    return shown(file) if file else "?"


def _is_theirs(file: Path) -> bool:
    libraries = "site-packages" in file.parts or file.is_relative_to(_STANDARD_LIBRARY)
    language = file.is_relative_to(_LANGUAGE) and not file.is_relative_to(_EXAMPLES)
    ours = language or file == Path(__file__)
    return file.is_file() and not libraries and not ours


def line_of(file: Path, fault: Fault) -> int | None:
    """Return the line of the attribute or class of a fault; None if not found."""
    found: ast.stmt | None = None
    body = parsed(file)
    for name in (*_NAME.findall(fault.where), *map(str, fault.path)):
        inner = _class_in(body, name)
        if inner is not None:
            found, body = inner, inner.body
        elif found and (assigned := _assignment_in(body, name, f"__{name}__")):
            return assigned.lineno
    return getattr(found, "lineno", None)


def journeys_after(file: Path, line: int) -> list[str]:
    """Return the names of classes below a line that look like journeys."""
    return [
        node.name
        for node in parsed(file)
        if isinstance(node, ast.ClassDef) and node.lineno > line and looks_like_journey(node)
    ]


def _class_in(body: list[ast.stmt], name: str) -> ast.ClassDef | None:
    classes = (node for node in body if isinstance(node, ast.ClassDef))
    return next((node for node in classes if node.name == name), None)


def _assignment_in(body: list[ast.stmt], *names: str) -> ast.stmt | None:
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id in names for target in targets):
            return node
    return None


def parsed(file: Path) -> list[ast.stmt]:
    """Return the statements of a file; none if it cannot be read."""
    try:
        return ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []


def looks_like_journey(node: ast.ClassDef) -> bool:
    """Recognise a journey by the name of a base, by a pathway inside, or by its attributes."""
    return _has_base(node, "Journey") or any(
        _has_base(part, "Pathway") if isinstance(part, ast.ClassDef) else _is_mark(part)
        for part in node.body
    )


def _has_base(node: ast.ClassDef, ending: str) -> bool:
    return any(ast.unparse(base).endswith(ending) for base in node.bases)


def _is_mark(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id in _MARKS for target in targets)
