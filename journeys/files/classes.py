"""A spec from a file as a class, which looks like one that was written out."""

from __future__ import annotations

from pathlib import Path
from types import new_class
from typing import Any, NoReturn

from journeys.agents.signature import Signature
from journeys.concierge import Concierge
from journeys.errors import JourneyDefinitionError
from journeys.files.outputs import camel
from journeys.journey import Journey
from journeys.notions.transitions import Transition
from journeys.pathway import PATHWAY_ATTRIBUTES, Pathway
from journeys.reading.reader import JOURNEY_ATTRIBUTES
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec


def journey_class(spec: JourneySpec, source: Path | None = None) -> type[Journey]:
    """Return a journey class over a spec.

    Args:
        spec: The whole journey.
        source: The file that it was read from, if it was.
    """
    classes = {id_: _pathway_class(pathway) for id_, pathway in spec.pathways.items()}
    body: dict[str, Any] = {
        **_attributes(spec, JOURNEY_ATTRIBUTES),
        "__doc__": spec.purpose,
        "__entry_pathway__": spec.entry,
        "__transitions__": [_transition(item) for item in spec.transitions],
        "__init_subclass__": classmethod(_refuse_subclass),
        "pathways": property(lambda _: dict(classes)),
        "source": source,
    }
    if spec.parts:
        body["__journeys__"] = [journey_class(part, source) for part in spec.parts.values()]
        body["__otherwise__"] = spec.otherwise
    base = Concierge if spec.parts else Journey
    return new_class(camel(spec.id), (base,), {"spec": spec}, lambda space: space.update(body))


def _refuse_subclass(cls: type[Any], /, **_: Any) -> NoReturn:
    raise JourneyDefinitionError(
        [f"{cls.__name__}: a journey from a file has no subclasses. Change the file."]
    )


def _transition(spec: TransitionSpec) -> Transition:
    return Transition(
        spec.trigger,
        from_pathway="*" if spec.sources == ("*",) else list(spec.sources),
        to_pathway=spec.target,
        context_update=spec.context_update or None,
        priority=spec.priority,
    )


def _pathway_class(spec: PathwaySpec) -> type[Pathway]:
    complete = spec.complete_when
    body = {
        **_attributes(spec, PATHWAY_ATTRIBUTES),
        "__doc__": spec.purpose,
        "__signature__": Signature.of(spec.signature) if spec.signature else None,
        "__fields__": spec.form or (),
        "__pipeline__": spec.pipeline or "sequential",
        "__accumulate__": dict(spec.accumulate),
        "__complete_when__": list(complete) if isinstance(complete, tuple) else complete,
        "__return_behavior__": spec.returns,
    }
    return type(f"{camel(spec.id.replace('.', '_'))}Path", (Pathway,), body)


def _attributes(spec: JourneySpec | PathwaySpec, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes of a class body that a spec has under the same names."""
    return {"__module__": __name__} | {
        name: getattr(spec, name.strip("_")) for name in names if hasattr(spec, name.strip("_"))
    }
