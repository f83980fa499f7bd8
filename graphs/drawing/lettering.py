"""Text in an SVG: width, line breaks, signs and escaping."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

# Shares of the font size, on the wide side: what a viewer's font really is cannot be known here.
_NARROW, _USUAL, _WIDE, _FULL = 0.36, 0.6, 0.86, 1.05
_RIGHT_TO_LEFT = ("R", "AL")
_BOLD = 1.09
_THIN_LETTERS = frozenset("iljtfrI1.,:;'“”\"|!()[] \xa0")
_BROAD_LETTERS = frozenset("mwQO…+→≥≤")
_FULL_LETTERS = frozenset("MW@%—")
_BELOW = 0.38  # of the size: from the foot of the letters to the end of the line
_PADDING_ACROSS = 12.0
_PADDING_DOWN = 8.0
_INDENT = 15.0
_APART = 16.0
_PIECE = re.compile(r"[^_./\-\xa0]*[_./\-\xa0]+|[^_./\-\xa0]+")
_SIGNS = {
    "required": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "optional": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "confirms": "m-3.5 0.2l2.5 2.6l4.5 -5.4",
    "effect": "m1 -5l-4 6h3l-1 4l4 -6h-3z",
    "person": "m0 -5a2.2 2.2 0 1 0 0.01 0zm-4 9.6c0 -5.6 8 -5.6 8 0z",
}
"""Sign -> its outline around its middle."""


class CardRow(Protocol):
    """One or more lines of a card."""

    @property
    def width(self) -> float:
        """Pixels across."""

    @property
    def height(self) -> float:
        """Pixels down."""

    def drawn(self, left: float, right: float, y: float) -> str:
        """Draw it between two edges, from y down."""


@dataclass(frozen=True)
class TextStyle:
    """A style of text: its CSS class, size and line height in pixels, and where it breaks.

    `columns` are letters of usual width.
    """

    css: str
    size: float
    leading: float
    bold: bool = False
    columns: int = 34
    rows: int = 2

    def width(self, text: str) -> float:
        """Return the width of a text in pixels, estimated generously."""
        shares = sum(_share(character) for character in text)
        return shares * self.size * (_BOLD if self.bold else 1.0)

    @property
    def reach(self) -> float:
        """The width at which it breaks, in pixels."""
        return self.columns * _USUAL * self.size * (_BOLD if self.bold else 1.0)


@dataclass(frozen=True)
class TextLine:
    """One line of text in one style.

    Attributes:
        text: The text, in the middle, or on the left if there is a sign.
        sign: A key of `_SIGNS`, drawn before it; "room" leaves its place free.
    """

    text: str
    letter: TextStyle
    sign: str = ""
    note: TextLine | None = None
    above: float = 0.0

    @property
    def width(self) -> float:
        """Its width in pixels."""
        note = _APART + self.note.width if self.note else 0.0
        return self.letter.width(self.text) + note + (_INDENT if self.sign else 0.0)

    @property
    def height(self) -> float:
        """Its height in pixels."""
        return self.letter.leading + self.above

    def drawn(self, left: float, right: float, y: float) -> str:
        """Draw it between two edges, from y down."""
        foot = y + self.height - self.letter.size * _BELOW
        if not self.sign:
            return words(self.text, self.letter.css, (left + right) / 2, foot, anchor="middle")
        rows = [words(self.text, self.letter.css, left + _INDENT, foot)]
        if self.note:
            rows.append(words(self.note.text, self.note.letter.css, right, foot, anchor="end"))
        if self.sign in _SIGNS:
            rows.insert(0, sign(self.sign, left + 4, foot - self.letter.size * 0.36))
        return "\n".join(rows)


@dataclass(frozen=True)
class Divider:
    """A thin line across a card."""

    width: float = 0.0
    height: float = 11.0

    def drawn(self, left: float, right: float, y: float) -> str:
        """Draw it between two edges, from y down."""
        middle = y + self.height / 2 + 1.0
        return element("path", {"class": "rule", "d": f"M{left:.1f} {middle:.1f}H{right:.1f}"})


@dataclass(frozen=True)
class Group:
    """Rows that belong together.

    Attributes:
        about: Its name for readers who cannot see it; shown when it is pointed at.
    """

    rows: tuple[CardRow, ...]
    attributes: Mapping[str, str]
    about: str = ""

    @property
    def width(self) -> float:
        """Pixels across."""
        return max(row.width for row in self.rows)

    @property
    def height(self) -> float:
        """Pixels down."""
        return sum(row.height for row in self.rows)

    def drawn(self, left: float, right: float, y: float) -> str:
        """Draw it between two edges, from y down, above an area that a page can colour."""
        back = rectangle("area", left - 4, y + 1, right - left + 8, self.height, 4)
        return element(
            "g", self.attributes, [title(self.about), back, *_under(self, left, right, y)]
        )


def _under(group: Group | Card, left: float, right: float, y: float) -> list[str]:
    drawn = []
    for row in group.rows:
        drawn.append(row.drawn(left, right, y))
        y += row.height
    return drawn


@dataclass(frozen=True)
class Card:
    """Rows under one another in a frame."""

    rows: tuple[CardRow, ...]
    css: str
    round: float = 8.0
    attributes: Mapping[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def width(self) -> float:
        """Pixels across, the frame's padding included."""
        widest = max((row.width for row in self.rows), default=0.0)
        return round(widest + 2 * _PADDING_ACROSS, 1)

    @property
    def height(self) -> float:
        """Pixels down, the frame's padding included."""
        return sum(row.height for row in self.rows) + 2 * _PADDING_DOWN

    def drawn(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> str:
        """Draw the card.

        Args:
            x: Middle of the upper edge.
            width: Width of the frame, if it is more than the text needs.
            height: Height of the frame, if it is more than the text needs.
        """
        across, down = max(width, self.width), max(height, self.height)
        frame = rectangle(self.css, x - across / 2, y, across, down, self.round)
        left, right = x - across / 2 + _PADDING_ACROSS, x + across / 2 - _PADDING_ACROSS
        top = y + (down - self.height) / 2 + _PADDING_DOWN
        body = [title(self.about), frame, *_under(self, left, right, top)]
        return element("g", self.attributes, body) if self.attributes else "\n".join(body[1:])


def broken(text: str, letter: TextStyle) -> list[TextLine]:
    """Break a text into the lines of its style; an ellipsis replaces the rest.

    It breaks at spaces, in words that are too long for a line after `_`, `.`, `/`, `-`, and where
    there is no other place between two letters. A no-break space counts as a letter.
    """
    rows, reach = [""], letter.reach
    for word in re.split(r"[^\S\xa0]+", text.strip()):
        joined = f"{rows[-1]} {word}" if rows[-1] else word
        if letter.width(joined) <= reach:
            rows[-1] = joined
        else:
            rows += _cut(word, letter, reach)
        if len(rows) > letter.rows + 1:
            break
    rows = [row for row in rows if row]
    if len(rows) > letter.rows:
        rows[letter.rows - 1 :] = [ended(rows[letter.rows - 1] + "…", letter, reach)]
    return [TextLine(row.replace("\xa0", " "), letter) for row in rows]


def ended(text: str, letter: TextStyle, reach: float) -> str:
    """Return a text that fits into a width; an ellipsis replaces its end."""
    if letter.width(text) <= reach:
        return text
    text = text.rstrip("…")
    while text and letter.width(text + "…") > reach:
        text = text[:-1]
    return text.rstrip(" ,\xa0") + "…"


def _cut(word: str, letter: TextStyle, reach: float) -> list[str]:
    rows = [""]
    whole = letter.width(word) <= reach
    for piece in [word] if whole else _PIECE.findall(word):
        fits = letter.width(piece) <= reach
        for part in [piece] if fits else piece:
            if letter.width(rows[-1] + part) > reach:
                rows.append("")
            rows[-1] += part
    return rows


def rectangle(css: str, x: float, y: float, width: float, height: float, round_: float) -> str:
    """One rectangle with round corners."""
    size: dict[str, str | float] = {"x": x, "y": y, "width": width, "height": height, "rx": round_}
    return element("rect", {"class": css, **size})


def words(text: str, css: str, x: float, y: float, *, anchor: str = "start") -> str:
    """One text element; `y` is the baseline. `anchor` is a side as if it ran from left to right."""
    place: dict[str, str | float] = {"x": x, "y": y}
    strong = (unicodedata.bidirectional(character) for character in text)
    first = next((kind for kind in strong if kind in ("L", *_RIGHT_TO_LEFT)), "L")
    if first in _RIGHT_TO_LEFT:
        place["direction"] = "rtl"
        anchor = {"start": "end", "end": "start"}.get(anchor, anchor)
    place["text-anchor"] = anchor
    return element("text", {"class": css, **place}, escape(_printable(text)))


def sign(name: str, x: float, y: float) -> str:
    """Draw a sign of `_SIGNS` around a point."""
    return element("path", {"class": f"sign {name}", "d": f"M{x:.1f} {y:.1f}{_SIGNS[name]}"})


def title(about: str) -> str:
    """Return the name of an element for readers who cannot see it; empty without one."""
    return element("title", {}, escape(_printable(about))) if about else ""


def element(tag: str, attributes: Mapping[str, str | float], body: str | Sequence[str] = "") -> str:
    """One element; numbers are rounded, attributes are quoted, the body is taken as it is."""
    inner = body if isinstance(body, str) else "\n".join(filter(None, body))
    written = "".join(f" {name}={quoteattr(_number(value))}" for name, value in attributes.items())
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def _number(value: str | float) -> str:
    return _printable(value) if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def _printable(text: str) -> str:
    """Drop characters that XML 1.0 cannot contain, even as an entity."""
    return text if text.isprintable() else "".join(c for c in text if c.isprintable())


def _share(character: str) -> float:
    if character in _FULL_LETTERS or unicodedata.east_asian_width(character) in "WF":
        return _FULL
    if unicodedata.combining(character):
        return 0.0
    if character in _THIN_LETTERS:
        return _NARROW
    broad = character in _BROAD_LETTERS or character.isupper()
    return _WIDE if broad else _USUAL
