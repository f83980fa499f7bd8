"""The reply on LangGraph's streams: `messages`, and chat models in `astream_events`."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.utils import convert_to_messages
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from journeygraph import (
    NEVER,
    Agent,
    Effect,
    Field,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    OutputField,
    Pathway,
    Personality,
    Pipeline,
    ReturnToPrevious,
    Signature,
    Transition,
    Validation,
)
from journeygraph.journeys.examples.healthcare_referral import (
    AGENTS,
    DEMO_MESSAGES,
    SAMPLE_CONTEXT,
    HealthcareReferral,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, UseTool, leads_nowhere, leads_to
from journeygraph.server.discover.journeys import pipeline_ids

Part = tuple[tuple[str, ...], Any, dict[str, Any]]


@dataclass
class Client:
    """A program that runs a graph of one thread, and keeps what it streams."""

    graph: Any
    parts: list[Part] = field(default_factory=list)
    last: Any = None
    config: dict[str, Any] = field(
        default_factory=lambda: {"configurable": {"thread_id": "client"}}
    )

    async def says(self, text: str, *, subgraphs: bool = False, **values: Any) -> str:
        """Say something; return the reply as the state holds it."""
        return await self.gives({"messages": [message(text)], **values}, subgraphs=subgraphs)

    async def gives(self, given: dict[str, Any], *, subgraphs: bool = False) -> str:
        self.parts = []
        modes: dict[str, Any] = {"stream_mode": ["messages", "values"], "subgraphs": subgraphs}
        async for part in self.graph.astream(given, self.config, **modes):
            namespace, mode, data = part if subgraphs else ((), *part)
            if mode == "messages":
                self.parts.append((namespace, *data))
            elif not namespace:
                values = data
        listed = convert_to_messages(values.get("messages", []))
        self.last = listed[-1] if listed else None
        return str(self.last.content) if listed else ""

    @property
    def texts(self) -> list[str]:
        return [part.content for _, part, _ in self.parts]

    @property
    def ids(self) -> set[str]:
        return {part.id for _, part, _ in self.parts}

    @property
    def places(self) -> list[tuple[str, ...]]:
        """The path and node of each part, without the ids of tasks."""
        return [
            (*(name.partition(":")[0] for name in namespace), given["langgraph_node"])
            for namespace, _, given in self.parts
        ]


def message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


class Advice(Signature):
    """Recommend one book to a reader."""

    wish: str = InputField(description="What the reader wants", source="message")

    title: str = OutputField(description="The book, once chosen")
    mood: Literal["glad", "cross"] = OutputField(description="How the reader sounds")
    response: str = OutputField(description="What to say")


class Shop(Journey):
    """Sell books: a model advises, a function sells."""

    class AdvicePath(Pathway):
        __signature__ = Advice
        __agents__ = ["adviser"]
        __accumulate__ = ["title"]
        __complete_when__ = ["title"]
        __next__ = "till"

    class TillPath(Pathway):
        __agents__ = ["till"]
        __runs_on_arrival__ = True
        __complete_when__ = NEVER

    class HoursPath(Pathway):
        """Say when the shop is open."""

        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="asks when it is open"), to_pathway="hours")
    ]


def till(given: dict[str, Any]) -> str:
    return f"{given['context']['title']} is 9 euro."


FUNCTIONS = {"till": till, "porter": lambda given: "Nine to five."}
LONG = "Then take Emma, which is long and gay."


def advice(response: str = LONG, title: str | None = None) -> dict[str, Any]:
    return {"response": response, "title": title, "mood": "glad"}


def shop(model: Any, **agents: Any) -> Client:
    return Client(
        Shop.compile(agents={**FUNCTIONS, **agents}, model=model, checkpointer=InMemorySaver())
    )


async def test_without_subgraphs_the_finished_reply_comes_once_from_the_root() -> None:
    with ScriptedModel(
        leads_nowhere, advice(), leads_to("hours"), leads_nowhere, advice("Yes.", "Emma")
    ) as model:
        client = shop(model)
        replies = []
        for words in ("Hello", "When are you open?", "Emma then"):
            replies.append(await client.says(words))
            ((namespace, part, metadata),) = client.parts
            assert namespace == ()
            assert metadata["langgraph_node"] == "settle"
            assert isinstance(part, AIMessage)
            assert (part.content, part.id) == (client.last.content, client.last.id)

    assert replies == [LONG, "Nine to five.", "Yes.\n\nEmma is 9 euro."]


async def test_with_subgraphs_a_model_agent_streams_token_by_token_at_its_path() -> None:
    with ScriptedModel(leads_nowhere, advice()) as model:
        client = shop(model)

        assert await client.says("Hello", subgraphs=True) == LONG

    assert "".join(client.texts) == LONG
    assert len(client.parts) > 3
    assert all(isinstance(part, AIMessageChunk) for _, part, _ in client.parts)
    assert set(client.places) == {("advice", "adviser")}
    assert client.ids == {client.last.id}


async def test_with_subgraphs_a_function_streams_one_piece() -> None:
    with ScriptedModel(leads_to("hours")) as model:
        client = shop(model)

        assert await client.says("When are you open?", subgraphs=True) == "Nine to five."

    assert client.texts == ["Nine to five."]
    assert client.ids == {client.last.id}


async def test_a_turn_of_two_pathways_is_one_message_in_pieces() -> None:
    with ScriptedModel(leads_nowhere, advice("Yes, Emma it is.", "Emma")) as model:
        client = shop(model)

        reply = await client.says("Emma", subgraphs=True)

    assert reply == "Yes, Emma it is.\n\nEmma is 9 euro." == "".join(client.texts)
    assert client.ids == {client.last.id}
    assert client.places[0] == ("advice", "adviser")
    assert client.places[-1] == ("settle",)


async def test_a_generator_of_text_streams_word_by_word() -> None:
    async def porter(given: dict[str, Any]) -> AsyncIterator[str]:
        for word in ("Nine ", "to ", "five."):
            yield word

    with ScriptedModel(leads_to("hours")) as model:
        client = shop(model, porter=porter)
        await client.says("When?", subgraphs=True)

    assert client.texts == ["Nine ", "to ", "five."]
    assert set(client.places) == {("hours", "porter")}


async def test_what_stands_before_and_after_the_calls_of_tools_is_one_reply() -> None:
    @tool
    def stock(title: str) -> int:
        """Return how many there are."""
        return 3

    class Asking(Journey):
        class DeskPath(Pathway):
            __signature__ = Advice
            __agents__ = ["adviser"]
            __complete_when__ = NEVER

    said = json.dumps({"response": "One moment.", "title": None, "mood": None})
    with ScriptedModel([said, UseTool("stock", title="Emma")], advice("Three.")) as model:
        agents = {"adviser": ModelAgent(signature=Advice, tools=[stock])}
        client = Client(Asking.compile(agents=agents, model=model))

        assert await client.says("Emma?", subgraphs=True) == "One moment.\n\nThree."

    assert "".join(client.texts) == "One moment.\n\nThree."


async def test_an_answer_that_is_asked_for_again_leaves_only_the_reply() -> None:
    with ScriptedModel(leads_nowhere, {"title": 7}, advice("Emma.")) as model:
        client = shop(model)

        assert await client.says("Hello", subgraphs=True) == "Emma."

    assert client.texts == ["Emma."]


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_all_turns_of_an_example_stream_what_the_state_holds(subgraphs: bool) -> None:
    graph = HealthcareReferral.compile(agents=AGENTS, checkpointer=InMemorySaver(), model=False)
    client = Client(graph)
    known: set[str] = set()

    for number, words in enumerate([*DEMO_MESSAGES, "Thanks!", "What is the copay?"]):
        values = {} if number else {"context": SAMPLE_CONTEXT}
        reply = await client.says(words, subgraphs=subgraphs, **values)
        assert "".join(client.texts) == reply
        assert client.ids == {client.last.id}
        assert subgraphs or len(client.parts) == 1
        known |= client.ids

    assert len(known) == len(DEMO_MESSAGES) + 2


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_what_the_runtime_says_itself_is_streamed_as_the_reply_has_it(
    studio_graphs: ModuleType, subgraphs: bool
) -> None:
    graph = studio_graphs.bank_transfer.builder.compile(checkpointer=InMemorySaver())
    client = Client(graph)
    several = 0
    for words in ("I want to send money", "Bob", "zzz", "40 euro", "no", "stop", "thanks"):
        reply = await client.says(words, subgraphs=subgraphs)
        assert "".join(client.texts) == reply
        assert client.ids == {client.last.id}
        several += "\n\n" in reply
    assert several


async def test_a_person_who_takes_over_is_no_reply(studio_graphs: ModuleType) -> None:
    client = Client(studio_graphs.casual_agent.builder.compile(checkpointer=InMemorySaver()))

    await client.says("human", subgraphs=True)
    assert "a person" in "".join(client.texts)
    assert "[" not in "".join(client.texts)

    await client.says("hello?", subgraphs=True)
    assert client.parts == []


# What is no reply.


class Watch(AsyncCallbackHandler):
    """A tracer: the calls of models that it saw end."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.tags: list[Any] = []

    async def on_chat_model_start(self, *args: Any, tags: Any = None, **kwargs: Any) -> None:
        self.tags.append(tags)

    async def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self.calls.append(response.generations[0][0].message.content)


