"""Integers, numbers and booleans as people write them."""

from journeygraph.journeys.notions.fields import Field
from tests.values.spellings import DE, ES, GB, REFUSED, US, assert_read

WHOLE = {
    "4": 4,
    " 4 ": 4,
    "4.": 4,
    "four": 4,
    "Four, please": 4,
    "for four people": 4,
    "we are 4": 4,
    "there will be six of us": 6,
    "table for 4": 4,
    "party of five": 5,
    "just me, so one": 1,
    "zwölf": 12,
    "Wir sind zu viert": 4,
    "ein Dutzend": 12,
    "a dozen": 12,
    "half a dozen": 6,
    "a couple": 2,
    "a hundred": 100,
    "a thousand": 1000,
    "one hundred and five": 105,
    "twenty-one": 21,
    "Twenty one": 21,
    "two thousand three hundred": 2300,
    "einundzwanzig": 21,
    "zweihundertfünfunddreißig": 235,
    "dreitausend": 3000,
    "tausendeins": 1001,
    "eine": 1,
    "1,234": 1234,
    "1.234": 1234,
    "1 234": 1234,
    "1'234": 1234,
    "1,234,567": 1234567,
    "12,34,567": 1234567,
    "4.0": 4,
    "+3": 3,
    "-5": -5,
    "minus five": -5,
    "minus 5": -5,
    "50%": 50,
    "50 percent": 50,
    "around 40, please": 40,
    "etwa 40": 40,
    "2k": 2000,
    "1.5 million": 1500000,
    "no, 5": 5,
    "not 50, 55": 55,
    "5, not 4": 5,
    "four, no, five": 5,
    "4, sorry, 5": 5,
    "nicht vier, sondern fünf": 5,
    "the 3rd": 3,
    "４": 4,
    "٤": 4,
    "my cat is 12, ha": REFUSED,
    "4 or 5": REFUSED,
    "4-5": REFUSED,
    "between 4 and 5": REFUSED,
    "4+": REFUSED,
    "<5": REFUSED,
    "at least 4": REFUSED,
    "4.5": REFUSED,
    "1/2": REFUSED,
    "1 1/2": REFUSED,
    "four five": REFUSED,
    "1,1,1,": REFUSED,
    "12:30": REFUSED,
    "tomorrow": REFUSED,
    "tomorrow at 7": REFUSED,
    "a": REFUSED,
    "no": REFUSED,
    "none": 0,
    "2026-11-22": REFUSED,
    "$40": REFUSED,
    "99999999999999999999": REFUSED,
    "4 cats and a dog": REFUSED,
    "call 911": REFUSED,
    "x4": REFUSED,
    "4x4": REFUSED,
    "what is 4?": REFUSED,
    "not 4": REFUSED,
    "": REFUSED,
    "((((": REFUSED,
    "🍕": REFUSED,
}
NUMBERS = {
    "4": 4.0,
    "4.5": 4.5,
    "4,5": 4.5,
    ".5": 0.5,
    "0.25": 0.25,
    "0,25": 0.25,
    "1,234": 1234.0,
    "1.234": 1.234,
    "0.125": 0.125,
    "0,125": 0.125,
    "1,234.5": 1234.5,
    "1.234,5": 1234.5,
    "1 234,5": 1234.5,
    "1'234.50": 1234.5,
    "12,345,678.9": 12345678.9,
    "12.345.678,9": 12345678.9,
    "-3.2": -3.2,
    "\u22123.2": -3.2,
    "minus 3.2": -3.2,
    "12.50%": 12.5,
    "12,5 %": 12.5,
    "12.5 per cent": 12.5,
    "12,5 Prozent": 12.5,
    "two": 2.0,
    "two and a half": 2.5,
    "a kilo and a half": 1.5,
    "two kilos and a half": 2.5,
    "about 3 pounds and a half": 3.5,
    "zweieinhalb": 2.5,
    "anderthalb": 1.5,
    "a half": 0.5,
    "three point five": 3.5,
    "drei Komma fünf": 3.5,
    "½": 0.5,
    "2½": 2.5,
    "1 1/2": 1.5,
    "2 1/4": 2.25,
    "about 12 3/4": 12.75,
    "4 1/2/2027": REFUSED,
    "two and a quarter": 2.25,
    "one and three quarters": 1.75,
    "one and three-quarters": 1.75,
    "dreieinviertel": 3.25,
    "eindreiviertel": 1.75,
    "drei einviertel": 3.25,
    "drei und drei Viertel": 3.75,
    "about 2.5": 2.5,
    "ungefähr 2,5": 2.5,
    "2.5 or so": 2.5,
    "1.5k": 1500.0,
    "2.5 million": 2500000.0,
    "2,5 Mio": 2500000.0,
    "it's 98.6": 98.6,
    "it is 7.0": 7.0,
    "1e3": REFUSED,
    "1.2.3": REFUSED,
    "1.23.456": REFUSED,
    "1,2,3": REFUSED,
    "pi": REFUSED,
    "a lot": REFUSED,
    "viel": REFUSED,
    "NaN": REFUSED,
    "inf": REFUSED,
    "infinity": REFUSED,
    "3.5 or 4": REFUSED,
    "192.168.0.1": REFUSED,
    "v2.5": REFUSED,
    "2.5mg of that stuff I told you about": REFUSED,
    "I ran 5 miles yesterday and my knee hurts": REFUSED,
}
GERMAN = {"1.234": 1234.0, "1,234": 1.234, "12.5": 12.5, "1.234.567": 1234567.0, "0.125": 0.125}
YES = {
    "yes": True,
    "Yes!": True,
    "y": True,
    "yeah": True,
    "yep, sure": True,
    "yup": True,
    "sure": True,
    "Sure thing": True,
    "of course": True,
    "absolutely": True,
    "yes please": True,
    "yes, I do": True,
    "I do": True,
    "I am": True,
    "we do": True,
    "correct": True,
    "that's right": True,
    "true": True,
    "ok": True,
    "why not": True,
    "go ahead": True,
    "1": True,
    "👍": True,
    "ja": True,
    "Ja, gerne": True,
    "na klar": True,
    "natürlich": True,
    "genau": True,
    "stimmt": True,
    "auf jeden Fall": True,
    "jawohl": True,
    "I think so, yes": True,
    "you bet": True,
    "sounds good": True,
    "in Ordnung": True,
    "yes we have parking": True,
}
NO = {
    "no": False,
    "No.": False,
    "n": False,
    "nope": False,
    "nah": False,
    "no thanks": False,
    "no, thank you": False,
    "not really": False,
    "not yet": False,
    "of course not": False,
    "definitely not": False,
    "I don't": False,
    "no I don't": False,
    "I’m not": False,
    "never": False,
    "false": False,
    "that's not correct": False,
    "0": False,
    "👎": False,
    "nein": False,
    "Nein, danke": False,
    "nö": False,
    "leider nicht": False,
    "auf keinen Fall": False,
    "natürlich nicht": False,
    "I don't think so": False,
    "no parking": False,
    "not today": False,
    "hell no": False,
}
NEITHER = {
    "maybe": REFUSED,
    "yes and no": REFUSED,
    "yes or no": REFUSED,
    "jein": REFUSED,
    "not sure": REFUSED,
    "I'm not sure": REFUSED,
    "I don't know": REFUSED,
    "weiß nicht": REFUSED,
    "yes, but only tomorrow": REFUSED,
    "what do you mean?": REFUSED,
    "is there a fee?": REFUSED,
    "no idea": REFUSED,
    "keine Ahnung": REFUSED,
    "yesterday": REFUSED,
    "nobody knows": REFUSED,
    "2": REFUSED,
    "": REFUSED,
    "depends": REFUSED,
    "kommt drauf an": REFUSED,
    "no, my sister does": REFUSED,
}


