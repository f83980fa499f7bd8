"""Run the examples of the page on observability; it names all spans, metrics and events."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from journeygraph.nodes.telemetry import otel
from tests.support.command import ROOT

PAGE = (ROOT / "docs" / "how-to" / "observability.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


@pytest.mark.slow
def test_the_tree_of_the_page_is_what_its_code_prints(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("\n".join(blocks("python")))
    command = [sys.executable, "-W", "error", str(tmp_path / "page.py")]
    environment = {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110)

    assert done.stderr == ""
    assert done.stdout == "".join(blocks("text"))


def test_the_page_names_every_name_that_is_reported() -> None:
    folders = ("nodes", "graphs", "server")
    sources = [path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    quoted = re.findall(
        r'"((?:gen_ai|journeygraph)\.[\w.]+)"',
        "\n".join(one for one in sources if "measure(" in one),
    )
    named = set(re.findall(r"`([\w.]+)`", PAGE))

    assert set(quoted) - named == set()
    assert {*otel.HISTOGRAMS, *otel.COUNTERS, *otel.LEVELS, *otel.GAUGES} <= named


def test_the_page_names_every_event_of_the_log() -> None:
    folders = ("nodes", "graphs", "server")
    sources = [path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    events = re.findall(r'report\(\s*logging\.\w+,\s*"(\w+)"', "\n".join(sources))

    assert len(events) >= 6
    assert {*events, "turn_finished", "turn_degraded", "turn_cancelled", "turn_failed"} <= set(
        re.findall(r"`(\w+)`", PAGE)
    )
