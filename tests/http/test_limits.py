"""Limits of what clients ask, tokens of users, and pages of other origins."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import ConfigurationError
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.server.access.keys import StoredKeys
from journeygraph.server.access.limits import RateLimits, _network, read_limits
from journeygraph.server.http.app_state import wire
from journeygraph.server.http.auth import KNOWN_SECONDS, Keys
from journeygraph.server.settings import Settings
from journeygraph.server.telemetry import Metrics
from tests.http.test_http_access import with_key
from tests.http.test_http_models import Weather
from tests.http.test_keys import Clock, made, started
from tests.http.test_metrics import shown
from tests.support import api as helpers
from tests.support import command, watching
from tests.support.api import KEY, Api
from tests.support.redis import RedisServer
from tests.support.watching import Watch

serve, folder, watch = helpers.serve, command.folder, watching.watch


@pytest.fixture
def clock() -> Clock:
    return Clock()


def limits(clock: Clock, redis_url: str | None = None, **texts: str) -> RateLimits:
    read = [limit for counted, text in texts.items() for limit in read_limits(counted, text)]
    return RateLimits(read, redis_url, clock)


def keyed(given: RateLimits) -> dict[str, Any]:
    """Arguments of `serve` for keys of the database, with limits."""
    return {"keys": Keys(uses_stored=True, limits=given), "limits": given}


async def listed(api: Api, key: dict[str, str]) -> Any:
    return await api.client.get("/v1/journeys", headers=key)


# --- Limits --------------------------------------------------------------------------------------


async def test_requests_over_a_limit_are_refused_until_its_time_is_over(
    serve: Callable[..., Any], clock: Clock, watch: Watch
) -> None:
    api = await serve(**keyed(limits(clock, requests="key 2/minute")))
    first, second = await made(api, "talk"), await made(api, "talk")

    answers = [await listed(api, first) for _ in range(3)]

    assert [one.status_code for one in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["code"] == "too_many_requests"
    assert refused.json()["detail"].startswith("The limit of requests of this key is reached: 2/m")
    assert refused.headers["retry-after"] == "60"
    assert (await listed(api, second)).status_code == 200
    clock.now += 59
    assert (await listed(api, first)).headers["retry-after"] == "1"
    clock.now += 1
    assert (await listed(api, first)).status_code == 200
    told = {"journeygraph.limit.name": "requests", "journeygraph.limit.caller": "key"}
    assert watch.points("journeygraph.limit.refused") == [(told, 2)]


async def test_a_tenant_and_an_address_are_counted_over_all_keys(
    serve: Callable[..., Any], clock: Clock
) -> None:
    for who in ("tenant", "address"):
        api = await serve(**keyed(limits(clock, requests=f"{who} 2/hour")))
        keys = [await made(api, "talk") for _ in range(3)]
        assert [(await listed(api, key)).status_code for key in keys] == [200, 200, 429], who


async def test_keys_of_one_user_count_together(serve: Callable[..., Any], clock: Clock) -> None:
    api = await serve(**keyed(limits(clock, requests="key 2/hour")))
    keys = [await made(api, "talk", user=user) for user in ("ann", "ann", "ann", "ben")]

    assert [(await listed(api, key)).status_code for key in keys] == [200, 200, 429, 200]


@pytest.mark.parametrize("events", [False, True])
async def test_turns_are_limited_and_reading_is_not(
    serve: Callable[..., Any], clock: Clock, events: bool
) -> None:
    given = limits(clock, turns="address 1/hour")
    api = await serve(limits=given, keys=Keys(limits=given))
    session = await api.begin()
    headers = helpers.EVENTS if events else {}

    said = [
        await api.client.post(f"{session}/messages", json={"message": "hi"}, headers=headers)
        for _ in range(2)
    ]

    assert [one.status_code for one in said] == [200, 429]
    assert (await api.client.get(session)).json()["version"] == 1
    assert (await api.client.get(f"{session}/history")).status_code == 200


async def test_new_sessions_are_limited(serve: Callable[..., Any], clock: Clock) -> None:
    api = await serve(**keyed(limits(clock, sessions="tenant 1/day")))
    key = await made(api, "talk")
    session = await started(api, key)

    answer = await api.client.post("/v1/sessions", json={"journey_id": "parcel"}, headers=key)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "86400")
    assert (await api.client.get(f"/v1/sessions/{session}", headers=key)).status_code == 200


@pytest.mark.parametrize("events", [False, True])
async def test_model_tokens_of_turns_are_limited(
    serve: Callable[..., Any], clock: Clock, events: bool
) -> None:
    spent = asyncio.Queue[int]()

    class Watched(RateLimits):
        async def spend(self, caller: Any, tokens: int) -> None:
            await super().spend(caller, tokens)
            spent.put_nowait(tokens)

    given = Watched(read_limits("tokens", "tenant 5/day"), None, clock)
    headers = helpers.EVENTS if events else {}
    async with ScriptedModel() as model:
        model.will_answer({"response": "It is sunny."}, {"response": "It rains."})
        api = await serve(helpers.one(Weather), model=model, **keyed(given))
        key = await made(api, "talk")
        session = await started(api, key, journey_id="weather")

        async def say() -> Any:
            path, hi = f"/v1/sessions/{session}/messages", {"message": "hi"}
            return await api.client.post(path, json=hi, headers={**key, **headers})

        assert (await say()).status_code == 200
        assert await spent.get() > 5
        second = await say()
        clock.now += 86_400
        assert (await say()).status_code == 200

    assert (second.status_code, second.json()["code"]) == (429, "too_many_requests")
    assert second.json()["detail"].startswith("The limit of tokens of this tenant is reached")


def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets each key that is looked up in the store from now on."""
    asked: list[str] = []
    find = StoredKeys.find

    async def counted(self: StoredKeys, secret: str) -> Any:
        asked.append(secret)
        return await find(self, secret)

    monkeypatch.setattr(StoredKeys, "find", counted)
    return asked


