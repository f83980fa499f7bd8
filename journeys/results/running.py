"""Interface of a session: its turns and its past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphs.session.manager import PathwayManager
    from journeys.results.cases import EscalationCase, EscalationEntry
    from journeys.results.collected import FieldAttemptEntry, FormView
    from journeys.results.outcomes import (
        AuditEntry,
        CheckEntry,
        FieldVersion,
        JourneySession,
        Page,
        TranscriptEntry,
        VersionInfo,
    )


class RunningSession:
    """Reads the session that a manager runs, and acts in it for operators; a journey is one."""

    manager: PathwayManager

    @property
    def session_id(self) -> str:
        """Id of the session that is talked to."""
        return self.manager.session_id

    async def get_session_state(self) -> JourneySession | None:
        """Return the state of the session; None before it is started."""
        return await self.manager.get_session_state()

    async def snapshot(self) -> dict[str, Any]:
        """Return a copy of the context."""
        return await self.manager.snapshot()

    async def versions(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[VersionInfo]:
        """Return versions of the session, oldest first; see `PathwayManager.versions`."""
        return await self.manager.versions(limit, after)

    async def context_history(
        self, name: str, limit: int | None = None, after: str | None = None
    ) -> Page[FieldVersion]:
        """Return the values that a context name has had, oldest first."""
        return await self.manager.context_history(name, limit, after)

    async def audit(self, limit: int | None = None, after: str | None = None) -> Page[AuditEntry]:
        """Return the audit of the session, oldest first."""
        return await self.manager.audit(limit, after)

    async def checks(self, limit: int | None = None, after: str | None = None) -> Page[CheckEntry]:
        """Return how replies of the session were checked, oldest first."""
        return await self.manager.checks(limit, after)

    async def fields(self) -> FormView:
        """Return what the session has collected, and what it asks for."""
        return await self.manager.fields()

    async def attempts(
        self, name: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page[FieldAttemptEntry]:
        """Return the attempts at a field, or at all of them, oldest first."""
        return await self.manager.attempts(name, limit, after)

    async def escalations(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[EscalationEntry]:
        """Return the calls for a person, oldest first."""
        return await self.manager.escalations(limit, after)

    async def escalation(self) -> EscalationCase | None:
        """Return the last call for a person with all that they are told; None: there is none."""
        return await self.manager.escalation()

    async def claim(self, by: str) -> JourneySession:
        """Take the conversation as an operator; see `PathwayManager.claim`."""
        return await self.manager.claim(by)

    async def operator_says(self, text: str, by: str) -> JourneySession:
        """Say something to the user as an operator; see `PathwayManager.operator_says`."""
        return await self.manager.operator_says(text, by)

    async def release(self, by: str) -> JourneySession:
        """Give the conversation back to the assistant; see `PathwayManager.release`."""
        return await self.manager.release(by)

    async def transcript(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[TranscriptEntry]:
        """Return what was said, oldest first."""
        return await self.manager.transcript(limit, after)
