"""How English is spoken to an assistant."""

from __future__ import annotations

from nodes.language.english.answers import ANSWERS
from nodes.language.english.choices import CHOICES
from nodes.language.english.forms import FORMS
from nodes.language.english.signals import SIGNALS
from nodes.language.english.words import WORDS
from nodes.language.lexicon import Sayings

ENGLISH = Sayings(
    phrases={**ANSWERS, **SIGNALS, **CHOICES, **FORMS},
    words=WORDS,
    ordinals={
        **dict.fromkeys(("first", "1st", "1", "one", "former"), 1),
        **dict.fromkeys(("second", "2nd", "2", "two"), 2),
        **dict.fromkeys(("third", "3rd", "3", "three"), 3),
        **dict.fromkeys(("fourth", "4th", "4", "four"), 4),
        **dict.fromkeys(("fifth", "5th", "5", "five"), 5),
        **dict.fromkeys(("sixth", "6th", "6", "six"), 6),
        **dict.fromkeys(("seventh", "7th", "7", "seven"), 7),
        **dict.fromkeys(("eighth", "8th", "8", "eight"), 8),
        **dict.fromkeys(("ninth", "9th", "9", "nine"), 9),
        **dict.fromkeys(("tenth", "10th", "10", "ten"), 10),
        **dict.fromkeys(("last", "latter", "bottom"), -1),
    },
    type_words={
        "integer": "number count",
        "number": "number",
        "money": "amount sum money price value",
        "date": "date day",
        "time": "time hour",
        "datetime": "date time day",
        "email": "email mail address",
        "phone": "phone telephone mobile cell number",
        "name": "name",
        "address": "address street",
    },
    leads={
        "time": "at around by about from",
        "date": "on by for",
        "datetime": "on at by for",
    },
    concepts=(
        "people persons person guests guest party seats seat covers "
        "cover diners pax heads travellers travelers passengers table us adults",
        "nights night",
        "days day",
        "rooms room",
        "children kids child kid",
        "years year age old",
        "bags bag suitcases luggage pieces",
        "parcels parcel packages package boxes items",
        "kg kilos kilograms weight weighs",
        "months month",
        "tickets ticket",
        "gb gigabytes gigs data",
    ),
)
