"""Yes and no, English and German."""

from __future__ import annotations

import re

from journeys.fields import Field
from nodes.values.scanning import Hit, apart
from nodes.values.setting import Setting
from nodes.values.tables import words

_YES = """
    yes|yess|yeap|uh-huh|mhm|you bet|sounds good|perfect|fine by me|go for it|i guess so|do it
    |in ordnung|yeah|yep|yup|yea|aye|y|sure|sure thing|certainly|of course|absolutely|definitely
    |indeed
    |correct|right|that's right|that is right|true|ok|okay|affirmative|why not|by all means|go ahead
    |i do|i did|i am|i have|i would|it is|it does|it was|we do|we are|we have|please do|yes please
    |exactly|positive|on|👍|✅|ja|jo|jawohl|jep|jup|klar|na klar|sicher|gerne|gern|natürlich|genau
    |stimmt|richtig|selbstverständlich|auf jeden fall|unbedingt|freilich|warum nicht|wahr|passt
    |einverstanden|habe ich|bin ich|doch|j|oui|sí
"""
_NO = """
    no|non|uh-uh|hell no|not today|not now|not anymore|not at the moment
    |nope|nah|nay|n|no way|not really|not at all|of course not
    |absolutely not|definitely not
    |certainly not|not yet|never|false|negative|incorrect|wrong|i don't|i do not|i didn't|i'm not
    |i am not|i haven't|i have not|i wouldn't|it isn't|it's not|it is not|it doesn't
    |not correct|not right|not true|isn't correct|isn't right|isn't true|that's wrong
    |we don't
    |we aren't|please don't|no thanks|no thank you|i'd rather not|off|not|none|don't think so
    |i don't think so|👎|❌|nein|nee|nö|ne|nicht|keineswegs|auf keinen fall|niemals|natürlich nicht
    |noch nicht|eher nicht|lieber nicht|falsch|stimmt nicht|nein danke|leider nicht|leider nein
    |eigentlich nicht|überhaupt nicht|gar nicht|habe ich nicht|bin ich nicht|nie|kein|keine|keinen
"""


def _pattern(words: str) -> str:
    phrases = sorted((word.strip() for word in words.split("|")), key=len, reverse=True)
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)


_EITHER = re.compile(
    rf"(?<!\w)(?:(?P<no>{_pattern(_NO)})|(?P<yes>{_pattern(_YES)}))(?!\w)", re.IGNORECASE
)
_UNSURE = re.compile(
    r"\b(?:not (?:\w+ )?sure|unsure|don't (?:\w+ )?know|no idea|who knows|no clue"
    r"|nicht (?:\w+ )?sicher"
    r"|wei(?:ß|ss) (?:ich |es )?nicht|keine ahnung|can't say)\b|\b(?:yes|ja)\s*(?:and|or|und|oder"
    r"|/)\s*(?:no|nein)\b",
    re.IGNORECASE,
)
# Words that agree, but say little beside a plain yes or no.
_MILD = frozenset(
    words(
        """
    ok okay right sure on off not y n j ne jo passt genau gern gerne doch
    """
    )
)


def scan_booleans(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find yes and no; a 1 or 0 counts only alone."""
    alone = text.strip(" .!")
    if alone in ("1", "0"):
        start = text.index(alone)
        return [Hit(start, start + 1, alone == "1", False)]
    if _UNSURE.search(text):
        return []
    return apart(
        Hit(
            found.start(),
            found.end(),
            found["yes"] is not None,
            False,
            found[0].casefold() in _MILD,
        )
        for found in _longest(text)
    )


def _longest(text: str) -> list[re.Match[str]]:
    found, at = [], 0
    while match := _EITHER.search(text, at):
        found.append(match)
        at = match.end()
    return found
