"""Locales: part by part of the journey, the session, the config, the environment."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    NEVER,
    Concierge,
    ConfigurationError,
    Field,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Locale,
    OutputField,
    Pathway,
    Personality,
    Signature,
)
from journeygraph.journeys.files.loading import load_journey
from journeygraph.journeys.locale import DEFAULT, NOWHERE, in_force
from journeygraph.nodes.draft import new_turn
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.support import api, command
from tests.support.api import one
from tests.support.command import run

serve = api.serve
folder = command.folder
GERMANY = Locale(language="de", region="DE", timezone="Europe/Berlin")


def forms(**parts: Any) -> type[Journey]:
    """Return a journey that collects one value of many types, with a locale of these parts."""

    class Visit(Journey):
        """Arrange a visit."""

        __locale__ = Locale(**parts) if parts else None

        class AskPath(Pathway):
            __title__ = "the visit"
            __fields__ = [
                Field("day", "date", "Which day?"),
                Field("hour", "time", "What time?"),
                Field("phone", "phone", "Which number?"),
                Field("price", "money", "How much?", currency="EUR", confirm=True),
            ]
            __complete_when__ = NEVER

    return Visit


class Visit(forms()):  # type: ignore[misc]
    """Arrange a visit, wherever the user is at home."""


class Besuch(forms(language="de", region="DE", timezone="Europe/Berlin")):  # type: ignore[misc]
    """Einen Besuch vereinbaren."""


class Stateside(forms(language="en", region="US", timezone="America/New_York")):  # type: ignore[misc]
    """Arrange a visit in the United States."""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock by which turns are dated: `at("2026-11-22T23:30+00:00")`."""

    def moved(moment: str) -> None:
        now = datetime.fromisoformat(moment).astimezone(UTC)

        def dated(*args: Any, **kwargs: Any) -> Any:
            return {**new_turn(*args, **kwargs), "at": stamp(now)}

        monkeypatch.setattr("journeygraph.graphs.session.turn.new_turn", dated)

    return moved


async def visit(chat: Any, *said: str) -> dict[str, Any]:
    """Say something in turn; return what is collected then."""
    for message in said:
        await chat.says(message)
    return {name: state.value for name, state in (await chat.journey.fields()).fields.items()}


VISIT = ("04/03/2027", "19:30", "0171 2345678", "1.234,50")


async def test_two_journeys_of_one_process_are_at_home_in_two_countries(
    talk: Callable[..., Any], memory_url: str
) -> None:
    german = await talk(Besuch, {}, memory_url, session_id="de")
    american = await talk(Stateside, {}, memory_url, session_id="us")

    there, here = await asyncio.gather(
        visit(german, "hallo", *VISIT),
        visit(american, "hello", "04/03/2027", "07:30PM", "212 555 0100", "1,234.50"),
    )

    assert there == {
        "day": "2027-03-04",
        "hour": "19:30",
        "phone": "+491712345678",
        "price": {"amount": "1234.50", "currency": "EUR"},
    }
    assert here == {**there, "day": "2027-04-03", "phone": "+12125550100"}
    assert "- day: Donnerstag, 4. März 2027" in german.last.message
    assert "19:30 Uhr" in german.last.message
    assert "1.234,50 EUR" in german.last.message
    assert "- day: Saturday, 3 April 2027" in american.last.message
    assert "7:30 pm" in american.last.message
    assert "EUR 1,234.50" in american.last.message


async def test_the_part_of_the_day_counts_beside_other_values(
    talk: Callable[..., Any], memory_url: str
) -> None:
    german = await talk(Besuch, {}, memory_url, session_id="de")
    american = await talk(Stateside, {}, memory_url, session_id="us")

    there = await visit(german, "hallo", "am 4.3.2027 um 07:30 abends")
    here = await visit(american, "hello", "on 4 March 2027 at half past seven in the evening")

    assert (there["day"], there["hour"]) == (here["day"], here["hour"]) == ("2027-03-04", "19:30")


async def test_today_is_that_of_the_journeys_own_time_zone(
    talk: Callable[..., Any], memory_url: str, at: Callable[[str], None]
) -> None:
    at("2026-11-22T23:30+00:00")  # past midnight in Berlin, afternoon in Los Angeles
    german = await talk(Besuch, {}, memory_url, session_id="de", timezone="America/Los_Angeles")
    american = await talk(
        Visit, {}, memory_url, session_id="us", locale=Locale(timezone="America/Los_Angeles")
    )

    assert (await visit(german, "hallo", "heute"))["day"] == "2026-11-23"
    assert (await visit(american, "hello", "today"))["day"] == "2026-11-22"


