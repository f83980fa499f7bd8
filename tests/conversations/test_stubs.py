"""Results of a file stand for functions, in tests, in `chat` and in `serve`."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.support import command
from tests.support.command import run, served

folder = command.folder
logging_as_before = command.logging_as_before

SHOP = """
id: shop
name: The shop
tools:
  - type: function
    function:
      name: place_order
      description: Order an item.
      parameters:
        type: object
        properties: {item: {type: string}, amount: {type: integer}}
        required: [item]
  - {type: function, function: {name: opening, description: Look up the hours.}}
  - {type: function, function: {name: ring, description: Ring the bell.}}
  - type: function
    function:
      name: known_item
      description: Look an item up.
      parameters: {type: object, properties: {value: {type: string}}, required: [value]}
states:
  order:
    fields:
      - {name: item, ask: What would you like?, validators: [{check: known_item}]}
      - {name: amount, type: integer, ask: How many?}
    effects:
      - {tool: place_order, save: placed, done: "Ordered: {ref}."}
      - {tool: ring}
    knowledge: handbook
    next: end
  end:
    agents: [clerk]
    on_arrival: run
    complete_when: never
  hours:
    kind: tool
    calls: [{tool: opening, save: at}]
    say: We open at {at}.
transitions:
  - {to: hours, condition: asks when we are open, patterns: [open], detour: true}
"""
RESULTS = """
tools:
  place_order: [{fails: The store is closed.}, {gives: {ref: R-1}}]
  opening: {gives: "9"}
  known_item: {gives: true}
  ring: {gives: null}
  handbook: {gives: [We deliver in two days.]}
agents:
  clerk: {gives: Thank you.}
"""
TURNS = """
  - user: a red lamp
  - user: How long does delivery take?
  - bot: {says: in two days}
  - user: When do you open?
  - bot: {says: We open at 9}
  - user: go on
  - user: "2"
  - user: "yes"
  - bot: {says: The store is closed., asks: retry}
  - user: "yes"
  - bot: {says: {contains: "Ordered: R-1."}, effects: [place_order, ring], pathway: end}
"""


@pytest.fixture
def shop(folder: Path) -> Path:
    """A folder with a journey in a file, and no function behind it."""
    (folder / "shop.yaml").write_text(SHOP)
    (folder / "results.yaml").write_text(RESULTS)
    return folder


def test_a_test_of_a_file_needs_no_function_behind_it(shop: Path) -> None:
    head = f"conversation: an order\njourney: shop.yaml\n{RESULTS}turns:{TURNS}"
    (shop / "order.conversation.yaml").write_text(head)

    assert "1 passed" in run("test", "order.conversation.yaml").stdout


def test_chat_takes_the_results_of_a_file(shop: Path) -> None:
    said = "a red lamp\nHow long does delivery take?\nWhen do you open?\ngo on\n2\nyes\nyes\n"

    shown = run(
        "chat", "shop.yaml", "--stubs", "results.yaml", "--store", "memory://", typed=said
    ).stdout

    assert "results.yaml replaces: place_order, opening" in shown
    assert "We deliver in two days." in shown
    assert "We open at 9." in shown
    assert "effect place_order failed: ValueError: The store is closed." in shown
    assert "Ordered: R-1." in shown
    assert "Thank you." in shown


def test_serve_takes_the_results_of_a_file(shop: Path) -> None:
    words = ["shop.yaml", "orders.py", "--stubs", "results.yaml", "--store", "memory://"]
    with served(shop, *words) as (_, place, lines):
        assert any("results.yaml replaces" in line for line in lines)
        with httpx2.Client(base_url=f"{place}/v1", timeout=100) as client:
            begun = client.post("/sessions", json={"journey_id": "shop", "session_id": "ann"})
            assert begun.status_code == 201
            said = client.post("/sessions/ann/messages", json={"message": "When do you open?"})
            assert "We open at 9." in said.json()["message"]


@pytest.mark.parametrize(
    ("text", "fault", "code"),
    [
        (
            RESULTS.replace("ring:", "rings:"),
            "results.yaml:6:10: The shop has no tool 'rings'. Did you mean 'ring'?",
            2,
        ),
        (RESULTS.replace("clerk:", "cleric:"), "The shop has no agent 'cleric'. Did you mean", 2),
        (
            "tools: {ring: {given: 1}}",
            "results.yaml:1:16: 'given' is not a valid key of a result. Did you",
            2,
        ),
        ("turns: []", "'turns' is not a valid key of a stub file.", 2),
        ("agents: {clerk: {gives: Hi.}}", "The shop has no tool for: place_order, opening", 1),
    ],
)
def test_a_file_of_results_with_a_fault_is_refused_with_its_place(
    shop: Path, text: str, fault: str, code: int
) -> None:
    (shop / "results.yaml").write_text(text)

    for name in ("chat", "serve"):
        refused = run(name, "shop.yaml", "--stubs", "results.yaml", code=code).stderr
        assert fault in refused


def test_a_file_of_results_is_not_for_stored_definitions(shop: Path) -> None:
    refused = run("serve", "--definitions", "--stubs", "results.yaml", code=2).stderr

    assert "--stubs is for journeys of files and modules, not for --definitions." in refused
