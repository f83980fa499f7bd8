"""Names of the founding paper, document 001, that no other test holds; the rules have the rest."""

from __future__ import annotations

import uuid

from journeygraph import (
    ContextSizeExceededError,
    JourneyConfig,
    JourneyError,
    MaxPathwayDepthError,
    PathwayNotFoundError,
    SessionNotStartedError,
)
from tests.support.solo import Solo, function


async def test_001_4_memory_by_its_old_name_outlives_the_handle() -> None:
    """Row "Stores": one in memory for the process, shared by all who open it."""
    config = JourneyConfig(context_persistence="memory")
    name = f"test-{uuid.uuid4()}"

    async with Solo(name, config, agents={"clerk": function}) as first:
        await first.start({"name": "Alice"})
    async with await Solo.restore(name, config, agents={"clerk": function}) as second:
        session = await second.get_session_state()

        assert session is not None
        assert session.current_pathway_id == "talk"
        assert session.accumulated_context == {"name": "Alice"}
        await second.delete()


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
