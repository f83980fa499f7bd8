"""Words that only greet: they answer nothing, and are no attempt at an answer."""

from __future__ import annotations

import re

_GREETING = (
    r"hello|hi|hiya|hey|howdy|greetings|good (?:morning|afternoon|evening|day)"
    r"|hallo|hallihallo|moin|servus|grüezi|grüß (?:gott|dich|sie)|tach"
    r"|guten (?:morgen|tag|abend)|schönen (?:guten )?(?:morgen|tag|abend)"
)
_WHOM = r"there|again|all|everybody|you|zusammen|nochmals?|miteinander"
_PARTED = r"\b[\s,.!]*"
_ONLY = re.compile(rf"(?:{_GREETING}){_PARTED}(?:(?:{_GREETING}|{_WHOM}){_PARTED})*", re.IGNORECASE)


def is_greeting(message: str) -> bool:
    """Say whether a message does nothing but greet, in English or German.

    >>> is_greeting("Hi there!"), is_greeting("Hi, a table for four")
    (True, False)
    """
    return _ONLY.fullmatch(message.strip()) is not None
