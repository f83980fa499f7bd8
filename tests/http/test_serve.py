"""`journeygraph serve`, as a separate process that is started, called, and stopped."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeygraph import ConfigurationError
from journeygraph.server.app import app_of
from journeygraph.server.cli import serve
from journeygraph.server.cli.serve import answer, listening, run_loop
from journeygraph.server.discover.journeys import example_ids
from journeygraph.server.http import turns
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.turns import RunningTurns
from journeygraph.server.settings import DEFAULT_STORE, Settings
from tests.support import command
from tests.support.api import KEY, one, wired
from tests.support.command import ROOT, flat, run, served, start
from tests.support.exits import WAYS
from tests.support.solo import Solo

folder = command.folder
logging_as_before = command.logging_as_before

SLOW = '''
import asyncio
import os
from journeygraph import Journey, Pathway


class Slow(Journey):
    """Take one's time."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


async def clerk(ask):
    yield "Let me see. "
    open("begun", "w").close()
    while not os.path.exists("go_on"):
        await asyncio.sleep(0.01)
    yield "Yes."


AGENTS = {"clerk": clerk}
'''
LOCKED = SLOW.replace("class Slow(Journey):", "class Locked(Journey):").replace(
    "    class TalkPath", "    __sensitive__ = True\n\n    class TalkPath"
)


def stopped(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait for the end of the process; give its exit code and what it said of errors."""
    _, errors = process.communicate(timeout=110)
    return process.returncode, errors.decode()


def changed(file: Path, old: str, new: str) -> None:
    """Change a file of the journeys, as an editor does, within one second of the file's clock."""
    text, before = file.read_text(), file.stat().st_mtime_ns
    assert old in text
    file.write_text(text.replace(old, new))
    second, moment = divmod(before, 10**9)
    os.utime(file, ns=(before, second * 10**9 + (moment + 1) % 10**9))


def shown_until(process: Any, word: str) -> str:
    """Return what the server shows, up to the line with a word."""
    lines: list[str] = []
    while not (lines and word in lines[-1]):
        line = process.stdout.readline().decode()
        assert line, process.stderr.read().decode()
        lines.append(line)
    return "".join(lines)


def test_with_reload_each_change_is_served_and_sessions_continue(folder: Path) -> None:
    file = folder / "orders.py"
    with served(folder, "orders.py", "--reload") as (process, place, lines):
        try:
            assert f"Restarts on a change in: {folder}" in lines[0]
            with httpx2.Client(base_url=place, timeout=100) as client:
                begun = client.get("/page/start").text
                assert "page/follow.js" in client.get("/").text
                client.post("/v1/sessions", json={"journey_id": "orders", "session_id": "s-1"})

                changed(file, 'to_pathway="help"', 'to_pathway="hepl"')
                shown_until(process, "Not served. The next change of a file")
                faulty = client.get("/v1/journeys")
                assert faulty.status_code == 503
                assert faulty.json()["code"] == "faulty_journeys"
                assert "Did you mean 'help'?" in faulty.json()["faults"][0]["text"]
                page = client.get("/")
                assert page.status_code == 503
                assert "Did you mean &#x27;help&#x27;?" in page.text
                assert 'http-equiv="refresh"' in page.text

                changed(file, 'to_pathway="hepl"', 'to_pathway="help"')
                changed(file, "like?", "have today?")
                shown_until(process, "Listening")
                assert client.get("/page/start").text not in ("", begun)
                reply = client.post("/v1/sessions/s-1/messages", json={"message": "hello"})
                assert "have today?" in reply.json()["message"]
        finally:
            process.terminate()
            code, errors = stopped(process)
    assert code == 0
    assert "Did you mean 'help'?" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_reload_without_a_good_journey_waits_and_ends_with_a_signal(
    folder: Path, stop: signal.Signals
) -> None:
    process: Any = start(folder, "serve", "broken.py", "--reload", "--port", "0")
    try:
        shown_until(process, "Not served")
    finally:
        process.send_signal(stop)
        code, errors = stopped(process)

    assert code == 0
    assert errors.count("broken.py:") == 2  # each fault once
    assert "Traceback" not in errors


def test_reload_refuses_an_address_of_the_network_without_a_key(folder: Path) -> None:
    refused = run("serve", "orders.py", "--reload", "--host", "0.0.0.0", code=2)

    assert "would serve the network without an API key" in flat(refused.stderr)


@pytest.mark.slow
def test_without_settings_it_serves_the_examples_from_a_file_to_this_machine(folder: Path) -> None:
    with served(folder, begin=partial(start, afresh=True)) as (process, place, lines):
        said = "".join(lines)
        assert "No model is configured" in lines[0]
        assert f"Journeys: {', '.join(example_ids())}" in said
        assert "Store: sqlite:///journeys.db" in said
        assert "No API key is set" in said
        assert "only requests from this machine are served" in said
        assert f"Page: {place}/\n" in said
        assert place.startswith("http://127.0.0.1:")
        assert httpx2.get(f"{place}/readyz").status_code == 200
        assert (folder / "journeys.db").exists()
        process.send_signal(signal.SIGTERM)
        assert stopped(process) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_lets_the_turn_finish_and_ends_well(folder: Path, number: int) -> None:
    (folder / "slow.py").write_text(SLOW)
    store = f"sqlite:///{folder / 'slow.db'}"
    with served(folder, "slow.py", "--store", store) as (process, place, _):
        session = f"{place}/v1/sessions/s-1"
        httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"})
        asked: Any = {"json": {"message": "hm"}, "headers": {"Accept": "text/event-stream"}}
        with httpx2.stream("POST", f"{session}/messages", **asked) as answer:
            lines = answer.iter_lines()
            while next(lines) != "event: token":
                pass
            process.send_signal(number)
            assert "1 running turns have" in process.stdout.readline().decode()
            (folder / "go_on").touch()
            rest = list(lines)
        assert "event: done" in rest
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{place}/healthz")
        assert stopped(process) == (0, "")

    with served(folder, "slow.py", "--store", store) as (_, place, _):
        versions = httpx2.get(f"{place}/v1/sessions/s-1/versions").json()["versions"]
        assert [version["reply"] for version in versions] == ["", "Let me see. Yes."]


async def test_a_signal_before_the_server_handles_signals_is_not_lost() -> None:
    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError

    def early(*_: object) -> None:  # in the collection before the server starts
        gc.callbacks.remove(early)
        signal.raise_signal(signal.SIGTERM)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    gc.callbacks.append(early)
    try:
        with listening("127.0.0.1", 0, Keys(())) as listener:
            await asyncio.wait_for(answer(app, listener, RunningTurns(), print), 30)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def test_told_to_stop_it_cuts_off_a_turn_that_does_not_end_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "GRACE_SECONDS", 0.1)
    begun = asyncio.Event()

    async def stuck(_: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    app_state = wired(one(Solo, clerk=stuck))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    told: list[str] = []
    try:
        async with app_state.opened():
            with listening("127.0.0.1", 0, Keys(())) as listener:
                place = serve.place_of(listener)
                app = app_of(app_state)
                serving = asyncio.create_task(answer(app, listener, app_state.turns, told.append))
                async with httpx2.AsyncClient(base_url=place, timeout=100) as client:
                    await client.post("/v1/sessions", json={"session_id": "s-1"})
                    asked = client.post("/v1/sessions/s-1/messages", json={"message": "hi"})
                    asking = asyncio.create_task(asked)
                    await begun.wait()
                    signal.raise_signal(signal.SIGTERM)
                    said = await asking
                await serving
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    assert (said.status_code, said.json()["code"]) == (503, "outcome_unknown")
    assert "1 running turns have" in told[0]


def test_a_turn_that_nobody_hears_finishes_too(folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    store = f"sqlite:///{folder / 'slow.db'}"
    with served(folder, "slow.py", "--store", store) as (process, place, _):
        httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"})
        client = HTTPConnection(place.removeprefix("http://"))
        asked: Any = {"headers": {"Content-Type": "application/json"}, "body": '{"message": "hm"}'}
        client.request("POST", "/v1/sessions/s-1/messages", **asked)
        while not (folder / "begun").exists():
            time.sleep(0.01)
        client.close()
        process.send_signal(signal.SIGTERM)
        assert "1 running turns have" in process.stdout.readline().decode()
        (folder / "go_on").touch()
        assert stopped(process) == (0, "")

    with served(folder, "slow.py", "--store", store) as (_, place, _):
        assert httpx2.get(f"{place}/v1/sessions/s-1").json()["version"] == 1


@pytest.mark.parametrize("heard", [True, False])
def test_who_asks_it_to_stop_twice_does_not_wait(folder: Path, heard: bool) -> None:
    (folder / "slow.py").write_text(SLOW)
    store = f"sqlite:///{folder / 'slow.db'}"
    asked: Any = {"json": {"message": "hm"}, "headers": {"Accept": "text/event-stream"}}
    with served(folder, "slow.py", "--store", store) as (process, place, _), ExitStack() as open_:
        httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"})
        turn = httpx2.stream("POST", f"{place}/v1/sessions/s-1/messages", **asked)
        lines = open_.enter_context(turn).iter_lines()
        while next(lines) != "event: token":
            pass
        if not heard:
            open_.close()
        process.send_signal(signal.SIGINT)
        assert "1 running turns have" in process.stdout.readline().decode()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)

    with served(folder, "slow.py", "--store", store) as (_, place, _):
        assert httpx2.get(f"{place}/v1/sessions/s-1").json()["version"] == 0


def test_with_keys_it_asks_for_them_and_hides_its_description(folder: Path) -> None:
    with served(folder, "parcel_refund", JOURNEYGRAPH_API_KEYS=f" {KEY} ,") as (_, place, lines):
        assert "Clients need a key" in "".join(lines)
        assert KEY not in "".join(lines)
        assert "/docs" not in lines[-1]
        asked = {"Authorization": f"Bearer {KEY}"}
        assert httpx2.get(f"{place}/v1/journeys").status_code == 401
        assert httpx2.get(f"{place}/v1/journeys", headers=asked).status_code == 200
        assert httpx2.get(f"{place}/docs", headers=asked).status_code == 404


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
def test_slow_bodies_without_a_key_leave_descriptors_for_a_client_with_one(folder: Path) -> None:
    head = "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n"
    over = threading.Event()
    with (
        served(folder, "parcel_refund", JOURNEYGRAPH_API_KEYS=KEY) as (process, place, _),
        ExitStack() as open_,
    ):
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (100, 100))
        address = ("127.0.0.1", int(place.rpartition(":")[2]))
        crowd = [open_.enter_context(socket.create_connection(address)) for _ in range(400)]
        for one in crowd:
            one.setblocking(False)
            one.send(head.encode())

        def trickle() -> None:
            while not over.is_set():
                time.sleep(0.2)
                for one in crowd:
                    with suppress(OSError):
                        one.send(b" ")

        trickling = threading.Thread(target=trickle)
        trickling.start()
        try:
            status = 0
            while status != 200:
                with suppress(httpx2.TransportError):
                    asked = {"Authorization": f"Bearer {KEY}"}
                    status = httpx2.get(f"{place}/v1/journeys", headers=asked).status_code
        finally:
            over.set()
            trickling.join()


def test_more_connections_than_the_setting_are_refused(folder: Path) -> None:
    with (
        served(folder, "parcel_refund", JOURNEYGRAPH_MAX_CONNECTIONS="2") as (_, place, _),
        httpx2.Client() as first,
    ):
        assert first.get(f"{place}/healthz").status_code == 200
        assert httpx2.get(f"{place}/healthz").status_code == 503


def test_with_keys_any_address_may_be_listened_at(folder: Path) -> None:
    words = ("parcel_refund", "--host", "0.0.0.0")
    with served(folder, *words, JOURNEYGRAPH_API_KEYS=KEY) as (_, place, _):
        port = place.rpartition(":")[2]
        assert place.startswith("http://0.0.0.0:")
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz").status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_without_a_key_other_addresses_are_refused_with_the_way_out(
    folder: Path, host: str
) -> None:
    said = flat(run("serve", "--host", host, code=2).stderr)

    assert "without an API key" in said
    assert "JOURNEYGRAPH_API_KEYS" in said
    assert "token_urlsafe" in said


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nowhere"], 2, "There is no journey 'nowhere'"),
        (["broken.py"], 1, "is 'oder'"),
        (["bare.py:Base"], 1, "no pathways"),
        (["bare.py:Bare"], 1, "no agent for: 'one'"),
        (["misnamed.py"], 1, "uses an agent 'clark'. Did you mean 'clerk'?"),
        (["uncallable.py"], 1, "Agent 'clerk'"),
        (["locked.py"], 1, "JOURNEYGRAPH_ENCRYPTION_KEY"),
        (["orders.py", "orders.py"], 1, "Two journeys have the id 'orders'"),
        (["--store", "sqlite:////nowhere/at/all.db", "--port", "0"], 1, "cannot be opened"),
        (["--store", "mongodb://x"], 2, "is not a supported store"),
        (["--host", "no.such.host.invalid"], 1, "Cannot listen at"),
        (["--port", "70000"], 2, "65535"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_line(
    folder: Path, words: list[str], code: int, says: str
) -> None:
    (folder / "locked.py").write_text(LOCKED)
    (folder / "misnamed.py").write_text(SLOW.replace("clerk}", 'clerk, "clark": clerk}'))
    (folder / "uncallable.py").write_text(SLOW.replace("clerk}", "5}"))

    free = [] if "--port" in words else ["--port", "0"]
    result = run("serve", *words, *free, code=code)

    assert says in flat(result.stderr)
    assert "Listening" not in result.stdout


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with served(folder, "parcel_refund") as (_, place, _):
        port = place.rpartition(":")[2]

        said = flat(run("serve", "parcel_refund", "--port", port, code=1).stderr)

    assert f"Cannot listen at 127.0.0.1, port {port}: Address already in use" in said


STORES = {
    "": DEFAULT_STORE,
    "JOURNEYGRAPH_STORE=memory://a": "memory://a",
    "DATABASE_URL=memory://b": "memory://b",
    "JOURNEYGRAPH_STORE=memory://c DATABASE_URL=memory://c": "memory://c",
}


@pytest.mark.parametrize(("given", "store"), STORES.items())
def test_the_environment_names_the_store(
    monkeypatch: pytest.MonkeyPatch, folder: Path, given: str, store: str
) -> None:
    for pair in given.split():
        monkeypatch.setenv(*pair.split("="))

    assert Settings().config().persistence == store
    assert Settings().config("memory://d").persistence == "memory://d"


def test_two_stores_in_the_environment_are_refused(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_STORE", "sqlite:///mine.db")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:tulip@db/journeys")

    with pytest.raises(ConfigurationError, match="two different stores") as raised:
        Settings().config()

    assert "tulip" not in str(raised.value)
    assert Settings().config("memory://x").persistence == "memory://x"


def test_with_postgres_the_password_is_not_shown(folder: Path, postgres_url: str) -> None:
    url = postgres_url.replace("//postgres@", "//postgres:tulip@")
    with served(folder, "parcel_refund", DATABASE_URL=url) as (_, place, lines):
        assert "postgres:***@" in "".join(lines)
        assert "tulip" not in "".join(lines)
        assert httpx2.get(f"{place}/readyz").status_code == 200
        begun = httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"})
        assert begun.status_code == 201
        said = httpx2.post(f"{place}/v1/sessions/s-1/messages", json={"message": "It is P-1"})
        assert said.json()["pathway_id"] == "refund"


def shown_requests() -> list[list[str]]:
    """The conversation by curl that the first look shows, as words of a command line."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/start.md").read_text(), re.S)
    (block,) = [block for block in blocks if block.startswith("curl ")]
    return [shlex.split(line) for line in block.strip().replace("\\\n", "").splitlines()]


def asked(words: list[str], place: str) -> str:
    """Send what a line of curl would send: a fresh machine may have none, or one without --json."""
    url = next(word for word in words if word.startswith("localhost:8000"))
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word == "-H")
    body = words[words.index("--json") + 1] if "--json" in words else None
    return httpx2.request(
        "POST" if body else "GET",
        url.replace("localhost:8000", place),
        content=body,
        headers={"Content-Type": "application/json", **headers},
        timeout=110,
    ).text


def by_curl(words: list[str], place: str) -> str:
    there = [word.replace("localhost:8000", place) for word in words]
    done = subprocess.run(there, capture_output=True, text=True, check=True, timeout=110)
    return done.stdout


def has_curl() -> bool:
    if not shutil.which("curl"):
        return False
    done = subprocess.run(["curl", "--help", "all"], capture_output=True, text=True, check=False)
    return "--json" in done.stdout


def test_the_conversation_of_the_first_look_goes_as_printed(folder: Path) -> None:
    send = by_curl if has_curl() else asked
    with served(folder) as (_, place, _):
        answers = [send(words, place) for words in shown_requests()]

    assert '"pathway_id":"find"' in answers[0]
    assert '"message":"Found P-1042. Refund it to your card?"' in answers[1]
    assert [line for line in answers[2].splitlines() if line.startswith("event")] == [
        "event: transition",
        "event: pathway",
        "event: token",
        "event: done",
    ]
    assert answers[3].count('"role"') == 4


def test_the_server_can_be_made_by_any_asgi_server(folder: Path) -> None:
    from journeygraph.server.app import create_app  # noqa: PLC0415

    app = create_app(journeys=["parcel_refund"], store="memory://factory")

    async def answered() -> int:
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            return (await client.get("/readyz")).status_code

    assert asyncio.run(answered()) == 200


def test_what_exits_fails_by_itself_and_the_server_serves_on(folder: Path) -> None:
    """`sys.exit()` in a part of an author is a failure of that part, in whatever task it is."""
    (folder / "exits.py").write_text("from tests.support.exits import AGENTS, TOOLS, Exits\n")
    with served(folder, "exits.py:Exits") as (process, place, _):

        def says(*messages: str, context: Any = None) -> dict[str, Any]:
            begun = httpx2.post(f"{place}/v1/sessions", json={"context": context or {}})
            session = begun.json()["session_id"]
            for message in messages:
                asked = {"message": message}
                answer = httpx2.post(f"{place}/v1/sessions/{session}/messages", json=asked)
            return answer.json()

        agents = ["go to write", "go to run", *WAYS]
        assert says("go to together")["metadata"]["flags"] == ["agent_failed:graph"]
        failed = {way: says(way)["metadata"]["flags"] for way in agents}
        assert failed == {way: ["failed", "journey_bypassed"] for way in agents}
        others = {
            "own trigger": "Still here.",
            "matcher": "Still here.",
            "go to look": "Still here.",
            "go to judge": "Still here.",
        }
        assert {asked: says(asked)["message"] for asked in others} == others
        assert says("hello", context={"name": "Ann"})["message"] == "Still here."  # the condition
        assert "Nothing was done" in says("go to buy", "3")["message"]  # the effect
        assert says("go to pay", "3")["metadata"]["error"] is None  # the check of the field
        assert says("hello")["message"] == "Still here."
        assert httpx2.get(f"{place}/healthz").status_code == 200
        assert process.poll() is None


@pytest.mark.parametrize("installed", [True, False])
def test_it_runs_on_uvloop_where_that_is_installed(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "uvloop", None)
    elif find_spec("uvloop") is None:
        pytest.skip("there is no uvloop for this Python")
    seen: list[str] = []

    async def look() -> None:
        seen.append(type(asyncio.get_running_loop()).__module__.partition(".")[0])

    run_loop(look())

    assert seen == ["uvloop" if installed else "asyncio"]