async def test_wrong_keys_are_limited_and_a_known_key_is_not(
    serve: Callable[..., Any], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = limits(clock, wrong_keys="address 2/minute")
    api = await serve(**keyed(given))
    right, other = await made(api, "talk"), await made(api, "talk")
    assert (await listed(api, right)).status_code == 200
    wrong = right["Authorization"][:-4] + "aaaa"
    asked = looked_up(monkeypatch)
    statuses = [(await listed(api, {"Authorization": wrong})).status_code for _ in range(4)]

    assert statuses == [401, 401, 429, 429]
    assert len(asked) == 2
    assert (await listed(api, {"Authorization": "Bearer nonsense"})).status_code == 429
    assert (await listed(api, {})).status_code == 401, "no key is not a wrong one"
    assert (await listed(api, right)).status_code == 200
    assert (await listed(api, other)).status_code == 429
    clock.now += 60
    assert (await listed(api, other)).status_code == 200


async def test_a_key_that_is_over_is_a_wrong_one(
    serve: Callable[..., Any], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = limits(clock, wrong_keys="address 2/minute")
    keys = Keys(uses_stored=True, limits=given, timer=clock)
    api = await serve(keys=keys, limits=given)
    key = await made(api, "talk")
    assert (await listed(api, key)).status_code == 200
    stored = api.app_state.keys.stored
    await stored.revoke(key["Authorization"].removeprefix("Bearer ")[:15])
    clock.now += KNOWN_SECONDS
    asked = looked_up(monkeypatch)
    statuses = [(await listed(api, key)).status_code for _ in range(4)]

    assert statuses == [401, 401, 429, 429]
    assert len(asked) == 2


async def test_requests_beyond_the_scope_of_a_key_are_limited_too(
    serve: Callable[..., Any], clock: Clock
) -> None:
    api = await serve(**keyed(limits(clock, requests="key 2/hour", turns="key 1/hour")))
    key = await made(api, "talk")
    path = "/v1/sessions/s-1/events"  # a turn, for operators

    for code in ("out_of_scope", "out_of_scope", "too_many_requests"):
        answer = await api.client.post(path, json={"name": "paid"}, headers=key)
        assert answer.json()["code"] == code
        assert "requests" in answer.text or code == "out_of_scope"


async def test_refused_requests_are_counted_without_names_of_callers(
    serve: Callable[..., Any], clock: Clock, watch: Watch
) -> None:
    given = limits(clock, requests="key 2/minute", wrong_keys="address 1/minute")
    api = await serve(**keyed(given), metrics=Metrics())
    key, desk = await made(api, "talk", user="ann"), await made(api, "operate")
    for header in (desk, key, key, key, *[{"Authorization": "Bearer wrong"}] * 3):
        await listed(api, header)

    samples = await shown(api, **desk)

    refused = [
        (one.labels["journeygraph_limit_name"], one.labels["journeygraph_limit_caller"])
        for one in samples["journeygraph_limit_refused_total"]
        for _ in range(int(one.value))
    ]
    assert sorted(refused) == [("requests", "key"), *[("wrong_keys", "address")] * 2]


async def test_processes_share_their_counts_in_redis(
    serve: Callable[..., Any],
    redis_server: RedisServer,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "journeygraph.server.access.limits.BUDGET_SECONDS", 110.0
    )  # a busy machine takes longer
    user = str(uuid.uuid4())
    servers = [
        await serve(**keyed(limits(clock, redis_server.url, requests="key 2/hour")))
        for _ in range(2)
    ]
    keys = [await made(api, "talk", user=user) for api in servers]

    statuses = [
        (await listed(api, key)).status_code for api, key in [*zip(servers, keys, strict=True)] * 2
    ]

    assert statuses == [200, 200, 429, 429]


async def test_without_redis_each_process_counts_for_itself(
    serve: Callable[..., Any], clock: Clock
) -> None:
    api = await serve(**keyed(limits(clock, "redis://127.0.0.1:1/0", requests="key 1/hour")))
    key = await made(api, "talk")

    assert [(await listed(api, key)).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limit_requests", "60/minute"),
        ("limit_turns", "user 60/minute"),
        ("limit_tokens", "tenant many/day"),
        ("limit_wrong_keys", "key 3/minute"),
        ("cors_origins", "shop.example"),
        ("cors_origins", "https://shop.example/path"),
        ("cors_origins", "*"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(name: str, text: str) -> None:
    keys = {} if text == "*" else {"stored_keys": True}

    with pytest.raises(ConfigurationError, match=f"{name}: '{text.partition('*')[0]}"):
        wire(Settings(**{name: text, **keys}), ["parcel_refund"], "memory://limits")


def test_without_a_limit_there_is_nothing_to_count() -> None:
    without = Settings(stored_keys=True, limit_wrong_keys="off")

    assert wire(Settings(), ["parcel_refund"], "memory://limits").limits is None
    assert wire(without, ["parcel_refund"], "memory://limits").limits is None
    assert wire(Settings(stored_keys=True), ["parcel_refund"], "memory://limits").limits


def test_a_client_of_ipv6_is_its_network() -> None:
    assert _network("2001:db8::1") == _network("2001:db8::ffff:1")
    assert _network("2001:db8::1") != _network("2001:db8:0:1::1")
    assert _network("10.0.0.1") != _network("10.0.0.2")
    assert _network("::ffff:10.0.0.1") == _network("10.0.0.1") != _network("::ffff:10.0.0.2")


# --- Pages of other origins ----------------------------------------------------------------------

SHOP = "https://shop.example"


async def test_only_pages_of_the_origins_may_call_the_server(serve: Callable[..., Any]) -> None:
    api, shut = await serve(cors_origins=[SHOP], keys=(KEY,)), await serve(keys=(KEY,))
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }

    async def preflight(server: Api, origin: str) -> Any:
        return await server.client.options("/v1/sessions", headers={"Origin": origin, **asked})

    allowed = await preflight(api, SHOP)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == SHOP
    assert "access-control-allow-credentials" not in allowed.headers
    for refused in (await preflight(api, "https://evil.example"), await preflight(shut, SHOP)):
        assert refused.status_code in (400, 405)
        assert "access-control-allow-origin" not in refused.headers


_STAINLESS = (
    "arch,lang,os,package-version,retry-count,runtime,runtime-version,timeout,helper-method"
)
CLIENTS = {
    "openai": (
        "/v1/chat/completions",
        "authorization,content-type,openai-organization,openai-project,"
        + ",".join(f"x-stainless-{name}" for name in _STAINLESS.split(",")),
    ),
    "openai agents": ("/v1/responses", "authorization,content-type,openai-beta,x-session-id"),
    "ai sdk": ("/v1/ai-sdk/parcel", "authorization,content-type,user-agent"),
    "ag-ui": ("/v1/ag-ui/parcel", "accept,authorization,cache-control,content-type,last-event-id"),
    "sentry and opentelemetry": ("/v1/sessions", "authorization,baggage,sentry-trace,traceparent"),
}
"""Headers for which the browsers' clients of each protocol need a leave, and their route."""


@pytest.mark.parametrize(("path", "names"), CLIENTS.values(), ids=CLIENTS)
async def test_clients_in_browsers_may_send_their_headers(
    serve: Callable[..., Any], path: str, names: str
) -> None:
    api = await serve(cors_origins=[SHOP], keys=(KEY,))
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": names}

    answer = await api.client.options(path, headers={"Origin": SHOP, **asked})

    allowed = answer.headers["access-control-allow-headers"].lower().replace(" ", "").split(",")
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, SHOP)
    assert set(names.split(",")) <= set(allowed)


@pytest.mark.parametrize("status", [200, 401, 404, 500])
async def test_such_a_page_can_read_answers_and_problems(
    serve: Callable[..., Any], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(cors_origins=[SHOP], keys=(KEY,))
    if status == 500:
        monkeypatch.setattr(api.app_state, "journeys", None)  # which no route expects
    path = "/v1/sessions/none" if status == 404 else "/v1/journeys"
    key = with_key(KEY if status != 401 else KEY + "x")

    answer = await api.client.get(path, headers={**key, "Origin": SHOP})

    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == SHOP
    assert "Retry-After" in answer.headers["access-control-expose-headers"]
    assert answer.headers["vary"] == "Origin"
