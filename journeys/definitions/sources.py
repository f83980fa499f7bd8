"""The sources of definitions, class bodies and files, and what is wrong with their values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticCustomError, PydanticKnownError

from journeys.errors import did_you_mean, shown
from journeys.faults import Fault, Path, key_of, wanted

if TYPE_CHECKING:
    from journeys.definitions.definition import Definition

Made = TypeVar("Made", bound="Definition")
GONE = "gone"
"""Kind of the error of what is left out; its faults are noted already."""


class Emptied(dict[str, Any]):
    """Stands for what should be a mapping and is none, which is noted already."""


class Source:
    """Where the values of definitions come from; it takes down what is wrong with them.

    What has faults is read without its faulty parts, so that all else is judged in the same go.
    """

    is_code = False
    words: Mapping[str, str] = {}
    """What a value must be in the words of this source, by the kind of the error."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.gone: set[int] = set()
        """Mappings that are not read at all, by identity."""
        self._made: dict[tuple[type, int], Definition | None] = {}
        self._read: list[Any] = []

    def named(self, path: Path) -> str:
        """Return what a fault calls a value."""
        return key_of(path)

    def shown(self, value: Any, held: Any, path: Path) -> str:
        """Return a value as faults show it."""
        return shown(value)

    def note(self, held: Mapping[str, Any], fault: Fault) -> None:
        """Take down a fault of what a mapping holds."""
        self.faults.append(fault)

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return what is called where a definition takes a function."""
        raise NotImplementedError

    def takes(self, cls: type[Definition], value: Any) -> bool:
        """Say whether a value may stand for a definition."""
        return isinstance(value, dict)

    def read(self, cls: type[Made], value: Any, handler: Callable[[Any], Made]) -> Made:
        """Return a definition without what is wrong in it, which is noted.

        Raises:
            ValidationError: It is no mapping.
            PydanticCustomError: Without what is wrong in it, nothing is left.
        """
        if isinstance(value, cls):
            return value
        if not self.takes(cls, value):
            raise PydanticKnownError("model_type", {"class_name": cls.__name__})
        key = (cls, id(value))
        if key not in self._made:
            self._read.append(value)  # an identity is one only as long as what has it
            self._made[key] = self._sound(cls, value, handler)
        if (made := self._made[key]) is None:
            self.gone.add(id(value))
            raise PydanticCustomError(GONE, GONE)
        return made  # type: ignore[return-value]

    def _sound(
        self, cls: type[Made], value: dict[str, Any], handler: Callable[[Any], Made]
    ) -> Made | None:
        wrong: list[Any] = []
        hidden = set() if self.is_code else cls.unwritten & value.keys()
        try:
            made = handler({name: item for name, item in value.items() if name not in hidden})
        except ValidationError as error:
            wrong += error.errors(include_url=False)
        wrong += [{"type": "extra_forbidden", "loc": (name,)} for name in hidden]
        for item in wrong:
            if not isinstance(value, Emptied) and not _follows(item, wrong):
                self._note(cls, value, item)
        broken = _broken(cls, value, wrong)
        if broken:
            try:
                made = handler(_without(cls, value, wrong))
            except ValidationError:  # something is missing that it cannot do without
                return None
            made.__dict__["_broken"] = broken
        if isinstance(value, Emptied):
            made.__dict__["_broken"] = set(cls.keys())
        else:
            self._hold_rules(value, made, broken)
        return made

    def _hold_rules(self, value: dict[str, Any], made: Definition, broken: set[str]) -> None:
        for reads, rule in made.rules():
            for fault in () if broken & {*reads} else rule(made):
                made.__dict__.setdefault("_broken", {""})
                self.note(value, fault)

    def _note(self, cls: type[Definition], value: Any, error: Any) -> None:
        if error["type"] == GONE:
            return
        path = real_path(value, error["loc"])
        kind, last = error["type"], error["loc"][-1]
        if kind == "missing":
            fault = Fault(f"'{last}' is missing in {cls.called()}.", at_key=True)
        elif kind == "extra_forbidden":
            known = list(cls.keys())
            hint = cls.elsewhere.get(str(last)) or did_you_mean(str(last), known)
            owner = f"argument of {cls.__name__}" if self.is_code else f"key of {cls.called()}"
            said = f"'{last}' is no {owner}.{hint} Known: {', '.join(known)}."
            fault = Fault(said, *path, at_key=True)
        elif last == "[key]":
            remedy = wanted(error, self.words)
            fault = Fault(f"'{path[-1]}' is not a valid name: {remedy}", *path, at_key=True)
        elif kind == "whole":
            fault = Fault(error["ctx"]["said"], *path)
        elif kind == "said":
            fault = Fault(f"{self.named(path)}: {error['ctx']['said']}", *path)
        else:
            words = {**self.words, "string_type": "text or a mapping"}
            either = error["loc"][-1] == "<text or mapping>"
            said = self.shown(error["input"], value, path)
            remedy = wanted(error, words if either else self.words)
            fault = Fault(f"{self.named(path)} is {said}; {remedy}", *path)
        self.note(value, fault)


class ClassBody(Source):
    """The arguments of a definition in Python code."""

    is_code = True
    words = {
        "string_type": "text",
        "bool_type": "True or False",
        "dict_type": "a dict",
        "mapping_type": "a dict",
    }

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__()
        self.given = given

    def takes(self, cls: type[Definition], value: Any) -> bool:
        """Say whether these are the arguments; within them, a definition is called by its name."""
        if value is not self.given and not isinstance(value, cls):
            raise wrong(f"it must be {cls.__name__}(...).")
        return True

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return a function as it is given."""
        if not callable(value) or not takes(value, *variables):
            raise wrong(f"it must be a function that takes ({', '.join(variables)}).")
        return value


