"""Agents as authors declare them: their cards, model agents, functions and their inputs.

The terms are those of the Agent2Agent protocol (A2A).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from journeygraph.journeys.agents.signature import Signature
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import AS_GIVEN, AS_WRITTEN, Listed, Seconds
from journeygraph.journeys.errors import ConfigurationError, shown
from journeygraph.journeys.texts import BRACED


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAgent:
    """An agent that is a language model; registered under a name like any other agent.

    A pathway with a signature needs none where a model is configured: an agent that is not
    registered becomes one. This is for what such an agent lacks: tools, or a separate model.

    Attributes:
        tools: Tools that the model may call: typed functions (it sees their name, docstring and
            parameters; a sync one runs in a thread), LangChain tools, or a `Tool` of either for an
            effect that the user confirms. Parameters marked `FromContext` are filled from the
            context. `__tools__` of a pathway can allow a part of them.
        model: Name of the model, or a LangChain chat model. Default: the journey's.
        signature: Its contract. Default: the pathway's.
        max_tokens: Largest number of tokens in each of its answers. Default: `agent_max_tokens` of
            the config.

    Raises:
        ConfigurationError: `max_tokens` is not a whole number above 0.

    Source: ADR-025 sections 4 and 6.1.
    """

    tools: Sequence[Any] = ()
    model: Any = None
    signature: type[Signature] | Signature | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        most: Any = self.max_tokens
        if most is not None and (type(most) is not int or most < 1):
            raise ConfigurationError(
                f"ModelAgent(max_tokens={most!r}): it must be a whole number above 0, or None for "
                "agent_max_tokens of the settings."
            )


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_METHODS = ("arun", "run")


@dataclass(frozen=True, slots=True)
class AgentCall:
    """Callable of an agent with its parameters; `nodes/agents/adapters.py` calls it.

    Attributes:
        function: The function, or the object's `arun` or `run`.
        names: Names that it takes by keyword; None takes the whole payload as its one argument.
        open: True if it takes all other names as well.
        first: Name of an only argument that may be the payload or an input: an input where the
            payload has one of that name.
    """

    function: Callable[..., Any]
    names: tuple[str, ...] | None = None
    open: bool = False
    required: tuple[str, ...] = ()
    first: str = ""


def call_of(name: str, given: Any) -> AgentCall:
    """Return how an agent is called.

    A function takes one dict, the payload, or inputs by keyword only. The `run` of an object takes
    the payload, or the names of inputs, or `**inputs`.

    Args:
        given: A function, an object that can be called, or one with `arun` or `run`.
    """
    for method in _METHODS:
        if callable(run := getattr(given, method, None)):
            return _method(name, given, method, run)
    return _function(name, given)


def _function(name: str, function: Callable[..., Any]) -> AgentCall:
    signature = _signature(function)
    if signature is None or _binds(signature, {}):
        return AgentCall(function)
    if all(p.kind not in _BY_PLACE for p in signature.parameters.values()) and (
        by_name := _by_name(function, signature)
    ):
        return by_name
    called = getattr(function, "__name__", type(function).__name__)
    called = "agent" if called == "<lambda>" else called
    raise ConfigurationError(
        f"Agent '{name}' is {shown(function)}, which takes {signature}; an agent is called with "
        f"one dict. Write {called}(payload), with payload['message'], payload['context'], "
        f"payload['history'] and its inputs; or {called}(**inputs)."
    )


def _method(name: str, given: Any, method: str, run: Callable[..., Any]) -> AgentCall:
    signature = _signature(run)
    by_name = _by_name(run, signature) if signature else None
    if signature is None or (by_name is None and _binds(signature, {})):
        return AgentCall(run)
    if by_name is not None:
        return by_name
    raise ConfigurationError(
        f"Agent '{name}' is a {type(given).__name__}, whose {method} takes {signature}. Write "
        f"{method}(self, payload), {method}(self, **inputs), or {method}(self, message, context) "
        "with the names of inputs."
    )


def _by_name(function: Callable[..., Any], signature: inspect.Signature) -> AgentCall | None:
    """Return how it is called by keywords; None if it takes none, or some by place alone."""
    parameters = signature.parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
    is_args = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    by_place_alone = any(p.kind is p.POSITIONAL_ONLY for p in named)
    if by_place_alone or is_args or not (named or is_open):
        return None
    required = tuple(p.name for p in named if p.default is p.empty)
    first = named[0].name if _binds(signature, {}) else ""
    return AgentCall(function, tuple(p.name for p in named), is_open, required, first)


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):  # some built-in callables do not say what they take
        return None


def _binds(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


TEXT = "text/plain"


class Skill(Definition):
    """One thing that an agent can do.

    Attributes:
        name: Its name.
        description: Its description, in a sentence.
        examples: Requests that it serves, in the words of users.
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
        name: Its name, unique among the agents to choose from.
        description: Its purpose.
        skills: Its skills.
        input_modes: Media types that it accepts.
        output_modes: Media types that it returns.

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
    """An agent with its own name and card, for a pipeline.

    All other objects that can be agents can be used in a pipeline directly. Each gets a card from
    its name and its docstring. Use this class to set the other parts of the card.

    Attributes:
        call: A function, Runnable, graph, object with `run` or `arun`, `ModelAgent` or pipeline.
            Default: the agent that the journey registers under this name.
        name: Its name. Default: that of its `to_a2a_card()`, else that of the function, signature
            or pipeline.
        description: Its purpose. Default: that of its `to_a2a_card()`, else the first paragraph of
            the docstring.
        skills: Its skills. Default: those of its `to_a2a_card()`, else its own `skills`; for a
            pipeline those of its agents.
        input_modes: Media types that it accepts.
        output_modes: Media types that it returns.
        weight: Weight of its vote, above 0, if votes are weighted.

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
    """Refuse a call whose arguments are not those of an agent; a class is checked later."""
    takes_itself = call is None or isinstance(call, (ModelAgent, type)) or hasattr(call, "ainvoke")
    if not takes_itself:
        call_of(name, call)


def _own_card(call: Any) -> AgentCard:
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
        return name, purpose  # a pipeline of a pattern: its class describes the pattern
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


@dataclass(frozen=True, slots=True)
class Saying:
    """An agent that replies with one text; `{name}` is replaced by a value of the context.

    In a journey, values are shown as users read them.
    """

    text: str

    @property
    def reads(self) -> frozenset[str]:
        """The names of the context that it says."""
        return frozenset(BRACED.findall(self.text))

    def __call__(self, ask: Mapping[str, Any]) -> str:
        """Return the text with values as they are kept."""
        context = ask["context"]
        return BRACED.sub(lambda found: str(context.get(found[1]) or ""), self.text)
