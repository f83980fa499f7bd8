"""Values in the message that begins a task, in a denied clause, and for a task that waits."""

from __future__ import annotations

from journeygraph import (
    NEVER,
    Effect,
    Field,
    IntentTrigger,
    Journey,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support.talk import Talk


def on(*patterns: str) -> IntentTrigger:
    return IntentTrigger(patterns=patterns, description=patterns[0])


class Shop(Journey):
    """Help the customers of a shop."""

    class HomePath(Pathway):
        """Greet."""

        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class OrderPath(Pathway):
        """Look an order up."""

        __title__ = "the order"
        __fields__ = [Field("order", "text", "Which number?", extract=[r"L-\d{4}"])]
        __effects__ = [Effect("look", {"order": "order"}, done="It comes tomorrow.")]

    class RepairPath(Pathway):
        """Report a fault."""

        __title__ = "the repair"
        __fields__ = [
            Field("room", "enum", "Which room?", choices=["bathroom", "cellar"]),
            Field("doctor", "enum", "Which doctor?", choices={"Dr. Smith": ["smith"], "Ito": []}),
            Field("weight", "number", "How heavy is it, in kg?"),
            Field("born", "date", "When were you born?"),
            Field("note", "text", "Anything else?", required=False),
        ]

    class CardPath(Pathway):
        """Block a card."""

        __title__ = "the card"
        __fields__ = [Field("digits", "integer", "Which digits?")]
        __next__ = "home"

    class PricePath(Pathway):
        """Tell what it costs."""

        __title__ = "the price"
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [
        Transition(on("my order", "where is my order"), to_pathway="order"),
        Transition(on("drips", "tap"), to_pathway="repair"),
        Transition(on("card"), to_pathway="card"),
        Transition(on("price"), to_pathway="price"),
    ]


async def shop(url: str, *said: str) -> tuple[Talk, list[str]]:
    looked: list[str] = []

    def look(order: str) -> None:
        "Look an order up."
        looked.append(order)

    options = {"model": False, "tools": {"look": look}}
    agents = {"clerk": lambda _: {"response": "What can I do for you?"}}
    talk = await Talk.begin(Shop, agents, url, session_id=" ".join(said)[:40], options=options)
    for message in said:
        await talk.says(message)
    return talk, looked


async def test_a_number_and_a_choice_are_heard_where_they_lead(memory_url: str) -> None:
    for said in ("where is my order L-1234?", "my order L-1234 is late"):
        talk, looked = await shop(memory_url, said)
        assert (talk.context["order"], looked) == ("L-1234", [])
        await talk.says("yes")
        assert looked == ["L-1234"]
    for said, room in (("it drips in the bathroom", "bathroom"), ("the cellar tap?", "cellar")):
        talk, _ = await shop(memory_url, said)
        assert talk.context["room"] == room


async def test_a_pattern_alone_removes_nothing_and_keeps_what_stands_beside_it(
    memory_url: str,
) -> None:
    talk, looked = await shop(memory_url, "my order L-1234", "my order")
    assert talk.context["order"] == "L-1234"
    talk, looked = await shop(memory_url, "my order L-1234 please", "my order L-5678")
    assert "L-5678" in talk.last.message
    assert looked == []


async def test_what_is_denied_or_of_another_unit_is_not_taken(memory_url: str) -> None:
    talk, _ = await shop(memory_url, "it drips in the cellar", "I don't want Dr. Smith, another")
    assert talk.context.get("doctor") is None
    await talk.says("Ito")
    await talk.says("800 grams")
    assert talk.context.get("weight") is None
    await talk.says("0.8 kg")
    await talk.says("third of May 1990")
    assert talk.context["born"] == "1990-05-03"
    await talk.says("rather not")
    assert "we can leave that open" in talk.last.message


async def test_a_task_that_waits_is_offered_behind_one_that_leads_home(memory_url: str) -> None:
    said = ("it drips in the cellar", "the price and then block my card", "1234")
    talk, _ = await shop(memory_url, *said)
    assert talk.last.message.endswith("Shall we go on with the repair?")
    await talk.says("yes")
    assert talk.last.metadata["asked"]["field"] == "doctor"


async def test_values_for_a_task_that_waits_are_said_back(memory_url: str) -> None:
    talk, looked = await shop(memory_url, "block my card then my order L-1234", "1234")
    assert "For the order I have noted: L-1234." in talk.last.message
    assert looked == []
