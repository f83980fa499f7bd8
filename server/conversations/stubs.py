"""Stand-ins for tools, agents and the model of a journey, with the results that a test gives."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.tools import BaseTool

from journeygraph.graphs.agents.tools import shared_tools
from journeygraph.journeys import ConfigurationError, JourneySpec, Tool
from journeygraph.nodes.llm import scripted
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.llm.scripted import Call, Fault, ScriptedModel, UseTool
from journeygraph.server.conversations.conversation_files import Loaded, field_names
from journeygraph.server.conversations.conversation_form import Conversation, ModelAnswer, Stub
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import Found

_KEY = "idempotency_key"
_WAY_OUT = "A conversation can give their results as tools: {name: {gives: ...}}."


def tools_for(loaded: Loaded) -> dict[str, Any]:
    """Return the tools of the journey, with the results that the conversation gives."""
    spec = loaded.found.journey.spec
    known = {**_own_functions(spec), **loaded.found.tools}
    tools = {**loaded.found.tools, **stand_ins(loaded.found, loaded.conversation.tools)}
    try:
        shared_tools(spec, tools)
    except ConfigurationError as error:
        taken = {effect.tool for one in spec.pathways.values() for effect in one.effects}
        way_out = f" {_WAY_OUT}" if {*spec.tools, *taken} - {*tools, *known} else ""
        raise CommandError(f"{loaded.name}: {error}{way_out}", exit_code=2) from None
    return tools


def stand_ins(found: Found, stubs: Mapping[str, Stub | Sequence[Stub]]) -> dict[str, Any]:
    """Return tools of a journey, by name, which give these results."""
    spec = found.journey.spec
    known = {**_own_functions(spec), **found.tools}
    return {name: _stand_in_for(name, one, known.get(name), spec) for name, one in stubs.items()}


def agents_for(loaded: Loaded) -> dict[str, Any]:
    """Return the agents of the journey, with the results that the conversation gives."""
    given = {name: _agent(stub) for name, stub in loaded.conversation.agents.items()}
    agents = loaded.found.agents_with(has_model=loaded.conversation.has_model)
    return {**agents, **given}


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
    """Return a tool with these results, and with the parameters of the tool that it replaces."""
    result = _results(given)

    async def stand_in(**_: Any) -> Any:
        return result()

    if isinstance(known, Tool):
        return replace(known, call=_stand_in_for(name, given, known.call, spec))
    if isinstance(known, BaseTool):
        schema = known.args_schema
        return _structured(name, known.description, schema, stand_in)
    if callable(known):
        return functools.wraps(_plain(known))(stand_in)
    parameters = [
        inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for one in _parameters(name, spec)
    ]
    stand_in.__name__ = name
    stand_in.__doc__ = f"Stand for {name}."
    stand_in.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return stand_in


def _plain(function: Any) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _structured(name: str, description: str, schema: Any, stand_in: Any) -> BaseTool:
    from langchain_core.tools import StructuredTool  # noqa: PLC0415 - few journeys have one

    return StructuredTool(
        name=name, description=description, args_schema=schema, coroutine=stand_in
    )


def _parameters(name: str, spec: JourneySpec) -> Iterator[str]:
    if declared := spec.tools.get(name):
        yield from declared.parameters.get("properties", {})
        return
    effects = [e for p in spec.pathways.values() for e in p.effects if e.tool == name]
    arguments = dict.fromkeys(argument for effect in effects for argument in effect.arguments)
    yield from dict.fromkeys([*arguments, *([] if arguments else field_names(spec)), _KEY])


def _agent(given: Stub | Sequence[Stub]) -> Any:
    result = _results(given)

    async def stand_in(ask: Mapping[str, Any]) -> Any:
        return result()

    return stand_in


class LiveModel:
    """The model of the settings, or of the journey's module; its words are not compared.

    Attributes:
        model: The argument `model` of `Journey`.
        is_live: True if its words may be other ones each time.
        is_offline: True if all its answers are known, so that no other model may be asked.
    """

    is_live, is_offline = True, False

    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    def of(cls, found: Found) -> LiveModel:
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
        model: The recording.
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


class Script(LiveModel):
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
    """Return a command of a form, as `journeygraph.nodes.llm.scripted` has it."""
    name, value = next(iter(given.items())) if isinstance(given, Mapping) else (given, None)
    function = getattr(scripted, name)
    if value is None:
        return function()
    if isinstance(value, Mapping):
        return function(**value)
    return function(*value) if isinstance(value, list) else function(value)
