"""Postal addresses: by digits, commas and words for streets and places; never checked by post."""

from __future__ import annotations

import re

from journeys.fields import Field
from nodes.values.names import tidy
from nodes.values.scanning import Hit, words_in
from nodes.values.setting import Setting
from nodes.values.tables import words

_LEAD = re.compile(
    r"(?:^|(?<=[\s,.;!:]))(?:(?:my|the|our|home|new|delivery|billing|pickup"
    r"|shipping)\s+){0,3}(?:address(?:'s|\s+is|:)"
    r"|i\s+live\s+(?:at|in|on)|we\s+live\s+(?:at|in|on)|i'm\s+at|send\s+it\s+to"
    r"|deliver\s+(?:it\s+)?to|ship\s+(?:it\s+)?to|pick\s+me\s+up\s+(?:at|from)"
    r"|(?:meine|die)\s+(?:adresse|anschrift)\s+(?:ist|lautet)|(?:adresse|anschrift):"
    r"|ich\s+wohne\s+(?:in\s+der|in\s+dem|im|am|in|an\s+der|auf)"
    r"|wir\s+wohnen\s+(?:in\s+der|im|am|in)|it's|it\s+is|that's|that\s+would\s+be|das\s+ist"
    r"|es\s+ist)\s+",
    re.IGNORECASE,
)
_SURE = re.compile(r"address|live\b|wohne|adresse|anschrift|send|deliver|ship|pick", re.IGNORECASE)
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|yes|yeah|ok|okay|sure|well|oh|ja|so|um|uh|no|nein|sorry|actually"
    r"|to|at|from)\b[\s,.!:-]*)+",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"[\s,.!;]*\b(?:please|thanks|thank\s+you|bitte|danke)\b[\s.!]*$", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(?:street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|boulevard|blvd|square|sq|court|ct"
    r"|place|pl|way|close|terrace"
    r"|crescent|highway|hwy|route|parkway|pkwy|row|hill|gardens|mews|quay|box|suite|apt|flat"
    r"|station|airport|hotel|house|cottage|hospital"
    r"|castle|palace|park|center|centre|mall|university|school|terminal|gate|harbou?r|rue|quai"
    r"|via|viale|piazza|corso|calle|avenida|plaza|paseo|carrer"
    r"|rua|praça|ulica|ul|ulitsa|postfach|bahnhof|hauptbahnhof|flughafen|krankenhaus|rathaus"
    r"|schloss)\b"
    r"|\w(?:stra(?:ß|ss)e|str\.?|weg|platz|allee|gasse|ring|damm|ufer|chaussee|markt|hof|straat"
    r"|gracht|laan|plein|gatan|vägen|vej|gade|gata)\b"
    r"|[丁番号路街区市县縣도시군구동로길町村通]|ул\.|улица|проспект|пр\.|شارع|רחוב|οδός|मार्ग|ถนน",
    re.IGNORECASE,
)
_NO_ADDRESS = frozenset(
    words(
        """
    i i'm i'd i'll you he she we they my is are was were be do does don't did can could would
    should want need have has how what why who when where which tell give please cancel stop
    help not no yes ignore know think like talk speak because if but so it's ich du er wir mein
    meine ist sind bin war habe hat kann will möchte brauche wie was warum wer wann wo nicht
    kein nein ja bitte hilfe abbrechen weil wenn aber change forget change set send ask book
    """
    )
)
_OF_TIME = frozenset(
    words(
        """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight pm o'clock
    people persons guests euro euros dollars years montag dienstag mittwoch donnerstag freitag
    samstag sonntag heute morgen uhr personen leute jahre
    """
    )
)
_WRONG = re.compile(
    r"[@=<>{}\[\]|\\?!$€£%*^~]|https?:|www\.|\w\.(?:com|org|net|de)\b", re.IGNORECASE
)
_MOST_CHARACTERS, _MOST_WORDS = 250, 30


def scan_addresses(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the address that a message brings in with so many words."""
    for found in _LEAD.finditer(text):
        if not _SURE.search(found[0]):
            continue
        end = re.compile(
            r"[;!?\n]|\.(?=\s+[A-ZÄÖÜ][a-zäöü]+\s+[a-zäöü])|,?\s+(?:and|und|but|aber)\s+(?:i|my"
            r"|the|ich|mein)\b|$"
        ).search(text, found.end())
        said = text[found.end() : end.start() if end else len(text)].strip(" .,")
        said = _ENDING.sub("", said)
        if is_address(said):
            start = text.index(said, found.end())
            return [Hit(start, start + len(said), tidy(said), True)]
    return []


def address_in(raw: str) -> str:
    """Return the address that a whole text gives; empty if it gives none."""
    text = _ENDING.sub("", _GREETING.sub("", raw.strip()))
    lead = _LEAD.match(text)
    said = (text[lead.end() :] if lead else text).strip(' .,;!"“”„')
    lines = [line.strip(" ,") for line in said.splitlines()]
    said = ", ".join(line for line in lines if line)
    return tidy(said) if is_address(said) else ""


def is_address(said: str) -> bool:
    """Say whether a text may be the address of a place."""
    said_words = words_in(said)
    if len(said) > _MOST_CHARACTERS or not 0 < len(said_words) <= _MOST_WORDS:
        return False
    if _WRONG.search(said) or _NO_ADDRESS.intersection(said_words):
        return False
    numbered = re.search(r"\d", said) is not None
    several = len(said_words) > 1 or not said.isascii()
    if _PLACE.search(said):
        return several or numbered
    return numbered and several and _is_written(said) and not _OF_TIME.intersection(said_words)


def _is_written(said: str) -> bool:
    """Say whether a text is written as names of places are: capitals, or a script without them."""
    letters = re.findall(r"[^\W\d_]+", said)
    return any(not word[0].islower() and len(word) > 1 for word in letters)
