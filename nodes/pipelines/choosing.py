"""Choose among agents: by their cards, by a model, in turn, or at random."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeygraph.journeys import Agent, ModelError, PatternPipeline
from journeygraph.nodes.agents import select
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm.call import Question, ask, limited
from journeygraph.nodes.llm.prompts import CHOOSING, as_data
from journeygraph.nodes.llm.structured import SchemaMisfit, object_in
from journeygraph.nodes.pipelines.memory import memory_of
from journeygraph.nodes.services import Services

NO_MATCH = "selection_fallback:no_match"
_SURE = 1.0


@dataclass(frozen=True, slots=True)
class AgentSelection:
    """Selection of agents.

    Attributes:
        chosen: `agent` and `score` of each, best first.
        flags: The reasons if it was not chosen in the requested way.
    """

    chosen: Sequence[Mapping[str, Any]]
    by: str
    flags: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """The names of the chosen, best first."""
        return [item["agent"] for item in self.chosen]


@dataclass(frozen=True, slots=True)
class Chooser:
    """Chooses among the agents of a pipeline in one run.

    Attributes:
        turn: Place of the agent whose turn it is, where a saver keeps it; may be past the last one.
    """

    pipeline: PatternPipeline
    services: Services
    task: str
    turn: int | None = None

    async def choose(self, task: str, agents: Sequence[Agent], k: int, mode: str) -> AgentSelection:
        """Return the best `k` of some agents for a task.

        Without a usable model "llm" falls back to the cards, and these, where nothing fits, to
        the declared order; both are flagged.

        Args:
            mode: "semantic" or "a2a", "llm", "round-robin", "random" or "all"; where there is only
                one, nothing has to be chosen.
        """
        selection = await self._chosen(task, agents, k, mode)
        scores = {item["agent"]: item["score"] for item in selection.chosen}
        self.services.tell("selected", agents=selection.names, by=selection.by, scores=scores)
        return selection

    async def _chosen(
        self, task: str, agents: Sequence[Agent], k: int, mode: str
    ) -> AgentSelection:
        if mode == "round-robin":
            return self._in_turn(agents, k)
        if mode == "all" or len(agents) == 1:
            return AgentSelection([_item(agent.name, _SURE) for agent in agents], "all")
        if mode == "random":
            drawn = random.sample(list(agents), min(k, len(agents)))
            return AgentSelection([_item(agent.name, _SURE) for agent in drawn], mode)
        if mode == "llm":
            return await self._by_model(task, agents, k)
        return await self._by_cards(task, agents, k)

    def _in_turn(self, agents: Sequence[Agent], k: int) -> AgentSelection:
        # In the order of all, though only some may be chosen from now: nobody is passed over.
        memory = memory_of(self.pipeline)
        order = [agent.name for agent in self.pipeline.agents]
        first = (memory.turn if self.turn is None else self.turn) % len(order)
        free = {agent.name for agent in agents}
        names = [name for name in [*order[first:], *order[:first]] if name in free][:k]
        memory.turn = order.index(names[0]) + 1
        return AgentSelection([_item(name, _SURE) for name in names], "round-robin")

    async def _by_cards(self, task: str, agents: Sequence[Agent], k: int) -> AgentSelection:
        found = await select.choose(task, agents, k, self.pipeline.embed)
        chosen = [_item(match.name, match.score) for match in found.matches]
        return AgentSelection(chosen, "semantic", found.flags)

    async def _by_model(self, task: str, agents: Sequence[Agent], k: int) -> AgentSelection:
        try:
            names = await self._asked(task, agents, k)
        except ModelError as failure:
            found = await self._by_cards(task, agents, k)
            flags = (f"selection_fallback:model_{failure.kind}", *found.flags)
            return AgentSelection(found.chosen, found.by, flags)
        return AgentSelection([_item(name, _SURE) for name in names], "llm")

    async def _asked(self, task: str, agents: Sequence[Agent], k: int) -> list[str]:
        models, config = self.services.models, self.services.config
        if models is None:
            raise ModelError("not_configured", "no model is configured to choose an agent")
        asked = {"task": task, "choose": k, "agents": [agent.card_data for agent in agents]}
        messages = [
            {"role": "system", "content": CHOOSING},
            {"role": "user", "content": as_data(asked)},
        ]
        question = Question(messages, "choice", _schema(agents), strict=True)
        until = asyncio.get_running_loop().time() + config.intent_timeout_seconds
        usage = self.services.usage or Usage()
        chat = limited(models.step(config.agent_model), config, config.intent_max_tokens)
        answer = await ask(chat, question, until, usage)
        return _names(answer.text, agents, k)


def _item(name: str, score: float) -> dict[str, Any]:
    return {"agent": name, "score": round(score, 4)}


def _schema(agents: Sequence[Agent]) -> dict[str, Any]:
    names = {"type": "string", "enum": [agent.name for agent in agents]}
    return {
        "type": "object",
        "properties": {
            "agents": {"type": "array", "items": names},
            "reason": {"type": "string"},
        },
        "required": ["agents", "reason"],
        "additionalProperties": False,
    }


def _names(text: str, agents: Sequence[Agent], k: int) -> list[str]:
    known = {agent.name for agent in agents}
    try:
        given = object_in(text).get("agents")
    except SchemaMisfit as fault:
        raise ModelError("malformed", f"the model's choice is not valid: {fault}") from fault
    listed = given if isinstance(given, list) else []
    names = [name for name in dict.fromkeys(map(str, listed)) if name in known]
    if not names:
        said = json.dumps(given)[:100]
        raise ModelError("malformed", f"the model chose an unknown agent: {said}")
    return names[:k]
