"""The documents as one site: pages, links, pictures and commands are there, and its code runs."""

from __future__ import annotations

import ast
import configparser
import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from markdown.extensions.toc import slugify, unique
from mkdocs.commands.build import build
from mkdocs.config import load_config
from ruamel.yaml import YAML

from journeygraph import JourneyConfig, journeys
from journeygraph.journeys.pathway import PATHWAY_ATTRIBUTES
from journeygraph.journeys.reading.reader import JOURNEY_ATTRIBUTES
from journeygraph.server.cli.command_line import app
from journeygraph.server.settings import known_settings
from tests.support.browser import Visits, chromium, expect

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = tuple(sorted(DOCS.rglob("*.md")))
AT_THE_ROOT = tuple(sorted(ROOT.glob("*.md")))
NOT_IN_ORDER = {
    "about/decisions.md",
    "how-to/mcp.md",
    "how-to/observability.md",
    "how-to/testing.md",
    "reference/files.md",
    "reference/pipelines.md",
    "start.md",
}
"""Pages whose Python is not one program; a test of their own runs it."""


def name_of(page: Path) -> str:
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def config() -> Any:
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def in_nav(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        (what,) = entry.values()
        if isinstance(what, str):
            yield what
        else:
            yield from in_nav(what)


def test_every_page_is_in_the_nav_once_and_every_entry_is_a_page() -> None:
    assert sorted(in_nav(config()["nav"])) == sorted(map(name_of, PAGES))


# Links.


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.M | re.S)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page: those that it names, and those that the site makes of headings."""
    made: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(page), re.M):
        unique(slugify(re.sub(r"[`*]|\]\([^)]*\)", "", heading), "-"), made)
    return made | set(re.findall(r'\bid="([^"]+)"', page.read_text()))


def links(page: Path) -> Iterator[tuple[str, str]]:
    """The path and the anchor of each link and picture of a page that is not an address."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    for target in re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", text):
        path, _, anchor = (target[0] or target[1]).partition("#")
        if not re.match(r"[a-z]+:", path):
            yield path, anchor


@pytest.mark.parametrize("page", [*PAGES, *AT_THE_ROOT], ids=name_of)
def test_every_link_of_a_page_leads_to_something(page: Path) -> None:
    dead = []
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        # The site has nothing but `docs/`.
        is_there = target.exists() and (DOCS in target.parents or page.parent == ROOT)
        if not is_there or (anchor and anchor not in anchors(target)):
            dead.append(f"{path}#{anchor}")

    assert dead == []


def test_every_page_that_the_code_names_is_there() -> None:
    files = [
        path
        for room in ("journeys", "nodes", "graphs", "server", "notebooks", "tests")
        for ending in ("py", "yaml", "ipynb")
        for path in (ROOT / room).rglob(f"*.{ending}")
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in [*files, ROOT / "Makefile", ROOT / ".env.example"]
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text())
    }

    assert len(named) > 10
    assert {(file, name) for file, name in named if not (ROOT / name).exists()} == set()


def test_no_number_at_the_beginning_of_a_line_is_taken_for_an_entry_of_a_list() -> None:
    taken = [
        f"{name_of(page)}: {line}"
        for page in PAGES
        for line in prose(page).splitlines()
        if re.match(r" +\d+\. |\d{4}\. ", line)
    ]

    assert taken == []


def test_every_picture_is_shown() -> None:
    shown = {
        (page.parent / path).resolve() for page in [*PAGES, *AT_THE_ROOT] for path, _ in links(page)
    }

    assert {path.name for path in (DOCS / "pictures").iterdir() if path not in shown} == set()


# Code.


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def programs() -> list[Path]:
    return [p for p in PAGES if name_of(p) not in NOT_IN_ORDER and blocks(p, "python")]


@pytest.mark.parametrize("page", programs(), ids=name_of)
async def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    await run_in_order(page)


