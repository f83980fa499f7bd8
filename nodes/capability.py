"""A capability in the turns of a journey: the moments of a turn that it may add to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import ConfigurationError, JourneyConfig, JourneySpec, PathwaySpec
from journeygraph.journeys.spec.capability_table import CAPABILITIES, part
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import PathwayState, Position, SessionState, Turn, Update

if TYPE_CHECKING:
    from journeygraph.nodes.draft import PathwayRun, TurnDraft
    from journeygraph.nodes.state.interpretation import Interpretation


@dataclass(frozen=True, slots=True)
class PathwayStep:
    """A step of a pathway before its agents.

    Attributes:
        goes_on: Tells from the progress of the pathway whether the next step runs; None: always.
    """

    name: str
    run: Callable[[PathwayState, Services], Awaitable[Update]]
    about: str
    goes_on: Callable[[Mapping[str, Any]], bool] | None = None


class Capability:
    """Something that a journey declares, in the moments of its turns, in the order of the methods.

    Each method does nothing by default.
    """

    def __init__(self, spec: JourneySpec) -> None:
        """Take part in the turns of a journey."""
        self.spec = spec

    @classmethod
    def wanted(cls, spec: JourneySpec) -> bool:
        """Return whether a journey has it. Asked of capabilities of installed packages only."""
        return True

    def load(self, config: JourneyConfig) -> None:
        """Load the data that the first message would wait for; the graph is built now."""

    def steps(self, pathway: PathwaySpec) -> Sequence[PathwayStep]:
        """Return the steps of a pathway before its agents."""
        return ()

    def greet(self, draft: TurnDraft) -> None:
        """Add to the greeting of a session."""

    async def hold(self, draft: TurnDraft) -> Update | None:
        """Answer in place of the assistant; None: the turn continues."""
        return None

    def remind(self, draft: TurnDraft, timer: str) -> None:
        """Act on a timer that is due and moves nothing."""

    def stop(self, draft: TurnDraft) -> bool:
        """Decide the turn before the message is interpreted; return whether that is done."""
        return False

    async def read(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Read the message without a model."""

    async def weigh(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Weigh what was read against the triggers that hold."""

    async def ask(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Add to what a model is asked."""

    async def decide(self, draft: TurnDraft, reading: Interpretation) -> bool:
        """Decide the turn; return whether that is done, which leaves nothing to the others."""
        return False

    async def answer(self, draft: TurnDraft) -> None:
        """Answer what the message asks next to what was decided."""

    def complete(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Add to what was decided."""

    def gather(self, run: PathwayRun) -> None:
        """Take over what the steps of a pathway that ran have noted."""

    def record(self, run: PathwayRun) -> None:
        """Record what a pathway did, before the next one is decided."""

    def lead(self, run: PathwayRun) -> None:
        """Lead on from a pathway."""

    async def reword(self, state: SessionState, services: Services, turn: Turn) -> Turn:
        """Return the turn with its replies in other words."""
        return turn

    def close(
        self, services: Services, state: Mapping[str, Any], turn: Turn
    ) -> tuple[Position, Turn]:
        """Return the position and the record with which the turn ends."""
        return state["position"], turn


Capabilities = Sequence[Capability]
"""The capabilities of a journey, in the order in which they act."""


def capabilities_of(spec: JourneySpec) -> Capabilities:
    """Return the capabilities of a journey; the modules of others are not imported.

    Those of installed packages come last, in the order of their names.

    Raises:
        ConfigurationError: A capability cannot be imported, or is not a `Capability`.
    """
    own = [
        getattr(part(name), entry.acts)(spec)
        for name, entry in CAPABILITIES.items()
        if entry.wanted is not None and entry.wanted(spec)
    ]
    return [*own, *(kind(spec) for kind in installed() if kind.wanted(spec))]


GROUP = "journeygraph.capabilities"
"""The group of entry points with the capabilities of installed packages."""


@cache
def installed() -> Sequence[type[Capability]]:
    """Return the capabilities of installed packages, as their entry points name them."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return [_loaded(point) for point in points]


def _loaded(point: EntryPoint) -> type[Capability]:
    remedy = f"Repair or remove the package that declares '{point.name}' in {GROUP}."
    try:
        kind = point.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            f"The capability '{point.value}' cannot be imported ({reason}). {remedy}"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Capability)):
        raise ConfigurationError(f"'{point.value}' is no subclass of Capability. {remedy}")
    return kind
