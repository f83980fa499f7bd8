"""Settings of a session."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self, cast, get_args
from urllib.parse import urlsplit

from journeygraph.journeys.errors import ConfigurationError, did_you_mean
from journeygraph.journeys.locale import Locale, locale_of, of_environment, part_fault
from journeygraph.journeys.store_url import checked_store, masked
from journeygraph.journeys.texts import Texts, placeholder_fault

RECOVERIES = ("graceful", "retry", "fail_fast")
WhenBusy = Literal["enqueue", "reject", "interrupt"]
"""Rule for a message to a session whose turn runs."""
BUSY_RULES: tuple[WhenBusy, ...] = get_args(WhenBusy)
DAY = 86_400.0
MOST_TOKENS = 1_000_000
"""Highest limit of tokens that can be set."""
_DEFAULT_STORE = "sqlite:///journeys.db"
AUTO = "auto"
"""Value of a part of the locale that the config leaves to the environment."""
_OLD_STORES = {"memory": "memory://", "sqlite": _DEFAULT_STORE}
KEY_BYTES = 32
"""Length of an encryption key, for AES-256."""
TENANT = "default"
"""Tenant of programs and servers that name none."""
_TENANT = re.compile("[a-z0-9][a-z0-9-]{0,62}")
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,32}")
_URL_SAFE = str.maketrans("-_", "+/")
_KEY_REMEDY = (
    "encryption_key must be 32 bytes (AES-256), or the base64 text of exactly 32 bytes, or several "
    "of these texts with ids: 'ID:BASE64,ID:BASE64'. Make a key with: "
    "python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
)


@dataclass(frozen=True, slots=True)
class EncryptionKeys:
    """Keys for journeys marked `__sensitive__`, by id; the first is for new sessions.

    Attributes:
        keys: Id and key of 32 bytes, in order; never shown.
    """

    keys: tuple[tuple[str, bytes], ...] = field(repr=False)

    @classmethod
    def of(cls, given: bytes | str) -> Self:
        """Return the keys of a setting.

        A key without an id has the start of a digest as its id. A key with an id is found by both,
        so that an id can be given later.

        Args:
            given: One key, or its base64 text, or 'ID:BASE64,ID:BASE64'. An id has 1 to 32
                letters, digits, dots, hyphens and underscores.

        Raises:
            ConfigurationError: A key does not have 32 bytes, or an id is not valid or is not
                unique. The text has no key.
        """
        keys = [*_named_keys(given)] if isinstance(given, str) else [("", _checked_key(given))]
        named = [(id_ or _id_of(key), key) for id_, key in keys]
        ids = [id_ for id_, _ in named]
        for id_ in ids:
            if ids.count(id_) > 1:
                raise ConfigurationError(
                    f"encryption_key has the id '{id_}' more than once. Give each key another "
                    "id, as in 'ID:BASE64,ID:BASE64'."
                )
        return cls(tuple(named))

    @property
    def first(self) -> tuple[str, bytes]:
        """The id and the key for new sessions."""
        return self.keys[0]

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        return [id_ for id_, _ in self.keys]

    def get(self, id_: str) -> bytes | None:
        """Return the key of an id; None if it is not set."""
        for known, key in self.keys:
            if id_ in (known, _id_of(key)):
                return key
        return None


def _named_keys(text: str) -> Iterator[tuple[str, bytes]]:
    for part in filter(None, map(str.strip, text.split(","))):
        id_, colon, key = part.rpartition(":")
        if colon and not _KEY_ID.fullmatch(id_):
            raise ConfigurationError(
                "An id in encryption_key is not valid: it must have 1 to 32 letters, digits, dots, "
                "hyphens and underscores, as in 'ID:BASE64,ID:BASE64'."
            )
        try:
            decoded = base64.b64decode(key.strip().translate(_URL_SAFE), validate=True)
        except (binascii.Error, ValueError):
            raise ConfigurationError(_KEY_REMEDY) from None
        yield id_, _checked_key(decoded)
    if not text.strip(" ,"):
        raise ConfigurationError(_KEY_REMEDY)


def _checked_key(key: Any) -> bytes:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise ConfigurationError(_KEY_REMEDY)
    return key


def _id_of(key: bytes) -> str:
    return hashlib.sha256(b"journeygraph encryption key|" + key).hexdigest()[:8]


def is_tenant(name: Any) -> bool:
    """Return whether a name can be that of a tenant."""
    return isinstance(name, str) and _TENANT.fullmatch(name) is not None


def checked_tenant(name: Any) -> str:
    """Return the name of a tenant.

    Raises:
        ConfigurationError: It is not 1 to 63 lower-case letters, digits and hyphens.
    """
    if is_tenant(name):
        return str(name)
    raise ConfigurationError(
        f"tenant is {name!r:.80}; it must be 1 to 63 lower-case letters, digits and hyphens, and "
        "begin with a letter or a digit."
    )


class _Derived:
    """Values that follow from the settings, found once."""

    __slots__ = ("encryption_keys", "locale", "secret")
    locale: Locale
    """The parts of a locale that it decides, or the environment in which it was made."""
    encryption_keys: EncryptionKeys | None
    """The keys in `encryption_key`; None if it is not set."""
    secret: bytes | None
    """The first key in `encryption_key`, for pseudonyms and cached values; None: not set."""

    def __getattr__(self, name: str) -> Any:
        if name not in _Derived.__slots__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        self._derive()  # a copy is made of the fields alone
        return getattr(self, name)

    def _derive(self) -> None:
        config = cast("JourneyConfig", self)
        keys = _keys(config)
        found = {"locale": _locale(config), "encryption_keys": keys}
        for name, value in {**found, "secret": keys.first[1] if keys else None}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyConfig(_Derived):
    """Settings of a session; every value is checked when it is made.

    Attributes:
        persistence: Store of the sessions: "memory://" (one per process), "memory://NAME",
            "sqlite:///FILE", or "postgresql://USER:PASSWORD@HOST:PORT/DATABASE" after `journeygraph
            migrate`. The password is never shown.
        tenant: Owner of the sessions, apart from all others in one store: 1 to 63 lower-case
            letters, digits and hyphens. On a server, the tenant of all clients whose key names
            none.
        context_persistence: Old name of `persistence`; "memory" and "sqlite" are mapped,
            "dataflow" and "redis" are refused.
        intent_detection_model: Model that judges intents if a trigger names none: the name of a
            model of OpenAI's API, or of another provider's after its name, such as "anthropic:..."
            (docs/reference/settings.md). No model is used unless one is configured; a chat model
            that is passed to the journey replaces all named ones.
        intent_confidence_threshold: Lowest confidence, 0 to 1, at which a model's yes counts.
        intent_timeout_seconds: Longest wait for a verdict, retries included; without one, no intent
            counts.
        intent_max_tokens: Largest number of tokens in the answer of a model that understands a
            message, or chooses agents. An answer that reaches its limit is cut off, and does not
            count. A model that thinks before it answers needs higher limits.
        intent_cache_ttl_seconds: Seconds for which a verdict is cached for the same message at the
            same point; 0: not cached.
        agent_model: Model of model agents; named likewise.
        agent_max_tokens: Largest number of tokens in each answer of a model agent; one agent can
            have its own: `ModelAgent(max_tokens=...)`.
        validation_model: Model that judges replies, if a journey has them checked. None: that of
            the agents.
        validation_max_tokens: Largest number of tokens in its judgement.
        wording_max_tokens: Largest number of tokens in an answer that words a text: a rewording, a
            corrected reply, an answer from passages or without them.
        activation_confidence_threshold: Confidence, 0 to 1, that a verdict must exceed to start a
            journey of a concierge.
        guideline_confidence_threshold: Confidence that a verdict on a guideline must exceed.
        guideline_candidates: Largest number of guidelines that a model judges in a turn.
        guideline_timeout_seconds: Longest wait for guideline conditions in code.
        breaker_failures: After this number of consecutive failures within `breaker_seconds`, a
            model is not called for the same time; then one question tries it. The same holds for a
            slow condition of a guideline.
        breaker_seconds: The time of `breaker_failures`.
        turn_timeout_seconds: Longest turn; after that the user gets the answer of a failed turn.
        model_budget_seconds: Seconds for understanding, rewording and checks in a turn, all
            together; the rest is omitted. Agents do not count.
        model_timeout_seconds: Time limit of a model agent, including its tools, retries and the
            repair of its answer.
        speculate: True: while a model understands the message, the model agent that is likely to
            answer already gets its request, if the pathway has only one agent and nothing before
            it. Its answer is used only if the turn makes the same request.
        speculate_max_wrong: Share, 0 to 1, of unused requests among the last 20 of a journey that
            is allowed; above it, its next 100 turns in this process do not speculate.
        max_pathway_depth: Largest number of paused pathways.
        pathway_timeout_seconds: Longest run of a pathway, and of one try of an agent; `__timeout__`
            of a pathway replaces it.
        max_context_size_bytes: Largest context in bytes of UTF-8 JSON.
        prunable: Names of lists in the context that lose their oldest entries from 90 % of that
            size on.
        error_recovery: "graceful" (the user gets an apology, the session does not move), "retry"
            (the agent is tried again first) or "fail_fast" (the error is raised).
        max_retries: Number of further tries of a failing agent under "retry".
        retry_backoff_seconds: Pause before the first of them; it doubles each time.
        when_busy: Rule for a message that comes while a turn of its session runs. "enqueue": it
            waits, with at most 7 others. "reject": it is refused. "interrupt": the running turn is
            given up if it has not begun an effect; then as "enqueue". A message can
            have its own rule.
        language: Language of the runtime's own texts, "en", "de", "es" or "fr". This and the next
            six are the parts of a `Locale` that neither the journey's `__locale__` nor the session
            sets; "auto": from the environment (`TZ`, `LANG`).
        region: Country, as an ISO 3166 code of two capitals: how dates, numbers and telephone
            numbers are read that could be read in several ways.
        timezone: IANA name of the time zone of "today" and "at seven".
        first_day: First day of the week, "monday" to "sunday"; "auto": as in the region.
        date_order: "dmy" or "mdy", for dates in digits; "auto": as in the region.
        decimal_sign: "." or ","; "auto": as in the region.
        clock: "12h" or "24h", for displayed times; "auto": as usual in the language.
        resume_after_seconds: After a pause of this length, a journey that collects first shows the
            known values and checks them again; a yes to a question from before the pause no longer
            counts.
        session_ttl_seconds: A session expires after this time without a message; 30 days.
        keep_versions: Number of newest versions that a rollback can use; at least 100.
        encryption_key: Key for journeys marked `__sensitive__`: 32 bytes (AES-256), or their base64
            text; never shown. Several keys: "ID:BASE64,ID:BASE64". The first one is for new
            sessions (docs/how-to/deploy.md).
        database_pool_size: Largest number of connections to Postgres in one event loop.
        escalation_webhook: URL (http or https) that calls for a person are posted to; it is never
            shown. docs/reference/collecting.md describes the signature.
        escalation_secret: Secret that signs them, 16 characters or more; never shown.
        texts: The runtime's own texts. One that differs from its default overrides the text of the
            language; the journey's `__texts__` override both.

    Raises:
        ConfigurationError: A value is unknown or out of range, with the remedy.

    Source: ADR-025 section 5.1, REQ-PM-003.
    """

    persistence: str = _DEFAULT_STORE
    tenant: str = TENANT
    context_persistence: str | None = None
    intent_detection_model: str = "gpt-4o-mini"
    intent_confidence_threshold: float = 0.7
    intent_timeout_seconds: float = 10.0
    intent_max_tokens: int = 600
    intent_cache_ttl_seconds: float = 300.0
    agent_model: str = "gpt-4o-mini"
    agent_max_tokens: int = 2_000
    validation_model: str | None = None
    validation_max_tokens: int = 400
    wording_max_tokens: int = 600
    activation_confidence_threshold: float = 0.7
    guideline_confidence_threshold: float = 0.6
    guideline_candidates: int = 20
    guideline_timeout_seconds: float = 1.0
    breaker_failures: int = 3
    breaker_seconds: float = 60.0
    turn_timeout_seconds: float = 120.0
    model_budget_seconds: float = 20.0
    model_timeout_seconds: float = 30.0
    speculate: bool = True
    speculate_max_wrong: float = 0.5
    max_pathway_depth: int = 10
    pathway_timeout_seconds: float = 60.0
    max_context_size_bytes: int = 1024 * 1024
    prunable: Sequence[str] = ()
    error_recovery: str = "graceful"
    max_retries: int = 3
    retry_backoff_seconds: float = 0.2
    when_busy: WhenBusy = "enqueue"
    language: str = AUTO
    region: str = AUTO
    timezone: str = AUTO
    first_day: str = AUTO
    date_order: str = AUTO
    decimal_sign: str = AUTO
    clock: str = AUTO
    resume_after_seconds: float = 3_600.0
    session_ttl_seconds: float = 30 * DAY
    keep_versions: int = 100
    encryption_key: bytes | str | None = field(default=None, repr=False)
    database_pool_size: int = 10
    escalation_webhook: str | None = field(default=None, repr=False)
    escalation_secret: str | None = field(default=None, repr=False)
    texts: Texts = field(default_factory=Texts)

    def __post_init__(self) -> None:
        if self.context_persistence is not None:
            object.__setattr__(self, "persistence", _store_of_old_name(self))
            # Forgotten, or dataclasses.replace() would bring it back over a new `persistence`.
            object.__setattr__(self, "context_persistence", None)
        object.__setattr__(self, "prunable", _names(self.prunable))
        object.__setattr__(self, "persistence", checked_store(self.persistence))
        checked_tenant(self.tenant)
        checked_word("error_recovery", self.error_recovery, RECOVERIES)
        checked_word("when_busy", self.when_busy, BUSY_RULES)
        if not isinstance(self.speculate, bool):
            raise ConfigurationError(f"speculate is {self.speculate!r}; it must be true or false.")
        _check_numbers(self)
        _check_texts(self.texts)
        _check_webhook(self.escalation_webhook, self.escalation_secret)
        _check_model_names(self)
        self._derive()


_LIMITS: dict[str, tuple[float, float]] = {
    "intent_confidence_threshold": (0.0, 1.0),
    "intent_timeout_seconds": (0.001, DAY),
    "intent_max_tokens": (1, MOST_TOKENS),
    "intent_cache_ttl_seconds": (0.0, DAY),
    "agent_max_tokens": (1, MOST_TOKENS),
    "validation_max_tokens": (1, MOST_TOKENS),
    "wording_max_tokens": (1, MOST_TOKENS),
    "speculate_max_wrong": (0.0, 1.0),
    "model_timeout_seconds": (0.001, DAY),
    "activation_confidence_threshold": (0.0, 1.0),
    "guideline_confidence_threshold": (0.0, 1.0),
    "guideline_candidates": (1, 100),
    "guideline_timeout_seconds": (0.001, DAY),
    "breaker_failures": (1, 1_000),
    "breaker_seconds": (0.001, DAY),
    "model_budget_seconds": (0.001, DAY),
    "turn_timeout_seconds": (0.001, DAY),
    "max_pathway_depth": (1, 1_000),
    "pathway_timeout_seconds": (0.001, DAY),
    "max_context_size_bytes": (2, 2**30),
    "max_retries": (0, 100),
    "retry_backoff_seconds": (0.0, 3_600.0),
    "resume_after_seconds": (0.001, 100 * 365 * DAY),
    "session_ttl_seconds": (0.001, 100 * 365 * DAY),
    "keep_versions": (100, 10**9),
    "database_pool_size": (1, 1_000),
}


def _check_numbers(config: JourneyConfig) -> None:
    kinds = {item.name: item.type for item in fields(config)}
    for name, (least, most) in _LIMITS.items():
        value: Any = getattr(config, name)
        wanted: Callable[[Any], bool] = _is_whole if kinds[name] == "int" else _is_number
        if not wanted(value) or not least <= value <= most:
            kind = "a whole number" if kinds[name] == "int" else "a number"
            raise ConfigurationError(
                f"{name} is {value!r}; it must be {kind} from {least:g} to {most:g}."
            )


def _check_texts(texts: Any) -> None:
    if not isinstance(texts, Texts):
        raise ConfigurationError(f"texts is {texts!r}; it must be Texts(closing=..., ...).")
    for item in fields(texts):
        said: Any = getattr(texts, item.name)
        if not isinstance(said, str) or not said.strip():
            raise ConfigurationError(f"texts.{item.name} is {said!r}; it must not be empty.")
        if fault := placeholder_fault(item.name, said):
            raise ConfigurationError(f"texts.{item.name} {' '.join(fault)}")


def _check_model_names(config: JourneyConfig) -> None:
    for name in ("intent_detection_model", "agent_model", "validation_model"):
        value: Any = getattr(config, name)
        if value is None and name == "validation_model":
            continue
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(f"{name} is {value!r}; it must be the name of a model.")


def _keys(config: JourneyConfig) -> EncryptionKeys | None:
    given = config.encryption_key
    return None if given is None else EncryptionKeys.of(given)


def _locale(config: JourneyConfig) -> Locale:
    named = ((name, getattr(config, name)) for name in list(Locale.keys()))
    given = {name: value for name, value in named if value != AUTO}
    for name, value in given.items():
        if fault := part_fault(name, value):
            raise ConfigurationError(f"{name} {fault}")
    return locale_of(given).over(of_environment())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def checked_word(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuse a value that is not one of the known words."""
    if value not in known:
        hint = did_you_mean(str(value), known)
        raise ConfigurationError(f"{name} is {value!r}.{hint} One of: {', '.join(known)}.")


