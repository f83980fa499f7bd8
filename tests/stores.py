"""Stores for tests of rules, which hold wherever a session is kept."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest


@pytest.fixture(params=["memory", "sqlite"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store: once as it is, once with everything written and read again.

    What only Postgres does otherwise is shown where the store is the point.
    """
    if request.param == "memory":
        return f"memory://{uuid.uuid4()}"
    return f"sqlite:///{tmp_path / 'journeys.db'}"
