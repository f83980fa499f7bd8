"""Numbers, counts and amounts of money as a whole."""

from typing import Any

import pytest

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.setting import Setting
from tests.values.spellings import DE, ES, FR, REFUSED, US, assert_read, assert_refused, read

COUNT, NUMBER, AMOUNT = Field("n", "integer"), Field("n", "number"), Field("n", "money")
PLACES = {"en": US, "de": DE, "es": ES, "fr": FR}
LANGUAGES = pytest.mark.parametrize("language", PLACES)
WHOLE: dict[str, dict[str, Any]] = {
    "en": {
        "4": 4,
        " 4. ": 4,
        "four": 4,
        "Twenty-one": 21,
        "four hundred and five": 405,
        "a hundred": 100,
        "1,234": 1234,
        "1.234": 1234,
        "1 234": 1234,
        "12,34,567": 1234567,
        "4.0": 4,
        "-5": -5,
        "minus five": -5,
        "50%": 50,
        "50 percent": 50,
        "none": 0,
        "four of us": 4,
        "\uff14": 4,
    },
    "de": {
        "einundzwanzig": 21,
        "eine": 1,
        "dreissig": 30,
        "zweihundertfünfunddreißig": 235,
        "zweitausenddreihundert": 2300,
        "keine": 0,
        "zu viert": 4,
        "vier von uns": 4,
    },
    "es": {"una": 1, "once": 11, "veintidos": 22, "dieciseis": 16, "dos mil trescientos": 2300},
    "fr": {"une": 1, "zéro": 0, "soixante-dix-sept": 77, "quatre-vingts": 80, "septante": 70},
}
NEITHER = {
    "en": "about 9|not 50|one of three|a dozen|a dozen of|half a dozen|4 or 5|between 4 and 5|4-5"
    "|at least 4|4+|<5|another three|two and a half|4.5|1/2|four five|1,1,1,|12:30|tomorrow|3rd|a"
    "|no|$40|99999999999999999999|4 cats|x4|4x4|my cat is 12|what is 4|",
    "de": "anderthalb|ein paar|ein Dutzend|etwa 40|nicht vier|noch zwei|vier oder fünf|zu wenig",
    "es": "una veintena|media docena|unas cinco|otras dos|dos o tres|no cuatro|muchos",
    "fr": "une dizaine|une douzaine|environ cinq|encore deux|deux ou trois|pas quatre|beaucoup",
}


def _of(table: dict[str, str]) -> dict[str, Any]:
    """Return a table whose amounts are written as in "40.00 EUR"."""
    parted = {raw: expected.partition(" ") for raw, expected in table.items()}
    return {raw: {"amount": one, "currency": code} for raw, (one, _, code) in parted.items()}


@LANGUAGES
def test_whole_numbers_are_read_as_a_whole(language: str) -> None:
    assert_read(COUNT, WHOLE[language], PLACES[language])


@LANGUAGES
def test_what_is_no_number_as_a_whole_is_never_one(language: str) -> None:
    assert_refused(COUNT, NEITHER[language], PLACES[language])


def test_separators_are_those_of_the_region() -> None:
    table = {
        "1,234": 1234.0,
        "1.234": 1.234,
        "4,5": 4.5,
        ".5": 0.5,
        "1.234,5": 1234.5,
        "1'234.50": 1234.5,
    }
    assert_read(NUMBER, table, US)
    assert_read(NUMBER, {"1.234": 1234.0, "1,234": 1.234, "12.5": 12.5, "0.125": 0.125}, DE)
    assert read(NUMBER, "1,234", Setting(US.at, decimal_sign=",")) == 1.234
    assert_refused(NUMBER, "1.2.3|1.23.456|1e3|NaN|inf|pi|192.168.0.1|v2.5|3.5 or 4", US)


def test_a_unit_may_stand_behind_a_number_if_the_question_names_it() -> None:
    people = Field("n", "integer", "How many people?")
    weight = Field("n", "number", "How many kilos does it weigh?")
    nights = Field("nights", "integer")
    assert_read(
        people, {"4 people": 4, "four guests": 4, "4 nights": REFUSED, "4 or people": REFUSED}
    )
    assert_read(weight, {"12 kg": 12.0, "12kg": 12.0, "12 pounds": REFUSED})
    assert_read(nights, {"3 nights": 3, "three nights": 3, "3 weeks": REFUSED})
    assert read(Field("n", "integer", "Für wie viele Personen?"), "vier Leute", DE) == 4
    assert read(Field("n", "integer", "¿Cuántas personas?"), "cuatro comensales", ES) == 4
    assert read(Field("n", "integer", "Combien de personnes ?"), "quatre convives", FR) == 4


def test_money_is_read_with_signs_codes_and_names() -> None:
    english = {
        "40": "40.00",
        "40 euros": "40.00 EUR",
        "EUR 40.00": "40.00 EUR",
        "\u20ac40": "40.00 EUR",
        "40,- \u20ac": "40.00 EUR",
        "$1,234.50": "1234.50 USD",
        "$50 CAD": "50.00 CAD",
        "-$5": "-5.00 USD",
        "forty dollars": "40.00 USD",
        "40 bucks": "40.00 USD",
        "\u00a320.50": "20.50 GBP",
        "5,000 JPY": "5000 JPY",
        "1.500 KWD": "1.500 KWD",
        "R$ 20,00": "20.00 BRL",
        "1'234.50 CHF": "1234.50 CHF",
        "40.125": "40125.00",
        "TRY 40": "40.00 TRY",
        "40 usd": "40.00 USD",
    }
    assert_read(AMOUNT, _of(english), US)
    assert_read(AMOUNT, _of({"1.234,50 \u20ac": "1234.50 EUR", "fünf Euro": "5.00 EUR"}), DE)
    assert_read(AMOUNT, _of({"cien euros": "100.00 EUR", "40 libras": "40.00 GBP"}), ES)
    assert_read(AMOUNT, _of({"vingt euros": "20.00 EUR", "1 234,50 \u20ac": "1234.50 EUR"}), FR)
    assert_read(Field("n", "money", currency="EUR"), _of({"40": "40.00 EUR", "$40": "40.00 USD"}))
    assert_read(AMOUNT, _of({"$40": "40.00 CAD", "US$40": "40.00 USD"}), Setting(US.at, "CA"))


def test_what_is_no_amount_as_a_whole_is_never_one() -> None:
    refused = (
        "about 40 euros|40 or 50 euros|40-50 \u20ac|more than 40 euros|at least $40"
        "|$40 each|euros|$"
        "|a lot|free|40 apples|40%|5.5 yen|\u00a350 USD"
        "|12.3456|12:30|at 7|the 3rd|try 40|top 10|all 5|not 50 euros|"
    )
    assert_refused(AMOUNT, refused, US)
    assert_refused(AMOUNT, "etwa 40 Euro|40 oder 50 Euro|ein paar Euro", DE)
