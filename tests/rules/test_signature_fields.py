"""Fields of a signature: which names they can have, what a lone text is, which one listens."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from journeygraph import InputField, JourneyDefinitionError, OutputField, Signature
from journeygraph.journeys.agents.signature import TAKEN


def signature(**fields: tuple[Any, Any]) -> type[Signature]:
    """A signature with these inputs."""
    return Signature.define("Trip", inputs=fields, outputs={})


@pytest.mark.parametrize("name", sorted(n for n in dir(BaseModel) if n[0] != "_"))
def test_a_name_is_refused_just_where_a_model_cannot_have_it(name: str) -> None:
    if name in TAKEN:
        with pytest.raises(JourneyDefinitionError, match=f"the name '{name}' is reserved"):
            signature(**{name: (str, InputField())})
    else:
        model = signature(**{name: (str, InputField())})().input_model
        assert model(**{name: "x"}).model_dump() == {name: "x"}


@pytest.mark.parametrize("field", [InputField, OutputField])
def test_a_text_is_not_guessed_at(field: Any) -> None:
    with pytest.raises(TypeError, match="positional"):
        field("The question")


def test_the_listener_is_the_first_required_text_without_a_source() -> None:
    spec = signature(
        told=(str, InputField(source="history")),
        town=(str, InputField(default="")),
        facts=(dict, InputField()),
        question=(str, InputField()),
        name=(str, InputField()),
    )().spec

    assert spec.listener is spec.inputs[3]
    assert signature(facts=(dict, InputField()))().spec.listener is None
