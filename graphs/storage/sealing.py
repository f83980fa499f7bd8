"""Encryption of sensitive journeys: AES-256-GCM with a data key for each session.

The row of a session has its data key, which is wrapped with one of the keys of the settings, and
the id of that key. A new key of the settings wraps the data keys again; no other data is encrypted
again. Without the data key, no row of the session can be read, also none in a backup.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langgraph.checkpoint.serde.base import CipherProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from journeygraph.graphs.storage.errors import DamagedError
from journeygraph.journeys import ConfigurationError, StateError
from journeygraph.journeys.config import KEY_BYTES, TENANT, EncryptionKeys
from journeygraph.journeys.errors import require_extra

_NAME = "aes256gcm"
MARK = f"{_NAME}:"
"""The beginning of each text that is sealed."""
_NONCE = 12
_NOT_ENCRYPTED = "is not encrypted, so it was refused: the journey is sensitive."
_CHANGED = (
    "cannot be decrypted with the key of its session, so it was refused: it was changed, or moved "
    "from another place."
)
_NO_SUCH_KEY = (
    "cannot be decrypted with this encryption_key, so it was refused: it was changed or moved, or "
    "the key with which the session was started is not set."
)
_NO_KEY = (
    "Stored data of a sensitive journey is encrypted: give the encryption_key with which the "
    "session was started (JOURNEYGRAPH_ENCRYPTION_KEY)."
)


class RefusedError(DamagedError):
    """Stored data of a sensitive journey is not encrypted, or cannot be decrypted.

    Attributes:
        reason: The fault, as the second part of a sentence.
    """

    def __init__(self, reason: str, what: str = "Stored data of a sensitive journey") -> None:
        self.reason = reason
        super().__init__(f"{what} {reason}")

    def of(self, what: str) -> RefusedError:
        """Return the error with the name of the refused data."""
        return RefusedError(self.reason, what)


def strict_serializer() -> JsonPlusSerializer:
    """Return the serializer of plain state: no pickle, no type is imported on load."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def is_sealed(stored: str) -> bool:
    """Return whether a text of the store is sealed."""
    return stored.startswith(MARK)


class Seal:
    """The seal of journeys that are not sensitive; it changes nothing.

    Attributes:
        hides: True if anything is encrypted.
        tenant: The tenant of the data.
        columns: Columns of the session's row, with its wrapped data key and the id of that key.
    """

    hides = False
    columns: Mapping[str, str | None] = {"data_key": None, "key_id": None}

    def __init__(self, tenant: str = TENANT) -> None:
        self.tenant = tenant

    def close(self, text: str, bound_to: str) -> str:
        """Return the text to store."""
        return text

    def open(self, stored: str, bound_to: str) -> str:
        """Return the text of stored data."""
        return stored

    def digest(self, digest: str) -> str:
        """Return the digest to store for one of data that it must not reveal."""
        return digest

    def digest_for(self, other: Seal, stored: str) -> str:
        """Return a stored digest in the form in which another session stores it."""
        return other.digest(stored)

    def serializer(self) -> Any:
        """Return the serializer of the state."""
        return strict_serializer()


class NoSeal(Seal):
    """Refuses everything; a sensitive session has it until its row is read."""

    hides = True

    def close(self, text: str, bound_to: str) -> str:
        """Refuse to store a text.

        Raises:
            StateError: Always.
        """
        raise _not_bound()

    def open(self, stored: str, bound_to: str) -> str:
        """Refuse stored data.

        Raises:
            StateError: Always.
        """
        raise _not_bound()

    def digest(self, digest: str) -> str:
        """Refuse a digest.

        Raises:
            StateError: Always.
        """
        raise _not_bound()

    def serializer(self) -> Any:
        """Refuse state.

        Raises:
            StateError: Always.
        """
        raise _not_bound()


