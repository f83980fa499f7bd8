"""Where in a file a fault is: found in its source, because a class body keeps no line numbers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from server.cli.walking import looks_like_journey, parsed

_ATTRIBUTE = re.compile(r"__\w+__")


def line_of(file: Path, fault: str) -> int | None:
    """The line of what a fault names: `Journey.Pathway: __attribute__ ...`; None if not found."""
    names = re.split(r"[.:\[ ]", fault.partition(": ")[0])
    found: ast.stmt | None = None
    body = parsed(file)
    for name in names:
        inner = _class_in(body, name)
        if inner is None:
            break
        found, body = inner, inner.body
    attribute = _ATTRIBUTE.search(fault) if found else None
    assigned = _assignment_in(body, attribute[0]) if attribute else None
    return getattr(assigned or found, "lineno", None)


def journeys_after(file: Path, line: int) -> list[str]:
    """Names of the classes below a line that look like journeys."""
    return [
        node.name
        for node in parsed(file)
        if isinstance(node, ast.ClassDef) and node.lineno > line and looks_like_journey(node)
    ]


def _class_in(body: list[ast.stmt], name: str) -> ast.ClassDef | None:
    classes = (node for node in body if isinstance(node, ast.ClassDef))
    return next((node for node in classes if node.name == name), None)


def _assignment_in(body: list[ast.stmt], name: str) -> ast.stmt | None:
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node
    return None
