"""Text in an SVG: width, line breaks and escaping."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

# Shares of the font size, on the wide side: what a viewer's font really is cannot be known here.
_NARROW, _USUAL, _WIDE, _FULL = 0.36, 0.6, 0.86, 1.05
_BOLD = 1.09
_THIN_LETTERS = frozenset("iljtfrI1.,:;'“”\"|!()[] ")
_BROAD_LETTERS = frozenset("mwMWQO@%…+→≥≤")
_BELOW = 0.38  # of the size: from the foot of the letters to the end of the line
_PADDING_ACROSS = 12.0
_PADDING_DOWN = 8.0


@dataclass(frozen=True)
class TextStyle:
    """A style of text: its CSS class, size and line height in pixels, and where it breaks."""

    css: str
    size: float
    leading: float
    bold: bool = False
    columns: int = 34
    rows: int = 2


@dataclass(frozen=True)
class Line:
    """One line of text in one style."""

    text: str
    letter: TextStyle

    @property
    def width(self) -> float:
        """Its width in pixels, estimated generously."""
        shares = sum(_share(character) for character in self.text)
        return shares * self.letter.size * (_BOLD if self.letter.bold else 1.0)

    def lowered(self, pixels: float) -> Line:
        """Return the same line with more room above it."""
        return Line(self.text, replace(self.letter, leading=self.letter.leading + pixels))


@dataclass(frozen=True)
class Card:
    """Lines under one another in a frame; `css` is the frame's class, `round` its corners."""

    lines: tuple[Line, ...]
    css: str
    round: float = 8.0

    @property
    def width(self) -> float:
        """Pixels across, the frame's padding included."""
        widest = max((line.width for line in self.lines), default=0.0)
        return round(widest + 2 * _PADDING_ACROSS, 1)

    @property
    def height(self) -> float:
        """Pixels down, the frame's padding included."""
        return sum(line.letter.leading for line in self.lines) + 2 * _PADDING_DOWN

    def drawn(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> str:
        """Draw the card.

        Args:
            x: Middle of the upper edge.
            y: The upper edge.
            width: Width of the frame, if it is more than the text needs.
            height: Height of the frame, if it is more than the text needs.
        """
        across, down = max(width, self.width), max(height, self.height)
        frame = rectangle(self.css, x - across / 2, y, across, down, self.round)
        rows, baseline = [frame], y + (down - self.height) / 2 + _PADDING_DOWN
        for line in self.lines:
            baseline += line.letter.leading
            foot = baseline - line.letter.size * _BELOW
            rows.append(words(line.text, line.letter.css, x, foot, anchor="middle"))
        return "\n".join(rows)


def broken(text: str, letter: TextStyle) -> list[Line]:
    """Break a text into the lines of its style; an ellipsis replaces the rest."""
    flat = " ".join(text.split())
    rows = textwrap.wrap(
        flat,
        letter.columns,
        max_lines=letter.rows,
        placeholder=" …",
        break_on_hyphens=False,
    )
    return [Line(row, letter) for row in rows]


def rectangle(css: str, x: float, y: float, width: float, height: float, round_: float) -> str:
    """One rectangle with round corners."""
    size: dict[str, str | float] = {"x": x, "y": y, "width": width, "height": height, "rx": round_}
    return element("rect", {"class": css, **size})


def words(text: str, css: str, x: float, y: float, *, anchor: str = "start") -> str:
    """One text element; `y` is the baseline."""
    place: dict[str, str | float] = {"x": x, "y": y, "text-anchor": anchor}
    return element("text", {"class": css, **place}, escape(_printable(text)))


def element(tag: str, attributes: Mapping[str, str | float], body: str | Sequence[str] = "") -> str:
    """One element; numbers are rounded, attributes are quoted, the body is taken as it is."""
    inner = body if isinstance(body, str) else "\n".join(body)
    written = "".join(f" {name}={quoteattr(_number(value))}" for name, value in attributes.items())
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def _printable(text: str) -> str:
    """Drop characters that XML 1.0 cannot contain, even as an entity."""
    return "".join(c for c in text if c.isprintable())


def _share(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    if character in _THIN_LETTERS:
        return _NARROW
    broad = character in _BROAD_LETTERS or character.isupper()
    return _WIDE if broad else _USUAL
