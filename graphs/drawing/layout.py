"""Lay out nodes in ranks, and draw the lines between them."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from journeygraph.graphs.drawing.lettering import Card, element, title

_ROOM_ACROSS = 26.0
_ROOM_DOWN = 30.0
_SWEEPS = 12
_LINE = 4.0
_ASIDE = 24.0


@dataclass
class PlacedBox:
    """A box with a size; `x`, `y` is the middle of its upper edge.

    Attributes:
        width: Its width in pixels.
        height: Its height in pixels.
        beside: Free space on its right, for a loop and its label.
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
        """Its extent to the left of `x`."""
        return self.width / 2

    @property
    def right(self) -> float:
        """Its extent to the right of `x`."""
        return self.width / 2 + self.beside


@dataclass(frozen=True)
class Connector:
    """A line from one box to another, through its label's place if it has one.

    Attributes:
        about: Its name for readers who cannot see it.
    """

    source: str
    target: str
    css: str = ""
    label: PlacedBox | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


@dataclass
class Layout:
    """Layout of boxes and links: computes coordinates.

    Attributes:
        links: The lines between them; loops are not among them.
        routes: For each link, the places it runs through in the direction of its arrow.
    """

    boxes: dict[str, PlacedBox]
    links: list[Connector]
    width: float = 0.0
    height: float = 0.0
    routes: list[tuple[Connector, list[PlacedBox]]] = field(default_factory=list)
    levels: list[list[PlacedBox]] = field(default_factory=list)

    def arrange(self) -> Layout:
        """Give every place its coordinates."""
        self._rank()
        self._lay_lines()
        down, up = self._neighbours()
        _order(self.levels, down, up)
        self._shift(down, up)
        self._stack()
        return self

    def level_bottom(self, place: PlacedBox) -> float:
        """Return the lower edge of the place's level."""
        return place.y + max(other.height for other in self.levels[place.level])

    def has_arrivals(self, place: PlacedBox) -> bool:
        """Return whether a line leads to this box."""
        return any(link.target == place.key for link in self.links)

    def _rank(self) -> None:
        ends = [(link.source, link.target) for link in self.links]
        for key, rank in ranks(list(self.boxes), ends).items():
            self.boxes[key].level = 2 * rank

    def _lay_lines(self) -> None:
        """Give every link a place on each level between its ends; one of them is its label."""
        members: dict[int, list[PlacedBox]] = defaultdict(list)
        for box in self.boxes.values():
            members[box.level].append(box)
        for number, link in enumerate(self.links):
            source, target = self.boxes[link.source], self.boxes[link.target]
            step = 1 if source.level < target.level else -1
            between = range(source.level + step, target.level, step)
            passing = [PlacedBox(f"{number}@{level}", level=level) for level in between]
            if link.label and passing:
                link.label.level = passing[0].level
                passing[0] = link.label
            for place in passing:
                members[place.level].append(place)
            self.routes.append((link, [source, *passing, target]))
        self.levels = [members[level] for level in range(max(members, default=-1) + 1)]

    def _neighbours(self) -> tuple[_Near, _Near]:
        above: _Near = defaultdict(list)
        below: _Near = defaultdict(list)
        for _, route in self.routes:
            for one, other in pairwise(route):
                upper, lower = (one, other) if one.level < other.level else (other, one)
                above[lower.key].append(upper)
                below[upper.key].append(lower)
        return above, below

    def _shift(self, above: _Near, below: _Near) -> None:
        """Move the places of each level towards their neighbours, keeping order and gaps."""
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
        """Return the levels below which a line that passes turns aside, and needs room."""
        return {
            min(one.level, other.level)
            for _, route in self.routes
            for one, other in pairwise(route)
            if abs(one.x - other.x) > _ASIDE
        }


_Near = Mapping[str, list[PlacedBox]]


