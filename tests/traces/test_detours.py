"""Interrupted conversations: detours, returns, re-entry, cancelling, blocking."""

from __future__ import annotations

from journeygraph.nodes.commands import Cancel, Confirm, Deny, Explain, Fill, Go, Human
from tests.traces.conversation import OFFLINE, Chat, trace
from tests.traces.journeys import (
    BALANCE,
    BANK,
    CLINIC,
    COVERED,
    DEDUCTIBLE,
    FEE,
    LIMIT,
    MENU,
    RESTAURANT,
)

MAYA = (Go("transfer"), Fill("recipient", "Maya"))


async def sending_to_maya(chat: Chat) -> None:
    await chat.says("send money to Maya", *MAYA)
    assert chat.at == "transfer"
    assert chat.value("recipient") == "Maya"
    assert chat.asks("amount")


async def looking_at_the_balance(chat: Chat) -> None:
    await sending_to_maya(chat)
    await chat.says("how much do I have?", Go("balance"))
    assert (chat.at, chat.stack) == ("balance", ["transfer"])
    assert BALANCE in chat.reply
    assert chat.says_text("ask_return", task="the transfer")
    assert chat.asked == ("return", "transfer")


@trace(BANK)
async def test_a_detour_returns_to_the_same_question(chat: Chat) -> None:
    await looking_at_the_balance(chat)
    await chat.says("yes", Confirm())
    assert (chat.at, chat.stack) == ("transfer", [])
    assert chat.asks("amount")
    assert chat.value("recipient") == "Maya"
    await chat.says("40", Fill("amount", "40"))
    assert chat.asked == ("summary", "transfer")
    assert "40" in chat.reply
    await chat.says("yes", Confirm())
    assert chat.world.count("send_money") == 1
    assert chat.world.args("send_money")["to"] == "Maya"
    assert chat.value("amount") == {"amount": "40.00", "currency": "EUR"}
    assert "is on its way to Maya" in chat.reply
    assert chat.audited("detour_entered", "detour_left") == ["detour_entered", "detour_left"]


@trace(BANK)
async def test_an_answer_to_the_paused_question_is_a_yes_to_the_return(chat: Chat) -> None:
    await looking_at_the_balance(chat)
    await chat.says("fine, then 500", Confirm(), Fill("amount", "500"))
    assert (chat.at, chat.stack) == ("transfer", [])
    assert chat.value("amount") == {"amount": "500.00", "currency": "EUR"}
    assert chat.asked == ("summary", "transfer")
    assert chat.world.count("send_money") == 0


@trace(BANK)
async def test_a_declined_return_gives_the_task_up(chat: Chat) -> None:
    await looking_at_the_balance(chat)
    await chat.says("no", Deny())
    assert chat.stack == []
    assert (chat.value("recipient"), chat.value("amount")) == (None, None)
    assert chat.payload == {}
    assert chat.context["customer"] == "C-77"
    assert chat.audited("cancelled") == ["cancelled"]
    assert (await chat.journey.audit())[-1].reason or chat.kinds
    assert chat.says_text("left", task="the transfer")
    assert chat.says_text("more")
    await chat.says("send money", Go("transfer"))
    assert chat.asks("recipient")
    assert chat.world.calls == []


@trace(CLINIC)
async def test_detours_within_detours_return_one_after_the_other(chat: Chat) -> None:
    await chat.says("hello")
    assert chat.asks("specialty")
    await chat.says("cardiology", Fill("specialty", "cardiology"))
    assert chat.asks("doctor")
    await chat.says("does my plan cover this?", Go("coverage"))
    assert (chat.at, chat.stack) == ("coverage", ["booking"])
    assert chat.asks("plan")
    await chat.says("what is a deductible?", Go("glossary"))
    assert DEDUCTIBLE in chat.reply
    assert chat.audited("detour_entered") == ["detour_entered"] * 2
    if chat.at == "glossary":
        assert chat.stack == ["booking", "coverage"]
    else:
        assert chat.stack == ["booking"]
        assert chat.says_text("returning", task="your coverage")
        assert chat.asks("plan")
    await chat.says("gold", Fill("plan", "gold"))
    assert COVERED in chat.reply
    assert chat.value("plan") == "gold"
    if chat.at == "booking":
        assert chat.says_text("returning", task="your visit")
        assert chat.asks("doctor")
    await chat.says("Dr. Boone", Fill("doctor", "Dr. Boone"))
    assert (chat.at, chat.stack) == ("booking", [])
    assert chat.value("doctor") == "Dr. Boone"
    assert chat.asks("visit_day")


@trace(RESTAURANT)
async def test_a_detour_in_a_restaurant_comes_back_to_its_question(chat: Chat) -> None:
    await chat.says("table for 4", Fill("party_size", "4"))
    assert chat.asks("day")
    await chat.says("do you have anything vegetarian?", Go("menu"))
    assert MENU in chat.reply
    assert chat.value("party_size") == 4
    assert chat.attempts("day") == []
    if chat.at == "booking":
        assert chat.asks("day")
    await chat.says("2099-03-03", Fill("day", "2099-03-03"))
    assert (chat.at, chat.stack) == ("booking", [])
    assert chat.value("day") == "2099-03-03"
    assert chat.asks("hour")


@trace(BANK)
async def test_a_yes_and_a_question_are_taken_in_order(chat: Chat) -> None:
    await chat.says("send money to Maya", *MAYA)
    await chat.says("50", Fill("amount", "50"))
    assert chat.asked == ("summary", "transfer")
    await chat.says("yes, and is there a fee?", Confirm(), Go("fee"))
    assert chat.world.count("send_money") == 1
    assert FEE in chat.reply
    done = chat.reply.index("is on its way to Maya")
    assert done < chat.reply.index(FEE)
    await chat.says("thanks")
    assert chat.world.count("send_money") == 1


