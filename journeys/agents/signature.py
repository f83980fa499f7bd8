"""Signatures: the typed contract of an agent, its inputs and its outputs.

>>> from journeygraph import InputField, OutputField
>>> class Ask(Signature):
...     '''Answer from the handbook.'''
...     __intent__ = "Settle what the caller wonders about"
...     question: str = InputField(description="What was asked")
...     response: str = OutputField(description="The answer")
>>> Ask().instructions, Ask().intent
('Answer from the handbook.', 'Settle what the caller wonders about')
"""

from __future__ import annotations

import inspect
import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from journeygraph.journeys.errors import JourneyDefinitionError, did_you_mean, shown
from journeygraph.journeys.faults import Fault

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter


SOURCES = ("message", "history", "context")
"""Declared sources of an input."""

TAKEN = (
    "model_config",
    "model_dump",
    "model_dump_json",
    "model_validate",
    "model_validate_json",
    "model_validate_strings",
)
"""Names that no field of a pydantic model can have."""


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        # There is one of it, also after a copy: `is MISSING` must go on to hold.
        return "MISSING"


MISSING: Any = _Missing()
"""Stands for 'no default was given'."""


@dataclass(frozen=True, slots=True)
class Field:
    """One input or output of a signature, as declared."""

    kind: str
    description: str
    default: Any = MISSING
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One input or output of a signature, with its name and type."""

    name: str
    annotation: Any
    description: str
    _default: Any = MISSING
    source: str | None = None

    @property
    def default(self) -> Any:
        """The value when nothing fills it, or `MISSING`; a copy, since one spec serves all."""
        return deepcopy(self._default)

    @property
    def required(self) -> bool:
        """Return whether there is no default."""
        return self._default is MISSING

    @property
    def shape(self) -> str:
        """Return the shape of its values: "dict", "list", or empty for others."""
        kinds = [kind for kind in _parts(self.annotation) if kind is not type(None)]
        shapes = {_shape(kind) for kind in kinds}
        return shapes.pop() if len(shapes) == 1 else ""

    @property
    def is_text(self) -> bool:
        """Return whether the type is `str`, annotated or not."""
        return _bare(self.annotation) is str

    def validated(self, value: Any) -> Any:
        """Return the value as plain data of the declared type.

        Raises:
            ValueError: The value does not have that type, or data cannot have that type; pydantic's
                message says why.
        """
        if self.annotation is str and type(value) is str:
            return value  # as most outputs are
        try:
            adapter = _adapter(self.annotation)
        except (TypeError, NameError, RuntimeError) as error:
            raise ValueError(str(error)) from error
        return adapter.dump_python(adapter.validate_python(value), mode="json")

    def empty(self) -> Any:
        """Return the type's empty value: "", {}, [], 0, False; None if the type has none."""
        bare = _bare(self.annotation)
        kind = typing.get_origin(bare) or bare
        return kind() if kind in (str, dict, list, int, float, bool, tuple, set) else None


