"""Sources of settings: the environment, `.env`, `journeygraph.toml`, `pyproject.toml`.

The sources are those of pydantic-settings. This module adds the place of each value, and refuses
unknown names in every source.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    PyprojectTomlConfigSettingsSource,
    TomlConfigSettingsSource,
)

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.store_url import masked

PREFIX = "JOURNEYGRAPH_"
ENV_FILE, TOML_FILE, PROJECT_FILE = ".env", "journeygraph.toml", "pyproject.toml"
TABLE = ("tool", "journeygraph")
ENCODING = "utf-8-sig"  # some editors begin a file with a byte order mark
ORIGINS = "(origins)"
"""Name under which the places are passed with the values; no variable and no key can have it."""
# Kubernetes gives each container the address of every service, Docker that of every link: those of
# a service "journeygraph" or "journeygraph-db" begin as our own variables do.
_LINKED = re.compile(
    r"JOURNEYGRAPH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?"
    r"|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)|JOURNEYGRAPH_ENV_\w+"
)
_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+|/\S+/\S+")


@dataclass(frozen=True, slots=True)
class Origin:
    """Source of a setting's value.

    Attributes:
        rank: 0 for an argument, 1 for the environment and `.env`, then the files; the stronger
            source has the lower rank.
        name: Its name there.
        place: Description of the place for messages; empty for the environment.
    """

    rank: int
    name: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.name} in {self.place}" if self.place else self.name


DEFAULT = Origin(9, "default")


class Known(Protocol):
    """Description of a setting; see `journeygraph.server.settings.Setting`."""

    @property
    def variable(self) -> str: ...  # noqa: D102
    @property
    def is_secret(self) -> bool: ...  # noqa: D102
    @property
    def is_table(self) -> bool: ...  # noqa: D102
    @property
    def members(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def by_variable_alone(self) -> bool: ...  # noqa: D102


def is_linked(name: str, value: str) -> bool:
    """Return whether Kubernetes or Docker set a variable with our prefix."""
    address = name.endswith(("_PORT", "_NAME")) and _ADDRESS.fullmatch(value)
    return bool(address or _LINKED.fullmatch(name))


class _Text(TomlConfigSettingsSource):
    """TOML with or without a byte order mark."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        return tomllib.loads(file_path.read_text(encoding=ENCODING))


class Toml(_Text):
    """`journeygraph.toml` in the current folder."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        with _read(TOML_FILE):
            super().__init__(settings, Path(TOML_FILE))


class Project(_Text, PyprojectTomlConfigSettingsSource):
    """The table `[tool.journeygraph]` of `pyproject.toml` in the current folder."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        with _read(PROJECT_FILE):
            super().__init__(settings, Path(PROJECT_FILE))


@contextmanager
def _read(file: str) -> Iterator[None]:
    """Raise an error with the name of an unreadable file and the reason."""
    try:
        yield
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}.") from None
    except (AttributeError, TypeError, ValueError):
        table = ".".join(TABLE)
        raise ConfigurationError(f"{file}: [{table}] must be a table.") from None