async def events_of(graph: Any, text: str, **config: Any) -> list[dict[str, Any]]:
    given = {"messages": [message(text)]}
    return [event async for event in graph.astream_events(given, config or None, version="v2")]


def chunks(events: list[dict[str, Any]]) -> list[Any]:
    return [e["data"]["chunk"] for e in events if e["event"] == "on_chat_model_stream"]


async def test_events_show_the_reply_alone_and_tracers_every_call() -> None:
    watch = Watch()
    with ScriptedModel(leads_nowhere, advice("Yes, Emma.", "Emma")) as model:
        graph = Shop.compile(agents=FUNCTIONS, model=model)
        events = await events_of(graph, "Emma", callbacks=[watch])

        assert [call.stream for call in model.calls] == [False, True]
    assert "".join(chunk.content for chunk in chunks(events)) == "Yes, Emma.\n\nEmma is 9 euro."
    assert len({chunk.id for chunk in chunks(events)}) == 1
    assert len(chunks(events)) == 3  # two of the model, one of the function
    # Calls of models are there, as events and for tracers, and each says that it is no reply.
    ended = [e["data"]["output"] for e in events if e["event"] == "on_chat_model_end"]
    assert [json.loads(call).keys() for call in watch.calls] == [
        {"verdicts", "commands"},
        {"response", "title", "mood"},
    ]
    assert {*watch.calls} <= {output.content for output in ended}
    assert all("nostream" in tags for tags in watch.tags)
    assert all(output.usage_metadata for output in ended if output.content in watch.calls)


