"""`journeygraph test`, `record` and `explore`: all that plays conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from journeygraph.graphs.session.directory import Directory
from journeygraph.journeys import JourneyConfig, examples
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.spec.model_names import KEY
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.server.cli.terminal.rendering import (
    err,
    interruptible,
    listing,
    out,
    plain,
    progress,
    row,
    show_written,
    write_json,
)
from journeygraph.server.conversations.conversation_files import (
    LoadedConversation,
    conversation_files,
    load_conversation,
)
from journeygraph.server.conversations.coverage import Coverage, coverages
from journeygraph.server.conversations.explorer import (
    Explored,
    ExplorerFinding,
    SearchBounds,
    explore,
)
from journeygraph.server.conversations.player import Played, play, record_model
from journeygraph.server.conversations.recorder import default_file, record, write_recorded
from journeygraph.server.conversations.reports import (
    Runs,
    as_data,
    failure_lines,
    heading,
    pass_hats,
    runs_as_data,
    runs_of,
    summary,
    write_junit,
)
from journeygraph.server.conversations.simulated import Talk, play_talk, talks_of, write_test
from journeygraph.server.conversations.stubs import LiveModel
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import example_ids, find
from journeygraph.server.settings import StorePlace


def play_files(
    paths: Sequence[str],
    junit: Path | None,
    failures: Path | None,
    *,
    models: ConversationModels,
    as_json: bool = False,
    coverage: bool = False,
) -> None:
    """Play the conversations of files and folders."""
    interruptible()
    try:
        loaded = _loaded(conversation_files(paths))
        games = asyncio.run(_played(loaded, models, quiet=as_json, whole=coverage))
    except CommandError as error:
        if as_json:  # a program reads the faults where it reads the outcomes
            write_json({"conversations": [], "faults": [*map(_fault, error.lines)]})
        raise
    runs = runs_of(games)
    covered = coverages(games) if coverage else []
    if junit:
        write_junit(games, junit)
    if as_json:
        _write(games, runs, covered, coverage=coverage)
    else:
        _show_outcome(games, runs, covered)
    if failures:
        _write_failures(games, failures)
    if not all(played.passed for played in games):
        raise typer.Exit(1)


def _write_failures(games: Sequence[Played], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for played in games:
        if isinstance(played.loaded, Talk) and not played.passed:
            err.print(plain(f"Written: {write_test(played, folder)}"), markup=False)


def _fault(line: str) -> dict[str, Any]:
    return (line if isinstance(line, Fault) else Fault(line)).as_data()


def _write(
    games: Sequence[Played], runs: Sequence[Runs], covered: Sequence[Coverage], *, coverage: bool
) -> None:
    data: dict[str, Any] = {"conversations": [as_data(played) for played in games]}
    data |= {"coverage": [one.as_data() for one in covered]} if coverage else {}
    write_json(data | (runs_as_data(runs) if runs else {}))


def record_session(
    session: str, journey: str, place: StorePlace, output: Path | None, *, live: bool = False
) -> None:
    """Write the conversation of a stored session as a test."""
    settings, file = place.settings(), output or default_file(session)
    config = place.config()
    found = find(journey or asyncio.run(_example_of(session, config)))
    settings.require_key(found.journey.spec)
    if live and not found.has_model(config):
        raise CommandError(f"--live: no model is configured. Set {KEY}.", exit_code=2)
    cassette = Cassette(model=found.model, records=True) if live else None
    recorded = asyncio.run(record(found, session, config, file, cassette))
    write_recorded(recorded, file)
    show_written(file, recorded.turns, recorded.notes)


async def _example_of(session: str, config: JourneyConfig) -> str:
    """Return the journey of a session, if it is an example: no id of a store is imported."""
    directory = await Directory.open(config)
    try:
        listed = await directory.find(session)
    finally:
        await directory.close()
    if listed is None:
        raise CommandError(f"There is no session '{session}' in the store.")
    if listed.journey_id not in example_ids():
        said = f"Session '{session}' is one of '{listed.journey_id}'. Name it: --journey NAME."
        raise CommandError(said, exit_code=2)
    return listed.journey_id


def _loaded(files: Sequence[Path]) -> list[LoadedConversation]:
    loaded: list[LoadedConversation] = []
    faults: list[str] = []
    for file in files:
        try:
            loaded.append(load_conversation(file))
        except CommandError as error:
            faults += error.lines
    if faults:
        raise CommandError(*faults, exit_code=2)
    return loaded


@dataclass(frozen=True)
class ConversationModels:
    """Models of the conversations of a command.

    Attributes:
        records: True to record the answers for those that are to be recorded.
        live: True to play these with the model of the settings, too.
        runs: The number of runs of each conversation with a live model or simulated users.
    """

    records: bool = False
    live: bool = False
    runs: int = 1

    async def games(self, loaded: LoadedConversation, *, whole: bool) -> AsyncIterator[Played]:
        """Play a conversation as often as it is wanted."""
        wanted = loaded.conversation.model
        if loaded.conversation.users:
            async for played in self._talks(loaded, whole=whole):
                yield played
        elif wanted == "recorded" and self.records:
            yield await record_model(loaded, whole=whole)
        elif wanted == "live" or (wanted and self.live):
            for number in range(1, self.runs + 1):
                played = await play(loaded, whole=whole, model=LiveModel.of(loaded.found))
                played.run = 0 if played.skipped else number
                yield played
                if played.skipped:
                    return
        else:
            yield await play(loaded, whole=whole)

    async def _talks(self, loaded: LoadedConversation, *, whole: bool) -> AsyncIterator[Played]:
        for number in range(1, self.runs + 1):
            for talk in talks_of(loaded, number):
                played = await play_talk(talk, whole=whole)
                played.run = 0 if played.skipped else number
                yield played


async def _played(
    loaded: Sequence[LoadedConversation], models: ConversationModels, *, quiet: bool, whole: bool
) -> list[Played]:
    games = []
    # Without a terminal, the lines of the conversations are the progress.
    with progress("Playing", len(loaded), quiet=quiet) as step:
        for one in loaded:
            step(one.path.name, done=0)
            async for played in models.games(one, whole=whole):
                games.append(played)
                if not quiet:
                    _show(played)
            step(one.path.name)
    return games


def _show_runs(runs: Sequence[Runs]) -> None:
    listed = listing("conversation", "passed", "of")
    for one in runs:
        listed.add_row(*row(one.file, one.passed, one.total))
    out.print(listed)
    hats = "  ".join(f"pass^{k} {share:.0%}" for k, share in pass_hats(runs).items())
    out.print(hats, markup=False)


def _show(played: Played) -> None:
    style = "dim" if played.skipped else "green" if played.passed else "bold red"
    out.print(plain(heading(played)), style=style, markup=False)
    for note in played.notes:
        out.print(plain(f"    ! {note}"), style="yellow", markup=False)
    for line in () if played.passed else failure_lines(played):
        out.print(plain(line), markup=False)


def _show_outcome(
    games: Sequence[Played], runs: Sequence[Runs], covered: Sequence[Coverage]
) -> None:
    if runs:
        _show_runs(runs)
    out.print(f"\n{summary(games)}", markup=False)
    for one in covered:
        _show_coverage(one)


def _show_coverage(covered: Coverage) -> None:
    out.print(f"\nCoverage of {covered.spec.id}", style="bold", markup=False)
    counts = listing("kind", "used", "of")
    for kind, (used, total) in covered.counts.items():
        counts.add_row(*row(kind, used, total))
    out.print(counts)
    for part in covered.missed:
        line = f"✗ {part.kind} {part.name}  {part.place}"
        out.print(plain(line), style="yellow", markup=False)


def explore_journey(
    journey: str,
    given: Sequence[str],
    seconds: float,
    *,
    as_json: bool = False,
    effects: bool = False,
) -> None:
    """Search a journey and show what was found."""
    found = find(journey)
    # The effects of the examples reach nothing outside of the process.
    effects = effects or found.module.__name__.startswith(f"{examples.__name__}.")
    interruptible()
    with progress("Exploring", quiet=as_json) as step:

        def watch(outcome: Explored) -> None:
            step(_counts(outcome))

        limits = SearchBounds(seconds=seconds)
        searched = explore(found, limits=limits, given=given, effects=effects, watch=watch)
        outcome = asyncio.run(searched)
    if as_json:
        write_json(outcome.as_data())
    else:
        _show_explored(outcome, made_up=not effects)
    if any(one.is_fault for one in outcome.findings):
        raise typer.Exit(1)


def _counts(outcome: Explored) -> str:
    spec = outcome.spec
    return (
        f"{outcome.states} states, {outcome.turns} turns, "
        f"{len(outcome.visited)} of {len(spec.pathways)} pathways, "
        f"{len(outcome.fired)} of {len(spec.transitions)} transitions"
    )


def _show_explored(outcome: Explored, *, made_up: bool) -> None:
    out.print(f"{_counts(outcome)} ({outcome.seconds:.1f} s)", markup=False)
    if not outcome.whole:
        line = "The search ended at a bound; --seconds gives it more time."
        out.print(line, style="yellow")
    if made_up and any(pathway.effects for pathway in outcome.spec.pathways.values()):
        line = "The results of effects were made up; --effects calls their functions."
        out.print(line, style="yellow")
    faults = [one for one in outcome.findings if one.is_fault]
    for one in outcome.findings:
        _show_finding(one)
    said = f"{len(faults)} fault{'s' * (len(faults) != 1)}" if faults else "No faults"
    out.print(f"\n{said}.", style="bold red" if faults else "green")


def _show_finding(one: ExplorerFinding) -> None:
    mark, style = ("✗", "bold red") if one.is_fault else ("?", "yellow")
    line = f"\n{mark} {one.kind}: {one.what}: {one.why}  {one.place}"
    out.print(plain(line), style=style, markup=False)
    for message in one.conversation:
        out.print(plain(f"    user  {message}"), markup=False)
