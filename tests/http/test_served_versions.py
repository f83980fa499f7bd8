"""Several versions of a journey in one server: a session continues in its own."""

from __future__ import annotations

import base64
import signal
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeygraph import (
    ConfigurationError,
    Escalation,
    Field,
    Journey,
    JourneyConfig,
    NeedsMigrationError,
    Pathway,
)
from journeygraph.server.app import create_app
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.settings import Settings
from tests.support import api as helpers
from tests.support import command
from tests.support.api import Api, one
from tests.support.command import served

serve = helpers.serve
folder = command.folder
Serve = Callable[..., Any]
KEY = bytes(range(32))


def old(*, sealed: bool = False) -> Served:
    class Order(Journey):
        """Order flowers."""

        __version__ = "old"
        __sensitive__ = sealed
        __escalation__ = Escalation(on_request=True)

        class FlowersPath(Pathway):
            """Choose flowers."""

            __title__ = "the flowers"
            __fields__ = [Field("kind", "text", "Which flowers?"), Field("card", "text", "Card?")]

    return one(Order)


def new(*, sealed: bool = False, renamed: bool = False, refuses: bool = False) -> Served:
    class Order(Journey):
        """Order flowers."""

        __version__ = "new"
        __sensitive__ = sealed
        __migrations__ = {"flowers": "bouquet"} if renamed else {}
        __stranded__ = "refuse" if refuses else "move"
        __escalation__ = Escalation(on_request=True)

        class BouquetPath(Pathway):
            """Choose a bouquet."""

            __title__ = "the bouquet"
            __fields__ = [Field("kind", "text", "Which flowers?"), Field("size", "text", "Size?")]

    return one(Order)


@pytest.fixture
def store() -> str:
    return f"memory://{uuid.uuid4()}"


async def begun(serve: Serve, store: str, session_id: str = "s-1", **config: Any) -> str:
    """Begin a session in the old version, with a server that has only that one."""
    before = await serve(old(sealed="encryption_key" in config), url=store, **config)
    session: str = await before.begin("order", session_id)
    assert (await before.says(session, "hello"))["message"] == "Which flowers?"
    return session


async def version_of(api: Api, session: str) -> str:
    found: str = (await api.client.get(session)).json()["journey_version"]
    return found


async def events_of(api: Api, session: str) -> list[str]:
    turns = (await api.client.get(f"{session}/audit")).json()["turns"]
    return [event["kind"] for turn in turns for event in turn["events"]]


async def test_each_session_continues_in_the_version_in_which_it_began(
    serve: Serve, store: str
) -> None:
    session = await begun(serve, store)
    api = await serve(new(), versions=[old()], url=store)
    other = await api.begin("order", "s-2")
    replies = [
        (await api.says(place, text))["message"].rpartition("\n\n")[2]
        for text in ("hi", "roses")
        for place in (session, other)
    ]

    assert replies == ["Which flowers?", "Which flowers?", "Card?", "Size?"]
    assert [await version_of(api, place) for place in (session, other)] == ["old", "new"]
    assert "version_changed" not in await events_of(api, session)
    listed = (await api.client.get("/v1/sessions")).json()["sessions"]
    assert {row["session_id"]: row["journey_version"] for row in listed} == {
        "s-1": "old",
        "s-2": "new",
    }


async def test_a_stream_a_rollback_and_a_fork_keep_the_version(serve: Serve, store: str) -> None:
    session = await begun(serve, store)
    api = await serve(new(), versions=[old()], url=store)
    told = await api.hears(session, "roses")
    forked = await api.client.post(f"{session}/fork", json={"version": 1, "session_id": "s-f"})
    back = await api.client.post(f"{session}/rollback", json={"version": 1})

    assert told[-1][1]["message"].endswith("Card?")
    assert [answer.json()["journey_version"] for answer in (forked, back)] == ["old", "old"]
    for place in (session, "/v1/sessions/s-f"):
        assert (await api.says(place, "tulips"))["message"].endswith("Card?")
    fields = (await api.client.get(f"{session}/fields")).json()["fields"]
    assert set(fields) == {"kind", "card"}


async def test_an_operator_acts_in_the_version_of_the_session(serve: Serve, store: str) -> None:
    session = await begun(serve, store)
    api = await serve(new(), versions=[old()], url=store)
    await api.says(session, "I want to talk to a human")
    [call] = (await api.client.get("/v1/escalations")).json()["escalations"]
    acted = await api.client.post(f"/v1/escalations/{call['id']}/release", json={"by": "ann"})

    assert acted.status_code == 200
    assert await version_of(api, session) == "old"
    assert (await api.says(session, "roses"))["message"].endswith("Card?")


