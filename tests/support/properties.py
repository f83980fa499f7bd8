"""Number of examples of a property: all of them in `make test ALL=1`, else a quarter."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

ALL = 100
FEW = 25


def register() -> None:
    """Register both numbers as profiles, and load the small one."""
    settings.register_profile("few", settings(), max_examples=FEW, deadline=None)
    settings.register_profile("all", settings(), max_examples=ALL, deadline=None)
    settings.load_profile("few")


def are_all() -> bool:
    """Say whether this run takes all examples."""
    return settings().max_examples >= ALL


def examples(most: int) -> int:
    """Return how many of so many examples this run takes."""
    return max(2, most * settings().max_examples // ALL)


def prepare() -> None:
    """Try one example, so that processes that are forked later need not read all modules.

    Hypothesis looks for constants in all that is imported, once in a process.
    """

    @settings(max_examples=1, database=None)
    @given(st.integers())
    def nothing(number: int) -> None:
        assert number == number

    nothing()
