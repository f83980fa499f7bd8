"""Every error that JourneyGraph raises.

    JourneyError
    ├── JourneyDefinitionError      a class body that cannot become a journey
    ├── ConfigurationError          a setting that cannot be honoured
    ├── InvalidMessageError         a message that no person can have typed
    ├── PathwayNotFoundError        a pathway id that this journey does not have
    ├── FieldNotFoundError          a field that this journey does not collect
    ├── AgentNotRegisteredError     a name without an agent, or an agent without a place
    ├── PathwayExecutionError       an agent failed, timed out or broke its contract
    ├── ModelError                  a language model gave no usable answer
    ├── ContextMergeError           a value that its merge strategy cannot take
    ├── ContextSizeExceededError    a context over its size limit
    ├── MaxPathwayDepthError        one detour too many
    ├── InvalidPhaseError           a phase that cannot follow the present one
    ├── TakeoverError               an act on a conversation that is not the operator's
    ├── SessionNotStartedError      a message before start()
    ├── SessionExistsError          a second start() on the same session
    ├── InvalidCursorError          a cursor that no listing gave
    ├── SessionExpiredError         a message after the time to live
    └── StateError                  the store refused or lost something
        ├── VersionNotFoundError    a version that never was, or is pruned
        ├── NeedsMigrationError     a session of a version that is not served here
        ├── NotWaitingError         an answer to something that no agent asks
        ├── WaitingError            an event while an agent waits for an answer
        ├── SessionBusyError        a request that must not wait for the running turn
        │   └── TooManyWaitingError more requests than may wait for one session
        └── TurnInterruptedError    a turn that was given up for a newer message

Where a source document raises ValueError or RuntimeError, ours is one as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module

from journeygraph.journeys.faults import Fault


def shown(value: object) -> str:
    """Return the repr of a value without places in memory, which tell an author nothing."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


MEANT = {
    "amount": "money",
    "array": "list",
    "bool": "boolean",
    "choice": "enum",
    "choices": "enum",
    "currency": "money",
    "decimal": "number",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "mail": "email",
    "option": "enum",
    "options": "enum",
    "price": "money",
    "select": "enum",
    "str": "text",
    "string": "text",
    "tel": "phone",
    "telephone": "phone",
    "text": "string",
    "timestamp": "datetime",
}
"""Word of another language or library -> the word for it here."""
_ENDING = re.compile(r"(Pathway|Path)$")


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `" Did you mean 'x'?"` for the closest known word, or an empty string.

    The id of a pathway is also found by the name of its class.
    """
    id_ = snake(_ENDING.sub("", word[:100]))
    exact = [one for one in (MEANT.get(word.lower(), ""), id_) if one in known]
    ways = (word[:100], id_) if not exact else ()
    close = [found for way in ways for found in get_close_matches(way, known, n=1, cutoff=0.6)]
    return f" Did you mean '{(exact or close)[0]}'?" if exact or close else ""


def snake(name: str) -> str:
    """Return a class name in snake case, acronyms as one word.

    Example:
        >>> snake("FAQ"), snake("UserRegistration"), snake("HTTPRetry2")
        ('faq', 'user_registration', 'http_retry2')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", spaced).strip("_").lower()


def one_of(value: object, known: Sequence[str]) -> str:
    """Return the description of valid values for an unknown one."""
    word = value if isinstance(value, str) else getattr(value, "__name__", "")
    hint = did_you_mean(word, known)
    return f"it must be {'one of ' if known[1:] else ''}{', '.join(known)}.{hint}"


class JourneyError(Exception):
    """Base of all errors of this library."""


