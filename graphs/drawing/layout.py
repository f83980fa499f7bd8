"""Place boxes and labels in layers, so that neither ever lies on another or on a foreign line.

A layered (Sugiyama) layout: cycles are broken, boxes ranked, every line that passes a level gets a
place of its own in it, the levels are ordered to cross little, and then moved to run straight.
Labels are places like boxes are, between the ranks; that is what keeps them apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

_ROOM_ACROSS = 26.0
_ROOM_DOWN = 30.0
_SWEEPS = 12
_LINE = 4.0
_ASIDE = 24.0


@dataclass
class Place:
    """Something with a size that takes up room; `x`, `y` is the middle of its upper edge.

    Attributes:
        key: What it stands for, unique in a layout.
        width: Of the thing itself, in pixels.
        height: Of the thing itself, in pixels.
        beside: Further room kept free on its right, for a loop and its label.
        level: Its row; boxes are on even ones, labels and passing lines on odd ones too.
    """

    key: str
    width: float = _LINE
    height: float = 0.0
    beside: float = 0.0
    level: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def left(self) -> float:
        """Room it takes to the left of `x`."""
        return self.width / 2

    @property
    def right(self) -> float:
        """Room it takes to the right of `x`."""
        return self.width / 2 + self.beside


@dataclass(frozen=True)
class Link:
    """A line from one box to another, through its label's place if it has one.

    Attributes:
        source: Key of the box it leaves.
        target: Key of the box its arrow points at.
        css: Class of the line, for the one who draws it.
        label: What it runs through.
    """

    source: str
    target: str
    css: str = ""
    label: Place | None = None


@dataclass
class Layout:
    """Boxes and links in; coordinates out.

    Attributes:
        boxes: The places to arrange, by key.
        links: The lines between them; loops are not among them.
        width: Of the whole, after `arrange`.
        height: Of the whole, after `arrange`.
        routes: For each link, the places it runs through in the direction of its arrow.
    """

    boxes: dict[str, Place]
    links: list[Link]
    width: float = 0.0
    height: float = 0.0
    routes: list[tuple[Link, list[Place]]] = field(default_factory=list)
    levels: list[list[Place]] = field(default_factory=list)

    def arrange(self) -> Layout:
        """Give every place its coordinates."""
        self._rank()
        self._lay_lines()
        down, up = self._neighbours()
        _order(self.levels, down, up)
        self._shift(down, up)
        self._stack()
        return self

    def level_bottom(self, place: Place) -> float:
        """The y below which nothing of the place's level reaches."""
        return place.y + max(other.height for other in self.levels[place.level])

    def has_arrivals(self, place: Place) -> bool:
        """Whether a line leads to this box."""
        return any(link.target == place.key for link in self.links)

    def _rank(self) -> None:
        ends = [(link.source, link.target) for link in self.links]
        for key, rank in ranks(list(self.boxes), ends).items():
            self.boxes[key].level = 2 * rank

    def _lay_lines(self) -> None:
        """Give every link a place on each level between its ends; one of them is its label."""
        members: dict[int, list[Place]] = defaultdict(list)
        for box in self.boxes.values():
            members[box.level].append(box)
        for number, link in enumerate(self.links):
            source, target = self.boxes[link.source], self.boxes[link.target]
            step = 1 if source.level < target.level else -1
            between = range(source.level + step, target.level, step)
            passing = [Place(f"{number}@{level}", level=level) for level in between]
            if link.label and passing:
                link.label.level = passing[0].level
                passing[0] = link.label
            for place in passing:
                members[place.level].append(place)
            self.routes.append((link, [source, *passing, target]))
        self.levels = [members[level] for level in range(max(members, default=-1) + 1)]

    def _neighbours(self) -> tuple[_Near, _Near]:
        """For each place, what it hangs on in the level above, and in the level below."""
        above: _Near = defaultdict(list)
        below: _Near = defaultdict(list)
        for _, route in self.routes:
            for one, other in pairwise(route):
                upper, lower = (one, other) if one.level < other.level else (other, one)
                above[lower.key].append(upper)
                below[upper.key].append(lower)
        return above, below

    def _shift(self, above: _Near, below: _Near) -> None:
        """Move the places of each level towards what they hang on, keeping order and room."""
        for level in self.levels:
            _pack(level, [0.0] * len(level))
        for sweep in range(2 * _SWEEPS):
            down = sweep % 2 == 0
            for level in self.levels if down else reversed(self.levels):
                near = above if down else below
                _pack(level, [_wanted(place, near[place.key]) for place in level])
        edge = min((p.x - p.left for level in self.levels for p in level), default=0.0)
        for place in (p for level in self.levels for p in level):
            place.x -= edge
            self.width = max(self.width, place.x + place.right)

    def _stack(self) -> None:
        y, bent = 0.0, self._bent()
        for number, level in enumerate(self.levels):
            tallest = max((place.height for place in level), default=0.0)
            for place in level:
                place.y = y
            self.height = y + tallest
            y = self.height + (_ROOM_DOWN if tallest or number in bent else 0.0)

    def _bent(self) -> set[int]:
        """The levels below which some line that passes turns aside, and needs room for that."""
        return {
            min(one.level, other.level)
            for _, route in self.routes
            for one, other in pairwise(route)
            if abs(one.x - other.x) > _ASIDE
        }


