"""Take the effects of a pathway: a booking, a payment, a ticket, each of them once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.tools import ToolException
from pydantic import ValidationError

from journeygraph.journeys import Call, Effect, PathwaySpec
from journeygraph.nodes import draft as turn_draft
from journeygraph.nodes.authored import contained
from journeygraph.nodes.capability import Capability, PathwayStep
from journeygraph.nodes.draft import TurnDraft, draft_of
from journeygraph.nodes.forms.collect import take_back_refused, used_by_effects
from journeygraph.nodes.forms.questions import question_of, spoken
from journeygraph.nodes.journal import ASKED, is_pause
from journeygraph.nodes.json_data import cleaned, copied, digest_of, plain, size, stamp
from journeygraph.nodes.llm.tools import Occasion, shortened, told
from journeygraph.nodes.services import Services, setting_of
from journeygraph.nodes.state.dialogue_state import Asked, DialogueState
from journeygraph.nodes.state.effects import (
    EFFECTS,
    Effects,
    EffectsOfRun,
    EffectsOutcome,
    EffectStep,
    Taken,
    step_of,
    went_well,
)
from journeygraph.nodes.state.session import PathwayState, Turn, Update
from journeygraph.nodes.texts import worded

MOST_RESULT = 64 * 1024
"""Largest result that is kept as data, in bytes of JSON; of a larger one, text is kept."""
_MOST_REASON = 300
_SHARE = 0.5
"""Share of a pathway's time that its effects have together, where agents work after them."""
_IN_DOUBT = (TimeoutError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
"""Errors of a tool with an unknown outcome."""
_ACCIDENTS = (KeyError, IndexError, UnicodeError, json.JSONDecodeError, ValidationError)
"""Kinds of ValueError and LookupError that are not raised on purpose for the user."""
_APART = "it was also taken, or may have been, with other values:"
_DOUBTED = "it may have been taken with other values; the user is asked first"
_REOPENED = ("reopened", "skipped", "confirmed")
"""Attributes of the dialogue state that change when a value is taken back."""
_without_session = EffectsOfRun()


class TakenEffects(Capability):
    """Effects of pathways."""

    def steps(self, pathway: PathwaySpec) -> Sequence[PathwayStep]:
        """Return the step that takes the effects of a pathway, if it has any."""
        if not pathway.effects:
            return []
        return [PathwayStep("effects", take_effects, "effects", went_well)]


async def take_effects(state: PathwayState, services: Services) -> Update:
    """Take the effects of the pathway that runs, one after the other, until one is not taken.

    It runs where nothing is left to collect and to confirm: behind `collect`, before the tools and
    agents, which do not run if an effect was not taken (`went_well`). What was taken since the
    pathway was begun (`DialogueState.taken`) is not taken again. Before a tool is called, that is
    noted outside of the turn; so a step of an unfinished turn is found again and not repeated, and
    its result is used. After an unknown outcome, a tool with a parameter `idempotency_key` is
    called again with the same key, any other is not. With other values the user is asked first,
    since the step may be taken twice then.

    Before the first one, the values that they use are held against their validators, which may
    refuse now what they accepted: the user is informed, and asked for another value. Steps of an
    unfinished turn stay taken in every case.

    A tool that raises has done nothing, and the user gets the reason if it raises a ValueError, a
    LookupError or LangChain's ToolException; after a timeout or a lost connection the outcome is
    unknown.

    `settle` keeps `kept`, says `said`, adds `audit`, and remembers the rest by `record_effects`.
    A pathway in which one was not taken is not complete. One that starts again is given to
    `begin_effects_anew`.

    Source: promises, P4; traces T13, T35.
    """
    turn = state["turn"]
    assert turn["run"] is not None
    pathway = services.spec.pathways[turn["run"]]
    taken = DialogueState.of(state["position"]).taken
    taker = _Taker(state, services, pathway)
    for effect in pathway.effects:
        if taker.outcome.ended == "done" and step_of(pathway, effect) not in taken:
            await taker.take(effect)
    outcome = taker.outcome
    progress = {EFFECTS: {name: getattr(outcome, name) for name in EffectsOutcome.__slots__}}
    # For the tools and agents behind it; the journey's own context is changed by `settle`.
    return {"progress": progress, "context": {**state["context"], **outcome.kept}}


class _Taker:
    """Takes the effects of one run of a pathway."""

    def __init__(self, state: PathwayState, services: Services, pathway: PathwaySpec) -> None:
        self._checked = False
        self._state: Any = state
        self._turn = state["turn"]
        self._birth = state["position"].get("birth", "")
        dialogue = DialogueState.of(state["position"])
        self._known: Mapping[str, list[str]] = dialogue.done
        self.outcome = EffectsOutcome(unsure=dialogue.unsure)
        self._is_answer = dialogue.asked is None
        self._context = {"message": self._turn["message"] or "", **copied(state["context"])}
        self._services = services
        self._texts = services.texts_in(pathway.id)
        self._pathway = pathway
        self._effects: Effects = services.effects or _without_session
        share = 1.0 if pathway.pipeline is None else _SHARE
        seconds = share * (pathway.timeout or services.config.pathway_timeout_seconds)
        self._until = asyncio.get_running_loop().time() + seconds

    async def take(self, effect: Effect) -> None:
        step = step_of(self._pathway, effect)
        try:
            self._check_time()
            with contained():
                arguments = self._arguments(effect)
        except Exception as error:
            self._failed(effect, error)
            return
        known = self._known.get(step, ())
        wanted = EffectStep(self._turn, self._birth, step, digest_of(arguments))
        taken = await self._effects.begin(wanted, known)
        if taken.apart:
            self._note("effect_apart", effect, f"{_APART} {', '.join(taken.apart)}")
        if taken.state == "done":
            self._done(effect, taken, "it was taken in an earlier turn, which was not completed")
        elif taken.state == "begun" and not self._takes_key(effect):
            self._unsure(effect, "it was started before, and its result is unknown")
        elif await self._outdated(effect):
            if taken.state == "free":
                await self._effects.failed(taken.key, "a value that it uses is no longer valid")
        elif taken.state == "free" and step in self.outcome.unsure:
            await self._effects.failed(taken.key, _DOUBTED)
            self._note("effect_unsure", effect, _DOUBTED)
            self._hold("doubted", self._texts.effect_again)
        else:
            await self._call(effect, arguments, taken)

    async def _outdated(self, effect: Effect) -> bool:
        """Clear the values that are refused now, and ask for others; return whether any was.

        Once a turn: what one effect has done may be why a value is refused for the next.
        """
        if self._checked:
            return False
        self._checked = True
        draft = draft_of(self._services, self._state, self._resumed(), self._state["position"])
        refused = await take_back_refused(
            draft, used_by_effects(draft, self._pathway, self.outcome.done)
        )
        draft.note_stopped_patterns()
        self.outcome.audit += draft.audit
        if refused:
            self._reopened(effect, draft)
        return refused

    def _resumed(self) -> Turn:
        """Return the turn; one that was left off, and is gone on with only now, is of now."""
        now = turn_draft.now()
        waited = (now - datetime.fromisoformat(self._turn["at"])).total_seconds()
        if waited <= self._services.config.turn_timeout_seconds:
            return self._turn
        return {**self._turn, "at": stamp(now)}

    def _reopened(self, effect: Effect, draft: TurnDraft) -> None:
        form_state = draft.form_state(draft.spec.pathways[self._pathway.id])
        asked = form_state.asked()
        words = [*draft.replies, *([question_of(draft, asked, form_state)] if asked else [])]
        outcome = self.outcome
        outcome.ended, outcome.asked = "outdated", asked
        outcome.said += words
        outcome.attempts, outcome.ops = draft.attempts, draft.ops
        outcome.dialogue = {name: getattr(draft.dialogue, name) for name in _REOPENED}
        self._note("effect_outdated", effect, "a value that it uses is no longer valid")

    def _check_time(self) -> None:
        if asyncio.get_running_loop().time() >= self._until:
            raise RuntimeError("no time was left")

    def _arguments(self, effect: Effect) -> dict[str, Any]:
        assert self._services.toolbox is not None
        call = Call(effect.tool, effect.arguments)
        given, missing = self._services.toolbox.arguments_of(call, self._context)
        if missing:
            raise KeyError(f"not known: {', '.join(missing)}")
        parameters = self._services.toolbox.tools[effect.tool].parameters
        filled = parameters.filled(parameters.given(given), self._context)
        return {name: plain(value, name) for name, value in filled.items()}

    def _takes_key(self, effect: Effect) -> bool:
        assert self._services.toolbox is not None
        return self._services.toolbox.tools[effect.tool].parameters.takes_key

    async def _call(self, effect: Effect, arguments: Mapping[str, Any], taken: Taken) -> None:
        """Call the tool; out of time, once more if the key keeps it from doing things twice."""
        tries = 2 if self._takes_key(effect) else 1
        lost: Exception | None = None
        for left in range(tries, 0, -1):
            try:
                result = await self._tried(effect, arguments, taken.key, left)
            except Exception as error:  # whatever an author's function raises
                if is_pause(error):  # it is called again, from its top, with the answer
                    await self._effects.failed(taken.key, ASKED)
                    raise
                in_doubt = lost is not None or taken.state == "begun"
                if not _lost_sight(error, in_doubt=in_doubt):
                    await self._effects.failed(taken.key, told(error))
                    self._know(effect)
                    self._failed(effect, error)
                    return
                lost = error
            else:
                await self._effects.done(taken.key, result)
                self._done(effect, Taken(taken.key, "done", result))
                return
        assert lost is not None
        if self._takes_key(effect):
            self._note("effect_late", effect, told(lost))
            self._hold("late", self._texts.effect_late)
            self._doubt(effect)
        else:
            self._unsure(effect, told(lost))

    async def _tried(
        self, effect: Effect, arguments: Mapping[str, Any], key: str, left: int
    ) -> Any:
        assert self._services.toolbox is not None
        occasion = Occasion(self._context, key=key)
        seconds = (self._until - asyncio.get_running_loop().time()) / left
        async with asyncio.timeout(seconds):
            given = await self._services.toolbox.call(effect.tool, arguments, occasion)
        return _plain_result(given, effect.tool)

    def _done(self, effect: Effect, taken: Taken, reason: str = "") -> None:
        step, name = step_of(self._pathway, effect), effect.save or effect.tool
        self._know(effect)
        self.outcome.done[step] = taken.key
        self.outcome.kept[name] = taken.result
        self._context[name] = taken.result
        self._note("effect_done", effect, reason)
        if effect.done:
            self.outcome.said.append(worded(effect.done, **self._values(taken.result)))

    def _values(self, result: Any) -> dict[str, Any]:
        services = self._services
        setting = setting_of(services, self._turn)
        parts = result if isinstance(result, dict) else {}
        return {**parts, **spoken(services.spec, self._context, setting, self._texts.hidden)}

    def _failed(self, effect: Effect, error: Exception) -> None:
        self._note("effect_failed", effect, told(error))
        reason = _for_users(error)
        self._hold("failed", worded(self._texts.effect_failed, reason=reason))

    def _hold(self, ended: str, said: str) -> None:
        self.outcome.ended = ended
        self.outcome.said.append(f"{said} {self._texts.retry}")
        self.outcome.asked = Asked(kind="retry", about=self._pathway.id, options=[])

    def _unsure(self, effect: Effect, reason: str) -> None:
        self.outcome.ended = "unsure"
        if step_of(self._pathway, effect) in self.outcome.unsure and not self._is_answer:
            return  # it was said last
        self._doubt(effect)
        self._note("effect_unsure", effect, reason)
        self.outcome.said.append(self._texts.effect_unsure)
        spec = self._services.spec
        if (spec.part_of(self._pathway.id).escalation or spec.escalation) is not None:
            self.outcome.said.append(self._texts.offer_human)
            self.outcome.asked = Asked(kind="human", about="effect_unsure", options=[])

    def _know(self, effect: Effect) -> None:
        step = step_of(self._pathway, effect)
        self.outcome.unsure = [each for each in self.outcome.unsure if each != step]

    def _doubt(self, effect: Effect) -> None:
        self._know(effect)
        self.outcome.unsure = [*self.outcome.unsure, step_of(self._pathway, effect)]

    def _note(self, kind: str, effect: Effect, reason: str) -> None:
        event = {"kind": kind, "from": self._pathway.id, "trigger": effect.tool, "reason": reason}
        self.outcome.audit.append(event)


def _plain_result(given: Any, tool: str) -> Any:
    """Return any result of a tool as plain data: the tool did its work."""
    try:
        result = plain(given, tool)
    except ValueError:
        return shortened(given)
    return result if size(result) <= MOST_RESULT else shortened(result)


def _lost_sight(error: Exception, *, in_doubt: bool) -> bool:
    """Return whether the outcome of a tool that raised is unknown.

    Args:
        in_doubt: True if the outcome of an earlier call was unknown. Then it has to say itself that
            there is nothing done: an error from below may be of this call alone.
    """
    return isinstance(error, _IN_DOUBT) or (in_doubt and not _is_on_purpose(error))


def _is_on_purpose(error: Exception) -> bool:
    meant = isinstance(error, (ValueError, LookupError, ToolException))
    return meant and not isinstance(error, _ACCIDENTS)


def _for_users(error: Exception) -> str:
    """Return what a tool says on purpose, as a sentence; nothing of any other failure."""
    if not _is_on_purpose(error):
        return ""
    said = " ".join(cleaned(str(error)).split())[:_MOST_REASON]
    said = said[:1].upper() + said[1:]
    return said if not said or said[-1] in ".!?" else f"{said}."
