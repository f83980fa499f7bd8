"""`journeygraph run`: give a pipeline a message, and watch who works on it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from journeys import JourneyConfig, ModelAgent, PatternPipeline, Pipeline
from server.cli.edge import CommandError, interruptible
from server.cli.finding import pipeline_ids
from server.cli.loading import called
from server.cli.pipelines import PIPELINE_NAMES, FoundPipeline, find_pipeline
from server.cli.rendering import command, models_place, out, plain, row, table
from server.cli.watching import ending_of, line_of
from server.settings import Settings

_ONLY_FUNCTIONS = "No model is asked: agents are ordinary functions."


def run(
    pipeline: Annotated[
        str | None,
        typer.Argument(help=f"{PIPELINE_NAMES} Without it, the examples are listed."),
    ] = None,
    message: Annotated[
        str | None,
        typer.Argument(
            help="What it is given; '-' reads it from standard input. Default: its first sample."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the outputs as JSON, and nothing else.")
    ] = False,
) -> None:
    """Run a pipeline once: who works, is chosen, votes or fails, the reply, and how it came about.

    Without a model configured, the examples run on functions over their material. Exit code 1: the
    pipeline failed as a whole.
    """
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
        out.print(json.dumps(outputs, ensure_ascii=False), markup=False, soft_wrap=True)
    else:
        _introduce(configured, config, said)
        outputs, spoken = asyncio.run(_watched(configured, said))
        _tell_outcome(outputs, spoken)
    if isinstance(outputs, Mapping) and (error := outputs.get("error")):
        raise CommandError(f"It failed: {error}")


def _list() -> None:
    shown = table("name", "pattern", "what it does")
    for name in pipeline_ids():
        found = find_pipeline(name)
        pattern = getattr(found.pipeline, "pattern", "")
        shown.add_row(*row(name, pattern, found.purpose.partition(": ")[2]))
    out.print(shown)
    line = f"Run one: {command()} run {pipeline_ids()[0]}"
    out.print(line, style="dim", markup=False, soft_wrap=True)


def _message(found: FoundPipeline, message: str | None) -> str:
    if message == "-":
        return sys.stdin.read()
    if message is not None:
        return message
    if not found.samples:
        where = called(found.module)
        raise CommandError(
            f"'{where}' has no SAMPLES: write what it is given after its name.", exit_code=2
        )
    return found.samples[0]


def _introduce(pipeline: Pipeline, config: JourneyConfig, said: str) -> None:
    who = _ONLY_FUNCTIONS
    if models := list(_models(pipeline)):
        place = models_place(config.agent_model)
        who = f"On models{place}: {config.agent_model} is {', '.join(models)}."
    out.print(plain(who), style="dim", markup=False, soft_wrap=True)
    first, *others = said.strip().splitlines() or [""]
    out.print(f"\n[bold cyan]you >[/] {plain(first, markup=True)}", soft_wrap=True)
    if others:
        out.print(f"  (the first of {1 + len(others)} lines)", style="dim")
    out.print()


def _models(pipeline: Any, prefix: str = "") -> Iterator[str]:
    """Yield whom models are in it: agents by their paths, and whoever chooses among them."""
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
    """Run it and write its events as they come; return its outputs, and what was spoken."""
    outputs: Any = {}
    spoken = line = ""
    async for event in pipeline.stream(message=said):
        if event["type"] == "token":
            out.print(plain(event["text"]), end="", markup=False, soft_wrap=True)
            line += event["text"]
            continue
        if line:
            out.print()
            spoken, line = line, ""
        if told := line_of(event):
            out.print(f"  {told}", style="dim", markup=False, soft_wrap=True)
        elif event["type"] == "outputs":
            outputs = event["outputs"]
    return outputs, spoken


def _tell_outcome(outputs: Any, spoken: str) -> None:
    """Write the reply unless it was spoken, or outputs without one, and how it came about."""
    story = outputs.get("pipeline") if isinstance(outputs, Mapping) else None
    reply = _reply(outputs)
    out.print()
    if reply and reply != spoken:
        out.print(plain(reply), style="bold", markup=False, soft_wrap=True)
    for line in ending_of(story) if story else ():
        out.print(f"  {line}", style="dim", markup=False, soft_wrap=True)


def _reply(outputs: Any) -> str:
    if not isinstance(outputs, Mapping):
        return str(outputs)
    if outputs.get("response") is not None:
        return str(outputs["response"])
    given = {name: value for name, value in outputs.items() if name not in ("pipeline", "error")}
    return json.dumps(given, ensure_ascii=False, default=str) if given else ""
