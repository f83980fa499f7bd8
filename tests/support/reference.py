"""Pages of the reference that are made from the code as a whole: HTTP, commands, Python."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args

import typer.main

from journeygraph import journeys
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.server.access.callers import RULES
from journeygraph.server.app import create_app
from journeygraph.server.cli.command_line import app
from journeygraph.server.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
_RULES = {(method, path.replace(":path", "")): rule for (method, path), rule in RULES.items()}
"""The rules by the paths of the API description."""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# HTTP.

_HTTP = """# HTTP API

`journeygraph serve` offers these routes. This page is made from the API description of the server,
which is at `/openapi.json`; `/docs` shows it with a form for each route. Requests and answers are
JSON. If the server has keys, a request needs the header `Authorization: Bearer KEY`, and the key
the scope of the route or one that includes it: `admin` includes `operate`, which includes `talk`
([access](../how-to/access.md)). A message
needs two requests:

```sh
curl -s localhost:8000/v1/sessions --json '{"journey_id": "parcel_refund", "session_id": "ada"}'
curl -s localhost:8000/v1/sessions/ada/messages --json '{"message": "It is P-1042"}'
```"""


_ERRORS = """An error is a [ProblemBody](#problembody), as `application/problem+json`. Its `code` is
stable between releases.

The head of a request must arrive within 10 seconds, its body within 30. An error that comes before
the end of a body, such as 401, 404 or 413, has `Connection: close`: the server discards the rest
for 2 seconds, then closes the connection. It also closes after 400 for a request that it cannot
read."""


def http() -> str:
    """Return the page of the HTTP API."""
    described = create_app(Settings()).openapi()
    routes = list(_routes(described))
    text = [_HTTP, "## Routes"]
    rows = [(f"[`{name}`](#{_anchor(name)})", _scope(name), _sentence(one)) for name, one in routes]
    text.append(_table(("route", "scope", "purpose"), rows))
    for tag in dict.fromkeys(one["tags"][0] for _, one in routes):
        text.append(f"## Routes of {tag}")
        for name, one in routes:
            if one["tags"][0] == tag:
                text += [f"### `{name}`", *_route(one)]
    text += ["## Errors", _ERRORS, _table(("code", "status", "meaning"), sorted(_problems()))]
    text.append("## Data")
    for name, schema in sorted(described["components"]["schemas"].items()):
        text += [f"### {name}", *_schema(schema)]
    return "\n\n".join(text) + "\n"


def _routes(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            yield f"{method.upper()} {path}", one


def _scope(name: str) -> str:
    """Return the scope that a route needs; empty: it needs no key."""
    method, _, path = name.partition(" ")
    rule = _RULES.get((method, path))
    return f"`{rule.scope}`" if rule else ""


def _problems() -> Iterator[tuple[str, str, str]]:
    """Yield the code, the status and the text of the errors that the code of the server names."""
    files = sorted((DOCS.parent / "server" / "http").rglob("*.py"))
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text()))):
        parts = node.elts if isinstance(node, ast.Tuple) else getattr(node, "args", None)
        if isinstance(parts, list) and len(parts) > 1:
            status, code, *rest = map(ast.unparse, parts)
            if status.startswith("HTTPStatus.") and re.fullmatch(r"'\w+'", code):
                said = ast.literal_eval(rest[0]) if rest and rest[0][0] in "'\"" else ""
                number = HTTPStatus[status.partition(".")[2]].value
                yield f"`{code[1:-1]}`", str(number), said or "`detail` has the reason."


def _anchor(name: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", name).strip().lower())


def _sentence(described: dict[str, Any]) -> str:
    first = described.get("description", "").partition("\n\n")[0]
    return " ".join(first.split())


def _route(one: dict[str, Any]) -> Iterator[str]:
    yield one.get("description", "")
    rows = [
        (f"`{part['name']}`", part["in"], _type(part["schema"]), _meaning(part["schema"] | part))
        for part in one.get("parameters", ())
    ]
    if rows:
        yield _table(("parameter", "in", "type", "meaning"), rows)
    bodies = [_contents(one["requestBody"])] if "requestBody" in one else []
    lines = [f"Body: {body}" for body in bodies]
    for status, answer in one["responses"].items():
        if status not in ("4XX", "5XX"):
            said = answer["description"].replace("Successful Response", "")
            lines.append(f"{status}: {' '.join([*said.split(), _contents(answer)])}".strip())
    yield "\n".join(f"- {line}" for line in lines)


def _contents(part: dict[str, Any]) -> str:
    found = [
        _type(content["schema"]) if kind.endswith("json") else f"`{kind}`"
        for kind, content in part.get("content", {}).items()
    ]
    return " or ".join(found) or "no content."


def _type(schema: dict[str, Any]) -> str:
    """Return a type of a schema in words, with links to the schemas of this page."""
    if link := schema.get("$ref"):
        name = link.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    kinds = [_type(one) for one in schema.get("anyOf", schema.get("oneOf", ()))]
    if kinds:
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    return f"{_container(schema)}{_bounds(schema)}"


def _bounds(schema: dict[str, Any]) -> str:
    """Return the limits of a number, a text or a list in words."""
    for least, most, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " entries"),
    ):
        bounds = schema.get(least), schema.get(most)
        if None not in bounds:
            return f", {bounds[0]} to {bounds[1]}{unit}"
        if bounds != (None, None):
            words = f"at least {bounds[0]}" if bounds[1] is None else f"at most {bounds[1]}"
            return f", {words}{unit}"
    return ""


def _container(schema: dict[str, Any]) -> str:
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, dict) and values:
        return f"object of {_type(values)}"
    return kind


def _schema(schema: dict[str, Any]) -> Iterator[str]:
    if said := _sentence(schema):
        yield said
    if "properties" not in schema:
        yield f"One of: {_type(schema)}."
        return
    yield _table(
        ("field", "type", "meaning"),
        ((f"`{name}`", _type(part), _meaning(part)) for name, part in schema["properties"].items()),
    )


def _meaning(part: dict[str, Any]) -> str:
    said = str(part.get("description", ""))
    default = part.get("default")
    return said if default in (None, "", [], {}) else f"{said} Default: `{default}`."


# Commands.

_COMMANDS = """# Commands

This page is made from the definitions of the commands. [The command line](command-line.md)
describes exit codes and the output for programs."""


def commands() -> str:
    """Return the page of all commands with their arguments."""
    group: Any = typer.main.get_command(app)
    text = [_COMMANDS]
    rows = [(f"[`{name}`](#{name})", _first(one.help)) for name, one in group.commands.items()]
    text.append(_table(("command", "purpose"), rows))
    for name, one in group.commands.items():
        arguments = [part for part in one.params if part.param_type_name == "argument"]
        words = [_in_usage(part) for part in arguments]
        text += [f"## {name}", _paragraphs(one.help)]
        text.append(f"`{' '.join(['journeygraph', name, *words, '[OPTIONS]'])}`")
        if one.params:
            text.append(_table(("argument or option", "meaning", "default"), _params(one)))
    return "\n\n".join(text) + "\n"


def _in_usage(part: Any) -> str:
    word = (part.metavar or part.name.upper()).strip("[]") + ("..." if part.nargs == -1 else "")
    return word if part.required else f"[{word}]"


def _params(one: Any) -> Iterator[tuple[str, str, str]]:
    for part in one.params:
        names = [*part.opts, *part.secondary_opts]
        if part.param_type_name == "argument":
            names = [_in_usage(part)]
        shown = part.default not in (None, False, (), [], "") and not callable(part.default)
        meaning = (part.help or "").strip()
        choices = get_args(part.type_descriptor.annotation)
        if any(str(choice) not in meaning for choice in choices if isinstance(choice, str)):
            meaning += f" One of: {', '.join(f'`{choice}`' for choice in choices)}."
        yield ", ".join(f"`{name}`" for name in names), meaning, f"`{part.default}`" * shown


def _paragraphs(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text.replace("\b", "").strip())
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _first(text: str) -> str:
    return _paragraphs(text).partition("\n\n")[0]


# Python.

_PYTHON = """# Python API

This page lists every public name. The docstrings appear only on the site that `make docs` writes.
[Arguments of the classes](classes.md) has the arguments of all definitions as tables."""
_GROUPS: dict[str, tuple[str, ...]] = {
    "Journeys": (),
    "Files": ("journeygraph.journeys.files",),
    "Fields, transitions and guidelines": (
        "journeygraph.journeys.declarations",
        "journeygraph.journeys.locale",
    ),
    "Agents and tools": ("journeygraph.journeys.agents",),
    "Pipelines": ("journeygraph.journeys.pipelines", "journeygraph.journeys.door"),
    "Results": ("journeygraph.journeys.results",),
    "The spec": ("journeygraph.journeys.spec",),
    "Texts": ("journeygraph.journeys.texts",),
    "Errors": ("journeygraph.journeys.errors",),
}
"""Title -> rooms of the code with its names; all others belong to the first."""
_MORE = ("journeygraph.graphs.session.manager.PathwayManager", "journeygraph.server.app.create_app")
"""Names that no page imports, and that programs can use."""


def python() -> str:
    """Return the page of all public names of Python."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for name in journeys.__all__:
        grouped[_group(getattr(journeys, name))].append(f"journeygraph.journeys.{name}")
    text = [_PYTHON]
    for title in _GROUPS:
        text += [f"## {title}", *map(_entry, sorted(grouped[title]))]
    text.append("## Other modules")
    text.append("Names of other packages that the examples of these pages use.")
    text += [f"::: {name}" for name in sorted({*_MORE, *_imported()})]
    return "\n\n".join(text) + "\n"


def _entry(name: str) -> str:
    """Return the place of a name; the arguments of a definition are its attributes."""
    thing = getattr(journeys, name.removeprefix("journeygraph.journeys."))
    is_definition = isinstance(thing, type) and issubclass(thing, Definition)
    options = (
        "\n    options: {separate_signature: false, show_signature: false}" if is_definition else ""
    )
    return f"::: {name}{options}"


def _group(thing: Any) -> str:
    module = getattr(thing, "__module__", "journeygraph.journeys.declarations")
    found = (
        title
        for title, rooms in _GROUPS.items()
        if any(f"{module}.".startswith(f"{room}.") for room in rooms)
    )
    return next(found, next(iter(_GROUPS)))


def _imported() -> set[str]:
    """Return the names that pages import from the packages below the language."""
    found = set()
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S):
            for line in re.findall(
                r"^(?:>>> )?(from journeygraph\.(?:nodes|graphs|server)[^\n(]+)$", block, re.M
            ):
                (node,) = ast.parse(line).body
                assert isinstance(node, ast.ImportFrom)
                found |= {_whole(str(node.module), one.name) for one in node.names}
    return found


def _whole(module: str, name: str) -> str:
    thing = getattr(importlib.import_module(module), name)
    return f"{module}.{name}" if callable(thing) else module
