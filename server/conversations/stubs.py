"""Stand-ins for tools, agents and the model of a journey, with the results that a test gives."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from journeygraph.graphs.agents.tools import is_only_retriever, shared_tools
from journeygraph.journeys import ConfigurationError, JourneyDefinitionError, JourneySpec, Tool
from journeygraph.journeys.files.loading import text_of
from journeygraph.nodes.llm import scripted
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.llm.scripted import Call, Fault, ScriptedModel, UseTool
from journeygraph.server.conversations.conversation_files import (
    KnownNames,
    LoadedConversation,
    field_names,
    read_form,
)
from journeygraph.server.conversations.conversation_form import (
    Conversation,
    ModelAnswer,
    Stub,
    StubFile,
)
from journeygraph.server.discover.definition_files import placed
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import FoundJourney

_KEY = "idempotency_key"
_WAY_OUT = "A conversation can give their results as tools: {name: {gives: ...}}."


@dataclass(frozen=True)
class Stubbed(FoundJourney):
    """A journey with results in place of the functions of its tools, effects and agents."""

    stubs: StubFile

    @classmethod
    def of(cls, found: FoundJourney, stubs: StubFile) -> Stubbed:
        """Return a journey with these results."""
        return cls(found.name, found.journey, found.module, stubs)

    def agents_with(self, *, has_model: bool) -> dict[str, Any]:
        """Return the agents as those of `FoundJourney`, with the results."""
        given = {name: _agent(stub) for name, stub in self.stubs.agents.items()}
        return {**FoundJourney.agents_with(self, has_model=has_model), **given}

    @property
    def tools(self) -> dict[str, Any]:
        """The tools as those of `FoundJourney`, with the results."""
        own: dict[str, Any] = FoundJourney.tools.fget(self)  # type: ignore[attr-defined]
        return {**own, **stubbed_tools(self.journey.spec, own, self.stubs.tools)}


class StubsOfFile:
    """The results of a file, for the journeys of a command; each gets those of its own names.

    Raises:
        CommandError: It cannot be read; the text has every fault.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._part, self._form = read_form(StubFile, text_of(path), path.name)
        except JourneyDefinitionError as error:
            raise CommandError(*placed(path, error.faults), exit_code=2) from error

    def into(self, journeys: Sequence[FoundJourney]) -> list[FoundJourney]:
        """Return journeys with the results."""
        known = [KnownNames(self._part, (), found.journey.spec) for found in journeys]
        if not known:
            return []
        tools = {name for names in known for name in names.tools}
        agents = {name for names in known for name in names.agents}
        known[0].check_functions(
            [name for name in self._form.tools if name not in tools],
            [name for name in self._form.agents if name not in agents],
        )
        if faults := self._part.faults:
            raise CommandError(*placed(self._path, faults), exit_code=2)
        return [
            Stubbed.of(found, self._of(names)) for found, names in zip(journeys, known, strict=True)
        ]

    def _of(self, names: KnownNames) -> StubFile:
        tools = {name: one for name, one in self._form.tools.items() if name in names.tools}
        agents = {name: one for name, one in self._form.agents.items() if name in names.agents}
        return StubFile(tools=tools, agents=agents)

    def __str__(self) -> str:
        """Return a sentence for the user of the command."""
        names = ", ".join([*self._form.tools, *self._form.agents]) or "nothing"
        return f"{self._path.name} replaces: {names}."


def tools_for(loaded: LoadedConversation) -> dict[str, Any]:
    """Return the tools of the journey, with the results that the conversation gives."""
    spec = loaded.found.journey.spec
    tools = _stubbed(loaded).tools
    try:
        shared_tools(spec, tools)
    except ConfigurationError as error:
        known = {**_own_functions(spec), **tools}
        taken = {effect.tool for one in spec.pathways.values() for effect in one.effects}
        way_out = f" {_WAY_OUT}" if {*spec.tools, *taken} - {*known} else ""
        raise CommandError(f"{loaded.name}: {error}{way_out}", exit_code=2) from None
    return tools


def agents_for(loaded: LoadedConversation) -> dict[str, Any]:
    """Return the agents of the journey, with the results that the conversation gives."""
    return _stubbed(loaded).agents_with(has_model=loaded.conversation.has_model)


def _stubbed(loaded: LoadedConversation) -> Stubbed:
    given = loaded.conversation
    return Stubbed.of(loaded.found, StubFile(tools=given.tools, agents=given.agents))


def stubbed_tools(
    spec: JourneySpec, own: Mapping[str, Any], stubs: Mapping[str, Stub | Sequence[Stub]]
) -> dict[str, Any]:
    """Return tools of a journey, by name, which give these results."""
    known = {**_own_functions(spec), **own}
    return {name: _stand_in_for(name, one, known.get(name), spec) for name, one in stubs.items()}


def _own_functions(spec: JourneySpec) -> dict[str, Any]:
    effects = [effect for pathway in spec.pathways.values() for effect in pathway.effects]
    return {effect.tool: effect.function for effect in effects if effect.function}


def _results(given: Stub | Sequence[Stub]) -> Callable[[], Any]:
    """Return a function that gives one result after the other; the last one stays."""
    stubs = [given] if isinstance(given, Stub) else list(given)
    calls = iter(range(len(stubs)))

    def result() -> Any:
        stub = stubs[next(calls, len(stubs) - 1)]
        if stub.times_out:
            raise TimeoutError
        if stub.fails:
            raise ValueError(stub.fails)
        if stub.breaks:
            raise RuntimeError(stub.breaks)
        return stub.gives

    return result


