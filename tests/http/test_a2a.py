"""Agent cards go out as A2A's and come back, and foreign ones come in."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from a2a import types
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import MessageToDict, MessageToJson, Parse
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import Agent, AgentCard, ConfigurationError, Pipeline, Skill
from journeygraph.graphs.a2a import from_a2a, to_a2a

URL = "https://agents.example.org/billing"

BILLING = AgentCard(
    "billing",
    "Explains bills.",
    [
        Skill("refunds", "Pays money back.", ["I paid twice"], ["reimbursement", "money back"]),
        Skill("Über-Rechnungen", examples=["Was ist das?", "Und das?"]),
        Skill("refunds"),
    ],
    ("text/plain", "application/pdf"),
    ("application/json",),
)


@pytest.mark.parametrize(
    "card",
    [BILLING, AgentCard("alone"), AgentCard("told", "What for."), AgentCard("x", "x y")],
    ids=lambda card: card.name,
)
def test_a_card_goes_out_valid_and_comes_back_the_same(card: AgentCard) -> None:
    sent = to_a2a(card, URL)
    validate_proto_required_fields(sent)
    assert from_a2a(sent) == card
    # as it goes over the wire
    text = MessageToJson(sent)
    assert from_a2a(Parse(text, types.AgentCard())) == card
    assert from_a2a(json.loads(text)) == card


def test_a_card_says_where_and_in_which_version_the_agent_is_served() -> None:
    sent = to_a2a(BILLING, URL, "2.1.0")
    assert sent.version == "2.1.0"
    (served,) = sent.supported_interfaces
    assert (served.url, served.protocol_binding, served.protocol_version) == (URL, "JSONRPC", "1.0")
    assert [skill.id for skill in sent.skills] == ["refunds", "über-rechnungen", "refunds-2"]
    assert list(sent.skills[0].tags) == ["reimbursement", "money back"]


def answer(given: dict[str, Any]) -> str:
    """Answer questions.

    At length.
    """
    return ""


@pytest.mark.parametrize(
    ("agent", "name", "description"),
    [
        (answer, "answer", "Answer questions."),
        (Agent(answer, name="clerk", skills=BILLING.skills), "clerk", "Answer questions."),
        (Pipeline.parallel([answer]).with_name("all", "Asks all."), "all", "Asks all."),
        (Pipeline.parallel([answer]).to_agent("one", "Asks one."), "one", "Asks one."),
    ],
    ids=["function", "agent", "pipeline", "pipeline as an agent"],
)
def test_whatever_can_stand_in_a_pipeline_has_a_card(
    agent: Any, name: str, description: str
) -> None:
    sent = to_a2a(agent, URL)
    validate_proto_required_fields(sent)
    assert (sent.name, sent.description) == (name, description)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)
SKILLS = st.builds(
    Skill,
    TEXT,
    st.one_of(st.just(""), TEXT),
    st.lists(TEXT, max_size=3),
    st.lists(TEXT, max_size=3),
)
MODES = st.lists(TEXT, min_size=1, max_size=3, unique=True)
CARDS = st.builds(
    AgentCard, TEXT, st.one_of(st.just(""), TEXT), st.lists(SKILLS, max_size=4), MODES, MODES
)


def says_nothing_twice(card: AgentCard) -> bool:
    """Return whether an empty value of a card becomes an empty value of A2A."""
    described = [(card.name, card.description), *((s.name, s.description) for s in card.skills)]
    return (
        all(name != description for name, description in described)
        and all(list(skill.synonyms) != [skill.name] for skill in card.skills)
        and card.skills != (Skill(card.name, card.description),)
    )


@given(CARDS)
def test_every_card_comes_back(card: AgentCard) -> None:
    sent = to_a2a(card, URL)
    validate_proto_required_fields(sent)
    back = from_a2a(sent)
    assert from_a2a(to_a2a(back, URL)) == back
    if says_nothing_twice(card):
        assert back == card
    assert (back.name, back.input_modes, back.output_modes) == (
        card.name,
        card.input_modes,
        card.output_modes,
    )


def foreign() -> types.AgentCard:
    return types.AgentCard(
        name="GeoSpatial: Route/Planner",
        description="Plans routes.",
        version="1.2.0",
        icon_url="https://example.org/icon.png",
        provider=types.AgentProvider(organization="Example", url="https://example.org"),
        capabilities=types.AgentCapabilities(streaming=True),
        security_schemes={
            "key": types.SecurityScheme(
                api_key_security_scheme=types.APIKeySecurityScheme(name="k", location="header")
            )
        },
        supported_interfaces=[types.AgentInterface(url=URL, protocol_binding="GRPC")],
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["text/html"],
        skills=[
            types.AgentSkill(
                id="route",
                name="Route Optimizer",
                description="Finds the best way.",
                tags=["maps", "routing"],
                examples=["From A to B"],
                input_modes=["text/plain", "image/png"],
                output_modes=["application/geo+json"],
            ),
            types.AgentSkill(id="map"),
        ],
    )


def test_a_foreign_card_keeps_all_that_ours_can_hold() -> None:
    expected = AgentCard(
        "GeoSpatial: Route/Planner",
        "Plans routes.",
        [
            Skill("Route Optimizer", "Finds the best way.", ["From A to B"], ["maps", "routing"]),
            Skill("map"),
        ],
        ("application/json", "text/plain", "image/png"),
        ("text/html", "application/geo+json"),
    )
    assert from_a2a(foreign()) == expected
    assert from_a2a(MessageToDict(foreign())) == expected
    assert from_a2a(MessageToDict(foreign(), preserving_proto_field_name=True)) == expected


def test_a_card_of_a2a_0_3_comes_in() -> None:
    old = {
        "protocolVersion": "0.3.0",
        "name": "Old",
        "description": "Was here before.",
        "url": URL,
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True, "stateTransitionHistory": True},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "a", "name": "A", "description": "Does a.", "tags": ["b"]}],
        "supportsAuthenticatedExtendedCard": True,
        "somethingNew": {"of": ["the", "future"]},
    }
    before = json.dumps(old)
    expected = AgentCard("Old", "Was here before.", [Skill("A", "Does a.", (), ["b"])])
    assert from_a2a(old) == expected
    assert json.dumps(old) == before


@pytest.mark.parametrize(
    ("card", "told"),
    [
        (types.AgentCard(description="No name."), "no `name`"),
        (types.AgentCard(name="  "), "no `name`"),
        ({}, "no `name`"),
        (types.AgentCard(name="n", skills=[types.AgentSkill(tags=["t"])]), r"'n': skills\[0\]"),
        ({"name": "n", "skills": [{"id": "a"}, {}]}, r"'n': skills\[1\] has no `name`"),
        ({"name": 7}, "name field"),
        ({"name": "n", "description": ["d"]}, "description field"),
        ({"name": "n", "skills": "all"}, "skills field"),
        ({"name": "n", "skills": [{"name": "s", "tags": [1]}]}, "tags field"),
        ({"name": "n", "defaultInputModes": "text/plain"}, "defaultInputModes field"),
        ({"name": "\ud800"}, "AgentCard.name"),
        ("card", "'card' is not an A2A agent card"),
        (None, "None is not an A2A agent card"),
        (types.AgentSkill(name="n"), "is not an A2A agent card"),
    ],
    ids=[
        *("no name", "blank name", "empty", "skill", "second skill", "number", "list", "text"),
        *("tags", "modes", "half a character", "word", "nothing", "other message"),
    ],
)
def test_a_broken_card_is_refused_with_its_field(card: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        from_a2a(card)


@pytest.mark.parametrize(
    ("card", "options", "told"),
    [
        (BILLING, {"url": ""}, "url is ''"),
        (BILLING, {"url": "agents.example.org"}, "url is 'agents.example.org'"),
        (BILLING, {"url": "ftp://example.org"}, "url is 'ftp://example.org'"),
        (BILLING, {"url": None}, "url is None"),
        (BILLING, {"url": URL, "version": ""}, "version is ''"),
        (BILLING, {"url": URL, "version": 2}, "version is 2"),
        (AgentCard("a", "\udc00"), {"url": URL}, "description contains half of a character"),
        (AgentCard("a", "", [Skill("s", "", ["\ud800"])]), {"url": URL}, r"skills\[0\].examples"),
    ],
    ids=[
        *("empty", "no scheme", "ftp", "none", "no version", "number"),
        *("description", "example"),
    ],
)
def test_a_card_that_cannot_go_out_is_refused(
    card: Any, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        to_a2a(card, **options)


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a2a", "a2a.types"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (lambda: to_a2a(BILLING, URL), lambda: from_a2a({"name": "n"})):
        with pytest.raises(ConfigurationError, match=r"pip install 'journeygraph\[a2a\]'"):
            call()
