"""Tenants over HTTP: what belongs to another one is as what does not exist, on every route."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.http.app_state import wire
from journeygraph.server.http.auth import Keys
from journeygraph.server.settings import Settings
from tests.http.test_http_access import ROUTES, with_key
from tests.support import api as helpers
from tests.support import command, watching
from tests.support.api import EVENTS, KEY, Api, events_in, one, serving
from tests.support.bike_shop import Workshop, clerk
from tests.support.post_office import AGENTS, Parcel
from tests.support.postgres import Postgres
from tests.support.solo import Payload, Solo, function
from tests.support.watching import Watch

serve, folder, watch = helpers.serve, command.folder, watching.watch
Serve = Callable[..., Any]
STORES = ("memory", "sqlite", "fenced")
SECRET = "quince"
BODIES: dict[str, Any] = {
    "messages": {"message": "hi"},
    "resume": {"value": 1},
    "rollback": {"version": 0},
    "fork": {"version": 0},
    "events": {"name": "paid"},
    "claim": {"by": "ann"},
    "release": {"by": "ann"},
}


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Stores of each kind; that on Postgres for a role that row-level security binds."""
    if request.param == "memory":
        yield f"memory://{uuid.uuid4()}"
    elif request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journeys.db'}"
    else:
        server: Postgres = request.getfixturevalue("postgres_server")
        yield server.fenced(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def api(serve: Serve, url: str) -> Api:
    """The post office and the workshop, for clients with keys of the store."""
    made: Api = await serve(
        one(Parcel, **AGENTS), one(Workshop, clerk=clerk), keys=Keys(uses_stored=True), url=url
    )
    return made


async def key_of(api: Api, tenant: str, *scopes: str) -> dict[str, str]:
    stored = api.app_state.keys.stored
    assert stored is not None
    return with_key((await stored.create(KeyRequest(scopes or ("admin",)), tenant)).secret)


async def asked(api: Api, key: dict[str, str], method: str, path: str, **more: Any) -> Any:
    body = BODIES.get(path.rpartition("/")[2]) if method == "POST" else None
    if "escalations" in path and path.endswith("messages"):
        body = {"by": "ann", "message": "Hello"}
    headers = {**key, "X-Request-ID": "the-same", **more}
    return await api.client.request(method, path, headers=headers, json=body)


async def started(api: Api, key: dict[str, str], journey: str = "parcel", **more: Any) -> None:
    body = {"journey_id": journey, "session_id": "s-1", **more}
    answer = await api.client.post("/v1/sessions", json=body, headers=key)
    assert answer.status_code == 201, answer.text


async def says(api: Api, key: dict[str, str], message: str, **headers: str) -> Any:
    path, body = "/v1/sessions/s-1/messages", {"message": message}
    answer = await api.client.post(path, json=body, headers={**key, **headers})
    assert answer.status_code == 200, answer.text
    return answer


OF_A_SESSION = [(method, path) for method, path in ROUTES if "/s-1" in path]
OF_AN_ESCALATION = [(method, path) for method, path in ROUTES if "/e-1" in path]
OF_A_USER = [(method, path) for method, path in ROUTES if "/u-1" in path]
_OF_ONE = (*OF_A_SESSION, *OF_AN_ESCALATION, *OF_A_USER)
OF_NONE = [route for route in ROUTES if route not in _OF_ONE]


@pytest.mark.parametrize("owner", ["default", "acme"])
@pytest.mark.parametrize("scope", ["talk", "operate", "admin"])
async def test_a_session_of_another_tenant_is_as_one_that_does_not_exist(
    api: Api, owner: str, scope: str
) -> None:
    theirs = await key_of(api, owner)
    other = await key_of(api, "default" if owner == "acme" else "acme", scope)
    await started(api, theirs, context={"customer": SECRET})
    for accept in ({}, EVENTS):
        for method, path in OF_A_SESSION:
            foreign = await asked(api, other, method, path, **accept)
            absent = await asked(api, other, method, path.replace("s-1", "none"), **accept)
            assert (foreign.status_code, foreign.content) == (absent.status_code, absent.content)
            heads = [{**answer.headers, "date": ""} for answer in (foreign, absent)]
            assert heads[0] == heads[1]
            assert foreign.status_code in (204, 403, 404), (method, path)
    shown = await asked(api, theirs, "GET", "/v1/sessions/s-1/context")
    assert SECRET in shown.text


async def test_an_escalation_of_another_tenant_is_as_one_that_does_not_exist(api: Api) -> None:
    theirs, other = await key_of(api, "acme"), await key_of(api, "acme-corp")
    await started(api, theirs, "workshop")
    await says(api, theirs, "the city one")
    await says(api, theirs, "a person, please")
    [call] = (await asked(api, theirs, "GET", "/v1/escalations")).json()["escalations"]
    for method, path in OF_AN_ESCALATION:
        foreign = await asked(api, other, method, path.replace("e-1", call["id"]))
        absent = await asked(api, other, method, path.replace("e-1", str(uuid.uuid4())))
        assert (foreign.status_code, foreign.content) == (absent.status_code, absent.content)
        assert foreign.status_code == 404, (method, path)
    assert (await asked(api, other, "GET", "/v1/escalations")).json()["escalations"] == []
    claimed = await asked(api, theirs, "POST", f"/v1/escalations/{call['id']}/claim")
    assert claimed.json()["status"] == "claimed"


@pytest.mark.parametrize("owner", ["default", "acme"])
async def test_a_user_of_another_tenant_is_as_one_that_does_not_exist(api: Api, owner: str) -> None:
    theirs = await key_of(api, owner)
    other = await key_of(api, "default" if owner == "acme" else "acme")
    await started(api, theirs, user="u-1", context={"customer": SECRET})
    for method, path in OF_A_USER:
        foreign = await asked(api, other, method, path)
        absent = await asked(api, other, method, path.replace("u-1", "none"))
        assert (foreign.status_code, foreign.content) == (absent.status_code, absent.content)
        assert (foreign.status_code, foreign.json()["code"]) == (404, "user_not_found")
    assert SECRET in (await asked(api, theirs, "GET", "/v1/users/u-1/export")).text


async def test_a_user_of_one_id_is_deleted_in_one_tenant_alone(api: Api) -> None:
    keys = {tenant: await key_of(api, tenant) for tenant in ("default", "acme", "acme-corp")}
    for tenant, key in keys.items():
        await started(api, key, user="u-1", context={"customer": f"of {tenant}"})
    deleted = (await asked(api, keys["acme"], "DELETE", "/v1/users/u-1")).json()
    assert deleted["sessions"] == 1
    for tenant, key in keys.items():
        shown = await asked(api, key, "GET", "/v1/users/u-1/export")
        assert shown.status_code == (404 if tenant == "acme" else 200)
        found = {other for other in keys if f'"of {other}"' in shown.text}
        assert found == ({tenant} - {"acme"})


async def test_no_list_shows_what_another_tenant_has(api: Api) -> None:
    theirs, other = await key_of(api, "acme"), await key_of(api, "default")
    shown = [route for route in OF_NONE if route[0] == "GET" and route[1] != "/metrics"]
    before = [(await asked(api, other, *route)).text for route in shown]
    await started(api, theirs, context={"customer": SECRET})
    await says(api, theirs, f"street={SECRET}")
    for route in OF_NONE:
        if route[0] == "GET":
            answer = await asked(api, other, *route)
            assert SECRET not in answer.text, route
            assert "s-1" not in answer.text, route
    assert [(await asked(api, other, *route)).text for route in shown] == before


async def test_two_tenants_have_a_session_of_one_id_and_requests_of_one_key(api: Api) -> None:
    keys = {tenant: await key_of(api, tenant) for tenant in ("default", "acme", "acme-corp")}
    once = {"Idempotency-Key": "k-1"}
    for tenant, key in keys.items():
        await started(api, key, context={"customer": tenant})
        first = await says(api, key, f"street={tenant}-street", **once)
        assert "idempotent-replay" not in first.headers
        again = await says(api, key, f"street={tenant}-street", **once)
        assert again.headers["idempotent-replay"] == "true"
        assert again.json()["message"] == first.json()["message"]
    for tenant, key in keys.items():
        for path in ("context", "history", "audit", "versions"):
            shown = (await asked(api, key, "GET", f"/v1/sessions/s-1/{path}")).text
            for stranger in keys.keys() - {tenant}:
                assert f"{stranger}-street" not in shown
        [listed] = (await asked(api, key, "GET", "/v1/sessions")).json()["sessions"]
        assert listed["session_id"] == "s-1"
    assert (await asked(api, keys["acme"], "DELETE", "/v1/sessions/s-1")).status_code == 204
    assert (await asked(api, keys["acme"], "GET", "/v1/sessions/s-1")).status_code == 404
    for tenant in ("default", "acme-corp"):
        assert (await asked(api, keys[tenant], "GET", "/v1/sessions/s-1")).status_code == 200


async def test_the_events_of_a_turn_are_those_of_the_tenant(api: Api) -> None:
    acme, corp = await key_of(api, "acme"), await key_of(api, "acme-corp")
    told = {}
    for name, key in (("acme", acme), ("corp", corp)):
        await started(api, key)
        told[name] = (await says(api, key, f"street={name}-street", **EVENTS)).text
    for name, key in (("acme", acme), ("corp", corp)):
        stream = await asked(api, key, "GET", "/v1/sessions/s-1/turns/1/events")
        assert stream.text == told[name]
        _, last = events_in(stream.text)[-1]
        assert last["accumulated_context"]["street"] == f"{name}-street"


async def test_a_stream_of_a_session_hears_nothing_of_another_tenant(api: Api) -> None:
    acme, corp = await key_of(api, "acme"), await key_of(api, "acme-corp")
    for key in (acme, corp):
        await started(api, key)
    path = "/v1/sessions/s-1/events"
    async with api.client.stream("GET", path, headers={**acme, **EVENTS}) as stream:
        lines = stream.aiter_lines()
        await says(api, corp, f"street={SECRET}")
        assert (await asked(api, corp, "DELETE", "/v1/sessions/s-1")).status_code == 204
        await says(api, acme, "street=Main")
        seen = []
        async for line in lines:
            seen.append(line)
            if line.startswith("data: "):
                break
    text = "\n".join(seen)
    assert "street=Main" in text
    assert SECRET not in text
    assert "deleted" not in text


async def test_clients_whose_key_names_no_tenant_have_that_of_the_settings(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    """A server with JOURNEYGRAPH_TENANT, and keys of the settings, of the table, or none."""
    monkeypatch.setenv("JOURNEYGRAPH_TENANT", "acme")
    monkeypatch.setenv("JOURNEYGRAPH_STORE", url)
    monkeypatch.setenv("JOURNEYGRAPH_METRICS", "true")
    for key in (KEY, ""):
        monkeypatch.setenv("JOURNEYGRAPH_API_KEYS", key)
        mine = with_key(key) if key else {}
        name = f"of-{len(key)}"
        async with serving(wire(Settings(), [str(folder / "orders.py")])) as api:
            body = {"journey_id": "orders", "session_id": name}
            begun = await api.client.post("/v1/sessions", json=body, headers=mine)
            assert begun.status_code == 201, begun.text
            path = f"/v1/sessions/{name}/messages"
            said = await api.client.post(path, json={"message": "a pear"}, headers=mine)
            assert said.json()["accumulated_context"] == {"item": "pear"}, said.text
            assert (await api.client.get("/metrics", headers=mine)).status_code == 200
            if not key:
                continue
            for tenant, status in (("acme", 200), ("default", 404)):
                stored = await key_of(api, tenant)
                shown = await api.client.get(f"/v1/sessions/{name}", headers=stored)
                assert shown.status_code == status, tenant
            other = await key_of(api, "default")
            assert (await api.client.post("/v1/sessions", json=body, headers=other)).is_success
            assert (await api.client.get("/metrics", headers=other)).status_code == 403
            for message in ("a pear", "hello"):
                answer = await api.client.post(path, json={"message": message}, headers=other)
                assert answer.is_success
            streamed = await api.client.post(
                path, json={"message": SECRET}, headers={**mine, **EVENTS}
            )
            assert streamed.status_code == 200
            events = f"/v1/sessions/{name}/turns/2/events"
            logged = await api.client.get(events, headers=mine)
            assert "id: 2:0:stored" not in logged.text
            # Not the log of the turn of the other tenant, but the stored reply of its own turn.
            foreign = await api.client.get(events, headers=other)
            assert "id: 2:0:stored" in foreign.text


async def test_the_turns_of_all_tenants_count_together_and_end_before_the_server(
    serve: Serve, memory_url: str
) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(payload: Payload) -> Payload:
        begun.set()
        await gate.wait()
        return function(payload)

    api = await serve(one(Solo, clerk=slow), keys=Keys(uses_stored=True), url=memory_url)
    turns = api.app_state.turns
    keys = [await key_of(api, tenant) for tenant in ("default", "acme")]
    for key in keys:
        await started(api, key, "solo")
    running = asyncio.ensure_future(says(api, keys[1], "hello"))
    await begun.wait()
    assert len(turns) == len(turns.of("acme")) == turns.begun == 1
    turns.close()
    ending = asyncio.ensure_future(turns.finish())
    assert not ending.done()
    gate.set()
    assert (await running).json()["message"] == "heard hello"
    await ending
