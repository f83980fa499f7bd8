"""The one door from the language to the runtime.

A journey is what authors hold in their hands, so `journey.start()` and `Journey.compile()` live
there (ADR-025 section 5.1). Everything else of the language knows nothing of the runtime; these
imports happen on first use, and they are the only ones that point upwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from journeygraph.graphs.session.manager import PathwayManager
    from journeygraph.journeys.agents.agent import AgentCard
    from journeygraph.journeys.declarations.knowledge import Passage
    from journeygraph.journeys.journey import Journey
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


P = ParamSpec("P")
R = TypeVar("R")


class SessionMethod(Generic[P, R]):
    """Method of the manager that a journey has under the same name.

    Args:
        method: Returns the method of the manager; only its type is read.
    """

    def __init__(self, method: Callable[[], Callable[Concatenate[PathwayManager, P], R]]) -> None:
        self._method = method

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, journey: Any, owner: type) -> Callable[P, R]:
        method = self if journey is None else getattr(journey.manager, self._name)
        return cast("Callable[P, R]", method)


class SessionMethods:
    """The methods of a journey's session; `PathwayManager` has them, and says what they do."""

    register_agent = SessionMethod(lambda: PathwayManager.register_agent)
    start = SessionMethod(lambda: PathwayManager.start_session)
    process_message = SessionMethod(lambda: PathwayManager.process_message)
    stream_message = SessionMethod(lambda: PathwayManager.stream_message)
    resume = SessionMethod(lambda: PathwayManager.resume)
    stream_resume = SessionMethod(lambda: PathwayManager.stream_resume)
    process_event = SessionMethod(lambda: PathwayManager.process_event)
    take_timer = SessionMethod(lambda: PathwayManager.take_timer)
    next_timer = SessionMethod(lambda: PathwayManager.next_timer)
    rollback = SessionMethod(lambda: PathwayManager.rollback)
    fork = SessionMethod(lambda: PathwayManager.fork)
    list = SessionMethod(lambda: PathwayManager.list)
    delete = SessionMethod(lambda: PathwayManager.delete)
    close = SessionMethod(lambda: PathwayManager.close)
    get_session_state = SessionMethod(lambda: PathwayManager.get_session_state)
    snapshot = SessionMethod(lambda: PathwayManager.snapshot)
    versions = SessionMethod(lambda: PathwayManager.versions)
    state_at = SessionMethod(lambda: PathwayManager.state_at)
    context_history = SessionMethod(lambda: PathwayManager.context_history)
    audit = SessionMethod(lambda: PathwayManager.audit)
    turns = SessionMethod(lambda: PathwayManager.turns)
    checks = SessionMethod(lambda: PathwayManager.checks)
    fields = SessionMethod(lambda: PathwayManager.fields)
    attempts = SessionMethod(lambda: PathwayManager.attempts)
    escalations = SessionMethod(lambda: PathwayManager.escalations)
    escalation = SessionMethod(lambda: PathwayManager.escalation)
    claim = SessionMethod(lambda: PathwayManager.claim)
    operator_says = SessionMethod(lambda: PathwayManager.operator_says)
    release = SessionMethod(lambda: PathwayManager.release)
    transcript = SessionMethod(lambda: PathwayManager.transcript)