async def test_a_model_that_streams_by_itself_shows_no_judgement() -> None:
    with ScriptedModel(leads_to("hours"), streaming=True) as model:
        client = shop(model)
        await client.says("When?", subgraphs=True)
        assert client.texts == ["Nine to five."]

    with ScriptedModel(leads_to("hours"), streaming=True) as model:
        graph = Shop.compile(agents=FUNCTIONS, model=model)
        events = await events_of(graph, "When?")
    assert [chunk.content for chunk in chunks(events)] == ["Nine to five."]


async def test_what_a_function_asks_a_model_for_itself_is_no_reply() -> None:
    own = ScriptedModel("a secret note", "a secret note", "a secret note")

    async def porter(given: dict[str, Any]) -> str:
        note = ""
        async for chunk in own.astream("Note?"):
            note += str(chunk.content)
        return f"{len(note)} letters."

    for subgraphs in (True, False):
        with ScriptedModel(leads_to("hours")) as model:
            client = shop(model, porter=porter)
            await client.says("When?", subgraphs=subgraphs)
        assert client.texts == ["13 letters."]
    with ScriptedModel(leads_to("hours")) as model:
        graph = Shop.compile(agents={**FUNCTIONS, "porter": porter}, model=model)
        events = await events_of(graph, "When?")
    assert [chunk.content for chunk in chunks(events)] == ["13 letters."]
    assert len(own.calls) == 3


def sync_porter(own: Any) -> Callable[[dict[str, Any]], str]:
    def porter(given: dict[str, Any]) -> str:
        return f"{len(own.invoke('Note?').content)} letters."

    return porter


