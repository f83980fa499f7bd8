"""Guidelines: rules of behaviour that hold in a turn; validation: checks of its reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.definitions.value_types import (
    Checked,
    ContextName,
    Function,
    Listed,
    OneOf,
    Phrase,
    Share,
    Text,
    ToolName,
)
from journeygraph.journeys.errors import one_of
from journeygraph.journeys.faults import Fault

MOST_ID = 200
"""Characters of an id that is given; a model has to repeat it, and records keep it."""
Matcher = Callable[[str, Mapping[str, Any]], Any]
"""Says whether a guideline holds, from the message and the context; may be async."""


class Scope(StrEnum):
    """Scope of a guideline; the narrower one comes first (flow control, priority resolution)."""

    STATE = "state"
    JOURNEY = "journey"
    GLOBAL = "global"


def _scope(value: Any, _: Any) -> Scope | None:
    known = [item.value for item in Scope]
    if value is None or value in known:
        return None if value is None else Scope(value)
    raise wrong(one_of(value, known))


def _id(value: Any, _: Any) -> str:
    if isinstance(value, str) and len(value) <= MOST_ID and value.isprintable():
        return value
    raise wrong(f"it must be printable text of at most {MOST_ID} characters.")


class Guideline(Definition):
    """Rule for the behavior of agents: a condition and an action.

    It is matched in two stages: keywords first, without a model, then the conditions of those that
    are left, together with all other questions of the turn. What matched tells the agents of this
    turn what to do, and gives them its tools.

    Attributes:
        condition: Its condition, in words; a model judges it. Without a condition, or with
            `when`, no model is asked.
        action: Instruction for the agents when it applies.
        id: Its name, unique in the journey. Default: made from the words of the condition or
            action.
        scope: Part of the conversation in which it applies. Default: the pathway or the journey
            that declares it.
        when: A function of message and context, in a file an expression, that decides instead of a
            model. A function that waits must be async, as a plain one runs in the event loop.
        keywords: Words and phrases of messages to which it may apply. Default: the words of the
            condition.
        tools: Names of tools that agents may use when it applies.
        priority: Within a scope, higher ones come first.
        always: True: considered in every turn, whatever the words of the message are. If messages
            cannot be understood, it counts as applying.
        critical: True: as `always`, and replies are checked for `forbids` and `requires` in its
            scope, even if nothing else could be checked.
        enabled: False: it is never considered.
        excludes: Ids of guidelines that are dropped when this one applies.
        depends_on: Ids of guidelines that must apply too; otherwise this one is dropped.
        forbids: Phrases that no reply may contain while it applies, matched as whole words.
        requires: Phrases of which a reply must contain one while it applies.
        journey: Id of the journey that it belongs to; None for a global one. Set when it is read.
        pathway: Id of the pathway that it belongs to; None unless its scope is the state. Set when
            it is read.
        where: Place of its declaration, for messages. Set when it is read.

    Source: flow control, guideline engine; DESIGN sections 2 and 3.

    Example:
        >>> Guideline(condition="the customer sounds worried", action="calm them first").id
        ''
    """

    unwritten = frozenset({"journey", "pathway", "where"})
    defers_errors = True

    _: KW_ONLY
    condition: Text = ""
    action: Text = ""
    id: Annotated[str, Checked(_id, {"type": "string", "maxLength": MOST_ID})] = ""
    scope: Annotated[Any, Checked(_scope, {"enum": ["state", "journey", "global"]})] = None
    when: Annotated[Matcher, Function("message", "context")] | None = None
    keywords: Listed[Phrase] = ()
    tools: Listed[ToolName] = ()
    priority: int = 0
    always: bool = False
    critical: bool = False
    enabled: bool = True
    excludes: Listed[ContextName] = ()
    depends_on: Listed[ContextName] = ()
    forbids: Listed[Phrase] = ()
    requires: Listed[Phrase] = ()
    journey: str | None = None
    pathway: str | None = None
    where: str = ""

    @rule("action", "tools", "forbids", "requires")
    def _does_something(self) -> Iterator[Fault]:
        if not (self.action or self.tools or self.forbids or self.requires):
            remedy = "Give it an action, tools, forbids or requires."
            yield Fault("it does nothing.", remedy=remedy)

    @rule("critical", "forbids", "requires")
    def _rules_are_critical(self) -> Iterator[Fault]:
        if (self.forbids or self.requires) and not self.critical:
            said = "forbids and requires are only for critical guidelines."
            of = "forbids" if self.forbids else "requires"
            yield Fault(said, of, remedy="Set critical to true.")

    @rule("condition", "always", "critical", "when", "keywords")
    def _may_hold(self) -> Iterator[Fault]:
        unasked = self.always or self.critical or self.when or self.keywords
        if not self.condition and not unasked:
            remedy = "Give it a condition, `when` or keywords, or set always to true."
            yield Fault("it never applies.", remedy=remedy)

    @property
    def needs_no_words(self) -> bool:
        """Return whether it is considered whatever the words of the message are."""
        return self.always or self.critical or self.when is not None

    @property
    def asks_model(self) -> bool:
        """Return whether a model judges its condition."""
        return self.when is None and bool(self.condition)

    def applies_in(self, pathway: str, journey: str) -> bool:
        """Return whether its scope holds in a pathway of a journey."""
        if self.scope is Scope.STATE:
            return self.pathway == pathway
        return self.scope is Scope.GLOBAL or self.journey == journey


GuidelineSpec = Guideline
"""A guideline that was read: it knows the journey and the pathway that it belongs to."""


PII = ("card", "iban", "email", "phone", "national_id")
"""Kinds of personal data that no reply gives away: what `Validation.pii` may name."""
MODES = ("before_send", "after_send")


class Validation(Definition):
    """Check of a journey's replies against the guidelines of their turn.

    Personal data and what critical guidelines forbid and require are checked without a model,
    always. Where a model is configured, it judges the reply as well.

    Attributes:
        mode: "before_send": a reply is checked before it is sent; an invalid one is written again,
            once. "after_send": it is sent at once, through a filter of personal data; a model
            judges it after the turn, the result is recorded, and a wrong reply is corrected in the
            next one.
        confidence: A reply that is judged invalid with more than this is written again; otherwise
            it is sent and recorded.
        timeout_seconds: Longest wait for a check, retries included; then the reply is sent after
            the checks without a model, and is flagged for review.
        pii: Kinds of personal data that replies must not contain.
        allow: Texts that look like personal data and are allowed, such as a hotline or the address
            of an office.

    Raises:
        ConfigurationError: A value is unknown or out of range.

    Source: flow control, response validator; readings in docs/reference/flow-control.md.
    """

    _: KW_ONLY
    mode: Annotated[str, OneOf(MODES)] = "before_send"
    confidence: Share = 0.8
    timeout_seconds: Annotated[FiniteFloat, Field(ge=0)] = 10.0
    pii: Listed[Annotated[str, OneOf(PII)]] = PII
    allow: Listed[Phrase] = ()
