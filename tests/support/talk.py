"""A conversation in the words of the two speakers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from journeygraph import AuditEntry, Journey, JourneyConfig, JourneyResponse, Locale


def path_in(audit: Iterable[AuditEntry], begun_in: str, turns: int) -> list[str]:
    """Return the position of a session after each of its turns, read only from its audit.

    Args:
        audit: Its rows, oldest first.
        begun_in: The pathway of its beginning, for which the audit has no row.
        turns: The number of its versions.
    """
    moves = [row for row in audit if row.moved_to]
    at = begun_in
    path = [at]
    for turn in range(1, turns):
        for move in moves:
            if move.turn == turn and move.moved_to:
                assert move.kind == "arrived" or move.from_pathway == at
                at = move.moved_to
        path.append(at)
    return path


@dataclass
class Talk:
    """A session that is talked to: what was said at its start, and every response since.

    `path` is where each one ended.
    """

    journey: Journey
    agents: Mapping[str, Any]
    replies: list[JourneyResponse] = field(default_factory=list)
    greeting: str = ""

    @classmethod
    async def begin(
        cls,
        journey: type[Journey],
        agents: Mapping[str, Any],
        url: str,
        *,
        session_id: str = "s-1",
        context: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        locale: Locale | None = None,
        **config: Any,
    ) -> Self:
        settings = JourneyConfig(persistence=url, **config)
        opened = cls(journey(session_id, settings, agents=agents, **(options or {})), agents)
        opened.greeting = (await opened.journey.start(context, locale=locale)).greeting
        return opened

    async def says(self, message: str) -> str:
        """Say something, and return the reply."""
        self.replies.append(await self.journey.process_message(message))
        return self.last.message

    @property
    def last(self) -> JourneyResponse:
        return self.replies[-1]

    @property
    def path(self) -> list[str]:
        return [reply.pathway_id for reply in self.replies]

    @property
    def ran(self) -> list[str]:
        """The pathways that ran in the last turn."""
        return list(self.last.metadata["ran"])

    @property
    def stack(self) -> list[str]:
        return list(self.last.metadata["pathway_stack"])

    @property
    def context(self) -> dict[str, Any]:
        return self.last.accumulated_context

    async def restored(self, **options: Any) -> Talk:
        """Close this conversation and take it up again, as another process would."""
        await self.journey.close()
        kind, config = type(self.journey), self.journey.config
        again = await kind.restore(self.journey.session_id, config, agents=self.agents, **options)
        self.journey = again
        return self

    async def audited(self) -> list[str]:
        """The kinds of audit rows, oldest first."""
        return [entry.kind for entry in await self.journey.audit()]