def _store_of_old_name(config: JourneyConfig) -> Any:
    value: Any = config.context_persistence
    if config.persistence not in (_DEFAULT_STORE, value):
        raise ConfigurationError(
            f"persistence is {masked(config.persistence)!r} and context_persistence, its old "
            f"name, is {masked(str(value))!r}. Give persistence alone."
        )
    if value in _OLD_STORES:
        return _OLD_STORES[value]
    if value in ("dataflow", "redis"):
        raise ConfigurationError(
            f"context_persistence={value!r} is not supported. Use "
            "persistence='sqlite:///FILE' to store sessions, or 'memory://' to keep none."
        )
    return value


def _names(value: Any) -> tuple[str, ...]:
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(name, str) for name in value):
        raise ConfigurationError(f"prunable must be a list of context names, not {value!r}.")
    return tuple(value)


LEAST_SECRET = 16
"""Shortest secret that is taken, in characters."""
_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


def _check_webhook(url: Any, secret: Any) -> None:
    """Refuse a webhook that cannot be posted to or signed for; neither is shown."""
    if url is None and secret is None:
        return
    if url is None:
        raise ConfigurationError(
            "escalation_secret is set, but escalation_webhook is not. Set both, or neither."
        )
    if not isinstance(url, str) or not _is_plain(url):
        raise ConfigurationError(
            "escalation_webhook must be a URL such as https://desk.example/calls, without user, "
            "password or fragment."
        )
    if not isinstance(secret, str) or len(secret) < LEAST_SECRET:
        raise ConfigurationError(
            f"escalation_secret must be text of {LEAST_SECRET} characters or more: it signs the "
            f"requests to escalation_webhook. {_REMEDY}"
        )


def _is_plain(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
    return is_http and not parts.username and not parts.fragment and url.isprintable()
