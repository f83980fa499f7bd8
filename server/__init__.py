"""The edge: settings, HTTP, MCP and the `journeygraph` command."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["installed_version"]


def installed_version() -> str:
    """Return the version of JourneyGraph; "0" where it is run without being installed."""
    try:
        return version("journeygraph")
    except PackageNotFoundError:
        return "0"
