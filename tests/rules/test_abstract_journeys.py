"""Abstract journeys: what several journeys share is written once, and judged in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Concierge,
    Field,
    Guideline,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import said, staff
from tests.support.command import run


class WithHelp(Journey):
    """What all of our desks have."""

    __abstract__ = True

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    class ComplaintPath(Pathway):
        __agents__ = ["ear"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(said("how"), to_pathway="faq", name="faq"),
        Transition(said("complain"), to_pathway="complaint", name="complaint"),
    ]
    __guidelines__ = [Guideline(id="kind", action="Be kind.", always=True)]


class Order(WithHelp):
    """Take an order."""

    class AskPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class PayPath(Pathway):
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(said("pay"), to_pathway="pay")]
    __guidelines__ = [Guideline(id="brief", action="Be brief.", always=True)]


def targets(journey: type[Journey]) -> list[str]:
    return [transition.target for transition in journey.spec.transitions]


def test_a_childs_own_pathways_come_first_and_what_it_has_from_its_base_is_added():
    assert list(Order.spec.pathways) == ["ask", "pay", "faq", "complaint"]
    assert Order.spec.entry == "ask"
    assert targets(Order) == ["pay", "faq", "complaint"]
    assert [g.id for g in Order.spec.guidelines] == ["brief", "kind"]
    assert Order.spec.pathways["faq"].where == "Order.FAQPath"


async def test_the_shared_detour_works_in_the_child(talk, memory_url):
    chat = await talk(Order, staff(Order), memory_url)
    for message in ("hello", "how", "pay", "complain"):
        await chat.says(message)
    assert chat.path == ["ask", "faq", "pay", "complaint"]
    assert [t.to_pathway for t in chat.journey.transitions] == ["pay", "faq", "complaint"]
    assert list(chat.journey.pathways) == ["ask", "pay", "faq", "complaint"]


def test_two_levels_each_put_their_own_before_what_they_have():
    class Shop(WithHelp):
        __abstract__ = True

        class HoursPath(Pathway):
            __agents__ = ["porter"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(said("open"), to_pathway="hours", name="hours")]

    class Bakery(Shop):
        class BreadPath(Pathway):
            __agents__ = ["baker"]

    assert list(Bakery.spec.pathways) == ["bread", "hours", "faq", "complaint"]
    assert targets(Bakery) == ["hours", "faq", "complaint"]


def test_several_bases_add_up_in_the_order_in_which_they_are_named():
    class WithHours(Journey):
        __abstract__ = True

        class HoursPath(Pathway):
            __agents__ = ["porter"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(said("open"), to_pathway="hours")]

    class Shop(WithHours, WithHelp):
        class SellPath(Pathway):
            __agents__ = ["seller"]

    assert list(Shop.spec.pathways) == ["sell", "hours", "faq", "complaint"]
    assert targets(Shop) == ["hours", "faq", "complaint"]


def test_a_childs_pathway_of_the_same_id_stands_in_place_of_the_bases():
    class Shop(WithHelp):
        class FAQPath(WithHelp.FAQPath):
            __agents__ = ["expert"]

        class SellPath(Pathway):
            __agents__ = ["seller"]

        __entry_pathway__ = "sell"
        ComplaintPath = None  # type: ignore[assignment]
        __without__ = ["complaint"]

    assert list(Shop.spec.pathways) == ["faq", "sell"]
    assert Shop.spec.pathways["faq"].agents == ("expert",)
    assert targets(Shop) == ["faq"]


def test_a_child_drops_what_it_names():
    class Quiet(WithHelp):
        class AskPath(Pathway):
            __agents__ = ["clerk"]

        __without__ = ["complaint", "kind"]

    assert targets(Quiet) == ["faq"]
    assert Quiet.spec.guidelines == ()
    assert "nothing leads to 'complaint'" in " ".join(
        Quiet.spec.warnings
    )  # the pathway that nothing leads to


def test_a_base_drops_what_its_own_base_has_for_all_below():
    class Middle(WithHelp):
        __abstract__ = True
        __without__ = ["complaint"]

    class Low(Middle):
        class AskPath(Pathway):
            __agents__ = ["clerk"]

    assert targets(Low) == ["faq"]


def test_a_transition_of_the_same_name_stands_in_place_of_the_bases():
    class Shop(WithHelp):
        class AskPath(Pathway):
            __agents__ = ["clerk"]

        __transitions__ = [Transition(said("why"), to_pathway="faq", priority=5, name="faq")]
        __guidelines__ = [Guideline(id="kind", action="Be very kind.", always=True)]

    assert [(t.target, t.priority) for t in Shop.spec.transitions] == [("faq", 5), ("complaint", 0)]
    assert [g.action for g in Shop.spec.guidelines] == ["Be very kind."]


def test_a_child_that_lists_its_bases_transitions_itself_has_them_once():
    class Shop(WithHelp):
        class AskPath(Pathway):
            __agents__ = ["clerk"]

        __transitions__ = [*WithHelp.__transitions__, Transition(said("ask"), to_pathway="ask")]

    assert targets(Shop) == ["faq", "complaint", "ask"]


def test_a_child_of_a_child_goes_on_as_subclasses_do():
    class Kiosk(Order):
        __transitions__ = [Transition(said("cash"), to_pathway="pay")]

    class Stall(Order):
        pass

    assert list(Kiosk.spec.pathways) == ["ask", "pay", "faq", "complaint"]
    assert targets(Kiosk) == ["pay", "faq", "complaint"]
    assert Kiosk.spec.transitions[0].label == "cash"
    assert targets(Stall) == targets(Order)


def test_a_base_may_lead_to_what_only_its_children_have():
    class WithStart(Journey):
        __abstract__ = True

        class HelloPath(Pathway):
            __agents__ = ["host"]
            __next__ = "work"

        __transitions__ = [Transition(said("work"), to_pathway="work")]
        __entry_pathway__ = "hello"

    class Office(WithStart):
        class WorkPath(Pathway):
            __fields__ = [Field("task", "text")]

    assert Office.spec.entry == "hello"
    with pytest.raises(JourneyDefinitionError) as fault:

        class Empty(WithStart):
            class WrokPath(Pathway):
                pass

    assert "WithStart.__transitions__[0]: to_pathway is 'work'" in str(fault.value)
    assert "Did you mean 'wrok'?" in str(fault.value)
    assert "Empty.HelloPath: __next__ is 'work'" in str(fault.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"__without__": ["complain"]},
            "names 'complain', which is not a transition.*mean 'complaint'",
        ),
        ({"__without__": ["pay"]}, "names 'pay', which is not a transition.*faq, complaint, kind"),
        ({"__without__": "faq"}, "__without__ is 'faq'; it must be a list of names"),
        ({"__without__": [3]}, "names 3, which is not a transition"),
        ({"__abstract__": "yes"}, "__abstract__ is 'yes'; it must be True or False"),
        (
            {"__transitions__": [Transition(said(w), to_pathway="ask", name="x") for w in "ab"]},
            "another transition is named 'x' too",
        ),
        (
            {"__transitions__": [Transition(said("a"), to_pathway="ask", name=3)]},  # type: ignore[arg-type]
            "name is 3; it must be text",
        ),
    ],
)
def test_what_cannot_be_taken_is_a_fault(body: dict[str, Any], words: str):
    path = type("AskPath", (Pathway,), {"__agents__": ["clerk"]})
    with pytest.raises(JourneyDefinitionError, match=words):
        type("Wrong", (WithHelp,), {"AskPath": path, **body})


def test_a_slip_in_an_abstract_body_is_found_there():
    with pytest.raises(JourneyDefinitionError, match="Slip: __transition__ is unknown"):
        type("Slip", (Journey,), {"__abstract__": True, "__transition__": []})


async def test_an_abstract_journey_is_started_compiled_and_composed_by_nobody(memory_url):
    marked = "WithHelp is marked __abstract__"
    async with WithHelp("s-1", JourneyConfig(persistence=memory_url)) as journey:
        assert journey.entry_pathway is None
        with pytest.raises(JourneyDefinitionError, match=marked):
            await journey.start()
        with pytest.raises(JourneyDefinitionError, match=marked):
            journey.register_agent("librarian", lambda _: "x")
    for compiled in ({}, {"librarian": lambda _: "x"}):
        with pytest.raises(JourneyDefinitionError, match=marked):
            WithHelp.compile(compiled)
    with pytest.raises(JourneyDefinitionError, match=marked):
        WithHelp.draw()
    with pytest.raises(JourneyDefinitionError, match=marked):
        type("Desk", (Concierge,), {"__journeys__": [WithHelp]})


MODULE = """
from journeygraph import *

class Base(Journey):
    __abstract__ = True

    class FAQPath(Pathway):
        __agents__ = ["librarian"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["how"]), to_pathway="faq")]

class Shop(Base):
    class SellPath(Pathway):
        __agents__ = ["seller"]

AGENTS = {"librarian": lambda _: "Look it up.", "seller": lambda _: "Sold."}
"""


def test_commands_pass_it_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "abstract_shop.py").write_text(MODULE)

    checked = run("check", "abstract_shop.py").stdout
    assert "Base (abstract_shop.py): abstract" in checked
    assert "0 faults, 0 warnings" in checked
    assert "sell" in run("draw", "abstract_shop.py").stdout  # the only one that there is to draw
    told = run("chat", "abstract_shop.py:Base", "--store", "memory://", code=1).stderr
    assert "Base is marked __abstract__" in told
    assert "Base is marked __abstract__" in run("draw", "abstract_shop.py:Base", code=1).stderr
    told = run("serve", "abstract_shop.py:Base", "--store", "memory://", code=1).stderr
    assert "Base is marked __abstract__" in told
