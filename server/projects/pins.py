"""The packages that JourneyGraph runs on, in the versions that are installed: pins of a project."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

_NAME = "journeygraph"
_OF_TESTS = "pytest"
"""The package that the tests of a project need."""
_DEVELOPMENT = ("dev", "live", "notebook")
"""Extras for work on JourneyGraph, for its tests with a real model, and for notebooks."""


def constraints() -> str:
    """Return the text of a file of constraints for pip, sorted by names.

    It has each installed package that JourneyGraph, one of its extras or a test of a project needs.
    Packages of extras that are not installed here are not in it.
    """
    found: dict[str, str] = {}
    waiting = [*_needed(), Requirement(_OF_TESTS)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        asked = (name, frozenset(need.extras))
        if asked in seen or name == _NAME:  # an extra of extras, each of which is listed itself
            continue
        seen.add(asked)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = Version(package.version).public  # a build for this machine is on no index
        waiting += _of(package.requires or (), sorted(need.extras))
    return "".join(f"{name}=={found[name]}\n" for name in sorted(found))


def _needed() -> list[Requirement]:
    """Return what JourneyGraph needs, with its extras; those of the clone if it is in one."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        declared = tomllib.loads(project.read_text("utf-8"))["project"]
        extras = declared["optional-dependencies"]
        lines = [line for name in extras if name not in _DEVELOPMENT for line in extras[name]]
        return [*_of([*declared["dependencies"], *lines], ())]
    try:
        own = metadata.distribution(_NAME)
    except metadata.PackageNotFoundError:
        return []
    extras = own.metadata.get_all("Provides-Extra") or ()
    return [*_of(own.requires or (), [name for name in extras if name not in _DEVELOPMENT])]


def _of(lines: Sequence[str], extras: Sequence[str]) -> Iterator[Requirement]:
    for line in lines:
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in (*extras, "")):
            yield need
