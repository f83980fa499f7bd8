"""Where an agent works: in which pathway, which pipeline, and under which name there."""

from __future__ import annotations

from dataclasses import dataclass, field

from journeys import PathwaySpec, PatternPipeline


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of one agent.

    Attributes:
        pathway: The pathway that it works in.
        pipeline: The pipeline there that it is a member of.
        name: Its name among the members.
        prefix: Path of that pipeline within the pathway's, with "/" at its end; empty at the top.
        has_word: Whether what it says is surely what the user hears, so that it can be heard while
            it is said.
        timeout: Longest try, in seconds; None for no limit.
        path: The path of names that leads to it from the top.
        place: Its place among the members, from 0; a step of the pattern's own comes after them.
    """

    pathway: PathwaySpec
    pipeline: PatternPipeline
    name: str
    prefix: str = ""
    has_word: bool = False
    timeout: float | None = None

    path: str = field(init=False)
    place: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.prefix + self.name)
        members = list(self.pipeline.members)
        place = members.index(self.name) if self.name in members else len(members)
        object.__setattr__(self, "place", place)
