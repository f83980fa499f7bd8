"""The audit leaves the store: each row at least once, in order, as it is stored."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, LogRecordExportResult

from journeygraph import ConfigurationError, JourneyConfig, StateError
from journeygraph.graphs.records import unsent_audit
from journeygraph.graphs.records.unsent_audit import UNSENT, UnsentAudit
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage.statements import Row
from journeygraph.graphs.storage.store import open_store
from journeygraph.nodes.telemetry.otel import AUDIT, DATA
from journeygraph.server.audit_log import sender_of
from journeygraph.server.confirmed_export import ConfirmedExport
from journeygraph.server.http.app_state import AppState, wire
from journeygraph.server.settings import Settings
from tests.storage.test_encryption import CANARY, KEY, Clinic, canary, doctor
from tests.support import command, forked
from tests.support.api import one, serving, wired
from tests.support.audit_child import talk_and_die, written_to
from tests.support.post_office import AGENTS, Parcel, found, opened

folder = command.folder
AUDITED = (
    "SELECT id, tenant, session_id, turn, kind, from_pathway, to_pathway, trigger, reason, "
    "confidence, at FROM audit ORDER BY id"
)
NAMES = AUDITED.removeprefix("SELECT ").partition(" FROM")[0].split(", ")


def stored(url: str) -> list[Row]:
    """All rows of the audit, without their nulls."""
    rows = (dict(zip(NAMES, row, strict=True)) for row in found(url, AUDITED))
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


class Taken:
    """Takes rows, or refuses them."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.refuses = False

    async def __call__(self, rows: Sequence[Row]) -> None:
        if self.refuses:
            raise OSError("no")
        self.ids += [row["id"] for row in rows]


async def talked(url: str, session_id: str = "s-1", tenant: str = "default") -> None:
    async with opened(url, session_id, tenant=tenant) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        await parcel.rollback(0)


async def sent(app_state: AppState) -> None:
    """Serve until all rows have left the store; the turns of a plain and a sealed journey."""
    async with serving(app_state) as api:
        plain = await api.begin("parcel", "s-1")
        await api.says(plain, "street=Main")
        sealed = await api.begin("clinic", "s-2")
        for message in (canary("message"), "referral"):
            await api.says(sealed, message)
        await api.client.post(f"{plain}/rollback", json={"version": 0})


def served(url: str, way: Any) -> AppState:
    app_state = wired(
        one(Parcel, **AGENTS), one(Clinic, doctor=doctor), url=url, encryption_key=KEY
    )
    app_state.audit_log = way
    return app_state


