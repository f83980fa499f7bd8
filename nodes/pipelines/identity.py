"""Identity of a model agent: its card, its role in its pipeline, and the other agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from journeygraph.journeys import Agent, PatternPipeline

MOST_OTHERS = 20
"""Most other agents that are named to an agent."""


class PatternPart(NamedTuple):
    """A part in a pattern: its name, and the work of its agent."""

    name: str
    does: str


_PEERS: Mapping[str, PatternPart] = {
    "sequential": PatternPart(
        "step", "you work one after the other. What those before you gave is in your data."
    ),
    "supervisor_worker": PatternPart(
        "worker", "the supervisor gives you your part of it as `task`."
    ),
    "router": PatternPart("candidate", "you were chosen among all of you to answer this alone."),
    "ensemble": PatternPart("expert", "you give your own view. The synthesizer weighs all views."),
    "blackboard": PatternPart(
        "specialist", "you add to the `board` what the controller needs, by what you can do."
    ),
    "consensus": PatternPart(
        "voter", "you make a proposal of your own, and then vote on the proposals of all."
    ),
    "debate": PatternPart(
        "debater", "you hold the position that you stand for, and answer those of the others."
    ),
    "handoff": PatternPart("colleague", "one of you has the word, and can hand over to another."),
    "parallel": PatternPart("colleague", "all of you work at once, each from their own side."),
}
"""Pattern -> the part of its agents without a role."""
_ROLES: Mapping[str, PatternPart] = {
    "supervisor": PatternPart(
        "the supervisor", "you split the task, and join what the workers do."
    ),
    "synthesizer": PatternPart("the synthesizer", "you make one answer of what the experts give."),
    "controller": PatternPart(
        "the controller", "you say what the `board` lacks, and when it is done."
    ),
    "judge": PatternPart("the judge", "you decide the debate, and take no side before."),
    "aggregator": PatternPart("the aggregator", "you make one answer of what the others give."),
}


def identity_of(
    pipeline: PatternPipeline | None, path: str, registered: Mapping[str, Agent]
) -> str:
    """Return the identity of an agent, as text for a model.

    Args:
        pipeline: The pipeline of its pathway; None if it works alone.
    """
    *outer, name = path.split("/")
    lines: list[str] = []
    for above in outer:
        lines += _place(pipeline, above, registered, f" beside '{above}'")
        pipeline = _within(pipeline, above)
    own = _known(pipeline.members[name], registered) if pipeline else Agent(name=name)
    card = [f"You are the agent '{name}'.", *_card(own)]
    mine = _place(pipeline, name, registered)
    return "\n".join(["Who you are:", *(f"- {line}" for line in [*card, *mine, *lines])])


def _within(pipeline: PatternPipeline | None, name: str) -> PatternPipeline | None:
    inner = pipeline.members[name].call if pipeline else None
    return inner if isinstance(inner, PatternPipeline) else None


def _known(agent: Agent, registered: Mapping[str, Agent]) -> Agent:
    return registered.get(agent.name, agent) if agent.call is None else agent


def _card(agent: Agent) -> Iterator[str]:
    if agent.description:
        yield f"What you are for: {agent.description}"
    for skill in agent.skills:
        also = ", ".join(skill.synonyms)
        told = ": ".join(filter(None, [skill.name, skill.description]))
        yield f"You can do: {told}{f' ({also})' if also else ''}"


def _place(
    pipeline: PatternPipeline | None, name: str, registered: Mapping[str, Agent], of: str = ""
) -> list[str]:
    """Return the part of a member in a pipeline, and the others; nothing if it is alone."""
    if pipeline is None or len(pipeline.members) == 1:
        return []
    part = _part(pipeline, name)
    who = _named(_known(pipeline.members[name], registered))
    subject = f"You work in {who}, which is" if of else "You are"
    peers = [agent.name for agent in pipeline.agents]
    number = f" {peers.index(name) + 1} of {len(peers)}" if name in peers else ""
    others = [
        _other(_known(agent, registered), _part(pipeline, other).name)
        for other, agent in pipeline.members.items()
        if other != name
    ]
    more = f"; and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
    return [
        f"{subject} {part.name}{number}{'.' if of else f': {part.does}'}",
        f"The others{of}: {'; '.join(others[:MOST_OTHERS])}{more}.",
    ]


def _part(pipeline: PatternPipeline, name: str) -> PatternPart:
    role = next((role for role, agent in pipeline.roles.items() if agent.name == name), "")
    return _ROLES.get(role) or _PEERS[pipeline.pattern]


def _other(agent: Agent, part: str) -> str:
    return f"{_named(agent)}, {part}"


def _named(agent: Agent) -> str:
    purpose = agent.description.rstrip(".")
    return f"'{agent.name}'{f' ({purpose})' if purpose else ''}"
