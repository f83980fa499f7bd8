"""Distribution of work by a supervisor, and at a blackboard."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from journeygraph import Agent, Pipeline, Skill
from tests.pipelines.marked import Controller, Marked, failed, fails, mark, marks

PARTS = [
    {"task": "count the invoices"},
    {"task": "draw a map of the harbour"},
]


def supervisor(plan: Any, *reviews: dict[str, Any]) -> Marked:
    """Plans that, then says the reviews in turn."""
    said = iter([{"tasks": plan}, *reviews, {"response": "composed"}])
    return Marked("boss", lambda payload: next(said))


def worker(name: str, *skills: str) -> Agent:
    return Agent(Marked(name), name=name, skills=[Skill(skill) for skill in skills])


def clerk() -> Agent:
    return worker("clerk", "invoices", "count")


def artist() -> Agent:
    return worker("artist", "draw", "map")


def plan_of(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(part["task"], part["worker"]) for part in result["pipeline"]["plan"]]


async def test_parts_go_to_whoever_can_do_them():
    """A rival ignored its own selection mode."""
    workers = [artist(), clerk()]
    boss = supervisor(PARTS)

    result = await Pipeline.supervisor_worker(boss, workers).run(message="the report")

    assert plan_of(result) == [
        ("count the invoices", "clerk"),
        ("draw a map of the harbour", "artist"),
    ]
    for agent, task in ((workers[0], PARTS[1]), (workers[1], PARTS[0])):
        assert [call["task"] for call in agent.call.calls] == [task["task"]]
        assert agent.call.messages == ["the report"]
    assert result["response"] == "composed"
    assert result["pipeline"]["flags"] == []


async def test_a_part_that_names_its_worker_goes_there_whatever_the_cards_say():
    boss = supervisor([{"task": "count the invoices", "worker": "artist"}])

    result = await Pipeline.supervisor_worker(boss, [artist(), clerk()]).run(message="x")

    assert plan_of(result) == [("count the invoices", "artist")]
    assert marks(result) == {"artist": 1}


async def test_a_worker_whom_nobody_knows_is_flagged_and_the_part_is_done_by_another():
    boss = supervisor([{"task": "count the invoices", "worker": "clark"}])

    result = await Pipeline.supervisor_worker(boss, [artist(), clerk()]).run(message="x")

    assert plan_of(result) == [("count the invoices", "clerk")]
    assert result["pipeline"]["flags"] == ["unknown_worker:clark"]
    assert result["pipeline"]["status"] == "complete"


async def test_round_robin_takes_the_workers_in_turn():
    boss = supervisor([f"part {number}" for number in range(5)])
    workers = [Marked(name) for name in ("a", "b", "c")]

    result = await Pipeline.supervisor_worker(boss, workers, "round-robin").run(message="x")

    assert [name for _, name in plan_of(result)] == ["a", "b", "c", "a", "b"]
    assert [len(each.calls) for each in workers] == [2, 2, 1]


async def test_random_choice_reaches_everybody_in_the_end():
    boss = supervisor([f"part {number}" for number in range(45)])
    workers = [Marked(name) for name in ("a", "b", "c")]

    await Pipeline.supervisor_worker(boss, workers, "random").run(message="x")

    assert all(each.calls for each in workers)
    assert sum(len(each.calls) for each in workers) == 45


@pytest.mark.parametrize(
    "plan",
    [None, [], "count", [{}], [{"task": ""}], [3, None], {"task": "count"}],
    ids=repr,
)
async def test_without_a_plan_that_can_be_read_the_message_is_the_only_part(plan):
    boss = supervisor(plan)

    result = await Pipeline.supervisor_worker(boss, [artist(), clerk()]).run(message="my invoices")

    assert plan_of(result) == [("my invoices", "clerk")]
    assert result["pipeline"]["status"] == "complete"


async def test_the_review_sends_a_part_back_once_and_to_somebody_else():
    again = {"reassign": [{"part": 1}], "response": "not yet"}
    boss = supervisor(PARTS, again, {"reassign": [1, 2], "response": "composed"})
    workers = [artist(), clerk()]

    result = await Pipeline.supervisor_worker(boss, workers).run(message="x")

    assert boss.phases == ["plan", "review", "compose"]
    assert [len(each.call.calls) for each in workers] == [2, 1]
    first, second = result["pipeline"]["plan"]
    assert (first["worker"], first["reassigned_from"]) == ("artist", "clerk")
    assert (second["worker"], second.get("reassigned_from")) == ("artist", None)
    handed_in = [(entry["part"], entry["agent"]) for entry in boss.calls[2]["results"]]
    assert handed_in == [(1, "artist"), (2, "artist")]
    assert result["response"] == "composed"


async def test_a_review_that_sends_nothing_back_is_the_answer():
    boss = supervisor(PARTS, {"response": "all is well", "reassign": []})

    result = await Pipeline.supervisor_worker(boss, [artist(), clerk()]).run(message="x")

    assert boss.phases == ["plan", "review"]
    assert result["response"] == "all is well"
    assert "tasks" not in result
    assert "reassign" not in result


@pytest.mark.parametrize(
    "wish",
    [[0], [3], [-1], ["1"], [None], [True], "all", {"part": 1}, [{"part": "one"}]],
    ids=repr,
)
async def test_a_part_that_there_is_not_cannot_be_sent_back(wish):
    boss = supervisor(PARTS, {"reassign": wish, "response": "reviewed"})

    result = await Pipeline.supervisor_worker(boss, [artist(), clerk()]).run(message="x")

    assert boss.phases == ["plan", "review"]
    assert result["response"] == "reviewed"


async def test_what_a_worker_failed_at_is_done_by_another_once():
    ill = Agent(Marked("ill", fails(OSError("down"))), name="ill", skills=[Skill("invoices")])
    boss = supervisor(PARTS[:1], {"response": "reviewed"})
    workers = [ill, artist()]

    result = await Pipeline.supervisor_worker(boss, workers).run(message="x")

    assert boss.phases == ["plan", "review", "compose"]
    assert "error" in boss.calls[1]["results"][0]
    assert failed(result) == [("ill", "OSError")]
    assert result["pipeline"]["plan"][0]["reassigned_from"] == "ill"
    assert marks(result) == {"artist": 1}
    assert result["pipeline"]["status"] == "partial"


async def test_workers_work_at_the_same_time():
    names = [f"worker{number}" for number in range(8)]
    boss = supervisor([{"task": "wait", "worker": name} for name in names])
    both = {"working": 0, "highest": 0}

    async def wait(payload: dict[str, Any]) -> str:
        both["working"] += 1
        both["highest"] = max(both["highest"], both["working"])
        await asyncio.sleep(0.01)
        both["working"] -= 1
        return "done"

    workers = [Agent(wait, name=name) for name in names]
    await Pipeline.supervisor_worker(boss, workers).run(message="x")

    assert both["highest"] > 1


# Blackboards


def controller(*looks: dict[str, Any]) -> Marked:
    """Says that at each look in turn, and the last of it for ever."""
    said = list(looks)
    return Marked("boss", lambda payload: said.pop(0) if len(said) > 1 else said[0])


async def test_the_board_is_done_when_the_controller_says_so():
    last = Marked("last")
    boss = Controller("boss")

    result = await Pipeline.blackboard([Marked("first"), last], boss).run(message="x")

    board = result["pipeline"]
    assert (board["stopped"], board["rounds"], board["status"]) == ("done", 2, "complete")
    assert [entry["agent"] for entry in last.calls[0]["board"]] == ["first"]
    assert last.calls[0]["board"][0]["outputs"]["first"] == mark("first")
    assert {"first", "last", "boss"} <= result.keys()
    assert "done" not in result


async def test_the_board_stops_at_its_limit_and_says_so():
    specialists = [Marked("first"), Marked("last")]
    boss = controller({"next": "last"})

    result = await Pipeline.blackboard(specialists, boss, max_iterations=4).run(message="x")

    assert (result["pipeline"]["stopped"], result["pipeline"]["rounds"]) == ("max_iterations", 4)
    assert [len(each.calls) for each in specialists] == [0, 4]
    assert [call["rounds_left"] for call in boss.calls] == [4, 3, 2, 1, 0]
    assert result["last"] == mark("last")


async def test_the_board_stops_when_nobody_is_left_to_ask():
    specialists = [Marked("first"), Marked("last")]

    result = await Pipeline.blackboard(specialists, controller({})).run(message="x")

    assert (result["pipeline"]["stopped"], result["pipeline"]["rounds"]) == ("no_specialist", 2)
    assert [len(each.calls) for each in specialists] == [1, 1]


async def test_a_need_is_served_by_whoever_can():
    boss = controller({"need": "draw a map"}, {"need": "count the invoices"}, {"done": True})
    specialists = [clerk(), artist()]

    result = await Pipeline.blackboard(specialists, boss).run(message="x")

    order = [e["agent"] for e in result["pipeline"]["results"] if e["agent"] != "boss"]
    assert order == ["artist", "clerk"]
    assert specialists[1].call.calls[0]["need"] == "draw a map"


async def test_a_specialist_whom_nobody_knows_is_flagged_and_another_is_asked():
    boss = controller({"next": "artst", "need": "draw a map"}, {"done": True})

    result = await Pipeline.blackboard([clerk(), artist()], boss).run(message="x")

    assert marks(result)["artist"] == 1
    assert "unknown_specialist:artst" in result["pipeline"]["flags"]


async def test_specialists_are_asked_in_turn_as_they_are_declared_and_on_from_run_to_run():
    board = Pipeline.blackboard(
        [Marked(name) for name in "abcd"], lambda given: {}, "round-robin", max_iterations=3
    )

    runs = [await board.run(message="x") for _ in range(3)]

    asked = ["".join(e["agent"] for e in r["pipeline"]["results"] if "round" in e) for r in runs]
    assert asked == ["abc", "dab", "cda"]


async def test_the_controller_has_the_last_word_and_the_board_the_rest():
    boss = controller({"next": "a"}, {"done": True, "response": "in short", "extra": 1})

    result = await Pipeline.blackboard([Marked("a")], boss).run(message="x")

    assert (result["response"], result["extra"], result["a"]) == ("in short", 1, mark("a"))


async def test_a_controller_that_is_done_at_once_asks_nobody():
    agent = Marked("a")

    result = await Pipeline.blackboard([agent], controller({"done": True, "response": "no"})).run()

    assert (agent.calls, result["response"]) == ([], "no")
    assert (result["pipeline"]["stopped"], result["pipeline"]["rounds"]) == ("done", 0)


async def test_a_specialist_that_failed_is_told_to_the_controller():
    ill = Marked("ill", fails(OSError("no ink")))
    boss = Controller("boss")

    result = await Pipeline.blackboard([ill, Marked("b")], boss).run(message="x")

    assert failed(result) == [("ill", "OSError")]
    assert [entry["agent"] for entry in boss.calls[1]["failed"]] == ["ill"]
    assert result["pipeline"]["status"] == "partial"
    assert marks(result)["b"] == 1
