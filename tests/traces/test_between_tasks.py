"""One task beside another: begun after the end, given up for it, asked beside an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from journeygraph import Effect, Field, Journey, Pathway, Range, ReturnToPrevious, Transition
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Confirm,
    Correct,
    Deny,
    Fill,
    Go,
    OffTopic,
    Restart,
    Status,
)
from tests.traces.conversation import IN_MEMORY, OFFLINE, SCRIPTED, Chat, Domain, trace
from tests.traces.errands import ABEND, ERRANDS, HOURS, WALLET
from tests.traces.journeys import BANK, LIMIT, MENU, RESTAURANT, tells, wants
from tests.traces.world import World


class Mooring(Journey):
    """Help people to moor."""

    class MooringPath(Pathway):
        """Moor a boat."""

        __fields__ = [
            Field("lines", "time", "When shall somebody take the lines?"),
            Field("tide", "datetime", "On which day and at what time do you leave?"),
            Field("supper", "time", "When is supper?", validators=[Range("17:00", "23:00")]),
            Field("fuel", "time", "When do you want fuel?", validators=[Range("06:00", "11:00")]),
            Field("boat", "text", "What is your boat called?"),
        ]


class Harbour(Journey):
    """Help people with boats."""

    class QuayPath(Pathway):
        """The tasks of a harbour."""

    class BerthPath(Pathway):
        """Reserve a berth."""

        __title__ = "the berth"
        __fields__ = [
            Field("boat", "name", "What is your boat called?"),
            Field("arrival", "date", "When do you arrive?", validators=[Range("today")]),
            Field("nights", "integer", "How many nights?", confirm=True),
        ]
        __effects__ = [Effect("reserve", {"boat": "boat"}, done="The berth is yours.")]

    class CranePath(Pathway):
        """Lift a boat."""

        __title__ = "the crane"
        __fields__ = [
            Field("lift_day", "date", "On which day shall we lift it?"),
            Field("weight", "number", "How many tons?"),
        ]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class LaundryPath(Pathway):
        """Wash clothes."""

        __title__ = "the laundry"
        __fields__ = [Field("tokens", "integer", "How many tokens?")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    class ParkingPath(Pathway):
        """Park cars."""

        __title__ = "the car park"
        __fields__ = [Field("cars", "integer", "How many cars?")]

    class WeatherPath(Pathway):
        """Tell the weather."""

        __title__ = "the weather"
        __agents__ = ["observer"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("berth"), to_pathway="berth"),
        Transition(wants("crane"), to_pathway="crane"),
        Transition(wants("laundry"), to_pathway="laundry"),
        Transition(wants("car park"), to_pathway="parking"),
        Transition(wants("weather"), to_pathway="weather"),
    ]


class Lifting(Harbour.CranePath):
    """Lift a boat now."""

    __fields__ = [Field("weight", "number", "How many tons?")]
    __effects__ = [Effect("lift", {"weight": "weight"}, done="We lift it.")]


def harbour_tools(world: World) -> dict[str, Any]:
    def reserve(boat: str, idempotency_key: str) -> str:
        "Reserve a berth."
        return world.do("reserve", idempotency_key, boat=boat)

    def lift(weight: float, idempotency_key: str) -> str:
        "Lift a boat."
        return world.do("lift", idempotency_key, weight=weight)

    return {"reserve": reserve, "lift": lift}


SUNNY = "Sunny, with wind from the west."
HARBOUR = Domain(Harbour, harbour_tools, {"observer": tells(SUNNY)})


async def at_the_arrival(chat: Chat) -> None:
    await chat.says("a berth please", Go("berth"))
    await chat.says("Seagull", Fill("boat", "Seagull"))
    assert chat.asks("arrival")


async def at_the_summary(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("2099-12-24", Fill("arrival", "2099-12-24"))
    await chat.says("3", Fill("nights", "3"))
    assert chat.asked == ("summary", "berth")


async def with_a_berth(chat: Chat) -> None:
    await at_the_summary(chat)
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 1
    assert chat.last.is_journey_complete


@trace(HARBOUR, IN_MEMORY)
async def test_a_task_that_is_begun_after_the_end_is_open(chat: Chat) -> None:
    await with_a_berth(chat)
    await chat.says("the crane", Go("crane"))
    assert chat.asks("lift_day")
    assert not chat.last.is_journey_complete
    await chat.says("2099-12-25", Fill("lift_day", "2099-12-25"))
    await chat.says("12", Fill("weight", "12"))
    assert chat.last.is_journey_complete


@trace(HARBOUR, IN_MEMORY)
async def test_nothing_done_is_gone_back_to_when_a_later_task_is_given_up(chat: Chat) -> None:
    await with_a_berth(chat)
    await chat.says("the crane", Go("crane"))
    await chat.says("cancel", Cancel())
    assert chat.asked == ("more", "")
    assert chat.value("boat") == "Seagull"
    await chat.says("yes", Confirm())
    assert chat.says_text("which")
    assert "the crane" in chat.reply


@trace(HARBOUR, IN_MEMORY)
async def test_a_question_after_the_end_leaves_the_journey_complete(chat: Chat) -> None:
    await with_a_berth(chat)
    await chat.says("how is the weather?", Go("weather"))
    assert chat.reply == SUNNY
    assert chat.last.is_journey_complete


@trace(HARBOUR, IN_MEMORY)
async def test_going_back_at_a_summary_asks_the_last_question_and_does_nothing(chat: Chat) -> None:
    await at_the_summary(chat)
    await chat.says("go back", Back())
    assert chat.asks("nights")
    assert chat.world.count("reserve") == 0
    await chat.says("two", Fill("nights", "two"), Correct("nights", "two"))
    assert chat.asked == ("summary", "berth")
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 1


@trace(HARBOUR, IN_MEMORY)
async def test_going_back_in_a_task_that_is_over_asks_its_question(chat: Chat) -> None:
    await chat.says("car park", Go("parking"))
    await chat.says("3", Fill("cars", "3"))
    assert chat.last.is_journey_complete
    await chat.says("go back", Back())
    assert chat.asks("cars")
    assert not chat.last.is_journey_complete
    await chat.says("4", Fill("cars", "4"), Correct("cars", "4"))
    assert chat.value("cars") == 4
    assert chat.last.is_journey_complete


@trace(HARBOUR, IN_MEMORY)
async def test_a_no_is_no_text_where_another_one_is_known(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("go back", Back())
    assert chat.asks("boat")
    await chat.says("no", Deny())
    assert chat.says_text("kept", field="boat", value="Seagull")
    assert chat.asks("arrival")


@trace(HARBOUR, SCRIPTED)
async def test_a_task_is_given_up_beside_a_wish_without_its_name(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("crane", Go("crane"))
    await chat.says("2099-12-25", Fill("lift_day", "2099-12-25"))
    await chat.says(
        "cancel that, and I need laundry for 4 tokens",
        Cancel(),
        Go("laundry"),
        Fill("tokens", "4"),
    )
    assert chat.says_text("left", task="the crane")
    assert (chat.value("tokens"), chat.value("lift_day")) == (4, None)
    assert (chat.asked, chat.stack) == (("return", "berth"), ["berth"])


@trace(HARBOUR, IN_MEMORY)
async def test_a_value_before_a_wish_answers_the_question_alone(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("2099-12-24. Can I have the crane?", Fill("arrival", "2099-12-24"), Go("crane"))
    assert (chat.value("arrival"), chat.value("lift_day")) == ("2099-12-24", None)
    assert chat.asks("lift_day")


@trace(HARBOUR, OFFLINE)
async def test_a_value_behind_a_wish_is_for_the_wish_alone(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("the crane, 2099-12-25")
    assert (chat.value("arrival"), chat.value("lift_day")) == (None, "2099-12-25")
    assert chat.asks("weight")


@trace(HARBOUR, OFFLINE)
async def test_values_before_and_behind_a_wish_are_for_different_tasks(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("2099-12-24, and the crane on 2099-12-26")
    assert (chat.value("arrival"), chat.value("lift_day")) == ("2099-12-24", "2099-12-26")
    assert chat.asks("weight")


@trace(HARBOUR, OFFLINE)
async def test_words_of_a_value_that_was_taken_are_understood(chat: Chat) -> None:
    await chat.says("Hello, a berth please. We arrive on 2099-12-24, for three nights")
    assert (chat.value("arrival"), chat.value("nights")) == ("2099-12-24", 3)
    assert not chat.says_text("unread")
    assert chat.asks("boat")


@trace(HARBOUR, OFFLINE)
async def test_a_number_beside_a_wish_that_nothing_took_is_not_passed_over(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("the crane for more than 12 units")
    assert chat.value("weight") is None
    assert chat.says_text("unread", words="more than 12 units")
    assert chat.asks("lift_day")


@trace(HARBOUR, IN_MEMORY)
async def test_what_is_wanted_beside_a_no_comes_next_and_nothing_else_is_asked(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("crane", Go("crane"))
    await chat.says("laundry", Go("laundry"))
    await chat.says("3", Fill("tokens", "3"))
    assert chat.asked == ("paused", "")
    await chat.says("none of them, the car park please", Deny(), Go("parking"))
    assert chat.says_text("left", task="the berth")
    assert not chat.says_text("more")
    assert chat.asks("cars")
    assert (chat.at, chat.stack) == ("parking", [])


@trace(HARBOUR, IN_MEMORY)
async def test_a_question_beside_a_no_to_a_summary_is_answered_first(chat: Chat) -> None:
    await at_the_summary(chat)
    await chat.says("no, how is the weather?", Deny(), Go("weather"))
    assert SUNNY in chat.reply
    assert not chat.says_text("summary_wrong")
    assert (chat.at, chat.asked) == ("weather", ("summary", "berth"))
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 1


@trace(replace(HARBOUR, config={"max_pathway_depth": 1}), IN_MEMORY)
async def test_a_question_that_has_to_wait_is_flagged_beside_an_answer_too(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("crane", Go("crane"))
    await chat.says("2099-12-25, and how is the weather?", Fill("lift_day", "2099-12-25"))
    assert chat.says_text("too_deep")
    assert chat.last.metadata["flags"] == ["depth_refused"]
    assert chat.audited("depth_refused") == ["depth_refused"]
    assert chat.value("lift_day") == "2099-12-25"
    assert chat.asks("weight")


@trace(HARBOUR, SCRIPTED)
async def test_looking_back_beside_a_wish_is_not_passed_over(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("start over, and how is the weather?", Restart())
    assert chat.says_text("restarted")
    assert SUNNY in chat.reply
    assert chat.value("boat") is None
    assert chat.asks("boat")


@trace(HARBOUR, OFFLINE)
async def test_a_doubtful_cancel_beside_a_wish_asks_nothing_that_is_not_heard(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("oh dear this takes ages, cancel, how is the weather?")
    assert SUNNY in chat.reply
    assert not chat.says_text("ask_leave")
    assert chat.asks("arrival")
    assert "dropped" in chat.kinds


@trace(replace(HARBOUR, journey=type("Harbour", (Harbour,), {"CranePath": Lifting})), IN_MEMORY)
async def test_a_question_that_was_gone_back_to_is_not_asked_in_another_task(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("go back", Back())
    await chat.says("the crane", Go("crane"))
    assert chat.asks("weight")
    await chat.says("12", Fill("weight", "12"))
    assert (chat.value("boat"), chat.asked) == ("Seagull", ("return", "berth"))
    await chat.says("yes", Confirm())
    assert chat.asks("boat")


def without_laundry_and_crane(*, berth: bool = True) -> type[Journey]:
    """Return the harbour of another version, which has no laundry and no crane."""
    gone = {"laundry", "crane"} if berth else {"laundry", "crane", "berth"}
    body = {
        name: each
        for name, each in vars(Harbour).items()
        if isinstance(each, type) and name.removesuffix("Path").lower() not in gone
    }
    transitions = [one for one in Harbour.__transitions__ if one.to_pathway not in gone]
    more = {"__doc__": Harbour.__doc__, "__transitions__": transitions}
    return type("Harbour", (Journey,), {**body, **more})


@trace(HARBOUR, OFFLINE)
async def test_a_paused_task_that_another_version_lacks_is_told(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("crane", Go("crane"))
    await chat.says("how is the weather?", Go("weather"))
    assert chat.stack == ["berth", "crane"]
    await chat.restart(without_laundry_and_crane())
    await chat.says("2099-12-24")
    assert chat.says_text("moved_back", task="the berth")
    assert chat.value("arrival") == "2099-12-24"
    assert chat.audited("migrated", "pause_ended") == ["pause_ended"]


@trace(HARBOUR, OFFLINE)
async def test_a_wish_that_waits_and_another_version_lacks_is_told(chat: Chat) -> None:
    await chat.says("a berth for three nights and then the laundry")
    assert chat.talk["queued"]
    await chat.restart(without_laundry_and_crane())
    await chat.says("Seagull")
    assert chat.says_text("moved_back", task="the berth")
    assert (chat.value("boat"), chat.talk.get("queued")) == ("Seagull", None)
    assert "dropped" in chat.kinds


@trace(HARBOUR, OFFLINE)
async def test_an_answer_to_a_task_that_is_gone_is_no_wish_that_is_refused(chat: Chat) -> None:
    await at_the_summary(chat)
    await chat.restart(without_laundry_and_crane(berth=False))
    await chat.says("yes")
    assert chat.says_text("moved_to_entry")
    assert chat.says_text("which", journeys="the car park, the weather")
    assert chat.world.count("reserve") == 0


async def with_laundry(chat: Chat) -> None:
    await chat.says("laundry", Go("laundry"))
    await chat.says("3", Fill("tokens", "3"))
    assert chat.last.is_journey_complete


@trace(HARBOUR, IN_MEMORY)
async def test_a_finished_task_is_begun_again_with_the_values_of_the_wish(chat: Chat) -> None:
    await with_laundry(chat)
    await chat.says("laundry for 5 tokens please", Go("laundry"), Fill("tokens", "5"))
    assert (chat.value("tokens"), chat.asked) == (5, None)
    assert not chat.says_text("corrected")
    await chat.says("how is the weather?", Go("weather"))
    await chat.says("laundry again, 6 tokens", Fill("tokens", "6"))
    assert (chat.value("tokens"), chat.asked) == (6, None)
    assert chat.attempts("tokens") == ["valid", "cleared", "valid", "cleared", "valid"]


@trace(HARBOUR, SCRIPTED)
async def test_a_change_of_a_finished_task_that_names_it_does_not_begin_it_again(
    chat: Chat,
) -> None:
    await with_laundry(chat)
    for words, tokens in (("make the laundry 5 tokens", 5), ("sorry, 6 tokens for the laundry", 6)):
        await chat.says(words, Correct("tokens", str(tokens)))
        assert chat.says_text("corrected", field="tokens", value=str(tokens))
        assert chat.value("tokens") == tokens
    assert "transition" not in chat.kinds[-4:]


@trace(HARBOUR, IN_MEMORY)
async def test_a_finished_task_below_another_one_is_begun_again_too(chat: Chat) -> None:
    await with_a_berth(chat)
    await chat.says("how is the weather?", Go("weather"))
    assert chat.stack == ["berth"]
    await chat.says("a berth please", Go("berth"))
    assert chat.asks("boat")
    assert chat.value("boat") is None
    assert chat.world.count("reserve") == 1


@trace(WALLET)
async def test_an_effect_is_taken_once_for_each_wish_with_its_own_values(chat: Chat) -> None:
    for sum_, name in (("20", "Leo"), ("30", "Ada")):
        await chat.says(
            f"send {sum_} to {name}", Go("send"), Fill("sum", sum_), Fill("receiver", name)
        )
        assert chat.asked == ("summary", "send")
        await chat.says("yes", Confirm())
        assert chat.world.args("send")["to"] == name
    assert chat.world.count("send") == 2
    await chat.says("make it 40", Correct("sum", "40"))
    assert chat.says_text("stays_done", field="sum")
    assert chat.world.count("send") == 2


@trace(WALLET, OFFLINE)
async def test_words_behind_the_end_are_not_passed_over(chat: Chat) -> None:
    await chat.says("send 20 to Leo")
    await chat.says("yes")
    await chat.says("40 to Ada please")
    for field in ("receiver", "sum"):
        assert chat.says_text("stays_done", field=field)
    assert chat.world.count("send") == 1


@trace(HARBOUR, OFFLINE)
async def test_words_beside_a_value_that_is_refused_are_not_passed_over(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("2020-01-01, and how is the food?")
    assert chat.attempts("arrival") == ["invalid"]
    assert chat.says_text("cannot_answer")
    assert chat.asks("arrival")


CARDS = ("card", Go("block_card"), Go("new_card"))


@trace(BANK, SCRIPTED)
async def test_a_value_beside_a_choice_is_kept_for_its_option_or_repeated(chat: Chat) -> None:
    await chat.says(*CARDS)
    await chat.says("nice day, green", Fill("design", "green"), OffTopic())
    assert chat.asked == ("clarify", "")
    assert chat.talk["held"] == {"design": "green"}
    await chat.says("nice day, 20 to Maya", Fill("amount", "20"), OffTopic())
    assert chat.says_text("unread", words="20")
    assert "held" in chat.talk
    await chat.says("the second", Choose("new_card"))
    assert (chat.value("design"), chat.value("amount")) == ("green", None)


@trace(Domain(Mooring, lambda _: {}), OFFLINE)
async def test_a_time_that_may_be_of_both_halves_of_the_day_is_repeated(chat: Chat) -> None:
    await chat.says("hello")
    await chat.says("quarter to five")
    assert chat.says_text("understood", field="lines", value="4:45 pm")
    await chat.says("on 3 May 2099 at 8")
    assert chat.says_text("understood", field="tide", value="Sunday, 3 May 2099, 8:00 am")
    for field, value in (("supper", "19:00"), ("fuel", "07:00")):
        await chat.says("at 7")
        assert chat.value(field) == value
        assert not chat.says_text("understood", field=field)


def keyless_tools(world: World) -> dict[str, Any]:
    def reserve(boat: str) -> str:
        "Reserve a berth."
        return world.do("reserve", boat=boat)

    return {**harbour_tools(world), "reserve": reserve}


KEYLESS = replace(HARBOUR, tools=keyless_tools)


async def in_doubt(chat: Chat) -> None:
    """Have the reservation lose its connection, so that nobody knows whether it was made."""
    chat.world.fails["reserve"] = [ConnectionResetError("gone")] * 2
    await at_the_summary(chat)
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 0
    assert chat.talk["unsure"] == ["berth.reserve"]
    chat.world.fails["reserve"] = []


async def takes_nothing_unasked(chat: Chat) -> None:
    """Change the boat; the reservation is only made again after a yes to doing it again."""
    tried = chat.world.tried["reserve"]
    await chat.says("the boat is Heron", Correct("boat", "Heron"))
    assert chat.value("boat") == "Heron"
    await chat.says("yes", Confirm())
    assert chat.says_text("effect_again")
    assert (chat.asked, chat.world.tried["reserve"]) == (("retry", "berth"), tried)
    await chat.says("the boat is Egret", Correct("boat", "Egret"))
    await chat.says("yes", Confirm())
    assert (chat.asked, chat.world.tried["reserve"]) == (("retry", "berth"), tried)
    await chat.says("yes", Confirm())
    assert chat.world.tried["reserve"] == tried + 1
    assert chat.world.args("reserve") == {"boat": "Egret"}
    assert "unsure" not in chat.talk


@trace(KEYLESS, IN_MEMORY)
async def test_a_change_after_an_unknown_outcome_takes_no_effect_unasked(chat: Chat) -> None:
    await in_doubt(chat)
    assert chat.asked == ("more", "")
    await takes_nothing_unasked(chat)


@trace(HARBOUR)
async def test_a_change_after_a_late_answer_takes_no_effect_unasked(chat: Chat) -> None:
    await in_doubt(chat)
    assert chat.asked == ("retry", "berth")
    await takes_nothing_unasked(chat)


@trace(KEYLESS, OFFLINE)
async def test_an_effect_that_may_have_been_taken_is_left_after_a_no(chat: Chat) -> None:
    await in_doubt(chat)
    await chat.says("the boat is Heron")
    await chat.says("yes")
    await chat.says("no")
    assert chat.says_text("left", task="the berth")
    assert (chat.world.tried["reserve"], chat.talk.get("unsure")) == (1, None)


@trace(KEYLESS, IN_MEMORY)
async def test_starting_over_after_an_unknown_outcome_asks_first(chat: Chat) -> None:
    await in_doubt(chat)
    for words, *means in (("start over", Restart()), ("hm",)):
        await chat.says(words, *means)
        assert chat.says_text("ask_restart_unsure", task="the berth")
        assert (chat.asked, chat.value("boat")) == (("start_over", "berth"), "Seagull")
    await chat.says("no", Deny())
    assert (chat.asked, chat.value("boat")) == (("more", ""), "Seagull")
    await chat.says("a berth please", Go("berth"))
    assert chat.asked == ("restart", "berth")
    await chat.says("start over", Choose("begin_anew"))
    assert chat.asked == ("start_over", "berth")
    await chat.says("yes", Confirm())
    assert chat.asks("boat")
    assert (chat.value("boat"), chat.talk.get("unsure")) == (None, None)


@trace(KEYLESS, OFFLINE)
async def test_a_yes_that_takes_no_effect_again_is_told_so(chat: Chat) -> None:
    await in_doubt(chat)
    await chat.says("make it 4 nights")
    await chat.says("yes")
    assert chat.says_text("effect_unsure")
    assert (chat.asked, chat.world.tried["reserve"]) == (("more", ""), 1)
    await chat.says("yes")
    assert chat.says_text("which")


@trace(HARBOUR, OFFLINE)
async def test_a_wish_next_to_a_choice_follows_what_was_chosen(chat: Chat) -> None:
    for words, chosen in (
        ("the second, and what's the weather?", "laundry"),
        ("the first one, then the car park for 3 cars", "crane"),
        ("the first, and the laundry too", "crane"),
    ):
        await at_the_arrival(chat)
        await chat.says("the crane or the laundry")
        assert chat.asked == ("clarify", "")
        await chat.says(words)
        assert (chat.at, chat.value("arrival")) == (chosen, None)
        assert len(chat.talk["queued"]) == 1
        await chat.says("stop everything")
        assert chat.at == "quay"


@trace(BANK, SCRIPTED)
async def test_a_wish_next_to_a_choice_follows_as_a_model_means_it(chat: Chat) -> None:
    await chat.says(*CARDS)
    second = Choose(chat.talk["asked"]["options"][1]["id"])
    await chat.says("hm, well, that second thing, and what may I spend?", second, Go("limit"))
    assert chat.asks("design")
    assert len(chat.talk["queued"]) == 1
    await chat.says("green", Fill("design", "green"))
    assert LIMIT in chat.reply


@trace(ERRANDS, OFFLINE)
async def test_a_wish_next_to_the_task_that_is_chosen_waits_for_its_end(chat: Chat) -> None:
    await chat.says("laundry please")
    await chat.says("3")
    await chat.says("the garden")
    await chat.says("opening hours?")
    assert chat.asked == ("paused", "")
    await chat.says("the second, and the windows for 4 panes")
    assert (chat.at, chat.stack) == ("laundry", ["hall", "garden"])
    assert chat.asks("fetched")
    await chat.says("2099-03-04")
    assert "We fetch the shirts." in chat.reply
    assert chat.value("panes") == 4


@trace(ERRANDS, SCRIPTED)
async def test_what_is_known_is_told_next_to_a_wish(chat: Chat) -> None:
    await chat.says("laundry please")
    await chat.says("3")
    await chat.says("what do you have so far? and the opening hours?", Status())
    assert chat.says_text("status", fields="- shirts: 3")
    assert HOURS in chat.reply


@trace(RESTAURANT, OFFLINE)
async def test_a_question_next_to_a_change_of_something_done_is_answered_at_once(
    chat: Chat,
) -> None:
    for words in ("4 people", "2099-03-04", "19:00", "Smith"):
        await chat.says(words)
    assert chat.world.count("book_table") == 1
    await chat.says("make it 5 people, and what's on the menu?")
    assert chat.says_text("after_effect", value="4")
    assert chat.reply.endswith(MENU)
    assert chat.asked == ("change", "party_size")
    await chat.says("change it")
    assert chat.asks("new_party_size")


@trace(ERRANDS, OFFLINE)
async def test_a_task_next_to_a_change_of_something_done_begins_at_once(chat: Chat) -> None:
    for words in ("laundry", "3", "2099-03-04"):
        await chat.says(words)
    await chat.says("make it 5 shirts, and the garden")
    assert chat.says_text("stays_done", field="shirts", value="3")
    assert not chat.says_text("more")
    assert chat.asks("size")
    assert chat.world.count("fetch_laundry") == 1


@trace(HARBOUR, IN_MEMORY)
async def test_a_task_is_given_up_by_a_no_next_to_a_wish(chat: Chat) -> None:
    chat.world.fails["reserve"] = [ValueError("No berth is free")]
    await at_the_summary(chat)
    await chat.says("yes", Confirm())
    assert chat.asked == ("retry", "berth")
    await chat.says("no, the crane", Deny(), Go("crane"))
    assert chat.says_text("left", task="the berth")
    assert not chat.says_text("more")
    assert chat.asks("lift_day")


@trace(replace(HARBOUR, config={"max_pathway_depth": 1}), IN_MEMORY)
async def test_a_question_that_has_to_wait_stands_before_the_question_of_a_no(chat: Chat) -> None:
    await with_a_berth(chat)
    await chat.says("crane", Go("crane"))
    await chat.says("2099-12-25", Fill("lift_day", "2099-12-25"))
    await chat.says(
        "the boat is Heron, and how is the weather?", Correct("boat", "Heron"), Go("weather")
    )
    assert chat.says_text("too_deep")
    assert chat.says_text("stays_done", field="boat")
    assert chat.reply.index(chat.texts.too_deep) < chat.reply.index(chat.texts.more)


@trace(HARBOUR, IN_MEMORY)
async def test_a_question_stays_open_while_something_else_is_answered(chat: Chat) -> None:
    chat.world.fails["reserve"] = [ValueError("No berth is free")]
    await at_the_summary(chat)
    await chat.says("yes", Confirm())
    assert chat.asked == ("retry", "berth")
    for words, *means in (("how is the weather?", Go("weather")), ("hm",)):
        await chat.says(words, *means)
        assert chat.asked == ("retry", "berth")
        assert chat.reply.endswith(chat.texts.retry)
    assert chat.world.tried["reserve"] == 1
    await chat.says("yes", Confirm())
    assert chat.world.count("reserve") == 1


@trace(HARBOUR, OFFLINE)
async def test_a_choice_stays_open_while_something_else_is_answered(chat: Chat) -> None:
    await chat.says("the crane or the laundry")
    await chat.says("how is the weather?")
    assert chat.reply.startswith(SUNNY)
    assert chat.asked == ("clarify", "")
    assert all(option in chat.reply for option in ("1. the crane", "2. the laundry"))
    await chat.says("the second")
    assert chat.asks("tokens")


@trace(HARBOUR, OFFLINE)
async def test_a_task_that_was_left_before_its_effect_is_confirmed_again(chat: Chat) -> None:
    chat.world.fails["reserve"] = [ValueError("No berth is free")]
    await at_the_summary(chat)
    await chat.says("yes")
    await chat.says("the car park")
    await chat.says("3")
    await chat.says("a berth please")
    assert (chat.asked, chat.world.tried["reserve"]) == (("summary", "berth"), 1)


@trace(HARBOUR, OFFLINE)
async def test_a_value_next_to_going_back_answers_no_other_question(chat: Chat) -> None:
    await chat.says("the crane")
    await chat.says("2099-12-25")
    await chat.says("go back, it's the 26th")
    assert chat.says_text("back", field="lift day")
    assert (chat.asked, chat.value("weight")) == (("field", "lift_day"), None)
    assert chat.says_text("unread")


@trace(HARBOUR, OFFLINE)
async def test_a_text_before_a_wish_has_no_comma(chat: Chat) -> None:
    await chat.says("a berth please")
    await chat.says("Seagull, and the crane on 2099-12-26")
    assert (chat.value("boat"), chat.value("lift_day")) == ("Seagull", "2099-12-26")
    assert chat.asks("weight")


@trace(HARBOUR, SCRIPTED)
async def test_all_tasks_are_given_up_for_another_one(chat: Chat) -> None:
    await at_the_arrival(chat)
    await chat.says("the crane", Go("crane"))
    await chat.says(
        "forget all of it, the car park for 2 cars",
        Cancel(everything=True),
        Go("parking"),
        Fill("cars", "2"),
    )
    assert chat.says_text("cancelled_all")
    assert (chat.value("cars"), chat.value("boat"), chat.stack) == (2, None, [])


@trace(RESTAURANT, OFFLINE)
async def test_of_something_done_all_changes_are_told_and_the_choice_is_last(chat: Chat) -> None:
    for words in ("4 people", "2099-03-04", "19:00", "Smith"):
        await chat.says(words)
    await chat.says("make it 5 people and 8 pm")
    assert chat.says_text("stays_done", field="time")
    assert chat.reply.count("1. ") == 1
    assert chat.asked == ("change", "party_size")
    await chat.says("change it, and what's on the menu?")
    assert chat.asks("new_party_size")
    await chat.says("6")
    assert chat.reply.endswith(MENU)


@trace(BANK, OFFLINE)
async def test_an_answer_next_to_a_wish_that_has_to_wait_comes_first(chat: Chat) -> None:
    await chat.says("pay a bill")
    await chat.says("AB-123")
    await chat.says("my limit? 123456")
    assert chat.reply.index("AB-123 is paid") < chat.reply.index(LIMIT)


@trace(KEYLESS, SCRIPTED)
async def test_a_question_next_to_starting_over_is_answered_and_the_yes_waited_for(
    chat: Chat,
) -> None:
    await in_doubt(chat)
    await chat.says("start over, and how is the weather?", Restart())
    assert chat.says_text("ask_restart_unsure")
    assert chat.reply.endswith(SUNNY)
    assert chat.asked == ("start_over", "berth")
    await chat.says("yes")
    assert chat.asks("boat")


@trace(KEYLESS, SCRIPTED)
async def test_a_task_next_to_starting_over_waits_for_the_answer(chat: Chat) -> None:
    await in_doubt(chat)
    await chat.says("start over, and the laundry for 3 tokens", Restart(), Fill("tokens", "3"))
    assert chat.asked == ("start_over", "berth")
    assert chat.value("tokens") is None
    await chat.says("no")
    assert not chat.says_text("more")
    assert (chat.value("tokens"), chat.value("boat")) == (3, "Seagull")


@trace(ABEND, OFFLINE)
async def test_a_choice_before_two_joining_words_is_read_in_german(chat: Chat) -> None:
    await chat.says("ein Taxi oder ein Tisch")
    await chat.says("das zweite, und dann das Taxi")
    assert chat.asks("guests")
    assert len(chat.talk["queued"]) == 1
