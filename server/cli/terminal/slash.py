"""The commands inside a conversation: /help, /state, /history and others."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from journeygraph.journeys import (
    FieldAttemptEntry,
    FieldNotFoundError,
    FieldState,
    InvalidMessageError,
    Journey,
    NotWaitingError,
    VersionNotFoundError,
    WaitingError,
    taken_back,
)
from journeygraph.journeys.definitions.value_types import seconds_in
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.locale import in_force
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.services import setting_at
from journeygraph.nodes.state.form_state import field_named
from journeygraph.nodes.values.checking import shown as as_read
from journeygraph.nodes.values.setting import Setting
from journeygraph.server.cli.terminal.conversation import TerminalConversation
from journeygraph.server.cli.terminal.rendering import (
    listing,
    out,
    row,
    say,
    short,
    show_written,
    talk_row,
)
from journeygraph.server.discover.errors import CommandError

_HIDDEN = "(not shown)"
_OPEN = {"": "open", "invalid": "refused", "pending": "waits", "cleared": "emptied"}
"""Text for a field without a value, by its last attempt."""


async def _show_fields(journey: Journey, name: str = "") -> None:
    if name:
        await _show_attempts(journey, name)
        return
    view = await journey.fields()
    if not view.fields:
        out.print("This journey collects no fields.")
        return
    everything, setting = await journey.manager.attempts(), await _setting(journey)
    shown = listing("", "field", "value", "status", "attempts", "refused values, and the reason")
    for field_name, state in view.fields.items():
        attempts = [attempt for attempt in everything if attempt.field == field_name]
        mark = "▸" if field_name == view.current_field else ""
        value = _readable(journey, setting, field_name, state.value)
        cells = (state.title, _value(value, hidden=state.hidden and state.is_collected))
        shown.add_row(*row(mark, *cells, _status(state), len(attempts), _refused(attempts)))
    out.print(shown)


async def _show_attempts(journey: Journey, name: str) -> None:
    attempts = await journey.attempts(name)
    if not attempts:
        out.print(f"{name} has no value yet.", markup=False)
        return
    shown = listing("turn", "text of the user", "value", "status", "by", "why")
    setting = await _setting(journey)
    for attempt in attempts:
        said = _value(attempt.raw or None, hidden=attempt.hidden)
        value = _value(_readable(journey, setting, name, attempt.value), hidden=attempt.hidden)
        status, by = attempt.validation_status, attempt.source.replace("_", " ")
        shown.add_row(*row(attempt.turn, said, value, status, by, attempt.reason))
    out.print(shown)


async def _setting(journey: Journey) -> Setting:
    session = await journey.manager.restore()
    spec, place = journey.spec, session.current_pathway_id
    own = (spec.part_of(place) if place in spec.pathways else spec).locale
    return setting_at(datetime.now(UTC), in_force(own, session.locale, journey.config.locale))


def _readable(journey: Journey, setting: Setting, name: str, value: Any) -> str | None:
    if value is None:
        return None
    return as_read(field_named(journey.spec, name), value, setting)


def _value(value: Any, *, hidden: bool) -> str:
    if hidden:
        return _HIDDEN
    return "" if value is None else short(value)


def _status(state: FieldState) -> str:
    if not state.live:
        return "not used now"
    if state.is_collected:
        return "collected"
    if state.skipped:
        return "left open"
    return _OPEN[state.validity] if state.required else f"{_OPEN[state.validity]}, optional"


def _refused(attempts: list[FieldAttemptEntry]) -> str:
    refused = [attempt for attempt in attempts if attempt.validation_status == "invalid"]
    return "; ".join(
        attempt.reason if attempt.hidden else f"{short(attempt.raw)}: {attempt.reason}"
        for attempt in refused
    )


_LONGEST_NUMBER = 10
_MISTAKES = (
    CommandError,
    FieldNotFoundError,
    InvalidMessageError,
    NotWaitingError,
    VersionNotFoundError,
    WaitingError,
)


class _Slash(NamedTuple):
    """A command: its function, its help text, and its needs."""

    run: Callable[[TerminalConversation, str], Awaitable[None]]
    usage: str
    help: str
    needs_session: bool = True


async def run_slash(conversation: TerminalConversation, line: str) -> None:
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
        if command.needs_session and not conversation.begun:
            raise CommandError("There is nothing to show yet: your first message starts a session.")
        await command.run(conversation, argument.strip())
    except _MISTAKES as error:
        say(error)


async def _help(_: TerminalConversation, __: str) -> None:
    shown = listing("", "")
    for command in _COMMANDS.values():
        shown.add_row(*row(command.usage, command.help))
    shown.add_row(*row("/quit", "leave; the session stays in its store"))
    out.print(shown)


async def _state(conversation: TerminalConversation, _: str) -> None:
    session = await conversation.journey.get_session_state()
    if session is None:
        raise CommandError("The session does not exist any more.")
    shown = listing("", "")
    for name, value in (
        ("session", session.session_id),
        ("journey", session.journey_id),
        ("pathway", session.current_pathway_id),
        ("waiting below", ", ".join(session.pathway_stack) or "nothing"),
        ("returning", "yes" if session.returning else "no"),
        ("complete", "yes" if session.is_journey_complete else "no"),
        *([("closed", "until the next message")] if session.is_closed else []),
        ("version", session.version),
        ("context", ", ".join(session.accumulated_context) or "empty"),
        ("last turn", session.updated_at),
    ):
        shown.add_row(*row(name, value))
    out.print(shown)


async def _resume(conversation: TerminalConversation, given: str) -> None:
    try:
        value = json.loads(given)
    except ValueError:
        value = given
    await conversation.resume(value)


async def _event(conversation: TerminalConversation, given: str) -> None:
    name, _, written = given.partition(" ")
    if not name:
        raise CommandError('Give a name: /event NAME {"key": "value"}.')
    try:
        data = json.loads(written or "{}")
    except ValueError as error:
        raise CommandError(f"The data of an event is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise CommandError("The data of an event must be a JSON object of context values.")
    await conversation.happen(name, data)


async def _wait(conversation: TerminalConversation, given: str) -> None:
    seconds = seconds_in(given)
    if seconds is None:
        raise CommandError("Give a time: /wait 2 days, or /wait 1 hour 30 minutes.")
    if not await conversation.wait(seconds):
        out.print("Nothing was due.", style="dim")


async def _sessions(conversation: TerminalConversation, given: str) -> None:
    shown = listing("")
    page = await conversation.journey.list(after=given.strip() or None)
    for session_id in page:
        mark = "  (this one)" if session_id == conversation.session_id else ""
        shown.add_row(*row(f"{session_id}{mark}"))
    out.print(shown if shown.row_count else "The store has no session yet.")
    if page.next:
        out.print(f"Next page: /sessions {page.next}", markup=False)


async def _history(conversation: TerminalConversation, _: str) -> None:
    shown = listing("turn", "who", "message")
    entries = await conversation.journey.transcript()
    gone = taken_back(entries)
    for entry in entries:
        shown.add_row(*talk_row(entry.turn, entry, gone))
    out.print(shown if shown.row_count else "There are no messages yet.")


async def _versions(conversation: TerminalConversation, _: str) -> None:
    shown = listing("version", "kind", "pathway", "message")
    for version in await conversation.journey.versions():
        back = version.rolled_back_to
        message = f"back to {back}" if back is not None else short(version.message or "")
        shown.add_row(*row(version.version, version.kind, version.pathway_id, message))
    out.print(shown)


async def _rollback(conversation: TerminalConversation, argument: str) -> None:
    if not (argument.isdecimal() and len(argument) < _LONGEST_NUMBER):
        raise CommandError("Give a version: /rollback N. /versions lists them.")
    session = await conversation.journey.rollback(int(argument))
    conversation.stand(session)
    out.print(
        f"── Back to the state of version {argument}: in {session.current_pathway_id} "
        f"(this is version {session.version}). ──",
        markup=False,
        style="dim",
    )


async def _context(conversation: TerminalConversation, name: str) -> None:
    context = await conversation.journey.snapshot()
    if not name:
        shown = listing("name", "value")
        for key, value in context.items():
            shown.add_row(*row(key, short(value, 500)))
        out.print(shown if shown.row_count else "The context is empty.")
        return
    values = await conversation.journey.context_history(name)
    if not values:
        hint = did_you_mean(name, list(context))
        raise CommandError(f"The context has no value '{name}', now or before.{hint}")
    shown = listing("version", "set by", "value")
    for value in values:
        shown.add_row(*row(value.version, value.pathway_id, short(value.value, 500)))
    out.print(shown)


async def _audit(conversation: TerminalConversation, _: str) -> None:
    shown = listing("turn", "what", "from", "to", "why")
    for entry in await conversation.journey.audit():
        why = " · ".join(part for part in (entry.trigger, entry.reason) if part)
        cells = row(entry.turn, entry.kind, entry.from_pathway, entry.to_pathway, why)
        shown.add_row(*cells)
    out.print(shown if shown.row_count else "No transition has fired yet.")


async def _fields(conversation: TerminalConversation, name: str) -> None:
    await _show_fields(conversation.journey, name)


async def _save(conversation: TerminalConversation, name: str) -> None:
    # Most conversations are not saved, and what plays them again takes long to import.
    from journeygraph.server.conversations.recorder import default_file, record, write_recorded  # noqa: PLC0415

    file = Path(name) if name else default_file(conversation.session_id)
    journey, cassette = conversation.journey, conversation.cassette
    said = Cassette(cassette.answers, records=True) if cassette else None
    recorded = await record(conversation.found, journey.session_id, journey.config, file, said)
    write_recorded(recorded, file)
    show_written(file, recorded.turns, recorded.notes)


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
    "/event": _Slash(_event, "/event NAME [JSON]", "take an event from outside, with its data"),
    "/wait": _Slash(_wait, "/wait TIME", "let a time such as 2 days pass without a message"),
    "/context": _Slash(_context, "/context [NAME]", "the context; with a name, all its values"),
    "/fields": _Slash(_fields, "/fields [NAME]", "the fields; with a name, every attempt"),
    "/save": _Slash(_save, "/save [FILE]", "write the conversation as a test"),
    "/audit": _Slash(_audit, "/audit", "transitions that fired or were refused, with reasons"),
}