class JourneyDefinitionError(JourneyError, ValueError):
    """A definition has faults; `faults` holds each of them: a sentence with its parts."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(one if isinstance(one, Fault) else Fault(one) for one in faults)
        super().__init__("\n".join(self.faults))


class ConfigurationError(JourneyError, ValueError):
    """A setting is unknown, out of range, or not supported here.

    Attributes:
        faults: Faults of a refused definition, each with its path.
    """

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(message)


class InvalidMessageError(JourneyError, ValueError):
    """A message is not text, or contains characters that are not allowed."""


class PathwayNotFoundError(JourneyError, ValueError):
    """A session is in, or was sent to, a pathway that its journey does not have."""

    def __init__(self, pathway_id: str, available: Sequence[str]) -> None:
        self.pathway_id = pathway_id
        self.available = list(available)
        hint = did_you_mean(pathway_id, self.available)
        super().__init__(
            f"Pathway '{pathway_id}' not found.{hint} Available: {', '.join(self.available)}"
        )


class FieldNotFoundError(JourneyError, ValueError):
    """A request names a field that no pathway of the journey collects."""

    def __init__(self, name: str, available: Sequence[str]) -> None:
        self.name = name
        self.available = list(available)
        hint = did_you_mean(name, self.available)
        super().__init__(
            f"Field '{name:.100}' not found.{hint} "
            f"The journey collects: {', '.join(self.available) or 'nothing'}."
        )


class AgentNotRegisteredError(JourneyError, ValueError):
    """Agents are missing, or one was registered under a name that no pathway uses.

    Attributes:
        pathways: The ids of the pathways whose agents are missing.
    """

    def __init__(self, message: str, pathways: Sequence[str] = ()) -> None:
        self.pathways = pathways
        super().__init__(message)


class PathwayExecutionError(JourneyError, RuntimeError):
    """An agent failed, ran out of time, or returned what its signature does not allow.

    Attributes:
        pathway_id: The pathway that ran; empty if none did.
        agent: The agent that failed or was cut off; several are separated by ", ".
            Empty if none worked.
        reason: Description of the failure.
    """

    def __init__(self, pathway_id: str, agent: str, reason: str) -> None:
        self.pathway_id = pathway_id
        self.agent = agent
        self.reason = reason
        kind = "agents" if ", " in agent else "agent"
        pathway = f"Pathway '{pathway_id}'" if pathway_id else ""
        where = ", ".join(filter(None, [pathway, f"{kind} '{agent}'" if agent else ""]))
        super().__init__(f"{where}: {reason}" if where else reason[:1].upper() + reason[1:])


class ModelError(JourneyError, RuntimeError):
    """A language model gave no usable answer.

    The text of the error never contains output of the model or messages of its client.

    Attributes:
        kind: timeout, unavailable, rejected (the request or the key), refused (by the model or a
            filter), cut_off, empty, too_long, unreadable, malformed (not of its schema, also when
            asked again), tool_failed or tool_loop.
    """

    def __init__(self, kind: str, reason: str) -> None:
        self.kind = kind
        super().__init__(reason)


class ContextMergeError(JourneyError, ValueError):
    """A value does not fit the merge strategy of its name; nothing was merged."""

    def __init__(self, field: str, strategy: str, reason: str) -> None:
        self.field = field
        self.strategy = strategy
        super().__init__(f"Context field '{field}' cannot be merged by '{strategy}': {reason}")


class ContextSizeExceededError(JourneyError, ValueError):
    """The context would be larger than its limit (bytes of UTF-8 JSON); nothing was changed."""

    def __init__(
        self, current_size: int, max_size: int, largest: Mapping[str, int] | None = None
    ) -> None:
        self.current_size = current_size
        self.max_size = max_size
        self.largest = dict(largest or {})
        fields = ", ".join(f"'{name}' ({size} bytes)" for name, size in self.largest.items())
        most = f" The largest fields: {fields}." if fields else ""
        super().__init__(
            f"Context size {current_size} bytes exceeds the limit of {max_size} bytes.{most} "
            "Raise max_context_size_bytes, store less, or declare lists as prunable."
        )


class MaxPathwayDepthError(JourneyError, RuntimeError):
    """A detour would make the stack of paused pathways deeper than its limit."""

    def __init__(self, depth: int, max_depth: int) -> None:
        self.depth = depth
        self.max_depth = max_depth
        super().__init__(
            f"Pathway stack overflow: depth {depth} exceeds the maximum of {max_depth}"
        )


class InvalidPhaseError(JourneyError, RuntimeError):
    """A turn would bring a conversation into a phase that cannot follow the one before it."""

    def __init__(self, phase: str, target: str, reason: str) -> None:
        self.phase = phase
        self.target = target
        super().__init__(f"A conversation that is '{phase}' cannot become '{target}': {reason}.")


class TakeoverError(JourneyError, RuntimeError):
    """An operator requests an act that is not possible, or only for another operator."""


class SessionNotStartedError(JourneyError, RuntimeError):
    """The session has no state in its store yet."""


class SessionExistsError(JourneyError, RuntimeError):
    """A session with this id exists; a second start would delete it."""


class InvalidCursorError(JourneyError, ValueError):
    """A cursor that no listing returned."""

    def __init__(self) -> None:
        super().__init__("The cursor is not valid. Start again without a cursor.")


class SessionExpiredError(JourneyError, RuntimeError):
    """The session has expired."""


class StateError(JourneyError, RuntimeError):
    """The store failed; the session is unchanged.

    Exception: if the store did not answer in a commit, the outcome is unknown, as the error says.
    `retryable` says whether the same call may succeed later.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(message)