async def test_an_agent_that_is_a_graph_streams_once() -> None:
    own = ScriptedModel("Nine to five.", "Nine to five.", "Nine to five.")

    async def answer(state: Any) -> Any:
        return {"messages": [await own.ainvoke(state["messages"])]}

    inner: Any = StateGraph(MessagesState)
    inner.add_node("answer", answer)
    inner.add_edge(START, "answer")
    inner.add_edge("answer", END)
    for porter in (inner.compile(), own, sync_porter(own)):
        with ScriptedModel(leads_to("hours")) as model:
            client = shop(model, porter=porter)
            reply = await client.says("When?", subgraphs=True)
        assert client.texts == [reply]
        assert client.ids == {client.last.id}


async def test_a_function_can_read_the_stream_of_a_graph_of_its_own() -> None:
    own = ScriptedModel("Nine to five.", "Nine to five.")

    async def answer(state: Any) -> Any:
        return {"messages": [await own.ainvoke(state["messages"])]}

    inner: Any = StateGraph(MessagesState)
    inner.add_node("answer", answer)
    inner.add_edge(START, "answer")
    inner.add_edge("answer", END)
    graph = inner.compile()
    read: list[list[str]] = []

    async def porter(given: dict[str, Any]) -> str:
        asked = {"messages": [message(given["message"])]}
        parts = [part async for part, _ in graph.astream(asked, stream_mode="messages")]
        events = [event async for event in graph.astream_events(asked, version="v2")]
        read.append([part.content for part in parts])
        read.append([chunk.content for chunk in chunks(events)])
        return "Closed."

    with ScriptedModel(leads_to("hours")) as model:
        client = shop(model, porter=porter)
        await client.says("When?", subgraphs=True)

    assert client.texts == ["Closed."]
    assert ["".join(pieces) for pieces in read] == ["Nine to five."] * 2
    assert all(len(pieces) > 1 for pieces in read)


class Guarded(Journey):
    """Checked before a word is sent."""

    class DeskPath(Pathway):
        __signature__ = Advice
        __agents__ = ["adviser"]
        __complete_when__ = NEVER

    __guidelines__ = [
        Guideline(id="sums", action="Promise no sum.", critical=True, forbids=["guaranteed"])
    ]
    __validation__ = Validation()
    __safe_reply__ = "Let me ask a colleague."


VALID = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.97}


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_before_the_check_not_a_word_is_streamed(subgraphs: bool) -> None:
    refused = advice("It is guaranteed.")
    with ScriptedModel(refused, {"response": "Also guaranteed."}, advice("Emma."), VALID) as model:
        client = Client(Guarded.compile(model=model, checkpointer=InMemorySaver()))

        await client.says("Sure?", subgraphs=subgraphs)
        assert client.texts == ["Let me ask a colleague."]
        assert client.places == [("check_reply",)]

        await client.says("Well?", subgraphs=subgraphs)
        assert client.texts == ["Emma."]
        assert client.ids == {client.last.id}


async def test_checks_are_seen_in_no_event_but_by_tracers() -> None:
    watch = Watch()
    with ScriptedModel(advice("Emma."), VALID) as model:
        events = await events_of(Guarded.compile(model=model), "Well?", callbacks=[watch])

    assert [chunk.content for chunk in chunks(events)] == ["Emma."]
    assert len(watch.calls) == 2


async def test_a_text_that_is_worded_anew_is_streamed_in_its_last_words() -> None:
    class Ada(Journey):
        __personality__ = Personality(name="Ada", tone="like a pirate", reword=True)

        class DeskPath(Pathway):
            __agents__ = ["clerk"]

    with ScriptedModel({"texts": ["Ahoy, all done here!"]}) as model:
        graph = Ada.compile(
            agents={"clerk": lambda given: "Done."}, model=model, checkpointer=InMemorySaver()
        )
        client = Client(graph)
        await client.says("Go", subgraphs=True)
        assert client.texts == ["Done."]
        reply = await client.says("And now?", subgraphs=True)

    assert client.texts == [reply]


# The graph in other graphs.


