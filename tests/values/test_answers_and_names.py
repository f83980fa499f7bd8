"""Yes and no, choices, lists, names, addresses and contacts as a whole."""

import pytest

from journeygraph.journeys.declarations.fields import Field, Regex
from journeygraph.nodes.values.numbers import place_of
from tests.values.spellings import DE, ES, FR, REFUSED, US, assert_read, assert_refused, read

PLACES = {"en": US, "de": DE, "es": ES, "fr": FR}
LANGUAGES = pytest.mark.parametrize("language", PLACES)
YES = {
    "en": "yes|Yes!|yes, please|sure|of course|that's right|ok|true|\U0001f44d",
    "de": "ja|Ja, gerne|na klar|natürlich|stimmt|doch",
    "es": "sí|si|claro que si|por supuesto|vale",
    "fr": "oui|oui, merci|d'accord|bien sur|c’est ça",
}
NO = {
    "en": "no|No.|nope|no, thanks|no thank you|I don’t|not really|false",
    "de": "nein|nein danke|noch nicht|auf keinen Fall",
    "es": "no|no, gracias|todavia no|claro que no",
    "fr": "non|non merci|pas du tout|bien sûr que non",
}
NEITHER = {
    "en": "maybe|not sure|yes and no|yes but later|no idea"
    "|yes, I have two cats|ok, and we are four|1",
    "de": "vielleicht|nicht sicher|ja aber später|keine Ahnung|jein",
    "es": "quizás|no sé|sí pero más tarde|no lo recuerdo",
    "fr": "peut-être|je ne sais pas|oui mais plus tard|aucune idée",
}
NAMES = {
    "en": {
        "Lee": "Lee",
        "lee.": "lee",
        "my name is lee": "lee",
        "I'm Lee": "Lee",
        "Ludwig van Beethoven": "Ludwig van Beethoven",
        "O'Neil-Smith": "O'Neil-Smith",
        "Dr. Anna Schmidt": "Dr. Anna Schmidt",
        "J. R. R. Tolkien": "J. R. R. Tolkien",
        "Will Smith": "Will Smith",
        "May": "May",
        "\u5c71\u7530 \u592a\u90ce": "\u5c71\u7530 \u592a\u90ce",
        "Владимир": "Владимир",
    },
    "de": {
        "ich heiße Jürgen": "Jürgen",
        "Mein Name ist Anna Müller": "Anna Müller",
        "ich bin Anna": "Anna",
    },
    "es": {
        "me llamo José García": "José García",
        "María de la Cruz": "María de la Cruz",
        "soy Ana": "Ana",
    },
    "fr": {
        "je m'appelle Marie Durand": "Marie Durand",
        "Charles de Gaulle": "Charles de Gaulle",
        "c'est Léa": "Léa",
    },
}
NO_NAMES = {
    "en": "I'm hungry|Clara Voss and Ben Adler|Lee or Ann|Lee, not John|not Lee|no|cancel"
    "|tomorrow|help"
    "|Lee2|nothing special just the usual|what is this|send money to Maya|von"
    "|one two three four five"
    "|example.com|lee@example.com|??|\U0001f642|Lee Lee Lee Lee Lee|",
    "de": "kann ich auch zwei hunde bringen?|das ist die Luna|Bello, er ist fünf"
    "|ich bin müde|nein danke|morgen",
    "es": "hola quiero cambiar de tarifa|soy vegetariano|mañana|no gracias|Ana y Luis",
    "fr": "je suis fatigué|je voudrais changer|demain|non merci|Marie et Luc",
}
SIZES = Field(
    "x", "enum", choices={"small": ["S", "klein"], "large": ["L", "groß"], "extra_large": ["XL"]}
)


@LANGUAGES
def test_yes_and_no_are_read_as_a_whole(language: str) -> None:
    place, field = PLACES[language], Field("x", "boolean")
    assert_read(field, dict.fromkeys(YES[language].split("|"), True), place)
    assert_read(field, dict.fromkeys(NO[language].split("|"), False), place)
    assert_refused(field, NEITHER[language], place)


@LANGUAGES
def test_names_are_up_to_four_words_that_look_like_one(language: str) -> None:
    assert_read(Field("x", "name"), NAMES[language], PLACES[language])
    assert_refused(Field("x", "name"), NO_NAMES[language], PLACES[language])


def test_full_names_are_parted() -> None:
    def of(given: str, family: str) -> dict[str, str]:
        return {"given": given, "family": family}

    field = Field("x", "full_name")
    table = {
        "Maria Jansen": of("Maria", "Jansen"),
        "Jansen, Maria": of("Maria", "Jansen"),
        "Vincent van Gogh": of("Vincent", "van Gogh"),
        "\u674e\u5c0f\u9f8d": of("\u5c0f\u9f8d", "\u674e"),
        "Maria": REFUSED,
    }
    assert_read(field, table)
    spanish = {
        "María José García López": of("María José", "García López"),
        "Juan Pérez": of("Juan", "Pérez"),
        "Ana de la Cruz Mora": of("Ana", "de la Cruz Mora"),
    }
    assert_read(field, spanish, ES)


