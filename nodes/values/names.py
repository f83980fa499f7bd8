"""Names of people, in any script; refused is what is plainly none."""

from __future__ import annotations

import re

from journeys.fields import Field
from nodes.values.scanning import Hit
from nodes.values.setting import Setting
from nodes.values.tables import words

_MOST_WORDS, _MOST_CHARACTERS = 8, 120
_LEAD = re.compile(
    r"(?:^|(?<=[\s,.;!:(]))(?P<sure>(?:(?:my|the|her|his|our|full|last|first"
    r"|family)\s+){0,3}name(?:['\u2019]s|\s+ist|\s+is|\s+would\s+be|:)"
    r"|(?:(?:under|in|for|by|the)\s+){0,2}name(?:\s+of)?|call\s+me|i['\u2019]m\s+called"
    r"|i\s+am\s+called|i\s+go\s+by"
    r"|mein(?:\s+voller)?\s+name\s+(?:ist|lautet)|(?:der\s+)?name\s+ist|ich\s+hei(?:ß|ss)e"
    r"|nennen\s+sie\s+mich"
    r"|man\s+nennt\s+mich|auf\s+(?:den\s+)?namen?|name:)\s+"
    r"|(?:^|(?<=[\s,.;!]))(?P<maybe>i['\u2019]?m|i\s+am|it['\u2019]?s|it\s+is|this\s+is"
    r"|that['\u2019]s|that\s+would\s+be|ich\s+bin|hier\s+ist"
    r"|hier\s+spricht|das\s+ist|das\s+wäre|es\s+ist)\s+(?:the\s+|der\s+|die\s+)?",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|guten\s+tag|moin|servus|good\s+(?:morning|evening|day)|yes|yeah"
    r"|ok|okay|sure|well|oh|ja"
    r"|so|um|uh|äh|thanks|thank\s+you|of\s+course|klar|gerne?|natürlich|sorry|no|nein"
    r"|actually|wait|rather|i\s+meant?|meant|make\s+it|change\s+it\s+to|it\s+should\s+be"
    r"|ich\s+mein(?:t)?e|doch|lieber)\b[\s,.!:-]*)+",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"[\s,.!;-]*\b(?:please|thanks|thank\s+you|bitte|danke|by\s+the\s+way|here|und\s+sie"
    r"|and\s+you)\b[\s.!]*$",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"[^\W\d_](?:[^\W\d_]"
    r"|[\u0300-\u036f\u0590-\u05bd\u064b-\u0652\u0900-\u0dff\u0e31-\u0e4e\u200c\u200d'\u2019\u02bc`.·・-])*"
)
_DENIED = re.compile(r",?\s+(?:and\s+|und\s+)?(?:not|nicht)\s+\S.*$", re.IGNORECASE)
_DOMAIN = re.compile(r"\.[^\W\d_A-Z]{2,}")
_BEHIND = re.compile(
    r"\s+(?:(?:is|ist)\s+(?:my|mein)\s+name|speaking|am\s+apparat)[\s.!]*$", re.IGNORECASE
)
_TO = re.compile(r"(?:to|for|an|für)\s+", re.IGNORECASE)
_SIGNS = ' ,!;:"\u201c\u201d\u201e'
_NO_NAME = frozenset(
    words(
        """
    a about account actually address after again am and any anything are as ask asked back bad
    be because been before book booking but bye call can cancel cannot change continue could
    date day did do does doing don't done down else email every everything fine for forget
    forgot from get give go goes going gone good got guess had has have he hell hello help her
    here hey hi him his how human i i'd i'll i'm i've if ignore in information into is isn't it
    it's its just know later leave let like list long look make many me mean might mine more
    much must my name need never nevermind no nobody none nope not nothing number of off ok okay
    on once one only open operator or order other our out over pay person phone please prefer
    private quit rather reply right rules say secret see send set she should show skip so some
    something sorry start stop sure talk tell than thank thanks that that's the their them then
    there these they thing this those to today tomorrow too try under unknown until up us use
    verified very wait want was we well were what what's when where which while who why will
    with without won't would wouldn't wrong yeah yes yesterday yet you your hungry tired busy
    lost stuck ready interested looking trying unsure bored angry happy sad sick cat dog above
    below anonymous nah idk agent assistant bot maybe friends people everyone everybody new
    confused sleepy thirsty annoyed single married vegetarian allergic müde hungrig krank fertig
    verwirrt unsicher froh sauer neu weg bereit aber abbrechen alles
    als also andere anderes auch auf aus bei bin
    bitte brauche danke dann das dass dein dem denn der des die dies doch du egal ein eine einem
    einen einer erst es etwas für geht gehört gut habe haben hat hier hilfe ich ihr im in ist ja
    jemand jetzt kann kein keine können machen man mehr mein meine mich mir mit möchte muss nach
    name nein nicht nichts niemand noch nur oder ob ohne schon sein sich sie sind so später
    sollte stopp über um und uns unter vergessen vielleicht von vor wann war warte warten warum
    was weil weiß weiter welche wenn wer werden wie wieder wieso will wir wird wo wollen würde
    zu zum zur zurück
    """
    )
)
_PARTICLES = frozenset(
    words(
        """
    van von der den de del della di da dos das du la le el al bin ibn ben bint abu ter ten zu
    zum zur af av y e i und and st mac mc o d' san
    """
    )
)
# Names that are common words too, where they are written as names are.
_ALSO_NAMES = frozenset(
    words(
        """
    will may mark my do in so an he see long so me us can go may un die ja you she le i
    """
    )
)


