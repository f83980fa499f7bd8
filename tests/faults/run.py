"""Kill servers, and fail their store, under clients that send each lost request again.

Campaigns run one after the other until the time is over: on SQLite, on Postgres, and with two
releases, with faults in any order and a new key of encryption. The leases are those of the product.
It ends with the exit code 1 and the folder of the campaign, if a message was lost, doubled, in
another order or with another reply, if a session is not what its messages make of it, or if a
secret is found in tables, files, logs, spans or Redis.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults import campaign
from tests.faults.campaign import KILL, ON_POSTGRES, ON_SQLITE, ROTATE, UPGRADE, Campaign
from tests.support import postgres, redis

KINDS = ("sqlite", "postgres", "releases")
FAULTS = 12
"""Faults of a campaign."""
_SHOWN = ("sessions", "turns", "replayed", "sent again", "started again", "seconds waited at most")


def main(words: list[str]) -> int:
    """Run campaigns for a number of minutes, and return the exit code."""
    parser = argparse.ArgumentParser("make soak", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=10.0, help="default: 10")
    until = time.monotonic() + 60 * parser.parse_args(words).minutes
    console = Console(highlight=False, markup=False, soft_wrap=True)
    totals: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    number, server = 0, postgres.Server()
    server.start()
    try:
        while time.monotonic() < until:
            kind = KINDS[number % len(KINDS)]
            folder = Path(tempfile.mkdtemp(prefix="journeygraph-faults-"))
            console.print(f"{kind}, in {folder}")
            try:
                _add(totals[kind], asyncio.run(_one(kind, server, folder, console)))
            except AssertionError:
                console.print_exception()
                return 1
            shutil.rmtree(folder)
            number += 1
    finally:
        server.end()
        redis.end_shared()
        console.print(_table(totals))
    return 0


async def _one(kind: str, server: postgres.Server, folder: Path, console: Console) -> Campaign:
    """Run a campaign of a kind."""
    faults = random.choices(ON_SQLITE if kind == "sqlite" else ON_POSTGRES, k=FAULTS)
    if kind == "releases":
        faults[3], faults[8] = UPGRADE, UPGRADE
    faults[5], faults[-1] = ROTATE, KILL
    clients = random.randint(2, 16)

    def tell(line: str) -> None:
        console.print(f"  {line}")

    if kind == "sqlite":
        run = campaign.on_sqlite(folder, faults, clients=clients, tell=tell)
    else:
        run = campaign.on_postgres(server, folder, faults, clients=clients, tell=tell)
    await run.run()
    console.print(f"  each of {run.counts['turns']} messages once, in order; no secret found")
    return run


def _add(total: Counter[str], run: Campaign) -> None:
    waited = max(total["seconds waited at most"], run.counts["seconds waited at most"])
    total.update({**run.counts, "sessions": len(run.talks), "campaigns": 1})
    total["seconds waited at most"] = waited


def _table(totals: dict[str, Counter[str]]) -> Table:
    columns = ("campaigns", *dict.fromkeys((*ON_POSTGRES, UPGRADE, ROTATE)), *_SHOWN)
    table = Table("", *totals)
    for name in columns:
        table.add_row(name, *(str(total[name]) for total in totals.values()))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
