"""The pathway map of a journey as SVG text, drawn without a network or a browser."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from graphs.drawing.layout import Part
from graphs.drawing.lettering import Card, Line, TextStyle, broken, element, rectangle, words
from graphs.drawing.pathway_map import Label, Move, Sketch, Stop, sketch

if TYPE_CHECKING:
    from journeys.spec.spec import JourneySpec

_NAME = TextStyle("name", 14, 19, bold=True, columns=30)
_WORK = TextStyle("work", 10.5, 14, columns=40, rows=3)
_BACK = TextStyle("back", 11, 16)
_MARK = TextStyle("where", 11, 16, bold=True)
_WHAT = TextStyle("what", 11, 15, bold=True, columns=30)
_SAID = TextStyle("said", 11, 15)
_RANK = TextStyle("rank", 10, 14)
_TITLE = TextStyle("title", 17, 24, bold=True, columns=60)
_PURPOSE = TextStyle("purpose", 12, 17, columns=64, rows=3)
_KEY = TextStyle("key", 11, 15)
_MARKS = {"here": "● the session is here", "paused": "‖ paused", "missed": "✗ missed"}
_MARKED = {mark: replace(_SAID, css=f"said {mark}") for mark in ("used", "missed")}
_BETWEEN = 7.0
MARGIN, _GAP, FOOT, _LANE_PAD, _LANE_HEAD = 26.0, 24.0, 44.0, 18.0, 34.0
_BEGIN, _END, _CROWD = "begin ", "end ", "crowd "  # no pathway id has a space in it


def svg(
    spec: JourneySpec,
    here: str = "",
    paused: Sequence[str] = (),
    used: Collection[str] | None = None,
) -> str:
    """Draw pathways and transitions in layers from the entry down, with detours in their own lane.

    Args:
        spec: The spec of a journey, `SomeJourney.spec`.
        here: Id of the current pathway of a session, to be marked; empty for none.
        paused: Ids of the pathways on its stack.
        used: The parts that conversations used, as of `sketch`; None: they are not marked.

    Returns:
        A whole SVG document; every word of the journey in it is escaped.
    """
    drawn = sketch(spec, here, paused, used)
    main, lane = _main(drawn), [_detour(drawn, stop) for stop in drawn.detours]
    over, key = heading(drawn.name, drawn.purpose), _key(drawn)
    lane_x = MARGIN + main.width + (_GAP if lane else 0)
    width = max(lane_x + _lane_width(lane), over.right, key.right) + MARGIN
    top = over.bottom + 14
    height = top + max(main.height, _lane_height(lane)) + FOOT
    body = [
        rectangle("paper", 0, 0, width, height, 12),
        *over.rows,
        *_lane(lane, lane_x, top),
        main.drawn(MARGIN, top),
        element("g", {"transform": f"translate(0 {height - 18:.1f})"}, key.rows),
    ]
    about = f"Pathways of the journey {drawn.name}: " + ", ".join(drawn.stops)
    return document(drawn.name, about, width, height, body)


@dataclass(frozen=True)
class Words:
    """Laid out text and its extent."""

    rows: list[str]
    right: float
    bottom: float = 0.0


def _main(drawn: Sketch) -> Part:
    """Lay out the pathways that are not detours, and their edges."""
    part = Part()
    part.mark(_BEGIN)
    for stop in drawn.stops.values():
        if not stop.is_detour:
            part.add(stop.id, _box(stop))
    part.link(_BEGIN, drawn.entry, "next")
    for move in drawn.moves:
        if not drawn.stops[move.target].is_detour:
            _connect(part, move, drawn)
    for stop in drawn.stops.values():
        if stop.ends:
            part.mark(_END + stop.id)
            part.link(stop.id, _END + stop.id, "next")
    return part.arranged()


def _connect(part: Part, move: Move, drawn: Sketch) -> None:
    if move.crowd or drawn.stops[move.source].is_detour:
        key = f"{_CROWD}{move.source} {move.target}"
        part.add(key, _crowd(move))
        part.link(key, move.target)
    elif move.source == move.target:
        part.loop(move.source, _pill(move))
    elif move.labels:
        part.link(move.source, move.target, card=_pill(move))
    else:
        part.link(move.source, move.target, f"next {move.mark}".strip())


def _detour(drawn: Sketch, stop: Stop) -> Part:
    """One detour with its incoming edges."""
    part = Part()
    for move in drawn.into(stop.id):
        part.add(_CROWD + move.source, _crowd(move))
    part.add(stop.id, _box(stop))
    for move in drawn.into(stop.id):
        part.link(_CROWD + move.source, stop.id, "dashed")
    return part.arranged()


def _box(stop: Stop) -> Card:
    lines = [*broken(stop.id, _NAME), *broken(stop.work, _WORK)]
    if stop.returns:
        lines += broken(f"↩ {stop.returns}", _BACK)
    if stop.mark in _MARKS:
        lines += broken(_MARKS[stop.mark], _MARK)
    css = ["box", "detour" if stop.is_detour else "", stop.mark]
    return Card(tuple(lines), " ".join(word for word in css if word))


def _pill(move: Move) -> Card:
    return Card(tuple(_label_lines(move.labels)), "pill", round=12)


def _crowd(move: Move) -> Card:
    lines = (*broken(f"from {move.source}", _WHAT), *_label_lines(move.labels))
    return Card(lines, "pill crowd", round=12)


def _label_lines(labels: tuple[Label, ...]) -> Iterator[Line]:
    for number, label in enumerate(labels):
        style = _MARKED.get(label.mark, _SAID)
        rank = f"priority {label.priority}" if label.priority else ""
        lines = [
            *broken(f"✗ {label.what}" if label.mark == "missed" else label.what, style),
            *broken(label.patterns, style),
            *broken(rank, _RANK),
        ]
        if number and lines:
            lines[0] = lines[0].lowered(_BETWEEN)
        yield from lines


def heading(name: str, purpose: str) -> Words:
    """Lay out a name and a purpose above a picture."""
    lines = [*broken(name, _TITLE), *broken(purpose, _PURPOSE)]
    rows, y = [], MARGIN
    for line in lines:
        rows.append(words(line.text, line.letter.css, MARGIN, y + line.letter.size * 0.8))
        y += line.letter.leading
    return Words(rows, MARGIN + max(line.width for line in lines), y)


def _lane_width(lane: list[Part]) -> float:
    return max(part.width for part in lane) + 2 * _LANE_PAD if lane else 0.0


def _lane_height(lane: list[Part]) -> float:
    inner = sum(part.height + _GAP for part in lane)
    return _LANE_HEAD + inner - _GAP + _LANE_PAD if lane else 0.0


def _lane(lane: list[Part], x: float, y: float) -> list[str]:
    if not lane:
        return []
    width = _lane_width(lane)
    rows = [rectangle("lane", x, y, width, _lane_height(lane), 12)]
    rows.append(words("Detours", "lane-title", x + _LANE_PAD, y + 22))
    y += _LANE_HEAD
    for part in lane:
        rows.append(part.drawn(x + (width - part.width) / 2, y))
        y += part.height + _GAP
    return rows


def _key(drawn: Sketch) -> Words:
    """Return the legend of the kinds of lines in the picture."""
    plain = [move for move in drawn.moves if not drawn.stops[move.target].is_detour]
    entries = [("next", "next, when complete")]
    entries += [("", "transition")] if any(move.labels for move in plain) else []
    entries += [("dashed", "detour, comes back")] if drawn.detours else []
    if any(stop.mark in _MARKED for stop in drawn.stops.values()):
        entries += [("next used", "used by a conversation"), ("next missed", "✗ missed")]
    rows, x = [], MARGIN
    for css, meaning in entries:
        line = Line(meaning, _KEY)
        rows.append(element("path", {"class": f"line {css}".strip(), "d": f"M{x:.1f} -4h24"}))
        rows.append(words(meaning, "key", x + 31, 0))
        x += 31 + line.width + 14
    return Words(rows, x - 14)


def document(name: str, about: str, width: float, height: float, body: list[str]) -> str:
    """Return a whole SVG document: title, description and elements."""
    inside = [
        element("title", {}, escape(name)),
        element("desc", {}, escape(about)),
        element("style", {}, _STYLE),
        *body,
    ]
    size: dict[str, str | float] = {"width": width, "height": height}
    view = f"0 0 {width:.0f} {height:.0f}"
    xmlns = "http://www.w3.org/2000/svg"
    root = {"xmlns": xmlns, **size, "viewBox": view, "role": "img"}
    return element("svg", root, "\n" + "\n".join(inside) + "\n") + "\n"


_STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
.paper { fill: #ffffff; stroke: #e4e7ec; }
.lane { fill: #fffbf2; stroke: #f0e2c4; }
.title { font-size: 17px; font-weight: 600; fill: #14213d; }
.purpose { font-size: 12px; fill: #5b6472; }
.key { font-size: 11px; fill: #5b6472; }
.lane-title { font-size: 12px; font-weight: 600; fill: #8a5a12; }
.box { fill: #eef4ff; stroke: #3b66b0; stroke-width: 1.4; }
.box.detour { fill: #fff3d9; stroke: #b7791f; stroke-dasharray: 6 4; }
.box.here { fill: #dff3e4; stroke: #1f7a3d; stroke-width: 2.6; stroke-dasharray: none; }
.box.paused { stroke-width: 2.6; }
.box.used { fill: #dff3e4; stroke: #1f7a3d; }
.box.missed { fill: #fdeceb; stroke: #b3261e; }
.where { font-size: 11px; font-weight: 600; fill: #1f5c33; }
.name { font-size: 14px; font-weight: 600; fill: #14213d; }
.work { font-size: 10.5px; fill: #4a5876; }
.back { font-size: 11px; fill: #8a5a12; }
.pill { fill: #ffffff; stroke: #c9cfda; }
.pill.crowd { fill: #f4f5f7; stroke: #9aa3b2; }
.what { font-size: 11px; font-weight: 600; fill: #333d4f; }
.said { font-size: 11px; fill: #333d4f; }
.said.used { fill: #1f5c33; }
.said.missed { fill: #b3261e; }
.rank { font-size: 10px; fill: #7a8394; }
.line { fill: none; stroke: #5b6b8c; stroke-width: 1.5; }
.line.next { stroke: #2f4f8f; stroke-width: 2.2; }
.line.dashed { stroke: #b7791f; stroke-dasharray: 6 4; }
.line.used { stroke: #1f7a3d; }
.line.missed { stroke: #b3261e; }
.head { fill: #5b6b8c; }
.head.next { fill: #2f4f8f; }
.head.dashed { fill: #b7791f; }
.head.used { fill: #1f7a3d; }
.head.missed { fill: #b3261e; }
.mark { fill: #14213d; }
.ring { fill: none; stroke: #14213d; stroke-width: 1.6; }
"""