async def test_a_sealed_session_continues_in_its_version(serve: Serve, store: str) -> None:
    session = await begun(serve, store, encryption_key=KEY)
    api = await serve(new(sealed=True), versions=[old(sealed=True)], url=store, encryption_key=KEY)

    assert (await api.says(session, "roses"))["message"].endswith("Card?")
    assert await version_of(api, session) == "old"


async def test_services_are_made_once_for_each_version(serve: Serve, store: str) -> None:
    session = await begun(serve, store)
    api = await serve(new(), versions=[old()], url=store)
    other = await api.begin("order", "s-2")
    for text in ("hello", "roses"):
        for place in (session, other):
            await api.says(place, text)

    kept = [kept.services.spec.version for kept in api.app_state._kept.values()]
    assert sorted(kept) == ["new", "old"]


async def test_the_versions_of_a_journey_are_listed_and_shown(serve: Serve) -> None:
    api = await serve(new(), versions=[old()])
    [listed] = (await api.client.get("/v1/journeys")).json()["journeys"]
    shown = {
        version: (await api.client.get(f"/v1/journeys/order?version={version}")).json()
        for version in ("old", "new")
    }
    drawn = await api.client.get("/v1/journeys/order/graph?version=old&format=json")
    unknown = await api.client.get("/v1/journeys/order?version=older")

    assert (listed["version"], listed["versions"]) == ("new", ["new", "old"])
    assert {name: one["entry_pathway"] for name, one in shown.items()} == {
        "old": "flowers",
        "new": "bouquet",
    }
    assert drawn.json()["entry_pathway"] == "flowers"
    assert (unknown.status_code, unknown.json()["code"]) == (404, "journey_not_found")


async def test_without_its_version_a_session_continues_at_a_safe_place(
    serve: Serve, store: str
) -> None:
    session = await begun(serve, store)
    api = await serve(new(), url=store)
    moved = await api.says(session, "roses")

    assert moved["pathway_id"] == "bouquet"
    assert await version_of(api, session) == "new"
    assert await events_of(api, session) == ["version_changed", "migrated"]


async def test_a_session_rolled_back_behind_its_move_is_of_its_old_version_again(
    serve: Serve, store: str
) -> None:
    session = await begun(serve, store)
    moving = await serve(new(), url=store)
    await moving.says(session, "roses")
    back = await moving.client.post(f"{session}/rollback", json={"version": 1})
    api = await serve(new(), versions=[old()], url=store)

    assert (back.status_code, back.json()["journey_version"]) == (200, "old")
    assert (await api.says(session, "roses"))["message"].endswith("Card?")


async def test_a_journey_can_refuse_sessions_that_it_would_have_to_move(
    serve: Serve, store: str
) -> None:
    session = await begun(serve, store)
    refusing = await serve(new(refuses=True), url=store)
    before = (await refusing.client.get(session)).json()
    answers = [
        await refusing.client.post(f"{session}/{path}", json=body)
        for path, body in (
            ("messages", {"message": "roses"}),
            ("rollback", {"version": 0}),
            ("fork", {"version": 0}),
        )
    ]
    told = await refusing.client.post(
        f"{session}/messages", json={"message": "roses"}, headers={"Accept": "text/event-stream"}
    )

    assert {(one.status_code, one.json()["code"]) for one in answers} == {(409, "needs_migration")}
    assert "has no pathway 'flowers'" in answers[0].json()["detail"]
    assert "needs_migration" in told.text
    assert (await refusing.client.get(session)).json() == before
    both = await serve(new(refuses=True), versions=[old()], url=store)
    assert (await both.says(session, "roses"))["message"].endswith("Card?")


@pytest.mark.parametrize("renamed", [True, False])
async def test_a_session_that_need_not_be_moved_is_not_refused(
    serve: Serve, store: str, renamed: bool
) -> None:
    session = await begun(serve, store)
    api = await serve(new(refuses=True, renamed=renamed), url=store)
    answer = await api.client.post(f"{session}/messages", json={"message": "roses"})

    assert answer.status_code == (200 if renamed else 409)
    assert await version_of(api, session) == ("new" if renamed else "old")


async def test_a_program_gets_the_refusal_as_an_error() -> None:
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")
    async with old().journey("s-1", config, model=False) as journey:
        await journey.start()
    async with new(refuses=True).journey("s-1", config, model=False) as journey:
        with pytest.raises(NeedsMigrationError, match="Serve the version of the session too"):
            await journey.process_message("roses")
        assert [info.kind for info in await journey.versions()] == ["start"]


async def test_a_session_of_a_journey_that_is_not_served_is_not_denied(
    serve: Serve, store: str
) -> None:
    session = await begun(serve, store)
    api = await serve(url=store)
    answer = await api.client.post(f"{session}/messages", json={"message": "roses"})

    assert (answer.status_code, answer.json()["code"]) == (409, "needs_migration")
    assert "the journey 'order', which is not served here" in answer.json()["detail"]