def parent(node: Any) -> Any:
    graph: Any = StateGraph(MessagesState)
    graph.add_node("shop", node)
    graph.add_edge(START, "shop")
    graph.add_edge("shop", END)
    return graph.compile(checkpointer=InMemorySaver())


async def test_as_a_node_its_tokens_come_under_its_path() -> None:
    with ScriptedModel(leads_nowhere, advice(), leads_nowhere, advice("Yes.")) as model:
        journey = Shop.compile(agents=FUNCTIONS, model=model, checkpointer=True)
        client = Client(parent(journey))

        assert await client.says("Hello", subgraphs=True) == LONG
        assert "".join(client.texts) == LONG
        assert set(client.places) == {("shop", "advice", "adviser")}
        assert client.ids == {client.last.id}

        assert await client.says("And?") == "Yes."
        assert client.texts == ["Yes."]
        assert client.places == [("shop",)]
        assert client.ids == {client.last.id}


async def test_a_session_in_a_node_streams_nothing_but_what_the_node_returns() -> None:
    with ScriptedModel(leads_nowhere, advice()) as model:
        async with Shop("s", JourneyConfig(persistence="memory://"), model=model) as journey:
            for name, agent in FUNCTIONS.items():
                journey.register_agent(name, agent)
            await journey.start()

            async def ask(state: Any) -> Any:
                reply = await journey.process_message(state["messages"][-1].content)
                return {"messages": [AIMessage(reply.message, id="own")]}

            client = Client(parent(ask))
            await client.says("Hello", subgraphs=True)

    assert client.texts == [LONG]
    assert client.ids == {"own"}


async def test_runs_at_once_stream_apart() -> None:
    with ScriptedModel(*[leads_to("hours")] * 2) as model:
        clients = [
            shop(model, porter=lambda given, name=name: f"Shop {name}.") for name in ("A", "B")
        ]
        await asyncio.gather(*(client.says("When?", subgraphs=True) for client in clients))

    assert [client.texts for client in clients] == [["Shop A."], ["Shop B."]]


# Pipelines by themselves.

ADVISER = Agent(ModelAgent(signature=Advice), name="adviser")


async def test_a_pipeline_streams_its_model_agent() -> None:
    with ScriptedModel(advice(), advice()) as model:
        scout = Agent(lambda given: {"found": 3}, name="scout")
        pipeline = Pipeline.sequential([scout, ADVISER]).with_model(model)
        client = Client(pipeline.compile(checkpointer=InMemorySaver()))

        assert await client.says("Hello") == LONG
        assert client.texts == [LONG]
        assert client.ids == {client.last.id}
        first = client.last.id

        assert await client.says("Again", subgraphs=True) == LONG
        assert "".join(client.texts) == LONG
        assert len(client.parts) > 3
        assert set(client.places) == {("adviser",)}
        assert client.ids == {client.last.id} != {first}


async def test_a_pipeline_within_a_pipeline_streams_at_its_path() -> None:
    with ScriptedModel(advice(), advice(), advice()) as model:
        inner = Pipeline.sequential([ADVISER]).with_name("team")
        pipeline = Pipeline.sequential([Agent(inner, name="team")]).with_model(model)
        client = Client(pipeline.compile())

        assert await client.says("Hello", subgraphs=True) == LONG == "".join(client.texts)
        assert set(client.places) == {("team", "adviser")}
        assert client.ids == {client.last.id}

        assert await client.says("Hello") == LONG
        assert client.texts == [LONG]
        assert client.places == [("__conclude",)]

        events = await events_of(pipeline.compile(), "Hello")
        assert "".join(chunk.content for chunk in chunks(events)) == LONG


async def test_a_pipeline_in_a_pathway_streams_who_has_the_last_word() -> None:
    class Desk(Journey):
        class DeskPath(Pathway):
            __pipeline__ = Pipeline.sequential(
                [
                    Agent(ModelAgent(signature=Advice), name="first"),
                    Agent(Pipeline.sequential([ADVISER]).with_name("team"), name="team"),
                ]
            )
            __complete_when__ = NEVER

    with ScriptedModel(advice("Unheard."), advice()) as model:
        client = Client(Desk.compile(model=model))
        assert await client.says("Hello", subgraphs=True) == LONG == "".join(client.texts)

    assert set(client.places) == {("desk", "team", "adviser")}


