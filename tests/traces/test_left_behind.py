"""The rest of a task does not follow the user into the next one."""

from __future__ import annotations

from journeygraph import NEVER, Field, Form, Journey, Pathway, Range, ReturnToPrevious, Transition
from tests.traces.conversation import Chat, Domain, Way, trace
from tests.traces.journeys import tells, wants
from tests.traces.versions import RENT, this_year

OFFLINE = (Way("memory", scripted=False),)


class Office(Journey):
    """Pay out refunds, and answer questions."""

    class RefundPath(Pathway):
        """Pay a refund out."""

        __title__ = "the refund"
        __fields__ = Form(
            [
                Field("way", "enum", "How?", choices=["bank", "cash"]),
                Field(
                    "account",
                    "integer",
                    "Which account?",
                    label="number",
                    validators=[Range(1, 9)],
                    when=lambda known: known.get("way") == "bank",
                ),
                Field("till", "integer", "Which till?", label="number", confirm=True),
            ],
            order="flexible",
        )

    class VisitPath(Pathway):
        """Note a visit."""

        __title__ = "the visit"
        __fields__ = [Field("people", "integer", "How many people?")]
        __return_behavior__ = ReturnToPrevious()

    class HoursPath(Pathway):
        """Say when the office is open."""

        __title__ = "the opening hours"
        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    __transitions__ = [
        Transition(wants("visit"), to_pathway="visit"),
        Transition(wants("open"), to_pathway="hours"),
    ]


OFFICE = Domain(Office, agents={"porter": tells("From nine to five.")})


@trace(OFFICE, OFFLINE)
async def test_a_refused_field_that_no_longer_counts_is_not_asked_for(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("bank")
    await chat.says("77")
    assert chat.asks("account")
    await chat.says("no, make it cash instead of bank")
    assert chat.value("way") == "cash"
    assert chat.asks("till")


@trace(OFFICE, OFFLINE)
async def test_a_detour_asks_its_own_question_and_not_that_of_what_it_interrupts(
    chat: Chat,
) -> None:
    await chat.says("hello")
    await chat.says("bank")
    await chat.says("77")
    assert chat.talk["reopened"] == ["account"]
    await chat.says("I want to announce a visit")
    assert (chat.at, chat.stack) == ("visit", ["refund"])
    assert chat.asks("people")
    await chat.says("3")
    assert chat.asks("account")


@trace(OFFICE, OFFLINE)
async def test_who_wants_none_of_what_waits_is_not_asked_about_each(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("bank")
    await chat.says("a visit please")
    await chat.says("when are you open?")
    assert chat.asked == ("paused", "")
    await chat.says("no")
    assert chat.stack == []
    assert chat.asked == ("more", "")
    assert chat.audited("cancelled") == ["cancelled", "cancelled"]
    assert not chat.says_text("ask_return", task="the refund")


class Lobby(Journey):
    """Speak with visitors, and note them."""

    class DeskPath(Pathway):
        """Say how things are."""

        __agents__ = ["porter"]
        __complete_when__ = NEVER

    class VisitPath(Pathway):
        """Note a visit."""

        __fields__ = [Field("people", "integer", "How many people?")]

    class HoursPath(Pathway):
        """Say when the office is open."""

        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("visit"), to_pathway="visit"),
        Transition(wants("open"), to_pathway="hours"),
        Transition(wants("desk"), to_pathway="desk"),
    ]


LOBBY = Domain(Lobby, agents={"porter": tells("All is well.")})


@trace(LOBBY, OFFLINE)
async def test_who_goes_back_is_not_asked_any_more_whether_to(chat: Chat) -> None:
    await chat.says("I want a visit")
    await chat.says("when are you open?")
    await chat.says("cancel")
    assert chat.asked == ("return", "visit")
    await chat.says("to the desk")
    assert (chat.at, chat.stack, chat.talk.get("asked")) == ("desk", [], None)
    await chat.says("no")
    assert chat.reply == "All is well."


@trace(OFFICE, OFFLINE)
async def test_a_summary_has_all_fields_though_two_are_called_the_same(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("bank")
    await chat.says("7")
    await chat.says("2")
    assert chat.asked == ("summary", "refund")
    assert chat.reply.count("number") == 2


@trace(RENT, OFFLINE)
async def test_an_upgrade_remembers_what_was_done_under_an_old_name(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("4b")
    await chat.says("900")
    await chat.says("yes")
    assert list(chat.talk["done"]) == ["payment.pay"]
    await chat.restart(this_year())
    await chat.says("not 900, 950")
    assert list(chat.talk["done"]) == ["monthly_payment.pay"]
    assert chat.says_text("stays_done", field="sum")
    assert chat.asked == ("more", "")
    assert chat.world.count("pay") == 1


class Till(Journey):
    """Take payments."""

    class HomePath(Pathway):
        """What there is to do."""

        __agents__ = ["greeter"]
        __complete_when__ = NEVER

    class PaymentPath(Pathway):
        """Pay a bill."""

        __fields__ = [Field("amount", "integer", "How much?")]

    __transitions__ = [Transition(wants("pay it"), to_pathway="payment")]


@trace(Domain(Till, agents={"greeter": tells("Hello.")}))
async def test_a_phrase_that_may_be_a_yes_begins_its_task_again_after_it_was_left(chat: Chat):
    await chat.says("pay it")
    await chat.says("stop that")
    assert chat.reply.endswith("Is there anything else?")

    assert await chat.says("pay it") == "How much?"
    await chat.says("stop that")
    assert await chat.says("yes") != "How much?"
