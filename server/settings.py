"""Settings: from arguments, the environment, `.env`, `journeygraph.toml` and `pyproject.toml`.

The sources are those of pydantic-settings. Unknown names are refused in each of them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from pydantic import BeforeValidator, Field, SecretStr, TypeAdapter, ValidationError, create_model
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    PyprojectTomlConfigSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from journeygraph.journeys import ConfigurationError, JourneyConfig, JourneySpec, Texts
from journeygraph.journeys.definitions.definition import described
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.spec.model_names import KEY
from journeygraph.journeys.store_url import masked
from journeygraph.nodes.llm.models import SERVER
from journeygraph.server.logs import Level

PREFIX = "JOURNEYGRAPH_"
ENV_FILE, TOML_FILE, PROJECT_FILE = ".env", "journeygraph.toml", "pyproject.toml"
TABLE = ("tool", "journeygraph")
ORIGINS = "(origins)"
"""Name of the sources among the values; no variable and no key can have it."""
DEFAULT_STORE = "sqlite:///journeys.db"
_KEY_REMEDY = (
    "JOURNEYGRAPH_ENCRYPTION_KEY must be the base64 text of exactly 32 bytes. Make one with: "
    "python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
)
_STORE_NAMES = ("persistence", "store", "database_url", "context_persistence")
"""Names of one setting."""
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")

# Kubernetes gives each container the address of every service, Docker that of every link: those of
# a service "journeygraph" or "journeygraph-db" begin as our own variables do.
_LINKED = re.compile(
    r"JOURNEYGRAPH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?"
    r"|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)|JOURNEYGRAPH_ENV_\w+"
)
_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+|/\S+/\S+")


class Origin(NamedTuple):
    """Source of a value: its rank, 0 for the strongest, and its name for messages."""

    rank: int
    name: str

    def __str__(self) -> str:
        return self.name


DEFAULT = Origin(9, "default")

if TYPE_CHECKING:
    _OfSessions = BaseSettings
else:  # raw, whatever they are: `JourneyConfig` judges them, and says what is wrong with them
    _OfSessions = create_model(
        "_OfSessions",
        __base__=BaseSettings,
        **{item.name: (Any, Field(None, repr=False)) for item in dataclasses.fields(JourneyConfig)},
    )


Way = Literal["off", "lines", "otel"]
"""Ways of the audit out of the store."""


class Settings(_OfSessions):
    """All settings of `JourneyConfig`, by name, and those of the server.

    Sources, the strongest first: an argument, a variable of the environment (`JOURNEYGRAPH_` and
    the name in capitals), `.env`, `journeygraph.toml`, `[tool.journeygraph]` of `pyproject.toml`.

    Attributes:
        encryption_key: Base64 of the 32 bytes that encrypt journeys marked `__sensitive__`. Several
            keys: "ID:BASE64,ID:BASE64"; the first is for new sessions (docs/how-to/deploy.md).
        store: Another name of `persistence`.
        database_url: Another name of `persistence`: the variable `DATABASE_URL`, without a prefix,
            which hosts of Postgres set.
        openai_api_key: Key of OpenAI's API; with it, journeys run on models.
        openai_base_url: URL of a server with an API like OpenAI's.
        redis_url: A Redis or Valkey for the cache of data that is read often: "redis://...",
            "rediss://..." over TLS or "unix://FILE"; unset: each process has its own cache.
        definitions: True: `serve` serves the journeys that `load` stored in the database.
        api_keys: API keys of the HTTP server, separated by commas. They have the scope `admin`, in
            the tenant of the settings.
        stored_keys: True: every request needs a key, also without `api_keys`. Keys of the database
            (`journeygraph keys`) count wherever a key is needed.
        jwt_keys: Public keys of an identity provider whose signed tokens (JWT) are keys too: a JWKS
            file, or the "https://..." URL of one.
        jwt_algorithms: Accepted algorithms of signatures, separated by commas.
        jwt_issuer: The claim `iss` of these tokens; needed.
        jwt_audience: A value of the claim `aud`; needed.
        jwt_user_claim: The claim with the id of the user.
        jwt_tenant_claim: The claim with the tenant; unset: the tenant of the settings.
        jwt_scope_claim: The claim with scopes; unset: all tokens have the scope `talk`.
        limit_requests: Limits of requests, separated by commas: "key", "tenant" or "address", and a
            rate, as "key 60/minute, address 10/second". Over a limit the answer is 429 with
            `Retry-After`. The counts are in `redis_url`, or in each process.
        limit_turns: The same for messages, answers to agents, and events.
        limit_sessions: The same for new sessions.
        limit_tokens: The same for the tokens of models, such as "tenant 1000000/day": counted after
            each turn; then no turn begins until the time is over.
        limit_wrong_keys: The same for wrong keys, by address alone; "off": no limit.
        cors_origins: Origins of pages in browsers that may call the server, separated by commas:
            "https://shop.example"; "*" for all, only where a key is needed.
        docs: True: the API description is served at /docs and /openapi.json; unset: only if no API
            key is set.
        page: True: the page is served at /; unset: only if no API key is set. It asks for a key
            where one is set.
        metrics: True: metrics are served at /metrics in the format of Prometheus, with a key where
            one is set; needs the extra `otel`.
        audit_log: Way of each row of the audit out of the store, once it is committed: "lines" (one
            line of the log), "otel" (one log record of OpenTelemetry; needs the extra `otel`) or
            "off".
        log_level: Lowest level of the server's log: "debug", "info" (one event a turn), "warning"
            or "error".
        max_turns: Maximum number of turns that run or wait in a process; further ones get 503.
        max_connections: Number of open connections of a process from which on requests get 503.

    Raises:
        ConfigurationError: A name or a value is not valid; the text has its name and file.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        env_file_encoding="utf-8-sig",  # some editors begin a file with a byte order mark
        env_ignore_empty=True,
        extra="ignore",
        pyproject_toml_table_header=TABLE,
    )

    store: str | None = Field(default=None, repr=False)  # as the next one, it may hold a password
    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL", repr=False)
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=KEY)
    openai_base_url: str | None = Field(default=None, validation_alias=SERVER)
    redis_url: SecretStr | None = None
    definitions: bool = False
    api_keys: SecretStr | None = None
    stored_keys: bool = False
    jwt_keys: str | None = None
    jwt_algorithms: str = "RS256,ES256"
    jwt_issuer: str | None = None
    jwt_audience: str | None = None
    jwt_user_claim: str = "sub"
    jwt_tenant_claim: str | None = None
    jwt_scope_claim: str | None = None
    limit_requests: str | None = None
    limit_turns: str | None = None
    limit_sessions: str | None = None
    limit_tokens: str | None = None
    limit_wrong_keys: str = "address 30/minute"
    cors_origins: str | None = None
    docs: bool | None = None
    page: bool | None = None
    metrics: bool = False
    audit_log: Annotated[Way, BeforeValidator(lambda way: str(way).lower())] = "off"
    log_level: Annotated[Level, BeforeValidator(lambda level: str(level).lower())] = "warning"
    max_turns: int = Field(default=1_000, ge=1)
    max_connections: int = Field(default=10_000, ge=1)
    origins: Mapping[str, Origin] = Field(
        default_factory=dict, validation_alias=ORIGINS, repr=False, exclude=True
    )

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"{ENV_FILE} is not UTF-8 text: {error}.") from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings, the strongest first."""
        toml = _of_file(TomlConfigSettingsSource, settings_cls, TOML_FILE)
        project = _of_file(PyprojectTomlConfigSettingsSource, settings_cls, PROJECT_FILE)
        assert isinstance(init_settings, InitSettingsSource)
        assert isinstance(env_settings, EnvSettingsSource)
        assert isinstance(dotenv_settings, EnvSettingsSource)
        origins = {
            **_named_in_toml(project.toml_data, PROJECT_FILE, 3),
            **_named_in_toml(toml.toml_data, TOML_FILE, 2),
            **_named_in_variables(dotenv_settings.env_vars, f" in {ENV_FILE}"),
            **_named_in_variables(env_settings.env_vars),
            **{name: Origin(0, f"argument {name}") for name in init_settings.init_kwargs},
        }
        _take_up(dotenv_settings.env_vars)
        found = InitSettingsSource(settings_cls, {ORIGINS: origins})
        return init_settings, env_settings, dotenv_settings, toml, project, found

    def config(self, store: str | None = None) -> JourneyConfig:
        """Return the settings of a session.

        Args:
            store: Replaces the store of the settings.

        Raises:
            ConfigurationError: A value is not valid, or two names of one setting differ. The text
                has the source, but no keys and no passwords.
        """
        chosen = self._chosen(store)
        try:
            return JourneyConfig(
                **{name: _read(name, value) for name, (value, _) in chosen.items()}
            )
        except ConfigurationError as error:
            named = [str(origin) for name, (_, origin) in chosen.items() if _names(error, name)]
            where = ", ".join(named)
            raise ConfigurationError(f"{where}: {error}" if where else str(error)) from None

    def shown(self, store: str | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield each setting: its name, its value and the source of the value; no secrets.

        Raises:
            ConfigurationError: As `config`.
        """
        config, chosen = self.config(store), self._chosen(store)
        if "context_persistence" in chosen:
            chosen["persistence"] = chosen.pop("context_persistence")
        for name, setting in known_settings().items():
            if name in _STORE_NAMES[1:]:
                continue
            value = getattr(config if name in _hints() else self, name)
            given, origin = chosen.get(name, (None, self.origin(name)))
            if setting.is_table and isinstance(given, Mapping):
                for key, item in given.items():
                    yield f"{name}.{key}", _shown(item), str(origin)
            else:
                secret = setting.is_secret and value is not None
                yield name, "set, not shown" if secret else _shown(value), str(origin)

    def redis(self) -> str | None:
        """Return the URL of the cache, with its password."""
        return _opened(self.redis_url)

    def keys(self) -> list[str]:
        """Return the API keys, one by one."""
        return _parts(self.api_keys.get_secret_value() if self.api_keys else "")

    def algorithms(self) -> tuple[str, ...]:
        """Return the algorithms of signed tokens, one by one."""
        return tuple(_parts(self.jwt_algorithms))

    def origins_allowed(self) -> list[str]:
        """Return the origins of other pages that may call the server.

        Raises:
            ConfigurationError: One is not an origin.
        """
        origins = _parts(self.cors_origins or "")
        for origin in origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ConfigurationError(
                    f"cors_origins: '{origin:.80}' is not an origin. Write scheme, host and, if it "
                    "is not the usual one, port: https://shop.example, http://localhost:3000."
                )
        return origins

    def require_key(self, spec: JourneySpec) -> None:
        """Refuse a sensitive journey without a key; the error has the place for one.

        Raises:
            ConfigurationError: The journey is `__sensitive__`, and no key is set.
        """
        if spec.sensitive and getattr(self, "encryption_key", None) is None:
            raise ConfigurationError(
                f"{spec.name} is marked __sensitive__, and no key is set. {_KEY_REMEDY}"
            )

    def origin(self, name: str) -> Origin:
        """Return the source of a setting's value."""
        return self.origins.get(name, DEFAULT)

    def _chosen(self, store: str | None) -> dict[str, tuple[Any, Origin]]:
        names = [item.name for item in dataclasses.fields(JourneyConfig)]
        given = {name: getattr(self, name) for name in names if name not in _STORE_NAMES}
        chosen = {
            name: (value, self.origin(name)) for name, value in given.items() if value is not None
        }
        if store:
            return {"persistence": (store, Origin(0, "--store")), **chosen}
        stores = {
            name: self._written(name) for name in _STORE_NAMES if getattr(self, name) is not None
        }
        if stores:
            name = self._counting(stores)
            own = name if name == "context_persistence" else "persistence"
            chosen[own] = stores[name], self.origin(name)
        return chosen

    def _written(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "database_url" and value.startswith("postgres://"):
            return value.replace("postgres://", "postgresql://", 1)  # what some hosts still write
        return value

    def _counting(self, stores: Mapping[str, Any]) -> str:
        rank = min(self.origin(name).rank for name in stores)
        first, *others = [name for name in stores if self.origin(name).rank == rank]
        for other in others:
            if stores[other] != stores[first]:
                raise ConfigurationError(
                    f"{self.origin(first)} and {self.origin(other)} are two different stores. "
                    "Unset one of them, or name the store with --store."
                )
        return first


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The store and the tenant that a command names; None: those of the settings."""

    store: str | None = None
    tenant: str | None = None

    def settings(self) -> Settings:
        """Return the settings, read now."""
        return Settings() if self.tenant is None else Settings(tenant=self.tenant)

    def config(self) -> JourneyConfig:
        """Return the settings of a session, as `Settings.config`."""
        return self.settings().config(self.store)


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """Description of a setting.

    Attributes:
        is_secret: True if it is read only from the environment and `.env`, and never shown.
        is_table: True if it is read only from TOML.
        by_variable_alone: True if its variable is its only name.
    """

    variable: str
    default: str
    about: str
    is_secret: bool = False
    is_table: bool = False
    by_variable_alone: bool = False


@cache
def known_settings() -> Mapping[str, SettingDescription]:
    """Return all settings by name: those of a session, then the server's."""
    about = {**described(JourneyConfig), **described(Settings)}
    known = {
        item.name: SettingDescription(
            variable=f"{PREFIX}{item.name.upper()}",
            default=_shown(_default_of(item)),
            about=about.get(item.name, ""),
            is_secret=not item.repr,
            is_table=item.name == "texts",
        )
        for item in dataclasses.fields(JourneyConfig)
    }
    for name, item in Settings.model_fields.items():
        if name not in known and name != "origins":
            known[name] = SettingDescription(
                variable=str(item.validation_alias or f"{PREFIX}{name.upper()}"),
                default=_shown(item.get_default()),
                about=about.get(name, ""),
                is_secret=SecretStr in get_args(item.annotation),
                by_variable_alone=item.validation_alias is not None,
            )
    return known


@cache
def _hints() -> Mapping[str, Any]:
    return get_type_hints(JourneyConfig)


def _default_of(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def _of_file(
    kind: type[TomlConfigSettingsSource], settings: type[BaseSettings], file: str
) -> TomlConfigSettingsSource:
    try:
        return kind(settings, Path(file))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}.") from None
    except (AttributeError, TypeError, ValueError):
        table = ".".join(TABLE)
        raise ConfigurationError(f"{file}: [{table}] must be a table.") from None


def _named_in_toml(table: Mapping[str, Any], file: str, rank: int) -> dict[str, Origin]:
    known = known_settings()
    origins = {name: Origin(rank, f"{name} in {file}") for name in table}
    for name, origin in origins.items():
        value = table[name]
        meant = name.lower().removeprefix(PREFIX.lower())  # perhaps it is written as a variable
        setting = known.get(meant)
        has_password = isinstance(value, str) and masked(value) != value
        if setting and (setting.is_secret or setting.by_variable_alone or has_password):
            raise ConfigurationError(
                f"{origin}: a secret or password is not allowed in this file, because others can "
                f"read it. Set {setting.variable} in the environment or in {ENV_FILE}."
            )
        if name not in known:
            raise ConfigurationError(_unknown(origin, meant, known))
        _check_type(name, origin, value)
    return origins


def _named_in_variables(variables: Mapping[str, str | None], file: str = "") -> dict[str, Origin]:
    names = {setting.variable: name for name, setting in known_settings().items()}
    origins: dict[str, Origin] = {}
    for lower, value in variables.items():
        variable = lower.upper()
        origin, name = Origin(1, f"{variable}{file}"), names.get(variable)
        if name and value:
            _check_type(name, origin, value)
            origins[name] = origin
        elif not name and variable.startswith(PREFIX) and not is_linked(variable, value or ""):
            raise ConfigurationError(_unknown(origin, variable, names))
    return origins


def _check_type(name: str, origin: Origin, value: Any) -> None:
    """Refuse a wrong value of the server's own settings; `JourneyConfig` checks a session's."""
    try:
        TypeAdapter(Settings.model_fields[name].rebuild_annotation()).validate_python(value)
    except ValidationError as error:
        faults = "; ".join(fault["msg"] for fault in error.errors())
        raise ConfigurationError(f"{origin}: {faults}.") from None


def is_linked(name: str, value: str) -> bool:
    """Return whether Kubernetes or Docker set a variable with our prefix."""
    address = name.endswith(("_PORT", "_NAME")) and _ADDRESS.fullmatch(value)
    return bool(address or _LINKED.fullmatch(name))


def _take_up(variables: Mapping[str, str | None]) -> None:
    """Copy the other variables of `.env` into the environment, for the clients of models.

    Studio reads the whole file too. Existing variables are not changed.
    """
    for name, value in variables.items():
        if value and name != "database_url" and not name.upper().startswith(PREFIX):
            os.environ.setdefault(name.upper(), value)


def _unknown(origin: Origin, name: str, known: Iterable[str]) -> str:
    return (
        f"{origin}: unknown setting.{did_you_mean(name, list(known))} "
        "`journeygraph serve --print-settings` and docs/reference/settings.md list all settings."
    )


def _read(name: str, given: Any) -> Any:
    if name == "texts":
        return _texts(given)
    if name == "prunable" and isinstance(given, str):
        return _parts(given)
    hint = _hints()[name]
    if not isinstance(given, str) or str in (hint, *get_args(hint)):
        return given
    with suppress(ValidationError):
        return TypeAdapter(hint).validate_python(given)
    return given


def _texts(given: Any) -> Texts:
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"texts is {given!r}; write it as [texts] in {TOML_FILE}.")
    names = [item.name for item in dataclasses.fields(Texts)]
    for name in given:
        if name not in names:
            raise ConfigurationError(f"unknown setting texts.{name}.{did_you_mean(name, names)}")
    return Texts(**given)


def _names(error: Exception, name: str) -> bool:
    return re.search(rf"\b{name}\b", str(error)) is not None


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "unset"
    if dataclasses.is_dataclass(value):
        return "its defaults"
    if isinstance(value, float):
        return f"{value:.10g}"
    return json.dumps(masked(value) if isinstance(value, str) else value, ensure_ascii=False)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _opened(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
