"""Create a project: the files of a template or of an example, under the name of the project.

The journey of a template is called `my_journey`, and its class `MyJourney`. An example has its own
names. Both are replaced by the name of the project, in texts and in the names of files.
"""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from journeygraph.journeys import examples
from journeygraph.journeys.errors import did_you_mean
from journeygraph.server import installed_version, source_version
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import example_ids, find, pipeline_ids
from journeygraph.server.projects.pins import constraints

_TEMPLATES = Path(__file__).with_name("templates")
_EXAMPLES = Path(examples.__file__).parent
_CONVERSATIONS = "conversations"
_MODULE = f"{examples.__name__}."
_TEMPLATE = ("my_journey", "MyJourney")
_PURPOSE = "Hire a bike for a day."
_RELEASE = "0.1.0"
_REQUIREMENTS = Path("requirements.txt")
_CONSTRAINTS = Path("constraints.txt")
_DEPLOY_EXTRAS = "[all,fast,otel,redis]"
_GIVEN = {
    "AGENTS": "agents=AGENTS",
    "TOOLS": "tools=TOOLS",
    "SAMPLE_CONTEXT": "(?:context=)?SAMPLE_CONTEXT",
}
"""Names that a module may have, and a pattern of how the files of a project pass them on."""
_OWN_NAMES = frozenset({"graph", "tests", "wheels"})


def create_project(
    name: str, example: str | None = None, *, yaml: bool = False, deploy: bool = False
) -> list[Path]:
    """Create the folder of a project in the current folder, and return its files.

    Args:
        name: Its name: that of the folder, the module and the journey.
        example: Id of the example whose journey it has. Default: that of the templates.
        deploy: True for the files of several servers too, in `deploy/`, and the extras they need.
    """
    _check_name(name)
    target = Path(name)
    if target.exists() or target.is_symlink():
        raise CommandError(
            f"'{name}' already exists here, and nothing in it was changed. Choose another name, or "
            "remove it first.",
            exit_code=2,
        )
    files = _of_templates(name, yaml=yaml) if example is None else _of_example(name, example)
    if deploy:
        files |= _Renamed(*_TEMPLATE, name).files(_TEMPLATES / "deploy")
        files[_REQUIREMENTS] = files[_REQUIREMENTS].replace("[all]", _DEPLOY_EXTRAS)
    files[_CONSTRAINTS] = constraints()
    _write(target, files)
    return [target / file for file in sorted(files)]


# --- The name ------------------------------------------------------------------------------------


def _check_name(name: str) -> None:
    if fault := _fault_of(name):
        raise CommandError(fault, exit_code=2)


def _fault_of(name: str) -> str | None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        better = re.sub(r"\W+|_+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name), flags=re.A)
        better = better.lower().strip("_")
        hint = f" Write '{better}'." if re.match(r"[a-z]", better) else ""
        return (
            f"'{name}' is not a valid name of a project. It is also the name of a Python module: "
            f"lower-case letters, digits and '_', a letter first.{hint}"
        )
    way_out = f"Choose another name, such as 'my_{name}'."
    if keyword.iskeyword(name):
        return f"'{name}' is a word of Python. {way_out}"
    if name in (*example_ids(), *pipeline_ids()):
        return f"'{name}' is an example, and commands would find that instead. {way_out}"
    if name in _OWN_NAMES:
        return f"Each project has its own '{name}'. {way_out}"
    if importlib.util.find_spec(name):
        return f"'{name}' is an installed module, and Python would import that instead. {way_out}"
    return None


def class_name(name: str) -> str:
    """Return the name of the class of a journey with that id."""
    return "".join(part.capitalize() for part in name.split("_"))


# --- The files -----------------------------------------------------------------------------------


def _of_templates(name: str, *, yaml: bool) -> dict[Path, str]:
    named = _Renamed(*_TEMPLATE, name)
    given = ["TOOLS"] if yaml else ["AGENTS", "TOOLS"]
    files = dict(_project(named, given, _PURPOSE))
    for part in ("bikes", "yaml" if yaml else "python"):
        files |= named.files(_TEMPLATES / part)
    return files


def _of_example(name: str, example: str) -> dict[Path, str]:
    if example not in example_ids():
        raise CommandError(_unknown(example), exit_code=2)
    found = find(example)
    module = import_module(f"{_MODULE}{example}")
    given = [one for one in _GIVEN if hasattr(module, one)]
    purpose = found.journey.spec.purpose or found.journey.spec.name
    files = dict(_project(_Renamed(*_TEMPLATE, name), given, purpose))
    named = _Renamed(example, found.journey.__name__, name)
    files |= named.files(_EXAMPLES, _sources(example))
    for file in sorted((_EXAMPLES / _CONVERSATIONS).glob("*.yaml")):
        if re.search(rf"^journey: {example}$", file.read_text("utf-8"), re.MULTILINE):
            path, text = named.file(file, file.parent)
            files[Path("tests") / path] = text
    return files


def _unknown(example: str) -> str:
    if example in pipeline_ids():
        return f"'{example}' is a pipeline; --from takes a journey. {_known()}"
    return f"There is no example '{example}'.{did_you_mean(example, example_ids())} {_known()}"


def _known() -> str:
    return f"Examples: {', '.join(example_ids())}."


def _sources(example: str) -> Iterator[Path]:
    if (_EXAMPLES / example).is_dir():
        yield from _files_in(_EXAMPLES / example)
        return
    file = _EXAMPLES / f"{example}.py"
    yield file
    for read in re.findall(r'with_name\("(\w+)"\) / "([\w.]+)"', file.read_text("utf-8")):
        yield _EXAMPLES.joinpath(*read)


def _project(named: _Renamed, given: Iterable[str], purpose: str) -> Iterator[tuple[Path, str]]:
    described = json.dumps(" ".join(purpose.split()), ensure_ascii=False)
    missing = [(one, argument) for one, argument in _GIVEN.items() if one not in {*given}]
    for path, text in named.files(_TEMPLATES / "project").items():
        for one, argument in missing:
            text = re.sub(rf"(, )?\b{argument}\b", "", text).replace(f"{one}, ", "")
        text = text.replace("(, ", "(").replace('"PURPOSE"', described)
        yield path, text.replace(_RELEASE, _version())


def _version() -> str:
    known = installed_version()
    return known if known != "0" else source_version() or _RELEASE


class _Renamed:
    """Files with the names of one project, under those of another."""

    def __init__(self, id_: str, class_: str, name: str) -> None:
        self._pattern = re.compile(rf"{re.escape(_MODULE)}|\b{class_}\b|\b{id_}\b")
        self._names = {_MODULE: "", class_: class_name(name), id_: name}
        self._id, self._name = id_, name

    def files(self, folder: Path, files: Iterable[Path] | None = None) -> dict[Path, str]:
        return dict(self.file(file, folder) for file in files or _files_in(folder))

    def file(self, file: Path, folder: Path) -> tuple[Path, str]:
        path = str(file.relative_to(folder)).replace(self._id, self._name)
        text = file.read_text("utf-8")
        return Path(path), self._pattern.sub(lambda found: self._names[found[0]], text)


def _files_in(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def _write(target: Path, files: Mapping[Path, str]) -> None:
    """Write all files, or nothing."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        made = Path(folder) / target.name
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, "utf-8")
        made.rename(target)