async def test_each_row_is_one_line_in_order_as_it_is_stored(
    kept_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    await sent(served(kept_url, "lines"))

    lines = [one for one in caplog.records if one.name == AUDIT]
    told = [dict(getattr(one, DATA)) for one in lines]
    assert {one.pop("event") for one in told} == {"audit"}
    assert told == stored(kept_url)
    assert {one["session_id"] for one in told} == {"s-1", "s-2"}
    sealed = [one["reason"] for one in told if one["session_id"] == "s-2"]
    assert sealed
    assert all(reason.startswith("aes256gcm:") for reason in sealed)
    assert CANARY not in json.dumps(told)
    assert found(kept_url, "SELECT count(*) FROM audit WHERE unsent") == [(0,)]


async def test_without_the_setting_no_row_leaves(
    kept_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    await sent(served(kept_url, "off"))

    assert [one for one in caplog.records if one.name == AUDIT] == []
    assert len(stored(kept_url)) == found(kept_url, "SELECT count(*) FROM audit WHERE unsent")[0][0]


class Refusing(InMemoryLogRecordExporter):
    """An exporter whose collector is down for a time."""

    is_down = False

    def export(self, batch: Any) -> LogRecordExportResult:
        return LogRecordExportResult.FAILURE if self.is_down else super().export(batch)


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Refusing:
    """An exporter of the log records of this process."""
    exporter, provider = Refusing(), LoggerProvider()
    provider.add_log_record_processor(ConfirmedExport(exporter))
    monkeypatch.setattr(_logs, "get_logger_provider", lambda: provider)
    return exporter


async def test_each_row_is_one_record_of_opentelemetry(kept_url: str, exporter: Refusing) -> None:
    await sent(served(kept_url, "otel"))

    records = [one.log_record for one in exporter.get_finished_logs()]
    told = [
        {name.removeprefix(f"{AUDIT}."): value for name, value in (one.attributes or {}).items()}
        for one in records
    ]
    assert told == stored(kept_url)
    assert [one.body for one in records] == [one["kind"] for one in told]
    assert {one.event_name for one in records} == {AUDIT}
    assert records[0].timestamp
    assert CANARY not in str(records)


async def test_what_a_collector_does_not_take_is_sent_again(
    kept_url: str, exporter: Refusing
) -> None:
    await talked(kept_url)
    store = await open_store(kept_url, None)
    sending = UnsentAudit(store, sender_of("otel"))
    exporter.is_down = True
    with pytest.raises(StateError, match="did not take the audit"):
        await sending.run()
    assert exporter.get_finished_logs() == ()
    exporter.is_down = False

    await sending.run()

    await store.close()
    assert len(exporter.get_finished_logs()) == len(stored(kept_url))


def test_a_way_that_nothing_takes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="OTEL_EXPORTER_OTLP_ENDPOINT"):
        sender_of("otel")
    monkeypatch.setattr(logging.getLogger(AUDIT), "propagate", False)
    with pytest.raises(ConfigurationError, match="no handler"):
        sender_of("lines")


async def test_a_row_that_is_committed_late_is_sent_late(postgres_url: str) -> None:
    """Its number is smaller than that of rows that were sent before."""
    await talked(postgres_url)
    taken, store = Taken(), await open_store(postgres_url, None)
    sending = UnsentAudit(store, taken)
    with psycopg.connect(postgres_url) as late:
        late.execute(
            "INSERT INTO audit (tenant, session_id, turn, kind, reason, at) "
            "SELECT tenant, session_id, turn, kind, reason, at FROM audit LIMIT 1"
        )
        await talked(postgres_url, "s-2")
        await sending.run()
        assert taken.ids
        before = list(taken.ids)
        late.commit()
    await sending.run()
    await store.close()

    [added] = taken.ids[len(before) :]
    assert added < max(before)
    assert sorted(taken.ids) == [row["id"] for row in stored(postgres_url)]


async def test_one_process_sends_at_a_time_and_all_tenants(kept_url: str) -> None:
    for tenant in ("default", "acme"):
        await talked(kept_url, tenant=tenant)
    begun, go_on, taken = asyncio.Event(), asyncio.Event(), Taken()

    async def slowly(rows: Sequence[Row]) -> None:
        begun.set()
        await go_on.wait()
        await taken(rows)

    store = await open_store(kept_url, None)
    first = asyncio.create_task(UnsentAudit(store, slowly).run())
    await begun.wait()
    await UnsentAudit(store, taken).run()
    assert taken.ids == []
    go_on.set()
    await first
    await store.close()

    assert taken.ids == [row["id"] for row in stored(kept_url)]
    assert {row["tenant"] for row in stored(kept_url)} == {"default", "acme"}


async def test_a_batch_that_fails_stays_and_nothing_is_sent_twice(
    kept_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent_audit, "AT_ONCE", 2)
    await talked(kept_url)
    directory = await Directory.open(JourneyConfig(persistence=kept_url))
    taken = Taken()
    sending = UnsentAudit(directory.store, taken)
    taken.refuses = True
    with pytest.raises(OSError, match="no"):
        await sending.run()
    await sending.end()  # which reports the failure, and raises nothing
    taken.refuses = False
    await sending.run()
    await sending.run()
    await directory.close()

    assert taken.ids == [row["id"] for row in stored(kept_url)]
    assert len(taken.ids) > 2


@pytest.mark.slow
def test_killed_before_any_statement_no_row_is_lost(kept_url: str, tmp_path: Path) -> None:
    """Each process takes turns and sends their audit; what it leaves, the next one sends."""
    file, statement, survived = tmp_path / "lines", 0, False
    left: list[int] = []
    while not survived:
        statement += 3
        process = forked.process(talk_and_die, kept_url, file, statement)
        process.start()
        process.join(100)
        survived = process.exitcode == 0
        left += found(kept_url, "SELECT count(*) FROM audit WHERE unsent")[0]

    async def rest() -> None:
        store = await open_store(kept_url, None)
        sending = UnsentAudit(store, written_to(file))
        while await store.read(UNSENT, most=1):
            await sending.run()
            await asyncio.sleep(0.05)
        await store.close()

    asyncio.run(rest())
    ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    assert list(dict.fromkeys(ids)) == [row["id"] for row in stored(kept_url)]
    assert any(left), "no process died with rows that were not sent"
    assert len(ids) > len({*ids}), "no process died between sending and marking"


def test_the_setting_reaches_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wire(Settings(), ["orders.py"]).audit_log == "off"
    monkeypatch.setenv("JOURNEYGRAPH_AUDIT_LOG", "OTEL")
    assert wire(Settings(), ["orders.py"]).audit_log == "otel"
    monkeypatch.setenv("JOURNEYGRAPH_AUDIT_LOG", "file")
    with pytest.raises(ConfigurationError, match="AUDIT_LOG"):
        Settings()
