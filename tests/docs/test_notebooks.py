"""The notebooks run from top to bottom, offline, and show what they say that they show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone, by links, whose notebooks folder holds what a notebook leaves; and a home."""
    for package in ("journeys", "nodes", "graphs"):
        (tmp_path / package).symlink_to(ROOT / package)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    monkeypatch.setenv("JOURNEYGRAPH_STORE", "sqlite:////nowhere/at/all.db")
    return tmp_path


async def executed(path: Path, clone: Path) -> Any:
    """The notebook with what its cells gave; a cell that raises fails the test."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(clone / "notebooks")}}
    client = NotebookClient(notebook, timeout=110, kernel_name="python3", resources=resources)
    await client.async_execute()
    return notebook


def shown(notebook: Any, kind: str) -> list[str]:
    """All that the cells show in one form, in order."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    if kind == "print":
        return [output.text for output in outputs if output.output_type == "stream"]
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def test_there_are_two_notebooks_and_nobodys_outputs() -> None:
    assert [path.name for path in NOTEBOOKS] == [
        "01_first_journey.ipynb",
        "02_detours_context_rollback.ipynb",
    ]
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        code = [cell for cell in cells if cell.cell_type == "code"]
        assert sum("assert " in cell.source for cell in code) >= 5
        assert [cell.outputs or cell.execution_count for cell in code] == [None] * len(code)
        assert all(len(cell.source.splitlines()) <= 30 for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_links_of_a_notebook_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())

    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.slow
async def test_the_first_notebook_declares_shows_and_changes_a_journey(clone: Path) -> None:
    notebook = await executed(NOTEBOOKS[0], clone)

    pictures = shown(notebook, "image/svg+xml")
    assert len(pictures) == 3
    assert ["the session is here" in picture for picture in pictures] == [False, True, False]
    assert ">receipt<" in pictures[2]
    pages = shown(notebook, "text/html")
    assert "See you on Tuesday." in pages[-2]
    assert "the journey is complete" in pages[-2]
    assert "Did you mean" in shown(notebook, "print")[-1]
    assert list((clone / "notebooks").iterdir()) == []


@pytest.mark.slow
async def test_the_second_notebook_detours_goes_back_and_takes_another_way(clone: Path) -> None:
    notebook = await executed(NOTEBOOKS[1], clone)

    plain, marked = shown(notebook, "image/svg+xml")
    assert "‖ paused" in marked
    assert "‖ paused" not in plain
    streamed, history, versions, audit = shown(notebook, "print")
    assert streamed.startswith("transition")
    assert "Dr. Alan Smith" in history
    assert versions.count("\n") == 5
    assert "detour_entered" in audit
    *_, conversation = shown(notebook, "text/html")
    assert "Dr. Smith is fine, Monday 8:30 please." in conversation
    assert "Another one?" not in conversation  # it was taken back
    assert list((clone / "notebooks").iterdir()) == []
