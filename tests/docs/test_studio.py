"""LangGraph Studio: its own server runs the examples, offline, and is talked to as Studio does."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
from langgraph_sdk import get_client
from starlette.applications import Starlette

from journeygraph import Field, IntentTrigger, Journey, Pathway, ReturnToPrevious, Transition
from journeygraph.graphs.steps import EVENT
from journeygraph.journeys.examples.healthcare_referral import (
    DEMO_MESSAGES,
    SAMPLE_CONTEXT,
    HealthcareReferral,
)
from journeygraph.journeys.examples.parcel_refund import AGENTS, ParcelRefund
from journeygraph.server.app import create_app
from journeygraph.server.discover.journeys import example_ids, pipeline_ids
from journeygraph.server.scripted import ScriptedServer
from journeygraph.server.settings import Settings
from tests.support.studio import HOST, KIOSK, ROOT, serving

served = pytest.mark.skipif(
    sys.version_info >= (3, 15), reason="the server of LangGraph has no wheels for this Python"
)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a running server."""
    folder = tmp_path_factory.mktemp("studio")
    with serving(folder, "kiosk", KIOSK) as url:
        yield url
    check_left(folder)


def check_left(folder: Path) -> None:
    """See that a server left nothing in the checkout, and had its event loop never blocked."""
    assert (folder / ".langgraph_api").exists()
    assert not (ROOT / ".langgraph_api").exists()
    log = (folder / "log").read_text()
    assert "blocking call" not in log.lower()
    assert "BlockingError" not in log


