"""Run one agent: fill its inputs, call it, take its outputs as plain data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.journal import CallsOfRun, ToolLog, Usage, is_pause, tool_log
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.payloads import (
    base_of,
    given_in_turn,
    name_of_turn,
    outputs_of,
    payload_of,
    rules_in,
    task_of,
    typed,
)
from journeygraph.nodes.pipelines.rules import rules_of
from journeygraph.nodes.pipelines.work import Brief, Member, Work
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.effects import EFFECTS
from journeygraph.nodes.state.form_state import FORM
from journeygraph.nodes.state.session import PARTING, AgentOutput, Pending, Turn, Update
from journeygraph.nodes.telemetry import AgentSpan

if TYPE_CHECKING:
    from journeygraph.nodes.agents.model_agent import Speculation
    from journeygraph.nodes.pipelines.choosing import Chooser
    from journeygraph.nodes.state.confirmation import Consent

After = Callable[[Work, AgentOutput, "Chooser"], Awaitable[dict[str, Any]]]
"""Decides what an agent's result leads to, as a change of the progress."""
State = Mapping[str, Any]
SAID = "said"
"""Name in the progress of an inner pipeline for the answers before it."""
_NEARLY = 0.99
"""Share of an agent's time after which a cancellation is taken for the end of it."""


async def run_agent(
    state: State, services: Services, member: Member, after: After | None, calls: CallsOfRun
) -> Update:
    """Give an agent its inputs; add what it gives back to the results of its pipeline.

    Args:
        calls: The results of tools before it asked, if it runs again.

    Raises:
        Exception: Whatever the agent raises; the node that calls this names pathway and agent.
        TypeError: It returned what no agent may return, or an output of another type than declared.
    """
    loop = asyncio.get_running_loop()
    came = loop.time()
    agent = services.agents[member.pathway.id, member.path].at(services.locale)
    brief = brief_of(state, member, services)
    if brief is None:
        return {}
    signature = agent.signature or member.pathway.signature
    told = given_in_turn(state, member.pathway.id)
    payload, flags = payload_of(signature, base_of(state, services) | told, brief)
    payload |= told
    say = _speaker(state, services, member, rules_in(state, told), calls)
    if services.listening:
        services.tell("agent_started", **_named(member))
    begun = loop.time()
    ask = brief.ask() if agent.asked and brief.ask else None
    call = agent.asked(ask) if agent.asked and ask else agent.call
    with AgentSpan(member.path, member.timeout) as seen:
        given = await guarded(lambda: call(payload, say), member, came)
        values = typed(signature, outputs_of(given))
        seen.gave(values, services.mask)
    if services.listening:
        seconds = round(loop.time() - begun, 6)
        services.tell("agent_finished", **_named(member), seconds=seconds)
    if brief.notes.get("phase") == "vote":
        services.tell("voted", **_named(member), vote=values.get("vote"))
    notes = {**brief.notes}
    if pending := say.pending:
        notes["pending"] = pending
        flags += [f"unconfirmed:{waits['tool']}" for waits in pending]
    output = result_of(state, member, values=values, flags=flags, streamed=say.spoke, **notes)
    return await noted(state, services, member, output, after)


def result_of(state: State, member: Member, **given: Any) -> AgentOutput:
    """Return what a member gave, with what is noted of it."""
    wave = len(state.get("results") or ())
    output: AgentOutput = {
        "agent": member.name,
        "place": member.place,
        "wave": wave,
        "values": {},
        "flags": [],
        "streamed": False,
    }
    output.update(given)  # type: ignore[typeddict-item]
    return output


async def noted(
    state: State, services: Services, member: Member, output: AgentOutput, after: After | None
) -> Update:
    """Return a result as an update, with the next nodes if the pattern decides by it."""
    if after is None:
        return {"results": [output]}
    work = work_of(state, member, services)
    work = replace(work, results=[*work.results, output])
    return {
        "results": [output],
        "progress": await after(work, output, chooser_of(state, services, member)),
    }


def work_of(state: State, member: Member, services: Services) -> Work:
    """Return the work of the member's pipeline so far."""
    results, progress = state.get("results") or (), state.get("progress") or {}
    return Work(member.pipeline, results, progress, services.registered)


def brief_of(state: State, member: Member, services: Services) -> Brief | None:
    """Return what an agent is asked now; None if there is nothing left to ask it."""
    rules = rules_of(member.pipeline.pattern)
    return rules.brief(work_of(state, member, services), member.name, state.get("part"))


