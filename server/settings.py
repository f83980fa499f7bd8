"""Settings from the environment and from `.env`."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from journeys import ConfigurationError, JourneyConfig, JourneySpec
from nodes.llm.models import KEY, SERVER
from server.logs import Level

DEFAULT_STORE = "sqlite:///journeys.db"
_KEY_REMEDY = (
    "JOURNEYGRAPH_ENCRYPTION_KEY must be the base64 text of exactly 32 bytes. Make one with: "
    "python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
)


class Settings(BaseSettings):
    """What the environment decides; variables are prefixed with `JOURNEYGRAPH_`.

    Attributes:
        store: Where sessions live: "memory://", "memory://NAME", "sqlite:///FILE" or
            "postgresql://..."; without it `database_url`, and without that a file in the current
            folder.
        database_url: The same, from `DATABASE_URL` without our prefix, as hosts of Postgres set it.
        encryption_key: Base64 of the 32 bytes that encrypt journeys marked `__sensitive__`.
        intent_model: OpenAI model that understands messages.
        agent_model: OpenAI model of the agents that are models.
        validation_model: Model that judges replies; unset: that of the agents.
        openai_api_key: From `OPENAI_API_KEY`: with it, journeys run on models.
        openai_base_url: From `OPENAI_BASE_URL`: a server that is compatible with OpenAI's.
        redis_url: A Redis or Valkey that holds copies of what is read often: "redis://...",
            "rediss://..." over TLS or "unix://FILE"; unset: each process holds its own.
        escalation_webhook: URL that calls for a person are posted to.
        escalation_secret: What they are signed with.
        definitions: Whether `serve` serves the journeys that are in the database (`load`).
        api_keys: Keys that clients of the HTTP server show, parted by commas.
        docs: Whether the server shows its API description at /docs and /openapi.json; unset: only
            where no API key is set.
        log_level: From where on the server's own events are logged: "debug", "info" (one event a
            turn), "warning" or "error".
    """

    model_config = SettingsConfigDict(
        env_prefix="JOURNEYGRAPH_", env_file=".env", env_ignore_empty=True, extra="ignore"
    )

    store: str | None = Field(default=None, repr=False)  # as the next one, it may hold a password
    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL", repr=False)
    encryption_key: SecretStr | None = None
    intent_model: str = "gpt-4o-mini"
    agent_model: str = "gpt-4o-mini"
    validation_model: str | None = None
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=KEY)
    openai_base_url: str | None = Field(default=None, validation_alias=SERVER)
    redis_url: SecretStr | None = None
    escalation_webhook: SecretStr | None = None
    escalation_secret: SecretStr | None = None
    definitions: bool = False
    api_keys: SecretStr | None = None
    docs: bool | None = None
    log_level: Annotated[Level, BeforeValidator(str.lower)] = "warning"

    def model_post_init(self, context: Any) -> None:
        """Put the model's key and server where its client looks for them: `.env` may hold them."""
        if self.openai_api_key:
            os.environ.setdefault(KEY, self.openai_api_key.get_secret_value())
        if self.openai_base_url:
            os.environ.setdefault(SERVER, self.openai_base_url)

    def config(self, store: str | None = None) -> JourneyConfig:
        """Return the settings of a session.

        Args:
            store: Used in place of the environment's.

        Raises:
            ConfigurationError: The store's URL or the key is not valid, or the environment names
                two stores; neither keys nor passwords are shown.
        """
        return JourneyConfig(
            persistence=store or self._store_of_the_environment(),
            encryption_key=self._key(),
            intent_detection_model=self.intent_model,
            agent_model=self.agent_model,
            validation_model=self.validation_model,
            escalation_webhook=_opened(self.escalation_webhook),
            escalation_secret=_opened(self.escalation_secret),
        )

    def redis(self) -> str | None:
        """Return the URL of the cache, with its password."""
        return _opened(self.redis_url)

    def keys(self) -> list[str]:
        """Return the API keys, one by one."""
        given = self.api_keys.get_secret_value() if self.api_keys else ""
        return [key.strip() for key in given.split(",") if key.strip()]

    def require_key(self, spec: JourneySpec) -> None:
        """Refuse a sensitive journey without a key, and say where one goes.

        Raises:
            ConfigurationError: The journey is `__sensitive__`, and no key is set.
        """
        if spec.sensitive and self.encryption_key is None:
            raise ConfigurationError(
                f"{spec.name} is marked __sensitive__, and there is no key. {_KEY_REMEDY}"
            )

    def _store_of_the_environment(self) -> str:
        given = self.database_url
        if given and given.startswith("postgres://"):  # what some hosts still write
            given = given.replace("postgres://", "postgresql://", 1)
        if given and self.store and given != self.store:
            raise ConfigurationError(
                "JOURNEYGRAPH_STORE and DATABASE_URL name two different stores. Unset one of them, "
                "or name the store with --store."
            )
        return self.store or given or DEFAULT_STORE

    def _key(self) -> bytes | None:
        if self.encryption_key is None:
            return None
        text = self.encryption_key.get_secret_value().strip().translate(_URL_SAFE)
        try:
            key = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ConfigurationError(_KEY_REMEDY) from None
        if len(key) != 32:
            raise ConfigurationError(_KEY_REMEDY)
        return key


def _opened(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


_URL_SAFE = str.maketrans("-_", "+/")
