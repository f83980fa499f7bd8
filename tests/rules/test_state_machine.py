"""Any journey, any conversation: the session has the position of the reference model.

Hypothesis makes up a journey (pathways, detours, rules) and a conversation with it: messages,
failures, restarts, rollbacks. `STATE_MACHINE_EXAMPLES=2000` hunts for longer, with new seeds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from journeygraph import (
    NEVER,
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyResponse,
    MaxPathwayDepthError,
    MergeStrategy,
    Pathway,
    PathwayExecutionError,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
)
from journeygraph.journeys.texts import Texts
from tests.support import reference_model as model
from tests.support.properties import examples
from tests.support.talk import path_in

HUNTING = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=HUNTING or examples(10),
    stateful_step_count=40,
    derandomize=not HUNTING,
    # Shrinking takes minutes; a hunt does it.
    phases=[Phase.generate, Phase.shrink] if HUNTING else [Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
TEXTS = Texts(closing="closing", apology="sorry", too_deep="too deep")
PLAIN = ["p0", "p1", "p2", "p3"]
DETOURS = ["d0", "d1", "d2", "d3"]
WORDS = [f"go{number}" for number in range(9)]
ANSWERS = ["hello", "hello", "done", "done", "tag", "x1", "x3", "y5", "boom"]
SAID = [*WORDS, *ANSWERS, *(f"boom_{name}" for name in (*PLAIN, *DETOURS))]
KEPT = {"trail": MergeStrategy.APPEND, "count": MergeStrategy.SUM, "x": None}
KEPT |= {"tags": None, "notes": None, **{f"done_{name}": None for name in (*PLAIN, *DETOURS)}}
UPDATES = [
    *((f"done_{name}", "clear", "") for name in (*PLAIN, *DETOURS)),
    *((f"done_{name}", "set", "given") for name in ("p0", "p1", "d0", "d1")),
    ("seen", "append", "x"),
    ("seen", "append", "tags"),
    ("copy", "copy", "y"),
    ("x", "clear", ""),
    ("mark", "set", "here"),
    ("mark", "copy", "seen"),
]


@st.composite
def plain_stretch(draw: Any, name: str) -> model.Stretch:
    # Only forward does a chain of arrivals go, so that none runs in a circle.
    later = [other for other in PLAIN if other > name]
    return model.Stretch(
        id=name,
        next=draw(st.sampled_from([None, *later])),
        complete=draw(st.sampled_from([None, None, "never", f"done_{name}", f"done_{name}"])),
        arrives=name != PLAIN[0] and draw(st.booleans()),
    )


@st.composite
def detour(draw: Any, name: str) -> model.Stretch:
    return model.Stretch(
        id=name,
        returns=draw(st.sampled_from(["previous", "previous", "previous", *PLAIN[:3]])),
        keeps=draw(st.booleans()),
        max_depth=draw(st.sampled_from([None, None, 1, 2, 3])),
        complete=draw(st.sampled_from([None, "never", f"done_{name}", f"done_{name}"])),
    )


@st.composite
def rules(draw: Any) -> tuple[model.Rule, ...]:
    made = []
    for word in WORDS:
        sources = st.lists(st.sampled_from([*PLAIN, *DETOURS]), min_size=1, max_size=3, unique=True)
        updates = st.lists(st.sampled_from(UPDATES), max_size=3, unique_by=lambda item: item[0])
        made.append(
            model.Rule(
                word=word,
                target=draw(st.sampled_from([*PLAIN, *DETOURS, *DETOURS])),
                sources=tuple(draw(st.just(["*"]) | st.just(["*"]) | sources)),
                kind=draw(st.sampled_from([*["says"] * 8, "condition", "always"])),
                update=tuple(draw(updates)),
                priority=draw(st.sampled_from([0, 0, 5])),
            )
        )
    return tuple(made)


@st.composite
def plans(draw: Any) -> model.Plan:
    stretches = [draw(plain_stretch(name)) for name in PLAIN]
    stretches += [draw(detour(name)) for name in DETOURS]
    depth = draw(st.sampled_from([1, 2, 3, 10, 10]))
    return model.Plan({item.id: item for item in stretches}, draw(rules()), depth)


def nested() -> model.Plan:
    """A journey in which detours lie deep in one another, and everything can be said anywhere."""
    forgetful = [model.Stretch(id=name, returns="previous", keeps=False) for name in DETOURS[:2]]
    slow = [replace(item, complete=f"done_{item.id}") for item in forgetful]
    kept = model.Stretch(id="d2", returns="previous", complete="done_d2")
    specific = model.Stretch(id="d3", returns="p1", keeps=False)
    # The entry is complete after any answer, so that detours lie over the journey's end as well.
    plain = [model.Stretch(id=name, complete=f"done_{name}") for name in PLAIN[1:]]
    plain.insert(0, model.Stretch(id=PLAIN[0]))
    stretches = {item.id: item for item in (*plain, *slow, kept, specific)}
    targets = zip(WORDS, ["p0", "p1", *DETOURS, "d3"], strict=False)
    rules = [model.Rule(word, target) for word, target in targets]
    rules += [model.Rule(word, "d2", sources=("p1",)) for word in WORDS[-2:]]
    return model.Plan(stretches, tuple(rules), depth=10)


def journey_of(plan: model.Plan) -> type[Journey]:
    """Declare the plan as an author would."""
    body: dict[str, Any] = {"__transitions__": [_transition(item) for item in plan.rules]}
    for stretch in plan.stretches.values():
        name = f"{stretch.id.upper()}Path"
        body[name] = type(name, (Pathway,), _attributes(stretch))
    return type("Planned", (Journey,), body)


def _attributes(stretch: model.Stretch) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "__agents__": [f"{stretch.id}_agent"],
        "__accumulate__": KEPT,
        "__next__": stretch.next,
        "__runs_on_arrival__": stretch.arrives,
    }
    if stretch.complete:
        never = stretch.complete == "never"
        attributes["__complete_when__"] = NEVER if never else [stretch.complete]
    if stretch.returns == "previous":
        attributes["__return_behavior__"] = ReturnToPrevious(stretch.keeps, stretch.max_depth)
    elif stretch.returns:
        attributes["__return_behavior__"] = ReturnToSpecific(
            stretch.returns, stretch.keeps, stretch.max_depth
        )
    return attributes


def _transition(item: model.Rule) -> Transition:
    triggers: dict[str, BaseTrigger] = {
        "says": IntentTrigger(patterns=[item.word]),
        "condition": ConditionTrigger(lambda context: context.get("x", 0) >= 2),
        "always": AlwaysTrigger(),
    }
    update = {name: f"{how}:{source}" for name, how, source in item.update}
    return Transition(triggers[item.kind], item.sources, item.target, update, item.priority)


class Conversation(RuleBasedStateMachine):
    """A conversation with a made-up journey; two handles take turns on one session."""

    numbers = iter(range(10**9))

    def __init__(self, url: str, loop: asyncio.AbstractEventLoop, plans: Any) -> None:
        super().__init__()
        self.plans = plans
        self.url = url
        self.loop = loop
        self.handles: list[Journey] = []
        self.saw: list[tuple[str, dict[str, Any]]] = []
        self.ends = 0
        self.places: list[model.Place] = []
        self.kinds: list[tuple[str, str | None]] = []
        self.ran: dict[int, list[str]] = {}

    def run(self, awaited: Any) -> Any:
        return self.loop.run_until_complete(awaited)

    @initialize(
        plan=st.runner().flatmap(lambda machine: machine.plans),
        recovery=st.sampled_from(["graceful", "graceful", "fail_fast"]),
    )
    def start(self, plan: model.Plan, recovery: str) -> None:
        self.plan = plan
        self.recovery = recovery
        self.kind = journey_of(plan)
        self.session_id = f"s-{next(self.numbers)}"
        self.handles = [self.opened(), self.opened()]
        self.run(self.handles[0].start({"trail": ["began"], "seen": "scalar"}))
        context = {"trail": ["began"], "seen": "scalar"}
        self.places = [model.Place(PLAIN[0], context=context)]
        self.kinds = [("start", None)]
        self.expected_ends = 0

    def opened(self) -> Journey:
        config = JourneyConfig(
            persistence=self.url,
            max_pathway_depth=self.plan.depth,
            error_recovery=self.recovery,
            texts=TEXTS,
        )
        agents = {f"{name}_agent": self.agent(name) for name in self.plan.stretches}
        return self.kind(self.session_id, config, agents=agents, on_end=self.ended)

    def agent(self, name: str) -> Any:
        async def answer(payload: dict[str, Any]) -> dict[str, Any]:
            self.saw.append((name, payload["context"]))
            return model.outputs(name, payload["message"].split())

        return answer

    def ended(self, response: JourneyResponse) -> None:
        self.ends += 1

    @rule(word=st.sampled_from(WORDS), handle=st.integers(0, 1))
    def move(self, word: str, handle: int) -> None:
        self.hear([word], handle)

    @rule(word=st.sampled_from(ANSWERS), handle=st.integers(0, 1))
    def tell(self, word: str, handle: int) -> None:
        self.hear([word], handle)

    @rule(words=st.lists(st.sampled_from(SAID), min_size=2, max_size=3), handle=st.integers(0, 1))
    def say(self, words: list[str], handle: int) -> None:
        self.hear(words, handle)

    def hear(self, words: list[str], handle: int) -> None:
        message = " ".join(words)
        before = self.places[-1]
        after, heard = model.turn(self.plan, before, message)
        self.saw.clear()
        if self.recovery == "fail_fast" and (heard.failed or heard.too_deep):
            error = PathwayExecutionError if heard.failed else MaxPathwayDepthError
            with pytest.raises(error):
                self.run(self.handles[handle].process_message(message))
            return
        reply = self.run(self.handles[handle].process_message(message))
        self.places.append(after)
        self.kinds.append(("failure" if heard.failed else "turn", message))
        again = bool(heard.ran) and not self.plan.stretches[heard.ran[-1]].returns
        self.expected_ends += after.ended and (not before.ended or again)
        self.check_reply(reply, after, heard)
        self.ran[len(self.places) - 1] = heard.ran

    def check_reply(self, reply: JourneyResponse, place: model.Place, heard: model.Heard) -> None:
        assert reply.message == heard.said
        assert reply.transition_to == heard.transition_to
        assert reply.pathway_changed == heard.moved
        assert reply.is_journey_complete == place.ended
        assert reply.pathway_id == place.pathway
        assert reply.metadata["pathway_stack"] == place.paused
        assert reply.metadata["returning"] == place.returning
        assert reply.metadata["ran"] == heard.ran
        assert reply.metadata["version"] == len(self.places) - 1
        assert reply.accumulated_context == place.context
        assert heard.failed or self.saw == heard.saw

    @rule(restarted=st.booleans())
    def look(self, restarted: bool) -> None:
        if restarted:
            self.run(self.closed())
            self.handles = [self.opened(), self.opened()]
        self.check_state(self.run(self.handles[0].get_session_state()))

    async def closed(self) -> None:
        for handle in self.handles:
            await handle.close()

    @rule(back=st.integers(0, 12))
    def roll_back(self, back: int) -> None:
        version = max(len(self.places) - 1 - back, 0)
        session = self.run(self.handles[back % 2].rollback(version))
        self.places.append(self.places[version])
        self.kinds.append(("rollback", None))
        self.check_state(session)

    def check_state(self, session: Any) -> None:
        place = self.places[-1]
        assert session.version == len(self.places) - 1
        assert session.current_pathway_id == place.pathway
        assert session.pathway_stack == place.paused
        assert session.accumulated_context == place.context
        assert session.returning == place.returning
        assert session.is_journey_complete == place.ended
        said = [(item["role"], item["content"]) for item in session.conversation_history]
        assert said == list(place.window)

    @invariant()
    def every_end_is_told_once(self) -> None:
        assert not self.handles or self.ends == self.expected_ends

    def teardown(self) -> None:
        if self.handles:
            self.run(self.check_ledger())
            self.run(self.closed())

    async def check_ledger(self) -> None:
        versions = await self.handles[0].versions()
        stood = [(item.kind, item.message) for item in versions]
        assert stood == self.kinds
        audit = await self.handles[0].audit()
        path = path_in(audit, self.kind.spec.entry, len(versions))
        assert path == [item.pathway_id for item in versions]
        for version, ran in self.ran.items():
            rows = [row for row in audit if row.turn == version]
            assert [row.to_pathway for row in rows if row.kind == "arrived"] == ran[1:]
        assert [item.pathway_id for item in versions] == [place.pathway for place in self.places]
        for name in {name for place in self.places for name in place.context}:
            history = await self.handles[0].context_history(name)
            for version, place in enumerate(self.places):
                values = [item.value for item in history if item.version <= version]
                assert (values[-1] if values else None) == place.context.get(name)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.mark.timeout(120 + HUNTING)
@pytest.mark.parametrize("plans", [plans(), st.builds(nested)], ids=["any_journey", "nested"])
def test_any_conversation_stands_where_the_rules_say(
    store_url: str, loop: asyncio.AbstractEventLoop, plans: Any
) -> None:
    def conversation() -> RuleBasedStateMachine:
        return Conversation(store_url, loop, plans)

    few = settings(
        SETTINGS, max_examples=HUNTING or examples(3)
    )  # the rules are the same in every store
    chosen = SETTINGS if store_url.startswith("memory") else few
    run_state_machine_as_test(conversation, settings=chosen)  # type: ignore[arg-type]
