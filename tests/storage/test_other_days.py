"""Stores and sessions on another day: no test of theirs depends on the day it runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("tests/storage", "tests/sessions")
LEAP_DAY = "@2028-02-29 12:00:00"


def on_another_day() -> tuple[list[str], dict[str, str]]:
    """Return the program before a command, and the variables, that move its clock."""
    if faketime := shutil.which("faketime"):
        return [faketime, "-f", LEAP_DAY], {}
    return [], {"TESTS_DAYS_AHEAD": "400"}


@pytest.mark.slow
def test_the_rooms_that_store_times_pass_on_another_day() -> None:
    before, variables = on_another_day()
    command = [*before, sys.executable, "-m", "pytest", *ROOMS, "-q", "-m", "not slow"]
    ran = subprocess.run(
        [*command, "--processes", "3", "-p", "no:cacheprovider"],
        env={**os.environ, **variables},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr[-2_000:]
