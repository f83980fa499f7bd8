"""Consoles of the command: one for output, one for errors."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rich.console import Console, ConsoleDimensions
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from journeygraph.journeys import (
    AuditEntry,
    IntentTrigger,
    JourneyConfig,
    JourneyResponse,
    JourneySpec,
    TranscriptEntry,
)
from journeygraph.journeys.spec.model_names import KEY
from journeygraph.journeys.store_url import masked
from journeygraph.nodes.llm.models import SERVER, ModelSet, chat_of, is_configured, provider_of
from journeygraph.server.discover.errors import described

if TYPE_CHECKING:
    from journeygraph.server.http.app_state import AppState
    from journeygraph.server.logs import Raised

_UNBROKEN = 10_000
"""Columns of a file or pipe."""
_LINE_SECONDS = 5.0
"""Least seconds between two lines about the progress of a command, without a terminal."""


class Terminal(Console):
    """A console that wraps lines between words on a terminal.

    Piped output is not wrapped, unless COLUMNS sets a width.
    """

    @property  # type: ignore[misc]
    def size(self) -> ConsoleDimensions:
        """Return the columns and rows of the terminal."""
        known = super().size
        if self.is_terminal or "COLUMNS" in os.environ:
            return known
        return ConsoleDimensions(_UNBROKEN, known.height)

    def raw(self, text: str, *, end: str = "\n", style: str | None = None) -> None:
        """Write text to copy, or for a program, without wrapping it."""
        self.print(text, end=end, style=style, markup=False, soft_wrap=True)


out = Terminal(highlight=False, emoji=False)
err = Terminal(stderr=True, highlight=False, emoji=False)


class Step(Protocol):
    """Shows a step of a long command."""

    def __call__(self, words: str = "", done: int = 1) -> None:
        """Add steps."""


@contextmanager
def progress(
    what: str, total: int | None = None, *, quiet: bool = False, pause: float = _LINE_SECONDS
) -> Iterator[Step]:
    """Show on standard error how far a command is: a bar on a terminal, else lines.

    Args:
        quiet: True to show nothing, because a program reads the output.
        pause: Least seconds between two lines.
    """
    if not (quiet or err.is_interactive):
        yield _lines(what, total, pause)
        return
    # Most commands end at once, and the bars take long to import.
    from rich.progress import Progress  # noqa: PLC0415

    # What the functions of a journey print into a file stays there.
    with Progress(
        console=err, transient=True, disable=quiet, redirect_stdout=out.is_terminal
    ) as live:
        task = live.add_task(what, total=total)

        def step(words: str = "", done: int = 1) -> None:
            text = plain(f"{what}: {words}" if words else what, markup=True)
            live.update(task, advance=done, description=text)

        yield step


def _lines(what: str, total: int | None, pause: float) -> Step:
    so_far, shown = 0, time.monotonic()

    def step(words: str = "", done: int = 1) -> None:
        nonlocal so_far, shown
        so_far += done
        if time.monotonic() - shown < pause:
            return
        shown = time.monotonic()
        of = f" of {total}" if total is not None else ""
        parts = [words] if total is None and words else [f"{so_far}{of}", words]
        err.raw(plain(f"{what}: {', '.join(filter(None, parts))}"))

    return step


@contextmanager
def writing_to_stderr() -> Iterator[None]:
    """Write this output to standard error: standard output is for a program."""
    out.stderr = True
    try:
        yield
    finally:
        out.stderr = False


def interruptible() -> None:
    """Make Ctrl-C raise an exception from now on; before, it ends the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def say(error: BaseException) -> None:
    """Write an error for the user of the command."""
    for line in described(error):
        err.print(f"[bold red]✗[/] {plain(line, markup=True)}")


def write_json(value: Any) -> None:
    """Write a value as JSON."""
    out.raw(json.dumps(value, ensure_ascii=True, indent=2))


NO_MODEL = (
    "No model is configured: agents are ordinary functions, and intents use only their patterns."
)
_NO_KEY = f"{SERVER} is set, but {KEY} is not. If the server needs no key, set it to any text."
_SHORT = 60


def announce(
    config: JourneyConfig,
    *specs: JourneySpec,
    model: Any = None,
    whose: str = "",
    to: Terminal = out,
) -> None:
    """Write the models of journeys; write that none is configured only if a journey could use one.

    Args:
        whose: Prefix with the journeys' names, if not all have the same models.
    """
    if any(is_configured(model, config, spec) for spec in specs or (None,)):
        line = f"{whose}{models_of(config, model)}."
        to.print(plain(line), style="dim", markup=False)
        return
    triggers = [transition.trigger for spec in specs for transition in spec.transitions]
    asking = [t for t in triggers if isinstance(t, IntentTrigger) and t.use_llm_fallback]
    if asking:
        to.print(f"{whose}{NO_MODEL}", style="dim")
    if unheard := [trigger.label for trigger in asking if not trigger.patterns]:
        line = (
            f"These intents have no patterns and can never match without a model: "
            f"{'; '.join(unheard)}."
        )
        to.print(plain(line), style="yellow", markup=False)
    if os.environ.get(SERVER):
        to.print(_NO_KEY, style="yellow")


def announce_all(app_state: AppState, to: Terminal = out) -> None:
    """Write the models of a server's journeys."""
    groups = app_state.by_model() or [(app_state.model, [])]
    for model, specs in groups:
        whose = f"{', '.join(spec.id for spec in specs)}: " if groups[1:] else ""
        announce(app_state.config, *specs, model=model, whose=whose, to=to)


