"""Cards on their places and the lines between them, as SVG."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from graphs.drawing.layout import Layout, Link, Place, spaced
from graphs.drawing.lettering import Card, element

_DOT = 16.0
_LOOP = 30.0
_CORNER = 18.0
_ARROW = 8.0
_APART = 18.0


class Part:
    """One arrangement of cards: add them, link them, arrange, draw."""

    def __init__(self) -> None:
        """Begin with nothing in it."""
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
        self._layout.boxes[key] = Place(key, _DOT, _DOT)

    def add(self, key: str, card: Card) -> None:
        """Add a card as a box."""
        self._cards[key] = card
        self._layout.boxes[key] = Place(key, card.width, card.height)

    def link(self, source: str, target: str, css: str = "", card: Card | None = None) -> None:
        """Lead a line from one box to another, through a card if it has a label."""
        place = None
        if card:
            place = Place(f"{source} to {target}", card.width, card.height)
            self._cards[place.key] = card
        self._layout.links.append(Link(source, target, css, place))

    def loop(self, key: str, card: Card) -> None:
        """Hang a loop and its label on the right of a box."""
        box = self._layout.boxes[key]
        box.beside = _LOOP + card.width
        box.height = max(box.height, card.height)
        self._loops[key] = card

    def arranged(self) -> Part:
        """Give everything its coordinates; a box is as wide as the lines at it need."""
        for key in self._cards.keys() & self._layout.boxes.keys():
            leaving = sum(link.source == key for link in self._layout.links)
            arriving = sum(link.target == key for link in self._layout.links)
            box = self._layout.boxes[key]
            box.width = max(box.width, 2 * _CORNER + max(leaving, arriving) * _APART)
        self._layout.arrange()
        return self

    def drawn(self, x: float, y: float) -> str:
        """Draw all of it with the upper left corner at x, y."""
        places = [place for level in self._layout.levels for place in level]
        ports = _ports(self._layout.routes)
        lines = zip(self._layout.routes, ports, strict=True)
        body = [self._line(link, route, ends) for (link, route), ends in lines]
        body += [self._thing(place) for place in places]
        body += [self._loop(self._layout.boxes[key], card) for key, card in self._loops.items()]
        return element("g", {"transform": f"translate({x:.1f} {y:.1f})"}, body)

    def _thing(self, place: Place) -> str:
        if card := self._cards.get(place.key):
            return card.drawn(place.x, place.y, place.width, place.height)
        return _dot(place, ends=self._layout.has_arrivals(place)) if place.height else ""

    def _loop(self, box: Place, card: Card) -> str:
        edge, middle = box.x + box.left, box.y + box.height / 2
        out, back, end = middle - 7, middle + 7, edge + _LOOP
        return "\n".join(
            [
                _path(f"M{edge:.1f} {out:.1f}H{end:.1f}M{end:.1f} {back:.1f}H{edge + 6:.1f}", ""),
                _head(edge, back, (1, 0), ""),
                card.drawn(end + card.width / 2, middle - card.height / 2),
            ]
        )

    def _line(self, link: Link, route: list[Place], ends: list[float]) -> str:
        """The way from box to box, and the arrow head at its end."""
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
        return _path("".join(pieces), link.css) + "\n" + arrow

    def _step(self, one: Place, other: Place, *, leave: float, arrive: float) -> str:
        """From one level to the next: straight out of its own, a bend in the gap, straight on."""
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


def _over(place: Place, other: Place) -> float:
    """Where a line best meets a place: straight over the other end, or at the corner near it."""
    reach = max(place.left - _CORNER, 0.0)
    return min(max(other.x, place.x - reach), place.x + reach)


def _ports(routes: list[tuple[Link, list[Place]]]) -> list[list[float]]:
    """Where each route leaves its first box and meets its last, none on top of another."""
    ports = [[0.0, 0.0] for _ in routes]
    sides: dict[tuple[str, bool], list[tuple[float, int, int, Place, Place]]] = defaultdict(list)
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


def _along(box: Place, others: list[Place]) -> list[float]:
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
    """An arrow head with its tip at x, y; `back` points away from the tip."""
    across, down = back
    base_x, base_y = x + across * _ARROW, y + down * _ARROW
    side_x, side_y = down * _ARROW / 2, across * _ARROW / 2
    corners = (x, y, base_x + side_x, base_y + side_y, base_x - side_x, base_y - side_y)
    points = " ".join(f"{corner:.1f}" for corner in corners)
    return element("polygon", {"class": f"head {css}".strip(), "points": points})


def _dot(place: Place, *, ends: bool) -> str:
    x, y, radius = place.x, place.y + _DOT / 2, _DOT / 2
    inner = element("circle", {"class": "mark", "cx": x, "cy": y, "r": radius - 3.5 * ends})
    ring = element("circle", {"class": "ring", "cx": x, "cy": y, "r": radius}) if ends else ""
    return ring + inner
