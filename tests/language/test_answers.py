"""Yes and no, in many words, alone and with more behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from journeygraph import Field
from journeygraph.nodes.commands import Cancel, Correct, Deny, Fill
from journeygraph.nodes.language import read_message
from journeygraph.nodes.values import Setting
from tests.language.desks import (
    BANK,
    CLAIM,
    ENGLISH,
    GERMAN,
    RESTAURANT,
    SPANISH,
    asking,
    ear,
    wrong,
)

SENT = {"recipient": "Maya", "amount": {"amount": "50.00", "currency": "EUR"}}


def test_yes_and_no_are_understood_in_many_spellings() -> None:
    summary = ear("summary", "transfer", known=SENT, among=BANK)
    table = """
        yes
        Yes.
        yep
        yup!
        yeah
        yesss
        YES please
        Yes, that's right
        that's right
        that’s correct
        correct
        sure, go ahead
        sure
        ok
        okay, do it
        Ok go ahead please
        looks good
        looks good to me, thanks
        all good
        perfect, thank you
        of course
        absolutely
        go ahead
        fine
        sounds good
        everything is correct
        please do
        yes yes
        confirm
        I confirm
        exactly
        hmm, yes I think so
        that's all
        oh yes
        uh huh
        send it
        👍 -> Confirm
        no
        No!
        nope
        nah
        no thanks
        no thank you
        not really
        that's not right
        that is wrong
        no, that's wrong
        not correct
        please don't
        don't
        don't do it
        absolutely not
        no, don't send it
        no no no
        👎 -> Deny
    """
    assert wrong(table, summary) == {}


def test_what_follows_a_yes_to_a_summary_is_weighed() -> None:
    summary = ear("summary", "transfer", known=SENT, among=BANK)
    table = """
        yes, and is there a fee? -> Confirm? + is there a fee
        Yes. How long does it take? -> Confirm? + How long does it take
        sure, when will she get it? -> Confirm? + when will she get it
        yes but make it 60 -> Correct amount 60
        yes, but the amount is wrong -> Clear amount
        ok, change the amount to 70 -> Correct amount 70
        yes, if it is free
        yes unless there is a fee
        ok, but is there a fee first?
        only if she gets it today
        yes no
        yes, no, wait
        yes?
        really?
        well
        maybe
        I am not sure
        yesterday
        no one told me about a fee -> nothing
        make it 70 to Alex or Jon
        no one, thanks -> nothing
        yes, tomorrow -> Confirm? + tomorrow
        no changes
        nothing to change -> Confirm
        yes, to Alex -> Correct recipient Alex
        no, 60 -> Correct amount 60
        no, it should be 60 -> Correct amount 60
        no, the amount is wrong -> Clear amount
        no, Alex -> Correct recipient Alex
    """
    assert wrong(table, summary) == {}


def test_going_back_is_agreed_to_by_giving_the_answer() -> None:
    back = ear("return", "transfer", fields=BANK[1:], known={"recipient": "Maya"}, among=BANK)
    table = """
        yes
        yes please
        let's continue
        go on
        continue
        back to it
        let's go back
        I'd like that
        yes, let's go back to it
        why not
        carry on -> Confirm
        fine, then 500
        500 -> Confirm, Fill amount 500
        500 then -> Confirm, Fill amount 500 then
        ok, 40 euros please -> Confirm, Fill amount 40 euros please
        yes, 40 -> Confirm, Fill amount 40
        no
        no, I already paid her
        no I already paid her
        No, I've changed my mind
        no, it's too late
        not now
        maybe later
        no, leave it
        leave it
        never mind
        forget it -> Deny
        no, what is my limit? -> Deny? + what is my limit
        yes, and what is my limit? -> Confirm? + what is my limit
        stop
        cancel -> Cancel
        how much is 500 in dollars?
        what do you mean I should go on
        no, 500 euros, yes -> nothing
    """
    assert wrong(table, back) == {}


def test_a_read_back_correction_is_taken_replaced_or_called_off() -> None:
    about = ear("correction", "recipient", known=SENT, among=BANK)
    table = """
        yes
        go ahead -> Confirm
        no, Alex
        Alex
        no, I meant Alex
        I meant Alex
        Alex please -> Correct recipient Alex
        no, leave it
        no
        never mind
        leave it as it is
        keep it
        forget it -> Deny
        cancel -> Cancel
        why? -> Explain
        is that free? -> nothing
    """
    assert wrong(table, about) == {}
    sized = ear("correction", "party_size", known={"party_size": 4}, among=RESTAURANT)
    table = """
        no, six -> Correct party_size six
        six -> Correct party_size six
        no, make it 7 -> Correct party_size make it 7
        yes -> Confirm
    """
    assert wrong(table, sized) == {}


def test_offers_are_taken_and_declined() -> None:
    more = ear("more")
    table = """
        no
        no thanks, that's all
        that's all
        that's it, thanks
        nothing else
        I'm good
        no, I'm fine, thanks
        nope, all done
        bye -> Deny
        yes
        yes please -> Confirm
        yes, I want to order a card -> Confirm? + I want to order a card
        I want to order a card -> nothing
    """
    assert wrong(table, more) == {}
    person = ear("human")
    table = """
        no, let's try again
        let's try again
        no thanks
        I'd rather not
        no, I'm fine
        no, let me try it once more -> Deny
        yes
        yes please
        that would be great
        please -> Confirm
        a person please
        I want to talk to someone -> Human
    """
    assert wrong(table, person) == {}
    waiting = ear("unclaimed")
    table = """
        I'll wait
        no, I'd rather wait -> Deny
        ok, let's go on
        yes, continue -> Confirm
    """
    assert wrong(table, waiting) == {}


def test_yes_and_no_are_values_where_they_were_asked_for() -> None:
    hurt = ear("field", "injured", fields=CLAIM[3:], among=CLAIM)
    table = """
        yes -> Fill injured yes
        yep -> Fill injured yep
        no thanks -> Fill injured no thanks
        nobody, thank God -> nothing
        no, is that important? -> Fill injured no? + is that important
        yes, but only a little -> Fill injured yes? + only a little
        yes and no -> nothing
        no idea -> nothing
        not that I know of -> nothing
        no one was hurt -> Fill injured no one was hurt
        why do you ask? -> Explain
    """
    assert wrong(table, hurt) == {}


_NEGATED = {
    ENGLISH: (
        Field("paperless", "boolean", "Would you like paperless billing?"),
        Field("contactless", "boolean", "Shall we collect it without ringing?"),
        Field("unvaccinated", "boolean", "Is it unvaccinated?"),
        Field("stairs", "boolean", "Is it fine that there is no lift?"),
    ),
    GERMAN: (
        Field("papier", "boolean", "Rechnung ohne Papier?"),
        Field("klingeln", "boolean", "Sollen wir ohne Klingeln abholen?"),
        Field("impfung", "boolean", "Ist es ungeimpft?"),
    ),
    SPANISH: (
        Field("papel", "boolean", "¿Quiere la factura sin papel?"),
        Field("timbre", "boolean", "¿Lo recogemos sin llamar al timbre?"),
        Field("vacuna", "boolean", "¿Está sin vacunar?"),
    ),
}
_OF_NEGATED = [
    (ENGLISH, "paperless", "yes, paperless please | paperless", True),
    (ENGLISH, "paperless", "no, paperless | no paper | with paper", None),
    (ENGLISH, "contactless", "don't ring | no, do not ring | no ringing | with ringing", None),
    (ENGLISH, "contactless", "no need to ring | not without ringing", None),
    (ENGLISH, "unvaccinated", "no, not vaccinated | yes, she is vaccinated", None),
    (ENGLISH, "unvaccinated", "no | no, it isn't | nope, sorry", False),
    (ENGLISH, "stairs", "no, there is no lift | not without a lift", None),
    (GERMAN, "papier", "ja, ohne Papier | ohne Papier bitte", True),
    (GERMAN, "papier", "kein Papier | nein, kein Papier", None),
    (GERMAN, "papier", "mit Papier", False),
    (GERMAN, "klingeln", "nicht klingeln | nein, bitte klingeln", None),
    (GERMAN, "klingeln", "mit Klingeln", False),
    (GERMAN, "impfung", "nein, nicht geimpft | ja, geimpft | nein, geimpft", None),
    (GERMAN, "impfung", "nein | nein danke", False),
    (SPANISH, "papel", "sin papel | sí, sin papel por favor", True),
    (SPANISH, "papel", "no quiero papel | no, sin papel", None),
    (SPANISH, "papel", "con papel", False),
    (SPANISH, "timbre", "no hace falta llamar | sí, no llamen", None),
    (SPANISH, "timbre", "con timbre", False),
    (SPANISH, "vacuna", "no, no está vacunada | sí, está vacunada", None),
    (SPANISH, "vacuna", "no | para nada", False),
]


@pytest.mark.parametrize(("setting", "name", "messages", "value"), _OF_NEGATED)
def test_a_field_with_negated_words_takes_a_plain_answer_or_these_words_alone(
    setting: Setting, name: str, messages: str, value: bool | None
) -> None:
    field = next(each for each in _NEGATED[setting] if each.name == name)
    others = [Field("pet", "name", "What is it called?"), field]
    listening = asking(name, others, known={"pet": "Rufus"}, setting=setting)
    for message in messages.split(" | "):
        heard = read_message(message, listening)
        given = [command.read for command in heard.commands if isinstance(command, Fill)]
        assert given == ([] if value is None else [value]), message
        assert [c for c in heard.commands if isinstance(c, (Cancel, Correct))] == [], message
        assert heard.certain is (value is not None), message


def test_what_a_field_with_negated_words_has_is_not_turned_by_its_thing_alone() -> None:
    heard = ear("", known={"contactless": True}, among=_NEGATED[ENGLISH])
    for message in ("drop the ringing", "sorry, with ringing", "oh wait, no ringing"):
        commands = read_message(message, heard).commands
        assert [c for c in commands if isinstance(c, Correct)] == [], message


def test_german_answers() -> None:
    summary = ear("summary", "transfer", known=SENT, among=BANK, setting=GERMAN)
    table = """
        ja
        Ja!
        ja bitte
        jo
        jawohl
        genau
        stimmt
        das stimmt so
        das ist richtig
        passt
        passt so
        alles richtig
        in Ordnung
        ja, das passt
        klar, mach das
        gerne
        Ja, natürlich
        Ja, natuerlich
        einverstanden
        okay, los gehts
        machen Sie das
        sieht gut aus
        yes -> Confirm
        nein
        nein, danke
        nö
        nee
        lieber nicht
        das stimmt nicht
        auf keinen Fall
        nein, das ist falsch
        noch nicht -> Deny
        ja, und kostet das etwas? -> Confirm? + kostet das etwas
        ja, aber nur wenn es nichts kostet
        nur wenn es geht
        na ja
        vielleicht
        ja nein -> nothing
        ja, aber der Betrag ist falsch -> Clear amount
        nein, 60 -> Correct amount 60
    """
    assert wrong(table, summary) == {}
    back = ear("return", "transfer", fields=BANK[1:], setting=GERMAN)
    table = """
        ja, gerne
        weiter
        ja, machen wir weiter -> Confirm
        gut, dann 500 -> Confirm, Fill amount 500
        nein, ich habe ihr schon was gegeben
        nein, hat sich erledigt
        vergiss es
        nein, lass es
        später -> Deny
    """
    assert wrong(table, back) == {}


_LUNCH = (
    Field("guests", "integer"),
    Field("lunch", "boolean", ask="Lunch?"),
    Field("note", "text"),
)


@pytest.mark.parametrize(
    ("setting", "messages"),
    [
        (
            ENGLISH,
            "yes, if it is free; ok, but only if it is free; no, unless I must; yes, it depends",
        ),
        (
            GERMAN,
            "ja, wenn es nichts kostet; gerne, aber nur falls es dabei ist; ja, je nach Preis",
        ),
        (SPANISH, "sí, si es gratis; si, si es gratis; sí, pero solo si va incluido; sí, depende"),
    ],
)
def test_a_yes_with_a_condition_is_no_yes_yet(setting: Setting, messages: str) -> None:
    known = {"guests": 2}
    for about in ("boolean", "summary", "return", "more"):
        listening = ear(about, "x", fields=_LUNCH[2:], known=known, among=_LUNCH, setting=setting)
        if about == "boolean":
            listening = asking("lunch", _LUNCH, known=known, setting=setting)
        for message in messages.split("; "):
            given = read_message(message, listening).commands
            assert [c for c in given if not isinstance(c, Deny)] == [], (about, message)


def test_a_yes_that_says_so_again_or_politely_is_one() -> None:
    polite = {
        ENGLISH: ("yes, if possible", "yes please, if you can"),
        GERMAN: ("ja, wenn möglich", "ja, ja"),
        SPANISH: ("sí, sí quiero", "sí, sí, por favor", "sí, si es posible"),
    }
    asked = asking("lunch", _LUNCH, known={"guests": 2})
    for setting, messages in polite.items():
        for message in messages:
            taken = read_message(message, replace(asked, setting=setting))
            assert [getattr(c, "read", None) for c in taken.commands] == [True], message
            assert taken.certain, message


@pytest.mark.parametrize("kind", ["summary", "correction", "leave", "start_over", "retry"])
def test_going_back_to_something_is_no_yes_to_any_other_question(kind: str) -> None:
    """A summary that were confirmed by it would have its effect taken."""
    ways = {
        ENGLISH: "go back -> Back\ntake me back -> Back\nback to it -> nothing\nresume -> nothing",
        GERMAN: "zurück -> Back\nzurück zum Datum -> nothing\nzurück dazu -> nothing",
        SPANISH: "volver atrás -> Back\nvolver a la fecha -> nothing\nvolvamos a mirar -> nothing",
    }
    for setting, table in ways.items():
        assert wrong(table, ear(kind, "transfer", setting=setting)) == {}


def test_trying_again_is_a_yes_to_another_try_alone() -> None:
    ways = {ENGLISH: "try again", GERMAN: "versuchen Sie es noch einmal", SPANISH: "reintentar"}
    for setting, words in ways.items():
        for kind, said in (("retry", "Confirm"), ("summary", "nothing"), ("leave", "nothing")):
            assert wrong(f"{words} -> {said}", ear(kind, "transfer", setting=setting)) == {}


_TENT = Field("tent", "boolean", "x?")
TAILS = {
    ENGLISH: ("yep with my brother -> Fill tent yes?", "nah we sleep at home -> Fill tent no?"),
    GERMAN: ("ja mit dem Rad -> Fill tent yes?", "nee beim Nachbarn -> Fill tent no?"),
    SPANISH: ("sí con mi hermano -> Fill tent yes?", "nop, vamos en tren -> Fill tent no?"),
}


@pytest.mark.parametrize("setting", TAILS)
def test_a_word_that_is_only_yes_or_no_answers_before_any_others(setting: Setting) -> None:
    asked = asking("tent", (_TENT,), setting=setting)
    for row in TAILS[setting]:
        message, _, said = row.partition(" -> ")
        found = read_message(message, asked)
        assert [c.read for c in found.commands if isinstance(c, Fill)] == ["yes" in said], message
        assert not found.certain, message


def test_before_other_words_no_is_not_always_an_answer() -> None:
    asked = asking("tent", (_TENT,))
    for setting, messages in {
        ENGLISH: ("no one told me", "yes or no", "yep if it is dry", "nope yes", "no brother"),
        GERMAN: ("ja nein", "ja oder nein", "ja nur wenn es trocken ist"),
        SPANISH: ("si con eso basta", "no tengo hermanos", "sí no"),
    }.items():
        for message in messages:
            found = read_message(message, replace(asked, setting=setting))
            assert [c for c in found.commands if isinstance(c, Fill)] == [], message
    refused = read_message("nope, we are fine", asked).commands
    assert [c.read for c in refused if isinstance(c, Fill)] == [False]


THANKS = {
    ENGLISH: [
        "yes and thank you for your help",
        "yes, thanks a million",
        "correct, have a nice day",
    ],
    GERMAN: ["ja, herzlichen Dank für alles", "ja und schönen Abend noch", "passt, danke euch"],
    SPANISH: [
        "sí, mil gracias por su ayuda",
        "sí y muchas gracias",
        "correcto, buen fin de semana",
    ],
}


@pytest.mark.parametrize("setting", THANKS)
def test_a_yes_with_thanks_is_a_yes(setting: Setting) -> None:
    summary = ear("summary", "transfer", known=SENT, among=BANK, setting=setting)
    assert wrong("\n".join(f"{message} -> Confirm" for message in THANKS[setting]), summary) == {}


def test_a_no_to_a_summary_may_say_what_it_is() -> None:
    stay = (
        Field("nights", "integer", "x?", label="Nächte"),
        Field("start", "time", "x?", label="Ankunftszeit"),
    )
    known = {"nights": 2, "start": "15:00"}
    german = ear("summary", "x", known=known, among=stay, setting=GERMAN)
    table = """
        nein, Ankunft soll um 17 Uhr sein -> Correct start um 17 Uhr
        nein, nur eine Nacht -> Correct nights eine Nacht
        nein, ich hatte drei Nächte gesagt -> Correct nights drei
    """
    assert wrong(table, german) == {}
