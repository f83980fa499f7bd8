"""The server does what its OpenAPI description says, for generated requests."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.utils import many
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
    unsupported_method,
)

from journeygraph.graphs.records.idempotency import KEY_PATTERN
from journeygraph.server.app import app_of
from tests.support.api import KEY, serving, wired
from tests.support.properties import are_all, examples

_LISTS = ("GET /v1/sessions", "GET /v1/reviews", "GET /v1/escalations")
_ACTS = ("claim", "messages", "release")
_OPERATORS = [f"POST /v1/escalations/{{escalation_id}}/{act}" for act in _ACTS]
_EVENTS = [
    "POST /v1/sessions/{session_id}/events",
    "GET /v1/sessions/{session_id}/turns/{turn}/events",
]
_PATHS = ("chat/completions", "responses", "ag-ui/{model}", "ai-sdk/{model}")
_CHATS = [f"POST /v1/{path}" for path in _PATHS]
_STRICTER = ("POST /v1/sessions", "POST /v1/tokens", *_EVENTS, *_LISTS, *_OPERATORS, *_CHATS)
"""Contexts, lists, ids of users and events, names of operators and conversations have rules that a
schema cannot say, as cursors have."""
_numbers = count()
_HEADERS = {"Authorization": f"Bearer {KEY}", "Connection": "close"}


def _more(self: Any) -> bool:
    """What the schemas' strategies of this schemathesis call; this hypothesis has it no more."""
    if not hasattr(self, "each"):
        self.each = iter(self.__enter__())
    if next(self.each, self) is not self:
        return True
    self.__exit__(None)
    return False


if not hasattr(many, "more"):
    many.more = _more  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """A server in a thread, for a client that is not async, with a session that began."""
    ready = threading.Event()
    found: dict[str, Any] = {}

    async def run() -> None:
        async with serving(wired(keys=(KEY,)), Authorization=f"Bearer {KEY}") as api:
            await api.begin()
            found.update(
                url=f"http://127.0.0.1:{api.port}",
                loop=asyncio.get_running_loop(),
                end=asyncio.Event(),
            )
            ready.set()
            await found["end"].wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(110)
    yield found
    found["loop"].call_soon_threadsafe(found["end"].set)
    thread.join()


schema = schemathesis.openapi.from_dict(app_of(wired(keys=(KEY,))).openapi())
load_all_checks()
ENDLESS = "GET /v1/sessions/{session_id}/events"
"""It ends only with its session; tests/http/test_http_streams.py has it."""
OPERATIONS: dict[str, Any] = {
    found.ok().label: found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)
}
del OPERATIONS[ENDLESS]


# What `schema.parametrize` makes of a test, but made when the test runs: drawing the cases takes
# seconds, and every process of a run collects all tests.
@pytest.mark.parametrize("label", OPERATIONS)
def test_any_request_is_answered_as_described(label: str, server: dict[str, Any]) -> None:
    operation = OPERATIONS[label]

    @settings(
        max_examples=examples(15),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: Any) -> None:
        answers_as_described(case, server)

    # The cases that cover each part of a schema take seconds to make; of conversations, minutes.
    covers = are_all() and label not in _CHATS
    modes = set(HypothesisTestMode) - (set() if covers else {HypothesisTestMode.COVERAGE})
    config = HypothesisTestConfig(
        modes=[mode for mode in HypothesisTestMode if mode in modes],
        settings=schema.config.get_hypothesis_settings(operation=operation, phase="fuzzing"),
        project=schema.config,
    )
    create_test(operation=operation, test_func=answers, config=config)()


def answers_as_described(case: Any, server: dict[str, Any]) -> None:
    if "session_id" in (case.path_parameters or {}) and next(_numbers) % 2:
        case.path_parameters["session_id"] = "s-1"
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(KEY_PATTERN, key):
        case.headers["Idempotency-Key"] = f"k-{next(_numbers)}"  # one that no other case has used

    # No value is left out of a request; some cases write it as a word.
    texts = [*(case.query or {}).values(), *(case.headers or {}).values()]
    is_nothing = any(value is None or value == "null" for value in texts)
    is_stricter = case.operation.label in _STRICTER or "cursor" in (case.query or {}) or is_nothing
    unsaid = [positive_data_acceptance] if is_stricter else []
    # What has no text is not in a query at all, so that the request is none to refuse.
    if any(value is None or value in ([], {}, "") for value in (case.query or {}).values()):
        unsaid.append(negative_data_rejection)
    if case.operation.path.endswith("/export"):  # for other methods a part of the user's id
        unsaid.append(unsupported_method)
    case.call_and_validate(base_url=server["url"], headers=_HEADERS, excluded_checks=unsaid)
