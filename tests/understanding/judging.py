"""Compare the outcome of a message with the accepted outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.understanding import assistants
from tests.understanding.rows import Row, Want, folded, same

RIGHT, ASKED, SHOWN, SILENT, UNREACHED = (
    "right",
    "asked",
    "wrong, shown",
    "wrong, silent",
    "unreached",
)
OUTCOMES = (RIGHT, ASKED, SHOWN, SILENT, UNREACHED)
MATTERS = {"confirm", "cancel", "cancel_all", "skip", "human", "restart", "back"}
"""What must not happen unless it is wanted; `go:` neither."""


@dataclass(frozen=True)
class Came:
    """What came of a message.

    Attributes:
        before: Field -> value that it had.
        after: Field -> value that it has.
        does: The other actions of the turn.
        asked: The open question: its kind and its subject.
        reply: The reply.
        shown: Field -> its value as users read it.
        unread: Words that the audit calls unread.
        calls: Calls of the model.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    does: set[str]
    asked: tuple[str, str]
    reply: str
    shown: Mapping[str, str] = field(default_factory=dict)
    unread: Sequence[str] = ()
    calls: int = 0

    @property
    def changed(self) -> list[str]:
        names = [*self.before, *(name for name in self.after if name not in self.before)]
        return [name for name in names if self.before.get(name) != self.after.get(name)]

    def __str__(self) -> str:
        changes = [f"{name}={self.after.get(name)!r}" for name in self.changed]
        return ", ".join([*changes, *sorted(self.does)]) or "nothing"


@dataclass(frozen=True)
class Judged:
    """A row, what came of its message, and how that is judged."""

    row: Row
    outcome: str
    came: Came | None = None
    why: str = ""


def judged(row: Row, came: Came) -> Judged:
    """Return how what came is judged: by the alternative that it is nearest to."""
    found = [_by(row, want, came) for want in row.wants]
    return min(found, key=lambda one: OUTCOMES.index(one.outcome))


def _by(row: Row, want: Want, came: Came) -> Judged:
    wrong = [*_wrong_values(row, want, came), *_wrong_moves(row, want, came)]
    missing = _missing(row, want, came)
    if wrong:
        silent = [what for what, is_seen in wrong if not is_seen]
        why = "; ".join(what for what, _ in wrong)
        return Judged(row, SILENT if silent else SHOWN, came, why)
    if not missing:
        return Judged(row, RIGHT, came)
    lost = [name for name in missing if _is_lost(row, want, came, name)]
    if lost:
        return Judged(row, SILENT, came, f"lost: {', '.join(lost)}")
    return Judged(row, ASKED, came, f"not taken: {', '.join(missing)}")


def _wrong_values(row: Row, want: Want, came: Came) -> list[tuple[str, bool]]:
    emptied = came.does & {"cancel", "cancel_all", "restart"}
    wrong = []
    for name in came.changed:
        got = came.after.get(name)
        if got is None:
            if not emptied and name not in want.clear and name not in want.set:
                wrong.append((f"{name} emptied", True))
        elif name not in want.set:
            wrong.append((f"{name} is {got!r}", _is_shown(came, name)))
        elif not _is_wanted(row, want, name, got):
            what = f"{name} is {got!r}, not {want.set[name]!r}"
            wrong.append((what, _is_shown(came, name)))
    return wrong


def _is_wanted(row: Row, want: Want, name: str, got: Any) -> bool:
    alone = len(want.set) == 1 and not want.clear
    return same(assistants.type_of(row.assistant, name), want.set[name], got, alone=alone)


def _wrong_moves(row: Row, want: Want, came: Came) -> list[tuple[str, bool]]:
    allowed = {*want.does}
    if row.asked == "return":
        allowed.add("confirm")  # going back is no harm
        allowed |= {"cancel", "deny"} if allowed & {"cancel", "deny", "cancel_all"} else set()
    allowed |= {"cancel", "cancel_all"} if allowed & {"cancel", "cancel_all"} else set()
    if {"restart"} & allowed or any(name.startswith("go:") for name in allowed):
        allowed.add(f"go:{assistants.main_task(row.assistant)}")
    found = sorted(came.does - allowed)
    # What takes an effect is done, whatever the reply is.
    return [(name, name != "confirm") for name in found if name in MATTERS or name[:3] == "go:"]


def _missing(row: Row, want: Want, came: Came) -> list[str]:
    missing = []
    for name in want.set:
        if not _is_wanted(row, want, name, came.after.get(name)):
            missing.append(name)
    missing += [name for name in want.clear if came.after.get(name) is not None]
    return missing + [name for name in want.does if not _is_done(row, want, came, name)]


def _is_done(row: Row, want: Want, came: Came, name: str) -> bool:
    if name in came.does or (name == "skip" and "refuse" in came.does):
        return True
    if name in ("cancel", "cancel_all", "deny") and row.asked == "return":
        return "cancel" in came.does
    if name == "cancel_all":
        return "cancel" in came.does  # there is but one
    if name == "deny" and row.asked == "summary":
        return bool(want.set or want.clear) and "confirm" not in came.does
    if name == "confirm" and row.asked == "return":
        return bool(want.set) and came.asked[0] in ("field", "summary")
    return name == f"go:{assistants.main_task(row.assistant)}" and row.asked in ("start", "return")


def _is_lost(row: Row, want: Want, came: Came, name: str) -> bool:
    """Return whether something of a message went away without a word, while the rest was taken."""
    if not came.changed and not came.does & MATTERS:
        return False  # nothing was taken: it is asked again
    if name in want.set:
        return name in came.before and not _is_mentioned(row, came, name)
    if name in want.clear:
        return not _is_mentioned(row, came, name)
    if name == "confirm" or came.asked[0] in ("clarify", "return", "restart", "more"):
        return False
    return not _is_mentioned(row, came, name.removeprefix("go:"))


def _is_mentioned(row: Row, came: Came, name: str) -> bool:
    """Return whether the reply asks or tells about a field, a task, or what was not read."""
    if came.asked[1] == name and came.asked[0] != "summary":
        return True
    reply = set(folded(came.reply))
    about = [came.shown.get(f"label:{name}", "")]
    if any(text and set(folded(text)) <= reply for text in about) and came.asked[0] != "summary":
        return True
    return any(word in reply for text in came.unread for word in folded(text))


def _is_shown(came: Came, name: str) -> bool:
    """Return whether the reply has the value that a field got."""
    reply = " ".join(folded(came.reply))
    value = came.after.get(name)
    plain = value.get("amount") if isinstance(value, Mapping) else value
    several = plain if isinstance(plain, list) else [plain]
    texts = [came.shown.get(name, ""), " ".join(map(str, several))]
    return any(text and f" {' '.join(folded(text))} " in f" {reply} " for text in texts)
