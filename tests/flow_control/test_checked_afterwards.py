"""A reply that is judged after it was sent: only the next turn waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from langgraph.types import interrupt
from pydantic import BaseModel

from journeygraph import (
    CheckEntry,
    JourneyConfig,
    Locale,
    MergeStrategy,
    Pathway,
    Personality,
    Texts,
    Validation,
)
from journeygraph.graphs.storage import leases
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from tests.flow_control.desk import NO_PROMISE, POLITE, VALID, desk, says, told, verdict
from tests.flow_control.late_child import LEASE, RUDE, Held, LateDesk, live, talkative
from tests.support import api as helpers
from tests.support import forked
from tests.support.api import one, serving, wired
from tests.support.post_office import found

serve = helpers.serve
Talk = Callable[..., Any]
WRONG = Texts().wrong_before
AFTER = Validation(mode="after_send")


class Certain(BaseModel):
    """A certain answer."""

    answer: Literal["yes"]


async def spoken(talk: Any, message: str = "Hi") -> tuple[str, str]:
    """The tokens of a streamed turn, and its reply."""
    events = [event async for event in talk.journey.stream_message(message)]
    heard = "".join(event.data["text"] for event in events if event.type == "token")
    return heard, events[-1].data["response"].message


async def rows(talk: Any) -> list[CheckEntry]:
    found: list[CheckEntry] = await talk.journey.checks()
    return found


async def a_while() -> None:
    """Run all tasks that are ready."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_a_turn_is_done_before_its_reply_is_judged_and_the_next_one_waits_for_that(
    talk: Talk, memory_url: str
) -> None:
    order: list[str] = []

    def clerk(given: Any) -> str:
        order.append(given["message"])
        return f"re {given['message']}"

    def judges(call: Any) -> Any:
        order.append("judged")
        return RUDE if len(order) == 2 else VALID

    with Held(judges, judges) as model:
        chat = await talk(LateDesk, {"clerk": clerk}, memory_url, options={"model": model})
        assert await spoken(chat, "one") == ("re one", "re one")
        [pending] = await rows(chat)
        assert (pending.outcome, pending.review, pending.bypassed) == ("pending", False, False)
        assert order == ["one"]

        second = asyncio.create_task(spoken(chat, "two"))
        await model.begun.wait()
        await a_while()
        assert order == ["one"]
        model.let.set()
        corrected = f"{WRONG}\n\nre two"
        assert await second == (corrected, corrected)
        await chat.restored(model=model)
        assert order == ["one", "judged", "two", "judged"]

        first, last = await rows(chat)
        assert (first.outcome, first.review, first.violations) == ("sent", True, ["it is rude"])
        assert (last.outcome, last.review, last.is_valid) == ("sent", False, True)
        assert told(model, 1)["reply"] == "re two"


async def test_a_correction_is_said_once(talk: Talk, memory_url: str) -> None:
    with ScriptedModel(RUDE, VALID, VALID) as model:
        chat = await talk(LateDesk, says("a", "b", "c"), memory_url, options={"model": model})
        assert [await chat.says("Hi") for _ in range(3)] == ["a", f"{WRONG}\n\nb", "c"]
        assert [entry.content for entry in await chat.journey.transcript()][1::2] == [
            "a",
            f"{WRONG}\n\nb",
            "c",
        ]
        await chat.restored(model=model)


@pytest.mark.parametrize("confidence", [0.1, 0.8, 0.81])
async def test_only_what_would_not_have_been_sent_is_corrected(
    talk: Talk, memory_url: str, confidence: float
) -> None:
    card = "4111 1111 1111 1111"
    with ScriptedModel(verdict(confidence, "it is rude"), verdict(0.99, valid=True)) as model:
        agents = says(f"card {card}", f"again {card}", "fine")
        chat = await talk(LateDesk, agents, memory_url, options={"model": model})
        await chat.says("Hi")
        is_wrong = confidence > 0.8
        first = f"{WRONG}\n\n" if is_wrong else ""
        assert await chat.says("Hi") == f"{first}again [card number]"
        model.will_answer(VALID)
        assert await chat.says("Hi") == "fine"  # masked, and right
        await chat.restored(model=model)
        assert [row.outcome for row in await rows(chat)] == ["masked", "masked", "sent"]


