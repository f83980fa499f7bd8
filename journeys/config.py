"""Settings of a running journey, and the texts that the runtime itself says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from journeys.errors import ConfigurationError, did_you_mean
from journeys.locale import Locale, locale_of, of_environment, part_fault
from journeys.store_url import checked_store, masked
from journeys.texts import Texts, placeholder_fault

RECOVERIES = ("graceful", "retry", "fail_fast")
DAY = 86_400.0
_DEFAULT_STORE = "sqlite:///journeys.db"
AUTO = "auto"
"""Value of a part of the locale that the config leaves to the environment."""
_OLD_STORES = {"memory": "memory://", "sqlite": _DEFAULT_STORE}


class _Derived:
    """Room for what is read off the settings once."""

    __slots__ = ("_locale",)
    _locale: Locale


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyConfig(_Derived):
    """Settings of a session; every value is checked when it is made.

    Attributes:
        persistence: Where sessions live: "memory://" (one per process), "memory://NAME", or
            "sqlite:///FILE" (default "sqlite:///journeys.db"), or
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"; its password is never shown.
        context_persistence: Old name of `persistence`; "memory" and "sqlite" are mapped, the
            documents' "dataflow" and "redis" are refused.
        intent_detection_model: Model that judges intents where a trigger names none: the name of a
            model of OpenAI's API, or of another provider's with the provider before it, such as
            "anthropic:..." (docs/settings.md). No model is asked unless one is configured; a chat
            model that is handed to the journey serves every step in place of all that are named.
        intent_confidence_threshold: Least confidence, 0 to 1, of a verdict that fires.
        intent_timeout_seconds: Longest wait for a verdict, retries included; then none holds.
        intent_cache_ttl_seconds: How long a verdict answers for the same message at the same
            point; 0 asks anew each time.
        agent_model: Model of the agents that are models; named likewise.
        validation_model: Model that judges replies, where a journey has them checked; None takes
            the one of the agents.
        activation_confidence_threshold: Confidence, 0 to 1, that a verdict must exceed to start a
            journey of a concierge.
        guideline_confidence_threshold: Confidence that a verdict on a guideline must exceed.
        guideline_candidates: Most guidelines that are put to a model in a turn.
        guideline_timeout_seconds: Longest wait for what matches guidelines without a model.
        breaker_failures: Times in a row within `breaker_seconds` that a model does not answer,
            after which it is not asked for as long again; then one question tries. It holds for a
            function of a guideline that is late as well.
        breaker_seconds: How long that is.
        turn_timeout_seconds: Longest turn; then the user gets the answer of a failed one.
        model_budget_seconds: Longest that understanding, rewording and checking take in a turn, all
            together; what does not fit in is omitted. Agents are not among them.
        model_timeout_seconds: Longest that such an agent may take, tools, retries and the repair of
            its answer included.
        speculate: True if the model agent that is likely to answer is asked while a model still
            understands the message: where a pathway has one such agent, and nothing before it. Its
            words are held until that is settled; what turns out wrong is not used.
        speculate_max_wrong: Share, 0 to 1, of a journey's last 20 such requests that may be wrong;
            with more, the next 100 turns of the journey in this process make none.
        max_pathway_depth: Most paused pathways at a time.
        pathway_timeout_seconds: Longest run of a pathway, and of one try of an agent; a pathway's
            own `__timeout__` replaces it.
        max_context_size_bytes: Largest context in bytes of UTF-8 JSON.
        prunable: Context names whose lists lose their oldest entries from 90 % of that size on.
        error_recovery: "graceful" (the user gets an apology, the session stays where it was),
            "retry" (the agent is tried again first) or "fail_fast" (the error is raised).
        max_retries: Further tries of a failing agent under "retry".
        retry_backoff_seconds: Pause before the first of them; it doubles each time.
        language: Language of the runtime's own texts, "en", "de" or "es". This and the next six are
            the parts of a `Locale`, and count where neither the journey's `__locale__` nor the
            session has that part; "auto" leaves it to the environment (`TZ`, `LANG`).
        region: Country, as an ISO 3166 code of two capitals, by whose habits dates, numbers and
            telephone numbers are read where they could be read in several ways.
        timezone: IANA name of the time zone in which "today" and "at seven" are meant.
        first_day: First day of the week, "monday" to "sunday"; "auto": as in the region.
        date_order: "dmy" or "mdy", for dates in digits; "auto": as in the region.
        decimal_sign: "." or ","; "auto": as in the region.
        clock: "12h" or "24h", for times that are shown; "auto": as usual in the language.
        resume_after_seconds: After a pause of that long, a talk that collects begins with what is
            known so far.
        session_ttl_seconds: A session without a message for that long expires; 30 days.
        keep_versions: Newest versions that can be rolled back to; at least 100.
        encryption_key: 32 bytes (AES-256) for journeys marked `__sensitive__`; never shown.
        database_pool_size: Most connections at a time that an event loop has to a Postgres.
        escalation_webhook: URL (http or https) that calls for a person are posted to; it is never
            shown. docs/collecting.md says how they are signed.
        escalation_secret: What they are signed with, 16 characters or more; never shown.
        texts: What the runtime says itself. One that differs from its default counts more than the
            journey's language, and less than what the journey words itself.

    Raises:
        ConfigurationError: A value is unknown or out of range, with the remedy.

    Source: ADR-025 section 5.1, REQ-PM-003.
    """

    persistence: str = _DEFAULT_STORE
    context_persistence: str | None = None
    intent_detection_model: str = "gpt-4o-mini"
    intent_confidence_threshold: float = 0.7
    intent_timeout_seconds: float = 10.0
    intent_cache_ttl_seconds: float = 300.0
    agent_model: str = "gpt-4o-mini"
    validation_model: str | None = None
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
    encryption_key: bytes | None = field(default=None, repr=False)
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
        _check_recovery(self.error_recovery)
        if not isinstance(self.speculate, bool):
            raise ConfigurationError(f"speculate is {self.speculate!r}; it must be true or false.")
        _check_numbers(self)
        _check_texts(self.texts)
        _check_webhook(self.escalation_webhook, self.escalation_secret)
        _check_model_names(self)
        object.__setattr__(self, "_locale", _locale(self))
        key = self.encryption_key
        if key is not None and (not isinstance(key, bytes) or len(key) != 32):
            raise ConfigurationError(
                "encryption_key must be exactly 32 bytes (AES-256). "
                "Make one with: python -c 'import os; print(os.urandom(32).hex())'"
            )

    @property
    def locale(self) -> Locale:
        """The parts of a locale that it decides, or the environment in which it was made."""
        if not hasattr(self, "_locale"):  # a copy is made of the fields alone
            object.__setattr__(self, "_locale", _locale(self))
        return self._locale


_LIMITS: dict[str, tuple[float, float]] = {
    "intent_confidence_threshold": (0.0, 1.0),
    "intent_timeout_seconds": (0.001, DAY),
    "intent_cache_ttl_seconds": (0.0, DAY),
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


def _locale(config: JourneyConfig) -> Locale:
    """Return the parts of a locale in a config; what it leaves open is the environment's."""
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


def _check_recovery(value: str) -> None:
    if value not in RECOVERIES:
        hint = did_you_mean(str(value), RECOVERIES)
        raise ConfigurationError(
            f"error_recovery is {value!r}.{hint} One of: {', '.join(RECOVERIES)}."
        )


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
    """Refuse a webhook that cannot be posted to or signed for; neither is shown.

    Raises:
        ConfigurationError: The URL is not http(s) with a host and nothing but a path and a query,
            or one of the two is missing, or the secret has fewer than 16 characters.
    """
    if url is None and secret is None:
        return
    if url is None:
        raise ConfigurationError(
            "escalation_secret is set, but escalation_webhook is not. Set both, or none."
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
