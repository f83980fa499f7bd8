"""Run an agent that is a model: a signature in, prompts and a schema out, values back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import uuid4

from cachetools import LRUCache
from pydantic import PydanticUserError

from journeygraph.journeys import ConfigurationError, JourneySpec, ModelError
from journeygraph.journeys.agents.signature import Ask, SignatureSpec
from journeygraph.nodes.journal import CallsOfRun, ToolLog, Usage
from journeygraph.nodes.llm.call import Hear, Question, ask
from journeygraph.nodes.llm.client import (
    ChatAnswer,
    ChatClient,
    Message,
    ModelToolCall,
    tool_result,
)
from journeygraph.nodes.llm.prompts import (
    ASKED,
    agent_system,
    as_data,
    confirming,
    guided,
    repair,
    with_ask,
)
from journeygraph.nodes.llm.structured import (
    REPLY,
    SchemaMisfit,
    StreamedReply,
    schema_of,
    values_of,
)
from journeygraph.nodes.llm.tools import ANSWER, Occasion, Toolbox
from journeygraph.nodes.payloads import GUIDELINES, RESERVED
from journeygraph.nodes.state.confirmation import Consent
from journeygraph.nodes.state.session import PARTING

COUNTED = 20
"""Number of a journey's last speculations for the share of wrong ones."""
REST = 100
"""Turns of a journey in which nothing is speculated after too many were wrong."""


@dataclass(slots=True)
class SpeculationRecord:
    """Recent outcomes of a journey's speculations in this process."""

    _wrong: deque[bool] = field(default_factory=lambda: deque(maxlen=COUNTED))
    _rest: int = 0

    def allows(self) -> bool:
        """Return whether the turn that begins may speculate; each asks once, which counts it."""
        self._rest = max(self._rest - 1, 0)
        return not self._rest

    def add(self, *, wrong: bool, most: float) -> None:
        """Add how one came out; rest if more than a share of the last ones was wrong."""
        self._wrong.append(wrong)
        if sum(self._wrong) > most * COUNTED:
            self._wrong.clear()
            self._rest = REST + 1


_records: LRUCache[tuple[str, str], SpeculationRecord] = LRUCache(4_096)


def record_of(spec: JourneySpec) -> SpeculationRecord:
    """Return the record of a journey, which all its sessions share."""
    key = (spec.id, spec.version)
    if key not in _records:
        _records[key] = SpeculationRecord()
    return _records[key]


class CameOut(Protocol):
    """Takes whether a speculation was wrong."""

    def __call__(self, *, wrong: bool) -> None:
        """Take it."""