async def run_in_order(page: Path) -> dict[str, Any]:
    """Run the Python of a page as one program, and return its names."""
    names: dict[str, Any] = {}
    for block in blocks(page, "python"):
        code = compile(block, name_of(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)
        else:
            exec(code, names)
    return names


async def test_the_conversation_of_the_start_is_held() -> None:
    names = await run_in_order(DOCS / "index.md")
    lines = blocks(DOCS / "index.md", "text")[0].splitlines()
    config = JourneyConfig(persistence="memory://the-start")

    async with names["Tables"](
        "s", config, agents=names["AGENTS"], tools=names["TOOLS"]
    ) as journey:
        await journey.start()
        for words, answer in zip(lines[::2], lines[1::2], strict=True):
            reply = await journey.process_message(words.removeprefix("you").strip())
            assert " ".join(reply.message.split()) == answer.strip()
        assert reply.is_journey_complete


@pytest.mark.parametrize("page", sorted((DOCS / "coming-from").iterdir()), ids=name_of)
def test_the_names_that_others_become_are_there(page: Path) -> None:
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    ours = " ".join(line.split(" | ")[-1] for line in rows)
    classes = set(re.findall(r"`([A-Z][a-z]\w+)", ours))
    attributes = set(re.findall(r"`(__\w+__)`", ours))

    assert len(classes) > 5
    assert classes - set(journeys.__all__) - {"RuntimeError"} == set()
    assert attributes - {*PATHWAY_ATTRIBUTES, *JOURNEY_ATTRIBUTES, "__intent__"} == set()


# Commands.


def written_commands(program: str) -> Iterator[tuple[str, list[str]]]:
    """The page and the words of each command, in blocks and within sentences."""
    for page in [*PAGES, *AT_THE_ROOT]:
        shell = "\n".join(block for name in ("sh", "console", "") for block in blocks(page, name))
        lines = [line.strip().removeprefix("$ ") for line in shell.splitlines()]
        for line in [*lines, *re.findall(r"`([^`\n]+)`", prose(page))]:
            words = re.split(r"\s#|\s{3,}", line)[0].split()
            if len(words) > 1 and Path(words[0]).name == program:
                yield name_of(page), words[1:]


def test_every_command_of_the_pages_exists() -> None:
    group: Any = typer.main.get_command(app)
    known = {
        name: {option for part in one.params for option in (*part.opts, *part.secondary_opts)}
        for name, one in {"": group, **group.commands}.items()
    }
    everywhere = {"-h", "--help", "--version", "--debug"}
    found = list(written_commands("journeygraph"))
    unknown = []

    for page, words in found:
        name = "" if words[0].startswith("-") else words[0]
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        if re.match(r"[a-z-]*$", name) and not options <= known.get(name, set()) | everywhere:
            unknown.append(f"{page}: journeygraph {' '.join(words)}")
        if re.match(r"[a-z-]+$", name) and name not in known:
            unknown.append(f"{page}: journeygraph {' '.join(words)}")

    assert len(found) > 40
    assert unknown == []


def test_every_target_of_make_in_the_pages_exists() -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    found = list(written_commands("make"))
    used = {word for _, words in found for word in words[:1] if re.fullmatch("[a-z]+", word)}
    used |= {word for _, words in found if "|" in words for word in words if word.isalpha()}

    assert len(found) > 10
    assert used <= known


READERS: dict[str, Any] = {
    "": str,
    "console": str,
    "html": str,  # it is served, with its script, to a browser
    "ini": configparser.ConfigParser().read_string,
    "js": str,
    "json": json.loads,
    "nginx": str,  # it is compared with the file of a project
    "python": str,  # it is run
    "sh": str,
    "text": str,
    "toml": tomllib.loads,
    "yaml": YAML(typ="safe").load,
}
"""Language of a block -> a function that raises if it cannot be read."""


def test_every_block_of_the_pages_can_be_read() -> None:
    for page in [*PAGES, *AT_THE_ROOT]:
        for language in set(re.findall(r"^ *```(\w+)", page.read_text(), re.M)):
            assert language in READERS, f"{name_of(page)}: {language}"
            for block in blocks(page, language):
                READERS[language](block)


def test_every_route_of_the_pages_exists() -> None:
    reference = (DOCS / "reference" / "http.md").read_text()
    known = set(re.findall(r"^### `([A-Z]+) (/\S+)`", reference, re.M))
    pages = [page for page in [*PAGES, *AT_THE_ROOT] if name_of(page) != "reference/http.md"]
    unknown = []

    for page in pages:
        for method, path in re.findall(
            r"\b([A-Z]+ )?(?:localhost:\d+)?(/v1/[\w/{}-]+)", page.read_text()
        ):
            fits = [
                a_method
                for a_method, route in known
                if re.fullmatch(re.sub(r"\{\w+\}", r"[^/]+", route), path)
            ]
            is_method = method.strip() in ("GET", "POST", "DELETE", "PUT", "PATCH")
            if not fits or (is_method and method.strip() not in fits):
                unknown.append(f"{name_of(page)}: {method}{path}")

    assert len(known) > 20
    of_the_scripted_model = ("POST /v1/chat/completions", "GET /v1/models")
    assert [one for one in unknown if not one.endswith(of_the_scripted_model)] == []


def test_every_variable_of_the_pages_is_a_setting() -> None:
    known = {setting.variable for setting in known_settings().values()}
    named = {
        (name_of(page), name)
        for page in PAGES
        for name in re.findall(r"\bJOURNEYGRAPH_[A-Z_]+[A-Z]\b", page.read_text())
    }

    assert len(named) > 10
    of_kubernetes = {"JOURNEYGRAPH_PORT", "JOURNEYGRAPH_SERVICE_HOST"}
    assert {one for one in named if one[1] not in known | of_kubernetes} == set()


def test_pages_have_no_pictures_that_need_a_script_from_elsewhere() -> None:
    assert [name_of(page) for page in PAGES if blocks(page, "mermaid")] == []


# The site.


class Resources(HTMLParser):
    """The anchors of a page, its links, and what a browser loads for it."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses and the id of an element."""
        given = dict(attrs)
        self.anchors |= {given.get("id") or "", given.get("name") or ""} - {""}
        if tag == "a":
            self.links.add(given.get("href") or "")
        elif given.get("rel") != "canonical":
            self.loaded |= {given.get(name) or "" for name in ("src", "href", "data", "srcset")}


def built(site: Path) -> dict[Path, Resources]:
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    return {page: Resources(page.read_text()) for page in site.rglob("*.html")}


def dead_links(pages: dict[Path, Resources], page: Path) -> Iterator[str]:
    for link in pages[page].links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (anchor and anchor not in pages[target].anchors):
            yield link


@pytest.mark.slow
def test_the_site_is_built_without_a_network_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    pages = built(tmp_path)
    pages.pop(tmp_path / "404.html")  # its addresses begin at the root of a server

    assert len(pages) == len(PAGES)
    loaded = {one for page in pages.values() for one in page.loaded}
    assert [one for one in loaded if re.match(r"([a-z]+:)?//", one)] == []
    assert {str(page): dead for page in pages if (dead := list(dead_links(pages, page)))} == {}

    listed = re.findall(r"\]\(([^)]+)\)", (tmp_path / "llms.txt").read_text())
    assert [name for name in listed if not (tmp_path / name).exists()] == []
    assert len(listed) == len(PAGES)
    whole = (tmp_path / "llms-full.txt").read_text()
    assert all(page.read_text() in whole for page in PAGES)

    with chromium() as browser:
        visits = Visits(browser)
        page = visits.open(tmp_path.as_uri(), "index.html")
        page.locator(".md-search__input").press_sequentially("robin")
        page.locator(".md-search-result__item h1", has_text="Pipelines: agents").click()
        expect(page).to_have_title(re.compile("^Pipelines"))
        assert visits.close() == []
