"""The table of capabilities: parts that are imported when something asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from journeygraph.journeys.errors import ConfigurationError, extra_of

if TYPE_CHECKING:
    from journeygraph.journeys.spec.spec import JourneySpec


@dataclass(frozen=True, slots=True)
class Entry:
    """A capability.

    Attributes:
        module: The module that begins it; it imports the rest.
        acts: The class of the module that takes part in turns; empty: it has no part in them.
        wanted: Tells whether a journey declares it; None: something else asks for it by name.
    """

    module: str
    acts: str = ""
    wanted: Callable[[JourneySpec], bool] | None = None


_NODES, _GRAPHS = "journeygraph.nodes", "journeygraph.graphs"

CAPABILITIES = {
    "silence": Entry(
        f"{_NODES}.features.reminders", "SilenceReminders", lambda spec: spec.has_silence
    ),
    "guidelines": Entry(
        f"{_NODES}.features.guidance", "Guidelines", lambda spec: bool(spec.guidelines)
    ),
    "dialogue": Entry(f"{_NODES}.features.dialogue", "Dialogue", lambda spec: spec.uses_dialogue),
    "effects": Entry(
        f"{_NODES}.turn.take_effects",
        "TakenEffects",
        lambda spec: any(one.effects for one in spec.pathways.values()),
    ),
    "calls": Entry(
        f"{_NODES}.turn.call_tools",
        "Calls",
        lambda spec: any(one.calls for one in spec.pathways.values()),
    ),
    "person": Entry(f"{_NODES}.features.takeover", "Person", lambda spec: spec.can_escalate),
    "concierge": Entry(
        f"{_NODES}.features.concierge", "ConciergeJourneys", lambda spec: bool(spec.parts)
    ),
    "knowledge": Entry(
        f"{_NODES}.knowledge.answers", "KnowledgeAnswers", lambda spec: spec.has_knowledge
    ),
    "rewording": Entry(
        f"{_NODES}.features.rephrase",
        "Rewording",
        lambda spec: any(one.personality.reword for one in (spec, *spec.parts.values())),
    ),
    "checks": Entry(f"{_NODES}.turn.validate"),
    "outside": Entry(f"{_NODES}.turn.take_event"),
    "upgrade": Entry(f"{_NODES}.turn.upgrade"),
    "understanding": Entry(f"{_NODES}.turn.ask_model"),
    "language": Entry(f"{_NODES}.language.proposals"),
    "patterns": Entry(f"{_GRAPHS}.pipelines.patterns"),
    "selection": Entry(f"{_NODES}.pipelines.choosing"),
    "forms": Entry(f"{_NODES}.forms.questions"),
    "values": Entry(f"{_NODES}.values.checking"),
    "models": Entry(f"{_NODES}.llm.models"),
    "model_replies": Entry(f"{_NODES}.llm.replies"),
    "model_agents": Entry(f"{_GRAPHS}.agents.model_agents"),
    "escalations": Entry(f"{_GRAPHS}.records.escalations"),
    "forks": Entry(f"{_GRAPHS}.records.forks"),
    "version_migration": Entry(f"{_GRAPHS}.session.version_migration"),
    "webhook": Entry(f"{_GRAPHS}.session.webhook"),
    "tools": Entry(f"{_GRAPHS}.agents.tools"),
}
"""All capabilities by name. Those of turns act in this order."""


def part(name: str) -> ModuleType:
    """Import the module of a capability; the first call of a process takes some time.

    Raises:
        ConfigurationError: Its folder, or a package that it needs, is not installed.
    """
    module = CAPABILITIES[name].module
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"The capability '{name}' is not installed: there is no module '{error.name}'. "
            f"Run: pip install 'journeygraph[{extra_of(error) or 'all'}]'"
        ) from error
