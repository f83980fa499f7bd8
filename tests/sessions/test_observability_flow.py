"""Metrics of the control of the flow: flags of turns, guidelines, checks of replies, caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import NEVER, Guideline, Journey, Pathway, Validation
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, leads_nowhere, rules_hold
from tests.support import model_shop, watching
from tests.support.watching import Watch

watch, shop = watching.watch, model_shop.shop


def points(watch: Watch, metric: str) -> list[tuple[dict[str, Any], Any]]:
    return sorted(watch.points(metric), key=str)


async def test_turns_are_counted_by_their_flags_without_what_stands_behind_a_colon(
    shop: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel("no json", "no json") as model:
        chat = await shop(model, model_shop.Desk, **model_shop.HAND)
        for message in ("hello", "  ", "hello again"):
            await chat.says(message)

    assert chat.last.metadata["flags"] == ["understanding_failed:malformed"]
    desk = {"journeygraph.journey.id": "desk"}
    assert points(watch, "journeygraph.turn.flagged") == [
        ({**desk, "journeygraph.turn.flag": "empty_message"}, 1),
        ({**desk, "journeygraph.turn.flag": "understanding_failed"}, 2),
    ]


def dark(message: str, context: Any) -> bool:
    raise LookupError("no light")


class Tavern(Journey):
    """Pour drinks."""

    class BarPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
        __guidelines__ = [Guideline(id="dark", action="light a candle", when=dark)]

    __guidelines__ = [
        Guideline(id="angry", condition="is angry", action="smile", always=True),
        Guideline(id="loud", condition="is loud", action="hush", always=True, excludes=["angry"]),
        Guideline(id="house", action="be brief", always=True, scope="global"),
    ]


async def test_a_turn_that_did_without_a_part_is_counted_and_warned_of(
    shop: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel(rules_hold("angry", "loud")) as model:
        chat = await shop(model, Tavern, **model_shop.HAND)
        assert await chat.says("I am loud and angry") == "by hand"

    assert chat.last.metadata["guidelines"] == ["loud", "house"]
    turn = watch.one("invoke_workflow tavern")
    assert turn["journeygraph.turn.guidelines"] == ("loud", "house")
    (line,) = watch.events("turn_degraded")
    assert (line["level"], line["guidelines"]) == ("warning", ["loud", "house"])
    assert "guidelines_bypassed" in line["flags"]
    assert watch.events("turn_finished") == []
    assert watch.events("guidelines_failed")[0]["failed"] == 1
    assert "light" not in watch.everything()  # neither what is to be done, nor what went wrong


@pytest.mark.parametrize("metric", ["matched", "dropped"])
async def test_guidelines_of_a_conversation_are_counted(
    shop: Callable[..., Any], watch: Watch, metric: str
) -> None:
    async with ScriptedModel(rules_hold("angry", "loud")) as model:
        chat = await shop(model, Tavern, **model_shop.HAND)
        await chat.says("I am loud and angry")

    counted = [
        (labels["journeygraph.guideline.scope"], labels["journeygraph.guideline.tier"], count)
        for labels, count in points(watch, f"journeygraph.guideline.{metric}")
    ]
    both = {"matched": [("global", "always", 1), ("journey", "model", 1)]}
    assert counted == both.get(metric, [("journey", "model", 1)])


async def test_what_was_understood_before_is_a_hit(shop: Callable[..., Any], watch: Watch) -> None:
    async with ScriptedModel(leads_nowhere, leads_nowhere) as model:
        chat = await shop(model, model_shop.Desk, **model_shop.HAND)
        for _ in range(3):  # the third comes at the same point as the second
            await chat.says("What a day")

    counted = [
        (labels["journeygraph.cache.result"], count)
        for labels, count in points(watch, "journeygraph.cache.read")
    ]
    assert counted == [("hit", 1), ("miss", 2)]


async def test_a_reply_of_a_conversation_that_is_checked_is_counted(
    shop: Callable[..., Any], watch: Watch
) -> None:
    checked = type("Checked", (Tavern,), {"__validation__": Validation(pii=["email"])})
    reply = {"clerk": lambda _: "Write to ada@canary.example"}
    async with ScriptedModel(rules_hold(), Fault.status(401)) as model:
        chat = await shop(model, checked, **reply)
        assert "ada" not in await chat.says("To whom?")

    ((labels, count),) = points(watch, "journeygraph.reply.checked")
    assert labels["journeygraph.check.outcome"] == "masked"
    assert (labels["journeygraph.check.bypassed"], count) == (True, 1)
    assert {"guidelines_bypassed", "validation_bypassed"} <= set(chat.last.metadata["flags"])
    assert "canary" not in watch.everything()