@dataclass(frozen=True, slots=True)
class SignatureSpec:
    """The frozen content of a signature; what the compiler and the agents read."""

    name: str
    instructions: str
    intent: str
    guidelines: tuple[str, ...]
    inputs: tuple[FieldSpec, ...]
    outputs: tuple[FieldSpec, ...]

    @property
    def listener(self) -> FieldSpec | None:
        """The input that gets the message unless the context has it: the first required text."""
        listening = (f for f in self.inputs if f.required and f.is_text and not f.source)
        return next(listening, None)


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Return the kinds of a union; of anything else, the kind itself."""
    bare = _bare(annotation)
    union = typing.get_origin(bare) in (typing.Union, UnionType)
    return tuple(map(_bare, typing.get_args(bare))) if union else (bare,)


def _shape(kind: Any) -> str:
    origin = typing.get_origin(kind) or kind
    if not isinstance(origin, type):
        return ""
    if issubclass(origin, Mapping) or hasattr(origin, "model_fields"):
        return "dict"
    listed = issubclass(origin, (Sequence, Set)) and not issubclass(origin, (str, bytes))
    return "list" if listed else ""


def _bare(annotation: Any) -> Any:
    annotated = typing.get_origin(annotation) is typing.Annotated
    return typing.get_args(annotation)[0] if annotated else annotation


@lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    # pydantic's core takes longer to load than this whole package, and a definition needs none.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(annotation)


def InputField(
    *,
    default: Any = MISSING,
    description: str = "",
    desc: str = "",
    source: str | None = None,
) -> Any:
    """Declare an input of a signature.

    Args:
        default: Value when nothing fills it; without one the input is required.
        description: Its content, in words; shown to a model.
        desc: Short spelling of `description`.
        source: Source of its value: "message", "history" or "context". Unset: the context value of
            that name; else, for the first required text input, the message.
    """
    return Field("input", description or desc, default, source)


def OutputField(
    *,
    default: Any = MISSING,
    description: str = "",
    desc: str = "",
) -> Any:
    """Declare an output of a signature.

    Args:
        default: Documents what its absence means; an agent may leave any output out.
        description: Its content, in words; shown to a model.
        desc: Short spelling of `description`.
    """
    return Field("output", description or desc, default)


def field_faults(where: str, name: str, declared: Field) -> Iterator[Fault]:
    """Yield what is wrong with one field, seen alone; `where` names its class and itself."""
    for said, remedy in _faults_of(name, declared):
        yield Fault(said, name, remedy=remedy, where=where)


def _faults_of(name: str, declared: Field) -> Iterator[tuple[str, str]]:
    if name.startswith("_"):
        yield "the name of a field cannot begin with an underscore.", "Rename it."
    if name in TAKEN:
        yield f"the name '{name}' is reserved by pydantic.", "Rename it."
    if declared.source is not None and declared.source not in SOURCES:
        hint = did_you_mean(str(declared.source), SOURCES)
        yield f"source is {declared.source!r}.", f"{hint} One of: {', '.join(SOURCES)}."
    if not isinstance(declared.description, str):
        yield f"its description is {declared.description!r}", "it must be text."
    if not (declared.default is MISSING or _is_plain(declared.default)):
        yield (
            f"its default is {declared.default!r}",
            "it must be plain JSON: text, a number, true, false, None, or lists and dicts of them.",
        )


def pair_faults(owner: str, kind: str, fields: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong with fields given as name -> (type, field) of one kind."""
    for name, pair in fields.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Field)
        if not is_pair or pair[1].kind != kind:
            wanted = f"(str, {kind.capitalize()}Field(...))"
            said = f"give a type and an {kind}: {wanted}, not {pair!r}."
            yield Fault(said, name, where=f"{owner}.{name}")


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (str, int, float))


_ATTRIBUTES = ("__intent__", "__guidelines__")
_MEANT = {
    "intent": "__intent__",
    "guidelines": "__guidelines__",
    "instructions": "the docstring of the class",
}
PYTHON_NAMES = frozenset(dir(type)) | {
    "__annotations__",
    "__annotations_cache__",
    "__annotate__",
    "__annotate_func__",
    "__classcell__",
    "__conditional_annotations__",
    "__firstlineno__",
    "__orig_bases__",
    "__parameters__",
    "__slots__",
    "__static_attributes__",
    "__type_params__",
    "__weakref__",
}
"""Double-underscore names that Python itself puts into a class body."""