def _stand_in_for(name: str, given: Stub | Sequence[Stub], known: Any, spec: JourneySpec) -> Any:
    result = _results(given)

    async def stub(*_: Any, **__: Any) -> Any:
        return result()

    if isinstance(known, Tool):
        return replace(known, call=_stand_in_for(name, given, known.call, spec))
    if is_only_retriever(spec, name):
        return stub
    if isinstance(known, BaseTool):
        return _structured(name, known.description, known.args_schema, stub)
    if callable(known):
        return functools.wraps(_plain(known))(stub)
    properties: dict[str, Any] = {one: {} for one in _parameters(name, spec)}
    schema = {"type": "object", "properties": properties}
    return _structured(name, f"Stand for {name}.", schema, stub)


def _plain(function: Any) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _structured(name: str, description: str, schema: Any, stub: Any) -> BaseTool:
    from langchain_core.tools import StructuredTool  # noqa: PLC0415 - few journeys have one

    return StructuredTool(name=name, description=description, args_schema=schema, coroutine=stub)


def _parameters(name: str, spec: JourneySpec) -> Iterator[str]:
    if declared := spec.tools.get(name):
        yield from declared.parameters.get("properties", {})
        return
    pathways = spec.pathways.values()
    named = [e.arguments for p in pathways for e in p.effects if e.tool == name]
    named += [call.arguments for p in pathways for call in p.calls if call.tool == name]
    arguments = dict.fromkeys(argument for one in named for argument in one)
    yield from dict.fromkeys([*(arguments or field_names(spec)), _KEY])


def _agent(given: Stub | Sequence[Stub]) -> Any:
    result = _results(given)

    async def stub(ask: Mapping[str, Any]) -> Any:
        return result()

    return stub


class LiveModel:
    """The model of the settings, or of the journey's module; its words are not compared.

    Attributes:
        is_live: True if its words may be other ones each time.
        is_offline: True if all its answers are known, so that no other model may be asked.
    """

    is_live, is_offline = True, False

    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    def of(cls, found: FoundJourney) -> LiveModel:
        """Return the model of a journey, without answers that other conversations have cached."""
        return LiveModel(Cassette(model=found.model, records=True, in_order=False))

    def will_answer(self, answers: Sequence[str | ModelAnswer]) -> None:
        """Begin the next turn."""

    def faults(self) -> list[str]:
        """Return the faults since the last call."""
        return []


class RecordedModel(LiveModel):
    """A model whose answers are recorded.

    Args:
        way_out: The end of messages about requests that differ.
    """

    is_live = False
    model: Cassette

    def __init__(self, model: Cassette, way_out: str = "") -> None:
        super().__init__(model)
        self.is_offline = model.is_offline
        self._way_out = way_out

    def will_answer(self, answers: Sequence[str | ModelAnswer]) -> None:
        """Begin the next turn."""
        self.model.next_turn()

    def faults(self) -> list[str]:
        """Return the faults since the last call: requests that differ, answers left over."""
        return [f"{fault}{self._way_out}" for fault in self.model.faults()]


class StubModel(LiveModel):
    """The model of a conversation: it answers as the turns say, and keeps what goes wrong.

    Attributes:
        model: The model; False if no turn has answers.
    """

    is_live, is_offline = False, True
    model: ScriptedModel | bool

    def __init__(self, conversation: Conversation) -> None:
        self.unexpected: list[str] = []
        scripted = conversation.is_scripted
        super().__init__(ScriptedModel(always=self._too_many) if scripted else False)

    def will_answer(self, answers: Sequence[str | ModelAnswer]) -> None:
        """Add the answers of the next turn."""
        if isinstance(self.model, ScriptedModel):
            self.model.will_answer(*map(_answer, answers))

    def faults(self) -> list[str]:
        """Return the faults since the last call: calls too many, answers left over or refused."""
        if not isinstance(self.model, ScriptedModel):
            return []
        found: list[str] = []
        try:
            self.model.check()
        except AssertionError as error:
            found += [re.sub(r"<function .*", "commands", line) for line in str(error).splitlines()]
        return [*found, *self.unexpected]

    def _too_many(self, call: Call) -> Fault:
        kind = call.schema_name or "text"
        self.unexpected.append(f"a call of the model for '{kind}' has no answer in this turn")
        return Fault.status(400)  # an error that is tried again would take its time


def _answer(given: str | ModelAnswer) -> Any:
    if isinstance(given, str):
        return given
    if given.fails is not None:
        is_status = isinstance(given.fails, int)
        return Fault.status(given.fails) if is_status else getattr(Fault, given.fails)()
    if given.uses:
        return [UseTool(name, **arguments) for name, arguments in given.uses.items()]
    if given.says is not None:
        return given.says
    return scripted.says(
        *(_command(one) for one in given.means),
        reply=given.reply or None,
        asks=given.asks or None,
        to=given.to or None,
        rules=tuple(given.held),
        confidence=given.confidence,
    )


def _command(given: str | Mapping[str, Any]) -> Any:
    name, value = next(iter(given.items())) if isinstance(given, Mapping) else (given, None)
    function = getattr(scripted, name)
    if value is None:
        return function()
    if isinstance(value, Mapping):
        return function(**value)
    return function(*value) if isinstance(value, list) else function(value)
