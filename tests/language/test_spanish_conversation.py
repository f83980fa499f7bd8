"""A table is booked and changed in Spanish, through the compiled graph and without a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    Locale,
    Pathway,
    Personality,
    Range,
    ReturnToPrevious,
    Transition,
)
from journeygraph.journeys.examples.table_booking import TOOLS
from journeygraph.journeys.languages import texts_in
from journeygraph.nodes.texts import worded


class Reserva(Journey):
    """Reservar una mesa en el Molino Viejo."""

    __locale__ = Locale(language="es-ES", timezone="Europe/Madrid")
    __escalation__ = Escalation(keywords=["queja"])

    class MesaPath(Pathway):
        """Tomar la reserva."""

        __title__ = "la reserva"
        __fields__ = [
            Field(
                "party_size",
                "integer",
                "¿Para cuántas personas?",
                description="La cocina se organiza según eso.",
                label="número de personas",
                validators=[Range(1, 20, "Nuestras mesas son para 1 a 20 personas.")],
            ),
            Field("date", "date", "¿Para qué día?", label="fecha"),
            Field(
                "time",
                "time",
                "¿A qué hora?",
                label="hora",
                validators=[Range("17:00", "22:00")],
            ),
            Field("guest", "name", "¿A nombre de quién?", label="nombre", confirm=True),
            Field(
                "note",
                ask="¿Hay algo que la cocina deba saber?",
                label="observaciones",
                required=False,
            ),
        ]
        __effects__ = [
            Effect("book_table", save="booking", done="Su mesa está reservada, {guest}.")
        ]
        __next__ = "puerta"

    class CartaPath(Pathway):
        """Decir qué hay en la carta."""

        __title__ = "la carta"
        __agents__ = ["camarero"]
        __return_behavior__ = ReturnToPrevious()

    class PuertaPath(Pathway):
        """Lo que venga después."""

        __agents__ = ["anfitrion"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(IntentTrigger(["carta", "vegetariano", "vegano"]), to_pathway="carta")
    ]


AGENTES = {
    "camarero": lambda ask: "Trucha, empanadas y tres platos vegetarianos.",
    "anfitrion": lambda ask: "Le esperamos.",
}


async def _says(
    talk: Callable[..., Any], url: str, journey: type[Journey], *messages: str
) -> list[str]:
    whole = journey is Reserva
    tools = {"tools": TOOLS} if whole else {}
    chat = await talk(journey, AGENTES if whole else {}, url, options=tools)
    return [await chat.says(message) for message in messages]


def _said(name: str, **values: str) -> str:
    return worded(getattr(texts_in("es"), name), **values)


async def test_a_table_is_booked_corrected_and_confirmed(
    talk: Callable[..., Any], memory_url: str
) -> None:
    turns = {
        "Hola, una mesa para cuatrocientos, por favor": (
            "Nuestras mesas son para 1 a 20 personas.\n\n¿Para cuántas personas?"
        ),
        "perdón, para cuatro. El 24 de diciembre de 2030": "¿A qué hora?",
        "¿por qué?": "Necesito «hora» para continuar.\n\n¿A qué hora?",
        "a las siete y media de la tarde": "¿A nombre de quién?",
        "¿tienen algo vegetariano?": (
            "Trucha, empanadas y tres platos vegetarianos.\n\nVolvemos a esto: la reserva.\n\n"
            "¿A nombre de quién?"
        ),
        "mejor a las ocho de la tarde": (
            _said("corrected", field="hora", value="20:00") + "\n\n¿A nombre de quién?"
        ),
        "no, perdón, somos cinco": (
            _said("corrected", field="número de personas", value="5") + "\n\n¿A nombre de quién?"
        ),
        "un momentito": "Tómese su tiempo.\n\n¿A nombre de quién?",
        "Ana García": "¿Hay algo que la cocina deba saber?",
        "no sé": (
            "Está bien, podemos dejarlo en blanco.\n\nLe resumo lo que tengo:\n"
            "- número de personas: 5\n- fecha: martes, 24 de diciembre de 2030\n- hora: 20:00\n"
            "- nombre: Ana García\n¿Es correcto?"
        ),
        "sí, todo bien": "Su mesa está reservada, Ana García.",
    }
    said = await _says(talk, memory_url, Reserva, *turns)
    assert dict(zip(turns, said, strict=True)) == turns


async def test_what_is_refused_asked_back_and_given_up(
    talk: Callable[..., Any], memory_url: str
) -> None:
    turns = {
        "una mesa para dos el 24 de diciembre de 2030 a las tres de la tarde": (
            "Tiene que ser de 17:00 a 22:00.\n\n¿A qué hora?"
        ),
        "asdfgh": "No lo he entendido.\n\n¿A qué hora?",
        "¿cómo?": "No lo he entendido.\n\n¿A qué hora?",
        "mejor olvídalo": "De acuerdo, lo dejamos. ¿Puedo ayudarle en algo más?",
        "no gracias, eso es todo": "Ya está todo listo. Si necesita algo más, dígamelo.",
        "quiero hablar con una persona": (
            "Le paso con una persona, que puede leer todo lo que hemos hablado."
        ),
    }
    said = await _says(talk, memory_url, Reserva, *turns)
    assert dict(zip(turns, said, strict=True)) == turns


async def test_a_casual_assistant_says_tu_and_a_mexican_one_reads_pesos(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Envio(Journey):
        """Mandar dinero."""

        __locale__ = Locale(language="es-MX", timezone="America/Mexico_City")
        __personality__ = Personality(formality="casual")

        class EnvioPath(Pathway):
            __title__ = "el envío"
            __fields__ = [
                Field("monto", "money", "¿Cuánto mandamos?", currency="MXN"),
                Field("dia", "date", "¿Qué día?", label="día"),
                Field("urgente", "boolean", "¿Es urgente?", confirm=True),
            ]

    turns = {
        "$1,250.50": "¿Qué día?",
        "¿es necesario?": "Necesito «día» para continuar.\n\n¿Qué día?",
        "el 5/6/2030": "¿Es urgente?",
        "nel": (
            "Esto es lo que tengo:\n- monto: 1,250.50 MXN\n- día: miércoles, 5 de junio de 2030\n"
            "- urgente: no\n¿Está bien así?"
        ),
        "simón": "Gracias, ya tengo todo lo que necesito.",
    }
    said = await _says(talk, memory_url, Envio, *turns)
    assert dict(zip(turns, said, strict=True)) == turns


@pytest.mark.parametrize(
    ("language", "asked", "messages"),
    [
        ("en", "Is that right?", ("4", "nein danke", "ja, bitte")),
        ("en", "Is that right?", ("4", "mejor no", "claro que sí")),
        ("de", "Stimmt das so?", ("4", "no thanks", "yes please")),
        ("de", "Stimmt das so?", ("4", "para nada", "sí")),
        ("es", "¿Es correcto?", ("4", "nein danke", "yes please")),
    ],
)
async def test_a_short_answer_in_another_language_is_understood(
    talk: Callable[..., Any],
    memory_url: str,
    language: str,
    asked: str,
    messages: tuple[str, str, str],
) -> None:
    class Count(Journey):
        """Count."""

        __locale__ = Locale(language=language)

        class CountPath(Pathway):
            __fields__ = [
                Field("count", "integer", "?", confirm=True),
                Field("gift", "boolean", "!"),
            ]

    first, second, third = await _says(talk, memory_url, Count, *messages)
    assert first == "!"
    assert second.endswith(asked)
    assert third
    assert asked not in third
