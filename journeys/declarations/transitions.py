"""Rules that move a session from one pathway to another, and what makes them fire."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from journeygraph.journeys.declarations.behaviors import DETOUR, ReturnToPrevious, ReturnToSpecific
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import FAULTY, GONE, refused, takes, wrong
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    ContextName,
    Duration,
    Function,
    InCode,
    Listed,
    Phrase,
    Share,
    Target,
    Text,
    time_in_words,
)
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.phrases import normal, said

HOWS = ("append", "set", "copy", "clear")
"""Beginnings of an entry of a `context_update`."""


class BaseTrigger:
    """Base class of triggers; subclass it for one's own.

    `evaluate` may be a plain or an async method. It is asked at the start of every turn in which
    its transition could fire, so it should be quick. One that raises counts as False and is
    audited.

    Example:
        >>> class Shouting(BaseTrigger):
        ...     def evaluate(self, message, context):
        ...         return message.isupper()
        >>> Shouting().evaluate("HELLO", {})
        True
    """

    def evaluate(self, message: str, context: Mapping[str, Any]) -> Any:
        """Return whether the trigger fires for this message and context; may be awaitable."""
        raise NotImplementedError(f"{type(self).__name__} must define evaluate(message, context)")

    @property
    def label(self) -> str:
        """A short name for drawings, the audit and metadata."""
        return type(self).__name__


def _spoken(value: str) -> str:
    if not normal(value):
        raise wrong("it must not be empty.")
    return value


class _Phrases:
    """A list of phrases; a set is put in order, so that the version is the same each time."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        item = handler.generate_schema(Annotated[Phrase, AfterValidator(_spoken)])
        return core_schema.no_info_before_validator_function(
            lambda value: sorted(value, key=str) if isinstance(value, (set, frozenset)) else value,
            core_schema.tuple_variable_schema(item, strict=False),
        )


class IntentTrigger(Definition, BaseTrigger):
    """Fires when the user means something: by a pattern, or by the verdict of a model.

    Attributes:
        patterns: Phrases of a message, matched as whole words in any script and case, without a
            model.
        description: The user's intent, in words: the question to a model, and the label in
            drawings.
        use_llm_fallback: True if a model may judge a message without a pattern. A turn that needs
            one has the flag `model_not_configured` if none is configured.
        llm_model: Model for that question. Default: the config's `intent_detection_model`.
        confidence_threshold: Lowest confidence, 0 to 1, at which a model's yes counts. A pattern
            has confidence 1. Default: the config's `intent_confidence_threshold`.

    Source: ADR-025 section 5.3.
    """

    model_config = ConfigDict(title="Trigger in words")
    unwritten = frozenset({"use_llm_fallback", "llm_model"})
    defers_errors = True

    patterns: Annotated[Sequence[str], _Phrases()] = ()
    description: Text = Field(default="", validation_alias="condition")
    use_llm_fallback: bool = True
    llm_model: str | None = None
    confidence_threshold: Share | None = Field(default=None, validation_alias="confidence")

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return whether any pattern is in the message."""
        return any(said(pattern, message) for pattern in self.patterns)

    @property
    def label(self) -> str:
        """The intent's name: its first pattern, else its description, else 'unknown'."""
        return self.patterns[0] if self.patterns else self.description or "unknown"


class ConditionTrigger(Definition, BaseTrigger):
    """Fires once when a condition on the context becomes true.

    It is judged at the start of every turn; having fired, it can fire again only after it was
    seen false. A condition that raises counts as false and is audited.

    Attributes:
        condition: A function of the context, in a file an expression. It must be quick and must not
            change anything.
        description: Its meaning, for drawings and the audit.
    """

    model_config = ConfigDict(title="Condition trigger")
    unwritten = frozenset({"description"})
    defers_errors = True

    condition: Annotated[Callable[[Mapping[str, Any]], Any], Function("context")] | None = Field(
        default=None, validation_alias="when"
    )
    description: Text = ""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return whether the condition holds; without a condition it never does."""
        return self.condition is not None and bool(self.condition(context))

    @property
    def label(self) -> str:
        """The description, else the name of the condition."""
        name = getattr(self.condition, "__name__", "condition")
        return self.description or ("condition" if name == "<lambda>" else name)


class EventTrigger(Definition, BaseTrigger):
    """Fires when an event of its name comes from outside; a message never fires it.

    Other programs send events with `process_event`, or over HTTP. The data of the event is in the
    context when the target runs.

    Attributes:
        event: Name of the event, such as "payment_received".

    Example:
        >>> EventTrigger("payment_received").label
        "event 'payment_received'"
    """

    model_config = ConfigDict(title="Event trigger")

    event: ContextName

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return False: only an event fires it."""
        return False

    @property
    def label(self) -> str:
        """The name of the event, in words."""
        return f"event '{self.event}'"


