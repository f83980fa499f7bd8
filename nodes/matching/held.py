"""Guidelines that hold for a message, before relations between them are applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Weighed:
    """Guidelines of a message, before a model has its say.

    Attributes:
        asked: Those that a model is to judge.
        held: Those that hold without one.
        audit: What went wrong while they were found.
        bypassed: Whether some could not be judged.
    """

    asked: tuple[GuidelineSpec, ...] = ()
    held: tuple[Held, ...] = ()
    audit: tuple[dict[str, Any], ...] = ()
    bypassed: bool = False