class Talk(Journey):
    """Talk about a thing."""

    __version__ = "2"

    class TalkPath(Pathway):
        __agents__ = ["talker"]


class Before:
    class Talk(Journey):
        """Talk about a thing."""

        __version__ = "1"

        class TalkPath(Pathway):
            __agents__ = ["talker"]

    class Sealed(Journey):
        """Another journey."""

        class TalkPath(Pathway):
            __agents__ = ["talker"]


class Secret:
    class Talk(Journey):
        """Talk about a thing."""

        __sensitive__ = True

        class TalkPath(Pathway):
            __agents__ = ["talker"]


AGENTS = {"talker": lambda ask: {"response": f"So {ask['message']}."}}


def test_classes_are_served_as_journeys_and_versions() -> None:
    app = create_app(Settings(), [Talk], "memory://", versions=[Before.Talk])
    app_state: AppState = app.state.app_state
    assert app_state.versions_of("talk") == ["2", "1"]
    assert app_state.versions["talk", "1"].journey is Before.Talk


REFUSED = {
    "of no journey": ([Before.Sealed], "there is none. Journeys: talk."),
    "the same": ([Talk], "Two versions of the journey 'talk' are both '2'."),
    "twice": ([Before.Talk, Before.Talk], "Two versions of the journey 'talk' are both '1'."),
    "sealed": ([Secret.Talk], "differ in `__sensitive__`"),
}


@pytest.mark.parametrize(("versions", "said"), REFUSED.values(), ids=REFUSED)
def test_versions_that_cannot_be_served_together_are_refused(
    versions: list[type[Journey]], said: str
) -> None:
    key = base64.b64encode(KEY).decode()
    with pytest.raises(ConfigurationError, match="journey") as refused:
        create_app(Settings(encryption_key=key), [Talk], "memory://", versions=versions)
    assert said in str(refused.value)


ORDER = '''
from journeygraph import Journey, MergeStrategy, Pathway


class Order(Journey):
    """Order flowers."""

    __version__ = "{version}"
    __stranded__ = "{stranded}"

    class {path}Path(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = {{"heard": MergeStrategy.APPEND}}
        __complete_when__ = ["never"]


def clerk(ask):
    return {{"response": f"{version} heard {{ask['message']}}", "heard": ask["message"]}}


AGENTS = {{"clerk": clerk}}
'''
SESSIONS = 4
ROUNDS = 6


@pytest.mark.slow
def test_two_releases_serve_one_store_each_session_in_its_version(
    folder: Path, postgres_url: str
) -> None:
    """Sessions of the old version go to both releases by turns; the old one is killed meanwhile."""
    (folder / "may").mkdir()
    for place, version, path in (("may", "may", "Flowers"), (".", "june", "Bouquet")):
        text = ORDER.format(version=version, path=path, stranded="refuse")
        (folder / place / "order.py").write_text(text)
    store = ("--store", postgres_url)
    both = ("order.py", "--versions", "may/order.py")
    with (
        served(folder, *both, *store) as (_, june, lines),
        served(folder, "may/order.py", *store) as (dying, may, _),
        httpx2.Client(timeout=110) as client,
    ):
        assert "Journeys: order (2 versions)" in "".join(lines)

        def says(place: str, session: str, message: str) -> tuple[int, Any]:
            body = {"message": message}
            answer = client.post(f"{place}/v1/sessions/{session}/messages", json=body)
            return answer.status_code, answer.json()

        def talk(place: str, name: str) -> list[str]:
            client.post(f"{place}/v1/sessions", json={"session_id": name}).raise_for_status()
            heard = []
            for turn in range(ROUNDS):
                at = june if place == june or turn % 2 else may
                status, answer = says(at, name, f"{name} {turn}")
                assert status == 200, answer
                heard.append(answer["message"])
            return heard

        started = [("may", may, f"may-{n}") for n in range(SESSIONS)]
        started += [("june", june, f"june-{n}") for n in range(SESSIONS)]
        with ThreadPoolExecutor(len(started)) as pool:
            replies = list(pool.map(lambda one: talk(*one[1:]), started))
        for (version, _, name), heard in zip(started, replies, strict=True):
            assert heard == [f"{version} heard {name} {turn}" for turn in range(ROUNDS)]

        refused = says(may, "june-0", "to the old release")
        assert (refused[0], refused[1]["code"]) == (409, "needs_migration")
        dying.send_signal(signal.SIGKILL)
        for version, _, name in started:
            assert says(june, name, "goes on")[1]["message"] == f"{version} heard goes on"
            state = client.get(f"{june}/v1/sessions/{name}").json()
            context = client.get(f"{june}/v1/sessions/{name}/context").json()["context"]
            assert (state["journey_version"], state["version"]) == (version, ROUNDS + 1)
            assert context["heard"] == [f"{name} {turn}" for turn in range(ROUNDS)] + ["goes on"]
