"""The journey: how a patient with a referral comes to an appointment."""

from journeygraph import (
    Effect,
    Escalation,
    IntentTrigger,
    Journey,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.journeys.examples.healthcare_referral import phrases
from journeygraph.journeys.examples.healthcare_referral.clinic import book_appointment
from journeygraph.journeys.examples.healthcare_referral.concerns import (
    PersuasionSignature,
    agreed,
    undecided,
)
from journeygraph.journeys.examples.healthcare_referral.fields import APPOINTMENT, PATIENT, WISHES
from journeygraph.journeys.examples.healthcare_referral.handbook import FAQSignature
from journeygraph.journeys.examples.healthcare_referral.suggesting import turned_down


class HealthcareReferral(Journey):
    """Take a patient from a referral to a confirmed appointment with a specialist."""

    class IntakePath(Pathway):
        """Find out what the patient needs, and whether their insurance pays for it."""

        __title__ = "your referral"
        __fields__ = [*PATIENT, *WISHES]
        __agents__ = ["eligibility_checker"]
        __accumulate__ = {"patient_info": MergeStrategy.REPLACE, "eligibility_status": None}
        __next__ = "booking"

    class BookingPath(Pathway):
        """Suggest doctors until one suits, and book a time."""

        __title__ = "the booking"
        __fields__ = [*WISHES, *APPOINTMENT]
        __effects__ = [Effect(book_appointment, save="booking_details", done=phrases.BOOKED)]
        __next__ = "confirmation"

    class ConfirmationPath(Pathway):
        """Confirm the appointment; the patient may still move or cancel it."""

        __agents__ = ["confirmation_agent"]
        __accumulate__ = ["confirmation_number"]
        __runs_on_arrival__ = True

    class FAQPath(Pathway):
        """Answer a question in passing, then go back to where the patient was."""

        __signature__ = FAQSignature
        __agents__ = ["rag_faq_agent"]
        __return_behavior__ = ReturnToPrevious()

    class PersuasionPath(Pathway):
        """Take up what makes the patient hesitate, for as long as it needs."""

        __signature__ = PersuasionSignature
        __agents__ = ["persuasion_agent"]
        __accumulate__ = {"resolution": None, "escalation_count": MergeStrategy.SUM}
        __complete_when__ = agreed
        __next__ = "booking"

    class CancellationPath(Pathway):
        """Cancel the appointment; the patient may book another one."""

        __agents__ = ["cancellation_agent"]

    __escalation__ = Escalation(keywords=phrases.EMERGENCIES, when=undecided)
    __texts__ = {"human_called": phrases.HAND_OVER}

    __transitions__ = [  # where several hold, the one of the highest priority is taken
        Transition(
            IntentTrigger(phrases.OTHER_DOCTORS, description="wants another doctor after all"),
            from_pathway=["confirmation", "cancellation"],
            to_pathway="booking",
            context_update={"selected_doctor": "clear:", "slot": "clear:"},
            priority=25,
        ),
        Transition(
            IntentTrigger(phrases.OTHER_TIMES, description="wants another time after all"),
            from_pathway="confirmation",
            to_pathway="booking",
            context_update={"slot": "clear:"},
            priority=20,
        ),
        Transition(
            IntentTrigger(phrases.REJECTIONS, description="turns down the doctor suggested last"),
            from_pathway=["booking", "persuasion"],
            to_pathway="booking",
            context_update={"rejected_doctors": turned_down, "selected_doctor": "clear:"},
            priority=20,
        ),
        Transition(
            IntentTrigger(phrases.SHOWING, description="asks for doctors or times"),
            from_pathway=["booking", "persuasion"],
            to_pathway="booking",
            context_update={"shown": "set:yes", "resolution": "clear:"},
            priority=15,
        ),
        Transition(
            IntentTrigger(phrases.QUESTIONS, description="asks how something works"),
            to_pathway="faq",
            priority=10,
        ),
        Transition(
            IntentTrigger(phrases.SELF_PAY, description="wants to pay without insurance"),
            from_pathway=["intake", "booking"],
            to_pathway="intake",
            context_update={"insurance_id": "set:self-pay", "phone": "clear:"},
            priority=8,
        ),
        Transition(
            IntentTrigger(phrases.HESITATION, description="hesitates to book"),
            from_pathway="booking",
            to_pathway="persuasion",
            priority=5,
        ),
        Transition(
            IntentTrigger(phrases.WITHDRAWALS, description="gives up the appointment"),
            from_pathway="confirmation",
            to_pathway="cancellation",
            context_update={
                "cancelled": "copy:booking_details",
                "booking_details": "clear:",
                "confirmation_number": "clear:",
            },
            priority=5,
        ),
    ]