def models_of(config: JourneyConfig, model: Any) -> str:
    """Return a sentence with the model of each kind of work."""
    given = model if isinstance(model, ModelSet) else ModelSet(model)
    agents = given.agents or config.agent_model
    understands = given.understanding or given.agents or config.intent_detection_model
    checks = given.check or given.agents or config.validation_model or agents
    return (
        f"On models{models_place(agents, understands, checks)}: {_called(understands)} "
        f"reads messages, {_called(agents)} runs the agents without a function, {_called(checks)} "
        "checks replies"
    )


def models_place(*models: Any) -> str:
    """Return the server of the models that are given by name."""
    named = [isinstance(model, str) and provider_of(model) is None for model in models]
    if not any(named):
        return ""
    place = masked(os.environ.get(SERVER) or "OpenAI")
    return f" of {place}" if all(named) else f", models without a provider at {place}"


def _called(model: Any) -> str:
    return model if isinstance(model, str) else chat_of(model).called or type(model).__name__


def plain(text: str, *, markup: bool = False) -> str:
    """Make foreign text safe for a terminal: no control characters, no escape sequences.

    Args:
        markup: True to escape it for rich's markup.
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
    """Return the moves of a turn in a few words, and the pathways paused below a detour."""
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


def mishaps(audit: Iterable[AuditEntry], raised: Iterable[Raised]) -> Iterator[str]:
    """Yield the effects and tools of a turn that did not do their work, and why."""
    words = {one.name: one.words for one in raised}
    for entry in audit:
        if said := _MISHAPS.get(entry.kind):
            name = entry.trigger or ""
            yield said.format(name, short(words.get(name) or entry.reason, 200))


_MISHAPS = {
    "effect_failed": "effect {} failed: {}",
    "effect_unsure": "effect {} has an unknown outcome: {}",
    "effect_late": "effect {} was late: {}",
    "tool_failed": "tool {} failed: {}",
    "knowledge_failed": "retriever {} failed: {}",
}


def firing(reply: JourneyResponse) -> str:
    """Return the transition that fired and its reason; "" if none did."""
    data = reply.metadata
    if not reply.transition_occurred:
        return ""
    why = data["reasoning"] or data["transition_intent"]
    return f"to {reply.transition_to}, {data['tier']}: {short(why)}"


def troubles(reply: JourneyResponse, audit: Iterable[AuditEntry]) -> Iterator[str]:
    """Yield the problems of a turn for its author: errors, missing replies, empty inputs."""
    for entry in audit:
        if entry.kind == "condition_raised":
            what = f"'{entry.trigger}': " if entry.trigger else ""
            yield (
                f"a condition raised an error and counts as false: {what}{short(entry.reason, 200)}"
            )
    for flag in reply.metadata["flags"]:
        name, _, what = flag.partition(":")
        if words := _FLAGS.get(name):
            yield words.format(what)


_FLAGS = {
    "no_reply": "no reply in '{}'",
    "empty_input": "the required input '{}' was empty: no value is set",
    "depth_refused": "a detour was refused: too many pathways are paused",
    "understanding_failed": "the call of the model for the meaning failed ({})",
    "below_threshold": "the confidence of the model was too low for a transition",
    "validation_bypassed": "no model was able to check the reply: it needs a review",
    "outside_closed_set": "the model proposed a step that is not allowed here",
}


def listing(*headings: str) -> Table:
    """Return a table without frames; its last column is wrapped first."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(headings))
    for number, heading in enumerate(headings, 1):
        table.add_column(heading, no_wrap=number < len(headings), overflow="fold")
    return table


def row(*cells: Any) -> list[Text]:
    """Return cells of foreign text for a table, without markup."""
    return [Text("" if cell is None else plain(str(cell))) for cell in cells]


def coloured(drawing: str) -> Text:
    """Return a text picture with its detours and patterns highlighted."""
    text = Text(drawing, no_wrap=True)
    text.highlight_regex(r"[╭╰┆].*[╮╯┆]|┄┄▷ \S+", "yellow")
    text.highlight_regex(r"──▶ \S+|└─▶ \S+", "cyan")
    text.highlight_regex(r"“[^”]*”", "green")
    return text


def show_next(after: str | None) -> None:
    """Write the option for the next page of a listing, if there is one."""
    if after:
        out.print(f"Next page: --after {after}", markup=False)


def show_written(file: Path, turns: int, notes: Iterable[str]) -> None:
    """Write that a conversation was recorded in a file, and the differences."""
    messages = f"{turns} message{'s' * (turns != 1)}"
    out.print(f"Written: {file} ({messages})", markup=False)
    for note in notes:
        out.print(plain(f"  ! {note}"), style="yellow", markup=False)


def talk_row(turn: int | str, entry: TranscriptEntry, gone: Collection[int]) -> list[Text]:
    """Return an entry of a transcript as cells; dim if it does not count, a rollback divides."""
    is_back, is_gone = entry.rolled_back_to is not None, entry.turn in gone
    said = f"── {entry.content} ──" if is_back else entry.content
    cells = row(turn, f"{entry.role} (taken back)" if is_gone else entry.role, said)
    for cell in cells if is_back or is_gone else ():
        cell.stylize("dim")
    return cells