def chooser_of(state: State, services: Services, member: Member) -> Chooser:
    """Return the chooser among the members of its pipeline."""
    turn = (state.get("progress") or {}).get("turn")
    chooser: Chooser = part("selection").Chooser(member.pipeline, services, task_of(state), turn)
    return chooser


def _named(member: Member) -> dict[str, str]:
    return {"agent": member.path, "pathway": member.pathway.id}


async def guarded(call: Callable[[], Awaitable[Any]], member: Member, came: float) -> Any:
    """Call an agent, unless its breaker is open; report the outcome to the breaker."""
    if member.pipeline.limits.breaker_failures is None:
        return await call()
    # Few agents have one.
    from journeygraph.nodes.pipelines.memory import breaker_of  # noqa: PLC0415
    from journeygraph.nodes.telemetry.model_span import breaker_changed  # noqa: PLC0415

    breaker = breaker_of(member.pipeline, member.name)

    def failed(error: BaseException) -> bool | None:
        if not isinstance(error, asyncio.CancelledError):
            return None if is_pause(error) else True
        # Its time was up, which counts; or whoever called went away, which proves nothing.
        now = asyncio.get_running_loop().time()
        overdue = member.timeout is not None and now - came >= _NEARLY * member.timeout
        return True if overdue else None

    with breaker.guarding(failed, lambda opened: breaker_changed(opened=opened, agent=member.path)):
        return await call()


def said_before(progress: Mapping[str, Any]) -> list[str]:
    """Return what the runtime says in a pathway before its agents: of its form and its effects."""
    if not progress:
        return []
    steps = [progress[name] for name in (FORM, EFFECTS) if name in progress]
    return [*progress.get(SAID, ()), *(text for step in steps for text in step["said"])]


def is_live(services: Services, member: Member) -> bool:
    """Return whether the text of an agent is streamed."""
    # What is tried again would be heard twice.
    once = services.config.error_recovery != "retry" and not member.pipeline.limits.retries
    return services.listening and member.has_word and once and not services.holds


def _speaker(
    state: State,
    services: Services,
    member: Member,
    rules: Sequence[Mapping[str, Any]],
    calls: CallsOfRun,
) -> _Speaker:
    turn = state.get("turn")
    replied = PARTING if turn and turn["replies"] else ""
    before = PARTING.join(said_before(state.get("progress") or {}))
    opening, parting = (replied + before, PARTING) if before else ("", replied)
    say = services.say if is_live(services, member) else None
    log = tool_log(services.running.journal, member.pathway.id)
    place = (member.pathway.id, member.path)
    ahead = services.running.asked_ahead(place)
    usage = services.usage or Usage()
    run = name_of_turn(state) if turn else ""
    return _Speaker(usage, calls, place, turn, say, opening, parting, rules, log, ahead, run)


class _Speaker:
    """Passes on what an agent says while it works, and before it what the steps before it say."""

    def __init__(
        self,
        usage: Usage,
        calls: CallsOfRun,
        place: tuple[str, str],
        turn: Turn | None,
        emit: Callable[[str, str | None], None] | None = None,
        opening: str = "",
        parting: str = "",
        rules: Sequence[Mapping[str, Any]] = (),
        log: ToolLog | None = None,
        ahead: Speculation | None = None,
        run: str = "",
    ) -> None:
        self.usage = usage
        self.run = run
        self.ahead = ahead
        self.calls = calls
        self.live = emit is not None
        self.spoke = False
        self.rules = rules
        self.log = log
        self._emit = emit
        self._opening = opening
        self._parting = parting
        self._place = place
        self._turn = turn
        self._consent: Consent | None = None

    @property
    def consent(self) -> Consent | None:
        if self._consent is None and self._turn is not None:
            # Few agents have tools that a user confirms.
            from journeygraph.nodes.state.confirmation import Consent  # noqa: PLC0415

            self._consent = Consent(*self._place, self._turn)
        return self._consent

    @property
    def pending(self) -> list[Pending]:
        return self._consent.pending if self._consent else []

    def __call__(self, text: str) -> None:
        if self._emit and text:
            said = cleaned(text)
            if not self.spoke:
                if self._opening:
                    self._emit(self._opening, None)
                said = self._parting + said
            self._emit(said, self._place[0])
            self.spoke = True