def scan_names(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the name that a message brings in with so many words."""
    hits = []
    for found in _LEAD.finditer(text):
        hit = _after(text, found)
        if hit is not None:
            hits.append(hit)
    return hits[:1]


def _after(text: str, lead: re.Match[str]) -> Hit | None:
    words: list[re.Match[str]] = []
    at = lead.end()
    while len(words) < _MOST_WORDS and (word := _WORD.match(text, at)):
        if not _may_go_on(word[0], words):
            break
        words.append(word)
        space = re.compile(r"[ \t]+").match(text, word.end())
        if space is None or (word[0].endswith((".",)) and len(word[0]) > 4):
            break
        at = space.end()
    while words and words[-1][0].casefold() in _PARTICLES and len(words) > 1:
        words.pop()
    if not words:
        return None
    said = text[words[0].start() : words[-1].end()].rstrip(".,-'\u2019 ")
    sure = lead["sure"] is not None
    if not is_name(said) or (not sure and not _looks_named(said)):
        return None
    return Hit(words[0].start(), words[0].start() + len(said), tidy(said), sure)


def _may_go_on(word: str, before: list[re.Match[str]]) -> bool:
    """Say whether a name goes on with a word: one in capitals ends at small words."""
    plain = word.casefold().rstrip(".")
    if before and before[0][0][:1].isupper() and word[:1].islower():
        return plain in _PARTICLES
    return plain not in _NO_NAME or (word[:1].isupper() and plain in _ALSO_NAMES)


def _looks_named(said: str) -> bool:
    return not said[:1].islower() or (
        " " not in said and not said.endswith(("ing", "ed")) and len(said) > 1
    )


def name_in(raw: str) -> str:
    """Return the name that a whole text gives; empty if it gives none."""
    text = _ENDING.sub("", _GREETING.sub("", raw.strip())).strip()
    text = _BEHIND.sub("", _DENIED.sub("", text))
    lead = _LEAD.search(text)
    if lead is None or not _says_nothing(text[: lead.start()]):
        said = _bare(text)
        to = _TO.match(said)
        if to is not None and said[to.end() : to.end() + 1].isupper():
            said = said[to.end() :]
        return tidy(said) if is_name(said) else ""
    said = _bare(text[lead.end() :])
    if lead["maybe"] and not _looks_named(said):
        return ""
    return tidy(said) if is_name(said) else ""


def _says_nothing(text: str) -> bool:
    """Say whether only common words stand there, as in "you can call me"."""
    return all(word.casefold() in _NO_NAME for word in text.split())


def _bare(text: str) -> str:
    """Return a text without the signs around it, but with the point of an abbreviation."""
    said = text.strip(_SIGNS)
    if said[:1].isupper() and said.endswith("?"):
        said = said[:-1]
    words = said.rstrip(".").split()
    last = words[-1].casefold() if words else ""
    short = len(words) > 1 and (len(last) == 1 or last in ("jr", "sr"))
    return said.rstrip(".") + ("." if short and said.endswith(".") else "")


def is_name(said: str) -> bool:
    """Say whether a text may be somebody's name."""
    words = said.split()
    if not words or len(said) > _MOST_CHARACTERS or len(words) > _MOST_WORDS:
        return False
    if not all(_WORD.fullmatch(word.rstrip(",")) for word in words):
        return False
    common = [word for word in words if _is_common(word, len(words))]
    if common or all(word.casefold() in _NO_NAME for word in words):
        return len(words) == 1 and words[0][:1].isupper() and words[0].casefold() in _ALSO_NAMES
    return said not in _PARTICLES and not _DOMAIN.search(said)


def _is_common(word: str, count: int) -> bool:
    plain = word.casefold().rstrip(".,")
    if plain not in _NO_NAME:
        return False
    if plain in _PARTICLES and count > 1:
        return False
    return word[:1].islower() or plain not in _ALSO_NAMES


def tidy(said: str) -> str:
    """Return a text with single blanks."""
    return " ".join(said.split())
