"""The model of each task: by the names in the settings, in journeys, and in modules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeygraph import (
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    Pipeline,
    Transition,
)
from journeygraph.nodes.llm.models import PROVIDERS
from journeygraph.nodes.llm.scripted import Call, Fault, ScriptedModel, leads_nowhere
from journeygraph.server.definitions.stored_journeys import given_by
from journeygraph.server.scripted import ScriptedServer
from tests.http.test_http_models import Talk, Weather
from tests.support import model_server
from tests.support.command import ROOT, flat, folder, logging_as_before, run, served, start
from tests.support.ollama import serving_ollama

__all__ = ["folder", "logging_as_before"]

CHECKED = '''
from journeygraph import (
    Guideline, InputField, IntentTrigger, Journey, OutputField, Pathway, Signature, Transition,
    Validation,
)


class Serve(Signature):
    """Serve the customer."""

    message: str = InputField(description="What the customer says")
    response: str = OutputField(description="What to say back")


class Desk(Journey):
    """Serve customers."""

    __validation__ = Validation()
    __guidelines__ = [Guideline(id="polite", always=True, action="be polite")]

    class DeskPath(Pathway):
        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = ["nothing"]

    class ReturnsPath(Pathway):
        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = ["nothing"]

    __transitions__ = [
        Transition(IntentTrigger(description="wants to return something"), to_pathway="returns"),
    ]
'''
OWN_MODEL = CHECKED.replace("    __validation__", '    __model__ = "house"\n    __validation__')
VALID = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.99}


def only(*names: str) -> Callable[[Call], Any]:
    """A server that has these models and no other, and answers whatever it is asked."""

    def answer(call: Call) -> Any:
        if call.model not in names:
            return Fault.status(404, message=f"no model {call.model}")
        if call.schema_name == "validation":
            return VALID
        if call.schema_name == "understanding":
            return leads_nowhere
        return {"response": "Good day."}

    return answer


def conversation(place: str, *messages: str) -> list[dict[str, Any]]:
    """The answers of a served journey to these messages."""
    httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"}).raise_for_status()
    return [
        httpx2.post(f"{place}/v1/sessions/s-1/messages", json={"message": text}).json()
        for text in messages
    ]


def asked_for(server: ScriptedServer) -> dict[str, set[str]]:
    """Which models were asked, by the kind of question."""
    asked: dict[str, set[str]] = {}
    for call in server.calls:
        asked.setdefault(call.schema_name, set()).add(call.model)
    return asked


# ---- the check of replies


@pytest.mark.parametrize(
    ("source", "settings", "checks"),
    [
        (CHECKED, {"JOURNEYGRAPH_AGENT_MODEL": "house"}, "house"),
        (
            CHECKED,
            {"JOURNEYGRAPH_AGENT_MODEL": "house", "JOURNEYGRAPH_VALIDATION_MODEL": "judge"},
            "judge",
        ),
        (OWN_MODEL, {"JOURNEYGRAPH_AGENT_MODEL": "gone"}, "house"),
    ],
)
def test_every_reply_is_checked_by_a_model_that_the_server_has(
    folder: Path, source: str, settings: dict[str, str], checks: str
) -> None:
    (folder / "desk.py").write_text(source)
    with ScriptedServer(always=only("house", "judge")) as server:
        where = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": server.url}
        more = {**where, **settings, "JOURNEYGRAPH_INTENT_DETECTION_MODEL": "house"}
        with served(folder, "desk.py", "--store", "memory://", **more) as (_, place, lines):
            answers = conversation(place, "hello", "hello again", "hello, and thank you")

    assert [answer["message"] for answer in answers] == ["Good day."] * 3
    assert [answer["metadata"]["flags"] for answer in answers] == [[]] * 3
    assert asked_for(server)["validation"] == {checks}
    assert "house reads messages" in flat("".join(lines))
    assert "checks replies" in flat("".join(lines))


# ---- providers


def test_the_providers_are_those_that_langchain_knows() -> None:
    from langchain.chat_models import base  # noqa: PLC0415 - it takes seconds

    assert set(base._BUILTIN_PROVIDERS) == PROVIDERS


def by_ollama(purpose: str, body: dict[str, Any]) -> dict[str, Any]:
    if purpose == "validation":
        return VALID
    if purpose == "understanding":
        properties = body["tools"][-1]["function"]["parameters"]["properties"]
        return {name: None if name in ("asks", "reply") else [] for name in properties}
    return {"response": "Good day."}


def test_a_journey_runs_on_a_provider_that_is_not_openai(folder: Path) -> None:
    (folder / "desk.py").write_text(CHECKED)
    with serving_ollama(by_ollama) as ollama:
        settings = {
            "OLLAMA_HOST": ollama.url,
            "JOURNEYGRAPH_AGENT_MODEL": "ollama:llama3:8b",
            "JOURNEYGRAPH_INTENT_DETECTION_MODEL": "ollama:small",
        }
        with served(folder, "desk.py", "--store", "memory://", **settings) as (_, place, lines):
            answers = conversation(place, "hello", "and again")

    assert [answer["message"] for answer in answers] == ["Good day."] * 2
    assert [answer["metadata"]["flags"] for answer in answers] == [[]] * 2
    assert set(ollama.asked) == {
        ("small", "understanding"),
        ("llama3:8b", "answer"),
        ("llama3:8b", "validation"),
    }
    for body in ollama.requests:
        assert not {"response_format", "extra_body", "stream_options", "stream_usage"} & set(body)
        assert body["options"]["num_predict"] in (600, 2_000, 400)
    assert flat(lines[0]) == (
        "On models: ollama:small reads messages, ollama:llama3:8b runs the agents "
        "without a function, "
        "ollama:llama3:8b checks replies."
    )


def test_what_stands_in_the_env_file_reaches_the_client_of_a_provider(folder: Path) -> None:
    (folder / "desk.py").write_text(CHECKED)
    (folder / "journeygraph.toml").write_text(
        'agent_model = "ollama:llama3"\nintent_detection_model = "ollama:llama3"\n'
    )
    with serving_ollama(by_ollama) as ollama:
        (folder / ".env").write_text(f"OLLAMA_HOST={ollama.url}\n")
        with start(folder, "chat", "desk.py") as talk:
            shown, errors = talk.communicate(b"hello\n")

    assert errors == b""
    assert "Good day." in shown.decode()


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("openai:gpt-4o", "gpt-4o"),
        ("openai:ft:gpt-4o:org::id", "ft:gpt-4o:org::id"),
        ("ft:gpt-4o:org::id", "ft:gpt-4o:org::id"),
        ("llama3:8b", "llama3:8b"),
        ("llama:7b", "llama:7b"),
        ("llama:latest", "llama:latest"),
        ("codellama:instruct", "codellama:instruct"),
        ("mistral:7b-instruct-q4_0", "mistral:7b-instruct-q4_0"),
        ("mistral:latest", "mistral:latest"),
        ("deepseek-r1:1.5b", "deepseek-r1:1.5b"),
        ("gemma3n:e4b", "gemma3n:e4b"),
        ("mixtral:8x7b", "mixtral:8x7b"),
        ("qwen2.5-coder:32b", "qwen2.5-coder:32b"),
        ("meta-llama/llama-3.1-8b-instruct:free", "meta-llama/llama-3.1-8b-instruct:free"),
        ("hf.co/org/model-GGUF:Q8_0", "hf.co/org/model-GGUF:Q8_0"),
        ("our-own:house", "our-own:house"),
    ],
)
async def test_any_other_name_goes_to_the_openai_api(
    talk: Callable[..., Any],
    memory_url: str,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    asked: str,
) -> None:
    async with ScriptedServer({"response": "Sunny."}) as server:
        model_server.name(monkeypatch, server, "any")
        chat = await talk(Weather, {}, memory_url, agent_model=name)
        assert await chat.says("How is it?") == "Sunny."

    assert [call.model for call in server.calls] == [asked]


@pytest.mark.slow
def test_langchain_is_imported_for_other_providers_alone(folder: Path) -> None:
    source = (
        "import sys\nfrom journeys import JourneyConfig\n"
        "from journeygraph.nodes.llm.models import open_models\n"
        "for name in ('gpt-4o', 'openai:gpt-4o', 'llama3:8b', 'ft:gpt-4o:org::id'):\n"
        "    open_models(None, JourneyConfig(agent_model=name)).step(name)\n"
        "assert 'langchain' not in sys.modules\n"
    )
    environment = {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "any"}
    subprocess.run([sys.executable, "-c", source], env=environment, check=True)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("antropic:claude-x", "anthropic:claude-x"),
        ("Anthropic:claude-x", "anthropic:claude-x"),
        ("anthropics:claude-x", "anthropic:claude-x"),
        ("google-genai:gemini-x", "google_genai:gemini-x"),
        ("google_genia:gemini-x", "google_genai:gemini-x"),
        ("ollamma:llama3", "ollama:llama3"),
        ("openi:gpt-4o", "openai:gpt-4o"),
        ("OpenAI:gpt-4o", "openai:gpt-4o"),
        ("azure-openai:gpt-4o", "azure_openai:gpt-4o"),
        ("mistral:mistral-large-latest", "mistralai:mistral-large-latest"),
        ("gorq:llama-3", "groq:llama-3"),
        ("google:gemini-x", "google_genai:gemini-x"),
        ("azure:gpt-4o", "azure_ai:gpt-4o"),
    ],
)
def test_a_misspelt_provider_is_refused_at_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("JOURNEYGRAPH_AGENT_MODEL", name)
    (folder / "desk.py").write_text(CHECKED)

    said = flat(run("serve", "desk.py", "--port", "0", code=1).stderr)

    assert f"agent_model is '{name}'" in said
    assert f"Did you mean '{meant}'?" in said


def test_a_misspelt_provider_is_refused_where_there_is_no_other_model(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url, agent_model="antropic:claude-x")

    with pytest.raises(ConfigurationError, match="Did you mean 'anthropic:claude-x'"):
        Weather("s-1", config, agents={})


@pytest.mark.parametrize("place", ["settings", "journey", "trigger", "agent", "argument"])
def test_a_package_that_is_missing_is_named_at_start(place: str, memory_url: str) -> None:
    name = "anthropic:claude-x"
    config = JourneyConfig(persistence=memory_url)
    agents: dict[str, Any] = {}
    kind: type[Journey] = Weather
    model: Any = None
    if place == "settings":
        config = replace(config, agent_model=name)
    elif place == "journey":
        kind = type("Own", (Weather,), {"__model__": name})
    elif place == "trigger":
        trigger = IntentTrigger(description="asks for rain", llm_model=name)
        model = ScriptedModel()
        moves = [Transition(trigger, to_pathway="talk")]
        kind = type("Own", (Weather,), {"__transitions__": moves})
    elif place == "agent":
        agents = {"talker": ModelAgent(model=name)}
    else:
        model = name

    with pytest.raises(ConfigurationError, match="pip install langchain-anthropic"):
        kind("s-1", config, agents=agents, model=model)


def test_a_key_of_openai_is_asked_for_only_where_its_models_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "desk.py").write_text(CHECKED)
    monkeypatch.setenv("JOURNEYGRAPH_AGENT_MODEL", "ollama:llama3")

    said = flat(run("serve", "desk.py", "--port", "0", code=1).stderr)

    assert "intent_detection_model is 'gpt-4o-mini'" in said
    assert "OPENAI_API_KEY" in said


def test_the_model_of_an_agent_in_a_module_is_judged_when_the_server_starts(folder: Path) -> None:
    asked = (
        "from journeygraph import ModelAgent\n\nAGENTS = {'clerk': ModelAgent(model='anthropic:x')}"
    )
    (folder / "desk.py").write_text(f"{CHECKED}\n{asked}\n")

    said = flat(run("serve", "desk.py", "--port", "0", code=1).stderr)

    assert "model of agent 'clerk': 'anthropic:x' needs the package of its provider" in said
    assert "pip install langchain-anthropic" in said


def test_a_provider_that_a_journey_names_is_not_passed_over(memory_url: str) -> None:
    trigger = IntentTrigger(description="asks for rain", llm_model="ollama:llama3")
    moves = [Transition(trigger, to_pathway="talk")]
    kind = type("Own", (Weather,), {"__transitions__": moves})

    with pytest.raises(ConfigurationError, match="agent_model is 'gpt-4o-mini'"):
        kind("s-1", JourneyConfig(persistence=memory_url))


@pytest.mark.parametrize("name", ["ollama:", "openai: "])
def test_a_provider_without_a_model_is_refused(memory_url: str, name: str) -> None:
    config = JourneyConfig(persistence=memory_url, agent_model=name)

    with pytest.raises(ConfigurationError, match="name of the model after the colon"):
        Weather("s-1", config, model=name)


async def test_an_agent_has_a_provider_of_its_own_without_a_key_of_openai(
    talk: Callable[..., Any], memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_ollama(by_ollama) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        agents = {"talker": ModelAgent(model="ollama:llama3")}
        chat = await talk(Weather, agents, memory_url)
        assert await chat.says("How is it?") == "Good day."

    assert ollama.asked == [("llama3", "answer")]


async def test_a_name_with_a_provider_counts_beside_a_model_that_was_handed_in(
    talk: Callable[..., Any], memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_ollama(by_ollama) as ollama, ScriptedModel() as handed:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        agents = {"talker": ModelAgent(model="ollama:llama3")}
        chat = await talk(Weather, agents, memory_url, options={"model": handed})
        assert await chat.says("How is it?") == "Good day."
        assert handed.calls == []


async def test_a_pipeline_is_run_by_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline.sequential([ModelAgent(signature=Talk)])
    with serving_ollama(by_ollama) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        by_argument = await pipeline.with_model("ollama:a").run(message="Hi")
        config = JourneyConfig(
            persistence="memory://", agent_model="ollama:b", intent_detection_model="ollama:b"
        )
        by_settings = await pipeline.with_config(config).run(message="Hi")

    assert by_argument["response"] == by_settings["response"] == "Good day."
    assert ollama.asked == [("a", "answer"), ("b", "answer")]


# ---- models of a module

MODELS = (
    CHECKED
    + """