async def test_what_code_finds_is_corrected_without_a_model(talk: Talk, memory_url: str) -> None:
    kind = desk(NO_PROMISE, __validation__=AFTER)
    chat = await talk(kind, says("guaranteed", "b", "c"), memory_url, options={"model": False})
    assert [await chat.says("Hi") for _ in range(3)] == ["guaranteed", f"{WRONG}\n\nb", "c"]
    assert [row.outcome for row in await rows(chat)] == ["sent"] * 3


async def test_close_waits_for_it(talk: Talk, memory_url: str) -> None:
    with Held(RUDE) as model:
        chat = await talk(LateDesk, says("a"), memory_url, options={"model": model})
        await chat.says("Hi")
        closing = asyncio.create_task(chat.journey.close())
        await model.begun.wait()
        await a_while()
        assert not closing.done()
        model.let.set()
        await closing
        await chat.restored(model=model)
        assert [row.violations for row in await rows(chat)] == [["it is rude"]]


async def test_what_a_cancelled_close_leaves_is_judged_by_the_next_turn(
    talk: Talk, memory_url: str
) -> None:
    held = Held(RUDE)
    chat = await talk(LateDesk, says("a", "b"), memory_url, options={"model": held})
    await chat.says("Hi")
    closing = asyncio.create_task(chat.journey.close())
    await held.begun.wait()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    with ScriptedModel(RUDE, VALID) as model:
        await chat.restored(model=model)
        assert [row.outcome for row in await rows(chat)] == ["pending"]
        assert await chat.says("Hi") == f"{WRONG}\n\nb"
        await chat.restored(model=model)


@pytest.mark.parametrize("fault", [Fault.status(400), Fault.hang()], ids=["fails", "too slow"])
async def test_a_check_that_cannot_be_made_is_bypassed_and_the_conversation_goes_on(
    talk: Talk, memory_url: str, fault: Fault
) -> None:
    kind = desk(POLITE, __validation__=Validation(mode="after_send", timeout_seconds=0.2))
    with ScriptedModel(fault, VALID) as model:
        chat = await talk(kind, says("a", "b"), memory_url, options={"model": model})
        assert [await chat.says("Hi"), await chat.says("Hi")] == ["a", "b"]
        await chat.restored(model=model)
        first, second = await rows(chat)
        assert (first.outcome, first.bypassed, first.review) == ("sent", True, True)
        assert (second.bypassed, second.review) == (False, False)


async def test_messages_at_once_are_each_judged_once(talk: Talk, store_url: str) -> None:
    with ScriptedModel(*[VALID] * 6) as model:
        agents = {"clerk": lambda given: given["message"]}
        chat = await talk(LateDesk, agents, store_url, options={"model": model})
        await asyncio.gather(*(chat.journey.process_message(f"m{n}") for n in range(6)))
        await chat.restored(model=model)
        judged = [told(model, number)["reply"] for number in range(6)]
        assert judged == [f"m{n}" for n in range(6)]
        assert {row.outcome for row in await rows(chat)} == {"sent"}


@pytest.mark.slow
async def test_another_process_waits_until_it_is_judged(talk: Talk, postgres_url: str) -> None:
    begun, let = forked.event(), forked.event()
    with ScriptedModel(VALID) as model:
        chat = await talk(LateDesk, says("second"), postgres_url, options={"model": model})
        # A short lease runs out if the machine is too busy to renew it.
        other = forked.process(live, postgres_url, begun, let, leases.LEASE)
        other.start()
        await asyncio.to_thread(begun.wait, 110)
        assert found(postgres_url, "SELECT lease_until IS NOT NULL FROM sessions") == [(True,)]
        waiting = asyncio.create_task(chat.says("Hi"))
        await a_while()
        assert not waiting.done()
        assert model.calls == []
        let.set()
        assert await waiting == f"{WRONG}\n\nsecond"
        await asyncio.to_thread(other.join)
        await chat.restored(model=model)
        assert [row.violations for row in await rows(chat)] == [["it is rude"], []]
        assert told(model, 0)["reply"] == "second"


