"""Conversations that are played: clock, place, stand-ins, a scripted model, a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from journeygraph.server.conversations.conversation_files import load_conversation
from journeygraph.server.conversations.player import Played, play
from journeygraph.server.discover.errors import CommandError

PARCELS = '''
from journeygraph import (
    Field, Guideline, InputField, IntentTrigger, Journey, OutputField, Pathway, ReturnToPrevious,
    Signature, Transition,
)

PAID = []


class FindOrder(Signature):
    """Find out which parcel the customer means."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    order: str | None = OutputField(description="The order number")


class Parcels(Journey):
    """Find a parcel that did not arrive."""

    __guidelines__ = [Guideline(id="upset", condition="the customer is upset", action="be kind")]

    class FindPath(Pathway):
        __signature__ = FindOrder
        __agents__ = ["clerk"]
        __accumulate__ = ["order"]
        __complete_when__ = ["order"]
        __next__ = "refund"

    class RefundPath(Pathway):
        __fields__ = [Field("amount", "money", "How much was it?", currency="EUR", confirm=True)]
        __effects__ = ["pay"]

    class PolicyPath(Pathway):
        __agents__ = ["policy"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="asks about refunds"), to_pathway="policy")
    ]


def pay(amount: dict, idempotency_key: str) -> dict:
    "Pay an amount back."
    PAID.append(amount)
    return {"number": "R-1"}


TOOLS = {"pay": pay}
AGENTS = {"policy": lambda ask: "Three working days."}
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parcels.py").write_text(PARCELS)
    return tmp_path


async def played(folder: Path, text: str) -> Played:
    file = folder / "tried.conversation.yaml"
    file.write_text(text)
    return await play(load_conversation(file))


MODEL = """
conversation: a model understands, and answers
journey: parcels.py
turns:
  - user: my parcel never came
    model:
      - rules: [upset]
      - says: {response: Which order is it?, order: null}
  - bot: {says: Which order, rules: [upset], model_calls: 2, pathway: find}
  - user: do I get my money back
    model: [{to: policy, confidence: 0.9}]
  - bot: {transition: {to: policy, tier: model}, says: Three working days.}
  - user: it is P-17
    model:
      - {}
      - says: {response: Thank you., order: P-17}
  - bot: {context: {order: P-17}, asks: amount}
  - user: the usual sum
    model: [{means: [{fill: {amount: 40 euros}}]}]
  - bot: {asks: summary, effects: []}
"""


async def test_a_scripted_model_understands_and_answers(folder):
    outcome = await played(folder, MODEL)

    assert outcome.passed, outcome.differences


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (
            "    model: [{to: policy, confidence: 0.9}]\n",
            "",
            "a call of the model for 'understanding'",
        ),
        ("confidence: 0.9}", "confidence: 0.9}\n      - one more", "unused answer: 'one more'"),
        ("{to: policy, confidence: 0.9}", "{means: [confirm]}", "'command' is 'confirm'"),
        ("{to: policy, confidence: 0.9}", "{fails: 400}", "for 'answer' has no answer"),
    ],
)
async def test_what_is_wrong_with_the_answers_of_the_model_differs(folder, was, now, expected):
    text = MODEL.replace("model: [{to", "model:\n      - {to").replace("0.9}]", "0.9}")
    text = text if was in text else MODEL
    assert was in text

    outcome = await played(folder, text.replace(was, now))

    assert expected in " ".join(map(str, outcome.differences))


