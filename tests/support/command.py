"""The `journeygraph` command for tests: a folder with journeys, and ways to run it."""

from __future__ import annotations

import functools
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer import testing
from typer.testing import CliRunner, Result

from journeygraph.server.cli.command_line import app
from tests.support.forked import Command

# The command is put together from its functions once, and not for each run: that takes 25 ms.
testing._get_command = functools.cache(testing._get_command)  # type: ignore[attr-defined]

ROOT = Path(__file__).resolve().parents[2]

ORDERS = '''
from journeygraph import IntentTrigger, Journey, Pathway, ReturnToPrevious, Transition


class Orders(Journey):
    """Take an order."""

    class AskPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["item"]
        __complete_when__ = ["item"]
        __next__ = "pay"

    class PayPath(Pathway):
        __agents__ = ["till"]

    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["help"]), to_pathway="help", priority=3)]


def clerk(ask):
    if "fail" in ask["message"]:
        raise ValueError("the till is \\x1b[31mred")
    item = "pear" if "pear" in ask["message"] else None
    return {"response": "\\x1b[2JWhat [bold]would[/bold] you :smile: like?", "item": item}


AGENTS = {"clerk": clerk, "till": lambda ask: "Paid.", "helper": lambda ask: "Ask away."}
SAMPLE_CONTEXT = {"shop": "corner"}
'''

BROKEN = """
from journeygraph import Journey, Pathway


class Broken(Journey):
    class VerifyPath(Pathway):
        __agents__ = ["a"]
        __next__ = "oder"
        __colour__ = 1

    class OrderPath(Pathway):
        __agents__ = ["b"]
"""

BARE = """
from journeygraph import Journey, Pathway


class Base(Journey):
    "Nothing yet."


class Bare(Base):
    class FirstPath(Pathway):
        __agents__ = ["one", "two"]

    class LostPath(Pathway):
        __agents__ = ["two"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with journeys in it, and without this machine's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in os.environ if name.startswith("JOURNEYGRAPH_")]:
        monkeypatch.delenv(name)
    for name, source in (("orders", ORDERS), ("broken", BROKEN), ("bare", BARE)):
        (tmp_path / f"{name}.py").write_text(source)
    (tmp_path / "typo.py").write_text("from journeygraph import Journey\nclass Typo(Journey:\n")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """The command sets up logging for its process; here that is the process of all tests."""
    root, ours = logging.getLogger(), logging.getLogger("journeygraph")
    handlers, level, own = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:], root.level = handlers, level
    ours.setLevel(own)


def run(*words: str, typed: str = "", code: int = 0) -> Result:
    """Run the command; no output may ever hold a traceback, but that of an author's part."""
    result = CliRunner().invoke(app, list(words), input=typed, prog_name="journeygraph")
    assert "\nTraceback" not in f"\n{result.output}"
    assert result.exit_code == code, result.output
    return result


def flat(output: str) -> str:
    return " ".join(output.split())


def start(folder: Path, *words: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own, its streams piped; `afresh`: not as a fork."""
    more, afresh = options.pop("env", {}), options.pop("afresh", False)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **more}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = ["journeygraph.server.cli", *words]
    options = {**pipes, "cwd": folder, "env": environment, **options}
    if afresh:
        return subprocess.Popen([sys.executable, "-P", "-m", *command], **options)
    return Command(command, **options)


@contextmanager
def served(
    folder: Path, *words: str, begin: Any = start, **environment: Any
) -> Iterator[tuple[Any, str, list[str]]]:
    """Start the server; give the process, its place, and the lines that it began with."""
    free = [] if "--port" in words else ["--port", "0"]
    process: Any = begin(folder, "serve", *words, *free, env=environment)
    lines: list[str] = []
    try:
        while not (lines and lines[-1].startswith("Listening")):
            line = process.stdout.readline().decode()
            assert line, process.stderr.read().decode()
            lines.append(line)
        yield process, re.findall(r"http://\S+:\d+", lines[-1])[0], lines
    finally:
        process.kill()
        process.communicate()
