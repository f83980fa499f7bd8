"""Pictures of a journey: their content, without overlaps."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.drawing.layout import Layout, Link, Place, ranks, spaced
from graphs.drawing.mermaid import mermaid
from graphs.drawing.svg import svg
from graphs.drawing.terminal import text
from journeys import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
)
from journeys.examples.healthcare_referral import HealthcareReferral
from journeys.examples.parcel_refund import ParcelRefund


class Shouting(BaseTrigger):
    def evaluate(self, message, context):
        return message.isupper()


def rule(*patterns: str, to: str, source="*", priority: int = 0, description: str = ""):
    trigger = IntentTrigger(patterns=patterns, description=description)
    return Transition(trigger, from_pathway=source, to_pathway=to, priority=priority)


class Claims(Journey):
    """File a claim, from the first call to the payment, with all that can go wrong in between."""

    class IdentifyPath(Pathway):
        __agents__ = ["clerk"]
        __next__ = "incident"

    class IncidentPath(Pathway):
        __agents__ = ["listener", "classifier"]
        __next__ = "evidence"

    class EvidencePath(Pathway):
        __agents__ = ["collector"]
        __next__ = "assessment"

    class AssessmentPath(Pathway):
        __agents__ = ["damage_model", "fraud_check", "policy_lookup", "history_lookup"]
        __pipeline__ = "parallel"
        __next__ = "offer"

    class OfferPath(Pathway):
        __agents__ = ["writer"]
        __next__ = "payment"

    class PaymentPath(Pathway):
        __agents__ = ["payer"]

    class FraudReviewPath(Pathway):
        __agents__ = ["investigator"]
        __complete_when__ = NEVER

    class NegotiationPath(Pathway):
        __agents__ = ["negotiator"]
        __next__ = "offer"

    class WithdrawnPath(Pathway):
        __agents__ = ["host"]

    class LostPath(Pathway):
        __agents__ = ["nobody"]
        __next__ = "offer"

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    class CallbackPath(Pathway):
        __agents__ = ["scheduler"]
        __return_behavior__ = ReturnToSpecific("identify")

    __transitions__ = [
        Transition(
            ConditionTrigger(lambda ctx: ctx.get("score", 0) > 8, description="score is over 8"),
            from_pathway="assessment",
            to_pathway="fraud_review",
            priority=100,
        ),
        Transition(AlwaysTrigger(), from_pathway="fraud_review", to_pathway="offer"),
        Transition(Shouting(), from_pathway="offer", to_pathway="negotiation"),
        rule("too little", "not enough", source="offer", to="negotiation", priority=5),
        rule("forget it", "withdraw", source=["offer", "negotiation"], to="withdrawn"),
        rule("stop", "cancel", to="withdrawn", priority=50),
        rule("not me", "wrong person", source="incident", to="identify", priority=3),
        rule("more photos", source=["assessment", "offer"], to="evidence"),
        rule("skip ahead", source="identify", to="assessment"),
        rule("again", source="evidence", to="evidence"),
        rule("what is", "why", "how", "when", to="faq", priority=10, description="asks about it"),
        rule("call me", source=["identify", "incident", "evidence", "offer"], to="callback"),
        rule("phone", source="faq", to="callback"),
        rule("bank details", source="faq", to="payment"),
        rule("found", source="lost", to="payment"),
    ]


class Short(Journey):
    """Two steps."""

    class AskPath(Pathway):
        __agents__ = ["asker"]
        __next__ = "answer"

    class AnswerPath(Pathway):
        __agents__ = ["answerer"]


class Hostile(Journey):
    """Words & <signs> that "mean" something --> elsewhere."""

    class EndPath(Pathway):
        __agents__ = ['a<b>&"c"\'', "x;y]"]
        __next__ = "graph"

    class GraphPath(Pathway):
        __agents__ = ["日本語"]

    class ÜbergangPath(Pathway):
        __agents__ = ["b"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        rule('say "x|y"]', "<i>no</i>", "`code`", to="übergang", priority=1),
        rule("1. first", "- second", "#35; %%", source="end", to="graph"),
    ]


ALL = [Claims, Short, Hostile, HealthcareReferral, ParcelRefund]
everywhere = pytest.mark.parametrize("journey", ALL, ids=lambda journey: journey.__name__)


# ---- what is shown


def test_mermaid_shows_what_leads_where() -> None:
    lines = [line.strip() for line in mermaid(Claims.spec).splitlines()]

    assert lines[3] == "flowchart TD"
    assert "begin --> p_identify" in lines
    assert "p_identify --> p_incident" in lines
    assert 'p_assessment -->|"when score is over 8<br/>priority 100"| p_fraud_review' in lines
    assert 'p_fraud_review -->|"otherwise"| p_offer' in lines
    assert (
        'p_offer -->|"Shouting<br/>“too little”, “not enough”<br/>priority 5"| p_negotiation'
        in (lines)
    )
    assert 'any0(["any pathway"]):::crowd' in lines
    assert (
        'any0 -.->|"asks about it<br/>“what is”, “why”, “how”, …<br/>priority 10"| p_faq' in lines
    )
    assert 'any1(["identify, incident, evidence, offer"]):::crowd' in lines
    assert 'any1 -.->|"“call me”"| p_callback' in lines
    assert 'p_faq["faq<br/>librarian<br/>↩ back to where it was"]:::detour' in lines
    assert 'p_callback["callback<br/>scheduler<br/>↩ back to identify"]:::detour' in lines


def test_only_moves_that_can_happen_are_drawn() -> None:
    drawn = mermaid(Claims.spec)

    ends = re.findall(r"(\w+) --> finish", drawn)
    assert ends == ["p_payment", "p_withdrawn"]
    assert "p_lost[" in drawn
    assert "p_lost --" not in drawn
    assert "“found”" not in drawn
    assert "“found”" not in svg(Claims.spec)


def test_a_pathway_that_is_never_complete_has_no_end() -> None:
    class Endless(Journey):
        class OnlyPath(Pathway):
            __agents__ = ["host"]
            __complete_when__ = NEVER

    assert "finish" not in mermaid(Endless.spec)
    assert "◉" not in text(Endless.spec)
    assert svg(Endless.spec).count("ring") == 1  # in the style sheet


def test_mermaid_holds_no_sign_of_an_author_that_mermaid_would_read() -> None:
    drawn = mermaid(Hostile.spec)

    labels = re.findall(r'"([^"]*)"', drawn.split("flowchart")[1])
    words = [re.sub(r"<br/>|#\d+;", "", label) for label in labels]
    assert [word for word in words if re.search(r'[<>&"|\[\]`#;%]', word)] == []
    assert "#60;i#62;no#60;#47;i#62;" in drawn or "#60;i#62;no#60;/i#62;" in drawn
    assert 'p_end["end<br/>' in drawn
    assert 'p2["übergang<br/>' in drawn


def test_svg_holds_every_word_as_it_was_written() -> None:
    words = [element.text or "" for element in ET.fromstring(svg(Hostile.spec)).iter()]

    assert 'Words & <signs> that "mean" something --> elsewhere.' in words
    assert any('“say "x|y"]”, “<i>no</i>”,' in word for word in words)
    assert 'a<b>&"c"\' → x;y]' in words
    assert "übergang" in words


def test_svg_leaves_out_what_xml_cannot_hold() -> None:
    class Odd(Journey):
        class OnlyPath(Pathway):
            __agents__ = ["host"]

        __transitions__ = [rule("bell\x07\x00 and \x1b[31m", source="only", to="only")]

    assert "“bell and [31m”" in "".join(ET.fromstring(svg(Odd.spec)).itertext())


@everywhere
def test_text_fits_the_terminal_and_lines_up(journey: type[Journey]) -> None:
    for width in (40, 80, 120):
        drawn = text(journey.spec, width)
        assert max(columns(line) for line in drawn.splitlines()) <= width
        assert drawn.splitlines()[2:4] == [" ● start", " ▼"]
    boxes = re.findall(r"^[┌╭].*\n(?:[│┆] .*\n)+[└╰].*$", text(journey.spec, 200), re.M)
    assert len(boxes) == len(journey.spec.pathways)
    assert [len({columns(line) for line in box.splitlines()}) for box in boxes] == [1] * len(boxes)


def test_text_shows_chains_exits_and_detours() -> None:
    drawn = text(Claims.spec, 120)

    assert " │ ──▶ fraud_review  [100] when score is over 8" in drawn
    assert " └─▶ offer" in drawn
    assert "From any pathway\n" in drawn
    assert " ┄┄▷ faq        [10] asks about it: “what is”, “why”, “how”, …" in drawn
    assert "┆ ↩ back to identify ┆" in drawn
    assert " ──▶ payment   “bank details”" in drawn
    assert drawn.count("◉ end") == 2


@everywhere
def test_the_same_journey_is_drawn_the_same_way(journey: type[Journey]) -> None:
    for draw in (mermaid, svg, text):
        assert draw(journey.spec) == draw(journey.spec)


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


# ---- where it is shown


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture, in the picture's coordinates."""

    css: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, x: float, y: float, air: float = 1.5) -> bool:
        across = self.left + air < x < self.right - air
        return across and self.top + air < y < self.bottom - air


