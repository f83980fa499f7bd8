"""The one door from the language to the runtime.

A journey is what authors hold in their hands, so `journey.start()` and `Journey.compile()` live
there (ADR-025 section 5.1). Everything else of the language knows nothing of the runtime; these
imports happen on first use, and they are the only ones that point upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphs.manager import PathwayManager
    from journeys.journey import Journey
    from journeys.spec import JourneySpec


def open_manager(journey: Journey, **options: Any) -> PathwayManager:
    """Return the manager that runs the journey's session."""
    from graphs.manager import PathwayManager  # noqa: PLC0415

    return PathwayManager(journey, **options)


def compile_journey(spec: JourneySpec, **options: Any) -> Any:
    """Return the compiled LangGraph graph of a spec, without a saver."""
    from graphs.compile import compile_standalone  # noqa: PLC0415

    return compile_standalone(spec, **options)


def svg_of(spec: JourneySpec, here: str = "", paused: Sequence[str] = ()) -> str:
    """Return the picture of a spec as SVG, with the pathways of a session marked."""
    from graphs.drawing.svg import svg  # noqa: PLC0415

    return svg(spec, here, paused)


def text_of(spec: JourneySpec) -> str:
    """Return the picture of a spec as lines of text."""
    from graphs.drawing.terminal import text  # noqa: PLC0415

    return text(spec)
