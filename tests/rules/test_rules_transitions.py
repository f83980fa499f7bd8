"""Transitions that fire: order, kinds of triggers, conditions that stay true (DESIGN.md 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import gives, said, staff
from tests.support.scripts import follow


class Bank(Journey):
    """Look after a bank account; the tests add the rules."""

    class CounterPath(Pathway):
        __agents__ = ["counter"]
        __accumulate__ = {"risk": MergeStrategy.REPLACE, "name": None}
        __complete_when__ = NEVER

    class TransferPath(Pathway):
        __agents__ = ["transfer"]
        __accumulate__ = ["risk"]
        __complete_when__ = NEVER

    class FraudPath(Pathway):
        __agents__ = ["fraud"]
        __complete_when__ = NEVER

    class BalancePath(Pathway):
        __agents__ = ["balance"]
        __accumulate__ = ["risk"]
        __return_behavior__ = ReturnToPrevious()


def bank(*transitions: Transition) -> type[Journey]:
    return type("RuledBank", (Bank,), {"__transitions__": list(transitions)})


async def banking(talk: Any, url: str, *transitions: Transition, **options: Any) -> Any:
    journey = bank(*transitions)
    agents = staff(journey, **options.pop("agents", {}))
    return await talk(journey, agents, url, **options)


def says(words: str, target: str, source: Any = "*", **more: Any) -> Transition:
    return Transition(said(words), source, target, **more)


def risky(context: Mapping[str, Any]) -> bool:
    return context.get("risk") == "high"


def when_risky(target: str, source: Any = "*", **more: Any) -> Transition:
    return Transition(ConditionTrigger(risky), source, target, **more)


class Shouted(BaseTrigger):
    """An author's own trigger."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        return message.isupper()


class Slowly(BaseTrigger):
    """An author's own trigger that has to wait for something."""

    async def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        await asyncio.sleep(0)
        return "send" in message


class Amount(IntentTrigger):
    """An author's own trigger that extends one of ours."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        return any(word.isdigit() for word in message.split())


class Broken(BaseTrigger):
    """An author's own trigger that does not work."""

    def evaluate(self, message: str, context: Mapping[str, Any]) -> bool:
        raise LookupError("no such table")


WATCH = when_risky("fraud", priority=100)
BACK = says("back", "counter", "fraud")
HIGH = {"risk": "high"}

Case = tuple[str, tuple[Transition, ...], dict[str, Any]]


def case(script: str, *rules: Transition, context: dict[str, Any] | None = None) -> Case:
    """A conversation, the rules that it is held with, and what is known at its start."""
    return script, rules, context or {}


TRANSITION_ORDER = {
    "of two patterns the higher priority wins": case(
        "send it, my card is stolen -> fraud; says fraud: send it, my card is stolen",
        says("send", "transfer", priority=1),
        says("stolen", "fraud", priority=2),
    ),
    "of two equal priorities the one declared first wins": case(
        "send it, my card is stolen -> fraud", says("stolen", "fraud"), says("send", "transfer")
    ),
    "a condition of a higher priority than a pattern wins": case(
        "send it -> fraud",
        says("send", "transfer", priority=5),
        when_risky("fraud", priority=9),
        context=HIGH,
    ),
    "a pattern of a higher priority than a condition wins": case(
        "send it -> transfer",
        says("send", "transfer", priority=9),
        when_risky("fraud", priority=5),
        context=HIGH,
    ),
    "an author's own trigger of a higher priority wins": case(
        "send -> transfer | SEND -> fraud",
        says("send", "transfer", priority=5),
        Transition(Shouted(), to_pathway="fraud", priority=9),
    ),
    "an author's own trigger of a lower priority does not": case(
        "SEND -> transfer",
        says("send", "transfer", priority=5),
        Transition(Shouted(), to_pathway="fraud", priority=1),
    ),
    "an own trigger may be asynchronous": case(
        "hello -> counter | send it -> transfer; tier own",
        Transition(Slowly(), to_pathway="transfer"),
    ),
    "an intent of one's own is asked like any own trigger": case(
        "some money -> counter | 40 euros -> transfer", Transition(Amount(), to_pathway="transfer")
    ),
    "always comes last whatever its priority": case(
        "my card is stolen -> fraud",
        Transition(AlwaysTrigger(), "counter", "transfer", priority=1000),
        says("stolen", "fraud", "counter", priority=-5),
    ),
    "always fires when nothing else does and where it applies": case(
        "hello -> transfer; to transfer; tier always | hello -> transfer; to",
        Transition(AlwaysTrigger(), "counter", "transfer", priority=1),
    ),
    "always does not keep a detour from returning": case(
        "my balance? -> balance | thanks -> counter; to; says counter: thanks",
        says("balance", "balance"),
        Transition(AlwaysTrigger(), to_pathway="transfer"),
    ),
    "a transition from anywhere applies": case("stolen! -> fraud", says("stolen", "fraud", "*")),
    "a transition from here applies": case("stolen! -> fraud", says("stolen", "fraud", "counter")),
    "a transition from here and elsewhere applies": case(
        "stolen! -> fraud", says("stolen", "fraud", ["transfer", "counter"])
    ),
    "a transition from elsewhere does not": case(
        "stolen! -> counter", says("stolen", "fraud", "transfer")
    ),
    "a transition from two other pathways does not": case(
        "stolen! -> counter", says("stolen", "fraud", ["transfer", "balance"])
    ),
    "a transition to where one stands runs it again and moves nothing": case(
        """
        say that again -> counter; to counter; unmoved; paused; says counter: say that again
        """,
        says("again", "counter"),
    ),
}

