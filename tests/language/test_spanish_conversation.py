"""Conversations in Spanish and French, through the compiled graph and without a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from journeygraph import (
    Effect,
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

    class MesaPath(Pathway):
        """Tomar la reserva."""

        __title__ = "la reserva"
        __fields__ = [
            Field("party_size", "integer", "¿Para cuántas personas?", label="personas"),
            Field("date", "date", "¿Para qué día?", label="fecha"),
            Field("time", "time", "¿A qué hora?", label="hora"),
            Field("guest", "name", "¿A nombre de quién?", label="nombre"),
            Field("note", ask="¿Algo más?", label="observaciones", required=False),
        ]
        __effects__ = [Effect("book_table", save="booking", done="Mesa reservada, {guest}.")]

    class CartaPath(Pathway):
        """Decir qué hay en la carta."""

        __agents__ = ["camarero"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(["vegetariano"]), to_pathway="carta")]


async def _holds(
    talk: Callable[..., Any], url: str, journey: type[Journey], turns: dict[str, str]
) -> None:
    """Say each message, and compare the replies."""
    agents = {"camarero": lambda ask: "Tres platos."} if journey is Reserva else {}
    options = {"tools": TOOLS} if journey is not Envio else {}
    chat = await talk(journey, agents, url, options=options)
    said = [await chat.says(message) for message in turns]
    assert dict(zip(turns, said, strict=True)) == turns


def _text(language: str, name: str, **values: str) -> str:
    return worded(getattr(texts_in(language), name), **values)


async def test_a_table_is_booked_in_spanish(talk: Callable[..., Any], memory_url: str) -> None:
    dinner = _text("es", "understood", field="fecha", value="martes, 24 de diciembre de 2030")
    turns = {
        "Hola": "¿Para cuántas personas?",
        "cuatro, por favor": "¿Para qué día?",
        "pues el 24 de diciembre de 2030": dinner + "\n\n¿A qué hora?",
        "¿por qué?": "Necesito «hora» para continuar.\n\n¿A qué hora?",
        "a las 8 de la tarde": "¿A nombre de quién?",
        "¿tienen algo vegetariano?": (
            "Tres platos.\n\nVolvemos a esto: la reserva.\n\n¿A nombre de quién?"
        ),
        "perdón, las 9 de la tarde": (
            _text("es", "corrected", field="hora", value="21:00") + "\n\n¿A nombre de quién?"
        ),
        "Ana García": "¿Algo más?",
        "no": (
            "Está bien, podemos dejarlo en blanco.\n\nLe resumo lo que tengo:\n- personas: 4\n"
            "- fecha: martes, 24 de diciembre de 2030\n- hora: 21:00\n- nombre: Ana García\n"
            "¿Es correcto?"
        ),
        "sí": "Mesa reservada, Ana García.",
    }
    await _holds(talk, memory_url, Reserva, turns)


class Envio(Journey):
    """Mandar dinero."""

    __locale__ = Locale(language="es-MX", timezone="America/Mexico_City")
    __personality__ = Personality(formality="casual")

    class EnvioPath(Pathway):
        __title__ = "el envío"
        __fields__ = [
            Field("monto", "money", "¿Cuánto mandamos?", currency="MXN"),
            Field("dia", "date", "¿Qué día?", label="día", confirm=True),
        ]


async def test_a_casual_assistant_says_tu_and_a_mexican_one_reads_pesos(
    talk: Callable[..., Any], memory_url: str
) -> None:
    turns = {
        "$1,250.50": "¿Qué día?",
        "el 5/6/2030": (
            "Esto es lo que tengo:\n- monto: 1,250.50 MXN\n- día: miércoles, 5 de junio de 2030\n"
            "¿Está bien así?"
        ),
        "sí": "Gracias, ya tengo todo lo que necesito.",
    }
    await _holds(talk, memory_url, Envio, turns)


class Moulin(Journey):
    """Réserver une table au Vieux Moulin."""

    __locale__ = Locale(language="fr-FR", timezone="Europe/Paris")

    class TablePath(Pathway):
        """Prendre la réservation."""

        __title__ = "la réservation"
        __fields__ = [
            Field("party_size", "integer", "Pour combien ?", validators=[Range(1, 20)]),
            Field("date", "date", "Quel jour ?"),
            Field("time", "time", "À quelle heure ?", label="heure"),
            Field("guest", "name", "À quel nom ?"),
        ]
        __effects__ = [Effect("book_table", save="booking", done="C'est réservé, {guest}.")]


async def test_a_table_is_booked_in_french(talk: Callable[..., Any], memory_url: str) -> None:
    turns = {
        "Bonjour": "Pour combien ?",
        "quatre, s'il vous plaît": "Quel jour ?",
        "le 24 décembre 2030": "À quelle heure ?",
        "à 19h": "À quel nom ?",
        "non, à 20h": (_text("fr", "corrected", field="heure", value="20:00") + "\n\nÀ quel nom ?"),
        "je m'appelle Anne Petit": "C'est réservé, Anne Petit.",
    }
    await _holds(talk, memory_url, Moulin, turns)
