"""Rows of a table: a state, a message, and what must come of it; and how values compare."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.understanding import assistants

HERE = Path(__file__).parent
STATES = ("start", "summary", "return", "done")
DOES = (
    *("confirm", "deny", "cancel", "cancel_all", "skip", "repeat", "wait", "human", "explain"),
    *("restart", "back", "status", "offer"),
)


@dataclass(frozen=True)
class Want:
    """What must come of a message, or may.

    Attributes:
        set: Field -> its value afterwards; all others are as before.
        clear: Fields that are emptied.
        does: Its other actions, as in DOES, or go:TASK.
        asks: True if nothing may change.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    clear: Sequence[str] = ()
    does: Sequence[str] = ()
    asks: bool = False


@dataclass(frozen=True)
class Row:
    """One message of a table.

    Attributes:
        number: Its place in the table, from 1.
        assistant: The assistant of the conversation.
        known: Field -> value that it has before the message.
        asked: The field that was asked last; or start, summary, return, or done: all is confirmed.
        message: The message of the user.
        wants: The accepted outcomes: the first, or any of the others.
        kind: The kind of the message.
        words: Field -> how the message has its value, for a model that is right.
        before: Messages that come between the state and this one.
        language: Of the user; empty: that of the table.
    """

    number: int
    assistant: str
    known: Mapping[str, Any]
    asked: str
    message: str
    wants: Sequence[Want]
    kind: str
    words: Mapping[str, str]
    before: Sequence[str] = ()
    language: str = ""

    @property
    def begins(self) -> bool:
        """Whether it is the very first message; a assistant may have a field of the name, too."""
        return self.asked == "start" and not self.known

    def __str__(self) -> str:
        return f"{self.number}. {self.assistant}/{self.asked}: {self.message!r}"


@cache
def table(name: str) -> Sequence[Row]:
    """Return the rows of a table of this folder: one a language, once_wrong, answers."""
    return rows_of(HERE / "tables" / f"{name}.yaml")


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a table.

    Raises:
        ValueError: Rows are not as they must be; all are named.
    """
    with path.open(encoding="utf-8") as file:
        given = YAML(typ="safe").load(file) or []
    faults = [f"row {at}: {fault}" for at, one in enumerate(given, 1) for fault in faults_of(one)]
    if faults:
        raise ValueError(f"{path}:\n" + "\n".join(faults))
    return [_row(at, one) for at, one in enumerate(given, 1)]


def _row(number: int, given: Mapping[str, Any]) -> Row:
    return Row(
        number,
        given["desk"],
        {name: _plain(value) for name, value in (given.get("known") or {}).items()},
        given["asked"],
        str(given["message"]),
        [want_of(each) for each in _alternatives(given)],
        given.get("kind", ""),
        given.get("words", {}),
        given.get("before", ()),
        given.get("language", ""),
    )


def want_of(given: Mapping[str, Any]) -> Want:
    does = given.get("does", ())
    clear = given.get("clear", ())
    return Want(
        {name: _plain(value) for name, value in (given.get("set") or {}).items()},
        [clear] if isinstance(clear, str) else list(clear),
        [does] if isinstance(does, str) else list(does),
        bool(given.get("ask")),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return [_plain(each) for each in value] if isinstance(value, list) else value


def faults_of(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a row as it is written."""
    if missing := [name for name in ("desk", "asked", "message", "want") if name not in given]:
        yield f"has no {missing}"
    elif given["desk"] not in assistants.FIELDS:
        yield f"there is no assistant '{given['desk']}'"
    elif not isinstance(given["want"], Mapping):
        yield "want is no mapping"
    else:
        yield from _faults_of_state(given["desk"], given.get("known") or {}, given["asked"])
        for each in _alternatives(given):
            yield from _faults_of_want(given["desk"], each)


def _faults_of_state(assistant: str, known: Mapping[str, Any], asked: str) -> Iterator[str]:
    names = assistants.field_names(assistant)
    if unknown := [name for name in known if not assistants.type_of(assistant, name)]:
        yield f"known has {unknown}"
    if asked in known:
        yield f"'{asked}' is asked and known"
    if asked in names and (known or asked != "start"):
        before = names[: names.index(asked)]
    elif asked in STATES:
        before = names if asked in ("summary", "done") else []
    else:
        yield f"asked is '{asked}'"
        return
    missing = [n for n in before if n not in known and not assistants.is_optional(assistant, n)]
    if missing:
        yield f"known lacks {missing} of before '{asked}'"


