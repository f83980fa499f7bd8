"""Pipelines are written as data and JSON, and read back the same; faults have their places."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeygraph import (
    Agent,
    ConfigurationError,
    ModelAgent,
    OutputField,
    PatternPipeline,
    Pipeline,
    Signature,
    Skill,
)
from journeygraph.journeys.pipelines.pattern import MOST_LEVELS
from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS, VOTES
from journeygraph.journeys.spec.hashing import content_hash
from tests.support.properties import examples


def clerk(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return an agent that can play any part, and leaves its mark."""

    def answer(given: dict[str, Any]) -> dict[str, Any]:
        marked = {"response": f"{name} heard {given['message']}", f"by_{name}": len(given)}
        phase = given.get("phase")
        if phase == "plan":
            return {"tasks": ["count the invoices", "call a plumber"]}
        if phase == "vote":
            return {"vote": given["proposals"][0]["id"]} if given.get("proposals") else marked
        if "specialists" in given and len(given["board"]) < 2:
            return {"need": "a plumber"}
        return {"done": True, **marked} if "specialists" in given else marked

    answer.__name__ = name
    answer.__doc__ = f"Do what {name} can do."
    return answer


def is_done(outputs: Mapping[str, Any]) -> bool:
    return "by_plumber" not in outputs


class Travel(Signature):
    """Book trains."""

    response: str = OutputField(description="What to say")


class Own(Pipeline):
    """A way of its own."""

    name = "own"

    async def run(self, **inputs: Any) -> dict[str, Any]:
        return {"response": "own"}


NAMES = ("billing", "plumber", "lawyer", "doctor", "gardener", "invoices", "judge_it", "compose_it")
REGISTRY: dict[str, Any] = {
    **{name: clerk(name) for name in NAMES},
    "is_done": is_done,
    "own": Own(),
    "travel": ModelAgent(signature=Travel),
}

BILLING = Agent(
    REGISTRY["billing"],
    description="Explains bills.",
    skills=[Skill("refunds", "Pays back.", ["I paid twice"], ["money back"]), Skill("dues")],
    input_modes=["text/plain", "application/pdf"],
    output_modes=("application/json",),
    weight=2.5,
)


def everything() -> PatternPipeline:
    """Return a pipeline that holds whatever can be written."""
    handing = Pipeline.handoff([REGISTRY["doctor"], REGISTRY["plumber"]], is_done)
    routing = Pipeline.router([BILLING, REGISTRY["lawyer"]], "round-robin")
    board = Pipeline.blackboard([routing, REGISTRY["own"]], handing, max_iterations=4)
    return (
        Pipeline.ensemble(
            [board, Agent(name="registered_elsewhere"), Agent(handing, name="again", weight=3)],
            Agent(REGISTRY["travel"], name="travel", description="Says it."),
            top_k=2,
            error_handling="fail-fast",
        )
        .with_limits(timeout=2.5, retries=1, breaker_failures=3, breaker_cooldown=0.5)
        .with_name("all_of_it", "Tries everything. Für alle: 猫")
    )


def test_a_pipeline_comes_back_the_same() -> None:
    pipeline = everything()
    data = pipeline.to_dict()
    assert Pipeline.from_dict(data, REGISTRY) == pipeline
    assert Pipeline.from_json(json.dumps(data), REGISTRY) == pipeline
    text = pipeline.to_json()
    assert Pipeline.from_json(text, REGISTRY) == pipeline
    assert json.loads(text) == data
    assert "猫" in text  # as people read it
    assert pipeline.to_json(indent=2).startswith('{\n  "schema": 1,\n  "pattern": "ensemble"')


