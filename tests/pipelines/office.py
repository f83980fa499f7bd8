"""A town hall: nine desks with their cards, and what people ask them."""

from __future__ import annotations

from journeygraph import Agent, Skill
from tests.pipelines.marked import Marked

DESKS = {
    "passports": (
        "Issues passports and identity cards.",
        [
            Skill(
                "travel documents",
                "Apply for, renew or replace a passport or an identity card",
                examples=["My passport expires next month", "I lost my ID card"],
                synonyms=["passport", "identity card", "ID", "travel document"],
            )
        ],
    ),
    "parking": (
        "Parking permits and parking fines.",
        [
            Skill(
                "parking permits",
                "Get a parking permit for residents or visitors",
                examples=["Where can I park my car?", "I need a permit for my street"],
                synonyms=["car", "garage", "resident permit"],
            ),
            Skill(
                "parking fines",
                "Pay a parking fine or object to it",
                examples=["I got a ticket on my windscreen"],
                synonyms=["ticket", "penalty", "fine"],
            ),
        ],
    ),
    "waste": (
        "Household waste, recycling and bulky rubbish.",
        [
            Skill(
                "collection",
                "When bins are emptied, and what goes into which container",
                examples=["My bin was not emptied", "Where do I bring old batteries?"],
                synonyms=["garbage", "rubbish", "trash", "bin", "recycling", "glass", "sofa"],
            )
        ],
    ),
    "taxes": (
        "Local taxes: property tax, dog licence, tourist tax.",
        [
            Skill(
                "assessments",
                "Explain a tax assessment, its amount and how to pay in instalments",
                examples=["Why is my property tax so high?", "How do I register my dog?"],
                synonyms=["levy", "assessment", "dog", "property value"],
            )
        ],
    ),
    "marriages": (
        "Weddings and registered partnerships.",
        [
            Skill(
                "ceremonies",
                "Plan a wedding at the town hall",
                examples=["We want to get married in June", "How many witnesses do we need?"],
                synonyms=["wedding", "marry", "bride", "partnership", "witness"],
            )
        ],
    ),
    "building": (
        "Building permits for houses, extensions and sheds.",
        [
            Skill(
                "building permits",
                "Permission to build, extend or demolish",
                examples=["Can I add a dormer to my roof?", "Do I need permission for a shed?"],
                synonyms=["construction", "extension", "roof", "demolish", "architect"],
            )
        ],
    ),
    "schools": (
        "Schools and day care.",
        [
            Skill(
                "enrolment",
                "Find a school or a nursery, and sign a child up",
                examples=["Which primary school is near me?", "Is there a place in a nursery?"],
                synonyms=["school", "kindergarten", "pupil", "teacher", "child"],
            )
        ],
    ),
    "moving": (
        "Register a new address, moving in or out of town.",
        [
            Skill(
                "address registration",
                "Report a change of address or a new resident",
                examples=["I moved last week", "I am leaving the country"],
                synonyms=["move", "relocate", "new address", "house move"],
            )
        ],
    ),
    "noise": (
        "Complaints about noise and neighbours.",
        [
            Skill(
                "complaints",
                "Report loud music, barking or noise at night",
                examples=["My neighbours are too loud", "There is a party every night"],
                synonyms=["loud", "music", "disturbance", "neighbour"],
            )
        ],
    ),
}

REQUESTS = [
    ("I have to renew my passport before the summer", "passports"),
    ("my identity card was stolen on the train", "passports"),
    ("What does a new passport cost?", "passports"),
    ("How long is an ID card valid?", "passports"),
    ("I'd like a resident permit for my car", "parking"),
    ("somebody put a parking ticket on my windscreen", "parking"),
    ("can visitors park here for free", "parking"),
    ("I want to object to a fine for parking", "parking"),
    ("the bins in our street have not been emptied", "waste"),
    ("where do I leave an old sofa", "waste"),
    ("Does glass go with the recycling?", "waste"),
    ("rubbish was dumped behind the station", "waste"),
    ("I don't understand my property tax assessment", "taxes"),
    ("do I have to pay tax for two dogs", "taxes"),
    ("Can I pay the levy in instalments?", "taxes"),
    ("how is the tourist tax calculated", "taxes"),
    ("we would like to get married in September", "marriages"),
    ("How much does a wedding at the town hall cost?", "marriages"),
    ("may my brother be a witness", "marriages"),
    ("turn our registered partnership into a marriage", "marriages"),
    ("do I need permission to build a shed", "building"),
    ("We plan an extension at the back of the house, which permission applies?", "building"),
    ("my architect asks for the construction rules", "building"),
    ("may I demolish the old barn", "building"),
    ("is there a place at a primary school for my daughter", "schools"),
    ("when does kindergarten begin", "schools"),
    ("sign up my child for a nursery", "schools"),
    ("which school has the best teachers", "schools"),
    ("I moved to a new flat last week", "moving"),
    ("how do I register my new address", "moving"),
    ("we relocate to Spain, whom do I tell", "moving"),
    ("the people upstairs play loud music", "noise"),
    ("My neighbour's party goes on all night", "noise"),
    ("noise from the bar at night", "noise"),
]


def desks() -> list[Agent]:
    """Every desk, as an agent that leaves its mark."""
    return [
        Agent(Marked(name), name=name, description=purpose, skills=skills)
        for name, (purpose, skills) in DESKS.items()
    ]
