"""The page on collecting names all there is."""

from __future__ import annotations

import re
from pathlib import Path

from journeygraph import Escalation, Field
from journeygraph.journeys.declarations.behaviors import POLICIES
from journeygraph.journeys.declarations.fields import FIELD_TYPES
from journeygraph.journeys.spec.checks import PATTERNS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "collecting.md").read_text()


def test_the_page_names_what_there_is() -> None:
    words = set(re.findall(r"\w+", PAGE))

    assert set(FIELD_TYPES) | set(PATTERNS) | set(POLICIES) <= words
    assert set(Escalation.keys()) <= words
    assert set(Field.keys()) <= words