def test_what_is_written_is_what_the_format_says() -> None:
    written = Pipeline.parallel([BILLING, "elsewhere"], max_workers=2).to_dict()
    plain = {"input_modes": ["text/plain"], "output_modes": ["text/plain"], "weight": 1.0}
    assert written == {
        "schema": 1,
        "pattern": "parallel",
        "name": "parallel",
        "description": "",
        "agents": [
            {
                "name": "billing",
                "description": "Explains bills.",
                "skills": [
                    {
                        "name": "refunds",
                        "description": "Pays back.",
                        "examples": ["I paid twice"],
                        "synonyms": ["money back"],
                    },
                    {"name": "dues", "description": "", "examples": [], "synonyms": []},
                ],
                "input_modes": ["text/plain", "application/pdf"],
                "output_modes": ["application/json"],
                "weight": 2.5,
            },
            {
                **{"name": "elsewhere", "description": "", "skills": [], **plain},
                "registered_by": "journey",
            },
        ],
        "aggregator": None,
        "max_workers": 2,
        "error_handling": "graceful",
        "limits": {
            "timeout": None,
            "retries": None,
            "backoff": 0.5,
            "breaker_failures": None,
            "breaker_window": 60.0,
            "breaker_cooldown": 30.0,
        },
    }


def test_what_a_file_leaves_out_is_as_declared() -> None:
    text = '{"schema": 1, "pattern": "router", "agents": [{"name": "billing"}, {"name": "lawyer"}]}'
    registry = {**REGISTRY, "billing": BILLING}
    assert Pipeline.from_json(text, registry) == Pipeline.router([BILLING, REGISTRY["lawyer"]])


def test_what_a_file_says_holds_over_what_is_registered() -> None:
    data = {
        **{"schema": 1, "pattern": "router"},
        "agents": [{"name": "clerk", "weight": 9, "skills": [], "description": "Other."}],
    }
    (agent,) = Pipeline.from_dict(data, {"clerk": BILLING}).agents
    assert agent == Agent(
        BILLING.call,
        name="clerk",
        description="Other.",
        input_modes=BILLING.input_modes,
        output_modes=BILLING.output_modes,
        weight=9,
    )


def test_neither_models_nor_embeddings_are_written() -> None:
    pipeline = Pipeline.router([BILLING]).with_model("some-model").with_embeddings(lambda texts: [])
    assert pipeline.to_dict() == Pipeline.router([BILLING]).to_dict()


def test_skills_of_the_agents_in_a_pipeline_are_written_once() -> None:
    pipeline = Pipeline.parallel([BILLING])
    for level in range(MOST_LEVELS - 1):
        pipeline = Pipeline.sequential([pipeline]).with_name(f"level_{level}")
    assert pipeline.skills == BILLING.skills
    assert pipeline.to_json().count("money back") == 1
    assert Pipeline.from_json(pipeline.to_json(), REGISTRY) == pipeline


JUDGE, COMPOSER = REGISTRY["judge_it"], REGISTRY["compose_it"]
CHOICE = st.sampled_from(["semantic", "round-robin"])  # which choose the same each time
FEW = st.integers(1, 3)
MADE: dict[str, Callable[[Any, Any], PatternPipeline]] = {
    "sequential": lambda draw, agents: Pipeline.sequential(agents),
    "supervisor_worker": lambda draw, agents: Pipeline.supervisor_worker(
        JUDGE, agents, draw(CHOICE)
    ),
    "router": lambda draw, agents: Pipeline.router(agents, draw(CHOICE)),
    "ensemble": lambda draw, agents: Pipeline.ensemble(
        agents, COMPOSER, draw(st.sampled_from(["a2a", "all"])), draw(FEW)
    ),
    "blackboard": lambda draw, agents: Pipeline.blackboard(agents, JUDGE, draw(CHOICE), draw(FEW)),
    "consensus": lambda draw, agents: Pipeline.consensus(
        agents, draw(st.floats(0, 1)), draw(st.sampled_from(VOTES))
    ),
    "debate": lambda draw, agents: Pipeline.debate(
        agents, draw(FEW), draw(st.sampled_from([None, JUDGE]))
    ),
    "handoff": lambda draw, agents: Pipeline.handoff(
        agents, draw(st.sampled_from([None, is_done]))
    ),
    "parallel": lambda draw, agents: Pipeline.parallel(
        agents, draw(st.sampled_from([None, JUDGE])), draw(FEW)
    ),
}
SKILLS = st.lists(st.builds(Skill, st.sampled_from(["paying", "law", "pipes"])), max_size=2)
CARDS = st.fixed_dictionaries(
    {},
    optional={
        "description": st.text(st.characters(codec="utf-8"), max_size=8),
        "skills": SKILLS,
        "weight": st.one_of(st.integers(1, 9), st.floats(0.5, 9)),
    },
)


