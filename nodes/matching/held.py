"""A guideline that holds, before relations between guidelines have their say."""

from __future__ import annotations

from dataclasses import dataclass

from journeys import GuidelineSpec


@dataclass(frozen=True, slots=True)
class Held:
    """A guideline that holds for a message.

    Attributes:
        guideline: The guideline.
        tier: Who decided: model, code, keyword, always; or bypassed, where nobody could be asked.
        confidence: From 0 to 1; what is not a model is sure.
        reason: Why, in a few words.
    """

    guideline: GuidelineSpec
    tier: str
    confidence: float = 1.0
    reason: str = ""
