"""What is known of a session's past: its versions, its talk, its values, its audit, its fields."""

from __future__ import annotations

from abc import ABC, abstractmethod

from graphs.auditing import audit_entry, transcript_of
from graphs.checks import CHECKS
from graphs.checks import entry as check_entry
from graphs.fields import ATTEMPTS, names_in
from graphs.fields import entry as attempt_entry
from graphs.form_view import form_view
from graphs.listing import span_after
from graphs.session import LateResults, Session
from graphs.statements import AUDIT, Row
from journeys import (
    AuditEntry,
    CheckEntry,
    FieldAttemptEntry,
    FieldNotFoundError,
    FieldVersion,
    FormView,
    Page,
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

    async def _span(self, limit: int | None, after: str | None) -> tuple[Session, Row, str | None]:
        """Return the session, the turns of a page, and where the next page begins."""
        session, head = await self._known()
        return session, *span_after(after, limit, head["version"])

    async def versions(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[VersionInfo]:
        """Return versions of the session, oldest first.

        Args:
            limit: Most of them, 1 to 1000; None: all.
            after: `next` of the page before; None for the first page.

        Raises:
            ConfigurationError: The limit is another number.
            InvalidCursorError: `after` is none that a page gave.
        """
        session, span, more = await self._span(limit, after)
        return Page(map(session.scribe.version, await session.ledger(span)), more)

    async def transcript(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[TranscriptEntry]:
        """Return what was said in so many turns, oldest first, also what a rollback took back.

        The arguments are those of `versions`.
        """
        page = await self.versions(limit, after)
        return Page(transcript_of(page), page.next)

    async def context_history(self, name: str) -> list[FieldVersion]:
        """Return every value that a context name has had, oldest first; None where it was gone."""
        session, _ = await self._known()
        return session.scribe.history_of(name, await session.ledger())

    async def audit(self, limit: int | None = None, after: str | None = None) -> Page[AuditEntry]:
        """Return the audit of so many turns, oldest first; the arguments are as of `versions`."""
        await self._late.written()
        session, span, more = await self._span(limit, after)
        rows = await session.store.read(AUDIT.of_turns, session=self.session_id, **span)
        return Page((audit_entry(row, session.scribe.seal) for row in rows), more)

    async def checks(self, limit: int | None = None, after: str | None = None) -> Page[CheckEntry]:
        """Return how replies of so many turns were checked; the arguments are as of `versions`."""
        session, span, more = await self._span(limit, after)
        rows = await session.store.read(CHECKS.of_turns, session=self.session_id, **span)
        return Page((check_entry(row, session.scribe.seal) for row in rows), more)

    async def fields(self) -> FormView:
        """Return what the session has collected, and what it asks for, as it stands now."""
        session, head = await self._known()
        values = await session.values(head)
        return form_view(session.spec, self.session_id, values)

    async def attempts(
        self, name: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page[FieldAttemptEntry]:
        """Return the attempts at a field, oldest first, also what a rollback took back.

        Args:
            name: Name of the field; None: of all of them.
            limit: Most turns that they are of, as of `versions`.
            after: As of `versions`.

        Raises:
            InvalidCursorError: As of `versions`.
            FieldNotFoundError: The journey collects no field of that name, and never did in this
                session.
        """
        session, span, more = await self._span(limit, after)
        rows = await session.store.read(ATTEMPTS.of_turns, session=self.session_id, **span)
        wanted = [row for row in rows if name in (None, row["field"])]
        known = names_in(session.spec)
        is_all = after is None and more is None
        if is_all and name is not None and not wanted and name not in known:
            raise FieldNotFoundError(name, known)
        return Page((attempt_entry(row, session.scribe.seal) for row in wanted), more)
