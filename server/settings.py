"""Settings from the environment and from `.env`."""

from __future__ import annotations

import base64
import binascii

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from journeys import ConfigurationError, JourneyConfig, JourneySpec

_KEY_REMEDY = (
    "JOURNEYGRAPH_ENCRYPTION_KEY must be the base64 text of exactly 32 bytes. Make one with: "
    "python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
)


class Settings(BaseSettings):
    """What the environment decides; variables are prefixed with `JOURNEYGRAPH_`.

    Attributes:
        store: Where sessions live: "memory://", "memory://NAME" or "sqlite:///FILE".
        encryption_key: Base64 of the 32 bytes that encrypt journeys marked `__sensitive__`.
    """

    model_config = SettingsConfigDict(
        env_prefix="JOURNEYGRAPH_", env_file=".env", env_ignore_empty=True, extra="ignore"
    )

    store: str = "sqlite:///journeys.db"
    encryption_key: SecretStr | None = None

    def config(self, store: str | None = None) -> JourneyConfig:
        """Return the settings of a session.

        Args:
            store: Used in place of the environment's.

        Raises:
            ConfigurationError: The store's URL or the key is not valid; the key is not shown.
        """
        return JourneyConfig(persistence=store or self.store, encryption_key=self._key())

    def require_key(self, spec: JourneySpec) -> None:
        """Refuse a sensitive journey without a key, and say where one goes.

        Raises:
            ConfigurationError: The journey is `__sensitive__`, and no key is set.
        """
        if spec.sensitive and self.encryption_key is None:
            raise ConfigurationError(
                f"{spec.name} is marked __sensitive__, and there is no key. {_KEY_REMEDY}"
            )

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


_URL_SAFE = str.maketrans("-_", "+/")
