"""Settings: from arguments, the environment, `.env`, `journeygraph.toml` and `pyproject.toml`."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, Field, SecretStr, TypeAdapter, ValidationError, create_model
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from journeygraph.journeys import ConfigurationError, JourneyConfig, JourneySpec
from journeygraph.journeys.definitions.definition import described
from journeygraph.journeys.store_url import masked
from journeygraph.nodes.llm.models import KEY, SERVER
from journeygraph.server.logs import Level
from journeygraph.server.setting_sources import (
    DEFAULT,
    ENCODING,
    ENV_FILE,
    ORIGINS,
    PREFIX,
    TABLE,
    Origin,
    Places,
    Project,
    Toml,
)

DEFAULT_STORE = "sqlite:///journeys.db"
_KEY_REMEDY = (
    "JOURNEYGRAPH_ENCRYPTION_KEY must be the base64 text of exactly 32 bytes. Make one with: "
    "python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
)
_NAMES_OF = {
    "persistence": ("persistence", "store", "database_url", "context_persistence"),
    "intent_detection_model": ("intent_detection_model", "intent_model"),
}
"""Settings of a session with several names."""
_FURTHER_NAMES = {name for own, names in _NAMES_OF.items() for name in names if name != own}


_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")

if TYPE_CHECKING:
    _OfSessions = BaseSettings
else:  # raw, whatever they are: `JourneyConfig` judges them, and says what is wrong with them
    _OfSessions = create_model(
        "_OfSessions",
        __base__=BaseSettings,
        **{item.name: (Any, Field(None, repr=False)) for item in dataclasses.fields(JourneyConfig)},
    )


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
        intent_model: Another name of `intent_detection_model`.
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
        log_level: Lowest level of the server's log: "debug", "info" (one event a turn), "warning"
            or "error".
        max_turns: Maximum number of turns that run or wait in a process; further ones get 503.
        max_connections: Number of open connections of a process from which on requests get 503.

    Raises:
        ConfigurationError: A name or a value is not valid; the text has its place.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        env_file_encoding=ENCODING,
        env_ignore_empty=True,
        extra="ignore",
        pyproject_toml_table_header=TABLE,
    )

    store: str | None = Field(default=None, repr=False)  # as the next one, it may hold a password
    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL", repr=False)
    intent_model: str | None = None
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
        files = (Toml(settings_cls), Project(settings_cls))
        variables = (env_settings, dotenv_settings)
        places = Places(settings_cls, known_settings(), init_settings, *variables, files)
        return init_settings, env_settings, dotenv_settings, *files, places

    def model_post_init(self, context: Any) -> None:
        """Copy the model's key and server into the environment, because `.env` may hold them."""
        if self.openai_api_key:
            os.environ.setdefault(KEY, self.openai_api_key.get_secret_value())
        if self.openai_base_url:
            os.environ.setdefault(SERVER, self.openai_base_url)

    def config(self, store: str | None = None) -> JourneyConfig:
        """Return the settings of a session.

        Args:
            store: Replaces the store of the settings.

        Raises:
            ConfigurationError: A value is not valid, or two names of one setting differ. The text
                has the place, but no keys and no passwords.
        """
        chosen = self._chosen(store)
        read = {name: _read_at(place, name, value) for name, (value, place) in chosen.items()}
        values = {name: value for name, (value, _) in read.items()}
        try:
            made = JourneyConfig(**values)
        except ConfigurationError as error:
            places = [place for name, (_, place) in chosen.items() if _names(error, name)]
            where = ", ".join(map(str, places))
            raise ConfigurationError(f"{where}: {error}" if where else str(error)) from None
        for name, (_, fault) in read.items():
            if fault:
                raise ConfigurationError(f"{chosen[name][1]}: {fault}.")
        return made

    def shown(self, store: str | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield each setting: its name, its value and the source of the value; no secrets.

        Raises:
            ConfigurationError: As `config`.
        """
        config, chosen = self.config(store), self._chosen(store)
        if "context_persistence" in chosen:
            chosen["persistence"] = chosen.pop("context_persistence")
        for name, setting in known_settings().items():
            if name in _FURTHER_NAMES:
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
        """Return the given settings of a session, unconverted, with their sources."""
        chosen: dict[str, tuple[Any, Origin]] = {}
        for item in dataclasses.fields(JourneyConfig):
            if item.name == "context_persistence":
                continue
            if item.name == "persistence" and store:
                chosen[item.name] = store, Origin(0, "--store")
            elif name := self._counting(item.name):
                own = name if name == "context_persistence" else item.name
                chosen[own] = self._written(name), self.origin(name)
        return chosen

    def _written(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "database_url" and value and value.startswith("postgres://"):
            return value.replace("postgres://", "postgresql://", 1)  # what some hosts still write
        return value

    def _counting(self, setting: str) -> str | None:
        """Return the name by which a setting is given; two names must not differ."""
        names = _NAMES_OF.get(setting, (setting,))
        given = [name for name in names if getattr(self, name) is not None]
        if not given:
            return None
        rank = min(self.origin(name).rank for name in given)
        counting = [name for name in given if self.origin(name).rank == rank]
        for other in counting[1:]:
            if self._written(other) != self._written(counting[0]):
                store = setting == "persistence"
                raise ConfigurationError(
                    f"{self.origin(counting[0])} and {self.origin(other)} are two different "
                    f"{'stores' if store else 'models'}. Unset one of them"
                    f"{', or name the store with --store' if store else ''}."
                )
        return counting[0]


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The store and the tenant that a command names; None: those of the settings."""

    store: str | None = None
    tenant: str | None = None

    def settings(self) -> Settings:
        """Return the settings, read now.

        Raises:
            ConfigurationError: A value is not valid.
        """
        return Settings() if self.tenant is None else Settings(tenant=self.tenant)

    def config(self) -> JourneyConfig:
        """Return the settings of a session, as `Settings.config`."""
        return self.settings().config(self.store)


@dataclass(frozen=True, slots=True)
class Setting:
    """Description of a setting.

    Attributes:
        variable: Its environment variable.
        default: Its default, as text.
        about: Its meaning.
        is_secret: True if it is read only from the environment and `.env`, and never shown.
        is_table: True if it is read only from TOML.
        members: Keys of such a table; empty if all keys are valid.
        by_variable_alone: True if its variable is its only name.
    """

    variable: str
    default: str
    about: str
    is_secret: bool = False
    is_table: bool = False
    members: tuple[str, ...] = ()
    by_variable_alone: bool = False


@cache
def known_settings() -> Mapping[str, Setting]:
    """Return all settings by name: those of a session, then the server's."""
    about = {**described(JourneyConfig), **described(Settings)}
    known = {
        item.name: Setting(
            variable=f"{PREFIX}{item.name.upper()}",
            default=_shown(_default_of(item)),
            about=about.get(item.name, ""),
            is_secret=not item.repr,
            is_table=_is_table(_hints()[item.name]),
            members=_members(_hints()[item.name]),
        )
        for item in dataclasses.fields(JourneyConfig)
    }
    for name, item in Settings.model_fields.items():
        if name not in known and name != "origins":
            known[name] = Setting(
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


def _kinds(hint: Any) -> list[Any]:
    """Return the types of a value, except None."""
    kinds = get_args(hint) if NoneType in get_args(hint) else (hint,)
    return [kind for kind in kinds if kind is not NoneType]


def _is_table(hint: Any) -> bool:
    return any(
        dataclasses.is_dataclass(kind) or issubclass(_class_of(kind), Mapping)
        for kind in _kinds(hint)
    )


def _members(hint: Any) -> tuple[str, ...]:
    """Return the keys of a table; empty if all keys are valid."""
    classes = [kind for kind in _kinds(hint) if dataclasses.is_dataclass(kind)]
    return tuple(item.name for kind in classes for item in dataclasses.fields(kind))


def _class_of(kind: Any) -> type:
    found = get_origin(kind) or kind
    return found if isinstance(found, type) else object


def _read_at(place: Origin, name: str, given: Any) -> tuple[Any, str]:
    try:
        return _read(name, given)
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error}") from None


def _read(name: str, given: Any) -> tuple[Any, str]:
    """Convert a value to the type of its setting; return it with a fault, or "".

    A value that cannot be converted is returned as given: `JourneyConfig` describes the fault
    better.

    Raises:
        ConfigurationError: A table has values that are not valid.
    """
    hint = _hints()[name]
    kinds = _kinds(hint)
    if isinstance(given, str) and str not in kinds and _is_list(kinds):
        given = _listed(given)
    if isinstance(given, bool) and bool not in kinds:
        return given, "true and false are not valid values"
    try:
        return TypeAdapter(hint).validate_python(given), ""
    except ValidationError as error:
        said = "; ".join(_fault(fault) for fault in error.errors())
        if isinstance(given, Mapping):
            raise ConfigurationError(f"{name}: {said}.") from None
        return given, said


def _fault(fault: Any) -> str:
    where = [str(part) for part in fault["loc"] if not isinstance(part, type)]
    return ": ".join([*where[-1:], fault["msg"]])


def _is_list(kinds: list[Any]) -> bool:
    return any(issubclass(_class_of(kind), Collection) for kind in kinds)


def _listed(text: str) -> Any:
    """Return the names in a variable: separated by commas, or a JSON list."""
    if text.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(text)
    return [name.strip() for name in text.split(",") if name.strip()]


def _names(error: Exception, name: str) -> bool:
    return re.search(rf"\b{name}\b", str(error)) is not None


def _shown(value: Any) -> str:
    """Return a value as text, without passwords."""
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
