"""Run one agent: fill its inputs, call it, take its outputs as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from journeys import PathwaySpec
from nodes.inputs import payload_of
from nodes.llm.usage import Usage
from nodes.outputs import outputs_of, typed
from nodes.plain import cleaned
from nodes.services import Services
from nodes.state import PARTING, Output, PathwayState, Update


async def run_agent(
    state: PathwayState, services: Services, pathway: PathwaySpec, name: str
) -> Update:
    """Give an agent the pathway's inputs; add its outputs to the pathway's.

    Raises:
        Exception: Whatever the agent raises; the node that calls this names pathway and agent.
        TypeError: It returned what no agent may return, or an output of another type than declared.
        ValueError: It returned something that is not JSON.
    """
    agent = services.agents[pathway.id, name]
    signature = agent.signature or pathway.signature
    payload, flags = payload_of(pathway, signature, state)
    parting = PARTING if state["turn"]["replies"] else ""
    emit = services.emit if _is_live(services, pathway, name) else None
    say = _Speaker(services.usage or Usage(), emit, parting)
    result = await agent.call(payload, say)
    values = typed(signature, outputs_of(result))
    place = pathway.agents.index(name)
    output = Output(place=place, values=values, flags=flags, streamed=say.spoke)
    return {"outputs": [output]}


def _is_live(services: Services, pathway: PathwaySpec, name: str) -> bool:
    """Say whether an agent's words can be heard while it works.

    Only the last of a sequence surely has the word, and what is tried again would be heard twice.
    """
    last = pathway.pipeline == "sequential" and pathway.agents[-1] == name
    return services.listening and last and services.config.error_recovery != "retry"


class _Speaker:
    """Passes on what an agent says while it works; the first words are parted from those before."""

    def __init__(
        self,
        usage: Usage,
        emit: Callable[[Mapping[str, Any]], None] | None = None,
        parting: str = "",
    ) -> None:
        self.usage = usage
        self.live = emit is not None
        self.spoke = False
        self._emit = emit
        self._parting = parting

    def __call__(self, text: str) -> None:
        if self._emit and text:
            said = cleaned(text)
            self._emit({"type": "token", "text": said if self.spoke else self._parting + said})
            self.spoke = True
