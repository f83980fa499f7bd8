"""The frozen spec of a definition: inherited, hashed and read, never changed."""

from __future__ import annotations

import functools
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest

from journeygraph import (
    NEVER,
    BaseTrigger,
    ConditionTrigger,
    Field,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Locale,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Signature,
    Transition,
)
from journeygraph.journeys import phrases
from journeygraph.journeys.agents.signature import FieldSpec
from journeygraph.journeys.phrases import said
from journeygraph.journeys.spec.hashing import content_hash


class Desk(Journey):
    """Take an order."""

    class OrderPath(Pathway):
        """Ask what it shall be."""

        __agents__ = ["clerk"]
        __accumulate__ = {"items": MergeStrategy.UNION, "name": None}
        __complete_when__ = ["items"]
        __next__ = "payment"

    class PaymentPath(Pathway):
        __agents__ = ["cashier"]
        __pipeline__ = "parallel"
        __timeout__ = 5

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(["why"], description="wonders"),
            to_pathway="faq",
            context_update={"asked": "append:name", "topic": "set:prices", "name": "clear:"},
        ),
    ]


def clerks(*names: str) -> dict[str, Callable[[Any], str]]:
    return {name: lambda _, name=name: f"{name} speaks" for name in names}  # type: ignore[misc]


# The spec says what the class says.


def test_the_spec_says_what_the_class_says() -> None:
    spec = Desk.spec
    order, payment, faq = spec.pathways.values()

    assert (spec.id, spec.name, spec.purpose) == ("desk", "Desk", "Take an order.")
    assert (spec.entry, list(spec.pathways)) == ("order", ["order", "payment", "faq"])
    assert (order.purpose, order.agents, order.next) == (
        "Ask what it shall be.",
        ("clerk",),
        "payment",
    )
    assert dict(order.accumulate) == {"items": MergeStrategy.UNION, "name": None}
    assert order.complete_when == ("items",)
    assert payment.pipeline
    assert payment.pipeline.pattern == "parallel"
    assert (payment.timeout, payment.is_detour) == (5.0, False)
    assert faq.pipeline
    assert faq.pipeline.pattern == "sequential"
    assert (faq.returns, faq.is_detour) == (ReturnToPrevious(), True)
    assert spec.agents == {"clerk": ("order",), "cashier": ("payment",), "librarian": ("faq",)}


def test_a_transition_in_the_spec_reads_as_it_was_written() -> None:
    (transition,) = Desk.spec.transitions

    assert (transition.sources, transition.target, transition.label) == (("*",), "faq", "why")
    assert [(one.target, one.how, one.argument) for one in transition.updates] == [
        ("asked", "append", "name"),
        ("topic", "set", "prices"),
        ("name", "clear", ""),
    ]


@pytest.mark.parametrize(
    ("trigger", "label"),
    [
        (IntentTrigger(["help", "aid"]), "help"),
        (IntentTrigger(description="wants help"), "wants help"),
        (IntentTrigger(), "unknown"),
        (ConditionTrigger(description="too often"), "too often"),
        (ConditionTrigger(lambda context: True), "condition"),
        (ConditionTrigger(len), "len"),
    ],
)
def test_a_trigger_is_called_by_its_first_pattern_or_description(
    trigger: BaseTrigger, label: str
) -> None:
    assert trigger.label == label


def test_triggers_can_be_asked_alone() -> None:
    help_ = IntentTrigger(patterns=["help", "can't find"])

    assert help_.evaluate("I need HELP", {})
    assert help_.evaluate("I can’t find it", {})
    assert not help_.evaluate("That was helpful", {})
    assert not IntentTrigger().evaluate("anything", {})
    assert ConditionTrigger(lambda context: context["n"] > 2).evaluate("", {"n": 3})
    assert not ConditionTrigger().evaluate("", {})


def test_a_journey_id_is_its_name_without_the_suffix() -> None:
    class HealthcareReferralJourney(Journey):
        pass

    assert HealthcareReferralJourney.spec.id == "healthcare_referral"


class Repeats(ConditionTrigger):
    """A condition that also listens."""

    def evaluate(self, message: str, context: Any) -> bool:
        return message == context.get("before")


async def test_a_condition_of_ones_own_is_asked_with_message_and_context(
    talk: Any, memory_url: str
) -> None:
    class Trip(Journey):
        class TalkPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

        class AgainPath(Pathway):
            __agents__ = ["clerk"]

        __transitions__ = [Transition(Repeats(), to_pathway="again")]

    chat = await talk(Trip, clerks("clerk"), memory_url, context={"before": "hello"})
    await chat.says("good day")
    await chat.says("hello")

    assert chat.path == ["talk", "again"]


