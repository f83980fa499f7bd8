"""Examination of one reply: findings of code, the judgement of a model, and the text to send."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from journeygraph.journeys import ModelError, Validation
from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.nodes.llm.replies import Examiner, Judgement
from journeygraph.nodes.replies.stream import masked
from journeygraph.nodes.replies.wording import broken

_AT_ONCE = 4_000
"""Characters that are searched in the event loop, which takes milliseconds; more, in a thread."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Findings in one version of a reply.

    Attributes:
        text: The reply, without what is personal.
        broken: Forbidden phrases that it has, or required ones that it lacks.
        judgement: The judgement of a model; None if no model was or could be asked.
        failure: The reason if a model was asked and did not judge it.
    """

    text: str
    masked: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    judgement: Judgement | None = None
    failure: ModelError | None = None

    @property
    def is_valid(self) -> bool:
        """Return whether nothing at all is wrong with it."""
        judged = self.judgement is None or self.judgement.is_valid
        return judged and not self.masked and not self.broken

    @property
    def violations(self) -> list[str]:
        """Return its violations in words; personal data is named only by kind."""
        judged = () if self.judgement is None or self.judgement.is_valid else self._said
        return [*(f"{kind}: personal data" for kind in self.masked), *self.broken, *judged]

    @property
    def _said(self) -> tuple[str, ...]:
        assert self.judgement is not None
        return self.judgement.violations or ("the model gave no reason",)

    def is_refused(self, threshold: float) -> bool:
        """Return whether to hold it back: it violates a phrase rule, or is surely invalid."""
        return bool(self.broken) or (self._is_doubted and self._confidence > threshold)

    def is_unsure(self, threshold: float) -> bool:
        """Return whether a model holds it invalid, and is not sure enough to stop it."""
        return self._is_doubted and self._confidence <= threshold

    @property
    def _is_doubted(self) -> bool:
        return self.judgement is not None and not self.judgement.is_valid

    @property
    def _confidence(self) -> float:
        return self.judgement.confidence if self.judgement else 0.0


@dataclass(frozen=True, slots=True)
class Examination:
    """Checks of the replies of one turn."""

    checks: Validation
    guidelines: Sequence[GuidelineSpec]
    examiner: Examiner | None = None

    async def finding(self, reply: str, *, asks_always: bool = False) -> Finding:
        """Return what is wrong with a reply.

        Args:
            asks_always: True if a model is asked also of one that breaks a phrase, which is refused
                for any answer of the model.
        """
        text, kinds = await self._masked(reply)
        faults = tuple(broken(text, self.guidelines))
        found = Finding(text, tuple(dict.fromkeys(kinds)), faults)
        if self.examiner is None or (faults and not asks_always):
            return found
        try:
            judgement = await self.examiner.judge(text)
        except ModelError as failure:
            return Finding(text, found.masked, faults, failure=failure)
        return Finding(text, found.masked, faults, await self._clean(judgement))

    async def rewritten(self, finding: Finding) -> Finding | None:
        """Return the faults of the rewritten reply; None if it was not judged."""
        if self.examiner is None:
            return None
        fixes = finding.judgement.fixes if finding.judgement else ()
        try:
            reply = await self.examiner.rewrite(finding.text, finding.violations, fixes)
        except ModelError:
            return None
        return await self.finding(reply)

    async def _clean(self, judgement: Judgement) -> Judgement:
        """Return a judgement that gives away nothing either: a model may quote what it saw."""
        said = [(await self._masked(text))[0] for text in judgement.violations]
        return Judgement(judgement.is_valid, tuple(said), judgement.fixes, judgement.confidence)

    async def _masked(self, text: str) -> tuple[str, list[str]]:
        given = (text, self.checks.pii, self.checks.allow)
        if len(text) <= _AT_ONCE:
            return masked(*given)
        return await asyncio.to_thread(masked, *given)
