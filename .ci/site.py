"""Hooks of the build of the documents: texts for programs, plain types in the Python API."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import griffe

FOREWORD = """\
# {name}

> {about}

Every code block of these pages is run by a test. `llms-full.txt` has the text of all pages.
"""


def on_post_build(config: Any, **_: Any) -> None:
    """Write `llms.txt`, a list of all pages, and `llms-full.txt`, their text."""
    pages = list(nav_of(config.nav))
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    lines = [FOREWORD.format(name=config.site_name, about=config.site_description)]
    section = None
    for part, title, name in pages:
        if part != section:
            section = part
            lines.append(f"\n## {part}\n")
        address = name.removesuffix(".md") + ".html"
        lines.append(f"- [{title}]({address}): {summary((docs / name).read_text())}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n")
    texts = [f"<!-- {name} -->\n\n{(docs / name).read_text()}" for _, _, name in pages]
    (site / "llms-full.txt").write_text("\n\n".join(texts))


def nav_of(nav: list[Any], section: str = "") -> Any:
    """Yield the section, the title and the file of each page, in their order."""
    for entry in nav:
        ((title, what),) = entry.items()
        if isinstance(what, str):
            yield section or title, title, what
        else:
            yield from nav_of(what, section or title)


def summary(text: str) -> str:
    """Return the first sentence of a page, without links and marks."""
    paragraphs = re.split(r"\n\s*\n", text)
    first = next((one for one in paragraphs if re.match(r"[A-Z`*\[]", one)), "")
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)|\*\*", r"\1", " ".join(first.split()))
    return re.split(r"(?<=[.:]) (?=[A-Z`])", plain)[0].rstrip(":")


def on_page_markdown(_: str, *, page: Any, **__: Any) -> None:
    """Leave the reasons for the design out of the search: their words are those of all pages."""
    if page.file.src_uri == "about/decisions.md":
        page.meta["search"] = {"exclude": True}


def on_page_content(html: str, **_: Any) -> str:
    """Let long names in tables break after an underscore; show an escaped bar as a bar."""
    return re.sub(r"<td.*?</td>", lambda cell: _readable(cell[0]), html, flags=re.S)


def _readable(cell: str) -> str:
    cell = cell.replace("\\|", "|")  # within code, only GitHub removes the backslash
    return re.sub(r"(?<=[a-zA-Z0-9])_(?=[a-zA-Z0-9][^<>]*<)", "_<wbr>", cell)


class ForReaders(griffe.Extension):
    """Show docstrings and types as readers of the site need them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Show examples as code; leave out the places in documents that a thing comes from."""
        if obj.docstring:
            text = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M)
            obj.docstring.value = re.sub(r"^ *Source: .*?(?=\n\n|\Z)", "", text, flags=re.M | re.S)

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Show `Annotated[str, ...]`, with marks for the reader of definitions, as `str`."""
        attr.annotation = plain(attr.annotation)


def plain(type_: Any) -> Any:
    """Return an expression of a type without marks."""
    if isinstance(type_, griffe.ExprSubscript) and type_.canonical_name == "Annotated":
        inside = type_.slice
        return plain(inside.elements[0] if isinstance(inside, griffe.ExprTuple) else inside)
    if isinstance(type_, list):
        return [plain(part) for part in type_]
    if isinstance(type_, griffe.Expr) and not isinstance(type_, griffe.ExprName):
        fields = [field.name for field in dataclasses.fields(type_) if field.name != "parent"]
        return dataclasses.replace(type_, **{name: plain(getattr(type_, name)) for name in fields})
    return type_