@trace(BANK)
async def test_stop_in_a_detour_ends_the_detour_alone(chat: Chat) -> None:
    await chat.says("send money to Maya", *MAYA)
    await chat.says("is there a fee?", Go("fee"))
    await chat.says("stop", Cancel())
    assert chat.value("recipient") == "Maya"
    assert chat.asked == ("return", "transfer")


@trace(BANK, OFFLINE)
async def test_who_is_asked_whether_to_go_on_and_stops_gives_it_up(chat: Chat) -> None:
    for said in ("forget it", "no, forget it", "no actually forget the transfer"):
        await chat.says("send money to Maya")
        await chat.says("how much do I have?")
        assert chat.asked == ("return", "transfer")
        await chat.says(said)
        assert chat.value("recipient") is None
        assert chat.asked == ("more", "")


@trace(CLINIC)
async def test_stop_in_a_detour_that_collects_offers_the_return(chat: Chat) -> None:
    await chat.says("cardiology", Fill("specialty", "cardiology"))
    await chat.says("does my plan cover this?", Go("coverage"))
    assert chat.asks("plan")
    await chat.says("stop", Cancel())
    assert chat.audited("cancelled") == ["cancelled"]
    assert chat.value("specialty") == "cardiology"
    assert (chat.at == "booking" and chat.asks("doctor")) or chat.asked == ("return", "booking")
    assert chat.stack in ([], ["booking"])


@trace(CLINIC)
async def test_forget_everything_clears_the_whole_stack(chat: Chat) -> None:
    await chat.says("cardiology", Fill("specialty", "cardiology"))
    await chat.says("does my plan cover this?", Go("coverage"))
    assert chat.stack == ["booking"]
    await chat.says("forget everything", Cancel(everything=True))
    assert chat.stack == []
    rows = [row for row in await chat.journey.audit() if row.kind == "cancelled"]
    assert [row.to_pathway for row in rows] == ["coverage", "booking"]
    assert chat.value("specialty") is None
    assert chat.payload == {}
    await chat.says("hello")
    await chat.says("dermatology", Fill("specialty", "dermatology"))
    assert chat.value("specialty") == "dermatology"


@trace(BANK)
async def test_cancel_at_the_root_makes_ready_for_a_new_task(chat: Chat) -> None:
    await chat.says("send money to Maya", *MAYA)
    await chat.says("cancel", Cancel())
    assert chat.audited("cancelled") == ["cancelled"]
    assert (chat.stack, chat.payload) == ([], {})
    await chat.says("pay a bill", Go("payment"))
    assert chat.asks("invoice")


@trace(BANK)
async def test_a_question_waits_while_the_code_is_asked(chat: Chat) -> None:
    await chat.says("pay a bill", Go("payment"))
    await chat.says("AB-1234", Fill("invoice", "AB-1234"))
    assert chat.asks("code")
    await chat.says("what's my limit?", Go("limit"))
    assert (chat.at, chat.stack) == ("payment", [])
    assert chat.says_text("blocked")
    assert chat.asks("code")
    assert chat.audited("blocked", "queued") == ["queued", "blocked"]
    assert LIMIT not in chat.reply
    assert chat.attempts("code") == []
    await chat.says("123456", Fill("code", "123456"))
    assert chat.world.count("pay_bill") == 1
    assert "AB-1234 is paid" in chat.reply
    assert LIMIT in chat.reply
    assert chat.talk.get("queued", []) == []


@trace(BANK)
async def test_where_it_is_declared_a_question_may_come_between(chat: Chat) -> None:
    await chat.says("pay a bill", Go("payment"))
    assert chat.asks("invoice")
    await chat.says("what's my limit?", Go("limit"))
    assert LIMIT in chat.reply
    assert chat.audited("blocked") == []


@trace(BANK)
async def test_cancelling_is_never_blocked(chat: Chat) -> None:
    await chat.says("pay a bill", Go("payment"))
    await chat.says("AB-1234", Fill("invoice", "AB-1234"))
    await chat.says("cancel", Cancel())
    assert chat.audited("cancelled") == ["cancelled"]
    assert chat.value("invoice") is None
    assert chat.world.calls == []


@trace(BANK)
async def test_a_person_is_never_blocked(chat: Chat) -> None:
    await chat.says("pay a bill", Go("payment"))
    await chat.says("AB-1234", Fill("invoice", "AB-1234"))
    await chat.says("a person, please", Human())
    assert chat.audited("escalated") == ["escalated"]
    assert chat.talk["takeover"] is not None


@trace(BANK)
async def test_asking_for_a_paused_task_resumes_it(chat: Chat) -> None:
    await looking_at_the_balance(chat)
    await chat.says("I want to send money", Go("transfer"))
    assert chat.stack.count("transfer") + (chat.at == "transfer") == 1
    if chat.asked == ("restart", "transfer"):
        await chat.says("go on with it", Confirm())
    assert (chat.at, chat.stack) == ("transfer", [])
    assert chat.value("recipient") == "Maya"
    assert chat.asks("amount")


@trace(BANK)
async def test_why_is_answered_and_asked_again(chat: Chat) -> None:
    await sending_to_maya(chat)
    await chat.says("why do you need that?", Explain())
    assert "the sum that is sent" in chat.reply
    assert chat.asks("amount")
    assert chat.attempts("amount") == []
    assert chat.talk.get("retries", {}) == {}
    assert chat.audited("detour_entered") == []
