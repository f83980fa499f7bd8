"""What controls the flow is counted: flags of turns, guidelines, checks of replies, caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.llm.scripted import Fault, ScriptedModel
from nodes.telemetry import cache_read, guidelines_settled, reply_checked
from tests import model_shop, watching
from tests.watching import Watch

watch, shop = watching.watch, model_shop.shop


def points(watch: Watch, metric: str) -> list[tuple[dict[str, Any], Any]]:
    return sorted(watch.points(metric), key=str)


async def test_turns_are_counted_by_their_flags_without_what_stands_behind_a_colon(
    shop: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel(Fault.hang(), Fault.hang()) as model:
        chat = await shop(model, model_shop.Desk, **model_shop.HAND, intent_timeout_seconds=0.02)
        for message in ("hello", "  ", "hello again"):
            await chat.says(message)

    assert chat.last.metadata["flags"] == ["understanding_failed:timeout"]
    desk = {"journeygraph.journey.id": "desk"}
    assert points(watch, "journeygraph.turn.flagged") == [
        ({**desk, "journeygraph.turn.flag": "empty_message"}, 1),
        ({**desk, "journeygraph.turn.flag": "understanding_failed"}, 2),
    ]


def test_guidelines_are_counted_by_scope_and_by_who_decided(watch: Watch) -> None:
    said = {"scope": "global", "tier": "model"}
    written = {"scope": "state", "tier": "code"}

    guidelines_settled("desk", [said, said, written], [said])

    desk = {"journeygraph.journey.id": "desk"}
    by_model = {
        **desk,
        "journeygraph.guideline.scope": "global",
        "journeygraph.guideline.tier": "model",
    }
    by_code = {
        **desk,
        "journeygraph.guideline.scope": "state",
        "journeygraph.guideline.tier": "code",
    }
    # One look at the reader is one collection of all metrics, so what is asked for second is old.
    matched = points(watch, "journeygraph.guideline.matched")
    assert matched == [(by_model, 2), (by_code, 1)]
    guidelines_settled("desk", [], [said])
    assert points(watch, "journeygraph.guideline.dropped") == [(by_model, 1)]


def test_checks_are_counted_by_what_came_of_them(watch: Watch) -> None:
    reply_checked("desk", outcome="sent", bypassed=False)
    reply_checked("desk", outcome="masked", bypassed=True)
    reply_checked("desk", outcome="sent", bypassed=False)

    kinds = [
        (labels["journeygraph.check.outcome"], labels["journeygraph.check.bypassed"], count)
        for labels, count in points(watch, "journeygraph.reply.checked")
    ]
    assert sorted(kinds) == [("masked", True, 1), ("sent", False, 2)]


def test_looks_into_a_cache_are_counted_by_what_they_found(watch: Watch) -> None:
    for hit in (False, True, True):
        cache_read("definitions", hit=hit)

    name = {"journeygraph.cache.name": "definitions"}
    assert points(watch, "journeygraph.cache.read") == [
        ({**name, "journeygraph.cache.result": "hit"}, 2),
        ({**name, "journeygraph.cache.result": "miss"}, 1),
    ]