def ranks(keys: list[str], ends: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Rank by the longest path from the top, without edges that close a cycle.

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
    if key in finished:
        return
    path = (*path, key)
    for target in targets.get(key, ()):
        if target not in path:
            forward.append((key, target))
            _visit(target, targets, finished, forward, path)
    finished[key] = None


def _order(levels: list[list[PlacedBox]], above: _Near, below: _Near) -> None:
    at = dict(place for level in levels for place in _numbered(level))
    best, fewest = [list(level) for level in levels], _crossings(levels, at, below)
    for sweep in range(_SWEEPS):
        near = above if sweep % 2 == 0 else below
        for level in levels if sweep % 2 == 0 else reversed(levels):
            _sort(level, at, near)
        crossings = _crossings(levels, at, below)
        if crossings < fewest:
            best, fewest = [list(level) for level in levels], crossings
    for level, order in zip(levels, best, strict=True):
        level[:] = order


def _sort(level: list[PlacedBox], at: dict[str, float], near: _Near) -> None:
    middles = {p.key: _mean([at[n.key] for n in near[p.key]], at[p.key]) for p in level}
    level.sort(key=lambda place: middles[place.key])
    at.update(_numbered(level))


def _numbered(level: list[PlacedBox]) -> Iterator[tuple[str, float]]:
    return ((place.key, float(number)) for number, place in enumerate(level))


def _crossings(levels: list[list[PlacedBox]], at: Mapping[str, float], below: _Near) -> int:
    count = 0
    for level in levels:
        lines = sorted((at[p.key], at[n.key]) for p in level for n in below[p.key])
        ends: list[float] = []
        for _, end in lines:
            count += len(ends) - bisect_right(ends, end)
            insort(ends, end)
    return count


def _wanted(place: PlacedBox, near: list[PlacedBox]) -> float:
    return _mean([other.x for other in near], place.x)


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _pack(level: list[PlacedBox], wanted: list[float]) -> None:
    gaps = [one.right + _ROOM_ACROSS + other.left for one, other in pairwise(level)]
    for place, x in zip(level, spaced(wanted, gaps), strict=True):
        place.x = x


def spaced(wanted: list[float], gaps: list[float]) -> list[float]:
    """Move points as little as needed to keep their order and the gaps between them.

    Least squares under minimum distances: blocks that would overlap are merged at their mean.

    Args:
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


_DOT = 16.0
_LOOP = 30.0
_CORNER = 18.0
_ARROW = 8.0
_APART = 18.0


class Arrangement:
    """One arrangement of cards: add them, link them, arrange, draw."""

    def __init__(self) -> None:
        """Create an empty arrangement."""
        self._layout = Layout({}, [])
        self._cards: dict[str, Card] = {}
        self._loops: dict[str, Card] = {}

    @property
    def width(self) -> float:
        """Pixels across, once arranged."""
        return self._layout.width

    @property
    def height(self) -> float:
        """Pixels down, once arranged."""
        return self._layout.height

    def mark(self, key: str) -> None:
        """Add a round mark, for the start or an end."""
        self._layout.boxes[key] = PlacedBox(key, _DOT, _DOT)

    def add(self, key: str, card: Card) -> None:
        """Add a card as a box."""
        self._cards[key] = card
        self._layout.boxes[key] = PlacedBox(key, card.width, card.height)

    def link(
        self,
        source: str,
        target: str,
        css: str = "",
        card: Card | None = None,
        attributes: Mapping[str, str] | None = None,
        about: str = "",
    ) -> None:
        """Add a line from one box to another, through a card if it has a label."""
        place = None
        if card:
            place = PlacedBox(f"{source} to {target}", card.width, card.height)
            self._cards[place.key] = card
        self._layout.links.append(Connector(source, target, css, place, attributes or {}, about))

    def loop(self, key: str, card: Card) -> None:
        """Add a loop and its label on the right of a box."""
        box = self._layout.boxes[key]
        box.beside = _LOOP + card.width
        box.height = max(box.height, card.height)
        self._loops[key] = card

    def arranged(self) -> Arrangement:
        """Give everything its coordinates; a box is as wide as the lines at it need."""
        for key in self._cards.keys() & self._layout.boxes.keys():
            leaving = sum(link.source == key for link in self._layout.links)
            arriving = sum(link.target == key for link in self._layout.links)
            box = self._layout.boxes[key]
            box.width = max(box.width, 2 * _CORNER + max(leaving, arriving) * _APART)
        self._layout.arrange()
        return self

    def drawn(self, x: float, y: float) -> str:
        """Draw everything with the upper left corner at x, y."""
        places = [place for level in self._layout.levels for place in level]
        ports = _ports(self._layout.routes)
        lines = zip(self._layout.routes, ports, strict=True)
        body = [self._line(link, route, ends) for (link, route), ends in lines]
        body += [self._thing(place) for place in places]
        body += [self._loop(self._layout.boxes[key], card) for key, card in self._loops.items()]
        return element("g", {"transform": f"translate({x:.1f} {y:.1f})"}, body)

    def _thing(self, place: PlacedBox) -> str:
        if card := self._cards.get(place.key):
            return card.drawn(place.x, place.y, place.width, place.height)
        return _dot(place, ends=self._layout.has_arrivals(place)) if place.height else ""

    def _loop(self, box: PlacedBox, card: Card) -> str:
        edge, middle = box.x + box.left, box.y + box.height / 2
        out, back, end = middle - 7, middle + 7, edge + _LOOP
        line = [
            _path(f"M{edge:.1f} {out:.1f}H{end:.1f}M{end:.1f} {back:.1f}H{edge + 6:.1f}", ""),
            _head(edge, back, (1, 0), ""),
        ]
        marks = {name: mark for name, mark in card.attributes.items() if name.startswith("data-")}
        drawn = element("g", {"class": "edge", **marks}, line)
        return drawn + "\n" + card.drawn(end + card.width / 2, middle - card.height / 2)

    def _line(self, link: Connector, route: list[PlacedBox], ends: list[float]) -> str:
        last = len(route) - 2
        pieces = [
            self._step(
                one,
                other,
                leave=ends[0] if number == 0 else _over(one, other),
                arrive=ends[1] if number == last else _over(other, one),
            )
            for number, (one, other) in enumerate(pairwise(route))
        ]
        target, down = route[-1], route[-2].level < route[-1].level
        tip = target.y if down else target.y + target.height
        arrow = _head(ends[1], tip, (0, -1 if down else 1), link.css)
        line = [title(link.about), _path("".join(pieces), link.css), arrow]
        return element("g", link.attributes, line) if link.attributes else "\n".join(line[1:])

    def _step(self, one: PlacedBox, other: PlacedBox, *, leave: float, arrive: float) -> str:
        if one.level < other.level:
            start, bend = one.y + one.height, self._layout.level_bottom(one)
            unbent, end = other.y, other.y
        else:
            start, bend = one.y, one.y
            unbent, end = self._layout.level_bottom(other), other.y + other.height
        half = (bend + unbent) / 2
        return (
            f"M{leave:.1f} {start:.1f}V{bend:.1f}"
            f"C{leave:.1f} {half:.1f} {arrive:.1f} {half:.1f} {arrive:.1f} {unbent:.1f}V{end:.1f}"
        )


def _over(place: PlacedBox, other: PlacedBox) -> float:
    """Return the best end of a line at a place: straight over the other end, or a near corner."""
    reach = max(place.left - _CORNER, 0.0)
    return min(max(other.x, place.x - reach), place.x + reach)


def _ports(routes: list[tuple[Connector, list[PlacedBox]]]) -> list[list[float]]:
    """Return the ends of each route at its first and last box, none on top of another."""
    ports = [[0.0, 0.0] for _ in routes]
    sides: dict[tuple[str, bool], list[tuple[float, int, int, PlacedBox, PlacedBox]]] = defaultdict(
        list
    )
    for number, (_, route) in enumerate(routes):
        for end, box, other in ((0, route[0], route[1]), (1, route[-1], route[-2])):
            side = (box.key, other.level > box.level)
            sides[side].append((other.x, number, end, box, other))
    for lines in sides.values():
        lines.sort(key=lambda line: line[:3])
        xs = _along(lines[0][3], [line[4] for line in lines])
        for x, (_, number, end, *_) in zip(xs, lines, strict=True):
            ports[number][end] = x
    return ports


def _along(box: PlacedBox, others: list[PlacedBox]) -> list[float]:
    """Spread the lines to others, sorted from left to right, along one side of a box."""
    reach = max(box.left - _CORNER, 0.0)
    last = len(others) - 1
    gap = min(_APART, 2 * reach / max(last, 1))
    wanted = spaced([_over(box, other) for other in others], [gap] * last)
    low, high = box.x - reach, box.x + reach
    return [
        max(min(x, high - gap * (last - number)), low + gap * number)
        for number, x in enumerate(wanted)
    ]


def _path(way: str, css: str) -> str:
    return element("path", {"class": f"line {css}".strip(), "d": way})


def _head(x: float, y: float, back: tuple[int, int], css: str) -> str:
    """Return an arrow head with its tip at x, y; `back` points away from the tip."""
    across, down = back
    base_x, base_y = x + across * _ARROW, y + down * _ARROW
    side_x, side_y = down * _ARROW / 2, across * _ARROW / 2
    corners = (x, y, base_x + side_x, base_y + side_y, base_x - side_x, base_y - side_y)
    points = " ".join(f"{corner:.1f}" for corner in corners)
    return element("polygon", {"class": f"head {css}".strip(), "points": points})


def _dot(place: PlacedBox, *, ends: bool) -> str:
    x, y, radius = place.x, place.y + _DOT / 2, _DOT / 2
    inner = element("circle", {"class": "mark", "cx": x, "cy": y, "r": radius - 3.5 * ends})
    ring = element("circle", {"class": "ring", "cx": x, "cy": y, "r": radius}) if ends else ""
    return ring + inner
