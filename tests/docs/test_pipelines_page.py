"""Run the examples of the page on pipelines; it names and draws all there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from journeygraph import Limits, PatternPipeline
from journeygraph.graphs.drawing.pipelines import chart, mermaid
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS
from journeygraph.server.discover.journeys import pipeline_ids
from journeygraph.server.discover.pipelines import find_pipeline

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "pipelines.md"


def example(name: str) -> PatternPipeline:
    found = find_pipeline(name).pipeline
    assert isinstance(found, PatternPipeline)
    return found


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def test_the_page_does_what_it_says() -> None:
    said: list[str] = []
    examples = doctest.DocTestParser().get_doctest(
        "\n".join(blocks("python")), {}, PAGE.name, str(PAGE), 0
    )

    doctest.DocTestRunner().run(examples, out=said.append)

    assert said == []
    assert len(examples.examples) > 40


def test_each_pattern_has_its_example_and_its_picture() -> None:
    page = PAGE.read_text()
    pictures = re.findall(r"\]\(\.\./pictures/(\w+)\.svg\)", page)
    patterns = [example(name).pattern for name in pictures]
    sections = page[page.index("\n### ") : page.index("\n## Cards")].split("\n### ")[1:]

    assert sorted(patterns) == sorted(PATTERNS)
    for pattern, section in zip(patterns, sections, strict=True):
        made = PATTERNS[pattern]
        assert f"`Pipeline.{pattern}({made.by_position[0]}" in section
        assert [name for name in made.by_position if name not in section] == []


@pytest.mark.parametrize("name", pipeline_ids())
def test_a_picture_in_mermaid_has_the_agents_and_lines_of_the_graph(name: str) -> None:
    drawn = chart(example(name))
    lines = [line.strip() for line in mermaid(drawn).splitlines()]

    assert len([line for line in lines if re.search(r":::(agent|step)$", line)]) == len(
        drawn.stations
    )
    assert all(f'["{path}"]' in re.sub(r"[()]", "", "\n".join(lines)) for path in drawn.stations)
    for arrow, is_choice in (("-->", False), ("-.->", True)):
        ways = [way for way in drawn.ways if way.is_choice is is_choice]
        assert len([line for line in lines if f" {arrow} " in line]) == len(ways)


def test_the_page_names_all_there_is() -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE.read_text()))))
    methods = {name for name, value in vars(PatternPipeline).items() if callable(value)}
    public = {name for name in methods if not name.startswith("_")} - {"model_post_init"}
    limits = set(Limits.keys())

    assert len(public) >= 8
    assert (limits | public | {"run_sync", "stream", "to_agent", *PATTERNS}) - named == set()
