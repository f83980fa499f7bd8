"""Keep the answers of a model by their requests, and give them again without the model.

A request is the same if its purpose, the names that the model may answer with, its tools and the
data that the model is shown are the same. Instructions, descriptions and earlier replies of the
assistant are wording: they may differ, and are only counted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from journeygraph.journeys import ModelError
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.llm.client import ChatAnswer, ModelToolCall
from journeygraph.nodes.state.messages import text_of

if TYPE_CHECKING:
    from journeygraph.nodes.journal import Usage
    from journeygraph.nodes.llm.call import Hear, Question

Json = dict[str, Any]
AskModel = Callable[[Callable[[], "Hear"] | None], Awaitable[ChatAnswer]]
"""Asks the model itself."""

_DIGITS = 12
_OF_SCHEMA = frozenset({"description", "title", "examples"})
"""Keys of a schema that are wording."""
_OF_DATA = frozenset(
    {
        *("conversation", "purpose", "the_user", "examples", "when", "about", "called"),
        *("assistant_said_last", "question_still_open", "label", "what_can_be_done_here"),
    }
)
"""Keys of the data of a call that understands a message that are wording."""
_BY_MODEL = frozenset({"refused", "cut_off", "empty", "too_long"})
"""Failures that are answers of the model; others are those of the network or of the settings."""
UNRECORDED = "unrecorded"
"""Kind of the error for a request without an answer."""


def _digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def _without(value: Any, hidden: frozenset[str], *, names: bool = False) -> Any:
    """Return data without some keys; below `properties` the keys are names, which stay."""
    if isinstance(value, Mapping):
        return {
            key: _without(item, hidden, names=key in ("properties", "$defs"))
            for key, item in value.items()
            if names or key not in hidden
        }
    return [_without(item, hidden) for item in value] if isinstance(value, list) else value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def _role_and_text(message: Any) -> tuple[str, str]:
    if isinstance(message, Mapping):
        return str(message.get("role")), text_of(message.get("content") or "")
    return _ROLES.get(message.type, message.type), text_of(message.content)


def _request(question: Question) -> tuple[Json, str]:
    """Return what counts of a request, as digests, and the digest of its wording."""
    texts = [_role_and_text(message) for message in question.messages]
    shown = [text for role, text in texts if role not in ("system", "assistant")]
    tools = {tool["function"]["name"]: tool["function"] for tool in question.tools}
    counts: Json = {
        "for": question.schema_name,
        "schema": _digest(_without(question.schema, _OF_SCHEMA)),
        "shown": [_shown(text, question.schema_name) for text in shown],
    }
    if tools:
        counts["tools"] = {
            name: _digest(_without(one.get("parameters", {}), _OF_SCHEMA))
            for name, one in sorted(tools.items())
        }
    system = [text for role, text in texts if role == "system"]
    return counts, _digest([system, shown, question.schema, tools])


def _shown(text: str, purpose: str) -> Any:
    """Return the digest of a message; of data, one for each key."""
    data = _parsed(text)
    if not isinstance(data, dict):
        return _digest(text)
    if purpose != "understanding":
        return {key: _digest(value) for key, value in data.items()}
    data = {key: value for key, value in data.items() if key not in _OF_DATA}
    for key in ("form", "form_now"):
        if key in data:
            data[key] = _without(data[key], _OF_DATA | {"question", "text"})
    return {key: _digest(_without(value, _OF_DATA)) for key, value in data.items()}


def _differences(recorded: Json, now: Json) -> Iterator[str]:
    if recorded["schema"] != now["schema"]:
        yield "the names that the model may answer with"
    were, are = recorded.get("tools", {}), now.get("tools", {})
    if were != are:
        changed = sorted(name for name in {*were, *are} if were.get(name) != are.get(name))
        yield f"the tools ({', '.join(changed)})"
    if len(recorded["shown"]) != len(now["shown"]):
        yield "the number of messages that the model is shown"
        return
    for number, (was, now_) in enumerate(zip(recorded["shown"], now["shown"], strict=True), 1):
        if was == now_:
            continue
        if isinstance(was, dict) and isinstance(now_, dict):
            names = [key for key in {**was, **now_} if was.get(key) != now_.get(key)]
            yield ", ".join(f"'{name}'" for name in names)
        else:
            yield f"message {number} of those that the model is shown"


class Cassette:
    """Answers of a model, recorded by their requests.

    Without `records` it gives each answer once, in the turn in which it was recorded, and a request
    that it does not have fails. With it, an answer is used again in any turn if nothing at all of
    its request differs, and other requests go to the model.

    Args:
        model: The argument `model` of `Journey` for requests that are not recorded; False: none.
        in_order: True if calls come one after the other, without speculation.

    Attributes:
        reworded: The number of answers that were recorded under another wording.
        failed: The reason why the model could not be recorded; empty if it could.
    """

    def __init__(
        self,
        answers: Iterable[Json] = (),
        model: Any = False,
        *,
        records: bool = False,
        in_order: bool = True,
    ) -> None:
        self.model = model
        self.in_order = in_order
        self.reworded = 0
        self.failed = ""
        self._records = records
        self._left = list(answers)
        self._made: list[Json] = []
        self._turn = 0
        self._faults: list[str] = []

    @property
    def is_offline(self) -> bool:
        """Return whether no model is behind it."""
        return self.model is False

    @property
    def answers(self) -> list[Json]:
        """Return the answers of this recording, in the order of their requests."""
        return [one for one in self._made if len(one) > 1]

    def replayed(self) -> Self:
        """Return a cassette that gives the answers of this recording."""
        return type(self)(self.answers)

    def next_turn(self) -> None:
        """Begin the next turn."""
        self._turn += 1

    def faults(self) -> list[str]:
        """Return the faults since the last call: requests that differ, answers left over."""
        faults, self._faults = self._faults, []
        if not self._records and not faults:
            for one in self._of_turn():
                if "unanswered" not in one:
                    faults.append(f"the recorded answer for '{one['for']}' was not asked for")
                self._left.remove(one)
        return faults

    async def answer(
        self,
        question: Question,
        usage: Usage,
        until: float,
        listen: Callable[[], Hear] | None,
        ask: AskModel,
    ) -> ChatAnswer:
        """Return the recorded answer to a question, or that of the model.

        Raises:
            ModelError: The model failed when it was recorded; or there is no answer.
        """
        counts, wording = _request(question)
        made: Json = {"turn": self._turn}
        self._made.append(made)
        found = self._found(counts, wording)
        if found is not None:
            made |= {**found, "turn": self._turn}
            return await _given(found, usage, until, listen, len(self._made))
        if not self._records or self.is_offline:
            why = self._why_not(counts)
            self._faults.append(why)
            raise ModelError(UNRECORDED, why)
        before = [*_spent(usage)]
        pieces: list[str] = []
        result: Json = {}
        try:
            answer = await ask(_kept(listen, pieces) if listen else None)
            result = _record(answer)
        except asyncio.CancelledError:
            made |= {**counts, "wording": wording, "unanswered": True, "usage": [1, 0, 0]}
            raise
        except ModelError as error:
            if error.kind not in _BY_MODEL:
                self.failed = self.failed or str(error)
                raise
            result = {"fails": error.kind, "why": str(error), "streamed": "".join(pieces)}
            raise
        finally:
            if result:
                used = [now - was for now, was in zip(_spent(usage), before, strict=True)]
                made |= {**counts, "wording": wording, **result, "usage": used}
        return answer

    def _of_turn(self) -> list[Json]:
        return [one for one in self._left if one["turn"] == self._turn]

    def _found(self, counts: Json, wording: str) -> Json | None:
        left = self._left if self._records else self._of_turn()
        parts = ("for", "schema", "shown", "tools")
        alike = [one for one in left if all(one.get(part) == counts.get(part) for part in parts)]
        if self._records:  # what was never answered is asked again
            alike = [one for one in alike if "unanswered" not in one]
        # Agents that work at the same time may differ by their instructions alone.
        same = [one for one in alike if one["wording"] == wording]
        if not same and (self._records or not alike):
            return None
        found = same[0] if same else alike[0]
        self.reworded += not same
        self._left.remove(found)
        return found

    def _why_not(self, counts: Json) -> str:
        purpose = counts["for"]
        alike = [one for one in self._left if one["for"] == purpose]
        alike = [one for one in alike if one["turn"] == self._turn] or alike[: self._records]
        if not alike:
            return f"a call of the model for '{purpose}' is not in the recording of this turn"
        parts = "; ".join(_differences(alike[0], counts)) or "its wording"
        return f"the request for '{purpose}' differs from the recorded one in {parts}"


def _spent(usage: Usage) -> Sequence[int]:
    return usage.model_calls, usage.input_tokens, usage.output_tokens


def _kept(listen: Callable[[], Hear], pieces: list[str]) -> Callable[[], Hear]:
    def begun() -> Hear:
        hear = listen()
        pieces.clear()

        def keep(piece: str) -> bool:
            pieces.append(piece)
            return hear(piece)

        return keep

    return begun


def _record(answer: ChatAnswer) -> Json:
    parsed = _parsed(answer.text)
    text: Any = parsed if isinstance(parsed, dict) else cleaned(answer.text)
    result: Json = {"says": text} if answer.text else {}
    calls = [{"tool": call.name, "arguments": call.arguments} for call in answer.calls]
    return {**result, "calls": calls} if calls else result


async def _given(
    one: Json,
    usage: Usage,
    until: float,
    listen: Callable[[], Hear] | None,
    number: int,
) -> ChatAnswer:
    """Return a recorded answer as the model gave it; the number makes ids of its calls unique."""
    calls, read, written = one["usage"]
    usage.model_calls += calls
    usage.add_tokens({"input_tokens": read, "output_tokens": written})
    if "unanswered" in one:
        await asyncio.sleep(until - asyncio.get_running_loop().time())
        raise ModelError("timeout", "the model did not answer in time")
    hear = listen() if listen else None
    if "fails" in one:
        if hear is not None and one.get("streamed"):
            hear(one["streamed"])
            hear("")
        raise ModelError(one["fails"], one["why"])
    answer = one.get("says", "")
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if hear is not None and text:
        hear(text)
    called: Sequence[Json] = one.get("calls", ())
    read_calls = [
        ModelToolCall(f"call_{number}_{place}", one["tool"], one["arguments"])
        for place, one in enumerate(called)
    ]
    return ChatAnswer(text, read_calls, _message(text, read_calls))


def _message(text: str, calls: Sequence[ModelToolCall]) -> Any:
    from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall  # noqa: PLC0415

    called = [(call.id, call.name, call.arguments) for call in calls]
    return AIMessage(
        text,
        tool_calls=[
            ToolCall(id=id_, name=name, args=given)
            for id_, name, given in called
            if given is not None
        ],
        invalid_tool_calls=[
            InvalidToolCall(type="invalid_tool_call", id=id_, name=name, args=None, error=None)
            for id_, name, given in called
            if given is None
        ],
    )