CONDITION_THAT_STAYS_TRUE = {
    "it fires again once it was seen false": case(
        """
        risk=high -> counter
        hm -> fraud
        back -> counter
        risk=low -> counter
        risk=high -> counter
        hm -> fraud
        """,
        WATCH,
        BACK,
    ),
    "that it fired survives the session being taken up again": case(
        "hello -> fraud | (restart) | back -> counter | (restart) | hm -> counter",
        WATCH,
        BACK,
        context=HIGH,
    ),
    "a rollback takes back that it fired": case(
        "hello -> fraud | (rollback 0) | hello again -> fraud", WATCH, BACK, context=HIGH
    ),
    "seen false while another pathway speaks it is armed again": case(
        """
        hello -> fraud
        send it -> transfer
        risk=low -> transfer
        risk=high -> transfer
        back -> counter
        so? -> fraud
        """,
        when_risky("fraud", "counter", priority=100),
        says("send", "transfer"),
        says("back", "counter"),
        context=HIGH,
    ),
    "outranked by a pattern it stays armed": case(
        "send it -> transfer | and now? -> fraud",
        when_risky("fraud", priority=1),
        says("send", "transfer", priority=5),
        context=HIGH,
    ),
    "of two both fire one after the other": case(
        "one -> transfer | two -> fraud | three -> fraud",
        when_risky("fraud", priority=1),
        Transition(ConditionTrigger(lambda c: "name" in c), to_pathway="transfer", priority=2),
        context={**HIGH, "name": "Ann"},
    ),
    "into a detour it fires once and returns": case(
        "one -> balance | two -> counter | three -> counter", when_risky("balance"), context=HIGH
    ),
    "it is judged while a detour waits to return": case(
        "balance? risk=high -> balance | thanks -> fraud; paused; says fraud: thanks",
        WATCH,
        says("balance", "balance"),
    ),
    "it may disarm itself by its own update": case(
        """
        risk=high -> counter; to
        hm -> counter; to counter
        hm -> counter; to
        risk=high -> counter; to
        hm -> counter; to counter
        """,
        when_risky(
            "counter",
            "counter",
            context_update={"risk": "set:checked", "name": "set:asked"},
        ),
    ),
    "without a function it never fires": case(
        "hello -> counter", Transition(ConditionTrigger(), to_pathway="fraud")
    ),
}

TALKS = TRANSITION_ORDER | CONDITION_THAT_STAYS_TRUE


@pytest.mark.parametrize("held", TALKS)
async def test_a_transition_fires_as_the_rules_say(held, talk, memory_url):
    """Transition order; Condition that stays true."""
    script, rules, context = TALKS[held]
    chat = await banking(talk, memory_url, *rules, context=context)

    await follow(chat, script)


