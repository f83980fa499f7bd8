"""Let simulated users talk to a journey: one conversation for each run, until it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from journeygraph.journeys import ModelError
from journeygraph.nodes.features.takeover import WITH_PERSON
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.llm.client import Chat
from journeygraph.server.conversations.conversation_files import (
    loaded_from,
    recording_of,
    write_recording,
)
from journeygraph.server.conversations.conversation_form import Stub, Stubs, Turn
from journeygraph.server.conversations.expectations import Seen, matches
from journeygraph.server.conversations.explorer import state_of
from journeygraph.server.conversations.player import Game, Played, play
from journeygraph.server.conversations.recorder import as_yaml, journey_name
from journeygraph.server.conversations.samples import results_of_effects
from journeygraph.server.conversations.stubs import RecordedModel
from journeygraph.server.discover.journeys import Found
from journeygraph.server.simulation.personas import Goal, Persona, Personas, Reached
from journeygraph.server.simulation.users import ModelUser, ScriptedUser, User

COMPLETED, MISSED, DEAD_END, HANDED_OVER = "completed", "missed", "dead end", "handed over"
LEFT, FAILED, BOUND = "left", "failed", "bound"
ENDS: Mapping[str, str] = {
    COMPLETED: "the goal was reached",
    MISSED: "the journey was complete without the goal",
    DEAD_END: "no progress until the patience of the user ended",
    HANDED_OVER: "a person has the conversation",
    LEFT: "the user left",
    FAILED: "a turn, or the model that plays the user, failed",
    BOUND: "the longest conversation was reached",
}
"""Ends of runs, in the order in which they are shown."""
_NO_FAILURE = (COMPLETED, LEFT)


@dataclass(frozen=True)
class Plan:
    """The extent of a simulation.

    Attributes:
        sessions: Runs of each persona with each goal.
        turns: Most messages of a run.
        tokens: Most tokens of all models in all runs; then no further run begins.
        seed: The beginning of all random numbers.
        effects: True to call the functions of effects; otherwise their results are invented.
        live: True to give the journey its model.
        chat: The model that plays the users; None: they are scripted.
    """

    sessions: int = 5
    turns: int = 40
    tokens: int = 500_000
    seed: int = 1
    effects: bool = False
    live: bool = False
    chat: Chat | None = None


@dataclass
class Run:
    """One conversation of a simulated user.

    Attributes:
        persona: Id of the persona.
        goal: Id of the goal.
        number: Number of the run of both, from 1.
        end: One of ENDS.
        why: The error of a failed run.
        turns: Messages of the user.
        corrections: Changes of values that had been given.
        refusals: Values that were refused.
        tokens: Tokens of all models.
        seconds: The duration.
        played: The conversation.
        document: It as a conversation file, without its end.
        answers: The recorded answers of the journey's model.
    """

    persona: str
    goal: str
    number: int
    end: str = BOUND
    why: str = ""
    turns: int = 0
    corrections: int = 0
    refusals: int = 0
    tokens: int = 0
    seconds: float = 0.0
    played: Played | None = field(default=None, repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False)
    answers: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Its name: persona, goal, number."""
        return f"{self.persona}-{self.goal}-{self.number}"

    def count(self, played: Played, user: User) -> None:
        """Take the figures of a played conversation."""
        self.played, self.seconds, self.turns = played, played.seconds, played.turns
        self.corrections = sum(row.kind == "field_corrected" for row in played.audit)
        self.refusals = sum(one.validation_status == "invalid" for one in played.attempts)
        spent = [response.metadata["usage"] for response in played.responses]
        self.tokens = user.usage.input_tokens + user.usage.output_tokens
        self.tokens += sum(one["input_tokens"] + one["output_tokens"] for one in spent)

    @property
    def has_failed(self) -> bool:
        """Return whether the journey did not bring the user to the goal."""
        return self.end not in _NO_FAILURE

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON."""
        lines = self.played.lines if self.played else ()
        return {
            "persona": self.persona,
            "goal": self.goal,
            "run": self.number,
            "end": self.end,
            "why": self.why,
            "turns": self.turns,
            "corrections": self.corrections,
            "refusals": self.refusals,
            "tokens": self.tokens,
            "transcript": [{"who": line.who, "text": line.text} for line in lines],
        }

    def write(self, folder: Path) -> Path:
        """Write it as a conversation that ends with what the goal wants.

        Raises:
            CommandError: A key is among the recorded answers.
            OSError: It cannot be written.
        """
        file = folder / f"{self.name}.conversation.yaml"
        if self.answers:
            write_recording(recording_of(file), self.answers)
        file.write_text(as_yaml(self.document), encoding="utf-8")
        return file


@dataclass
class Simulation:
    """Outcome of a simulation.

    Attributes:
        runs: The runs.
        whole: False if the bound of tokens ended it.
    """

    runs: list[Run] = field(default_factory=list)
    whole: bool = True

    @property
    def tokens(self) -> int:
        """Tokens of all models."""
        return sum(run.tokens for run in self.runs)

    def groups(self) -> dict[tuple[str, str], list[Run]]:
        """Return the runs by persona and goal."""
        found: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            found.setdefault((run.persona, run.goal), []).append(run)
        return found

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "whole": self.whole,
            "tokens": self.tokens,
            "groups": [
                {"persona": persona, "goal": goal, **figures(runs)}
                for (persona, goal), runs in self.groups().items()
            ],
            "runs": [run.as_data() for run in self.runs],
        }


def figures(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the figures of some runs: how they ended, and means."""
    count = len(runs)
    ends = Counter(run.end for run in runs)
    return {
        "runs": count,
        "ends": {end: ends[end] for end in ENDS},
        "completion": round(ends[COMPLETED] / count, 4) if count else 0.0,
        "mean_turns": round(sum(run.turns for run in runs) / count, 2) if count else 0.0,
        "corrections": sum(run.corrections for run in runs),
        "refusals": sum(run.refusals for run in runs),
    }


