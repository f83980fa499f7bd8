"""The tutorial and the guides: a reader follows them by their text alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command
from tests.support.pages import DOCS, Reader, blocks

folder = command.folder
logging_as_before = command.logging_as_before

TUTORIAL = sorted((DOCS / "tutorial").glob("[1-9]-*.md"))
GUIDES = [
    page
    for folder in ("tutorial", "how-to")
    for page in sorted((DOCS / folder).glob("*.md"))
    if page not in TUTORIAL
    and page.stem != "chat-page"  # tests/page follows it, with a browser
    and any(block.is_to_be_done for block in blocks(page))
]
"""All other pages with files to write or commands whose output they show."""


@pytest.fixture
def desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    (folder / "desk").mkdir()
    monkeypatch.chdir(folder / "desk")
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    return folder / "desk"


@pytest.mark.slow
def test_the_steps_of_the_tutorial_build_one_project(desk: Path) -> None:
    with Reader(desk) as reader:
        for page in TUTORIAL:
            assert reader.follow(page) >= 2, page.name
            if page is TUTORIAL[0]:  # no test of the replaced journey is left
                tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
                subprocess.run(tests, cwd=reader.folder, check=True)

    assert len(TUTORIAL) == 6


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_works_in_an_empty_folder(
    page: Path, desk: Path, request: pytest.FixtureRequest
) -> None:
    postgres = "postgresql://USER:PASSWORD@HOST/DATABASE"
    instead = {}
    if postgres in page.read_text():
        instead[postgres] = request.getfixturevalue("postgres_url")
    with Reader(desk, instead) as reader:
        assert reader.follow(page) >= 2
