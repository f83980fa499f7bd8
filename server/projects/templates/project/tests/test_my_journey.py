"""The journey in a program. The files `*.conversation.yaml` are tests too."""

import asyncio

import pytest
from journeygraph import JourneyConfig, JourneyResponse

from my_journey import AGENTS, DEMO_MESSAGES, SAMPLE_CONTEXT, TOOLS, MyJourney


async def replies(*messages: str) -> list[JourneyResponse]:
    """Hold a conversation that is stored only in memory."""
    config = JourneyConfig(persistence="memory://")
    async with MyJourney("test", config, agents=AGENTS, tools=TOOLS) as journey:
        await journey.start(SAMPLE_CONTEXT)
        return [await journey.process_message(message) for message in messages]


def test_each_message_of_the_demonstration_gets_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)  # no model: the test needs no network

    for reply in asyncio.run(replies(*DEMO_MESSAGES)):
        assert reply.metadata["error"] is None
        assert reply.message
