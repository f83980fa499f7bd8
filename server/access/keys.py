"""API keys in the database: made, listed, revoked, replaced, found.

A key is 256 random bits, so its SHA-256 is enough to store it: no list of likely keys exists that a
slow hash with a salt would protect. The key begins with its id, which finds its row and is shown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from sqlalchemy import JSON, ColumnElement, String, bindparam, cast, delete, func, select, update

from journeygraph.graphs.records.listing import checked_limit, paged
from journeygraph.graphs.session.input import checked_id, new_id_of
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
    now,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import api_keys
from journeygraph.journeys import ConfigurationError, Page, StateError
from journeygraph.journeys.config import TENANT, checked_tenant
from journeygraph.nodes.json_data import stamp
from journeygraph.server.access.callers import Caller, Scope, scopes_of

MARK = "jg"
"""First part of every key."""
TOKEN_SECONDS = 15 * 60
"""Life of a token, in seconds."""
MOST_SECONDS = 10 * 365 * 86_400
"""Longest life of a key, in seconds."""
_ID_FORM = re.compile(r"[0-9a-f]{12}")
_KEY = re.compile(MARK + r"_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_RECORDS = TableMapper(api_keys)
_MINE = of_tenant(api_keys)
_ID = api_keys.c.id == bindparam("id_is")
_VALID: ColumnElement[bool] = api_keys.c.revoked_at.is_(None)
_IS_KEY = api_keys.c.made_by.is_(None)
_MAKERS = api_keys.alias("makers")
_IS_MAKER = (_MAKERS.c.tenant == api_keys.c.tenant) & (_MAKERS.c.id == api_keys.c.made_by)
_ALL = select(
    api_keys,
    _MAKERS.c.expires_at.label("maker_expires_at"),
    _MAKERS.c.revoked_at.label("maker_revoked_at"),
).outerjoin(_MAKERS, _IS_MAKER)
"""Keys and tokens; a token with the end of its key."""
_PAGE = _ALL.where(_MINE, api_keys.c.id > bindparam("above")).order_by(api_keys.c.id)
_IDS: ColumnElement[str] = bindparam("ids", type_=String)
# The key tells of which tenant it is.
FIND = Sql.of(_ALL.where(_ID), all_tenants=True)
HELD = Sql(
    Sql.of(
        _ALL.where(api_keys.c.id.in_(select(func.json_each(_IDS).table_valued("value").c.value))),
        all_tenants=True,
    ).sqlite,
    Sql.of(
        _ALL.where(api_keys.c.id.in_(select(func.json_array_elements_text(cast(_IDS, JSON))))),
        all_tenants=True,
    ).postgres,
    all_tenants=True,
)
PAGE = Sql.of(first(_PAGE.where(_IS_KEY)))
PAGE_WITH_TOKENS = Sql.of(first(_PAGE))
ONE = Sql.of(_ALL.where(_MINE, _ID))
REVOKE = Sql.of(update(api_keys).where(_MINE, _ID, _VALID).values(revoked_at=bindparam("now")))
END = Sql.of(
    update(api_keys)
    .where(_MINE, _ID, _VALID, api_keys.c.replaced_by.is_(None))
    .values(expires_at=bindparam("until"), replaced_by=bindparam("by"))
)
FORGET_TOKENS = Sql.of(
    delete(api_keys).where(
        _MINE, api_keys.c.made_by.is_not(None), api_keys.c.expires_at < bindparam("now")
    )
)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key or a token, without its secret.

    Attributes:
        tenant: Its tenant.
        id: Its id, the visible part of the key.
        name: Its name, for people.
        digest: SHA-256 of the key, in hexadecimal.
        scopes: Its scopes, separated by blanks.
        user_id: The user whose sessions alone it reaches; None: all of its tenant.
        session_id: The only session that it reaches; None: any.
        made_by: Id of the key that asked for this token; None: it is no token.
        created_at: The time when it was made, as all times in UTC.
        expires_at: The end of its life; None: none. A token ends with its key at the latest.
        revoked_at: The time when it or its key was revoked; None: it was not.
        replaced_by: Id of the key that replaces it; None: none does.
    """

    tenant: str
    id: str
    name: str
    digest: str
    scopes: str
    user_id: str | None
    session_id: str | None
    made_by: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    replaced_by: str | None

    @property
    def state(self) -> str:
        """Its state: "valid", "expired" or "revoked"."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= stamp(now())
        return "expired" if is_over else "valid"

    @property
    def shown(self) -> str:
        """The visible part of the key."""
        return f"{MARK}_{self.id}"

    @property
    def maker(self) -> str | None:
        """The visible part of the key that asked for this token; None: it is no token."""
        known = self.made_by is not None and is_key_id(self.made_by)
        return f"{MARK}_{self.made_by}" if known else self.made_by

    def caller(self) -> Caller:
        """Return the caller who sends this key."""
        scopes = frozenset(map(Scope, self.scopes.split()))
        ends = self.expires_at and datetime.fromisoformat(self.expires_at).timestamp()
        return Caller(
            self.tenant, scopes, self.user_id, self.id, self.session_id, ends=ends or None
        )


_COLUMNS = tuple(field.name for field in fields(ApiKey))


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made, with its secret, which is not stored."""

    secret: str
    key: ApiKey


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """Description of a key to be made.

    Attributes:
        name: Its name, for people; up to 200 characters.
        user: The user whose sessions alone it reaches. Such a key can only talk.
        session: The only session that it reaches; it needs a user.
        seconds: Its life in seconds; None: it does not end.
        made_by: For a token, id of the key that asks for it.

    Raises:
        ConfigurationError: A scope is not known, or does not fit to a user; an id is not 1 to 200
            printable characters; the life is not 1 second to 10 years.
    """

    scopes: tuple[str, ...]
    name: str = ""
    user: str | None = None
    session: str | None = None
    seconds: int | None = None
    made_by: str | None = None

    def __post_init__(self) -> None:
        """Check it."""
        scopes = scopes_of(self.scopes)
        if self.user is not None and scopes != {Scope.TALK}:
            raise ConfigurationError(
                "A key of a user has the scope talk alone: the other scopes reach all sessions."
            )
        if self.session is not None and self.user is None:
            raise ConfigurationError("A key of one session needs a user, who owns it.")
        if self.user is not None:
            new_id_of(self.user, "user")
        if self.session is not None:
            checked_id(self.session)
        if len(self.name) > 200 or not self.name.isprintable():
            raise ConfigurationError("The name of a key has up to 200 printable characters.")
        if self.seconds is not None and not 0 < self.seconds <= MOST_SECONDS:
            raise ConfigurationError("The life of a key is from 1 second to 10 years.")


