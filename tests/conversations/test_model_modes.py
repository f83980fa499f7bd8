"""Conversations with a recorded and with a live model, against a server on a real socket."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from journeygraph.nodes.llm.scripted import (
    Answer,
    Call,
    Fault,
    Script,
    UseTool,
    leads_nowhere,
    leads_to,
)
from journeygraph.server.conversations.conversation_files import _found
from journeygraph.server.scripted import ScriptedServer
from tests.support import model_server
from tests.support.command import flat, folder, logging_as_before, run

pytest_plugins = ("pytester",)
server = model_server.server
__all__ = ["folder", "logging_as_before"]

PARCELS = '''
from journeygraph import (
    InputField, IntentTrigger, Journey, ModelAgent, OutputField, Pathway, ReturnToPrevious,
    Signature, Transition,
)


class FindOrder(Signature):
    """Find out which parcel the customer means."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    order: str | None = OutputField(description="The order number")


class Parcels(Journey):
    """Find a parcel that did not arrive."""

    class FindPath(Pathway):
        __signature__ = FindOrder
        __agents__ = ["clerk"]
        __accumulate__ = ["order"]
        __complete_when__ = ["order"]

    class PolicyPath(Pathway):
        __agents__ = ["policy"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="asks about refunds"), to_pathway="policy")
    ]


def find_parcel(number: str) -> str:
    "Return where a parcel is."
    return f"{number} is in the depot"


