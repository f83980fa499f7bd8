"""The sources of definitions, class bodies and files, and what is wrong with their values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticCustomError, PydanticKnownError

from journeygraph.journeys.errors import did_you_mean, shown
from journeygraph.journeys.faults import Fault, Path, key_of, wanted

if TYPE_CHECKING:
    from journeygraph.journeys.definitions.definition import Definition

Made = TypeVar("Made", bound="Definition")
GONE = "gone"
"""Kind of the error of what is omitted; its faults are noted already."""
FAULTY = "faulty"
"""Kind of the error of a definition that holds its faults, until a reader takes them down."""


REFUSED = "refused"
"""Kind of the error of a value that has its own sentence; see `refused`."""


def paths_in(data: Any) -> dict[int, Path]:
    """Return the path of each mapping and list in plain data, by its identity."""
    found: dict[int, Path] = {}
    waiting: list[tuple[Path, Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (dict, list)):
            found[id(value)] = path
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, step), item) for step, item in steps]
    return found


class NotAMapping(dict[str, Any]):
    """Placeholder for a value that is not a mapping; its fault is already recorded."""


class Source:
    """Source of definitions' values, with a record of their faults.

    Faulty parts are skipped, so that the rest is checked in the same pass.
    """

    is_code = False
    words: Mapping[str, str] = {}
    """Description of valid values in the words of this source, by kind of error."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.gone: set[int] = set()
        """Mappings that are not read at all, by identity."""
        self._made: dict[tuple[type, int], Definition | None] = {}
        self._read: list[Any] = []

    @property
    def options(self) -> dict[str, Any]:
        """Pydantic's settings for this source: class bodies have names, files have keys."""
        return {"context": self, "by_name": self.is_code, "by_alias": not self.is_code}

    def named(self, path: Path) -> str:
        """Return what a fault calls a value."""
        return key_of(path)

    def shown(self, value: Any, held: Any, path: Path) -> str:
        """Return a value as faults show it."""
        return shown(value)

    def note(self, held: Mapping[str, Any], fault: Fault) -> None:
        """Record a fault of the content of a mapping."""
        self.faults.append(fault)

    def note_judged(self, held: Mapping[str, Any], fault: Fault) -> None:
        """Record a fault of a definition whose lists may lack unreadable entries."""
        self.note(held, fault)

    def note_inner(self, held: Mapping[str, Any], fault: Fault, path: Path) -> None:
        """Record a fault of a definition at a path of a mapping."""
        self.note(held, fault.at(fault.where, *path))

    def stands_for(self, made: Mapping[str, Any], value: Any) -> None:
        """Record that a mapping is another one in a new arrangement."""

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return what is called where a definition takes a function."""
        raise NotImplementedError

    def agent(self, value: Any) -> Any:
        """Return the agent where a pipeline takes one."""
        raise wrong("it must be an agent.")

    def hidden(self, cls: type[Definition]) -> Set[str]:
        """Return the fields of a definition that the source does not have."""
        return cls.hidden(is_code=self.is_code)

    def known(self, cls: type[Definition]) -> list[str]:
        """Return what the source may have for a definition."""
        return cls.known(is_code=self.is_code)

    def takes(self, cls: type[Definition], value: Any) -> bool:
        """Return whether a value can be given for a definition."""
        return isinstance(value, dict)

    def read(self, cls: type[Made], value: Any, handler: Callable[[Any], Made]) -> Made:
        """Return a definition without what is wrong in it, which is noted.

        Raises:
            ValidationError: It is no mapping.
            PydanticCustomError: Without what is wrong in it, nothing is left.
        """
        if isinstance(value, cls):
            if value.faults:
                raise PydanticCustomError(FAULTY, FAULTY, {"faults": value.faults})
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
        self, cls: type[Made], written: dict[str, Any], handler: Callable[[Any], Made]
    ) -> Made | None:
        if isinstance(written, NotAMapping):
            made = handler({**cls.placeholders})
            made.__dict__["_broken"] = {*cls.keys()}
            return made
        value = self._arranged(cls, written)
        made, wrong = self._tried(cls, value, handler)
        for item in wrong:
            if not _follows(cls, item, wrong):
                self._note(cls, value, item)
        if not self.is_code and cls.needed - value.keys():
            return None
        broken = _broken({*self.known(cls)}, value, wrong)
        if broken:
            try:
                made = handler(_without(cls, value, wrong))
            except ValidationError:  # something is missing that it cannot do without
                return None
            made.__dict__["_broken"] = broken
        self._hold_rules(value, made, broken)
        return made

    def _arranged(self, cls: type[Definition], written: dict[str, Any]) -> dict[str, Any]:
        value = written if self.is_code else cls.arranged(written)
        if value is not written:
            self._read.append(value)
            self.stands_for(value, written)
        return value

    def _tried(self, cls: type[Made], value: Any, handler: Any) -> tuple[Any, list[Any]]:
        hidden = self.hidden(cls) & value.keys()
        wrong = [{"type": "extra_forbidden", "loc": (name,)} for name in hidden]
        if not self.is_code:
            wrong += [{"type": "missing", "loc": (key,)} for key in cls.needed - value.keys()]
        given = {name: item for name, item in value.items() if name not in hidden}
        given |= {n: cls.placeholders[n] for n in self.hidden(cls) if n in cls.placeholders}
        try:
            made = handler(given)
        except ValidationError as error:
            return None, [*error.errors(include_url=False), *wrong]
        return made, wrong

    def _hold_rules(self, value: dict[str, Any], made: Definition, broken: set[str]) -> None:
        keys = {} if self.is_code else type(made).names()
        broken = broken | self.hidden(type(made))
        for reads, rule in made.rules():
            for fault in () if broken & {keys.get(name, name) for name in reads} else rule(made):
                made.__dict__.setdefault("_broken", {""})
                path = (*(keys.get(str(step), step) for step in fault.path[:1]), *fault.path[1:])
                self.note_judged(value, Fault(fault.message, *path, remedy=fault.remedy))

    def _note(self, cls: type[Definition], value: Any, error: Any) -> None:
        path = real_path(value, error["loc"])
        kind, last = error["type"], error["loc"][-1]
        if kind == FAULTY:
            for inner in error["ctx"]["faults"]:
                self.note_inner(value, inner, path)
        elif kind == "missing":
            said = f"'{last}' is missing in {cls.called()}."
            own = cls.absent.get(str(last), Fault(said))
            self.note(value, Fault(own.message, remedy=own.remedy, at_key=True))
        elif kind == "extra_forbidden":
            known = self.known(cls)
            hint = cls.elsewhere.get(str(last)) or did_you_mean(str(last), known)
            is_argument = self.is_code and not cls.is_mapping
            owner = f"argument of {cls.__name__}" if is_argument else f"key of {cls.called()}"
            said, remedy = f"'{last}' is not a valid {owner}.", f"{hint} Known: {', '.join(known)}."
            self.note(value, Fault(said, *path, remedy=remedy, at_key=True))
        elif last == "[key]":
            remedy = wanted(error, self.words)
            said = f"'{path[-1]}' is not a valid name:"
            self.note(value, Fault(said, *path, remedy=remedy, at_key=True))
        elif kind != GONE:
            said, remedy = self._said(value, path, error)
            self.note(value, Fault(said, *path, remedy=remedy))

    def _said(self, value: Any, path: Path, error: Any) -> tuple[str, str]:
        kind, last = error["type"], str(error["loc"][-1])
        if kind == REFUSED:
            name = f"{self.named(path)}: " if error["ctx"]["named"] else ""
            return f"{name}{error['ctx']['said']}", error["ctx"]["remedy"]
        words = self.words
        if last.startswith("<"):  # any of several kinds of values
            words = {**words, "string_type": last[1:-1].split("|")[self.is_code]}
        said = self.shown(error["input"], value, path)
        return f"{self.named(path)} is {said}", wanted(error, words)


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
        """Return whether these are the arguments of a definition with a name."""
        if not cls.is_mapping and value is not self.given and not isinstance(value, cls):
            raise wrong(f"it must be {cls.__name__}(...).")
        return True

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return a function as it is given."""
        if not callable(value) or not takes(value, *variables):
            raise wrong(f"it must be a function that takes ({', '.join(variables)}).")
        if variables == ("context",) and is_async(value):
            raise wrong("it must be a plain function: an async one would always count as true.")
        return value


