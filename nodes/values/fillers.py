"""Words that may stand around a value without saying anything of their own, English and German."""

from __future__ import annotations

import re

from nodes.values.tables import words

FILLER = frozenset(
    words(
        """
    a about again actually ah all alright am an and approx approximately are around as be
    been believe by can change choose correct could day do does er exactly fine fix for
    from get give go going good got great guess had have has hello hey hi hm hmm i i'd i'll i'm
    i've in instead into is it it'd it'll it's its just kind know let let's like likely look
    make makes maybe mean meant might mine mm more-or-less much my nearly no number of oh ok
    okay on one ones only or-so our oops ours perfect perhaps pick please possible possibly
    precisely prefer probably put quite rather really roughly s said say should so something
    sorry sort still sure take than thank thanks that that'd that'll that's the their them then
    there there's these they they're think this those to too uh uhm um us use value very wait
    want wants was we we'd we'll we're well were will wish with works would yeah yep yes you
    your yup aber ach ähm äh also am an auf aus bei bin bis bitte brauche circa da danke dann
    das dass dem den denke der des die dies diese dieser dieses doch dürfte ein eine einen einer
    eines es etwa etwas euch eigentlich fast für gegen gehen geht genau gerade gerne gern glaube
    gut gute guten hab habe haben hallo hätte hätten hier hm ich im in ist ja jetzt kann knapp
    könnte könnten lieber mach machen mal mein meine meinem meinen meiner meinte möchte möchten
    na nein nehme nehmen nimm noch nun nur ok okay oh passt rund sagen sein sind so sollen soll
    sollte sorry tja uh um und ungefähr uns unser unsere von vielleicht vielen voraussichtlich vom
    wahrscheinlich wäre wären war waren wenn werden will wir wird wohl wollen würde würden zirka
    zu zum zur ändere ändern statt
    """
    )
)
NEVER_FILLER = frozenset(
    words(
        """
    not no never none nothing nor neither without except but or cancel stop quit help don't
    doesn't can't won't isn't wasn't instead if unless when where why what who how which nicht
    kein keine keinen nie niemals nichts ohne außer aber oder abbrechen stopp hilfe wenn falls
    warum wieso wann wo wer wie was welche welcher welches
    """
    )
)
"""Words that are no filler, although a question may hold them."""

_UNITS = words(
    """
    people me persons person guests guest adults pax years year yrs old pieces piece items times
    personen leute gäste erwachsene jahre jahr alt stück mal
    """
)
_BESIDE = {
    "integer": _UNITS,
    "number": _UNITS,
    "boolean": words("so think believe hope guess right on off genau passt doch"),
    "date": words(
        "day date on at tag datum early late free frei last happened since passiert me see"
    ),
    "time": words("time me at o'clock uhr uhrzeit sharp today heute pünktlich"),
    "datetime": words("time date day at uhr uhrzeit tag datum sharp me see happened was"),
    "money": words("amount betrag total budget price summe insgesamt"),
    "email": words("e mail email address adresse reach me at mailadresse lautet erreichen"),
    "phone": words(
        """
        phone telephone tel mobile cell cellphone handy handynummer nummer telefon telefonnummer at
        call reach me under unter erreichen lautet whatsapp landline text festnetz festnetznummer
        """
    ),
    "enum": words("option choice one type kind"),
}
BESIDE = {kind: frozenset(said) for kind, said in _BESIDE.items()}
"""Words that may stand beside a value of a type besides."""

_ALIKE = (
    "born birth birthday birthdate dob geboren geburt geburtstag geburtsdatum",
    "people persons guests party group seats table tisch personen leute gäste plätze",
    "kids children child kinder kind",
    "kg kilo kilos kilogram kilograms kilogramm",
    "km kilometer kilometers kilometre kilometres",
    "cm centimeter centimeters centimetre centimetres zentimeter",
    "lb lbs pound pounds",
    "warm cold temperature degree degrees celsius fahrenheit c f grad temperatur",
    "night nights stay nächte übernachtungen",
)
ALIKE = tuple(frozenset(said.split()) for said in _ALIKE)
"""Words of which an answer may have another than the question."""

# Phrases that bring a value in, or stand beside it, of words that say something elsewhere.
ASIDE = re.compile(
    r"\b(?:(?:what|how) about|first thing|why not|not sure but|if possible|if you can"
    r"|if that's (?:ok|okay"
    r"|fine)"
    r"|sounds? good|no problem|of course|by the way|or so|more or less|give or take"
    r"|wie wäre es mit|wie wär's mit|wenn möglich|wenn's geht|falls möglich|oder so"
    r"|mehr oder weniger"
    r"|kein problem)\b",
    re.IGNORECASE,
)
# What comes right before a value that is not meant.
DENYING = re.compile(
    r"\b(?:not|isn't|wasn't|never|nicht|kein|keine|keinen|statt|instead of|rather than)"
    r"(?:\s+(?:the|on|at|for|an?|of|in|am|um|im|für|der|die|das|den|dem|von))*[\s\"']*$",
    re.IGNORECASE,
)
# What stands between a slip of the tongue and what is meant.
CORRECTIVE = re.compile(
    r"\b(?:no|sorry|oops|wait|actually|rather|i mean|i meant|make (?:that|it)|scratch that"
    r"|correction"
    r"|nein|quatsch|ach|doch|lieber|ich meine|ich meinte|besser gesagt|korrektur|moment)\b",
    re.IGNORECASE,
)
