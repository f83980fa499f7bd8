"""Signatures: the contract of an agent, read from a class body or built from data."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any, ClassVar, Literal, Optional

import pytest
from pydantic import BaseModel, ValidationError

from journeygraph import (
    InputField,
    Journey,
    JourneyDefinitionError,
    OutputField,
    Pathway,
    Signature,
)


class Address(BaseModel):
    street: str
    number: int


class Support(Signature):
    """You help customers kindly."""

    __intent__ = "Settle what the customer came for"
    __guidelines__ = ["Hear them out first", "Stay warm"]

    query: str = InputField(description="What the customer asks")
    earlier: str = InputField(description="What was said before", default="")

    response: str = OutputField(description="What to answer")
    mood: str = OutputField(description="How the customer feels")


class Shaped(Signature):
    """Every kind of type."""

    note: Optional[str] = InputField(desc="optional")  # noqa: UP045
    tags: list[str] = InputField(desc="a list")
    table: dict[str, int] = InputField(desc="a dict")
    size: int = InputField(desc="a number")
    share: float | None = InputField(desc="either")

    colour: Literal["red", "blue"] = OutputField(desc="one of two")
    address: Address = OutputField(desc="a model")


def faults_of(body: dict[str, Any], name: str = "Ask") -> tuple[str, ...]:
    """The faults of a signature class with this body."""
    with pytest.raises(JourneyDefinitionError) as raised:
        type(name, (Signature,), body)
    return raised.value.faults


# What the author wrote can be read back.


def test_a_missing_intent_is_empty() -> None:
    """ADR-025 section 4.5."""

    class Bare(Signature):
        question: str = InputField(desc="Q")
        answer: str = OutputField(desc="A")

    assert Bare().intent == ""
    assert Bare().instructions == ""
    assert Bare().guidelines == []


def test_guidelines_are_handed_out_as_copies() -> None:
    """ADR-025 section 4.5."""
    signature = Support()

    signature.guidelines.append("Sell something")

    assert signature.guidelines == ["Hear them out first", "Stay warm"]


def test_guidelines_are_copied_from_the_author_as_well() -> None:
    rules = ["Be brief"]

    class Brief(Signature):
        __guidelines__ = rules

        question: str = InputField(desc="Q")

    rules.append("Be loud")

    assert Brief().guidelines == ["Be brief"]


def test_instructions_are_the_docstring_without_its_indentation() -> None:
    class Long(Signature):
        """First line.

        Second line.
        """

        question: str = InputField(desc="Q")

    assert Long().instructions == "First line.\n\nSecond line."


def test_desc_is_the_short_spelling_of_description() -> None:
    class Both(Signature):
        short: str = InputField(desc="in short")
        long: str = InputField(description="at length")
        out: str = OutputField(desc="out")

    signature = Both()

    assert signature.inputs["short"].description == "in short"
    assert signature.inputs["long"].description == "at length"
    assert signature.outputs["out"].description == "out"


def test_only_a_field_without_default_is_required() -> None:
    class Optionals(Signature):
        needed: str = InputField(desc="N")
        empty: str = InputField(desc="E", default="")
        nothing: Optional[str] = InputField(desc="O", default=None)  # noqa: UP045

    required = {name: field.required for name, field in Optionals().inputs.items()}

    assert required == {"needed": True, "empty": False, "nothing": False}


@pytest.mark.parametrize("source", ["message", "history", "context", None])
def test_a_source_says_what_fills_an_input(source: str | None) -> None:
    signature = Signature.define(
        "Sourced", inputs={"said": (str, InputField(source=source))}, outputs={}
    )

    assert signature().inputs["said"].source == source


def test_names_of_the_signature_itself_can_be_fields() -> None:
    """The ADR's own classifier has an output `intent` and an input `context`."""

    class Classify(Signature):
        """Classify the message."""

        __intent__ = "Find out what the user wants"

        context: str = InputField(desc="the talk so far", default="")
        intent: str = OutputField(desc="name of the intent")
        guidelines: list[str] = OutputField(desc="which rules held")

    signature = Classify()

    assert signature.intent == "Find out what the user wants"
    assert signature.guidelines == []
    assert list(signature.inputs) == ["context"]
    assert list(signature.outputs) == ["intent", "guidelines"]


def test_even_spec_can_be_a_field() -> None:
    form_state = Signature.define("FormState", inputs={"spec": (str, InputField())}, outputs={})

    assert list(form_state().inputs) == ["spec"]
    assert form_state().spec.name == "FormState"


