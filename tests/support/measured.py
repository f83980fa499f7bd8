"""Coverage of the tests: those that are measured, since a test takes twice as long meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from coverage import Coverage

MOST_SETS = 3
"""Sets of parameters with which a test is measured; more of them seldom run other lines."""
_UNMEASURED = ("slow", "long", "hypothesis")
_IS_MEASURED = pytest.StashKey[bool]()


class Measured:
    """Measure fast tests alone, so that the coverage found is at least there."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        sets: Counter[str] = Counter()
        for item in items:
            test = item.nodeid.partition("[")[0]
            sets[test] += 1
            marked = any(map(item.get_closest_marker, _UNMEASURED))
            item.stash[_IS_MEASURED] = sets[test] <= MOST_SETS and not marked

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        running = Coverage.current()
        if running is None or item.stash[_IS_MEASURED]:
            return (yield)
        running.stop()
        try:
            return (yield)
        finally:
            running.start()