def is_key_id(text: str) -> bool:
    """Return whether a text has the form of the id of a key of the database."""
    return _ID_FORM.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Return whether a text has the form of a key of the database."""
    return _KEY.fullmatch(text) is not None


class UnknownKeyError(StateError):
    """A key does not exist, or is not valid any more."""


class StoredKeys:
    """The keys of a store. Every method raises `StateError` if the store fails."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, wanted: KeyRequest, tenant: str = TENANT) -> NewKey:
        """Make a key; its secret is only in the result. Tokens that are over are removed.

        A token ends with the key that asks for it at the latest.

        Raises:
            UnknownKeyError: The key that asks for a token is over.
        """
        new = _made(wanted, tenant)
        written = []
        if wanted.made_by is not None:
            rows = await self._store.of(tenant).read(ONE, id_is=wanted.made_by)
            makers = [_checked(_read(row)) for row in rows]  # a key of the settings has no row
            ends = [one.expires_at for one in makers if one.expires_at]
            until = min(filter(None, [new.key.expires_at, *ends]), default=None)
            new = replace(new, key=replace(new.key, expires_at=until))
            written.append(Statement(FORGET_TOKENS, [{"now": new.key.created_at}]))
        added = _RECORDS.adding([_row(new.key)], Seal())
        await self._store.of(checked_tenant(tenant)).write(added, *written)
        return new

    async def page(
        self, limit: int = 100, after: str = "", tenant: str = TENANT, *, tokens: bool = False
    ) -> Page[ApiKey]:
        """Return a page of the keys of a tenant by id, after an id.

        Raises:
            ConfigurationError: The limit is not from 1 to 1000.
        """
        most = checked_limit(limit)
        page = PAGE_WITH_TOKENS if tokens else PAGE
        rows = await self._store.of(tenant).read(page, above=after, most=most + 1)
        return paged([_read(row) for row in rows], most, lambda key: key.id)

    async def revoke(self, key_id: str, tenant: str = TENANT) -> ApiKey:
        """End a key and the tokens that were made with it, or one token, now and for ever."""
        key = await self._valid(key_id, tenant)
        at = stamp(now())
        row: Row = {"id_is": key.id, "now": at}
        await self._store.of(tenant).write(Statement(REVOKE, [row]))
        return replace(key, revoked_at=at)

    async def rotate(self, key_id: str, seconds: int, tenant: str = TENANT) -> NewKey:
        """Make a key like another one, which ends after a time, and its tokens with it.

        Args:
            key_id: Id of the other key. The new one has its name, scopes, user and session, and
                a life as long.
            seconds: Seconds after which the other key ends, so that its users can change to the
                new one; 0: now.

        Raises:
            UnknownKeyError: The tenant has no such key, or it is over, or was replaced.
            ConfigurationError: The time is not 0 to 10 years, or it is a token.
        """
        if not 0 <= seconds <= MOST_SECONDS:
            raise ConfigurationError("The other key ends after 0 seconds to 10 years.")
        key = await self._valid(key_id, tenant)
        if key.made_by is not None:
            raise ConfigurationError(
                f"'{key.shown}' is a token, which ends soon. Ask for another one: POST /v1/tokens."
            )
        if key.replaced_by is not None:
            raise UnknownKeyError(
                f"The key '{key.shown}' was replaced by {MARK}_{key.replaced_by}."
            )
        scopes = tuple(key.scopes.split())
        life = _life(key)
        new = _made(KeyRequest(scopes, key.name, key.user_id, key.session_id, life), tenant)
        until = stamp(now() + timedelta(seconds=seconds))
        ended: Row = {
            "id_is": key.id,
            "until": min(until, key.expires_at or until),
            "by": new.key.id,
        }
        await self._store.of(tenant).write(
            _RECORDS.adding([_row(new.key)], Seal()), Statement(END, [ended], exactly_one=True)
        )
        return new

    async def find(self, secret: str) -> ApiKey | None:
        """Return the valid key of this text; None if there is none."""
        match = _KEY.fullmatch(secret)
        if match is None:
            return None
        rows = await self._store.read(FIND, id_is=match[1])
        key = _read(rows[0]) if rows else None
        if key is None or not hmac.compare_digest(key.digest, _digest(secret)):
            return None
        return key if key.state == "valid" else None

    async def over(self, ids: Iterable[str]) -> set[str]:
        """Return which of these keys and tokens, of any tenant, are over, by one query."""
        asked = set(ids)
        rows = await self._store.read(HELD, ids=json.dumps(sorted(asked)))
        return asked - {key.id for key in map(_read, rows) if key.state == "valid"}

    async def _valid(self, key_id: str, tenant: str) -> ApiKey:
        id_ = key_id.removeprefix(f"{MARK}_")
        rows = await self._store.of(tenant).read(ONE, id_is=id_)
        if not rows:
            raise UnknownKeyError(
                f"There is no key '{key_id:.40}'. journeygraph keys list shows the ids."
            )
        return _checked(_read(rows[0]))


