"""The edge: settings, HTTP, MCP and the `journeygraph` command."""

import contextlib
import pathlib
import tomllib
from importlib import metadata

__all__ = ["installed_version", "source_version"]


def installed_version() -> str:
    """Return the version of JourneyGraph; "0" if the package is not installed."""
    try:
        return metadata.version("journeygraph")
    except metadata.PackageNotFoundError:
        return "0"


def source_version() -> str | None:
    """Return the version of the clone that this file is in; None if it is in no clone."""
    project = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
    with contextlib.suppress(OSError, KeyError):
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    return None
