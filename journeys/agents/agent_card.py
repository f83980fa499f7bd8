"""The card of an agent, by which others choose it, and the agent with its card.

The terms are those of the Agent2Agent protocol (A2A).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from journeys.agents.agent_calls import call_of
from journeys.agents.model_agent import ModelAgent
from journeys.definitions.definition import Definition
from journeys.definitions.value_types import AS_GIVEN, AS_WRITTEN, Listed, Seconds
from journeys.errors import ConfigurationError, shown

TEXT = "text/plain"


class Skill(Definition):
    """One thing that an agent can do.

    Attributes:
        name: What it is called.
        description: What it is, in a sentence.
        examples: Requests that it serves, as users would word them.
        synonyms: Other words for it. A2A calls them tags.

    Source: ADR-018 section 2.
    """

    name: str
    description: str = ""
    examples: Listed[str] = ()
    synonyms: Listed[str] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a skill."""
        return f"Skill '{given.get('name', '')}'"


class AgentCard(Definition):
    """Description of an agent, for the selection among agents.

    Attributes:
        name: Its name, unique among its peers.
        description: What it is for.
        skills: What it can do.
        input_modes: Media types that it takes.
        output_modes: Media types that it gives.

    Source: ADR-018 section 2.
    """

    name: str
    description: str = ""
    skills: Listed[Skill] = ()
    input_modes: Listed[str] = (TEXT,)
    output_modes: Listed[str] = (TEXT,)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a card."""
        return f"The card of '{given.get('name', '')}'"


class Agent(Definition):
    """An agent with a name and a card of its own, for a pipeline.

    Whatever else can be an agent may stand in a pipeline as it is, and gets a card from its name
    and its docstring; this is for what that leaves out.

    Attributes:
        call: A function, Runnable, graph, object with `run` or `arun`, `ModelAgent` or pipeline.
            None: the journey's agent of that name, registered there.
        name: Its name; where it is omitted, that of the object's `to_a2a_card()`, or the
            function's, signature's or pipeline's own.
        description: What it is for; where it is omitted, that of its `to_a2a_card()`, or the
            docstring's first paragraph.
        skills: What it can do; where they are omitted, those of its `to_a2a_card()`, or its own
            `skills`, which of a pipeline are those of the agents in it.
        input_modes: Media types that it takes.
        output_modes: Media types that it gives.
        weight: How much its vote counts, above 0, where votes are weighted.

    Raises:
        ConfigurationError: It cannot be called as an agent is, the name cannot be one, its
            `to_a2a_card()` gives none, or the weight is not above 0.

    Example:
        >>> def bill(given: dict) -> str:
        ...     '''Explain a bill.'''
        ...     return "It is for two visits."
        >>> Agent(bill, skills=[Skill("billing", synonyms=["invoice"])]).card.description
        'Explain a bill.'
    """

    unwritten = frozenset({"call"})

    call: Annotated[Any, AS_GIVEN] = None
    name: str = ""
    description: str = ""
    skills: Listed[Skill] = ()
    input_modes: Listed[str] = (TEXT,)
    output_modes: Listed[str] = (TEXT,)
    weight: Annotated[Seconds, AS_WRITTEN] = 1.0

    def __init__(
        self,
        call: Any = None,
        name: str = "",
        description: str = "",
        skills: Sequence[Skill] = (),
        input_modes: Sequence[str] = (TEXT,),
        output_modes: Sequence[str] = (TEXT,),
        weight: float = 1.0,
    ) -> None:
        _check_works(call)
        own = _own_card(call)
        name = name or own.name
        _check_name(name, call)
        _check_call(name, call)
        super().__init__(
            call,
            name,
            description or own.description,
            skills or own.skills,
            own.input_modes if input_modes in ((TEXT,), [TEXT]) else input_modes,
            own.output_modes if output_modes in ((TEXT,), [TEXT]) else output_modes,
            weight,
        )

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name an agent."""
        return f"Agent '{given['name']}'"

    @cached_property
    def card(self) -> AgentCard:
        """Return its card, made once."""
        return AgentCard(
            self.name, self.description, self.skills, self.input_modes, self.output_modes
        )

    @cached_property
    def card_data(self) -> dict[str, Any]:
        """Its card as plain data, made once; not for changing."""
        data: dict[str, Any] = json.loads(json.dumps(self.card.model_dump()))
        return data

    def __hash__(self) -> int:
        return hash((self.name, self.description))


def _check_works(call: Any) -> None:
    ways = ("ainvoke", "arun", "run")
    if call is None or isinstance(call, ModelAgent) or callable(call):
        return
    if not any(callable(getattr(call, way, None)) for way in ways):
        raise ConfigurationError(
            f"{shown(call)} is not an agent. Give a function, a Runnable, a graph, an object with "
            "run() or arun(), a ModelAgent, a pipeline, or the name of a journey's agent."
        )


def may_name(name: str) -> bool:
    """Return whether an agent can be called this: graphs keep some marks for themselves."""
    return not any(mark in name for mark in "|:/") and not name.startswith("__")


