"""Play a conversation on its journey, turn by turn, and compare what comes of it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

from journeygraph.graphs.agents.registry import check_all
from journeygraph.graphs.records.listing import cursor_behind
from journeygraph.graphs.session.jobs import pass_time
from journeygraph.journeys import (
    AgentNotRegisteredError,
    AuditEntry,
    FieldAttemptEntry,
    Journey,
    JourneyError,
    JourneyResponse,
    JourneySession,
)
from journeygraph.journeys.definitions.value_types import time_in_words
from journeygraph.journeys.locale import DEFAULT
from journeygraph.journeys.spec.model_names import KEY
from journeygraph.nodes.json_data import clocked
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.llm.models import is_configured, only
from journeygraph.nodes.state.session import PARTING
from journeygraph.server.conversations.conversation_files import (
    LoadedConversation,
    read_recording,
    recording_of,
    write_recording,
)
from journeygraph.server.conversations.conversation_form import Expected, Turn
from journeygraph.server.conversations.expectations import (
    OF_AUDIT,
    OF_FIELDS,
    Difference,
    ObservedState,
    differences,
)
from journeygraph.server.conversations.stubs import (
    LiveModel,
    RecordedModel,
    StubModel,
    agents_for,
    tools_for,
)
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import Settings

_STEP = timedelta(milliseconds=1)
_OPERATOR = "operator"
_WAY_OUT = (
    "A conversation can give their results as agents: {name: {gives: ...}}, or the answers of a "
    "model as model: in a turn."
)


class Clock:
    """A clock that a test sets, and that moves a little at each call.

    Attributes:
        time: The time; None: that of the machine.
    """

    def __init__(self, time: datetime | None) -> None:
        self.time = time

    def __call__(self) -> datetime:
        """Return the time."""
        if self.time is None:
            return datetime.now(UTC)
        self.time += _STEP
        return self.time

    def put(self, time: datetime) -> None:
        """Set the clock."""
        self.time = time


@dataclass(frozen=True)
class PlayedLine:
    """One line of a played conversation: who, what, and the line of the file."""

    who: str
    text: str
    at: int


@dataclass
class Played:
    """A conversation that was played, as far as it went.

    Attributes:
        differences: The differences of the last turn; empty if all expectations hold.
        at: Line of the expectation that differs.
        turns: Number of messages.
        seen: All that came of each step, where a game keeps it.
        run: Number of the run with a live model, from 1; 0 with another one.
        end: End of the conversation of a simulated user.
        skipped: The reason why it was not played; empty if it was.
        notes: Remarks that are no differences.
        audit: The audit of the session, where it was asked for.
        attempts: The attempts at its fields, where they were asked for.
    """

    loaded: LoadedConversation
    lines: list[PlayedLine] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    at: int = 0
    turns: int = 0
    seconds: float = 0.0
    places: set[str] = field(default_factory=set)
    seen: list[ObservedState] = field(default_factory=list)
    run: int = 0
    end: str = ""
    skipped: str = ""
    notes: list[str] = field(default_factory=list)
    responses: list[JourneyResponse] = field(default_factory=list)
    audit: Sequence[AuditEntry] = ()
    attempts: Sequence[FieldAttemptEntry] = ()

    @property
    def passed(self) -> bool:
        """Return whether all was as expected."""
        return not self.differences


async def play(
    loaded: LoadedConversation,
    *,
    whole: bool = False,
    game: Callable[..., Game] | None = None,
    model: LiveModel | None = None,
) -> Played:
    """Play a conversation in a separate store, up to the first turn that differs.

    Args:
        whole: True to read the audit and the attempts of all turns at the end.
        model: The model; None: the one that the conversation names.
    """
    try:
        script = model or model_of(loaded)
    except (ValueError, OSError) as error:
        return Played(loaded, differences=[_no_recording(loaded, error)], at=loaded.lines[0])
    clock, begun = Clock(loaded.begins), datetime.now(UTC)
    if script.is_live and not loaded.found.has_model(Settings().config("memory://")):
        return Played(loaded, skipped="no model is configured", at=loaded.lines[0])
    with clocked(clock), only(script.model if script.is_offline else None):
        async with _opened(loaded, script) as journey:
            playing = (game or Game)(loaded, journey, clock, script)
            try:
                await playing.run()
            except JourneyError as error:
                playing.fail(error)
            if whole:
                playing.played.audit = await journey.manager.audit()
                playing.played.attempts = await journey.manager.attempts()
    if isinstance(script, RecordedModel) and (reworded := script.model.reworded):
        playing.played.notes.append(_REWORDED.format(count=reworded, file=loaded.name))
    playing.played.seconds = (datetime.now(UTC) - begun).total_seconds()
    return playing.played


_REWORDED = (
    "{count} recorded answer(s) were given under other instructions. To renew them: "
    "journeygraph test --record {file}"
)


_FIXED = "Something in it is another one each time; give it a fixed result"


def model_of(loaded: LoadedConversation) -> LiveModel:
    """Return the model that a conversation names.

    Raises:
        ValueError: Its recording is missing, or has another form.
    """
    if loaded.conversation.model == "live":
        return LiveModel.of(loaded.found)
    if loaded.conversation.model == "recorded":
        file = recording_of(loaded.path)
        if not file.exists():
            raise ValueError("there is no such file")
        return RecordedModel(Cassette(read_recording(file)), f". {_way_out(loaded)}")
    return StubModel(loaded.conversation)


async def record_model(loaded: LoadedConversation, *, whole: bool = False) -> Played:
    """Play a conversation with the model of the settings, and record its answers.

    Recorded answers to requests that did not change are kept, so that nothing is asked twice.
    Nothing is written if the conversation differs, also when it is replayed, or the model cannot be
    reached.

    Raises:
        CommandError: No model is configured, the recording cannot be written, or as `play`.
    """
    file = recording_of(loaded.path)
    if not loaded.found.has_model(Settings().config("memory://")):
        fault = f"{loaded.name} cannot be recorded: no model is configured. Set {KEY}."
        raise CommandError(fault, exit_code=2)
    try:
        kept = read_recording(file)
    except (ValueError, OSError):
        kept = []
    cassette = Cassette(kept, loaded.found.model, records=True)
    played = await play(loaded, whole=whole, model=RecordedModel(cassette))
    if cassette.failed:
        played.differences[:0] = [Difference("model", "answers to record", cassette.failed)]
    if played.passed:
        again = await play(loaded, model=RecordedModel(cassette.replayed()))
        played.differences += [
            replace(one, what="replay", got=f"{one.got}. {_FIXED}") for one in again.differences
        ]
    if played.passed:
        write_recording(file, cassette.answers)
    return played


def _no_recording(loaded: LoadedConversation, error: Exception) -> Difference:
    file = recording_of(loaded.path)
    return Difference("model", f"a recording in {file.name}", f"{error}. {_way_out(loaded)}")


def _way_out(loaded: LoadedConversation) -> str:
    return f"To record it: journeygraph test --record {loaded.name}"


@asynccontextmanager
async def _opened(loaded: LoadedConversation, script: LiveModel) -> AsyncIterator[Journey]:
    """Open the session of a conversation; nothing of it outlives the block."""
    name = secrets.token_hex(8)
    config, spec = Settings().config(f"memory://{name}"), loaded.found.journey.spec
    if spec.sensitive and config.encryption_key is None:
        config = replace(config, encryption_key=secrets.token_bytes(32))
    given: dict[str, Any] = {
        "agents": agents_for(loaded),
        "tools": tools_for(loaded),
        "model": script.model,
    }
    try:
        has_model = is_configured(script.model, config, spec)
        check_all(spec, given["agents"], has_model=has_model)
        journey = loaded.journey(f"test-{name}", config, **given)
    except AgentNotRegisteredError as error:
        raise CommandError(f"{loaded.name}: {error} {_WAY_OUT}", exit_code=2) from None
    async with journey:
        yield journey


class Game:
    """A conversation that is being played."""

    def __init__(
        self, loaded: LoadedConversation, journey: Journey, clock: Clock, script: LiveModel
    ) -> None:
        self.played = Played(loaded)
        self.journey = journey
        self._clock = clock
        self._script = script
        self._version = 0
        self.seen = ObservedState("", "")

    async def begin(self) -> None:
        """Start the session."""
        conversation = self.played.loaded.conversation
        locale = conversation.locale.over(DEFAULT)
        context = {**conversation.context}
        self._stand(await self.journey.start(context, locale=locale))
        if self.seen.reply:
            self._add("bot", self.seen.reply)

    async def run(self) -> None:
        """Play the steps up to the first one that differs."""
        await self.begin()
        loaded, conversation = self.played.loaded, self.played.loaded.conversation
        for turn, line in zip(conversation.turns, loaded.lines, strict=True):
            self.played.at = line
            await self.step(turn)
            if self.played.differences:
                return
        self._unread_failure()

    def fail(self, error: JourneyError) -> None:
        """Take an error for the difference of the turn that is played."""
        said = " ".join(str(error).split())
        self.played.differences.append(Difference("turn", "a reply", said))

    def _unread_failure(self) -> None:
        """Find a failure of the last turn that no expectation was about."""
        last = self.played.loaded.conversation.turns[-1]
        if last.bot is None:
            words = not self._script.is_live
            self.played.differences += differences(Expected(), self.seen, words=words)

    def _stand(self, session: JourneySession) -> None:
        place = session.current_pathway_id
        self._version = session.version
        self.played.places.add(place)
        self.seen = ObservedState(
            session.greeting,
            place,
            [place],
            session.pathway_stack,
            session.accumulated_context,
            session.is_journey_complete,
        )

    async def step(self, turn: Turn) -> None:
        """Play one step, and note how it differs from what is expected."""
        if turn.at is not None:
            self._clock.time = self.played.loaded.in_utc(turn.at)
        if turn.user is not None:
            self._add("user", turn.user)
            await self._answered(turn, partial(self.journey.process_message, turn.user))
        elif turn.event:
            self._add("event", turn.event)
            act = partial(self.journey.process_event, turn.event, turn.data)
            await self._answered(turn, act)
        elif turn.wait is not None:
            await self._waited(turn, turn.wait)
        elif turn.bot is not None:
            self.played.differences += await self._compared(turn.bot)
        else:
            await self._operator(turn)

    async def _answered(self, turn: Turn, act: Callable[[], Awaitable[JourneyResponse]]) -> None:
        self.played.turns += 1
        self._script.will_answer(turn.model)
        self._see(await act())
        self._end_step()

    async def _waited(self, turn: Turn, seconds: int) -> None:
        """Let time pass; the replies of all timers are one reply."""
        self._add("wait", time_in_words(seconds))
        self._script.will_answer(turn.model)
        until, path, replies = self._clock() + timedelta(seconds=seconds), [self.seen.pathway], []
        async for response in pass_time(self.journey, until, self._clock.put):
            self._see(response)
            path += self.seen.path[1:]
            replies.append(response.message)
        if not replies:
            self._stand(await self.journey.manager.restore())
        self.seen.reply, self.seen.path = PARTING.join(filter(None, replies)), path
        self._end_step()

    def _see(self, response: JourneyResponse) -> None:
        before = self.seen
        self.played.responses.append(response)
        self.played.places |= {*response.metadata["ran"], response.pathway_id}
        way = [before.pathway, *response.metadata["ran"], response.pathway_id]
        self.seen = ObservedState(
            response.message,
            response.pathway_id,
            [way[0], *(now for was, now in pairwise(way) if now != was)],
            response.metadata["pathway_stack"],
            response.accumulated_context,
            response.is_journey_complete,
            response,
        )

    def _end_step(self) -> None:
        self._add("bot", self.seen.reply)
        wrong = self._script.faults()
        self.played.differences += [
            Difference("model", "the answers of this turn", fault) for fault in wrong
        ]

    async def _operator(self, turn: Turn) -> None:
        if turn.operator:
            self._add("operator", turn.operator)
            self._stand(await self.journey.operator_says(turn.operator, _OPERATOR))
            return
        self._stand(await self.journey.release(turn.release))
        said = (await self.journey.transcript())[-1]
        self.seen.reply = said.content if said.turn == self._version else ""
        self._add("bot", self.seen.reply)

    async def _compared(self, expected: Expected) -> list[Difference]:
        seen, wanted = self.seen, expected.model_fields_set
        if wanted & OF_FIELDS or (seen.response is None and "asks" in wanted):
            await self._read_fields()
        if wanted & OF_AUDIT:
            await self.read_audit()
        return differences(expected, seen, words=not self._script.is_live)

    async def read_all(self) -> None:
        """Read all of the state after a step."""
        await self._read_fields()
        await self.read_audit()

    async def _read_fields(self) -> None:
        self.seen.form = await self.journey.fields()
        self.seen.attempts = await self.journey.manager.attempts()

    async def read_audit(self) -> None:
        """Read the audit of the last turn."""
        if self.seen.response:
            version = self.seen.response.metadata["version"]
            after = cursor_behind(version) if version else None
            self.seen.audit = await self.journey.manager.audit(after=after)

    def _add(self, who: str, text: str) -> None:
        self.played.lines.append(PlayedLine(who, text, self.played.at))
