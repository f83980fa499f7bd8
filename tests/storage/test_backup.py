"""A backup is restored with its keys, and the audit says that nothing in it differs."""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
from asyncio import to_thread
from pathlib import Path
from typing import Any

import pytest

from tests.storage.test_encryption import KEY, clinic
from tests.storage.test_encryption_keys import text
from tests.support import command
from tests.support.command import ROOT, flat, run
from tests.support.post_office import opened
from tests.support.postgres import Postgres, connected

folder, logging_as_before = command.folder, command.logging_as_before
PAGE = (ROOT / "docs" / "how-to" / "operate.md").read_text()


async def lived(url: str) -> None:
    """Hold a conversation that is sealed, and one that is not."""
    async with clinic(url, "ill") as visit:
        await visit.start()
        await visit.process_message("it hurts")
    async with opened(url, "sent") as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")


def words(program: str, **places: str) -> list[str]:
    """The command of the page that starts with a program, with our places in it."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"{program} ")]
    for named, ours in places.items():
        assert named in line, line
        line = line.replace(named, ours)
    return shlex.split(line)


def dumped(server: Postgres, url: str, folder: Path) -> str:
    """Dump a database and restore it as another, as the page says; return the URL of that."""
    assert server.server
    programs, restored = server.server.programs, server.made("template0")
    file = str(folder / "journeys.dump")
    there = "postgresql://USER:PASSWORD@HOST/"
    for program, name, place in (
        ("pg_dump", f"{there}journeys", url),
        ("pg_restore", f"{there}restored", restored),
    ):
        _, *rest = words(program, **{name: place, "journeys.dump": file})
        done = subprocess.run(
            [str(programs / program), *rest], capture_output=True, text=True, timeout=110
        )
        assert done.returncode == 0, done.stderr
    return restored


def copied(url: str, folder: Path) -> str:
    """Copy a file while it is open, by the program of the page; return the URL of the copy."""
    (program,) = [part for part in PAGE.split("```") if "VACUUM INTO" in part]
    source = program.partition("\n\n")[2]
    source = source.replace("journeys.db", url.removeprefix("sqlite:///"))
    exec(source.replace("copy.db", str(folder / "copy.db")), {})
    return f"sqlite:///{folder / 'copy.db'}"


def left(url: str) -> list[Any]:
    query = "SELECT session_id, version FROM sessions ORDER BY session_id"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
            return file.execute(query).fetchall()
    with connected(url) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
async def test_a_backup_is_restored_and_read_and_goes_on(
    kept_url: str,
    postgres_server: Postgres,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_file = kept_url.startswith("sqlite")
    await lived(kept_url)
    async with opened(kept_url, "sent") as parcel:  # a server that runs meanwhile
        backup = await to_thread(
            copied if is_file else lambda *of: dumped(postgres_server, *of), kept_url, folder
        )
        await parcel.process_message("after the backup")
    assert dict(left(kept_url)) == {"ill": 1, "sent": 2}

    try:
        assert dict(left(backup)) == {"ill": 1, "sent": 1}
        monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", text(old=KEY))
        await assert_readable(backup)
        async with clinic(backup, "ill") as visit, opened(backup, "sent") as parcel:
            assert (await visit.process_message("still")).metadata["version"] == 2
            assert (await parcel.process_message("and now")).metadata["version"] == 2
        await assert_readable(backup)

        monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", text(other=bytes(32)))
        lost = await to_thread(run, "audit", "ill", "--store", backup, code=1)
        assert "key" in flat(lost.output)
    finally:
        if not is_file:
            postgres_server.drop(backup)


async def assert_readable(url: str) -> None:
    for session in ("ill", "sent"):
        shown = await to_thread(run, "audit", session, "--store", url)
        assert f"Session {session} of" in flat(shown.stdout)
    status = await to_thread(run, "encryption", "status", "--store", url)
    assert "1" in status.stdout