AGENTS = {"policy": lambda ask: "Three working days."}
MODEL_AGENTS = {**AGENTS, "clerk": ModelAgent(tools=[find_parcel])}
'''
TEXT = """
conversation: a parcel, and a question about refunds
journey: parcels.py
clock: 2026-11-24T12:00
model: recorded
turns:
  - user: my parcel never came
  - bot: {pathway: find, says: Which order, model_calls: 2}
  - user: do I get my money back
  - bot: {transition: {to: policy, tier: model}, says: Three working days.}
  - user: it is P-17
  - bot: {context: {order: P-17}, says: in the depot, complete: true}
"""
ANSWERS: list[Answer] = [
    leads_nowhere,
    {"response": "Which order is it?", "order": None},
    leads_to("policy", confidence=0.9),
    leads_nowhere,
    UseTool("find_parcel", number="P-17"),
    {"response": "It is in the depot.", "order": "P-17"},
]


@pytest.fixture
def parcels(folder: Path) -> Path:
    (folder / "parcels.py").write_text(PARCELS)
    (folder / "a.conversation.yaml").write_text(TEXT)
    _found.cache_clear()
    return folder


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    model_server.name_none(monkeypatch)
    _found.cache_clear()


_RECORDED: list[bytes] = []


@pytest.fixture
def recorded(parcels: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recording beside its conversation; it is made once, for all tests of the file."""
    file = parcels / "a.recording.json"
    if not _RECORDED:
        server.script = Script(*ANSWERS)
        assert "1 passed, 0 failed" in run("test", ".", "--record").stdout
        server.script.check()
        _RECORDED.append(file.read_bytes())
    file.write_bytes(_RECORDED[0])
    offline(monkeypatch)
    return parcels


def test_a_recording_is_replayed_without_a_model(recorded: Path) -> None:
    assert "1 passed, 0 failed" in run("test", ".").stdout

    text = (recorded / "a.recording.json").read_text()
    assert "Which order is it?" in text
    assert "sk-canary" not in text
    assert "127.0.0.1" not in text


def test_pytest_replays_it_too(recorded: Path, pytester: pytest.Pytester) -> None:
    for name in ("parcels.py", "a.conversation.yaml", "a.recording.json"):
        (pytester.path / name).write_text((recorded / name).read_text())

    plugin = ("-p", "journeygraph.server.conversations.pytest_plugin", "-p", "no:asyncio")
    ended = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider")

    ended.assert_outcomes(passed=1)


def test_recording_again_asks_nothing_and_changes_nothing(
    recorded: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded / "a.recording.json"
    before = file.read_bytes()
    model_server.name(monkeypatch, server)
    server.script = Script()

    run("test", ".", "--record")

    assert server.script.calls == []
    assert file.read_bytes() == before


def test_a_recording_of_the_same_answers_is_the_same_file(
    recorded: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded / "a.recording.json"
    before = file.read_bytes()
    file.unlink()
    model_server.name(monkeypatch, server, "sk-another-one")
    server.script = Script(*ANSWERS)

    run("test", ".", "--record")

    assert file.read_bytes() == before


def test_only_the_changed_turns_are_asked_again(
    recorded: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded / "a.conversation.yaml"
    file.write_text(TEXT.replace("it is P-17", "its number is P-17"))
    model_server.name(monkeypatch, server)
    server.script = Script(*ANSWERS[3:])

    run("test", ".", "--record")

    server.script.check()
    offline(monkeypatch)
    assert "1 passed" in run("test", ".").stdout


CHANGES = [
    ("a.conversation.yaml", "do I get my money back", "will I be refunded", "'user_message'"),
    ("a.conversation.yaml", "it is P-17", "it is P-18", "'user_message'"),
    (
        "parcels.py",
        "    response: str",
        '    shop: str | None = OutputField(description="A shop")\n    response: str',
        "the model may answer with",
    ),
    ("parcels.py", "is in the depot", "is lost", "of those that the model is shown"),
    ("parcels.py", "number: str)", "number: str, city: str)", "the tools (find_parcel)"),
    (
        "parcels.py",
        'to_pathway="policy")',
        'to_pathway="policy", priority=3), '
        'Transition(IntentTrigger(description="asks for a person"), to_pathway="policy")',
        "the model may answer with",
    ),
]


@pytest.mark.parametrize(("name", "was", "now", "told"), CHANGES)
def test_a_request_that_differs_in_what_matters_fails(
    recorded: Path, name: str, was: str, now: str, told: str
) -> None:
    file = recorded / name
    text = file.read_text()
    assert was in text
    file.write_text(text.replace(was, now))
    _found.cache_clear()

    shown = flat(run("test", ".", code=1).stdout)

    assert told in shown
    assert "journeygraph test --record a.conversation.yaml" in shown


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Find out which parcel the customer means.", "Find the parcel of the customer."),
        ("What to say back", "The reply"),
        ("asks about refunds", "wants the money back"),
        ("Find a parcel that did not arrive.", "Find parcels."),
        ("Return where a parcel is.", "Find a parcel."),
    ],
)
def test_another_wording_of_the_instructions_is_only_noted(
    recorded: Path, was: str, now: str
) -> None:
    file = recorded / "parcels.py"
    assert was in file.read_text()
    file.write_text(file.read_text().replace(was, now))
    _found.cache_clear()

    shown = flat(run("test", ".").stdout)

    assert "1 passed, 0 failed" in shown
    assert "under other instructions" in shown


def test_an_answer_that_is_not_asked_for_fails(recorded: Path) -> None:
    file = recorded / "a.recording.json"
    read = json.loads(file.read_text())
    read["answers"].insert(0, {**read["answers"][0], "for": "answer"})
    file.write_text(json.dumps(read))

    shown = flat(run("test", ".", code=1).stdout)

    assert "the recorded answer for 'answer' was not asked for" in shown


def test_a_missing_recording_fails_with_the_way_out(parcels: Path) -> None:
    shown = flat(run("test", ".", code=1).stdout)

    assert "a recording in a.recording.json" in shown
    assert "To record it: journeygraph test --record a.conversation.yaml" in shown


def test_a_recording_that_is_none_fails(parcels: Path) -> None:
    for text in ("{", "[]", '{"answers": [{}]}'):
        (parcels / "a.recording.json").write_text(text)

        assert "1 failed" in run("test", ".", code=1).stdout


def test_to_record_without_a_model_is_refused(parcels: Path) -> None:
    assert "no model is configured" in run("test", ".", "--record", code=2).stderr


def test_what_the_model_refuses_is_recorded(
    parcels: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = "turns: [{user: my parcel}, {bot: {flags: [failed, journey_bypassed]}}]"
    (parcels / "a.conversation.yaml").write_text(TEXT[: TEXT.index("turns:")] + failing)
    server.script = Script(leads_nowhere, Fault.refusal())

    assert "1 passed" in run("test", ".", "--record").stdout
    offline(monkeypatch)

    assert "1 passed" in run("test", ".").stdout
    [_, refused] = json.loads((parcels / "a.recording.json").read_text())["answers"]
    assert refused["fails"] == "refused"


def test_a_model_that_cannot_be_reached_is_not_recorded(
    parcels: Path, server: ScriptedServer
) -> None:
    server.script = Script(Fault.status(401), always=Fault.status(401))

    shown = flat(run("test", ".", "--record", code=1).stdout)

    assert "the model answered 401" in shown
    assert not (parcels / "a.recording.json").exists()


def test_a_conversation_that_cannot_be_replayed_is_not_recorded(
    parcels: Path, server: ScriptedServer
) -> None:
    random = PARCELS.replace("is in the depot", "is in {__import__('uuid').uuid4()}")
    (parcels / "parcels.py").write_text(random)
    server.script = Script(*ANSWERS)

    shown = flat(run("test", ".", "--record", code=1).stdout)

    assert "replay (a.conversation.yaml" in shown
    assert "another one each time; give it a fixed result" in shown
    assert not (parcels / "a.recording.json").exists()


TEAM = '''
from journeygraph import InputField, Journey, ModelAgent, OutputField, Pathway, Signature


