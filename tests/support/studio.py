"""A server for LangGraph Studio, started for tests in a folder and an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 110.0
TRIES = 3

KIOSK = '''
from journeygraph import NEVER, IntentTrigger, Journey, Pathway, ReturnToPrevious, Transition


class Kiosk(Journey):
    """A clerk who speaks word by word, and a printer that jams."""

    class DeskPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class PrinterPath(Pathway):
        __agents__ = ["printer"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["print"]), to_pathway="printer")]


async def clerk(ask):
    for word in ("You ", "said: ", ask["message"]):
        yield word


jammed = []


def printer(ask):
    if "jam" in ask["message"] and ask["message"] not in jammed:
        jammed.append(ask["message"])  # the next try works
        raise OSError("paper jam")
    return f"Printed: {ask['message']}"


graph = Kiosk.compile(agents={"clerk": clerk, "printer": printer})
'''

HALL = '''
from langgraph.graph import START, MessagesState, StateGraph

from kiosk import Kiosk, clerk, printer


def hall(checkpointer):
    """A graph of somebody's own, in which the kiosk is a node."""
    agents = {"clerk": clerk, "printer": printer}
    built = StateGraph(MessagesState)
    built.add_node("kiosk", Kiosk.compile(agents=agents, checkpointer=checkpointer))
    built.add_edge(START, "kiosk")
    return built.compile()


kept, forgetful = hall(True), hall(None)
'''

HOST = '''
from journeygraph import NEVER, InputField, Journey, OutputField, Pathway, Signature


class Welcome(Signature):
    """Welcome whoever comes in."""

    said: str = InputField(description="what the guest said", source="message")
    response: str = OutputField(description="what to say back")


class House(Journey):
    """A house whose host is a model."""

    class DoorPath(Pathway):
        __signature__ = Welcome
        __agents__ = ["host"]
        __complete_when__ = NEVER


graph = House.compile()
'''


@contextmanager
def serving(folder: Path, name: str, source: str, **settings: str) -> Iterator[str]:
    """Serve langgraph.json, and a graph of the test, out of a folder; yield the URL.

    The folder has our package by a link, so that nothing is left in the checkout. Settings are
    written to its `.env`; without them it has none.
    """
    if settings:
        lines = [f"{key}={value}" for key, value in settings.items()]
        (folder / ".env").write_text("\n".join(lines))
    (folder / "journeygraph").symlink_to(ROOT / "journeygraph")
    served = json.loads((ROOT / "langgraph.json").read_text())
    served["graphs"][name] = f"{name}:graph"
    if name == "kiosk":
        served["graphs"] |= {"hall": "hall:kept", "forgetful": "hall:forgetful"}
        (folder / "hall.py").write_text(HALL)
    (folder / "langgraph.json").write_text(json.dumps(served))
    (folder / f"{name}.py").write_text(source)
    url, server = started(folder, name)
    try:
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def started(folder: Path, name: str) -> tuple[str, subprocess.Popen[bytes]]:
    """Start a server; on another port if another program has taken the free one meanwhile."""
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    for _ in range(TRIES):
        port = str(free_port())
        with (folder / "log").open("w") as log:
            # The server looks for work twice a second, so a turn takes one; several go side by
            # side.
            options = ["--n-jobs-per-worker", "6", "--port", port]
            told: dict[str, Any] = {"cwd": folder, "env": environment, "stdout": log, "stderr": log}
            server = subprocess.Popen([*command, *options], **told)
        if answers(url := f"http://127.0.0.1:{port}", name, server):
            return url, server
        server.kill()
        server.wait()
    raise AssertionError((folder / "log").read_text()[-3000:])


def answers(url: str, name: str, server: subprocess.Popen[bytes]) -> bool:
    """Wait until the server answers with the graph of the test; False if it ends or never does."""
    asked = json.dumps({"graph_id": name}).encode()
    search = Request(f"{url}/assistants/search", asked, {"Content-Type": "application/json"})
    until = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < until:
        with suppress(OSError), urlopen(search, timeout=1) as answer:
            if json.load(answer):
                return True
        time.sleep(0.1)
    return False
