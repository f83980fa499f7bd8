"""Behaviors of pathways: the end of a detour, completion criteria, merge of values."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import ContextName, OneOf, Target, at_least

POLICIES = ("return", "ask", "choose", "end")


class ReturnToPrevious(Definition):
    """The detour goes back to the pathway that it interrupted.

    Attributes:
        preserve_context: False: at the return, changes of the context in the detour are undone.
        max_depth: Most paused pathways below this detour. Default: the config's limit.
        policy: At the end of the detour: "return" continues the interrupted pathway, "ask" asks the
            user first, "choose" lets the user choose among several paused tasks, "end" gives all of
            them up.
        return_to: 'previous', or the id of a state.

    Source: ADR-025 section 5.3; readings in docs/reference/journeys.md.
    """

    model_config = ConfigDict(title="Detour")
    defers_errors = True

    preserve_context: bool = True
    max_depth: Annotated[int, at_least(1)] | None = None
    policy: Annotated[str, OneOf(POLICIES)] = "return"
    return_to: Literal["previous"] = Field(default="previous", init=False)


class ReturnToSpecific(Definition):
    """The detour continues in one named pathway, and resumes it if it is paused.

    Attributes:
        target_pathway: Id of the pathway that follows, which is resumed if it is paused.
        preserve_context: False: at the return, changes of the context in the detour are undone.
        max_depth: Most paused pathways below this detour. Default: the config's limit.

    Source: REQ-PM-001; readings in docs/reference/journeys.md.
    """

    model_config = ConfigDict(title="Detour to a state")
    elsewhere = {"policy": " It is only for detours with return_to: previous."}
    defers_errors = True
    placeholders = {"target_pathway": "?"}

    target_pathway: Target = Field(validation_alias="return_to")
    preserve_context: bool = True
    max_depth: Annotated[int, at_least(1)] | None = None


class _Detour:
    """Return behavior of a detour; in a file, true or a mapping."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds: dict[str, Any] = {
            "flag": bool,
            "previous": ReturnToPrevious,
            "state": ReturnToSpecific,
        }
        schemas = {tag: handler.generate_schema(kind) for tag, kind in kinds.items()}
        union = core_schema.tagged_union_schema(schemas, self._tag)
        return core_schema.no_info_after_validator_function(
            self._held,
            core_schema.nullable_schema(union),
            metadata={
                "pydantic_js_functions": [
                    lambda _, js: {"anyOf": [js(schema) for schema in schemas.values()]}
                ]
            },
        )

    def _tag(self, value: Any) -> str:
        if isinstance(value, ReturnToPrevious):
            return "previous"
        if isinstance(value, dict):
            return "previous" if value.get("return_to", "previous") == "previous" else "state"
        return "state" if isinstance(value, ReturnToSpecific) else "flag"

    def _held(self, value: Any) -> Any:
        return (ReturnToPrevious() if value else None) if isinstance(value, bool) else value


DETOUR = _Detour()


class Known(Definition):
    """A context name that completes a pathway even if the pathway wrote it on an earlier visit.

    Attributes:
        name: The name.
    """

    model_config = ConfigDict(title="Known name")

    name: ContextName = Field(validation_alias="known")


def known(name: str) -> Known:
    """Return an entry of `__complete_when__` that counts a value from whenever it is.

    A pathway that was completed, and is entered again, waits for other names to be written again,
    if it wrote them itself; not for this one.

    Example:
        >>> __complete_when__ = [known("customer_id"), "order"]
    """
    return Known(name)


class Never(Enum):
    """The type of `NEVER`."""

    NEVER = "never"


NEVER: Final = Never.NEVER
"""`__complete_when__ = NEVER`: the pathway is left by transitions only."""


class MergeStrategy(StrEnum):
    """Merge strategy for a new value of a context name (REQ-PM-002).

    A value that its strategy cannot take raises `ContextMergeError` and fails the turn; None is
    always skipped. Names without a declared strategy: scalars replace, lists append without
    duplicates, dicts merge deep.
    """

    REPLACE = "replace"
    """The new value replaces the old one."""
    APPEND = "append"
    """The new value, or each item of a new list, goes to the end of a list."""
    MERGE_DICT = "merge"
    """Dicts merge deep; inside them the new value of a name replaces the old one."""
    MAX = "max"
    """The larger of two numbers, or of two strings, is kept."""
    MIN = "min"
    """The smaller of two numbers, or of two strings, is kept."""
    SUM = "sum"
    """Numbers add up."""
    UNION = "union"
    """Items join a list in order, each once."""
