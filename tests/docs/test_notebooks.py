"""The notebooks run from top to bottom, offline; their outputs are those in their files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from journeygraph.journeys.results.display import faint_html, message_html
from tests.support.notebooks import NOTEBOOKS, clone, executed, kernel, run_cell, steady, varies


def code_of(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(notebook: Any, kind: str) -> list[str]:
    """All that the cells show in one form, in order."""
    outputs = [output for cell in code_of(notebook) for output in steady(cell)]
    if kind == "print":
        return [output["text"] for output in outputs if output["output_type"] == "stream"]
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


def test_there_are_six_notebooks_with_outputs_of_nobodys_machine() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "01_first_journey",
        "02_detours_context_rollback",
        "03_forms_and_corrections",
        "04_rules_and_checks",
        "05_nine_pipelines",
        "06_a_session_examined",
    ]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        code = code_of(notebook)
        assert sum("assert " in cell.source for cell in code) >= 5
        assert all(len(cell.source.splitlines()) <= 30 for cell in notebook.cells)
        assert [cell.outputs for cell in code] == [steady(cell) for cell in code], path.name
        assert [cell.execution_count for cell in code] == [None] * len(code)
        assert re.search(r"/(?:tmp|home|root)/", path.read_text()) is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_links_of_a_notebook_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())

    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_outputs_of_a_notebook_show_places_detours_and_mistakes() -> None:
    first, second, *_ = (nbformat.read(path, as_version=4) for path in NOTEBOOKS)

    pictures = shown(first, "image/svg+xml")
    assert ["the session is here" in picture for picture in pictures] == [False, True, False]
    assert ">receipt<" in pictures[2]
    assert any("See you on Tuesday." in page for page in shown(first, "text/html"))
    assert "Did you mean" in shown(first, "print")[-1]

    plain, marked = shown(second, "image/svg+xml")
    assert ("‖ paused" in plain, "‖ paused" in marked) == (False, True)
    streamed, history, versions, audit = shown(second, "print")
    assert streamed.startswith("transition")
    assert "Dr. Alan Smith" in history
    assert versions.count("\n") == 5
    assert "detour_entered" in audit
    *_, conversation = shown(second, "text/html")
    assert "Dr. Smith is fine, Monday 8:30 please." in conversation
    assert "Another one?" not in conversation  # it was taken back


@pytest.mark.slow
async def test_the_notebooks_run_and_show_what_their_files_show(tmp_path: Path) -> None:
    with clone(tmp_path) as folder:
        async with kernel(folder) as client:
            for path in NOTEBOOKS:
                written = code_of(nbformat.read(path, as_version=4))
                notebook = await executed(client, path)
                for now, before in zip(code_of(notebook), written, strict=True):
                    assert now.source == before.source
                    if not varies(now):
                        assert steady(now) == before.outputs, f"{path.name}: run `make notebooks`"
                assert list(folder.iterdir()) == []
            await chats(client)


SEATS = """
import sys; sys.path.insert(0, "..")
from journeygraph import Chat, Field, Journey, Pathway

class Seats(Journey):
    class SeatPath(Pathway):
        __fields__ = [Field("seat", "enum", "Which seat?", choices=["A", "B"])]

Chat(Seats)
"""


class Browser:
    """The widgets of a kernel as a browser has them: it knows and changes them by messages."""

    def __init__(self, client: NotebookClient) -> None:
        self._client: Any = client.kc
        self._models: dict[str, dict[str, Any]] = client.widget_state

    def _send(self, model: str, **data: Any) -> None:
        content = {"comm_id": model, "data": data}
        self._client.shell_channel.send(self._client.session.msg("comm_msg", content))

    async def _model(self, **known: Any) -> str:
        """Return the id of the widget that looks like this, once the kernel has made it so."""
        while True:
            for id_, one in self._models.items():
                if known.items() <= one.items():
                    return id_
            message = await self._client.get_iopub_msg(timeout=110)
            content = message["content"]
            state = content.get("data", {}).get("state", {})
            if message["msg_type"].startswith("comm") and state:
                self._models.setdefault(content["comm_id"], {}).update(state)

    async def writes(self, text: str) -> None:
        await self._model(description="Send", disabled=False)
        field = await self._model(_model_name="TextModel")
        self._send(field, method="update", state={"value": text})
        await self.clicks("Send")

    async def clicks(self, button: str) -> None:
        model = await self._model(description=button, disabled=False)
        self._send(model, method="custom", content={"event": "click"})

    async def sees(self, text: str) -> None:
        await self._model(value=text)


async def chats(client: NotebookClient) -> None:
    """Hold a conversation in a cell by a field and by buttons."""
    client.widget_state.clear()
    await run_cell(client, SEATS)
    browser = Browser(client)

    await browser.writes("hello")
    await browser.sees(message_html({"role": "assistant", "content": "Which seat? (A, B)"}))
    await browser.clicks("B")
    await browser.sees(faint_html("(in seat, the journey is complete)"))