async def test_a_journey_may_open_and_close_in_its_own_way(memory_url: str) -> None:
    class Careful(Desk):
        closed = False

        async def __aexit__(self, *error: object) -> None:
            Careful.closed = True
            await super().__aexit__(*error)

    async with Careful("s-1", JourneyConfig(persistence=memory_url)):
        pass

    assert Careful.closed


# Nothing that shows a definition can change it.


async def test_properties_return_copies() -> None:
    desk = Desk("s-1", JourneyConfig(persistence="memory://"))

    desk.pathways.clear()
    desk.transitions.clear()

    assert list(desk.pathways) == ["order", "payment", "faq"]
    assert desk.pathways["order"] is Desk.OrderPath
    assert desk.transitions == Desk.__transitions__
    assert desk.entry_pathway == "order"
    assert Desk.spec.agents["clerk"] == ("order",)


def test_the_spec_is_frozen() -> None:
    spec = Desk.spec
    order = spec.pathways["order"]
    frozen: list[tuple[Any, str]] = [
        (spec, "entry"),
        (order, "next"),
        (spec.transitions[0], "target"),
        (spec.transitions[0].updates[0], "how"),
    ]

    for item, name in frozen:
        with pytest.raises(AttributeError):
            setattr(item, name, "other")
    mappings: list[Any] = [spec.pathways, spec.strategies, order.accumulate]
    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping["new"] = None


def test_lists_of_the_author_are_read_once() -> None:
    agents, patterns, updates = ["clerk"], ["help"], {"a": "set:b"}
    rules = [Transition(IntentTrigger(patterns), to_pathway="talk", context_update=updates)]

    class Trip(Journey):
        __transitions__ = rules

        class TalkPath(Pathway):
            __agents__ = agents

    agents.append("boss")
    patterns.append("aid")
    updates["a"] = "set:c"
    rules.clear()

    (transition,) = Trip.spec.transitions
    assert Trip.spec.pathways["talk"].agents == ("clerk",)
    assert isinstance(transition.trigger, IntentTrigger)
    assert transition.trigger.patterns == ("help",)
    assert [(one.target, one.how, one.argument) for one in transition.updates] == [
        ("a", "set", "b")
    ]


# Inheritance.


def test_a_pathway_inherits_what_it_does_not_set() -> None:
    class Counter(Pathway):
        """Serve at the counter."""

        __agents__ = ["clerk"]
        __accumulate__ = ["name"]
        __next__ = "end"

    class Trip(Journey):
        class FirstPath(Counter):
            __agents__ = ["trainee"]

        class EndPath(Pathway):
            pass

    first = Trip.spec.pathways["first"]
    assert (first.agents, list(first.accumulate), first.next) == (("trainee",), ["name"], "end")
    assert first.purpose == "Serve at the counter."


def test_a_journey_inherits_pathways_entry_and_transitions() -> None:
    class Kiosk(Desk):
        pass

    assert list(Kiosk.spec.pathways) == ["order", "payment", "faq"]
    assert Kiosk.spec.entry == "order"
    assert [t.target for t in Kiosk.spec.transitions] == ["faq"]
    assert Kiosk.spec.purpose == "Take an order."
    assert Kiosk.spec.id == "kiosk"


async def test_a_subclass_overrides_by_id_and_adds(talk: Any, memory_url: str) -> None:
    class Shop(Desk):
        """Sell things."""

        class OrderPathway(Desk.OrderPath):
            __agents__ = ["seller"]

        class GiftPath(Pathway):
            __agents__ = ["wrapper"]

        __transitions__ = [
            *Desk.__transitions__,
            Transition(IntentTrigger(["gift"]), to_pathway="gift"),
        ]

    agents = clerks("seller", "cashier", "librarian", "wrapper")
    chat = await talk(Shop, agents, memory_url)

    assert list(Shop.spec.pathways) == ["order", "payment", "faq", "gift"]
    assert chat.journey.pathways["order"] is Shop.OrderPathway
    assert await chat.says("hello") == "seller speaks"
    assert await chat.says("as a gift please") == "wrapper speaks"
    assert Desk.spec.pathways["order"].agents == ("clerk",)
    assert "gift" not in Desk.spec.pathways


