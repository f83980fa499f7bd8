"""Commands and tenants: each command works on one tenant, or on all."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support import command
from tests.support.bike_shop import __file__ as bike_shop
from tests.support.command import ORDERS, run

folder = command.folder
logging_as_before = command.logging_as_before

SAID = {"default": "pear tulip", "acme": "pear quince"}
STORE = ("--store", "sqlite:///journeys.db")


@pytest.fixture(autouse=True)
def of_two_tenants(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store in which two tenants have sessions of the same ids."""
    for tenant, said in SAID.items():
        monkeypatch.setenv("JOURNEYGRAPH_TENANT", tenant)
        run("chat", "orders.py", "--session", "s-1", *STORE, typed=f"{said}\n")
        talk = f"the {tenant} one\na person, please\n"
        run("chat", f"{bike_shop}:Workshop", "--session", "b-1", *STORE, typed=talk)
    monkeypatch.delenv("JOURNEYGRAPH_TENANT")


@pytest.mark.parametrize("by", ["option", "setting", "nothing"])
def test_a_command_shows_one_tenant(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant, other = ("default", "acme") if by == "nothing" else ("acme", "default")
    if by == "setting":
        monkeypatch.setenv("JOURNEYGRAPH_TENANT", tenant)
    if by == "option":  # stronger than the setting
        monkeypatch.setenv("JOURNEYGRAPH_TENANT", other)
    place = (*STORE, *(("--tenant", tenant) if by == "option" else ()))

    shown = run("audit", "s-1", *place).stdout
    assert SAID[tenant] in shown
    assert SAID[other] not in shown
    run("record", "s-1", "--journey", "orders.py", *place)
    recorded = Path("s-1.conversation.yaml").read_text()
    assert SAID[tenant] in recorded
    assert SAID[other] not in recorded
    called = json.loads(run("escalations", "--json", *place).stdout)
    theirs = (*STORE, "--tenant", other)
    of_others = json.loads(run("escalations", "--json", *theirs).stdout)
    ids = [{one["id"] for one in page["escalations"]} for page in (called, of_others)]
    assert len(ids[0]) == 1
    assert not ids[0] & ids[1]
    key = json.loads(run("keys", "create", "--scope", "talk", "--json", *place).stdout)["key"]
    assert key["tenant"] == tenant
    listed = json.loads(run("keys", "list", "--json", *theirs).stdout)
    assert listed["keys"] == []


def test_sessions_of_all_tenants_are_compared_with_a_new_version(folder: Path) -> None:
    renamed = ORDERS.replace("PayPath", "TillPath").replace("pay", "till")
    (folder / "orders.py").write_text(renamed)
    for name in [name for name in sys.modules if name.startswith("journey_file_")]:
        del sys.modules[name]

    told = run("check", "orders.py", "--against", STORE[1], "--json", code=1).stdout

    [compared] = json.loads(told)["stored_sessions"]
    [move] = compared["moves"]
    assert sorted(move["sessions"]) == ["acme/s-1", "s-1"]
    assert compared["seen"] == 2
