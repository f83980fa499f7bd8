"""The test scenarios of the two founding documents, held with real agents on the real graph.

ADR-025 is document 000, the paper on PathwayManager and ContextAccumulator document 001. Where we
read them differently, the docstring names the row of DESIGN.md section 4 that decides.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ContextSizeExceededError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyError,
    MaxPathwayDepthError,
    MergeStrategy,
    Pathway,
    PathwayNotFoundError,
    ReturnToPrevious,
    SessionNotStartedError,
    Transition,
)
from journeygraph.graphs.session.manager import PathwayManager

# 001, Tests 1 to 5.


class Small(Journey):
    class IntakePath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = {
            "name": None,
            "rejected_doctors": MergeStrategy.APPEND,
            "preferences": MergeStrategy.UNION,
        }
        __complete_when__ = NEVER

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(["faq", "your hours", "help"]), to_pathway="faq"),
    ]


def small_agents(**outputs: Any) -> dict[str, Any]:
    return {
        "clerk": lambda payload: {"response": "Noted.", **outputs},
        "librarian": lambda payload: "From nine to five.",
    }


async def test_001_1_a_message_before_the_start_is_refused(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    manager = PathwayManager(Small, "session-1", config, agents=small_agents())

    with pytest.raises(RuntimeError, match="Session not started") as raised:
        await manager.process_message("Hello")

    assert isinstance(raised.value, SessionNotStartedError)
    assert await manager.get_session_state() is None
    await manager.close()


async def test_001_4_memory_by_its_old_name_outlives_the_handle() -> None:
    """Row "Stores": one in memory for the process, shared by all who open it."""
    config = JourneyConfig(context_persistence="memory")
    name = f"test-{uuid.uuid4()}"

    async with Small(name, config, agents=small_agents()) as first:
        await first.start({"name": "Alice"})
    async with await Small.restore(name, config, agents=small_agents()) as second:
        session = await second.get_session_state()

        assert session is not None
        assert session.current_pathway_id == "intake"
        assert session.accumulated_context == {"name": "Alice"}
        await second.delete()


# 001, errors.


def test_001_errors_carry_what_the_paper_gives_them() -> None:
    lost = PathwayNotFoundError("bookng", ["intake", "booking"])
    large = ContextSizeExceededError(2_000, 1_000)
    deep = MaxPathwayDepthError(11, 10)

    assert (lost.pathway_id, lost.available) == ("bookng", ["intake", "booking"])
    assert "Did you mean 'booking'?" in str(lost)
    assert (large.current_size, large.max_size) == (2_000, 1_000)
    assert (deep.depth, deep.max_depth) == (11, 10)
    assert all(isinstance(error, JourneyError) for error in (lost, large, deep))
    assert isinstance(lost, ValueError)
    assert isinstance(large, ValueError)
    assert isinstance(deep, RuntimeError)
    assert issubclass(SessionNotStartedError, RuntimeError)
