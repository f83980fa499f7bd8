"""Number of files of a turn: a turn runs only the parts that its journey declares."""

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
async def test_a_turn_runs_through_few_files_of_rooms_that_the_guide_names(name, turn):
    seen = await turn()

    assert 0 < len(seen) <= files.MOST[name], sorted(seen)
    guide = (files.ROOT / "AGENTS.md").read_text().partition("**One turn**")[2].partition("## ")[0]
    rooms = {file.rpartition("/")[0] for file in seen} - {"journeys", "journeys/examples"}
    assert not [room for room in rooms if f"`{room}/" not in guide]