def _check_name(name: Any, call: Any) -> None:
    if not name:
        raise ConfigurationError(f"{shown(call)} has no name. Write Agent(it, name='...').")
    if not isinstance(name, str) or not may_name(name):
        raise ConfigurationError(
            f"{shown(name)} is not a valid name of an agent: use text without '|', ':' and '/', "
            "which does not begin with '__'."
        )


def _check_call(name: str, call: Any) -> None:
    """Refuse what takes other arguments than an agent is given; of a class it is said later."""
    takes_itself = call is None or isinstance(call, (ModelAgent, type)) or hasattr(call, "ainvoke")
    if not takes_itself:
        call_of(name, call)


def _own_card(call: Any) -> AgentCard:
    """Return what something to call says of itself: its `to_a2a_card()`, else what it is called."""
    name, purpose = _of_itself(call)
    skills = own_skills(call)
    make = None if isinstance(call, type) else getattr(call, "to_a2a_card", None)
    if not callable(make):
        return AgentCard(name, purpose, skills)
    try:
        card = read_card(make())
    except Exception as error:  # whatever an author's method raises
        raise ConfigurationError(f"{shown(call)}: to_a2a_card() gives no card: {error}") from error
    return AgentCard(
        card.name or name,
        card.description or purpose,
        card.skills or skills,
        card.input_modes or (TEXT,),
        card.output_modes or (TEXT,),
    )


def read_card(given: Any) -> AgentCard:
    """Return an A2A card of any class as one of ours; what it does not have is left empty.

    Args:
        given: An `AgentCard` of ours, of A2A's SDK or of another library, or the dict of one.
            Skills are its `skills` or `primary_capabilities`; their tags or keywords are synonyms.

    Raises:
        ConfigurationError: It is not an A2A card.
    """
    if isinstance(given, AgentCard):
        return given
    if inspect.iscoroutine(given):
        given.close()
        raise ConfigurationError("it is async; give a plain method")
    name = _text_of(given, "name", "agent_name", "agent_id")
    description = _text_of(given, "description")
    skills = [_skill_of(item) for item in _list_of(given, "skills", "primary_capabilities")]
    if not (name or description or skills):
        raise ConfigurationError(f"{shown(given)} has no name, description or skills")
    takes = _list_of(given, "default_input_modes", "defaultInputModes", "input_modes")
    gives = _list_of(given, "default_output_modes", "defaultOutputModes", "output_modes")
    return AgentCard(name, description, skills, takes, gives)


def _skill_of(given: Any) -> Skill:
    if isinstance(given, Skill):
        return given
    name = given if isinstance(given, str) else _text_of(given, "name", "id")
    if not name:
        raise ConfigurationError(f"the skill {shown(given)} has no name")
    examples = _list_of(given, "examples")
    synonyms = _list_of(given, "synonyms", "tags", "keywords")
    return Skill(name, _text_of(given, "description"), examples, synonyms)


def _part_of(given: Any, *names: str) -> Any:
    """Return the first of some parts of a card that it has, and that is not empty."""
    is_mapping = isinstance(given, Mapping)
    found = (given.get(name) if is_mapping else getattr(given, name, None) for name in names)
    return next((part for part in found if part), None)


def _text_of(given: Any, *names: str) -> str:
    part = _part_of(given, *names)
    return part.strip() if isinstance(part, str) else ""


def _list_of(given: Any, *names: str) -> tuple[Any, ...]:
    part = _part_of(given, *names)
    return tuple(part) if isinstance(part, Iterable) and not isinstance(part, (str, bytes)) else ()


def _of_itself(call: Any) -> tuple[str, str]:
    """Return the name and the purpose that something to call has by itself."""
    if isinstance(call, ModelAgent) and call.signature is not None:
        spec = (
            call.signature.spec if not isinstance(call.signature, type) else call.signature().spec
        )
        return spec.name, _first_paragraph(spec.intent or spec.instructions)
    if call is None or isinstance(call, ModelAgent):
        return "", ""
    named = (getattr(call, own, None) for own in ("__name__", "name", "agent_id"))
    name = next((own for own in named if own), None)
    described = getattr(call, "description", None)
    purpose = described if isinstance(described, str) else ""
    if not isinstance(name, str) or name == "<lambda>":
        name = "" if name == "<lambda>" else type(call).__name__
    if "description" in getattr(call, "__dict__", {}) and isinstance(described, str):
        return name, purpose  # a pipeline of a pattern: what its class says is said of every one
    # An object without a docstring has its class's, which may be one of a library.
    own = call.__doc__ if inspect.isroutine(call) else vars(type(call)).get("__doc__")
    return name, purpose or _first_paragraph(own if isinstance(own, str) else "")


def own_skills(call: Any) -> tuple[Skill, ...]:
    """Return the skills that something to call has by itself."""
    own = getattr(call, "skills", None)
    declared = isinstance(own, (list, tuple)) and all(isinstance(each, Skill) for each in own)
    return tuple(own) if own and declared else ()


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
