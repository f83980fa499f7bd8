"""A process that answers, and is still judging what it said."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from journeygraph import JourneyConfig, Validation
from journeygraph.graphs.storage import leases
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.flow_control.desk import POLITE, VALID, desk, says, told, verdict

LEASE = 0.3
LateDesk = desk(POLITE, __validation__=Validation(mode="after_send"))
RUDE = verdict(0.99, "it is rude")


class Held(ScriptedModel):
    """A model that answers when it is released; `begun` is set when it was asked."""

    _begun: Any = PrivateAttr(default_factory=asyncio.Event)
    _let: Any = PrivateAttr(default_factory=asyncio.Event)

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)

    @property
    def begun(self) -> asyncio.Event:
        event: asyncio.Event = self._begun
        return event

    @property
    def let(self) -> asyncio.Event:
        event: asyncio.Event = self._let
        return event

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        self._begun.set()
        await self._let.wait()
        return await super()._agenerate(*args, **kwargs)


def live(url: str, begun: Any, let: Any, lease: float) -> None:
    """Answer one message; report when its reply is judged, and judge it when it is released."""
    leases.LEASE = lease
    asyncio.run(_live(url, begun, let))


async def _live(url: str, begun: Any, let: Any) -> None:
    model = Held(RUDE)
    config = JourneyConfig(persistence=url)
    async with LateDesk("s-1", config, agents=says("first"), model=model) as talk:
        await talk.process_message("Hi")
        await model.begun.wait()
        begun.set()
        await asyncio.to_thread(let.wait, 110)
        model.let.set()


def talkative(url: str, messages: int, log: str) -> None:
    """Say so many messages; write which replies were judged here."""
    Path(log).write_text("\n".join(asyncio.run(_talkative(url, messages))))


async def _talkative(url: str, messages: int) -> list[str]:
    model = ScriptedModel(always=VALID)
    agents = {"clerk": lambda given: given["message"]}
    async with LateDesk("s-1", JourneyConfig(persistence=url), agents=agents, model=model) as talk:
        for number in range(messages):
            await talk.process_message(f"there {number}")
    return [told(model, number)["reply"] for number in range(len(model.calls))]