@st.composite
def trees(draw: Any, levels: int = 3) -> PatternPipeline:
    """Return any pattern over a few agents and, at fewer levels, other trees."""
    names = draw(st.lists(st.sampled_from(NAMES[:6]), min_size=1, max_size=3, unique=True))
    agents = [
        trees_under(draw, levels - 1, name)
        if levels > 1 and draw(st.integers(0, 2)) == 0
        else Agent(REGISTRY[name], name=name, **draw(CARDS))
        for name in names
    ]
    return MADE[draw(st.sampled_from(sorted(MADE)))](draw, agents)


def trees_under(draw: Any, levels: int, name: str) -> Any:
    tree = draw(trees(levels))
    return draw(
        st.sampled_from([tree, tree.to_agent(f"{name}_office"), tree.with_name(f"n_{name}")])
    )


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "timeout": st.floats(5, 9),
        "retries": st.integers(0, 2),
        "breaker_failures": st.integers(5, 9),
    },
)


@given(trees(), LIMITS, st.sampled_from(["graceful", "fail-fast"]))
def test_every_tree_of_patterns_comes_back(
    tree: PatternPipeline, limits: dict[str, Any], handling: str
) -> None:
    tree = tree.with_limits(**limits).with_error_handling(handling)
    assert Pipeline.from_dict(tree.to_dict(), REGISTRY) == tree
    assert Pipeline.from_json(tree.to_json(), REGISTRY) == tree


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@settings(max_examples=examples(4))
@given(data=st.data())
def test_what_comes_back_runs_the_same(pattern: str, data: Any) -> None:
    agents = [data.draw(trees(1)).to_agent("inner"), REGISTRY["invoices"]]
    tree = MADE[pattern](data.draw, agents)
    back = Pipeline.from_json(tree.to_json(), REGISTRY)
    told = tree.run_sync(message="My invoices, please")
    assert back.run_sync(message="My invoices, please") == told
    assert told["pipeline"]["results"]
    assert told["pipeline"]["status"] == "complete"


