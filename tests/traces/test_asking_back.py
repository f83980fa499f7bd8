"""Clarification of unclear messages: one of several wishes, a task that has begun, a person."""

from __future__ import annotations

from journeygraph.nodes.commands import Choose, Confirm, Deny, Fill, Go, Human
from tests.traces.conversation import Chat, trace
from tests.traces.elsewhere import PARCELS, TELECOM
from tests.traces.journeys import BANK

EITHER_CARD = (Go("block_card"), Go("new_card"))


async def asked_which_card(chat: Chat) -> None:
    await chat.says("card", *EITHER_CARD)
    assert chat.asked is not None
    assert chat.asked[0] == "clarify"
    assert chat.options == ["block a card", "order a new card"]
    assert all(option in chat.reply for option in chat.options)
    assert chat.stack == []
    assert chat.at == "home"
    assert chat.audited("unclear") == ["unclear"]


@trace(BANK)
async def test_the_second_of_two_is_chosen_without_a_model(chat: Chat) -> None:
    await asked_which_card(chat)
    await chat.says("2", calls=0)
    assert chat.at == "new_card"
    assert chat.asks("design")
    assert chat.audited("clarified") == ["clarified"]
    assert not chat.talk.get("unclear")


@trace(BANK)
async def test_an_option_is_chosen_by_its_name(chat: Chat) -> None:
    await asked_which_card(chat)
    await chat.says("block a card", calls=0)
    assert chat.at == "block_card"
    assert chat.asks("blocked_card")


@trace(BANK)
async def test_three_times_unclear_offers_a_person(chat: Chat) -> None:
    await asked_which_card(chat)
    assert chat.talk["unclear"] == 1
    await chat.says("hm, hard to say")
    assert chat.talk["unclear"] == 2
    assert chat.asked is not None
    assert chat.asked[0] == "clarify"
    assert chat.options == ["block a card", "order a new card"]
    await chat.says("hm, hard to say")
    assert chat.asked is not None
    assert chat.asked[0] == "human"
    assert chat.says_text("offer_human")
    await chat.says("yes please", Confirm())
    assert chat.audited("escalated") == ["escalated"]


@trace(BANK)
async def test_a_task_named_again_within_itself_is_asked_about(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("transfer", Go("transfer"))
    assert chat.asked == ("restart", "transfer")
    assert chat.stack == []
    assert chat.value("recipient") == "Maya"
    assert chat.attempts("amount") == []
    assert chat.options == [chat.texts.go_on, chat.texts.begin_anew]
    await chat.says("go on with it", Choose("go_on"))
    assert chat.asks("amount")
    assert chat.value("recipient") == "Maya"


@trace(BANK)
async def test_a_task_may_be_begun_anew(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("transfer", Go("transfer"))
    await chat.says("2", calls=0)
    assert chat.value("recipient") is None
    assert chat.asks("recipient")
    assert chat.stack == []


@trace(PARCELS)
async def test_at_most_three_are_offered_and_the_last_is_taken(chat: Chat) -> None:
    await chat.says("I have a complaint", Go("lost"), Go("damaged"), Go("late"))
    assert chat.asked is not None
    assert chat.asked[0] == "clarify"
    assert len(chat.options) == 3
    await chat.says("3", calls=0)
    assert chat.at == "late"
    assert chat.asks("late_number")


@trace(PARCELS)
async def test_a_person_offered_after_failures_may_be_declined(chat: Chat) -> None:
    await chat.says("send a parcel to Ida", Go("send"), Fill("receiver", "Ida"))
    await chat.says("3 Harbour Lane, Bremen", Fill("destination", "3 Harbour Lane, Bremen"))
    assert chat.asks("weight")
    await chat.says("400", Fill("weight", "400"))
    assert "Our scales end at 31.5 kilos." in chat.reply
    await chat.says("400", Fill("weight", "400"))
    assert chat.asked is not None
    assert chat.asked[0] == "human"
    assert chat.audited("escalated") == []
    await chat.says("no", Deny())
    assert chat.says_text("human_declined")
    assert chat.asks("weight")
    assert not chat.talk.get("retries")
    await chat.says("4", Fill("weight", "4"))
    assert chat.value("weight") == 4
    assert chat.attempts("weight") == ["invalid", "invalid", "valid"]


@trace(TELECOM)
async def test_a_word_that_calls_a_person_is_enough(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("I will call my lawyer", Human())
    assert chat.audited("escalated") == ["escalated"]
    assert chat.talk["takeover"] is not None
    said = len(chat.replies)
    await chat.says("are you there?")
    assert chat.reply == ""
    assert len(chat.replies) == said + 1
