"""Dates, times and moments as people write them, on a Saturday afternoon in New York."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from journeygraph.journeys.notions.fields import Field, Range
from journeygraph.nodes.values import Setting, found_in
from tests.values.spellings import DE, ES, GB, REFUSED, US, assert_read, read

DATES = {
    "2026-11-22": "2026-11-22",
    "2026/11/22": "2026-11-22",
    "2026.11.22": "2026-11-22",
    "20261122": "2026-11-22",
    "11/22/2026": "2026-11-22",
    "11/22/26": "2026-11-22",
    "11-22-2026": "2026-11-22",
    "11/22": "2026-11-22",
    "3/4/2027": "2027-03-04",
    "22/11/2026": "2026-11-22",
    "22.11.2026": "2026-11-22",
    "22. 11. 2026": "2026-11-22",
    "22.11.26": "2026-11-22",
    "22.11.": "2026-11-22",
    "03.04.2027": "2027-04-03",
    "22 November 2026": "2026-11-22",
    "22 Nov 2026": "2026-11-22",
    "22nd of November": "2026-11-22",
    "the 22nd of November, 2026": "2026-11-22",
    "November 22, 2026": "2026-11-22",
    "November 22nd": "2026-11-22",
    "Nov. 22": "2026-11-22",
    "Nov 22 '26": "2026-11-22",
    "22. November 2026": "2026-11-22",
    "am 22. November": "2026-11-22",
    "3. Oktober": "2027-10-03",
    "dritter Oktober": "2027-10-03",
    "1. März 2027": "2027-03-01",
    "first of May": "2027-05-01",
    "May the first": "2027-05-01",
    "twenty-second of December": "2026-12-22",
    "12 May 1990": "1990-05-12",
    "5/12/90": "1990-05-12",
    "tomorrow": "2026-11-22",
    "Tomorrow, please!": "2026-11-22",
    "it's for tomorrow, please": "2026-11-22",
    "tommorow": "2026-11-22",
    "tmrw": "2026-11-22",
    "how about tomorrow?": "2026-11-22",
    "tomorrow at 7": "2026-11-22",
    "tomorrow evening": "2026-11-22",
    "today": "2026-11-21",
    "tonight": "2026-11-21",
    "yesterday": "2026-11-20",
    "the day after tomorrow": "2026-11-23",
    "day before yesterday": "2026-11-19",
    "morgen": "2026-11-22",
    "Morgen früh": "2026-11-22",
    "übermorgen": "2026-11-23",
    "heute": "2026-11-21",
    "vorgestern": "2026-11-19",
    "in 3 days": "2026-11-24",
    "in three days": "2026-11-24",
    "in a week": "2026-11-28",
    "in 2 weeks": "2026-12-05",
    "two weeks from now": "2026-12-05",
    "a week from today": "2026-11-28",
    "in a month": "2026-12-21",
    "3 days ago": "2026-11-18",
    "vor drei Tagen": "2026-11-18",
    "in zwei Wochen": "2026-12-05",
    "in einem Monat": "2026-12-21",
    "friday": "2026-11-27",
    "on Friday": "2026-11-27",
    "next Friday": "2026-11-27",
    "this friday": "2026-11-27",
    "last friday": "2026-11-20",
    "Fri": "2026-11-27",
    "saturday": "2026-11-28",
    "this saturday": "2026-11-21",
    "friday next week": "2026-11-27",
    "friday after next": "2026-12-04",
    "a week from friday": "2026-12-04",
    "Friday the 27th": "2026-11-27",
    "Friday, November 27": "2026-11-27",
    "Freitag": "2026-11-27",
    "nächsten Freitag": "2026-11-27",
    "Freitag in einer Woche": "2026-12-04",
    "nächste Woche Dienstag": "2026-11-24",
    "the 3rd": "2026-12-03",
    "on the 3rd": "2026-12-03",
    "3rd": "2026-12-03",
    "the twenty-fifth": "2026-11-25",
    "the fifth Sunday of August": "2027-08-29",
    "the fifth Friday of February": REFUSED,
    "am 3.": "2026-12-03",
    "der 25.": "2026-11-25",
    "31st": "2026-12-31",
    "Feb 29": "2028-02-29",
    "Christmas Eve": "2026-12-24",
    "Silvester": "2026-12-31",
    "the last day of the month": "2026-11-30",
    "next month": "2026-12-01",
    "le 3 mai 2027": "2027-05-03",
    "3 de mayo": "2027-05-03",
    "3 maggio 2027": "2027-05-03",
    "2026年11月22日": "2026-11-22",
    "not tomorrow, Monday": "2026-11-23",
    "the 4th, sorry, the 5th": "2026-12-05",
    "the 3rd, not the 4th": "2026-12-03",
    "Wednesday, uh, no, Thursday": "2026-11-26",
    "wensday": "2026-11-25",
    "Novmber 23": "2026-11-23",
    "24 decmber": "2026-12-24",
    "31st of Decmber": "2026-12-31",
    "1O. Dezember": "2026-12-10",
    "3O.12.2026": "2026-12-30",
}
NO_DATES = (
    "50",
    "3",
    "a thousand",
    "1000",
    "2026",
    "november",
    "next week",
    "soon",
    "whenever",
    "asap",
    "never",
    "blue cat",
    "may",
    "I may come",
    "second",
    "a second",
    "the second one",
    "31 February",
    "2026-13-01",
    "2026-02-30",
    "32.01.2026",
    "11/31/2026",
    "Feb 29, 2027",
    "Friday the 26th",
    "monday or tuesday",
    "tomorrow or friday",
    "not tomorrow",
    "between the 3rd and the 5th",
    "my sister's birthday is on May 3",
    "what is tomorrow?",
    "every monday",
    "mondays",
    "the sun",
    "12:30",
    "at 7",
    "no",
    "yes",
    "me",
    "now and then",
    "call 555-1234",
    "12.5",
    "1.5.2",
    "do",
    "so",
    "ok",
    "",
    "((((",
    "1,1,1",
    "de",
    "al",
    "mar",
    "a",
    "the",
    "0",
    "-1",
    "1484823450",
    "12h",
    "$5",
    "10%",
    "5 days",
    "two weeks",
    "I was born a long time ago",
    "I'd like to cancel my order from yesterday",
)
GERMAN_DATES = {
    "3/4/2027": "2027-04-03",
    "22/11": "2026-11-22",
    "3.4.": "2027-04-03",
    "3.4.2027": "2027-04-03",
    "3-4-2027": "2027-04-03",
    "11/22/2026": "2026-11-22",
    "Dienstag, den 24.11.": "2026-11-24",
    "Dienstag, 24. November": "2026-11-24",
    "Am Montag bitte": "2026-11-23",
    "kommenden Montag": "2026-11-23",
    "letzten Montag": "2026-11-16",
    "guten Morgen": REFUSED,
    "heute Morgen": "2026-11-21",
}
TIMES = {
    "7": "07:00",
    "at 7": "07:00",
    "7:00": "07:00",
    "07:00": "07:00",
    "7:30": "07:30",
    "19:00": "19:00",
    "19.30": "19:30",
    "19:30:15": "19:30:15",
    "0:00": "00:00",
    "24:00": "00:00",
    "7pm": "19:00",
    "7 pm": "19:00",
    "7 PM": "19:00",
    "7 p.m.": "19:00",
    "7p.m.": "19:00",
    "7am": "07:00",
    "7:30pm": "19:30",
    "7.30 pm": "19:30",
    "12am": "00:00",
    "12pm": "12:00",
    "12": "12:00",
    "12:30 am": "00:30",
    "noon": "12:00",
    "midnight": "00:00",
    "Mitternacht": "00:00",
    "mittags": "12:00",
    "19 Uhr": "19:00",
    "19 Uhr 30": "19:30",
    "19.30 Uhr": "19:30",
    "um 7": "07:00",
    "19h": "19:00",
    "19h30": "19:30",
    "1900 hours": "19:00",
    "7 o'clock": "07:00",
    "seven o’clock": "07:00",
    "seven": "07:00",
    "seven thirty": "07:30",
    "half past seven": "07:30",
    "half past 7 pm": "19:30",
    "half seven": "07:30",
    "quarter past 7": "07:15",
    "quarter to eight": "07:45",
    "a quarter to 8": "07:45",
    "ten to eight": "07:50",
    "twenty past 7": "07:20",
    "halb acht": "07:30",
    "um halb 8": "07:30",
    "viertel nach sieben": "07:15",
    "Viertel vor acht": "07:45",
    "dreiviertel acht": "07:45",
    "viertel acht": "07:15",
    "zehn vor acht": "07:50",
    "fünf nach halb acht": "07:35",
    "fünf vor halb acht": "07:25",
    "halb eins": "12:30",
    "7 in the evening": "19:00",
    "7 in the morning": "07:00",
    "3 in the afternoon": "15:00",
    "at 8 tonight": "20:00",
    "tonight at 8": "20:00",
    "this evening at 7": "19:00",
    "evening, at 7": "19:00",
    "abends um 7": "19:00",
    "7 Uhr abends": "19:00",
    "3 Uhr nachmittags": "15:00",
    "8 Uhr morgens": "08:00",
    "around 7pm please": "19:00",
    "gegen 19 Uhr": "19:00",
    "8, no, 9": "09:00",
    "not 7, 8": "08:00",
    "25:00": REFUSED,
    "7:60": REFUSED,
    "99": REFUSED,
    "13pm": "13:00",
    "13am": REFUSED,
    "morning": REFUSED,
    "in the evening": REFUSED,
    "later": REFUSED,
    "anytime": REFUSED,
    "tomorrow": REFUSED,
    "7 or 8": REFUSED,
    "between 7 and 8": REFUSED,
    "7-8": REFUSED,
    "7%": REFUSED,
    "7 people": REFUSED,
    "$7": REFUSED,
    "seven dwarfs": REFUSED,
    "what time is it?": REFUSED,
    "7.5": REFUSED,
    "a thousand": REFUSED,
    "no": REFUSED,
    "": REFUSED,
    "one moment": REFUSED,
}
MOMENTS = {
    "tomorrow at 7": "2026-11-22T07:00",
    "tomorrow at 7pm": "2026-11-22T19:00",
    "tomorrow, 7pm": "2026-11-22T19:00",
    "7pm tomorrow": "2026-11-22T19:00",
    "at 7 pm on Friday": "2026-11-27T19:00",
    "tomorrow evening at 7": "2026-11-22T19:00",
    "tomorrow at 7 in the evening": "2026-11-22T19:00",
    "tomorrow at noon": "2026-11-22T12:00",
    "tonight at 8": "2026-11-21T20:00",
    "today 15:00": "2026-11-21T15:00",
    "2026-11-22T19:00": "2026-11-22T19:00",
    "2026-11-22 19:00": "2026-11-22T19:00",
    "2026-11-22T19:00:30": "2026-11-22T19:00:30",
    "2026-11-22T19:00Z": "2026-11-22T14:00",
    "2026-11-22T19:00+01:00": "2026-11-22T13:00",
    "11/22/2026 7pm": "2026-11-22T19:00",
    "11/22/2026, 7:30 PM": "2026-11-22T19:30",
    "Nov 22 at 19:00": "2026-11-22T19:00",
    "November 22nd, 7:30 pm": "2026-11-22T19:30",
    "22 November 2026, 19:00": "2026-11-22T19:00",
    "22.11.2026 19:00": "2026-11-22T19:00",
    "22.11. um 19 Uhr": "2026-11-22T19:00",
    "am 22. November um 19.30 Uhr": "2026-11-22T19:30",
    "morgen um 19 Uhr": "2026-11-22T19:00",
    "morgen um halb acht": "2026-11-22T07:30",
    "morgen Abend um 7": "2026-11-22T19:00",
    "übermorgen 8 Uhr": "2026-11-23T08:00",
    "Freitag, 9 Uhr": "2026-11-27T09:00",
    "heute um Mitternacht": "2026-11-22T00:00",
    "tonight at midnight": "2026-11-22T00:00",
    "tomorrow at midnight": "2026-11-22T00:00",
    "today at 7": "2026-11-21T19:00",
    "today at 7 am": "2026-11-21T07:00",
    "today at 2": "2026-11-21T14:00",
    "tomorrow 7": "2026-11-22T07:00",
    "tomorrow, 19": "2026-11-22T19:00",
    "next friday at half past 9": "2026-11-27T09:30",
    "friday 9am": "2026-11-27T09:00",
    "the 3rd at 10": "2026-12-03T10:00",
    "on the 3rd, 10:15": "2026-12-03T10:15",
    "in 2 hours": "2026-11-21T15:30",
    "in two hours": "2026-11-21T15:30",
    "in an hour": "2026-11-21T14:30",
    "in half an hour": "2026-11-21T14:00",
    "in 45 minutes": "2026-11-21T14:15",
    "in einer Stunde": "2026-11-21T14:30",
    "vor 2 Stunden": "2026-11-21T11:30",
    "20 minutes ago": "2026-11-21T13:10",
    "now": "2026-11-21T13:30",
    "right now": "2026-11-21T13:30",
    "yesterday at 5pm": "2026-11-20T17:00",
    "it's for tomorrow at 7pm, please": "2026-11-22T19:00",
    "tomorrow": REFUSED,
    "at 7": REFUSED,
    "7pm": REFUSED,
    "tomorrow evening": REFUSED,
    "tomorrow at 25:00": REFUSED,
    "tomorrow at 7 or 8": REFUSED,
    "tomorrow or friday at 7": REFUSED,
    "soon": REFUSED,
    "50": REFUSED,
    "in a while": REFUSED,
    "": REFUSED,
    "in 5": REFUSED,
    "my flight leaves tomorrow at 7pm": REFUSED,
    "a thousand": REFUSED,
}


def test_dates_are_read_in_many_styles() -> None:
    field = Field("x", "date")

    assert_read(field, DATES)
    assert_read(field, dict.fromkeys(NO_DATES, REFUSED))
    assert_read(field, GERMAN_DATES, DE)
    assert_read(field, {"3/4/2027": "2027-04-03"}, GB)


VAGUE_DAYS = (
    "a friday in may",
    "one friday in june, please",
    "a May friday",
    "friday afternoon in early may",
    "a monday in March 2027",
    "some day in June",
    "one of the mondays in March",
    "the first week of May",
    "the 2nd week of May",
    "a weekend in July",
    "every Friday",
    "any Friday would do",
    "the second Friday",
    "ein Freitag im Mai",
    "einen Montag im Juni",
    "irgendein Tag im Juni",
    "jeden Dienstag",
    "am zweiten Freitag",
    "die erste Woche im Mai",
    "un viernes de mayo",
    "uno de los lunes de marzo",
    "un fin de semana en julio",
    "cada viernes",
    "el segundo viernes",
    "la primera semana de mayo",
    "un vendredi en mai",
    "un vendredi en mai 2027",
    "een vrijdag in mei",
    "una domenica di maggio",
    "uma sexta de maio",
    "en fredag i maj",
)


@pytest.mark.parametrize("setting", [US, DE, ES], ids=["en", "de", "es"])
def test_what_may_be_several_days_is_no_day(setting: Setting) -> None:
    field = Field("x", "date")

    assert_read(field, dict.fromkeys(VAGUE_DAYS, REFUSED), setting)
    spoken = [text for text in VAGUE_DAYS if found_in(field, f"Could it be {text}?", setting)]
    assert spoken == []


def test_a_day_of_another_language_is_not_read_as_another_day_of_the_week() -> None:
    asked = {"vendredi 7 mai 2027": "2027-05-07", "vendredi 7 mai 2028": REFUSED}
    asked |= {"venerdì 7 maggio 2027": "2027-05-07", "sabato 7 maggio 2027": REFUSED}
    asked |= {"пятница 7 мая 2027": "2027-05-07", "пятница 8 мая 2027": REFUSED}
    asked |= {"2027年5月7日(金)": "2027-05-07", "2027年5月8日(金)": REFUSED}

    assert_read(Field("x", "date"), asked)


def test_a_day_without_a_year_is_past_where_the_words_or_the_range_say_so() -> None:
    accident = Field("accident_date", "date", "When was the accident?")
    born = Field("born", "date", validators=[Range(most="today")])

    assert read(accident, "the accident was on the 3rd, not the 4th") == "2026-11-03"
    assert read(accident, "it was last May 3") == "2026-05-03"
    assert read(accident, "it happened on Monday") == "2026-11-16"
    assert read(born, "May 3") == "2026-05-03"
    assert read(born, "Dec 24") == "2025-12-24"
    assert read(born, "3.5.27") == "1927-05-03"
    assert read(born, "on the 3rd") == "2026-11-03"
    assert read(born, "Monday") == "2026-11-16"
    assert read(Field("x", "date", validators=[Range(most="2030-01-01")]), "May 3") == "2027-05-03"


def test_tomorrow_is_counted_in_the_zone_of_the_one_who_speaks() -> None:
    just_before = datetime(2026, 12, 31, 23, 59, tzinfo=ZoneInfo("America/New_York"))
    in_berlin = Setting(just_before.astimezone(ZoneInfo("Europe/Berlin")))

    assert read(Field("x", "date"), "tomorrow", Setting(just_before)) == "2027-01-01"
    assert read(Field("x", "date"), "tomorrow", in_berlin) == "2027-01-02"
    assert read(Field("x", "date"), "today", in_berlin) == "2027-01-01"


def test_times_are_read_from_digits_and_words() -> None:
    assert_read(Field("x", "time"), TIMES)


SLIPS_IN_TIMES = {
    US: {
        "7:0O": "07:00",
        "7:3o pm": "19:30",
        "l9:00": "19:00",
        "1O:30": "10:30",
        "7;30": "07:30",
        "8ish": "08:00",
        "8-ish": "08:00",
        "around 8ish": "08:00",
        "7pm-ish": "19:00",
        "eightish": "08:00",
        "half pats seven": "07:30",
        "at eigth": "08:00",
        "midnigt": "00:00",
        "8 fish": REFUSED,
        "7:60": REFUSED,
        "7 or 8ish": REFUSED,
        "at sevn": REFUSED,
    },
    DE: {"19.3O Uhr": "19:30", "halb acth": "07:30", "vietel nach sieben": "07:15"},
    ES: {"a las ocho y meida": "08:30", "a las 19;30": "19:30", "a las siet": REFUSED},
}
SLIPS_IN_COUNTS = {
    US: {
        "fuor poeple": 4,
        "foru": 4,
        "seven peopel": 7,
        "twleve": 12,
        "8ish": 8,
        "around 8": 8,
        "eightish people": 8,
        "1O people": 10,
        "nein": REFUSED,
        "there": REFUSED,
        "even": REFUSED,
        "form": REFUSED,
        "tent": REFUSED,
        "O2": REFUSED,
        "l2": REFUSED,
        "B1O": REFUSED,
        "selfish": REFUSED,
    },
    DE: {"veir Persoen": 4, "nuen Leute": 9, "zwanzg": 20, "nein": REFUSED, "siede": REFUSED},
    ES: {"cautro personas": 4, "1O personas": 10, "1o": 1, "cuarto": REFUSED, "vente": REFUSED},
}


@pytest.mark.parametrize("setting", [US, DE, ES], ids=["en", "de", "es"])
def test_slips_of_the_hand_are_read_only_where_they_can_be_nothing_else(setting: Setting) -> None:
    asked = {"en": "How many people?", "de": "Wie viele Personen?", "es": "¿Cuántas personas?"}

    assert_read(Field("x", "time"), SLIPS_IN_TIMES[setting], setting)
    people = Field("x", "integer", asked[setting.language])
    assert_read(people, SLIPS_IN_COUNTS[setting], setting)
    assert read(Field("x", "date"), "el 24 de deciembre", ES) == "2026-12-24"


def test_an_hour_without_its_half_of_the_day_is_the_one_that_the_range_takes() -> None:
    dinner = Field("x", "time", validators=[Range("18:00", "22:00")])
    night = Field("x", "time", validators=[Range("20:00", "02:00")])

    assert read(dinner, "at 7") == "19:00"
    assert read(dinner, "halb acht") == "19:30"
    assert read(dinner, "7 am") == "07:00"
    assert read(dinner, "07:00") == "07:00"
    assert read(dinner, "at 5") == "17:00"
    assert read(night, "at 1") == "01:00"
    assert read(night, "at 9") == "21:00"


def test_moments_are_read_from_a_day_and_a_time() -> None:
    assert_read(Field("x", "datetime"), MOMENTS)
    evening = Field("x", "datetime", validators=[Range("2026-11-22T12:00", "2026-11-23")])
    assert read(evening, "tomorrow at 7") == "2026-11-22T19:00"
    assert read(Field("x", "datetime"), "it happened today at 7") == "2026-11-21T07:00"


@pytest.mark.parametrize(
    ("text", "date", "hour"),
    [
        ("table for 4 tomorrow at 7, name Lee", "2026-11-22", "07:00"),
        ("Book me in on Friday at 7:30pm for two", "2026-11-27", "19:30"),
        ("Einen Tisch für vier morgen um 19 Uhr, Name Lee", "2026-11-22", "19:00"),
    ],
    ids=["english", "evening", "german"],
)
def test_a_date_and_a_time_are_found_in_one_message(text: str, date: str, hour: str) -> None:
    [day] = found_in(Field("x", "date"), text, US)
    [time] = found_in(Field("x", "time"), text, US)

    assert (day.value, day.certain) == (date, True)
    assert (time.value, time.certain) == (hour, True)
    assert text[time.start : time.end] == time.raw


def test_a_day_that_no_month_has_is_no_other_day() -> None:
    day = Field("day", "date")
    english = ("31st of April", "April 31st", "Friday the 31st of April", "the 30th of February")
    assert_read(day, dict.fromkeys(english, REFUSED), GB)
    assert_read(
        day, dict.fromkeys(("am 31. April", "Freitag, der 31. April", "31.4."), REFUSED), DE
    )
    assert_read(day, dict.fromkeys(("el 31 de abril", "el martes 31 de abril"), REFUSED), ES)
    assert_read(day, {"29 February": "2028-02-29", "the 31st": "2026-12-31"}, GB)
    birth = Field("birth", "date", validators=[Range(most="today")])
    assert_read(birth, {"5 Nov 99": "1999-11-05"}, GB)


def test_since_is_from_where_no_day_is_to_be_past() -> None:
    start, was = Field("start", "date", validators=[Range("today")]), Field("was", "date")
    assert_read(start, {"since 3 May": "2027-05-03"}, GB)
    assert [span.value for span in found_in(start, "seit 3. Mai", DE)] == ["2027-05-03"]
    assert_read(start, {"desde el 1 de mayo": "2027-05-01"}, ES)
    assert_read(was, {"desde el 1 de mayo": "2027-05-01"}, ES)
    assert_read(was, {"since 3 May": "2026-05-03"}, GB)
    [span] = found_in(was, "the 3rd of May please, since I'm away until then", GB)
    assert span.value == "2027-05-03"