def _alternatives(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [given["want"], *given["want"].get("or", ()), *given.get("or", ())]


def _faults_of_want(assistant: str, given: Mapping[str, Any]) -> Iterator[str]:
    want = want_of(given)
    if unknown := [name for name in given if name not in ("set", "clear", "does", "ask", "or")]:
        yield f"want has {unknown}"
    names = (*want.set, *want.clear)
    if unknown := [name for name in names if not assistants.type_of(assistant, name)]:
        yield f"want names {unknown}"
    targets = [*assistants.FIELDS[assistant], *assistants.words_of(assistant, "en")["info"]]
    ways = (*DOES, *(f"go:{target}" for target in targets))
    if unknown := [does for does in want.does if does not in ways]:
        yield f"does is {unknown}"
    if not (want.set or want.clear or want.does or want.asks):
        yield "want is empty"


# How values compare.


def same(kind: str, wanted: Any, got: Any, *, alone: bool = False) -> bool:
    """Return whether a value is the one that was wanted, leniently where its type allows it.

    A text that is all that a message gives may hold all of its words; beside other things it may
    not hold these.
    """
    if wanted is None or got is None:
        return wanted is got
    if kind in _SAME:
        return bool(_SAME[kind](wanted, got))
    return _same_text(wanted, got, MOST_WORDS if alone else MORE_WORDS)


def folded(text: Any) -> list[str]:
    """Return the words of a text without case, accents and signs."""
    plain = unicodedata.normalize("NFKD", str(text).casefold().replace("ß", "ss"))
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return re.findall(r"\w+", plain)


def _same_text(wanted: Any, got: Any, more: int = 0) -> bool:
    mine, theirs = folded(wanted), folded(got)
    if all(any(char.isdigit() for char in word) or len(word) < 3 for word in mine):
        return "".join(mine) == "".join(theirs)  # a plate, a number of a policy
    return all(word in theirs for word in mine) and len(theirs) <= len(mine) + more


MORE_WORDS, MOST_WORDS = 5, 60
"""Words of a text beyond those that matter: next to other values, and alone."""
_TITLES = {"mr", "mrs", "ms", "dr", "herr", "frau", "senor", "senora", "don", "dona", "sra", "sr"}


def _same_name(wanted: Any, got: Any) -> bool:
    parts = got.values() if isinstance(got, Mapping) else [got]
    theirs = [word for part in parts for word in folded(part) if word not in _TITLES]
    return [word for word in folded(wanted) if word not in _TITLES] == theirs


def _same_list(wanted: Any, got: Any) -> bool:
    mine = wanted if isinstance(wanted, list) else [wanted]
    theirs = list(got) if isinstance(got, list) else [got]
    if len(mine) != len(theirs):
        return False
    return all(any(_same_text(each, other, MORE_WORDS) for other in theirs) for each in mine)


def _same_money(wanted: Any, got: Any) -> bool:
    amounts = [one["amount"] if isinstance(one, Mapping) else one for one in (wanted, got)]
    try:
        first, second = (Decimal(str(amount)) for amount in amounts)
    except InvalidOperation:
        return False
    return first == second and (not isinstance(got, Mapping) or got.get("currency") == "EUR")


def _same_phone(wanted: Any, got: Any) -> bool:
    mine, theirs = (re.sub(r"\D", "", str(one)).lstrip("0") for one in (wanted, got))
    return bool(mine) and (mine.endswith(theirs[-9:]) or theirs.endswith(mine[-9:]))


def _same_plainly(wanted: Any, got: Any) -> bool:
    return type(wanted) is type(got) and bool(wanted == got)


_SAME: Mapping[str, Any] = {
    "integer": _same_plainly,
    "boolean": _same_plainly,
    "date": lambda wanted, got: str(wanted) == str(got),
    "time": lambda wanted, got: str(wanted)[:5] == str(got)[:5],
    "enum": lambda wanted, got: str(wanted) == str(got),
    "email": lambda wanted, got: str(wanted).casefold() == str(got).casefold(),
    "money": _same_money,
    "phone": _same_phone,
    "name": _same_name,
    "full_name": _same_name,
    "list": _same_list,
}
