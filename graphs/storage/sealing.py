"""AES-256-GCM for the data of a sensitive journey: state, transcript and audit text."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from langgraph.checkpoint.serde.base import CipherProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from journeys import ConfigurationError, StateError

_NAME = "aes256gcm"
_MARK = f"{_NAME}:"
_NONCE = 12
_WRONG = (
    "Stored data cannot be decrypted with this encryption_key. Give the key with which the "
    "session was started."
)


def strict_serializer() -> JsonPlusSerializer:
    """Return the serializer of plain state: no pickle, no type is imported on load."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def is_sealed(stored: str) -> bool:
    """Return whether a text of the store is sealed."""
    return stored.startswith(_MARK)


class Seal:
    """The seal of journeys that are not sensitive; it changes nothing.

    Attributes:
        hides: True if anything is encrypted.
    """

    hides = False

    def close(self, text: str, bound_to: str) -> str:
        """Return the text to store."""
        return text

    def open(self, stored: str, bound_to: str) -> str:
        """Return the text of stored data."""
        return stored

    def serializer(self) -> Any:
        """Return the serializer of the state."""
        return strict_serializer()


class SealOfReader(Seal):
    """Opens sealed and plain text, for readers that do not know the journey.

    Raises:
        ConfigurationError: Stored data is sealed, and no key is set.
        StateError: Stored data has another key, or was changed.
    """

    def __init__(self, key: bytes | None) -> None:
        self._seal = AesSeal(key) if key else None

    def open(self, stored: str, bound_to: str) -> str:
        """Return the text of stored data."""
        if not is_sealed(stored):
            return stored
        if self._seal is None:
            raise ConfigurationError(
                "Stored data of a sensitive journey is encrypted: give the "
                "encryption_key with which the session was started (JOURNEYGRAPH_ENCRYPTION_KEY)."
            )
        return self._seal.open(stored, bound_to)


_bound: ContextVar[str] = ContextVar("place of the state", default="")


@contextmanager
def state_of(session_id: str, place: str) -> Iterator[None]:
    """Bind state that is sealed or opened in this block to one place in one session.

    That is a checkpoint, or a version of a channel if checkpoints share values. A serializer gets
    only the state, so this block passes the place.
    """
    token = _bound.set(f"{session_id}|{place}")
    try:
        yield
    finally:
        _bound.reset(token)


class AesSeal(Seal, CipherProtocol):
    """Encrypts text and state with one key of 32 bytes.

    All data is bound to its place, so that a row of one session is refused in another.

    Raises:
        StateError: Stored data is not encrypted, was changed, or has another key.
    """

    hides = True

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def close(self, text: str, bound_to: str) -> str:
        """Return the text encrypted, as text."""
        sealed = self._sealed(text.encode("utf-8"), bound_to.encode("utf-8"))
        return _MARK + base64.b64encode(sealed).decode("ascii")

    def open(self, stored: str, bound_to: str) -> str:
        """Return the text of stored data."""
        if not is_sealed(stored):
            raise StateError("A row of a sensitive journey is not encrypted, so it was refused.")
        sealed = base64.b64decode(stored[len(_MARK) :])
        return self._opened(sealed, bound_to.encode("utf-8")).decode("utf-8")

    def serializer(self) -> Any:
        """Return the serializer of the state, which refuses what is not encrypted."""
        return _SealedSerializer(self, strict_serializer())

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Return the cipher's name and the encrypted bytes (LangGraph's protocol)."""
        return _NAME, self._sealed(plaintext, self._state)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Return the decrypted bytes (LangGraph's protocol)."""
        return self._opened(ciphertext, self._state)

    @property
    def _state(self) -> bytes:
        return f"state|{_bound.get()}".encode()

    def _sealed(self, plaintext: bytes, bound_to: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, plaintext, bound_to)

    def _opened(self, sealed: bytes, bound_to: bytes) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound_to)
        except (InvalidTag, ValueError) as error:
            raise StateError(_WRONG) from error


class _SealedSerializer(EncryptedSerializer):
    """LangGraph's encrypting serializer, made to refuse rows that are not encrypted."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if not data[0].endswith(f"+{_NAME}"):
            raise StateError(
                "The state of a sensitive journey is not encrypted, so it was refused."
            )
        return super().loads_typed(data)
