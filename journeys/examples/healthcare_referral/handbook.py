"""The handbook: an entry is found for a question, and cited."""

import json
from pathlib import Path
from typing import Annotated, Any

from journeygraph import FromContext, InputField, OutputField, Passage, Signature, select_passages
from journeygraph.journeys.examples.healthcare_referral.clinic import FRONT_DESK, plan_of, summary

HANDBOOK: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("handbook.json").read_text("utf-8")
)


class FAQSignature(Signature):
    """Answer a question about referrals, costs and visits from the handbook."""

    __intent__ = "Let no question stand between the patient and the appointment"
    __guidelines__ = [
        "Keep it short, but leave nothing out that the patient needs",
        "Cite the policy that the answer comes from",
    ]

    question: str = InputField(description="What the patient asks", source="message")

    response: str = OutputField(description="The answer with its policy, or who will know")
    follow_up_needed: bool = OutputField(description="Whether the question is still open")


def search_handbook(
    question: str, insurance_id: Annotated[str, FromContext("insurance_id")] = ""
) -> dict[str, str]:
    """Search the clinic's handbook for the entry that answers a question.

    Use it for every question about costs, insurance, referrals, appointments or the visit. Returns
    the `answer`, the `policy` to cite, and in `on_your_plan` what it is for this patient; or the
    phone of the `front_desk`, where there is no answer.

    Args:
        question: The patient's question, in full and in English.
        insurance_id: The patient's insurance number.
    """
    entry, plan = answering(question), plan_of(insurance_id) or {}
    if entry is None:
        return {"front_desk": FRONT_DESK}
    own = plan.get(entry.get("plan_fact", ""))
    found = {"policy": entry["policy"], "answer": entry["answer"]}
    return {**found, "on_your_plan": f"With {plan['name']} it is {own}."} if own else found


def answer_from_handbook(ask: dict[str, Any]) -> dict[str, Any]:
    """Answer a question from the handbook and cite it, or say that it has no answer."""
    booking = ask["context"].get("booking_details")
    if booking and "my appointment" in ask["message"].lower():
        return {"response": f"Your appointment: {summary(booking)}", "follow_up_needed": False}
    found = search_handbook(ask["message"], ask["context"].get("insurance_id", ""))
    if "front_desk" in found:
        said = f"The handbook has no answer to that. The front desk on {FRONT_DESK} will know."
        return {"response": said, "follow_up_needed": True}
    said = " ".join(found[name] for name in ("answer", "on_your_plan") if name in found)
    return {"response": f"{said} (Handbook, {found['policy']})", "follow_up_needed": False}


def answering(question: str) -> dict[str, Any] | None:
    """Return the entry that fits the question best, or None if none fits well enough."""
    found = select_passages(question, _PASSAGES, k=1)
    return HANDBOOK[_PASSAGES.index(found[0])] if found else None


_PASSAGES = [
    Passage(
        f"{entry['answer']} {' '.join(entry.get('also', ()))}",
        about=f"{entry['question']} {' '.join(entry['keywords'])}",
    )
    for entry in HANDBOOK
]