def elements(picture: str, tag: str) -> list[tuple[ET.Element, float, float]]:
    """Elements of a kind, with the offset of the group they are in."""
    found = []

    def walk(element: ET.Element, x: float, y: float) -> None:
        if moved := re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag.endswith("}" + tag):
            found.append((element, x, y))
        for child in element:
            walk(child, x, y)

    walk(ET.fromstring(picture), 0, 0)
    return found


def boxes(picture: str) -> list[Box]:
    rows = []
    for element, dx, dy in elements(picture, "rect"):
        x, y, wide, high = (float(element.get(k, 0)) for k in ("x", "y", "width", "height"))
        css = element.get("class", "")
        rows.append(Box(css, x + dx, y + dy, x + dx + wide, y + dy + high))
    return rows


def cards(picture: str) -> list[Box]:
    return [box for box in boxes(picture) if box.css not in ("paper", "lane")]


def lines(picture: str) -> list[list[tuple[float, float]]]:
    """The lines of the picture, each as points that are close to one another."""
    return [
        [(x + dx, y + dy) for x, y in points(element.get("d", ""))]
        for element, dx, dy in elements(picture, "path")
    ]


def points(way: str) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    x = y = 0.0
    for command, rest in re.findall(r"([MVHCh])([^MVHCh]*)", way):
        numbers = [float(number) for number in rest.split()]
        start = (x, y)
        if command in "Hh":
            x = numbers[0] + (x if command == "h" else 0)
        elif command == "V":
            y = numbers[0]
        else:
            x, y = numbers[-2:]
        if command == "C":
            found += bent(start, numbers)
        elif command != "M":
            found += [
                (start[0] + (x - start[0]) * t / 40, start[1] + (y - start[1]) * t / 40)
                for t in range(41)
            ]
    return found