async def test_settings_with_a_key_bring_no_model(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    text = "conversation: a\njourney: insurance_claim\nturns:\n  - user: a burst pipe\n"
    text += "  - bot: {pathway: claim.report, model_calls: 0}\n"

    assert (await played(tmp_path, text)).passed


MODEL_AGENTS = """
conversation: agents for models work where a model answers
journey: insurance_claim
turns:
  - user: a burst pipe
    model:
      - says: {response: And the number?, damage: water, policy_number: null, loss: null}
      - says: {is_valid: true, violations: [], suggested_fixes: [], confidence: 0.9}
  - bot: {says: And the number?, context: {damage: water}, model_calls: 2}
"""


async def test_agents_for_models_work_where_a_model_answers(tmp_path):
    outcome = await played(tmp_path, MODEL_AGENTS)

    assert outcome.passed, outcome.differences


BOOKING = """
conversation: {title}
journey: table_booking
clock: 2026-11-24T12:00
{header}
turns:
"""


async def test_the_clock_decides_what_today_is(folder):
    outcome = await played(
        folder,
        BOOKING.format(title="a day", header="")
        + """
  - user: a table for four tomorrow at 7 pm
  - bot: {fields: {date: 2026-11-25}}
  - user: make it tomorrow
    at: 2026-12-01T09:00
  - bot: {fields: {date: 2026-12-02}}
""",
    )

    assert outcome.passed, outcome.differences


async def test_a_time_without_a_zone_is_one_of_the_locale(folder):
    header = "locale: {language: en, region: GB, timezone: Pacific/Auckland}"
    text = BOOKING.format(title="a zone", header=header).replace("T12:00", "T00:30")
    text += "  - user: a table for four today at 7 pm\n  - bot: {fields: {date: 2026-11-24}}\n"

    assert (await played(folder, text)).passed


async def test_a_conversation_begins_in_a_place_with_a_context(folder):
    header = "place: change_booking\ncontext: {booking: {number: M-7}}"
    text = BOOKING.format(title="a change", header=header)
    text += """
  - bot: {pathway: change_booking}
  - user: six
  - bot: {says: M-7 is a table for 6, effects: [move_table], path: [change_booking, door]}
"""

    outcome = await played(folder, text)

    assert outcome.passed, outcome.differences


async def test_the_language_of_the_user(folder):
    text = BOOKING.format(title="auf Deutsch", header="locale: de")
    text += "  - user: ein Tisch für vier Personen, morgen um 19 Uhr\n"
    text += "  - bot: {fields: {party_size: 4}}\n"

    assert (await played(folder, text)).passed


PAYING = """
conversation: pays
journey: parcels.py
place: refund
{tools}
agents: {{clerk: {{gives: Hello.}}}}
turns:
  - user: 40 euros
  - user: "yes"
  - bot: {{{expected}}}
"""


async def test_a_function_of_the_journey_runs_unless_its_result_is_given(folder):
    given = "tools: {pay: {gives: {number: R-9}}}"
    stand_in = await played(
        folder, PAYING.format(tools=given, expected="context: {pay: {number: R-9}}, effects: [pay]")
    )
    assert stand_in.passed, stand_in.differences
    paid = stand_in.loaded.found.module.PAID
    assert paid == []

    own = await played(
        folder, PAYING.format(tools="", expected="context: {pay: {number: R-1}}, effects: [pay]")
    )
    assert own.passed, own.differences
    assert len(own.loaded.found.module.PAID) == 1


async def test_effects_fail_and_time_out_as_the_file_says(folder):
    refused = "tools: {pay: {fails: The account is closed.}}"
    expected = "says: The account is closed., effects: [], asks: retry"
    outcome = await played(folder, PAYING.format(tools=refused, expected=expected))
    assert outcome.passed, outcome.differences

    lost = "tools: {pay: {times_out: true}}"
    outcome = await played(folder, PAYING.format(tools=lost, expected="effects: []"))
    assert outcome.passed, outcome.differences

    again = "tools: {pay: [{times_out: true}, {gives: {number: R-2}}]}"
    expected = "context: {pay: {number: R-2}}"
    outcome = await played(folder, PAYING.format(tools=again, expected=expected))
    assert outcome.passed, outcome.differences


async def test_a_person_takes_the_conversation_and_gives_it_back(folder):
    text = BOOKING.format(title="a person", header="")
    text += """
  - user: a complaint
  - user: hello?
  - operator: I am Kim, I shall book it for you.
  - user: thank you
  - bot: {says: ""}
  - release: Kim
  - bot: {asks: party_size}
"""

    outcome = await played(folder, text)

    assert outcome.passed, outcome.differences
    assert [line.who for line in outcome.lines].count("operator") == 1


async def test_a_turn_that_fails_differs_without_an_expectation(folder):
    journey = PARCELS.replace("Three working days.", "{1 / 0}").replace('"{1 / 0}"', "1 / 0")
    (folder / "parcels.py").write_text(journey)
    text = "conversation: a\njourney: parcels.py\nplace: policy\n"
    text += "agents: {clerk: {gives: Hello.}}\nturns:\n  - user: hello\n"

    outcome = await played(folder, text)
    assert "policy" in str(outcome.differences[0])

    expected = await played(folder, f"{text}  - bot: {{flags: [failed, journey_bypassed]}}\n")
    assert expected.passed, expected.differences


async def test_missing_agents_are_named_with_the_way_out(folder):
    with pytest.raises(CommandError, match=r"clerk.*\n?.*agents"):
        await played(folder, "conversation: a\njourney: parcels.py\nturns: [{user: hi}]\n")