def _not_bound() -> StateError:
    return StateError("The row of the session was not read, so its data key is not known.")


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

    Args:
        key: The key that encrypts.
        older: Further keys that decrypt.

    Raises:
        ConfigurationError: The extra `encryption` is not installed.
        RefusedError: Stored data is not encrypted, was changed or moved, or has another key.
    """

    hides = True
    _bound_to = ""
    _refused = _NO_SUCH_KEY

    def __init__(self, key: bytes, *older: bytes) -> None:
        require_extra("encryption", "The encryption of sensitive journeys", "cryptography")
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra

        super().__init__()
        self._ciphers = [AESGCM(key), *map(AESGCM, older)]

    def close(self, text: str, bound_to: str) -> str:
        """Return the text encrypted, as text."""
        return MARK + _as_text(self.encrypted(text.encode("utf-8"), bound_to))

    def open(self, stored: str, bound_to: str) -> str:
        """Return the text of stored data."""
        if not is_sealed(stored):
            raise RefusedError(_NOT_ENCRYPTED)
        return self.decrypted(_as_bytes(stored[len(MARK) :]), bound_to).decode("utf-8")

    def serializer(self) -> Any:
        """Return the serializer of the state, which refuses what is not encrypted."""
        return self._serializer

    @cached_property
    def _serializer(self) -> Any:
        return _SealedSerializer(self, strict_serializer())

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Return the cipher's name and the encrypted bytes (LangGraph's protocol)."""
        return _NAME, self.encrypted(plaintext, _state())

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Return the decrypted bytes (LangGraph's protocol)."""
        return self.decrypted(ciphertext, _state())

    def encrypted(self, plaintext: bytes, bound_to: str) -> bytes:
        """Return data encrypted for its place: the nonce, then the ciphertext."""
        nonce, bound = os.urandom(_NONCE), f"{self._bound_to}{bound_to}".encode()
        return nonce + self._ciphers[0].encrypt(nonce, plaintext, bound)

    def decrypted(self, sealed: bytes, bound_to: str) -> bytes:
        """Return encrypted data of a place."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

        bound = f"{self._bound_to}{bound_to}".encode()
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
            except (InvalidTag, ValueError):
                continue
        raise RefusedError(self._refused)


def state_place(session_id: str, place: str) -> str:
    """Return the place to which state is bound; see `state_of`."""
    return f"state|{session_id}|{place}"


def _state() -> str:
    return f"state|{_bound.get()}"


class SessionSeal(AesSeal):
    """Encrypts the data of one session with its data key.

    All data is bound to the tenant, the session and its place. Digests of the session are HMACs, so
    that no one can guess the digested data without the key.

    Args:
        secret: The data key and the key of digests, 32 bytes each.
        columns: Columns of the session's row.
        tenant: The tenant of the session.
    """

    _refused = _CHANGED

    def __init__(
        self, secret: bytes, columns: Mapping[str, str | None], tenant: str = TENANT
    ) -> None:
        super().__init__(secret[:KEY_BYTES])
        self.tenant, self._bound_to = tenant, f"{tenant}|"
        self.digest_key = secret[KEY_BYTES:]
        self.columns = columns

    def digest(self, digest: str) -> str:
        """Return the HMAC-SHA256 of a digest."""
        return hmac.new(self.digest_key, digest.encode(), hashlib.sha256).hexdigest()

    def digest_for(self, other: Seal, stored: str) -> str:
        """Return a stored digest in the form in which another session stores it.

        Raises:
            StateError: The other session has another key of digests.
        """
        if not isinstance(other, SessionSeal) or other.digest_key != self.digest_key:
            raise StateError("A digest of one session cannot be used in another one.")
        return stored


@dataclass(frozen=True, slots=True)
class Seals:
    """Makes the seal of each session from its row.

    Attributes:
        keys: The keys of the settings; None if none is set.
        tenant: The tenant of the sessions.
    """

    keys: EncryptionKeys | None
    tenant: str = TENANT

    def new(self, session_id: str, like: Seal | None = None) -> SessionSeal:
        """Return the seal of a new session, with a new data key.

        Args:
            session_id: The session.
            like: Seal of the session that it is a fork of. Both have one key of digests, because
                the fork has the digests of effects.
        """
        shared = like.digest_key if isinstance(like, SessionSeal) else os.urandom(KEY_BYTES)
        return self._wrapped(os.urandom(KEY_BYTES) + shared, session_id)

    def of(self, row: Mapping[str, Any]) -> Seal:
        """Return the seal of a session of a sensitive journey.

        Args:
            row: Row of the session, or one with its id and the columns of its seal.

        Raises:
            ConfigurationError: No key is set.
            RefusedError: The key with which the data key was wrapped is not set, or another one has
                its id, or the data key was changed or moved.
        """
        keys = _required(self.keys)
        if not row["key_id"]:  # it has expired, or was not begun as a sensitive one
            return NoSeal()
        columns = {name: row[name] for name in Seal.columns}
        return SessionSeal(self._unwrapped(keys, row), columns, self.tenant)

    def reader(self, row: Mapping[str, Any]) -> Seal:
        """Return what opens the rows of a session whose journey is not known.

        Raises:
            ConfigurationError: The session is encrypted, and no key is set.
            RefusedError: As for `of`.
        """
        return Seal(self.tenant) if row["key_id"] is None else self.of(row)

    def wrapped_again(self, row: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return the columns of a session's seal, wrapped with the first key.

        Raises:
            RefusedError: As for `of`.
        """
        secret = self._unwrapped(_required(self.keys), row)
        return self._wrapped(secret, row["session_id"]).columns

    def _wrapped(self, secret: bytes, session_id: str) -> SessionSeal:
        id_, key = _required(self.keys).first
        sealed = AesSeal(key).encrypted(secret, self._data_key_of(session_id, id_))
        return SessionSeal(secret, {"data_key": _as_text(sealed), "key_id": id_}, self.tenant)

    def _unwrapped(self, keys: EncryptionKeys, row: Mapping[str, Any]) -> bytes:
        session, id_ = row["session_id"], row["key_id"]
        what, refused = f"Session '{session}'", "cannot be decrypted with this encryption_key:"
        key = keys.get(id_)
        if key is None:
            raise RefusedError(
                f"{refused} it needs the key '{id_}', and only {', '.join(keys.ids)} are set. Add "
                "that key behind the first one in JOURNEYGRAPH_ENCRYPTION_KEY.",
                what,
            )
        try:
            wrapped = _as_bytes(row["data_key"] or "")
            return AesSeal(key).decrypted(wrapped, self._data_key_of(session, id_))
        except RefusedError as error:
            raise RefusedError(
                f"{refused} the key '{id_}' is not the one that had this id when the session was "
                "started, or the row of the session was changed.",
                what,
            ) from error

    def _data_key_of(self, session_id: str, key_id: str) -> str:
        """Return the place to which a wrapped data key is bound."""
        return f"{self.tenant}|{session_id}|data key|{key_id}"


def _required(keys: EncryptionKeys | None) -> EncryptionKeys:
    if keys is None:
        raise ConfigurationError(_NO_KEY)
    return keys


def _direct(keys: EncryptionKeys) -> AesSeal:
    """Return the seal of data that is encrypted with a key of the settings itself."""
    return AesSeal(*(key for _, key in keys.keys))


def direct_seal(keys: EncryptionKeys | None) -> Seal:
    """Return the seal of threads that are no sessions; without keys, they are plain."""
    return Seal() if keys is None else _direct(keys)


def _as_text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _as_bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""  # no cipher accepts it


class _SealedSerializer(EncryptedSerializer):
    """LangGraph's encrypting serializer, made to refuse rows that are not encrypted."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if not data[0].endswith(f"+{_NAME}"):
            raise RefusedError(_NOT_ENCRYPTED)
        return super().loads_typed(data)