class Places(PydanticBaseSettingsSource):
    """Checks the values of the other sources and records the place of each value.

    Raises:
        ConfigurationError: A name is unknown, a secret is in a TOML file, a table is in the
            environment, or a value has the wrong type.
    """

    def __init__(
        self,
        settings: type[BaseSettings],
        known: Mapping[str, Known],
        given: PydanticBaseSettingsSource,
        environment: PydanticBaseSettingsSource,
        env_file: PydanticBaseSettingsSource,
        files: tuple[Toml, Project],
    ) -> None:
        super().__init__(settings)
        self._known, self._given, self._files = known, given, files
        self._variables = {one.variable.lower(): name for name, one in known.items()}
        self._environment, self._env_file = environment, env_file

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return nothing: all values are read together."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the places under a reserved name."""
        assert isinstance(self._given, InitSettingsSource)
        toml, project = self._files
        arguments = self._given.init_kwargs.items()
        origins: dict[str, Origin] = {}
        found = [
            *self._of_tables(PROJECT_FILE, project.toml_data, 3, TABLE),
            *self._of_tables(TOML_FILE, toml.toml_data, 2),
            *self._of_variables(self._env_file, ENV_FILE),
            *self._of_variables(self._environment),
            *((name, Origin(0, f"argument {name}"), value) for name, value in arguments),
        ]
        for name, origin, value in found:
            origins[name] = origin
            self._check_type(name, origin, value)
        self._take_up()
        return {ORIGINS: origins}

    def _take_up(self) -> None:
        """Copy the other variables of `.env` into the environment, for the clients of models.

        Studio reads the whole file too. Existing variables are not changed.
        """
        assert isinstance(self._env_file, EnvSettingsSource)
        for name, value in self._env_file.env_vars.items():
            if value and name not in self._variables and not name.upper().startswith(PREFIX):
                os.environ.setdefault(name.upper(), value)

    def _of_variables(
        self, source: PydanticBaseSettingsSource, file: str = ""
    ) -> Iterator[tuple[str, Origin, Any]]:
        assert isinstance(source, EnvSettingsSource)
        for lower, value in source.env_vars.items():
            variable = lower.upper()
            place = _placed(file, _line_of_variable(variable)) if file else ""
            origin = Origin(1, variable, place)
            if name := self._variables.get(lower):
                if self._known[name].is_table:
                    raise ConfigurationError(
                        f"{origin}: {name} is a table. Move it to {TOML_FILE}, as [{name}]."
                    )
                if value:
                    yield name, origin, value
            elif variable.startswith(PREFIX) and not is_linked(variable, value or ""):
                known = [v.upper() for v in self._variables]
                raise ConfigurationError(_unknown(str(origin), variable, known))

    def _of_tables(
        self, file: str, table: Mapping[str, Any], rank: int, header: Sequence[str] = ()
    ) -> Iterator[tuple[str, Origin, Any]]:
        for name, value in table.items():
            place = _placed(file, line_of_key(file, (*header, name)))
            origin = Origin(rank, name, place)
            meant = self._variables.get(name.lower(), name)  # perhaps it is written as a variable
            setting = self._known.get(meant)
            if setting is None or (meant != name and not _is_kept_out(setting)):
                known = [n for n, one in self._known.items() if not _is_kept_out(one)]
                raise ConfigurationError(_unknown(str(origin), meant, known))
            if setting.is_secret:
                raise ConfigurationError(
                    f"{origin}: a secret is not allowed in this file, because others can read it. "
                    f"Set {setting.variable} in the environment or in {ENV_FILE}."
                )
            if setting.by_variable_alone:
                raise ConfigurationError(
                    f"{origin}: set {setting.variable} in the environment or in {ENV_FILE}."
                )
            if isinstance(value, str) and masked(value) != value:
                raise ConfigurationError(
                    f"{origin}: a URL with a password is not allowed in this file, because "
                    f"others can read it. Set {setting.variable} in the environment or in "
                    f"{ENV_FILE}."
                )
            self._check_members(file, (*header, name), setting, value)
            yield name, origin, value

    def _check_members(self, file: str, path: Sequence[str], setting: Known, value: Any) -> None:
        members = value if setting.members and isinstance(value, Mapping) else ()
        for key in members:
            if key not in setting.members:
                where = _placed(file, line_of_key(file, (*path, key)))
                name = f"{path[-1]}.{key}"
                hint = did_you_mean(key, setting.members)
                raise ConfigurationError(f"{where}: unknown setting {name}.{hint}")

    def _check_type(self, name: str, origin: Origin, value: Any) -> None:
        """Refuse a wrong value of the server's own settings; `JourneyConfig` checks a session's."""
        field = self.settings_cls.model_fields.get(name)
        if field is None:
            return
        try:
            TypeAdapter(field.rebuild_annotation()).validate_python(value)
        except ValidationError as error:
            said = "; ".join(fault["msg"] for fault in error.errors())
            raise ConfigurationError(f"{origin}: {said}.") from None


def _is_kept_out(setting: Known) -> bool:
    return setting.is_secret or setting.by_variable_alone


def _unknown(where: str, name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return (
        f"{where}: unknown setting.{hint} "
        "`journeygraph serve --print-settings` and docs/reference/settings.md list all settings."
    )


def _placed(file: str, line: int | None) -> str:
    return f"{file}, line {line}" if line else file


def _line_of_variable(variable: str) -> int | None:
    pattern = re.compile(rf"\s*(export\s+)?{re.escape(variable)}\s*=", re.IGNORECASE)
    matching = [number for number, line in _lines(ENV_FILE) if pattern.match(line)]
    return matching[-1] if matching else None  # of several lines the last one counts


def line_of_key(file: str, path: Sequence[str]) -> int | None:
    """Return the line of a key in a TOML file: its own, or that of its table."""
    header: tuple[str, ...] = ()
    best, depth = None, 0
    for number, line in _lines(file):
        if match := re.match(r"\s*\[([^\[\]]+)\]", line):
            found = header = _parts(match[1])
        elif match := re.match(r"\s*([\w\"'.\- ]+?)\s*=", line):
            found = (*header, *_parts(match[1]))
        else:
            continue
        shared = min(len(found), len(path))
        if found[:shared] == tuple(path[:shared]) and shared > depth:
            best, depth = number, shared
    return best


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def _lines(file: str) -> Iterator[tuple[int, str]]:
    try:
        text = Path(file).read_text(encoding=ENCODING, errors="replace")
    except OSError:
        return
    yield from enumerate(text.splitlines(), 1)
