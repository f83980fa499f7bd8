"""Amounts of money as people write them."""

from typing import Any

from journeygraph.journeys.notions.fields import Field
from tests.values.spellings import DE, REFUSED, US, assert_read


def _of(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table whose amounts are written as in "40.00 EUR"."""
    made = {}
    for raw, expected in table.items():
        amount, _, currency = expected.partition(" ")
        is_amount = expected is not REFUSED
        made[raw] = {"amount": amount, "currency": currency} if is_amount else REFUSED
    return made


AMOUNTS = {
    "40": "40.00",
    "40.5": "40.50",
    "40,50": "40.50",
    "40 euros": "40.00 EUR",
    "40 Euro": "40.00 EUR",
    "40 EUR": "40.00 EUR",
    "EUR 40": "40.00 EUR",
    "EUR 40.00": "40.00 EUR",
    "€40": "40.00 EUR",
    "40€": "40.00 EUR",
    "40 €": "40.00 EUR",
    "€ 40,00": "40.00 EUR",
    "40,- €": "40.00 EUR",
    "40.- CHF": "40.00 CHF",
    "CHF 40.-": "40.00 CHF",
    "$50 CAD": "50.00 CAD",
    "$50 USD": "50.00 USD",
    "£50 USD": REFUSED,
    "2 grand": "2000.00",
    "2€20": "2.20 EUR",
    "Fr. 40.50": "40.50 CHF",
    "40 Franken": "40.00 CHF",
    "$1,234.50": "1234.50 USD",
    "$ 1,234.50": "1234.50 USD",
    "1,234.50 USD": "1234.50 USD",
    "US$99": "99.00 USD",
    "$99.99": "99.99 USD",
    "-$5": "-5.00 USD",
    "$-5": "-5.00 USD",
    "1.234,50 €": "1234.50 EUR",
    "1 234,50 €": "1234.50 EUR",
    "1'234.50 CHF": "1234.50 CHF",
    "1.234 €": "1234.00 EUR",
    "1,234 €": "1234.00 EUR",
    "1.234.567,89 EUR": "1234567.89 EUR",
    "₹12,34,567": "1234567.00 INR",
    "40 bucks": "40.00 USD",
    "40 dollars": "40.00 USD",
    "forty dollars": "40.00 USD",
    "forty-two dollars and fifty cents": "42.50 USD",
    "a hundred bucks": "100.00 USD",
    "fünf Euro": "5.00 EUR",
    "fünf Euro fünfzig": "5.50 EUR",
    "5 euros 50": "5.50 EUR",
    "5 euros and 5 cents": "5.05 EUR",
    "20 quid": "20.00 GBP",
    "£20": "20.00 GBP",
    "£20.50": "20.50 GBP",
    "20 pounds": "20.00 GBP",
    "50 pence": "0.50 GBP",
    "50 cents": "0.50",
    "50 ct": "0.50",
    "¥5000": "5000 JPY",
    "5000 yen": "5000 JPY",
    "5,000 JPY": "5000 JPY",
    "5000円": "5000 JPY",
    "₩10,000": "10000 KRW",
    "100 zł": "100.00 PLN",
    "1.500 KWD": "1.500 KWD",
    "100 kr": "100.00 SEK",
    "A$20": "20.00 AUD",
    "CA$20": "20.00 CAD",
    "R$ 20,00": "20.00 BRL",
    "around 40 euros": "40.00 EUR",
    "ungefähr 40 Euro": "40.00 EUR",
    "about 40 euros, please": "40.00 EUR",
    "fine, then 500": "500.00",
    "it was $12": "12.00 USD",
    "$1.5k": "1500.00 USD",
    "€2k": "2000.00 EUR",
    "2.5 million dollars": "2500000.00 USD",
    "2 Mio. Euro": "2000000.00 EUR",
    "not 50, 55": "55.00",
    "50 euros, no, 60 euros": "60.00 EUR",
    "0": "0.00",
    "twenty": "20.00",
    "a thousand": "1000.00",
    "40.125": "40125.00",
    "12.3456": REFUSED,
    "5.5 yen": REFUSED,
    "40 or 50 euros": REFUSED,
    "40-50 €": REFUSED,
    "between 40 and 50 euros": REFUSED,
    "more than 40 euros": REFUSED,
    "at least $40": REFUSED,
    "$40 each": REFUSED,
    "free": REFUSED,
    "a lot": REFUSED,
    "euros": REFUSED,
    "try 40": REFUSED,
    "TRY 40": "40.00 TRY",
    "40 usd": "40.00 USD",
    "usd 40": "40.00 USD",
    "7 p.m.": REFUSED,
    "I won 500 euros": REFUSED,
    "top 10": REFUSED,
    "$": REFUSED,
    "40 apples": REFUSED,
    "40%": REFUSED,
    "tomorrow": REFUSED,
    "at 7": REFUSED,
    "40 euros for my cat": REFUSED,
    "is there a fee?": REFUSED,
    "1,1,1,": REFUSED,
    "$1,23": "1.23 USD",
    "99999999999999999999": REFUSED,
    "no": REFUSED,
    "": REFUSED,
    "12:30": REFUSED,
    "the 3rd": REFUSED,
}


def test_money_is_read_with_both_separators_and_many_names_of_currencies() -> None:
    assert_read(Field("amount", "money"), _of(AMOUNTS))


def test_what_names_no_currency_has_that_of_the_field() -> None:
    table = {"40": "40.00 EUR", "$40": "40.00 USD", "50 cents": "0.50 EUR"}

    assert_read(Field("amount", "money", currency="EUR"), _of(table), US)


def test_dollars_and_separators_are_those_of_the_region() -> None:
    canada = _of({"$40": "40.00 CAD", "40 bucks": "40.00 CAD", "US$40": "40.00 USD"})

    assert_read(Field("x", "money"), canada, type(US)(US.at, "CA"))
    assert_read(Field("x", "money"), _of({"1.234": "1234.00", "12,5": "12.50"}), DE)
