"""The pathway map of a journey as boxes and arrows of plain characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from journeygraph.graphs.drawing.pathway_map import PERSON, Diagram, Edge, Label, Node, sketch

if TYPE_CHECKING:
    from journeygraph.journeys.spec.spec import JourneySpec

_SOLID = ("┌", "─", "┐", "│", "└", "┘")
_DASHED = ("╭", "┄", "╮", "┆", "╰", "╯")
_NAME = 36
"""Most columns of the name of a field."""
_SIGNS = {"●": "required", "○": "optional", "✓": "the user confirms", "⇒": "effect"}


def text(spec: JourneySpec, width: int = 80, *, full: bool = False) -> str:
    """Draw pathways and transitions for a terminal.

    Args:
        width: Width in columns, at least 40; longer labels end in an ellipsis.
        full: True: all fields of long forms.

    Returns:
        Lines of text: the chain from the entry, further chains, transitions from any pathway, calls
            for a person, the detours in dashed boxes, and the signs of forms with their meanings.
    """
    drawn, room = sketch(spec, full=full), max(width, 40)
    heading = f"{drawn.name}: {drawn.purpose}" if drawn.purpose else drawn.name
    lines = [heading.splitlines()[0], "", " ● start", *_chains(drawn, room), *_crowds(drawn)]
    for stop in drawn.detours:
        lines += ["", *_box(stop, room), *_exits(drawn, stop, more=False)]
    lines += _key(drawn)
    return "\n".join(_cut(line, room).rstrip() for line in lines) + "\n"


def _key(drawn: Diagram) -> list[str]:
    used = {row[0] for stop in drawn.stops.values() for row in stop.form_rows()}
    used |= {row[0] for stop in drawn.stops.values() for row in stop.step_rows()}
    meanings = [f"{sign} {meaning}" for sign, meaning in _SIGNS.items() if sign in used]
    return ["", "   ".join(meanings)] if meanings else []


def _chains(drawn: Diagram, room: int) -> Iterator[str]:
    passed: set[str] = set()
    entry = drawn.stops[drawn.entry]
    for first in (entry, *drawn.stops.values()):
        if first.id in passed or first.is_detour:
            continue
        yield " ▼" if first is entry else ""
        stop: Node | None = first
        while stop:
            passed.add(stop.id)
            yield from _box(stop, room)
            following = _next(drawn, stop)
            yield from _exits(drawn, stop, more=bool(following) or stop.ends)
            stop = drawn.stops[following] if following and following not in passed else None
            if following:
                yield " ▼" if stop else f" └─▶ {following}"


def _next(drawn: Diagram, stop: Node) -> str:
    return next((move.target for move in drawn.out_of(stop.id) if not move.labels), "")


def _exits(drawn: Diagram, stop: Node, *, more: bool) -> list[str]:
    moves = [move for move in drawn.out_of(stop.id) if move.labels]
    rows = _arrows(drawn, moves, " │ " if more else " ")
    return [*rows, " ▼", " ◉ end"] if stop.ends else rows


def _crowds(drawn: Diagram) -> Iterator[str]:
    moves = [move for move in drawn.moves if move.crowd]
    calls = {handover.source: handover.reasons for handover in drawn.handovers}
    for source in dict.fromkeys([*(move.source for move in moves), *calls]):
        yield ""
        yield f"From {source}"
        yield from _arrows(drawn, [move for move in moves if move.source == source], " ")
        arrow = f" ──▶ ☎ {PERSON}"
        for reason in calls.get(source, ()):
            yield f"{arrow}  {reason}"
            arrow = " " * len(arrow)


def _arrows(drawn: Diagram, moves: list[Edge], start: str) -> list[str]:
    wide = max((_columns(move.target) for move in moves), default=0)
    rows = []
    for move in moves:
        arrow = "┄┄▷" if drawn.stops[move.target].is_detour else "──▶"
        room = " " * (wide - _columns(move.target))
        rows += [f"{start}{arrow} {move.target}{room}  {_said(label)}" for label in move.labels]
    return rows


def _said(label: Label) -> str:
    """Return a label that begins with the priority: it is short, and the rest may be cut."""
    return f"[{label.priority}] {label.words}" if label.priority else label.words


def _box(stop: Node, room: int) -> list[str]:
    left_top, across, right_top, down, left_end, right_end = _DASHED if stop.is_detour else _SOLID
    inside = [stop.id, *stop.inside]
    inside += [f"↩ {stop.returns}"] if stop.returns else []
    form = [*stop.form_rows()]
    names = min(max((_columns(name) for _, name, _ in form), default=0), _NAME)
    for sign, name, kind in form:
        name = _cut(name, names)
        inside.append(f"{sign} {name}{' ' * (names - _columns(name))}  {kind}")
    inside += [f"{sign} {words}" for sign, words in stop.step_rows()]
    inside = [_cut(line, room - 4) for line in inside]
    wide = max(_columns(line) for line in inside)
    rows = [f"{down} {line}{' ' * (wide - _columns(line))} {down}" for line in inside]
    edge = across * (wide + 2)
    return [f"{left_top}{edge}{right_top}", *rows, f"{left_end}{edge}{right_end}"]


def _columns(line: str) -> int:
    shown = (c for c in line if not unicodedata.combining(c))
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def _cut(line: str, room: int) -> str:
    if _columns(line) <= room:
        return line
    while line and _columns(line) > room - 1:
        line = line[:-1]
    return line.rstrip() + "…"
