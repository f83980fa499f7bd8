"""Themes of the benchmarks come to their end; their figures are those of `make bench` alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks import measure, run
from tests.benchmarks.measure import Figure, Steps

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the number of rounds that warm up, which a run of few rounds changes."""
    monkeypatch.setattr(measure, "WARM_UP", measure.WARM_UP)


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.parametrize("theme", run.THEMES)
def test_a_theme_comes_to_its_figures(theme: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run.main(["--rounds", "2", theme])
    shown = capsys.readouterr().out
    assert code == 0, shown
    assert "ratio" in shown


def test_a_theme_that_fails_ends_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails(steps: Steps) -> list[Figure]:
        raise AssertionError("no such turn")

    async def works(steps: Steps) -> list[Figure]:
        made = [measure.Pairs([2.0], [1.0]).shown("turn", "by hand", measure.duration)]
        return made * len(list(steps("turns", 5)))

    monkeypatch.setattr(run, "THEMES", {"first": works, "second": fails, "third": works})
    assert run.main(["--rounds", "2"]) == 1
    lines: Iterator[str] = iter(capsys.readouterr().out.splitlines())
    # In this order: the figures of a theme come before the next one begins.
    for expected in (
        "first ...",
        "2.00x",
        "2.00x",
        "second ...",
        "no such turn",
        "third ...",
        "2.00x",
        "2.00x",
        "Failed: second",
    ):
        assert any(expected in line for line in lines), expected


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--help"], 0, "guaranteed"),
        (["turn"], 2, "no theme 'turn'. There are: turns"),
        (["--rounds", "1"], 2, "'1' is not a number from 2"),
    ],
)
def test_the_command_says_what_there_is(
    words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run.main(words)
    assert ended.value.code == code
    shown = capsys.readouterr()
    assert told in " ".join((shown.out + shown.err).split())


@pytest.mark.slow
def test_make_runs_the_command() -> None:
    """As a process that knows only the package: `make` starts it in the folder of the project."""
    command = ["make", "--no-print-directory", "bench", "ARGS=--help"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "guaranteed" in ran.stdout
