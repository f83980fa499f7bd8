"""Escalation: when a conversation is handed to a person, and the policy if no one takes it."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any

from journeys.definitions.definition import Definition
from journeys.definitions.value_types import Function, Listed, Phrase, Seconds, Text, at_least


class Escalation(Definition):
    """The policies of a journey: each that is true of a turn hands the conversation to a person.

    Attributes:
        on_request: The user asks for a person.
        when_collected: All fields of the journey's live branches are collected.
        attempts_exhausted: A field's `max_attempts` values in a row were not taken. False: a person
            is only offered.
        failures: So many turns in a row failed or were not understood; None: never.
        keywords: Words of the user that are enough, whole words in any case.
        sentiment: What a model is asked about the user's message, in words ("the user is angry").
        when: Called with a copy of the context after each turn.
        after_seconds: The conversation has lasted that long; None: never.
        unclaimed_seconds: After that, if it is not claimed, the assistant offers to continue.

    Raises:
        ConfigurationError: A value is out of range.

    Source: collecting agent, escalation policies.
    """

    _: KW_ONLY
    on_request: bool = True
    when_collected: bool = False
    attempts_exhausted: bool = True
    failures: Annotated[int, at_least(1)] | None = None
    keywords: Listed[Phrase] = ()
    sentiment: Text = ""
    when: Annotated[Callable[[Mapping[str, Any]], Any], Function("context")] | None = None
    after_seconds: Seconds | None = None
    unclaimed_seconds: Seconds = 600.0
