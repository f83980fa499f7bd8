"""The one door from the language to the runtime.

A journey is what authors hold in their hands, so `journey.start()` and `Journey.compile()` live
there (ADR-025 section 5.1). Everything else of the language knows nothing of the runtime; these
imports happen on first use, and they are the only ones that point upwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from journeygraph.graphs.session.manager import PathwayManager
    from journeygraph.journeys.agents.agent import AgentCard
    from journeygraph.journeys.journey import Journey
    from journeygraph.journeys.notions.knowledge import Passage
    from journeygraph.journeys.pipelines import PatternPipeline, Pipeline
    from journeygraph.journeys.spec.spec import JourneySpec


def open_manager(journey: Journey, **options: Any) -> PathwayManager:
    """Return the manager that runs the journey's session."""
    from journeygraph.graphs.session.manager import PathwayManager  # noqa: PLC0415

    return PathwayManager(journey, **options)


def compile_journey(spec: JourneySpec, **options: Any) -> Any:
    """Return the compiled LangGraph graph of a spec, without a saver."""
    from journeygraph.graphs.compile import compile_standalone  # noqa: PLC0415

    return compile_standalone(spec, **options)


def svg_of(spec: JourneySpec, here: str = "", paused: Sequence[str] = ()) -> str:
    """Return the picture of a spec as SVG, with the pathways of a session marked."""
    from journeygraph.graphs.drawing.svg import svg  # noqa: PLC0415

    return svg(spec, here, paused)


def text_of(spec: JourneySpec) -> str:
    """Return the picture of a spec as lines of text."""
    from journeygraph.graphs.drawing.terminal import text  # noqa: PLC0415

    return text(spec)


def svg_of_pipeline(pipeline: Pipeline) -> str:
    """Return the picture of a pipeline as SVG."""
    from journeygraph.graphs.drawing.pipelines import chart, svg  # noqa: PLC0415

    return svg(chart(pipeline))


def run_pipeline(pipeline: PatternPipeline, inputs: Mapping[str, Any]) -> Any:
    """Return what runs a pipeline once, to be awaited."""
    from journeygraph.graphs.pipelines.run import run  # noqa: PLC0415

    return run(pipeline, inputs)


def stream_pipeline(pipeline: Pipeline, inputs: Mapping[str, Any]) -> AsyncIterator[Any]:
    """Run a pipeline once and yield its events."""
    from journeygraph.graphs.pipelines.run import stream  # noqa: PLC0415

    return stream(pipeline, inputs)


def compile_pipeline(pipeline: Pipeline, **options: Any) -> Any:
    """Return the compiled LangGraph graph of a pipeline."""
    from journeygraph.graphs.pipelines.run import compile_pipeline as compiled  # noqa: PLC0415

    return compiled(pipeline, **options)


def card_scores(task: str, cards: Sequence[AgentCard]) -> list[float]:
    """Return how well each card fits a task, from 0 to 1."""
    from journeygraph.nodes.agents.select import ranking_of  # noqa: PLC0415

    return ranking_of(cards).scores(task)


def passage_scores(question: str, passages: Sequence[Passage]) -> list[float]:
    """Return how well each passage fits a question, from 0 to 1."""
    from journeygraph.nodes.guidelines.ranking import ranking_of  # noqa: PLC0415

    entries = tuple(((f"{one.about} / {one.source}", one.text),) for one in passages)
    return ranking_of(entries).scores(question)


def reset_pipeline(pipeline: PatternPipeline) -> None:
    """Reset the round-robin order and the breakers of a pipeline."""
    from journeygraph.nodes.pipelines.memory import forget  # noqa: PLC0415

    forget(pipeline)
