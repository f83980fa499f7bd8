"""`journeygraph load`, `definitions` and `invalidate`: all or nothing, with every fault."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from journeygraph.server.http.app_state import wire
from journeygraph.server.settings import Settings
from tests.support import command
from tests.support.command import flat, run
from tests.support.stored_claims import CLAIM, DESK, FILES, HOURS, MANNERS, written

folder = command.folder
logging_as_before = command.logging_as_before
STORE = ("--store", "sqlite:///definitions.db")


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "claims").mkdir()
    return written(folder / "claims")


def listed() -> list[list[str]]:
    lines = run("definitions", *STORE).stdout.splitlines()[1:]
    return [line.split()[:3] for line in lines]


def test_a_folder_is_loaded_listed_and_loaded_again_without_a_change(files: Path) -> None:
    assert "Store some with: journeygraph load PATH" in run("definitions", *STORE).stdout
    first = flat(run("load", "claims", *STORE).stdout)
    assert (
        first == "id kind version claim journey 1 new hours journey 1 new manners guidelines 1 new"
    )
    assert run("load", "claims", *STORE).stdout.count("unchanged") == 3
    (files / "hours.yaml").write_text(HOURS.replace("Tell when", "Say when"))
    again = flat(run("load", "claims/hours.yaml", "claims/claim.yaml", *STORE).stdout)
    assert again == "id kind version hours journey 2 new claim journey 1 unchanged"
    assert listed() == [
        ["claim", "journey", "1"],
        ["hours", "journey", "2"],
        ["manners", "guidelines", "1"],
    ]


def test_a_fault_in_the_second_file_keeps_the_first_out_too(files: Path) -> None:
    (files / "hours.yaml").write_text(HOURS + "colour: red\n")
    (files / "manners.yaml").write_text(MANNERS.replace("when:", "whenever:"))
    refused = run("load", "claims", *STORE, code=1).stderr
    assert "claims/hours.yaml:6:1: 'colour' is not a valid key of a journey." in flat(refused)
    assert "claims/manners.yaml:3:" in refused
    assert "There are no definitions." in run("definitions", *STORE).stdout


FAULTY = {
    "two of one id": ({"b.yaml": CLAIM}, "the id 'claim' is already used by claims/b.yaml"),
    "two guidelines of one id": (
        {"rules.yaml": MANNERS},
        "rules.yaml:3:5 guideline 'angry': the id 'angry' is already used by manners.yaml:3:5",
    ),
    "a guideline of a journey": (
        {"hours.yaml": HOURS + MANNERS.lstrip()},
        "the id 'angry' is taken in Hours by",
    ),
    "a missing neighbour": ({"desk.yaml": DESK.replace("hours", "house")}, "house.yaml"),
}


@pytest.mark.parametrize(("more", "says"), FAULTY.values(), ids=FAULTY)
def test_what_does_not_fit_together_is_refused(
    files: Path, more: dict[str, str], says: str
) -> None:
    written(files, {**FILES, **more})
    assert says in flat(run("load", "claims", *STORE, code=1).stderr)
    assert "There are no definitions." in run("definitions", *STORE).stdout


def test_guidelines_have_to_fit_the_journeys_that_are_stored(files: Path) -> None:
    (files / "hours.yaml").write_text(HOURS + MANNERS.lstrip())
    run("load", "claims/hours.yaml", *STORE)
    refused = flat(run("load", "claims/manners.yaml", *STORE, code=1).stderr)
    assert "'hours' in the store, with these files: " in refused
    assert "the id 'angry' is taken in Hours" in refused
    assert listed() == [["hours", "journey", "1"]]


@pytest.mark.parametrize("before", [CLAIM, CLAIM + "sensitive: true\n"], ids=["plain", "sealed"])
def test_what_would_leave_sessions_unreadable_is_refused(files: Path, before: str) -> None:
    (files / "claim.yaml").write_text(before)
    run("load", "claims/claim.yaml", *STORE)
    after = CLAIM if "sensitive" in before else CLAIM + "sensitive: true\n"
    (files / "claim.yaml").write_text(after)
    refused = flat(run("load", "claims/claim.yaml", *STORE, code=1).stderr)
    assert "claims/claim.yaml: 'claim' has another value of `sensitive` in the store" in refused
    assert listed() == [["claim", "journey", "1"]]

    run("definitions", "--retire", "claim", *STORE)
    run("load", "claims/claim.yaml", *STORE)
    assert listed() == [["claim", "journey", "2"]]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        pytest.param("nothing.yaml", "There is no file nothing.yaml", id="no file"),
        pytest.param("claims/work.py", "claims/work.py is not a YAML or JSON file", id="python"),
        pytest.param("empty", "There is no definition in empty", id="empty folder"),
    ],
)
def test_a_path_without_a_definition_says_so(files: Path, path: str, says: str) -> None:
    (files.parent / "empty").mkdir()
    refused = run("load", path, *STORE, code=1 if path == "empty" else 2)
    assert says in flat(refused.stderr)


def test_what_is_retired_is_listed_no_more(files: Path) -> None:
    run("load", "claims", *STORE)
    assert (
        "'claim' is not served any more." in run("definitions", "--retire", "claim", *STORE).stdout
    )
    assert [row[0] for row in listed()] == ["hours", "manners"]
    refused = run("definitions", "--retire", "hour", *STORE, code=1).stderr
    assert "Did you mean 'hours'" in refused


def test_what_does_the_work_is_for_stored_journeys_alone(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run("serve", "--with", "claims/work.py", code=2).stderr
    assert "--with needs --definitions." in alone
    missing = run("serve", "--definitions", "--with", "claims/play.py", *STORE, code=2).stderr
    assert "There is no file claims/play.py" in flat(missing)
    (files / "more.py").write_text("TOOLS = {'find_policy': print}\n")
    both = ("--with", "claims/work.py", "--with", "claims/more.py")
    twice = run("serve", "--definitions", *both, *STORE, code=1).stderr
    assert "claims/more.py has 'find_policy', and so has another module." in flat(twice)


async def test_stored_journeys_are_wired_with_what_modules_give(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_STORE", "sqlite:///definitions.db")
    await asyncio.to_thread(run, "load", "claims")
    app_state = wire(Settings(), examples=False, given=["claims/work.py"])
    assert app_state.journeys == {}
    async with app_state.opened():
        assert sorted(app_state.journeys) == ["claim", "hours"]
        claim = app_state.journeys["claim"]
        assert (sorted(claim.agents), sorted(claim.tools)) == (
            ["assessor", "clerk"],
            ["find_policy"],
        )


def test_a_wrong_id_is_not_invalidated(files: Path) -> None:
    run("load", "claims", *STORE)
    assert "Cleared the cache of everything" in run("invalidate", *STORE).stdout
    assert "Cleared the cache of claim" in run("invalidate", "claim", *STORE).stdout
    assert "Did you mean 'claim'" in run("invalidate", "clam", *STORE, code=1).stderr


def test_a_cache_that_is_down_does_not_keep_anything_from_being_void(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("load", "claims", *STORE)
    monkeypatch.setenv("JOURNEYGRAPH_REDIS_URL", "redis://:canary@127.0.0.1:1/0")
    said = run("invalidate", *STORE).stdout
    assert "Cleared the cache of everything" in said
    assert "redis://:***@127.0.0.1:1/0 could not be cleared" in flat(said)
    assert "unchanged" in run("load", "claims", *STORE).stdout
    monkeypatch.setenv("JOURNEYGRAPH_REDIS_URL", "rediss//:canary@127.0.0.1")
    refused = run("load", "claims", *STORE, code=1)
    assert "canary" not in refused.output
