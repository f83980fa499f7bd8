"""Plots of a simulation as SVG: how the runs ended, and how many turns they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from journeygraph.graphs.drawing.lettering import Line, TextStyle, element, words
from journeygraph.graphs.drawing.svg import document
from journeygraph.server.simulation.runs import COMPLETED, ENDS, Run, Simulation, figures

_COLOURS: Mapping[str, str] = dict(
    zip(
        ENDS,
        ("#1f7a3d", "#8a5a12", "#b3261e", "#3b66b0", "#5b6472", "#14213d", "#7a4f9a"),
        strict=True,
    )
)
_LABEL = TextStyle("said", 11, 15)
_BAR, _STEP, _WIDTH, _TOP, _MARGIN, _TALL = 18.0, 30.0, 420.0, 64.0, 26.0, 160.0


def ends_plot(name: str, done: Simulation) -> str:
    """Return how the runs ended, one bar for each persona with each goal.

    Args:
        name: The name of the journey.
        done: The simulation.
    """
    groups = {f"{persona} · {goal}": runs for (persona, goal), runs in done.groups().items()}
    left = _MARGIN + max((Line(text, _LABEL).width for text in groups), default=0.0) + 10
    body = [_paper(width := left + _WIDTH + 60, height := _TOP + _STEP * len(groups) + 60)]
    body.append(words(f"{name}: how the runs ended", "title", _MARGIN, 36))
    for number, (text, runs) in enumerate(groups.items()):
        top = _TOP + _STEP * number
        body.append(words(text, "said", left - 10, top + 13, anchor="end"))
        body += _stacked(runs, left, top)
        share = f"{figures(runs)['completion']:.0%}"
        body.append(words(share, "what", left + _WIDTH + 8, top + 13))
    body += _key({run.end for run in done.runs}, height - 24)
    about = "; ".join(f"{text}: {_counts(runs)}" for text, runs in groups.items())
    return document(f"Simulation of {name}", about, width, height, body)


def _stacked(runs: Sequence[Run], left: float, top: float) -> Iterator[str]:
    """Yield the parts of a bar, each with its number."""
    ends = Counter(run.end for run in runs)
    for end, colour in _COLOURS.items():
        if not ends[end]:
            continue
        wide = _WIDTH * ends[end] / len(runs)
        yield _bar(left, top, wide, _BAR, colour, f"{end}: {ends[end]}")
        if wide > 14:
            at: dict[str, str | float] = {
                "x": left + wide / 2,
                "y": top + 13,
                "text-anchor": "middle",
            }
            yield element("text", {**at, "fill": "#ffffff", "font-size": "11"}, str(ends[end]))
        left += wide


def turns_plot(name: str, done: Simulation) -> str:
    """Return how many runs took how many messages; completed ones in their own colour.

    Args:
        name: The name of the journey.
        done: The simulation.
    """
    by_end = {True: Counter[int](), False: Counter[int]()}
    for run in done.runs:
        by_end[run.end == COMPLETED][run.turns] += 1
    both = by_end[True] + by_end[False]
    numbers = range(min(both, default=1), max(both, default=1) + 1)
    most, wide = max(both.values(), default=1), max(_WIDTH / len(numbers), 8.0)
    foot = _TOP + _TALL
    width, height = _MARGIN * 2 + wide * len(numbers) + 20, foot + 64
    body = [_paper(width := max(width, 380.0), height)]
    body.append(words(f"{name}: messages of a run", "title", _MARGIN, 36))
    body.append(_bar(_MARGIN, foot, wide * len(numbers), 1, "#5b6b8c", "no run"))
    each = 1 + int(22 // wide)
    for place, number in enumerate(numbers):
        x, y = _MARGIN + wide * place, foot
        for is_completed, colour in ((True, _COLOURS[COMPLETED]), (False, "#b3261e")):
            count = by_end[is_completed][number]
            tall = _TALL * count / most
            y -= tall
            if count:
                what = "completed" if is_completed else "not completed"
                hint = f"{number} messages: {count} {what}"
                body.append(_bar(x + 1, y, wide - 2, tall, colour, hint))
        if both[number]:
            body.append(words(str(both[number]), "rank", x + wide / 2, y - 4, anchor="middle"))
        if place % each == 0:
            body.append(words(str(number), "rank", x + wide / 2, foot + 14, anchor="middle"))
    shown = {"completed": _COLOURS[COMPLETED], "not completed": "#b3261e"}
    body += _legend(shown, height - 20)
    counts = ", ".join(f"{number}: {both[number]}" for number in sorted(both))
    return document(f"Simulation of {name}", f"Runs by messages: {counts}", width, height, body)


def _counts(runs: Sequence[Run]) -> str:
    ends = Counter(run.end for run in runs)
    return ", ".join(f"{ends[end]} {end}" for end in ENDS if ends[end])


def _key(ends: set[str], y: float) -> Iterator[str]:
    yield from _legend({end: colour for end, colour in _COLOURS.items() if end in ends}, y)


def _legend(shown: Mapping[str, str], y: float) -> Iterator[str]:
    x = _MARGIN
    for text, colour in shown.items():
        yield _bar(x, y - 9, 10, 10, colour, text)
        yield words(text, "key", x + 15, y)
        x += 15 + Line(text, _LABEL).width + 16


def _bar(x: float, y: float, width: float, height: float, colour: str, hint: str) -> str:
    size: dict[str, str | float] = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", {**size, "fill": colour}, element("title", {}, hint))


def _paper(width: float, height: float) -> str:
    size: dict[str, str | float] = {"x": 0, "y": 0, "width": width, "height": height, "rx": 12}
    return element("rect", {"class": "paper", **size})
