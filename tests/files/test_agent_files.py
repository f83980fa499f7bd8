"""Agents in files: a personality, fields and an escalation become a journey like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import ConfigurationError, Journey, JourneyDefinitionError, Texts, load_journey
from journeygraph.graphs.records.definitions import DefinitionDraft
from journeygraph.journeys.files.form import published
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.journeys.files.loading import document_kind, read_journey_text
from journeygraph.server.definitions.loader import drafts_at, read_all
from tests.support import command
from tests.support.command import ROOT, flat, run
from tests.support.talk import Talk

folder = command.folder


AGENTS = ROOT / "journeys" / "examples" / "collecting_agent"
CALLBACK = """\
id: callback
name: Ava
personality: {tone: friendly, greeting: Shall we call you back?}
tools:
  - function:
      name: can_call
      parameters: {type: object, properties: {hour: {}, day: {}}, required: [hour, day]}
fields:
  - {name: hour, type: integer, ask: At which hour?, validators: [{check: can_call}]}
  - {name: day, type: enum, ask: Which day?, choices: [monday, tuesday], depends_on: [hour],
     validators: [{check: can_call, message: Not then.}]}
completion: "We call on {day} at {hour}, {nickname}."
"""


def written(folder: Path, text: str = CALLBACK, name: str = "callback.yaml") -> type[Journey]:
    (folder / name).write_text(text)
    return load_journey(folder / name)


# --- What a file becomes -------------------------------------------------------------------------


def test_an_agent_is_a_journey_of_one_state_that_collects() -> None:
    spec = read_journey_text(CALLBACK, "callback.yaml")
    details, completion = spec.pathways.values()

    assert document_kind(CALLBACK, "callback.yaml") == "agent"
    assert (spec.id, spec.name, spec.entry) == ("callback", "Ava", "details")
    assert (spec.personality.name, spec.personality.tone) == ("Ava", "friendly")
    assert details.form is not None
    assert [field.name for field in details.form.fields] == ["hour", "day"]
    assert (details.next, completion.runs_on_arrival, spec.agents) == ("completion", True, {})
    assert [warning.partition(", which")[0] for warning in spec.warnings] == [
        "callback.yaml:1:1 agent 'callback': its text contains {nickname}"
    ]


FAULTY = """\
id: callback
personality: {formality: semi}
fields:
  - {nam: hour}
  - {name: day, type: enum}
  - {name: mail, type: emial}
effects: [{tool: call, change: details}]
escalation: {when_colected: true}
completon: Bye.
"""
TOLD = """\
2:26: formality is "semi"; it must be one of formal, neutral, casual.
4:5: 'name' is missing in a field.
4:6: 'nam' is not a valid key of a field. Did you mean 'name'?
5:5: choices is missing; it must be the values of an enum
6:24: type is "emial"; it must be one of text, integer
7:18: 'call' is not a tool of this file. It has no tools.
7:32: change names a state, and an agent has no other states. Remove it.
8:14: 'when_colected' is not a valid key of an escalation. Did you mean 'when_collected'?
9:1: 'completon' is not a valid key of an agent. Did you mean 'completion'?
"""


def test_all_faults_of_an_agent_are_told_at_once() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(FAULTY, "agent.yaml")

    found = [fault.removeprefix("agent.yaml:") for fault in raised.value.faults]
    assert len(found) == len(TOLD.splitlines()), "\n".join(found)
    for fault, wanted in zip(found, TOLD.splitlines(), strict=True):
        assert fault.startswith(wanted), fault


def test_a_name_that_an_agent_has_twice_is_refused_at_its_place() -> None:
    tools = "tools:\n  - function: {name: call, parameters: {type: object, properties: {}}}\n"
    fields = "fields:\n  - {name: day}\n  - {name: day}\neffects: [call, call]\n"

    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(f"id: callback\n{tools}{fields}", "agent.yaml")

    assert raised.value.faults == (
        "agent.yaml:6:12: the field 'day' is declared twice. Rename one of them.",
        "agent.yaml:7:17: 'call' occurs twice in effects. Remove one of them.",
    )


def test_an_agent_joins_a_concierge_from_its_own_file(tmp_path: Path) -> None:
    written(tmp_path, CALLBACK + "activation_conditions: [{patterns: [call me]}]\n")
    desk = written(tmp_path, "id: desk\njourneys: [callback.yaml]\n", "desk.yaml")

    assert list(desk.spec.pathways) == ["concierge", "callback.details", "callback.completion"]
    (tmp_path / "callback.yaml").write_text("id: callback\nfields: [{name: A}]\n")
    with pytest.raises(JourneyDefinitionError, match=r'callback.yaml:2:17: name is "A"'):
        load_journey(tmp_path / "desk.yaml")


ORDER = """\
id: order
tools: [{function: {name: place}}]
activation_conditions: [{patterns: [order]}]
states:
  take: {fields: [{name: hour, type: %s}], effects: [{tool: place, change: again}], next: again}
  again: {say: Well?}