def wrong(said: str) -> PydanticCustomError:
    """Return the error of a validator about a value: `key is value; said`."""
    return PydanticCustomError("wanted", "{wanted}", {"wanted": said})


def refused(said: str, remedy: str = "", *, named: bool = False) -> PydanticCustomError:
    """Return the error of a value whose fault is a whole sentence.

    Args:
        named: True if the name of the value goes before the sentence.
    """
    given = {"said": said, "remedy": remedy, "named": named}
    return PydanticCustomError(REFUSED, "{said}", given)


def takes(function: Any, *arguments: Any) -> bool:
    """Return whether a callable can be called with these arguments, as far as it tells."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # some built-in callables do not say what they take
        return True
    return True


def is_async(function: Any) -> bool:
    """Return whether a callable gives what has to be awaited."""
    body = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(body)


def real_path(value: Any, location: tuple[int | str, ...]) -> Path:
    """Return the path of an error in a value; the names of alternatives are no part of it."""
    path: list[int | str] = []
    for step in location:
        listed = isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value)
        if listed or (isinstance(value, Mapping) and step in value):
            value = value[step]
            path.append(step)
    return tuple(path)


def _broken(known: set[str], value: Mapping[str, Any], wrong: Sequence[Any]) -> set[str]:
    """Return the keys that cannot be judged, as what is written for them is wrong."""
    broken = {str(item["loc"][0]) for item in wrong}
    # An unknown key may be meant to be any of those that are not written.
    return broken | (known - value.keys()) if broken - known else broken


def _without(cls: type[Definition], value: dict[str, Any], wrong: Sequence[Any]) -> Any:
    paths = [(real_path(value, item["loc"]), item["type"]) for item in wrong]
    out = {_smallest(value, path): kind.startswith("model_") for path, kind in paths if path}
    return {**cls.placeholders, **_left(value, out)}


def _follows(cls: type[Definition], error: Any, errors: list[Any]) -> bool:
    """Return whether a list is only empty, or a key missing, because of another error."""
    if error["type"] == "missing" and error["loc"][-1] in cls.absent:
        return any(other["type"] == "extra_forbidden" for other in errors)
    inner = (other for other in errors if other is not error)
    at = error["loc"]
    return error["type"] == "too_short" and any(other["loc"][: len(at)] == at for other in inner)


def _smallest(value: Any, path: Path) -> Path:
    """Return the path of the part that a fault removes: an entry, a mapping in a list, or a key."""
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
                yield step, NotAMapping()

    if not out:
        return value
    if isinstance(value, dict):
        return dict(kept(value.items()))
    return [item for _, item in kept(enumerate(value))]