from langchain_openai import ChatOpenAI

MODEL = ChatOpenAI(model="house")
UNDERSTANDING_MODEL = "ear"
CHECK_MODEL = ChatOpenAI(model="judge")
"""
)


@pytest.mark.parametrize(
    ("left_out", "understands", "answers", "checks"),
    [
        ("", "ear", "house", "judge"),
        ("UNDERSTANDING_MODEL", "house", "house", "judge"),
        ("CHECK_MODEL", "ear", "house", "house"),
        ("MODEL", "ear", "of_settings", "judge"),
    ],
)
def test_a_module_gives_its_models(
    folder: Path, left_out: str, understands: str, answers: str, checks: str
) -> None:
    lines = [line for line in MODELS.splitlines() if line.partition(" =")[0] != left_out]
    (folder / "desk.py").write_text("\n".join(lines))
    settings = {"JOURNEYGRAPH_AGENT_MODEL": "of_settings"}
    with ScriptedServer(always=only("house", "ear", "judge", "of_settings")) as server:
        where = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": server.url, **settings}
        with served(folder, "desk.py", "--store", "memory://", **where) as (_, place, said):
            answers_ = conversation(place, "hello")

    assert answers_[0]["message"] == "Good day."
    assert answers_[0]["metadata"]["flags"] == []
    assert asked_for(server) == {
        "understanding": {understands},
        "answer": {answers},
        "validation": {checks},
    }
    assert (
        f"{understands} reads messages, {answers} runs the agents without a function, "
        f"{checks} checks replies." in flat("".join(said))
    )


def test_chat_and_definitions_take_the_models_of_a_module_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "desk.py").write_text(MODELS)
    with ScriptedServer(always=only("house", "ear", "judge")) as server:
        model_server.name(monkeypatch, server, "any")
        shown = run("chat", "desk.py", typed="hello\n").stdout
        given = given_by(["desk.py"], JourneyConfig(persistence="memory://"))

    assert "Good day." in shown
    assert asked_for(server)["understanding"] == {"ear"}
    assert given.model.check.model_name == "judge"


def test_a_module_that_gives_a_model_needs_no_key_for_it(folder: Path) -> None:
    (folder / "desk.py").write_text(CHECKED + '\nMODEL = "ollama:llama3"\n')
    with serving_ollama(by_ollama) as ollama:
        settings = {"OLLAMA_HOST": ollama.url}
        with served(folder, "desk.py", "--store", "memory://", **settings) as (_, place, lines):
            answers = conversation(place, "hello")

    assert answers[0]["message"] == "Good day."
    assert {model for model, _ in ollama.asked} == {"llama3"}
    assert "ollama:llama3 reads messages" in flat(lines[0])


def test_journeys_with_different_models_are_each_announced(folder: Path) -> None:
    (folder / "desk.py").write_text(CHECKED + '\nMODEL = "ollama:llama3"\n')
    with served(folder, "desk.py", "orders.py", "--store", "memory://") as (_, _, lines):
        assert lines[0].startswith("desk: On models: ollama:llama3 reads messages")


def test_a_model_that_is_none_is_refused_at_start(folder: Path) -> None:
    (folder / "desk.py").write_text(CHECKED + "\nMODEL = 5\n")

    said = flat(run("serve", "desk.py", "--port", "0", code=1).stderr)

    assert "model is 5; give a LangChain chat model" in said
