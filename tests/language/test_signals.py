"""Read signals about the conversation itself: cancel, repeat, wait, explain, human."""

from __future__ import annotations

from dataclasses import replace

import pytest

from journeygraph import Field
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.values import Setting
from tests.language.desks import (
    BANK,
    CLAIM,
    CLINIC,
    ENGLISH,
    GERMAN,
    HOTEL,
    PARCEL,
    RESTAURANT,
    SPANISH,
    asking,
    ear,
    told,
    wrong,
)

ANYWHERE = {
    "a name": asking("recipient", BANK),
    "an amount": asking("amount", BANK),
    "a text": asking("damage", CLAIM),
    "an address": asking("pickup_address", PARCEL),
    "a choice": asking("seating", RESTAURANT),
    "a yes": asking("injured", CLAIM),
}
ENGLISH_SIGNALS = """
        stop
        Stop!
        cancel
        cancel that
        cancel this please
        please cancel it
        I want to cancel
        can we stop here
        never mind
        nevermind
        forget it
        forget about it
        forget that
        I changed my mind
        I give up
        quit
        sorry, I changed my mind, cancel
        I don't want to continue
        let's stop here
        cancel, please
        stop stop stop
        oh forget it -> Cancel
        forget everything
        cancel everything
        cancel all
        cancel all of it please
        stop everything
        forget about all of that -> Cancel everything
        say that again
        Say that again?
        what did you say
        what did you say?
        come again?
        pardon?
        sorry?? what?
        repeat please
        can you repeat that
        could you say that again please?
        please repeat the question
        what was the question?
        once more please
        I didn't catch that
        sorry, I didn't get that
        huh? -> Repeat
        one moment
        One moment please
        just a moment
        hold on
        hold on a second
        hang on
        wait
        wait a minute
        give me a sec
        give me a second please
        just a sec
        one sec
        1 sec
        bear with me
        brb
        let me check
        let me look it up
        one moment, I need to find my card
        hold on, someone is at the door
        wait, let me think -> Wait
        why do you need that?
        why do you need that
        why do you want to know that?
        what is that for?
        what's that for
        why?
        why
        but why?
        why do you ask?
        what do you need that for?
        why is that necessary?
        is that really necessary?
        do I have to tell you that?
        what for?
        what does that mean?
        what do you need this for -> Explain
        a person, please
        can I talk to a person?
        I want to talk to a human
        talk to an agent
        let me speak to someone
        I'd like to speak with a real person please
        get me a human
        connect me to an agent
        put me through to a representative
        can I speak to your manager
        I want a human
        I need a real person
        transfer me to an operator
        please let me talk to a human being
        speak to customer service
        I don't want to talk to a bot -> Human
        ??
        ...
        ?!?!
        🤔
        asdfgh
        qwertyuiop
        asdf jkl
        asdasdasdasd -> Noise
"""


@pytest.mark.parametrize("asked", ANYWHERE)
def test_signals_are_understood_whatever_was_asked(asked: str) -> None:
    assert wrong(ENGLISH_SIGNALS, ANYWHERE[asked]) == {}


def test_a_signal_ends_a_message_that_says_why() -> None:
    table = """
        this is getting me nowhere, let me talk to a person
        you do not understand me. I want to speak to a human -> Human
        cancel, I want to order a card -> Cancel? + I want to order a card
        no, stop -> Cancel
        operator
        agent
        human please -> Human
        cancel the transfer
        forget the transfer
        I want to cancel my transfer -> Cancel
        cancel my card
        cancel the subscription -> nothing
    """
    assert wrong(table, asking("amount", BANK, tasks=("the transfer",))) == {}


def test_optional_questions_are_left_open() -> None:
    table = """
        skip
        skip it
        skip that
        skip this question
        can we skip that?
        next question
        pass
        rather not say
        I'd rather not say
        I'd prefer not to
        I would prefer not to say
        prefer not to answer
        I don't want to say
        I don't want to tell you
        none of your business
        that's private
        leave it blank
        no comment
        move on
        n/a
        no
        none
        nothing
        no thanks
        I don't have one
        no idea
        I don't know
        not sure
        don't know, skip it -> Skip
        why would I skip that?
        how do I skip the queue? -> nothing
    """
    assert wrong(table, asking("email", HOTEL)) == {}
    listening = asking("allergies", CLINIC)
    assert wrong(table, listening) == {}


def test_required_questions_are_refused_but_not_by_not_knowing() -> None:
    table = """
        skip
        rather not say
        I'd prefer not to
        I don't want to tell you my phone number
        I don't have one -> Skip
        no idea
        I don't know
        not sure -> nothing
    """
    assert wrong(table, asking("phone", CLINIC)) == {}


