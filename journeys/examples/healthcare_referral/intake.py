"""Intake: note what the patient says, and judge whether a booking can go ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from journeys.examples.healthcare_referral.conversation import (
    Known,
    Payload,
    context_of,
    insurance_number,
    known,
)
from journeys.examples.healthcare_referral.hearing import plain
from journeys.examples.healthcare_referral.material import COORDINATION, Plan, number_form, plans
from journeys.examples.healthcare_referral.naming import (
    has_referral,
    own_name,
    payment_named,
    specialty_named,
)
from journeys.examples.healthcare_referral.preferences import in_words, updated
from journeys.examples.healthcare_referral.smalltalk import agrees, declines

_SELF_PAY_OFFER = "If you would rather pay for the visit yourself, say self-pay."


def read_documents(payload: Payload) -> dict[str, Any]:
    """Note the facts in the message and in uploaded documents; nothing if there are none."""
    facts = known(payload)
    documents = _documents(payload)
    text = f"{facts.text} {plain(documents)}".strip()
    heard: dict[str, Any] = {
        "name": own_name(payload.get("message")),
        "specialty": specialty_named(text),
        "referral": _referral(text, documents, facts),
        **payment_named(text, str(facts.patient_info.get("patient_number") or "")),
    }
    info = {name: value for name, value in heard.items() if value not in ("", None)}
    wishes = updated(facts.preferences, facts.text)
    return {"patient_info": info or None, "preferences": wishes or None}


def _documents(payload: Payload) -> str:
    papers = payload.get("documents")
    return " ".join(map(str, papers)) if isinstance(papers, (list, tuple)) else str(papers or "")


def _referral(text: str, documents: str, facts: Known) -> bool | None:
    said = has_referral(text)
    if said is None and facts.patient_info.get("asked_for") == "referral":
        said = True if agrees(text) or documents else False if declines(text) else None
    return said


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether the patient may book: "eligible", "pending" or "ineligible", and what to say."""

    status: str
    reason: str
    asked_for: str = ""


def check_eligibility(payload: Payload) -> dict[str, Any]:
    """Judge the patient by the insurance rules, and say what is settled and what is missing."""
    facts = known(payload)
    verdict = judge(facts, context_of(payload))
    told = payload.get("patient_info")
    noted = _noted(facts, told if isinstance(told, Mapping) else {})
    # What was asked for last tells the next turn what a bare "yes" means.
    info = {**facts.patient_info, "asked_for": verdict.asked_for} if facts.patient_info else None
    return {
        "response": " ".join(part for part in (noted, verdict.reason) if part),
        "eligibility_status": verdict.status,
        "patient_info": info,
    }


def judge(facts: Known, context: Mapping[str, Any]) -> Judgement:
    """Apply the insurance rules to what is known of a patient."""
    if not facts.patient_info:
        return Judgement(
            "pending",
            "Welcome to the referral desk. Which kind of specialist do you need, and do you have a"
            " referral? A sentence such as 'I was referred to a heart doctor' is enough.",
        )
    number = insurance_number(facts.patient_info, context)
    if facts.plan is None:
        return _unknown_plan(number, facts, context)
    if not facts.plan.active:
        reason = f"I am sorry, {number} cannot be used: {facts.plan.reason}."
        return Judgement(
            "ineligible", f"{reason} Do you have another insurance? {_SELF_PAY_OFFER}", "insurance"
        )
    return _within_plan(facts, facts.plan, number, context)


def _unknown_plan(number: str, facts: Known, context: Mapping[str, Any]) -> Judgement:
    also = "" if _referred(facts, context) else " Please tell me also whether you have a referral."
    if not number:
        ask = f"What is your insurance number? It has {number_form()}."
    else:
        letters = ", ".join(plans())
        ask = (
            f"I cannot place the insurance number {number}: I know numbers that begin with"
            f" {letters}. Could you check it on your card?"
        )
    return Judgement("pending", f"{ask}{also} {_SELF_PAY_OFFER}", "insurance")


def _within_plan(facts: Known, plan: Plan, number: str, context: Mapping[str, Any]) -> Judgement:
    if facts.specialty and not plan.pays_for(facts.specialty):
        return Judgement(
            "ineligible",
            f"I am sorry, your plan {plan.name} does not pay for {facts.specialty}."
            f" {_SELF_PAY_OFFER} Care coordination on {COORDINATION} knows other ways.",
            "insurance",
        )
    if plan.referral_needed and not _referred(facts, context):
        return Judgement("pending", _ask_for_referral(facts, plan), "referral")
    return Judgement("eligible", _go_ahead(facts, plan, number))


def _ask_for_referral(facts: Known, plan: Plan) -> str:
    needed = f"Your plan {plan.name} asks for a referral from your primary care doctor."
    if facts.patient_info.get("referral") is False:
        return (
            f"{needed} The practice can send one to us within a working day; write again once you"
            f" have it. {_SELF_PAY_OFFER}"
        )
    return f"{needed} Do you have one?"


def _referred(facts: Known, context: Mapping[str, Any]) -> bool:
    return bool(facts.patient_info.get("referral", context.get("referral_source")))


def _go_ahead(facts: Known, plan: Plan, number: str) -> str:
    cover = f" and covers {facts.specialty}" if facts.specialty else ""
    paid = (
        "You pay for the visit yourself."
        if facts.patient_info.get("self_pay")
        else f"Your insurance {number} ({plan.name}) is active{cover}."
    )
    ask = (
        "Shall I show you the available doctors? Tell me if a day, a time, a district or a"
        " language matters to you."
        if facts.specialty
        else "Which kind of specialist does your referral name?"
    )
    return f"{paid} {ask}"


def _noted(facts: Known, told: Mapping[str, Any]) -> str:
    wishes = in_words(updated(facts.preferences, facts.text))
    points = [
        str(told.get("specialty") or ""),
        "a referral" if told.get("referral") else "",
        f"insurance number {told['insurance_id']}" if told.get("insurance_id") else "",
        wishes,
    ]
    noted = ", ".join(point for point in points if point)
    greeting = f"Thank you, {told['name']}." if told.get("name") else "Thank you."
    return f"{greeting} I have noted: {noted}." if noted else ""
