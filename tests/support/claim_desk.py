"""One journey three times: as a class, as YAML and as JSON; with what does its work."""

from __future__ import annotations

import json
from typing import Any, Literal

from journeygraph import (
    NEVER,
    Call,
    ConditionTrigger,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    MergeStrategy,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    ToolSpec,
    Transition,
    Validation,
)
from journeygraph.journeys.files.expressions import ContextCondition, MessageCondition

YAML = """\
id: claim_desk
name: ClaimDesk
instructions: |
  Settle a claim, from the report to the decision.
model: gpt-4o-mini
tools:
  - type: function
    function:
      name: estimate
      description: Say what a repair costs.
      parameters:
        type: object
        properties: {what: {type: array, items: {type: string}}}
        required: [what]
activation_conditions:
  - wants to report damage
  - {condition: asks about a claim, patterns: [my claim], confidence: 0.8}
  - when: context.claim != ''
initial_state: report
states:
  assess:
    kind: tool
    purpose: Say what it costs.
    action: Tell the customer what the estimate is.
    inputs: [damage]
    calls:
      - {tool: estimate, arguments: {what: damage}, save: estimate}
    complete_when: {when: context.estimate.amount > 0}
    on_arrival: run
    timeout: 20
  report:
    kind: collect
    purpose: Hear what happened.
    action: Ask for the policy number first, then for what is broken.
    tools: [estimate]
    outputs:
      policy: {type: string, description: Number of the policy}
      damage: {type: array, items: {type: string}, merge: union}
      urgency: {enum: [low, high, null]}
    guidelines:
      - {condition: the customer is lost, action: explain the form}
    next: assess
  fraud:
    action: Say that a colleague will look at it.
    agents: [detective]
    complete_when: never
  hours:
    action: Say when we are open.
transitions:
  - to: hours
    condition: asks when we are open
    patterns: [opening hours]
    detour: true
    priority: 5
  - to: fraud
    from: [assess, report]
    when: context.estimate.amount > 5000
    update: {flagged: "set:yes"}
guidelines:
  - id: worried
    condition: the customer is upset
    action: say that help is on its way
    keywords: [upset, scared]
    priority: 3
    critical: true
    forbids: [calm down]
  - action: mention the hotline
    when: message.contains('hotline') && has(context.policy)
    scope: global
validation: {confidence: 0.7, pii: [card, iban], allow: ["0800 1234"]}
safe_reply: Let me look that up.
degrade: refuse
shared: [policy]
"""


def as_json() -> str:
    """The same as JSON, indented by tabs."""
    from journeygraph.journeys.files.journey_file import read_tree  # noqa: PLC0415 - as whoever reads files does

    return json.dumps(read_tree(YAML, "claim.yaml").value, indent="\t")


def hearing(name: str, inputs: Any = None, **outputs: Any) -> type[Signature]:
    said = {
        "message": (str, InputField(description="Latest message of the user", source="message")),
        **(inputs or {}),
    }
    reply = {"response": (str, OutputField(description="What to say to the user"))}
    return Signature.define(name, inputs=said, outputs={**reply, **outputs}, instructions="")


class ClaimDesk(Journey):
    """Settle a claim, from the report to the decision."""

    __model__ = "gpt-4o-mini"
    __entry_pathway__ = "report"
    __activation__ = [
        "wants to report damage",
        IntentTrigger(["my claim"], "asks about a claim", confidence_threshold=0.8),
        ConditionTrigger(ContextCondition("context.claim != ''")),
    ]

    class AssessPath(Pathway):
        """Say what it costs."""

        __signature__ = hearing("Assess", {"damage": (Any, InputField(default=None))})
        __tools__ = []
        __action__ = "Tell the customer what the estimate is."
        __calls__ = [Call("estimate", {"what": "damage"}, save="estimate")]
        __complete_when__ = ContextCondition("context.estimate.amount > 0")
        __runs_on_arrival__ = True
        __timeout__ = 20

    class ReportPath(Pathway):
        """Hear what happened."""

        __signature__ = hearing(
            "Report",
            policy=(str, OutputField(description="Number of the policy")),
            damage=(list[str], OutputField()),
            urgency=(Literal["low", "high"] | None, OutputField()),
        )
        __tools__ = ["estimate"]
        __action__ = "Ask for the policy number first, then for what is broken."
        __accumulate__ = {"policy": None, "damage": MergeStrategy.UNION, "urgency": None}
        __complete_when__ = ["policy", "damage", "urgency"]
        __next__ = "assess"
        __guidelines__ = [Guideline(condition="the customer is lost", action="explain the form")]

    class FraudPath(Pathway):
        __signature__ = hearing("Fraud")
        __agents__ = ["detective"]
        __tools__ = []
        __action__ = "Say that a colleague will look at it."
        __complete_when__ = NEVER

    class HoursPath(Pathway):
        __signature__ = hearing("Hours")
        __tools__ = []
        __action__ = "Say when we are open."
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(["opening hours"], "asks when we are open"),
            to_pathway="hours",
            priority=5,
        ),
        Transition(
            ConditionTrigger(ContextCondition("context.estimate.amount > 5000")),
            from_pathway=["assess", "report"],
            to_pathway="fraud",
            context_update={"flagged": "set:yes"},
        ),
    ]
    __guidelines__ = [
        Guideline(
            id="worried",
            condition="the customer is upset",
            action="say that help is on its way",
            keywords=["upset", "scared"],
            priority=3,
            critical=True,
            forbids=["calm down"],
        ),
        Guideline(
            action="mention the hotline",
            when=MessageCondition("message.contains('hotline') && has(context.policy)"),
            scope="global",
        ),
    ]
    __validation__ = Validation(confidence=0.7, pii=["card", "iban"], allow=["0800 1234"])
    __safe_reply__ = "Let me look that up."
    __degrade__ = "refuse"
    __shared__ = ["policy"]


ESTIMATE = ToolSpec(
    "estimate",
    "Say what a repair costs.",
    {
        "type": "object",
        "properties": {"what": {"type": "array", "items": {"type": "string"}}},
        "required": ["what"],
    },
)


def estimate(what: list[str]) -> dict[str, Any]:
    """What a repair costs."""
    return {"amount": 9_000 if "roof" in what else 80}


def report(ask: dict[str, Any]) -> dict[str, Any]:
    """Note what is said: the policy after 'P-', and what is broken."""
    words = ask["message"].replace(",", " ").replace(".", " ").split()
    return {
        "response": "Noted. What else?",
        "policy": next((word for word in words if word.startswith("P-")), None),
        "damage": [word for word in words if word in ("roof", "window", "door")] or None,
        "urgency": "high" if "urgent" in words else None,
    }


def assess(ask: dict[str, Any]) -> str:
    """Tell what the tool found."""
    return f"That will cost {ask['tool_results']['estimate']['amount']}."


AGENTS = {
    "report": report,
    "assess": assess,
    "detective": lambda ask: "A colleague will call you.",
    "hours": lambda ask: "We are open from nine.",
}
TOOLS = {"estimate": estimate}
