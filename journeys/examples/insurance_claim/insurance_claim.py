"""Run the claims desk: its tools, and agents that answer without a model.

With a model the definition files alone drive it: each state is an agent then. Without one, these
functions speak in their place; they hear words and numbers, and nothing between the lines.
"""

import re
from typing import Any

from journeygraph.journeys.examples.insurance_claim.tools import HOTLINE, TOOLS, find_policy

__all__ = ["AGENTS", "DEMO_MESSAGES", "MODEL_AGENTS", "TOOLS"]

Ask = dict[str, Any]

_DAMAGES = {
    "water": r"water|pipe|flood|leak",
    "fire": r"fire|burnt|smoke",
    "theft": r"stolen|burgl|theft|broke in",
    "glass": r"window|glass|pane",
}
_TRADES = {
    "plumber": r"water|pipe|flood|leak|plumber",
    "locksmith": r"lock|key|door",
    "glazier": r"window|glass|glazier",
    "electrician": r"electric|power|fuse",
}
_TRADE_FOR = {"water": "plumber", "theft": "locksmith", "glass": "glazier", "fire": "electrician"}

_BY_RULE = {
    "worried": "You do not have to sort this out alone.",
    "claim.number_unknown": "It is at the top right of every letter of ours.",
    "claim.assessor": "An assessor will come to see the damage within two working days.",
    "claim.theft": "Please report the theft to the police as well.",
    "claim.police": "Send us the reference of the police later.",
    "assistance.danger": "Leave the house and call 112 first.",
    "assistance.water": "Turn off the water at the main tap behind the meter.",
}
"""What these agents say for a guideline that holds."""


def _say(ask: Ask, text: str, **known: Any) -> Ask:
    rules = [_BY_RULE.get(rule["id"], "") for rule in ask.get("guidelines", ())]
    return {"response": " ".join(filter(None, [*rules, text])), **known}


def _first(words: dict[str, str], message: str) -> str | None:
    return next((name for name, said in words.items() if re.search(said, message, re.I)), None)


def report(ask: Ask) -> Ask:
    """Ask for what is missing, one thing at a time."""
    message, context = ask["message"], ask["context"]
    number = re.search(r"\bHH-\d{4}\b", message, re.I)
    loss = re.search(r"(\d[\d,]*(?:\.\d+)?)\s*(?:euros?|eur|€)", message, re.I)
    heard = {
        "policy_number": number[0].upper() if number else None,
        "damage": _first(_DAMAGES, message),
        "loss": float(loss[1].replace(",", "")) if loss else None,
    }
    known = {name: value for name, value in heard.items() if value is not None}
    if number:
        try:
            find_policy(number[0])
        except LookupError:
            return _say(ask, f"I find no policy {number[0]}. What is the number?")
    have = {**context, **known}
    for name, question in (
        ("policy_number", "What is the number of your policy?"),
        ("damage", "What happened: water, fire, theft or glass?"),
        ("loss", "What does it cost to put right, in euros?"),
    ):
        if have.get(name) is None:
            return _say(ask, question, **known)
    return {"response": "Thank you, that is all I need.", **known}


def assess(ask: Ask) -> Ask:
    """Say what is paid, once; then wait for a yes."""
    found = ask["tool_results"]["estimate"]
    if "failed" in found:
        return _say(ask, f"I cannot work that out just now. Please call {HOTLINE}.")
    if "estimate" in ask["context"] and re.search(
        r"\b(yes|do so|please do)\b", ask["message"], re.I
    ):
        return {"response": "I am filing it.", "agreed": True}
    if not found["covered"]:
        damage = ask["context"]["damage"]
        return _say(ask, f"Your policy does not cover {damage}. Shall I file it all the same?")
    pays, excess = found["pays"], found["excess"]
    told = f"Your policy would pay {pays:,.0f} euros; you bear {excess} euros. Shall I file it?"
    return _say(ask, told)


def file(ask: Ask) -> Ask:
    """Give the number of the claim."""
    filed = ask["tool_results"]["file_claim"]
    if "failed" in filed:
        return _say(ask, f"That did not work. Please call {HOTLINE}.")
    return _say(ask, f"It is filed as {filed['claim']}, and decided within {filed['days']} days.")


def cover(ask: Ask) -> Ask:
    """Read from the policy."""
    policy = ask["tool_results"]["find_policy"]
    if "covers" not in policy:
        return _say(ask, "For that I need the number of your policy.")
    covered = ", ".join(policy["covers"])
    return _say(ask, f"{policy['product']} covers {covered}, up to {policy['limit']:,} euros.")


def place(ask: Ask) -> Ask:
    """Ask where, and for whom."""
    message, context = ask["message"], ask["context"]
    postcode = re.search(r"\b\d{5}\b", message)
    reported = _TRADE_FOR.get(context.get("reported", ""))
    heard = {
        "postcode": postcode[0] if postcode else None,
        "trade": _first(_TRADES, message) or (None if context.get("trade") else reported),
    }
    known = {name: value for name, value in heard.items() if value}
    have = {**context, **known}
    if not have.get("postcode"):
        return _say(ask, "Is everybody safe? What is the postcode?", **known)
    if not have.get("trade"):
        return _say(ask, "Who is needed: a plumber, locksmith, glazier or electrician?", **known)
    return {"response": "I am looking for somebody.", **known}


def send(ask: Ask) -> Ask:
    """Say who comes."""
    partner = ask["tool_results"]["nearest_partner"]
    if not partner.get("name"):
        return _say(ask, f"Nobody of ours is near. {HOTLINE} finds somebody for you at once.")
    coming = f"{partner['name']} will be there in {partner['minutes']} minutes."
    return _say(ask, f"{coming} Say 'file a claim' when you want to report the damage.")


AGENTS = {agent.__name__: agent for agent in (report, assess, file, cover, place, send)}
MODEL_AGENTS: dict[str, Any] = {}  # with a model, every state is an agent by its file
DEMO_MESSAGES = (
    "Hello",
    "I want to report a burst pipe",
    "My policy is HH-2041",
    "What is covered?",
    "I am scared, the water is still running!",
    "The postcode is 10115",
    "Now file a claim for the water",
    "It will cost 7,300 euros",
    "Yes please",
)