def test_a_mixin_gives_its_pathways_to_several_journeys() -> None:
    class WithHelp(Journey):
        class HelpPath(Pathway):
            __agents__ = ["helper"]
            __return_behavior__ = ReturnToPrevious()

        class HomePath(Pathway):
            __agents__ = ["host"]

        __entry_pathway__ = "home"

    class Both(WithHelp, Desk):
        __entry_pathway__ = "order"

    assert set(Both.spec.pathways) == {"order", "payment", "faq", "help", "home"}
    assert Both.spec.entry == "order"


class HelpMixin:
    """No journey, only something to share."""

    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()


async def test_pathways_in_a_plain_mixin_count(memory_url: str) -> None:
    class Shop(HelpMixin, Journey):
        __entry_pathway__ = "browse"

        class BrowsePath(Pathway):
            __agents__ = ["host"]

    assert list(Shop.spec.pathways) == ["help", "browse"]
    async with Shop("s-1", JourneyConfig(persistence=memory_url)) as shop:
        assert shop.pathways == {"help": HelpMixin.HelpPath, "browse": Shop.BrowsePath}


async def test_none_takes_an_inherited_pathway_away(memory_url: str) -> None:
    class Home(HelpMixin, Journey):
        __entry_pathway__ = "home"

        class HomePath(Pathway):
            __agents__ = ["host"]

    class Quiet(Home):
        HelpPath = None  # type: ignore[assignment]

    assert list(Home.spec.pathways) == ["help", "home"]
    assert list(Quiet.spec.pathways) == ["home"]
    async with Quiet("s-1", JourneyConfig(persistence=memory_url)) as quiet:
        assert list(quiet.pathways) == ["home"]


def test_a_fault_that_only_a_subclass_has_names_the_subclass() -> None:
    with pytest.raises(JourneyDefinitionError, match=r"^Shop\.GiftPath: __next__ is 'paymnt'"):

        class Shop(Desk):
            class GiftPath(Pathway):
                __next__ = "paymnt"


async def test_a_journey_without_pathways_is_abstract(memory_url: str) -> None:
    """The definition succeeds, starting fails."""

    class Base(Journey):
        """Something to build on."""

    async with Base("s-1", JourneyConfig(persistence=memory_url)) as journey:
        assert journey.entry_pathway is None
        with pytest.raises(JourneyDefinitionError, match="Base is abstract: it has no pathways"):
            await journey.start()
    with pytest.raises(JourneyDefinitionError, match="Base is abstract: it has no pathways"):
        Base.compile(agents={})


# The version is a hash of the content.


def version_of(trigger: BaseTrigger | None = None, done: Any = None, **body: Any) -> str:
    """The version of a small journey with this trigger and criterion."""
    talk = type("TalkPath", (Pathway,), {"__agents__": ["clerk"], "__complete_when__": done})
    rule = Transition(trigger or IntentTrigger(["help"]), to_pathway="talk")
    kind = type("Trip", (Journey,), {"TalkPath": talk, "__transitions__": [rule], **body})
    version: str = kind.spec.version  # type: ignore[attr-defined]
    return version


def over(limit: int) -> Callable[[Any], bool]:
    return lambda context: context.get("n", 0) > limit


def over_by_default(limit: int) -> Callable[[Any], bool]:
    def judge(context: Any, *, least: int = limit) -> bool:
        return bool(context.get("n", 0) > least)

    return judge


def above(limit: int, context: Any) -> bool:
    return bool(context.get("n", 0) > limit)


class Gauge:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, context: Any) -> bool:
        return bool(context.get("n", 0) > self.limit)

    def above(self, context: Any) -> bool:
        return bool(context.get("n", 0) > self.limit)


class Shout(BaseTrigger):
    def __init__(self, least: int) -> None:
        self.least = least

    def evaluate(self, message: str, context: Any) -> bool:
        return message.isupper() and len(message) > self.least


@dataclass(frozen=True)
class Says(BaseTrigger):
    word: str = "x"

    def evaluate(self, message: str, context: Any) -> bool:
        return said(self.word, message)


VARIANTS: dict[str, Callable[[int], str]] = {
    "patterns": lambda n: version_of(IntentTrigger([f"help {n}"])),
    "description": lambda n: version_of(IntentTrigger(["help"], description=f"wants {n}")),
    "docstring": lambda n: version_of(__doc__=f"Purpose {n}."),
    "criterion": lambda n: version_of(done=[f"name_{n}"]),
    "closure": lambda n: version_of(done=over(n)),
    "default": lambda n: version_of(done=over_by_default(n)),
    "partial": lambda n: version_of(done=functools.partial(above, n)),
    "bound method": lambda n: version_of(done=Gauge(n).above),
    "callable object": lambda n: version_of(ConditionTrigger(Gauge(n))),
    "own trigger": lambda n: version_of(Shout(n)),
    "own dataclass trigger": lambda n: version_of(Says(str(n))),
    "sensitive": lambda n: version_of(__sensitive__=n == 1),
}


