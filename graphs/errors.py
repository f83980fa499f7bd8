"""Errors of databases: which of them pass, and how callers see them.

Nothing of a URL but host, port and name of the database is ever shown.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from journeys import ConfigurationError, StateError

_CLOSED = ("no active connection", "Connection closed")
_PASSES = (
    psycopg.OperationalError,  # cut, refused, locked, out of time, out of disk, shut down
    errors.ReadOnlySqlTransaction,  # a server that stopped being, or is not yet, the primary
    errors.IdleInTransactionSessionTimeout,
)
_FOR_GOOD = (
    psycopg.DataError,  # a text that is too long for its column
    psycopg.ProgrammingError,  # a table that is gone, or may not be used
)


class AlreadyThere(StateError):
    """The store refused a row that is there already."""


class LostRace(StateError):
    """Another one wrote first."""

    def __init__(self) -> None:
        super().__init__(
            "The session moved on, expired or was deleted while this turn ran; nothing of the "
            "turn was kept. Send the message again.",
            retryable=True,
        )


class Unconfirmed(StateError):
    """Nobody said whether something was written, and it may well have been."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The store did not answer: {reason}. What was asked may have been done all the same; "
            "see where the session stands before you try again.",
            retryable=True,
        )


def passes(error: BaseException) -> bool:
    """Say whether the same may succeed later, or on another connection."""
    return isinstance(error, _PASSES) and not isinstance(error, PoolClosed)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what a database raises into `StateError`.

    Raises:
        AlreadyThere: A row is there already.
        StateError: Anything else that the database, its driver or the pool raised.
    """
    try:
        yield
    except (sqlite3.IntegrityError, psycopg.IntegrityError) as error:
        raise AlreadyThere(
            f"The store refused a row that is there already: {reason_of(error)}"
        ) from error
    except (sqlite3.Error, psycopg.Error, PoolClosed, ValueError) as error:
        if isinstance(error, ValueError) and str(error) not in _CLOSED:
            raise
        if isinstance(error, _FOR_GOOD):
            raise StateError(
                f"The store refused it: {reason_of(error)}. The session stands where it stood."
            ) from error
        raise StateError(
            f"The store did not answer: {reason_of(error)}. The session stands where it stood; "
            "try again.",
            retryable=True,
        ) from error


@contextmanager
def unconfirmed() -> Iterator[None]:
    """Say of what fails here that what it comes after may stand.

    Raises:
        Unconfirmed: The store did not answer.
    """
    try:
        yield
    except StateError as error:
        if not error.retryable:
            raise
        raise Unconfirmed("what was written could not be read") from error


def reason_of(error: BaseException) -> str:
    """Return the reason alone, without the statement and the values that a driver adds to it."""
    told: Any = getattr(error, "orig", None) or error
    if isinstance(told, PoolTimeout):
        return "no connection to the database could be had in time"
    if isinstance(told, psycopg.Error) and told.diag.message_primary:
        return told.diag.message_primary
    return str(told).strip().rstrip(".")


def database_name(url: str) -> str:
    """Return host, port and name of a Postgres database.

    Raises:
        ConfigurationError: The URL cannot be read; it is not shown, for it may hold a password.
    """
    parts = _parts_of(url)
    if parts is None:
        raise ConfigurationError(
            "persistence is a Postgres URL that cannot be read. It looks like "
            "postgresql://USER:PASSWORD@HOST:5432/DATABASE; special characters in it are escaped "
            "as %XX."
        )
    host, port = parts.get("host", "localhost"), parts.get("port", 5432)
    return f"{host}:{port}/{parts.get('dbname') or parts.get('user') or ''}"


def _parts_of(url: str) -> Mapping[str, Any] | None:
    # Nothing may refer to what libpq says of a URL: it quotes it.
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return None
