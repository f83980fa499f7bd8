"""Messages by which a user leaves a question of an agent's unanswered."""

from __future__ import annotations

from nodes.commands import Cancel, Human
from nodes.language import Expected, read_message
from nodes.services import Services, setting_of
from nodes.state.session import Turn


def gives_up(services: Services, turn: Turn) -> str:
    """Return why a message is no answer to what is asked; empty if it is one.

    That is where all of it says that the user wants to stop, or to speak to a person.

    Args:
        services: Services of the turn.
        turn: A record with the message, and as `run` the pathway that waits.
    """
    setting = setting_of(services, turn)
    tasks = [p.title for id_, p in services.spec.pathways.items() if id_ == turn["run"]]
    parse = read_message(turn["message"] or "", Expected(None, (), {}, (), setting, tasks))
    if not (parse.certain and parse.whole and len(parse.commands) == 1):
        return ""
    if isinstance(parse.commands[0], Cancel):
        return "the user wants to stop"
    return "the user asks for a person" if isinstance(parse.commands[0], Human) else ""
