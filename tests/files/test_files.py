"""A journey in a file is the journey that a class would be."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import (
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    load_journey,
)
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.files.loading import document_kind, read_journey_text
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.support import claim_desk
from tests.support.claim_desk import AGENTS, ESTIMATE, TOOLS, YAML, ClaimDesk

SAID = ("P-17", "What are your opening hours?", "the window, urgent", "and the roof")
ANYWHERE = ("where", "warnings", "version")


def written(tmp_path: Path, text: str = YAML, name: str = "claim.yaml") -> type[Journey]:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return load_journey(file)


def told(value: Any) -> Any:
    """A spec as data that can be compared, without the places of its parts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value))
        return {name: told(getattr(value, name)) for name in fields if name not in ANYWHERE}
    if isinstance(value, Definition):
        return {name: told(getattr(value, name)) for name in vars(value).keys() - {*ANYWHERE}}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    return sorted(value) if isinstance(value, frozenset) else repr(value)


def test_a_file_becomes_the_spec_of_the_class(tmp_path: Path) -> None:
    spec = written(tmp_path).spec
    from_file, from_class = told(spec), told(ClaimDesk.spec)
    # A class declares no tools; its pathways name them, and what does the work is handed over.
    from_class["tools"] = told({"estimate": ESTIMATE})
    # The order of the pathways is that of the states: only the first of them would show it.
    for one, own in ((from_file, spec), (from_class, ClaimDesk.spec)):
        one["judged"] = told((own.warnings, own.unset))
    assert from_file == from_class


def test_json_and_yaml_are_one(tmp_path: Path) -> None:
    yaml, json = written(tmp_path), written(tmp_path, claim_desk.as_json(), "claim.json")

    assert told(json.spec) == told(yaml.spec)
    assert json.spec.version == yaml.spec.version
    states = [spec.pathways["report"] for spec in (yaml.spec, json.spec)]
    first, second = (state.model_copy(update={"where": ""}) for state in states)
    assert first == second


def test_the_version_is_that_of_what_the_file_says(tmp_path: Path) -> None:
    spec = written(tmp_path).spec

    assert written(
        tmp_path, "# a word\n" + YAML.replace("  - wants", "  -   wants")
    ).spec.version == (spec.version)
    assert written(tmp_path, YAML.replace("5000", "6000")).spec.version != spec.version
    assert written(tmp_path, 'version: "7"\n' + YAML).spec.version == "7"


def test_every_thing_knows_where_it_stands(tmp_path: Path) -> None:
    spec = written(tmp_path).spec

    assert spec.pathways["report"].where == "claim.yaml:31:3 state 'report'"
    assert spec.transitions[1].where == "claim.yaml:55:5 transition to 'fraud'"
    assert [rule.where.split(" ")[0] for rule in spec.guidelines] == [
        "claim.yaml:60:5",
        "claim.yaml:67:5",
        "claim.yaml:41:9",
    ]


@pytest.mark.parametrize("kind", ["class", "yaml", "json"])
async def test_the_conversation_is_the_same(kind: str, tmp_path: Path, memory_url: str) -> None:
    journey = {
        "class": lambda: ClaimDesk,
        "yaml": lambda: written(tmp_path),
        "json": lambda: written(tmp_path, claim_desk.as_json(), "claim.json"),
    }[kind]()
    config = JourneyConfig(persistence=memory_url)
    heard = []
    async with journey("s-1", config, agents=AGENTS, tools=TOOLS) as desk:
        await desk.start()
        for message in (
            "P-17",
            "What are your opening hours?",
            "the window, urgent",
            "and the roof",
        ):
            reply = await desk.process_message(message)
            heard.append((reply.pathway_id, reply.message))
        ended = reply.is_journey_complete

    assert heard == [
        ("report", "Noted. What else?"),
        ("hours", "We are open from nine."),
        ("assess", "Noted. What else?\n\nThat will cost 80."),
        ("assess", heard[3][1]),
    ]
    assert ended
    assert reply.accumulated_context["damage"] == ["window"]
    assert reply.accumulated_context["estimate"] == {"amount": 80}


