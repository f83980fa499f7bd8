"""Handoff between agents: the agent that answers, and the requests to others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from journeygraph import ConfigurationError, Handoff, Pipeline
from tests.pipelines.marked import Marked, failed, fails, mark, marks


def agent(name: str, *requests: Any) -> Marked:
    """Says its mark, and makes these requests in turn; then none."""
    left = list(requests)

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        said = {"response": mark(name), name: mark(name)}
        return {**said, "handoff": left.pop(0)} if left else said

    return Marked(name, answer)


def path(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["from"], step["to"]) for step in result["pipeline"]["path"]]


async def test_the_first_answers_where_nobody_hands_over():
    second = agent("second")

    result = await Pipeline.handoff([agent("first"), second]).run(message="hello")

    assert (result["response"], path(result), second.calls) == (mark("first"), [], [])


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(Handoff("third", "it is about money"), id="typed"),
        pytest.param({"to": "third", "reason": "it is about money"}, id="dict"),
    ],
)
async def test_an_agent_hands_over_by_a_request_of_its_own(request_):
    first, second, third = agent("first", request_), agent("second"), agent("third")

    result = await Pipeline.handoff([first, second, third]).run(message="hello")

    assert result["response"] == mark("third")
    assert result["pipeline"]["path"] == [
        {"from": "first", "to": "third", "reason": "it is about money"}
    ]
    told = third.calls[0]["handoff"]
    assert (told["from"], told["to"], told["reason"]) == ("first", "third", "it is about money")
    assert third.messages == ["hello"]
    assert second.calls == []
    assert "handoff" not in result
    assert marks(result) == {"first": 1, "third": 1}


async def test_a_request_may_be_just_a_name():
    first, last = agent("first", "last"), agent("last")

    result = await Pipeline.handoff([first, last]).run(message="hello")

    assert (result["response"], path(result)) == (mark("last"), [("first", "last")])


async def test_the_word_goes_through_all_of_a_chain():
    names = [f"agent{number}" for number in range(12)]
    chain = [agent(name, {"to": after}) for name, after in itertools.pairwise(names)]

    result = await Pipeline.handoff([*chain, agent(names[-1])]).run(message="hello")

    assert [step[1] for step in path(result)] == names[1:]
    assert result["response"] == mark(names[-1])


async def test_two_cannot_pass_the_word_to_each_other_for_ever():
    """Each has it three times at most; then the one who has it keeps it, and a flag says so."""
    ping = agent("ping", *[{"to": "pong"}] * 50)
    pong = agent("pong", *[{"to": "ping"}] * 50)

    result = await Pipeline.handoff([ping, pong]).run(message="hello")

    assert (len(ping.calls), len(pong.calls)) == (3, 3)
    assert path(result) == [("ping", "pong"), ("pong", "ping")] * 2 + [("ping", "pong")]
    assert result["pipeline"]["flags"] == ["handoff_refused:limit"]
    assert result["response"] == mark("pong")
    assert result["pipeline"]["status"] == "complete"


@pytest.mark.parametrize(
    ("to", "flag"),
    [
        ("nobody", "handoff_refused:unknown:nobody"),
        ("Second", "handoff_refused:unknown:Second"),
        ("first", "handoff_refused:itself"),
    ],
    ids=["unknown", "other case", "itself"],
)
async def test_a_request_that_leads_nowhere_is_refused_and_flagged(to, flag):
    first = agent("first", {"to": to})

    result = await Pipeline.handoff([first, agent("second")]).run(message="hello")

    assert (result["response"], path(result)) == (mark("first"), [])
    assert result["pipeline"]["flags"] == [flag]


@pytest.mark.parametrize(
    "request_",
    [3, ["second"], {"reason": "no name"}, {"to": 3}, {"to": "second", "history": -1}],
    ids=repr,
)
async def test_a_request_that_is_none_is_flagged_and_the_answer_stands(request_):
    first = agent("first", request_)

    result = await Pipeline.handoff([first, agent("second")]).run(message="hello")

    assert (result["response"], path(result)) == (mark("first"), [])
    assert result["pipeline"]["flags"] == ["handoff_refused:unreadable"]


@pytest.mark.parametrize(("shown", "contents"), [(None, "abc"), (2, "bc"), (0, ""), (99, "abc")])
async def test_who_takes_over_is_shown_as_much_of_the_talk_as_the_request_says(shown, contents):
    first, last = agent("first", Handoff("last", "short", history=shown)), agent("last")
    talk = [{"role": "user", "content": content} for content in "abc"]

    await Pipeline.handoff([first, last]).run(message="hello", history=talk)

    assert [entry["content"] for entry in first.calls[0]["history"]] == ["a", "b", "c"]
    assert "".join(entry["content"] for entry in last.calls[0]["history"]) == contents


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param(lambda outputs: True, ["b", "c"], id="true: the next in order"),
        pytest.param(lambda outputs: False, [], id="false"),
        pytest.param(lambda outputs: None, [], id="none"),
        pytest.param(lambda outputs: "c" if "a" in outputs else None, ["c"], id="a name"),
        pytest.param(lambda outputs: Handoff("c") if "a" in outputs else None, ["c"], id="typed"),
    ],
)
async def test_a_condition_decides_who_is_next(condition, expected):
    agents = [agent(name) for name in "abc"]

    result = await Pipeline.handoff(agents, condition).run(message="hello")

    assert [to for _, to in path(result)] == expected
    assert result["response"] == mark(expected[-1] if expected else "a")


async def test_a_condition_may_be_async():
    async def condition(outputs: dict[str, Any]) -> str | None:
        return "c" if "a" in outputs else None

    result = await Pipeline.handoff([agent(name) for name in "abc"], condition).run(message="x")

    assert (path(result), result["response"]) == ([("a", "c")], mark("c"))


async def test_with_a_condition_the_agents_own_requests_do_not_count():
    first = agent("first", {"to": "last"})

    result = await Pipeline.handoff([first, agent("last")], lambda outputs: False).run(message="x")

    assert (path(result), result["response"]) == ([], mark("first"))


@pytest.mark.parametrize(
    ("error", "kind"), [(KeyError("mood"), "KeyError"), (SystemExit(1), "ExitedError")]
)
async def test_a_condition_that_raises_hands_over_to_nobody_and_is_flagged(error, kind):
    def condition(outputs: dict[str, Any]) -> bool:
        raise error

    result = await Pipeline.handoff([agent("a"), agent("b")], condition).run(message="hello")

    assert result["response"] == mark("a")
    assert result["pipeline"]["flags"] == [f"handoff_condition_raised:{kind}"]


async def test_what_a_condition_does_to_the_outputs_changes_nothing():
    def condition(outputs: dict[str, Any]) -> bool:
        outputs.clear()
        return False

    result = await Pipeline.handoff([agent("a")], condition).run(message="hello")

    assert result["a"] == mark("a")


async def test_the_failure_of_who_has_the_word_is_that_of_the_whole():
    ill = Marked("ill", fails(OSError("hoarse")))

    result = await Pipeline.handoff([agent("first", "ill"), ill]).run(message="hello")

    assert result["pipeline"]["status"] == "failed"
    assert "hoarse" in result["error"]
    assert failed(result) == [("ill", "OSError")]
    assert path(result) == [("first", "ill")]


@pytest.mark.parametrize("condition", [True, "b", {"to": "b"}, 3], ids=repr)
def test_a_condition_that_cannot_be_asked_is_refused(condition):
    with pytest.raises(ConfigurationError, match=r"handoff_condition is .* must be a function"):
        Pipeline.handoff([Marked("a"), Marked("b")], condition)


@pytest.mark.parametrize("history", [-1, 1.5, True, "2"], ids=repr)
def test_a_handoff_of_less_than_no_messages_is_refused(history):
    with pytest.raises(ConfigurationError, match=r"history is .* whole number"):
        Handoff("b", history=history)
