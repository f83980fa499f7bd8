"""The fields of a referral: asked of the patient, or given without being asked."""

from itertools import chain

from journeygraph import Field, Regex
from journeygraph.journeys.examples.healthcare_referral.clinic import (
    COORDINATION,
    DOCTORS,
    LANGUAGES,
    NOT_ON,
    PARTS_OF_DAY,
    PLACES,
    SPECIALTIES,
    WEEKDAYS,
    Context,
    free_times,
    plan_of,
)
from journeygraph.journeys.examples.healthcare_referral.suggesting import (
    doctors_on_offer,
    times_on_offer,
    which_doctor,
)

_SELF_PAY = "If you would rather pay for the visit yourself, say self-pay."
_NO_NUMBER = "This is not an insurance number."


def pays(number: str, context: Context) -> bool | str:
    """Refuse an insurance that does not pay for what the patient needs, and say why."""
    plan, specialty = plan_of(number), context.get("specialty")
    if plan is None:
        return f"I cannot place the number {number}: please check it on your card. {_SELF_PAY}"
    if not plan["active"]:
        return f"I am sorry, {number} cannot be used: {plan['reason']}. {_SELF_PAY}"
    covered = plan["covers"] == "all" or not specialty or specialty in plan["covers"]
    return covered or (
        f"I am sorry, your plan {plan['name']} does not pay for {specialty}. {_SELF_PAY}"
        f" Care coordination on {COORDINATION} knows other ways."
    )


def may_need_referral(known: Context) -> bool:
    """Say whether a referral may be needed: the plan asks for one, and none is on file."""
    plan = plan_of(known.get("insurance_id"))
    return (plan is None or plan["referral_needed"]) and not known.get("referral_source")


def has_referral(referral: str, context: Context) -> bool | str:
    """Refuse to go on without the referral that the plan asks for."""
    return referral == "yes" or (
        "Your plan asks for a referral from your primary care doctor. The practice can send one to"
        f" us within a working day; write again once you have it. {_SELF_PAY}"
    )


def treats(name: str, context: Context) -> bool | str:
    """Refuse a doctor of another specialty than the one that is needed by now."""
    specialty = DOCTORS[name].specialty
    return specialty == context.get("specialty") or f"{name} works in {specialty}."


def is_free(time: str, context: Context) -> bool | str:
    """Refuse a time that somebody else has taken meanwhile."""
    doctor = DOCTORS.get(context.get("selected_doctor", ""))
    return doctor is None or time in free_times(doctor, context) or f"{time} is already taken."


def anywhere(*words: str) -> str:
    """Return a pattern that finds the first of some words, wherever it stands."""
    return rf"(?i)\b({'|'.join(sorted(words, key=len, reverse=True))})\b"


PATIENT = [
    Field(
        "specialty",
        "enum",
        "Which kind of specialist do you need, and do you have a referral?",
        description="It says among which doctors we look.",
        choices=SPECIALTIES,
        extract=[anywhere(*SPECIALTIES, *chain(*SPECIALTIES.values()))],
    ),
    Field(
        "insurance_id",
        ask="What is your insurance number? It has three letters, a hyphen and six digits, such as"
        f" INS-123456. {_SELF_PAY}",
        description="With it we check before the visit that your plan pays.",
        label="insurance number",
        extract=[r"(?i)\b([a-z]{3}[- ]?\d{4,8})\b"],
        validators=[Regex(r"(?i)[a-z]{3}[- ]?\d{4,8}|self-pay", _NO_NUMBER), pays],
        depends_on=["specialty"],
    ),
    Field(
        "referral",
        "enum",
        "Do you have a referral from your primary care doctor?",
        description="Your plan pays for a specialist only with one.",
        choices={
            "yes": ["i do", "i have one", "my referral", "a referral", "was referred", "my gp"],
            "no": ["no referral", "not yet", "i have none"],
        },
        extract=[anywhere("my referral", "a referral", "was referred", "my gp", "no referral")],
        when=may_need_referral,
        validators=[has_referral],
    ),
    Field(
        "phone",
        "phone",
        "Under which phone number may we book?",
        when=lambda known: known.get("insurance_id") == "self-pay",
    ),
]
WISHES = [  # nobody asks for them; they are taken from whatever the patient says
    Field("gender", "enum", asked=False, choices={"female": ["woman", "lady"], "male": ["man"]}),
    Field("language", "enum", asked=False, choices=LANGUAGES),
    Field("place", "enum", asked=False, choices=PLACES),
    Field("day", "enum", asked=False, choices=WEEKDAYS),
    Field("not_on", "enum", asked=False, choices=NOT_ON, label="day that does not suit"),
    Field("part_of_day", "enum", asked=False, choices=PARTS_OF_DAY),
]
APPOINTMENT = [
    Field(
        "selected_doctor",
        "enum",
        which_doctor,
        label="doctor",
        description="You choose the doctor, and may change later.",
        choices=doctors_on_offer,
        validators=[treats],
        depends_on=["specialty"],
    ),
    Field(
        "slot",
        "enum",
        "Which of these times suits you?",
        label="time",
        choices=times_on_offer,
        validators=[is_free],
        depends_on=["selected_doctor"],
    ),
]
