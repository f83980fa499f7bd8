"""What controls the flow of a journey, as its body declares it: guidelines, checks, activation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.calls import Call
from journeys.errors import did_you_mean, shown
from journeys.guideline_reader import numbered, read_each, relation_faults, taken_ids
from journeys.guidelines import GuidelineSpec
from journeys.inheriting import GUIDELINES, declared
from journeys.transitions import BaseTrigger, IntentTrigger
from journeys.trigger_faults import trigger_faults
from journeys.validation import Validation

FLOW_ATTRIBUTES = (
    "__guidelines__",
    "__validation__",
    "__safe_reply__",
    "__degrade__",
    "__model__",
    "__activation__",
    "__shared__",
)
DEGRADATIONS = ("canned", "freeform", "refuse")
"""What is done for a user when the journey itself fails (DESIGN section 4)."""


def read_flow(
    cls: Any, root: type, journey: str, of_pathways: Sequence[GuidelineSpec], faults: list[str]
) -> dict[str, Any]:
    """Return the flow control of a journey, by the names of the spec; note every fault."""
    owner = cls.__name__
    written = [(entry.where, entry.item) for entry in declared(cls, root, GUIDELINES, faults)]
    own = read_each(written, faults, journey=journey)
    faults += taken_ids([*own, *of_pathways])
    guidelines = numbered([*own, *of_pathways])
    faults += relation_faults(guidelines)
    faults += flow_faults(owner, cls)
    return {
        "guidelines": guidelines,
        "validation": validation_of(cls.__validation__, guidelines),
        "safe_reply": cls.__safe_reply__,
        "degrade": cls.__degrade__,
        "model": cls.__model__,
        "activation": read_activation(owner, cls.__activation__, faults),
        "shared": names_in(owner, "__shared__", cls.__shared__, faults),
    }


def validation_of(
    declared: Validation | None, guidelines: Sequence[GuidelineSpec]
) -> Validation | None:
    """Return how replies are checked: as declared, else before sending if a rule is critical."""
    if declared is None and any(item.critical and item.enabled for item in guidelines):
        return Validation()
    return declared


def flow_faults(owner: str, cls: Any) -> Iterator[str]:
    """Yield what is wrong with what is said when something fails, the model, and the checks."""
    for name, kind in (("__safe_reply__", str), ("__degrade__", str)):
        if not isinstance(value := getattr(cls, name), kind):
            yield f"{owner}: {name} is {shown(value)}; it must be text."
    if isinstance(cls.__degrade__, str) and cls.__degrade__ not in DEGRADATIONS:
        hint = did_you_mean(cls.__degrade__, DEGRADATIONS)
        yield f"{owner}: __degrade__ is {cls.__degrade__!r}.{hint} One of: " + (
            f"{', '.join(DEGRADATIONS)}."
        )
    if cls.__degrade__ == "freeform" and getattr(cls, "__sensitive__", False):
        yield (
            f"{owner}: it is __sensitive__, and __degrade__ is 'freeform', which hands messages to "
            "a model outside of it. Choose 'canned' or 'refuse'."
        )
    if cls.__model__ is not None and not (isinstance(cls.__model__, str) and cls.__model__.strip()):
        yield f"{owner}: __model__ is {shown(cls.__model__)}; it must be the name of a model."
    if cls.__validation__ is not None and not isinstance(cls.__validation__, Validation):
        yield f"{owner}: __validation__ is {shown(cls.__validation__)}; it must be Validation(...)."


def read_activation(owner: str, declared: Any, faults: list[str]) -> tuple[BaseTrigger, ...]:
    """Read what starts a journey: triggers, or conditions in words for a model."""
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{owner}: __activation__ must be a list of triggers or conditions in words.")
        return ()
    triggers: list[BaseTrigger] = []
    for number, item in enumerate(declared):
        trigger = IntentTrigger(description=item) if isinstance(item, str) else item
        found = trigger_faults(f"{owner}.__activation__[{number}]", trigger)
        faults += found
        triggers += [] if found else [trigger]
    return tuple(triggers)


def read_calls(where: str, declared: Any, faults: list[str]) -> tuple[Call, ...]:
    """Read the calls that a pathway makes before its agents work."""
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{where}: __calls__ must be a list of Call(...) or names of tools.")
        return ()
    calls: list[Call] = []
    for number, item in enumerate(declared):
        call = Call(item) if isinstance(item, str) else item
        found = list(_call_faults(f"{where}.__calls__[{number}]", call))
        faults += found
        calls += [] if found else [call]
    names = [call.tool for call in calls]
    if twice := [name for name in names if names.count(name) > 1]:
        faults.append(f"{where}: __calls__ names the tool '{twice[0]}' twice.")
    return tuple(calls)


def _call_faults(where: str, call: Any) -> Iterator[str]:
    if not isinstance(call, Call):
        yield f"{where} is {shown(call)}; it must be a Call(...) or the name of a tool."
        return
    for name in ("tool", "save"):
        value = getattr(call, name)
        if not isinstance(value, str) or (name == "tool" and not value):
            yield f"{where}: {name} is {shown(value)}; it must be text."
    arguments: Any = call.arguments
    if not isinstance(arguments, Mapping) or not all(
        isinstance(item, str) and item for pair in arguments.items() for item in pair
    ):
        yield f"{where}: arguments is {shown(arguments)}; write parameter -> name in the context."


def names_in(owner: str, attribute: str, value: Any, faults: list[str]) -> tuple[str, ...]:
    """Read a list of context names, noting what is wrong with it."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(item, str) and item for item in value):
        faults.append(f"{owner}: {attribute} is {shown(value)}; it must be a list of names.")
        return ()
    return tuple(dict.fromkeys(value))