def test_whole_numbers_are_read_from_digits_and_words() -> None:
    field = Field("party_size", "integer", "A table for how many people?")

    assert_read(field, WHOLE)


def test_an_answer_may_repeat_the_words_of_the_question() -> None:
    field = Field("cat_age", "integer", "How old is your cat?")

    assert_read(field, {"my cat is 12, ha": REFUSED, "my cat is 12": 12})
    assert_read(Field("x", "integer"), {"my cat is 12": REFUSED})


def test_a_unit_may_follow_that_the_question_names() -> None:
    weight = Field("weight", "number", "How much does it weigh, in kg?")

    assert_read(weight, {"2.5kg": 2.5, "2,5 kg": 2.5, "80 kilos": 80.0, "80 cm": REFUSED})
    assert_read(Field("x", "number"), {"2.5kg": REFUSED, "80 kilos": REFUSED})


def test_numbers_are_read_with_both_separators() -> None:
    assert_read(Field("x", "number"), NUMBERS)
    assert_read(Field("x", "number"), GERMAN, DE)
    assert_read(Field("x", "number"), {"1,234": 1234.0}, GB)


def test_yes_and_no_are_read_in_many_words() -> None:
    field = Field("parking", "boolean", "Do you have parking?")

    assert_read(field, {**YES, **NO, **NEITHER}, US)


def test_a_fraction_behind_a_number_is_part_of_it() -> None:
    weight = Field("weight", "number", "How many kilos does it weigh?")

    english = {"12 and a half": 12.5, "two and a quarter kilos": 2.25, "12 point 5": 12.5}
    assert_read(weight, {**english, "half a kilo": 0.5, "a kilo and a half": 1.5}, US)
    german = {"12 einhalb": 12.5, "zwölf und ein halbes Kilo": 12.5, "12 und ein halbes Kilo": 12.5}
    assert_read(weight, {**german, "anderthalb Kilo": 1.5, "12 Komma 5": 12.5}, DE)
    spanish = {"12 y medio": 12.5, "doce y medio": 12.5, "12 coma 5": 12.5, "medio kilo": 0.5}
    assert_read(weight, spanish, ES)


def test_the_year_of_a_birth_is_no_age_but_may_be_asked_for() -> None:
    age, year = Field("age", "integer", "How old?"), Field("year", "integer", "Born in which year?")
    assert_read(age, dict.fromkeys(["born in 1985", "I was born in 85"], REFUSED), GB)
    assert_read(year, {"born in 1985": 1985, "1985": 1985}, GB)
    age = Field("age", "integer", "Wie alt?")
    assert_read(age, dict.fromkeys(["Jahrgang 85", "bin 1985 geboren"], REFUSED) | {"41": 41}, DE)
    assert_read(Field("year", "integer", "Welcher Jahrgang?"), {"Jahrgang 1985": 1985}, DE)
    age = Field("age", "integer", "¿Qué edad?")
    assert_read(age, dict.fromkeys(["nací en 1985", "soy del 85"], REFUSED), ES)
