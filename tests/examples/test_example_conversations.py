"""The conversations that ship with the examples: all pass, and use every transition."""

from __future__ import annotations

from pathlib import Path

import pytest

from journeygraph.journeys import examples
from journeygraph.server.conversations.conversation_files import (
    conversation_files,
    load_conversation,
)
from journeygraph.server.conversations.coverage import coverages
from journeygraph.server.conversations.player import play
from journeygraph.server.discover.journeys import example_ids

FILES = conversation_files([Path(examples.__path__[0])])


def test_every_example_has_conversations() -> None:
    named = {load_conversation(file).conversation.journey for file in FILES}

    assert named == set(example_ids())


@pytest.mark.parametrize("example", example_ids())
async def test_the_conversations_of_an_example_use_every_pathway_and_transition(example) -> None:
    loaded = [load_conversation(file) for file in FILES if file.name.startswith(example)]

    games = [await play(one, whole=True) for one in loaded]

    assert [(one.loaded.name, one.differences) for one in games if not one.passed] == []
    [covered] = coverages(games)
    missed = [part for part in covered.missed if part.kind in ("pathway", "transition", "effect")]
    assert missed == []