async def simulate(
    found: Found,
    users: Personas,
    plan: Plan,
    folder: Path,
    watch: Callable[[Run], None] | None = None,
) -> Simulation:
    """Let each persona try each goal.

    Args:
        found: The journey.
        users: The personas and goals.
        plan: The extent.
        folder: The existing folder from which files of runs name the journey.
        watch: Called after each run.

    Raises:
        CommandError: Agents or tools of the journey are missing.
    """
    done = Simulation()
    for persona in users.personas:
        for goal in users.goals:
            for number in range(1, plan.sessions + 1):
                if done.tokens >= plan.tokens:
                    done.whole = False
                    return done
                run = await _Trial(found, users, plan, persona, goal, folder).held(number)
                done.runs.append(run)
                if watch:
                    watch(run)
    return done


@dataclass
class _Trial:
    """One conversation that is to be held."""

    found: Found
    users: Personas
    plan: Plan
    persona: Persona
    goal: Goal
    folder: Path

    async def held(self, number: int) -> Run:
        """Hold the conversation."""
        run = Run(self.persona.id, self.goal.id, number)
        file = self.folder / f"{run.name}.conversation.yaml"
        document, user = self._document(run, file), self._user(number)
        opening = {**document, "turns": [{"user": self.goal.opens[0]}]}
        loaded = replace(loaded_from(as_yaml(opening), file), found=self.found)
        game = partial(_Simulated, user=user, run_=run, trial=self)
        cassette = Cassette(model=self.found.model, records=True) if self.plan.live else None
        model = RecordedModel(cassette) if cassette else None
        played = await play(loaded, whole=True, game=game, model=model)
        if played.differences:  # the turn itself failed
            run.end, run.why = FAILED, str(played.differences[0])
        run.count(played, user)
        run.answers = cassette.answers if cassette else ()
        turns = [{"user": line.text} for line in played.lines if line.who == "user"]
        end = {"bot": dict(_wanted(self.goal.reaches))}
        about = f"{self.persona.id}, {self.goal.id}, run {run.number}: {run.end}"
        run.document = {**document, "conversation": about, "turns": [*turns, end]}
        return run

    def _user(self, number: int) -> User:
        if self.plan.chat is not None:
            return ModelUser(self.persona, self.goal, self.plan.chat)
        chances = Random(f"{self.plan.seed} {self.persona.id} {self.goal.id} {number}")
        spec, phrases = self.found.journey.spec, self.users.phrases
        return ScriptedUser(self.persona, self.goal, spec, phrases, chances)

    def _document(self, run: Run, file: Path) -> dict[str, Any]:
        """Return the beginning of the conversation, as a file has it."""
        clock = self.users.clock or datetime.now(UTC)
        document: dict[str, Any] = {
            "conversation": run.name,
            "journey": journey_name(self.found, file),
            "clock": clock.isoformat(timespec="seconds"),
        }
        locale, context = self.users.locale, self.users.context
        context = self.found.sample_context if context is None else context
        made_up = {} if self.plan.effects else results_of_effects(self.found.journey.spec)
        given = {
            "locale": dict(locale.parts),
            "context": dict(context),
            "tools": _results({**made_up, **self.users.tools}),
            "agents": _results(self.users.agents),
            "model": "recorded" if self.plan.live else "",
        }
        return {**document, **{name: value for name, value in given.items() if value}}