def bent(start: tuple[float, float], numbers: list[float]) -> list[tuple[float, float]]:
    """Points of a cubic curve."""
    xs, ys = [start[0], *numbers[::2]], [start[1], *numbers[1::2]]
    found = []
    for t in (n / 40 for n in range(41)):
        shares = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
        x, y = (sum(s * v for s, v in zip(shares, vs, strict=True)) for vs in (xs, ys))
        found.append((x, y))
    return found


@everywhere
def test_no_box_and_no_label_lies_on_another(journey: type[Journey]) -> None:
    shown = cards(svg(journey.spec))

    assert len(shown) >= len(journey.spec.pathways)
    assert [pair for pair in combinations(shown, 2) if pair[0].overlaps(pair[1])] == []


@everywhere
def test_every_word_is_inside_its_box_and_everything_on_the_paper(journey: type[Journey]) -> None:
    picture = svg(journey.spec)
    paper = next(box for box in boxes(picture) if box.css == "paper")

    for box in boxes(picture):
        assert paper.left <= box.left <= box.right <= paper.right
        assert paper.top <= box.top <= box.bottom <= paper.bottom
    for element, dx, dy in elements(picture, "text"):
        x, y = float(element.get("x", 0)) + dx, float(element.get("y", 0)) + dy
        assert paper.holds(x, y)
        if element.get("text-anchor") == "middle":
            assert any(card.holds(x, y) for card in cards(picture))


