"""Compare what came of a turn with what is expected of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph.journeys import AuditEntry, FieldAttemptEntry, FormView, JourneyResponse
from journeygraph.server.conversations.conversation_form import (
    Asked,
    Expected,
    Moved,
    Said,
    pattern_in,
)


@dataclass(frozen=True)
class Difference:
    """Difference between a turn and what is expected of it.

    Attributes:
        what: Key of the expectation.
    """

    what: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, got {self.got}"


@dataclass
class ObservedState:
    """State of a session after a turn, as far as it is read.

    Attributes:
        reply: The reply; several since the last comparison are joined.
        stack: The paused pathways, the first one lowest.
        response: The response of the last message; None before the first.
        form: The fields; None if no expectation is about them.
        attempts: All attempts at fields; read as the form is.
        audit: The audit of the turn; read where an expectation is about it.
    """

    reply: str
    pathway: str
    path: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    context: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = False
    response: JourneyResponse | None = None
    form: FormView | None = None
    attempts: Sequence[FieldAttemptEntry] = ()
    audit: Sequence[AuditEntry] = ()

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of the response; empty before the first message."""
        return self.response.metadata if self.response else {}

    @property
    def asked(self) -> Mapping[str, Any] | None:
        """Return the open question: its field and its kind."""
        if self.metadata.get("waiting"):
            return {"field": None, "kind": "waiting", "options": []}
        if self.response:
            asked: Mapping[str, Any] | None = self.metadata["asked"]
            return asked
        if self.form and self.form.asked:
            return {
                "field": self.form.current_field,
                "kind": self.form.asked["kind"],
                "options": self.form.asked["options"],
            }
        return None

    @property
    def effects(self) -> list[str]:
        """Return the names of the effects that were taken in the turn."""
        return [row.trigger or "" for row in self.audit if row.kind == "effect_done"]


OF_FIELDS = frozenset({"fields", "attempts"})
"""Expectations for which the fields are read."""
OF_AUDIT = frozenset({"effects", "why"})
"""Expectations for which the audit is read."""


OF_WORDS = frozenset({"says", "why", "model_calls"})
"""Expectations about the words of a model and the number of its calls."""


def differences(expected: Expected, seen: ObservedState, *, words: bool = True) -> list[Difference]:
    """Return how a turn differs from what is expected of it.

    Args:
        words: False to leave out the words of a model, which may be others each time.
    """
    wanted = expected.model_fields_set - (frozenset() if words else OF_WORDS)
    names = [name for name in _COMPARED if name in wanted]
    found = [d for name in names for d in _COMPARED[name](expected, seen)]
    found = [d for d in found if words or d.what != "transition.why"]
    failed = seen.metadata.get("error")
    if failed and "flags" not in expected.model_fields_set:
        found.append(Difference("turn", "no failure", str(failed.get("message", failed))))
    return found


def _unless(what: str, is_same: bool, expected: Any, got: Any) -> Iterator[Difference]:
    if not is_same:
        yield Difference(what, in_words(expected), in_words(got))


def in_words(value: Any) -> str:
    """Return a value as messages show it."""
    if value is None:
        return "nothing"
    if isinstance(value, (list, tuple, set)) and not value:
        return "none"
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    text = value if isinstance(value, str) and value.startswith("/") else None
    return text or json.dumps(value, ensure_ascii=False, default=str)


def _flat(text: str) -> str:
    return " ".join(text.split())


def text_has(part: str, text: str) -> bool:
    """Return whether a text or a pattern is in a text; blanks and line breaks are the same.

    An empty text is only in another empty one.
    """
    if not part:
        return not text
    if found := pattern_in(part):
        return found.search(text) is not None or found.search(_flat(text)) is not None
    return _flat(part) in _flat(text)


