"""Where sessions live, as a URL whose password is never shown."""

from __future__ import annotations

import re
from typing import Any

from journeys.errors import ConfigurationError, did_you_mean

_KINDS = ("memory://", "sqlite:///", "postgresql://", "postgres://")
# Up to the last @, for a password may hold one that was not escaped.
_USER_INFO = re.compile(r"(?<=//)([^:/?#@]*):.*@")
_PARAMETER = re.compile(r"(?i)\b(\w*password)=[^&#\s]*")


class StoreUrl(str):
    """The URL of a store; its repr, which is what ends up in logs, hides the password."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(masked(self))


def masked(url: str) -> str:
    """Return a URL with stars for its password."""
    return _PARAMETER.sub(r"\1=***", _USER_INFO.sub(r"\1:***@", url))


def checked_store(url: Any) -> StoreUrl:
    """Return the URL of a store that this runtime has.

    Raises:
        ConfigurationError: It has none of that kind; the password is not shown.
    """
    if isinstance(url, str) and url.startswith(_KINDS):
        if url != "sqlite:///":
            return StoreUrl(url)
        raise ConfigurationError("persistence is 'sqlite:///' without a file name.")
    shown = masked(url) if isinstance(url, str) else url
    hint = did_you_mean(str(shown), _KINDS)
    raise ConfigurationError(
        f"persistence is {shown!r}, which is no store that this runtime has.{hint} "
        "Use 'memory://', 'memory://NAME', 'sqlite:///FILE' or "
        "'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'."
    )