@dataclass
class Thread:
    """A thread of Studio, and what its last run streamed."""

    client: Any
    graph: str
    id: str
    streamed: list[Any] = field(default_factory=list)

    async def says(self, message: Any, **values: Any) -> str:
        """Say something as Studio's chat does, and return the reply."""
        said = message if isinstance(message, dict) else {"type": "human", "content": message}
        await self.run({"messages": [said], **values})
        reply: str = (await self.messages())[-1]["content"]
        return reply

    async def run(self, given: Any, *modes: str, subgraphs: bool = True, **options: Any) -> None:
        options["stream_mode"] = [*(modes or ("custom", "updates"))]
        options["stream_subgraphs"] = subgraphs
        parts = self.client.runs.stream(self.id, self.graph, input=given, **options)
        self.streamed = [part async for part in parts]

    async def state(self) -> Any:
        return await self.client.threads.get_state(self.id)

    async def messages(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = (await self.state())["values"]["messages"]
        return listed

    async def stands(self) -> tuple[str, list[str]]:
        """The position, and the paused pathways."""
        position = (await self.state())["values"]["position"]
        return position["pathway"], [frame["pathway"] for frame in position["stack"]]

    async def context(self) -> dict[str, Any]:
        values: dict[str, Any] = (await self.state())["values"]["context"]
        return values

    async def after_turn(self, number: int) -> Any:
        """The state as it was when a turn was done."""
        for state in await self.client.threads.get_history(self.id, limit=100):
            turn = state["values"].get("turn") or {}
            if turn.get("number") == number and turn["done"] and not state["next"]:
                return state
        raise AssertionError(f"turn {number} is not in the history")

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Our events of a kind, as the last run streamed them."""
        heard = [part.data[EVENT] for part in self.streamed if part.event.startswith("custom")]
        return [event for event in heard if event["type"] == kind]


Open = Callable[..., Awaitable[Thread]]


@pytest.fixture
async def thread(studio: str) -> AsyncIterator[Open]:
    """Open threads: `await thread("parcel_refund")`."""
    async with get_client(url=studio) as client:

        async def begin(graph: str = "healthcare_referral") -> Thread:
            return Thread(client, graph, (await client.threads.create())["thread_id"])

        yield begin


def test_every_example_is_named_for_studio() -> None:
    settings = json.loads((ROOT / "langgraph.json").read_text())

    assert list(settings["graphs"]) == [*example_ids(), *pipeline_ids()]
    for name, served in settings["graphs"].items():
        module, _, attribute = served["path"].partition(":")
        assert getattr(importlib.import_module(module), attribute).name == name
        folder = (
            "journeygraph.journeys.examples.pipelines"
            if name in pipeline_ids()
            else "journeygraph.journeys.examples"
        )
        example = importlib.import_module(f"{folder}.{name}")
        specs: list[Any] = [getattr(one, "spec", None) for one in vars(example).values()]
        purposes = [spec.purpose for spec in specs if getattr(spec, "id", "") == name]
        documented = (example.__doc__ or "").splitlines()[0]
        expected = "".join(purposes[:1]) or f"{documented.rstrip('.').split(';')[0]}."
        assert served["description"] in (expected, documented), name
    assert not (ROOT / ".env").exists() or settings["env"] == ".env"


def test_the_nodes_and_the_state_of_a_graph_describe_themselves() -> None:
    class Desk(Journey):
        """Answer "anything" (but slowly)."""

        class AskPath(Pathway):
            """Take the question; [then] {answer} it."""

            __fields__ = [Field("question", "text", "Which question?")]
            __next__ = "call"

        class CallPath(Pathway):
            __fields__ = [Field("number", "text", "Which number?")]

        class HelpPath(Pathway):
            __agents__ = ["porter"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(IntentTrigger(patterns=["help"]), to_pathway="help")]

    graph = Desk.compile(agents={"porter": lambda given: "Yes."}, model=False)
    drawn = graph.get_graph()

    about = {name: (node.metadata or {}).get("about") for name, node in drawn.nodes.items()}
    assert about["ask"] == "Take the question, then answer it."
    assert about["call"] == "Collects number."
    assert about["help"] == "A detour. Agents: porter."
    assert about["understand"]
    assert about["settle"]
    boxes = [line for line in drawn.draw_mermaid().splitlines() if "about = " in line]
    assert len(boxes) == 5
    assert all(re.fullmatch(r"\t\w+\([^()\[\]{}\";]*\)", line) for line in boxes)
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert schema["description"]
        assert [name for name, of in schema["properties"].items() if "description" not in of] == []


async def test_a_message_without_content_says_nothing() -> None:
    graph = ParcelRefund.compile(agents=AGENTS)

    state = await graph.ainvoke({"messages": [{"type": "human", "content": None}]})

    assert [message.content for message in state["messages"]] == [
        "",
        "Sorry to hear that. What is the order number?",
    ]


async def test_an_example_pipeline_answers_messages(studio_graphs: ModuleType) -> None:
    state = await studio_graphs.support_triage.ainvoke(
        {"messages": [{"type": "human", "content": "Where is my parcel B-2001?"}]}
    )

    assert "sorting centre Zwolle" in state["messages"][-1].content


@served
@pytest.mark.slow
async def test_a_referral_is_booked_in_six_turns(thread: Open) -> None:
    patient = await thread()
    stood = []
    for number, message in enumerate(DEMO_MESSAGES):
        reply = await patient.says(message, **({} if number else {"context": SAMPLE_CONTEXT}))
        stood.append(await patient.stands())

    assert stood == [
        ("booking", []),
        ("faq", ["booking"]),
        ("booking", []),
        ("booking", []),
        ("booking", []),
        ("confirmation", []),
    ]
    context = await patient.context()
    assert [row["id"] for row in context["rejected_doctors"]] == ["dr-smith"]
    assert context["confirmation_number"] in reply
    assert (await patient.state())["values"]["position"]["status"] == "complete"


@served
@pytest.mark.slow
async def test_an_empty_thread_starts_at_the_entry_however_a_message_is_written(
    thread: Open,
) -> None:
    blocks = [{"type": "text", "text": "It is "}, {"text": "P-7"}, {"type": "image_url"}]
    ways = [
        {"type": "human", "content": "It is P-7"},
        {"role": "user", "content": "It is P-7"},
        {"role": "user", "content": "It is P-7", "id": "m-1"},
        {"type": "human", "content": blocks},
    ]
    customers = [await thread("parcel_refund") for _ in ways]

    replies = await asyncio.gather(*(c.says(way) for c, way in zip(customers, ways, strict=True)))

    assert set(replies) == {"Found P-7. Refund it to your card?"}
    for customer in customers:
        assert [event["pathway"] for event in customer.events("pathway")] == ["find"]


@served
@pytest.mark.slow
async def test_messages_are_as_chat_clients_read_them(thread: Open) -> None:
    customer = await thread("parcel_refund")
    await customer.says("It is P-7")
    schemas = await customer.client.assistants.get_schemas(await assistant(customer))

    heard = await customer.messages()
    assert [(m["type"], m["content"], bool(m["id"])) for m in heard] == [
        ("human", "It is P-7", True),
        ("ai", "Found P-7. Refund it to your card?", True),
    ]
    assert all("role" not in m for m in heard)
    for name in ("input_schema", "output_schema", "state_schema"):
        assert schemas[name]["properties"]["messages"]["langgraph_type"] == "messages"
    assert set(schemas["input_schema"]["properties"]) == {"messages", "context"}


async def assistant(of: Thread) -> str:
    (found,) = await of.client.assistants.search(graph_id=of.graph)
    return str(found["assistant_id"])


@served
@pytest.mark.slow
async def test_a_program_reads_a_reply_as_the_page_shows(studio: str) -> None:
    page = (ROOT / "docs" / "how-to" / "langgraph.md").read_text()
    (block,) = re.findall(r"^```python\n(async def answered.*?)^```", page, re.M | re.S)
    names: dict[str, Any] = {}
    exec(block, names)

    async with get_client(url=studio) as client:
        reply = await names["answered"](client, "It is P-7")

    assert reply == "Found P-7. Refund it to your card?"


@served
@pytest.mark.slow
async def test_the_graph_of_studio_shows_every_agent(thread: Open) -> None:
    patient = await thread()

    served = await assistant(patient)
    closed = await patient.client.assistants.get_graph(served)
    about = {node["id"]: (node.get("metadata") or {}).get("about") for node in closed["nodes"]}
    assert about["booking"] == "Suggest doctors until one suits, and book a time."
    settings = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    found = {one["graph_id"]: one for one in await patient.client.assistants.search(limit=100)}
    assert [name for name in settings if not found[name]["description"]] == []
    schemas = await patient.client.assistants.get_schemas(served)
    properties = schemas["state_schema"]["properties"]
    assert properties["position"]["description"].startswith("Place of the conversation")
    assert schemas["config_schema"] == {}

    drawn = await patient.client.assistants.get_graph(served, xray=True)

    shown = {str(node["id"]) for node in drawn["nodes"]}
    assert {"understand", "settle", "faq:rag_faq_agent", "intake:eligibility_checker"} <= shown
    assert HealthcareReferral.spec.agents.keys() <= {name.rpartition(":")[2] for name in shown}


@served
@pytest.mark.slow
async def test_the_examples_are_served_over_http_too(studio: str) -> None:
    """In an application of its own: LangGraph's routes keep their errors, and their /metrics."""
    async with httpx2.AsyncClient(base_url=studio, timeout=110) as client:
        ready = await client.get("/journeygraph/readyz")
        body = {"session_id": "ann", "journey_id": "table_booking"}
        begun = await client.post("/journeygraph/v1/sessions", json=body)
        said = {"message": "a table for four"}
        path, headers = "/journeygraph/v1/sessions/ann/messages", {"Accept": "text/event-stream"}
        told = await client.post(path, json=said, headers=headers)
        ours = await client.get("/journeygraph/metrics")
        theirs = [await client.get(path) for path in ("/metrics", "/threads/x", "/v1/sessions")]

    assert (ready.status_code, begun.status_code) == (200, 201)
    assert "event: done" in told.text
    assert ours.json()["code"] == "metrics_off"
    assert [answer.status_code for answer in theirs] == [200, 422, 404]
    assert set(theirs[1].json()) == {"detail"}
    assert "x-content-type-options" not in theirs[0].headers


def test_the_application_of_langgraph_json_is_one_and_hides_no_route_of_the_server() -> None:
    module, _, name = json.loads((ROOT / "langgraph.json").read_text())["http"]["app"].partition(
        ":"
    )
    app = getattr(importlib.import_module(module), name)
    package = importlib.util.find_spec("langgraph_api")  # not imported: it reads the environment
    assert package
    assert package.origin
    pages = (Path(package.origin).parent / "api").glob("*.py")
    theirs = set(re.findall(r'Route\(\s*"(/\w+)', "".join(page.read_text() for page in pages)))

    assert isinstance(app, Starlette)
    assert [getattr(route, "path", "") for route in app.routes] == ["/journeygraph"]
    assert {"/threads", "/assistants", "/runs", "/ok", "/metrics"} <= theirs
    assert "/journeygraph" not in theirs


def test_a_store_in_a_file_does_not_depend_on_the_folder_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for given, place in (
        ("sqlite:///some/file.db", f"sqlite:///{tmp_path}/some/file.db"),
        (f"sqlite:///{tmp_path}/file.db", f"sqlite:///{tmp_path}/file.db"),
        ("memory://here", "memory://here"),
    ):
        app = create_app(Settings(), ["table_booking"], given)
        assert app.state.app_state.config.persistence == place


@served
@pytest.mark.slow
async def test_a_run_streams_events_and_tokens(thread: Open) -> None:
    visitor = await thread("kiosk")

    reply = await visitor.says("good day")
    assert [event["text"] for event in visitor.events("token")] == ["You ", "said: ", "good day"]
    assert reply == "You said: good day"

    await visitor.says("print it")
    assert visitor.events("transition") == [
        {"type": "transition", "from": "desk", "to": "printer", "intent": "print"}
    ]
    assert [event["pathway"] for event in visitor.events("pathway")] == ["printer"]


@served
@pytest.mark.slow
@pytest.mark.parametrize("subgraphs", [True, False], ids=["subgraphs", "root alone"])
async def test_messages_are_streamed_to_chat_clients(thread: Open, subgraphs: bool) -> None:
    visitor = await thread("kiosk")
    ids = set()
    for words, pieces in (("good day", ["You ", "said: ", "good day"]), ("print it", None)):
        given = {"messages": [{"type": "human", "content": words}]}
        await visitor.run(given, "messages-tuple", subgraphs=subgraphs)
        reply = (await visitor.messages())[-1]

        shown = [part for part in visitor.streamed if part.event.startswith("messages")]
        texts = [part.data[0]["content"] for part in shown]
        assert texts == (pieces if pieces and subgraphs else [reply["content"]])
        assert {part.data[0]["id"] for part in shown} == {reply["id"]}
        assert {part.data[0]["type"] for part in shown} <= {"ai", "AIMessageChunk"}
        paths = {part.event.partition(":")[0] for part in shown}
        assert paths == ({"messages|desk"} if pieces and subgraphs else {"messages"})
        ids.add(reply["id"])
    assert len(ids) == 2


@served
@pytest.mark.slow
async def test_forked_at_turn_two_with_another_context_it_goes_on_from_there(
    thread: Open,
) -> None:
    other = {"specialty": "dermatology"}

    async def forked(*, whole: bool) -> None:
        patient = await thread()
        for number, message in enumerate(DEMO_MESSAGES[:3]):
            await patient.says(message, **({} if number else {"context": SAMPLE_CONTEXT}))
        assert "1. Dr. Alan Smith" in (await patient.messages())[-1]["content"]

        old = await patient.after_turn(2)
        edited = {**old["values"], "context": {**old["values"]["context"], **other}}
        await patient.client.threads.update_state(
            patient.id, edited if whole else {"context": other}, checkpoint=old["checkpoint"]
        )
        assert await patient.stands() == ("faq", ["booking"])
        assert len(await patient.messages()) == 4

        assert "For dermatology I suggest" in await patient.says(DEMO_MESSAGES[2])
        assert await patient.stands() == ("booking", [])
        assert (await patient.state())["values"]["turn"]["number"] == 3
        assert len(await patient.messages()) == 6

    # By one value, as a program does it, and with the whole state, as Studio's editor does.
    await asyncio.gather(forked(whole=False), forked(whole=True))


@served
@pytest.mark.slow
async def test_two_threads_at_once_do_not_mix(thread: Open) -> None:
    ada, bob = await asyncio.gather(thread("kiosk"), thread("kiosk"))

    for words in ("one", "two"):
        replies = await asyncio.gather(ada.says(f"Ada {words}"), bob.says(f"Bob {words}"))
        assert list(replies) == [f"You said: Ada {words}", f"You said: Bob {words}"]

    assert not [m for m in await ada.messages() if "Bob" in m["content"]]
    assert len(await bob.messages()) == 4


@served
@pytest.mark.slow
async def test_an_agent_that_raises_fails_the_run_which_can_run_again(thread: Open) -> None:
    visitor = await thread("kiosk")
    await visitor.says("print the jam")

    # The run says what failed, and Studio shows the thread at the pathway that did.
    assert visitor.streamed[-1].event == "error"
    assert "Pathway 'printer', agent 'printer': OSError" in visitor.streamed[-1].data["message"]
    assert (await visitor.state())["next"] == ["printer"]

    await visitor.run(None)
    assert (await visitor.messages())[-1]["content"] == "Printed: print the jam"
    assert await visitor.says("thanks") == "You said: thanks"
    assert await visitor.stands() == ("desk", [])


@served
@pytest.mark.slow
async def test_with_a_key_in_the_env_file_it_runs_on_the_model(tmp_path: Path) -> None:
    with ScriptedServer(*[{"response": "Come in, Ada, and sit down."}] * 2) as model:
        key = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.url}
        with serving(tmp_path, "house", HOST, **key) as url:
            async with get_client(url=url) as client:
                guest = Thread(client, "house", (await client.threads.create())["thread_id"])

                assert await guest.says("It is me, Ada") == "Come in, Ada, and sit down."

                given = {"messages": [{"type": "human", "content": "Thanks"}]}
                again = Thread(client, "house", (await client.threads.create())["thread_id"])
                await again.run(given, "messages-tuple")
                shown = [part for part in again.streamed if part.event.startswith("messages")]
                reply = (await again.messages())[-1]

        asked = model.calls[0]
        assert "Welcome whoever comes in." in asked.messages[0]["content"]
    assert len(guest.events("token")) > 1
    assert "".join(event["text"] for event in guest.events("token")).startswith("Come in, Ada")
    assert len(shown) > 1
    assert "".join(part.data[0]["content"] for part in shown) == "Come in, Ada, and sit down."
    assert {part.data[0]["id"] for part in shown} == {reply["id"]}
    assert {part.event.partition(":")[0] for part in shown} == {"messages|door"}
    check_left(tmp_path)
