"""How many files a reader opens to follow a turn: a turn runs what its journey declares."""

from __future__ import annotations

import pytest

from tests.benchmarks import files


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("plain", files.plain),
        ("plain, HTTP", files.plain_over_http),
        ("collecting", files.collecting),
    ],
)
async def test_a_turn_runs_through_few_files(name, turn):
    seen = await turn()

    assert len(seen) <= files.MOST[name], sorted(seen)
