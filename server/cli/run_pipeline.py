"""`journeygraph run`: run a pipeline on a message, and show its agents at work."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from journeygraph.journeys import JourneyConfig, ModelAgent, PatternPipeline, Pipeline
from journeygraph.server.cli.terminal.rendering import (
    interruptible,
    listing,
    models_place,
    out,
    plain,
    row,
    short,
)
from journeygraph.server.discover.errors import CommandError, command
from journeygraph.server.discover.journeys import pipeline_ids
from journeygraph.server.discover.modules import called
from journeygraph.server.discover.pipelines import FoundPipeline, find_pipeline
from journeygraph.server.settings import Settings

Data = Mapping[str, Any]
_LONG = 200
_ONLY_FUNCTIONS = "No model is called: agents are ordinary functions."


def run(pipeline: str | None, message: str | None, *, as_json: bool = False) -> None:
    """Run a pipeline once, or list the examples."""
    if pipeline is None:
        _list()
        return
    config = Settings().config("memory://pipelines")
    found = find_pipeline(pipeline, config)
    configured = found.configured(config)
    said = _message(found, message)
    interruptible()
    if as_json:
        outputs = asyncio.run(_outputs(configured, said))
        out.raw(json.dumps(outputs, ensure_ascii=False))
    else:
        _introduce(configured, config, said)
        outputs, spoken = asyncio.run(_watched(configured, said))
        _tell_outcome(outputs, spoken)
    if isinstance(outputs, Mapping) and (error := outputs.get("error")):
        raise CommandError(f"The pipeline failed: {error}")


def _list() -> None:
    shown = listing("name", "pattern", "what it does")
    for name in pipeline_ids():
        found = find_pipeline(name)
        pattern = getattr(found.pipeline, "pattern", "")
        shown.add_row(*row(name, pattern, found.purpose.partition(": ")[2]))
    out.print(shown)
    line = f"Run one: {command()} run {pipeline_ids()[0]}"
    out.print(line, style="dim", markup=False)


def _message(found: FoundPipeline, message: str | None) -> str:
    if message == "-":
        return sys.stdin.read()
    if message is not None:
        return message
    if not found.samples:
        where = called(found.module)
        raise CommandError(
            f"'{where}' has no SAMPLES: write the message after its name.", exit_code=2
        )
    return found.samples[0]


def _introduce(pipeline: Pipeline, config: JourneyConfig, said: str) -> None:
    who = _ONLY_FUNCTIONS
    if models := list(_models(pipeline)):
        place = models_place(config.agent_model)
        who = f"On models{place}: {config.agent_model} is {', '.join(models)}."
    out.print(plain(who), style="dim", markup=False)
    first, *others = said.strip().splitlines() or [""]
    out.print(f"\n[bold cyan]you >[/] {plain(first, markup=True)}")
    if others:
        out.print(f"  (the first of {1 + len(others)} lines)", style="dim")
    out.print()


def _models(pipeline: Any, prefix: str = "") -> Iterator[str]:
    if not isinstance(pipeline, PatternPipeline):
        return
    if "llm" in pipeline.settings.values():
        yield f"who chooses in {prefix or pipeline.name}".rstrip("/")
    for name, agent in pipeline.members.items():
        if isinstance(agent.call, ModelAgent):
            yield f"{prefix}{name}"
        yield from _models(agent.call, f"{prefix}{name}/")


async def _outputs(pipeline: Pipeline, said: str) -> Any:
    return await pipeline.run(message=said)


async def _watched(pipeline: Pipeline, said: str) -> tuple[Any, str]:
    outputs: Any = {}
    spoken, line = "", ""
    async for event in pipeline.stream(message=said):
        if event["type"] == "token":
            out.raw(plain(event["text"]), end="")
            line += event["text"]
            continue
        if line:
            out.raw("")
            spoken, line = line, ""
        if told := _line_of(event):
            out.print(f"  {told}", style="dim", markup=False)
        elif event["type"] == "outputs":
            outputs = event["outputs"]
    return outputs, spoken


def _tell_outcome(outputs: Any, spoken: str) -> None:
    story = outputs.get("pipeline") if isinstance(outputs, Mapping) else None
    reply = _reply(outputs)
    out.print()
    if reply and reply != spoken:
        out.print(plain(reply), style="bold", markup=False)
    for line in _ending_of(story) if story else ():
        out.print(f"  {line}", style="dim", markup=False)


def _reply(outputs: Any) -> str:
    if not isinstance(outputs, Mapping):
        return str(outputs)
    if outputs.get("response") is not None:
        return str(outputs["response"])
    given = {name: value for name, value in outputs.items() if name not in ("pipeline", "error")}
    return json.dumps(given, ensure_ascii=False, default=str) if given else ""


def _line_of(event: Data) -> str:
    told = _EVENTS.get(event["type"])
    return told(event) if told else ""


def _selected(event: Data) -> str:
    scores = event["scores"]
    chosen = ", ".join(f"{name} ({scores.get(name, 0):.2f})" for name in event["agents"])
    if event["by"] == "semantic" and not any(scores.values()):
        return f"→ {', '.join(event['agents'])}: no card fits, so the first in the declared order"
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


def _ending_of(story: Data) -> Iterator[str]:
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
    return f"verdict: {verdict['winner'] or 'none'}, by {verdict['by']}"


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
