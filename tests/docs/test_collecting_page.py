"""The page on collecting: what it shows is run, and what it names is there."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from journeys import Escalation, Field
from journeys.notions.behaviors import POLICIES
from journeys.notions.fields import FIELD_TYPES
from journeys.spec.checks import PATTERNS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "collecting.md").read_text()


async def test_the_page_does_what_it_says() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)

    for block in blocks:
        code = compile(block, "collecting.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)
        else:
            exec(code, names)

    assert len(blocks) == 11


def test_the_page_names_what_there_is() -> None:
    words = set(re.findall(r"\w+", PAGE))

    assert set(FIELD_TYPES) | set(PATTERNS) | set(POLICIES) <= words
    assert set(Escalation.keys()) <= words
    assert set(Field.keys()) <= words
