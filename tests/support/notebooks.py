"""Run the notebooks in one kernel, and write their outputs: `make notebooks`."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
_LIVE = "application/vnd.jupyter.widget-view+json"
_CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00"), "2026-01-01T09:00:00.000000+00:00"),
    (re.compile(r"\bM-[0-9A-F]{4}\b"), "M-0000"),
)
"""Parts of an output that differ in each run, and the text that stands for them."""


@contextmanager
def clone(folder: Path) -> Iterator[Path]:
    """Make a folder look like a clone, with a home in it; yield its empty folder of notebooks."""
    (folder / "journeygraph").symlink_to(ROOT / "journeygraph")
    (folder / "notebooks").mkdir()
    (folder / "home").mkdir()
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    given = {"HOME": str(folder / "home"), **{name: str(folder / "home" / name) for name in names}}
    given["JOURNEYGRAPH_STORE"] = "sqlite:////nowhere/at/all.db"
    before = dict(os.environ)
    os.environ.update(given)
    try:
        yield folder / "notebooks"
    finally:
        os.environ.clear()
        os.environ.update(before)


@asynccontextmanager
async def kernel(folder: Path) -> AsyncIterator[NotebookClient]:
    """Start a kernel in a folder."""
    empty = nbformat.v4.new_notebook()
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        empty, timeout=110, kernel_name="python3", resources=where, coalesce_streams=True
    )
    async with client.async_setup_kernel():
        yield client


async def executed(client: NotebookClient, path: Path) -> Any:
    """Return a notebook with the outputs of its cells, run as in a kernel that was just started.

    A cell that raises ends it.
    """
    await run_cell(client, "%reset -f")
    notebook = client.nb = nbformat.read(path, as_version=4)
    for place, cell in enumerate(notebook.cells):
        await client.async_execute_cell(cell, place)
    return notebook


async def run_cell(client: NotebookClient, source: str) -> Any:
    """Run one cell without a notebook, and return it."""
    client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    return await client.async_execute_cell(client.nb.cells[0], 0)


def steady(cell: Any) -> list[dict[str, Any]]:
    """Return the outputs of a cell as a page shows them, without what differs in each run."""
    if "live" in cell.metadata.get("tags", ()):
        return []
    outputs: list[dict[str, Any]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            text = _steady(output.text)
            outputs.append({"output_type": "stream", "name": output.name, "text": text})
            continue
        data = {kind: _steady(shown) for kind, shown in output.data.items() if kind != _LIVE}
        if "text/html" in data:
            data.pop("text/plain", None)
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    return outputs


def _steady(text: str) -> str:
    for pattern, written in _CHANGING:
        text = pattern.sub(written, text)
    return text


def varies(cell: Any) -> bool:
    """Return whether the outputs of a cell differ in each run as a whole, such as times."""
    return "varies" in cell.metadata.get("tags", ())


async def written(paths: Sequence[Path]) -> None:
    """Run notebooks, and write their outputs into their files."""
    with tempfile.TemporaryDirectory() as folder, clone(Path(folder)) as place:
        async with kernel(place) as client:
            for path in paths:
                before = nbformat.read(path, as_version=4)
                notebook = await executed(client, path)
                for cell, old in zip(notebook.cells, before.cells, strict=True):
                    cell.metadata.pop("execution", None)
                    if cell.cell_type == "code":
                        outputs = [nbformat.from_dict(one) for one in steady(cell)]
                        cell.outputs = (varies(cell) and old.outputs) or outputs
                        cell.execution_count = None
                plain = {"name": "python"}
                notebook.metadata = {**notebook.metadata, "language_info": plain}
                notebook.metadata.pop("widgets", None)
                nbformat.write(notebook, path)


if __name__ == "__main__":
    import asyncio

    asyncio.run(written(NOTEBOOKS))
