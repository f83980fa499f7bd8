"""Keys of the database: scopes, owners of sessions, revocation."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import APIRouter
from sqlalchemy import literal_column, select, update

from journeygraph import ConfigurationError
from journeygraph.graphs.storage.statements import Sql, Statement, now
from journeygraph.graphs.storage.store import open_store
from journeygraph.graphs.storage.tables import api_keys, sessions
from journeygraph.server.access import held_keys
from journeygraph.server.access.callers import RULES, Scope, rule_of
from journeygraph.server.access.held_keys import LOOK_SECONDS
from journeygraph.server.access.keys import KeyRequest, StoredKeys
from journeygraph.server.app import app_of
from journeygraph.server.http.auth import KNOWN_SECONDS, Keys
from journeygraph.server.http.routing import ApiRoute
from journeygraph.server.settings import Settings
from tests.http.test_http_access import ROUTES, with_key
from tests.http.test_http_turns import until
from tests.support import api as helpers
from tests.support import command
from tests.support.api import KEY, Api, wired
from tests.support.command import flat, run

serve, folder, logging_as_before = helpers.serve, command.folder, command.logging_as_before

LONG_AGO = Sql.of(update(sessions).values(expires_at=literal_column("'2000'")), all_tenants=True)
TOKENS = Sql.of(select(api_keys).where(api_keys.c.made_by.is_not(None)), all_tenants=True)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def keyed(serve: Callable[..., Any], clock: Clock, store_url: str) -> Api:
    """The post office, on every store, with keys of the database alone."""
    api: Api = await serve(keys=Keys(uses_stored=True, timer=clock), url=store_url)
    return api


@pytest.fixture
async def office(serve: Callable[..., Any], clock: Clock) -> Api:
    """The same, in memory."""
    api: Api = await serve(keys=Keys(uses_stored=True, timer=clock))
    return api


async def made(api: Api, *scopes: str, **more: Any) -> dict[str, str]:
    """Make a key; return the header with it."""
    return with_key((await stored(api).create(KeyRequest(scopes, **more))).secret)


def stored(api: Api) -> StoredKeys:
    assert api.app_state.keys.stored is not None
    return api.app_state.keys.stored


def id_in(header: dict[str, str]) -> str:
    return header["Authorization"].removeprefix("Bearer ")[:15]


async def started(api: Api, key: dict[str, str], **body: Any) -> str:
    begun = await api.client.post(
        "/v1/sessions", json={"journey_id": "parcel", **body}, headers=key
    )
    assert begun.status_code == 201, begun.text
    return str(begun.json()["session_id"])


# --- Scopes --------------------------------------------------------------------------------------


PUBLIC = {
    *("/healthz", "/readyz", "/openapi.json", "/", "/page/{name:path}"),
    *("/docs", "/docs/{name:path}", "/docs/swagger/{name}"),
}
"""The routes that need no key."""


def each(routes: Iterable[Any]) -> Iterator[Any]:
    for route in routes:
        if router := getattr(route, "original_router", None):
            yield from each(router.routes)
        else:
            yield route


def test_every_route_has_a_scope_and_every_scope_a_route() -> None:
    routes = list(each(app_of(wired()).routes))
    keyed = [one for one in routes if isinstance(one, ApiRoute)]
    found = {(method, route.path) for route in keyed for method in route.methods or ()}

    assert found == RULES.keys()
    assert all(route.rule == rule_of(route.methods or (), route.path) for route in keyed)
    assert {one.path for one in routes if not isinstance(one, ApiRoute)} == PUBLIC


def test_a_route_without_a_scope_is_refused_when_it_is_declared() -> None:
    router = APIRouter(route_class=ApiRoute)

    with pytest.raises(ConfigurationError, match=r"GET /v1/secrets has no scope. Add it to RULES"):
        router.add_api_route("/v1/secrets", lambda: None, methods=["GET"])


def needed(method: str, path: str) -> Scope:
    """The scope of a route of `ROUTES`."""
    places = {"s-1": "{session_id}", "e-1": "{escalation_id}", "street": "{name}"}
    places["u-1"] = "{user_id:path}"
    parts = [places.get(part, part) for part in path.split("/")]
    for number, journey in product(("{version}", "{turn}"), ("{journey_id}", "{model}")):
        known = {"1": number, "parcel": journey}
        rule = RULES.get((method, "/".join(known.get(part, part) for part in parts)))
        if rule:
            return rule.scope
    raise AssertionError(path)


ORDER = [Scope.TALK, Scope.OPERATE, Scope.ADMIN]


@pytest.mark.parametrize("scope", ORDER)
async def test_a_key_reaches_the_routes_of_its_scope_alone(office: Api, scope: Scope) -> None:
    key = await made(office, scope)

    for method, path in ROUTES:
        answer = await office.client.request(method, path, headers=key)
        refused = answer.status_code == 403 and answer.json()["code"] == "out_of_scope"
        assert refused is (ORDER.index(needed(method, path)) > ORDER.index(scope)), (method, path)


async def test_keys_of_the_settings_are_for_everything(serve: Callable[..., Any]) -> None:
    api = await serve(keys=(KEY,))
    talk = await made(api, "talk")

    for key, status in ((with_key(KEY), 200), (talk, 403), (with_key(KEY + "x"), 401)):
        assert (await api.client.get("/v1/sessions", headers=key)).status_code == status


# --- Owners of sessions --------------------------------------------------------------------------

OF_A_SESSION = [(method, path) for method, path in ROUTES if "/s-1" in path]
BODIES: dict[str, Any] = {
    "messages": {"message": "hi"},
    "resume": {"value": 1},
    "rollback": {"version": 0},
    "fork": {"version": 0},
    "events": {"name": "paid"},
}


async def asked(api: Api, method: str, path: str, key: dict[str, str], **headers: str) -> Any:
    body = BODIES.get(path.rpartition("/")[2]) if method == "POST" else None
    sent = {**key, "X-Request-ID": "the-same", **headers}
    return await api.client.request(method, path, headers=sent, json=body)


@pytest.mark.parametrize("events", [False, True])
async def test_a_session_of_another_user_is_as_one_that_does_not_exist(
    office: Api, events: bool
) -> None:
    ann, ben = await made(office, "talk", user="ann"), await made(office, "talk", user="ben")
    theirs = await started(office, ben)
    nobodys = await started(office, await made(office, "talk"))
    accept = helpers.EVENTS if events else {}
    for session in (theirs, nobodys):
        for method, path in OF_A_SESSION:
            foreign = await asked(office, method, path.replace("s-1", session), ann, **accept)
            absent = await asked(office, method, path.replace("s-1", "none"), ann, **accept)
            assert (foreign.status_code, foreign.content) == (absent.status_code, absent.content)
            heads = [{**one.headers, "date": ""} for one in (foreign, absent)]
            assert heads[0] == heads[1]
            assert foreign.status_code in (204, 403, 404), (method, path)

    assert (await office.client.get(f"/v1/sessions/{theirs}", headers=ben)).status_code == 200


async def test_an_expired_session_of_another_user_is_no_different(
    serve: Callable[..., Any], clock: Clock
) -> None:
    api = await serve(keys=Keys(uses_stored=True, timer=clock))
    ann, ben = await made(api, "talk", user="ann"), await made(api, "talk", user="ben")
    session = await started(api, await made(api, "talk"), user="ben", session_id="s-1")
    await api.app_state.directory.store.write(Statement(LONG_AGO, [{}]))

    assert (await api.client.get(f"/v1/sessions/{session}", headers=ben)).status_code == 410
    assert (await api.client.get(f"/v1/sessions/{session}", headers=ann)).status_code == 404
    message = {"message": "hi"}
    answer = await api.client.post("/v1/sessions/s-1/messages", json=message, headers=ann)
    assert answer.status_code == 404


async def test_a_key_of_a_user_talks_in_the_sessions_of_this_user(keyed: Api) -> None:
    server, ann = await made(keyed, "talk"), await made(keyed, "talk", user="ann")
    own = await started(keyed, ann)
    given = await started(keyed, server, user="ann", session_id="by-the-server")

    for session in (own, given):
        for key in (ann, server):
            said = await keyed.client.post(
                f"/v1/sessions/{session}/messages", json={"message": "hi"}, headers=key
            )
            assert said.status_code == 200
    for headers in ({**ann, **helpers.EVENTS}, ann):
        path = f"/v1/sessions/{own}/messages"
        told = await keyed.client.post(path, json={"message": "hi"}, headers=headers)
        assert told.status_code == 200


async def test_a_key_of_a_user_chooses_neither_user_nor_id(office: Api) -> None:
    ann = await made(office, "talk", user="ann")
    begun = {"journey_id": "parcel"}

    for more in ({"user": "ben"}, {"session_id": "s-1"}):
        answer = await office.client.post("/v1/sessions", json={**begun, **more}, headers=ann)
        assert (answer.status_code, answer.json()["code"]) == (403, "out_of_reach")
    await started(office, ann, user="ann")


async def test_a_key_of_one_session_reaches_no_other(office: Api) -> None:
    one = await made(office, "talk", user="ann", session="s-1")
    other = await started(office, await made(office, "talk", user="ann"))
    path = f"/v1/sessions/{other}"

    assert await started(office, one) == "s-1"
    assert (await office.client.get("/v1/sessions/s-1", headers=one)).status_code == 200
    assert (await office.client.get(path, headers=one)).status_code == 404


async def test_the_start_of_a_session_does_not_tell_of_another_users(office: Api) -> None:
    await started(office, await made(office, "talk"), user="ben", session_id="s-1")
    ann = await made(office, "talk", user="ann", session="s-1")

    answer = await office.client.post("/v1/sessions", json={"journey_id": "parcel"}, headers=ann)

    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


async def test_a_fork_has_the_owner_of_its_session(office: Api) -> None:
    operate, ann = await made(office, "operate"), await made(office, "talk", user="ann")
    session = await started(office, ann)
    fork = await office.client.post(
        f"/v1/sessions/{session}/fork", json={"version": 0, "session_id": "f"}, headers=operate
    )

    assert fork.status_code == 201
    assert (await office.client.get("/v1/sessions/f", headers=ann)).status_code == 200


async def test_a_start_that_is_sent_again_is_the_same_for_one_user(office: Api) -> None:
    again = {"Idempotency-Key": "once"}
    ann = [await made(office, "talk", user="ann") for _ in range(2)]
    ben = await made(office, "talk", user="ben")

    first, second = [await started(office, {**key, **again}) for key in ann]

    assert first == second
    assert await started(office, {**ben, **again}) != first


# --- Life ----------------------------------------------------------------------------------------


async def test_a_key_that_is_revoked_is_refused_within_seconds(keyed: Api, clock: Clock) -> None:
    key = await made(keyed, "operate")
    assert (await keyed.client.get("/v1/sessions", headers=key)).status_code == 200

    await stored(keyed).revoke(id_in(key))
    clock.now += KNOWN_SECONDS

    assert (await keyed.client.get("/v1/sessions", headers=key)).status_code == 401
    assert KNOWN_SECONDS <= 5


async def test_a_key_is_looked_up_once_in_seconds(
    office: Api, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, found = await made(office, "operate"), []
    find = StoredKeys.find

    async def counted(self: StoredKeys, secret: str) -> Any:
        found.append(secret)
        return await find(self, secret)

    monkeypatch.setattr(StoredKeys, "find", counted)
    for _ in range(3):
        assert (await office.client.get("/v1/sessions", headers=key)).status_code == 200
    assert len(found) == 1
    clock.now += KNOWN_SECONDS
    await office.client.get("/v1/sessions", headers=key)
    assert len(found) == 2


async def test_a_rotated_key_ends_after_its_overlap(keyed: Api, clock: Clock) -> None:
    key = await made(keyed, "operate", name="desk", seconds=3_600)
    new = await stored(keyed).rotate(id_in(key), 60)
    gone = await stored(keyed).rotate(new.key.shown, 0)

    statuses = []
    for header in (key, with_key(new.secret), with_key(gone.secret)):
        statuses.append((await keyed.client.get("/v1/sessions", headers=header)).status_code)
    assert statuses == [200, 401, 200]
    assert (gone.key.name, gone.key.scopes) == ("desk", "operate")
    assert gone.key.expires_at
    assert gone.key.expires_at > new.key.created_at
    assert [one.state for one in await stored(keyed).page()].count("expired") == 1


@pytest.mark.parametrize("change", ["secret", "id", "end", "mark"])
async def test_a_key_that_differs_in_any_part_is_wrong(office: Api, change: str) -> None:
    secret = (await made(office, "admin"))["Authorization"].removeprefix("Bearer ")
    mark, id_, rest = secret.split("_", 2)
    flipped = "A" if rest[5] != "A" else "B"
    wrong = {
        "secret": f"{mark}_{id_}_{rest[:5]}{flipped}{rest[6:]}",
        "id": f"{mark}_{'0' * 12}_{rest}",
        "end": secret[:-1],
        "mark": f"jx_{id_}_{rest}",
    }[change]

    assert (await office.client.get("/v1/sessions", headers=with_key(wrong))).status_code == 401
    assert (await office.client.get("/v1/sessions", headers=with_key(secret))).status_code == 200


# --- The command ---------------------------------------------------------------------------------


def test_the_command_makes_lists_replaces_and_revokes(kept_url: str, folder: Path) -> None:
    del folder
    at = ("--store", kept_url)
    secret = run("keys", "create", "--scope", "talk", "--name", "phone", *at).stdout.strip()
    id_ = secret[:15]
    listed = json.loads(run("keys", "list", "--json", *at).stdout)["keys"]
    replaced = run("keys", "rotate", id_, "--overlap", "1h", *at).stdout.strip()

    assert [(one["key"], one["name"], one["scopes"]) for one in listed] == [(id_, "phone", "talk")]
    assert secret not in json.dumps(listed)
    assert "digest" not in listed[0]
    assert asyncio.run(valid(kept_url, secret, replaced)) == [True, True]
    assert "is revoked" in flat(run("keys", "revoke", id_, *at).stdout)
    assert asyncio.run(valid(kept_url, secret, replaced)) == [False, True]


async def valid(url: str, *secrets: str) -> list[bool]:
    store = await open_store(url, None)
    try:
        return [await StoredKeys(store).find(secret) is not None for secret in secrets]
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create",), "A key needs a scope. Scopes: talk, operate, admin."),
        (("create", "--scope", "tlak"), "'tlak' is not a scope"),
        (("create", "--scope", "admin", "--user", "ann"), "has the scope talk alone"),
        (("create", "--scope", "talk", "--user", ".."), "user must not be '.' or '..'"),
        (("create", "--scope", "talk", "--ends", "soon"), "'soon' is not a time"),
        (("create", "--scope", "talk", "--ends", "0s"), "from 1 second to 10 years"),
        (("revoke", "jg_0"), "There is no key 'jg_0'. journeygraph keys list shows the ids."),
        (("rotate", "jg_0", "--overlap", "9"), "'9' is not a time"),
        (("list", "--store", "memory://"), "ends with this command"),
    ],
)
def test_a_wrong_call_says_what_is_right(folder: Path, words: tuple[str, ...], said: str) -> None:
    del folder
    assert said in flat(run("keys", *words, code=1).output)


def test_a_wrong_use_of_arguments_is_a_wrong_call(folder: Path) -> None:
    del folder
    for words in (("list", "jg_0"), ("revoke",), ("list", "--scope", "talk")):
        run("keys", *words, code=2)


def test_the_setting_asks_for_keys_of_the_database() -> None:
    assert not Keys(Settings(stored_keys=False).keys())
    assert Keys(uses_stored=True)


# --- Tokens --------------------------------------------------------------------------------------


async def token(api: Api, key: dict[str, str], **body: Any) -> dict[str, str]:
    answer = await api.client.post("/v1/tokens", json=body, headers=key)
    assert answer.status_code == 201, answer.text
    return with_key(answer.json()["token"])


async def test_a_token_talks_for_its_user_and_ends_after_15_minutes(
    keyed: Api, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = await made(keyed, "operate")
    ann, ben = await token(keyed, desk, user="ann"), await token(keyed, desk, user="ben")
    session = await started(keyed, ann)
    path = f"/v1/sessions/{session}"

    said = await keyed.client.post(f"{path}/messages", json={"message": "hi"}, headers=ann)

    assert said.status_code == 200
    assert (await keyed.client.get(path, headers=ben)).status_code == 404
    assert (await keyed.client.get("/v1/sessions", headers=ann)).status_code == 403
    more = await keyed.client.post("/v1/tokens", json={"user": "x"}, headers=ann)
    assert more.status_code == 403
    later = now() + timedelta(minutes=15)
    monkeypatch.setattr("journeygraph.server.access.keys.now", lambda: later)
    assert (await keyed.client.get(path, headers=ann)).status_code == 401
    await token(keyed, desk, user="ann")
    rows = await keyed.app_state.directory.store.read(TOKENS)
    assert [row["user_id"] for row in rows] == ["ann"], "those that are over are removed"


async def test_a_token_of_one_session_begins_it(office: Api) -> None:
    desk = await made(office, "operate")
    ann = await token(office, desk, user="ann", session_id="s-1")

    assert await started(office, ann, session_id="s-1") == "s-1"
    other = await office.client.post(
        "/v1/tokens", json={"user": "ben", "session_id": "s-1"}, headers=desk
    )
    assert (other.status_code, other.json()["code"]) == (409, "session_of_another")
    again = await token(office, desk, user="ann", session_id="s-1")
    assert (await office.client.get("/v1/sessions/s-1", headers=again)).status_code == 200


async def test_a_revoked_key_takes_its_tokens_along(office: Api, clock: Clock) -> None:
    desk = await made(office, "operate")
    ann = await token(office, desk, user="ann")
    assert (await office.client.get("/v1/journeys", headers=ann)).status_code == 200

    await stored(office).revoke(id_in(desk))
    clock.now += KNOWN_SECONDS

    assert (await office.client.get("/v1/journeys", headers=ann)).status_code == 401
    assert [one.user_id for one in await stored(office).page()] == [None], "tokens are not listed"


async def test_a_token_ends_with_a_key_that_ends_earlier(keyed: Api) -> None:
    key = await stored(keyed).create(KeyRequest(("operate",), seconds=60))

    short = await keyed.client.post(
        "/v1/tokens", json={"user": "ann"}, headers=with_key(key.secret)
    )

    assert short.json()["expires_at"] == key.key.expires_at


async def test_a_replaced_key_takes_its_tokens_along(keyed: Api, clock: Clock) -> None:
    desk = await made(keyed, "operate")
    ann = await token(keyed, desk, user="ann")
    kept = await token(keyed, await made(keyed, "operate"), user="ann")

    await stored(keyed).rotate(id_in(desk), 0)
    clock.now += KNOWN_SECONDS

    for key, status in ((desk, 401), (ann, 401), (kept, 200)):
        assert (await keyed.client.get("/v1/journeys", headers=key)).status_code == status


async def test_a_token_that_is_revoked_leaves_its_key(office: Api, clock: Clock) -> None:
    desk = await made(office, "operate")
    ann = await token(office, desk, user="ann")

    await stored(office).revoke(id_in(ann))
    clock.now += KNOWN_SECONDS

    for key, status in ((ann, 401), (desk, 200)):
        assert (await office.client.get("/v1/journeys", headers=key)).status_code == status
    with pytest.raises(ConfigurationError, match="is a token, which ends soon"):
        await stored(office).rotate(id_in(await token(office, desk, user="ann")), 0)


async def test_a_key_that_is_over_makes_no_token_while_it_is_still_known(office: Api) -> None:
    desk = await made(office, "operate")
    assert (await office.client.get("/v1/sessions", headers=desk)).status_code == 200
    await stored(office).revoke(id_in(desk))

    answer = await office.client.post("/v1/tokens", json={"user": "ann"}, headers=desk)

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert (await office.client.get("/v1/sessions", headers=desk)).status_code == 200, "still known"


def test_the_command_lists_tokens_with_their_keys_and_revokes_one(
    kept_url: str, folder: Path
) -> None:
    del folder
    at = ("--store", kept_url)
    desk = run("keys", "create", "--scope", "operate", "--name", "desk", *at).stdout.strip()
    secret = asyncio.run(token_of(kept_url, desk[3:15]))

    plain = json.loads(run("keys", "list", "--json", *at).stdout)["keys"]
    found = json.loads(run("keys", "list", "--tokens", "--json", *at).stdout)["keys"]
    listed = run("keys", "list", "--tokens", *at).stdout

    assert [one["key"] for one in plain] == [desk[:15]]
    [mine] = [one for one in found if one["made_by"]]
    assert (mine["key"], mine["made_by"], mine["user_id"]) == (secret[:15], desk[:15], "ann")
    assert secret[16:] not in listed + json.dumps(found)
    assert {desk[:15], secret[:15], "s-1"} <= set(listed.split())
    assert "The token" in flat(run("keys", "revoke", secret[:15], *at).stdout)
    assert asyncio.run(valid(kept_url, desk, secret)) == [True, False]
    run("keys", "create", "--scope", "talk", "--tokens", *at, code=2)


async def token_of(url: str, key_id: str) -> str:
    """Return a new token of a key, of one session."""
    store = await open_store(url, None)
    wanted = KeyRequest(("talk",), user="ann", session="s-1", seconds=900, made_by=key_id)
    try:
        return (await StoredKeys(store).create(wanted)).secret
    finally:
        await store.close()


# --- Streams -------------------------------------------------------------------------------------


@asynccontextmanager
async def listening(api: Api, key: dict[str, str], session: str) -> AsyncIterator[Any]:
    """Open the stream of a session; yield its lines after the first one."""
    path = f"/v1/sessions/{session}/events"
    async with api.client.stream("GET", path, headers=key) as stream:
        lines = stream.aiter_lines()
        assert await anext(lines) == "id: 0"
        yield lines


async def test_streams_that_wait_end_with_their_key_by_one_query_for_all(
    keyed: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_keys, "LOOK_SECONDS", 0.02)
    asked: list[set[str]] = []
    over = StoredKeys.over

    async def counted(self: StoredKeys, ids: Iterable[str]) -> set[str]:
        asked.append(set(ids))
        return await over(self, asked[-1])

    monkeypatch.setattr(StoredKeys, "over", counted)
    desk, other = await made(keyed, "operate"), await made(keyed, "talk", user="ann")
    ann = await token(keyed, desk, user="ann")
    session = await started(keyed, ann)

    async with (
        listening(keyed, other, session) as stays,
        listening(keyed, other, session),
        listening(keyed, ann, session) as ends,
    ):
        await stored(keyed).revoke(id_in(desk))  # of which the token is
        assert not [line async for line in ends if line.startswith(("event", "data"))]
        said = await keyed.client.post(
            f"/v1/sessions/{session}/messages", json={"message": "hi"}, headers=other
        )
        assert said.status_code == 200
        while await anext(stays) != "event: version":
            pass

    assert {id_in(other)[3:], id_in(ann)[3:]} in asked
    assert set().union(*asked) == {id_in(other)[3:], id_in(ann)[3:]}
    await until(lambda: true(not keyed.app_state.keys._held._held))
    assert LOOK_SECONDS <= 5


async def test_a_stream_that_waits_ends_at_the_end_of_its_key(
    office: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await stored(office).create(KeyRequest(("operate",), seconds=600))
    session = await started(office, with_key(key.secret))
    passed = SimpleNamespace(time=lambda: time.time() + 599.9)
    monkeypatch.setattr(held_keys, "time", passed)

    async with listening(office, with_key(key.secret), session) as lines:
        assert not [line async for line in lines if line.startswith(("event", "data"))]


async def test_a_store_that_fails_for_a_moment_ends_no_stream(
    office: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(held_keys, "LOOK_SECONDS", 0.02)
    key = await made(office, "operate")
    session = await started(office, key)
    async with listening(office, key, session) as lines:
        with monkeypatch.context() as broken:
            broken.setattr("journeygraph.server.access.keys.HELD", None)
            await until(lambda: true("keys_not_watched" in caplog.text))
        await stored(office).revoke(id_in(key))
        assert not [line async for line in lines if line.startswith(("event", "data"))]


async def true(value: Any) -> Any:
    return value


def test_a_server_tells_that_the_keys_of_its_database_are_not_used(folder: Path) -> None:
    store = f"sqlite:///{folder / 'keys.db'}"
    run("keys", "create", "--scope", "talk", "--store", store)

    with command.served(folder, "orders.py", "--store", store) as (_, _, lines):
        said = "".join(lines)
    assert "not used without JOURNEYGRAPH_STORED_KEYS=true: only requests from this machine" in said
    assert "No API key is set" not in said
    keyed = {"JOURNEYGRAPH_STORED_KEYS": "true"}
    with command.served(folder, "orders.py", "--store", store, **keyed) as (_, _, lines):
        assert "Clients need a key of the database" in "".join(lines)
    keyed = {"JOURNEYGRAPH_API_KEYS": KEY}
    with command.served(folder, "orders.py", "--store", store, **keyed) as (_, _, lines):
        assert "a key of JOURNEYGRAPH_API_KEYS, or one of the database." in "".join(lines)
