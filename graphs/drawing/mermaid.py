"""The pathway map of a journey as Mermaid text."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from journeygraph.graphs.drawing.pathway_map import PERSON, Diagram, Edge, Label, Node, sketch

if TYPE_CHECKING:
    from journeygraph.journeys.spec.spec import JourneySpec

_STYLES = (
    "classDef pathway fill:#eef4ff,stroke:#3b66b0,color:#14213d",
    "classDef detour fill:#fff7e6,stroke:#b7791f,color:#4a3208,stroke-dasharray:5 4",
    "classDef crowd fill:#f4f4f5,stroke:#8b8b93,color:#333",
    "classDef mark fill:#14213d,stroke:#14213d,color:#fff",
)
_PERSON_STYLE = "classDef person fill:#f4effe,stroke:#6b46b5,color:#14213d"


def mermaid(spec: JourneySpec, *, full: bool = False) -> str:
    """Draw pathways and transitions: entry and end marked, detours dashed, transitions labelled.

    A pathway shows its fields, effects and confirmations. A call for a person is a box too.

    Args:
        full: True: all fields of long forms.

    Returns:
        A Mermaid flowchart; every word of the journey in it is escaped.
    """
    drawn = sketch(spec, full=full)
    names = {id_: _name(number, id_) for number, id_ in enumerate(drawn.stops)}
    lines = [
        "---",
        f"title: {title_of(drawn.name)}",
        "---",
        "flowchart TD",
        *_stops(drawn, names),
        *_moves(drawn, names),
        *_handovers(drawn),
        *_STYLES,
        *([_PERSON_STYLE] if drawn.handovers else []),
    ]
    return "\n".join([*lines[:4], *(f"    {line}" for line in lines[4:])]) + "\n"


def _stops(drawn: Diagram, names: dict[str, str]) -> list[str]:
    lines = ['begin(["start"]):::mark']
    parts = groupby(drawn.stops.values(), key=lambda stop: stop.journey)
    for number, (journey, stops) in enumerate(parts):
        within = [_stop(stop, names[stop.id]) for stop in stops]
        head = f'subgraph part{number}["{escaped(journey)}"]'
        lines += [head, *within, "end"] if journey else within
    if any(stop.ends for stop in drawn.stops.values()):
        lines.append('finish(["end"]):::mark')
    crowds = _crowds(drawn)
    return [*lines, *(f'{name}(["{escaped(words)}"]):::crowd' for words, name in crowds.items())]


def _stop(stop: Node, name: str) -> str:
    lines = [escaped(line) for line in (stop.id, *stop.inside)]
    if stop.returns:
        lines.append(f"↩ {escaped(stop.returns)}")
    lines += [f"{sign} {escaped(f'{one}: {kind}')}" for sign, one, kind in stop.form_rows()]
    lines += [f"{sign} {escaped(words)}" for sign, words in stop.step_rows()]
    kind = "detour" if stop.is_detour else "pathway"
    return f'{name}["{"<br/>".join(lines)}"]:::{kind}'


def _name(number: int, id_: str) -> str:
    """Return a node name that is not a keyword of Mermaid."""
    return f"p_{id_}" if id_.isascii() and id_.isidentifier() else f"p{number}"


def _moves(drawn: Diagram, names: dict[str, str]) -> list[str]:
    crowds = _crowds(drawn)
    lines = [f"begin --> {names[drawn.entry]}"]
    for move in drawn.moves:
        source = crowds[move.source] if move.crowd else names[move.source]
        dashed = drawn.stops[move.target].is_detour
        lines.append(f"{source} {_arrow(move, dashed=dashed)} {names[move.target]}")
    ends = [names[stop.id] for stop in drawn.stops.values() if stop.ends]
    return lines + [f"{name} --> finish" for name in ends]


def _handovers(drawn: Diagram) -> list[str]:
    crowds = _crowds(drawn)
    lines = [f'person(["☎ {PERSON}"]):::person'] if drawn.handovers else []
    for handover in drawn.handovers:
        reasons = "<br/>".join(escaped(reason) for reason in handover.reasons)
        lines.append(f'{crowds[handover.source]} -.->|"{reasons}"| person')
    return lines


def _arrow(move: Edge, *, dashed: bool) -> str:
    line = "-.->" if dashed else "-->"
    text = "<br/>".join(_words(label) for label in move.labels)
    return f'{line}|"{text}"|' if text else line


def _words(label: Label) -> str:
    rank = f"priority {label.priority}" if label.priority else ""
    parts = [label.what, label.patterns, rank]
    return "<br/>".join(escaped(part) for part in parts if part)


def _crowds(drawn: Diagram) -> dict[str, str]:
    moves = [move.source for move in drawn.moves if move.crowd]
    words = dict.fromkeys([*moves, *(handover.source for handover in drawn.handovers)])
    return {source: f"any{number}" for number, source in enumerate(words)}


def escaped(text: str) -> str:
    """Escape characters that could end a label, start markup, or break the line."""
    flat = " ".join(text.split())
    plain = "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in flat)
    return _LIST_MARK.sub(lambda mark: f"{mark[1]}#{ord(mark[2])};", plain)


# Characters that mean nothing to Mermaid inside a quoted label, and those that do at its start.
_PLAIN = " _-.,:!?()+'/“”…→↩≥≤="
_LIST_MARK = re.compile(r"^(\d*)([-+.])")


def title_of(name: str) -> str:
    """Return a title in Mermaid's syntax."""
    return '"' + " ".join(name.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