class Signature:
    """The typed contract of an agent: inputs, outputs, why it exists, how it behaves.

    The class docstring gives the instructions, `__intent__` the reason, `__guidelines__` the
    manner. Instances are immutable: `with_instructions` and `with_guidelines` return new ones.
    Subclasses inherit fields, intent and guidelines. Source: ADR-025 section 4.

    Raises:
        JourneyDefinitionError: At class creation, with every fault of the body.
    """

    __intent__: ClassVar[str] = ""
    __guidelines__: ClassVar[Sequence[str]] = ()
    _declared: ClassVar[SignatureSpec] = SignatureSpec("Signature", "", "", (), (), ())
    _own_fields: ClassVar[Mapping[str, Field]] = {}
    spec: SignatureSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_fields = {n: field for n, field in vars(cls).items() if isinstance(field, Field)}
        # Taken out of the body: a field named `intent` would hide the property.
        for name in cls._own_fields:
            delattr(cls, name)
        cls._declared = _read(cls)

    def __init__(self) -> None:
        object.__setattr__(self, "spec", type(self)._declared)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{type(self).__name__} is immutable; use with_instructions() or with_guidelines()"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; '{name}' cannot be deleted")

    @classmethod
    def define(
        cls,
        name: str,
        *,
        inputs: Mapping[str, tuple[Any, Any]],
        outputs: Mapping[str, tuple[Any, Any]],
        instructions: str = "",
        intent: str = "",
        guidelines: Sequence[str] = (),
    ) -> type[Self]:
        """Build a signature class from data instead of a class body.

        Args:
            name: Name of the new class.
            inputs: Field name -> (type, InputField(...)).
            outputs: Field name -> (type, OutputField(...)).
            instructions: Text that a class body would have as its docstring.
            intent: Purpose of the agent.
            guidelines: Rules of its behaviour.

        Raises:
            JourneyDefinitionError: With every fault of the arguments.

        Example:
            >>> from journeygraph import InputField, OutputField
            >>> Echo = Signature.define(
            ...     "Echo",
            ...     inputs={"text": (str, InputField(desc="the message"))},
            ...     outputs={"response": (str, OutputField(desc="the same"))})
            >>> list(Echo().inputs)
            ['text']
        """
        _refuse([*pair_faults(name, "input", inputs), *pair_faults(name, "output", outputs)])
        said = "it is both an input and an output."
        _refuse([Fault(said, f, where=f"{name}.{f}") for f in inputs if f in outputs])
        fields = {**inputs, **outputs}
        body = {field: declared for field, (_, declared) in fields.items()}
        annotations = {field: annotation for field, (annotation, _) in fields.items()}
        told = {"__doc__": instructions, "__intent__": intent, "__guidelines__": list(guidelines)}
        return type(name, (cls,), {**body, **told, "__annotations__": annotations})

    @property
    def intent(self) -> str:
        """Purpose of the agent."""
        return self.spec.intent

    @property
    def guidelines(self) -> list[str]:
        """Behaviors of the agent; a copy."""
        return list(self.spec.guidelines)

    @property
    def instructions(self) -> str:
        """Instructions: the docstring, or the text of `with_instructions`."""
        return self.spec.instructions

    @property
    def inputs(self) -> dict[str, FieldSpec]:
        """The inputs by name, in order; a copy."""
        return {field.name: field for field in self.spec.inputs}

    @property
    def outputs(self) -> dict[str, FieldSpec]:
        """The outputs by name, in order; a copy."""
        return {field.name: field for field in self.spec.outputs}

    @property
    def input_model(self) -> type[BaseModel]:
        """A pydantic model of the inputs."""
        return _model(f"{self.spec.name}Inputs", self.spec.inputs)

    @property
    def output_model(self) -> type[BaseModel]:
        """A pydantic model of the outputs."""
        return _model(f"{self.spec.name}Outputs", self.spec.outputs)

    def with_instructions(self, new_instructions: str) -> Self:
        """Return a new signature with other instructions; this one stays as it is."""
        if not isinstance(new_instructions, str):
            said = f"instructions is {shown(new_instructions)}; it must be text."
            _refuse([Fault(said, where=type(self).__name__)])
        return self._with(replace(self.spec, instructions=new_instructions))

    def with_guidelines(self, additional_guidelines: Sequence[str]) -> Self:
        """Return a new signature with guidelines added at the end; this one stays as it is."""
        _refuse(_guideline_faults(type(self).__name__, additional_guidelines))
        more = (*self.spec.guidelines, *additional_guidelines)
        return self._with(replace(self.spec, guidelines=more))

    def _with(self, spec: SignatureSpec) -> Self:
        copy = type(self)()
        object.__setattr__(copy, "spec", spec)
        return copy


def _model(name: str, fields: Sequence[FieldSpec]) -> type[BaseModel]:
    from pydantic import Field as ModelField  # noqa: PLC0415
    from pydantic import create_model  # noqa: PLC0415

    members: dict[str, Any] = {
        field.name: (
            field.annotation,
            ModelField(
                default=... if field.required else field.default, description=field.description
            ),
        )
        for field in fields
    }
    with warnings.catch_warnings():
        # Names such as `copy` hide a method of the model that nobody needs here.
        warnings.filterwarnings("ignore", "Field name", UserWarning)
        return create_model(name, **members)


def docstring(cls: type, root: type) -> str:
    """Return the nearest docstring up to, but without, `root`, cleaned."""
    for klass in cls.__mro__:
        if klass is root:
            break
        if klass.__doc__:
            return inspect.cleandoc(klass.__doc__)
    return ""


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise JourneyDefinitionError(faults)


