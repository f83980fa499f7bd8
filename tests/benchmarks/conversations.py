"""The time that a conversation of a test file takes, against its messages alone."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

from journeygraph import JourneyConfig
from journeygraph.journeys.examples.table_booking import AGENTS, TOOLS, TableBooking
from journeygraph.nodes.json_data import clocked
from journeygraph.server.conversations.conversation_files import (
    LoadedConversation,
    load_conversation,
)
from journeygraph.server.conversations.player import Clock, play
from tests.benchmarks.measure import Figure, Steps, alternate

ROUNDS = 60
CONVERSATION = """
conversation: a correction before the summary
journey: table_booking
clock: 2026-11-24T12:00
turns:
  - user: a table for four tomorrow at 7 pm
  - bot: {asks: guest, fields: {party_size: 4, time: "19:00"}, says: "In which name?"}
  - user: sorry, five people
  - bot: {asks: guest, fields: {party_size: 5}, attempts: {party_size: 2}}
  - user: do you have something vegetarian?
  - bot: {says: trout, transition: menu, stack: [book]}
  - user: Lee
  - bot: {asks: note, stack: []}
  - user: no
  - bot: {effects: [], says: Is that right?}
  - user: "yes"
  - bot: {effects: [book_table], pathway: door, complete: false}
""".replace("trout", "Trout")


def _loaded() -> LoadedConversation:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "booking.conversation.yaml")
        file.write_text(CONVERSATION)
        return load_conversation(file)


async def conversations(steps: Steps) -> list[Figure]:
    """A conversation with what is expected of it, and the same session by `process_message`."""
    loaded = _loaded()
    messages = [turn.user for turn in loaded.conversation.turns if turn.user is not None]

    async def tested() -> None:
        assert (await play(loaded)).passed

    async def spoken() -> None:
        config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")
        with clocked(Clock(loaded.begins)):
            async with TableBooking("s", config, agents=AGENTS, tools=TOOLS, model=False) as one:
                await one.start()
                for message in messages:
                    await one.process_message(message)

    pairs = await alternate(tested, spoken, steps("conversations", ROUNDS))
    return [pairs.rate("conversation tests, offline", "their messages alone", 0.7)]
