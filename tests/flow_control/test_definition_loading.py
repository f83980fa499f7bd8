"""Flow control, the scenarios "Journey definition loading" and "Guideline loading".

Files become journeys; definitions in a real Postgres, with copies in a real Redis or Valkey, are
served by every process, and followed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from journeygraph import JourneyConfig, load_journey
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.nodes.llm.scripted import leads_to, rules_hold
from journeygraph.server.cache import open_cache
from journeygraph.server.definitions.loader import drafts_at
from journeygraph.server.definitions.stored_journeys import Providers
from tests.flow_control import line as the_line
from tests.flow_control.line import HAPPY, system
from tests.support import watching
from tests.support.api import Api, serving, wired
from tests.support.redis import RedisServer
from tests.support.watching import Watch

server, scripted, line = the_line.server, the_line.scripted, the_line.line
watch = watching.watch

CLAIM = """\
id: claim
version: "7"
name: Claims
instructions: Settle a claim.
tools:
  - type: function
    function:
      name: find_policy
      description: Look a policy up by its number.
      parameters: {type: object, properties: {number: {type: string}}, required: [number]}
activation_conditions:
  - reports a damage
initial_state: report
states:
  report:
    purpose: Hear what happened.
    action: Ask what happened first.
    complete_when: never
  policy:
    kind: tool
    calls:
      - {tool: find_policy, arguments: {number: policy_number}, save: policy}
    action: Say which policy it is.
    complete_when: never
    guidelines:
      - {id: lapsed, condition: the policy has lapsed, action: offer a renewal, always: true}
transitions:
  - {to: policy, condition: asks about the policy, priority: 5}
guidelines:
  - {id: upset, condition: sounds upset, action: calm them, keywords: [upset, angry]}
  - {id: known, when: "context.policy_number != ''", action: greet by name, scope: global}
"""
SALES = {
    "id": "sales",
    "name": "Sales",
    "instructions": "Sell insurance.",
    "activation_conditions": ["wants to buy"],
    "initial_state": "offer",
    "states": {"offer": {"action": "Name no price.", "complete_when": "never"}},
}
DESK = """\
id: desk
journeys: [claim.yaml, sales.json]
otherwise: ask
"""
RULES = """\
guidelines:
  - {id: thanks, condition: says thanks, action: thank them, keywords: [thanks]}
  - {id: old_rule, condition: says thanks, action: bow, keywords: [thanks], enabled: false}
"""


def find_policy(number: str) -> dict[str, str]:
    """Look a policy up."""
    return {"number": number, "kind": "household"}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a concierge of two journeys: one in YAML, one in JSON."""
    (tmp_path / "claim.yaml").write_text(CLAIM)
    (tmp_path / "sales.json").write_text(json.dumps(SALES))
    (tmp_path / "desk.yaml").write_text(DESK)
    return tmp_path


# Scenario: Journey definition loading


async def test_definition_loading_of_a_json_journey_is_activated_too(
    line: Callable[..., Any], scripted: Callable[..., Any], desk: Path
) -> None:
    with scripted(leads_to("sales.offer", confidence=0.71), HAPPY) as script:
        chat = await line(
            load_journey(desk / "desk.yaml"), options={"tools": {"find_policy": find_policy}}
        )
        await chat.says("I want to insure a boat")

        assert chat.last.metadata["journey_id"] == "sales"
        assert "Name no price." in system(script.calls[1])


# Definitions in Postgres, with copies in Redis


async def stored(url: str, folder: Path) -> None:
    """Put all files of a folder into the database, as `journeygraph load --replace` does."""
    definitions = await Definitions.open(JourneyConfig(persistence=url))
    try:
        await definitions.load(drafts_at([str(folder)], []), replace=True)
    finally:
        await definitions.close()


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[Redis]:
    """The Redis itself, which all tests share."""
    client = Redis.from_url(redis_server.url)
    yield client
    await client.aclose()


@pytest.fixture
def process(postgres_url: str, redis_server: RedisServer) -> Callable[..., Any]:
    """Begin a process that serves what is in the database: `async with process() as api`."""

    @asynccontextmanager
    async def begin() -> AsyncIterator[Api]:
        app_state = wired(url=postgres_url, model=None)
        app_state.journeys = {}
        app_state.given = Providers(tools={"find_policy": find_policy})
        app_state.cache = open_cache(redis_server.url)
        async with serving(app_state) as running:
            yield running

    return begin


async def test_definitions_are_loaded_from_postgres_into_redis_and_kept_for_a_day(
    process: Callable[..., Any],
    scripted: Callable[..., Any],
    watch: Watch,
    tmp_path: Path,
    postgres_url: str,
    redis: Redis,
) -> None:
    """A second process finds them there; with guidelines of all scopes, but no disabled one."""
    claim, rules = f"claim_{uuid.uuid4().hex}", f"rules_{uuid.uuid4().hex}"
    (tmp_path / f"{claim}.yaml").write_text(CLAIM.replace("id: claim", f"id: {claim}"))
    (tmp_path / f"{rules}.yaml").write_text(RULES)
    await stored(postgres_url, tmp_path)
    async with process() as first:
        assert list(first.app_state.journeys) == [claim]
        keys = [f"jg:default:definition:{name}" for name in (claim, rules)]
        assert all([0 < await redis.ttl(key) <= 24 * 3600 for key in keys])
    assert looked_up(watch) == [("miss", 2)]

    async with process() as second:
        assert looked_up(watch) == [("hit", 2)]
        with scripted(rules_hold("thanks", "upset"), HAPPY) as script:
            session = await second.begin(claim, context={"policy_number": "P-17"})
            reply = await second.says(session, "Thanks, but I am upset")
        # Of the journey, of all journeys by its own file, and of all by a file of guidelines.
        assert reply["metadata"]["guidelines"] == ["upset", "known", "thanks"]
        assert "old_rule" not in script.calls[0].text
        assert "bow" not in system(script.calls[1])


async def test_definitions_that_are_loaded_later_hold_from_the_next_turn_on_in_every_process(
    process: Callable[..., Any],
    scripted: Callable[..., Any],
    tmp_path: Path,
    postgres_url: str,
) -> None:
    sales = {**SALES, "id": f"sales_{uuid.uuid4().hex}"}
    (tmp_path / "sales.json").write_text(json.dumps(sales))
    await stored(postgres_url, tmp_path)
    async with process() as one, process() as other:
        with scripted(HAPPY, HAPPY) as script:
            session = await one.begin(str(sales["id"]))
            await one.says(session, "Hello")
            assert "Name no price." in system(script.calls[0])

            changed = {"offer": {"action": "Name a price.", "complete_when": "never"}}
            (tmp_path / "sales.json").write_text(json.dumps({**sales, "states": changed}))
            await stored(postgres_url, tmp_path)
            await other.says(session, "Hello again")
            assert "Name a price." in system(script.calls[1])


def looked_up(watch: Watch) -> list[tuple[str, int]]:
    """The results of reads of definitions since the last call."""
    return [
        (labels["journeygraph.cache.result"], count)
        for labels, count in watch.points("journeygraph.cache.read")
        if labels["journeygraph.cache.name"] == "definition"
    ]