async def test_an_expression_moves_a_session(tmp_path: Path, memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with written(tmp_path)("s-1", config, agents=AGENTS, tools=TOOLS) as desk:
        await desk.start()
        assessed = await desk.process_message("P-17, the roof, urgent.")
        moved = await desk.process_message("Well?")
        audit = await desk.audit()

    assert assessed.pathway_id == "assess"
    assert (moved.pathway_id, moved.message) == ("fraud", "A colleague will call you.")
    assert moved.accumulated_context["flagged"] == "yes"
    assert moved.metadata["transition_intent"] == "context.estimate.amount > 5000"
    assert "condition_raised" not in [row.kind for row in audit]


async def test_a_state_without_an_agent_is_a_model_on_its_outputs(
    tmp_path: Path, memory_url: str
) -> None:
    text = YAML[: YAML.index("  fraud:")].replace("    guidelines:\n", "    #\n")
    text = text.replace("      - {condition: the customer is lost", "      # {")
    heard = {"policy": "P-17", "damage": ["roof"], "urgency": None, "response": "How urgent?"}
    more = {"policy": None, "damage": None, "urgency": "low", "response": "Thank you."}
    with ScriptedModel(heard, more, {"response": "It is 9000."}) as model:
        config = JourneyConfig(persistence=memory_url)
        async with written(tmp_path, text)("s-1", config, model=model, tools=TOOLS) as desk:
            await desk.start({"secret": "mauve"})
            await desk.process_message("The roof is gone, P-17")
            reply = await desk.process_message("Take your time")

    report, assess = model.calls[0], model.calls[2]
    assert "Ask for the policy number first" in report.messages[0]["content"]
    assert [tool["function"]["name"] for tool in report.body["tools"]] == ["estimate"]
    assert '"damage":["roof"]' in assess.messages[-1]["content"]
    assert '"amount":9000' in assess.messages[-1]["content"]
    assert "mauve" not in assess.text
    assert reply.message == "Thank you.\n\nIt is 9000."


def test_a_file_looks_like_a_class(tmp_path: Path, memory_url: str) -> None:
    journey = written(tmp_path)
    desk = journey("s-1", JourneyConfig(persistence=memory_url), agents=AGENTS, tools=TOOLS)

    assert (journey.__name__, journey.__doc__) == ("ClaimDesk", ClaimDesk.spec.purpose)
    assert list(desk.pathways) == ["assess", "report", "fraud", "hours"]
    assert desk.pathways["report"].next == "assess"  # type: ignore[attr-defined]
    assert desk.entry_pathway == "report"
    assert [rule.target for rule in desk.transitions] == ["hours", "fraud"]  # type: ignore[attr-defined]
    assert "report" in str(journey.draw())
    with pytest.raises(JourneyDefinitionError, match="from a file cannot be subclassed"):
        type("Mine", (journey,), {})


def test_the_smallest_journey() -> None:
    spec = read_journey_text("id: faq\nstates: {answer: {}}", "faq.yaml")

    assert (spec.id, spec.name, spec.purpose, spec.entry) == ("faq", "Faq", "", "answer")
    assert spec.pathways["answer"].agents == ("answer",)
    assert spec.pathways["answer"].tools == ()
    assert spec.pathways["answer"].complete_when is None


def test_a_journey_that_a_first_reply_completes_smells() -> None:
    text = "id: faq\nstates:\n  answer: {%s}\n  end: {}\n"
    text += "transitions: [{to: end, patterns: [bye]}]\n%s"

    def warnings(state: str = "", more: str = "") -> tuple[str, ...]:
        return read_journey_text(text % (state, more), "faq.yaml").warnings

    (warning,) = warnings()
    assert warning.startswith("faq.yaml:3:3 state 'answer': its first reply completes the journey")
    assert warnings("complete_when: never") == warnings("next: end") == ()
    assert warnings(more="activation_conditions: [asks something]\n") == ()


def test_warnings_are_in_the_words_of_files() -> None:
    text = "id: faq\nstates:\n  answer: {complete_when: [age]}\n  lost: {}\n"
    text += "transitions:\n  - {to: answer, patterns: [a], update: {x: nothing}}\n"

    assert [warning.split(", ")[0] for warning in read_journey_text(text, "faq.yaml").warnings] == [
        "faq.yaml:3:27 state 'answer': complete_when needs 'age'",
        "faq.yaml:4:3 state 'lost': nothing leads to 'lost'.",
        "faq.yaml:6:41 transition to 'answer': update['x'] reads 'nothing'",
    ]


def test_what_a_call_saves_is_kept() -> None:
    text = "id: faq\ntools: [{function: {name: look}}]\n"
    text += "states:\n  find: {kind: tool, calls: [{tool: look, save: found}], %s}\n"
    text += "transitions:\n  - {to: find, patterns: [a], update: {x: found}}\n"

    for when in ("complete_when: [found]", "complete_when: never"):
        assert read_journey_text(text % when, "faq.yaml").warnings == ()


def outputs_of(schema: str) -> Any:
    spec = read_journey_text(f"id: a\nstates: {{b: {{outputs: {{c: {schema}}}}}}}", "a.yaml")
    signature = spec.pathways["b"].signature
    assert signature is not None
    return signature.outputs[1]


@pytest.mark.parametrize(
    ("schema", "fitting", "misfit"),
    [
        ("{type: string}", "x", 3),
        ("{type: integer}", 3, "three"),
        ("{type: number}", 2.5, "much"),
        ("{type: boolean}", True, "perhaps"),
        ("{type: [string, 'null']}", None, 3),
        ("{enum: [yes, no]}", "yes", "perhaps"),
        ("{type: array, items: {type: integer}}", [1, 2], ["one"]),
        ("{type: object}", {"any": ["thing"]}, "text"),
        (
            "{type: object, properties: {name: {type: string}, cost: {type: number}}, "
            "required: [name]}",
            {"name": "door"},
            {"cost": 3.0},
        ),
        (
            "{type: array, items: {type: object, properties: {at: {type: string}}}}",
            [{"at": "noon"}, {}],
            [{"at": 12}],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "{" in value else "",
)
def test_an_output_has_the_type_that_its_schema_says(
    schema: str, fitting: Any, misfit: Any
) -> None:
    output = outputs_of(schema)

    assert output.validated(fitting) == fitting
    with pytest.raises(ValueError, match="validation error"):
        output.validated(misfit)
    assert output.annotation == outputs_of(schema).annotation


def test_a_composed_spec_hashes_expressions_by_their_text() -> None:
    def hashed(amount: int) -> str:
        text = YAML.replace("5000", str(amount))
        return content_hash(read_journey_text(text, "claim.yaml").transitions)

    assert hashed(5000) == hashed(5000) != hashed(6000)


def test_what_a_text_holds_is_told_without_reading_it_all() -> None:
    assert document_kind(YAML, "claim.yaml") == "journey"
    assert document_kind("journeys: [a.yaml]", "desk.yaml") == "concierge"
    with pytest.raises(JourneyDefinitionError, match="the file is empty"):
        document_kind("", "desk.yaml")


def test_the_language_is_imported_without_what_reads_files() -> None:
    module = "journeygraph.journeys.files.form"
    code = "import journeygraph.journeys, sys; "
    code += f"print({{'ruamel', 'cel', {module!r}}} & {{*sys.modules}})"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
