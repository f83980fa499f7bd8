"""The form as a model gets it, and the possible answers of the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from journeygraph import (
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelError,
    Pathway,
    Personality,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.commands import (
    Cancel,
    Choose,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    OffTopic,
    Repeat,
    Skip,
    Verdict,
    Wait,
)
from journeygraph.nodes.draft import beginning
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm import scripted
from journeygraph.nodes.llm.form_prompt import Asking, asking_of
from journeygraph.nodes.llm.models import Models
from journeygraph.nodes.llm.scripted import Answer, Call, ScriptedModel, says
from journeygraph.nodes.llm.understanding_call import MessageSituation, understood
from journeygraph.nodes.state.interpretation import Understood

DOG = Field("dog", "name", "What is your dog called?", description="We call it by its name.")
NIGHTS = Field("nights", "integer", "How many nights?", label="length of the stay")
SIZE = Field("size", "enum", "How big is it?", choices=["small", "large"], required=False)
CHIP = Field("chip", "text", "What is on its chip?", sensitive=True)
PHONE = Field("phone", "phone", "Your number?")
FIELDS = [DOG, NIGHTS, SIZE, CHIP]


class Kennel(Journey):
    """Look after dogs while their people are away."""

    class StayPath(Pathway):
        __fields__ = FIELDS
        __next__ = "contact"

    class ContactPath(Pathway):
        __fields__ = [PHONE]

    class PricesPath(Pathway):
        __agents__ = ["host"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="asks what a stay costs"), to_pathway="prices"),
    ]


LETTERS = [{"id": "d_rex", "label": "Rex"}, {"id": "d_max", "label": "Max"}]


def asked(kind: str, about: str = "", options: Sequence[Any] = ()) -> dict[str, Any]:
    return {"kind": kind, "about": about, "options": list(options)}


def stay(question: dict[str, Any] | None = None, **more: Any) -> Asking:
    given = {"asked": question or asked("field", "nights"), "person": True, **more}
    shown = {"dog": "Rex", "chip": "977-SECRET", "phone": "+49 30 1234"}
    return asking_of("the stay", FIELDS, shown, correctable=[PHONE], **given)


async def read(
    answer: Answer, form: Asking | None = None, message: str = "two nights", **config: Any
) -> tuple[Understood, Call]:
    """Ask a model that answers so, once, and return what is made of it and what it was asked."""
    spec = Kennel.spec
    said = "How many nights?"
    moment = MessageSituation(
        spec, beginning(spec), said, message, spec.transitions, form=form or stay(asked("more"))
    )
    async with ScriptedModel(answer) as model:
        found = await understood(moment, Models(model), JourneyConfig(**config), Usage())
    return found, model.calls[0]


def raw(*commands: Any, **more: Any) -> dict[str, Any]:
    """An answer as a model writes it, whatever it holds."""
    return {"verdicts": [], "commands": list(commands), "asks": None, "reply": None, **more}


def command(name: Any, **more: Any) -> dict[str, Any]:
    return {"command": name, "field": None, "value": None, "target": None, "confidence": 0.9} | more


def open_in(call: Call) -> tuple[set[str], set[str]]:
    """The commands and fields that are open now for a model."""
    asked = json.loads(call.message)
    now = asked["form_now"]
    fields = {*now.get("collected", ()), *now.get("open", ()), *now.get("skipped", ())}
    return set(asked["commands"]), fields


ALWAYS = {
    *("fill", "correct", "clear", "cancel", "wait", "repeat", "restart", "back", "status"),
    *("explain", "off_topic", "human"),
}
ALL = {*ALWAYS, "skip", "choose", "deny", "confirm", "go"}
MOMENTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "field": (asked("field", "nights"), {"skip"}),
    "field-of-options": (asked("field", "size", LETTERS), {"skip", "choose", "deny"}),
    "summary": (asked("summary"), {"confirm", "deny"}),
    "clarify": (asked("clarify", "", LETTERS), {"confirm", "deny", "choose"}),
}


@pytest.mark.parametrize(("question", "more"), MOMENTS.values(), ids=MOMENTS)
async def test_only_what_makes_sense_now_can_be_said(question, more):
    _, call = await read(says(), stay(question))
    commands, fields = open_in(call)

    assert commands == {*ALWAYS, *more, "go"}
    assert fields == {"dog", "nights", "size", "chip", "phone"}
    closed = sorted({*ALL} - commands)
    found, _ = await read(raw(*(command(name) for name in closed)), stay(question))
    assert found.commands == []
    assert [(one.command, one.is_open) for one in found.dropped] == [(n, False) for n in closed]


async def test_the_schema_is_the_same_in_the_whole_journey():
    moments = [stay(), stay(asked("summary")), stay(asked("clarify", "", LETTERS), worded=False)]
    calls = [(await read(raw(), moment))[1] for moment in moments]

    schema = calls[0].schema
    assert schema
    assert schema == calls[1].schema == calls[2].schema
    item = schema["properties"]["commands"]["items"]["properties"]
    assert set(item["command"]["enum"]) == ALL
    assert item["field"]["anyOf"][0]["enum"] == ["dog", "nights", "size", "chip", "phone"]
    described = calls[0].messages[0]["content"]
    assert {name for name in ALL if f"\n- {name}: " in described} == ALL


async def test_every_command_is_read_as_what_it_says():
    form = stay(asked("clarify", "", LETTERS), sentiment="the user is angry")
    said = says(
        scripted.fill(nights="two", size="tiny"),
        scripted.correct(dog="Max", phone=None),
        scripted.clear("chip"),
        scripted.cancel(everything=True),
        scripted.wait(),
        scripted.repeat(),
        scripted.explain("nights"),
        scripted.explain(),
        scripted.off_topic(),
        scripted.off_topic(unsupported=True),
        scripted.human(),
        scripted.human("sentiment"),
        scripted.choose("d_max"),
        scripted.deny("d_rex"),
        scripted.go("prices"),
        confidence=0.9,
    )
    found, _ = await read(said, form)

    expected: list[Command] = [
        Verdict(Kennel.spec.transitions[0].id, False, "model", 0.9, "scripted"),
        Fill("nights", "two", 0.9),
        Fill("size", "tiny", 0.9),
        Correct("dog", "Max", 0.9),
        Clear("phone", 0.9),  # a correction that does not say what is right
        Clear("chip", 0.9),
        Cancel(True, 0.9),
        Wait(0.9),
        Repeat(0.9),
        Explain("nights", 0.9),
        Explain("", 0.9),
        OffTopic(False, 0.9),
        OffTopic(True, 0.9),
        Human("asked", 0.9),
        Human("sentiment", 0.9),
        Choose("d_max", 0.9),
        Deny("d_rex", 0.9),
        Go("prices", 0.9),
    ]
    assert found.commands == expected
    yes, _ = await read(says(scripted.confirm()), stay(asked("summary")))
    left, _ = await read(says(scripted.skip()), stay())
    assert yes.commands[1:] == [Confirm(0.95)]
    assert left.commands[1:] == [Skip(0.95)]


async def test_the_model_is_told_what_the_form_is_about():
    voice = Personality(name="Ada", tone="warm", formality="casual", emojis=True)
    form = stay(personality=voice, sentiment="the user weeps", tasks=["the stay", "the prices"])
    _, call = await read(says(), form)

    for told in ("the stay", "length of the stay", "We call it by its name.", "the prices", "Rex"):
        assert told in call.message
    for told in (
        "as Ada",
        "warm, casual",
        "with emojis",
        "the user weeps",
        "in the user's language",
    ):
        assert told in call.messages[0]["content"]
    called, _ = await read(says(scripted.human("sentiment")), form)
    assert called.commands[1:] == [Human("sentiment", 0.95)]
    other, _ = await read(raw(command("human", target="sentiment")), stay())
    assert (other.commands, [one.is_open for one in other.dropped]) == ([], [False])


async def test_a_sensitive_value_is_never_told():
    _, call = await read(says())

    assert "977" not in str(call.body)
    assert '"field":"chip"' in call.message  # that there is one, it may know


async def test_where_agents_are_declared_no_reply_is_asked_for():
    _, asked_for = await read(says(), stay())
    _, other = await read(says(), stay(worded=False))

    assert json.loads(asked_for.message)["give"] == ["verdicts", "commands", "asks", "reply"]
    assert json.loads(other.message)["give"] == ["verdicts", "commands"]
    assert "'reply'" in asked_for.text
    assert "'reply'" not in other.text
    unwanted, _ = await read(raw(reply="Hello.", asks="size"), stay(worded=False))
    assert unwanted.reply is None
    assert [(one.command, one.is_open) for one in unwanted.dropped] == [("reply", False)]


async def test_a_reply_is_heard_with_what_it_asks():
    found, _ = await read(says(scripted.fill(nights="2"), reply=" How big is he? ", asks="size"))
    assert (found.reply, found.asks) == ("How big is he?", "size")

    for reply in (None, "", " \n", "x" * 5_000):
        silent, _ = await read(raw(reply=reply, asks="size"))
        assert silent.reply is None


async def test_what_a_form_makes_of_a_message_is_asked_anew_every_time():
    spec = Kennel.spec
    moment = MessageSituation(
        spec, beginning(spec), "How many nights?", "two", spec.transitions, form=stay()
    )
    async with ScriptedModel(says(scripted.fill(nights="two")), says()) as model:
        models = Models(model)
        first = await understood(moment, models, JourneyConfig(), Usage())
        second = await understood(moment, models, JourneyConfig(), Usage())

    assert [len(found.commands) for found in (first, second)] == [2, 1]


async def test_names_that_are_not_there_are_dropped():
    """A value keeps one character more than is taken, so that it is refused."""
    found, _ = await read(
        raw(
            command("fill", field="verified", value="true"),
            command("fill", field="f" * 9_000, value="v" * 9_000),
            command("fill", field="nights", value="v" * 9_000),
            command("correct", field="salary", value="1"),
            command("clear", field="salary"),
            command("explain", field="secrets"),
            command("choose", target="root"),
            command("deny", target="d_nobody"),
            command("go", target="admin"),
            reply="It is done.",
        ),
        stay(asked("clarify", "", LETTERS)),
    )
    assert found.commands == [Fill("nights", "v" * 4_097, 0.9)]
    assert found.reply is None
    assert [one.is_open for one in found.dropped] == [False] * 8
    assert all(len(one.reason) < 150 for one in found.dropped)


UNHEARD_OF = '{"verdicts": [], "commands": [{"command": "wait", "confidence": ?}]}'
MISFITS: dict[str, Any] = {
    "no commands": {"verdicts": []},
    "commands are no list": raw() | {"commands": {"command": "wait"}},
    "a command is text": raw("wait"),
    "an unknown command": raw(command("set", field="dog", value="Max")),
    "a command that is a list": raw(command(["fill"])),
    "no command": raw({"confidence": 1.0}),
    "a value that is a number": raw(command("fill", field="nights", value=2)),
    "a value that is an object": raw(command("fill", field="nights", value={"a": 1})),
    "no value": raw(command("fill", field="nights")),
    "a field that is a list": raw(command("clear", field=["dog"])),
    "a target that is true": raw(command("choose", target=True)),
    "another reason for a person": raw(command("human", target="bored")),
    "confidence as text": raw(command("wait", confidence="high")),
    "confidence is true": raw(command("wait", confidence=True)),
    "no confidence": raw({"command": "wait"}),
    "confidence is NaN": UNHEARD_OF.replace("?", "NaN"),
    "confidence is Infinity": UNHEARD_OF.replace("?", "-Infinity"),
    "a reply that is a list": raw(reply=["Hello"]),
    "asks that is a number": raw(asks=1),
    "nested without end": '{"verdicts": [], "commands": ' + "[" * 30_000,
}


@pytest.mark.parametrize("answer", MISFITS.values(), ids=MISFITS)
async def test_what_is_not_of_the_schema_fails_the_whole_answer(answer):
    with pytest.raises(ModelError) as failure:
        await read(answer)
    assert failure.value.kind == "malformed"


async def test_an_answer_of_ten_million_characters_is_not_read():
    with pytest.raises(ModelError):
        await read(raw(command("fill", field="dog", value="x" * 10_000_000)))


@pytest.mark.parametrize("sure", [-0.1, 1.1, 1e308, -1e308, 0.69, 0.0])
async def test_a_command_that_is_not_sure_enough_does_not_count(sure):
    found, _ = await read(
        raw(command("confirm", confidence=sure), command("clear", field="dog"), reply="Done.")
    )
    assert found.commands == [Clear("dog", 0.9)]
    assert [(one.command, one.confidence) for one in found.dropped] == [
        ("confirm", sure if 0 <= sure <= 1 else None)
    ]
    assert found.reply is None  # it may speak of what does not count


async def test_a_value_needs_no_more_than_a_confidence():
    """Whether it is sure enough depends on what was asked."""
    found, _ = await read(
        raw(
            command("fill", field="nights", value="2", confidence=0.1),
            command("fill", field="size", value="small", confidence=7),
        )
    )
    assert found.commands == [Fill("nights", "2", 0.1)]
    assert [one.reason for one in found.dropped] == ["its confidence is not from 0 to 1"]


async def test_a_script_that_says_what_the_call_does_not_offer_fails():
    _, call = await read(says(), stay())
    _, silent = await read(says(), stay(worded=False))
    for said, asked_of in (
        (says(scripted.fill(verified="true")), call),
        (says(scripted.confirm()), call),
        (says(scripted.choose("d_rex")), call),
        (says(scripted.go("admin")), call),
        (says(to="admin"), call),
        (says(reply="Hello.", asks="verified"), call),
        (says(reply="Hello."), silent),
    ):
        with pytest.raises(
            AssertionError, match=r"here it must|here, only|does not ask for 'reply'"
        ):
            said(asked_of)