def test_a_question_about_a_question_names_its_field() -> None:
    listening = asking("phone", CLINIC, known={"full_name": "Ada", "age": 36})
    table = """
        why do you need my phone number? -> Explain phone
        what do you need my age for? -> Explain age
        why do you want to know my full name -> Explain full_name
        why do you need my shoe size? -> nothing
    """
    assert wrong(table, listening) == {}
    assert wrong("why? -> nothing", ear()) == {}


def test_words_of_a_signal_in_an_answer_are_no_signal() -> None:
    table = """
        I can't stop crying
        the car did not stop
        he told me to wait a minute and then hit me
        my insurance was cancelled
        a person ran into the road
        someone hit me from behind
        I had to stop, then he hit me
        nothing happened to me but the door is gone
        the driver said never mind and left
        I forgot everything after the crash
        yes it was raining
        an agent of yours saw it
        we talked to a human being at the garage
    """
    for line in table.strip().splitlines():
        message = line.strip()
        assert wrong(f"{message} -> Fill damage {message}", asking("damage", CLAIM)) == {}


SPOKEN_ELSEWHERE = """
        stopp
        abbrechen
        ich möchte abbrechen
        Abbruch
        vergiss es
        vergessen Sie es
        schon gut
        hat sich erledigt
        ich habe es mir anders überlegt
        stop -> Cancel
        vergiss alles
        alles abbrechen
        brechen Sie alles ab -> Cancel everything
        noch einmal bitte
        können Sie das wiederholen?
        wie bitte?
        Was haben Sie gesagt?
        sag das nochmal
        wiederholen Sie bitte die Frage
        das habe ich nicht verstanden -> Repeat
        einen Moment
        einen Moment bitte
        Moment mal
        Augenblick bitte
        warten Sie
        warte kurz
        eine Sekunde
        Sekunde bitte
        lass mich kurz nachsehen
        Moment, ich muss meine Karte suchen -> Wait
        warum?
        wozu?
        wofür brauchen Sie das?
        Warum wollen Sie das wissen?
        wieso fragen Sie das
        wozu ist das gut?
        ist das wirklich nötig?
        was bedeutet das? -> Explain
        ich möchte mit einem Menschen sprechen
        einen Menschen bitte
        mit einem Mitarbeiter sprechen
        kann ich mit jemandem reden?
        verbinden Sie mich mit einem Mitarbeiter
        ich will mit einer echten Person reden
        geben Sie mir bitte einen Mitarbeiter
        Mitarbeiter bitte -> Human
        ?? -> Noise
"""


@pytest.mark.parametrize("asked", ["recipient", "amount"])
def test_german_signals(asked: str) -> None:
    assert wrong(SPOKEN_ELSEWHERE, asking(asked, BANK, setting=GERMAN)) == {}


def test_german_refusals() -> None:
    table = """
        überspringen
        ueberspringen
        das möchte ich nicht sagen
        möchte ich lieber nicht sagen
        keine Angabe
        geht Sie nichts an
        lieber nicht
        nächste Frage
        weiß ich nicht
        keine Ahnung
        nein
        keine -> Skip
    """
    listening: Expected = asking("email", HOTEL, setting=GERMAN)
    assert wrong(table, listening) == {}


@pytest.mark.parametrize(
    ("setting", "messages"),
    [
        (
            ENGLISH,
            ["nothing at the moment", "none right now", "nothing fragile", "no fragile things"],
        ),
        (
            GERMAN,
            ["im Moment nichts", "derzeit keine", "nichts zerbrechliches", "nix zerbrechliches"],
        ),
        (SPANISH, ["nada por ahora", "de momento no", "nada frágil", "ninguna todavía"]),
    ],
)
def test_nothing_is_no_item_of_a_list(setting: Setting, messages: list[str]) -> None:
    asks = {"en": "Which fragile things?", "de": "Welche zerbrechlichen Sachen?"}
    ask = asks.get(setting.language, "¿Qué cosas frágiles?")
    label = "zerbrechliche Sachen" if setting is GERMAN else ""
    things = Field("things", "list", ask, label=label, required=False)
    for message in messages:
        heard = read_message(message, asking("things", (things,), setting=setting))
        assert told(heard) == "Skip", message


