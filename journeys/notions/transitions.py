"""Rules that move a session from one pathway to another, and what makes them fire."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeys.phrases.patterns import said


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
        """Say whether the trigger holds for this message and context (a bool, or an awaitable)."""
        raise NotImplementedError(f"{type(self).__name__} must define evaluate(message, context)")

    @property
    def label(self) -> str:
        """A short name for drawings, the audit and metadata."""
        return type(self).__name__


@dataclass(frozen=True)
class IntentTrigger(BaseTrigger):
    """Fires when the user means something: said in a pattern, or judged by a model.

    Attributes:
        patterns: Phrases matched as whole words in any script and case, without a model.
        description: What the user wants, in words; labels the drawing, and is the model's question.
        use_llm_fallback: Whether a message without a pattern may be put to a model. A turn in
            which one would have been asked, and none is configured, carries the flag
            `model_not_configured`.
        llm_model: Model for that question; None takes the config's `intent_detection_model`.
        confidence_threshold: Least confidence, 0 to 1, of a verdict that fires; None takes the
            config's `intent_confidence_threshold`. A pattern has confidence 1.

    Source: ADR-025 section 5.3.
    """

    patterns: Sequence[str] = ()
    description: str = ""
    use_llm_fallback: bool = True
    llm_model: str | None = None
    confidence_threshold: float | None = None

    def __post_init__(self) -> None:
        # A lone string is left as it is: the reader names it as a fault, with its place.
        # A set is put in order, so that the label and the version are the same in every process.
        if isinstance(self.patterns, (set, frozenset)):
            object.__setattr__(self, "patterns", tuple(sorted(self.patterns, key=str)))
        elif isinstance(self.patterns, list):
            object.__setattr__(self, "patterns", tuple(self.patterns))

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Say whether any pattern is in the message."""
        return any(said(pattern, message) for pattern in self.patterns)

    @property
    def label(self) -> str:
        """The intent's name: its first pattern, else its description, else 'unknown'."""
        return self.patterns[0] if self.patterns else self.description or "unknown"


@dataclass(frozen=True)
class ConditionTrigger(BaseTrigger):
    """Fires once when a condition on the context becomes true.

    It is judged at the start of every turn; having fired, it can fire again only after it was
    seen false. A condition that raises counts as false and is audited.

    Attributes:
        condition: Called with the context; must be quick and must not change anything.
        description: What it means, for drawings and the audit.
    """

    condition: Callable[[Mapping[str, Any]], Any] | None = None
    description: str = ""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Say whether the condition holds; without a condition it never does."""
        return self.condition is not None and bool(self.condition(context))

    @property
    def label(self) -> str:
        """The description, else the name of the condition."""
        name = getattr(self.condition, "__name__", "condition")
        return self.description or ("condition" if name == "<lambda>" else name)


@dataclass(frozen=True)
class AlwaysTrigger(BaseTrigger):
    """Fires when nothing else does; never while a finished detour is about to return."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return True."""
        return True

    @property
    def label(self) -> str:
        """The word 'always'."""
        return "always"


@dataclass(frozen=True)
class Transition:
    """A rule that moves the session.

    Attributes:
        trigger: When it fires.
        from_pathway: Where it applies: a pathway id, several, or "*" for everywhere.
        to_pathway: Where it leads. The same pathway runs again; a detour pauses the present one.
        context_update: Name to change -> what to do, applied before the target runs:
            "append:NAME" adds the context's NAME to a list, "set:TEXT" sets the text, "copy:NAME"
            or a bare NAME copies, "clear:" removes. A missing source changes nothing.
        priority: Higher ones are asked first, of whatever kind; then the order of declaration.
        name: What a journey that has it from a base calls it, to drop it with `__without__` or to
            put its own in place of it; unique in a journey.

    Source: ADR-025 section 5.3; readings in docs/journeys.md.
    """

    trigger: BaseTrigger
    from_pathway: str | Sequence[str] = "*"
    to_pathway: str = ""
    context_update: Mapping[str, str | Callable[[str, dict[str, Any]], Any]] | None = None
    priority: int = 0
    name: str = ""


@dataclass(frozen=True)
class HandOver:
    """A rule that leads from one journey of a concierge to another one.

    The first is left as if it had been completed, and the second begins in the same turn.

    Attributes:
        from_journey: Id of the journey that is left, wherever it stands.
        to_journey: Id of the journey that begins.
        trigger: When.
        context_update: As of a `Transition`; what the first knows is read before it is forgotten.
        priority: As of a `Transition`; those of the first journey are its rivals.

    Example:
        >>> HandOver("billing", "outage", IntentTrigger(["my line is dead"])).to_journey
        'outage'
    """

    from_journey: str
    to_journey: str
    trigger: BaseTrigger
    context_update: Mapping[str, str] | None = None
    priority: int = 0
