"""Events between two messages: an upgrade, a pause, a new process; and tools that fail."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from journeygraph.nodes.commands import Confirm, Correct, Deny, Fill, Go
from tests.support import forked
from tests.traces.conversation import OFFLINE, Chat, Way, opened, trace
from tests.traces.elsewhere import HOTEL
from tests.traces.journeys import BALANCE, BANK, RESTAURANT
from tests.traces.versions import RENT, RULES, this_year, without_payment, without_rules


@trace(RENT)
async def test_an_upgrade_keeps_what_is_known_and_asks_what_is_new(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b", Fill("flat", "4b"))
    assert chat.asks("sum")
    await chat.restart(this_year())
    assert chat.value("flat") == "4b"
    await chat.says("900", Fill("sum", "900"))
    assert chat.at == "monthly_payment"
    assert chat.asks("month")
    assert chat.value("flat") == "4b"
    await chat.says("June", Fill("month", "June"))
    if chat.value("sum") is None:
        await chat.says("900", Fill("sum", "900"))
    await chat.says("yes", Confirm())
    assert chat.world.count("pay") == 1
    assert chat.world.args("pay") == {"flat": "4b", "month": "June"}


@trace(RENT)
async def test_an_upgrade_finds_what_is_paused_by_its_new_name(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b", Fill("flat", "4b"))
    await chat.says("what are the house rules?", Go("rules"))
    assert RULES in chat.reply
    assert chat.stack == ["payment"]
    await chat.restart(this_year())
    await chat.says("yes", Confirm())
    assert (chat.at, chat.stack) == ("monthly_payment", [])
    assert chat.asks("month")
    assert chat.value("flat") == "4b"


@trace(RENT)
async def test_a_pathway_that_is_gone_leads_to_the_entry(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b", Fill("flat", "4b"))
    await chat.restart(without_payment())
    await chat.says("900", calls=0)
    assert chat.at == "deposit"
    assert chat.says_text("moved_to_entry")
    assert chat.asks("tenant")
    assert chat.value("sum") is None
    assert chat.audited("migrated") == ["migrated"]
    await chat.says("Ada Lovelace", Fill("tenant", "Ada Lovelace"))
    await chat.says("900", Fill("sum", "900"))
    assert chat.value("sum") == {"amount": "900.00", "currency": "EUR"}


@trace(RENT)
async def test_a_detour_that_is_gone_leads_back_to_what_it_interrupted(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b", Fill("flat", "4b"))
    await chat.says("what are the house rules?", Go("rules"))
    await chat.restart(without_rules())
    await chat.says("yes", calls=0)
    assert (chat.at, chat.stack) == ("payment", [])
    assert chat.says_text("moved_back", task="the payment")
    assert chat.asks("sum")
    assert chat.value("flat") == "4b"
    await chat.says("900", Fill("sum", "900"))
    await chat.says("yes", Confirm())
    assert chat.world.count("pay") == 1


@trace(RENT)
async def test_a_paused_pathway_that_is_gone_is_not_gone_back_to(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b", Fill("flat", "4b"))
    await chat.says("what are the house rules?", Go("rules"))
    await chat.restart(this_year(migrates=False))
    await chat.says("yes", Confirm())
    assert chat.stack == []
    assert chat.audited("migrated", "pause_ended") == ["pause_ended"]
    assert chat.at == "rules"


@trace(RENT)
async def test_a_value_of_another_type_is_read_again(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("12", Fill("flat", "12"))
    await chat.restart(without_rules(flat="integer"))
    await chat.says("900", Fill("sum", "900"))
    assert chat.value("flat") == 12
    await chat.says("yes", Confirm())
    assert chat.world.args("pay")["flat"] == 12


@trace(RENT)
async def test_a_value_that_cannot_be_read_as_another_type_is_asked_for(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("the attic", Fill("flat", "the attic"))
    await chat.restart(without_rules(flat="integer"))
    await chat.says("900", Fill("sum", "900"))
    assert chat.value("flat") is None
    assert chat.asks("flat")
    await chat.says("7", Fill("flat", "7"))
    assert chat.world.args("pay")["flat"] == 7


async def at_the_last_question(chat: Chat) -> None:
    await chat.says("4", Fill("party_size", "4"))
    await chat.says("2099-03-03", Fill("day", "2099-03-03"))
    await chat.says("19:00", Fill("hour", "19:00"))
    assert chat.asks("guest")


@trace(RESTAURANT)
async def test_a_tool_that_fails_changes_nothing_and_is_tried_again(chat: Chat) -> None:
    await at_the_last_question(chat)
    chat.world.fails["book_table"] = [TimeoutError("the kitchen does not answer")] * 2
    await chat.says("Lee", Fill("guest", "Lee"))
    assert chat.world.tried["book_table"] == 2
    assert chat.world.count("book_table") == 0
    assert chat.at == "booking"
    assert chat.payload == {"party_size": 4, "day": "2099-03-03", "hour": "19:00", "guest": "Lee"}
    assert chat.says_text("effect_late")
    assert chat.asked == ("retry", "booking")
    await chat.says("yes", Confirm())
    assert chat.world.count("book_table") == 1
    assert "Your table for 4 is booked, Lee." in chat.reply
    assert chat.attempts("guest") == ["valid"]


@trace(RESTAURANT)
async def test_what_failed_need_not_be_tried_again(chat: Chat) -> None:
    await at_the_last_question(chat)
    chat.world.fails["book_table"] = [RuntimeError("no line")]
    await chat.says("Lee", Fill("guest", "Lee"))
    assert chat.world.count("book_table") == 0
    assert chat.says_text("effect_failed")
    assert chat.payload["guest"] == "Lee"
    await chat.says("no", Deny())
    assert chat.world.tried["book_table"] == 1
    assert chat.world.count("book_table") == 0
    await chat.says("do you have anything vegetarian?", Go("menu"))
    assert "vegetarian" in chat.reply


PAUSED = replace(HOTEL, config={"resume_after_seconds": 0.001})


@trace(PAUSED, OFFLINE)
async def test_after_a_pause_what_is_known_is_told_first(chat: Chat) -> None:
    await chat.says("2099-07-01", Fill("check_in", "2099-07-01"))
    await asyncio.sleep(0.01)
    await chat.says("3 nights", Fill("nights", "3"))
    assert chat.says_text("resumed")
    assert "2099" in chat.reply
    assert chat.value("nights") == 3
    assert chat.asks("room")


@trace(BANK, OFFLINE)
async def test_a_rollback_goes_back_to_the_values_of_then(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("Alex, not Maya", Correct("recipient", "Alex"))
    assert chat.value("recipient") == "Alex"
    version = chat.last.metadata["version"] - 1
    await chat.roll_back(version)
    assert chat.context["recipient"] == "Maya"
    await chat.says("50", Fill("amount", "50"))
    assert chat.value("recipient") == "Maya"
    await chat.says("yes", Confirm())
    assert chat.world.args("send_money")["to"] == "Maya"
    assert chat.world.count("send_money") == 1


DOMAINS = {"BANK": BANK, "RESTAURANT": RESTAURANT}


def goes_on(domain: str, url: str, message: str, told: str) -> None:
    """Take a session up in a process of its own, and write what comes of a message to a file."""
    came = asyncio.run(_goes_on(Chat(DOMAINS[domain], url), message))
    Path(told).write_text(json.dumps(came))


async def _goes_on(chat: Chat, message: str) -> list[Any]:
    await chat.take_up()
    came = [await chat.says(message), chat.at, chat.stack, chat.payload]
    await chat.close()
    return came


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "before", "then"),
    [
        ("BANK", ["send money to Maya", "how much do I have?"], "fine, then 500"),
        ("RESTAURANT", ["a table for 4 please"], "not 4, 6"),
    ],
    ids=["return", "correction"],
)
async def test_a_fresh_process_goes_on_where_the_last_one_was(
    domain: str, before: list[str], then: str, tmp_path: Path
) -> None:
    way = Way("sqlite", scripted=False)
    chats = []
    for name in ("here", "there"):
        chat = Chat(DOMAINS[domain], way.url(tmp_path, name))
        async with opened(chat):
            for message in before:
                await chat.says(message)
            if name == "here":
                await chat.says(then)
        chats.append(chat)
    told = tmp_path / "told.json"
    process = forked.process(goes_on, domain, chats[1].url, then, str(told))
    process.start()
    await asyncio.to_thread(process.join, 100)
    assert process.exitcode == 0
    here = chats[0]
    assert json.loads(told.read_text()) == [here.reply, here.at, here.stack, here.payload]
    assert BALANCE not in here.reply
