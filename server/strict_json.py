"""Read JSON as strictly as what it becomes is kept: what no store could hold never gets in."""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import Any, NoReturn

from server.problems import Problem

MAX_DEPTH = 32
"""Most arrays and objects inside each other."""
_INT64 = 2**63
_LONGEST_INT = len(str(_INT64)) + 1


def parse(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        Problem: 400 `malformed_json`, for what is not JSON, NaN and Infinity, numbers beyond 64
            bits, names given twice, and values nested too deep; 422 `invalid_text` for characters
            that are none: NUL and halves of surrogate pairs. What was sent is not in it.
    """
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except RecursionError:
        _refuse(_TOO_DEEP)
    except json.JSONDecodeError as error:
        _refuse(f"it is no JSON at line {error.lineno}, column {error.colno}")
    _check(value, MAX_DEPTH)
    return value


_TOO_DEEP = f"it nests more than {MAX_DEPTH} levels"


def _refuse(reason: str) -> NoReturn:
    raise Problem(
        HTTPStatus.BAD_REQUEST, "malformed_json", f"The body cannot be read: {reason}."
    ) from None


def _check(value: Any, deeper: int) -> None:
    """Refuse what is nested too deep, and text that is none."""
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
            "The body holds NUL, or half of a character (a lone surrogate). Send it without.",
        )


def _whole(digits: str) -> int:
    # Judged by its length first: converting thousands of digits takes long.
    if len(digits) > _LONGEST_INT or not -_INT64 <= (number := int(digits)) < _INT64:
        _refuse("a whole number is beyond 64 bits")
    return number


def _fraction(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        _refuse("a number is too large")
    return number


def _constant(name: str) -> NoReturn:
    _refuse("NaN and Infinity are no JSON")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        _refuse("a name is given twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_whole,
    parse_float=_fraction,
    parse_constant=_constant,
    object_pairs_hook=_unambiguous,
)
