"""The URL of a store; its password is never shown."""

from __future__ import annotations

import re
from typing import Any

from journeygraph.journeys.errors import ConfigurationError, did_you_mean

_SERVERS = ("postgresql://", "postgres://")
_KINDS = ("memory://", "sqlite:///", *_SERVERS)
# Up to the last @, for a password may hold one that was not escaped.
_USER_INFO = re.compile(r"(?<=//)([^:/?#@]*):.*@")
_PARAMETER = re.compile(r"(?i)\b([\w-]*(?:password|key|token|secret))=[^&#\s]*")


class StoreUrl(str):
    """The URL of a store; its repr, which is what ends up in logs, hides the password."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(masked(self))


def is_server(url: str) -> bool:
    """Return whether a URL is that of a database server, which other machines may use as well."""
    return url.startswith(_SERVERS)


def masked(url: str) -> str:
    """Return a URL with stars for its password."""
    return _PARAMETER.sub(r"\1=***", _USER_INFO.sub(r"\1:***@", url))


def checked_store(url: Any) -> StoreUrl:
    """Return the URL of a store that this runtime has.

    Raises:
        ConfigurationError: It has none of that kind; the password is not shown.
    """
    if isinstance(url, str) and url.startswith(_KINDS):
        if url == "sqlite:///":
            raise ConfigurationError("persistence is 'sqlite:///' without a file name.")
        if is_server(url):
            _check_account(url)
        return StoreUrl(url)
    shown = masked(url) if isinstance(url, str) else url
    if isinstance(url, str) and "//" not in url and "@" in url:
        shown = f"***@{shown.rpartition('@')[2]}"  # of what is no URL, all before it may be secret
    hint = did_you_mean(str(shown), _KINDS)
    raise ConfigurationError(
        f"persistence is {shown!r}, which is not a supported store.{hint} "
        "Use 'memory://', 'memory://NAME', 'sqlite:///FILE' or "
        "'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'."
    )


def _check_account(url: str) -> None:
    """Refuse a password that libpq would take for host, port or database, and so show."""
    account, there, _ = url.partition("?")[0].partition("//")[2].rpartition("@")
    for char, escaped in (("@", "%40"), ("/", "%2F")):
        if there and char in account:
            raise ConfigurationError(
                f"persistence is a URL with {char} before its host; in a password, write it as "
                f"{escaped}."
            )