def _checked(key: ApiKey) -> ApiKey:
    if key.state != "valid":
        raise UnknownKeyError(f"The key '{key.shown}' is {key.state} already.")
    return key


def _made(wanted: KeyRequest, tenant: str) -> NewKey:
    id_ = secrets.token_hex(6)
    secret = f"{MARK}_{id_}_{secrets.token_urlsafe(32)}"
    at = now()
    life = wanted.seconds
    key = ApiKey(
        tenant=tenant,
        id=id_,
        name=wanted.name,
        digest=_digest(secret),
        scopes=" ".join(wanted.scopes),
        user_id=wanted.user,
        session_id=wanted.session,
        made_by=wanted.made_by,
        created_at=stamp(at),
        expires_at=None if life is None else stamp(at + timedelta(seconds=life)),
        revoked_at=None,
        replaced_by=None,
    )
    return NewKey(secret, key)


def _life(key: ApiKey) -> int | None:
    """Return the life of a key, in seconds; None: it does not end."""
    if key.expires_at is None:
        return None
    life = datetime.fromisoformat(key.expires_at) - datetime.fromisoformat(key.created_at)
    return max(1, round(life.total_seconds()))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _row(key: ApiKey) -> Row:
    return {name: getattr(key, name) for name in _COLUMNS}


def _read(row: Row) -> ApiKey:
    """Return a key, or a token with the end of its key if that is earlier."""
    key = ApiKey(**{name: row[name] for name in _COLUMNS})
    ends = filter(None, (key.expires_at, row["maker_expires_at"]))
    revoked = key.revoked_at or row["maker_revoked_at"]
    return replace(key, expires_at=min(ends, default=None), revoked_at=revoked)
