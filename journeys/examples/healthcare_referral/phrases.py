"""What patients say, by what they want: the patterns of the journey's transitions."""

QUESTIONS = [
    "question", "questions", "help", "explain", "policy", "copay", "deductible",
    "parking", "interpreter", "telehealth", "video visit", "second opinion", "opening hours",
    "accessible", "what is", "what's", "what are", "what does", "what do", "what if",
    "what happens", "what should", "how do", "how does", "how can", "how much", "how long",
    "how many", "how soon", "why", "where", "when do", "when does", "when will", "when is",
    "do i", "does it", "does my", "does a", "does the", "do you", "can i", "may i", "should i",
    "am i", "is there", "are there", "who can", "who do", "which insurance", "will my",
    "is my data", "covered by", "insurance cover", "insurance pay", "is it free",
]  # fmt: skip
REJECTIONS = [
    "don't want dr", "don't want doctor", "don't want this", "don't want that", "don't want him",
    "don't want her", "don't want to see", "do not want dr", "do not want doctor",
    "do not want this", "different doctor", "another doctor", "different one", "another one",
    "another option", "different option", "someone else", "somebody else", "rather not see",
    "not him", "not her", "not this one", "next doctor",
]  # fmt: skip
HESITATION = [
    "not sure", "unsure", "maybe later", "let me think", "think about it", "think it over",
    "hesitant", "second thoughts", "not ready", "worried", "scared", "nervous", "anxious",
    "afraid of", "too expensive", "can't afford", "changed my mind", "cancel", "forget it",
    "don't want to go", "don't want an appointment", "don't know if", "not now",
]  # fmt: skip
A_PERSON = [
    "a person", "real person", "a human", "human being", "speak to someone", "speak with someone",
    "talk to someone", "talk to somebody", "coordinator", "operator", "representative",
    "call me back", "this is an emergency", "i have chest pain", "having chest pain",
    "heart attack", "having a stroke", "can't breathe", "cannot breathe",
]  # fmt: skip
CHANGES = [
    "reschedule", "another time", "different time", "another day", "different day",
    "another doctor", "different doctor", "change my appointment", "change the appointment",
    "move my appointment", "change the time", "other times", "earlier time", "later time",
    "earlier please", "later please", "too early", "too late", "doesn't work", "does not work",
    "doesn't suit", "does not suit",
]  # fmt: skip
WITHDRAWALS = [
    "cancel", "actually no", "actually not", "no wait", "wait no", "second thought",
    "second thoughts", "changed my mind", "call it off", "can't make it", "cannot make it",
    "can't come", "cannot come", "forget it", "don't want to go", "don't want the appointment",
    "don't want it",
]  # fmt: skip