@everywhere
def test_no_line_runs_through_a_box_or_a_label(journey: type[Journey]) -> None:
    picture = svg(journey.spec)
    drawn, shown = lines(picture), cards(picture)

    assert len(drawn) > len(journey.spec.pathways)
    assert [box for line in drawn for x, y in line for box in shown if box.holds(x, y)] == []


def test_detours_are_in_a_lane_of_their_own() -> None:
    picture = svg(Claims.spec)
    lane = next(box for box in boxes(picture) if box.css == "lane")

    inside = [box for box in cards(picture) if box.overlaps(lane)]
    assert {box.css for box in inside} == {"box detour", "pill crowd"}
    assert len([box for box in inside if box.css == "box detour"]) == 2
    assert not [box for box in boxes(svg(Short.spec)) if box.css == "lane"]


def test_a_chain_runs_downwards() -> None:
    picture = svg(Claims.spec)
    named = {
        element.text: float(element.get("y", 0)) + dy
        for element, _, dy in elements(picture, "text")
        if element.get("class") == "name"
    }

    chain = ("identify", "incident", "evidence", "assessment", "offer", "payment")
    assert all(named[upper] < named[lower] for upper, lower in pairwise(chain))


names = st.integers(0, 11).map(str)


@given(
    st.lists(st.tuples(names, names).filter(lambda ends: ends[0] != ends[1]), max_size=30),
    st.lists(st.floats(10, 300), min_size=12, max_size=12),
    st.data(),
)
def test_any_graph_is_laid_out_without_overlaps(ends, sizes, data) -> None:
    places = {str(n): Place(str(n), size, size / 3) for n, size in enumerate(sizes)}
    labelled = data.draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends)))
    links = [
        Link(one, other, label=Place(f"label {n}", 120, 30) if with_label else None)
        for n, ((one, other), with_label) in enumerate(zip(ends, labelled, strict=True))
    ]

    laid = Layout(places, links).arrange()

    shown = [
        Box(p.key, p.x - p.left, p.y, p.x + p.right, p.y + p.height)
        for level in laid.levels
        for p in level
    ]
    assert len([box for box in shown if "@" not in box.css]) == len(places) + sum(labelled)
    assert [pair for pair in combinations(shown, 2) if pair[0].overlaps(pair[1])] == []
    assert all(box.left >= -0.01 and box.right <= laid.width + 0.01 for box in shown)
    for _, route in laid.routes:
        assert all(abs(one.level - other.level) == 1 for one, other in pairwise(route))


def test_ranks_follow_the_longest_way_and_ignore_the_way_back() -> None:
    ends = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("ghost", "c")]

    assert ranks(["a", "b", "c", "ghost"], ends) == {"a": 0, "b": 1, "c": 2, "ghost": 1}


def test_points_are_moved_no_further_than_needed() -> None:
    assert spaced([0, 100], [10]) == [0, 100]
    assert spaced([5, 5], [10]) == [0, 10]
    assert spaced([], []) == []
