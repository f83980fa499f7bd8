"""How German is spoken to an assistant."""

from __future__ import annotations

from nodes.language.german.answers import ANSWERS
from nodes.language.german.choices import CHOICES
from nodes.language.german.forms import FORMS
from nodes.language.german.signals import SIGNALS
from nodes.language.german.words import WORDS
from nodes.language.lexicon import Sayings

GERMAN = Sayings(
    phrases={**ANSWERS, **SIGNALS, **CHOICES, **FORMS},
    words=WORDS,
    ordinals={
        **dict.fromkeys(("erste", "erster", "erstes", "ersten", "eins", "1te", "1"), 1),
        **dict.fromkeys(("zweite", "zweiter", "zweites", "zweiten", "zwei", "2te", "2"), 2),
        **dict.fromkeys(("dritte", "dritter", "drittes", "dritten", "drei", "3te", "3"), 3),
        **dict.fromkeys(("vierte", "vierter", "viertes", "vierten", "vier", "4"), 4),
        **dict.fromkeys(("fünfte", "fünfter", "fünftes", "fünften", "fünf", "5"), 5),
        **dict.fromkeys(("sechste", "sechster", "sechstes", "sechsten", "sechs", "6"), 6),
        **dict.fromkeys(("letzte", "letzter", "letztes", "letzten", "letzteres", "letztere"), -1),
        **dict.fromkeys(("ersteres", "erstere"), 1),
    },
    type_words={
        "integer": "anzahl zahl nummer",
        "number": "zahl",
        "money": "betrag summe preis",
        "date": "datum tag termin",
        "time": "uhrzeit zeit",
        "datetime": "termin datum zeitpunkt uhrzeit",
        "email": "email mail adresse mailadresse",
        "phone": "telefon telefonnummer nummer handynummer handy rufnummer",
        "name": "name namen",
        "address": "adresse anschrift straße",
    },
    leads={
        "time": "um gegen ab bis",
        "date": "am bis ab zum vom",
        "datetime": "am um zum",
    },
    concepts=(
        "personen person leute gäste gast plätze "
        "personenzahl personenanzahl gästezahl erwachsene uns tisch",
        "nächte nacht übernachtungen",
        "tage tag",
        "zimmer",
        "kinder kind",
        "jahre jahr alter alt",
        "koffer gepäck gepäckstücke taschen",
        "pakete paket päckchen sendungen",
        "kilo kg kilogramm gewicht wiegt",
        "monate monat laufzeit",
        "karten tickets",
        "gb gigabyte datenvolumen",
    ),
)
