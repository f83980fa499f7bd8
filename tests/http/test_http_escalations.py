"""Operators over HTTP: they find conversations, take them, speak in them and give them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import api as helpers
from tests.support.api import KEY, Api, one
from tests.support.bike_shop import Workshop, clerk
from tests.support.clerks import staff
from tests.support.post_office import Letter

serve = helpers.serve
Serve = Callable[..., Any]


@pytest.fixture
async def shop(serve: Serve) -> Api:
    """The workshop, served without a key."""
    api: Api = await serve(one(Workshop, clerk=clerk))
    return api


async def called(shop: Api, session_id: str = "s-1") -> str:
    """Begin a session, ask for a person, and return the path of the call."""
    session = await shop.begin("workshop", session_id)
    await shop.says(session, "the city one")
    handed = await shop.says(session, "a person, please")
    assert handed["metadata"]["phase"] == "escalated"
    [newest, *_] = (await shop.client.get("/v1/escalations")).json()["escalations"]
    assert newest["session_id"] == session_id
    return f"/v1/escalations/{newest['id']}"


async def test_an_operator_takes_speaks_and_gives_back(shop: Api) -> None:
    call = await called(shop)
    assert (await shop.says("/v1/sessions/s-1", "anybody?"))["message"] == ""
    assert (await shop.client.get("/v1/sessions/s-1")).json()["phase"] == "escalated"

    case = (await shop.client.get(call)).json()
    assert case["escalation"]["status"] == "open"
    assert case["payload"]["fields"][0]["value"] == "city"
    assert [said["content"] for said in case["since"]] == ["anybody?"]

    claimed = await shop.client.post(f"{call}/claim", json={"by": "ann"})
    assert (claimed.status_code, claimed.json()["claimed_by"]) == (200, "ann")
    refused = await shop.client.post(f"{call}/messages", json={"by": "bob", "message": "Hi"})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_with_you")
    said = await shop.client.post(f"{call}/messages", json={"by": "ann", "message": "Hi, Ann."})
    assert (said.status_code, said.json()["status"]) == (200, "claimed")
    released = await shop.client.post(f"{call}/release", json={"by": "ann"})
    assert (released.status_code, released.json()["status"]) == (200, "released")

    history = (await shop.client.get("/v1/sessions/s-1/history")).json()["entries"]
    assert [said["role"] for said in history][-3:] == ["user", "operator", "assistant"]
    assert (await shop.client.get("/v1/sessions/s-1")).json()["phase"] == "collecting"
    assert (await shop.says("/v1/sessions/s-1", "21"))["accumulated_context"]["gears"] == 21
    late = await shop.client.post(f"{call}/messages", json={"by": "ann", "message": "Still there?"})
    assert late.status_code == 409


async def test_an_act_that_is_sent_again_answers_as_it_did_the_first_time(shop: Api) -> None:
    call = await called(shop)
    acts: list[tuple[str, dict[str, str]]] = [
        ("claim", {"by": "ann"}),
        ("messages", {"by": "ann", "message": "Hi, Ann."}),
        ("release", {"by": "bob"}),
    ]

    async def act(number: int) -> Any:
        what, body = acts[number]
        key = {"Idempotency-Key": f"k-{number}"}
        return await shop.client.post(f"{call}/{what}", json=body, headers=key)

    first = [await act(number) for number in range(3)]
    again = [await act(number) for number in range(3)]

    assert [each.json()["status"] for each in first] == ["claimed", "claimed", "released"]
    assert [each.json() for each in again] == [each.json() for each in first]
    assert {each.headers["idempotent-replay"] for each in again} == {"true"}
    assert (await shop.client.get("/v1/sessions/s-1")).json()["version"] == 5


async def test_a_call_of_before_is_not_acted_on_in_the_next_one(shop: Api) -> None:
    first = await called(shop)
    await shop.client.post(f"{first}/release", json={"by": "ann"})
    await shop.says("/v1/sessions/s-1", "a person, please")

    assert (await shop.client.post(f"{first}/claim", json={"by": "ann"})).status_code == 409
    [open_now] = (await shop.client.get("/v1/escalations")).json()["escalations"]
    assert open_now["status"] == "open"
    assert first != f"/v1/escalations/{open_now['id']}"


async def test_calls_are_listed_by_status_page_by_page(shop: Api) -> None:
    calls = [await called(shop, f"s-{number}") for number in range(5)]
    await shop.client.post(f"{calls[0]}/claim", json={"by": "ann"})
    await shop.client.post(f"{calls[1]}/release", json={"by": "ann"})

    async def listed(**wanted: Any) -> Any:
        return (await shop.client.get("/v1/escalations", params=wanted)).json()

    def sessions(page: Any) -> list[str]:
        return [entry["session_id"] for entry in page["escalations"]]

    first = await listed(limit=3)
    second = await listed(limit=3, cursor=first["next_cursor"])
    assert [sessions(first), sessions(second)] == [["s-4", "s-3", "s-2"], ["s-0"]]
    assert second["next_cursor"] is None
    assert sessions(await listed(status="claimed")) == ["s-0"]
    assert sessions(await listed(status="released")) == ["s-1"]
    assert sessions(await listed(status="expired")) == []
    assert sessions(await listed(journey_id="workshop", status="open")) == ["s-4", "s-3", "s-2"]
    for wrong in ({"status": "lost"}, {"cursor": "x"}, {"limit": "0"}, {"statuss": "open"}):
        refused = await shop.client.get("/v1/escalations", params=wrong)
        assert refused.status_code == 422, wrong
    await shop.client.delete("/v1/sessions/s-4")
    assert (await shop.client.get(calls[4])).status_code == 404


async def test_what_is_no_call_or_no_act_is_refused(shop: Api) -> None:
    call = await called(shop)
    for path in ("/v1/escalations/nothing", "/v1/escalations/%00", f"/v1/escalations/{'x' * 90}"):
        assert (await shop.client.get(path)).json()["code"] == "escalation_not_found"
        assert (await shop.client.post(f"{path}/claim", json={"by": "a"})).status_code == 404
    for act, body in (
        ("claim", {}),
        ("claim", {"by": ""}),
        ("claim", {"by": "a\nb"}),
        ("claim", {"by": "x" * 101}),
        ("claim", {"by": 7}),
        ("claim", {"by": "ann", "webhook": "http://127.0.0.1"}),
        ("messages", {"by": "ann"}),
        ("messages", {"by": "ann", "message": "  "}),
        ("messages", {"by": "ann", "message": "a\x00b"}),
        ("messages", {"by": "ann", "message": "x" * 17_000}),
        ("release", {"by": "ann", "message": "bye"}),
    ):
        refused = await shop.client.post(f"{call}/{act}", json=body)
        assert refused.status_code == 422, (act, body, refused.text)
    assert (await shop.client.get(call)).json()["escalation"]["status"] == "open"


async def test_operators_need_the_key_as_everybody_does(serve: Serve) -> None:
    served = one(Workshop, clerk=clerk)
    shop: Api = await serve(served, keys=(KEY,), client={"Authorization": f"Bearer {KEY}"})
    call = await called(shop)

    stranger = {"Authorization": "Bearer of-another-house-0123456789"}
    body = {"by": "ann", "message": "Hi"}
    for answer in (
        await shop.client.get("/v1/escalations", headers=stranger),
        await shop.client.get(call, headers=stranger),
        await shop.client.post(f"{call}/claim", json={"by": "ann"}, headers=stranger),
        await shop.client.post(f"{call}/messages", json=body, headers=stranger),
        await shop.client.post(f"{call}/release", json={"by": "ann"}, headers=stranger),
    ):
        assert answer.status_code == 401
    assert (await shop.client.get(call)).json()["escalation"]["status"] == "open"


async def test_calls_of_journeys_that_are_not_served_here_are_none_of_ours(
    serve: Serve, memory_url: str
) -> None:
    shop: Api = await serve(one(Workshop, clerk=clerk), url=memory_url)
    call = await called(shop)
    post: Api = await serve(one(Letter, **staff(Letter)), url=memory_url)

    assert (await post.client.get("/v1/escalations")).json()["escalations"] == []
    assert (await post.client.get(call)).status_code == 404
    assert (await post.client.post(f"{call}/claim", json={"by": "ann"})).status_code == 404


async def test_the_description_tells_of_the_phase_and_of_operators(shop: Api) -> None:
    described = (await shop.client.get("/openapi.json")).json()
    phases = described["components"]["schemas"]["ConversationPhase"]["enum"]

    assert phases == ["greeting", "collecting", "escalated", "completed"]
    acts = [path.rpartition("/")[2] for path in described["paths"] if "{escalation_id}" in path]
    assert acts == ["{escalation_id}", "claim", "messages", "release"]
