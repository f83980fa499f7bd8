"""The page on flow control: what it shows is run."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "flow-control.md").read_text()


async def test_the_page_does_what_it_says() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)

    for block in blocks:
        code = compile(block, "flow-control.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)
        else:
            exec(code, names)

    assert len(blocks) >= 2
