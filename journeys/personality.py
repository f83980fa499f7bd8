"""How an assistant speaks: its tone, and what it says first."""

from __future__ import annotations

from dataclasses import dataclass

from journeys.errors import ConfigurationError, did_you_mean, shown

FORMALITIES = ("formal", "neutral", "casual")


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """How the assistant of a journey speaks, with a model and without.

    Attributes:
        name: What it calls itself.
        tone: How it sounds, in words for a model ("friendly", "brief and calm").
        formality: "formal", "neutral" or "casual".
        emojis: Whether it uses them.
        greeting: What it says when the session starts, word by word; empty: nothing.
        reword: Whether a model words the runtime's own texts in this tone, which costs a call in
            each turn that has one. What they say, ask and offer stays; where it does not, or the
            model fails, they are said as they are. A turn is heard when it is whole then.

    Raises:
        ConfigurationError: A value is unknown.

    Source: collecting agent, config models.
    """

    name: str = ""
    tone: str = ""
    formality: str = "neutral"
    emojis: bool = False
    greeting: str = ""
    reword: bool = False

    def __post_init__(self) -> None:
        for name in ("name", "tone", "greeting"):
            if not isinstance(getattr(self, name), str):
                raise ConfigurationError(
                    f"Personality: {name} is {shown(getattr(self, name))}; it must be text."
                )
        if self.formality not in FORMALITIES:
            hint = did_you_mean(str(self.formality), FORMALITIES)
            known = ", ".join(FORMALITIES)
            raise ConfigurationError(
                f"Personality: formality is {shown(self.formality)}.{hint} One of: {known}."
            )
        for name in ("emojis", "reword"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"Personality: {name} must be True or False.")
