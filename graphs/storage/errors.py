"""Errors of all database drivers as `StateError`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from journeygraph.journeys import StateError

_CLOSED = ("no active connection", "Connection closed")


class AlreadyThere(StateError):
    """The store refused a row that exists."""


class WriteConflict(StateError):
    """Another process wrote first."""

    def __init__(self) -> None:
        super().__init__(
            "The session was changed, expired or was deleted while this turn ran; the turn was "
            "not stored. Send the message again.",
            retryable=True,
        )


class DamagedError(StateError):
    """Rows of the store were changed, moved or removed by another program."""


class BusyElsewhere(StateError):
    """Another process had the turn of a session for longer than is waited for."""

    def __init__(self, session_id: str, seconds: float) -> None:
        super().__init__(
            f"Session '{session_id}' has been busy in another process for {seconds:g} seconds; "
            "nothing was changed. Try again.",
            retryable=True,
        )


class Unconfirmed(StateError):
    """It is unknown whether a write was committed."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The store did not answer: {reason}. The request may have taken effect. Read the "
            f"state of the session before you try again.",
            retryable=True,
        )


def raise_translated(error: Exception) -> NoReturn:
    """Raise what a database raised as `StateError`, and anything else as it is.

    Raises:
        AlreadyThere: A row exists.
        StateError: Any other error of the database, its driver or the pool.
    """
    if not isinstance(error, _any_driver()):
        raise error
    if isinstance(error, (sqlite3.IntegrityError, *_raised("psycopg", "IntegrityError"))):
        raise AlreadyThere(f"The store refused a row that exists: {reason_of(error)}") from error
    if isinstance(error, ValueError) and str(error) not in _CLOSED:
        raise error
    # A text that is too long for its column; a table that is gone, or may not be used.
    if isinstance(error, _raised("psycopg", "DataError", "ProgrammingError")):
        raise StateError(
            f"The store refused the request: {reason_of(error)}. The session is unchanged."
        ) from error
    raise StateError(
        f"The store did not answer: {reason_of(error)}. The session is unchanged. Try again.",
        retryable=True,
    ) from error


@contextmanager
def translated() -> Iterator[None]:
    """Raise what a database raises in this block as `raise_translated` does."""
    try:
        yield
    except Exception as error:
        raise_translated(error)


@contextmanager
def unconfirmed() -> Iterator[None]:
    """Mark a failure in this block as unconfirmed: the write before it may be committed.

    Raises:
        Unconfirmed: The store did not answer.
    """
    try:
        yield
    except StateError as error:
        if not error.retryable:
            raise
        raise Unconfirmed("the written data could not be read") from error


def reason_of(error: BaseException) -> str:
    """Return only the reason, without statement and values that a driver adds."""
    told: Any = getattr(error, "orig", None) or error
    if isinstance(told, _raised("psycopg_pool", "PoolTimeout")):
        return "no connection to the database was available in time"
    diagnosis: Any = getattr(told, "diag", None)
    if diagnosis and diagnosis.message_primary:
        return str(diagnosis.message_primary)
    return str(told).strip().rstrip(".")


def logged_reason(error: BaseException) -> str:
    """Return the part of an error that a log may have: the reason of the database, else a type.

    Texts of our own errors have ids, and what a database says of a value may have the value.
    """
    while isinstance(error, StateError) and error.__cause__ is not None:
        error = error.__cause__
    is_told = isinstance(error, _databases()) and not isinstance(
        error, _raised("psycopg", "DataError")
    )
    return reason_of(error) if is_told else type(error).__name__


def _any_driver() -> tuple[type[Exception], ...]:
    return (ValueError, *_databases())


def _databases() -> tuple[type[Exception], ...]:
    return sqlite3.Error, *_raised("psycopg", "Error"), *_raised("psycopg_pool", "PoolClosed")


def _raised(driver: str, *names: str) -> tuple[type[Exception], ...]:
    """Return errors of a Postgres driver; empty while it is not imported: it is an extra."""
    module = sys.modules.get(driver)
    return tuple(getattr(module, name) for name in names) if module else ()