def test_constants_and_helpers_may_stand_beside_the_fields() -> None:
    class Helped(Signature):
        LIMIT: ClassVar[int] = 3
        question: str = InputField(desc="Q")

        @staticmethod
        def shorten(text: str) -> str:
            return text[: Helped.LIMIT]

    assert list(Helped().inputs) == ["question"]
    assert Helped.shorten("abcdef") == "abc"


# Composition makes new ones.


def test_with_instructions_returns_a_new_signature() -> None:
    """ADR-025 section 4.5."""
    first = Support()
    second = first.with_instructions("Be formal.")

    assert first is not second
    assert first.instructions == "You help customers kindly."
    assert second.instructions == "Be formal."
    assert isinstance(second, Support)
    assert second.guidelines == first.guidelines


def test_with_guidelines_appends() -> None:
    """ADR-025 section 4.5."""
    first = Support()
    second = first.with_guidelines(["Offer a call", "Say goodbye"])

    assert first.guidelines == ["Hear them out first", "Stay warm"]
    assert second.guidelines == [
        "Hear them out first",
        "Stay warm",
        "Offer a call",
        "Say goodbye",
    ]


@pytest.mark.parametrize("wrong", ["a sentence", 3, None, ["fine", 4]])
def test_with_guidelines_takes_a_list_of_sentences_only(wrong: Any) -> None:
    with pytest.raises(JourneyDefinitionError, match=r"Support: .*guideline"):
        Support().with_guidelines(wrong)


def test_with_instructions_takes_text_only() -> None:
    with pytest.raises(JourneyDefinitionError, match="Support: instructions is 3; it must be text"):
        Support().with_instructions(3)  # type: ignore[arg-type]


def test_an_instance_cannot_be_changed() -> None:
    signature = Support()

    with pytest.raises(AttributeError, match="immutable"):
        signature.intent = "Sell"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        signature.anything = 1
    with pytest.raises(AttributeError, match="immutable"):
        del signature.spec
    assert signature.intent == "Settle what the customer came for"


def test_a_field_spec_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Support().inputs["query"].description = "other"  # type: ignore[misc]


def test_the_mappings_of_fields_are_copies() -> None:
    signature = Support()

    signature.inputs.clear()
    signature.outputs.pop("mood")

    assert list(signature.inputs) == ["query", "earlier"]
    assert list(signature.outputs) == ["response", "mood"]


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda signature: pickle.loads(pickle.dumps(signature))]
)
def test_a_copy_is_the_same_contract(twin: Any) -> None:
    again = twin(Support().with_guidelines(["One more"]))

    assert again.guidelines[-1] == "One more"
    assert again.inputs["query"].required
    assert not again.inputs["earlier"].required


def test_a_mutable_default_is_shared_with_nobody() -> None:
    preferences: dict[str, Any] = {"languages": ["de"]}

    class Booking(Signature):
        preferences_: dict = InputField(desc="P", default=preferences)
        rejected: list = InputField(desc="R", default=[])

    preferences["languages"].append("fr")
    Booking().inputs["preferences_"].default["languages"].append("it")
    Booking().spec.inputs[1].default.append("someone")
    Booking().input_model().rejected.append("someone")  # type: ignore[attr-defined]

    assert Booking().inputs["preferences_"].default == {"languages": ["de"]}
    assert Booking().spec.inputs[1].default == []
    assert Booking().input_model().model_dump()["rejected"] == []


# Inheritance.


class Escalating(Support):
    """You hand over to a person."""

    ticket: str = OutputField(description="Number of the ticket")


def test_a_subclass_inherits_fields_intent_and_guidelines() -> None:
    signature = Escalating()

    assert list(signature.inputs) == ["query", "earlier"]
    assert list(signature.outputs) == ["response", "mood", "ticket"]
    assert signature.intent == Support().intent
    assert signature.guidelines == Support().guidelines
    assert signature.instructions == "You hand over to a person."


def test_a_subclass_may_declare_a_field_anew() -> None:
    class Numbered(Support):
        query: int = InputField(description="Number of the question")  # type: ignore[assignment]

    assert Numbered().inputs["query"].annotation is int
    assert list(Numbered().inputs) == ["query", "earlier"]
    assert Support().inputs["query"].annotation is str


def test_a_subclass_without_docstring_keeps_the_instructions() -> None:
    class Quiet(Support):
        __guidelines__ = ["Whisper"]

    assert Quiet().instructions == "You help customers kindly."
    assert Quiet().guidelines == ["Whisper"]