async def test_an_own_trigger_that_raises_is_false_and_audited(talk, memory_url):
    """Condition that stays true: a raising one is false, and audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(Broken(), to_pathway="fraud", priority=9),
        Transition(said("send"), to_pathway="transfer"),
    )

    assert await chat.says("send it") == "transfer: send it"
    audit = await chat.journey.audit()
    assert [row.kind for row in audit] == ["condition_raised", "transition"]
    assert "no such table" in audit[0].reason


async def test_what_was_outranked_is_audited(talk, memory_url):
    """Section 3: what is dropped is audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send"), to_pathway="transfer"),
        Transition(said("stolen"), to_pathway="fraud", priority=1),
    )

    await chat.says("send it, my card is stolen")

    rows = [(row.kind, row.to_pathway, row.trigger) for row in await chat.journey.audit()]
    assert rows == [("dropped", "transfer", "send"), ("transition", "fraud", "stolen")]


async def test_a_condition_that_stays_true_fires_once(talk, memory_url):
    """Condition that stays true; the others fire, and push, until the tenth turn fails."""
    chat = await banking(talk, memory_url, WATCH, BACK, context={"risk": "high"})

    for words in ["hello", "back", *["go on"] * 12]:
        await chat.says(words)

    assert chat.path == ["fraud", *["counter"] * 13]
    assert (await chat.audited()).count("transition") == 2


async def test_a_condition_true_where_it_does_not_apply_stays_armed(talk, memory_url):
    """Condition that stays true: true where its `from` does not apply."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(risky), "transfer", "fraud"),
        Transition(said("send"), "counter", "transfer"),
        context={"risk": "high"},
    )
    for words in ("hello", "hello", "send it", "go on"):
        await chat.says(words)

    assert chat.path == ["counter", "counter", "transfer", "fraud"]
    assert "dropped" not in await chat.audited()


async def test_a_condition_that_raises_is_false_audited_and_flagged(talk, memory_url):
    """Condition that stays true: a raising one is false, and audited."""
    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(lambda c: c["risk"] == "high"), to_pathway="fraud"),
    )

    assert await chat.says("hello") == "counter: hello"
    assert "condition_raised" in chat.last.metadata["flags"]
    assert await chat.audited() == ["condition_raised"]
    await chat.says("risk=high")
    await chat.says("hm")
    assert chat.path == ["counter", "counter", "fraud"]
    assert chat.last.metadata["flags"] == []


async def test_what_a_condition_does_to_the_context_changes_nothing(talk, memory_url):
    """Condition that stays true; Function agents, What an agent does to the context."""

    def greedy(context: Any) -> bool:
        context["seen"] = True
        context["list"].append("more")
        return False

    chat = await banking(
        talk,
        memory_url,
        Transition(ConditionTrigger(greedy), to_pathway="fraud"),
        context={"list": ["one"]},
    )
    await chat.says("hello")

    assert chat.context == {"list": ["one"]}


async def test_a_condition_that_fired_in_a_failed_turn_is_still_armed(talk, memory_url):
    """Failure: position unchanged."""
    answers = iter([ValueError("down")])

    def fraud(payload: dict[str, Any]) -> str:
        for error in answers:
            raise error
        return "fraud desk"

    chat = await banking(talk, memory_url, WATCH, context={"risk": "high"}, agents={"fraud": fraud})

    await chat.says("hello")
    assert (chat.last.pathway_id, chat.last.transition_to) == ("counter", None)
    assert await chat.says("hello?") == "fraud desk"


async def test_a_turn_tells_what_moved_it_and_how_it_was_decided(talk, memory_url):
    """Response object: tier, intent, confidence, reasoning."""
    chat = await banking(
        talk,
        memory_url,
        Transition(said("send", "transfer"), to_pathway="transfer"),
        Transition(ConditionTrigger(risky, description="looks risky"), to_pathway="fraud"),
        agents={"transfer": gives(risk="high")},
    )
    await chat.says("please transfer 40")
    pattern = chat.last.metadata
    await chat.says("go")
    condition = chat.last.metadata

    assert (pattern["tier"], pattern["transition_intent"], pattern["confidence"]) == (
        "pattern",
        "send",
        1.0,
    )
    assert "transfer" in pattern["reasoning"]
    assert (condition["tier"], condition["transition_intent"]) == ("condition", "looks risky")