def _results(stubs: Stubs) -> dict[str, Any]:
    """Return results of functions as a file has them."""

    def written(one: Stub) -> dict[str, Any]:
        return {name: getattr(one, name) for name in one.model_fields_set}

    return {
        name: written(given) if isinstance(given, Stub) else [written(one) for one in given]
        for name, given in stubs.items()
    }


def _wanted(end: Reached) -> Iterator[tuple[str, Any]]:
    """Yield the expectations of the last turn."""
    for name in ("complete", "pathway"):
        if name in end.model_fields_set:
            yield name, getattr(end, name)
    if end.effects:
        yield "effects", list(end.effects)
    if end.context:
        yield "context", dict(end.context)
    if end.person:
        yield "flags", [WITH_PERSON]


class _Simulated(Game):
    """A conversation whose messages come from a simulated user."""

    def __init__(self, *given: Any, user: User, run_: Run, trial: _Trial) -> None:
        super().__init__(*given)
        self._user, self._run, self._trial = user, run_, trial
        self._taken: list[str] = []
        self._states: set[Any] = set()
        self._idle = 0

    async def run(self) -> None:
        """Hold the conversation until it ends."""
        await self.begin()
        while self.played.turns < self._trial.plan.turns:
            try:
                message = await self._user.next(self.seen)
            except ModelError as error:
                self._run.end, self._run.why = FAILED, f"the user: {error}"
                return
            if message is None:
                self._run.end = LEFT
                return
            await self.step(Turn(user=message))
            if end := await self._end():
                self._run.end = end
                return

    async def _end(self) -> str:
        """Return the end of the conversation; empty if it continues."""
        await self.read_audit()
        self._taken += self.seen.effects
        failed = self.seen.metadata["error"]
        if failed or self.played.differences:
            self._run.why = str((failed or {}).get("message", ""))
            return FAILED
        with_person = WITH_PERSON in self.seen.metadata["flags"]
        if self._is_reached(self._trial.goal.reaches, self.seen, with_person):
            return COMPLETED
        if with_person:
            return HANDED_OVER
        if self.seen.complete:
            return MISSED
        return DEAD_END if self._is_stuck() else ""

    def _is_reached(self, end: Reached, seen: Seen, with_person: bool) -> bool:
        wanted = (
            end.complete is None or end.complete == seen.complete,
            not end.pathway or end.pathway == seen.pathway,
            not {*end.effects} - {*self._taken},
            all(matches(value, seen.context.get(name)) for name, value in end.context.items()),
            with_person or not end.person,
        )
        return all(wanted)

    def _is_stuck(self) -> bool:
        """Return whether nothing was won for too many turns."""
        assert self.seen.response is not None
        # Where nothing is asked, as by an agent, another reply is all the progress there is.
        reply = "" if self.seen.asked else self.seen.reply
        state = state_of(self.seen.response), len(self._taken), reply
        if state not in self._states:
            self._states.add(state)
            self._idle = 0
        elif not self._user.strays:
            self._idle += 1
        return self._idle >= self._trial.persona.patience