async def test_a_pipeline_that_is_given_inputs_alone_streams_its_reply() -> None:
    async def clerk(given: dict[str, Any]) -> AsyncIterator[str]:
        yield "Three "
        yield f"of {given['title']}."

    pipeline = Pipeline.sequential([Agent(clerk, name="clerk")])
    client = Client(pipeline.compile())
    given = {"inputs": {"title": "Emma"}}

    await client.gives(given)
    assert client.texts == ["Three of Emma."]
    await client.gives(given, subgraphs=True)
    assert client.texts == ["Three ", "of Emma."]
    assert len(client.ids) == 1


async def test_what_a_pipeline_asks_to_choose_is_no_reply() -> None:
    chosen = {"agents": ["adviser"], "reason": "it is about books"}
    with ScriptedModel(*[chosen, advice()] * 3) as model:
        other = Agent(lambda given: "No.", name="porter", description="Says when it is open")
        adviser = Agent(ModelAgent(signature=Advice), name="adviser", description="Advises")
        pipeline = Pipeline.router([other, adviser], "llm").with_model(model)
        for subgraphs in (True, False):
            client = Client(pipeline.compile())
            reply = await client.says("A book?", subgraphs=subgraphs)
            assert "".join(client.texts) == reply == LONG
        events = await events_of(pipeline.compile(), "A book?")
        assert "".join(chunk.content for chunk in chunks(events)) == LONG


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_every_example_pipeline_streams_its_reply_once(
    studio_graphs: ModuleType, subgraphs: bool
) -> None:
    for name in pipeline_ids():
        module = importlib.import_module(f"journeygraph.journeys.examples.pipelines.{name}")
        client = Client(getattr(studio_graphs, name))

        for sample in module.SAMPLES[:2]:
            reply = await client.says(sample, subgraphs=subgraphs)
            assert isinstance(client.last, AIMessage), name
            assert client.texts == [reply]
            assert client.ids == {client.last.id}


# Chat clients that speak AG-UI.

by_ag_ui = pytest.mark.filterwarnings("ignore:`get_config_jsonschema` is deprecated")


class Browser:
    """A chat client on AG-UI, which shows what it is sent and sends all of it back."""

    def __init__(self, graph: Any) -> None:
        from ag_ui_langgraph import LangGraphAgent  # noqa: PLC0415 - three seconds to import

        self._agent = LangGraphAgent(name="shop", graph=graph)
        self._runs = 0
        self.events: list[Any] = []
        self.shown: list[Any] = []

    async def says(self, text: str, **state: Any) -> str:
        """Say something; return what is shown as the answer while the run goes on."""
        from ag_ui.core import RunAgentInput, UserMessage  # noqa: PLC0415

        self._runs += 1
        said = UserMessage(id=f"own-{self._runs}", role="user", content=text)
        given = RunAgentInput(
            thread_id="browser",
            run_id=str(self._runs),
            messages=[*self.shown, said],
            state=state,
            tools=[],
            context=[],
            forwarded_props={},
        )
        self.events = [event async for event in self._agent.run(given)]
        assert self.of("RUN_ERROR") == []
        self.shown = self.of("MESSAGES_SNAPSHOT")[-1].messages
        return "".join(event.delta for event in self.of("TEXT_MESSAGE_CONTENT"))

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]


