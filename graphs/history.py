"""What is known of a session's past: its versions, its talk, its values, its audit, its fields."""

from __future__ import annotations

from abc import ABC, abstractmethod

from graphs import field_attempts, statements, validation_audit
from graphs.form_view import form_view
from graphs.late import LateResults
from graphs.ledger import audit_entry, transcript_of
from graphs.session import Session
from graphs.statements import Row
from journeys import (
    AuditEntry,
    CheckEntry,
    FieldAttemptEntry,
    FieldNotFoundError,
    FieldVersion,
    FormView,
    TranscriptEntry,
    VersionInfo,
)


class History(ABC):
    """Reads the past of one session."""

    session_id: str
    _late: LateResults

    @abstractmethod
    async def _known(self) -> tuple[Session, Row]:
        """Open the session, which must be in the store and not over."""

    async def versions(self) -> list[VersionInfo]:
        """Return every version of the session, oldest first."""
        session, _ = await self._known()
        return [session.scribe.version(row) for row in await session.ledger()]

    async def transcript(self) -> list[TranscriptEntry]:
        """Return all that was said, oldest first, also what a rollback took back."""
        return transcript_of(await self.versions())

    async def context_history(self, name: str) -> list[FieldVersion]:
        """Return every value that a context name has had, oldest first; None where it was gone."""
        session, _ = await self._known()
        return session.scribe.history_of(name, await session.ledger())

    async def audit(self) -> list[AuditEntry]:
        """Return the audit of the session, oldest first."""
        await self._late.written()
        session, _ = await self._known()
        rows = await session.store.read(statements.AUDIT, session=self.session_id)
        return [audit_entry(row, session.scribe.seal) for row in rows]

    async def checks(self) -> list[CheckEntry]:
        """Return how replies of the session were checked, oldest first."""
        session, _ = await self._known()
        rows = await session.store.read(validation_audit.OF_SESSION, session=self.session_id)
        return [validation_audit.entry(row, session.scribe.seal) for row in rows]

    async def fields(self) -> FormView:
        """Return what the session has collected, and what it asks for, as it stands now."""
        session, head = await self._known()
        values = await session.values(head)
        return form_view(session.spec, self.session_id, values)

    async def attempts(self, name: str | None = None) -> list[FieldAttemptEntry]:
        """Return every attempt at a field, oldest first, also what a rollback took back.

        Args:
            name: Name of the field; None: of all of them.

        Raises:
            FieldNotFoundError: The journey collects no field of that name, and never did in this
                session.
        """
        session, _ = await self._known()
        rows = await session.store.read(field_attempts.OF_SESSION, session=self.session_id)
        wanted = [row for row in rows if name in (None, row["field"])]
        known = field_attempts.names_in(session.spec)
        if name is not None and not wanted and name not in known:
            raise FieldNotFoundError(name, known)
        return [field_attempts.entry(row, session.scribe.seal) for row in wanted]
