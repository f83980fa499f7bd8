"""A run of a pipeline in words: each event as it comes, and in the end how it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from server.cli.rendering import short

Data = Mapping[str, Any]
_LONG = 200


def line_of(event: Data) -> str:
    """Return an event as a line; empty for one that is shown otherwise."""
    told = _EVENTS.get(event["type"])
    return told(event) if told else ""


def _selected(event: Data) -> str:
    scores = event["scores"]
    chosen = ", ".join(f"{name} ({scores.get(name, 0):.2f})" for name in event["agents"])
    return f"→ {chosen}, chosen {_WAYS.get(event['by'], event['by'])}"


_WAYS = {
    "semantic": "by the words of their cards",
    "llm": "by a model",
    "round-robin": "in turn",
    "random": "at random",
    "all": "as all are",
}
_EVENTS: Mapping[str, Callable[[Data], str]] = {
    "agent_started": lambda event: f"▸ {event['agent']}",
    "agent_finished": lambda event: f"✓ {event['agent']}  {event['seconds']:.3f} s",
    "agent_failed": lambda event: f"✗ {event['agent']}: {short(event['error'], _LONG)}",
    "selected": _selected,
    "voted": lambda event: f"☑ {event['agent']} votes for {event['vote']}",
}


def ending_of(story: Data) -> Iterator[str]:
    """Say how a run ended, line by line.

    Args:
        story: What a pipeline gives back under `pipeline`.
    """
    agents = _count(len({result["agent"] for result in story["results"]}), "agent")
    answers = _count(len(story["results"]), "answer")
    yield f"{story['pattern']}, {story['status']}: {agents}, {answers}"
    for name, told in _STORIES.items():
        if story.get(name):
            yield told(story[name])
    if story["flags"]:
        yield f"flags: {', '.join(story['flags'])}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _planned(plan: list[Data]) -> str:
    again = sum("reassigned_from" in part for part in plan)
    workers = dict.fromkeys(part["worker"] for part in plan)
    done = f", {again} of them by a second worker" if again else ""
    return f"plan: {_count(len(plan), 'part')} for {', '.join(workers)}{done}"


def _agreed(consensus: Data) -> str:
    tally = ", ".join(f"{name} {votes:g}" for name, votes in consensus["tally"].items())
    outcome = f"for {consensus['winner']}" if consensus["reached"] else f"none ({consensus['why']})"
    return f"consensus: {outcome}; votes: {tally or 'none'}"


def _judged(verdict: Data) -> str:
    return f"verdict: {verdict['winner'] or 'nobody'}, by {verdict['by']}"


def _handed(path: list[Data]) -> str:
    steps = [f"{step['from']} → {step['to']} ({short(step['reason'])})" for step in path]
    return f"path: {', '.join(steps)}"


_STORIES: Mapping[str, Callable[[Any], str]] = {
    "plan": _planned,
    "consensus": _agreed,
    "verdict": _judged,
    "path": _handed,
    "rounds": lambda rounds: f"rounds: {rounds}",
    "stopped": lambda why: f"stopped: {why}",
}
