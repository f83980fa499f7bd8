"""The commands inside a conversation: /help, /state, /history and others."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from journeys import (
    FieldNotFoundError,
    InvalidMessageError,
    NotWaitingError,
    VersionNotFoundError,
)
from journeys.errors import did_you_mean
from server.cli.terminal.fields import show_fields
from server.cli.terminal.rendering import Listing, out, row, say, short
from server.cli.terminal.talk import Talk
from server.discover.errors import CommandError

_MISTAKES = (
    CommandError,
    FieldNotFoundError,
    InvalidMessageError,
    NotWaitingError,
    VersionNotFoundError,
)


class _Slash(NamedTuple):
    """A command: its function, its help text, and its needs."""

    run: Callable[[Talk, str], Awaitable[None]]
    usage: str
    help: str
    needs_session: bool = True


async def run_slash(talk: Talk, line: str) -> None:
    """Run one slash command; report a mistake in it, and continue."""
    name, _, argument = line.partition(" ")
    command = _COMMANDS.get(name.lower())
    try:
        if command is None:
            hint = did_you_mean(name.lower(), [*_COMMANDS, "/quit"])
            raise CommandError(f"There is no command {name}.{hint} /help lists them.")
        if argument.strip() and " " not in command.usage:
            raise CommandError(
                f"{command.usage} takes no argument; '{short(argument)}' was ignored."
            )
        if command.needs_session and not talk.begun:
            raise CommandError("There is nothing to show yet: your first message starts a session.")
        await command.run(talk, argument.strip())
    except _MISTAKES as error:
        say(error)


async def _help(_: Talk, __: str) -> None:
    """List the commands."""
    shown = Listing("", "")
    for command in _COMMANDS.values():
        shown.add_row(*row(command.usage, command.help))
    shown.add_row(*row("/quit", "leave; the session stays in its store"))
    out.print(shown)


async def _state(talk: Talk, _: str) -> None:
    session = await talk.journey.get_session_state()
    if session is None:
        raise CommandError("The session does not exist any more.")
    shown = Listing("", "")
    for name, value in (
        ("session", session.session_id),
        ("journey", session.journey_id),
        ("pathway", session.current_pathway_id),
        ("waiting below", ", ".join(session.pathway_stack) or "nothing"),
        ("returning", "yes" if session.returning else "no"),
        ("complete", "yes" if session.is_journey_complete else "no"),
        ("version", session.version),
        ("context", ", ".join(session.accumulated_context) or "empty"),
        ("last turn", session.updated_at),
    ):
        shown.add_row(*row(name, value))
    out.print(shown)


async def _resume(talk: Talk, given: str) -> None:
    """Answer the question of an agent: JSON, or a text."""
    try:
        value = json.loads(given)
    except ValueError:
        value = given
    await talk.resume(value)


async def _sessions(talk: Talk, given: str) -> None:
    shown = Listing("")
    page = await talk.journey.list(after=given.strip() or None)
    for session_id in page:
        mark = "  (this one)" if session_id == talk.session_id else ""
        shown.add_row(*row(f"{session_id}{mark}"))
    out.print(shown if shown.row_count else "The store has no session yet.")
    if page.next:
        out.print(f"Next page: /sessions {page.next}", markup=False, soft_wrap=True)


async def _history(talk: Talk, _: str) -> None:
    shown = Listing("turn", "who", "what was said")
    for entry in await talk.journey.transcript():
        shown.add_row(*row(entry.turn, entry.role, entry.content))
    out.print(shown if shown.row_count else "There are no messages yet.")


async def _versions(talk: Talk, _: str) -> None:
    shown = Listing("version", "kind", "pathway", "message")
    for version in await talk.journey.versions():
        back = version.rolled_back_to
        message = f"back to {back}" if back is not None else short(version.message or "")
        shown.add_row(*row(version.version, version.kind, version.pathway_id, message))
    out.print(shown)


async def _rollback(talk: Talk, argument: str) -> None:
    if not argument.isdecimal():
        raise CommandError("Give a version: /rollback N. /versions lists them.")
    session = await talk.journey.rollback(int(argument))
    talk.stand(session)
    out.print(
        f"Back to the state of version {argument}: in {session.current_pathway_id} "
        f"(this is version {session.version}).",
        markup=False,
    )


async def _context(talk: Talk, name: str) -> None:
    context = await talk.journey.snapshot()
    if not name:
        shown = Listing("name", "value")
        for key, value in context.items():
            shown.add_row(*row(key, short(value, 500)))
        out.print(shown if shown.row_count else "The context is empty.")
        return
    values = await talk.journey.context_history(name)
    if not values:
        hint = did_you_mean(name, list(context))
        raise CommandError(f"The context has no value '{name}', now or before.{hint}")
    shown = Listing("version", "set by", "value")
    for value in values:
        shown.add_row(*row(value.version, value.pathway_id, short(value.value, 500)))
    out.print(shown)


async def _audit(talk: Talk, _: str) -> None:
    shown = Listing("turn", "what", "from", "to", "why")
    for entry in await talk.journey.audit():
        why = " · ".join(part for part in (entry.trigger, entry.reason) if part)
        cells = row(entry.turn, entry.kind, entry.from_pathway, entry.to_pathway, why)
        shown.add_row(*cells)
    out.print(shown if shown.row_count else "No transition has fired yet.")


async def _fields(talk: Talk, name: str) -> None:
    await show_fields(talk.journey, name)


_COMMANDS = {
    "/help": _Slash(_help, "/help", "list these commands", needs_session=False),
    "/state": _Slash(_state, "/state", "position of the session"),
    "/sessions": _Slash(
        _sessions, "/sessions", "sessions of this journey in the store", needs_session=False
    ),
    "/history": _Slash(_history, "/history", "all messages"),
    "/versions": _Slash(_versions, "/versions", "every version of the session"),
    "/rollback": _Slash(_rollback, "/rollback N", "go back to version N, as a new version"),
    "/resume": _Slash(
        _resume, "/resume VALUE", "answer the question of an agent, as JSON or as text"
    ),
    "/context": _Slash(_context, "/context [NAME]", "the context; with a name, all its values"),
    "/fields": _Slash(_fields, "/fields [NAME]", "the fields; with a name, every attempt"),
    "/audit": _Slash(_audit, "/audit", "transitions that fired or were refused, with reasons"),
}
