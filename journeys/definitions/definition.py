"""The base of everything that authors declare: a pydantic model that class bodies and files share.

Definitions are frozen, take arguments by position, and report all their faults at once. The
same class is what a class body holds, what a file is read into, and what the JSON Schema of files
is made from.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic._internal._model_construction import ModelMetaclass

from journeygraph.journeys.definitions.sources import GONE, ClassBody, Source
from journeygraph.journeys.errors import ConfigurationError
from journeygraph.journeys.faults import Fault, key_of, wanted

Judged = TypeVar("Judged", bound=Callable[..., Iterator[Fault]])
_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.M)


class _DefinitionType(ModelMetaclass):
    """Removes `_: KW_ONLY` from a body: fields before it can be given by position."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **given: Any) -> Any:
        written = body.get("__annotations__", {})
        names = list(written)
        closed = names.index("_") if written.pop("_", "") else len(names)
        made: Any = super().__new__(cls, name, bases, body, **given)
        own = [name for name in names[:closed] if name in made.__pydantic_fields__]
        made.by_position = (*getattr(super(made, made), "by_position", ()), *own)
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        fields: dict[str, Any] = cls.__pydantic_fields__  # type: ignore[attr-defined]
        placed: tuple[str, ...] = cls.by_position  # type: ignore[attr-defined]
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    kinds[name in placed],
                    default=inspect.Parameter.empty if field.is_required() else field.get_default(),
                    annotation=field.annotation,
                )
                for name, field in sorted(fields.items(), key=lambda item: item[0] not in placed)
                if field.init is not False
            ]
        )

    @__signature__.setter
    def __signature__(cls, _: Any) -> None:
        """Keep it, when pydantic sets its own."""