async def test_an_agent_of_a_pipeline_in_a_router_is_found_by_its_own_card() -> None:
    offices = [Pipeline.sequential([REGISTRY[name]]) for name in ("doctor", "plumber", "lawyer")]
    told = await Pipeline.router(offices).run(message="I need a plumber")
    assert told["by_plumber"]
    assert told["pipeline"]["flags"] == []


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return what puts a value at a path, or takes away what is there if it is `...`."""
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]

    def change(data: Any) -> None:
        for step in way:
            data = data[step]
        if value is ...:
            del data[last]
        else:
            data[last] = value

    return change


IN = "agents.0.pipeline.specialists.0"
FAULTS: list[tuple[str, Any, str]] = [
    # names that stand for nothing
    (
        f"{IN}.pipeline.agents.0.name",
        "biling",
        "$.agents[0].pipeline.specialists[0].pipeline.agents[0]: 'biling' is not registered. "
        "Did you mean 'billing'?",
    ),
    ("synthesizer.name", "nobody", "$.synthesizer: 'nobody' is not registered."),
    (
        "agents.0.pipeline.controller.pipeline.handoff_condition",
        "is_dun",
        "$.agents[0].pipeline.controller.pipeline.handoff_condition: 'is_dun' is "
        "not registered. Did you mean 'is_done'?",
    ),
    (
        "agents.2.pipeline.handoff_condition",
        "travel",
        "$.agents[2].pipeline.handoff_condition: 'travel' is not registered as a function.",
    ),
    ("agents.2.name", "", "$.agents[2].name: it is ''; it must not be empty."),
    ("agents.1.registered_by", "me", "$.agents[1]: registered_by is 'me'; it can only be 'journey"),
    ("agents.0.registered_by", "journey", "$.agents[0]: it has both `pipeline` and `registered_by"),
    (
        "pattern",
        "ensembel",
        "$.pattern: it is 'ensembel'; it must be one of sequential, supervisor_worker",
    ),
    ("pattern", None, "$.pattern: it is None; it must be one of sequential"),
    # fields that are unknown, missing or elsewhere
    (
        "schma",
        1,
        "$.schma: 'schma' is not a valid key of an ensemble pipeline. Known: pattern",
    ),
    (
        "__class__",
        "os.system",
        "$.__class__: '__class__' is not a valid key of an ensemble pipeline.",
    ),
    (
        "timeout",
        2,
        "$.timeout: 'timeout' is not a valid key of an ensemble pipeline. Write it in `limits`",
    ),
    ("rounds", 2, "$.rounds: 'rounds' is not a valid key of an ensemble pipeline."),
    (
        "agents.0.pipeline.schema",
        1,
        "$.agents[0].pipeline.schema: 'schema' is not a valid key of a blackboard pipeline.",
    ),
    ("limits.clock", 1, "$.limits.clock: 'clock' is not a valid key of the limits. Known: timeout"),
    (
        "agents.2.call",
        "os.system",
        "$.agents[2].call: 'call' is not a valid key of an agent. Known: name",
    ),
    ("schema", ..., "$.schema: it is None; this version reads schema 1."),
    ("pattern", ..., "$: 'pattern' is missing in a pipeline."),
    ("agents", ..., "$: 'agents' is missing in an ensemble pipeline."),
    ("synthesizer", ..., "$: it has no synthesizer; write synthesizer: the name of one"),
    ("agents.2.name", ..., "$.agents[2]: 'name' is missing in an agent."),
    # values of the wrong kind
    ("schema", 2, "$.schema: it is 2; this version reads schema 1."),
    ("schema", "1", "$.schema: it is '1'; this version reads schema 1."),
    ("schema", True, "$.schema: it is True; this version reads schema 1."),
    ("agents", {}, "$.agents: it is an object; it must be a list."),
    ("agents", [], "$.agents: agents is empty; give at least one agent."),
    ("agents.2", "billing", "$.agents[2]: it is 'billing'; it must be an object."),
    ("agents.2", None, "$.agents[2]: it is None; it must be an object."),
    ("agents.2.name", 7, "$.agents[2].name: it is 7; it must be text."),
    ("agents.2.name", "a/b", "$.agents[2]: 'a/b' is not a valid name"),
    ("agents.2.weight", 0, "$.agents[2].weight: it is 0; it must be above 0."),
    ("agents.2.weight", "7", "$.agents[2].weight: it is '7'; it must be a number."),
    ("agents.2.weight", [1], "$.agents[2].weight: it is a list; it must be a number."),
    ("agents.2.input_modes", "text", "$.agents[2].input_modes: it is 'text'; it must be a list."),
    ("agents.2.output_modes", ["a", 1], "$.agents[2].output_modes[1]: it is 1; it must be text."),
    ("agents.2.skills", [[]], "$.agents[2].skills[0]: it is a list; it must be an object."),
    ("agents.2.skills", [{}], "$.agents[2].skills[0]: 'name' is missing in a skill."),
    ("agents.2.description", None, "$.agents[2].description: it is None; it must be text."),
    ("name", ["n"], "$.name: it is a list; it must be text."),
    (
        "error_handling",
        "fail-fats",
        "$.error_handling: it is 'fail-fats'; it must be one of graceful, fail-fast. Did",
    ),
    (
        "error_handling",
        ["graceful"],
        "$.error_handling: it is a list; it must be one of graceful, fail-fast.",
    ),
    ("top_k", 0, "$.top_k: it is 0; it must be at least 1."),
    ("top_k", float("nan"), "The data of a pipeline is not JSON: Out of range float values"),
    ("top_k", 10**5000, "The data of a pipeline is not JSON: Exceeds the limit"),
    (
        "discovery_mode",
        "a3a",
        "$.discovery_mode: it is 'a3a'; it must be one of a2a, llm, all. Did you mean",
    ),
    ("discovery_mode", "x" * 10**6, "$.discovery_mode: it is 'xxxx"),
    ("limits.timeout", -1, "$.limits.timeout: it is -1; it must be above 0."),
    ("limits.backoff", None, "$.limits.backoff: it is None; it must be a number."),
    ("limits", [], "$.limits: it is a list; it must be an object."),
    # what only the whole shows
    ("agents.2.name", "select", "$.agents[2]: no agent can be named 'select'"),
    ("agents.2.name", "travel", "$.synthesizer: two agents are named 'travel'."),
]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    FAULTS,
    ids=[f"{number}-{path}" for number, (path, _, _) in enumerate(FAULTS)],
)
def test_a_fault_is_told_with_its_path(path: str, value: Any, told: str) -> None:
    data = everything().to_dict()
    at(path, value)(data)
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.from_dict(data, REGISTRY)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(told)
    assert len(line) < 400


def test_all_faults_are_told_at_once() -> None:
    data = everything().to_dict()
    faults = [
        ("agents.0.pipeline.pattern", "blackbord"),
        ("agents.2.weight", "heavy"),
        ("synthesizer.skills", [{"name": 1}, {"named": "x"}]),
        ("top_k", None),
        ("limits.retries", 0.5),
        ("colour", "red"),
    ]
    for path, value in faults:
        at(path, value)(data)
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.from_dict(data, REGISTRY)
    paths = [line.partition(": ")[0] for line in str(refused.value).splitlines()]
    assert sorted(paths) == [
        "$.agents[0].pipeline.pattern",
        "$.agents[2].weight",
        "$.colour",
        "$.limits.retries",
        "$.synthesizer.skills[0].name",
        "$.synthesizer.skills[1]",
        "$.synthesizer.skills[1].named",
        "$.top_k",
    ]


def test_every_agent_that_cannot_be_one_is_told() -> None:
    data = Pipeline.parallel([BILLING, REGISTRY["lawyer"]]).to_dict()
    for agent, name in zip(data["agents"], ("a/b", "c:d"), strict=True):
        agent["name"] = name
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.from_dict(data, {"a/b": REGISTRY["billing"], "c:d": REGISTRY["lawyer"]})
    assert [line.partition(" is not")[0] for line in str(refused.value).splitlines()] == [
        "$.agents[0]: 'a/b'",
        "$.agents[1]: 'c:d'",
    ]


def test_faults_are_data_with_their_paths() -> None:
    data = everything().to_dict()
    at("top_k", "two")(data)
    at("synthesizer.weight", -1)(data)
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.from_dict(data, REGISTRY)
    told = {fault.path: (fault.message, fault.remedy) for fault in refused.value.faults}
    assert told == {
        ("top_k",): ("it is 'two'", "it must be a whole number."),
        ("synthesizer", "weight"): ("it is -1", "it must be above 0."),
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"agents": "lawyer"}, "Pipeline.router: agents is 'lawyer'; it must be a list."),
        ({"rounds": 2}, "Pipeline.router: 'rounds' is not a valid argument of Router."),
        ({"limits": 3}, "Pipeline.router: limits is 3; it must be Limits(...)."),
        ({"name": 3}, "Pipeline.router: name is 3; it must be text."),
        (
            {"limit": 3},
            "Pipeline.router: 'limit' is not a valid argument of Router. Did you mean 'limits'?",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_program_is_told_what_is_of_the_wrong_kind(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.router(**{"agents": [REGISTRY["lawyer"]], **given})
    assert str(refused.value).startswith(told)


def test_the_version_of_a_pipeline_stays() -> None:
    bills = Agent(name="bills", weight=2, skills=[Skill("dues")])
    pipeline = Pipeline.ensemble([bills, Pipeline.debate(["a", "b"])], "c").with_limits(timeout=3)
    # Sessions that are stored belong to this version: another one is read as another journey.
    stored = "4644ac887d0428efe558e3d7bfb0a2cdbd149e511c4ec83c51881af719083bec"
    assert content_hash(pipeline) == stored


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "JSON syntax error at line 1, column 1"),
        ("{", "JSON syntax error at line 1, column 2"),
        ("[]", "$: it is a list; it must be an object."),
        ("null", "$: it is None; it must be an object."),
        ("[" * 100_000, "The JSON cannot be read: maximum recursion depth"),
        (
            '{"schema": 1, "schema": 2}',
            "The JSON cannot be read: the key 'schema' occurs more than",
        ),
        ('{"schema": 1, "schema": 1, "pattern": "parallel"', "JSON syntax error"),
        (
            '{"schema": 1, "pattern": "parallel", "agents": [{"name": "own", "name": "billing"}]}',
            "The JSON cannot be read: the key 'name' occurs more than once in an object.",
        ),
        ('{"schema": 1' + "0" * 5000 + "}", "The JSON cannot be read: Exceeds the limit"),
        (
            '{"schema": 1, "pattern": "parallel", "agents": [{"name": "own", "weight": NaN}]}',
            "The JSON cannot be read: JSON has no number NaN.",
        ),
        (
            '{"schema": 1, "pattern": "parallel", "agents": [{"name": "own", "weight": 1e999}]}',
            "$.agents[0].weight: it is inf",
        ),
        (b"{}", "A pipeline's JSON is bytes; it must be text."),
        (None, "A pipeline's JSON is NoneType; it must be text."),
    ],
    ids=[
        *("empty", "cut", "list", "null", "deep", "other schema twice", "cut twice", "name twice"),
        *("long number", "nan", "too large", "bytes", "nothing"),
    ],
)
def test_a_text_that_is_no_pipeline_is_refused(text: Any, told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Pipeline.from_json(text, REGISTRY)
    assert str(refused.value).startswith(told)


def test_pipelines_that_nest_too_deep_are_refused() -> None:
    data: dict[str, Any] = {"pattern": "parallel", "agents": [{"name": "own"}]}
    for _ in range(MOST_LEVELS - 1):
        data = {"pattern": "parallel", "agents": [{"name": "inner", "pipeline": data}]}
    assert Pipeline.from_dict({"schema": 1, **data}, REGISTRY).levels == MOST_LEVELS
    deeper = {"pattern": "parallel", "agents": [{"name": "inner", "pipeline": data}]}
    with pytest.raises(ConfigurationError, match="it has more than 20 levels of pipelines"):
        Pipeline.from_dict({"schema": 1, **deeper}, REGISTRY)


def test_data_that_holds_itself_is_refused_before_long() -> None:
    data: dict[str, Any] = {"pattern": "parallel", "agents": []}
    data["agents"] = [{"name": f"inner_{place}", "pipeline": data} for place in range(5)]
    with pytest.raises(ConfigurationError, match="is not JSON: Circular reference detected"):
        Pipeline.from_dict({"schema": 1, **data}, REGISTRY)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda deeper: st.one_of(
        st.lists(deeper, max_size=3), st.dictionaries(st.text(), deeper, max_size=3)
    ),
    max_leaves=6,
)


def places(data: Any) -> list[tuple[Any, Any]]:
    """Return every container in data with each key in it."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [place for key in keys for place in [(data, key), *places(data[key])]]