CALLS = {
    ENGLISH: ["can someone call me", "please call me back", "can you ring me"],
    GERMAN: ["kann mich jemand anrufen", "rufen Sie mich bitte zurück", "bitte mich anrufen"],
    SPANISH: ["¿puede llamarme alguien?", "me puede llamar alguien", "llámenme por favor"],
}
HELPS = {
    ENGLISH: "could somebody help me with this",
    GERMAN: "könnte mir jemand helfen",
    SPANISH: "me puede ayudar con esto",
}
REFUSALS = {
    ENGLISH: [
        *("that I'd rather leave blank", "we're fine without, thank you"),
        *("don't need anything else", "just me", "nobody else", "none of that"),
    ],
    GERMAN: [
        *("das möchte ich offen lassen", "brauchen wir alles nicht, danke", "passt so, sonst nix"),
        *("nö, kein bestimmtes", "nur ich", "niemand"),
    ],
    SPANISH: [
        *("eso prefiero dejarlo en blanco", "no nos hace falta nada, gracias"),
        *("qué va, ninguno en especial", "solo yo", "nadie más"),
    ],
}


@pytest.mark.parametrize("setting", CALLS)
def test_a_request_to_be_called_is_no_text(setting: Setting) -> None:
    problem = asking("problem", (Field("problem", "text", "x?"),), setting=setting)
    assert {told(read_message(m, problem)) for m in CALLS[setting]} == {"Human"}
    assert not read_message(HELPS[setting], problem).certain


@pytest.mark.parametrize("setting", REFUSALS)
@pytest.mark.parametrize("kind", ["text", "list", "full_name"])
def test_an_optional_field_is_left_open_in_many_words(setting: Setting, kind: str) -> None:
    asked = asking("more", (Field("more", kind, "x?", required=False),), setting=setting)
    assert [m for m in REFUSALS[setting] if told(read_message(m, asked)) != "Skip"] == []


TAKES_NONE = {
    ENGLISH: [
        *("I don't have any", "we don't use any of those", "she takes nothing at the moment"),
        *("I haven't got one yet", "nope, I don't own one", "sadly not", "none that we know of"),
    ],
    GERMAN: [
        *("ich habe keine", "sie nimmt nichts", "wir haben gar keine", "hab ich leider noch nicht"),
        *("leider nein", "trage ich nicht", "er isst derzeit keine"),
    ],
    SPANISH: [
        *("no uso ninguno", "no estamos tomando nada", "todavía no tengo ninguno"),
        *("que sepamos no", "mi hija no toma nada", "lamentablemente no"),
    ],
}
KNOWN_OF_USER = {"first": False, "weight": 72.0}


@pytest.mark.parametrize("setting", TAKES_NONE)
@pytest.mark.parametrize("kind", ["list", "text"])
def test_a_refusal_of_what_is_asked_changes_nothing_else(setting: Setting, kind: str) -> None:
    fields = (
        Field("medicines", kind, "Medicines? Medikamente? ¿Medicamentos?", required=False),
        Field("first", "boolean", "First donation? Erste Spende? ¿Primera donación?"),
        Field("weight", "number", "Weight? Gewicht? ¿Peso?"),
    )
    asked = asking("medicines", fields, known=KNOWN_OF_USER, setting=setting)
    assert [m for m in TAKES_NONE[setting] if told(read_message(m, asked)) != "Skip"] == []
    needed = asking("medicines", (Field("medicines", kind, "x?"), *fields[1:]), known=KNOWN_OF_USER)
    for message in TAKES_NONE[setting]:
        given = read_message(message, replace(needed, setting=setting)).commands
        assert not [c for c in given if getattr(c, "field", "") in KNOWN_OF_USER], message


LATER = {
    ENGLISH: [
        *("I'd rather pay it at the counter", "I'll settle that when I come", "no fixed sum"),
        *("prefer to keep that to myself", "I would rather not give that out"),
    ],
    GERMAN: [
        *("zahle ich dann vor Ort", "das mach ich beim nächsten Mal", "kein bestimmtes Limit"),
        "das möchte ich nicht weitergeben",
    ],
    SPANISH: [
        *("prefiero pagarlo en la caja", "lo pago más tarde", "sin importe fijo"),
        "no quiero dar la cantidad",
    ],
}


@pytest.mark.parametrize("setting", LATER)
def test_an_optional_amount_is_left_open_for_later(setting: Setting) -> None:
    asked = asking("sum", (Field("sum", "money", "x?", required=False),), setting=setting)
    assert [m for m in LATER[setting] if told(read_message(m, asked)) != "Skip"] == []
    for message in ("I'd rather pay 20 at the counter", "ich zahle 20", "prefiero pagar 20"):
        assert told(read_message(message, asked)) != "Skip", message


def test_a_text_that_begins_as_a_refusal_is_kept() -> None:
    note = asking("note", (Field("note", "text", "x?", required=False),))
    for message in (
        "leave it open at the top",
        "nobody can call me on my line",
        "I'll pay at the desk",
        "I don't have my own towel, please bring one",
    ):
        assert told(read_message(message, note)).startswith(f"Fill note {message}")
