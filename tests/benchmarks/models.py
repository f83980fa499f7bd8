"""Time that the runtime adds to a model: to its answer, and to its first word."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from journeygraph import (
    NEVER,
    IntentTrigger,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.nodes.llm.scripted import Call, Slow, leads_nowhere
from journeygraph.server.scripted import ScriptedServer
from tests.benchmarks.measure import (
    Figure,
    Pairs,
    Steps,
    Times,
    alternate,
    duration,
    scratch,
    timed,
)

ROUNDS = 40
ANSWER = 0.2
"""Seconds that the stub takes for a whole answer."""
TOKENS, SECONDS = 50, 1.0
"""How a streamed answer comes: so many tokens, over so many seconds."""
_REPLY = "We have a free place on Tuesday at two, and another one on Friday at ten. " * 3
_ENVIRONMENT = ("OPENAI_API_KEY", "OPENAI_BASE_URL")


class Reply(Signature):
    """Answer the caller."""

    response: str = OutputField(description="What to say")


class Desk(Journey):
    """Answer calls."""

    class TalkPath(Pathway):
        __signature__ = Reply
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Counter(Journey):
    """Answer calls, and explain bills."""

    class TalkPath(Pathway):
        __signature__ = Reply
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class BillPath(Pathway):
        __signature__ = Reply
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(IntentTrigger(description="asks for a bill"), to_pathway="bill")]


async def models(steps: Steps) -> list[Figure]:
    """A turn of one model agent on SQLite, and the first word of its reply."""
    return [await _whole(steps), await _first_word(steps), await _first_word_judged(steps)]


async def _whole(steps: Steps) -> Figure:
    slow = Slow({"response": _REPLY}, before=ANSWER)
    with scratch() as folder, _named(ScriptedServer(always=slow)) as stub:
        config = JourneyConfig(persistence=f"sqlite:///{folder / 'desk.db'}")
        async with Desk("bench", config) as desk, httpx2.AsyncClient() as client:
            await desk.start()
            await desk.process_message("Hello")
            body = stub.calls[0].body
            pairs = await alternate(
                lambda: desk.process_message("When can I come?"),
                lambda: client.post(f"{stub.url}/chat/completions", json=body),
                steps("a model's answer", ROUNDS),
            )
    return pairs.figure(
        f"turn of a model agent, stub of {ANSWER * 1e3:.0f} ms, SQLite",
        "the stub's own time",
        1.05,
        duration,
    )


async def _first_word(steps: Steps) -> Figure:
    slow = Slow({"response": _REPLY}, over=SECONDS, tokens=TOKENS)
    with scratch() as folder, _named(ScriptedServer(always=slow)) as stub:
        config = JourneyConfig(persistence=f"sqlite:///{folder / 'desk.db'}")
        async with Desk("bench", config) as desk, httpx2.AsyncClient() as client:
            await desk.start()
            await desk.process_message("Hello")
            body = {**stub.calls[0].body, "stream": True}
            pairs = Pairs()
            for _ in steps("the first word", ROUNDS // 2):
                ours = await _to_first(_words_of(desk))
                pairs.add_times(ours, await _to_first(_sent(client, stub.url, body)))
    return pairs.figure(
        f"first word of a reply, {TOKENS} tokens in {SECONDS:g} s, SQLite",
        "first word that the stub sends",
        1.2,
        duration,
    )


async def _first_word_judged(steps: Steps) -> Figure:
    def answer(call: Call) -> Slow:
        if call.schema_name == "understanding":
            return Slow(leads_nowhere(call), before=ANSWER)
        return Slow({"response": _REPLY}, before=ANSWER / 2, over=ANSWER / 2)

    stub = ScriptedServer(understanding=[], agent=[], always=answer)
    with scratch() as folder, _named(stub):
        store = f"sqlite:///{folder / 'desk.db'}"
        config = JourneyConfig(persistence=store, intent_cache_ttl_seconds=0)
        async with Counter("bench", config) as desk, httpx2.AsyncClient() as client:
            await desk.start()
            await desk.process_message("Hello")
            body = next(call.body for call in stub.calls if call.schema_name == "answer")
            url, pairs = f"{stub.url}/chat/completions", Pairs()
            for _ in steps("the first word behind a judgement", ROUNDS):
                ours = await _to_first(_words_of(desk))
                pairs.add_times(ours, await timed(lambda: client.post(url, json=body)))
    return pairs.figure(
        f"first word where a model judges an intent, stub of {ANSWER * 1e3:.0f} ms a call, SQLite",
        "end of one whole call",
        1.2,
        duration,
    )


async def _to_first(words: Any) -> Times:
    """Return the time to the first word; the other words are read too."""
    first = await timed(lambda: anext(words))
    async for _ in words:
        pass
    return first


async def _words_of(desk: Journey) -> Any:
    async for event in desk.stream_message("When can I come?"):
        if event.type == "token":
            yield event.data["text"]


async def _sent(client: httpx2.AsyncClient, url: str, body: dict[str, Any]) -> Any:
    """Yield the answer from where the reply in it begins."""
    text = ""
    async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {") and (choices := json.loads(line[6:])["choices"]):
                text += choices[0]["delta"].get("content") or ""
                if text.partition('": "')[2] or text.partition('":"')[2]:
                    yield text


@contextmanager
def _named(stub: ScriptedServer) -> Iterator[ScriptedServer]:
    """Have the environment name a stub as the server of all models."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    with stub:
        os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=stub.url)
        yield stub
    for name, value in before.items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value