"""


def test_what_parts_collect_keeps_its_places_in_a_concierge(tmp_path: Path) -> None:
    written(tmp_path, CALLBACK + "activation_conditions: [{patterns: [call me]}]\n")
    (tmp_path / "order.yaml").write_text(ORDER % "integer")
    desk = "id: desk\njourneys: [callback.yaml, order.yaml]\n"

    spec = written(tmp_path, desk, "desk.yaml").spec
    assert [effect.change for effect in spec.pathways["order.take"].effects] == ["order.again"]
    assert spec.pathways["order.again"].forgets == ("hour", "place")
    (tmp_path / "order.yaml").write_text(ORDER % "time")
    with pytest.raises(JourneyDefinitionError, match="the field 'hour' is integer in 'callback"):
        load_journey(tmp_path / "desk.yaml")


def test_an_agent_is_stored_like_a_journey(tmp_path: Path) -> None:
    written(tmp_path)

    (draft,) = drafts_at([str(tmp_path / "callback.yaml")])
    assert (draft.kind, draft.id) == ("agent", "callback")
    read = read_all(
        [draft, DefinitionDraft("agent", "other", "other.yaml", "id: other\nfields: []\n")]
    )
    assert list(read.specs) == ["callback"]
    assert read.faults == {"other": ["other.yaml:2:9: fields is a list; it must not be empty."]}


def test_a_folder_is_searched_for_agents_and_the_schema_knows_them(folder: Path) -> None:
    desk = folder / "desk"
    desk.mkdir()
    (desk / "callback.yaml").write_text(CALLBACK.replace(", {nickname}", ""))
    (desk / "broken.json").write_text(json.dumps({"id": "b", "fields": [{"name": 3}]}))
    (desk / "form.yaml").write_text("title: something else\nfields: [a, b]\n")

    shown = flat(run("check", "desk", code=1).stdout)
    assert "✓ Callback (desk/callback.yaml): 2 pathways, 0 transitions" in shown
    assert "✗ desk/broken.json:1:" in shown
    assert "form.yaml" not in shown
    judge = jsonschema.Draft202012Validator(json.loads(json.dumps(published())))
    judge.validate(read_tree(CALLBACK, "callback.yaml").value)
    assert not judge.is_valid(read_tree(FAULTY, "faulty.yaml").value)
    assert json.loads(run("schema", "agent").stdout)["required"] == ["id", "fields"]


# --- Tools that check values, and texts that are said --------------------------------------------


def can_call(hour: int, day: str) -> bool | str:
    """Say whether somebody is there."""
    if hour > 18:
        return "Nobody is there in the evening."
    return not (day == "tuesday" and hour == 9)


async def test_a_tool_checks_a_value_once_it_knows_what_it_needs(
    tmp_path: Path, talk: Any, memory_url: str
) -> None:
    chat: Talk = await talk(
        written(tmp_path), {}, memory_url, options={"tools": {"can_call": can_call}}
    )

    assert chat.greeting == "Shall we call you back?\n\nAt which hour?"
    assert (await chat.says("9")).startswith("Which day?")  # the day is not known: nobody is asked
    assert "Not then." in await chat.says("tuesday")
    assert await chat.says("monday") == "We call on monday at 9, ."
    assert chat.last.is_journey_complete


async def test_a_tool_words_its_refusal(tmp_path: Path, talk: Any, memory_url: str) -> None:
    text = CALLBACK.replace("{hour: {}, day: {}}", "{value: {}}").replace("[hour, day]", "[value]")
    journey = written(tmp_path, text)

    def can_call(value: Any) -> str | None:
        """Judge the value alone."""
        return f"{value} is too late." if value == 19 else None

    chat: Talk = await talk(journey, {}, memory_url, options={"tools": {"can_call": can_call}})

    assert "19 is too late." in await chat.says("19")
    assert "hour" not in chat.context


async def test_a_tool_that_checks_must_be_handed_over(tmp_path: Path, memory_url: str) -> None:
    with pytest.raises(ConfigurationError, match="has no tool for: can_call"):
        await Talk.begin(written(tmp_path), {}, memory_url)


async def test_what_a_state_says_is_said_as_users_read_it(
    tmp_path: Path, talk: Any, memory_url: str
) -> None:
    text = (
        "id: a\nstates:\n  ask: {fields: [{name: day, type: date}, "
        "{name: pin, sensitive: true, verbatim: true}], next: bye}\n"
        "  bye: {say: 'On {day}, {pin}{lost}.', on_arrival: run}\n"
    )
    chat: Talk = await talk(written(tmp_path, text, "a.yaml"), {}, memory_url)
    for said in ("hello", "2026-12-24", "1234"):
        await chat.says(said)

    assert chat.last.message == f"On Thursday, 24 December 2026, {Texts().hidden}."


# --- The three that are shipped, and two journeys ------------------------------------------------


@pytest.mark.parametrize("name", ["default", "casual", "minimal"])
def test_a_shipped_agent_is_sound(name: str) -> None:
    spec = load_journey(AGENTS / f"{name}.yaml").spec

    assert spec.id == f"{name}_agent"
    assert spec.warnings == ()


def test_the_demo_of_the_default_agent_ends_with_what_a_person_is_told(folder: Path) -> None:
    shown = flat(run("demo", "default_agent", "--fast").stdout)

    for said in (
        "Assistant Hello, I am Ava from Harbour Insurance.",
        "That is not a valid e-mail address. What I need is the",
        "cat has just knocked over the coffee, sorry! Assistant Let us",
        "A colleague calls you once, to go through the policy with you.",
        "changed the e-mail address to ana@example.org.",
        "Thank you, Ana Torres. I have everything",
        "reason collected",
        "email ana@example.org valid, 4 attempts",
    ):
        assert said in shown, said


@pytest.mark.parametrize("name", ["casual_agent", "minimal_agent"])
def test_the_demos_of_the_other_agents_come_to_their_end(folder: Path, name: str) -> None:
    shown = run("demo", name, "--fast").stdout

    assert "journey complete" in shown
    assert "failed" not in shown
    assert "Let us get back" not in shown
