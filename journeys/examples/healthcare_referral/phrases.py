"""Phrases of patients by intent, and two replies of the clinic."""

QUESTIONS = [
    "question", "questions", "help", "explain", "policy", "copay", "deductible", "parking",
    "interpreter", "telehealth", "second opinion", "opening hours", "what is", "what's", "what are",
    "what does", "what if", "what happens", "what documents", "what should", "how do", "how does",
    "how can", "how much", "how long", "why", "where", "when is my", "do i", "does my", "do you",
    "can i get", "can i change", "can i bring", "can i pay", "can i drive", "may i", "should i",
    "is there", "are there", "are the doctors", "will my",
]  # fmt: skip
SHOWING = [
    "show me", "available", "is free", "are free", "when is dr", "is dr", "which doctors",
    "which times", "my options", "a female", "a male", "anything on", "someone on", "go on", "yes",
    "sure",
]  # fmt: skip
REJECTIONS = [
    "don't want dr", "don't want doctor", "don't want this", "don't want that", "don't want him",
    "don't want her", "do not want dr", "do not want this", "different doctor", "another doctor",
    "different one", "another one", "another option", "next option", "someone else",
    "somebody else", "rather not see", "not him", "not her", "not this one", "none of these",
]  # fmt: skip
HESITATION = [
    "not sure", "unsure", "maybe later", "let me think", "think about it", "hesitant", "not ready",
    "worried", "scared", "nervous", "afraid", "too expensive", "changed my mind", "not now",
]  # fmt: skip
OTHER_DOCTORS = [
    "another doctor", "different doctor", "rather see", "someone else", "another appointment",
    "new appointment", "show me", "book",
]  # fmt: skip
OTHER_TIMES = [
    "reschedule", "another time", "different time", "another day", "different day", "too early",
    "too late", "change my appointment", "move my appointment", "earlier", "later", "instead",
]  # fmt: skip
WITHDRAWALS = ["cancel", "actually no", "call it off", "can't make it", "cannot come", "forget it"]
SELF_PAY = ["self-pay", "self pay", "pay for it myself", "pay myself", "no insurance"]
EMERGENCIES = ["emergency", "chest pain", "can't breathe", "cannot breathe", "heart attack"]
BOOKED = "Done: {slot} with {selected_doctor} is yours."
HAND_OVER = "I am handing you over to care coordination (555-0142). In an emergency, call 911 now."