def test_choices_are_named_by_themselves_or_a_synonym() -> None:
    table = {
        "small": "small",
        "Small.": "small",
        "s": "small",
        "the large": "large",
        "GROSS": "large",
    }
    table |= {"extra-large": "extra_large", "Extra large": "extra_large", "xl": "extra_large"}
    assert_read(SIZES, table)
    assert_refused(SIZES, "smal|small or large|not small|small please|the second|2|huge|yes|")
    assert read(Field("x", "enum", choices={"a": ["same"], "b": ["same"]}), "same") == REFUSED
    assert read(Field("x", "enum", choices=["Café"]), "cafe") == "Café"


def test_options_are_named_by_their_place() -> None:
    said = {"2": US, "two": US, "the second one": US, "number two": US, "#2": US}
    said |= {"der zweite": DE, "nummer 2": DE, "la segunda": ES, "opción 2": ES}
    said |= {"le deuxième": FR, "numéro 2": FR}
    assert {text: place_of(text, place) for text, place in said.items()} == dict.fromkeys(said, 2)
    assert place_of("the last one", US) == -1
    assert place_of("the pink one", US) == place_of("the one", US) == 0


def test_lists_are_parted_at_commas_lines_and_words() -> None:
    table = {
        "a, b and c": ["a", "b", "c"],
        "a; b, c": ["a", "b, c"],
        "- a\n- b": ["a", "b"],
        "1. a\n2. b": ["a", "b"],
        "peanut butter and jelly": ["peanut butter", "jelly"],
        "andy and wanda": ["andy", "wanda"],
        "none": [],
        ",": REFUSED,
    }
    assert_read(Field("x", "list"), table)
    assert_read(Field("x", "list"), {"a, b und c": ["a", "b", "c"], "keine": []}, DE)
    cities = {"Los Angeles, La Paz": ["Los Angeles", "La Paz"]}  # no word of an item is cut
    assert_read(Field("x", "list"), cities, ES)
    assert_read(Field("x", "list"), {"a y b": ["a", "b"], "ninguna": []}, ES)
    assert_read(Field("x", "list"), {"a et b": ["a", "b"], "aucune": []}, FR)
    assert_read(Field("x", "list", items="integer"), {"1, 2 and 3": [1, 2, 3], "1,2,3": [1, 2, 3]})
    assert_refused(Field("x", "list", items="integer"), "four and cats")
    assert read(Field("x", "list", items="date"), "tomorrow and friday") == [
        "2026-11-25",
        "2026-11-27",
    ]
    assert read(Field("x", "list", items="name"), "Lee and Maya") == ["Lee", "Maya"]


def test_text_and_addresses_are_taken_as_they_are() -> None:
    for said in ("hello", "a, b and c", '"quoted"', "what do you mean?", "cancel"):
        assert read(Field("x"), f"  {said} ") == said
    assert_refused(Field("x"), " |\n")
    address = {
        "12 Baker Street, London": "12 Baker Street, London",
        "I live at 12 Baker Street": "12 Baker Street",
        "12 Baker Street\nLondon": "12 Baker Street, London",
    }
    assert_read(Field("x", "address"), address)
    assert read(Field("x", "address"), "j'habite au 3 rue Haute", FR) == "3 rue Haute"


def test_the_authors_own_patterns_find_a_value_first() -> None:
    order = Field("order", extract=[r"\b([A-Z]{2}-\d{4})\b"])
    assert_read(order, {"it is AB-1234, I think": "AB-1234", "AB 1234": "AB-1234"})
    exact = Field("order", validators=[Regex(r"[A-Z]{2}-\d{4}")])
    assert_read(exact, {"AB-1234": "AB-1234", '"AB-1234".': "AB-1234", "my order": "my order"})


def test_contacts_are_normalised() -> None:
    email = {
        "Lee@Example.COM.": "Lee@example.com",
        "<lee@example.com>": "lee@example.com",
        "mailto:lee@example.com": "lee@example.com",
        "lee@xn--mller-kva.de": "lee@müller.de",
    }
    assert_read(Field("x", "email"), email)
    refused = (
        "lee|lee@|lee@@example.com|lee@example|a@example.com or b@example.com|to a@example.com"
    )
    assert_refused(Field("x", "email"), refused)
    phone = {
        "+1 415 555 2671": "+14155552671",
        "(415) 555-2671": "+14155552671",
        "001 415 555 2671": "+14155552671",
        "415-555-2671 ext. 12": "+14155552671;ext=12",
        "+49 (0)30 901820": "+4930901820",
    }
    assert_read(Field("x", "phone"), phone)
    assert_refused(
        Field("x", "phone"), "12345|911|555-1234|+999 12345678|2026-11-22|1,1,1,1,1,1|call me|"
    )
    german = {"030/901820": "+4930901820", "030 901820 Durchwahl 12": REFUSED}
    assert_read(Field("x", "phone"), {**german, "24.12.2026": REFUSED, "am 24.12.26": REFUSED}, DE)
    assert_read(Field("x", "phone"), {"01 42 68 53 00": "+33142685300"}, FR)
