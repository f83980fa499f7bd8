"""Personality of an assistant: its tone and its greeting."""

from dataclasses import KW_ONLY
from typing import Annotated

from journeys.definitions.definition import Definition
from journeys.definitions.value_types import OneOf, Text

FORMALITIES = ("formal", "neutral", "casual")


class Personality(Definition):
    """Style of a journey's assistant, with and without a model.

    Attributes:
        name: What it calls itself.
        tone: How it sounds, in words for a model ("friendly", "brief and calm").
        formality: "formal", "neutral" or "casual".
        emojis: True if it uses them.
        greeting: What it says when the session starts, word by word; empty: nothing.
        reword: True if a model words the runtime's own texts in this tone, which costs a call in
            each turn that has one. What they say, ask and offer stays; where it does not, or the
            model fails, they are said as they are. The user then gets each reply as a whole.

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
