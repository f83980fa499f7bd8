"""Tables and pictures of the pages, made from the definitions: `make tables` writes them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from journeygraph import (
    Concierge,
    Escalation,
    Field,
    Guideline,
    Journey,
    Limits,
    Locale,
    Pathway,
    PatternPipeline,
    Transition,
    journeys,
)
from journeygraph.graphs.drawing.pipelines import chart, svg
from journeygraph.journeys.concierge import CONCIERGE_ATTRIBUTES
from journeygraph.journeys.definitions.definition import Definition, described
from journeygraph.journeys.examples import parcel_refund
from journeygraph.journeys.files.form import AgentForm, ConciergeForm, JourneyForm
from journeygraph.journeys.pathway import PATHWAY_ATTRIBUTES
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS
from journeygraph.journeys.reading.declared import OfConcierge, OfWholeJourney, attribute
from journeygraph.journeys.reading.reader import JOURNEY_ATTRIBUTES
from journeygraph.journeys.spec.spec import PathwaySpec
from journeygraph.nodes.language.grammar import PRODUCTIONS
from journeygraph.nodes.values.languages import language_data
from journeygraph.server.discover.journeys import pipeline_ids
from journeygraph.server.discover.pipelines import find_pipeline
from journeygraph.server.settings import known_settings
from tests.support import concepts, reference

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"
CLASSES = {
    "Collecting": (
        *("Field", "Form", "Regex", "Range", "Length", "Check", "Effect", "Knowledge", "Passage"),
        *("Escalation", "Personality", "Locale"),
    ),
    "Flow": (
        *("Transition", "IntentTrigger", "ConditionTrigger", "EventTrigger", "TimeTrigger"),
        *("HandOver", "Silence", "Reminder"),
        *("ReturnToPrevious", "ReturnToSpecific", "Known", "Call", "Guideline", "Validation"),
    ),
    "Agents and tools": (
        *("Agent", "Skill", "AgentCard", "ModelAgent", "Tool", "FromContext", "ToolSpec"),
        "Limits",
    ),
}
"""Classes whose arguments docs/reference/classes.md lists."""
_SET_WHEN_READ = {"Guideline": ("journey", "pathway", "where")}
Row = tuple[str, str, str]
"""Name, meaning and default."""
_DEFAULT = re.compile(r"\s*\bDefault: (.+?)\.?$")
_MORE = {
    "__abstract__": "journeys.md#inheritance",
    "__guidelines__": "flow-control.md#guidelines",
    "__validation__": "flow-control.md#checked-replies",
    "__degrade__": "flow-control.md#when-parts-fail",
    "__model__": "settings.md#models",
    "__activation__": "flow-control.md#many-journeys-the-concierge",
    "__escalation__": "collecting.md#a-person-takes-over",
    "__personality__": "journeys.md#words",
    "__locale__": "collecting.md#locales",
    "__patterns__": "collecting.md#texts-of-the-runtime",
    "__knowledge__": "collecting.md#questions-that-no-field-answers",
    "__pipeline__": "pipelines.md",
    "__fields__": "collecting.md",
    "__effects__": "collecting.md#effects",
    "__calls__": "flow-control.md#guidance-of-a-state",
    "locale": "collecting.md#locales",
    "knowledge": "collecting.md#questions-that-no-field-answers",
    "escalation": "files.md#fields",
    "choices": "collecting.md#options-that-depend-on-the-context",
    "extract": "collecting.md#patterns",
}
"""Name in a table -> where the pages say more about it."""


def _row(name: str, said: str, default: str, known: Sequence[str] = ()) -> Row:
    own = _DEFAULT.search(said)
    meaning = (_DEFAULT.sub("", said) if own else said).strip()
    if any(one not in meaning for one in known):
        meaning += f" One of: {', '.join(f'`{one}`' for one in known)}."
    return name, meaning.removesuffix("."), own[1] if own else default


def keys_of(form: type[Definition]) -> list[Row]:
    """Return the keys of a mapping in a file, from the schema that is published."""
    schema = form.model_json_schema()
    required = schema.get("required", ())
    rows = []
    for name, part in schema["properties"].items():
        default = "required" if name in required else _in_file(part.get("default"))
        said = f"{_inner(part, schema.get('$defs', {}))}{part['description']}"
        rows.append(_row(name, said, default, part.get("enum", ())))
    return sorted(rows, key=lambda row: row[2] != "required")


def _inner(part: dict[str, Any], parts: dict[str, Any]) -> str:
    """Return the keys of a value that is a mapping with keys of its own."""
    links = [one["$ref"] for one in (part, *part.get("anyOf", ())) if "$ref" in one]
    if len(links) != 1:
        return ""
    return f"`{{{', '.join(parts[links[0].rpartition('/')[2]]['properties'])}}}`. "


def own_keys_of(form: type[Definition]) -> list[Row]:
    """Return the keys that journeys do not have, or not with this meaning."""
    shared = keys_of(JourneyForm)
    return [row for row in keys_of(form) if row not in shared]


def _in_file(value: Any) -> str:
    if value in (None, "", [], {}, ()):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def arguments_of(kind: Any) -> list[Row]:
    """Return the arguments of a class, from its signature and its docstring."""
    said = described(kind)
    schema = kind.model_json_schema()["properties"] if issubclass(kind, Definition) else {}
    return [
        _row(name, said[name], _in_code(parameter.default), schema.get(name, {}).get("enum", ()))
        for name, parameter in inspect.signature(kind).parameters.items()
    ]


def attributes_of(kind: Any, form: type[Definition], known: Sequence[str]) -> list[Row]:
    """Return the attributes of a class body: those of a definition, and its own."""
    schema = form.model_json_schema()["properties"]
    enums = {attribute(n): schema.get(key, {}).get("enum", ()) for n, key in form.names().items()}
    own = described(kind)
    said = {attribute(name): text for name, text in described(form).items()} | own
    names = [name for body in kind.__mro__ for name in vars(body).get("__annotations__", ())]
    return [
        _row(name, said[name], _in_code(getattr(kind, name)), () if name in own else enums[name])
        for name in dict.fromkeys(names)
        if name in known
    ]


def _in_code(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    made = type(value).__name__ in ("_HAS_DEFAULT_FACTORY_CLASS", "PydanticUndefinedType")
    return "none" if made or value in (None, "", (), [], {}) else f"`{value!r}`".replace("'", '"')


def written(heading: str, rows: list[Row], page: str = "classes.md") -> str:
    """Return a table of Markdown for a page."""
    lines = [f"| {heading} | meaning | default |", "|---|---|---|"]
    for name, meaning, default in rows:
        more = f" ([more]({_MORE[name].removeprefix(page)}))" if name in _MORE else ""
        cells = (f"`{name}`", f"{meaning}{more}", default)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def settings() -> Iterator[str]:
    """Yield the lines of the table of all settings."""
    yield from ("| setting | variable | default | means |", "|---|---|---|---|")
    for name, setting in known_settings().items():
        variable = f"`{setting.variable}`"
        if setting.is_secret or setting.by_variable_alone:
            variable += ", nowhere else"
        key = "" if setting.by_variable_alone else f"`{name}`"
        about = setting.about.replace("|", "\\|")
        cells = (key, "a table, in TOML only" if setting.is_table else variable)
        yield f"| {cells[0]} | {cells[1]} | {setting.default} | {about} |"


def grammar() -> Iterator[str]:
    """Yield the lines of the table of all productions, in the order in which they are tried."""
    yield from ("| act | form | in English, for example |", "|---|---|---|")
    for production in PRODUCTIONS:
        said = [_example(symbol) for symbol in production.form.split()]
        yield f"| {production.act} | `{production.form}` | {' '.join(filter(None, said))} |"


def _example(symbol: str) -> str:
    """Return the first phrase of a list; a slot as it is, and nothing for what may be left out."""
    if symbol.startswith("<"):
        return f"`{symbol}`"
    lists = language_data("en").grammar
    return "" if symbol.startswith("[") else lists[symbol.rstrip("+")][0]


TABLES = {
    "files.md": {
        "key of a journey": lambda: keys_of(JourneyForm),
        "key of a state": lambda: keys_of(PathwaySpec),
        "key of a field": lambda: keys_of(Field),
        "key of `escalation`": lambda: keys_of(Escalation),
        "key of a transition": lambda: keys_of(Transition),
        "key of a guideline": lambda: keys_of(Guideline),
        "key of an agent": lambda: own_keys_of(AgentForm),
        "key of a concierge": lambda: own_keys_of(ConciergeForm),
    },
    "journeys.md": {
        "attribute of a journey": lambda: attributes_of(
            Journey, OfWholeJourney, JOURNEY_ATTRIBUTES
        ),
        "attribute of a pathway": lambda: attributes_of(Pathway, PathwaySpec, PATHWAY_ATTRIBUTES),
    },
    "pipelines.md": {"limit": lambda: [row for row in arguments_of(Limits) if row[0] != "clock"]},
    "collecting.md": {"part of a locale": lambda: arguments_of(Locale)},
    "flow-control.md": {
        "attribute of a concierge": lambda: attributes_of(
            Concierge, OfConcierge, CONCIERGE_ATTRIBUTES
        )
    },
}
"""Page -> heading of the first column of a table -> its rows."""


def _pipeline(name: str) -> str:
    pipeline = find_pipeline(name).pipeline
    assert isinstance(pipeline, PatternPipeline)
    return svg(chart(pipeline.with_name(name)))


PICTURES: dict[str, Callable[[], str]] = {
    **{name: partial(_pipeline, name) for name in pipeline_ids()},
    "parcel_refund": lambda: parcel_refund.ParcelRefund.draw().svg,
    **concepts.PICTURES,
}
"""Name of a file in docs/pictures -> the drawing."""


def classes() -> str:
    """Return the page of all arguments of classes."""
    text = [
        "# Arguments of the classes",
        "All classes are imported from `journeys`. `make tables` writes this page from their "
        "docstrings and types.",
    ]
    for title, names in CLASSES.items():
        text.append(f"## {title}")
        for name in names:
            kind = getattr(journeys, name)
            hidden = _SET_WHEN_READ.get(name, ())
            rows = [row for row in arguments_of(kind) if row[0] not in hidden]
            text += [f"### {name}", _summary(kind), written("argument", rows)]
    text += ["## Patterns of pipelines"]
    for name, made in PATTERNS.items():
        rows = [row for row in arguments_of(made) if row[0] in made.by_position]
        text += [f"### {name}", _summary(made), written("argument", rows)]
    return "\n\n".join(text) + "\n"


def _summary(kind: type[Any]) -> str:
    return inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def pages() -> dict[Path, str]:
    """Return the pages with tables, and the pictures, as they have to be."""
    found = {
        REFERENCE / "classes.md": classes(),
        REFERENCE / "commands.md": reference.commands(),
        REFERENCE / "http.md": reference.http(),
        REFERENCE / "python.md": reference.python(),
    }
    for name, tables in TABLES.items():
        text = (REFERENCE / name).read_text()
        for heading, rows in tables.items():
            text = _replaced(text, f"| {heading} |", written(heading, rows(), name))
        found[REFERENCE / name] = text
    page = REFERENCE / "collecting.md"
    found[page] = _replaced(found[page], "| act | form |", "\n".join(grammar()))
    page = REFERENCE / "settings.md"
    found[page] = _replaced(page.read_text(), "| setting | variable |", "\n".join(settings()))
    return found | {DOCS / "pictures" / f"{name}.svg": draw() for name, draw in PICTURES.items()}


def _replaced(text: str, begins: str, table: str) -> str:
    """Return a page in which the table that begins like this is another one."""
    before, head, rest = text.partition(f"\n{begins}")
    assert head, f"no table begins with {begins}"
    lines = rest.split("\n")
    end = next(number for number, line in enumerate(lines[1:], 1) if not line.startswith("|"))
    return "\n".join([before, table, *lines[end:]])


def main() -> None:
    """Write the tables."""
    for page, text in pages().items():
        page.write_text(text)


if __name__ == "__main__":
    main()
