"""Every attempt at a field is appended, kept, and shown on request; nothing is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import FieldNotFoundError, Journey
from tests.storage.test_encryption import KEY, everything, spellings
from tests.support import api as helpers
from tests.support import command
from tests.support.api import Api, one
from tests.support.command import flat, run
from tests.support.luggage import SAID, Luggage, luggage
from tests.support.post_office import found

serve, api = helpers.serve, helpers.api
folder = command.folder
HIDDEN = "901820"


async def reported(url: str, **config: Any) -> Journey:
    """Hold the whole conversation; return a handle on its session."""
    journey = luggage(url, **config)
    await journey.start()
    for message in SAID:
        await journey.process_message(message)
    return journey


async def test_all_attempts_are_kept_with_what_was_said_and_why_it_was_refused(
    store_url: str,
) -> None:
    async with await reported(store_url) as journey:
        attempts = await journey.attempts("bags")
        assert [(a.turn, a.value, a.raw, a.validation_status, a.source) for a in attempts] == [
            (3, 40, "forty", "invalid", "user_provided"),
            (4, 40, "40", "invalid", "user_provided"),
            (5, 2, "2", "valid", "user_provided"),
            (8, 3, "3", "valid", "corrected"),
        ]
        assert attempts[0].reason == "It must be from 1 to 5."
        assert all(attempt.timestamp and attempt.session_id == "s-1" for attempt in attempts)
        assert await journey.attempts("colour") == []
    async with luggage(store_url) as again:  # nothing of it was only in memory
        assert await again.attempts("bags") == attempts


async def test_a_field_that_there_is_not_is_told(memory_url: str) -> None:
    async with luggage(memory_url) as journey:
        await journey.start()
        with pytest.raises(FieldNotFoundError, match="Did you mean 'bags'"):
            await journey.attempts("bag")


async def test_the_form_says_how_every_field_stands(memory_url: str) -> None:
    async with await reported(memory_url) as journey:
        view = await journey.fields()
        assert (view.pathway_id, view.current_field, view.is_complete) == (
            "report",
            "colour",
            False,
        )
        assert view.asked == {"kind": "field", "about": "colour", "options": []}
        assert view.collected == {"flight": "XQ123", "bags": 3, "insured": False}
        situation = {
            name: (field.is_collected, field.live, field.validity, len(field.attempts))
            for name, field in view.fields.items()
        }
        assert situation == {
            "flight": (True, True, "valid", 1),
            "bags": (True, True, "valid", 4),
            "insured": (True, True, "valid", 1),
            "policy": (False, False, "", 0),
            "phone": (True, True, "valid", 2),
            "colour": (False, True, "", 0),
        }
        assert view.fields["bags"].current_value == 3
        assert not view.fields["colour"].required

        await journey.process_message("rather not say")
        view = await journey.fields()
        assert view.is_complete
        assert view.current_field is None
        assert view.fields["colour"].skipped


async def test_the_state_keeps_the_last_attempts_and_the_table_all(memory_url: str) -> None:
    async with luggage(memory_url) as journey:
        await journey.start()
        await journey.process_message("XQ123")
        for number in range(10, 22):
            await journey.process_message(str(number))
        view = await journey.fields()
        assert len(view.fields["bags"].attempts) == 8
        assert [a.value for a in await journey.attempts("bags")] == list(range(10, 22))


async def test_a_rollback_takes_values_back_and_no_attempt(memory_url: str) -> None:
    async with await reported(memory_url) as journey:
        await journey.rollback(5)
        assert (await journey.fields()).fields["bags"].value == 2
        assert [a.value for a in await journey.attempts("bags")] == [40, 40, 2, 3]
        await journey.process_message("change bags to 4")
        assert [a.value for a in await journey.attempts("bags")] == [40, 40, 2, 3, 4]
        assert [len(f.attempts) for f in (await journey.fields()).fields.values()][1] == 4


async def test_a_value_that_is_taken_back_is_cleared_and_not_removed(memory_url: str) -> None:
    async with luggage(memory_url) as journey:
        await journey.start()
        for message in ("XQ123", "2", "forget everything"):
            await journey.process_message(message)
        attempts = await journey.attempts("bags")
        assert [(a.value, a.validation_status) for a in attempts] == [
            (2, "valid"),
            (None, "cleared"),
        ]
        state = (await journey.fields()).fields["bags"]
        assert (state.is_collected, state.value, state.validity) == (False, None, "cleared")


async def test_what_is_sensitive_is_collected_and_never_shown(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with await reported(url) as journey:
        assert (await journey.snapshot())["phone"] == "+4930901820"
        attempts = await journey.attempts("phone")
        assert [(a.validation_status, a.hidden) for a in attempts] == [
            ("invalid", True),
            ("valid", True),
        ]
        phone = (await journey.fields()).fields["phone"]
        assert (phone.is_collected, phone.hidden, phone.value) == (True, True, None)
        for shown in (attempts, phone, await journey.audit()):
            assert HIDDEN not in str(shown)
    assert HIDDEN not in str(found(url, "SELECT * FROM field_attempts"))


async def test_of_a_sensitive_journey_nothing_can_be_read_in_the_file(tmp_path: Path) -> None:
    class Sealed(Luggage):
        """Report in confidence."""

        __sensitive__ = True

    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with luggage(url, kind=Sealed, encryption_key=KEY) as journey:
        await journey.start()
        for message in ("XQ123 to Canary Wharf", "forty bags of canaries", "2"):
            await journey.process_message(message)
        assert "XQ123" in (await journey.attempts("flight"))[0].value
        assert (await journey.attempts("bags"))[-1].value == 2
        stored = everything(url)
    assert b"flight" in stored  # names are no secret, and show that this is the right file
    for secret in ("Canary Wharf", "bags of canaries"):
        assert not [form for form in spellings(secret) if form in stored]


# ---- over HTTP


async def test_over_http_fields_and_attempts_are_read(serve: Callable[..., Any]) -> None:
    api: Api = await serve(one(Luggage))
    report = await api.begin("luggage")
    for message in SAID:
        await api.says(report, message)

    view = (await api.client.get(f"{report}/fields")).json()
    assert (view["pathway_id"], view["current_field"]) == ("report", "colour")
    assert list(view["fields"]) == ["flight", "bags", "insured", "policy", "phone", "colour"]
    bags = view["fields"]["bags"]
    assert (bags["value"], bags["is_collected"], bags["validity"]) == (3, True, "valid")
    history = (await api.client.get(f"{report}/fields/bags")).json()
    assert [a["value"] for a in history["attempts"]] == [40, 40, 2, 3]
    audit = (await api.client.get(f"{report}/audit")).json()
    assert [a["field"] for turn in audit["turns"] for a in turn["attempts"]][:2] == [
        "flight",
        "bags",
    ]
    for shown in (view, history, (await api.client.get(f"{report}/fields/phone")).json()):
        assert HIDDEN not in str(shown)

    missing = await api.client.get(f"{report}/fields/verified")
    assert (missing.status_code, missing.json()["code"]) == (404, "field_not_found")
    assert "verified" not in missing.json()["detail"]
    assert (await api.client.get("/v1/sessions/nobody/fields")).status_code == 404


# ---- in the terminal


def test_the_chat_shows_the_form_and_the_audit_the_attempts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    store = f"sqlite:///{folder / 'a.db'}"
    typed = "\n".join(
        [*SAID, "/fields", "/fields bags", "/fields phone", "/fields colours", "/help"]
    )
    shown = run(
        "chat", "tests.support.luggage:Luggage", "--store", store, "-s", "s-1", typed=f"{typed}\n"
    )

    text = flat(shown.stdout)
    assert "bags 3 collected 4 forty: It must be from 1 to 5.; 40: It must be from 1 to 5." in text
    assert "telephone number (not shown) collected 2" in text
    assert "▸ colour open, optional 0" in text
    assert "policy not used now 0" in text
    assert "8 3 3 valid corrected" in text
    assert "/fields [NAME]" in text
    assert "Did you mean 'colour'" in shown.stderr

    audit = flat(run("audit", "s-1", "--store", store).stdout)
    assert "bags invalid · user provided · forty · It must be from 1 to 5." in audit
    assert "phone valid · user provided · not shown" in audit


def test_the_chat_shows_values_as_users_read_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    store = f"sqlite:///{folder / 'a.db'}"
    typed = "send money to Maya\n2000\n40\n/fields\n/fields amount\n"
    text = flat(run("chat", "bank_transfer", "--store", store, typed=typed).stdout)

    assert "amount EUR 40.00 collected 2 2000: There are only EUR 1,250.00" in text
    assert "3 40 EUR 40.00 valid user provided" in text


# ---- without a manager, as in Studio


async def test_a_graph_that_clients_talk_to_themselves_collects_as_a_session_does(
    memory_url: str,
) -> None:
    graph = Luggage.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t-1"}}
    async with luggage(memory_url) as session:
        await session.start()
        for said in SAID:
            reply = await session.process_message(said)
            heard = await graph.ainvoke({"messages": [{"role": "user", "content": said}]}, thread)
            assert heard["messages"][-1].content == reply.message

        assert heard["context"] == reply.accumulated_context
        tried = [attempt["value"] for attempt in heard["fields"]["bags"]]
        assert tried == [attempt.value for attempt in await session.attempts("bags")]

    await graph.aupdate_state(thread, heard)  # a client that edits a state sends all of it back
    assert (await graph.aget_state(thread)).values["fields"] == heard["fields"]
