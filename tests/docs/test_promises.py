"""Every test that a promise names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "about" / "promises.md").read_text()))
    written = {
        name
        for file in ROOT.glob("tests/**/test_*.py")
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)\(", file.read_text(), re.MULTILINE)
    }

    assert len(named) > 15
    assert named - written == set()
