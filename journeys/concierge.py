"""A concierge: a journey that is made of journeys, and knows which one a message is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import new_class
from typing import Any, ClassVar, NoReturn

from journeygraph.journeys.agents.signature import docstring
from journeygraph.journeys.declarations.transitions import BaseTrigger, HandOver
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.journey import Journey
from journeygraph.journeys.pathway import Pathway
from journeygraph.journeys.reading.class_bodies import GUIDELINES, bodies, listed, unknown
from journeygraph.journeys.reading.composing import CANCELS, compose
from journeygraph.journeys.reading.declared import (
    OTHERWISE,
    OfConcierge,
    attributes_of,
    is_journey,
    read_whole,
)
from journeygraph.journeys.reading.reader import (
    camel,
    journey_id,
    pathway_classes,
)
from journeygraph.journeys.reading.rule_reader import read_guidelines
from journeygraph.journeys.spec.parts import RECEPTION, hand_over_faults, named
from journeygraph.journeys.spec.spec import JourneySpec, empty_spec

__all__ = ["CANCELS", "OTHERWISE", "RECEPTION", "Concierge", "HandOver", "compose"]

CONCIERGE_ATTRIBUTES = attributes_of(OfConcierge, "__guidelines__")


def read_concierge(cls: Any, root: type) -> JourneySpec:
    """Read a concierge class into its spec.

    Raises:
        JourneyDefinitionError: With every fault of the body, and of its journeys together.
    """
    name = cls.__name__
    faults = [*_body_faults(cls, root)]
    whole = read_whole(OfConcierge, cls, root, faults)
    written = listed(name, GUIDELINES, cls.__guidelines__, faults)
    guidelines = read_guidelines(((*one, None) for one in written), faults, journey=None)
    given = cls.__journeys__ if isinstance(cls.__journeys__, Sequence) else ()
    journeys = [one.spec for one in given if is_journey(one)]
    if not whole.has_sound("hand_over"):  # without the faulty ones, the others change their numbers
        faults += hand_over_faults(name, [spec.id for spec in journeys], cls.__hand_over__)
        whole = whole.model_copy(update={"hand_over": ()})
    try:
        spec = compose(
            journey_id(name),
            name,
            docstring(cls, root),
            journeys,
            whole,
            guidelines,
        )
    except JourneyDefinitionError as error:
        raise JourneyDefinitionError([*faults, *error.faults]) from None
    if faults:
        raise JourneyDefinitionError(faults)
    return spec if journeys else empty_spec(journey_id(name), name, spec.purpose)


def _body_faults(cls: type, root: type) -> Iterator[Fault]:
    for body in bodies(cls, root):
        yield from unknown(body.__name__, body, root, CONCIERGE_ATTRIBUTES)
        for name, value in vars(body).items():
            if isinstance(value, type) and issubclass(value, Pathway):
                message = f"{name} is a pathway, and a concierge contains journeys."
                remedy = "Write it in a Journey, and name that in __journeys__."
                yield Fault(message, remedy=remedy, where=body.__name__)


class Concierge(Journey, spec=empty_spec("concierge", "Concierge")):
    """Several journeys in one conversation, one of them active at a time.

    While none is active, a message is compared with their activations: patterns and conditions
    without a model, descriptions in the turn's one question to a model. The best journey above
    `activation_confidence_threshold` begins, and answers in the same turn. When a journey is
    completed, cancelled or handed over, its values leave the context, except those that it shares.
    Another journey can begin then. In all other respects, its session is that of any journey.

    Attributes:
        __journeys__: The journeys; the `__activation__` of each starts it.
        __cancel__: A trigger that cancels the active journey.
        __guidelines__: Global guidelines: of all journeys, and of the concierge itself.
        __shared__: Context names that no journey removes at its end, beyond the `__shared__` of
            each.
        __personality__: Its personality, and that of each journey without its own.
        __locale__: Its locale, and that of each journey for the parts that the journey does not
            set.

    Raises:
        JourneyDefinitionError: At class creation, with every fault of the body.

    Source: flow control, journey activation; readings in docs/reference/flow-control.md.

    Example:
        >>> from journeygraph import IntentTrigger, Pathway
        >>> class Hours(Journey):
        ...     '''Say when we are open.'''
        ...
        ...     __activation__ = [IntentTrigger(["open"])]
        ...
        ...     class SayPath(Pathway):
        ...         __agents__ = ["clerk"]
        >>> class Desk(Concierge):
        ...     __journeys__ = [Hours]
        >>> list(Desk.spec.pathways)
        ['concierge', 'hours.say']
    """

    __journeys__: ClassVar[Sequence[type[Journey]]] = ()
    __otherwise__: ClassVar[str] = "ask"
    __cancel__: ClassVar[BaseTrigger | None] = None
    __hand_over__: ClassVar[Sequence[HandOver]] = ()

    def __init_subclass__(cls, *, spec: JourneySpec | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(spec=spec or read_concierge(cls, Concierge), **kwargs)

    @property
    def pathways(self) -> dict[str, type[Pathway]]:
        """The pathway classes of all journeys by their ids here, in order; a copy."""
        return {
            named(journey.spec.id, id_): pathway
            for journey in self.__journeys__
            for id_, pathway in pathway_classes(journey, Journey).items()
        }


def journey_class(spec: JourneySpec, source: Path | None = None) -> type[Journey]:
    """Return a journey class over a spec; its pathways and transitions are those of the spec."""
    body: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": spec.purpose,
        "__init_subclass__": classmethod(_refuse_subclass),
        "pathways": property(lambda journey: dict(journey.spec.pathways)),
        "transitions": property(lambda journey: list(journey.spec.transitions)),
        "source": source,
    }
    if spec.parts:
        body["__journeys__"] = [journey_class(part, source) for part in spec.parts.values()]
    base = Concierge if spec.parts else Journey
    return new_class(camel(spec.id), (base,), {"spec": spec}, lambda space: space.update(body))


def _refuse_subclass(cls: type[Any], /, **_: Any) -> NoReturn:
    said = "a journey from a file cannot be subclassed."
    raise JourneyDefinitionError([Fault(said, remedy="Change the file.", where=cls.__name__)])
