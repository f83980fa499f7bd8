"""A pipeline as Mermaid, SVG and text: who works, and what leads from one to the other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from graphs.drawing.chart import END, START, Chart, Station, Way, targets
from graphs.drawing.lettering import Card, Letter, Line, broken, element, rectangle, words
from graphs.drawing.lines import Part
from graphs.drawing.mermaid import escaped, title_of
from graphs.drawing.svg import FOOT, MARGIN, document, heading

_NAME = Letter("name", 14, 19, bold=True, columns=30)
_WORK = Letter("work", 10.5, 14, columns=30, rows=3)
_STEP = Letter("what", 11, 15, bold=True, columns=30)
_KEY = Letter("key", 11, 15)
_MEANINGS = (("next", "always"), ("", "if it is chosen"))
_ARROWS = {False: "──▶", True: "┄┄▷"}


def mermaid(drawn: Chart) -> str:
    """Draw it as a Mermaid flowchart; what may be chosen is led to by a dashed line."""
    names = {path: f"n{number}" for number, path in enumerate(drawn.stations)}
    names |= {START: "begin", END: "finish"}
    lines = ['begin(["start"]):::mark', *(_node(s, names) for s in drawn.stations.values())]
    lines += ['finish(["end"]):::mark']
    lines += [f"{names[w.source]} {_arrow(w)} {names[w.target]}" for w in drawn.ways]
    lines += [
        "classDef agent fill:#eef4ff,stroke:#3b66b0,color:#14213d",
        "classDef step fill:#f4f4f5,stroke:#8b8b93,color:#333",
        "classDef mark fill:#14213d,stroke:#14213d,color:#fff",
    ]
    head = ["---", f"title: {title_of(drawn.name)}", "---", "flowchart TD"]
    return "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"


def _node(station: Station, names: dict[str, str]) -> str:
    name = names[station.path]
    if station.is_step:
        return f'{name}(["{escaped(station.path)}"]):::step'
    return f'{name}["{escaped(station.path)}"]:::agent'


def _arrow(way: Way) -> str:
    return "-.->" if way.is_choice else "-->"


def svg(drawn: Chart) -> str:
    """Draw it as a whole SVG document, in layers from the start down."""
    part = Part()
    part.mark(START)
    for station in drawn.stations.values():
        part.add(station.path, _card(station))
    for way in drawn.ways:
        target = way.target
        if target == END:  # one for each line: lines that meet in one dot hide one another
            part.mark(target := f"{END} {way.source}")
        part.link(way.source, target, "" if way.is_choice else "next")
    part.arranged()
    over = heading(drawn.name, drawn.purpose)
    key, reach = _key(drawn)
    width = max(MARGIN + part.width, over.right, reach) + MARGIN
    top = over.bottom + 14
    height = top + part.height + FOOT
    body = [
        rectangle("paper", 0, 0, width, height, 12),
        *over.rows,
        part.drawn(MARGIN, top),
        element("g", {"transform": f"translate(0 {height - 18:.1f})"}, key),
    ]
    about = f"Agents of the pipeline {drawn.name}: " + ", ".join(drawn.stations)
    return document(drawn.name, about, width, height, body)


def _card(station: Station) -> Card:
    if station.is_step:
        return Card(tuple(broken(station.path, _STEP)), "pill crowd", round=12)
    purpose = station.purpose.partition(". ")[0]
    return Card((*broken(station.path, _NAME), *broken(purpose, _WORK)), "box")


def _key(drawn: Chart) -> tuple[list[str], float]:
    """What the lines mean; only those that are there."""
    there = {"" if way.is_choice else "next" for way in drawn.ways}
    rows, x = list[str](), MARGIN
    for css, meaning in _MEANINGS:
        if css in there:
            line = {"class": f"line {css}".strip(), "d": f"M{x:.1f} -4h24"}
            rows += [element("path", line), words(meaning, "key", x + 31, 0)]
            x += 31 + Line(meaning, _KEY).width + 14
    return rows, x - 14


def text(drawn: Chart, width: int = 80) -> str:
    """Draw it as boxes and arrows of plain characters, none wider than `width` columns."""
    heading = f"{drawn.name}: {drawn.purpose}" if drawn.purpose else drawn.name
    lines = [*textwrap.wrap(heading, width), "", " ● start", *_exits(drawn, START)]
    for path, station in drawn.stations.items():
        lines += [*_box(station, width), *_exits(drawn, path)]
    return "\n".join(lines) + "\n"


def _box(station: Station, width: int) -> list[str]:
    if station.is_step:
        return [f"( {station.path} )"]
    inside = [station.path, *textwrap.wrap(station.purpose, width - 4)]
    wide = max(map(len, inside))
    edge = "─" * (wide + 2)
    return [f"┌{edge}┐", *(f"│ {line.ljust(wide)} │" for line in inside), f"└{edge}┘"]


def _exits(drawn: Chart, source: str) -> Iterator[str]:
    for way in targets(drawn.ways, source):
        yield f" {_ARROWS[way.is_choice]} {'◉ end' if way.target == END else way.target}"
