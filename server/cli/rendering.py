"""What the command prints, and how: one console for words, one for errors."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from journeys import AuditEntry, IntentTrigger, JourneyConfig, JourneyResponse, JourneySpec
from journeys.store_url import masked
from nodes.llm.models import KEY, SERVER, ModelSet, chat_of, is_configured, provider_of

if TYPE_CHECKING:
    from server.wiring import Wiring

out = Console(highlight=False, emoji=False)
err = Console(stderr=True, highlight=False, emoji=False)

NO_MODEL = (
    "No model is configured: agents are ordinary functions, and intents go by their patterns."
)
_NO_KEY = f"{SERVER} is set, but {KEY} is not: set it to any text if that server wants no key."
_SHORT = 60


def announce(
    config: JourneyConfig,
    *specs: JourneySpec,
    model: Any = None,
    whose: str = "",
    to: Console = out,
) -> None:
    """Say which models journeys run on; that there is none, only where one could be asked.

    Args:
        config: Their settings.
        specs: The journeys.
        model: What they are given as their model.
        whose: Whose models they are, where not all journeys have the same.
        to: Where to write.
    """
    if any(is_configured(model, config, spec) for spec in specs or (None,)):
        line = f"{whose}{models_of(config, model)}."
        to.print(plain(line), style="dim", markup=False, soft_wrap=True)
        return
    triggers = [transition.trigger for spec in specs for transition in spec.transitions]
    asking = [t for t in triggers if isinstance(t, IntentTrigger) and t.use_llm_fallback]
    if asking:
        to.print(f"{whose}{NO_MODEL}", style="dim", soft_wrap=True)
    if unheard := [trigger.label for trigger in asking if not trigger.patterns]:
        line = f"Never heard without one, for want of a pattern: {'; '.join(unheard)}."
        to.print(plain(line), style="yellow", markup=False, soft_wrap=True)
    if os.environ.get(SERVER):
        to.print(_NO_KEY, style="yellow", soft_wrap=True)


def announce_all(wiring: Wiring, to: Console = out) -> None:
    """Say which models the journeys of a server run on."""
    groups = wiring.by_model() or [(wiring.model, [])]
    for model, specs in groups:
        whose = f"{', '.join(spec.id for spec in specs)}: " if groups[1:] else ""
        announce(wiring.config, *specs, model=model, whose=whose, to=to)


def models_of(config: JourneyConfig, model: Any) -> str:
    """Say which model does which work."""
    given = model if isinstance(model, ModelSet) else ModelSet(model)
    agents = given.agents or config.agent_model
    understands = given.understanding or given.agents or config.intent_detection_model
    checks = given.check or given.agents or config.validation_model or agents
    return (
        f"On models{models_place(agents, understands, checks)}: {_called(understands)} "
        f"understands, {_called(agents)} is every agent that is no function, {_called(checks)} "
        "checks replies"
    )


def models_place(*models: Any) -> str:
    """Say where those models are that only have a name."""
    named = [isinstance(model, str) and provider_of(model) is None for model in models]
    if not any(named):
        return ""
    place = masked(os.environ.get(SERVER) or "OpenAI")
    return f" of {place}" if all(named) else f", those without a provider of {place}"


def _called(model: Any) -> str:
    return model if isinstance(model, str) else chat_of(model).called or type(model).__name__


def command() -> str:
    """Return how the command is called from here: by its name, or by its place in .venv."""
    if shutil.which("journeygraph"):
        return "journeygraph"
    installed = Path(sys.prefix) / "bin" / "journeygraph"
    try:
        return str(installed.relative_to(Path.cwd()))
    except ValueError:
        return str(installed)


def plain(text: str, *, markup: bool = False) -> str:
    """Make foreign text safe for a terminal: no control characters, no escape sequences.

    Args:
        text: What an agent, a user or a file said.
        markup: Whether it goes where rich would read its brackets.
    """
    shown = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
    return escape(shown) if markup else shown


def short(value: Any, limit: int = _SHORT) -> str:
    """Write a value on one line, cut to a number of characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class Change(NamedTuple):
    """A context name that a turn changed: how ("+", "~" or "-"), and the value it has now."""

    how: str
    name: str
    value: Any


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """Compare two contexts, name by name."""
    for name, value in after.items():
        if name not in before:
            yield Change("+", name, value)
        elif before[name] != value:
            yield Change("~", name, value)
    for name in sorted(before.keys() - after.keys()):
        yield Change("-", name, None)


