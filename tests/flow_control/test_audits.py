"""A conversation from its rows: on the command line, over HTTP, and the list of what to review."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.graphs.records.listing import cursor_behind
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from tests.flow_control.desk import (
    NO_PROMISE,
    POLITE,
    SAFE,
    VALID,
    desk,
    kinds,
    rewritten,
    says,
    verdict,
)
from tests.support import api as the_api
from tests.support.api import one
from tests.support.command import run

serve = the_api.serve
CARD = "4111 1111 1111 1111"
SAID = ["Hi", "Is it covered? help", "And now?"]
REPLIES = ["Rude!", "It is guaranteed.", f"Card {CARD}."]


def _helped() -> dict[str, Any]:
    body = {"__agents__": ["clerk"], "__return_behavior__": ReturnToPrevious()}
    asks = IntentTrigger(patterns=["help"], use_llm_fallback=False)
    moves = [Transition(asks, to_pathway="help")]
    return {"HelpPath": type("HelpPath", (Pathway,), body), "__transitions__": moves}


KIND: type[Journey] = desk(POLITE, NO_PROMISE, **_helped())


def answers() -> list[Any]:
    """A model that is not sure, mends the second reply, and fails at the third."""
    return [verdict(0.5, "it is rude"), rewritten("Perhaps."), VALID, Fault.status(400)]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journeys.db'}"


async def talked(url: str, session_id: str = "s-1", kind: type[Journey] = KIND, **o: Any) -> Any:
    """Have a conversation of three turns; return its responses."""
    with ScriptedModel(*answers()) as model:
        config = JourneyConfig(persistence=url, **o)
        async with kind(session_id, config, agents=says(*REPLIES), model=model) as journey:
            await journey.start()
            replies = [await journey.process_message(message) for message in SAID]
            assert kinds(model) == ["validation", "rewriting", "validation", "validation"]
            return replies


async def test_with_the_transcript_the_rows_rebuild_the_conversation(url: str) -> None:
    replies = await talked(url)
    async with KIND("s-1", JourneyConfig(persistence=url), model=False) as journey:
        turns = (await journey.versions())[1:]
        events, checks = await journey.audit(), await journey.checks()

    assert [(turn.message, turn.reply) for turn in turns] == [
        (said, reply.message) for said, reply in zip(SAID, replies, strict=True)
    ]
    for turn, reply in zip(turns, replies, strict=True):
        told = reply.metadata
        mine = [event for event in events if event.turn == turn.version]
        assert turn.flags == told["flags"]
        assert turn.pathway_id == reply.pathway_id
        assert turn.usage == told["usage"]
        assert [e.trigger for e in mine if e.kind == "guideline"] == told["guidelines"]
        moved = [event.to_pathway for event in mine if event.kind == "transition"]
        assert moved == ([reply.transition_to] if reply.transition_to else [])
        [check] = [check for check in checks if check.turn == turn.version]
        [shown] = told["checks"]
        assert {name: getattr(check, name) for name in shown if name != "pathway"} == {
            name: value for name, value in shown.items() if name != "pathway"
        }
    assert [check.outcome for check in checks] == ["sent", "rewritten", "masked"]
    assert turns[1].pathway_id == "help"
    assert [turn.flags for turn in turns] == [[], [], ["validation_bypassed"]]


def test_the_command_shows_a_session_turn_by_turn(url: str) -> None:
    asyncio.run(talked(url))
    shown = run("audit", "s-1", "--store", url)

    words = " ".join(shown.stdout.split())
    for part in (
        f"Session s-1 of {KIND.spec.id}, active",
        "user Hi",
        "sent · invalid · confidence 0.5 · needs review",
        "it is rude",
        "moved desk → help",
        "assistant Perhaps.",
        "rewritten · invalid",
        "no_promise: contains 'guaranteed'",
        "flags validation_bypassed",
        "assistant Card [card number].",
        "guideline polite",
    ):
        assert part in words
    assert "It is guaranteed" not in words
    assert CARD not in words


def test_the_command_writes_json_and_lists_what_to_review(url: str) -> None:
    asyncio.run(talked(url))
    whole = json.loads(run("audit", "s-1", "--store", url, "--json").stdout)
    assert [turn["turn"]["message"] for turn in whole["turns"]] == [None, *SAID]
    assert whole["turns"][3]["checks"][0]["bypassed"] is True

    listed = run("audit", "--review", "--store", url).stdout
    assert [line.split()[:2] for line in listed.splitlines()[1:] if line.startswith("s-1")] == [
        ["s-1", "3"],
        ["s-1", "1"],
    ]
    page = json.loads(run("audit", "--review", "--store", url, "--json").stdout)
    assert [row["turn"] for row in page["reviews"]] == [3, 1]
    assert page["next"] is None
    review = ("audit", "--review", "--store", url, "--json", "--limit", "1")
    first = json.loads(run(*review).stdout)
    second = json.loads(run(*review, "--after", first["next"]).stdout)
    assert [row["turn"] for row in (*first["reviews"], *second["reviews"])] == [3, 1]
    assert second["next"] is None


def test_the_command_shows_a_large_session_page_by_page(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(talked(url))
    whole = json.loads(run("audit", "s-1", "--store", url, "--json").stdout)
    monkeypatch.setattr("journeygraph.graphs.records.listing.MOST_BYTES", 1)  # each turn has more

    shown = run("audit", "s-1", "--store", url).stdout
    turns: list[Any] = []
    after: list[str] = []
    while True:
        page = json.loads(run("audit", "s-1", "--store", url, "--json", *after).stdout)
        turns.append(page["turns"])
        if not page["next"]:
            break
        after = ["--after", page["next"]]

    assert f"Next page: --after {cursor_behind(1)}" in shown
    assert [len(some) for some in turns] == [1] * len(whole["turns"])
    assert [turn for some in turns for turn in some] == whole["turns"]


def test_the_command_says_what_is_missing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sensitive = desk(NO_PROMISE, POLITE, **_helped(), __sensitive__=True)
    asyncio.run(talked(url, "s-2", sensitive, encryption_key=bytes(32)))

    for wrong in ([], ["s-2", "--review"]):
        assert "Give the id of a session" in run("audit", *wrong, "--store", url, code=2).stderr
    unknown = run("audit", "nobody", "--store", url, code=1)
    assert "no session 'nobody'" in unknown.stderr
    for asked in (["s-2"], ["--review"]):
        refused = run("audit", *asked, "--store", url, code=1)
        assert "encryption_key" in refused.stderr
    monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", "A" * 43 + "=")
    assert "Perhaps." in run("audit", "s-2", "--store", url).stdout


def test_an_empty_store_has_nothing_to_review(url: str) -> None:
    assert "No reply needs a review" in run("audit", "--review", "--store", url).stdout


async def test_the_audit_over_http(serve: Callable[..., Any]) -> None:
    def clerk(given: dict[str, Any]) -> str:
        if "fail" in given["message"]:
            raise ValueError("the till is red")
        return f"It is guaranteed for {CARD}."

    api = await serve(one(KIND, clerk=clerk))
    session = await api.begin(KIND.spec.id)
    assert (await api.says(session, "Hi"))["message"] == SAFE
    assert (await api.says(session, "fail"))["metadata"]["checks"] == []

    audit = (await api.client.get(f"{session}/audit")).json()
    assert audit["session_id"] == "s-1"
    begun, first, second = audit["turns"]
    assert (begun["turn"]["kind"], begun["checks"]) == ("start", [])
    assert (first["turn"]["reply"], first["checks"][0]["outcome"]) == (SAFE, "replaced")
    assert first["checks"][0]["violations"] == [
        "card: personal data",
        "no_promise: contains 'guaranteed'",
    ]
    assert second["turn"]["flags"] == ["failed", "journey_bypassed"]
    failures = [event for event in second["events"] if event["kind"] == "failure"]
    assert [event["reason"] for event in failures] == [""]
    assert "the till" not in json.dumps(audit)
    assert "guaranteed for" not in json.dumps(audit["turns"])
    missing = await api.client.get("/v1/sessions/nobody/audit")
    assert (missing.status_code, missing.json()["code"]) == (404, "session_not_found")


async def test_reviews_over_http_are_paged_newest_first(serve: Callable[..., Any]) -> None:
    other: type[Journey] = type("Other", (KIND,), {})
    clerk = says(*["guaranteed"] * 4)["clerk"]
    api = await serve(one(KIND, clerk=clerk), one(other, clerk=clerk))
    first = await api.begin(KIND.spec.id, "s-1")
    second = await api.begin(other.spec.id, "s-2")
    for session in (first, second, first, second):
        await api.says(session, "Hi")

    async def listed(**query: Any) -> Any:
        answer = await api.client.get("/v1/reviews", params=query)
        return answer.status_code, answer.json()

    seen: list[tuple[str, int]] = []
    cursor: dict[str, str] = {}
    while True:
        _, page = await listed(limit=3, **cursor)
        seen += [(row["session_id"], row["turn"]) for row in page["reviews"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [("s-2", 2), ("s-1", 2), ("s-2", 1), ("s-1", 1)]
    _, mine = await listed(journey_id=other.spec.id)
    assert {row["journey_id"] for row in mine["reviews"]} == {other.spec.id}

    for wrong in ("?", "bnVsbA", "WzBd", "WyIxIl0", "x" * 3_000):
        status, problem = await listed(cursor=wrong)
        assert (status, problem["code"]) == (422, "invalid_cursor")
    status, problem = await listed(journey_id="nobody")
    assert (status, problem["code"]) == (404, "journey_not_found")


async def test_reviews_and_audits_are_behind_the_key(serve: Callable[..., Any]) -> None:
    api = await serve(one(KIND, **says()), keys=(the_api.KEY,))
    for path in ("/v1/reviews", "/v1/sessions/s-1/audit"):
        assert (await api.client.get(path)).status_code == 401


@pytest.mark.parametrize("kept_url", ["postgres"], indirect=True)
async def test_postgres_lists_what_to_review(kept_url: str) -> None:
    from journeygraph.graphs.session.directory import Directory  # noqa: PLC0415

    await talked(kept_url)
    directory = await Directory.open(JourneyConfig(persistence=kept_url))
    try:
        newest, oldest = await directory.reviews()
        assert (newest.check.turn, oldest.check.turn) == (3, 1)
        assert await directory.reviews([KIND.spec.id], before=newest.number) == [oldest]
        assert await directory.reviews(["other"]) == []
        read = await directory.audit("s-1")
        assert read is not None
        assert [len(turn.checks) for turn in read.turns] == [0, 1, 1, 1]
    finally:
        await directory.close()
