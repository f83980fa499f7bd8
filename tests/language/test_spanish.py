"""Spanish, as it is written to an assistant in Spain and in Latin America."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from journeygraph import Field
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.language.answers import is_greeting
from tests.language.desks import GERMAN, SPANISH, asking, ear, rows, told, wrong

SPAIN, MEXICO = SPANISH, replace(SPANISH, region="MX")

BANCO = (
    Field("destinatario", "name", description="Quién recibe el dinero"),
    Field("importe", "money", currency="EUR", description="Cuánto se envía"),
    Field("concepto", "text", required=False),
)
MESA = (
    Field("comensales", "integer", label="número de personas"),
    Field("fecha", "date"),
    Field("hora", "time"),
    Field("nombre", "name", ask="¿A nombre de quién pongo la mesa?"),
    Field("zona", "enum", choices={"interior": ["dentro"], "terraza": ["fuera"]}),
)
PARTE = (
    Field("fecha_accidente", "date", label="fecha del accidente"),
    Field("lugar", "address", label="lugar del accidente"),
    Field("danos", "text", label="daños", description="Qué ha pasado"),
    Field("heridos", "boolean", ask="¿Hubo heridos?"),
)
HOTEL = (
    Field("entrada", "date", label="fecha de entrada"),
    Field("salida", "date", label="fecha de salida"),
    Field("habitaciones", "integer"),
    Field("noches", "integer"),
    Field("correo", "email", required=False),
    Field("telefono", "phone", label="teléfono"),
    Field("deseos", "text", required=False),
)
ENVIADO: dict[str, Any] = {
    "destinatario": "Maya",
    "importe": {"amount": "50.00", "currency": "EUR"},
}
RESERVADO: dict[str, Any] = {
    "comensales": 4,
    "fecha": "2026-11-27",
    "hora": "19:00",
    "nombre": "Ana",
    "zona": "interior",
}
EN_CADA_SITIO = {
    "un nombre": asking("destinatario", BANCO, setting=SPAIN),
    "un importe": asking("importe", BANCO, setting=SPAIN),
    "un texto": asking("danos", PARTE, setting=SPAIN),
    "una dirección": asking("lugar", PARTE, setting=SPAIN),
    "una opción": asking("zona", MESA, setting=MEXICO),
    "un sí": asking("heridos", PARTE, setting=MEXICO),
}


def _summary(**more: Any) -> Expected:
    return ear("summary", "transferencia", known=ENVIADO, among=BANCO, setting=SPAIN, **more)


def test_yes_and_no_are_understood_with_and_without_marks() -> None:
    table = """
        sí
        si
        Sí.
        ¡Sí!
        sí sí
        siii
        sip
        Sí, por favor
        si porfa
        sí, gracias
        sí, claro
        claro
        claro que sí
        Claro que si
        pues claro
        pues sí
        por supuesto
        desde luego
        cómo no
        vale
        vale vale
        Vale, perfecto
        ok
        okey
        oki
        dale
        va
        órale
        listo
        correcto
        es correcto
        sí, es correcto
        si es correcto
        sí, todo bien
        sí, todo correcto
        todo está bien
        todo perfecto
        está bien
        esta bien
        así es
        eso es
        exacto
        exactamente
        perfecto, gracias
        perfecto
        genial
        de acuerdo
        me parece bien
        me parece perfecto
        adelante
        sí, adelante
        dale, adelante
        confirmo
        confirmado
        lo confirmo
        envíalo
        mándalo
        hazlo
        hágalo
        sin problema
        no hay problema
        suena bien
        bueno
        ya está bien así
        por qué no
        creo que sí
        supongo que sí
        eso es todo
        sin cambios
        nada que cambiar
        hell yes
        👍
        👍🏽 -> Confirm
        no
        No.
        nooo
        nop
        nel
        no gracias
        no, gracias
        no, muchas gracias
        para nada
        qué va
        claro que no
        todavía no
        aún no
        ahora no
        no es correcto
        no, no es correcto
        no está bien
        está mal
        eso está mal
        no, está mal
        mejor no
        no lo envíes
        no lo mandes
        de ninguna manera
        ni hablar
        ni de broma
        creo que no
        me temo que no
        prefiero que no
        jamás
        hell no
        👎 -> Deny
    """
    assert wrong(table, _summary()) == {}


def test_half_a_yes_confirms_nothing() -> None:
    table = """
        no sé
        no lo sé
        quizás
        tal vez
        a lo mejor
        depende
        sí y no
        ¿sí?
        sí, si es gratis
        si es gratis
        solo si llega hoy
        sí, pero solo si llega hoy
        sí, siempre que llegue hoy
        cuando pueda
        ayer
        nadie me lo dijo -> nothing
        sí, ¿y tiene comisión? -> Confirm? + tiene comisión
        sí, y cuánto tarda? -> Confirm? + cuánto tarda
        vale. ¿Cuándo llega? -> Confirm? + Cuándo llega
        sí, pero el importe está mal
        no, el importe está mal -> Clear importe
        sí pero que sean 60
        no, 60
        no, que sean 60
        no, perdón, 60
        no, mejor 60
        perdón, quería decir 60 -> Correct importe 60
        no, a Álex -> Correct destinatario a Álex
    """
    assert wrong(table, _summary()) == {}


def test_going_back_is_agreed_to_by_giving_the_answer() -> None:
    back = ear("return", "transferencia", fields=BANCO[1:], among=BANCO, setting=SPAIN)
    table = """
        sí
        sí, claro
        sigamos
        seguimos
        continuar
        vale, sigamos
        me parece bien
        está bien
        adelante -> Confirm
        bueno, entonces 500 -> Confirm, Fill importe 500
        500 -> Confirm, Fill importe 500
        vale, 40 euros -> Confirm, Fill importe 40 euros
        no
        no, ya le pagué
        no, ya lo hice
        no, ya está hecho
        no, es muy tarde
        olvídalo
        olvidalo
        no, déjalo
        déjalo así
        dejémoslo
        más tarde
        ahora no
        no, he cambiado de idea
        cambié de opinión
        no me interesa -> Deny
        cancela
        cancelar -> Cancel
    """
    assert wrong(table, back) == {}


def test_offers_are_taken_and_declined() -> None:
    table = """
        no
        no, eso es todo
        no gracias, eso es todo
        es todo
        nada más
        no, nada más, gracias
        con eso basta
        ya está
        estoy bien, gracias
        ninguna otra cosa
        adiós
        hasta luego
        chao -> Deny
        sí
        sí, por favor -> Confirm
        sí, quiero pedir una tarjeta -> Confirm? + quiero pedir una tarjeta
        quiero pedir una tarjeta -> nothing
    """
    assert wrong(table, ear("more", setting=SPAIN)) == {}
    table = """
        no, intentémoslo otra vez
        lo intento de nuevo
        no gracias
        prefiero intentarlo yo
        mejor sigo yo -> Deny
        sí
        sí, por favor
        por favor
        me encantaría -> Confirm
        con una persona, por favor
        quiero hablar con alguien -> Human
    """
    assert wrong(table, ear("human", setting=SPAIN)) == {}


SEÑALES = """
        cancela
        Cancelar
        cancélalo
        cancelalo
        cancela eso
        quiero cancelar
        quisiera cancelar, por favor
        me gustaría cancelar
        ¿puedes cancelar?
        olvídalo
        Olvidalo
        bueno, olvídalo
        olvídelo
        olvida eso
        déjalo
        déjalo estar
        lo dejamos
        mejor lo dejamos
        para ya
        basta
        he cambiado de opinión
        cambié de idea
        me arrepentí
        ya no quiero
        no quiero seguir
        no quiero continuar
        ya no hace falta -> Cancel
        cancela todo
        cancelar todo
        olvida todo
        olvídate de todo
        cancélalo todo -> Cancel everything
        repite
        ¿puedes repetir?
        ¿puede repetirlo?
        repítelo por favor
        ¿me lo repites?
        ¿cómo?
        ¿cómo dice?
        ¿perdón?
        ¿qué?
        ¿mande?
        no te entendí
        no le he entendido
        no entendí la pregunta
        otra vez, por favor
        ¿qué dijiste?
        ¿cuál era la pregunta? -> Repeat
        un momento
        Un momento, por favor
        un momentito
        espera
        espere
        espera un segundo
        espere un momento
        dame un segundo
        deme un minuto
        déjame ver
        déjame pensar
        déjame buscarlo
        ahora vuelvo
        ahorita vengo
        permítame un momento
        un segundo, tengo que buscarlo -> Wait
        ¿por qué?
        por que
        ¿y por qué?
        ¿para qué?
        ¿por qué lo necesitas?
        ¿por qué lo pregunta?
        ¿para qué sirve esto?
        ¿para qué lo quieren?
        ¿es necesario?
        ¿es obligatorio?
        ¿hace falta?
        ¿tengo que decirlo? -> Explain
        quiero hablar con una persona
        quiero hablar con un agente
        quisiera hablar con alguien
        ¿puedo hablar con una persona?
        necesito hablar con alguien
        me gustaría hablar con un humano
        pásame con un agente
        páseme con una persona, por favor
        comuníqueme con un asesor
        ponme con alguien
        hablar con un operador
        prefiero hablar con una persona real
        no quiero hablar con un robot
        no quiero hablar con una máquina
        un agente, por favor
        una persona, por favor
        ¿hay alguien con quien pueda hablar? -> Human
