"""The edge: settings, HTTP, MCP and the `journeygraph` command."""

from importlib import metadata

__all__ = ["installed_version"]


def installed_version() -> str:
    """Return the version of JourneyGraph; "0" if the package is not installed."""
    try:
        return metadata.version("journeygraph")
    except metadata.PackageNotFoundError:
        return "0"