def _several(texts: str | Sequence[str]) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def _says(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    said = expected.says
    said = said if isinstance(said, Said) else Said(contains=said)
    if said.equals is not None:
        yield from _unless("says", _flat(said.equals) == _flat(seen.reply), said.equals, seen.reply)
    for part in _several(said.contains):
        yield from _unless("says", text_has(part, seen.reply), part, seen.reply)
    for part in _several(said.excludes):
        if text_has(part, seen.reply):
            yield Difference("says", f"not {in_words(part)}", in_words(seen.reply))


def _asks(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    asks, asked = expected.asks, seen.asked or {}
    got = {name: asked[name] for name in ("field", "kind") if asked.get(name)} or None
    if asks is None:
        yield from _unless("asks", got is None, asks, got)
    elif isinstance(asks, Asked):
        wanted = {name: getattr(asks, name) for name in asks.model_fields_set}
        same = got is not None and all(asked.get(name) == wanted[name] for name in wanted)
        yield from _unless("asks", same, wanted, got)
    else:
        yield from _unless("asks", asks in (got or {}).values(), asks, got)


def _options(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    got = [option["label"] for option in (seen.asked or {}).get("options", ())]
    yield from _unless("options", list(expected.options) == got, list(expected.options), got)


def _listed(name: str) -> Callable[[Expected, ObservedState], Iterator[Difference]]:
    def compared(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
        wanted, got = list(getattr(expected, name)), list(getattr(seen, name))
        yield from _unless(name, wanted == got, wanted, got)

    return compared


def _same(name: str) -> Callable[[Expected, ObservedState], Iterator[Difference]]:
    def compared(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
        wanted, got = getattr(expected, name), getattr(seen, name)
        yield from _unless(name, wanted == got, wanted, got)

    return compared


def _transition(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    wanted, data = expected.transition, seen.metadata
    got = seen.response.transition_to if seen.response else None
    if not isinstance(wanted, Moved):
        yield from _unless("transition", wanted == got, wanted, got)
        return
    parts = {"to": got, "intent": data.get("transition_intent"), "tier": data.get("tier")}
    parts["why"] = data.get("reasoning") if got else None
    for name in wanted.model_fields_set:
        part, found = getattr(wanted, name), parts[name]
        is_text = name in ("intent", "why") and part is not None
        same = text_has(part, found or "") if is_text else part == found
        yield from _unless(f"transition.{name}", same, part, found)


def _why(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    rows = [f"{row.kind}: {row.trigger or ''} {row.reason}".strip() for row in seen.audit]
    for part in _several(expected.why):
        yield from _unless("why", any(text_has(part, row) for row in rows), part, rows)


def _fields(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    states = seen.form.fields if seen.form else {}
    for name, wanted in expected.fields.items():
        state = states[name]
        got = state.is_collected if state.hidden else state.value
        wanted = bool(wanted) if state.hidden else wanted
        yield from _unless(f"fields.{name}", matches(wanted, got), wanted, got)


def _attempts(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    for name, wanted in expected.attempts.items():
        made = [one.validation_status for one in seen.attempts if one.field == name]
        got: Any = made if isinstance(wanted, list) else len(made)
        yield from _unless(f"attempts.{name}", wanted == got, wanted, got)


def _context(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    for name, wanted in expected.context.items():
        got = seen.context.get(name)
        yield from _unless(f"context.{name}", matches(wanted, got), wanted, got)


def _of_metadata(
    key: str, name: str, what: str
) -> Callable[[Expected, ObservedState], Iterator[Difference]]:
    def compared(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
        wanted, got = set(getattr(expected, key)), set(seen.metadata.get(name, ()))
        yield from _unless(what, wanted == got, wanted, got)

    return compared


def _model_calls(expected: Expected, seen: ObservedState) -> Iterator[Difference]:
    got = seen.metadata.get("usage", {}).get("model_calls", 0)
    yield from _unless("model_calls", expected.model_calls == got, expected.model_calls, got)


_COMPARED: Mapping[str, Callable[[Expected, ObservedState], Iterator[Difference]]] = {
    "says": _says,
    "asks": _asks,
    "options": _options,
    "pathway": _same("pathway"),
    "path": _listed("path"),
    "stack": _listed("stack"),
    "transition": _transition,
    "why": _why,
    "fields": _fields,
    "attempts": _attempts,
    "context": _context,
    "flags": _of_metadata("flags", "flags", "flags"),
    "effects": _listed("effects"),
    "held": _of_metadata("held", "guidelines", "rules"),
    "model_calls": _model_calls,
    "complete": _same("complete"),
}


def matches(expected: Any, got: Any) -> bool:
    """Return whether a value is as expected.

    A mapping may hold more than what is expected, and a number may be written as text.
    """
    if isinstance(expected, Mapping):
        is_mapping = isinstance(got, Mapping)
        return is_mapping and all(k in got and matches(v, got[k]) for k, v in expected.items())
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            return False
        return all(map(matches, expected, got))
    if isinstance(expected, bool) or isinstance(got, bool) or expected is None:
        return expected is got
    return bool(expected == got) or _same_number(expected, got)


def _same_number(expected: Any, got: Any) -> bool:
    if not isinstance(expected, (int, float)) or not isinstance(got, (int, float, str)):
        return False
    try:
        return float(got) == float(expected)
    except ValueError:
        return False