@dataclass(slots=True)
class Speculation:
    """A request under way. None of its text is sent before the agent itself sends the same request.

    Attributes:
        place: Pathway, and path of the agent in it.
        rules: The guidelines that it is asked under; those that a model still judges are `unsure`.
        usage: Counts the request alone.
    """

    place: tuple[str, str]
    question: Question
    rules: Sequence[Mapping[str, Any]]
    came_out: CameOut
    usage: Usage = field(default_factory=Usage)
    _task: asyncio.Task[ChatAnswer] | None = None
    _is_sent: bool = False
    _is_over: bool = False
    _pieces: list[str] = field(default_factory=list)
    _listen: Callable[[], Hear] | None = None
    _hear: Hear | None = None

    def begin(self, chat: ChatClient, seconds: float, *, live: bool) -> None:
        """Ask the model, in a separate task."""
        until = asyncio.get_running_loop().time() + seconds
        listen = self._tried if live else None

        async def asked() -> ChatAnswer:
            self._is_sent = True
            return await ask(chat, self.question, until, self.usage, listen)

        self._task = asyncio.create_task(asked(), name="speculation")
        self._task.add_done_callback(_retrieved)

    @property
    def is_open(self) -> bool:
        """Return whether it is not taken yet."""
        return not self._is_over

    def is_for(self, rules: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether it was made under the guidelines that hold, as far as they are certain."""
        shown = {rule["id"] for rule in self.rules}
        sure = {rule["id"] for rule in self.rules if not rule.get("unsure")}
        return sure <= {rule.get("id") for rule in rules} <= shown

    async def answer(self, listen: Callable[[], Hear] | None, usage: Usage) -> ChatAnswer:
        """Return the answer to the agent that asks the same; its text is streamed from now on.

        Raises:
            ModelError: There is no usable answer; `kind` says why.
        """
        assert self._task is not None
        self._is_over = True
        self.came_out(wrong=False)
        if listen is not None:
            self._listen, self._hear = listen, listen()
            for piece in self._pieces:
                self._hear(piece)
        try:
            return await self._task
        finally:
            usage.add(self.usage)

    def discard(self, usage: Usage | None, *, wrong: bool = True) -> None:
        """Stop the request, unless its answer was taken; its tokens are all that is kept of it.

        Args:
            wrong: True if the message led elsewhere; a turn that is cut off says nothing of that.
        """
        if self._is_over:
            return
        self._is_over = True
        if self._task is not None:
            self._task.cancel()
        if self._is_sent:  # a judgement that was remembered came before it was
            if wrong:
                self.came_out(wrong=True)
            if usage is not None:
                usage.discard(self.usage)

    async def ended(self, usage: Usage | None) -> None:
        """Wait for the end of the request, which is stopped if its answer was not taken."""
        self.discard(usage, wrong=False)
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def _tried(self) -> Hear:
        self._pieces.clear()
        if self._listen is not None:
            self._hear = self._listen()
        return self._take

    def _take(self, piece: str) -> bool:
        if self._hear is not None:
            return self._hear(piece)
        if piece:
            self._pieces.append(piece)
        else:
            self._pieces.clear()
        return False


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Retrieve the error of an unused request, or asyncio would report it."""
    if not task.cancelled():
        task.exception()


MOST_ROUNDS = 8
"""Most times that a model may call tools before it has to answer."""
SHOWN, STEP = 20, 10
"""Messages of the talk so far that a model is shown at least: the last ten turns; and by how many
the first of them moves, when it does."""


class OutputSink(Protocol):
    """Takes what an agent says while it works.

    Attributes:
        live: True if there is a listener, so that streaming is useful.
        rules: The guidelines that hold for a model, those that count first at the front.
        log: Takes how calls of tools ended; None if it is not recorded.
        calls: The results of tools before the agent asked, and now.
        ahead: The request that the agent was sent ahead; None if there was none.
        run: Name of the turn; empty if there is none.
    """

    live: bool
    usage: Usage
    rules: Sequence[Mapping[str, Any]]
    log: ToolLog | None
    calls: CallsOfRun
    ahead: Speculation | None
    run: str

    @property
    def consent(self) -> Consent | None:
        """Calls that the user was asked about; None if there is no user who could agree."""

    def __call__(self, text: str) -> None:
        """Take some words."""


@dataclass(frozen=True, slots=True)
class AgentContract:
    """Contract of a model agent, made once for each of its pathways.

    Attributes:
        strict: True if a model can be held to that strictly.
    """

    signature: SignatureSpec
    system: str
    schema: Mapping[str, Any]
    strict: bool


# By identity, which lasts as long as the entry: it holds the signature. Types need not be hashable.
_contracts: LRUCache[Any, AgentContract] = LRUCache(1024)


def contract_of(
    spec: JourneySpec, pathway_id: str, signature: SignatureSpec, language: str | None = None
) -> AgentContract:
    """Return the contract of a signature in a pathway, made once for all sessions of a language.

    Raises:
        ConfigurationError: An output is of a type that no JSON has.
    """
    key = (spec, pathway_id, id(signature), language)
    if key not in _contracts:
        try:
            schema, strict = schema_of(signature.outputs)
        except (PydanticUserError, TypeError) as error:
            raise ConfigurationError(
                f"Pathway '{pathway_id}': a model cannot return the outputs of {signature.name}, "
                f"because one has no JSON schema: {error}"
            ) from error
        system = agent_system(spec, spec.pathways[pathway_id], signature, language)
        _contracts[key] = AgentContract(signature, system, schema, strict)
    return _contracts[key]


def _special(contract: AgentContract, ask: Ask) -> AgentContract:
    """Return a contract with further or other outputs for a pattern."""
    own = contract.signature.outputs if ask.keeps_own else ()
    names = {field.name for field in ask.outputs}
    outputs = (*(field for field in own if field.name not in names), *ask.outputs)
    schema, strict = schema_of(outputs)
    signature = replace(contract.signature, outputs=outputs)
    system = with_ask(contract.system, ask.instructions, ask.outputs)
    return AgentContract(signature, system, schema, strict)


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Calls a model as an agent: one deadline for all it takes, one repair of its answer.

    Attributes:
        who: Returns its identity, in words; None if it is known. It follows the text that all
            agents of the contract get, so that providers can cache the beginning for all of them.
    """

    contract: AgentContract
    chat: ChatClient
    toolbox: Toolbox
    seconds: float
    who: Callable[[], str] | None = None

    async def __call__(self, payload: Mapping[str, Any], say: OutputSink) -> dict[str, Any]:
        """Return the outputs of the signature."""
        until = asyncio.get_running_loop().time() + self.seconds
        run = say.run or uuid4().hex
        occasion = Occasion(payload["context"], say.consent, say.log, say.calls, run)
        caller, messages = self._opened(payload, say.rules, occasion)
        ahead = say.ahead
        if ahead is not None and ahead.is_for(say.rules):
            shown, asked = self._opened(payload, ahead.rules, occasion)
            if shown._question(asked) == ahead.question:
                exchange = _Exchange(shown, until, say, occasion, ahead)
                return await exchange.answered(asked)
        if ahead is not None:
            ahead.discard(say.usage)
        return await _Exchange(caller, until, say, occasion).answered(messages)

    def first_question(
        self, payload: Mapping[str, Any], rules: Sequence[Mapping[str, Any]], consent: Consent
    ) -> Question:
        """Return what the model is asked first in a turn."""
        caller, messages = self._opened(payload, rules, Occasion(payload["context"], consent))
        return caller._question(messages)

    def _opened(
        self, payload: Mapping[str, Any], rules: Sequence[Mapping[str, Any]], occasion: Occasion
    ) -> tuple[ModelCaller, list[Message]]:
        caller = self._introduced()._guided(rules, occasion)
        hidden = (*RESERVED, GUIDELINES) if rules else RESERVED
        return caller, caller._messages(payload, hidden, occasion)

    def _question(self, messages: Sequence[Message]) -> Question:
        contract = self.contract
        return Question(
            list(messages), ANSWER, contract.schema, contract.strict, self.toolbox.shown
        )

    def asked(self, ask: Ask) -> ModelCaller:
        """Return it as asked for something special by the pattern that it works in."""
        caller = self._introduced()
        return replace(caller, contract=_special(caller.contract, ask))

    def _introduced(self) -> ModelCaller:
        if self.who is None:
            return self
        system = f"{self.contract.system}\n\n{self.who()}"
        return replace(self, contract=replace(self.contract, system=system), who=None)

    def _guided(self, rules: Sequence[Mapping[str, Any]], occasion: Occasion) -> ModelCaller:
        """Return it with the guidelines of this turn: their actions and their tools.

        What the user was asked about can be done, though "yes" is no message of its guideline.
        """
        consent = occasion.consent
        tools = {name for rule in rules for name in rule["tools"]}
        tools |= {call["tool"] for call in consent.asked} if consent else set()
        toolbox = self.toolbox.opened(tools) if tools else self.toolbox
        # What holds in this turn alone comes last: the beginning is the same in each of them.
        confirmed = toolbox.confirmed
        fixed = [self.contract.system, *([confirming(confirmed)] if confirmed else [])]
        contract = replace(self.contract, system=guided("\n\n".join(fixed), rules))
        return replace(self, contract=contract, toolbox=toolbox)

    def _messages(
        self, payload: Mapping[str, Any], hidden: Collection[str], occasion: Occasion
    ) -> list[Message]:
        given = self._inputs(payload, hidden) | _asked(occasion)
        return [
            {"role": "system", "content": self.contract.system},
            *_shown(payload["history"], occasion.consent.turn if occasion.consent else 1),
            {"role": "user", "content": as_data(given)},
        ]

    def _inputs(self, payload: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
        declared = {field.name for field in self.contract.signature.inputs}
        given = {
            name: value for name, value in payload.items() if name in declared or name not in hidden
        }
        return given if self._hears(payload) else {"message": payload["message"], **given}

    def _hears(self, payload: Mapping[str, Any]) -> bool:
        """Return whether an input gets the message; a context value can be equal by chance."""
        signature, message = self.contract.signature, payload["message"]
        named = [field.name for field in signature.inputs if field.source == "message"]
        listener = signature.listener
        if listener and payload["context"].get(listener.name) is None:
            named.append(listener.name)
        return any(payload.get(name) == message for name in named)


def _shown(history: Sequence[Message], turn: int) -> Sequence[Message]:
    """Return the messages that a model is shown.

    They begin with the same one for several turns, so that a provider can keep the beginning of a
    request. A turn adds two as a rule; where it did not, they begin elsewhere once.
    """
    before = max(2 * (turn - 1) - SHOWN, 0)
    return history[-(SHOWN + before % STEP) :]


def _asked(occasion: Occasion) -> dict[str, Any]:
    asked = occasion.consent.asked if occasion.consent else []
    calls = [{"tool": call["tool"], "arguments": call["arguments"]} for call in asked]
    return {ASKED: calls} if calls else {}


class _Exchange:
    """One agent's talk with its model, tools and repair included."""

    def __init__(
        self,
        caller: ModelCaller,
        until: float,
        say: OutputSink,
        occasion: Occasion,
        ahead: Speculation | None = None,
    ) -> None:
        self._caller = caller
        self._occasion = occasion
        self._until = until
        self._say = say
        self._spoken = StreamedReply()
        self._before: list[str] = []
        self._parting = ""
        self._failed: set[str] = set()
        self._ahead = ahead

    async def answered(self, messages: list[Message]) -> dict[str, Any]:
        outputs = self._caller.contract.signature.outputs
        answer = await self._final(messages)
        try:
            values = values_of(outputs, answer.text)
        except SchemaMisfit as fault:
            values = await self._repaired(messages, answer, fault)
        return self._heard(values)

    async def _final(self, messages: list[Message]) -> ChatAnswer:
        for _ in range(MOST_ROUNDS):
            answer = await self._next(messages)
            if not answer.calls:
                return answer
            if self._spoken.said:  # "One moment, please": it stands, and the answer follows it
                self._before.append(self._spoken.said)
                self._parting = PARTING
            told = frozenset(self._failed)
            messages.append(answer.message)
            messages += [tool_result(c.id, await self._used(c, told)) for c in answer.calls]
        answer = await self._next(messages)
        if answer.calls:
            raise ModelError(
                "tool_loop", f"the model called tools in more than {MOST_ROUNDS} rounds"
            )
        return answer

    async def _next(self, messages: Sequence[Message]) -> ChatAnswer:
        return await self._asked(messages, self._listen if self._say.live else None)

    def _listen(self) -> Hear:
        self._spoken = StreamedReply()
        return self._hear

    async def _used(self, call: ModelToolCall, told: frozenset[str]) -> str:
        using = asyncio.ensure_future(
            self._caller.toolbox.use(call, self._occasion, told, self._failed)
        )
        try:
            left = self._until - asyncio.get_running_loop().time()
            # Waited for, and not timed: a tool that will not be cancelled is left behind.
            await asyncio.wait({using}, timeout=max(left, 0.0))
        finally:
            if not using.done():
                self._occasion.note("failed", call.name, "it took too long")
            using.cancel()
        if not using.done():
            raise ModelError(
                "timeout", f"the tool '{call.name}' exceeded the time limit of the model"
            )
        return using.result()

    async def _repaired(
        self, messages: Sequence[Message], answer: ChatAnswer, fault: SchemaMisfit
    ) -> dict[str, Any]:
        """Ask once more, with what was wrong; an answer that was partly streamed stays."""
        if self._spoken.said and not self._spoken.whole:
            raise ModelError("malformed", f"the model's answer broke off: {fault}") from fault
        shown = self._caller.chat.corrected(answer, repair(str(fault)))
        again = await self._asked([*messages, *shown], None)
        try:
            return values_of(self._caller.contract.signature.outputs, again.text)
        except SchemaMisfit as still:
            said = (
                f"the model's answer does not match its signature, also in the second try: {still}"
            )
            raise ModelError("malformed", said) from still

    async def _asked(
        self, messages: Sequence[Message], listen: Callable[[], Hear] | None
    ) -> ChatAnswer:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            return await ahead.answer(listen, self._say.usage)
        question = self._caller._question(messages)
        return await ask(self._caller.chat, question, self._until, self._say.usage, listen)

    def _hear(self, piece: str) -> bool:
        self._speak(self._spoken.more(piece))
        return bool(self._spoken.said)

    def _speak(self, words: str) -> None:
        if words:
            self._say(self._parting + words)
            self._parting = ""

    def _heard(self, values: dict[str, Any]) -> dict[str, Any]:
        said, reply = self._spoken.said, values.get(REPLY, "")
        if not said and not self._before:
            return values
        if said and self._spoken.whole:
            reply = said
        elif reply.startswith(said):
            self._speak(reply[len(said) :])
        return {**values, REPLY: PARTING.join(filter(None, [*self._before, reply]))}
