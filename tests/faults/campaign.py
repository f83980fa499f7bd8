"""A campaign: clients talk to servers that are killed, on a store that fails, and all is counted.

Each client sends the messages of its sessions in order, each with its `Idempotency-Key`, until it
is answered; under any rule for a busy session, and some of them twice at once. At the end every
session is read from the store. Every message must be there once, in order, with its reply; context,
stack and audit must be those of these messages.

Two tenants talk in sessions of the same ids, under the same keys, each with a word of its own. No
word of a tenant may be in a row, in Redis, or in a reply of the other, and none in a log.
"""

from __future__ import annotations

import asyncio
import base64
import random
import secrets
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redis import Redis

from journeygraph import JourneyConfig
from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys.config import BUSY_RULES, TENANT
from journeygraph.server.access.keys import KeyRequest, StoredKeys
from tests.faults import desk, newer_desk
from tests.faults.servers import Servers
from tests.storage.test_encryption import spellings
from tests.storage.test_encryption_postgres import everything as in_tables
from tests.storage.test_postgres_faults import cut_all
from tests.support import command, crash_child, golden, redis
from tests.support.postgres import Postgres, Server, connected

KILL, STOP, CUT, RESTART, CRASH, UPGRADE = "kill", "stop", "cut", "restart", "crash", "upgrade"
ROTATE = "rotate"
"""Faults: kill -9 or SIGTERM of a server; all connections cut; Postgres restarted or crashed; a
server killed, and started as the next release; the key of encryption replaced."""
ON_SQLITE = (KILL, STOP)
ON_POSTGRES = (KILL, STOP, CUT, RESTART, CRASH)
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
_DESKS: dict[str, Any] = {"1": desk, "2": newer_desk}
TENANTS = ("default", "acme")


@dataclass
class Talk:
    """A session, as its client knows it.

    Attributes:
        word: The word of its tenant.
        version: Of the journey, in which it began.
        answered: The number of its messages, all of which are answered.
    """

    name: str
    secret: str
    tenant: str
    word: str
    version: str = ""
    answered: int = 0

    def said(self, number: int) -> str:
        """Return its message of a number."""
        return f"{crash_child.line(number)} in {self.name} {self.word} {self.secret}".strip()

    @property
    def journey(self) -> str:
        return "secret_diary" if self.secret else "diary"