"""


@pytest.mark.parametrize("where", EN_CADA_SITIO)
def test_what_is_said_of_the_conversation_is_understood_at_any_question(where: str) -> None:
    assert wrong(SEÑALES, EN_CADA_SITIO[where]) == {}


def test_what_is_optional_is_left_open() -> None:
    table = """
        prefiero no decirlo
        prefiero no contestar
        mejor no decirlo
        no quiero decirlo
        salta esta pregunta
        sáltatela
        siguiente
        siguiente pregunta
        pasemos a la siguiente
        paso
        déjalo en blanco
        en blanco
        es privado
        no aplica
        lo que sea
        me da igual
        da igual
        cualquiera
        no importa
        lo que quieras
        ni idea
        no tengo ni idea
        no lo sé
        no sé
        no se
        no me acuerdo
        no tengo
        ninguno
        ninguna
        nada
        nada en especial
        no
        no gracias
        nein danke
        no thanks
        skip it -> Skip
    """
    assert wrong(table, asking("concepto", BANCO, setting=SPAIN)) == {}
    table = """
        no tengo correo
        no tengo
        prefiero no darlo -> Skip
    """
    assert wrong(table, asking("correo", HOTEL, setting=SPAIN)) == {}


def test_a_task_is_given_up_by_its_name() -> None:
    table = """
        olvida la transferencia
        olvídate de la transferencia
        cancela la transferencia
        quiero cancelar la transferencia
        ya no quiero la transferencia
        deja lo de la transferencia -> Cancel
        cancela la cita
        para la cena -> nothing
    """
    listening = asking("importe", BANCO, setting=SPAIN, tasks=["transferencia"])
    assert wrong(table, listening) == {}


def test_options_are_taken_by_place_and_name() -> None:
    cards = ("Bloquear una tarjeta", "Pedir una tarjeta nueva", "Límites de la tarjeta")
    table = """
        la primera
        primera
        el primero
        1
        la 1
        opción 1
        la número uno
        quiero la primera
        la primera, por favor
        no, la primera
        bloquear
        bloquear la tarjeta
        quiero bloquear una tarjeta -> Choose a
        la segunda
        la 2
        pedir una nueva
        pedir -> Choose b
        la última
        la tercera opción
        límites
        los limites -> Choose c
        ninguna
        ninguna de esas
        ninguna de las dos
        otra cosa -> Deny
        la cuarta
        una tarjeta
        ¿cuál es más barata? -> nothing
    """
    assert wrong(table, ear("clarify", options=cards, setting=SPAIN)) == {}
    paused = ("la transferencia", "la denuncia")
    table = """
        todo menos la transferencia
        no quiero la transferencia -> Choose b
    """
    assert wrong(table, ear("paused", options=paused, setting=SPAIN)) == {}
    anew = ("seguir con eso", "empezar de nuevo")
    table = """
        seguir
        quiero seguir
        continuar con la anterior
        sigue donde estábamos -> Choose a
        empezar de nuevo
        empezar otra vez
        desde cero
        volver a empezar
        una nueva -> Choose b
    """
    assert wrong(table, ear("restart", options=anew, setting=SPAIN)) == {}
    changes = ("cambiarlo", "hablar con una persona", "dejarlo como está")
    table = """
        cambiarlo
        quiero cambiarlo
        cámbialo -> Choose a
        déjalo como está
        déjalo así
        así está bien
        nada -> Choose c
    """
    assert wrong(table, ear("change", options=changes, setting=SPAIN)) == {}


def test_a_choice_of_a_field_is_taken_by_its_words() -> None:
    table = """
        terraza -> Fill zona terraza
        la terraza -> Fill zona la terraza
        fuera -> Fill zona fuera
        en la terraza, por favor -> Fill zona en la terraza, por favor
        prefiero dentro -> Fill zona dentro
        todo menos la terraza -> Fill zona interior
        la segunda -> Fill zona la segunda
    """
    assert wrong(table, asking("zona", MESA, setting=SPAIN)) == {}


def test_short_answers_of_other_languages_are_understood_where_they_are_all_that_is_said() -> None:
    english = ear("summary", "transfer", known=ENVIADO, among=BANCO)
    table = """
        ja
        ja, bitte
        ja klar
        natürlich
        genau
        sí
        sí, claro
        claro que sí
        por supuesto -> Confirm
        nein
        nein danke
        Nein, danke!
        nee
        lieber nicht
        para nada
        mejor no -> Deny
        abbrechen
        vergiss es
        cancélalo -> Cancel
        einen Moment
        un momento -> Wait
        los
        die
        also
        para
        ja, aber nicht heute -> nothing
    """
    assert wrong(table, english) == {}
    table = """
        yes please
        sí
        por supuesto -> Confirm
        no thanks
        mejor no -> Deny
    """
    asked = ear("summary", "transfer", known=ENVIADO, among=BANCO, setting=GERMAN)
    assert wrong(table, asked) == {}
    table = """
        yes please
        yes
        sure
        hell yes
        ja
        ja gerne -> Confirm
        no thanks
        nope
        nein danke -> Deny
        hold on
        just a moment -> Wait
        I want to talk to a person -> Human
        once -> nothing
    """
    assert wrong(table, _summary()) == {}


@pytest.mark.parametrize(
    "message",
    [
        "Hola",
        "¡Hola!",
        "hola, buenas",
        "Buenos días",
        "buenas tardes",
        "hola qué tal",
        "Moin",
        "hi",
    ],
)
def test_a_greeting_is_no_answer(message: str) -> None:
    assert is_greeting(message)
    assert not is_greeting(f"{message}, una mesa para cuatro")


def test_a_value_takes_the_place_of_the_one_it_is_set_against() -> None:
    table = """
        somos cinco, no cuatro
        cinco en vez de cuatro
        no son cuatro, son cinco
        no, somos cinco
        no, perdón, somos cinco
        espera, somos cinco
        al final somos cinco
        cambia el número de personas a cinco -> Correct comensales
        mejor a las ocho
        no, a las ocho
        quise decir a las ocho
        perdón, quería decir a las ocho
        a las ocho, no a las siete de la tarde
        cambia la hora a las ocho
        cámbialo a las ocho
        pon la hora a las ocho
        la hora es a las ocho
        la hora debería ser a las ocho
        y la hora a las ocho -> Correct hora
        el sábado, no el viernes
        mejor el sábado
        cambiar la fecha al sábado
        quiero cambiar la fecha al sábado
        que sea el sábado
        pásalo al sábado -> Correct fecha
        mejor en la terraza
        no, en la terraza
        que sea en la terraza -> Correct zona
        el nombre es Eva
        no es Ana, es Eva
        no me llamo Ana, me llamo Eva
        Eva, no Ana -> Correct nombre
        quiero cambiar la hora
        la hora está mal
        la hora no es correcta
        hora equivocada
        me equivoqué de hora
        me equivoqué con la hora
        la hora -> Clear hora
        no a las ocho
        ¿a qué hora cierran?
        gracias -> nothing
    """
    booked = ear("summary", "reserva", known=RESERVADO, among=MESA, setting=SPAIN)
    assert _wrong_fields(table, booked) == {}


def test_a_correction_stands_beside_an_answer() -> None:
    known: dict[str, Any] = {"comensales": 4}
    asked = ear("field", "fecha", fields=MESA[1:], known=known, among=MESA, setting=SPAIN)
    table = """
        no, perdón, cinco
        perdón, somos cinco
        no, espera, cinco -> Correct comensales
        mañana -> Fill fecha
    """
    assert _wrong_fields(table, asked) == {}
    table = """
        nueve de la noche, por favor, y si puede ser en terraza -> Fill hora, Fill zona
        espera, mejor el sábado
        perdona, me he equivocado, es el sábado -> Correct fecha
        cinco personas -> Correct comensales
        ¿a qué hora abren?
        por la noche -> nothing
    """
    known = {"comensales": 4, "fecha": "2026-11-27"}
    asked = ear("field", "hora", fields=MESA[2:], known=known, among=MESA, setting=SPAIN)
    assert _wrong_fields(table, asked) == {}


def test_several_values_of_one_message_go_to_their_fields() -> None:
    table = """
        cuatro
        somos cuatro
        para cuatro
        una mesa para cuatro
        somos cuatro personas, por favor
        seremos unos cuatro
        cuatro adultos
        mi mujer y yo
        dos adultos y un niño
        cuatro, perdón, cinco -> Fill comensales
        hola, una mesa para seis mañana
        quería reservar para cinco personas el sábado -> Fill comensales, Fill fecha
        una mesa para cuatro mañana a las ocho
        somos seis el viernes a las nueve y media
        -> Fill comensales, Fill fecha, Fill hora
        una mesa para dos el viernes a las nueve de la noche a nombre de Ana
        -> Fill comensales, Fill fecha, Fill hora, Fill nombre
        dos o tres
        ¿hay aparcamiento?
        mi hija tiene cuatro años -> nothing
    """
    asked = asking("comensales", MESA, setting=SPAIN)
    assert _wrong_fields(table, asked) == {}
    table = """
        del viernes al domingo
        desde el lunes hasta el jueves -> Fill entrada, Fill salida
    """
    assert _wrong_fields(table, asking("entrada", HOTEL, setting=SPAIN)) == {}


def _wrong_fields(table: str, listening: Expected) -> dict[str, str]:
    """Compare only which fields a message speaks of, in any order of the words of a value."""
    fields = "|".join(field.name for field in (*MESA, *HOTEL))
    found = {
        message: ", ".join(re.findall(rf"\w+ (?:{fields})", told(read_message(message, listening))))
        or "nothing"
        for message, _ in rows(table)
    }
    return {m: found[m] for m, wanted in rows(table) if found[m] != wanted}