_Near = Mapping[str, list[Place]]


def ranks(keys: list[str], ends: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Rank by the longest way from above, lines that would close a circle left out.

    Args:
        keys: All boxes, the entry first.
        ends: Source and target of each line, the more important ones first.

    Returns:
        0 for the uppermost row, and so on down.
    """
    targets: dict[str, list[str]] = defaultdict(list)
    for source, target in ends:
        targets[source].append(target)
    finished: dict[str, None] = {}
    forward: list[tuple[str, str]] = []
    for key in keys:
        _visit(key, targets, finished, forward, ())
    rank = dict.fromkeys(keys, 0)
    for key in reversed(finished):
        for source, target in forward:
            if source == key:
                rank[target] = max(rank[target], rank[source] + 1)
    for key in set(targets) - {target for _, target in forward} - set(keys[:1]):
        rank[key] = min(rank[target] for target in targets[key]) - 1
    return rank


def _visit(
    key: str,
    targets: Mapping[str, list[str]],
    finished: dict[str, None],
    forward: list[tuple[str, str]],
    path: tuple[str, ...],
) -> None:
    """Go depth first; what leads back onto the path is no line downwards."""
    if key in finished:
        return
    path = (*path, key)
    for target in targets.get(key, ()):
        if target not in path:
            forward.append((key, target))
            _visit(target, targets, finished, forward, path)
    finished[key] = None


def _order(levels: list[list[Place]], above: _Near, below: _Near) -> None:
    """Sort each level by where its neighbours stand; keep the best order that was seen."""
    best, fewest = [list(level) for level in levels], _crossings(levels, below)
    for sweep in range(_SWEEPS):
        near = above if sweep % 2 == 0 else below
        for level in levels if sweep % 2 == 0 else reversed(levels):
            _sort(level, levels, near)
        crossings = _crossings(levels, below)
        if crossings < fewest:
            best, fewest = [list(level) for level in levels], crossings
    for level, order in zip(levels, best, strict=True):
        level[:] = order


def _sort(level: list[Place], levels: list[list[Place]], near: _Near) -> None:
    at = {p.key: float(i) for row in levels for i, p in enumerate(row)}
    middles = {p.key: _mean([at[n.key] for n in near[p.key]], at[p.key]) for p in level}
    level.sort(key=lambda place: middles[place.key])


def _crossings(levels: list[list[Place]], below: _Near) -> int:
    at = {p.key: i for row in levels for i, p in enumerate(row)}
    count = 0
    for level in levels:
        lines = [(at[p.key], at[n.key]) for p in level for n in below[p.key]]
        count += sum(a < c and b > d for a, b in lines for c, d in lines)
    return count


def _wanted(place: Place, near: list[Place]) -> float:
    return _mean([other.x for other in near], place.x)


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _pack(level: list[Place], wanted: list[float]) -> None:
    gaps = [one.right + _ROOM_ACROSS + other.left for one, other in pairwise(level)]
    for place, x in zip(level, spaced(wanted, gaps), strict=True):
        place.x = x


def spaced(wanted: list[float], gaps: list[float]) -> list[float]:
    """Move points as little as needed to keep their order and the gaps between them.

    Least squares under minimum distances: blocks that would overlap are merged at their mean.

    Args:
        wanted: Where each point wants to be.
        gaps: Least distance from each point to the one after it; one fewer than points.
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks: list[list[float]] = []
    for want, offset in zip(wanted, offsets, strict=False):
        blocks.append([want - offset])
        while len(blocks) > 1 and _mean(blocks[-2], 0) > _mean(blocks[-1], 0):
            last = blocks.pop()
            blocks[-1] += last
    starts = [_mean(block, 0) for block in blocks for _ in block]
    return [start + offset for start, offset in zip(starts, offsets, strict=False)]
