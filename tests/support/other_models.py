"""A chat model of another provider: LangChain's interface, and nothing of OpenAI's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr


class WholeModel(BaseChatModel):
    """Answers by calls of functions, each answer a list of (name, arguments); never streams."""

    _answers: list[Any] = PrivateAttr()
    _asked: list[tuple[list[Any], dict[str, Any]]] = PrivateAttr(default_factory=list)

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self._answers = list(answers)

    @property
    def asked(self) -> list[tuple[list[Any], dict[str, Any]]]:
        """The messages and the options of each call, oldest first."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "other"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self.bind(tools=list(tools), **options)

    def _taken(self, messages: list[Any], options: dict[str, Any]) -> Any:
        self._asked.append((messages, options))
        return self._answers.pop(0)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any):
        answer = self._taken(messages, kwargs)
        if isinstance(answer, str):
            message = AIMessage(answer)
        else:
            calls = [
                {"name": name, "args": arguments, "id": f"call-{place}", "type": "tool_call"}
                for place, (name, arguments) in enumerate(answer)
            ]
            message = AIMessage("", tool_calls=calls)
        message.usage_metadata = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        return ChatResult(generations=[ChatGeneration(message=message)])


class StreamingModel(WholeModel):
    """The same, in pieces."""

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer = self._taken(messages, kwargs)
        if isinstance(answer, str):
            yield ChatGenerationChunk(message=AIMessageChunk(content=answer))
            return
        for place, (name, arguments) in enumerate(answer):
            text = json.dumps(arguments)
            first = tool_call_chunk(name=name, args="", id=f"call-{place}", index=place)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[first]))
            for start in range(0, len(text), 5):
                piece = tool_call_chunk(name=None, args=text[start : start + 5], index=place)
                yield ChatGenerationChunk(
                    message=AIMessageChunk(content="", tool_call_chunks=[piece])
                )
        usage = UsageMetadata(input_tokens=7, output_tokens=3, total_tokens=10)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage))
