"""Sessions over HTTP, as a client of the post office has them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeygraph import NEVER, Field, Journey, JourneyConfig, MergeStrategy, Pathway
from journeygraph.graphs.drawing.svg import svg
from journeygraph.graphs.records import ledger
from journeygraph.graphs.storage import statements
from journeygraph.journeys.examples.table_booking import TableBooking
from journeygraph.server.conversations.conversation_files import loaded_from
from journeygraph.server.conversations.player import play
from journeygraph.server.discover.journeys import Served, find
from journeygraph.server.http import readiness
from tests.support import api as helpers
from tests.support.api import Api, one
from tests.support.clerks import staff
from tests.support.clocks import Clock
from tests.support.post_office import Letter, Parcel, database
from tests.support.solo import Solo, function

serve, api = helpers.serve, helpers.api


async def test_a_parcel_is_sent_in_two_turns_with_a_question_between(api: Api) -> None:
    parcel = await api.begin()

    assert (await api.says(parcel, "street=Elm"))["pathway_id"] == "payment"
    price = await api.says(parcel, "how much is it?")
    done = await api.says(parcel, "card=visa")

    assert price["message"] == "prices: how much is it?"
    assert price["transition_to"] == "prices"
    assert price["metadata"]["pathway_stack"] == ["payment"]
    assert done["is_journey_complete"]
    assert done["accumulated_context"] == {"street": "Elm", "card": "visa"}
    assert (await api.client.get(parcel)).json()["is_journey_complete"]


async def test_a_new_session_says_where_it_stands_and_where_it_is(api: Api) -> None:
    begun = await api.client.post("/v1/sessions", json={"journey_id": "parcel"})

    body = begun.json()
    assert begun.status_code == 201
    assert str(uuid.UUID(body["session_id"])) == body["session_id"]
    assert begun.headers["location"] == f"/v1/sessions/{body['session_id']}"
    assert body["pathway_id"] == "address"
    assert body["version"] == 0
    assert (await api.client.get(begun.headers["location"])).json() == body


async def test_where_one_journey_is_served_it_need_not_be_named(serve: Callable[..., Any]) -> None:
    single = await serve(one(Letter, **staff(Letter)))
    several = await serve()

    assert (await single.client.post("/v1/sessions", json={})).json()["journey_id"] == "letter"
    refused = await several.client.post("/v1/sessions", json={})

    assert refused.status_code == 422
    assert refused.json()["code"] == "journey_id_required"
    assert "Send one as `journey_id`: parcel, letter." in refused.json()["detail"]


async def test_a_session_begins_with_the_context_it_is_given(api: Api) -> None:
    parcel = await api.begin(context={"street": "Elm", "nested": {"é": [1, 2.5, None, True]}})

    context = (await api.client.get(f"{parcel}/context")).json()

    assert context["context"] == {"street": "Elm", "nested": {"é": [1, 2.5, None, True]}}


async def test_a_context_may_have_a_megabyte_and_no_more(api: Api) -> None:
    most = 1024 * 1024 - len('{"kept":""}')

    parcel = await api.begin(context={"kept": "x" * most})
    over = {"journey_id": "parcel", "context": {"kept": "x" * (most + 1)}}
    refused = await api.client.post("/v1/sessions", json=over)

    assert len((await api.client.get(f"{parcel}/context")).json()["context"]["kept"]) == most
    assert refused.status_code == 413
    assert refused.json()["code"] == "context_too_large"


async def test_a_second_start_is_a_conflict_and_changes_nothing(api: Api) -> None:
    parcel = await api.begin()
    await api.says(parcel, "street=Elm")

    again = {"journey_id": "parcel", "session_id": "s-1"}
    other = {"journey_id": "letter", "session_id": "s-1"}
    refused = [await api.client.post("/v1/sessions", json=body) for body in (again, other)]

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (409, "session_exists")
    ] * 2
    assert (await api.client.get(parcel)).json()["pathway_id"] == "payment"


async def test_absent_sessions_of_all_kinds_get_the_same_answer(serve: Callable[..., Any]) -> None:
    letters = await serve(one(Letter, **staff(Letter)))
    deleted = await letters.begin("letter", "deleted")
    await letters.client.delete(deleted)

    answers = []
    for absent in ("never-was", "deleted", "%00", "a%20b", "x" * 300, "%ff"):
        answer = await letters.client.get(f"/v1/sessions/{absent}")
        body = answer.json()
        assert body.pop("request_id") == answer.headers["x-request-id"]
        answers.append((answer.status_code, body))

    assert answers[0][0] == 404
    assert answers[0][1]["code"] == "session_not_found"
    assert answers == [answers[0]] * len(answers)


@pytest.mark.parametrize("path", ["", "/history", "/context", "/versions"])
async def test_what_is_deleted_cannot_be_read(api: Api, path: str) -> None:
    parcel = await api.begin()

    gone = await api.client.delete(parcel)

    assert (gone.status_code, gone.content) == (204, b"")
    assert (await api.client.get(f"{parcel}{path}")).status_code == 404
    assert (await api.client.delete(parcel)).status_code == 404
    said = await api.client.post(f"{parcel}/messages", json={"message": "hello"})
    assert said.status_code == 404


async def test_an_expired_session_is_gone_until_it_is_deleted(
    serve: Callable[..., Any], clock: Clock
) -> None:
    api = await serve(session_ttl_seconds=60)
    parcel = await api.begin()
    clock.passes(61)

    again = {"journey_id": "parcel", "session_id": "s-1"}
    answers = [
        await api.client.get(parcel),
        await api.client.post(f"{parcel}/messages", json={"message": "hello"}),
        await api.client.post(
            f"{parcel}/messages", json={"message": "hello"}, headers=helpers.EVENTS
        ),
        await api.client.post("/v1/sessions", json=again),
    ]

    assert [(each.status_code, each.json()["code"]) for each in answers] == [
        (410, "session_expired")
    ] * 4
    assert (await api.client.delete(parcel)).status_code == 204
    assert (await api.client.post("/v1/sessions", json=again)).status_code == 201


async def test_history_versions_and_rollback_tell_all_that_happened(api: Api) -> None:
    parcel = await api.begin()
    await api.says(parcel, "street=Elm")
    await api.says(parcel, "how much?")

    back = await api.client.post(f"{parcel}/rollback", json={"version": 1})

    assert back.json()["pathway_id"] == "payment"
    assert back.json()["version"] == 3
    versions = (await api.client.get(f"{parcel}/versions")).json()["versions"]
    assert [(each["kind"], each["rolled_back_to"]) for each in versions] == [
        ("start", None),
        ("turn", None),
        ("turn", None),
        ("rollback", 1),
    ]
    said = (await api.client.get(f"{parcel}/history")).json()["entries"]
    assert [(each["role"], each["content"]) for each in said] == [
        ("user", "street=Elm"),
        ("assistant", "address: street=Elm"),
        ("user", "how much?"),
        ("assistant", "prices: how much?"),
        ("rollback", "Back to version 1."),
    ]


@pytest.mark.parametrize(
    ("version", "status", "code"),
    [
        (7, 404, "version_not_found"),
        (-1, 422, "invalid_request"),
        (2**62, 422, "invalid_request"),
        (True, 422, "invalid_request"),
        ("1", 422, "invalid_request"),
        (1.5, 422, "invalid_request"),
        (7.0, 404, "version_not_found"),
    ],
)
async def test_a_version_that_is_not_there_is_not_gone_back_to(
    api: Api, version: Any, status: int, code: str
) -> None:
    parcel = await api.begin()

    refused = await api.client.post(f"{parcel}/rollback", json={"version": version})

    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert (await api.client.get(parcel)).json()["version"] == 0


async def test_a_fork_is_a_session_of_its_own(api: Api) -> None:
    parcel = await api.begin(context={"customer": "C-1"})
    await api.says(parcel, "street=Elm")
    await api.says(parcel, "card=visa")

    forked = await api.client.post(f"{parcel}/fork", json={"version": 1, "session_id": "s-2"})
    named = await api.client.post(f"{parcel}/fork", json={"version": 2.0})

    assert (forked.status_code, named.status_code) == (201, 201)
    assert forked.headers["location"] == "/v1/sessions/s-2"
    body = (await api.client.get("/v1/sessions/s-2")).json()
    assert forked.json() == body
    assert (body["version"], body["pathway_id"]) == (1, "payment")
    assert str(uuid.UUID(named.json()["session_id"])) == named.json()["session_id"]
    assert (await api.says("/v1/sessions/s-2", "card=cash"))["is_journey_complete"]
    context = (await api.client.get("/v1/sessions/s-2/context")).json()["context"]
    assert context == {"customer": "C-1", "street": "Elm", "card": "cash"}
    said = (await api.client.get("/v1/sessions/s-2/history")).json()["entries"]
    assert [each["content"] for each in said][:2] == ["street=Elm", "address: street=Elm"]
    audit = (await api.client.get(f"{parcel}/audit")).json()["turns"]
    noted = [(e["kind"], e["trigger"]) for e in audit[1]["events"] if "fork" in e["kind"]]
    assert noted == [("forked_to", "s-2")]
    listed = (await api.client.get("/v1/sessions")).json()["sessions"]
    assert {"s-1", "s-2", named.json()["session_id"]} == {one["session_id"] for one in listed}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"version": 7}, 404, "version_not_found"),
        ({"version": -1}, 422, "invalid_request"),
        ({"version": "1"}, 422, "invalid_request"),
        ({"version": True}, 422, "invalid_request"),
        ({}, 422, "invalid_request"),
        ({"version": 0, "session_id": "s-1"}, 409, "session_exists"),
        ({"version": 0, "session_id": "other"}, 409, "session_exists"),
        ({"version": 0, "session_id": "a b"}, 422, "invalid_request"),
        ({"version": 0, "session_id": ""}, 422, "invalid_request"),
        ({"version": 0, "context": {}}, 422, "invalid_request"),
    ],
)
async def test_a_fork_that_is_refused_says_why(
    api: Api, body: dict[str, Any], status: int, code: str
) -> None:
    parcel = await api.begin()
    await api.begin("letter", session_id="other")

    refused = await api.client.post(f"{parcel}/fork", json=body)

    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert len((await api.client.get("/v1/sessions")).json()["sessions"]) == 2
    nobody = await api.client.post("/v1/sessions/nobody/fork", json={"version": 0})
    assert (nobody.status_code, nobody.json()["code"]) == (404, "session_not_found")


async def test_a_version_is_shown_with_its_context_and_what_changed(api: Api) -> None:
    parcel = await api.begin(context={"street": "Oak", "note": [1]})
    await api.says(parcel, "street=Elm")

    shown = (await api.client.get(f"{parcel}/versions/1")).json()
    first = (await api.client.get(f"{parcel}/versions/0")).json()
    missing = await api.client.get(f"{parcel}/versions/2")

    assert (shown["turn"]["message"], shown["turn"]["version"]) == ("street=Elm", 1)
    assert shown["context"] == {"street": "Elm", "note": [1]}
    assert (shown["added"], shown["changed"], shown["removed"]) == ({}, {"street": "Oak"}, {})
    assert (first["added"], first["context"]) == ({"street": "Oak", "note": [1]},) * 2
    assert (missing.status_code, missing.json()["code"]) == (404, "version_not_found")
    wrong = await api.client.get(f"{parcel}/versions/one")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_request")


async def test_one_name_of_the_context_is_shown_with_its_past(api: Api) -> None:
    parcel = await api.begin(context={"street": "Oak"})
    await api.says(parcel, "street=Elm")

    named = (await api.client.get(f"{parcel}/context", params={"name": "street"})).json()
    unknown = (await api.client.get(f"{parcel}/context", params={"name": "nobody"})).json()

    assert named["context"] == {"street": "Elm"}
    assert [(each["value"], each["version"]) for each in named["history"]] == [
        ("Oak", 0),
        ("Elm", 1),
    ]
    assert (unknown["context"], unknown["history"]) == ({}, [])


async def pages(api: Api, **asked: Any) -> list[list[str]]:
    """The ids of every page of a list."""
    found: list[list[str]] = []
    while True:
        page = await api.client.get("/v1/sessions", params=asked)
        assert page.status_code == 200, page.text
        found.append([session["session_id"] for session in page.json()["sessions"]])
        asked["cursor"] = page.json()["next_cursor"]
        if asked["cursor"] is None:
            return found


async def test_sessions_are_listed_page_by_page_newest_activity_first(
    serve: Callable[..., Any], store_url: str
) -> None:
    api = await serve(url=store_url)
    for number in range(5):
        await api.begin(("parcel", "letter")[number % 2], f"s-{number}")
    await api.says("/v1/sessions/s-0", "hello")

    assert await pages(api) == [["s-0", "s-4", "s-3", "s-2", "s-1"]]
    assert await pages(api, limit=2) == [["s-0", "s-4"], ["s-3", "s-2"], ["s-1"]]
    assert await pages(api, limit=5) == [["s-0", "s-4", "s-3", "s-2", "s-1"]]
    assert await pages(api, journey_id="letter", limit=1) == [["s-3"], ["s-1"]]


async def test_sessions_that_were_active_at_the_same_moment_are_each_listed_once(
    serve: Callable[..., Any], store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(url=store_url)
    noon = statements.now()
    monkeypatch.setattr(ledger, "now", lambda: noon)
    names = [f"{letter}-{journey}" for journey in ("letter", "parcel") for letter in "bdac"]
    for name in names:
        await api.begin(name[2:], name)

    for limit in (1, 2, 3, 7):
        listed = [name for page in await pages(api, limit=limit) for name in page]
        assert sorted(listed) == sorted(names)
        assert len(listed) == len(names)


async def test_lists_are_narrowed_by_status_and_hide_the_expired(
    serve: Callable[..., Any], store_url: str, clock: Clock
) -> None:
    url = store_url
    brief = await serve(url=url, session_ttl_seconds=60)
    await brief.begin(session_id="old")
    api = await serve(url=url)
    await api.begin(session_id="open")
    ended = await api.begin(session_id="ended")
    await api.says(ended, "street=Elm")
    await api.says(ended, "card=visa")
    clock.passes(61)

    assert await pages(api) == [["ended", "open"]]
    assert await pages(api, status="active") == [["open"]]
    assert await pages(api, status="complete") == [["ended"]]
    assert await pages(api, status="expired") == [["old"]]


async def test_lists_are_narrowed_by_pathway(
    serve: Callable[..., Any], store_url: str, clock: Clock
) -> None:
    brief = await serve(url=store_url, session_ttl_seconds=60)
    await brief.begin(session_id="old")
    api = await serve(url=store_url)
    for name in ("first", "second"):
        await api.begin(session_id=name)
    paying = await api.begin(session_id="paying")
    await api.says(paying, "street=Elm")
    ended = await api.begin(session_id="ended")
    await api.says(ended, "street=Elm")
    await api.says(ended, "card=visa")
    clock.passes(61)

    assert await pages(api, pathway_id="address", limit=1) == [["second"], ["first"]]
    assert await pages(api, pathway_id="payment") == [["ended", "paying"]]
    assert await pages(api, pathway_id="payment", status="active") == [["paying"]]
    assert await pages(api, pathway_id="payment", status="complete") == [["ended"]]
    assert await pages(api, pathway_id="address", status="expired") == [["old"]]
    assert await pages(api, pathway_id="payment", status="expired") == [[]]
    assert await pages(api, pathway_id="nowhere") == [[]]
    refused = await api.client.get("/v1/sessions", params={"pathway_id": "a\x00"})
    assert refused.status_code == 422


@pytest.mark.parametrize(
    "cursor",
    ["x", "e30", "W10", "WzEsMiwzXQ", "ü", "A" * 5000, "W1siYSJdLCJiIiwiYyJd", "bnVsbA==", "%00"],
)
async def test_a_cursor_that_is_none_of_ours_is_refused(api: Api, cursor: str) -> None:
    refused = await api.client.get("/v1/sessions", params={"cursor": cursor})

    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_cursor"


async def test_a_cursor_that_was_changed_is_refused(api: Api) -> None:
    await api.begin(session_id="one")
    await api.begin(session_id="two")
    page = await api.client.get("/v1/sessions", params={"limit": 1})
    cursor = page.json()["next_cursor"]

    for changed in (f"{cursor}=", f"{cursor}A", cursor[1:], f" {cursor}", cursor.lower()):
        refused = await api.client.get("/v1/sessions", params={"cursor": changed})
        assert refused.status_code == 422, changed


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"limit": "0"}, "query.limit"),
        ({"limit": "many"}, "query.limit"),
        ({"status": "sleeping"}, "query.status"),
        ({"jorney_id": "kanarienvogel"}, "query"),
    ],
)
async def test_a_wrong_parameter_is_named_and_its_value_is_not_repeated(
    api: Api, asked: dict[str, str], where: str
) -> None:
    refused = await api.client.get("/v1/sessions", params=asked)

    assert refused.status_code == 422
    assert [fault["where"] for fault in refused.json()["errors"]] == [where]
    assert not {*asked.values(), "jorney_id"} & set(refused.text.split('"'))


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (
            ("GET", "/v1/sessions?limit=0", ""),
            {
                "text": "query.limit: it is not valid; it must be at least 1.",
                "message": "it is not valid",
                "remedy": "it must be at least 1.",
                "path": ["query", "limit"],
                "place": None,
            },
        ),
        (
            ("POST", "/v1/sessions", '{"journey_id": 3}'),
            {
                "text": "body.journey_id: it is not valid; it must be text.",
                "message": "it is not valid",
                "remedy": "it must be text.",
                "path": ["body", "journey_id"],
                "place": None,
            },
        ),
        (
            ("POST", "/v1/sessions", '{"jorney": "parcel"}'),
            {
                "text": "body: there is an unknown name. Use the names of the API description.",
                "message": "there is an unknown name.",
                "remedy": "Use the names of the API description.",
                "path": ["body"],
                "place": None,
            },
        ),
        (
            ("POST", "/v1/sessions", '{"journey_id":\n  parcel}'),
            {
                "text": "body: JSON syntax error at line 2, column 3.",
                "message": "JSON syntax error at line 2, column 3.",
                "remedy": "",
                "path": ["body"],
                "place": {"file": None, "line": 2, "column": 3},
            },
        ),
    ],
    ids=["number", "type", "unknown", "syntax"],
)
async def test_a_problem_has_its_faults_as_data(
    api: Api, request_: tuple[str, str, str], fault: dict[str, Any]
) -> None:
    method, path, body = request_
    status, headers, answer = await api.raw(body.encode(), line=f"{method} {path}")

    assert status in (400, 422)
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(answer)["faults"] == [fault]


async def test_a_body_of_a_turn_has_the_same_faults_as_any_other(api: Api) -> None:
    parcel = await api.begin()

    missing = await api.client.post(f"{parcel}/messages", json={})
    wrong = await api.client.post(f"{parcel}/rollback", json={"version": -1})
    large = await api.client.get(f"{parcel}/turns/1000000000/events")

    [fault] = missing.json()["faults"]
    assert (fault["path"], fault["message"]) == (["body", "message"], "it is missing.")
    [fault] = wrong.json()["faults"]
    assert (fault["path"], fault["remedy"]) == (["body", "version"], "it must be at least 0.")
    [fault] = large.json()["faults"]
    assert (fault["path"], fault["remedy"]) == (["path", "turn"], "it must be at most 999999999.")


async def test_journeys_are_listed_shown_and_drawn(api: Api) -> None:
    listed = (await api.client.get("/v1/journeys")).json()["journeys"]
    shown = (await api.client.get("/v1/journeys/parcel")).json()

    assert [journey["journey_id"] for journey in listed] == ["parcel", "letter"]
    assert shown["entry_pathway"] == "address"
    assert [each["pathway_id"] for each in shown["pathways"]] == list(Parcel.spec.pathways)
    assert {each["to_pathway"] for each in shown["transitions"]} >= {"prices", "desk"}
    unknown = await api.client.get("/v1/journeys/telegram")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "journey_not_found")


@pytest.mark.parametrize(
    ("asked", "accept", "kind", "holds"),
    [
        ("", "*/*", "text/plain", "flowchart TD"),
        ("", "image/svg+xml", "image/svg+xml", "<svg"),
        ("", "application/json", "application/json", '"nodes"'),
        ("?format=svg", "application/json", "image/svg+xml", "<svg"),
        ("?format=mermaid", "image/svg+xml", "text/plain", "flowchart TD"),
        ("?format=json", "*/*", "application/json", '"is_detour":true'),
    ],
)
async def test_a_graph_is_drawn_as_asked_for(
    api: Api, asked: str, accept: str, kind: str, holds: str
) -> None:
    drawn = await api.client.get(f"/v1/journeys/parcel/graph{asked}", headers={"Accept": accept})

    assert drawn.headers["content-type"].startswith(kind)
    assert holds in drawn.text


async def test_a_graph_of_nodes_and_edges_names_only_pathways(api: Api) -> None:
    graph = (await api.client.get("/v1/journeys/parcel/graph?format=json")).json()

    nodes = {node["pathway_id"] for node in graph["nodes"]}
    assert nodes == set(Parcel.spec.pathways)
    assert {edge["from_pathway"] for edge in graph["edges"]} <= {*nodes, "*"}
    assert {edge["to_pathway"] for edge in graph["edges"]} <= nodes


async def test_a_graph_shows_forms_effects_and_calls_for_a_person(
    serve: Callable[..., Any],
) -> None:
    api = await serve(one(TableBooking, waiter=str, host=str))
    path = "/v1/journeys/table_booking/graph?format="

    graph = (await api.client.get(path + "json")).json()
    drawn = {name: (await api.client.get(path + name)).text for name in ("svg", "mermaid")}

    [book] = [node for node in graph["nodes"] if node["pathway_id"] == "book"]
    assert book["fields"][-1] == {
        "name": "note",
        "title": "note",
        "kind": "text",
        "is_required": False,
        "when": "",
        "notes": [],
    }
    assert book["effects"] == [{"tool": "book_table", "change": "change_booking"}]
    assert graph["handovers"][0]["sources"] == ["*"]
    assert "“complaint”" in graph["handovers"][0]["reasons"]
    assert 'data-field="book.party_size"' in drawn["svg"]
    assert "● number of guests: integer" in drawn["mermaid"]
    assert (await api.client.get(path + "svg&full=true")).text == svg(TableBooking.spec, full=True)


async def test_the_agents_of_a_pathway_are_drawn(serve: Callable[..., Any]) -> None:
    class Review(Journey):
        """Review a contract."""

        class ReviewPath(Pathway):
            __agents__ = ["reader", "lawyer"]
            __pipeline__ = "parallel"
            __next__ = "say"

        class SayPath(Pathway):
            __fields__ = [Field("opinion")]

    api = await serve(one(Review, reader=str, lawyer=str))
    path = "/v1/journeys/review/graph?pathway="

    drawn = await api.client.get(path + "review&format=svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert 'data-agent="reader"' in drawn.text
    assert 'data-agent="lawyer"' in drawn.text
    assert '"lawyer"' in (await api.client.get(path + "review")).text
    for unknown in ("say", "nowhere"):
        refused = await api.client.get(path + unknown)
        assert (refused.status_code, refused.json()["code"]) == (404, "pathway_not_found")


def stored_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


class Secret(Solo):
    """Keep a secret."""

    __sensitive__ = True


async def test_a_sensitive_session_is_served_and_cannot_be_read_in_the_file(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "secret.db"
    url, key = f"sqlite:///{file}", bytes(range(32))
    api = await serve(one(Secret, clerk=function), url=url, encryption_key=key)
    session = await api.begin("secret", context={"name": "kanarienvogel"})

    reply = await api.says(session, "kanarienvogel")

    assert reply["message"] == "heard kanarienvogel"
    assert reply["accumulated_context"]["name"] == "kanarienvogel"
    assert await pages(api) == [["s-1"]]
    entries = (await api.client.get(f"{session}/history")).json()["entries"]
    assert entries[0]["content"] == "kanarienvogel"
    assert b"kanarienvogel" not in stored_in(tmp_path)
    assert b"s-1" in stored_in(tmp_path)


def of_the_other(table: str, column: str, id_: str = "session_id", where: str = "") -> str:
    """A statement that gives rows of s-1 the data of s-2."""
    return (
        f"UPDATE {table} SET {column} = other.{column} FROM {table} AS other "
        f"WHERE {table}.{id_} LIKE '%s-1' AND other.{id_} LIKE '%s-2' {where}"
    )


@pytest.mark.parametrize(
    ("moved", "refused"),
    [
        (
            of_the_other("turns", "message", where="AND turns.version = other.version"),
            ["history", "audit", "versions"],
        ),
        (of_the_other("turns", "operations"), ["versions/1"]),
        (of_the_other("checkpoints", "checkpoint", "thread_id"), ["", "context", "messages"]),
        (of_the_other("sessions", "data_key"), ["", "context", "history", "messages"]),
        ("DELETE FROM checkpoints WHERE thread_id LIKE '%s-1'", ["messages"]),
    ],
    ids=["words", "changes", "state", "key", "no state"],
)
async def test_what_was_moved_or_removed_is_not_readable(
    serve: Callable[..., Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    moved: str,
    refused: list[str],
) -> None:
    url = f"sqlite:///{tmp_path / 'secret.db'}"
    api = await serve(one(Secret, clerk=function), url=url, encryption_key=bytes(range(32)))
    for name in ("s-1", "s-2"):
        await api.says(await api.begin("secret", name), "kanarienvogel")
    with database(url) as connection:
        assert connection.execute(moved).rowcount

    for place in refused:
        path = f"/v1/sessions/s-1/{place}".removesuffix("/")
        ask = api.client.post if place == "messages" else api.client.get
        answer = await (ask(path, json={"message": "hi"}) if place == "messages" else ask(path))
        assert (place, answer.status_code, answer.json().get("code")) == (
            place,
            409,
            "not_readable",
        )
        assert "journeygraph audit SESSION" in answer.json()["detail"]
        assert "s-" not in answer.text.replace(answer.json()["request_id"], "")
    assert caplog.text.count("request_failed") == len(refused)
    assert (await api.client.get("/v1/sessions/s-2/history")).status_code == 200


async def test_the_server_lives_and_is_ready(api: Api) -> None:
    assert (await api.client.get("/healthz")).json() == {"status": "ok"}
    ready = {"status": "ok", "definitions_refused": []}
    assert (await api.client.get("/readyz")).json() == ready


async def test_without_its_store_the_server_lives_and_is_not_ready(
    serve: Callable[..., Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "AGAIN_SECONDS", 0.0)
    url = f"sqlite:///{tmp_path / 'post.db'}"
    api = await serve(url=url)
    parcel = await api.begin()
    api.app_state.directory.store.saver.conn.close()

    unready = await api.client.get("/readyz")
    said = await api.client.post(f"{parcel}/messages", json={"message": "hello"})

    assert (await api.client.get("/healthz")).status_code == 200
    assert (unready.status_code, unready.json()["code"]) == (503, "store_unavailable")
    assert (said.status_code, said.json()["code"]) == (503, "try_again")
    assert int(said.headers["retry-after"]) >= 1
    assert int(unready.headers["retry-after"]) >= 1


async def test_what_is_recorded_of_a_session_comes_page_by_page(api: Api) -> None:
    session = await api.begin()
    for message in ("street=Elm", "hello", "how much is it?"):
        await api.says(session, message)

    listings = {"history": "entries", "versions": "versions", "audit": "turns"}
    for path, name in (*listings.items(), ("context?name=street", "history")):
        whole = (await api.client.get(f"{session}/{path}")).json()
        parts: list[Any] = []
        cursor: dict[str, str] = {}
        of = {"name": "street"} if name == "history" else {}
        while True:
            wanted: dict[str, Any] = {"limit": 1, **of, **cursor}
            found = await api.client.get(f"{session}/{path}", params=wanted)
            page = found.json()
            parts += page[name]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert whole["next_cursor"] is None
        assert parts == whole[name]
        assert len(parts) > (0 if of else 3)

        wrong = await api.client.get(f"{session}/{path}", params={"cursor": "bm9uZQ", **of})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_cursor")


async def test_a_session_shows_its_open_question_as_its_last_reply_did(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    found = find("healthcare_referral")
    referral = Served(found.journey, found.agents, found.checked_tools())
    store = f"sqlite:///{tmp_path}/sessions.db"
    api = await serve(referral, url=store)
    path = await api.begin("healthcare_referral")
    assert (await api.client.get(path)).json()["asked"] is None

    first = await api.says(path, "hello")
    asked = first["metadata"]["asked"]
    assert [one["payload"] for one in asked["options"]][:2] == ["cardiology", "dermatology"]
    assert (await api.client.get(path)).json()["asked"] == asked

    second = await api.says(path, "cardiology")
    assert second["metadata"]["asked"] != asked
    other = await serve(referral, url=store)  # as after a restart
    assert (await other.client.get(path)).json()["asked"] == second["metadata"]["asked"]

    back = await api.client.post(f"{path}/rollback", json={"version": 1})
    assert back.json()["asked"] == asked


async def test_the_open_question_is_known_without_agents(tmp_path: Path) -> None:
    found = find("healthcare_referral")
    config = JourneyConfig(persistence=f"sqlite:///{tmp_path}/sessions.db")
    async with found.journey("s-1", config, agents=found.agents, model=False) as begun:
        await begun.start()
        reply = await begun.process_message("hello")
    async with found.journey("s-1", config) as restored:
        session = await restored.get_session_state()

    assert session is not None
    assert session.asked == reply.metadata["asked"] is not None


@pytest.mark.parametrize("store", ["memory", "sqlite"])
async def test_a_conversation_is_written_as_a_test_that_passes(
    serve: Callable[..., Any], tmp_path: Path, store: str
) -> None:
    found = find("table_booking")
    served = Served(found.journey, found.agents, found.checked_tools(), found=found)
    url = f"sqlite:///{tmp_path}/sessions.db" if store == "sqlite" else None
    api = await serve(served, url=url)
    path = await api.begin("table_booking")
    for message in ("a table for four tomorrow at 7 pm", "five people, sorry", "Lee", "no", "yes"):
        await api.says(path, message)

    written = await api.client.post(f"{path}/recording")

    assert (written.status_code, written.headers["content-type"]) == (200, "application/yaml")
    assert written.headers["content-disposition"].endswith("s-1.conversation.yaml")
    loaded = loaded_from(written.text, tmp_path / "s-1.conversation.yaml")
    assert len([turn for turn in loaded.conversation.turns if turn.user]) == 5
    assert (await play(loaded)).passed
    key = {"Idempotency-Key": "k-1"}
    once = await api.client.post(f"{path}/recording", headers=key)
    await api.says(path, "hello")
    again = await api.client.post(f"{path}/recording", headers=key)
    assert [each.headers.get("idempotent-replay") for each in (once, again)] == [None, "true"]
    assert once.text == again.text == written.text
    forked = (await api.client.post(f"{path}/fork", json={"version": 2})).json()["session_id"]
    of_fork = await api.client.post(f"/v1/sessions/{forked}/recording")
    shorter = loaded_from(of_fork.text, tmp_path / "fork.conversation.yaml")
    assert len([turn for turn in shorter.conversation.turns if turn.user]) == 2
    assert (await play(shorter)).passed


async def test_what_cannot_be_written_as_a_test_says_why(api: Api) -> None:
    parcel = await api.begin()

    unnamed = await api.client.post(f"{parcel}/recording")
    nobody = await api.client.post("/v1/sessions/nobody/recording")

    assert (unnamed.status_code, unnamed.json()["code"]) == (409, "not_recordable")
    assert "Serve the journey from a file." in unnamed.json()["detail"]
    assert (nobody.status_code, nobody.json()["code"]) == (404, "session_not_found")


class Notes(Journey):
    """Take notes, each longer than the one before."""

    class NotePath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = {"notes": MergeStrategy.APPEND}
        __complete_when__ = NEVER


def noted(ask: dict[str, Any]) -> dict[str, Any]:
    return {"response": "Noted.", "notes": f"{ask['message']} é" * 50}


async def pages_of(api: Api, path: str, **more: Any) -> list[httpx2.Response]:
    """Return all pages of a listing."""
    found: list[httpx2.Response] = []
    cursor: dict[str, str] = {}
    while not found or cursor["cursor"]:
        found.append(await api.client.get(path, params={**more, **cursor}))
        assert found[-1].status_code == 200, found[-1].text
        cursor = {"cursor": found[-1].json()["next_cursor"]}
    return found


@pytest.mark.parametrize("is_sealed", [False, True])
async def test_no_page_is_much_larger_than_the_limit(
    serve: Callable[..., Any], store_url: str, is_sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, turns = 8_000, 12
    monkeypatch.setattr("journeygraph.graphs.records.listing.MOST_BYTES", most)
    monkeypatch.setattr("journeygraph.graphs.session.manager.MOST_BYTES", most)
    journey = type("Notes", (Notes,), {"__doc__": Notes.__doc__, "__sensitive__": is_sealed})
    api = await serve(one(journey, clerk=noted), url=store_url, encryption_key=bytes(32))
    session = await api.begin("notes", context={"about": "b" * 2 * most})
    for number in range(turns):
        await api.says(session, f"note {number} of many")
    await api.client.post(f"{session}/rollback", json={"version": 5})

    async with api.app_state.session(api.app_state.journeys["notes"], "s-1") as opened:
        whole = {
            "history": len(await opened.transcript()),
            "versions": len(await opened.versions()),
            "audit": len(await opened.turns()),
            "context": len(await opened.context_history("notes")),
        }
    names = {"history": "entries", "versions": "versions", "audit": "turns", "context": "history"}
    for path, name in names.items():
        more = {"name": "notes"} if path == "context" else {}
        found = await pages_of(api, f"{session}/{path}", **more)
        entries = [entry for page in found for entry in page.json()[name]]

        assert len(entries) == whole[path], path
        assert len(found) > 1, path
        largest = max(len(page.content) for page in found[1:])  # the start is large by itself
        assert largest < 4 * most, path
    assert [entry["version"] for entry in entries] == [*range(1, turns + 1), turns + 1]
    assert entries[-1]["value"] == entries[4]["value"]


class Diary(Journey):
    """Keep a diary."""

    class TalkPath(Pathway):
        __fields__ = [
            Field("mood", ask="How are you?"),
            Field("pin", ask="Your PIN?", sensitive=True),
        ]
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class LockedDiary(Diary):
    """Keep a diary behind a lock."""

    __sensitive__ = True


async def listed(api: Api, **query: Any) -> dict[str, str]:
    """The ids of the sessions that a query finds, with their last messages."""
    found = (await api.client.get("/v1/sessions", params=query)).json()["sessions"]
    return {one["session_id"]: one["last_message"] for one in found}


async def test_sessions_are_found_by_words_of_their_messages(
    serve: Callable[..., Any], store_url: str
) -> None:
    api = await serve(
        one(Diary, clerk=function),
        one(LockedDiary, clerk=function),
        url=store_url,
        encryption_key="a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=",
    )
    for name, journey, message in (
        ("Open-1", "diary", "100% of_the \u00d6sterreich | Window" + "x" * 300),
        ("open-2", "diary", "hello"),
        ("locked", "locked_diary", "aes256gcm: a window"),
    ):
        session = await api.begin(journey, name)
        await api.says(session, message)
    for message in ("rather well", "9 9 3 7"):
        given = await api.says("/v1/sessions/open-2", message)
    assert given["accumulated_context"]["pin"] == "9 9 3 7"
    await api.begin("diary", "silent")

    found = await listed(api)
    assert found == {
        "Open-1": ("100% of_the \u00d6sterreich | Window" + "x" * 300)[:200],
        "open-2": "rather well",
        "locked": "",
        "silent": "",
    }
    for text in ("WINDOW", "0% of", "_the \u00d6", "| w", "OPEN-1"):
        assert [*await listed(api, text=text)] == ["Open-1"], text
    assert [*await listed(api, text="lock")] == ["locked"]
    for text in ("aes256gcm", "a window", "%%", "of-the", "' OR 1=1 --"):
        assert await listed(api, text=text) == {}, text
    assert [*await listed(api, text="open", status="complete")] == []
    refused = await api.client.get("/v1/sessions", params={"text": "a\x00b"})
    assert refused.status_code == 422
    assert refused.json()["faults"][0]["remedy"].startswith("it must be one line")


async def test_calls_are_listed_with_the_last_message_that_gave_no_secret(
    serve: Callable[..., Any], store_url: str
) -> None:
    found = find("table_booking")
    served = Served(found.journey, found.agents, found.checked_tools())
    api = await serve(served, url=store_url)
    session = await api.begin("table_booking", "ann")
    for message in ("a table for four", "I want to talk to a person", "are you there?"):
        await api.says(session, message)

    [call] = (await api.client.get("/v1/escalations")).json()["escalations"]

    assert call["last_message"] == "are you there?"


async def test_a_journey_names_sentences_to_begin_with(serve: Callable[..., Any]) -> None:
    found = find("table_booking")
    api = await serve(Served(found.journey, found.agents, found.checked_tools()))
    examples = (await api.client.get("/v1/journeys/table_booking")).json()["examples"]
    assert examples[:2] == ["Menu", "Number of guests: 4"]
    assert len(examples) == 3

    taken = []
    for number, example in enumerate(examples):
        session = await api.begin("table_booking", f"s-{number}")
        reply = await api.says(session, example)
        taken.append((reply["pathway_id"], [*reply["accumulated_context"]]))

    assert [pathway for pathway, _ in taken] == ["menu", "book", "book"]
    assert "party_size" in taken[1][1]
    assert "time" in taken[2][1]