async def test_what_a_killed_process_left_is_judged_first_by_the_next(
    talk: Talk, kept_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE", LEASE)
    begun, let = forked.event(), forked.event()
    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(LateDesk, says("second"), kept_url, options={"model": model})
        other = forked.process(live, kept_url, begun, let, LEASE)
        other.start()
        await asyncio.to_thread(begun.wait, 110)
        other.kill()
        await asyncio.to_thread(other.join)
        assert [row.outcome for row in await rows(chat)] == ["pending"]

        assert await chat.says("Hi") == f"{WRONG}\n\nsecond"
        await chat.restored(model=model)
        assert [told(model, number)["reply"] for number in (0, 1)] == ["first", "second"]
        assert [row.violations for row in await rows(chat)] == [["it is rude"], []]


async def test_a_rollback_waits_for_it_too_and_corrects_nothing(talk: Talk, store_url: str) -> None:
    with ScriptedModel(VALID, RUDE, VALID) as model:
        chat = await talk(LateDesk, says("a", "b", "c"), store_url, options={"model": model})
        await chat.says("Hi")
        await chat.says("Hi")
        await chat.journey.rollback(1)
        assert [row.outcome for row in await rows(chat)] == ["sent", "sent"]
        assert await chat.says("Hi") == "c"
        await chat.restored(model=model)


async def test_a_rollback_needs_no_agents_for_that(talk: Talk, memory_url: str) -> None:
    held = Held(RUDE)
    chat = await talk(LateDesk, says("a"), memory_url, options={"model": held})
    await chat.says("Hi")
    closing = asyncio.create_task(chat.journey.close())
    await held.begun.wait()
    closing.cancel()
    await asyncio.wait([closing])
    with ScriptedModel(RUDE) as model:
        config = JourneyConfig(persistence=memory_url)
        async with LateDesk("s-1", config, model=model) as bare:
            await bare.rollback(0)
            assert [row.outcome for row in await bare.checks()] == ["sent"]


async def test_a_session_that_is_deleted_meanwhile_leaves_nothing(
    talk: Talk, store_url: str
) -> None:
    with Held(RUDE) as model:
        chat = await talk(LateDesk, says("a"), store_url, options={"model": model})
        await chat.says("Hi")
        await model.begun.wait()
        await chat.journey.delete()
        model.let.set()
        await chat.journey.close()
    if not store_url.startswith("memory"):
        assert found(store_url, "SELECT count(*) FROM validation_audit") == [(0,)]


async def test_what_it_cost_counts_with_its_turn(talk: Talk, store_url: str) -> None:
    with ScriptedModel(VALID) as model:
        chat = await talk(LateDesk, says("a"), store_url, options={"model": model})
        await chat.says("Hi")
        assert chat.last.metadata["usage"]["model_calls"] == 0
        await chat.restored(model=model)
        usage = (await chat.journey.versions())[1].usage
        assert usage["model_calls"] == 1
        assert usage["input_tokens"] > 0


async def test_what_is_found_is_sealed_where_a_journey_is_sensitive(
    talk: Talk, kept_url: str
) -> None:
    kind = desk(POLITE, __validation__=AFTER, __sensitive__=True)
    with ScriptedModel(RUDE) as model:
        key = bytes(range(32))
        chat = await talk(kind, says("a"), kept_url, options={"model": model}, encryption_key=key)
        await chat.says("Hi")
        await chat.restored(model=model)
        [(stored,)] = found(kept_url, "SELECT violations FROM validation_audit")
        assert "rude" not in stored
        assert [row.violations for row in await rows(chat)] == [["it is rude"]]


async def test_an_apology_says_the_correction_as_well(talk: Talk, memory_url: str) -> None:
    def clerk(given: Any) -> str:
        if given["message"] == "two":
            raise RuntimeError("no desk")
        return f"re {given['message']}"

    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(LateDesk, {"clerk": clerk}, memory_url, options={"model": model})
        await chat.says("one")
        apology = f"{WRONG}\n\n{chat.journey.config.texts.apology}"
        assert await spoken(chat, "two") == (apology, apology)
        assert await chat.says("three") == "re three"
        await chat.restored(model=model)


async def test_a_fixed_answer_leaves_the_correction_to_the_next(
    talk: Talk, memory_url: str
) -> None:
    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(LateDesk, says("a", "b"), memory_url, options={"model": model})
        await chat.says("Hi")
        empty = chat.journey.config.texts.empty
        assert await spoken(chat, "  ") == (empty, empty)
        assert await chat.says("Hi") == f"{WRONG}\n\nb"
        await chat.restored(model=model)


async def test_who_asks_by_an_interrupt_says_the_correction_once(
    talk: Talk, memory_url: str
) -> None:
    def clerk(given: Any) -> str:
        return "a" if given["message"] == "Hi" else f"you said {interrupt('sure?')}"

    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(LateDesk, {"clerk": clerk}, memory_url, options={"model": model})
        await chat.says("Hi")
        asked = f"{WRONG}\n\nsure?"
        assert await spoken(chat, "ask") == (asked, asked)
        assert await spoken(chat, "yes") == ("you said yes", "you said yes")
        await chat.restored(model=model)


async def test_what_an_interrupt_asks_is_corrected_where_it_goes_on(
    talk: Talk, memory_url: str
) -> None:
    def clerk(given: Any) -> str:
        return f"you said {interrupt('guaranteed?')}"

    kind = desk(NO_PROMISE, __validation__=AFTER)
    chat = await talk(kind, {"clerk": clerk}, memory_url, options={"model": False})
    assert await chat.says("ask") == "guaranteed?"
    corrected = f"{WRONG}\n\nyou said yes"
    assert await spoken(chat, "yes") == (corrected, corrected)


async def test_an_answer_that_is_not_taken_leaves_the_correction_to_the_next(
    talk: Talk, memory_url: str
) -> None:
    def clerk(given: Any) -> str:
        return f"you said {interrupt('guaranteed?', response_schema=Certain).answer}"

    kind = desk(NO_PROMISE, __validation__=AFTER)
    chat = await talk(kind, {"clerk": clerk}, memory_url, options={"model": False})
    await chat.says("ask")
    assert await spoken(chat, "perhaps") == ("guaranteed?", "guaranteed?")
    reply = await chat.journey.resume({"answer": "yes"})
    assert reply.message == f"{WRONG}\n\nyou said yes"


async def test_what_was_heard_before_an_interrupt_is_not_heard_again(
    talk: Talk, memory_url: str
) -> None:
    class FirstPath(Pathway):
        __agents__ = ["first"]
        __accumulate__ = {"done": MergeStrategy.REPLACE}
        __complete_when__ = ["done"]
        __next__ = "second"

    class SecondPath(Pathway):
        __agents__ = ["second"]
        __runs_on_arrival__ = True

    kind = desk(
        NO_PROMISE, DeskPath=None, FirstPath=FirstPath, SecondPath=SecondPath, __validation__=AFTER
    )
    replies = iter([{"response": "guaranteed"}, {"response": "Well.", "done": True}])
    agents = {"first": lambda given: next(replies), "second": lambda given: interrupt("sure?")}
    chat = await talk(kind, agents, memory_url, options={"model": False})
    assert await chat.says("one") == "guaranteed"
    asked = f"{WRONG}\n\nWell.\n\nsure?"
    assert await spoken(chat, "two") == (asked, asked)


async def test_replies_that_are_held_to_be_worded_anew_are_corrected_as_well(
    talk: Talk, memory_url: str
) -> None:
    kind = desk(POLITE, __validation__=AFTER, __personality__=Personality(reword=True))
    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(kind, says("a", "b"), memory_url, options={"model": model})
        await chat.says("Hi")
        assert await spoken(chat) == (f"{WRONG}\n\nb",) * 2
        await chat.restored(model=model)


async def test_the_closing_reply_comes_with_the_correction(talk: Talk, memory_url: str) -> None:
    ends = type("EndPath", (Pathway,), {"__agents__": ["clerk"]})
    kind = desk(POLITE, DeskPath=ends, __validation__=AFTER)
    with ScriptedModel(RUDE) as model:
        chat = await talk(kind, says("Bye."), memory_url, options={"model": model})
        await chat.says("Hi")
        closing = f"{WRONG}\n\n{chat.journey.config.texts.closing}"
        assert await spoken(chat) == (closing, closing)


async def test_a_user_abroad_is_corrected_in_their_language(talk: Talk, memory_url: str) -> None:
    with ScriptedModel(RUDE, VALID) as model:
        chat = await talk(
            LateDesk,
            says("a", "b"),
            memory_url,
            options={"model": model},
            locale=Locale(language="de"),
        )
        await chat.says("Hi")
        assert (await chat.says("Hi")).startswith("Meine letzte Antwort war falsch.")
        await chat.restored(model=model)


async def test_many_processes_judge_each_reply_once(
    talk: Talk, postgres_url: str, tmp_path: Path
) -> None:
    with ScriptedModel(always=VALID) as model:
        agents = {"clerk": lambda given: given["message"]}
        chat = await talk(LateDesk, agents, postgres_url, options={"model": model})
        log = tmp_path / "calls"
        other = forked.process(talkative, postgres_url, 12, str(log))
        other.start()
        for number in range(12):
            await chat.says(f"here {number}")
        await asyncio.to_thread(other.join)
        await chat.restored(model=model)
        everywhere = log.read_text().splitlines()
        everywhere += [told(model, number)["reply"] for number in range(len(model.calls))]
        assert len(everywhere) == len(set(everywhere)) == 24
        assert [row.outcome for row in await rows(chat)] == ["sent"] * 24


async def test_a_server_that_stops_judges_what_it_has_sent(memory_url: str) -> None:
    with Held(RUDE) as model:
        async with AsyncExitStack() as stack:
            app_state = wired(one(LateDesk, **says("a")), url=memory_url, model=model)
            api = await stack.enter_async_context(serving(app_state))
            await api.says(await api.begin("desk"), "Hi")
            await model.begun.wait()
            config = JourneyConfig(persistence=memory_url)
            handle = LateDesk("s-1", config, model=model)
            assert [row.outcome for row in await handle.checks()] == ["pending"]
            asyncio.get_running_loop().call_later(0.3, model.let.set)
        assert [row.outcome for row in await handle.checks()] == ["sent"]
        await handle.close()


async def test_over_http_no_reply_waits_for_it(serve: Callable[..., Any], memory_url: str) -> None:
    with Held(RUDE, RUDE, VALID, VALID) as model:
        agents = {"clerk": lambda given: given["message"]}
        api = await serve(one(LateDesk, **agents), model=model, url=memory_url)
        plain, streamed = await api.begin("desk"), await api.begin("desk", "s-2")
        assert (await api.says(plain, "a"))["message"] == "a"
        heard = await api.hears(streamed, "a")
        assert [name for name, _ in heard] == ["pathway", "token", "done"]
        await model.begun.wait()
        audit = (await api.client.get(f"{plain}/audit")).json()
        assert [check["outcome"] for turn in audit["turns"] for check in turn["checks"]] == [
            "pending"
        ]

        model.let.set()
        assert (await api.says(plain, "b"))["message"] == f"{WRONG}\n\nb"
        heard = await api.hears(streamed, "b")
        words = "".join(data["text"] for name, data in heard if name == "token")
        assert words == heard[-1][1]["message"] == f"{WRONG}\n\nb"
        for session in (plain, streamed):  # which waits for what is still judged
            body = {"version": 0}
            assert (await api.client.post(f"{session}/rollback", json=body)).status_code == 200