class Opinion(Signature):
    """Say what you think."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")


class Team(Journey):
    """Ask three."""

    class AskPath(Pathway):
        __signature__ = Opinion
        __pipeline__ = "parallel"
        __agents__ = ["one", "two", "three"]
        __complete_when__ = ["opinion"]


MODEL_AGENTS = {name: ModelAgent() for name in ("one", "two", "three")}
'''


def named(call: Call) -> Answer:
    """Answer with the name of the agent, which only its instructions have."""
    name = re.search(r"You are the agent '(\w+)'", str(call.messages[0]["content"]))
    return {"response": f"I am {name[1] if name else '?'}."}


def test_agents_that_work_at_the_same_time_get_their_own_answers(
    parcels: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (parcels / "team.py").write_text(TEAM)
    text = "conversation: three\njourney: team.py\nclock: 2026-11-24T12:00\nmodel: recorded\n"
    turns = "turns: [{user: what do you think}, {bot: {says: [I am one., I am two., I am three.]}}]"
    (parcels / "a.conversation.yaml").write_text(text + turns)
    server.script = Script(always=named)

    run("test", ".", "--record")
    offline(monkeypatch)

    assert "1 passed" in run("test", ".").stdout


def test_a_key_in_an_answer_is_not_written(parcels: Path, server: ScriptedServer) -> None:
    server.script = Script(
        leads_nowhere,
        {"response": "Which order is it, sk-canary-4711?", "order": None},
        *ANSWERS[2:],
    )

    told = flat(run("test", ".", "--record", code=1).stderr)

    assert "has the value of OPENAI_API_KEY" in told
    assert "sk-canary" not in told
    assert not (parcels / "a.recording.json").exists()


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("clock: 2026-11-24T12:00\n", "", "a recorded conversation needs 'clock'"),
        ("model: recorded", "model: recordd", "Did you mean 'recorded'?"),
        (
            "  - user: it is P-17\n",
            "  - user: it is P-17\n    model: [hello]\n",
            "turns have answers of a model, and the model is recorded",
        ),
    ],
)
def test_faults_of_the_file(parcels: Path, was: str, now: str, told: str) -> None:
    (parcels / "a.conversation.yaml").write_text(TEXT.replace(was, now))

    assert told in flat(run("test", ".", code=2).stderr)


LIVE = TEXT.replace("model: recorded", "model: live")
WORDED: list[Answer] = [
    leads_nowhere,
    {"response": "Tell me the number, please.", "order": None},
    *ANSWERS[2:5],
    {"response": "At the depot!", "order": "P-17"},
]


def test_of_a_live_model_only_the_structure_is_compared(
    parcels: Path, server: ScriptedServer
) -> None:
    (parcels / "a.conversation.yaml").write_text(LIVE)
    server.script = Script(*WORDED)

    assert "1 passed, 0 failed" in run("test", ".").stdout

    server.script = Script(*WORDED[:2], leads_nowhere, {"response": "No.", "order": None})
    assert "transition.to" in run("test", ".", code=1).stdout


def test_runs_of_a_live_model_are_reported(parcels: Path, server: ScriptedServer) -> None:
    (parcels / "a.conversation.yaml").write_text(LIVE)
    wrong: list[Answer] = [*WORDED[:2], leads_nowhere, {"response": "No.", "order": None}]
    server.script = Script(*WORDED, *wrong, *WORDED, *WORDED)

    shown = flat(run("test", ".", "--runs", "4", "--junit", "out.xml", code=1).stdout)

    assert "run 2" in shown
    assert "pass^1 75% pass^2 50% pass^3 25% pass^4 0%" in shown
    assert "4 conversations: 3 passed, 1 failed" in shown
    [suite] = ElementTree.parse(parcels / "out.xml").getroot()
    named = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert named["pass^2"] == "0.5000"
    assert "(run 2)" in str([case.get("name") for case in suite.iter("testcase")][1])


def test_runs_as_json(parcels: Path, server: ScriptedServer) -> None:
    (parcels / "a.conversation.yaml").write_text(LIVE)
    server.script = Script(*WORDED, *WORDED)

    data = json.loads(run("test", ".", "--runs", "2", "--json").stdout)

    assert data["runs"] == [{"file": "a.conversation.yaml", "passed": 2, "total": 2}]
    assert data["pass_hat"] == {"1": 1.0, "2": 1.0}
    assert [one["run"] for one in data["conversations"]] == [1, 2]


def test_recorded_conversations_can_be_played_live(
    recorded: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.name(monkeypatch, server)
    server.script = Script(*WORDED)

    assert "1 passed" in run("test", ".", "--live").stdout


def test_a_live_conversation_without_a_model_is_skipped(parcels: Path) -> None:
    (parcels / "a.conversation.yaml").write_text(LIVE)

    shown = run("test", ".", "--junit", "out.xml").stdout

    assert "(skipped: no model is configured)" in shown
    assert "0 passed, 0 failed, 1 skipped" in shown
    [suite] = ElementTree.parse(parcels / "out.xml").getroot()
    assert suite.get("skipped") == "1"


def test_pytest_skips_it_too(parcels: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "parcels.py").write_text(PARCELS)
    (pytester.path / "a.conversation.yaml").write_text(LIVE)
    plugin = ("-p", "journeygraph.server.conversations.pytest_plugin", "-p", "no:asyncio")
    ended = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider")
    ended.assert_outcomes(skipped=1)


SAID = ("my parcel never came", "do I get my money back", "it is P-17")


def chatted(*lines: str) -> str:
    store = ("--store", "sqlite:///s.db", "--session", "s")
    return flat(run("chat", "parcels.py", *store, typed="\n".join(lines)).output)


def test_save_in_a_chat_keeps_the_answers_of_the_model(
    parcels: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (parcels / "a.conversation.yaml").unlink()
    server.script = Script(*ANSWERS)

    shown = chatted(*SAID, "/save")

    server.script.check()
    assert "Written: s.conversation.yaml (3 messages)" in shown
    offline(monkeypatch)
    assert "1 passed, 0 failed" in run("test", ".").stdout
    text = (parcels / "s.conversation.yaml").read_text()
    assert "model: recorded" in text
    assert "order: P-17" in text


def test_save_in_a_later_chat_says_that_answers_are_missing(
    parcels: Path, server: ScriptedServer
) -> None:
    server.script = Script(*ANSWERS)
    chatted(SAID[0])

    shown = run(
        "chat",
        "parcels.py",
        "--store",
        "sqlite:///s.db",
        "--session",
        "s",
        typed="\n".join((*SAID[1:], "/save")),
    )

    assert "What the model answered before this chat is not known" in flat(shown.output)
    assert not (parcels / "s.conversation.yaml").exists()


def test_a_stored_session_is_recorded_by_asking_the_model_again(
    parcels: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (parcels / "a.conversation.yaml").unlink()
    server.script = Script(*ANSWERS)
    chatted(*SAID)
    server.script = Script(*WORDED)
    words = ("record", "s", "--store", "sqlite:///s.db", "--journey", "parcels.py")

    assert "Add --live to ask the model again" in flat(run(*words, code=1).stderr)
    shown = flat(run(*words, "--live").stdout)

    assert "Written: s.conversation.yaml (3 messages)" in shown
    assert "! The reply of turn 1 was another one when it was recorded." in shown
    offline(monkeypatch)
    assert "1 passed, 0 failed" in run("test", ".").stdout


@pytest.mark.slow
def test_a_session_that_the_model_leads_elsewhere_now_is_not_recorded(
    parcels: Path, server: ScriptedServer
) -> None:
    server.script = Script(*ANSWERS)
    chatted(*SAID)
    server.script = Script(*ANSWERS[:2], leads_nowhere, {"response": "No.", "order": None})

    words = ("record", "s", "--store", "sqlite:///s.db", "--journey", "parcels.py", "--live")
    run(*words, code=1)

    assert not (parcels / "s.conversation.yaml").exists()
    assert not (parcels / "s.recording.json").exists()


OTHER = """
from pathlib import Path

