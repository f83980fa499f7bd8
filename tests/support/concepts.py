"""Pictures of the concepts: journeys of their pages, and flows, drawn as journeys are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from journeygraph.graphs.drawing import pipelines
from journeygraph.graphs.drawing.pipelines import END, START, Chart, DrawnLine, PipelineNode
from journeygraph.graphs.drawing.svg import svg
from tests.support.pages import blocks

CONCEPTS = Path(__file__).resolve().parents[2] / "docs" / "concepts"


def of_page(page: str, journey: str, here: str = "", paused: Sequence[str] = ()) -> str:
    """Draw a journey that the first block of a page declares, and a session in it."""
    names: dict[str, Any] = {"__name__": page}
    first = next(one for one in blocks(CONCEPTS / f"{page}.md") if one.language == "python")
    exec(compile(first.text, first.place, "exec"), names)
    return svg(names[journey].spec, here, paused)


def flow(title: str, about: str, parts: Mapping[str, str], lines: str) -> str:
    """Draw boxes and lines: "a > b" is always so, "a ? b" only sometimes.

    Args:
        title: Title of the picture.
        about: Its subject, in a sentence.
        parts: Name of a box -> its text; without a text it is a small step.
        lines: The lines, separated by commas; "start" and "end" are dots.
    """
    stations = {name: PipelineNode(name, text, not text) for name, text in parts.items()}
    ends = {"start": START, "end": END}
    ways = []
    for line in lines.split(", "):
        source, sign, target = re.split(" ([>?]) ", line)
        ways.append(DrawnLine(ends.get(source, source), ends.get(target, target), sign == "?"))
    drawn = pipelines.svg(Chart(title, about, stations, tuple(ways)))
    return drawn.replace(f"Agents of the pipeline {title}: ", "Steps: ").replace(">Agent ", ">")


PICTURES: dict[str, partial[str]] = {
    "rental": partial(of_page, "journeys", "Rental"),
    "delivery": partial(of_page, "detours", "Delivery", "hours", ("order", "allergy")),
    "gift": partial(of_page, "effects", "Gift"),
    "capability": partial(
        flow,
        "Capabilities",
        "The moments of a turn to which a capability can add.",
        {
            "first": "hold, stop: answer or decide before the message is read",
            "reading": "read, weigh, ask: what the message says",
            "deciding": "decide, answer, complete: where the turn leads",
            "pathway": "steps: before the agents of a pathway",
            "settling": "gather, record, lead: what the pathway did, and what follows",
            "closing": "reword, close: the end of the turn",
        },
        "start > first, first > reading, reading > deciding, deciding > pathway, "
        "pathway > settling, settling ? pathway, settling > closing, closing > end",
    ),
    "one_turn": partial(
        flow,
        "One turn",
        "One message of the user, one run of the graph, one transaction.",
        {
            "understand": "Read the message; ask a model only if it is not exact",
            "decide": "Choose the move among those that are open now",
            "pathway": "Ask for fields, take effects, call tools, run agents",
            "settle": "Merge outputs into the context; move on if the pathway is complete",
            "check": "Mask personal data; enforce critical rules",
            "commit": "Store state, audit and reply together",
        },
        "start > understand, understand > decide, decide > pathway, pathway > settle, "
        "settle ? pathway, settle > check, check > commit, commit > end",
    ),
    "context": partial(
        flow,
        "Context",
        "Values pass through the strategy of their name.",
        {
            "outputs of agents": "Names in __accumulate__",
            "values of fields": "Checked by their validators",
            "context_update": "Written by a transition, before its target runs",
            "strategy": "REPLACE, APPEND, UNION, MERGE_DICT, MAX, MIN, SUM",
            "context": "Names and plain values, with a version for each turn",
            "inputs of agents": "All of it; a model gets only what its signature names",
        },
        "start ? outputs of agents, start ? values of fields, start ? context_update, "
        "outputs of agents > strategy, values of fields > context, context_update > strategy, "
        "strategy > context, context > inputs of agents",
    ),
    "reading": partial(
        flow,
        "Reading a message",
        "A message is understood exactly, or it is asked about.",
        {
            "grammar": "Does the whole message derive: an answer, a control, a change?",
            "proposals": "Values and wishes in it, without a model",
            "model": "One call, with the proposals in it",
            "said back": "An open field; a known one, a cancel, a person is asked back",
            "commands": "fill, correct, clear, confirm, deny, cancel, explain, ...",
            "attempts": "Each value is checked, stored and kept",
        },
        "start > grammar, grammar ? commands, grammar ? proposals, proposals ? model, "
        "proposals ? said back, model > commands, said back > commands, "
        "commands > attempts, attempts > end",
    ),
    "guidelines": partial(
        flow,
        "Guidelines and checks",
        "From all rules to those of this turn, and to the reply.",
        {
            "all guidelines": "Of the pathway, the journey and the conversation; any number",
            "word search": "At most 20 candidates, and all critical ones",
            "code": "The function in when",
            "model": "The one call that understands the message",
            "rules of this turn": "Ordered by scope and priority",
            "agents": "Get the actions, and the tools of these rules",
            "check": "By code always; by a model if there is one",
            "sent": "",
            "written again": "",
            "safe reply": "",
        },
        "start > all guidelines, all guidelines > word search, "
        "word search ? code, word search ? model, "
        "code > rules of this turn, model > rules of this turn, rules of this turn > agents, "
        "agents > check, check ? sent, check ? written again, written again ? sent, "
        "written again ? safe reply",
    ),
    "versions": partial(
        flow,
        "Persistence and versions",
        "One transaction for each turn; nothing is overwritten.",
        {
            "turn": "One run of the graph",
            "checkpoint": "The state, as LangGraph stores it",
            "ledger": "Message, reply, moves, checks, attempts",
            "version": "The next number of the session",
            "next turn": "In any process with this store",
            "rollback": "A new version that equals an older one",
            "fork": "Another session that begins in this version",
        },
        "start > turn, turn > checkpoint, turn > ledger, checkpoint > version, ledger > version, "
        "version ? next turn, version ? rollback, version ? fork",
    ),
    "model_calls": partial(
        flow,
        "Where the model is asked",
        "Thin lines: only if it is needed.",
        {
            "code reads": "Patterns, fields, conditions",
            "understanding": "One call: answers, moves and guidelines",
            "decide": "By code, among the moves that are open",
            "model agent": "With its tools",
            "look up": "Answers from passages",
            "function": "An agent without a model",
            "reword": "The runtime's own texts in the tone of the journey",
            "check": "Code always; a model judges the rules of the turn",
            "reply": "",
        },
        "start > code reads, code reads ? understanding, code reads ? decide, "
        "understanding > decide, decide ? model agent, decide ? look up, decide ? function, "
        "decide ? reword, model agent > check, look up > check, function > check, "
        "reword > check, check > reply",
    ),
}
"""Name of a file in docs/pictures -> the drawing."""
