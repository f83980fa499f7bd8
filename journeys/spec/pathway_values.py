"""Types of the values that pathways declare, in class bodies and in files."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, ValidationInfo
from pydantic_core import PydanticCustomError

from journeygraph.journeys.agents.signature import Signature, SignatureSpec
from journeygraph.journeys.declarations.behaviors import (
    NEVER,
    Known,
    MergeStrategy,
    Never,
    ReturnToPrevious,
    ReturnToSpecific,
)
from journeygraph.journeys.declarations.fields import Field as Asked
from journeygraph.journeys.declarations.fields import Form
from journeygraph.journeys.declarations.transitions import ConditionTrigger
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import FAULTY, is_async, takes, wrong
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    As,
    Checked,
    ContextName,
    InCode,
    Listed,
    Name,
    OneOf,
    Text,
)
from journeygraph.journeys.errors import one_of
from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.pipelines.pattern_kinds import AnyPattern, Pattern

Completion = tuple[str | Known, ...] | Callable[[Mapping[str, Any]], Any] | Never | None
STRATEGIES = [one.value for one in MergeStrategy]
KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
Kind = Annotated[str, OneOf(KINDS)]
Scalar = Annotated[
    Any, Checked(lambda value, _: value, {"type": ["string", "integer", "boolean", "null"]})
]


class ValueSchema(Definition):
    """JSON Schema of a value; of its words, these are read.

    Attributes:
        type: A kind of value, or a list of one and "null".
        description: Its content, for models.
        enum: The only values that it has.
        items: Of an array: what is in it.
        properties: Of an object: its keys.
        required: Of an object: keys that must be there.
    """

    model_config = ConfigDict(title="Schema of a value")

    type: Annotated[Kind | Annotated[Listed[Kind], NOT_EMPTY] | None, BY_SHAPE] = None
    description: Text = ""
    enum: Listed[Scalar] = ()
    items: "ValueSchema | None" = None
    properties: "Mapping[str, ValueSchema] | None" = None
    required: Listed[str] = ()


class Output(ValueSchema):
    """Output of an agent for the context: a JSON Schema and a merge strategy.

    Attributes:
        merge: Strategy that joins a new value to the old one.
    """

    model_config = ConfigDict(title="Output")

    merge: Annotated[str, OneOf(STRATEGIES)] | None = None


def judge_fault(judge: Any) -> str:
    """Return what a callable on the context must be and is not; empty if it can judge."""
    if is_async(judge):
        return "a plain function: an async one would always count as true"
    return "" if takes(judge, {}) else "callable with the context as its only argument"


def _signature(value: Any) -> SignatureSpec | None:
    if isinstance(value, type) and issubclass(value, Signature) and value is not Signature:
        return value().spec
    if isinstance(value, Signature):
        return value.spec
    if value is None or isinstance(value, SignatureSpec):
        return value
    raise wrong("it must be a Signature class or instance.")


def _returns(value: Any) -> Any:
    if value is not None and not isinstance(value, (ReturnToPrevious, ReturnToSpecific)):
        raise wrong("it must be ReturnToPrevious() or ReturnToSpecific('id').")
    if value is not None and value.faults:
        raise PydanticCustomError(FAULTY, FAULTY, {"faults": value.faults})
    return value


def _strategy(value: Any, _: Any) -> MergeStrategy | None:
    if value is None or value in STRATEGIES:
        return None if value is None else MergeStrategy(value)
    raise wrong(one_of(value, STRATEGIES))


def _accumulated(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return MappingProxyType(dict(given))
    if twice := [name for name in given if given.count(name) > 1]:
        raise wrong(f"'{twice[0]}' must occur only once.")
    return MappingProxyType(dict.fromkeys(given))


Accumulated = Annotated[
    Mapping[str, MergeStrategy | None],
    As(
        Annotated[
            Listed[ContextName] | Mapping[ContextName, Annotated[Any, Checked(_strategy, {})]],
            BY_SHAPE,
        ]
    ),
    AfterValidator(_accumulated),
]


def _criterion(value: Any) -> Any:
    if value is None or value is NEVER:
        return value
    if callable(value):
        if fault := judge_fault(value):
            raise wrong(f"it must be {fault}.")
        return value
    if not isinstance(value, (list, tuple)) or not value:
        raise wrong("it must be names, a function of the context, or NEVER.")
    for item in value:
        name = item.name if isinstance(item, Known) else item
        if not isinstance(name, str) or not name:
            raise wrong(f"{item!r} in it is not a name.")
    return tuple(value)


def _completion(value: Any) -> Any:
    if isinstance(value, ConditionTrigger):
        return value.condition
    return NEVER if value == NEVER.value else value


Ends = Annotated[
    Completion,
    InCode(
        Annotated[
            Literal["never"]
            | Annotated[Listed[Annotated[ContextName | Known, BY_SHAPE]], NOT_EMPTY]
            | ConditionTrigger
            | None,
            BY_SHAPE,
        ],
        _criterion,
    ),
    AfterValidator(_completion),
]


def _arrival(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise wrong("it must be True or False.")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise wrong("it must be text.")


def _some(value: Any, info: ValidationInfo[Any]) -> Any:
    """Return what a pathway collects; in a class body, an empty list is nothing."""
    is_code = info.context is None or info.context.is_code
    return None if is_code and isinstance(value, (list, tuple)) and not value else value


def _as_form(given: Any) -> Any:
    return Form.model_construct(fields=given) if isinstance(given, tuple) else given


_FIELDS = As(Annotated[Annotated[Listed[Asked], NOT_EMPTY] | Form, BY_SHAPE])
Fields = Annotated[Form, _FIELDS, AfterValidator(_as_form)]
Collected = Annotated[Form | None, As(Fields | None), BeforeValidator(_some)]
Contract = Annotated[SignatureSpec | None, InCode(Any, _signature)]
Returns = Annotated[ReturnToPrevious | ReturnToSpecific | None, InCode(Any, _returns)]
NextId = Annotated[str, InCode(Name, _text)]
Working = Annotated[
    PatternPipeline | None,
    InCode(Annotated[Pattern | AnyPattern, BY_SHAPE], lambda given: given),
]
OnArrival = Annotated[
    bool,
    InCode(Annotated[str, OneOf(("run", "wait"))], _arrival),
    AfterValidator(lambda given: given in (True, "run")),
]