@pytest.mark.parametrize(
    ("parts", "said", "day"),
    [
        ({"region": "DE"}, "sunday next week", "2026-12-06"),
        ({"region": "US"}, "sunday next week", "2026-11-29"),
        ({"region": "US", "first_day": "monday"}, "sunday next week", "2026-12-06"),
        ({"region": "DE", "first_day": "sunday"}, "next week on sunday", "2026-11-29"),
        ({"region": "DE"}, "monday next week", "2026-11-30"),
        ({"region": "US", "date_order": "dmy"}, "04/03/2027", "2027-03-04"),
        ({"region": "DE", "date_order": "mdy"}, "04/03/2027", "2027-04-03"),
        ({"region": "GB"}, "04/03/2027", "2027-03-04"),
        ({"language": "de"}, "am 24.12.", "2026-12-24"),
    ],
)
async def test_days_are_read_by_the_parts_of_a_locale(
    talk: Callable[..., Any],
    memory_url: str,
    at: Callable[[str], None],
    parts: dict[str, str],
    said: str,
    day: str,
) -> None:
    at("2026-11-25T12:00+00:00")  # a Wednesday
    chat = await talk(Visit, {}, memory_url, locale=Locale(**parts))

    assert (await visit(chat, "hello", said))["day"] == day


async def test_formats_are_parts_of_their_own(talk: Callable[..., Any], memory_url: str) -> None:
    swiss = Locale(language="en", region="DE", decimal_sign=".", clock="24h")
    chat = await talk(Visit, {}, memory_url, locale=swiss)

    known = await visit(chat, "hello", "04/03/2027", "7:30 pm", "0171 2345678", "1,234.50")

    assert known["price"] == {"amount": "1234.50", "currency": "EUR"}
    assert "hour: 19:30\n" in chat.last.message
    assert "EUR 1,234.50" in chat.last.message


LEVELS = (
    (Locale(language="de", region="AT"), Locale(language="en", region="FR", clock="24h")),
    (NOWHERE, Locale(region="FR", first_day="sunday")),
    (Locale(timezone="Asia/Tokyo", decimal_sign=","), NOWHERE),
)


