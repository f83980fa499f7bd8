"""Personality of an assistant: its tone and its greeting."""

from dataclasses import KW_ONLY
from typing import Annotated

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import OneOf, Text

FORMALITIES = ("formal", "neutral", "casual")


class Personality(Definition):
    """Style of a journey's assistant, with and without a model.

    Attributes:
        name: Name of the assistant.
        tone: Its tone, in words for a model ("friendly", "brief and calm").
        formality: Its form of address for users.
        emojis: True if it uses emojis.
        greeting: Text at the start of a session, unchanged.
        reword: True: a model words the runtime's own texts in this tone, which costs a call in each
            turn that has one. Their meaning stays; if it does not, or the model fails, the texts
            are sent unchanged. Replies are then sent as a whole, not streamed.

    Raises:
        ConfigurationError: A value is unknown.

    Source: collecting agent, config models.
    """

    elsewhere = {"language": " Write it in locale: {language: ...}."}

    _: KW_ONLY
    name: Text = ""
    tone: Text = ""
    formality: Annotated[str, OneOf(FORMALITIES)] = "neutral"
    emojis: bool = False
    greeting: Text = ""
    reword: bool = False
