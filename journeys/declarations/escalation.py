"""Escalation: when a conversation is handed to a person, and the policy if no one takes it."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import (
    Function,
    Listed,
    Phrase,
    Seconds,
    Text,
    at_least,
)


class Escalation(Definition):
    """Conditions under which the conversation is handed to a person, checked in each turn.

    Attributes:
        on_request: A person is called when the user asks for one.
        when_collected: A person is called when all fields of the journey's live branches are
            collected.
        attempts_exhausted: A person is called when the `max_attempts` of a field are used up.
            False: a person is only offered.
        failures: Number of turns in a row that failed or were not understood, after which a person
            is called. Default: never.
        keywords: Words in a user's message that call a person, as whole words in any case.
        sentiment: Description of a message, such as "the user is angry". A person is called when a
            model finds that the message matches it.
        when: A function of the context, in a file an expression. A person is called when it is true
            after a turn. Default: never.
        after_seconds: Longest conversation in seconds; after it a person is called. Default: never.
        unclaimed_seconds: If no person claims the conversation for this time, the assistant offers
            to continue.

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