def test_an_inherited_field_cannot_be_set_to_something_else() -> None:
    with pytest.raises(JourneyDefinitionError, match=r"Broken\.query: not a field"):
        type("Broken", (Support,), {"query": None})


# Built from data.


def test_a_signature_can_be_built_from_data() -> None:
    built = Signature.define(
        "Triage",
        inputs={"complaint": (str, InputField(desc="what hurts"))},
        outputs={"urgent": (bool, OutputField(desc="at once?"))},
        instructions="Say how urgent it is.",
        intent="Nobody waits who must not",
        guidelines=["When in doubt, urgent"],
    )

    signature = built()

    assert built.__name__ == "Triage"
    assert signature.spec.name == "Triage"
    assert signature.instructions == "Say how urgent it is."
    assert signature.intent == "Nobody waits who must not"
    assert signature.guidelines == ["When in doubt, urgent"]
    assert signature.inputs["complaint"].is_text
    assert signature.outputs["urgent"].annotation is bool


def test_a_built_signature_is_the_same_contract_as_a_written_one() -> None:
    built = Signature.define(
        "Support",
        inputs={
            "query": (str, InputField(description="What the customer asks")),
            "earlier": (str, InputField(description="What was said before", default="")),
        },
        outputs={
            "response": (str, OutputField(description="What to answer")),
            "mood": (str, OutputField(description="How the customer feels")),
        },
        instructions="You help customers kindly.",
        intent="Settle what the customer came for",
        guidelines=["Hear them out first", "Stay warm"],
    )

    assert built().spec == Support().spec


def test_define_on_a_signature_extends_it() -> None:
    wider = Support.define("Wider", inputs={}, outputs={"link": (str, OutputField(desc="a link"))})

    assert list(wider().outputs) == ["response", "mood", "link"]


def test_define_names_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        Signature.define(
            "Odd",
            inputs={"a": str, "b": (str, OutputField())},  # type: ignore[dict-item]
            outputs={"c": (str, "text")},
        )

    assert [fault.partition(":")[0] for fault in raised.value.faults] == ["Odd.a", "Odd.b", "Odd.c"]
    assert "(str, InputField(...))" in raised.value.faults[0]
    assert "(str, OutputField(...))" in raised.value.faults[2]


def test_define_refuses_a_name_that_is_input_and_output() -> None:
    both = {"a": (str, InputField())}, {"a": (str, OutputField())}

    with pytest.raises(JourneyDefinitionError, match=r"Odd\.a: it is both an input and an output"):
        Signature.define("Odd", inputs=both[0], outputs=both[1])


# Models.


def test_the_models_validate_what_the_signature_declares() -> None:
    fine = Shaped().output_model(colour="red", address={"street": "Ring", "number": "4"})

    assert fine.model_dump() == {"colour": "red", "address": {"street": "Ring", "number": 4}}
    with pytest.raises(ValidationError, match="colour"):
        Shaped().output_model(colour="green", address={"street": "Ring", "number": 4})


def test_the_models_carry_names_descriptions_and_defaults() -> None:
    schema = Support().input_model.model_json_schema()

    assert schema["title"] == "SupportInputs"
    assert schema["properties"]["query"]["description"] == "What the customer asks"
    assert schema["required"] == ["query"]
    assert Support().input_model(query="hello").model_dump() == {"query": "hello", "earlier": ""}


def test_each_type_has_its_empty_value() -> None:
    inputs = Shaped().inputs

    assert {name: field.empty() for name, field in inputs.items()} == {
        "note": None,
        "tags": [],
        "table": {},
        "size": 0,
        "share": None,
    }
    assert Shaped().outputs["colour"].empty() is None
    assert Shaped().outputs["address"].empty() is None


def test_a_type_that_data_cannot_have_takes_no_value() -> None:
    thing = Signature.define("Odd", inputs={}, outputs={"thing": (Signature, OutputField())})

    with pytest.raises(ValueError, match="Signature"):
        thing().outputs["thing"].validated({})


def test_text_is_text_whatever_is_annotated_to_it() -> None:
    marked = Signature.define("Odd", inputs={"a": (Annotated[str, "x"], InputField())}, outputs={})

    assert marked().inputs["a"].is_text
    assert marked().inputs["a"].empty() == ""


def test_values_are_brought_into_their_type_as_plain_data() -> None:
    address = Shaped().outputs["address"]

    assert address.validated({"street": "Ring", "number": "4"}) == {"street": "Ring", "number": 4}
    assert address.validated(Address(street="Ring", number=4)) == {"street": "Ring", "number": 4}
    with pytest.raises(ValueError, match="number"):
        address.validated({"street": "Ring"})


