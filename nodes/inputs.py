"""What fills the inputs of a signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import PathwaySpec
from journeys.io_fields import FieldSpec, SignatureSpec
from nodes.context import Context
from nodes.plain import copied
from nodes.state import PathwayState

RESERVED = ("message", "context", "history")
"""Names that every payload has; a signature's input of that name is filled by it."""


def payload_of(
    pathway: PathwaySpec, signature: SignatureSpec | None, state: PathwayState
) -> tuple[dict[str, Any], list[str]]:
    """Return what an agent is given, and a flag for each required input that nothing filled.

    Everything in it is a copy: what an agent does to it changes nothing. In a sequential pathway
    the outputs of the agents before are in it as well.

    Args:
        pathway: Where the agent works.
        signature: Its contract, if it has one.
        state: The state of the pathway.
    """
    context: Context = copied(state["context"])
    window = state["messages"][:-1]
    history = [{"role": message["role"], "content": message["content"]} for message in window]
    given = {"message": state["turn"]["message"] or "", "context": context, "history": history}
    inputs, flags = _inputs(signature, given)
    before = _outputs_before(pathway, state)
    return {**inputs, **before, **given}, flags


def _outputs_before(pathway: PathwaySpec, state: PathwayState) -> dict[str, Any]:
    if pathway.pipeline != "sequential":
        return {}
    merged: dict[str, Any] = {}
    for output in state.get("outputs", []):
        merged.update(copied(output["values"]))
    return merged


def _inputs(
    signature: SignatureSpec | None, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    fields = signature.inputs if signature else ()
    listener = signature.listener if signature else None
    inputs: dict[str, Any] = {}
    flags: list[str] = []
    for field in fields:
        value = _value(field, given, listens=field is listener)
        if value is None and field.required:
            value = field.empty()
            flags.append(f"empty_input:{field.name}")
        inputs[field.name] = value
    return inputs, flags


def _value(field: FieldSpec, given: Mapping[str, Any], *, listens: bool) -> Any:
    if field.source or field.name in RESERVED:
        return given[field.source or field.name]
    if (known := given["context"].get(field.name)) is not None:
        return known
    if listens:
        return given["message"]
    return None if field.required else copied(field.default)
