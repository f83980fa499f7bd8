"""The example pipelines: real work over their material, the same with models, and their size."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from journeygraph import PatternPipeline
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS
from journeygraph.nodes.llm.scripted import Answer, Call, ScriptedModel, UseTool
from journeygraph.server.discover.journeys import pipeline_ids

FOLDER = Path(__file__).resolve().parents[2] / "journeys" / "examples" / "pipelines"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def example(name: str) -> ModuleType:
    return importlib.import_module(f"journeygraph.journeys.examples.pipelines.{name}")


def material(name: str, file: str) -> str:
    return (FOLDER / name / file).read_text(encoding="utf-8")


async def run(name: str, message: str) -> dict[str, Any]:
    """Run an example offline, complete and without anything to remark."""
    outputs: dict[str, Any] = await example(name).PIPELINE.run(message=message)
    story = outputs["pipeline"]
    assert (story["status"], story["failed"], story["flags"]) == ("complete", [], [])
    return outputs


def who_worked(outputs: dict[str, Any]) -> list[str]:
    return [result["agent"] for result in outputs["pipeline"]["results"]]


# What holds for all.


def test_there_is_one_for_each_pattern() -> None:
    patterns = [example(name).PIPELINE.pattern for name in NAMES]

    assert pipeline_ids() == NAMES
    assert sorted(patterns) == sorted(PATTERNS)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_and_has_material(name: str) -> None:
    lines = (FOLDER / f"{name}.py").read_text().splitlines()
    beside = [path for path in (FOLDER / name).rglob("*") if path.is_file()]

    assert len(lines) < 100
    assert sum(path.stat().st_size for path in beside) > 500
    assert not [path for path in beside if path.suffix == ".py"]
    assert len(example(name).SAMPLES) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_models_take_the_places_of_the_functions(name: str) -> None:
    offline, online = example(name).PIPELINE, example(name).MODEL_PIPELINE

    assert offline.pattern == online.pattern
    assert list(offline.members) == list(online.members)
    assert list(offline.roles) == list(online.roles)


@pytest.mark.parametrize("name", NAMES)
async def test_every_sample_is_answered_and_not_all_alike(name: str) -> None:
    replies = [(await run(name, sample))["response"] for sample in example(name).SAMPLES]

    assert all(replies)
    assert len(set(replies)) >= 2


@pytest.mark.parametrize("name", NAMES)
async def test_over_the_samples_every_agent_works(name: str) -> None:
    module = example(name)
    worked = {who for sample in module.SAMPLES for who in who_worked(await run(name, sample))}

    assert worked == {path for path, _ in module.PIPELINE.leaves}


# Sequential.


@pytest.mark.parametrize(
    ("invoice", "said"),
    [
        ("chairs", "Booked 2026-0417: 4100 Office furniture 337.50, 4110 Office supplies 245.00"),
        ("coffee", "Booked KO-1180: 4300 Canteen 248.40, 4900 Other costs 65.00"),
        ("energy", "Put aside: number 'LE-77120' is missing or booked already."),
        ("flyers", "net should be 420.00; VAT should be 88.20."),
        ("hosting", "Put aside: the bank account is not on file for that supplier."),
    ],
)
async def test_an_invoice_is_booked_or_put_aside(invoice: str, said: str) -> None:
    outputs = await run("invoice_intake", material("invoice_intake", f"invoices/{invoice}.txt"))

    assert said in outputs["response"]
    assert who_worked(outputs) == ["read", "check", "book"]


async def test_the_entry_of_an_invoice_adds_up() -> None:
    text = material("invoice_intake", "invoices/coffee.txt")

    outputs = await run("invoice_intake", text)
    assert sum(outputs["entry"].values()) == outputs["total"] == 34941

    wrong = await run("invoice_intake", text.replace("36.01", "38.01").replace("349.41", "351.41"))
    assert wrong["response"] == "Put aside: VAT should be 36.01."


async def test_what_is_no_invoice_is_put_aside() -> None:
    assert "Put aside: number ''" in (await run("invoice_intake", "Good morning!"))["response"]


# Router.


@pytest.mark.parametrize(
    ("message", "desk", "said"),
    [
        ("Where is my parcel B-2001?", "deliveries", "sorting centre Zwolle"),
        ("When does the package of order B-2003 arrive?", "deliveries", "address incomplete"),
        ("I was charged twice for B-2002", "payments", "129.00 too much"),
        ("Is the invoice of B-2004 paid?", "payments", "24.50 of it is open"),
        ("My espresso tastes sour, the coffee is bad", "repairs", "Grind finer"),
        ("There is water under the machine", "repairs", "seal of the brew group"),
    ],
)
async def test_a_customer_is_routed_to_the_desk_that_knows(
    message: str, desk: str, said: str
) -> None:
    outputs = await run("support_triage", message)

    assert who_worked(outputs) == [desk]
    assert said in outputs["response"]


# Supervisor and workers.


@pytest.mark.parametrize(
    ("contract", "points", "lines"),
    [
        ("hosting", 0, []),
        ("copiers", 7, ["notice period: 180", "liability cap: 25", "breach notice: missing"]),
        ("newsletter", 5, ["repair time: 24", "deletion of data: 90", "liability cap: missing"]),
    ],
)
async def test_a_contract_is_checked_against_the_rules(
    contract: str, points: int, lines: list[str]
) -> None:
    outputs = await run("contract_review", material("contract_review", f"contracts/{contract}.md"))

    assert outputs["response"].startswith(f"{points} of 8 points")
    assert [line for line in lines if line not in outputs["response"]] == []


async def test_what_no_clause_says_is_searched_in_the_small_print() -> None:
    text = material("contract_review", "contracts/newsletter.md")

    plan = (await run("contract_review", text))["pipeline"]["plan"]
    workers = {part["task"]: part["worker"] for part in plan}

    assert workers["payment term"] == "money_reader"
    assert workers["price increase"] == "small_print"
    changed = text.replace("Prices may rise by 3 %", "Prices may rise by 30 %")
    assert "price increase: 30" in (await run("contract_review", changed))["response"]


# Ensemble.


@pytest.mark.parametrize(
    ("question", "advice", "analysts"),
    [
        ("Is the dividend of Halden Shipping safe?", "avoid", {"income", "balance"}),
        ("Is Pinewood Retail cheap, or is its margin bad?", "hold", {"value", "profitability"}),
        ("Is Brava Foods safe, and what is its dividend?", "buy", {"income", "balance"}),
        ("Does Veltro Motors grow enough to pay its debt?", "avoid", {"growth", "balance"}),
        ("Is the price of Aqualine fair, how safe is its dividend?", "hold", {"value", "income"}),
    ],
)
async def test_a_question_is_answered_by_the_analysts_it_is_for(
    question: str, advice: str, analysts: set[str]
) -> None:
    outputs = await run("investment_memo", question)

    assert outputs["advice"] == advice
    assert analysts <= set(who_worked(outputs))
    assert len(who_worked(outputs)) == 4  # three of them, and the synthesizer


async def test_a_company_that_is_not_in_the_table_fails_with_what_is() -> None:
    outputs = await example("investment_memo").PIPELINE.run(message="Is Acme growing?")

    assert outputs["pipeline"]["status"] == "failed"
    assert "Brava Foods" in outputs["error"]


# Blackboard.


@pytest.mark.parametrize(
    ("message", "cause", "rounds"),
    [
        ("Checkout fails since 14:10", "out of memory at 512 MB'. Before it: version 5.8.0", 4),
        ("Nobody can pay at 9:30", "bankgate.example answered 503", 4),
        ("The catalogue was slow at 02:20", "job reports.nightly_sales'. Before it: nothing", 4),
        ("Search is empty at 19:35", "Before it: alias products moved", 3),
        ("Anything wrong at 17:00?", "No errors around 17:00.", 1),
    ],
)
async def test_the_cause_of_an_incident_is_found(message: str, cause: str, rounds: int) -> None:
    outputs = await run("incident_diagnosis", message)

    assert cause in outputs["response"]
    assert outputs["pipeline"]["stopped"] == "done"
    assert outputs["pipeline"]["rounds"] == rounds


# Consensus.


@pytest.mark.parametrize(
    ("post", "action", "votes"),
    [
        ("@kevin_77: shut up you clown, nobody asked you", "hide", 4),
        ('@mara: Somebody called me "a pathetic loser" today. What would you say?', "allow", 3),
        ("@sanne: Does anybody know a good plumber?", "allow", 4),
        ("@oud_zuid: her number is 0612345678, she lives at 1017 AB", "remove", 3),
        ("@jelle: I stopped taking my pills, garlic cures everything", "label", 4),
    ],
)
async def test_moderators_agree_on_a_post(post: str, action: str, votes: int) -> None:
    outputs = await run("post_moderation", post)
    consensus = outputs["pipeline"]["consensus"]

    assert outputs["response"] == action
    assert consensus["tally"][consensus["winner"]] == votes
    assert len(who_worked(outputs)) == 8  # four proposals, four votes


async def test_moderators_who_are_split_leave_a_post_to_a_person() -> None:
    outputs = await run("post_moderation", "@jelle: The number of the town hall is 020 1234567")

    assert outputs["pipeline"]["consensus"]["why"] == "tie"
    assert outputs["response"].startswith("No agreement was reached")


# Debate.


@pytest.mark.parametrize(
    ("question", "winner", "why"),
    [
        ("Build or buy the search for 5 years?", "builder", "133,000 euros"),
        ("Build or buy the search for 1 year?", None, "Both have 5 points"),
        ("Build or buy the login for 40000 users and 4 years?", "buyer", "ISO 27001"),
        ("The planning for 60 users over 3 years?", "builder", "no product held a day"),
    ],
)
async def test_a_debate_is_won_by_what_stands(question: str, winner: str | None, why: str) -> None:
    outputs = await run("build_or_buy", question)

    assert outputs["pipeline"]["verdict"] == {"by": "judge", "winner": winner}
    assert why in outputs["response"]
    assert who_worked(outputs).count("builder") == who_worked(outputs).count("buyer") == 3


# Handoff.


@pytest.mark.parametrize(
    ("message", "desks", "said"),
    [
        ("Card 4471 was stolen", ["front_desk", "cards", "fraud"], "890.00 to Electro Mundo"),
        ("I lost my card 9032", ["front_desk", "cards"], "M. Okafor is blocked"),
        ("Card 1188: 1350 at gift-cards is not mine", ["front_desk", "fraud"], "1350.00"),
        ("A mortgage of 250000 over 30 years?", ["front_desk", "lending"], "1179.17 euros"),
        ("A car loan of 90000 over 5 years?", ["front_desk", "lending"], "2500 to 50000 euros"),
        ("What is the balance on 1188?", ["front_desk"], "-211.80 euros"),
    ],
)
async def test_a_caller_is_handed_to_whoever_can_help(
    message: str, desks: list[str], said: str
) -> None:
    outputs = await run("bank_phone_desk", message)

    assert who_worked(outputs) == desks
    assert said in outputs["response"]
    assert [step["to"] for step in outputs["pipeline"]["path"]] == desks[1:]


# Parallel.


@pytest.mark.parametrize(
    ("message", "decision"),
    [
        ("Noord Cloud on 2026-12-01?", "Yes: "),
        ("noord cloud on 2027-12-01?", "Yes, on conditions: certificates: expired"),
        ("PrintRight Leasing on 2026-12-01?", "No: finances: result -1.8"),
        ("Mailwind, 2026-12-01", "No: privacy: region: US"),
        ("Meridiaan Metaal on 2026-12-15", "No: ownership: Viktor Sorokyn"),
    ],
)
async def test_the_worst_check_decides_on_a_vendor(message: str, decision: str) -> None:
    outputs = await run("vendor_check", message)

    assert outputs["response"].startswith(decision)
    assert len(who_worked(outputs)) == 5


# With models.


ARGUMENTS: dict[str, dict[str, Any]] = {
    "track_order": {"number": "B-2003"},
    "list_payments": {"number": "B-2002"},
    "search_handbook": {"question": "red light"},
    "checklist": {},
    "judge": {"topic": "notice period", "number": 180},
    "measures": {"company": "Brava Foods"},
    "metrics": {"time": "14:10"},
    "logs": {"time": "14:10"},
    "dependencies": {"services": ["gateway", "checkout"]},
    "changes": {"services": ["checkout"], "time": "14:10"},
    "guidelines": {"post": "shut up"},
    "precedents": {"post": "shut up"},
    "membership": {"post": "@mara: shut up"},
    "context": {"post": "shut up"},
    "costs": {"system": "search", "years": 5, "users": 1},
    "find_card": {"digits": "4471"},
    "odd_payments": {"digits": "4471"},
    "monthly_payment": {"kind": "car", "amount": 5000, "years": 5},
    "finances": {"vendor": "Mailwind"},
    "ownership": {"vendor": "Mailwind"},
    "certificates": {"vendor": "Mailwind", "on": "2026-12-01"},
    "privacy": {"vendor": "Mailwind"},
}
"""What a model calls each tool with."""
SAID = {
    "tasks": [{"task": "notice period", "worker": None}],
    "reassign": [],
    "handoff": None,
    "next": None,
    "supplier": "Van Dam Kantoor B.V.",
    "number": "X-1",
    "iban": "NL91ABNA0417164300",
    "lines": [{"text": "Office chair", "quantity": 2, "price": 10000, "rate": 21}],
    "net": 20000,
    "vat": 4200,
    "total": 24200,
}
"""What a model gives for an output that not any value of its type would do for."""


def sensible(call: Call) -> Answer:
    """Use the first tool that is offered, once; then give every output that is asked for."""
    assert call.schema is not None
    if call.tools and not any(message["role"] == "tool" for message in call.messages):
        return UseTool(call.tools[0], **ARGUMENTS[call.tools[0]])
    properties = call.schema["properties"]
    outputs = {
        name: SAID[name] if name in SAID else a_value(kind) for name, kind in properties.items()
    }
    if "done" in properties:  # a controller, who wants everybody to have added something
        seen = json.loads(call.messages[-1]["content"])["board"]
        outputs["done"] = len(seen) == 4
    if "handoff" in properties and '"handoff":' not in call.message:
        outputs["handoff"] = {"to": "cards", "reason": "a card was stolen"}
    return outputs


def a_value(kind: dict[str, Any]) -> Any:
    """Any value of a type of JSON schema."""
    if "enum" in kind:
        return kind["enum"][0]
    if "const" in kind:
        return kind["const"]
    if "anyOf" in kind:
        return a_value(kind["anyOf"][0])
    if kind["type"] == "array":
        return [a_value(kind["items"])]
    return {"string": "Said.", "number": 0.9, "integer": 1, "boolean": True}[kind["type"]]


@pytest.mark.parametrize("name", NAMES)
async def test_with_a_model_the_same_agents_work_with_their_tools(name: str) -> None:
    module = example(name)
    pipeline: PatternPipeline = module.MODEL_PIPELINE
    async with ScriptedModel(always=sensible) as model:
        outputs = await pipeline.with_model(model).run(message=module.SAMPLES[0])

    story = outputs["pipeline"]
    assert (story["status"], story["failed"]) == ("complete", [])
    assert outputs["response"]
    few = {"router": 1, "handoff": 2, "supervisor_worker": 2, "ensemble": 4}
    everybody = len(list(pipeline.leaves))
    assert len(set(who_worked(outputs))) == few.get(pipeline.pattern, everybody)
    asked = {tool for call in model.calls for tool in call.tools}
    returned = [m["content"] for c in model.calls for m in c.messages if m["role"] == "tool"]
    assert bool(asked) == bool(returned) == (name != "invoice_intake")
    assert not [result for result in returned if result.startswith("This failed")]
