"""What a message is up to: agreeing, asking, booking, wanting something else."""

from __future__ import annotations

import re

from journeys.examples.healthcare_referral.hearing import refused


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


_FIRST_WORDS_OF_YES = re.compile(
    r"^(?:oh |ah |well,? |hm+,? )?(?:yes|yeah|yep|yup|sure|ok|okay|alright|all right|fine|great"
    r"|perfect|good|agreed|correct|exactly|absolutely|definitely|of course|gladly|deal)\b"
    r"(?! morning| afternoon| evening)"
)
_YES = _any(
    "sounds (?:good|great|fine)",
    "that works|works for me",
    "that(?:'s| is) (?:fine|good|great|perfect)",
    "go ahead|go on|let's (?:do it|do that|continue|go on)|do it|please do",
    "you're right|i agree",
)
_NO = re.compile(r"^(?:no|nope|nah|not really|neither)\b")
_THANKS = _any("thanks|thank you|thx|cheers|got it|understood|i see|good to know")
_BOOK = _any(
    "book|reserve|schedule|confirm|put me down|sign me up",
    "i'?ll (?:take|have|go with)|i(?:'d(?: like to)?| will| want to)? take|go with",
    "let's take|take (?:the|that|it|this)",
)
_LIST = _any(
    "show|list|find|search|suggest(?:ions?)?|recommend(?:ations?)?",
    "available|availability|options?|slots?|times|openings?|appointments?|doctors?|specialists?",
    "who|which|anybody|anyone",
    "continue|proceed|go on|back to|next|start",
)
_OTHER_DOCTOR = _any(
    "(?:another|a different|different|the next)"
    " (?:doctor|dr|one|option|specialist|person|suggestion)",
    "someone else|somebody else",
    "not (?:him|her|them|this one|that one|this (?:doctor|dr))",
    "(?:do not|don't|didn't|dont) (?:want|like|want to see) (?:him|her|them|this|that)",
    "(?:he|she|this one|that one)(?:'s| is) (?:too|not)",
)
_NONE_OF_THEM = _any(
    "none of (?:these|them|those)|neither(?: of (?:them|these))?",
    "(?:do not|don't|dont) (?:want|like) (?:any|either)",
)
_MORE = _any("more|other|others|else|remaining")
_OTHER_TIME = _any(
    "(?:another|different|other|earlier|later|new) (?:times?|days?|slots?|dates?|appointments?)",
    "reschedule|postpone|move (?:it|my|the)",
    "change (?:the|my) (?:time|appointment|booking)",
    "too (?:early|late)|(?:earlier|later) please|(?:doesn't|does not) (?:work|suit)",
)
_QUESTION = re.compile(
    r"\?|^(?:is|are|do|does|can|could|may|what|which|who|when|where|how|why|any|would|will)\b"
)
_SOONEST = _any(
    "earliest|soonest|sooner|asap|as (?:soon|early) as possible|first available|quickest"
)
_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "last": -1}
_ORDINAL = re.compile(
    r"\b(?P<word>first|second|third|last|1st|2nd|3rd)"
    r" (?P<noun>one|doctor|dr|option|suggestion|slot|time|appointment)\b"
    r"|\bthe (?P<bare>first|second|third|last|1st|2nd|3rd)(?= please|[.,!]|$)"
    r"|(?:\bnumber |\boption |\bno |#)(?P<number>[1-9])\b|^(?P<alone>[1-9])[.)!]?$"
)
_COUNTED = {
    "doctor": "doctor",
    "dr": "doctor",
    "slot": "time",
    "time": "time",
    "appointment": "time",
}


def agrees(text: str) -> bool:
    """Say whether a plain text says yes."""
    return bool(_FIRST_WORDS_OF_YES.search(text) or _YES.search(text))


def declines(text: str) -> bool:
    """Say whether a plain text begins with a no."""
    return _NO.search(text) is not None


def thanks(text: str) -> bool:
    """Say whether a plain text only takes note or says thank you."""
    return _THANKS.search(text) is not None


def wants_booking(text: str) -> bool:
    """Say whether the speaker asks to have something booked."""
    return any(not refused(text, hit.start(), hit.end()) for hit in _BOOK.finditer(text))


def wants_list(text: str) -> bool:
    """Say whether the speaker asks to be shown doctors or times."""
    return _LIST.search(text) is not None


def wants_other_doctor(text: str) -> bool:
    """Say whether the doctor at hand is turned down without a name."""
    return _OTHER_DOCTOR.search(text) is not None


def wants_none_of_them(text: str) -> bool:
    """Say whether all that was offered is turned down."""
    return _NONE_OF_THEM.search(text) is not None


def wants_more(text: str) -> bool:
    """Say whether the speaker wants to see further doctors without turning one down."""
    return _MORE.search(text) is not None


def wants_other_time(text: str) -> bool:
    """Say whether the speaker wants the same doctor at another time."""
    return _OTHER_TIME.search(text) is not None


def wants_soonest(text: str) -> bool:
    """Say whether an early time matters most."""
    return _SOONEST.search(text) is not None


def asks(text: str) -> bool:
    """Say whether a plain text is a question."""
    return _QUESTION.search(text) is not None


def counted(text: str) -> dict[str, int]:
    """Return which of several are meant, from 0; -1 is the last.

    The keys say what is counted: "doctor", "time", or "one" where the text leaves it open.

    Example:
        >>> counted("the second one please"), counted("option 3"), counted("first I need a coffee")
        ({'one': 1}, {'one': 2}, {})
        >>> counted("the third doctor, first slot")
        {'doctor': 2, 'time': 0}
    """
    found: dict[str, int] = {}
    for hit in _ORDINAL.finditer(text):
        number = hit["number"] or hit["alone"]
        place = int(number) - 1 if number else _ORDINALS[hit["word"] or hit["bare"]]
        found.setdefault(_COUNTED.get(hit["noun"] or "", "one"), place)
    return found
