"""Days, times and moments as a whole, on a Tuesday afternoon in Berlin."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from journeygraph.journeys.declarations.fields import Field, Range
from journeygraph.nodes.values.setting import Setting
from journeygraph.nodes.values.times import is_half_in_doubt
from tests.values.spellings import DE, ES, FR, GB, US, assert_read, assert_refused, read

DAY, HOUR, MOMENT = Field("d", "date"), Field("t", "time"), Field("m", "datetime")
PAST = Field("d", "date", validators=[Range(most="today")])
DAYS = {
    "en": {
        "2026-12-01": "2026-12-01",
        "11/12": "2027-11-12",
        "22/11/2026": "2026-11-22",
        "5/12/90": "1990-05-12",
        "22.11.": "2027-11-22",
        "Nov 22": "2027-11-22",
        "22 November": "2027-11-22",
        "the 3rd of December": "2026-12-03",
        "December 3rd, 2027": "2027-12-03",
        "Nov. 22 '26": "2026-11-22",
        "24-Dec-2026": "2026-12-24",
        "first of May": "2027-05-01",
        "Feb 29": "2028-02-29",
        "on Friday": "2026-11-27",
        "tuesday": "2026-12-01",
        "this tuesday": "2026-11-24",
        "Friday the 11th": "2026-12-11",
        "Tuesday, the 24th": "2026-11-24",
        "next Friday": "2026-11-27",
        "last friday": "2026-11-20",
        "friday next week": "2026-12-04",
        "Friday, November 27": "2026-11-27",
        "tomorrow": "2026-11-25",
        "the day after tomorrow": "2026-11-26",
        "in two weeks": "2026-12-08",
        "in a week": "2026-12-01",
        "3 days ago": "2026-11-21",
        "a week from now": "2026-12-01",
        "Christmas Eve": "2026-12-24",
    },
    "de": {
        "11.12.": "2026-12-11",
        "3.4.": "2027-04-03",
        "3.4.2027": "2027-04-03",
        "am 3. Dezember": "2026-12-03",
        "dritter Oktober": "2027-10-03",
        "Dienstag, den 24.11.": "2026-11-24",
        "nächsten Freitag": "2026-11-27",
        "letzten Montag": "2026-11-23",
        "übermorgen": "2026-11-26",
        "in drei Tagen": "2026-11-27",
        "vor zwei Wochen": "2026-11-10",
        "in einer Woche": "2026-12-01",
        "Heiligabend": "2026-12-24",
        "nächste Woche Dienstag": "2026-12-01",
    },
    "es": {
        "11/12": "2026-12-11",
        "mañana": "2026-11-25",
        "pasado manana": "2026-11-26",
        "miercoles": "2026-11-25",
        "el viernes que viene": "2026-11-27",
        "el próximo viernes": "2026-11-27",
        "el 5 de mayo": "2027-05-05",
        "cinco de diciembre": "2026-12-05",
        "primero de mayo de 2028": "2028-05-01",
        "dentro de tres días": "2026-11-27",
        "en dos semanas": "2026-12-08",
        "hace tres días": "2026-11-21",
        "Nochebuena": "2026-12-24",
    },
    "fr": {
        "11/12": "2026-12-11",
        "demain": "2026-11-25",
        "après-demain": "2026-11-26",
        "le 5 mai": "2027-05-05",
        "1er mai": "2027-05-01",
        "24 déc.": "2026-12-24",
        "vendredi prochain": "2026-11-27",
        "lundi 3 mai 2027": "2027-05-03",
        "dans deux semaines": "2026-12-08",
        "il y a 3 jours": "2026-11-21",
        "Noël": "2026-12-25",
    },
}
NO_DAYS = {
    "en": "in a month"
    "|the 3rd|on the 3rd|3rd|Friday the 28th|later|after that|one week later|two weeks"
    "|next week|not friday|friday or saturday|before friday|about friday|every friday|31 February"
    "|2026-02-30|May 2026|3 May 20|3 May two"
    "|Friday, November 28|may|november|three|50|12.5|1.5.2|I may come"
    "|tomorrow at 7|",
    "de": "am 3.|eine Woche später|danach|nicht am Freitag|gegen Freitag|nächste Woche|Mai",
    "es": "el 5|una semana después|la próxima semana|no el viernes|sobre el viernes|mayo",
    "fr": "le 3|une semaine plus tard|la semaine prochaine|pas vendredi|vers vendredi|mai",
}
TIMES = {
    "en": {
        "7": "07:00",
        "at 7": "07:00",
        "4": "16:00",
        "7pm": "19:00",
        "7 p.m.": "19:00",
        "12 am": "00:00",
        "19:30": "19:30",
        "9:30:15": "09:30:15",
        "0730": "07:30",
        "7 o'clock": "07:00",
        "half past seven": "07:30",
        "quarter to 8 pm": "19:45",
        "twenty to nine": "08:40",
        "seven thirty": "07:30",
        "7 in the evening": "19:00",
        "8 at night": "20:00",
        "noon": "12:00",
        "midnight": "00:00",
    },
    "de": {
        "um 7": "07:00",
        "19 Uhr 30": "19:30",
        "einundzwanzig Uhr": "21:00",
        "halb acht": "07:30",
        "viertel nach sieben": "07:15",
        "dreiviertel acht": "07:45",
        "fünf nach halb acht": "07:35",
        "sieben Uhr dreißig": "07:30",
        "7 Uhr abends": "19:00",
        "mittags": "12:00",
    },
    "es": {
        "a las siete": "07:00",
        "las siete y media de la tarde": "19:30",
        "a la una": "13:00",
        "a las 9 de la mañana": "09:00",
        "las siete y diez": "07:10",
        "mediodía": "12:00",
    },
    "fr": {
        "19h30": "19:30",
        "à 7h": "07:00",
        "sept heures et demie": "07:30",
        "huit heures moins le quart": "07:45",
        "7 heures du soir": "19:00",
        "7h du matin": "07:00",
        "sept heures vingt": "07:20",
        "midi": "12:00",
    },
}
NO_TIMES = {
    "en": "seven oh five|about 9|around 7|half past|half|25:00|7 people|7 or 8|after 6|before 9"
    "|later|13:75|soon",
    "de": "gegen 9|nach 6|vor 9|halb|um|7 Personen|später",
    "es": "sobre las 9|después de las 6|las siete o las ocho|más tarde",
    "fr": "vers 9h|après 6h|7 ou 8|plus tard",
}
MOMENTS = {
    "en": {
        "tomorrow at 7pm": "2026-11-25T19:00",
        "7pm on friday": "2026-11-27T19:00",
        "Nov 27, 19:30": "2026-11-27T19:30",
        "today at 7": "2026-11-24T19:00",
        "today at midnight": "2026-11-25T00:00",
        "2026-12-01T19:00": "2026-12-01T19:00",
        "2026-12-01T19:00Z": "2026-12-01T20:00",
        "now": "2026-11-24T13:30",
    },
    "de": {"am 24.12. um 18:30": "2026-12-24T18:30"},
    "es": {
        "mañana a las 7 de la tarde": "2026-11-25T19:00",
        "el viernes a las 20:30": "2026-11-27T20:30",
    },
    "fr": {"demain à 19h30": "2026-11-25T19:30"},
}
PLACES = {"en": US, "de": DE, "es": ES, "fr": FR}
LANGUAGES = pytest.mark.parametrize("language", PLACES)


@LANGUAGES
def test_days_are_read_as_a_whole(language: str) -> None:
    assert_read(DAY, DAYS[language], PLACES[language])


@LANGUAGES
def test_what_is_no_day_as_a_whole_is_never_one(language: str) -> None:
    assert_refused(DAY, NO_DAYS[language], PLACES[language])


@LANGUAGES
def test_times_are_read_as_a_whole(language: str) -> None:
    assert_read(HOUR, TIMES[language], PLACES[language])


@LANGUAGES
def test_what_is_no_time_as_a_whole_is_never_one(language: str) -> None:
    assert_refused(HOUR, NO_TIMES[language], PLACES[language])


@LANGUAGES
def test_moments_are_a_day_and_a_time(language: str) -> None:
    assert_read(MOMENT, MOMENTS[language], PLACES[language])
    assert_refused(MOMENT, "4 tomorrow|tomorrow|19:00|in 2 hours|tomorrow or at 7", US)


def test_a_day_of_a_field_up_to_today_is_the_last_one() -> None:
    for said, setting in (("sunday", US), ("Sonntag", DE), ("domingo", ES), ("dimanche", FR)):
        assert read(PAST, said, setting) == "2026-11-22"
        assert read(DAY, said, setting) == "2026-11-29"
    assert_read(PAST, {"24 December": "2025-12-24", "5 May 82": "1982-05-05"})
    assert read(Field("d", "date", validators=[Range("today")]), "sunday") == "2026-11-29"


def test_days_in_digits_follow_the_locale() -> None:
    assert [read(DAY, "11/12", place) for place in (US, GB)] == ["2027-11-12", "2026-12-11"]
    assert read(DAY, "11/12", Setting(US.at, "US", date_order="dmy")) == "2026-12-11"
    sundays = [read(DAY, "sunday next week", place) for place in (US, GB)]
    assert sundays == ["2026-11-29", "2026-12-06"]
    assert read(DAY, "sunday next week", Setting(US.at, first_day="monday")) == "2026-12-06"


def test_an_hour_is_that_of_the_field_and_else_in_doubt() -> None:
    ranged = Field("t", "time", validators=[Range("17:00", "22:00")])
    assert [read(field, "at 7") for field in (HOUR, ranged)] == ["07:00", "19:00"]
    assert [is_half_in_doubt(field, "at 7", US) for field in (HOUR, ranged)] == [True, False]
    assert not is_half_in_doubt(HOUR, "7 in the morning", US)
    assert is_half_in_doubt(MOMENT, "tomorrow at 7", US)
    assert not is_half_in_doubt(MOMENT, "today at 7", US)


def test_the_midnight_of_a_clock_change_is_a_day_like_others() -> None:
    at = datetime(2026, 10, 25, 0, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    berlin = Setting(at, "DE", "de")
    assert read(DAY, "morgen", berlin) == "2026-10-26"
    assert read(DAY, "in 7 Tagen", berlin) == "2026-11-01"