def wrong(said: str) -> PydanticCustomError:
    """Return the error of a validator about a value: `key is value; said`."""
    return PydanticCustomError("wanted", "{wanted}", {"wanted": said})


def takes(function: Any, *arguments: Any) -> bool:
    """Say whether a callable can be called with these arguments, as far as it tells."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some built-in callables do not say what they take
        return True
    return True


def real_path(value: Any, location: tuple[int | str, ...]) -> Path:
    """Return the path of an error in a value; the names of alternatives are no part of it."""
    path: list[int | str] = []
    for step in location:
        listed = isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value)
        if listed or (isinstance(value, Mapping) and step in value):
            value = value[step]
            path.append(step)
    return tuple(path)


def _broken(cls: type[Definition], value: Mapping[str, Any], wrong: Sequence[Any]) -> set[str]:
    """Return the keys that cannot be judged, as what is written for them is wrong."""
    broken = {str(item["loc"][0]) for item in wrong}
    known = set(cls.keys())
    # An unknown key may be meant to be any of those that are not written.
    return broken | (known - value.keys()) if broken - known else broken


def _without(cls: type[Definition], value: dict[str, Any], wrong: Sequence[Any]) -> Any:
    """Return a mapping without what is wrong in it; what it needs stands in for that."""
    paths = [(real_path(value, item["loc"]), item["type"]) for item in wrong]
    out = {_smallest(value, path): kind.startswith("model_") for path, kind in paths if path}
    return {**cls.stand_ins, **_left(value, out)}


def _follows(error: Any, errors: list[Any]) -> bool:
    """Say whether a list is only empty because what is in it is wrong."""
    inner = (other for other in errors if other is not error)
    at = error["loc"]
    return error["type"] == "too_short" and any(other["loc"][: len(at)] == at for other in inner)


def _smallest(value: Any, path: Path) -> Path:
    """Return the path of what a fault leaves out: an entry, a mapping in a list, or a key."""
    least = path[:1]
    for number in range(1, len(path)):
        value = value[path[number - 1]]
        if not isinstance(value, dict) and not isinstance(value[path[number]], dict):
            break
        least = path[: number + 1]
    return least


def _left(value: Any, out: Mapping[Path, bool]) -> Any:
    """Return a value without the parts at these paths; True: an empty one takes their place."""

    def kept(steps: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        for step, item in steps:
            if (step,) not in out:
                inner = {path[1:]: empty for path, empty in out.items() if path[0] == step}
                yield step, _left(item, inner)
            elif out[(step,)]:
                yield step, Emptied()

    if not out:
        return value
    if isinstance(value, dict):
        return dict(kept(value.items()))
    return [item for _, item in kept(enumerate(value))]