def _read(cls: type[Signature]) -> SignatureSpec:
    name = cls.__name__
    faults = [*_attribute_faults(cls), *_guideline_faults(name, cls.__guidelines__)]
    if not isinstance(cls.__intent__, str):
        said, remedy = f"__intent__ is {shown(cls.__intent__)}", "it must be text."
        faults.append(Fault(said, "__intent__", remedy=remedy, where=name))
    fields, field_faults = _fields(cls)
    _refuse([*faults, *field_faults])
    return SignatureSpec(
        name=name,
        instructions=docstring(cls, Signature),
        intent=cls.__intent__,
        guidelines=tuple(cls.__guidelines__),
        inputs=tuple(spec for kind, spec in fields if kind == "input"),
        outputs=tuple(spec for kind, spec in fields if kind == "output"),
    )


def _attribute_faults(cls: type[Signature]) -> Iterator[Fault]:
    for name, value in vars(cls).items():
        if name.startswith("__") and name.endswith("__"):
            if name not in PYTHON_NAMES and name not in _ATTRIBUTES:
                said = f"{name} is not an attribute of a signature."
                remedy = f"{did_you_mean(name, _ATTRIBUTES)} Known: {', '.join(_ATTRIBUTES)}."
                yield Fault(said, name, remedy=remedy, where=cls.__name__)
        elif name in _MEANT and isinstance(value, (str, list, tuple)):
            said, remedy = f"{name} is not a known attribute.", f"Write {_MEANT[name]} instead."
            yield Fault(said, name, remedy=remedy, where=cls.__name__)


def _guideline_faults(owner: str, guidelines: Any) -> list[Fault]:
    if isinstance(guidelines, str) or not isinstance(guidelines, Sequence):
        said, remedy = f"guidelines is {shown(guidelines)}", "it must be a list of sentences."
        return [Fault(said, "__guidelines__", remedy=remedy, where=owner)]
    path, remedy = "__guidelines__", "it must be text."
    return [
        Fault(f"guidelines[{n}] is {shown(item)}", path, n, remedy=remedy, where=owner)
        for n, item in enumerate(guidelines)
        if not isinstance(item, str)
    ]


def _fields(cls: type[Signature]) -> tuple[list[tuple[str, FieldSpec]], list[Fault]]:
    hints, faults = _hints(cls)
    declared = _declared_fields(cls)
    typed = hints or vars(cls).get("__annotations__", cls._own_fields)
    for name, own in cls._own_fields.items():
        faults += field_faults(f"{cls.__name__}.{name}", name, own)
        if name not in typed:
            remedy, at = f"Write {name}: str = ...", f"{cls.__name__}.{name}"
            faults.append(Fault("the field has no type.", name, remedy=remedy, where=at))
    fields: list[tuple[str, FieldSpec]] = []
    for name, annotation in hints.items():
        if field := declared.get(name):
            default = deepcopy(field.default)
            spec = FieldSpec(name, annotation, field.description, default, field.source)
            fields.append((field.kind, spec))
        elif typing.get_origin(annotation) is not ClassVar and name != "spec":
            remedy = (
                f"Write {name}: ... = InputField(...) or OutputField(...), or "
                "annotate it as ClassVar."
            )
            at = f"{cls.__name__}.{name}"
            faults.append(Fault("not a field.", name, remedy=remedy, where=at))
    return fields, faults


def _hints(cls: type[Signature]) -> tuple[dict[str, Any], list[Fault]]:
    try:
        return typing.get_type_hints(cls, include_extras=True), []
    except Exception as error:  # whatever the text of an annotation does when it is evaluated
        said = f"an annotation cannot be resolved ({type(error).__name__}: {error})."
        remedy = "Import what it names at the top of the module."
        return {}, [Fault(said, remedy=remedy, where=cls.__name__)]


def _declared_fields(cls: type[Signature]) -> dict[str, Field]:
    """Return the fields of a class and its bases; what a body sets to something else is gone."""
    declared: dict[str, Field] = {}
    for body in reversed(cls.__mro__):
        declared = {name: field for name, field in declared.items() if name not in vars(body)}
        declared |= vars(body).get("_own_fields", {})
    return declared


@dataclass(frozen=True, slots=True)
class Ask:
    """Request of a pattern to a model agent, in addition to its signature.

    Attributes:
        keeps_own: True if the outputs of its signature are wanted as well.
    """

    instructions: str
    outputs: tuple[FieldSpec, ...] = ()
    keeps_own: bool = True
