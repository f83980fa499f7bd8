"""Guidelines: rules of behaviour that hold for a turn in which their condition does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Matcher = Callable[[str, Mapping[str, Any]], Any]
"""Says whether a guideline holds, from the message and the context; may be async."""


class Scope(StrEnum):
    """Where a guideline holds; the narrower one comes first (flow control, priority resolution)."""

    STATE = "state"
    JOURNEY = "journey"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """When something holds, do something: one rule of how agents behave.

    It is matched in two stages: keywords first, without a model, then the conditions of those that
    are left, together with all other questions of the turn. What matched tells the agents of this
    turn what to do, and gives them its tools.

    Attributes:
        condition: When it holds, in words; a model judges it. Without it, or with `when`, no model
            is asked.
        action: What the agents are told then.
        id: Its name, unique in the journey; by default made of the condition's or action's words.
        scope: Where it holds: by default in the pathway or the journey whose body it stands in.
        when: A function of message and context that decides in place of the model. What has to wait
            for anything must be async: a plain one runs in the event loop.
        keywords: Words and phrases of messages that it may hold for; by default those of the
            condition.
        tools: Names of tools that agents may use when it holds.
        priority: Within a scope, the higher one comes first.
        always: Considered in every turn, whatever the words of the message are. When messages
            cannot be understood, it is taken to hold.
        critical: As `always`; and replies are held against `forbids` and `requires` in its scope,
            also when nothing else could be checked.
        enabled: Whether it is matched at all.
        excludes: Ids of guidelines that are dropped when this one holds.
        depends_on: Ids of guidelines that must hold as well; otherwise this one is dropped.
        forbids: Phrases that no reply may contain while it holds; matched as whole words.
        requires: Phrases of which a reply must contain one while it holds.

    Source: flow control, guideline engine; DESIGN sections 2 and 3.

    Example:
        >>> Guideline(condition="the customer sounds worried", action="calm them first").id
        ''
    """

    condition: str = ""
    action: str = ""
    id: str = ""
    scope: Scope | str | None = None
    when: Matcher | None = None
    keywords: Sequence[str] = ()
    tools: Sequence[str] = ()
    priority: int = 0
    always: bool = False
    critical: bool = False
    enabled: bool = True
    excludes: Sequence[str] = ()
    depends_on: Sequence[str] = ()
    forbids: Sequence[str] = ()
    requires: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GuidelineSpec:
    """A guideline as data.

    Attributes:
        journey: Id of the journey that it belongs to; None for a global one.
        pathway: Id of the pathway that it belongs to; None unless its scope is the state.
        where: Where it was declared, for messages.
    """

    id: str
    scope: Scope
    condition: str
    action: str
    journey: str | None = None
    pathway: str | None = None
    when: Matcher | None = None
    keywords: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    priority: int = 0
    always: bool = False
    critical: bool = False
    enabled: bool = True
    excludes: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    where: str = ""

    @property
    def needs_no_words(self) -> bool:
        """Whether it is considered whatever the words of the message are."""
        return self.always or self.critical or self.when is not None

    @property
    def asks_model(self) -> bool:
        """Whether a model judges its condition."""
        return self.when is None and bool(self.condition)

    def applies_in(self, pathway: str, journey: str) -> bool:
        """Say whether its scope holds in a pathway of a journey."""
        if self.scope is Scope.STATE:
            return self.pathway == pathway
        return self.scope is Scope.GLOBAL or self.journey == journey
