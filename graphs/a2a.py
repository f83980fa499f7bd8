"""Agent cards as those of the Agent2Agent protocol (A2A), by its official SDK (extra `a2a`).

A2A 1.0 has more required fields than our cards. On export, missing ones are derived: a skill
without synonyms gets its name as its only tag, an agent without skills gets a skill with its own
name, an agent without a description gets its name. On import, these derived values are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import Agent, AgentCard, ConfigurationError, Skill
from journeygraph.journeys.agents.agent import TEXT
from journeygraph.journeys.errors import require_extra, shown
from journeygraph.journeys.pipelines.pattern import agent_of

if TYPE_CHECKING:
    from a2a.types import AgentCard as A2ACard
    from a2a.types import AgentSkill

PROTOCOL_VERSION = "1.0"
"""Version of A2A for exported cards."""
_HELD = {
    *("name", "description", "skills"),
    *("defaultInputModes", "defaultOutputModes", "default_input_modes", "default_output_modes"),
}
_ADDRESS = re.compile(r"https?://[^\s/]+\S*")


def to_a2a(card_or_agent: AgentCard | Agent | Any, url: str, version: str = "1.0.0") -> A2ACard:
    """Return a card as an A2A card, for an agent that is served at an address by JSON-RPC.

    Args:
        card_or_agent: A card, or anything that a pipeline accepts as an agent.
        url: Address of the agent, with http:// or https://.
        version: Version of the agent.

    Raises:
        ConfigurationError: The extra is not installed, the address or the version is not valid, or
            a text of the card is not valid UTF-8. The text names the field.
    """
    types = _sdk()
    card = card_or_agent
    if not isinstance(card, AgentCard):
        card = agent_of(card_or_agent, "agent").card
    _check(card, url, version)
    skills = card.skills or (Skill(card.name, card.description),)
    made: A2ACard = types.AgentCard(
        name=card.name,
        description=card.description or card.name,
        version=version,
        supported_interfaces=[
            types.AgentInterface(
                url=url, protocol_binding="JSONRPC", protocol_version=PROTOCOL_VERSION
            )
        ],
        capabilities=types.AgentCapabilities(),
        default_input_modes=card.input_modes or [TEXT],
        default_output_modes=card.output_modes or [TEXT],
        skills=[
            types.AgentSkill(
                id=id_,
                name=skill.name,
                description=skill.description or skill.name,
                tags=skill.synonyms or [skill.name],
                examples=skill.examples,
            )
            for id_, skill in zip(_ids(skills), skills, strict=True)
        ],
    )
    return made


def from_a2a(a2a_card: A2ACard | Mapping[str, Any]) -> AgentCard:
    """Return an A2A card as one of ours.

    Media types of a skill become media types of the card. Addresses, security schemes and other
    fields without a counterpart are dropped.

    Args:
        a2a_card: A card of the SDK, or the content of an `agent-card.json`, of A2A 0.3 or 1.

    Raises:
        ConfigurationError: The extra is not installed, the card is not valid, or a name is missing.
            The text names the field.
    """
    types = _sdk()
    given = _parsed(types, a2a_card) if isinstance(a2a_card, Mapping) else a2a_card
    if not isinstance(given, types.AgentCard):
        raise ConfigurationError(f"{shown(given)} is not an A2A agent card.")
    name = given.name
    if not name.strip():
        raise ConfigurationError("The agent card of A2A has no `name`.")
    description = "" if given.description == name else given.description
    skills = tuple(_skill(name, place, skill) for place, skill in enumerate(given.skills))
    if skills == (Skill(name, description),):
        skills = ()
    takes = _once(given.default_input_modes, *(skill.input_modes for skill in given.skills))
    gives = _once(given.default_output_modes, *(skill.output_modes for skill in given.skills))
    return AgentCard(name, description, skills, takes or (TEXT,), gives or (TEXT,))


def _sdk() -> ModuleType:
    require_extra("a2a", "An agent card of A2A", "a2a.types")
    from a2a import types  # noqa: PLC0415

    return types


def _check(card: AgentCard, url: Any, version: Any) -> None:
    if not isinstance(url, str) or not _ADDRESS.fullmatch(url):
        raise ConfigurationError(
            f"The agent card of '{card.name}': url is {shown(url)}; it must be an address with "
            "http:// or https://."
        )
    if not isinstance(version, str) or not version.strip():
        raise ConfigurationError(
            f"The agent card of '{card.name}': version is {shown(version)}; it must be text."
        )
    for path, text in _texts(card):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ConfigurationError(
                f"The agent card of {shown(card.name)}: {path} contains half of a character (a "
                f"lone surrogate), which "
                "UTF-8 cannot encode. Remove it."
            ) from None


def _texts(card: AgentCard) -> Iterator[tuple[str, str]]:
    yield "name", card.name
    yield "description", card.description
    yield "input_modes", "".join(card.input_modes)
    yield "output_modes", "".join(card.output_modes)
    for place, skill in enumerate(card.skills):
        yield f"skills[{place}].name", skill.name
        yield f"skills[{place}].description", skill.description
        yield f"skills[{place}].examples", "".join(skill.examples)
        yield f"skills[{place}].synonyms", "".join(skill.synonyms)


def _ids(skills: Iterable[Skill]) -> list[str]:
    ids: list[str] = []
    for skill in skills:
        id_ = base = re.sub(r"\W+", "-", skill.name.casefold()).strip("-") or "skill"
        number = 1
        while id_ in ids:
            number += 1
            id_ = f"{base}-{number}"
        ids.append(id_)
    return ids


def _parsed(types: ModuleType, data: Mapping[str, Any]) -> A2ACard:
    from google.protobuf.json_format import ParseDict, ParseError  # noqa: PLC0415

    # Only what ours holds: whatever else may be wrong with a card is not ours to judge.
    held = {name: value for name, value in data.items() if name in _HELD}
    card: A2ACard = types.AgentCard()
    try:
        ParseDict(held, card, ignore_unknown_fields=True)
    except ParseError as error:
        raise ConfigurationError(f"The agent card of A2A cannot be read: {error}") from error
    return card


def _skill(owner: str, place: int, skill: AgentSkill) -> Skill:
    name = skill.name if skill.name.strip() else skill.id
    if not name.strip():
        raise ConfigurationError(f"The agent card of A2A '{owner}': skills[{place}] has no `name`.")
    description = "" if skill.description == name else skill.description
    tags = () if list(skill.tags) == [name] else tuple(skill.tags)
    return Skill(name, description, tuple(skill.examples), tags)


def _once(*modes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mode for some in modes for mode in some))
