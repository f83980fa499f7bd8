"""Data files of languages: YAML read by the safe loader, with faults that name file and entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from journeygraph.journeys.errors import ConfigurationError, did_you_mean, shown

Model = TypeVar("Model", bound=BaseModel)
_ROOT = Path(__file__).parents[2]


def read_data(path: Path) -> dict[str, Any]:
    """Return what a data file holds.

    Raises:
        ConfigurationError: It is not valid YAML, has an entry twice, or is not a mapping.
    """
    import yaml  # noqa: PLC0415 - a process reads one or two such files, and most imports none

    fast: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(fast):  # type: ignore[valid-type, misc]
        """The safe loader, for which an entry that is written twice is a fault."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            if twice := next((key for key in keys if keys.count(key) > 1), None):
                raise yaml.YAMLError(f"{shown(twice)} is written twice. Join the two.")
            made: dict[Any, Any] = super().construct_mapping(node, deep=deep)
            return made

    try:
        data = yaml.load(path.read_text("utf-8"), Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{_place(path)}: cannot be read. {error}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"{_place(path)}: is not a mapping. Write 'entry: value'.")
    return data


def read_as(path: Path, model: type[Model]) -> Model:
    """Return a data file as the model that it must be."""
    data = read_data(path)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        refuse(path, [_fault(each, list(model.model_fields)) for each in error.errors()])
        raise


_SAID = {
    "missing": "is missing. Add it, as in the English file.",
    "dict_type": "must be a mapping of 'name: words'.",
    "list_type": "must be a list of '- words'.",
    "string_type": "{given} is not text. Write it in quotes.",
    "literal_error": "{given} is not known. Known are: {expected}.",
    "[key] string_type": "is read as {kind}. Write the name in quotes.",
    "[key] int_type": "is read as {kind}. Write a whole number.",
}
"""Faults of data files, by their kind in pydantic."""


def _fault(error: ErrorDetails, names: list[str]) -> str:
    *entry, last = map(str, error["loc"])
    where = ".".join([*entry[:-1], str(error["input"])] if last == "[key]" else [*entry, last])
    if error["type"] == "extra_forbidden":
        return f"{where}: is not known.{_meant(last, names)}"
    kind = f"[key] {error['type']}" if last == "[key]" else error["type"]
    given, expected = error["input"], error.get("ctx", {}).get("expected")
    said = _SAID.get(kind, error["msg"])
    return f"{where}: " + said.format(
        given=shown(given), kind=type(given).__name__, expected=expected
    )


def refuse(path: Path, faults: Iterable[str]) -> None:
    """Raise the faults of a data file, if there are any."""
    if lines := [f"{_place(path)}: {fault}" for fault in faults]:
        raise ConfigurationError("\n".join(lines))


def name_faults(
    entry: str, given: Mapping[Any, Any], known: Iterable[str], *, all_of_them: bool
) -> list[str]:
    """Return what is wrong with the names of an entry.

    Args:
        entry: The entry that contains them; "" is the file itself.
    """
    names = list(known)
    where = f"{entry}." if entry else ""
    faults = [
        f"{where}{name}: is not known.{_meant(name, names)}"
        if isinstance(name, str)
        else f"{where}{name}: is read as {type(name).__name__}. Write the name in quotes."
        for name in given
        if name not in names
    ]
    missing = [name for name in names if name not in given] if all_of_them else []
    return faults + [
        f"{where}{name}: is missing. Add it, as in the English file." for name in missing
    ]


def _meant(name: str, names: list[str]) -> str:
    return did_you_mean(name, names) or f" Known are: {', '.join(names)}."


def text_faults(entry: str, given: Mapping[Any, Any]) -> list[str]:
    """Return which values of an entry are no texts."""
    return [
        f"{entry}.{name}: {shown(value)} is not text. Write it in quotes."
        for name, value in given.items()
        if not isinstance(value, str)
    ]


def _place(path: Path) -> str:
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else str(path)