@pytest.mark.parametrize("what", VARIANTS)
def test_the_version_changes_with(what: str) -> None:
    variant = VARIANTS[what]

    assert variant(1) == variant(1)
    assert variant(1) != variant(2)


def test_the_version_changes_with_the_code_of_a_lambda() -> None:
    assert version_of(done=lambda context: "a" in context) == version_of(
        done=lambda context: "a" in context
    )
    assert version_of(done=lambda context: "a" in context) != version_of(
        done=lambda context: "a" not in context
    )
    assert version_of(done=lambda context: "a" in context) != version_of(
        done=lambda context: "b" in context
    )


def test_the_version_changes_with_the_signature() -> None:
    def version(guideline: str) -> str:
        class Trip(Journey):
            class TalkPath(Pathway):
                __signature__ = Signature.define(
                    "Ask", inputs={}, outputs={}, guidelines=[guideline]
                )

        return Trip.spec.version

    assert version("Be kind") == version("Be kind")
    assert version("Be kind") != version("Be brief")


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (Locale, "7736d6f51d14002dae29e7a36e0fbac73f3cb27685457c129ccf50853ef57884"),
        (list[Locale], "e760f6be9eddbec373ef925efd450726314c5403f66b5bdc615a4f42ae273b4c"),
        (phrases, "d66acaa653760a7ac7c1969351bf0785aed358b76b8cd79e22d9255e40ca166c"),
    ],
    ids=["class", "list of a class", "module"],
)
def test_the_version_does_not_depend_on_the_import_name_of_our_own_classes(
    kind: Any, stored: str
) -> None:
    """Sessions that are stored belong to these versions, made when the classes had other names."""
    part = kind if isinstance(kind, ModuleType) else FieldSpec("a", kind, "d")
    assert content_hash(part) == stored


def test_what_a_criterion_merely_holds_does_not_make_the_version_unstable() -> None:
    def watched(logger: logging.Logger) -> Callable[[Any], bool]:
        return lambda context: logger.isEnabledFor(logging.INFO) or "a" in context

    def endless(context: Any) -> bool:
        return bool(context) and endless({})

    logger = logging.getLogger("tests.watched")
    before = version_of(done=watched(logger))
    logger.isEnabledFor(logging.INFO)
    logging.getLogger("tests.watched.more")

    assert version_of(done=watched(logger)) == before
    assert version_of(done=endless) == version_of(done=endless)


def test_a_declared_version_overrides_the_hash() -> None:
    assert version_of(__version__="2026-05") == "2026-05"
    assert len(version_of()) == 64


SCRIPT = """
from typing import Annotated
from journeygraph import *

LIMITS = {"zeta", "alpha", "omega", "kappa", "sigma"}

def some(value):
    return value

class Ask(Signature):
    said: Annotated[str, some] = InputField(desc="x", default="y")

class Trip(Journey):
    class TalkPath(Pathway):
        __signature__ = Ask
        __complete_when__ = lambda context: context.get("x") in {"zeta", "alpha", "omega", "kappa"}
    __transitions__ = [
        Transition(ConditionTrigger(lambda context, k=frozenset(LIMITS): k), to_pathway="talk"),
        Transition(IntentTrigger(LIMITS), to_pathway="talk"),
    ]

print(Trip.spec.version)
"""


@pytest.mark.slow
def test_the_version_is_the_same_in_every_process() -> None:
    root = Path(__file__).resolve().parents[2]

    def printed(seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        command = [sys.executable, "-c", SCRIPT]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert len({printed("1"), printed("2"), printed("3")}) == 1


def test_patterns_given_as_a_set_have_one_order() -> None:
    names: Any = {"zeta", "alpha", "omega"}

    assert IntentTrigger(names).label == "alpha"


def test_the_place_of_a_validator_in_memory_is_no_part_of_the_version() -> None:
    def version() -> str:
        class Ask(Signature):
            said: Annotated[str, lambda value: value] = InputField(desc="x")

        class Trip(Journey):
            class TalkPath(Pathway):
                __signature__ = Ask

        return Trip.spec.version

    assert version() == version()


def test_an_option_that_came_later_changes_no_version_where_it_is_unset() -> None:
    kept = "c01049855d11"  # of a release without `verbatim`
    assert content_hash(Field("x", "text", "Q?"))[:12] == kept
    assert content_hash(Field("x", "text", "Q?", verbatim=True))[:12] != kept