class TimeTrigger(Definition, BaseTrigger):
    """Fires once when the user has sent no message for some time; a message never fires it.

    The time counts from the last message of the user. If an event or another timer has moved the
    session since, it counts from that move.

    Attributes:
        after: The time in words, such as "2 days" or "1 hour 30 minutes", or a `timedelta`. Code
            can write `TimeTrigger(days=2)` instead, with `days`, `hours` and `minutes`.

    Example:
        >>> TimeTrigger(days=2).label, TimeTrigger("90 minutes").label
        ('after 2 days', 'after 1 hour 30 minutes')
    """

    model_config = ConfigDict(title="Time trigger")
    defers_errors = True

    after: Duration

    def __init__(
        self, after: Any = None, *, days: float = 0, hours: float = 0, minutes: float = 0
    ) -> None:
        if after is None:
            try:
                after = timedelta(days=days, hours=hours, minutes=minutes)
            except (TypeError, OverflowError):
                after = {"days": days, "hours": hours, "minutes": minutes}  # which is refused
        elif days or hours or minutes:
            after = f"{after}, with days, hours or minutes"
        super().__init__(after)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return False: only time fires it."""
        return False

    @property
    def label(self) -> str:
        """The time in words."""
        return f"after {time_in_words(self.after)}"


class AlwaysTrigger(Definition, BaseTrigger):
    """Fires when nothing else does; never while a finished detour is about to return.

    Attributes:
        always: True: fires when no other transition does. Default: false.
    """

    model_config = ConfigDict(title="Trigger of all else")

    always: bool = Field(default=True, init=False)

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return True."""
        return True

    @property
    def label(self) -> str:
        """The word 'always'."""
        return "always"


_KEYS: dict[str, type[Definition]] = {
    "always": AlwaysTrigger,
    "event": EventTrigger,
    "after": TimeTrigger,
    "when": ConditionTrigger,
    "condition": IntentTrigger,
    "patterns": IntentTrigger,
    "confidence": IntentTrigger,
}
"""Key of a rule in a file -> the trigger that it belongs to."""


class Triggered:
    """A trigger; in a file, a mapping with the keys of one of them.

    Args:
        always: True if it may be an `AlwaysTrigger`.
        in_words: True if text is read as the condition of an `IntentTrigger`.
    """

    def __init__(self, *, always: bool = False, in_words: bool = False) -> None:
        self.keys = [key for key in _KEYS if always or key != "always"]
        self.in_words = in_words

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = {_KEYS[key].__name__: _KEYS[key] for key in self.keys}
        union = core_schema.tagged_union_schema(
            {name: handler.generate_schema(kind) for name, kind in kinds.items()},
            lambda value: _KEYS[(self._ways(value) or ["condition"])[0]].__name__,
        )
        described = {"pydantic_js_functions": [lambda *_: self._described(kinds.values())]}
        return core_schema.with_info_wrap_validator_function(self._fit, union, metadata=described)

    def _described(self, kinds: Iterable[type[Definition]]) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for kind in kinds:
            known |= kind.model_json_schema()["properties"]
        mapping = {"type": "object", "properties": known, "additionalProperties": False}
        return {"anyOf": [known["condition"], mapping]} if self.in_words else mapping

    def _fit(self, value: Any, handler: Any, info: Any) -> Any:
        is_text = self.in_words and isinstance(value, str)
        if info.context is None or info.context.is_code:
            return IntentTrigger(description=value) if is_text else _given(value)
        value = _in_words(value) if is_text else value
        if isinstance(value, BaseTrigger):  # it stands in for one that cannot be read
            return value
        if not isinstance(value, dict):
            return handler(value)
        ways = self._ways(value)
        if not ways and value.keys() <= {*self.keys}:
            info.context.note(value, NEVER_FIRES)
            raise PydanticCustomError(GONE, GONE)
        if ways[:1] in (["always"], ["event"], ["after"], ["when"]) and ways[1:]:
            others = " and ".join(ways[1:])
            said, remedy = f"{ways[0]} cannot be combined with {others}.", "Write two rules."
            info.context.note(value, Fault(said, ways[0], remedy=remedy))
            raise PydanticCustomError(GONE, GONE)
        return handler(value)

    def _ways(self, value: Any) -> list[str]:
        """Return the keys that make a rule hold, the one that decides first."""
        if not isinstance(value, Mapping):
            return []
        return [key for key in self.keys if key != "confidence" and value.get(key)]


NEVER_FIRES = Fault(
    "it never fires.", remedy="Give it a condition in words, patterns, when, event, or after."
)


def _in_words(text: str) -> dict[str, str]:
    if not text.strip():  # only the text has a place in the file
        raise wrong("it must not be empty.")
    return {"condition": text}


def _given(value: Any) -> Any:
    if not isinstance(value, BaseTrigger):
        raise wrong(_instead_of(value))
    if faults := getattr(value, "faults", ()):
        raise PydanticCustomError(FAULTY, FAULTY, {"faults": faults})
    name, remedy = type(value).__name__, "Write evaluate(self, message, context)."
    if type(value).evaluate is BaseTrigger.evaluate:
        raise refused(f"{name} does not define evaluate.", remedy)
    if not takes(value.evaluate, "", {}):
        raise refused(f"evaluate of {name} takes other arguments.", remedy)
    return value


