"""Hold the examples with a real model: `python -m tests.live.run [SCENE ...]`, all without a name.

It needs OPENAI_API_KEY, and talks to OPENAI_BASE_URL if that is set. The exit code is 0 if all
that must hold did, 1 if something did not, and 2 without a key: then nothing was proved, which is
not the same as success.

With `--local` it starts llama.cpp's server with a small model, needs no key, and sends 60 messages
at five places as well; `--messages 5` sends some of them, and holds no scene. The checks of the
scenes do not count then, since the model knows nothing: valid answers, limits and effects do.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from dataclasses import dataclass, field, replace

from rich.console import Console

from journeygraph import JourneyConfig, JourneyError, JourneyResponse
from journeygraph.nodes.llm.models import is_configured
from journeygraph.server.settings import Settings
from tests.live import local, peer
from tests.live.places import each
from tests.live.scenes import Scene, Step, scenes
from tests.live.wire import watched

_NO_KEY = (
    "OPENAI_API_KEY is not set, so nothing was held and nothing is proved. Set it, and"
    " OPENAI_BASE_URL for another server than OpenAI's."
)


@dataclass
class Tally:
    """The result of a scene."""

    held: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0


def main(words: list[str]) -> int:
    """Hold the scenes of these names, or all, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make live")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--local", action="store_true", help="with a small model of this machine")
    parser.add_argument("--messages", type=int, help="send so many messages, and hold no scene")
    asked = parser.parse_args(words)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    known = {scene.name: scene for scene in scenes()}
    if unknown := [name for name in asked.scenes if name not in known]:
        console.print(f"No scene {', '.join(unknown)}. There are: {', '.join(known)}.")
        return 2
    if asked.local:
        return _held_locally(asked.scenes or [*known], asked.messages, console)
    return _held_elsewhere(asked.scenes or [*known], console)


def _held_locally(names: list[str], most: int | None, console: Console) -> int:
    program = peer.python()
    if program is None:
        console.print("There is no server on this machine: `make peer` gets it. Nothing is proved.")
        return 2
    with peer.serving(program) as url:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        config = replace(JourneyConfig(persistence="memory://live"), **local.SETTINGS)
        console.print(f"server: llama.cpp; model: {peer.MODEL}")
        report = asyncio.run(_reported([] if most else names, most, config, url, console))
    console.print()
    for name, value in report.rows():
        console.print(f"{name:<50} {value}")
    for crash in report.crashes:
        console.print(f"  FAIL {crash}")
    return 0 if report.holds else 1


async def _reported(
    names: list[str], most: int | None, config: JourneyConfig, url: str, console: Console
) -> local.Report:
    known = {scene.name: scene for scene in scenes()}
    with watched(url) as exchanges:
        for name in names:
            _sum_up(name, await _held(known[name], config, console), console)
    report = await local.hold([*each(most)], config, url, console)
    report.exchanges = [*exchanges, *report.exchanges]
    return report


def _held_elsewhere(names: list[str], console: Console) -> int:
    config = Settings().config("memory://live")
    if not is_configured(None, config):
        console.print(_NO_KEY)
        return 2
    known = {scene.name: scene for scene in scenes()}
    console.print(f"server: {os.environ.get('OPENAI_BASE_URL') or 'the default of the client'}")
    console.print(f"models: {config.agent_model}, {config.intent_detection_model} for intents")
    tallies = {name: asyncio.run(_held(known[name], config, console)) for name in names}
    for name, tally in tallies.items():
        _sum_up(name, tally, console)
    return 1 if any(tally.failed for tally in tallies.values()) else 0


async def _held(scene: Scene, config: JourneyConfig, console: Console) -> Tally:
    """Hold one scene to its end; after a failed check the rest of it is held all the same."""
    tally = Tally()
    console.print(f"\n{scene.name}")
    async with scene.journey("live", config, agents=scene.agents) as journey:
        await journey.start(dict(scene.context))
        for number, step in enumerate(scene.steps, 1):
            console.print(f"\n{number}. > {step.message}")
            begin = time.perf_counter()
            try:
                reply = await journey.process_message(step.message)
            except JourneyError as error:
                console.print(f"   failed: {type(error).__name__}: {error}")
                tally.failed.append(f"turn {number}: {type(error).__name__}")
                break
            took = time.perf_counter() - begin
            _show(reply, took, tally, console)
            _judge(number, step, reply, tally, console)
        await journey.delete()
    return tally


def _show(reply: JourneyResponse, took: float, tally: Tally, console: Console) -> None:
    usage = reply.metadata["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    tally.seconds += took
    tally.calls += usage["model_calls"]
    tally.tokens += tokens
    for line in reply.message.splitlines():
        console.print(f"   {line}")
    ran = " -> ".join(reply.metadata["ran"]) or "nothing"
    console.print(
        f"   in {reply.pathway_id}, ran {ran}; {took:.1f} s, model calls: {usage['model_calls']},"
        f" tokens: {usage['input_tokens']} in, {usage['output_tokens']} out"
    )
    if flags := reply.metadata["flags"]:
        console.print(f"   flags: {', '.join(flags)}")


def _judge(number: int, step: Step, reply: JourneyResponse, tally: Tally, console: Console) -> None:
    error = reply.metadata["error"]
    verdicts = {"nothing failed": error is None}
    verdicts |= {words: check(reply) for words, check in step.checks.items()}
    for words, holds in verdicts.items():
        console.print(f"   {'ok  ' if holds else 'FAIL'} {words}")
        if holds:
            tally.held += 1
        else:
            tally.failed.append(f"turn {number}: {words}")
    if error:
        console.print(f"        {error}")


def _sum_up(name: str, tally: Tally, console: Console) -> None:
    console.print(
        f"\n{name}: {tally.held} checks held, {len(tally.failed)} did not; {tally.seconds:.1f} s,"
        f" model calls: {tally.calls}, tokens: {tally.tokens}"
    )
    for failure in tally.failed:
        console.print(f"  FAIL {failure}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
