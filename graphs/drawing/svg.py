"""The pathway map of a journey as SVG text, drawn without a network or a browser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from string import Template
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from journeygraph.graphs.drawing.layout import Arrangement
from journeygraph.graphs.drawing.lettering import (
    Card,
    CardRow,
    Divider,
    Group,
    TextLine,
    TextStyle,
    broken,
    element,
    rectangle,
    sign,
    words,
)
from journeygraph.graphs.drawing.pathway_map import (
    PERSON,
    Diagram,
    Edge,
    FieldLine,
    Handover,
    Label,
    Node,
    sketch,
)

if TYPE_CHECKING:
    from journeygraph.journeys.spec.spec import JourneySpec

_NAME = TextStyle("name", 14, 19, bold=True, columns=30)
_WORK = TextStyle("work", 10.5, 14, columns=40, rows=3)
_BACK = TextStyle("returns", 11, 16)
_MARK = TextStyle("where", 11, 16, bold=True)
_FIELD = TextStyle("field-name", 11, 16, columns=28)
_KIND = TextStyle("kind", 10.5, 16, columns=30, rows=1)
_WHEN = TextStyle("when", 10, 14, columns=40)
_WHAT = TextStyle("what", 11, 15, bold=True, columns=30)
_SAID = TextStyle("said", 11, 15)
_RANK = TextStyle("rank", 10, 14)
_TITLE = TextStyle("title", 17, 24, bold=True, columns=60)
_PURPOSE = TextStyle("purpose", 12, 17, columns=64, rows=3)
_KEY = TextStyle("key", 11, 15)
_MARKS = {"here": "● the session is here", "paused": "‖ paused"}
_BETWEEN = 7.0
MARGIN, _GAP, FOOT, _LANE_PAD, _LANE_HEAD = 26.0, 24.0, 44.0, 18.0, 34.0
_KEY_LINE, _KEY_GAP, _LEAST_KEY = 19.0, 14.0, 300.0
_BEGIN, _END, _CROWD = "begin ", "end ", "crowd "  # no pathway id has a space in it


def svg(
    spec: JourneySpec,
    here: str = "",
    paused: Sequence[str] = (),
    *,
    full: bool = False,
) -> str:
    """Draw pathways and transitions in layers from the entry down, with detours in their own lane.

    Elements have marks for programs: `data-pathway`, `data-edge` with both ends, `data-trigger` as
    in the audit, `data-field`, `data-effect`, `data-end` and `data-handover`.

    Args:
        here: Id of the current pathway of a session, to be marked; empty for none.
        full: True: all fields of long forms.

    Returns:
        A whole SVG document; every word of the journey in it is escaped.
    """
    drawn = sketch(spec, here, paused, full=full)
    main = _main(drawn)
    lanes = [
        _Lane("Detours", "", [_detour(drawn, stop) for stop in drawn.detours]),
        _Lane("A person", "person", [_handover(one) for one in drawn.handovers]),
    ]
    lanes = [lane for lane in lanes if lane.parts]
    over = heading(drawn.name, drawn.purpose)
    lane_x = MARGIN + main.width + (_GAP if lanes else 0)
    lane_width = max((lane.width for lane in lanes), default=0.0)
    inner = max(lane_x + lane_width, over.right)
    key = legend(_key(drawn), inner)
    top, width = over.bottom + 14, max(inner, key.right) + MARGIN
    lane_height = sum(lane.height + _GAP for lane in lanes) - _GAP
    height = top + max(main.height, lane_height) + FOOT + key.bottom
    body = [
        rectangle("paper", 0, 0, width, height, 12),
        *over.rows,
        *_lanes(lanes, lane_x, top, lane_width),
        main.drawn(MARGIN, top),
        element("g", {"transform": f"translate(0 {height - 18 - key.bottom:.1f})"}, key.rows),
    ]
    about = f"Pathways of the journey {drawn.name}: " + ", ".join(drawn.stops)
    return document(drawn.name, about, width, height, body)


@dataclass(frozen=True)
class TextLayout:
    """Laid out text and its extent."""

    rows: list[str]
    right: float
    bottom: float = 0.0


def _main(drawn: Diagram) -> Arrangement:
    part = Arrangement()
    part.mark(_BEGIN)
    for stop in drawn.stops.values():
        if not stop.is_detour:
            part.add(stop.id, _box(stop))
    part.link(_BEGIN, drawn.entry, "next", attributes={"class": "edge"})
    for move in drawn.moves:
        if not drawn.stops[move.target].is_detour:
            _connect(part, move, drawn)
    for stop in drawn.stops.values():
        if stop.ends:
            part.mark(_END + stop.id)
            part.link(
                stop.id,
                _END + stop.id,
                "next",
                attributes={"class": "edge", "data-end": stop.id, "role": "img"},
                about=f"{stop.id} ends the journey.",
            )
    return part.arranged()


def _connect(part: Arrangement, move: Edge, drawn: Diagram) -> None:
    marks = _edge(move)
    if move.crowd or drawn.stops[move.source].is_detour:
        key = f"{_CROWD}{move.source} {move.target}"
        part.add(key, _crowd(move))
        part.link(key, move.target, attributes=marks)
    elif move.source == move.target:
        part.loop(move.source, _pill(move))
    elif move.labels:
        part.link(move.source, move.target, card=_pill(move), attributes=marks)
    else:
        named = {**marks, "data-kind": "next", "role": "img"}
        part.link(move.source, move.target, "next", attributes=named, about=move.about)


def _edge(move: Edge) -> dict[str, str]:
    return {"class": "edge", "data-edge": move.ends_at}


def _detour(drawn: Diagram, stop: Node) -> Arrangement:
    part = Arrangement()
    for move in drawn.into(stop.id):
        part.add(_CROWD + move.source, _crowd(move))
    part.add(stop.id, _box(stop))
    for move in drawn.into(stop.id):
        part.link(_CROWD + move.source, stop.id, "dashed", attributes=_edge(move))
    return part.arranged()


def _handover(handover: Handover) -> Arrangement:
    part, key = Arrangement(), _CROWD + handover.source
    reasons = [line for reason in handover.reasons for line in _broken(reason, _SAID)]
    about = f"A person is called from {handover.source}: {'; '.join(handover.reasons)}."
    marks = {"data-handover": ",".join(handover.sources), "role": "img"}
    rows = (*broken(f"from {handover.source}", _WHAT), *reasons)
    part.add(key, Card(rows, "pill crowd", 12, {"class": "label", **marks}, about))
    name = broken(PERSON, _NAME)
    part.add(PERSON, Card(tuple(name), "box person", 8, {"class": "handover", **marks}, about))
    part.link(key, PERSON, "person", attributes={"class": "edge"})
    return part.arranged()


def _box(stop: Node) -> Card:
    rows: list[CardRow] = [*broken(stop.id, _NAME)]
    rows += [line for work in stop.inside for line in broken(work, _WORK)]
    if stop.returns:
        rows += broken(f"↩ {stop.returns}", _BACK)
    if stop.mark in _MARKS:
        rows += broken(_MARKS[stop.mark], _MARK)
    if form := [*_form(stop)]:
        rows += [Divider(), *form]
    if steps := [*_steps(stop)]:
        rows += [Divider(), *steps]
    css = ["box", "detour" if stop.is_detour else "", stop.mark]
    marks = {"class": "pathway", "data-pathway": stop.id, "role": "img"}
    return Card(tuple(rows), " ".join(word for word in css if word), 8, marks, stop.about)


def _form(stop: Node) -> Iterator[CardRow]:
    for field in stop.fields:
        marks = {"class": "field", "data-field": f"{stop.id}.{field.name}"}
        yield Group((*_field_lines(field),), marks, f"{field.title}: {field.words}")
    if stop.more:
        yield TextLine(f"+ {stop.more} more", _KIND, "room")


def _field_lines(field: FieldLine) -> Iterator[TextLine]:
    sign = "required" if field.is_required else "optional"
    yield from _signed(field.title, sign, field.short)
    yield from _below(field.when)


def _steps(stop: Node) -> Iterator[CardRow]:
    for confirms in stop.confirms:
        yield from _signed(confirms, "confirms")
    for effect in stop.effects:
        lines = _signed(effect.tool, "effect", "effect")
        change = _below(f"changed by {effect.change}" if effect.change else "")
        marks = {"class": "effect", "data-effect": f"{stop.id}.{effect.tool}"}
        yield Group((*lines, *change), marks, f"Effect: {effect.words}")
    if stop.handover:
        yield from _signed(f"{PERSON} {stop.handover}", "person")


def _signed(text: str, sign: str, note: str = "") -> Iterator[TextLine]:
    """Yield lines that begin with a sign; `note` is at the right of the first one."""
    notes = broken(note, _KIND)
    for line in broken(text, _FIELD):
        yield replace(line, sign=sign, note=notes.pop() if notes else None)
        sign = "room"


def _below(text: str) -> Iterator[TextLine]:
    return (replace(line, sign="room") for line in broken(text, _WHEN))


def _pill(move: Edge) -> Card:
    return Card((*_labels(move),), "pill", 12, _label_marks(move), move.about)


def _crowd(move: Edge) -> Card:
    rows = (*broken(f"from {move.source}", _WHAT), *_labels(move))
    return Card(rows, "pill crowd", 12, _label_marks(move), move.about)


def _label_marks(move: Edge) -> dict[str, str]:
    return {"class": "label", "data-edge": move.ends_at, "role": "img"}


def _labels(move: Edge) -> Iterator[CardRow]:
    for number, label in enumerate(move.labels):
        lines = [*_label_lines(label)]
        if number and lines:
            lines[0] = replace(lines[0], above=_BETWEEN)
        if lines:
            yield Group((*lines,), {"class": "trigger", "data-trigger": label.trigger}, label.words)


def _label_lines(label: Label) -> Iterator[TextLine]:
    yield from _broken(label.what, _SAID)
    yield from _broken(label.patterns, _SAID)
    yield from broken(f"priority {label.priority}" if label.priority else "", _RANK)


def _broken(text: str, style: TextStyle) -> list[TextLine]:
    """Break a text with quoted phrases; a phrase stays on one line, with the comma after it."""
    return broken(_PHRASE.sub(lambda phrase: phrase[0].replace(" ", "\xa0"), text), style)


_PHRASE = re.compile(r"“[^”]*”|, …")


def heading(name: str, purpose: str) -> TextLayout:
    """Lay out a name and a purpose above a picture."""
    lines = [*broken(name, _TITLE), *broken(purpose, _PURPOSE)]
    rows, y = [], MARGIN
    for line in lines:
        rows.append(words(line.text, line.letter.css, MARGIN, y + line.letter.size * 0.8))
        y += line.letter.leading
    return TextLayout(rows, MARGIN + max(line.width for line in lines), y)


@dataclass(frozen=True)
class _Lane:
    """A frame at the right of the main pathways, with parts under one another."""

    title: str
    css: str
    parts: Sequence[Arrangement]

    @property
    def width(self) -> float:
        return max(part.width for part in self.parts) + 2 * _LANE_PAD

    @property
    def height(self) -> float:
        inner = sum(part.height + _GAP for part in self.parts)
        return _LANE_HEAD + inner - _GAP + _LANE_PAD

    def drawn(self, x: float, y: float, width: float) -> Iterator[str]:
        yield rectangle(f"lane {self.css}".strip(), x, y, width, self.height, 12)
        yield words(self.title, f"lane-title {self.css}".strip(), x + _LANE_PAD, y + 22)
        y += _LANE_HEAD
        for part in self.parts:
            yield part.drawn(x + (width - part.width) / 2, y)
            y += part.height + _GAP


def _lanes(lanes: Sequence[_Lane], x: float, y: float, width: float) -> Iterator[str]:
    for lane in lanes:
        yield from lane.drawn(x, y, width)
        y += lane.height + _GAP


def _key(drawn: Diagram) -> Iterator[tuple[str, str]]:
    stops = drawn.stops.values()
    plain = [move for move in drawn.moves if not drawn.stops[move.target].is_detour]
    yield "line next", "next, when complete"
    if any(move.labels for move in plain):
        yield "line", "transition"
    if drawn.detours:
        yield "line dashed", "detour, comes back"
    needs = {field.is_required for stop in stops for field in stop.fields}
    yield from ((name, name) for name in ("required", "optional") if (name == "required") in needs)


def legend(entries: Iterable[tuple[str, str]], width: float) -> TextLayout:
    """Lay out a legend in as many lines as a width needs; signs stay on one line.

    Args:
        entries: CSS class of a line, or name of a sign, and its meaning; signs last.
        width: Right edge of the picture above it.

    Returns:
        The legend; `bottom` is the room that it needs below its first line.
    """
    rows, x, y, right = list[str](), MARGIN, 0.0, 0.0
    for _, group in groupby(enumerate(entries), lambda one: _is_line(one[1][0]) and one[0]):
        drawn = [entry for _, entry in group]
        reach = sum(_reach(*entry) for entry in drawn) - _KEY_GAP
        if x > MARGIN and x + reach > max(width, _LEAST_KEY):
            x, y = MARGIN, y + _KEY_LINE
        right = max(right, x + reach)
        for css, meaning in drawn:
            line = {"class": css, "d": f"M{x:.1f} {y - 4:.1f}h24"}
            rows.append(element("path", line) if _is_line(css) else sign(css, x + 4, y - 4))
            x += _reach(css, meaning)
            rows.append(words(meaning, "key", x - _KEY_GAP - _KEY.width(meaning), y))
    return TextLayout(rows, right, y)


def _is_line(css: str) -> bool:
    return css.startswith("line")


def _reach(css: str, meaning: str) -> float:
    return (31.0 if _is_line(css) else 15.0) + _KEY.width(meaning) + _KEY_GAP


def document(name: str, about: str, width: float, height: float, body: list[str]) -> str:
    """Return a whole SVG document: title, description and elements."""
    inside = [
        element("title", {}, escape(name)),
        element("desc", {}, escape(about)),
        element("style", {}, STYLE),
        *body,
    ]
    size: dict[str, str | float] = {"width": width, "height": height}
    view = f"0 0 {width:.0f} {height:.0f}"
    xmlns = "http://www.w3.org/2000/svg"
    root = {"xmlns": xmlns, "class": "drawing", **size, "viewBox": view, "role": "group"}
    return element("svg", root, "\n" + "\n".join(inside) + "\n") + "\n"


_SHAPES = """
text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
.title { font-size: 17px; font-weight: 600; }
.purpose { font-size: 12px; }
.key, .returns, .said, .field-name { font-size: 11px; }
.lane-title { font-size: 12px; font-weight: 600; }
.box { stroke-width: 1.4; }
.box.detour { stroke-dasharray: 6 4; }
.box.here { stroke-width: 2.6; stroke-dasharray: none; }
.box.paused { stroke-width: 2.6; }
.name { font-size: 14px; font-weight: 600; }
.work, .kind { font-size: 10.5px; }
.what, .where { font-size: 11px; font-weight: 600; }
.rank, .when { font-size: 10px; }
.area { fill: none; stroke: none; pointer-events: all; }
.line { fill: none; stroke-width: 1.5; }
.line.next { stroke-width: 2.2; }
.line.dashed { stroke-dasharray: 6 4; }
.rule { fill: none; stroke-width: 1; }
.sign { stroke-width: 1.4; stroke: none; }
.sign.optional, .sign.confirms { fill: none; }
.ring { fill: none; stroke-width: 1.6; }
"""
_COLOURS = {
    "paper": ("#ffffff", "#10182a"),
    "edge": ("#e4e7ec", "#2a364f"),
    "ink": ("#14213d", "#e6ecf7"),
    "soft": ("#333d4f", "#d0d9ea"),
    "grey": ("#56606f", "#9dabc3"),
    "line": ("#5b6b8c", "#8a9bbd"),
    "blue": ("#3b66b0", "#6f9ce8"),
    "deep": ("#2f4f8f", "#82a8ee"),
    "pale": ("#eef4ff", "#17233d"),
    "thin": ("#c5d3ec", "#33456e"),
    "slate": ("#4a5876", "#a9b7d3"),
    "amber": ("#b7791f", "#d5a24c"),
    "brown": ("#8a5a12", "#e2b566"),
    "cream": ("#fff3d9", "#2b2415"),
    "sand": ("#fffbf2", "#181a20"),
    "rim": ("#f0e2c4", "#4a3f28"),
    "green": ("#1f7a3d", "#5cc481"),
    "leaf": ("#1f5c33", "#8fdcaa"),
    "mint": ("#dff3e4", "#14301f"),
    "violet": ("#6b46b5", "#ab90ea"),
    "lilac": ("#f4effe", "#221b38"),
    "frost": ("#faf8ff", "#161625"),
    "haze": ("#e2d8f5", "#3c3260"),
    "chip": ("#ffffff", "#141d31"),
    "cloud": ("#f4f5f7", "#1c2538"),
    "bank": ("#c9cfda", "#3f4c68"),
    "stone": ("#9aa3b2", "#6d7a93"),
}
"""Colour -> on a light ground, on a dark ground."""
_PAINT = Template("""
.paper { fill: $paper; stroke: $edge; }
.lane { fill: $sand; stroke: $rim; }
.lane.person { fill: $frost; stroke: $haze; }
.title, .name { fill: $ink; }
.purpose, .key, .rank, .kind, .when { fill: $grey; }
.lane-title, .returns { fill: $brown; }
.lane-title.person { fill: $violet; }
.box { fill: $pale; stroke: $blue; }
.box.detour { fill: $cream; stroke: $amber; }
.box.person { fill: $lilac; stroke: $violet; }
.box.here { fill: $mint; stroke: $green; }
.where { fill: $leaf; }
.work { fill: $slate; }
.pill { fill: $chip; stroke: $bank; }
.pill.crowd { fill: $cloud; stroke: $stone; }
.what, .said, .field-name { fill: $soft; }
.rule { stroke: $thin; }
.sign { fill: $blue; }
.sign.optional { stroke: $blue; }
.sign.confirms { stroke: $green; }
.sign.effect { fill: $amber; }
.sign.person { fill: $violet; }
.line { stroke: $line; }
.head { fill: $line; }
.line.next { stroke: $deep; }
.head.next { fill: $deep; }
.line.dashed { stroke: $amber; }
.head.dashed { fill: $amber; }
.line.person { stroke: $violet; }
.head.person { fill: $violet; }
.mark { fill: $ink; }
.ring { stroke: $ink; }
""")


def _style() -> str:
    """Return the rules of a drawing; they apply to nothing else on a page."""
    light, dark = (
        _PAINT.substitute({name: both[number] for name, both in _COLOURS.items()})
        for number in (0, 1)
    )
    scheme = f"@media (prefers-color-scheme: dark) {{{_within(dark)}}}"
    return f"{_within(_SHAPES)}{_within(light)}{scheme}\n"


def _within(rules: str) -> str:
    return re.sub(r"(?m)^[^{\n]+", lambda found: _scoped(found[0]), rules)


def _scoped(selectors: str) -> str:
    return ", ".join(f".drawing {one.strip()}" for one in selectors.split(",")) + " "


STYLE = _style()
