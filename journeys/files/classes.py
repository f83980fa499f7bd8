"""A spec from a file as a class, which looks like one that was written out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import new_class
from typing import Any, NoReturn

from journeys.concierge import Concierge
from journeys.errors import JourneyDefinitionError
from journeys.files.outputs import camel
from journeys.journey import Journey
from journeys.pathway import Pathway
from journeys.signature import Signature
from journeys.spec import JourneySpec, PathwaySpec
from journeys.transitions import Transition


def journey_class(spec: JourneySpec, source: Path | None = None) -> type[Journey]:
    """Return a journey class over a spec.

    Args:
        spec: The whole journey.
        source: The file that it was read from, if it was.
    """
    classes = {id_: _pathway_class(pathway) for id_, pathway in spec.pathways.items()}
    body: dict[str, Any] = {
        "__doc__": spec.purpose,
        "__module__": __name__,
        "__entry_pathway__": spec.entry,
        "__transitions__": _transitions(spec),
        "__version__": spec.version,
        "__sensitive__": spec.sensitive,
        "__validation__": spec.validation,
        "__safe_reply__": spec.safe_reply,
        "__degrade__": spec.degrade,
        "__model__": spec.model,
        "__activation__": spec.activation,
        "__shared__": spec.shared,
        "__escalation__": spec.escalation,
        "__personality__": spec.personality,
        "__locale__": spec.locale,
        "__texts__": dict(spec.texts),
        "__patterns__": dict(spec.patterns),
        "__knowledge__": spec.knowledge,
        "__migrations__": dict(spec.migrations),
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


def _transitions(spec: JourneySpec) -> list[Transition]:
    return [
        Transition(
            item.trigger,
            from_pathway="*" if item.sources == ("*",) else list(item.sources),
            to_pathway=item.target,
            context_update=item.context_update or None,
            priority=item.priority,
        )
        for item in spec.transitions
    ]


def _pathway_class(spec: PathwaySpec) -> type[Pathway]:
    complete = spec.complete_when
    body: Mapping[str, Any] = {
        "__doc__": spec.purpose,
        "__module__": __name__,
        "__signature__": Signature.of(spec.signature) if spec.signature else None,
        "__agents__": list(spec.agents),
        "__action__": spec.action,
        "__calls__": spec.calls,
        "__title__": spec.title,
        "__fields__": spec.form or (),
        "__effects__": spec.effects,
        "__interruptible__": spec.interruptible,
        "__knowledge__": spec.knowledge,
        "__tools__": spec.tools,
        "__pipeline__": spec.pipeline or "sequential",
        "__accumulate__": dict(spec.accumulate),
        "__complete_when__": list(complete) if isinstance(complete, tuple) else complete,
        "__next__": spec.next,
        "__return_behavior__": spec.returns,
        "__runs_on_arrival__": spec.runs_on_arrival,
        "__timeout__": spec.timeout,
    }
    return type(f"{camel(spec.id.replace('.', '_'))}Path", (Pathway,), dict(body))
