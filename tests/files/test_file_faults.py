"""Faults of a definition file: all at once, with file, line, column and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from journeygraph import JourneyDefinitionError, load_journey
from journeygraph.journeys.files.loading import (
    document_kind,
    read_guidelines_text,
    read_journey_text,
)

HEAD = "id: claim\n"
STATES = HEAD + "states:\n  report: {action: Ask.}\n"
"""Three lines; faults begin in the fourth."""
TOOLS = """tools:
  - type: function
    function:
      name: find_policy
      parameters: {type: object, properties: {number: {type: string}}}
"""

# What is wrong, the file, the place, and what is said there.
FAULTS: dict[str, tuple[str, str, str]] = {
    # Guidelines.
    "two_guidelines_of_one_id": (
        STATES + "guidelines:\n"
        "  - {id: calm, condition: upset, action: Be calm.}\n"
        "  - {id: calm, condition: angry, action: Be calmer.}\n",
        "6:5",
        "the id 'calm' is already used by claim.yaml:5:5 guideline 'calm'",
    ),
    "a_guideline_of_a_state_with_the_id_of_another": (
        HEAD + "states:\n  a: {guidelines: [{id: calm, always: true, action: Be calm.}]}\n"
        "guidelines: [{id: calm, condition: angry, action: Be calmer.}]\n",
        "3:20",
        "the id 'calm' is already used by",
    ),
    # The text itself.
    "empty": ("", "1:1", "the file is empty"),
    "only_comments": ("# nothing\n", "1:1", "the file is empty"),
    "no_mapping": ("- a\n- b\n", "1:1", "the document is a list; it must be a mapping"),
    "a_word": ("hello", "1:1", 'the document is "hello"; it must be a mapping'),
    "tab": (HEAD + "states:\n\treport: {}\n", "3:1", "cannot start any token"),
    "colon_in_text": (STATES + "name: a: b\n", "4:8", "mapping values are not allowed"),
    "open_quote": (STATES + "name: 'a\n", "5:1", "unexpected end of stream"),
    "open_bracket": (STATES + "shared: [a, b\n", "5:1", "expected ',' or ']'"),
    "nul": (STATES + 'name: "a\\0b"\n', "4:7", "contains NUL"),
    "half_a_character": (STATES + 'name: "\\ud800"\n', "4:7", "half of a character"),
    "control_sign": (STATES + "name: a\x01b\n", "4:8", "YAML does not allow the character"),
    "duplicate_key": (
        STATES + "name: a\nname: b\n",
        "5:1",
        "duplicate key 'name', first used in line 4",
    ),
    "duplicate_state": (
        HEAD + "states:\n  a: {}\n  b: {}\n  a: {}\n",
        "5:3",
        "duplicate key 'a', first used in line 3",
    ),
    "anchor": (HEAD + "states:\n  a: &x {}\n", "3:6", "the anchor '&x' is not supported"),
    "merge_key": (
        HEAD + "states:\n  a: {}\n  b:\n    <<: {}\n",
        "5:5",
        "a key must be text",
    ),
    "python_tag": (
        STATES + "name: !!python/object/apply:os.system [ls]\n",
        "4:7",
        "the tag '!!python/object/apply:os.system' is not supported",
    ),
    "second_document": (STATES + "---\nid: other\n", "4:1", "found another document"),
    "too_deep": (STATES + "shared: " + "[" * 30 + "]" * 30, "4:28", "more than 20 levels"),
    "too_large": (STATES + "name: " + "x" * 300_000, "1:1", "larger than 256 kB"),
    "number_as_a_key": (HEAD + "states:\n  a: {}\n  1: {}\n", "4:3", 'Quote it: "1"'),
    "infinite": (
        HEAD + "states: {a: {timeout: .inf}}\n",
        "2:23",
        "JSON has no number .inf",
    ),
    # The form.
    "unknown_key": (STATES + "transitons: []\n", "4:1", "Did you mean 'transitions'?"),
    "unknown_key_of_a_state": (
        HEAD + "states:\n  a:\n    purpos: Hear.\n",
        "4:5",
        "'purpos' is not a valid key of a state. Did you mean 'purpose'?",
    ),
    "missing_id": ("states: {a: {}}\n", "1:1", "'id' is missing in a journey"),
    "missing_states": (HEAD, "1:1", "'states' is missing in a journey"),
    "no_states": (HEAD + "states: {}\n", "2:9", "states is a mapping; it must not be empty"),
    "no_is_text": (
        STATES + "sensitive: no\n",
        "4:12",
        'sensitive is "no"; it must be true or false',
    ),
    "octal_looking": (
        STATES + "version: 010\n",
        "4:10",
        "version is 010; it must be text, in quotes",
    ),
    "empty_value": (STATES + "safe_reply:\n", "4:1", "safe_reply is empty; it must be text"),
    "bad_id": ("id: Insurance Claim\nstates: {a: {}}\n", "1:5", "use lower-case letters"),
    "bad_state_id": (
        HEAD + "states:\n  A-b: {}\n",
        "3:3",
        "'A-b' is not a valid name: use lower-case letters",
    ),
    "state_is_text": (HEAD + "states:\n  a: hello\n", "3:6", 'a is "hello"; it must be a mapping'),
    "unknown_kind": (
        HEAD + "states:\n  a: {kind: colect}\n",
        "3:13",
        "one of chat, tool, collect. Did you mean 'collect'?",
    ),
    "unknown_pipeline": (
        HEAD + "states:\n  a: {pipeline: sequentiel}\n",
        "3:17",
        "Did you mean 'sequential'?",
    ),
    "unknown_setting": (
        HEAD
        + "states:\n  a: {agents: [x, y], "
        + "pipeline: {pattern: router, rountng_strategy: llm}}\n",
        "3:51",
        "Did you mean 'routing_strategy'?",
    ),
    "setting_out_of_range": (
        HEAD + "states:\n  a: {agents: [x, y], pipeline: {pattern: debate, rounds: 0}}\n",
        "3:59",
        "rounds is 0; it must be at least 1.",
    ),
    "setting_of_another_pattern": (
        HEAD + "states:\n  a: {agents: [x, y], pipeline: {pattern: debate, top_k: 2}}\n",
        "3:51",
        "'top_k' is not a valid key of a debate pipeline. Known: pattern, error_handling, "
        "rounds, judge.",
    ),
    "function_as_setting": (
        HEAD + "states:\n  a: {agents: [x], pipeline: {pattern: handoff, handoff_condition: f}}\n",
        "3:49",
        "'handoff_condition' is not a valid key of a handoff pipeline.",
    ),
    "role_of_nobody": (
        HEAD + "states:\n  a: {agents: [x, yy], pipeline: {pattern: debate, judge: y}}\n",
        "3:59",
        "judge is 'y', which is not in agents. Did you mean 'yy'?",
    ),
    "missing_role": (
        HEAD + "states:\n  a: {agents: [x, y], pipeline: {pattern: ensemble}}\n",
        "3:23",
        "it has no synthesizer; write synthesizer: the name of one of its agents.",
    ),
    "wrong_output_type": (
        HEAD + "states:\n  a: {outputs: {x: {type: text}}}\n",
        "3:27",
        "one of string, integer, number",
    ),
    "output_without_type": (HEAD + "states:\n  a: {outputs: {x: {}}}\n", "3:20", "it has no type"),
    "null_as_the_only_kind": (
        HEAD + "states:\n  a: {outputs: {x: {type: 'null'}}}\n",
        "3:20",
        "it has no type",
    ),
    "two_kinds_of_value": (
        HEAD + "states:\n  a: {outputs: {x: {type: [string, integer]}}}\n",
        "3:27",
        "type is a list of 2 types",
    ),
    "enum_of_another_kind": (
        HEAD + "states:\n  a: {outputs: {x: {type: string, enum: [a, 010]}}}\n",
        "3:45",
        "enum[1] is 10; it must be string",
    ),
    "enum_of_nothing": (
        HEAD + "states:\n  a: {outputs: {x: {enum: [null]}}}\n",
        "3:27",
        "only null",
    ),
    "items_of_text": (
        HEAD + "states:\n  a: {outputs: {x: {type: string, items: {type: string}}}}\n",
        "3:42",
        "items is only for type array",
    ),
    "input_that_is_an_output": (
        HEAD + "states:\n  a: {inputs: [x], outputs: {x: {type: string}}}\n",
        "3:16",
        "'x' is an output of this state",
    ),
    "input_that_all_are_given": (
        HEAD + "states:\n  a: {inputs: [x, history]}\n",
        "3:19",
        "'history' is given to every agent",
    ),
    "output_with_a_limit": (
        HEAD + "states:\n  a: {outputs: {x: {type: integer, minimum: 1}}}\n",
        "3:36",
        "'minimum' is not a valid key of an output",
    ),
    "list_of_anything": (
        HEAD + "states:\n  a: {outputs: {x: {type: array}}}\n",
        "3:20",
        "an array has no items",
    ),
    "output_named_response": (
        HEAD + "states:\n  a: {outputs: {response: {type: string}}}\n",
        "3:27",
        "every state has the output 'response'",
    ),
    "confidence_over_one": (
        STATES + "transitions:\n  - {to: report, condition: again, confidence: 70}\n",
        "5:48",
        "confidence is 70; it must be at most 1",
    ),
    "negative_timeout": (HEAD + "states: {a: {timeout: -1}}\n", "2:23", "it must be above 0"),
    "transition_without_target": (
        STATES + "transitions:\n  - {condition: again}\n",
        "5:5",
        "'to' is missing in a transition",
    ),
    # What only shows when all is known.
    "unknown_next": (
        HEAD + "states:\n  report: {next: asess}\n  assess: {}\n",
        "3:18",
        "state 'report': next is 'asess', which is not a state of this journey. Did you mean "
        "'assess'?",
    ),
    "unknown_initial_state": (STATES + "initial_state: reprot\n", "4:16", "Did you mean 'report'?"),
    "unknown_target": (
        STATES + "transitions:\n  - {to: reprt, condition: again}\n",
        "5:10",
        "to is 'reprt', which is not a state of this journey. Did you mean 'report'?",
    ),
    "unknown_source": (
        STATES + "transitions:\n  - to: report\n    from: [reprt]\n    condition: again\n",
        "6:11",
        "from is 'reprt'",
    ),
    "unknown_return": (
        STATES
        + "  faq: {}\ntransitions:\n"
        + "  - {to: faq, patterns: [why], detour: {return_to: nowhere}}\n",
        "6:52",
        "the return target is 'nowhere'",
    ),
    "unknown_tool": (
        HEAD + "states:\n  a: {tools: [find_polcy]}\n" + TOOLS,
        "3:15",
        "'find_polcy' is not a tool of this file. Did you mean 'find_policy'?",
    ),
    "unknown_tool_in_a_call": (
        HEAD + "states:\n  a: {kind: tool, calls: [find]}\n" + TOOLS,
        "3:27",
        "Its tools: find_policy",
    ),
    "unknown_tool_of_a_guideline": (
        STATES + "guidelines:\n  - {condition: x, action: y, tools: [look]}\n",
        "5:39",
        "It has no tools",
    ),
    "unknown_parameter": (
        HEAD
        + "states:\n  a:\n    calls:\n      - {tool: find_policy, arguments: {nr: x}}\n"
        + TOOLS,
        "5:45",
        "'nr' is not a parameter of find_policy",
    ),
    "nothing_to_collect": (
        HEAD + "states:\n  a: {kind: collect}\n",
        "3:13",
        "has neither fields nor outputs",
    ),
    "nothing_to_call": (HEAD + "states:\n  a: {kind: tool}\n", "3:13", "has no calls"),
    "unknown_relation": (
        STATES + "guidelines:\n  - {id: a, condition: x, action: y, excludes: [b]}\n",
        "5:49",
        "excludes contains 'b', which is not a guideline",
    ),
    "guideline_without_effect": (
        STATES + "guidelines:\n  - {condition: x}\n",
        "5:5",
        "it does nothing. Give it an action",
    ),
    "state_scope_in_a_journey": (
        STATES + "guidelines:\n  - {condition: x, action: y, scope: state}\n",
        "5:5",
        "its scope is a state; write it in guidelines of that state",
    ),
    "two_kinds_of_rule": (
        STATES + 'transitions:\n  - {to: report, condition: again, when: "true"}\n',
        "5:42",
        "when cannot be combined with condition",
    ),
    "never_fires": (STATES + "transitions:\n  - {to: report}\n", "5:5", "it never fires. Give it"),
    "detour_and_not": (
        STATES + "  faq: {}\ntransitions:\n  - {to: faq, patterns: [why], detour: true}\n"
        "  - {to: faq, patterns: [how], detour: false}\n",
        "7:40",
        "the transition to 'faq' in line 6 has another detour",
    ),
    "unknown_update": (
        STATES + 'transitions:\n  - {to: report, patterns: [a], update: {x: "put:1"}}\n',
        "5:45",
        "'put:' is unknown",
    ),
    "expression_that_is_none": (
        STATES + 'transitions:\n  - {to: report, when: "context.x >"}\n',
        "5:24",
        "CEL syntax error at character 12",
    ),
    "unknown_variable": (
        STATES + 'transitions:\n  - {to: report, when: "amount > 1"}\n',
        "5:24",
        "the name 'amount' is unknown. Write context.amount?",
    ),
    "unknown_function": (
        STATES + 'transitions:\n  - {to: report, when: "now() > 1"}\n',
        "5:24",
        "the function 'now' is unknown",
    ),
    "message_in_a_transition": (
        STATES + "transitions:\n  - {to: report, when: \"message == 'x'\"}\n",
        "5:24",
        "available: context",
    ),
}


def faults_of(text: str, name: str = "claim.yaml") -> tuple[str, ...]:
    with pytest.raises(JourneyDefinitionError) as caught:
        read_journey_text(text, name)
    return caught.value.faults


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_told_with_its_place_and_the_way_out(case: str) -> None:
    text, place, said = FAULTS[case]

    faults = faults_of(text)

    assert len(faults) == 1, faults
    assert faults[0].startswith(f"claim.yaml:{place}"), faults
    assert said.lower() in faults[0].lower(), faults


def test_a_transition_without_a_readable_target_has_one_fault() -> None:
    states = "states:\n  report: {say: Hello.}\n"
    (fault,) = faults_of(f"{HEAD}{states}transitions:\n  - {{to: [report], condition: again}}\n")

    assert "to is a list; it must be text, in quotes." in fault


def test_all_faults_come_at_once_and_in_their_order() -> None:
    faults = faults_of(
        HEAD
        + "vresion: 3\n"
        + "states:\n"
        + "  report: {next: asess, timeout: -1, tools: [nope]}\n"
        + "  assess: {kind: collect}\n"
        + "  assess: {}\n"
        + "transitions:\n"
        + "  - {to: report, when: context.}\n"
        + "  - {condition: again}\n"
    )

    places = [fault.partition(" ")[0].rstrip(":") for fault in faults]
    assert places == [
        f"claim.yaml:{place}"
        for place in ("2:1", "4:18", "4:34", "4:46", "5:18", "6:3", "8:24", "9:5")
    ]


def test_a_part_with_a_fault_does_not_make_others_faulty() -> None:
    faults = faults_of(
        HEAD
        + "states:\n"
        + "  report: {kind: collect, outputs: 3, next: assess, guidelines: [{id: 3}]}\n"
        + "  assess: hello\n"
        + "tools: [{function: {name: find, paramters: {}}}]\n"
        + "guidelines: [{condition: a, action: b, tools: [find], confidence: 3}]\n"
        + "transitions: [{condition: a}, {to: report, patterns: 3}, {to: nowhere, patterns: [a]}]\n"
    )

    assert [fault.partition(": ")[2].partition(" is ")[0] for fault in faults] == [
        "outputs",
        "it does nothing. Give it an action, tools, forbids or requires.",
        "it never applies. Give it a condition, `when` or keywords, or set always to true.",
        "id",
        "states.assess",
        "'paramters'",
        "'confidence'",
        "'to'",
        "patterns",
        "to",
    ], faults
    assert faults[-1].startswith("claim.yaml:7:63 transition to 'nowhere'")


def test_what_the_text_gets_wrong_is_told_beside_what_it_says() -> None:
    faults = faults_of(HEAD + "states:\n  a: &x {}\n  b: *x\n  c: {next: d}\n")

    assert [fault.split(" ")[0] for fault in faults] == [
        "claim.yaml:3:6:",
        "claim.yaml:5:13",
    ]


def test_json_has_its_places_too() -> None:
    text = (
        '{\n\t"id": "claim",\n\t"states": {"a": {"next": "b", "kind": "chat", "kind": "tool"}},\n'
    )

    assert faults_of(text + '\t"degrade": "cannd"\n}', "claim.json") == (
        "claim.json:3:27 state 'a': next is 'b', which is not a state of this journey. Its "
        "states: a.",
        "claim.json:3:48: duplicate key 'kind', first used in line 3. Remove one of them.",
        'claim.json:4:13: degrade is "cannd"; it must be one of canned, freeform, refuse. '
        "Did you mean 'canned'?",
    )
    assert faults_of(text, "claim.json")[0].startswith("claim.json:4:1: YAML syntax error here:")
    assert "more than 20 levels" in faults_of("[" * 9_000, "claim.json")[0]


def test_json_of_other_programs_is_read() -> None:
    name = "\U0001f600 a/b \n"
    text = '{"id":"claim","states":{"a":{}},"name":"\\ud83d\\ude00 a\\/b \\n"}'

    assert read_journey_text(text, "claim.json").name == name.strip()


def test_an_alias_cannot_grow_without_end() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    pairs = zip("abcdefghij", "bcdefghijk", strict=True)
    lines += [f"{new}: &{new} [{', '.join(['*' + old] * 10)}]" for old, new in pairs]

    faults = faults_of("\n".join(lines) + "\nk: &k [*k]\n")

    assert len([fault for fault in faults if "the anchor" in fault]) == 11


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param("id: a".encode("utf-16"), "1:1: the text is not UTF-8. It looks", id="utf_16"),
        pytest.param(b"id: a\nname: \xff\n", "2:7: the text is not UTF-8", id="latin_1"),
        pytest.param(b"id: " + b"a" * 300_000, "1:1: the file is larger than 256 kB", id="large"),
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / "claim.yaml"
    file.write_bytes(data)

    with pytest.raises(JourneyDefinitionError, match=f"claim.yaml:{said}"):
        load_journey(file)


WAY_OUT = "Check indentation, quotes and brackets;"
SYNTAX = {
    "tab.yaml": ("id: x\n\tname: y\n", 2, 1, WAY_OUT),
    "bracket.yaml": ("id: [a, b\nname: y\n", 2, 5, WAY_OUT),
    "alias.yaml": ("id: a\nname: *b\n", 2, 7, WAY_OUT),
    "end.json": ('{"id": "a"} {}', 1, 13, WAY_OUT),
    "control.yaml": ("id: a\x07\n", 1, 6, "Remove it."),
    "twice.yaml": ("id: a\nid: b\n", 2, 1, "Remove one of them."),
    "infinite.yaml": ("id: a\nname: .inf\n", 2, 7, "If it is text, quote it."),
    "empty.yaml": ("", 1, 1, "Write a journey."),
    "large.yaml": ("a" * 300_000, 1, 1, "Split it."),
}


@pytest.mark.parametrize("name", SYNTAX)
def test_a_fault_of_the_text_itself_has_its_remedy_and_its_place_as_data(name: str) -> None:
    text, line, column, remedy = SYNTAX[name]
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(text, name)

    fault = next(one for one in raised.value.faults if one.remedy.startswith(remedy))
    assert (fault.file, fault.place) == (name, (line, column))
    assert fault.remedy not in fault.message
    assert fault == f"{name}:{line}:{column}: {fault.message} {fault.remedy}"


def test_bytes_that_are_no_text_have_their_place_as_data(tmp_path: Path) -> None:
    file = tmp_path / "claim.yaml"
    file.write_bytes(b"id: a\nname: \xff\n")
    with pytest.raises(JourneyDefinitionError) as raised:
        load_journey(file)

    (fault,) = raised.value.faults
    assert (fault.file, fault.place, fault.remedy) == ("claim.yaml", (2, 7), "Save it as UTF-8.")


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "claim.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + STATES.encode())

    assert load_journey(file).spec.id == "claim"


def test_guidelines_alone_are_no_journey() -> None:
    text = "guidelines:\n  - {condition: it rains, action: offer a lift}\n"

    assert document_kind(text, "rules.yaml") == "guidelines"
    assert [rule.action for rule in read_guidelines_text(text, "rules.yaml")] == ["offer a lift"]
    assert "this is a file of kind guidelines" in faults_of(text)[0]
    with pytest.raises(JourneyDefinitionError, match="2:5 guideline 1: its scope is 'journey'"):
        read_guidelines_text(text.replace("lift}", "lift, scope: journey}"), "rules.yaml")
    with pytest.raises(JourneyDefinitionError, match="it must be of kind guidelines"):
        read_guidelines_text(STATES, "rules.yaml")
