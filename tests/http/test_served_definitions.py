"""Journeys served from the database: the next session uses what others have loaded."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from redis.asyncio import Redis

from journeygraph import JourneyConfig, JourneyDefinitionError, StateError
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.server.cache import Cache, Counts, MemoryCache, VersionedCache
from journeygraph.server.cache.redis import RedisCache
from journeygraph.server.definitions.stored_journeys import (
    DEFINITION_KIND,
    ActiveDefinitions,
    Providers,
)
from tests.support.api import Api, serving, wired
from tests.support.proxy import Proxy
from tests.support.redis import RedisServer
from tests.support.stored_claims import CLAIM, DESK, HOURS, MANNERS, draft, work

Load = Callable[..., Any]
CHANGED = CLAIM.replace("name: Claim", "name: Claim anew").replace(
    "transitions:", "safe_reply: No.\ntransitions:"
)


def given() -> Providers:
    space = work()
    return Providers(space["AGENTS"], space["TOOLS"], model=False)


@pytest.fixture
async def load(kept_url: str) -> AsyncIterator[Load]:
    """Load as another process does: `await load("claim.yaml", CLAIM)`.

    By default, running sessions continue in the new version.
    """
    config = JourneyConfig(persistence=kept_url, database_pool_size=2)
    elsewhere = await Definitions.open(config)

    async def loaded(name: str, text: str, *, replace: bool = True, **beside: str) -> None:
        await elsewhere.load([draft(name, text, **beside)], replace=replace)

    loaded.definitions = elsewhere  # type: ignore[attr-defined]
    yield loaded
    await elsewhere.close()


@pytest.fixture
async def desk(kept_url: str) -> AsyncIterator[Callable[..., Any]]:
    """Serve what is in the database: `api = await desk()`."""
    async with AsyncExitStack() as stack:

        async def start(**more: Any) -> Api:
            app_state = wired(url=kept_url, **more)
            app_state.journeys, app_state.given = {}, given()
            return await stack.enter_async_context(serving(app_state))

        yield start


async def ids(api: Api) -> list[str]:
    found = await api.client.get("/v1/journeys")
    return [journey["journey_id"] for journey in found.json()["journeys"]]


async def audited(api: Api, session: str, journey: str) -> list[str]:
    manager = api.app_state.manager(api.app_state.journeys[journey], session)
    rows = [entry.kind for entry in await manager.audit()]
    await manager.close()
    return rows


async def test_what_was_loaded_is_served_with_its_guidelines(load: Load, desk: Load) -> None:
    await load("claim.yaml", CLAIM)
    await load("manners.yaml", MANNERS)
    api = await desk()
    session = await api.begin("claim")
    assert (await api.says(session, "hello"))["message"] == "Which policy?"
    reply = await api.says(session, "P-7, at last!")
    assert reply["message"] == "Noted.\n\nIt is the policy of Ada. apologise"
    assert reply["metadata"]["guidelines"] == ["angry"]


async def test_what_is_loaded_meanwhile_is_served_with_the_next_turn(
    load: Load, desk: Load
) -> None:
    await load("claim.yaml", CLAIM)
    api, other = await desk(), await desk(database_pool_size=4)
    session = await api.begin("claim")
    await api.says(session, "hello")
    before = api.app_state.journeys["claim"]

    await load("claim.yaml", CHANGED)
    for one in (api, other):
        assert (await one.says(session, "hello"))["message"] == "Which policy?"
        assert one.app_state.journeys["claim"].journey.spec.name == "Claim anew"
    assert api.app_state.journeys["claim"] is not before
    assert await audited(api, "s-1", "claim") == ["version_changed"]
    same = api.app_state.journeys["claim"]

    await load("hours.yaml", HOURS)
    assert await ids(api) == ["claim", "hours"]
    assert api.app_state.journeys["claim"] is same
    session = await api.begin("hours", "s-2")
    assert (await api.says(session, "when?"))["message"] == "From nine to five."

    await load.definitions.retire("hours")  # type: ignore[attr-defined]
    assert await ids(api) == ["claim"]
    gone = await api.client.post(f"{session}/messages", json={"message": "when?"})
    assert (gone.status_code, gone.json()["code"]) == (409, "needs_migration")
    assert "'hours', which is not served here" in gone.json()["detail"]
    for of_session in ("", "/history", "/context"):
        assert (await api.client.get(session + of_session)).status_code == 409


async def test_services_go_with_the_journey_that_is_replaced_or_retired(
    load: Load, desk: Load
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")
    await api.says(session, "hello")
    (before,) = kept_by(api)

    await load("claim.yaml", CHANGED)
    await api.says(session, "hello")
    (now,) = kept_by(api)
    assert now is not before
    assert now is api.app_state.journeys["claim"].journey.spec

    await load.definitions.retire("claim")  # type: ignore[attr-defined]
    assert await ids(api) == []
    assert kept_by(api) == []


def kept_by(api: Api) -> list[Any]:
    """The journeys for which a server keeps services."""
    return [kept.services.spec for kept in api.app_state._kept.values()]


ANEW = CLAIM.replace("assess:", "review:").replace("next: assess", "next: review")


async def loaded_twice(load: Load, desk: Load) -> tuple[Api, str, str]:
    """A server with a session of a first version, and one of a second."""
    await load("claim.yaml", CLAIM)
    api = await desk()
    first = await api.begin("claim", "s-1")
    await api.says(first, "hello")
    await load("claim.yaml", ANEW, replace=False)
    return api, first, await api.begin("claim", "s-2")


async def places(api: Api, *sessions: str) -> list[str]:
    """Answer the question of each session, and return where it is then."""
    return [(await api.says(session, "P-1"))["pathway_id"] for session in sessions]


async def test_a_session_continues_in_the_stored_version_in_which_it_began(
    load: Load, desk: Load
) -> None:
    api, first, second = await loaded_twice(load, desk)
    later = await desk(database_pool_size=4)
    third = await api.begin("claim", "s-3")

    assert await places(api, first, second) == ["assess", "review"]
    assert await places(later, third, first) == ["review", "assess"]
    assert "version_changed" not in await audited(api, "s-1", "claim")
    for one in (api, later):
        [listed] = (await one.client.get("/v1/journeys")).json()["journeys"]
        rows = (await one.client.get("/v1/sessions")).json()["sessions"]
        of = {row["session_id"]: row["journey_version"] for row in rows}
        assert listed["versions"] == [of["s-2"], of["s-1"]]
        assert of["s-3"] == of["s-2"]


async def test_a_version_whose_number_is_not_stored_is_found_by_its_text(
    load: Load, desk: Load
) -> None:
    """As an older release stored it: `draft` of the tests knows no version either."""
    api, first, _ = await loaded_twice(load, desk)
    every = await load.definitions.served()  # type: ignore[attr-defined]
    assert [one.journey_version for one in every] == [None, None]
    assert await places(api, first) == ["assess"]
    assert api.app_state.catalogue is not None
    assert await api.app_state.catalogue.older("claim", "another") is None


async def test_changed_guidelines_apply_to_sessions_of_every_version(
    load: Load, desk: Load
) -> None:
    api, first, second = await loaded_twice(load, desk)
    await load("manners.yaml", MANNERS)
    for session in (first, second):
        assert (await api.says(session, "hello!"))["metadata"]["guidelines"] == ["angry"]
    assert await places(api, first, second) == ["assess", "review"]


@pytest.mark.parametrize(("text", "place"), [(ANEW, "review"), (CLAIM, "assess")])
async def test_a_load_that_replaces_takes_older_versions_out_of_service(
    load: Load, desk: Load, text: str, place: str
) -> None:
    """The same text again replaces them too, and so does the text of before."""
    api, first, second = await loaded_twice(load, desk)
    await load("claim.yaml", text, replace=True)
    [served] = (await api.client.get("/v1/journeys")).json()["journeys"]

    assert served["versions"] == [served["version"]]
    assert await places(api, first, second) == [place, place]
    assert len(kept_by(api)) == 1


async def test_a_retired_version_is_not_served_when_its_journey_comes_back(
    load: Load, desk: Load
) -> None:
    api, first, _ = await loaded_twice(load, desk)
    await load.definitions.retire("claim")  # type: ignore[attr-defined]
    refused = await api.client.post(f"{first}/messages", json={"message": "P-1"})
    await load("claim.yaml", ANEW, replace=False)

    assert refused.json()["code"] == "needs_migration"
    assert await places(api, first) == ["review"]


async def test_a_version_that_cannot_be_used_is_reported_and_its_sessions_are_moved(
    load: Load, desk: Load, caplog: pytest.LogCaptureFixture
) -> None:
    _, first, _ = await loaded_twice(load, desk)
    api = await desk(database_pool_size=4)
    assert api.app_state.given is not None
    del api.app_state.given.agents["assessor"]

    assert await places(api, first) == ["review"]
    assert "event=definition_refused" in caplog.text


async def test_guidelines_that_are_loaded_meanwhile_apply_to_journeys_that_were_there(
    load: Load, desk: Load
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")
    assert (await api.says(session, "hello!"))["metadata"].get("guidelines", []) == []
    await load("manners.yaml", MANNERS)
    assert (await api.says(session, "hello!"))["metadata"]["guidelines"] == ["angry"]


async def test_a_journey_whose_definition_is_refused_says_why(load: Load, desk: Load) -> None:
    await load("claim.yaml", CLAIM + "colour: red\n")
    api = await desk()

    refused = await api.client.post("/v1/sessions", json={"journey_id": "claim"})

    assert (refused.status_code, refused.json()["code"]) == (404, "definition_refused")
    [fault] = refused.json()["faults"]
    assert fault["path"] == ["colour"]
    assert fault["message"] == "'colour' is not a valid key of a journey."
    assert fault["remedy"].startswith("Known: ")
    assert fault["place"] == {"file": "claim.yaml", "line": CLAIM.count("\n") + 1, "column": 1}
    assert (await api.client.get("/v1/journeys/claim")).json()["code"] == "definition_refused"
    assert (await api.client.get("/v1/journeys/clam")).json()["code"] == "journey_not_found"


NOT_TAKEN_UP = {
    "a tool that nobody does": CLAIM.replace(
        "calls: [find_policy]", "calls: [find_policy, pay]"
    ).replace("states:", "  - {type: function, function: {name: pay, description: Pay.}}\nstates:"),
    "an agent that nobody is": CLAIM.replace("agents: [clerk]", "agents: [scribe]"),
    "a text that this release cannot read": CLAIM + "colour: red\n",
    "secrets, and no key": CLAIM + "sensitive: true\n",
}


@pytest.mark.parametrize("text", NOT_TAKEN_UP.values(), ids=NOT_TAKEN_UP)
async def test_what_cannot_be_taken_up_leaves_the_one_before_and_is_told(
    load: Load, desk: Load, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")
    assert (await api.client.get("/readyz")).json()["definitions_refused"] == []
    await load("claim.yaml", text)
    assert (await api.says(session, "P-1"))["message"] == "Noted.\n\nIt is the policy of Ada."
    told = await api.client.get("/readyz")
    assert (told.status_code, told.json()["definitions_refused"]) == (200, ["claim"])
    assert "event=definition_refused" in caplog.text
    await load("claim.yaml", CHANGED)
    await api.says(session, "start over")
    assert (await api.client.get("/readyz")).json()["definitions_refused"] == []
    assert api.app_state.journeys["claim"].journey.spec.name == "Claim anew"


async def test_a_sensitive_journey_is_not_served_without_the_key_of_its_sessions(
    load: Load, desk: Load
) -> None:
    await load("claim.yaml", CLAIM + "sensitive: true\n")
    api = await desk(encryption_key=bytes(range(32)))
    await api.begin("claim")
    other = await desk(encryption_key=bytes(32))
    refused = await other.client.post("/v1/sessions", json={"journey_id": "claim"})
    assert refused.json()["code"] == "definition_refused"
    [fault] = refused.json()["faults"]
    assert "sessions of the journey 'claim' need the encryption key" in fault["message"]
    assert (await other.client.get("/readyz")).status_code == 503


async def test_guidelines_that_cannot_be_read_leave_the_rules_that_were_there(
    load: Load, desk: Load
) -> None:
    await load("manners.yaml", MANNERS)
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")
    await load("manners.yaml", MANNERS + "colour: red\n")
    await load("claim.yaml", CHANGED)
    assert (await api.says(session, "hello!"))["metadata"]["guidelines"] == ["angry"]
    assert (await api.client.get("/readyz")).json()["definitions_refused"] == ["manners"]


async def test_no_journey_is_served_without_the_guidelines_that_it_should_have(
    load: Load, kept_url: str
) -> None:
    await load("manners.yaml", MANNERS + "colour: red\n")
    await load("claim.yaml", CLAIM)
    with pytest.raises(JourneyDefinitionError, match="load them again, or retire them"):
        await ActiveDefinitions.open(JourneyConfig(persistence=kept_url), given())


async def test_turns_at_once_take_a_change_up_once(
    load: Load, desk: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    sessions = [await api.begin("claim", f"s-{number}") for number in range(8)]
    reads: list[int] = []
    read = ActiveDefinitions._read

    async def counted(catalogue: ActiveDefinitions) -> None:
        reads.append(1)
        await read(catalogue)

    monkeypatch.setattr(ActiveDefinitions, "_read", counted)
    await load("claim.yaml", CHANGED)
    replies = await asyncio.gather(*(api.says(session, "hello") for session in sessions))
    assert {reply["message"] for reply in replies} == {"Which policy?"}
    for session in sessions:
        await api.says(session, "hello")
    assert len(reads) == 1


async def test_a_turn_goes_on_as_before_where_new_definitions_take_long(
    load: Load, desk: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")
    go_on, read = asyncio.Event(), ActiveDefinitions._read

    async def held(catalogue: ActiveDefinitions) -> None:
        await go_on.wait()
        await read(catalogue)

    monkeypatch.setattr(ActiveDefinitions, "_read", held)
    monkeypatch.setattr("journeygraph.server.definitions.stored_journeys.FOLLOW_SECONDS", 0.02)
    await load("claim.yaml", CHANGED)
    assert (await api.says(session, "P-1"))["message"] == "Noted.\n\nIt is the policy of Ada."
    assert api.app_state.journeys["claim"].journey.spec.name == "Claim"
    go_on.set()
    monkeypatch.setattr("journeygraph.server.definitions.stored_journeys.FOLLOW_SECONDS", 4.0)
    await api.says(session, "start over")
    assert api.app_state.journeys["claim"].journey.spec.name == "Claim anew"


async def test_a_store_that_fails_while_it_is_read_is_read_again(
    load: Load, desk: Load, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await load("claim.yaml", CLAIM)
    api = await desk()
    session = await api.begin("claim")

    async def fails(_: Definitions) -> None:
        raise StateError("gone for a moment", retryable=True)

    await load("claim.yaml", CHANGED)
    with monkeypatch.context() as patched:
        patched.setattr(Definitions, "served", fails)
        assert (await api.says(session, "hello"))["message"] == "Which policy?"
    assert "event=definitions_unread" in caplog.text
    assert api.app_state.journeys["claim"].journey.spec.name == "Claim"
    await api.says(session, "hello")
    assert api.app_state.journeys["claim"].journey.spec.name == "Claim anew"


async def test_a_concierge_is_stored_with_the_files_beside_it(load: Load, desk: Load) -> None:
    await load("desk.yaml", DESK, **{"claim.yaml": CLAIM, "hours.yaml": HOURS})
    api = await desk()
    assert await ids(api) == ["desk"]
    session = await api.begin("desk")
    context = (await api.client.get(f"{session}/context")).json()
    assert (context["journey_id"], context["started_at"]) == (None, context["activated_at"])


async def test_what_is_named_on_the_command_line_keeps_its_id(load: Load, kept_url: str) -> None:
    await load("parcel.yaml", HOURS.replace("id: hours", "id: parcel"))
    app_state = wired(url=kept_url)
    app_state.given = given()
    before = app_state.journeys["parcel"]
    async with serving(app_state) as api:
        assert api.app_state.journeys["parcel"] is before
        assert (await api.client.get("/readyz")).json()["definitions_refused"] == ["parcel"]


@pytest.mark.parametrize("kept_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_definitions_are_read_from_the_cache_until_they_are_void(
    load: Load,
    kept_url: str,
    kind: str,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = JourneyConfig(persistence=kept_url)
    cache: Cache = MemoryCache() if kind == "memory" else RedisCache(redis_server.url, budget=2.0)
    name = f"c{uuid.uuid4().hex}"
    await load(f"{name}.yaml", CLAIM.replace("id: claim", f"id: {name}"))
    asked: list[int] = []
    body = Definitions.body

    async def counting(definitions: Definitions, one: Any) -> str:
        asked.append(one.version)
        return await body(definitions, one)

    monkeypatch.setattr(Definitions, "body", counting)

    async def restarted() -> Counts:
        catalogue = await ActiveDefinitions.open(config, given(), cache)
        assert list(catalogue.served) == [name]
        counts = catalogue._texts.versioned.counts
        await catalogue.close()
        assert len(asked) == counts.misses
        asked.clear()
        return counts

    assert await restarted() == Counts(misses=1)
    assert await restarted() == Counts(hits=1)
    await load.definitions.invalidate(name)  # type: ignore[attr-defined]
    assert await restarted() == Counts(misses=1)
    assert await restarted() == Counts(hits=1)
    await load.definitions.invalidate()  # type: ignore[attr-defined]
    assert await restarted() == Counts(misses=1)
    await load(f"{name}.yaml", CHANGED.replace("id: claim", f"id: {name}"))
    assert await restarted() == Counts(misses=1)
    assert await restarted() == Counts(hits=1)
    if kind == "redis":
        async with Redis.from_url(redis_server.url) as raw:
            assert await raw.pttl(VersionedCache(cache, DEFINITION_KIND).key(name)) > 86_000_000
            await raw.set(VersionedCache(cache, DEFINITION_KIND).key(name), "lies")
        assert await restarted() == Counts(misses=1)
    await cache.close()


@pytest.mark.parametrize("kept_url", ["sqlite"], indirect=True)
async def test_a_cache_that_is_down_serves_the_same(
    load: Load, kept_url: str, redis_network: Proxy
) -> None:
    await load("claim.yaml", CLAIM)
    redis_network.refuses = True
    cache = RedisCache(redis_network.url)
    catalogue = await ActiveDefinitions.open(JourneyConfig(persistence=kept_url), given(), cache)
    assert list(catalogue.served) == ["claim"]
    assert cache.counts.errors == 2
    await catalogue.close()
    await cache.close()
