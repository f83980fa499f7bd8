"""Pictures of a journey: their content, without overlaps."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    Effect,
    Escalation,
    Field,
    Form,
    IntentTrigger,
    Journey,
    Pathway,
    Range,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
)
from journeygraph.graphs.drawing.layout import Connector, Layout, PlacedBox, ranks, spaced
from journeygraph.graphs.drawing.lettering import TextStyle
from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.graphs.drawing.pathway_map import sketch
from journeygraph.graphs.drawing.svg import STYLE, svg
from journeygraph.graphs.drawing.terminal import text
from journeygraph.journeys.examples.bank_transfer import BankTransfer
from journeygraph.journeys.examples.healthcare_referral import HealthcareReferral
from journeygraph.journeys.examples.parcel_refund import ParcelRefund
from journeygraph.journeys.examples.table_booking import TableBooking
from journeygraph.server.discover.journeys import find


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


def is_car(context):
    return context.get("kind") == "car"


class Damage(Journey):
    """Report damage: fields of every kind."""

    __escalation__ = Escalation(keywords=["lawyer"], failures=3, when_collected=True)

    class ReportPath(Pathway):
        __fields__ = Form(
            [
                Field("kind", "enum", choices=["car", "house", "other"]),
                Field("plate", when=is_car),
                Field("trailer", "boolean", when=lambda context: context["plate"] == "B"),
                Field("pin", sensitive=True, label="secret number"),
                Field("iban", confirm=True),
                Field("note", required=False),
                Field("guests", "list", items="full_name", asked=False),
                Field("amount", "money", currency="EUR", validators=[Range(1, 9)]),
            ],
            confirm_corrections=True,
        )
        __effects__ = [Effect("file_claim", change="change")]

    class ChangePath(Pathway):
        __fields__ = [Field("news", max_attempts=5)]
        __effects__ = [Effect("change_claim"), Effect("inform_partner")]
        __agents__ = ["clerk"]

    class AssessPath(Pathway):
        __agents__ = ["expert"]
        __complete_when__ = ["price", "term"]

    __transitions__ = [rule("assess", source="report", to="assess")]


class LongForm(Journey):
    """A form with forty fields."""

    class OnlyPath(Pathway):
        __fields__ = [
            Field(f"field_{n}", ("text", "date", "money")[n % 3], required=n % 4 > 0)
            for n in range(40)
        ]


class Foreign(Journey):
    """予約を受け付ける。"""

    class YoyakuPath(Pathway):
        __fields__ = [
            Field(
                "a", label="お名前をフルネームで教えてくださいませんか、よろしくお願いいたします"
            ),
            Field("b", "integer", label="عدد الضيوف (max) في المطعم"),
            Field("c", label="W" * 70),
            Field("d", label="x"),
        ]
        __effects__ = [Effect("e" * 64)]
        __agents__ = ["日本語の担当者" * 9]

    __transitions__ = [rule("何" * 60, "ما هو", source="yoyaku", to="yoyaku")]


ALL = [
    *(Claims, Short, Hostile, HealthcareReferral, ParcelRefund),
    *(BankTransfer, TableBooking, Damage, LongForm, Foreign),
    *(find(name).journey for name in ("insurance_claim", "telecom_support", "casual_agent")),
]
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
    assert [e for e, *_ in elements(svg(Endless.spec), "circle") if e.get("class") == "ring"] == []


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
    shown = (c for c in line if not unicodedata.combining(c))
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


# ---- forms, effects, calls for a person


def form_rows(picture: str) -> list[str]:
    """The lines of boxes with a sign, without frames."""
    lines = (line[1:-1].strip() for line in picture.splitlines() if line.startswith(("│", "┆")))
    return [" ".join(line.split()) for line in lines if line.startswith(tuple("●○+✓⇒☎"))]


DAMAGE = [
    "● kind car | house | other",
    "● plate text, if is car",
    "● trailer boolean, depending on plate",
    "● secret number text, sensitive",
    "● iban text",
    "○ note text",
    "○ guests list of full name, if given",
    "● amount EUR",
    "✓ reads back iban",
    "✓ confirms corrections",
    "⇒ file_claim (changed by change)",
    "☎ a person after 3 refused values",
    "● news text",
    "⇒ change_claim",
    "⇒ inform_partner",
    "☎ a person after 5 refused values",
]


def test_text_shows_what_a_pathway_collects_and_does() -> None:
    drawn = text(Damage.spec, 100)

    assert form_rows(drawn)[: len(DAMAGE)] == DAMAGE
    assert "│ until price, term" in drawn
    reasons = drawn[drawn.index("From any pathway") :].splitlines()[1:6]
    assert [line.replace("──▶ ☎ a person", "").strip() for line in reasons] == [
        "asks for a person",
        "“lawyer”",
        "too many refused values",
        "3 failures in a row",
        "all values are collected",
    ]
    assert drawn.endswith("\n● required   ○ optional   ✓ the user confirms   ⇒ effect\n")


def test_mermaid_shows_what_a_pathway_collects_and_does() -> None:
    drawn = mermaid(Damage.spec)

    box = next(line for line in drawn.splitlines() if line.strip().startswith("p_report["))
    rows = box.partition('"')[2].partition('"')[0].split("<br/>")
    assert rows[1:3] == ["● kind: car #124; house #124; other", "● plate: text, if is car"]
    assert rows[-2:] == ["⇒ file_claim (changed by change)", "☎ a person after 3 refused values"]
    assert 'person(["☎ a person"]):::person' in drawn
    assert 'any0 -.->|"asks for a person<br/>“lawyer”<br/>' in drawn


def test_svg_shows_what_a_pathway_collects_and_does() -> None:
    root = ET.fromstring(svg(Damage.spec))
    fields = {one.get("data-field"): texts(one) for one in root.iter() if one.get("data-field")}
    effects = {one.get("data-effect"): texts(one) for one in root.iter() if one.get("data-effect")}

    assert fields["report.kind"] == ["kind", "car | house | other"]
    assert fields["report.plate"] == ["plate", "text", "if is car"]
    assert fields["report.pin"] == ["secret number", "text, sensitive"]
    assert fields["report.guests"] == ["guests", "list of full name, if given"]
    assert effects["report.file_claim"] == ["file_claim", "effect", "changed by change"]
    assert {*effects} == {"report.file_claim", "change.change_claim", "change.inform_partner"}
    report = next(one for one in root.iter() if one.get("data-pathway") == "report")
    signs = [(one.get("class") or "").split() for one in report.iter()]
    assert [words[1] for words in signs if words[:1] == ["sign"]] == [
        *["required"] * 5,
        *["optional"] * 2,
        *("required", "confirms", "confirms", "effect", "person"),
    ]


def texts(element: ET.Element) -> list[str]:
    return [one.text or "" for one in element.iter() if one.tag.endswith("}text")]


def test_what_a_condition_of_a_file_says_is_shown() -> None:
    spec = find("healthcare_referral").journey.spec

    assert "● referral yes | no, if may need referral" in form_rows(text(spec, 120))
    assert "● phone phone, depending on insurance number" in form_rows(text(spec, 120))


def test_a_long_form_is_cut_unless_all_of_it_is_wanted() -> None:
    shown = {draw: draw(LongForm.spec) for draw in (svg, mermaid, text)}
    full = {draw: draw(LongForm.spec, full=True) for draw in (svg, mermaid, text)}

    for draw, drawn in shown.items():
        assert "+ 32 more" in drawn
        assert "field 7" in drawn
        assert "field 8" not in drawn
        assert "more" not in full[draw]
        assert "field 39" in full[draw]


def test_one_field_too_many_is_shown_in_the_place_of_a_number() -> None:
    class Nine(Journey):
        class OnlyPath(Pathway):
            __fields__ = [Field(f"field_{n}") for n in range(9)]

    assert "more" not in text(Nine.spec)


def test_a_map_of_many_pathways_shows_fewer_fields_of_each() -> None:
    body = {
        f"Step{n}Path": type(
            f"Step{n}Path",
            (Pathway,),
            {"__fields__": [Field(f"f{n}_{k}") for k in range(6)], "__next__": f"step{n + 1}"}
            if n < 199
            else {"__agents__": ["last"]},
        )
        for n in range(200)
    }
    Huge: Any = type("Huge", (Journey,), {"__doc__": "Many.", **body})

    root = ET.fromstring(svg(Huge.spec))

    fields = [one for one in root.iter() if one.get("data-field")]
    assert len(fields) == 199 * 3
    assert text(Huge.spec).count("+ 3 more") == 199


def test_a_person_is_drawn_only_if_one_can_be_called() -> None:
    class Quiet(Journey):
        __escalation__ = Escalation(attempts_exhausted=False, on_request=False, keywords=["fire"])

        class OnlyPath(Pathway):
            __fields__ = [Field("a")]

    for draw in (svg, mermaid, text):
        drawn = draw(Quiet.spec)
        assert "“fire”" in drawn
        assert "asks for a person" not in drawn
        assert "refused" not in drawn
        assert "a person" not in draw(LongForm.spec)


# ---- marks for programs and names for readers


@everywhere
def test_svg_marks_each_part_once(journey: type[Journey]) -> None:
    drawn = sketch(journey.spec, full=True)
    root = ET.fromstring(svg(journey.spec, full=True))

    def marked(name: str, css: str) -> list[str]:
        found = (e for e in root.iter() if e.get("class") == css)
        return sorted(mark for e in found if (mark := e.get(name)))

    stops = drawn.stops.values()
    assert marked("data-pathway", "pathway") == sorted(journey.spec.pathways)
    assert marked("data-edge", "edge") == sorted(move.ends_at for move in drawn.moves)
    assert marked("data-edge", "label") == sorted(m.ends_at for m in drawn.moves if m.labels)
    fields = [f"{s.id}.{f.name}" for s in stops for f in s.fields]
    assert marked("data-field", "field") == sorted(fields)
    assert marked("data-effect", "effect") == sorted(
        f"{s.id}.{e.tool}" for s in stops for e in s.effects
    )
    assert marked("data-end", "edge") == sorted(stop.id for stop in stops if stop.ends)
    assert len(marked("data-handover", "handover")) == len(drawn.handovers)


def test_an_edge_has_the_names_of_the_audit() -> None:
    root = ET.fromstring(svg(Claims.spec))
    triggers = {
        (label.get("data-edge"), one.get("data-trigger"))
        for label in root.iter()
        if label.get("class") == "label"
        for one in label
        if one.get("data-trigger")
    }

    assert ("offer negotiation", "too little") in triggers
    assert ("offer negotiation", "Shouting") in triggers
    assert ("* faq", "what is") in triggers
    assert ("identify,incident,evidence,offer callback", "call me") in triggers
    names = {transition.label for transition in Claims.spec.transitions}
    assert {trigger for _, trigger in triggers} == names - {"found"}


@everywhere
def test_each_box_and_edge_has_a_name_for_readers_who_cannot_see_it(journey) -> None:
    root = ET.fromstring(svg(journey.spec))
    title, named = "{http://www.w3.org/2000/svg}title", 0

    assert root.find(title) is not None
    for one in root.iter():
        if one.get("role") == "img":
            name = one.find(title)
            assert name is not None
            assert name.text
            named += 1
        if pathway := one.get("data-pathway"):
            assert f"way {pathway}." in f"{one.findtext(title)}".replace("Detour", "Pathway")
    assert named >= len(journey.spec.pathways) + len(sketch(journey.spec).moves)


def test_the_name_of_a_box_has_all_that_it_shows() -> None:
    root = ET.fromstring(svg(Damage.spec))
    box = next(one for one in root.iter() if one.get("data-pathway") == "report")

    assert box.findtext("{http://www.w3.org/2000/svg}title") == (
        "Pathway report. Collects: kind (car | house | other), plate (text, only if is car), "
        "trailer (boolean, only depending on plate), secret number (text, sensitive), "
        "iban (text, read back), note (text, optional), "
        "guests (list of full name, if given), amount (EUR). "
        "Confirmed by the user: reads back iban, confirms corrections. "
        "Effects: file_claim (changed by change). Calls a person: after 3 refused values. "
        "Then: end."
    )


@everywhere
def test_colours_are_rules_that_a_page_can_replace(journey: type[Journey]) -> None:
    picture = svg(journey.spec)
    root = ET.fromstring(picture)

    assert {e.get(name) for e in root.iter() for name in ("style", "fill", "stroke")} == {None}
    for rule in re.findall(r"(?m)^([^{}@\n]+) \{", STYLE):
        assert all(one.strip().startswith(".drawing ") for one in rule.split(",")), rule
    assert root.get("class") == "drawing"


def test_a_dark_ground_has_colours_for_all_that_a_light_one_has() -> None:
    light, _, dark = STYLE.partition("@media (prefers-color-scheme: dark)")

    def coloured(rules: str) -> dict[str, str]:
        return dict(re.findall(r"(?m)^([^{}@\n]+) \{ ([^}]*#[^}]*)\}", rules))

    assert coloured(light).keys() == coloured(dark).keys()
    assert [name for name, rule in coloured(light).items() if coloured(dark)[name] == rule] == []


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

    def encloses(self, other: Box) -> bool:
        across = self.left <= other.left <= other.right <= self.right
        return across and self.top <= other.top <= other.bottom <= self.bottom

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
    around = ("paper", "lane", "area")
    return [box for box in boxes(picture) if box.css.split()[0] not in around]


def written(picture: str) -> list[Box]:
    """The extents of the words, at the widths that are allowed for."""
    rows = []
    sizes = dict(re.findall(r"(?m)\.([\w-]+) \{[^}]*font-size: ([\d.]+)px", SHEET))
    for element, dx, dy in elements(picture, "text"):
        css, words = element.get("class", ""), element.text or ""
        x, y = float(element.get("x", 0)) + dx, float(element.get("y", 0)) + dy
        size = float(sizes[css.split()[0]])
        bold = css.split()[0] in ("title", "lane-title", "name", "what", "where")
        wide = TextStyle(css, size, size, bold=bold).width(words)
        side = element.get("text-anchor", "")
        if element.get("direction") == "rtl":
            side = {"start": "end", "end": "start"}.get(side, side)
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[side]
        rows.append(Box(css, left, y - 0.8 * size, left + wide, y + 0.2 * size))
    return rows


SHEET = re.sub(
    r"(?m)^((?:\.drawing \S+,? ?)+)(\{.*)$",
    lambda rule: "\n".join(f".{name} {rule[2]}" for name in re.findall(r"g \.([^\s,]+)", rule[1])),
    STYLE,
)
"""The rules of a drawing, one class in each."""


def lines(picture: str) -> list[list[tuple[float, float]]]:
    """The lines of the picture, each as points that are close to one another."""
    return [
        [(x + dx, y + dy) for x, y in points(element.get("d", ""))]
        for element, dx, dy in elements(picture, "path")
        if element.get("class", "").startswith("line")
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
    for word in written(picture):
        assert paper.left < word.left <= word.right < paper.right
        assert paper.holds(word.left + 2, word.bottom)
        if not word.css.startswith(("title", "purpose", "key", "lane-title")):
            assert any(card.encloses(word) for card in cards(picture)), word


@everywhere
def test_no_line_runs_through_a_box_or_a_label(journey: type[Journey]) -> None:
    picture = svg(journey.spec)
    drawn, shown = lines(picture), cards(picture)

    assert len(drawn) > len(journey.spec.pathways)
    assert [box for line in drawn for x, y in line for box in shown if box.holds(x, y)] == []


labels = st.text(min_size=1, max_size=60).filter(str.strip)
shapes = st.lists(
    st.tuples(
        st.lists(st.tuples(labels, st.booleans(), st.booleans()), max_size=12),
        st.integers(0, 3),
        st.sampled_from(["next", "back", "none"]),
    ),
    min_size=1,
    max_size=5,
)


@given(shapes, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), labels), max_size=6))
def test_any_journey_is_drawn_without_overlaps(shape, moves) -> None:
    journey = made(shape, moves)

    picture = svg(journey.spec)

    shown = cards(picture)
    assert [pair for pair in combinations(shown, 2) if pair[0].overlaps(pair[1])] == []
    for word in written(picture):
        if not word.css.startswith(("title", "purpose", "key", "lane-title")):
            assert any(card.encloses(word) for card in shown), word
    words = [word for word in written(picture) if word.right - word.left > 1]
    assert [pair for pair in combinations(words, 2) if pair[0].overlaps(pair[1])] == []
    for width in (40, 80):
        assert max(columns(line) for line in text(journey.spec, width).splitlines()) <= width
    assert "flowchart TD" in mermaid(journey.spec)


def made(shape, moves) -> type[Journey]:
    """A journey of a shape: of each pathway its fields, the number of its effects, its end."""
    body: dict[str, Any] = {}
    for n, (fields, effects, ends) in enumerate(shape):
        inside: dict[str, Any] = {
            "__agents__": ["clerk"],
            "__effects__": [Effect(f"do_{n}_{k}") for k in range(effects)],
        }
        if ends == "next" and n + 1 < len(shape) and shape[n + 1][2] != "back":
            inside["__next__"] = f"step{n + 1}"
        elif ends == "back" and n:
            inside["__return_behavior__"] = ReturnToPrevious()
        if fields:
            inside["__fields__"] = [
                Field(f"f{n}_{k}", label=label, required=required, sensitive=sensitive)
                for k, (label, required, sensitive) in enumerate(fields)
            ]
        body[f"Step{n}Path"] = type(f"Step{n}Path", (Pathway,), inside)
    body["__transitions__"] = [
        rule(word, source=f"step{a % len(shape)}", to=f"step{b % len(shape)}")
        for a, b, word in moves
    ]
    return type("Made", (Journey,), {"__doc__": "Made up.", **body})


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
    places = {str(n): PlacedBox(str(n), size, size / 3) for n, size in enumerate(sizes)}
    labelled = data.draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends)))
    links = [
        Connector(one, other, label=PlacedBox(f"label {n}", 120, 30) if with_label else None)
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
