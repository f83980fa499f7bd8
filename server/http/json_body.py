"""The JSON of a request body: its syntax, its depth, its numbers and its text are limited."""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from journeygraph.journeys.faults import Fault, TextPosition
from journeygraph.server.http.problems import Problem

if TYPE_CHECKING:
    pass

MAX_DEPTH = 32
"""Maximum depth of nested arrays and objects."""
_INT64 = 2**63
_LONGEST_INT = len(str(_INT64)) + 1


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        Problem: 400 `malformed_json`, for what is not JSON, NaN and Infinity, numbers beyond 64
            bits, names given twice, and values nested too deep; 422 `invalid_text` for NUL and
            halves of surrogate pairs. The text contains no data of the request.
    """
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except RecursionError:
        _refuse(_TOO_DEEP)
    except json.JSONDecodeError as error:
        place = TextPosition(error.lineno, error.colno)
        _refuse(f"JSON syntax error at line {place.line}, column {place.column}", place)
    _check(value, MAX_DEPTH)
    return value


_TOO_DEEP = f"it nests more than {MAX_DEPTH} levels"


def _refuse(reason: str, place: TextPosition | None = None) -> NoReturn:
    fault = Fault(f"{reason}.", "body", where="body")
    raise Problem(
        HTTPStatus.BAD_REQUEST,
        "malformed_json",
        f"The body cannot be read: {reason}.",
        faults=[fault.changed(str(fault), place=place)],
    ) from None


def _check(value: Any, deeper: int) -> None:
    """Refuse values that are nested too deep, and text that is not valid."""
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, (dict, list)):
        if not deeper:
            _refuse(_TOO_DEEP)
        for item in value:
            _check(item, deeper - 1)
        for item in value.values() if isinstance(value, dict) else ():
            _check(item, deeper - 1)


def _check_text(text: str) -> None:
    if text.isascii():
        wrong = "\0" in text
    else:
        wrong = any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
    if wrong:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_text",
            "The body contains NUL or half of a character (a lone surrogate). Remove it.",
        )


def _whole(digits: str) -> int:
    # Judged by its length first: converting thousands of digits takes long.
    if len(digits) > _LONGEST_INT or not -_INT64 <= (number := int(digits)) < _INT64:
        _refuse("an integer does not fit in 64 bits")
    return number


def _fraction(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        _refuse("a number is too large")
    return number


def _constant(name: str) -> NoReturn:
    _refuse("NaN and Infinity are not valid JSON")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        _refuse("a name occurs twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_whole,
    parse_float=_fraction,
    parse_constant=_constant,
    object_pairs_hook=_unambiguous,
)