def _instead_of(value: Any) -> str:
    wanted = "it must be a trigger such as IntentTrigger"
    if isinstance(value, type) and issubclass(value, BaseTrigger):
        return f"{wanted}. Call the class: {value.__name__}(...)."
    if callable(value) and not isinstance(value, type):
        return f"{wanted}. Wrap it: ConditionTrigger(lambda context: ...)."
    return f"{wanted}."


def _update(value: Any) -> Any:
    if callable(value):
        return value
    if not isinstance(value, str):
        raise wrong(f"it must be text such as 'set:{value}', or a function.")
    return _told(value)


def _told(value: str) -> str:
    how, colon, argument = value.partition(":")
    if not colon:
        how, argument = "copy", value
    if how not in HOWS:
        known = "append:NAME, set:TEXT, copy:NAME, clear:, or a bare NAME"
        raise wrong(f"'{how}:' is unknown.{did_you_mean(how, HOWS)} Known: {known}.")
    if how == "clear" and argument:
        raise wrong("nothing may follow 'clear:'.")
    if not argument and how not in ("set", "clear"):
        raise wrong("a context name must follow.")
    return value


Update = Annotated[
    str | Callable[[str, dict[str, Any]], Any],
    InCode(Annotated[str, AfterValidator(_told)], _update),
]


class Rule(Definition):
    """A rule that something triggers: in a file, the keys of the trigger are next to its own."""

    defers_errors = True
    absent = {"trigger": NEVER_FIRES}
    placeholders = {"trigger": AlwaysTrigger.model_construct()}

    @classmethod
    def known(cls, *, is_code: bool) -> list[str]:
        """Return what may be given for it: in a file, the keys of its trigger."""
        known = super().known(is_code=is_code)
        return known if is_code else [*(key for key in known if key != "trigger"), *cls._keys()]

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        schema["properties"] |= schema["properties"].pop("trigger")["properties"]
        schema["required"].remove("trigger")
        return schema

    @classmethod
    def arranged(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Return a mapping of a file with the keys of the trigger in a separate mapping."""
        keys = cls._keys()
        trigger = {key: item for key, item in value.items() if key in keys}
        others = {key: item for key, item in value.items() if key not in keys}
        return {**others, "trigger": trigger} if trigger else others

    @classmethod
    def _keys(cls) -> list[str]:
        (kind,) = (m for m in cls.__pydantic_fields__["trigger"].metadata if type(m) is Triggered)
        return kind.keys


class Transition(Rule):
    """A rule that moves the session.

    Attributes:
        trigger: Trigger that makes it fire.
        from_pathway: Its source: the id of a pathway, a list of ids, or "*" for everywhere.
        to_pathway: Its target. The current pathway runs again; a detour pauses it.
        context_update: Changes of the context before the target runs, name -> "set:TEXT",
            "append:NAME" (adds NAME to a list), "copy:NAME" (or a bare NAME), or "clear:" (if the
            name is a field of the target, only this field is asked for). A missing source changes
            nothing.
        priority: Higher ones are checked first; then the order of declaration.
        name: Its name for journeys that inherit it, to remove it with `__without__` or to replace
            it; unique in a journey.
        detour: True: the target state answers and returns. Or `{return_to, preserve_context,
            max_depth, policy}`. All transitions to a state need the same value. Default: no detour.

    Source: ADR-025 section 5.3; readings in docs/reference/journeys.md.
    """

    unwritten = frozenset({"name"})
    needed = frozenset({"to"})

    trigger: Annotated[BaseTrigger, Triggered(always=True)]
    from_pathway: Annotated[str | Annotated[Listed[str], NOT_EMPTY], BY_SHAPE] = Field(
        default="*", validation_alias="from"
    )
    to_pathway: Target = Field(default="", validation_alias="to")
    context_update: Mapping[ContextName, Update] | None = Field(
        default=None, validation_alias="update"
    )
    priority: int = 0
    name: str = ""
    detour: Annotated[ReturnToPrevious | ReturnToSpecific | None, DETOUR] = Field(
        default=None, init=False
    )


class HandOver(Rule):
    """A rule that leads from one journey of a concierge to another one.

    The first is left as if it had been completed, and the second begins in the same turn.

    Attributes:
        from_journey: Id of the journey to leave, from any of its pathways.
        to_journey: Id of the journey that begins.
        trigger: Trigger that makes it fire.
        context_update: As of a `Transition`; it reads the context of the first journey before that
            is forgotten.
        priority: As of a `Transition`, among the transitions of the first journey.

    Example:
        >>> HandOver("billing", "outage", IntentTrigger(["my line is dead"])).to_journey
        'outage'
    """

    model_config = ConfigDict(title="Hand-over")

    from_journey: Target = Field(validation_alias="from")
    to_journey: Target = Field(validation_alias="to")
    trigger: Annotated[BaseTrigger, Triggered()]
    context_update: Mapping[ContextName, Update] | None = Field(
        default=None, validation_alias="update"
    )
    priority: int = 0