@pytest.mark.parametrize("part", list(Locale.keys()))
def test_each_part_is_the_journeys_else_the_sessions_else_the_configs_else_the_environments(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Rome")
    monkeypatch.setenv("LANG", "de_IT.UTF-8")
    environment = {"language": "de", "region": "IT", "timezone": "Europe/Rome"}
    values = {
        "language": ("de", "en", "de"),
        "region": ("AT", "FR", "GB"),
        "timezone": ("Europe/Vienna", "Europe/Paris", "Europe/London"),
        "first_day": ("monday", "sunday", "saturday"),
        "date_order": ("dmy", "mdy", "dmy"),
        "decimal_sign": (",", ".", ","),
        "clock": ("24h", "12h", "24h"),
    }
    journey, session, config = ({part: value} for value in values[part])

    def held(*locales: dict[str, str]) -> Any:
        of_config = JourneyConfig(**locales[2]).locale  # type: ignore[arg-type]
        return getattr(in_force(Locale(**locales[0]), Locale(**locales[1]), of_config), part)

    assert held(journey, session, config) == values[part][0]
    assert held({}, session, config) == values[part][1]
    assert held({}, {}, config) == values[part][2]
    assert held({}, {}, {}) == environment.get(part)
    for name in ("TZ", "LANG"):
        monkeypatch.delenv(name)
    assert held({}, {}, {}) == getattr(DEFAULT, part)
    others = {name: given[1] for name, given in values.items() if name != part}
    mixed = in_force(Locale(**journey), Locale(**others), NOWHERE)
    assert mixed == Locale(**{**others, **journey})


@pytest.mark.parametrize(
    ("variables", "parts"),
    [
        ({"LANG": "C.UTF-8"}, {}),
        ({"LANG": "POSIX", "TZ": "CET-1CEST"}, {}),
        ({"LANG": "", "TZ": ""}, {}),
        ({"LANG": "it_IT.UTF-8"}, {"region": "IT"}),
        ({"LANG": "de_AT@euro", "TZ": ":Europe/Vienna"},
         {"language": "de", "region": "AT", "timezone": "Europe/Vienna"}),
        ({"LANG": "en_US.UTF-8", "LC_TIME": "de_DE.UTF-8"}, {"language": "en", "region": "DE"}),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, {}),
        ({"TZ": "/etc/localtime"}, {}),
    ],
)  # fmt: skip
def test_an_environment_that_says_nothing_of_use_decides_nothing(
    variables: dict[str, str], parts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert JourneyConfig().locale == Locale(**parts)


async def test_a_session_keeps_what_it_brought_over_restarts_and_rollbacks(
    talk: Callable[..., Any], kept_url: str
) -> None:
    chat = await talk(Visit, {}, kept_url, locale=GERMANY)
    first = await chat.says("hallo")
    await chat.restored()
    await chat.says("04/03/2027")
    assert (await chat.journey.fields()).fields["day"].value == "2027-03-04"

    session = await chat.journey.rollback(1)
    assert session.locale == GERMANY
    await chat.restored()
    assert (await visit(chat, "05/03/2027"))["day"] == "2027-03-05"
    assert first.startswith("Which day?")  # the author's words
    assert await chat.says("") == "Ich habe nichts verstanden. Was möchten Sie sagen?"
    assert (await chat.journey.get_session_state()).locale == GERMANY


async def test_of_a_sensitive_journey_it_is_sealed(
    talk: Callable[..., Any], tmp_path: Path
) -> None:
    class Secret(Visit):
        __sensitive__ = True

    store = tmp_path / "s.db"
    zone = Locale(timezone="Pacific/Kiritimati")
    chat = await talk(Secret, {}, f"sqlite:///{store}", locale=zone, encryption_key=b"k" * 32)
    await chat.says("hello")
    await chat.journey.close()
    with sqlite3.connect(store) as opened:
        kept = "\n".join(opened.iterdump())
    opened.close()

    assert "Kiritimati" not in kept
    assert b"Kiritimati" not in store.read_bytes()
    assert b"Kiritimati".hex().upper() not in kept.upper()


async def test_what_fails_is_answered_in_the_sessions_language(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Plain(Journey):
        class SayPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

    def clerk(request: Any) -> str:
        raise OSError("no line")

    chat = await talk(Plain, {"clerk": clerk}, memory_url, locale=Locale(language="de"))
    english = await talk(Plain, {"clerk": clerk}, memory_url, session_id="s-2")

    assert "schiefgegangen" in await chat.says("hallo")
    assert "schief" not in await english.says("hello")
    assert chat.last.metadata["error"]["type"] == "PathwayExecutionError"


class Order(Signature):
    """Take an order."""

    wish: str = InputField(description="What they want")
    response: str = OutputField(description="What to say")


async def test_models_are_told_the_language_that_holds(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Shop(Journey):
        """Sell bread."""

        class OrderPath(Pathway):
            __signature__ = Order
            __complete_when__ = NEVER

    class Laden(Shop):
        __locale__ = Locale(language="de")

    told = []
    for number, (shop, locale) in enumerate(
        ((Shop, None), (Shop, GERMANY), (Laden, None), (Laden, Locale(language="en")))
    ):
        with ScriptedModel({"response": "Ja."}) as model:
            given = {"options": {"model": model}, "session_id": f"s-{number}", "locale": locale}
            chat = await talk(shop, {}, memory_url, **given)
            assert await chat.says("Brot") == "Ja."
            told.append("Your language is German" in model.calls[0].text)
    assert told == [False, True, True, True]


async def test_a_journey_of_a_concierge_is_at_home_where_it_says(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Abroad(Visit):
        """Arrange a visit abroad."""

        __activation__ = [IntentTrigger(["abroad"])]

    class Daheim(Besuch):
        """Einen Besuch daheim vereinbaren."""

        __activation__ = [IntentTrigger(["daheim"])]
        __locale__ = Locale(first_day="sunday")

    class Desk(Concierge):
        __journeys__ = [Abroad, Daheim]
        __locale__ = Locale(region="GB", first_day="monday")
        __cancel__ = IntentTrigger(["stop it"])

    parts = Desk.spec.parts
    assert parts["abroad"].locale == Locale(region="GB", first_day="monday")
    assert parts["daheim"].locale == GERMANY.over(Locale(first_day="sunday"))
    session = Locale(language="de", region="US", date_order="mdy")
    chat = await talk(Desk, {}, memory_url, locale=session)

    assert (await chat.says("hm")).startswith("Wobei kann ich")
    assert (await visit(chat, "abroad", "04/03/2027", "7 pm", "020 7946 0018"))["phone"] == (
        "+442079460018"
    )
    assert (await chat.journey.fields()).fields["day"].value == "2027-04-03"
    await chat.says("stop it")
    known = await visit(chat, "daheim", "24.12.2026", "19 Uhr", "0171 2345678")
    assert known["phone"] == "+491712345678"


def test_a_child_decides_part_by_part_and_the_version_knows() -> None:
    class Child(Besuch):
        __locale__ = Locale(region="AT")

    class Anywhere(Child):
        __locale__ = None  # type: ignore[assignment]

    class Again(Besuch):
        """Einen Besuch vereinbaren."""

    assert Child.spec.locale == Locale(language="de", region="AT", timezone="Europe/Berlin")
    assert Anywhere.spec.locale == NOWHERE
    assert Again.spec.locale == GERMANY
    same, other = (forms(region=region).spec.version for region in ("DE", "AT"))
    assert same == forms(region="DE").spec.version
    assert same != other


def test_a_part_that_is_unknown_is_refused_with_the_one_that_is_meant() -> None:
    for wrong, said in (
        ({"language": "it"}, "language is 'it'; it must be one of en, de, es, fr."),
        ({"language": "DE"}, "Did you mean 'de'?"),
        ({"region": "de"}, "region is 'de'.*Did you mean 'DE'?"),
        ({"region": "UK"}, "Did you mean 'GB'?"),
        ({"region": "XX"}, "such as 'US' or 'DE'"),
        ({"timezone": "Berlin"}, "Did you mean 'Europe/Berlin'?"),
        ({"timezone": "europe/berln"}, "Did you mean 'Europe/Berlin'?"),
        ({"timezone": "Mars/Base"}, "such as 'Europe/Berlin'"),
        ({"first_day": "mondy"}, "Did you mean 'monday'?"),
        ({"date_order": "ymd"}, "one of dmy, mdy"),
        ({"decimal_sign": "'"}, "one of"),
        ({"clock": 24}, "Did you mean '24h'?"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            Locale(**wrong)
        with pytest.raises(ConfigurationError, match=said):
            JourneyConfig(**wrong)

    assert Locale(language="de-AT") == Locale(language="de", region="AT")
    assert Locale(language="de-AT", region="DE").region == "DE"
    with pytest.raises(JourneyDefinitionError, match="__locale__ is 'de'; it must be Locale"):

        class Wrong(Journey):
            __locale__ = "de"  # type: ignore[assignment]


async def test_what_a_session_brings_must_be_a_locale(memory_url: str) -> None:
    async with Visit("s-1", JourneyConfig(persistence=memory_url)) as journey:
        with pytest.raises(ConfigurationError, match="it must be a Locale"):
            await journey.start(locale="de-DE")


FILE = """\
id: visit
locale: {language: de, region: DE, timezone: Europe/Berlin, first_day: monday}
states:
  ask:
    fields: [{name: day, type: date, ask: Wann?}, {name: when, type: date, ask: Und dann?}]
    complete_when: never
"""
FAULTY = """\
id: visit
personality: {language: de}
locale: {language: it, region: de, timezone: Berlin, first_dy: monday, clock: 24}
states:
  ask:
    fields: [{name: day, type: date, ask: Wann?}]
"""
UNKNOWN = FILE.replace("region: DE, timezone: Europe/Berlin", "region: NO, timezone: Berlin")


async def test_a_file_says_it_too(
    talk: Callable[..., Any], memory_url: str, tmp_path: Path
) -> None:
    (tmp_path / "visit.yaml").write_text(FILE)
    journey = load_journey(tmp_path / "visit.yaml")

    assert journey.spec.locale == GERMANY.over(Locale(first_day="monday"))
    chat = await talk(journey, {}, memory_url)
    assert (await visit(chat, "hallo", "04/03/2027"))["day"] == "2027-03-04"
    (tmp_path / "visit.yaml").write_text(FILE.replace("region: DE", "region: AT"))
    assert load_journey(tmp_path / "visit.yaml").spec.version != journey.spec.version


def test_check_names_the_line_of_a_part_that_is_unknown(folder: Path) -> None:
    (folder / "a.yaml").write_text(FAULTY)
    (folder / "b.yaml").write_text(UNKNOWN)

    first, second = (run("check", name, code=1) for name in ("a.yaml", "b.yaml"))

    for said in (
        "a.yaml:2:15: 'language' is not a valid key of a personality",
        "locale: {language: ...}",
        'a.yaml:3:20: language is "it"; it must be one of en, de, es, fr.',
        "a.yaml:3:54: 'first_dy' is not a valid key of a locale. Did you mean 'first_day'?",
        "a.yaml:3:79: clock is 24; it must be one of 12h, 24h.",
    ):
        assert said in first.output, first.output
    assert "b.yaml:2:" in second.output
    assert 'timezone is "Berlin"' in second.output
    assert "Did you mean 'Europe/Berlin'?" in second.output
    assert "region" not in second.output  # NO is Norway, and no boolean


async def test_one_server_holds_german_american_and_brought_sessions_at_once(
    serve: Callable[..., Any],
) -> None:
    here = await serve(one(Besuch), one(Stateside), one(Visit))
    sessions = [
        await here.begin("besuch", "de"),
        await here.begin("stateside", "us", locale={"language": "de", "region": "DE"}),
        await here.begin("visit", "own", locale={"language": "de-DE", "timezone": "Europe/Berlin"}),
        await here.begin("visit", "none"),
    ]

    async def talked(session: str) -> list[str]:
        said = ("hallo", "04/03/2027", "19:30", "0171 2345678", "1.234,50")
        return [(await here.says(session, message))["message"] for message in said]

    german, american, brought, plain = await asyncio.gather(*map(talked, sessions))

    for replies in (german, brought):
        assert "4. März 2027" in replies[-1]
        assert "1.234,50 EUR" in replies[-1]
        assert "Stimmt" in replies[-1]
    for replies in (american, plain):
        assert "März" not in " ".join(replies)
    shown = (await here.client.get(sessions[2])).json()["locale"]
    assert {name: value for name, value in shown.items() if value} == GERMANY.parts
    fields = (await here.client.get(f"{sessions[3]}/fields")).json()
    assert "2027-04-03" in str(fields)


@pytest.mark.parametrize(
    ("locale", "where", "what"),
    [
        ({"region": "de"}, "body.locale", "Did you mean 'DE'?"),
        ({"timezone": "Berlin-Mitte-Secret"}, "body.locale", "such as 'Europe/Berlin'"),
        ({"timezone": "europe/berlin"}, "body.locale", "Did you mean 'Europe/Berlin'?"),
        ({"language": "it"}, "body.locale", "it must be one of en, de, es, fr."),
        ({"first_day": 1}, "body.locale", "string"),
        ({"lang": "de"}, "body.locale", "Extra inputs"),
        ("de-DE", "body.locale", ""),
    ],
)
async def test_over_http_a_wrong_part_is_refused_and_not_repeated(
    serve: Callable[..., Any], locale: Any, where: str, what: str
) -> None:
    here = await serve(one(Visit))
    body = {"journey_id": "visit", "session_id": "s-1", "locale": locale}

    refused = await here.client.post("/v1/sessions", json=body)

    assert refused.status_code == 422
    (fault,) = refused.json()["errors"]
    assert fault["where"].startswith(where)
    assert what in fault["what"]
    assert "Secret" not in refused.text
    assert (await here.client.get("/v1/sessions/s-1")).status_code == 404


async def test_a_text_of_a_language_is_said_where_a_session_brings_it(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Worded(Visit):
        __activation__ = [IntentTrigger(["visit"])]
        __texts__ = {"de": {"wait": "Ich warte."}, "wait": "I wait."}

    class Desk(Concierge):
        __journeys__ = [Worded]
        __personality__ = Personality(name="Ada")
        __texts__ = {"de": {"wait": "Nur zu.", "required": "Nötig."}, "required": "Needed."}

    german = await talk(Desk, {}, memory_url, locale=Locale(language="de"))
    english = await talk(Desk, {}, memory_url, session_id="s-2")

    for chat, said, wanted in (
        (german, "einen Moment", "Ich warte."),
        (english, "one moment", "I wait."),
    ):
        await chat.says("visit")
        assert (await chat.says(said)).startswith(wanted)


async def test_who_is_waited_for_gives_up_in_the_sessions_language(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Asking(Journey):
        class AskPath(Pathway):
            __agents__ = ["asker"]
            __complete_when__ = NEVER

    async def asker(request: Any) -> str:
        return f"answered {interrupt('sure?')}"

    told = []
    for number, locale in enumerate((Locale(language="de"), None)):
        chat = await talk(
            Asking, {"asker": asker}, memory_url, session_id=f"s-{number}", locale=locale
        )
        await chat.says("hallo")
        told.append("answered" in await chat.says("vergiss es"))
    assert told == [False, True]
