"""The scripted server is a real one: a socket, a port, connections that break and stay."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from typing import Any

import httpx2
import pytest

from journeygraph.nodes.llm.scripted import Fault, Script
from journeygraph.server.scripted import ScriptedServer

HELLO: dict[str, Any] = {"model": "small", "messages": [{"role": "user", "content": "Hi"}]}


def ask(server: ScriptedServer, **more: Any) -> httpx2.Response:
    return httpx2.post(f"{server.url}/chat/completions", json={**HELLO, **more})


def test_it_answers_at_its_url() -> None:
    with ScriptedServer("Hello.") as server:
        models = httpx2.get(f"{server.url}/models").json()
        answer = ask(server)
        elsewhere = httpx2.get(f"{server.url}/files")

    assert server.url.startswith("http://127.0.0.1:")
    assert [model["object"] for model in models["data"]] == ["model"]
    assert answer.json()["choices"][0]["message"]["content"] == "Hello."
    assert elsewhere.status_code == 404
    assert [call.authorized for call in server.calls] == [False]


def test_the_port_is_free_again_and_the_thread_gone() -> None:
    before = threading.active_count()
    with ScriptedServer("Hello.") as server:
        ask(server)
        with pytest.raises(RuntimeError, match="already"):
            server.start()

    assert threading.active_count() == before
    with pytest.raises(httpx2.ConnectError):
        ask(server)
    server.stop()
    server.start()
    server.will_answer("Here again.")
    assert ask(server).status_code == 200
    server.stop()
    server.check()


async def test_it_tells_what_did_not_add_up() -> None:
    with pytest.raises(AssertionError, match="unused answer"), ScriptedServer("Hello."):
        pass
    with pytest.raises(AssertionError, match="has no answer"):
        async with ScriptedServer() as server:
            assert (await asyncio.to_thread(ask, server)).status_code == 500
    with pytest.raises(KeyError):
        async with ScriptedServer("Hello."):
            raise KeyError


def test_a_call_takes_milliseconds() -> None:
    with ScriptedServer(always="Hello.") as server, httpx2.Client() as client:
        for _ in range(5):
            client.post(f"{server.url}/chat/completions", json=HELLO)
        took = []
        for _ in range(20):
            start = time.perf_counter()
            client.post(f"{server.url}/chat/completions", json=HELLO)
            took.append(time.perf_counter() - start)

    assert min(took) < 0.030  # with Nagle's algorithm: 40 ms each, however quick the machine


@pytest.mark.parametrize("fault", [Fault.hang(), Fault.stall_after()], ids=lambda f: f.name)
def test_it_stops_while_somebody_waits(fault: Fault, caplog: pytest.LogCaptureFixture) -> None:
    outcome: list[Any] = []

    def wait(server: ScriptedServer) -> None:
        try:
            outcome.append(ask(server, stream=True).status_code)
        except httpx2.HTTPError as error:
            outcome.append(error)

    with caplog.at_level(logging.ERROR), ScriptedServer(fault) as server:
        waiting = threading.Thread(target=wait, args=(server,))
        waiting.start()
        while not server.calls:
            time.sleep(0.01)
        server.stop()
        waiting.join()

    assert outcome[0] == 500 or isinstance(outcome[0], httpx2.RemoteProtocolError)
    assert caplog.records == []


def test_a_connection_breaks_without_a_word_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), ScriptedServer(always=Fault.cut_after()) as server:
        for stream in (False, True):
            with pytest.raises(httpx2.RemoteProtocolError, match=r"incomplete|without sending"):
                ask(server, stream=stream)

    assert caplog.records == []


async def test_many_callers_are_served_at_once() -> None:
    script: list[Any] = [Fault.hang(), *["Hello."] * 20]
    async with ScriptedServer(*script) as server, httpx2.AsyncClient(timeout=120) as client:
        url = f"{server.url}/chat/completions"
        hanging = asyncio.create_task(client.post(url, json=HELLO))
        while not server.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        answers = await asyncio.gather(*(client.post(url, json=HELLO) for _ in range(20)))
        assert not hanging.done()
        hanging.cancel()

    assert {json.loads(answer.content)["id"] for answer in answers} == {
        f"chatcmpl-scripted-{number}" for number in range(2, 22)
    }


def test_two_servers_keep_apart() -> None:
    with ScriptedServer("one") as first, ScriptedServer("two") as second:
        said = [
            ask(server).json()["choices"][0]["message"]["content"] for server in (second, first)
        ]

    assert said == ["two", "one"]


def test_one_server_may_play_many_scripts() -> None:
    with ScriptedServer("one") as server:
        first = server.script
        assert ask(server).json()["choices"][0]["message"]["content"] == "one"
        with Script("two") as server.script:
            assert ask(server).json()["choices"][0]["message"]["content"] == "two"

    assert [len(script.calls) for script in (first, server.script)] == [1, 1]
