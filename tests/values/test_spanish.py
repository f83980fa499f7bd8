"""Values as they are written in Spain and in Latin America, with and without marks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from journeygraph import Field
from journeygraph.nodes.values import Setting, hint_of, shown
from tests.values.spellings import AT, REFUSED, assert_read, read

ES, MX = Setting(AT, "ES", "es"), Setting(AT, "MX", "es")
PEOPLE = Field("comensales", "integer", label="número de personas")
DAY, HOUR, MOMENT = Field("d", "date"), Field("t", "time"), Field("m", "datetime")
BORN = Field("nacimiento", "date", label="fecha de nacimiento", ask="¿Cuándo nació?")


def test_numbers_in_words() -> None:
    table: dict[str, Any] = {
        "cero": 0,
        "una": 1,
        "cinco": 5,
        "once": 11,
        "dieciséis": 16,
        "veintidos": 22,
        "veintiuna": 21,
        "treinta y cinco": 35,
        "noventa y nueve": 99,
        "cien": 100,
        "ciento veinte": 120,
        "quinientas": 500,
        "mil": 1000,
        "mil quinientos": 1500,
        "dos mil quinientos": 2500,
        "cien mil": 100_000,
        "media docena": 6,
        "una docena": 12,
        "un par": 2,
        "unas cinco": 5,
        "como cinco": 5,
        "cuatro, perdón, cinco": 5,
        "no cuatro, sino cinco": 5,
        "1.200": 1200,
        "dos o tres": REFUSED,
        "muchos": REFUSED,
    }
    assert_read(Field("n", "integer"), table, ES)
    table = {
        "dos y medio": 2.5,
        "tres y cuarto": 3.25,
        "tres y tres cuartos": 3.75,
        "2 1/4": 2.25,
        "dos kilos y medio": 2.5,
        "2,5": 2.5,
        "tres coma cinco": 3.5,
        "1.250,5": 1250.5,
    }
    assert_read(Field("n", "number"), table, ES)
    assert_read(Field("n", "number"), {"2.5": 2.5, "1,250.5": 1250.5}, MX)


def test_people() -> None:
    table = {
        "somos cuatro": 4,
        "seremos seis": 6,
        "para dos personas, por favor": 2,
        "cuatro adultos": 4,
        "dos adultos y un niño": 3,
        "2 adultos y 2 ninos": 4,
        "mi mujer y yo": 2,
        "mi marido, mi hija y yo": 3,
        "solo yo": 1,
        "los dos": 2,
    }
    assert_read(PEOPLE, table, ES)


def test_days() -> None:
    table = {
        "hoy": "2026-11-21",
        "mañana": "2026-11-22",
        "manana": "2026-11-22",
        "pasado mañana": "2026-11-23",
        "el viernes": "2026-11-27",
        "viernes": "2026-11-27",
        "miercoles": "2026-11-25",
        "este domingo": "2026-11-22",
        "el viernes que viene": "2026-11-27",
        "el próximo lunes": "2026-11-23",
        "el martes de la semana que viene": "2026-11-24",
        "el sábado": "2026-11-28",
        "el 5": "2026-12-05",
        "el día 12": "2026-12-12",
        "el 5 de mayo": "2027-05-05",
        "5 de mayo de 2027": "2027-05-05",
        "5 de mayo del 2027": "2027-05-05",
        "cinco de diciembre": "2026-12-05",
        "el dos": "2026-12-02",
        "el uno de mayo": "2027-05-01",
        "primero de mayo": "2027-05-01",
        "el martes cinco de enero": "2027-01-05",
        "jueves 26 de noviembre": "2026-11-26",
        "5/6/2027": "2027-06-05",
        "05-06-2027": "2027-06-05",
        "dentro de tres días": "2026-11-24",
        "en dos semanas": "2026-12-05",
        "el lunes por la tarde": "2026-11-23",
        "mañana por la mañana": "2026-11-22",
        "nochebuena": "2026-12-24",
        "Navidad": "2026-12-25",
        "año nuevo": "2027-01-01",
        "el viernes santo": "2027-03-26",
        "la Navidad": "2026-12-25",
        "cinco personas": REFUSED,
        "la semana que viene": REFUSED,
        "esta mañana": "2026-11-21",
    }
    assert_read(DAY, table, ES)
    table = {
        "3 de mayo de 1990": "1990-05-03",
        "nací el 3 de mayo de 1990": "1990-05-03",
        "ayer": "2026-11-20",
        "anteayer": "2026-11-19",
        "hace tres días": "2026-11-18",
        "hace una semana": "2026-11-14",
        "el viernes pasado": "2026-11-20",
    }
    assert_read(BORN, table, ES)


def test_hours() -> None:
    table = {
        "a las siete": "07:00",
        "las 8": "08:00",
        "a la una": "13:00",
        "una y media": "13:30",
        "la una y cuarto": "13:15",
        "a las ocho y media": "08:30",
        "ocho y cuarto": "08:15",
        "siete y veinte": "07:20",
        "las nueve menos cuarto": "08:45",
        "las doce menos diez": "11:50",
        "cuarto para las ocho": "07:45",
        "diez para las ocho": "07:50",
        "a las siete de la tarde": "19:00",
        "a las siete y media de la tarde": "19:30",
        "7 de la mañana": "07:00",
        "7 de la manana": "07:00",
        "a las 10 de la noche": "22:00",
        "a las tres de la madrugada": "03:00",
        "a la una de la tarde": "13:00",
        "las 12 del mediodía": "12:00",
        "mediodía": "12:00",
        "al mediodia": "12:00",
        "a las doce de la noche": "00:00",
        "medianoche": "00:00",
        "a las 20:30": "20:30",
        "20.30": "20:30",
        "20h": "20:00",
        "a las 20 horas": "20:00",
        "7 p.m.": "19:00",
        "7pm": "19:00",
        "sobre las nueve": "09:00",
        "a eso de las ocho": "08:00",
        "nueve en punto": "09:00",
        "mejor a las siete": "07:00",
        "por la mañana": REFUSED,
        "temprano": REFUSED,
    }
    assert_read(HOUR, table, ES)
    table = {
        "mañana a las siete": "2026-11-22T07:00",
        "mañana por la mañana a las diez": "2026-11-22T10:00",
        "el viernes a las 8 de la tarde": "2026-11-27T20:00",
        "hoy a las ocho de la noche": "2026-11-21T20:00",
        "esta noche a las nueve": "2026-11-21T21:00",
        "el 5 de mayo a las 10": "2027-05-05T10:00",
        "en media hora": "2026-11-21T14:00",
        "dentro de dos horas": "2026-11-21T15:30",
    }
    assert_read(MOMENT, table, ES)


@pytest.mark.parametrize(
    ("place", "currency", "said", "amount"),
    [
        (ES, "EUR", "50 euros", "50.00"),
        (ES, "EUR", "cincuenta euros", "50.00"),
        (ES, "EUR", "mil doscientos euros", "1200.00"),
        (ES, "EUR", "1.250,50 €", "1250.50"),
        (ES, "EUR", "cinco euros con cincuenta", "5.50"),
        (MX, "MXN", "quinientos pesos", "500.00"),
        (MX, "MXN", "mil pesos", "1000.00"),
        (MX, "MXN", "$1,250.50", "1250.50"),
        (replace(MX, region="US"), "USD", "veinte dólares", "20.00"),
        (replace(MX, region="AR"), "ARS", "veinte mil pesos", "20000.00"),
        (replace(MX, region="CO"), "COP", "$ 20.000", "20000.00"),
    ],
)
def test_amounts(place: Setting, currency: str, said: str, amount: str) -> None:
    field = Field("importe", "money", currency=currency)
    assert read(field, said, place) == {"amount": amount, "currency": currency}


def test_yes_and_no() -> None:
    yes = "sí, si, claro, claro que sí, por supuesto, vale, sí tengo, creo que sí, simón, 👍, 👍🏽"
    no = "no, nop, claro que no, todavía no, no tengo, para nada, nadie, creo que no, nel, 👎"
    neither = "no lo sé; quizás; sí y no; depende; ni idea; no me acuerdo"
    table: dict[str, Any] = dict.fromkeys(yes.split(", "), True)
    table |= dict.fromkeys(no.split(", "), False) | dict.fromkeys(neither.split("; "), REFUSED)
    assert_read(Field("x", "boolean"), table, ES)


def test_names() -> None:
    table = {
        "Ana": "Ana",
        "me llamo Ana García": "Ana García",
        "soy Pedro": "Pedro",
        "mi nombre es Juan Carlos de la Fuente": "Juan Carlos de la Fuente",
        "a nombre de María José": "María José",
        "ponlo a nombre de Pérez": "Pérez",
        "es para Lucía": "Lucía",
        "Ana, por favor": "Ana",
        "José Ángel Núñez": "José Ángel Núñez",
        "no lo sé": REFUSED,
        "ni idea": REFUSED,
        "cualquiera": REFUSED,
        "lo que sea": REFUSED,
        "nada": REFUSED,
        "soy vegetariana": REFUSED,
        "está cerrado": REFUSED,
    }
    assert_read(Field("x", "name"), table, ES)


def test_lists_addresses_and_contacts() -> None:
    table: dict[str, Any] = {
        "sopa, pan y vino": ["sopa", "pan", "vino"],
        "tomates, dos cebollas y ajo": ["tomates", "dos cebollas", "ajo"],
        "nada": [],
    }
    assert_read(Field("x", "list"), table, ES)
    table = {
        "Calle Mayor 5, Madrid": "Calle Mayor 5, Madrid",
        "vivo en la calle Goya 12": "calle Goya 12",
        "Av. Insurgentes Sur 1234, CDMX": "Av. Insurgentes Sur 1234, CDMX",
        "a las siete": REFUSED,
    }
    assert_read(Field("x", "address"), table, ES)
    assert read(Field("x", "email"), "ana arroba example punto com", ES) == "ana@example.com"
    assert read(Field("x", "phone"), "mi teléfono es el 612345678", ES) == "+34612345678"


@pytest.mark.parametrize(
    ("kind", "value", "place", "text"),
    [
        ("date", "2027-05-05", ES, "miércoles, 5 de mayo de 2027"),
        ("time", "19:30", ES, "19:30"),
        ("boolean", True, ES, "sí"),
        ("boolean", False, ES, "no"),
        ("number", 1250.5, ES, "1250,5"),
        ("number", 1250.5, MX, "1250.5"),
        ("money", {"amount": "1250.50", "currency": "EUR"}, ES, "1.250,50 EUR"),
        ("money", {"amount": "1250.50", "currency": "MXN"}, MX, "1,250.50 MXN"),
        ("list", ["pan", "vino"], ES, "pan y vino"),
    ],
)
def test_values_are_shown_as_they_are_written_there(
    kind: str, value: Any, place: Setting, text: str
) -> None:
    assert shown(Field("x", kind), value, place) == text


def test_hints_say_what_is_taken() -> None:
    assert hint_of(Field("x", "boolean"), ES) == "sí o no"
    assert hint_of(Field("x", "name"), ES) == "por ejemplo, María Jansen"


def test_a_number_that_may_be_a_day_and_an_hour_is_read() -> None:
    assert read(MOMENT, "del 4 al 7 de diciembre", ES) == REFUSED
