r"""Regular expressions of authors: judged when they are declared, matched in a limited time.

They are written in Python's own syntax and run by the package `regex`, which can be stopped. What
the two read differently is a fault of the definition, with the way to write it.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from time import thread_time
from typing import Any

LONGEST_MATCH = 0.05
"""Most seconds that one match may work; longer, it counts as none."""
TOGETHER = 0.1
"""Seconds that all matches of one step of a turn have together."""
LEAST = 0.001
"""Seconds that a match has when those are used up: a hundred times what an honest one takes."""
# Python takes `x{e<=1}` for the text; `regex` would take it for "x with one error at most".
_FUZZY = re.compile(
    r"\{\s*(?:\d+\s*<=?\s*)?(?:\d*\s*[deis])(?:\s*[+,]\s*\d*\s*[deis]|\s*<=?\s*\d+)*\s*(?::[^{}]*)?\}"
)


def pattern_fault(pattern: str) -> str:
    """Return why a text is no pattern; empty if it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)
        except Warning as warning:
            said = str(warning).partition(" at position")[0]
            return (
                f"{said[:1].lower()}{said[1:]}; write \\[, \\-, \\&, \\| or \\~ for the sign itself"
            )
        if found := _FUZZY.search(re.sub(r"\\.", "__", pattern, flags=re.DOTALL)):
            braced = pattern[found.start() : found.end()]
            return f"'{braced}' would allow for errors in a match; write \\{{ for the sign itself"
        try:
            compiled(pattern)
        except Exception as error:  # its own type is there only once it is imported
            return f"{error}; patterns are run by the package regex, which does not take this"
    return ""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Return a pattern ready to be matched; only a `MatchBudget` may run it.

    Raises:
        regex.error: It is none.
    """
    import regex  # noqa: PLC0415 - a journey without patterns does not need it

    return regex.compile(pattern, regex.VERSION0)


@dataclass(slots=True, eq=False)
class MatchBudget:
    """Matches the patterns of authors for one step of a turn, which they cannot hold up for long.

    The event loop waits for a match, as it is over in microseconds. One that is not has 50 ms, all
    of them together 100 ms, and each further one 1 ms: so many hostile patterns cost little more
    than one, and what is plain is found all the same. Seconds are of the processor's time, so that
    a busy machine refuses nobody.

    Attributes:
        late: Names of the fields, one of whose patterns was stopped.
    """

    late: dict[str, None] = field(default_factory=dict)
    _left: float = TOGETHER
    _stopped: set[tuple[str, str]] = field(default_factory=set)

    def search(self, name: str, pattern: str, text: str) -> Any:
        """Return where a pattern of a field matches; None if nowhere, or not in time."""
        return self._matched(name, pattern, text, compiled(pattern).search)

    def fullmatch(self, name: str, pattern: str, text: str) -> Any:
        """Return the match of a pattern of a field with a whole text; None if there is none."""
        return self._matched(name, pattern, text, compiled(pattern).fullmatch)

    def _matched(self, name: str, pattern: str, text: str, match: Any) -> Any:
        if (pattern, text) in self._stopped:
            return None
        began = thread_time()
        try:
            # Held, the lock costs nothing; given up, a busy thread would keep it for 5 ms each.
            return match(text, timeout=min(LONGEST_MATCH, self._left), concurrent=False)
        except TimeoutError:
            self.late[name] = None
            self._stopped.add((pattern, text))
            return None
        finally:
            self._left = max(LEAST, self._left - (thread_time() - began))
