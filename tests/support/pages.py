"""Pages of the documentation, followed as a reader follows them: in a folder, block by block."""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.command import ROOT, served, start
from tests.support.forked import Command

DOCS = ROOT / "docs"
HERE = "http://127.0.0.1:8000"
NOT_RUN = ("docker", "git", "make", "pip")
"""Programs that a page may name and that its test does not run: they need a network."""

_FENCE = re.compile(r"^(?P<marks>```+)(?P<head>[^\n]*)\n(?P<text>.*?)^(?P=marks)$", re.M | re.S)
_DIFFERS = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00": "2031-05-01T12:00:00",
    r"^step .* ms ": "step 0.1 ms ",
    r"\b\d+\.\d s\b": "0.1 s",
    r"\b\d+ ms\b": "1 ms",
    r"\bchat-[0-9a-f]{8}\b": "chat-1",
    r"\bat least \w+day, \d+ \w+ \d{4}": "at least today",
}
_PIPES: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
_SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, such as ```python title="desk.py" hl_lines="2 5-7".

    Attributes:
        language: Its language; "" if it names none.
        options: The settings after the language, by name.
        text: Its contents.
        place: Its page and line, for the report of a difference.
    """

    language: str
    options: dict[str, str]
    text: str
    place: str

    @property
    def is_to_be_done(self) -> bool:
        """True for a file to write or commands to type."""
        return "title" in self.options or self.language == "console"

    @property
    def changed(self) -> set[int]:
        """The numbers of the lines that it highlights."""
        found: set[int] = set()
        for part in self.options.get("hl_lines", "").split():
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
        return found


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text()
    found = []
    for match in _FENCE.finditer(text):
        language, _, options = match["head"].partition(" ")
        place = f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}"
        named = dict(re.findall(r'(\w+)="([^"]*)"', options))
        found.append(Block(language, named, match["text"], place))
    return found


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a console with the output that is shown below it."""
    assert block.text.startswith("$ "), block.place
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, output = re.sub(r"\\\n\s*", "", part).partition("\n")
        yield command, output


@dataclass
class Reader:
    """One who follows pages in a folder: writes their files, types their commands.

    A block with a title is a file; `hl_lines` has to be what is new in it. A console has commands
    and what they print, in which "..." stands for any text.

    Attributes:
        folder: The current folder.
        instead: Values of the environment on a page -> what is set instead.
        place: Address of the server that was started last, in place of localhost:8000.
    """

    folder: Path
    instead: dict[str, str] = field(default_factory=dict)
    place: str = ""
    _open: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the server."""
        self._open.close()

    def follow(self, page: Path) -> int:
        """Follow a page; return the number of files and consoles."""
        count = 0
        for block in blocks(page):
            if title := block.options.get("title"):
                self._write(self.folder / title, block)
            elif block.language == "console":
                for command, output in commands(block):
                    self._type(command, output, block.place)
            else:
                continue  # what is only read; plain Python is run by tests/docs/test_site.py
            count += 1
        return count

    def _write(self, file: Path, block: Block) -> None:
        before = file.read_text().splitlines() if file.exists() else []
        now = block.text.splitlines()
        if block.changed:
            matcher = difflib.SequenceMatcher(None, before, now, autojunk=False)
            new = {
                number + 1
                for kind, _, _, first, last in matcher.get_opcodes()
                for number in range(first, last)
                if kind != "equal" and now[number].strip()
            }
            assert block.changed == new, f"{block.place}: new are the lines {_ranges(new)}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text)

    def _type(self, command: str, wanted: str, place: str) -> None:
        program, *words = shlex.split(command, comments=True)
        if program in NOT_RUN:
            return
        self._forget()
        printed = getattr(self, f"_{program}")(words, wanted)
        if wanted:
            printed = "\n".join(line.rstrip() for line in printed.strip().splitlines()) + "\n"
            same = doctest.OutputChecker().check_output(_steady(wanted), _steady(printed), _SAME)
            assert same, f"{place}: {command}\n\n{wanted}\n--- was printed as\n\n{printed}"

    def _forget(self) -> None:
        """Forget the modules of the folder, as each command of a shell does."""
        for name, module in list(sys.modules.items()):
            own = str(self.folder) in str(getattr(module, "__file__", ""))
            if own and not name.startswith("journey_file_"):  # the command reads these itself
                del sys.modules[name]

    def _journeygraph(self, words: list[str], wanted: str) -> str:
        if words[0] == "serve":
            self.stop()
            _, self.place, lines = self._open.enter_context(served(self.folder, *words[1:]))
            return "".join(lines).replace(self.place, HERE)
        typed = "".join(f"{line}\n" for line in re.findall(r"^you > (.*)$", wanted, re.M))
        fails = re.search(r"^✗|[1-9]\d* (failed|fault)", wanted, re.M) and "0 failed" not in wanted
        process = start(self.folder, *words)
        printed = "".join(part.decode() for part in process.communicate(typed.encode(), 110))
        assert process.returncode == (1 if fails else 0), printed
        return printed

    def _python(self, words: list[str], _: str) -> str:
        printed = io.StringIO()
        sys.path.insert(0, str(self.folder))  # the fixture takes it away
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(self.folder / words[0]), run_name="__main__")
        return printed.getvalue()

    def _curl(self, words: list[str], _: str) -> str:
        """Send what curl would send: a fresh machine may have none, or one without --json."""
        (url,) = [word for word in words if word.startswith("localhost:8000")]
        headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
        body = words[words.index("--json") + 1] if "--json" in words else None
        return httpx2.request(
            "POST" if body else "GET",
            url.replace("localhost:8000", self.place),
            content=body,
            headers={"Content-Type": "application/json", **headers},
            timeout=110,
        ).text

    def _uvicorn(self, words: list[str], _: str) -> str:
        self.stop()
        own = ["uvicorn", *words, "--port", "0"]
        process = Command(own, cwd=self.folder, env=dict(os.environ), **_PIPES)
        self._open.callback(process.communicate)
        self._open.callback(process.kill)
        lines = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", lines)):
            line = process.stderr.readline().decode() if process.stderr else ""
            assert line, lines
            lines += line
        self.place = found[0]
        return lines.replace(self.place, HERE)

    def _export(self, words: list[str], _: str) -> str:
        name, _, value = words[0].partition("=")
        value = value.replace("http://localhost:8000", self.place)
        os.environ[name] = self.instead.get(value, value)  # the fixture takes it back
        return ""

    def _cd(self, words: list[str], _: str) -> str:
        self.folder = self.folder / words[0]
        os.chdir(self.folder)  # the fixture goes back
        return ""

    def _rm(self, words: list[str], _: str) -> str:
        for word in words:
            (self.folder / word).unlink()
        return ""


def _steady(text: str) -> str:
    """Return an output without what differs in each run: times, today, and ids of sessions."""
    for pattern, same in _DIFFERS.items():
        text = re.sub(pattern, same, text, flags=re.M)
    return text


def _ranges(numbers: set[int]) -> str:
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