@dataclass
class Campaign:
    """Servers of one store with their faults, clients and secrets.

    Args:
        url: The store.
        folder: An empty folder for the output of servers, also of a SQLite store.
        faults: In their order; the campaign ends after the last one.
        database: The Postgres of the store; None: the store is a file.
        servers: The number of servers.
        role: The role of the servers in the database; empty: that of the URL.
        clients: The number of clients; every second one has secrets.
        messages: The number of messages of a session.
        lease: Seconds that a lease lasts; None: as in the product.
        tell: Gets a line about each fault.

    Attributes:
        words: The word of each tenant.
        access: The header with the key of each tenant.
    """

    url: str
    folder: Path
    faults: list[str]
    database: Server | None = None
    role: str = ""
    servers: int = 1
    clients: int = 4
    messages: int = 12
    lease: float | None = None
    tell: Callable[[str], None] = lambda line: None
    talks: list[Talk] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Make the secrets that may be found nowhere."""
        self.word, self.api_key = f"kanarienvögel-{secrets.token_hex(8)}", secrets.token_hex(16)
        self.password = secrets.token_hex(16)
        self._keys = [f"now:{_new_key()}", base64.b64encode(golden.KEY).decode()]
        self._used_keys = self._keys[:1]
        self.words = {tenant: f"word-{secrets.token_hex(8)}" for tenant in TENANTS}
        self.access: dict[str, dict[str, str]] = {}
        self._metrics = ""
        self._releases = ["1"] * self.servers
        self._over = asyncio.Event()
        self._begun = 0

    @property
    def _store(self) -> str:
        """The URL of the store, with the password of the database."""
        parts = urlsplit(self.url)
        if parts.scheme == "sqlite":
            return self.url
        role = self.role or parts.username
        place = f"{role}:{self.password}@{parts.hostname}:{parts.port}"
        return parts._replace(netloc=place).geturl()

    @property
    def environment(self) -> dict[str, str]:
        """The settings of the servers."""
        settings = {
            "JOURNEYGRAPH_STORE": self._store,
            "JOURNEYGRAPH_API_KEYS": self.api_key,
            "JOURNEYGRAPH_ENCRYPTION_KEY": ",".join(self._keys),
            "JOURNEYGRAPH_REDIS_URL": redis.shared().url,
            "JOURNEYGRAPH_LOG_LEVEL": "info",
            "JOURNEYGRAPH_METRICS": "true",
            "JOURNEYGRAPH_SESSION_TTL_SECONDS": str(golden.CENTURY),
            "JOURNEYGRAPH_RESUME_AFTER_SECONDS": str(golden.CENTURY),
            "FAULTS_FOLDER": str(self.folder),
        }
        return settings if self.lease is None else {**settings, "FAULTS_LEASE": str(self.lease)}

    async def run(self) -> None:
        """Continue the sessions of the stored release, let clients talk, and check everything."""
        async with self.served() as servers:
            await self._continue_stored(servers)
            clients = [asyncio.create_task(self._talk(servers, i)) for i in range(self.clients)]
            failing = asyncio.create_task(self._fail(servers))
            try:
                await asyncio.gather(failing, *clients)
            finally:
                for task in (failing, *clients):
                    task.cancel()
                await asyncio.wait([failing, *clients])
            self._metrics = await servers.metrics()
            await servers.stop()
        self.counts += servers.counts
        await self.check()
        self.counts["seconds waited at most"] = round(servers.longest)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[Servers]:
        """Yield the servers, all of which answer; kill them at the end."""
        servers = Servers(self.servers, self.folder, lambda: self.environment, self.api_key)
        self.access = {tenant: await self._key_of(tenant) for tenant in TENANTS}
        try:
            for number in range(self.servers):
                servers.start(number, self._words(number))
            for number in range(self.servers):
                await servers.up(number)
            yield servers
        finally:
            await servers.close()

    async def _key_of(self, tenant: str) -> dict[str, str]:
        """Return the header with a new key of a tenant."""
        store = await open_store(self.url, None, tenant=tenant)
        made = await StoredKeys(store).create(KeyRequest(("talk",)), tenant)
        await store.close()
        return {"Authorization": f"Bearer {made.secret}"}

    def _words(self, number: int) -> list[str]:
        """Return what a server serves: of the next release both versions."""
        first, newer, stored = map(_named, ("desk", "newer_desk", "stored_desk"))
        if self._releases[number] == "1":
            return [*first, *stored]
        return [*newer, *stored, *(word for name in first for word in ("--versions", name))]

    async def _continue_stored(self, servers: Servers) -> None:
        """Take a turn in sessions that an older release has stored."""
        for journey in ("trip", "secret_trip"):
            session = f"/{journey}-asked/messages"
            answer = await servers.post(session, {"message": "3"}, f"{journey}-asked")
            assert answer.status_code == 200, answer.text
            assert "3" in answer.json()["message"]

    async def _talk(self, servers: Servers, client: int) -> None:
        """Begin sessions of each tenant, one after the other, until the faults are over."""
        while not self._over.is_set():
            self._begun += 1
            name, secret = f"s-{client}-{self._begun}", self.word if client % 2 else ""
            both = [await self.begun(servers, name, secret, tenant) for tenant in TENANTS]
            for number in range(self.messages * len(both)):
                if not self._over.is_set():
                    talk = both[number % len(both)]
                    await self._say(servers, talk, talk.answered + 1)

    async def begun(
        self, servers: Servers, name: str, secret: str = "", tenant: str = TENANT
    ) -> Talk:
        """Return a new session."""
        talk = Talk(name, secret, tenant, self.words[tenant])
        body = {"journey_id": talk.journey, "session_id": name}
        answer = await servers.post("", body, f"{name}-start", self.access[tenant])
        assert answer.status_code == 201, answer.text
        talk.version = answer.json()["journey_version"]
        self.talks.append(talk)
        return talk

    async def _say(self, servers: Servers, talk: Talk, number: int) -> None:
        text, rule = talk.said(number), random.choice(BUSY_RULES)
        place, key = f"/{talk.name}/messages", f"{talk.name}-{number}"
        sent = [
            servers.post(place, {"message": text, "when_busy": rule}, key, self.access[talk.tenant])
            for _ in range(random.choice((1, 1, 2)))
        ]
        answer, *others = await asyncio.gather(*sent)
        assert answer.status_code == 200, answer.text
        reply = answer.json()
        assert [other.json() for other in others] in ([], [reply])
        assert reply["message"] == f"{_DESKS[talk.version].NOTED} {text}"
        assert reply["metadata"]["version"] == number
        talk.answered += 1
        self.counts["turns"] += 1

    async def _fail(self, servers: Servers) -> None:
        """Make the faults happen, each while all servers answer and clients talk."""
        for fault in self.faults:
            number = self.counts["faults"] % self.servers
            await servers.up(number)
            before, wait = self.counts["turns"], random.randint(1, 2 * self.clients)
            while self.counts["turns"] < before + wait:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await self._happen(fault, servers, number)
            self.counts[fault] += 1
            self.counts["faults"] += 1
            self.tell(f"{fault}, after {self.counts['turns']} turns of {len(self.talks)} sessions")
        for number in range(self.servers):
            await servers.up(number)
        self._over.set()

    async def _happen(self, fault: str, servers: Servers, number: int) -> None:
        if fault == CUT:
            await asyncio.to_thread(cut_all, self.url)
        elif fault in (RESTART, CRASH):
            assert self.database
            how = signal.SIGINT if fault == RESTART else signal.SIGQUIT
            await asyncio.to_thread(self.database.stop, how)
            await asyncio.to_thread(self.database.start)
        elif fault == ROTATE:
            await self._rotate(servers)
        else:
            self._releases[number] = "2" if fault == UPGRADE else self._releases[number]
            how = signal.SIGTERM if fault == STOP else signal.SIGKILL
            await self._start_again(servers, number, how)

    async def _start_again(self, servers: Servers, number: int, how: signal.Signals) -> None:
        await servers.end(number, how)
        servers.start(number, self._words(number))

    async def _rotate(self, servers: Servers) -> None:
        """Replace the key as the guide says: behind the others, then first, then alone."""
        new = f"key-{len(self._used_keys)}:{_new_key()}"
        self._used_keys.append(new)
        for keys in ([*self._keys, new], [new, *self._keys]):
            self._keys = keys
            for number in range(self.servers):
                await servers.up(number)
                await self._start_again(servers, number, signal.SIGTERM)
                await servers.up(number)
        with (self.folder / "log-rotate").open("ab") as log:
            rotating = command.start(
                self.folder, "encryption", "rotate", env=self.environment, stdout=log, stderr=log
            )
            await asyncio.to_thread(rotating.communicate, None, 100)
        assert rotating.returncode == 0
        self._keys = [new]

    # --- What is left ----------------------------------------------------------------------------

    async def check(self) -> None:
        """Hold all sessions against what their clients were answered, and look for secrets."""
        self.tell("checking all sessions")
        for talk in self.talks:
            await self._check_session(talk)
        self.tell("looking for secrets")
        self._check_secrets()
        self._check_tenants()

    async def _check_session(self, talk: Talk) -> None:
        """Hold a session against what its client was answered."""
        module = _DESKS[talk.version]
        journey = module.SecretDiary if talk.secret else module.Diary
        config = JourneyConfig(
            persistence=self.url, encryption_key=",".join(self._keys), tenant=talk.tenant
        )
        async with journey(talk.name, config, agents=module.AGENTS) as session:
            expected = (talk.said, module.NOTED, module.HOME)
            assert await crash_child.checked(session, *expected) == talk.answered
            state = await session.get_session_state()
            assert state
            assert state.journey_version == talk.version

    def _check_secrets(self) -> None:
        """Look for secrets in everything that was written."""
        keys = [one.partition(":")[2] for one in self._used_keys]
        words = [self.word, self.api_key, self.password, *keys]
        words += [access["Authorization"].split()[1] for access in self.access.values()]
        forms = {form for word in words for form in spellings(word)}
        forms |= {base64.b64decode(key) for key in keys}
        for place, data in self._written():
            assert not [form for form in forms if form in data], f"a secret is in {place}"
        # What is no secret is found, so a secret would be too.
        plain = next(talk for talk in self.talks if talk.answered and not talk.secret)
        holding = [place for place, data in self._written() if plain.name.encode() in data]
        assert {"Redis", "the tables" if self.database else Path(self.url).name} <= set(holding)
        named = [file.name for file in self.folder.iterdir()]
        assert "log-0" in named
        assert any(name.startswith("spans-") for name in named)

    def _check_tenants(self) -> None:
        """Look for words of one tenant in what belongs to another one, or to none."""
        seen: Counter[tuple[str, str]] = Counter()
        rows = _in_file(self.url) if self.database is None else _in_database(self.url)
        for place, tenant, data in (*rows, *_cached()):
            holding = {name for name, word in self.words.items() if word.encode() in data}
            assert holding <= {tenant}, f"words of {holding} are in {place} of '{tenant}'"
            seen.update((name, place) for name in holding)
        # What may be found is found. A server that is killed leaves its last turn out of Redis.
        places = {"turns", "Redis"} if self.counts["turns"] else {"turns"}
        for tenant in {talk.tenant for talk in self.talks if talk.answered and not talk.secret}:
            assert places <= {place for name, place in seen if name == tenant}, (tenant, seen)
        written = [file for file in self.folder.iterdir() if file.name.startswith(("log", "spans"))]
        texts = {file.name: file.read_bytes().decode() for file in written} | {
            "metrics": self._metrics
        }
        for place, text in texts.items():
            assert not [word for word in self.words.values() if word in text], place

    def _written(self) -> Iterator[tuple[str, bytes]]:
        """Yield the places that data was written to, each with its data."""
        yield "Redis", _in_redis()
        if self.database:
            yield "the tables", in_tables(self.url)
        for folder in (self.folder, *([self.database.data] if self.database else ())):
            for file in (file for file in folder.rglob("*") if file.is_file()):
                yield file.name, file.read_bytes()


def _new_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


def _named(module: str) -> list[str]:
    """Return the names of the two journeys of a module, for the command line."""
    both = ("Trip", "SecretTrip") if module == "stored_desk" else ("Diary", "SecretDiary")
    return [f"tests.faults.{module}:{name}" for name in both]


def _in_redis() -> bytes:
    """Return everything in the Redis of the tests."""
    with Redis.from_url(redis.shared().url) as server:
        return b"".join(key + (server.get(key) or b"") for key in server.scan_iter())


def _in_database(url: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield the rows of all tables: the table, the tenant, and the values."""
    with connected(url) as connection:
        for (table,) in connection.execute(_TABLES).fetchall():
            found = connection.execute(f"SELECT * FROM {table}")
            names = [column.name for column in found.description or ()]
            yield from (_row(table, names, row) for row in found.fetchall())


