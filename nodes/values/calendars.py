"""Names of months and days, and other words for dates, English and German."""

from __future__ import annotations

from nodes.values.setting import Setting
from nodes.values.tables import words

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner januari",
            "february feb februar febr feber",
            "march mar märz mär maerz mrz",
            "april apr",
            "may mai",
            "june jun juni",
            "july jul juli",
            "august aug",
            "september sep sept",
            "october oct oktober okt",
            "november nov",
            "december dec dezember dez",
        ),
        1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon montag mo",
            "tuesday tues tue dienstag di",
            "wednesday weds wed mittwoch mi",
            "thursday thurs thur thu donnerstag do",
            "friday fri freitag fr",
            "saturday sat samstag sonnabend sa",
            "sunday sun sonntag so",
        )
    )
    for name in names.split()
}
SHORT_WEEKDAYS = frozenset(
    words(
        """
    mo di mi do fr sa so sun sat mon wed
    """
    )
)
"""Names of days that are other words too: a day only before a date."""
_ORDINALS = {
    1: "first ersten erste erster",
    2: "second zweiten zweite zweiter",
    3: "third dritten dritte dritter",
    4: "fourth vierten vierte vierter",
    5: "fifth fünften fünfte fünfter",
    6: "sixth sechsten sechste sechster",
    7: "seventh siebten siebte siebter siebenten",
    8: "eighth achten achte achter",
    9: "ninth neunten neunte neunter",
    10: "tenth zehnten zehnte zehnter",
    11: "eleventh elften elfte elfter",
    12: "twelfth zwölften zwölfte zwölfter",
    13: "thirteenth dreizehnten",
    14: "fourteenth vierzehnten",
    15: "fifteenth fünfzehnten",
    16: "sixteenth sechzehnten",
    17: "seventeenth siebzehnten",
    18: "eighteenth achtzehnten",
    19: "nineteenth neunzehnten",
    20: "twentieth zwanzigsten",
    21: "twenty-first einundzwanzigsten",
    22: "twenty-second zweiundzwanzigsten",
    23: "twenty-third dreiundzwanzigsten",
    24: "twenty-fourth vierundzwanzigsten",
    25: "twenty-fifth fünfundzwanzigsten",
    26: "twenty-sixth sechsundzwanzigsten",
    27: "twenty-seventh siebenundzwanzigsten",
    28: "twenty-eighth achtundzwanzigsten",
    29: "twenty-ninth neunundzwanzigsten",
    30: "thirtieth dreißigsten",
    31: "thirty-first einunddreißigsten",
}
ORDINALS = {name: number for number, names in _ORDINALS.items() for name in names.split()}
FEASTS = {
    "new year's day": (1, 1),
    "neujahr": (1, 1),
    "valentine's day": (2, 14),
    "valentinstag": (2, 14),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "heiligabend": (12, 24),
    "heilig abend": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "silvester": (12, 31),
}
"""Days of the year that are known by a name, and are the same every year."""
MONTH_FIRST = frozenset(
    words(
        """
    US PH PW FM MH GU PR VI AS MP UM
    """
    )
)
"""Regions where the month stands before the day in digits."""
_WEEK_FROM_SUNDAY = frozenset(
    words(
        """
    AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ
    NI NP PA PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW
    """
    )
)
_WEEK_FROM_SATURDAY = frozenset(words("AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY"))


def month_is_first(setting: Setting) -> bool:
    """Say whether the month stands before the day in digits where a user speaks."""
    if setting.date_order:
        return setting.date_order == "mdy"
    return setting.region in MONTH_FIRST


def first_day_of_week(setting: Setting) -> int:
    """Return the number of the day that a week begins with where a user speaks; Monday is 0."""
    if setting.first_day:
        return WEEKDAYS[setting.first_day]
    if setting.region in _WEEK_FROM_SATURDAY:
        return WEEKDAYS["saturday"]
    return WEEKDAYS["sunday" if setting.region in _WEEK_FROM_SUNDAY else "monday"]


NAMED = {
    "en": (
        words(
            """
    January February March April May June July August September October November December
    """
        ),
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    ),
    "de": (
        words(
            """
    Januar Februar März April Mai Juni Juli August September Oktober November Dezember
    """
        ),
        ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    ),
}
"""Months and days as they are shown, by language."""
