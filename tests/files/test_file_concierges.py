"""A concierge in a file: journeys in it and next to it, and their connections."""

from __future__ import annotations

from pathlib import Path

import pytest

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import Concierge, JourneyConfig, JourneyDefinitionError, load_journey
from journeygraph.journeys.files.loading import read_journey_text

BILLING = """\
id: billing
instructions: Explain a bill.
activation_conditions: [{condition: asks about a bill, patterns: [bill, invoice]}]
states:
  explain:
    kind: collect
    outputs: {number: {type: string}}
tools: [{function: {name: find_bill, parameters: {type: object, properties: {number: {}}}}}]
"""
DESK = """\
id: desk
name: The desk
instructions: Help whoever calls.
journeys:
  - billing.yaml
  - id: outage
    activation_conditions: [{patterns: [line is dead]}]
    states: {look: {complete_when: never}}
otherwise: canned
cancel: [forget it]
hand_over:
  - {from: outage, to: billing, patterns: [refund], update: {reason: "set:outage"}}
guidelines:
  - {id: polite, condition: always, action: be polite, tools: [find_bill]}
shared: [customer]
"""


def desk(folder: Path, text: str = DESK, **others: str) -> Path:
    (folder / "desk.yaml").write_text(text)
    for name, other in {"billing": BILLING, **others}.items():
        (folder / f"{name}.yaml").write_text(other)
    return folder / "desk.yaml"


def find_bill(number: str) -> str:
    """Look a bill up."""
    return number


def faults_of(folder: Path, text: str, **others: str) -> list[str]:
    with pytest.raises(JourneyDefinitionError) as caught:
        load_journey(desk(folder, text, **others))
    return list(caught.value.faults)


def test_a_concierge_is_made_of_what_it_names_and_what_it_holds(tmp_path: Path) -> None:
    journey = load_journey(desk(tmp_path))

    assert issubclass(journey, Concierge)
    assert (journey.__name__, journey.spec.name) == ("Desk", "The desk")
    assert list(journey.spec.parts) == ["billing", "outage"]
    assert list(journey.spec.pathways) == ["concierge", "billing.explain", "outage.look"]
    assert journey.spec.otherwise == "canned"
    assert journey.spec.guidelines[0].scope == "global"
    assert journey.spec.pathways["billing.explain"].where == "billing.yaml:5:3 state 'explain'"


def test_its_version_is_that_of_all_its_files(tmp_path: Path) -> None:
    first = load_journey(desk(tmp_path)).spec.version

    assert load_journey(desk(tmp_path)).spec.version == first
    changed = desk(tmp_path, billing=BILLING.replace("invoice", "receipt"))
    assert load_journey(changed).spec.version != first


async def test_it_is_talked_to(tmp_path: Path, memory_url: str) -> None:
    agents = {
        "explain": lambda ask: {"response": "Which bill?", "number": ask["message"].split()[-1]},
        "look": lambda ask: "I see nothing wrong.",
    }
    heard = []
    journey = load_journey(desk(tmp_path))
    config, tools = JourneyConfig(persistence=memory_url), {"find_bill": find_bill}
    async with journey("s-1", config, agents=agents, tools=tools) as d:
        await d.start()
        for message in ("Hello", "My line is dead", "I want a refund for B-7", "My line is dead"):
            reply = await d.process_message(message)
            heard.append((reply.pathway_id, reply.message))
        reply = await d.process_message("Forget it.")

    assert [pathway for pathway, _ in heard] == [
        "concierge",
        "outage.look",
        "concierge",
        "outage.look",
    ]
    assert heard[1][1] == "I see nothing wrong."
    assert heard[2][1] == "Which bill?"
    assert reply.pathway_id == "concierge"


@pytest.mark.parametrize(
    "name",
    ["../billing.yaml", "/etc/passwd.yaml", "sub/billing.yaml", "billing.py", "..", ".hidden.yaml"],
)
def test_only_a_plain_name_beside_it_is_read(tmp_path: Path, name: str) -> None:
    faults = faults_of(tmp_path, DESK.replace("billing.yaml", name))

    assert faults == [
        f"desk.yaml:5:5: journeys[0] is '{name}'; it must be the name of a .yaml, .yml or .json "
        "file in the same folder."
    ]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert faults_of(tmp_path, DESK.replace("billing.yaml", "bills.yaml")) == [
        "desk.yaml:5:5: the file 'bills.yaml' cannot be read: No such file or directory."
    ]


def test_no_circle_of_files_can_be_written(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, DESK.replace("billing.yaml", "desk.yaml"))

    assert faults == [
        "desk.yaml:1:1: this is a file of kind concierge; it must be of kind journey or agent."
    ]


def test_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    text = DESK.replace("dead]", "dead], confidence: 3").replace("polite, cond", "polite, cnd")
    broken = BILLING.replace("string", "text")

    assert [fault.split(" ")[0] for fault in faults_of(tmp_path, text, billing=broken)] == [
        "billing.yaml:7:30:",
        "desk.yaml:7:68:",
        "desk.yaml:14:18:",
    ]


def test_what_does_not_fit_together_is_told_where_it_is_joined(tmp_path: Path) -> None:
    assert faults_of(tmp_path, DESK.replace("to: billing", "to: biling")) == [
        "desk.yaml:12:24 concierge 'desk': hand_over[0]: 'biling' is not a journey of this "
        "concierge. "
        "Did you mean 'billing'? Its journeys: billing, outage."
    ]
    assert (
        "'find_bil' is not a tool of this file. Did you mean 'find_bill'?"
        in (faults_of(tmp_path, DESK.replace("[find_bill]", "[find_bil]"))[0])
    )
    twice = faults_of(tmp_path, DESK.replace("id: outage", "id: billing"))
    assert "two of its journeys have the id 'billing'" in twice[0]


def test_a_stored_text_gets_its_journeys_from_whoever_keeps_them(tmp_path: Path) -> None:
    kept = {"billing.yaml": BILLING}

    spec = read_journey_text(DESK, "desk.yaml", kept.__getitem__)

    assert list(spec.parts) == ["billing", "outage"]
    with pytest.raises(JourneyDefinitionError, match="5:5: the file 'billing"):
        read_journey_text(DESK, "desk.yaml")