def _in_file(url: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield the rows of a SQLite file as `_in_database` does."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
        for (table,) in connection.execute(listed).fetchall():
            found = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in found.description]
            yield from (_row(table, names, row) for row in found.fetchall())


def _row(table: str, names: list[str], row: tuple[Any, ...]) -> tuple[str, str, bytes]:
    values = dict(zip(names, row, strict=True))
    thread = str(values.get("thread_id", ""))
    tenant = values.get("tenant") or (thread.partition("/")[0] if "/" in thread else TENANT)
    data = [value if isinstance(value, bytes) else str(value).encode() for value in row]
    return table, tenant, b"\0".join(data)


def _cached() -> Iterator[tuple[str, str, bytes]]:
    """Yield the values of contexts in the Redis of the tests, with the tenant of each."""
    with Redis.from_url(redis.shared().url) as server:
        for key in server.scan_iter("jg:*"):
            yield "Redis", key.decode().split(":")[1], server.get(key) or b""


# --- Stores ---------------------------------------------------------------------------------------


def on_sqlite(folder: Path, faults: list[str], **options: Any) -> Campaign:
    """Return a campaign on a SQLite file, which a stored release has begun."""
    release = golden.releases()[-1]
    return Campaign(golden.restored_file(release, folder), folder, faults, **options)


def on_postgres(server: Server, folder: Path, faults: list[str], **options: Any) -> Campaign:
    """Return a campaign on a Postgres of its own, with a database of a stored release."""
    postgres = Postgres(server.url, server)
    url = golden.restored_database(golden.releases()[-1], postgres)
    role = urlsplit(postgres.fenced(url)).username or ""
    return Campaign(url, folder, faults, server, role, servers=2, **options)
