"""A person takes over: the payload, the silent assistant, and the rest of the conversation."""

from __future__ import annotations

from journeygraph import EscalationCase
from journeygraph.nodes.commands import Confirm, Fill, Go, Human
from tests.traces.conversation import OFFLINE, Chat, trace
from tests.traces.elsewhere import DESK, FOUND, PARCELS, SCHOOL
from tests.traces.journeys import BALANCE, BANK, CLINIC


async def the_case(chat: Chat) -> EscalationCase:
    found = await chat.journey.manager.escalation()
    assert found is not None
    return found


@trace(BANK)
async def test_a_person_called_from_a_detour_knows_all_and_gives_it_back(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("how much do I have?", Go("balance"))
    await chat.says("a person, please", Human())
    assert chat.says_text("human_called")
    assert (chat.at, chat.stack) == ("balance", ["transfer"])
    case = await the_case(chat)
    assert case.entry.reason == "asked"
    assert case.entry.status == "open"
    payload = case.payload
    assert payload["reason"] == "asked"
    assert payload["summary"]
    assert "Maya" in str(payload["fields"])
    assert [frame["pathway"] for frame in payload["stack"]] == ["transfer"]
    said = [entry.content for entry in case.transcript]
    assert "send money to Maya" in said
    assert BALANCE in " ".join(said)

    await chat.says("are you there?")
    assert chat.reply == ""
    await chat.hears("Hello, this is Kim.")
    await chat.hears("What can I do for you?")
    await chat.says("the recipient is Alex, not Maya")
    assert chat.reply == ""
    assert chat.value("recipient") == "Maya"
    assert (await the_case(chat)).entry.claimed_by == "Kim"
    roles = [entry.role for entry in await chat.journey.transcript()]
    assert roles.count("operator") == 2

    said_then = await chat.release()
    assert chat.text("released") in said_then
    assert not chat.talk.get("takeover")
    assert chat.asked == ("field", "amount")
    assert chat.declared["amount"].ask in said_then
    assert chat.value("recipient") == "Maya"
    await chat.says("50", Fill("amount", "50"))
    assert (chat.at, chat.stack) == ("transfer", [])
    assert chat.asked == ("summary", "transfer")
    assert chat.audited("escalated", "claimed", "released") == ["escalated", "claimed", "released"]


@trace(CLINIC, OFFLINE)
async def test_where_there_is_nobody_to_call_the_talk_goes_on(chat: Chat) -> None:
    await chat.says("cardiology", Fill("specialty", "cardiology"))
    await chat.says("can I speak to a person?", Human())
    assert chat.says_text("no_human")
    assert chat.audited("escalated") == []
    assert chat.asks("doctor")


async def with_nobody_coming(chat: Chat) -> None:
    await chat.says("send a parcel to Ida", Go("send"), Fill("receiver", "Ida"))
    await chat.says("where is my parcel?", Go("track"))
    await chat.says("P-17", Fill("number", "P-17"))
    assert FOUND in chat.reply
    await chat.says("I want to speak to a person", Human())
    assert chat.audited("escalated") == ["escalated"]
    await chat.says("hello?")
    assert chat.says_text("unclaimed")
    assert chat.asked is not None
    assert chat.asked[0] == "unclaimed"


@trace(PARCELS)
async def test_where_nobody_comes_the_assistant_goes_on_at_the_paused_place(chat: Chat) -> None:
    await with_nobody_coming(chat)
    await chat.says("yes", Confirm())
    assert chat.says_text("released")
    assert not chat.talk.get("takeover")
    assert chat.asks("destination")
    assert chat.value("receiver") == "Ida"
    await chat.says("3 Harbour Lane, Bremen", Fill("destination", "3 Harbour Lane, Bremen"))
    assert (chat.at, chat.stack) == ("send", [])
    assert chat.asks("weight")
    assert DESK not in chat.reply


@trace(SCHOOL, OFFLINE)
async def test_a_person_is_told_what_was_collected_and_what_was_not_taken(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("Noor", Fill("child", "Noor"))
    await chat.says("someday", Fill("birth_date", "someday"))
    assert chat.attempts("birth_date") == ["invalid"]
    await chat.says("give me a human", Human())
    fields = {item["name"]: item for item in (await the_case(chat)).payload["fields"]}
    assert fields["child"]["value"] == "Noor"
    assert fields["birth_date"]["value"] is None
    statuses = [item["validation_status"] for item in fields["birth_date"]["attempts"]]
    assert statuses == ["invalid"]


@trace(BANK)
async def test_a_person_is_called_beside_a_wish_for_a_task(chat: Chat) -> None:
    await chat.says("send money to Maya", Go("transfer"), Fill("recipient", "Maya"))
    await chat.says("how much do I have? no wait, get me a human", Go("balance"), Human())
    if chat.asked == ("human", "asked"):
        await chat.says("yes", Confirm())
    assert chat.says_text("human_called")
    assert (chat.at, chat.value("recipient")) == ("transfer", "Maya")
    assert chat.audited("escalated") == ["escalated"]