def movement(before: str, reply: JourneyResponse) -> str:
    """Say in a few words where the session went in a turn, and what waits below a detour."""
    way = [before, *reply.metadata["ran"], reply.pathway_id]
    steps = [step for number, step in enumerate(way) if number == 0 or step != way[number - 1]]
    words = [" → ".join(steps)]
    if stack := reply.metadata["pathway_stack"]:
        words.append(f"detour, {' and '.join(stack)} {'wait' if stack[1:] else 'waits'}")
    if reply.metadata["returning"]:
        words.append("returns with the next message")
    if reply.is_journey_complete:
        words.append("journey complete")
    if failure := reply.metadata["error"]:
        words.append(f"failed, nothing changed: {short(failure['message'], 200)}")
    return " · ".join(words)


def firing(reply: JourneyResponse) -> str:
    """Say which transition fired and why; empty if none did."""
    data = reply.metadata
    if not reply.transition_occurred:
        return ""
    why = data["reasoning"] or data["transition_intent"]
    return f"to {reply.transition_to}, {data['tier']}: {short(why)}"


def troubles(reply: JourneyResponse, audit: Iterable[AuditEntry]) -> Iterator[str]:
    """Say what an author would want to know of a turn: what raised, was silent or was empty.

    Args:
        reply: What the turn gave back.
        audit: The audit rows of that turn.
    """
    for entry in audit:
        if entry.kind == "condition_raised":
            what = f"'{entry.trigger}': " if entry.trigger else ""
            yield f"a condition raised and counts as false: {what}{short(entry.reason, 200)}"
    for flag in reply.metadata["flags"]:
        name, _, what = flag.partition(":")
        if words := _FLAGS.get(name):
            yield words.format(what)


_FLAGS = {
    "no_reply": "nothing was said in '{}'",
    "empty_input": "the required input '{}' was empty: nothing fills it",
    "depth_refused": "a detour was refused: too many pathways are paused already",
    "understanding_failed": "the model could not be asked what was meant ({})",
    "below_threshold": "the model was not sure enough of where to go",
    "validation_bypassed": "no model could judge the reply: somebody should look at it",
    "outside_closed_set": "the model asked for something that is not open here",
}


def table(*headings: str) -> Table:
    """A table without frames; the last column wraps."""
    made = Table(box=None, pad_edge=False, header_style="dim", show_header=any(headings))
    for number, heading in enumerate(headings):
        made.add_column(heading, no_wrap=number < len(headings) - 1, overflow="fold")
    return made


def row(*cells: Any) -> list[Text]:
    """Cells of foreign text for a table; nothing in them is read as markup."""
    return [Text("" if cell is None else plain(str(cell))) for cell in cells]


def coloured(drawing: str) -> Text:
    """A picture of characters with its detours and patterns set off."""
    text = Text(drawing, no_wrap=True)
    text.highlight_regex(r"[╭╰┆].*[╮╯┆]|┄┄▷ \S+", "yellow")
    text.highlight_regex(r"──▶ \S+|└─▶ \S+", "cyan")
    text.highlight_regex(r"“[^”]*”", "green")
    return text


def show_next(after: str | None) -> None:
    """Say how the next page of a listing is asked for, if there is one."""
    if after:
        out.print(f"There is more: --after {after}", markup=False, soft_wrap=True)
