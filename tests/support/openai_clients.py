"""The official client of the OpenAI API, as it talks to a server of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.support.api import KEY, Api


@pytest.fixture
async def client_of() -> AsyncIterator[Callable[..., AsyncOpenAI]]:
    """Make clients of servers: `client_of(api, key)`; they end with the test."""
    async with AsyncExitStack() as stack:

        def made(api: Api, key: str = KEY, **options: Any) -> AsyncOpenAI:
            base = f"http://127.0.0.1:{api.port}/v1"
            client = AsyncOpenAI(**{"base_url": base, "api_key": key, "max_retries": 0, **options})
            stack.push_async_callback(client.close)
            return client

        yield made


def user(text: Any) -> Any:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:
    """Return a message of the assistant."""
    return {"role": "assistant", "content": text}


async def turns_of(api: Api, session_id: str = "call-1") -> list[str]:
    """Return the messages of the user in a session."""
    answer = await api.client.get(f"/v1/sessions/{session_id}/history")
    assert answer.status_code == 200, answer.text
    return [each["content"] for each in answer.json()["entries"] if each["role"] == "user"]
