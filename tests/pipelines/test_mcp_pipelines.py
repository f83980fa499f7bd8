"""Pipelines and MCP: a pipeline as a tool of a server, a server's tools as agents of a pipeline."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from journeygraph import NEVER, Agent, Journey, Pathway, Pipeline
from journeygraph.nodes.llm.mcp import open_mcp
from tests.support import command
from tests.support.command import ROOT
from tests.support.mcp_desk import by_streams, offered, written

folder = command.folder
logging_as_before = command.logging_as_before

OFFERED = [f"desk.py:{name}" for name in ("report", "half", "none", "strict", "sleepy", "Shout")]
LIBRARY = [sys.executable, "-m", "tests.support.mcp_library"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server of pipelines alone: its folder and place."""
    place = written(tmp_path_factory.mktemp("pipelines"))
    with offered(place, *OFFERED) as (_, url):
        yield place, url


async def called(url: str, tool: str, **arguments: Any) -> Any:
    async with Client(url) as client:
        return await client.call_tool(tool, arguments)


@pytest.mark.slow
async def test_pipeline_as_mcp_tool(folder: Path) -> None:
    async with Client(by_streams(written(folder), "desk.py:report")) as client:
        (tool,) = (await client.list_tools()).tools
        result = await client.call_tool(
            "report", {"message": "the north wing", "inputs": {"tone": "dry"}}
        )

    assert (tool.name, tool.description) == ("report", "Write a report.")
    assert set(tool.input_schema["properties"]) == {"message", "inputs"}
    assert result.structured_content == {
        "seen": "scout saw the north wing",
        "tone": "dry",
        "response": "writer: scout saw the north wing, dry",
        "pipeline": {"status": "complete", "failed": []},
    }
    assert "writer: scout saw the north wing, dry" in str(result.content)
    assert not (folder / "mcp.db").exists()  # no journey, no store


@pytest.mark.slow
async def test_mcp_agents_in_pipeline() -> None:
    def librarian(given: dict[str, Any]) -> str:
        """Tell what was found."""
        return f"{given['mark']}: {', '.join(given['books'])}"

    def tally(given: dict[str, Any]) -> str:
        spoken = {row["agent"]: row["outputs"] for row in given["results"]}
        return f"{spoken['finder']['books']} {spoken['hours']['response']}"

    async with open_mcp(LIBRARY, env={"PYTHONPATH": str(ROOT)}) as library:
        find, hours = library.agent("find_book"), library.agent("opening_hours")
        chain = Pipeline.sequential([find, librarian])
        both = Pipeline.parallel(
            [Agent(find, name="finder"), Agent(hours, name="hours")], aggregator=tally
        )
        failing = Pipeline.parallel([find, library.agent("borrow")])

        told = await chain.run(message="emma")
        joined = await both.run(message="dick")
        partly = await failing.run(message="emma")

    assert told["response"] == "library-4711: b-2"
    assert [row["agent"] for row in told["pipeline"]["results"]] == ["find_book", "librarian"]
    assert joined["response"] == "['b-1'] From ten to six."
    assert partly["pipeline"]["status"] == "partial"
    (failed,) = partly["pipeline"]["failed"]
    assert (failed["agent"], failed["kind"]) == ("borrow", "ToolException")
    assert "lent out until Friday" in failed["error"]
    assert partly["books"] == ["b-2"]


async def test_a_tool_is_an_agent_of_a_journey_over_several_turns(
    talk: Any, memory_url: str
) -> None:
    class Lending(Journey):
        """Lend books."""

        class DeskPath(Pathway):
            __agents__ = ["finder", "hours"]
            __accumulate__ = ["books"]
            __complete_when__ = NEVER

    async with open_mcp(LIBRARY, env={"PYTHONPATH": str(ROOT)}) as library:
        agents = {"finder": library.agent("find_book"), "hours": library.agent("opening_hours")}
        chat = await talk(Lending, agents, memory_url)

        assert await chat.says("emma") == "From ten to six."
        await chat.says("dick")

        assert chat.context["books"] == ["b-2", "b-1"]


async def test_a_pipeline_of_ones_own_is_offered_by_its_class(desk: tuple[Path, str]) -> None:
    result = await called(desk[1], "shout", message="hello")

    assert result.structured_content == {"response": "HELLO"}


@pytest.mark.parametrize("tool", ["half", "none", "strict"])
async def test_who_failed_is_told_and_never_how(desk: tuple[Path, str], tool: str) -> None:
    result = await called(desk[1], tool, message="x")

    said = result.model_dump_json()
    assert "broken" in said
    assert not any(word in said for word in ("tulip-secret", "Traceback", "desk.py"))
    assert result.is_error == (tool != "half")
    if tool == "half":
        assert result.structured_content["seen"] == "scout saw x"
        assert result.structured_content["pipeline"] == {
            "status": "partial",
            "failed": [{"agent": "broken", "kind": "LookupError"}],
        }


async def test_progress_names_the_agents_that_work(desk: tuple[Path, str]) -> None:
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with Client(desk[1]) as client:
        await client.call_tool("report", {"message": "x"}, progress_callback=hear)

    assert told == [
        f"agent_{what} {who}" for who in ("scout", "writer") for what in ("started", "finished")
    ]


async def test_a_run_ends_when_its_client_leaves(desk: tuple[Path, str]) -> None:
    place, url = desk
    async with Client(url) as client:
        asking = asyncio.create_task(client.call_tool("sleepy", {"message": "x"}))
        await _until_there(place / "asleep")
        assert not (place / "woken").exists()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await _until_there(place / "woken")


async def _until_there(file: Path) -> None:
    async with asyncio.timeout(110):
        while not file.exists():  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "message: Field required"),
        ({"message": "x", "inputs": []}, "inputs: Input should be a valid dictionary"),
        ({"message": "x", "inputs": {"self": 1}}, "'self' is reserved"),
        ({"message": "x", "inputs": {"message": "y"}}, "'message' is reserved"),
        ({"message": "x", "inputs": {"context": "tulip"}}, "inputs.context must be an object"),
        ({"message": "x", "inputs": {"big": 2**70}}, "more than 64 bits"),
        ({"message": "a\x07b"}, "control character"),
        ({"message": "x", "tulip": {}}, "unknown argument"),
    ],
    ids=["none", "list", "self", "twice", "context", "number", "bell", "more"],
)
async def test_inputs_that_do_not_fit_are_refused(
    desk: tuple[Path, str], arguments: dict[str, Any], told: str
) -> None:
    result = await called(desk[1], "report", **arguments)

    assert result.is_error
    assert told in result.content[0].text
    assert "tulip" not in result.content[0].text