@dataclass_transform(kw_only_default=False, frozen_default=True, field_specifiers=(Field,))
class Definition(BaseModel, metaclass=_DefinitionType):
    """Base class of what authors declare; see the module."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        arbitrary_types_allowed=True,
        defer_build=True,
        validate_by_name=True,
        validate_by_alias=True,
    )
    by_position: ClassVar[tuple[str, ...]] = ()
    unwritten: ClassVar[frozenset[str]] = frozenset()
    """Names that no file has: what the library itself sets, and functions."""
    needed: ClassVar[frozenset[str]] = frozenset()
    """Keys that a file must have for it, and a class body need not."""
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Remedies for keys that belong into another mapping."""
    absent: ClassVar[Mapping[str, Fault]] = {}
    """Own faults for missing keys."""
    is_mapping: ClassVar[bool] = False
    """True if class bodies write it as a dict, too."""
    defers_errors: ClassVar[bool] = False
    """True if the reader of a body says what is wrong with it, by its place."""
    placeholders: ClassVar[Mapping[str, Any]] = {}
    """Placeholder for a missing or wrong required value, so that the rest is checked."""

    def __init__(self, *args: Any, **given: Any) -> None:
        cls = type(self)
        if len(args) > len(cls.by_position):
            most = len(cls.by_position)
            raise TypeError(f"{cls.__name__}() takes {most} positional arguments, not {len(args)}.")
        placed = dict(zip(cls.by_position, args, strict=False))
        if twice := placed.keys() & given.keys():
            raise TypeError(f"{cls.__name__}() got two values for '{min(twice)}'.")
        source = ClassBody(cls.prepared({**placed, **given}))
        try:
            cls.__pydantic_validator__.validate_python(
                source.given, self_instance=self, **source.options
            )
        except ValidationError:
            if not source.faults:
                raise
        if source.faults:
            self._refuse(source.given, source.faults)

    # Else pydantic calls it for each mapping that it reads.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def is_whole(self) -> bool:
        """Return whether all that was given for it could be read."""
        return "_broken" not in self.__dict__

    def has_sound(self, *names: str) -> bool:
        """Return whether what was given for some of its fields could be read."""
        return not self.__dict__.get("_broken", set()) & {*names}

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return its faults, if the reader of the body reports them."""
        found: tuple[Fault, ...] = self.__dict__.get("_faults", ())
        return found

    def _refuse(self, given: Mapping[str, Any], faults: list[Fault]) -> None:
        if self.defers_errors:
            self.__dict__["_faults"] = tuple(faults)
            return
        lines = [f"{self.of(given)}: {fault}" for fault in faults]
        raise ConfigurationError("\n".join(lines), faults)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{type(self).__name__} is frozen; `model_copy(update=...)` copies it."
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which are not judged, and without what was derived."""
        made = super().model_copy(update=update, deep=deep)
        for name in made.__dict__.keys() - type(self).__pydantic_fields__.keys():
            del made.__dict__[name]
        return made

    def changed(self, **given: Any) -> Self:
        """Return it with other values, all of them judged."""
        return type(self)(
            **{name: getattr(self, name) for name in type(self).__pydantic_fields__} | given
        )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a definition that is given like this."""
        return cls.__name__

    @classmethod
    def called(cls) -> str:
        """Return what messages call a mapping that is read into it."""
        title = str(cls.model_config.get("title", cls.__name__)).lower()
        return title if " of " in title else f"{'an' if title[0] in 'aeiou' else 'a'} {title}"

    @classmethod
    def names(cls) -> dict[str, str]:
        """Return its fields, each with the key that files have for it."""
        fields = cls.__pydantic_fields__.items()
        return {name: str(field.validation_alias or name) for name, field in fields}

    @classmethod
    def keys(cls) -> dict[str, Any]:
        """Return its fields by the keys that files have for them."""
        keys = cls.names().items()
        return {k: cls.__pydantic_fields__[n] for n, k in keys if n not in cls.unwritten}

    @classmethod
    def known(cls, *, is_code: bool) -> list[str]:
        """Return what may be given for it, in a class body or in a file."""
        hidden = cls.hidden(is_code=True)
        return [n for n in cls.names() if n not in hidden] if is_code else [*cls.keys()]

    @classmethod
    def hidden(cls, *, is_code: bool) -> Set[str]:
        """Return the fields that only files have, or that these do not have."""
        fields = cls.__pydantic_fields__.items()
        of_files = {name for name, field in fields if field.init is False}
        return of_files if is_code else cls.unwritten

    @classmethod
    def prepared(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a class body as they are read."""
        return given

    @classmethod
    def arranged(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Return a mapping of a file with one key for each field."""
        return value

    @classmethod
    def rules(cls) -> tuple[tuple[tuple[str, ...], Callable[[Any], Iterator[Fault]]], ...]:
        """Return its rules between values, each with the names that it reads."""
        return _rules(cls)

    @classmethod
    def read(cls, value: Any, source: Source) -> Any:
        """Return what a source has, noting there what is wrong; None if nothing is left."""
        try:
            return cls.__pydantic_validator__.validate_python(value, **source.options)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                if item["type"] != GONE:
                    said = f"{key_of(())} is {source.shown(value, value, ())}"
                    source.note(value, Fault(said, remedy=wanted(item, source.words)))
            return None

    @model_validator(mode="wrap")
    @classmethod
    def _judged(cls, value: Any, handler: Any, info: Any) -> Any:
        return handler(value) if info.context is None else info.context.read(cls, value, handler)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        """Return its schema in files: only the parts of files, each with its description."""
        schema: dict[str, Any] = handler.resolve_ref_schema(handler(core))
        fields = cls.__pydantic_fields__
        of_names = described(cls)
        said = {
            fields[n].validation_alias or n: re.sub(r"\bpathway", "state", text)
            for n, text in of_names.items()
            if n in fields
        }
        schema["properties"] = {
            name: {"description": said[name], **part} if name in said else part
            for name, part in schema.get("properties", {}).items()
            if name not in cls.unwritten
        }
        required = [*schema.pop("required", []), *sorted(cls.needed)]
        if written := [name for name in required if name not in cls.unwritten]:
            schema["required"] = written
        if doc := cls.__doc__:
            schema["description"] = inspect.cleandoc(doc).partition("\n")[0]
        return schema


def rule(*reads: str) -> Callable[[Judged], Judged]:
    """Mark a method that yields faults between values, run where all that it reads is sound."""

    def marked(method: Judged) -> Judged:
        method.reads = reads  # type: ignore[attr-defined]
        return method

    return marked


@cache
def _rules(cls: Any) -> tuple[Any, ...]:
    named = dict.fromkeys(name for body in reversed(cls.__mro__) for name in vars(body))
    found = (getattr(cls, name, None) for name in named if not name.startswith("__"))
    return tuple((one.reads, one) for one in found if one is not None and hasattr(one, "reads"))


@cache
def described(cls: Any) -> dict[str, str]:
    """Return the descriptions of the fields of a definition, from its docstring and bases."""
    said: dict[str, str] = {}
    for body in reversed(cls.__mro__):
        section = inspect.cleandoc(vars(body).get("__doc__") or "").partition("Attributes:\n")[2]
        said |= {name: " ".join(text.split()) for name, text in _ENTRY.findall(section)}
    return {name: f"{text[:1].upper()}{text[1:]}" for name, text in said.items()}
