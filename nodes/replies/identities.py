"""Numbers that a state gives a person, in text that was folded.

Nearly every run of nine digits is a person's number somewhere. So each kind says what it takes:
either the way it is written tells it (`shape`), or a word before it does (`named`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nodes.replies.cards import Span

_NEAR = 60
"""Characters before a number in which it may be named."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of number; `module` of stdnum judges what has its shape, or was named."""

    module: str
    shape: str = ""
    named: str = ""
    bare: str = ""


_KINDS = (
    _Kind("us.ssn", r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}", r"ssn|social security", r"\d{9}"),
    _Kind("us.itin", r"9\d{2}-\d{2}-\d{4}", r"itin|taxpayer", r"\d{9}"),
    _Kind("", r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D]"),
    _Kind("gb.nhs", "", r"nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
    _Kind(
        "de.idnr",
        r"\d{2} \d{3} \d{3} \d{3}",
        r"steuer-?id\w*|steuerliche\w*|identifikationsnummer|idnr|tax id\w*",
        r"\d{11}",
    ),
    _Kind("fr.nir", r"[1-478](?: ?\d{2}){2} ?\d[\dAB](?: ?\d{3}){2} ?\d{2}"),
    _Kind("es.dni", r"\d{8}-?[A-Z]|\d{2}\.\d{3}\.\d{3}-?[A-Z]"),
    _Kind("es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
    _Kind("it.codicefiscale", r"[A-Z]{6}[\dL-V]{2}[A-EHLMPRST][\dL-V]{2}[A-Z][\dL-V]{3}[A-Z]"),
    _Kind("it.codicefiscale", r"[A-Z]{3} [A-Z]{3} \d{2}[A-EHLMPRST]\d{2} [A-Z]\d{3}[A-Z]"),
    _Kind("nl.bsn", "", r"bsn|burgerservice\w*|sofi\w*", r"\d{3,4}[. ]?\d{2,3}[. ]?\d{2,3}"),
    _Kind("pl.pesel", r"\d{11}"),
    _Kind(
        "se.personnummer",
        r"(?:\d{2})?\d{6}[-+]\d{4}",
        r"person-?nummer|personnr",
        r"(?:\d{2})?\d{10}",
    ),
    _Kind("in_.aadhaar", r"\d{4}[ -]\d{4}[ -]\d{4}", r"aadhaar|aadhar|uidai", r"\d{12}"),
    _Kind("br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", r"cpf", r"\d{11}"),
    _Kind("be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}[.-]\d{2}", r"rijksregister\w*|nrn", r"\d{11}"),
    _Kind("ch.ssn", r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    _Kind("fi.hetu", r"\d{6}[-+A]\d{3}[\dA-FHJ-NPR-Y]"),
)


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![0-9A-Za-z])(?<!\d[-.,/])(?:{pattern})(?![0-9A-Za-z])", re.IGNORECASE)


_SHAPES = [(_whole(kind.shape), kind) for kind in _KINDS if kind.shape]
_NAMED = [
    (re.compile(rf"(?<!\w)(?:{kind.named})(?!\w)", re.IGNORECASE), _whole(kind.bare), kind)
    for kind in _KINDS
    if kind.named
]


_ANY_SHAPE = _whole("|".join(kind.shape for kind in _KINDS if kind.shape))
_ANY_NAME = re.compile("|".join(kind.named for kind in _KINDS if kind.named), re.IGNORECASE)


def identities_in(text: str, since: int) -> Iterator[Span]:
    """Find national numbers whose check digits or dates are right."""
    if _ANY_SHAPE.search(text, since):
        yield from _shaped(text, since)
    if _ANY_NAME.search(text):
        yield from _all_named(text, since)


def _shaped(text: str, since: int) -> Iterator[Span]:
    for shape, kind in _SHAPES:
        for found in shape.finditer(text, since):
            if _is_valid(kind, found[0]):
                yield found.span()


def _all_named(text: str, since: int) -> Iterator[Span]:
    for named, bare, kind in _NAMED:
        if named.search(text):
            yield from _named(text, since, named, bare, kind)


def _named(
    text: str, since: int, named: re.Pattern[str], bare: re.Pattern[str], kind: _Kind
) -> Iterator[Span]:
    for found in bare.finditer(text, since):
        before = text[max(found.start() - _NEAR, 0) : found.start()]
        if named.search(before) and _is_valid(kind, found[0]):
            yield found.span()


def _is_valid(kind: _Kind, number: str) -> bool:
    if not kind.module:  # its shape is all that there is
        return True
    module: Any = import_module(f"stdnum.{kind.module}")
    try:
        return bool(module.is_valid(number))
    except Exception:  # what a library stumbles over is none of its plain cases: better masked
        return True


def load() -> None:
    """Import what judges them, which a first reply must not wait for."""
    for kind in _KINDS:
        if kind.module:
            import_module(f"stdnum.{kind.module}")