from tests.support.other_models import WholeModel

ANSWERS = Path("answers.json")
MODEL = WholeModel(*(json.loads(ANSWERS.read_text()) if ANSWERS.exists() else ()))
"""


def test_a_model_of_another_provider_is_recorded_with_its_repair(parcels: Path) -> None:
    (parcels / "parcels.py").write_text(f"import json\n{PARCELS}\n{OTHER}")
    (parcels / "a.conversation.yaml").write_text(
        TEXT[: TEXT.index("turns:")]
        + "turns:\n  - user: it is P-17\n"
        + "  - bot: {context: {order: P-17}, says: in the depot, model_calls: 4}\n"
    )
    nothing: dict[str, Any] = {"verdicts": [], "commands": []}
    said = {"response": "It is in the depot.", "order": "P-17"}
    answers = [
        [["understanding", nothing]],
        [["find_parcel", {"number": "P-17"}]],
        [["answer", {"response": 7}]],
        [["answer", said]],
    ]
    (parcels / "answers.json").write_text(json.dumps(answers))

    assert "1 passed" in run("test", ".", "--record").stdout
    (parcels / "answers.json").unlink()
    _found.cache_clear()

    assert "1 passed" in run("test", ".").stdout
    recorded = json.loads((parcels / "a.recording.json").read_text())["answers"]
    assert [one["usage"] for one in recorded] == [[1, 7, 3]] * 4


_IMPORT = "from journeygraph import Agent, Pipeline\n"
_IMPORT += "from tests.support.other_models import WholeModel\n\n\n"
OWN = (
    PARCELS.replace("ModelAgent(tools=[find_parcel])", "ModelAgent(model=WholeModel())")
    .replace("class FindOrder", f"{_IMPORT}class FindOrder")
    .replace("MODEL_AGENTS", "AGENTS")
)
NAMED = OWN.replace("WholeModel()", '"anthropic:claude-sonnet-4-5"')
IN_PIPELINE = OWN.replace(
    '__agents__ = ["clerk"]',
    '__pipeline__ = Pipeline.sequential([Agent(ModelAgent(model=WholeModel()), name="clerk")])',
).replace(', "clerk": ModelAgent(model=WholeModel())', "")
PLAIN = "conversation: a\njourney: parcels.py\nturns:\n  - user: my parcel never came\n"
of_any_kind = pytest.mark.parametrize(
    "source", [OWN, NAMED, IN_PIPELINE], ids=["handed", "named", "in_a_pipeline"]
)


@of_any_kind
def test_an_agent_with_its_own_model_is_not_asked_in_a_test(parcels: Path, source: str) -> None:
    (parcels / "parcels.py").write_text(source)
    (parcels / "a.conversation.yaml").write_text(PLAIN)

    shown = flat(run("test", ".", code=1).stdout)

    assert "Agent 'clerk' asks a model, and there is none here." in shown


@of_any_kind
def test_the_script_answers_for_an_agent_with_its_own_model(parcels: Path, source: str) -> None:
    (parcels / "parcels.py").write_text(source)
    said = "    model: [{}, {says: {response: Which one?, order: null}}]\n  - bot: Which one?\n"
    (parcels / "a.conversation.yaml").write_text(PLAIN + said)

    assert "1 passed" in run("test", ".").stdout


def test_the_script_answers_for_a_trigger_that_names_another_model(parcels: Path) -> None:
    named = 'IntentTrigger(llm_model="anthropic:claude-sonnet-4-5", '
    (parcels / "parcels.py").write_text(PARCELS.replace("IntentTrigger(", named))
    said = "    model: [{to: policy}]\n  - bot: {pathway: policy, model_calls: 1}\n"
    (parcels / "a.conversation.yaml").write_text(PLAIN + said)

    assert "1 passed" in run("test", ".").stdout