class VersionNotFoundError(StateError, ValueError):
    """A version of a session that does not exist, or whose state was pruned."""


class NeedsMigrationError(StateError):
    """A session belongs to a journey or a version that is not served; the session is unchanged."""


class IdempotencyKeyError(StateError, ValueError):
    """An idempotency key belongs to another request of the session; the session is unchanged."""


class NotWaitingError(StateError, ValueError):
    """An answer was given that no agent waits for; the session is unchanged.

    Attributes:
        waiting: The ids of the open questions.
    """

    def __init__(self, reason: str, waiting: Sequence[str] = ()) -> None:
        self.waiting = list(waiting)
        super().__init__(reason)


class WaitingError(StateError):
    """An event came while an agent waits for an answer; the session is unchanged.

    Send the event again after the answer.
    """

    def __init__(self, pathway: str) -> None:
        super().__init__(
            f"An agent of '{pathway}' waits for an answer, so the event was not taken. Answer it "
            "with a message or resume(), then send the event again."
        )


class SessionBusyError(StateError):
    """A turn of the session runs, and the request must not wait for it; nothing was changed."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"A turn of session '{session_id}' is running, and the request does not wait for it "
            '(when_busy="reject"). Send it again after the reply to that turn.',
            retryable=True,
        )


class TooManyWaitingError(SessionBusyError):
    """As many requests wait for the session as may wait; nothing was changed."""

    def __init__(self, session_id: str, most: int) -> None:
        self.most = most
        StateError.__init__(
            self,
            f"{most} requests wait for session '{session_id}' already. Send the request again "
            "after the reply to one of them.",
            retryable=True,
        )


class TurnInterruptedError(StateError):
    """A turn was given up because a newer message came; the session is unchanged."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"The turn of session '{session_id}' was given up, because a newer message came with "
            'when_busy="interrupt". Nothing of it was stored.'
        )


_EXTRAS = {
    "checks": ("stdnum",),
    "encryption": ("cryptography",),
    "files": ("cel", "ruamel"),
    "forms": ("email_validator", "phonenumbers", "text_to_num"),
    "guidelines": ("rapidfuzz",),
    "models": ("jsonschema", "langchain", "referencing"),
    "serve": ("fastapi_offline", "limits", "watchfiles"),
}
"""Extras of this package with the modules that only they install."""


def extra_of(error: ModuleNotFoundError) -> str:
    """Return the extra that installs a missing module; empty if none does."""
    module = (error.name or "").partition(".")[0]
    return next((extra for extra, modules in _EXTRAS.items() if module in modules), "")


def require_extra(extra: str, what: str, *modules: str) -> None:
    """Raise an error if the packages of an extra are not installed."""
    try:
        for module in modules:
            import_module(module)
    except ImportError as error:
        raise not_installed(what, extra) from error


def not_installed(what: str, extra: str) -> ConfigurationError:
    """Return the error of a feature whose extra is not installed."""
    return ConfigurationError(
        f"{what} needs packages that are not installed: pip install 'journeygraph[{extra}]'"
    )
