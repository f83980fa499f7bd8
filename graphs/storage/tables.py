"""Our own tables: sessions, the records that belong to them, and definitions.

A table is the only description of its records. Its foreign key names the session of a row, and
`sealed` marks the encrypted columns and their binding; `statements.Records` makes the statements,
the writing and the reading of rows from that.

One schema for SQLite and Postgres. The state itself is in LangGraph's checkpoint tables; the head
of a session is the row of `turns` that `sessions.version` names. Times are ISO 8601 text in UTC
with microseconds, so they sort as they are; only a lease is timed by the database itself.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
    true,
)

metadata = MetaData()

USAGE = ("model_calls", "input_tokens", "output_tokens")
"""Counts of a turn: calls of models, and their tokens."""

NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite gives numbers to INTEGER alone
TIME = String(32)
NAME = String(200)


def tenant(*, primary_key: bool = False) -> Column[Any]:
    """Return the column with the tenant of a row; the store fills it in, and compares it."""
    return Column("tenant", NAME, primary_key=primary_key, nullable=False)


def owner(*, primary_key: bool = False) -> tuple[Any, ...]:
    """Return the columns with the tenant and the session of a row; it is deleted with it."""
    names = ("tenant", "session_id")
    return (
        tenant(primary_key=primary_key),
        Column("session_id", NAME, primary_key=primary_key, nullable=False),
        ForeignKeyConstraint(names, [f"sessions.{name}" for name in names], ondelete="CASCADE"),
    )


def numbered(name: str = "id") -> Column[Any]:
    """Return the column with the row number from the database."""
    return Column(name, NUMBER, primary_key=True, autoincrement=True)


def sealed(
    name: str, place: str, comment: str = "", *, is_json: bool = False, nullable: bool = True
) -> Column[Any]:
    """Return a column of text that is encrypted in sensitive journeys.

    Args:
        name: Its name.
        place: Template of the place to which the seal is bound, from columns of the row.
        comment: Its content.
        is_json: True if it contains JSON, which is written from and read as values.
        nullable: True if it may be empty.
    """
    about = {"place": place, "json": is_json}
    return Column(name, Text, nullable=nullable, comment=comment or None, info=about)


def digest(of: str) -> Column[Any]:
    """Return the column with the sha256 of something; in sensitive journeys it is an HMAC."""
    return Column(
        "digest", String(64), nullable=False, comment=f"sha256 of {of}", info={"digest": True}
    )


_OF_TURN = "{session_id}|{version}|"
_OF_AUDIT = "{session_id}|{turn}|audit"
_OF_CHECK = "{session_id}|{turn}|checks"
_OF_ATTEMPT = "{session_id}|{turn}|attempts"
_OF_EFFECT = "{session_id}|{key}|effect"
_OF_ANSWER = "{tenant}|{session_id}|{key}|answer"
_OF_RUNNING = "{tenant}|{session_id}|running"
_OF_ESCALATION = "{session_id}|{id}|escalation"


sessions = Table(
    "sessions",
    metadata,
    tenant(primary_key=True),
    Column("session_id", NAME, primary_key=True),
    Column("journey_id", NAME, nullable=False),
    Column("journey_version", NAME, nullable=False),
    Column("status", String(16), nullable=False, comment="active, complete or expired"),
    Column("pathway_id", NAME, nullable=False),
    Column("version", Integer, nullable=False, comment="the head"),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("expires_at", TIME, nullable=False),
    Column(
        "fence",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="of the newest lease; stays 0 where one process has the database to itself",
    ),
    Column("lease_until", DateTime(timezone=True), comment="by the database's clock; null: free"),
    Column("data_key", Text, comment="encrypted with a key of the settings; null: not sensitive"),
    Column("key_id", String(32), comment="of that key; null: not sensitive"),
    Column("user_id", NAME, comment="the owner; null: none"),
    Index(
        "sessions_by_user",
        "user_id",
        "tenant",
        "updated_at",
        sqlite_where=text("user_id IS NOT NULL"),
        postgresql_where=text("user_id IS NOT NULL"),
    ),
    Index(
        "sessions_by_key",
        "journey_id",
        "key_id",
        "session_id",
        sqlite_where=text("key_id IS NOT NULL"),
        postgresql_where=text("key_id IS NOT NULL"),
    ),
    Column("unwanted_fence", Integer, comment="of the lease whose turn a newer message interrupts"),
    Index("sessions_by_status", "journey_id", "tenant", "status", "updated_at"),
    Index(
        "sessions_live",
        "journey_id",
        "tenant",
        "updated_at",
        sqlite_where=text("status != 'expired'"),
        postgresql_where=text("status != 'expired'"),
    ),
    Index("sessions_by_expiry", "status", "tenant", "expires_at"),
    Index(
        "sessions_to_expire",
        "journey_id",
        "tenant",
        "expires_at",
        sqlite_where=text("status != 'expired'"),
        postgresql_where=text("status != 'expired'"),
    ),
    Index(
        "sessions_by_pathway",
        "journey_id",
        "tenant",
        "pathway_id",
        "updated_at",
        sqlite_where=text("status != 'expired'"),
        postgresql_where=text("status != 'expired'"),
    ),
)

turns = Table(
    "turns",
    metadata,
    *owner(primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column(
        "kind",
        String(16),
        nullable=False,
        comment="as of VersionInfo",
    ),
    Column("checkpoint_id", NAME, nullable=False),
    Column("rolled_back_to", Integer, comment="for rollbacks: the version gone back to"),
    Column("pathway_id", NAME, nullable=False),
    sealed("message", _OF_TURN + "message"),
    sealed("reply", _OF_TURN + "reply"),
    sealed(
        "operations",
        _OF_TURN + "operations",
        "what changed the context",
        is_json=True,
        nullable=False,
    ),
    Column("begun_at", TIME, nullable=False, comment="when the message came"),
    Column("at", TIME, nullable=False, comment="when it was answered"),
    Column(
        "flags",
        Text,
        nullable=False,
        server_default="[]",
        comment="names of what failed",
        info={"json": True},
    ),
    *(Column(name, Integer, nullable=False, server_default=text("0")) for name in USAGE),
    sealed("trail", _OF_TURN + "trail", "its decision and its steps; null: none", is_json=True),
)

audit = Table(
    "audit",
    metadata,
    numbered(),
    *owner(),
    Column("turn", Integer, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("from_pathway", NAME),
    Column("to_pathway", NAME),
    sealed("trigger", _OF_AUDIT),
    sealed("reason", _OF_AUDIT, nullable=False),
    Column("confidence", Float),
    Column("at", TIME, nullable=False),
    Column(
        "unsent",
        Boolean,
        server_default=true(),
        comment="null: it has left the store",
        info={"internal": True},
    ),
    Index("audit_by_turn", "tenant", "session_id", "turn", "id"),
    Index("audit_unsent", "id", sqlite_where=text("unsent"), postgresql_where=text("unsent")),
)

audit_sending = Table(
    "audit_sending",
    metadata,
    Column("holder", String(36), primary_key=True, comment="the process that sends, a UUID"),
    Column("until", Float, nullable=False, comment="seconds of the database's clock"),
)

validation_audit = Table(
    "validation_audit",
    metadata,
    numbered(),
    *owner(),
    Column("journey_id", NAME, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("pathway_id", NAME, nullable=False, comment="where the reply came from"),
    Column("is_valid", Boolean, nullable=False, comment="of the reply as it was made"),
    sealed("violations", _OF_CHECK, "a list of sentences", is_json=True, nullable=False),
    Column("confidence", Float, comment="of the model that judged it; null: none did"),
    Column("latency_ms", Float, nullable=False),
    Column("outcome", String(16), nullable=False, comment="as of CheckEntry"),
    Column("bypassed", Boolean, nullable=False, comment="whether a model should have checked it"),
    Column("review", Boolean, nullable=False, comment="whether a person should review it"),
    Column("at", TIME, nullable=False),
    Index("checks_by_turn", "tenant", "session_id", "turn", "id"),
    Index("checks_to_review", "journey_id", "tenant", "review", "id"),
)

tenants = Table(
    "tenants",
    metadata,
    Column("name", NAME, primary_key=True),
    Column("at", TIME, nullable=False, comment="when it was opened first"),
)

field_attempts = Table(
    "field_attempts",
    metadata,
    numbered(),
    *owner(),
    Column("turn", Integer, nullable=False),
    Column("field", NAME, nullable=False),
    sealed("value", _OF_ATTEMPT, "null: of a sensitive field", is_json=True),
    sealed("raw", _OF_ATTEMPT, "what the user wrote; null: of a sensitive field"),
    Column("confidence", Float, nullable=False),
    Column("validation_status", String(16), nullable=False),
    Column("source", String(16), nullable=False),
    sealed("reason", _OF_ATTEMPT, nullable=False),
    Column("at", TIME, nullable=False),
    Index("attempts_by_field", "tenant", "session_id", "field", "id"),
    Index("attempts_by_turn", "tenant", "session_id", "turn", "id"),
)

effects = Table(
    "effects",
    metadata,
    *owner(primary_key=True),
    Column("key", Text, primary_key=True, comment="tenant/session/birth/turn/step"),
    Column("step", Text, nullable=False, comment="pathway.tool"),
    digest("the arguments; if sensitive, its HMAC"),
    Column("state", String(16), nullable=False, comment="begun, done or failed"),
    sealed("result", _OF_EFFECT, is_json=True),
    sealed("reason", _OF_EFFECT, "why it failed"),
    Column("begun_at", TIME, nullable=False),
    Column("ended_at", TIME, comment="null: outcome unknown"),
)

answers = Table(
    "answers",
    metadata,
    *owner(primary_key=True),
    Column("key", String(64), primary_key=True, comment="sha256 of the idempotency key"),
    digest("what was asked; if sensitive, its HMAC"),
    Column("version", Integer, nullable=False, comment="of the session after it"),
    sealed("answer", _OF_ANSWER, "null: the state of the version", is_json=True),
    Column("at", TIME, nullable=False),
)

timers = Table(
    "timers",
    metadata,
    *owner(primary_key=True),
    Column("journey_id", NAME, nullable=False),
    Column("timer", Text, nullable=False, comment="id of the next one; empty: none"),
    Column("due_at", TIME, nullable=False),
    Column("since", TIME, nullable=False, comment="time of the last message"),
    Column("moved", TIME, nullable=False, comment="time from which transitions count"),
    Column("taken", Text, nullable=False, comment="JSON: ids of those taken since that message"),
    Column("tries", Integer, nullable=False),
    Column("retry_at", TIME, comment="no process tries it before; null: not tried"),
    Index("timers_to_take", "journey_id", "due_at"),
)

probes = Table(
    "probes",
    metadata,
    tenant(primary_key=True),
    Column("process", String(36), primary_key=True, comment="a UUID"),
    Column("at", TIME, nullable=False, comment="when the process wrote it last"),
)

running_turns = Table(
    "running_turns",
    metadata,
    *owner(primary_key=True),
    Column("fence", Integer, nullable=False, comment="of the lease that the turn began with"),
    Column("version", Integer, nullable=False, comment="the head when the turn began"),
    Column("asked", String(32), nullable=False, comment="random id of the request for the lease"),
    sealed("message", _OF_RUNNING, "input of the turn", is_json=True, nullable=False),
    Column("tries", Integer, nullable=False, comment="of other processes to take the turn"),
)

escalations = Table(
    "escalations",
    metadata,
    numbered("number"),
    Column("id", String(36), nullable=False, comment="a UUID; the key of its delivery"),
    *owner(),
    Column("journey_id", NAME, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("status", String(16), nullable=False, comment="open, claimed, released or expired"),
    Column("claimed_by", NAME, comment="the operator"),
    sealed("payload", _OF_ESCALATION, "for the person", is_json=True, nullable=False),
    Column("at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("unclaimed_at", TIME, nullable=False, comment="when the assistant offers to go on"),
    Column("delivered_at", TIME, comment="null: not handed to a webhook"),
    Column("tries", Integer, nullable=False, comment="to hand it over"),
    Column("next_try_at", TIME, nullable=False),
    Index("escalations_by_id", "id", unique=True),
    Index("escalations_by_session", "tenant", "session_id"),
    Index("escalations_to_take", "journey_id", "tenant", "status", "number"),
    Index("escalations_to_deliver", "status", "delivered_at", "next_try_at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    tenant(primary_key=True),
    Column("id", String(16), primary_key=True, comment="the visible part of the key"),
    Column("name", NAME, nullable=False, comment="for people"),
    Column("digest", String(64), nullable=False, comment="sha256 of the key, which is random"),
    Column("scopes", String(64), nullable=False, comment="separated by blanks"),
    Column("user_id", NAME, comment="it reaches only the sessions of this user; null: all"),
    Column("session_id", NAME, comment="the only session that it reaches; null: any"),
    Column("made_by", String(16), comment="id of the key that asked for this token; null: a key"),
    Column("created_at", TIME, nullable=False),
    Column("expires_at", TIME, comment="null: never"),
    Column("revoked_at", TIME, comment="null: it was not"),
    Column("replaced_by", String(16), comment="id of the key that replaces it; null: none"),
    Index("api_keys_by_id", "id", unique=True),
    Index("api_keys_by_expiry", "expires_at"),
)

definitions = Table(
    "definitions",
    metadata,
    tenant(primary_key=True),
    Column("id", NAME, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False, comment="journey, concierge or guidelines"),
    Column("name", Text, nullable=False, comment="of the file; faults name it"),
    Column("body", Text, nullable=False, comment="JSON: its text, and those of its files"),
    Column("digest", String(64), nullable=False, comment="sha256 of the body"),
    Column("active", Boolean, nullable=False, comment="of one version of an id at most"),
    Column("dropped", Integer, nullable=False, comment="how often cached copies were made void"),
    Column("loaded_at", TIME, nullable=False),
    Column(
        "served",
        Boolean,
        nullable=False,
        server_default=true(),
        comment="whether sessions of this version continue in it",
    ),
    Column("journey_version", NAME, comment="as of sessions; null: not a journey"),
    Index("definitions_by_activity", "tenant", "active", "id"),
)

definition_epoch = Table(
    "definition_epoch",
    metadata,
    tenant(primary_key=True),
    Column("epoch", Integer, nullable=False, comment="grows with every change of definitions"),
    Column("dropped", Integer, nullable=False, comment="how often all copies were made void"),
)