@given(st.data(), JSON)
def test_whatever_stands_anywhere_is_read_or_refused(data: Any, value: Any) -> None:
    changed = json.loads(everything().to_json())
    container, key = data.draw(st.sampled_from(places(changed)))
    container[key] = value
    told = ""
    try:
        again = Pipeline.from_dict(changed, REGISTRY)
    except ConfigurationError as refused:
        told = str(refused)
    else:
        assert Pipeline.from_dict(again.to_dict(), REGISTRY) == again
    assert all(line.startswith(("$", "The data of a pipeline")) for line in told.splitlines())


@pytest.mark.parametrize("agents", [None, [BILLING], "billing"], ids=["none", "list", "text"])
def test_a_registry_must_be_one(agents: Any) -> None:
    with pytest.raises(ConfigurationError, match="give a dict of them by name"):
        Pipeline.from_dict(Pipeline.parallel([BILLING]).to_dict(), agents)


def test_a_name_that_stands_for_two_things_is_not_written() -> None:
    other = clerk("billing")
    pipeline = Pipeline.parallel([BILLING, Pipeline.parallel([other, clerk("is_done")])])
    both = Pipeline.handoff([pipeline, REGISTRY["lawyer"]], is_done)
    with pytest.raises(ConfigurationError) as refused:
        both.to_dict()
    first, second = str(refused.value).splitlines()
    assert first.startswith(
        "$.agents[0].pipeline.agents[1].pipeline.agents[0]: 'billing' names something "
        "else at $.agents[0].pipeline.agents[0]"
    )
    assert second.startswith("$.handoff_condition: 'is_done' names something else")


def test_a_function_without_a_name_is_not_written() -> None:
    pipeline = Pipeline.handoff([BILLING], lambda outputs: True)
    with pytest.raises(ConfigurationError, match=r"^\$.handoff_condition: .*lambda"):
        pipeline.to_json()
