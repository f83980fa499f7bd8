"""Triggers of this journey's own: talk of doctors and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeys import BaseTrigger
from journeys.examples.healthcare_referral.conversation import known
from journeys.examples.healthcare_referral.desk_talk import (
    is_for_the_desk,
    turns_down_somebody_else,
    wants_something_else,
)
from journeys.examples.healthcare_referral.hearing import says


@dataclass(frozen=True)
class DeskTalk(BaseTrigger):
    """Fires on talk of doctors and times that only the booking desk can answer.

    "What is available on Friday?" sounds like "What is a deductible?", but belongs to the desk.

    Attributes:
        unlike: Phrases of another trigger; if given, only talk in such phrases counts, so that
            everything else stays with the rules below.
        description: What the patient wants, for drawings and the audit.
    """

    unlike: Sequence[str] = ()
    description: str = "talks of doctors or times"

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Say whether the message is one for the booking desk."""
        facts = known({"message": message, "context": context})
        if self.unlike and turns_down_somebody_else(facts):
            return True
        return is_for_the_desk(facts) and (not self.unlike or says(facts.text, self.unlike))

    @property
    def label(self) -> str:
        """The description."""
        return self.description


@dataclass(frozen=True)
class OtherWish(BaseTrigger):
    """Fires on a time or a doctor that is not the booked one.

    "Could I come on Friday?" opens the booking again; "see you on Tuesday" does not, if that is
    the day of the appointment.

    Attributes:
        description: What the patient wants, for drawings and the audit.
    """

    description: str = "wants another time or doctor"

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        """Say whether the message asks for something else than what is booked."""
        return wants_something_else(known({"message": message, "context": context}))

    @property
    def label(self) -> str:
        """The description."""
        return self.description