# Faults of a body: all in one error, with class, offender and remedy.


def test_all_faults_of_a_body_come_in_one_error() -> None:
    faults = faults_of(
        {
            "__intnt__": "why",
            "__intent__": 3,
            "__guidelines__": "one rule",
            "__annotations__": {"plain": str, "sourced": str},
            "plain": 4,
            "sourced": InputField(source="mesage"),
            "untyped": OutputField(desc="no type"),
        }
    )

    text = "\n".join(faults)
    assert len(faults) == 6
    assert "Ask: __intnt__" in text
    assert "Did you mean '__intent__'?" in text
    assert "; it must be text." in text
    assert "Ask: guidelines is 'one rule'; it must be a list of sentences." in text
    assert "Ask.plain: not a field. Write plain: ... = InputField(...)" in text
    assert "Ask.sourced: source is 'mesage'. Did you mean 'message'?" in text
    assert "Ask.untyped: the field has no type. Write untyped: str = ..." in text


def test_the_error_is_a_value_error_and_lists_one_fault_a_line() -> None:
    with pytest.raises(ValueError, match=r"Ask\.a: .*\nAsk\.b: ") as raised:
        type("Ask", (Signature,), {"a": InputField(), "b": InputField()})

    assert isinstance(raised.value, JourneyDefinitionError)
    assert len(raised.value.faults) == 2


def test_an_annotation_that_cannot_be_resolved_is_named_with_the_other_faults() -> None:
    faults = faults_of(
        {
            "__annotations__": {"odd": "Missing", "sourced": str},
            "odd": InputField(),
            "sourced": InputField(source="nowhere"),
            "untyped": InputField(),
        }
    )

    text = "\n".join(faults)
    assert "Ask: an annotation cannot be resolved (NameError: name 'Missing'" in text
    assert "Import what it names" in text
    assert "Ask.sourced: source is 'nowhere'" in text
    assert "Ask.untyped: the field has no type" in text


@pytest.mark.parametrize("annotation", ["list[", "str.nothing", "1 / 0", "3 +"])
def test_an_annotation_that_is_no_type_at_all_is_a_fault(annotation: str) -> None:
    (fault,) = faults_of({"__annotations__": {"odd": annotation}, "odd": InputField()})

    assert fault.startswith("Ask: an annotation cannot be resolved")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("intent", "__intent__"), ("guidelines", "__guidelines__"), ("instructions", "docstring")],
)
def test_an_attribute_without_its_underscores_is_a_fault(name: str, remedy: str) -> None:
    (fault,) = faults_of({name: "something"})

    assert fault.startswith(f"Ask: {name} is not a known attribute.")
    assert remedy in fault


@pytest.mark.parametrize("default", [object(), {3: "three"}, [b"bytes"], Address, {"a": {1, 2}}])
def test_a_default_must_be_plain_data(default: Any) -> None:
    (fault,) = faults_of({"__annotations__": {"a": Any}, "a": InputField(default=default)})

    assert fault.startswith("Ask.a: its default is ")
    assert "must be plain JSON" in fault


def test_a_field_name_has_no_leading_underscore() -> None:
    (fault,) = faults_of({"__annotations__": {"_a": str}, "_a": OutputField()})

    assert fault == "Ask._a: the name of a field cannot begin with an underscore. Rename it."


def test_a_description_is_text() -> None:
    (fault,) = faults_of({"__annotations__": {"a": str}, "a": InputField(description=4)})  # type: ignore[arg-type]

    assert fault == "Ask.a: its description is 4; it must be text."


def test_each_guideline_is_text() -> None:
    faults = faults_of({"__guidelines__": ["fine", 3, None]})

    assert faults == (
        "Ask: guidelines[1] is 3; it must be text.",
        "Ask: guidelines[2] is None; it must be text.",
    )


# A pathway takes a class or a variant.


@pytest.mark.parametrize("given", [Support, Support().with_guidelines(["Offer a call"])])
def test_a_pathway_takes_a_class_or_an_instance(given: Any) -> None:
    class Desk(Journey):
        class TalkPath(Pathway):
            __signature__ = given
            __agents__ = ["clerk"]

    spec = Desk.spec.pathways["talk"].signature

    assert spec is not None
    assert spec.name == "Support"
    assert ("Offer a call" in spec.guidelines) == isinstance(given, Support)