@by_ag_ui
async def test_seven_turns_over_ag_ui_show_the_replies_alone() -> None:
    async def porter(given: dict[str, Any]) -> AsyncIterator[str]:
        for word in ("Nine ", "to ", "five."):
            yield word

    said = ["Hello", "When?", "And then?", "Closed on Sunday?", "Hm", "Emma", "Thanks"]
    answers: list[Any] = [
        *[leads_nowhere, advice("Good day.")],
        leads_to("hours"),
        *[leads_nowhere, advice()],
        leads_to("hours"),
        *[leads_nowhere, {"title": 7}, advice("Take your time.")],
        *[leads_nowhere, advice("Yes, Emma it is.", "Emma")],
        leads_nowhere,
    ]
    with ScriptedModel(*answers) as model:
        agents = {**FUNCTIONS, "porter": porter}
        graph = Shop.compile(agents=agents, model=model, checkpointer=InMemorySaver())
        browser = Browser(graph)
        for number, words in enumerate(said, 1):
            answer = await browser.says(words)
            assert [one.role for one in browser.shown] == ["user", "assistant"] * number
            assert browser.shown[-1].content == answer
            started = {event.message_id for event in browser.of("TEXT_MESSAGE_START")}
            assert started == {browser.shown[-1].id}

    assert [one.content for one in browser.shown if one.role == "user"] == said
    assert [one.content for one in browser.shown if one.role == "assistant"] == [
        "Good day.",
        "Nine to five.",
        LONG,
        "Nine to five.",
        "Take your time.",
        "Yes, Emma it is.\n\nEmma is 9 euro.",
        "Emma is 9 euro.",
    ]


# what the runtime says beside an agent whose words are streamed


class Words(Signature):
    """Say something."""

    response: str = OutputField(description="What to say")


class Stall(Journey):
    """Sell lamps."""

    class SalePath(Pathway):
        """Sell a lamp."""

        __title__ = "the sale"
        __signature__ = Words
        __agents__ = ["seller"]
        __fields__ = [Field("colour", "enum", "Which colour?", choices=["red", "blue"])]
        __effects__ = [Effect("sell", done="Sold!")]

    class HoursPath(Pathway):
        """Say when the stall is open."""

        __signature__ = Words
        __agents__ = ["guide"]
        __return_behavior__ = ReturnToPrevious()

    class TourPath(Pathway):
        """Show the stall."""

        __signature__ = Words
        __agents__ = ["guide"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [
        Transition(IntentTrigger(["your hours"]), to_pathway="hours"),
        Transition(IntentTrigger(["show me"]), to_pathway="tour"),
    ]


class CheckedStall(Stall):
    """Sell lamps, and check replies after they are sent."""

    __validation__ = Validation(mode="after_send")


class NestedStall(Stall):
    """Sell lamps by a pipeline in a pipeline."""

    class SalePath(Stall.SalePath):
        __agents__ = []
        __pipeline__ = Pipeline.sequential([Pipeline.sequential(["seller"]).to_agent("team")])


def sell() -> str:
    """Sell it."""
    return "sold"


def lamp_words(call: Any) -> Any:
    if call.schema_name != "understanding":
        return {"response": "Ask for number 4111 1"}
    wanted = call.schema["properties"]
    return {name: None if name in ("reply", "asks") else [] for name in wanted}


OF_A_SALE = ("hello", "what are your hours", "show me", "yes", "red")


@pytest.mark.parametrize("kind", [Stall, CheckedStall, NestedStall])
async def test_what_the_runtime_says_beside_an_agent_is_streamed_too(kind, memory_url):
    model = ScriptedModel(understanding=[], agent=[], always=lamp_words)
    config = JourneyConfig(persistence=memory_url)
    heard, replies = [], []
    async with kind("s-1", config, model=model, tools={"sell": sell}) as journey:
        await journey.start()
        for text in OF_A_SALE:
            events = [event async for event in journey.stream_message(text)]
            heard.append("".join(e.data["text"] for e in events if e.type == "token"))
            replies.append(events[-1].data["response"].message)

    said = "Ask for number 4111 1"
    assert replies == [
        "Which colour? (red, blue)",
        f"{said}\n\nBack to the sale.\n\nWhich colour? (red, blue)",
        f"{said}\n\nShall we go on with the sale?",
        "Which colour? (red, blue)",
        f"Sold!\n\n{said}",
    ]
    assert heard == replies


@pytest.mark.parametrize("kind", [Stall, CheckedStall, NestedStall])
async def test_nor_does_a_graph_leave_it_out_of_its_stream(kind):
    model = ScriptedModel(understanding=[], agent=[], always=lamp_words)
    graph = kind.compile(model=model, tools={"sell": sell}, checkpointer=InMemorySaver())
    client = Client(graph)
    for text in OF_A_SALE:
        reply = await client.says(text, subgraphs=True)
        assert "".join(client.texts) == reply
