"""A concierge: a journey that is made of journeys, and knows which one a message is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import new_class
from typing import Any, ClassVar, NoReturn

from journeys.agents.signature import Signature, docstring
from journeys.errors import JourneyDefinitionError, shown
from journeys.faults import Fault
from journeys.journey import Journey
from journeys.notions.transitions import BaseTrigger, HandOver, Transition
from journeys.pathway import PATHWAY_ATTRIBUTES, Pathway
from journeys.reading.bodies import bodies, unknown
from journeys.reading.collecting_reader import read_manner
from journeys.reading.composing import CANCELS, compose
from journeys.reading.declared import attribute, read_declared
from journeys.reading.guideline_reader import read_guidelines
from journeys.reading.reader import JOURNEY_ATTRIBUTES, camel, journey_id, pathway_classes
from journeys.spec.part_faults import OTHERWISE
from journeys.spec.parts import RECEPTION, named
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec, empty_spec

__all__ = ["CANCELS", "OTHERWISE", "RECEPTION", "Concierge", "HandOver", "compose"]

CONCIERGE_ATTRIBUTES = (
    "__journeys__",
    "__otherwise__",
    "__cancel__",
    "__hand_over__",
    "__guidelines__",
    "__validation__",
    "__safe_reply__",
    "__degrade__",
    "__model__",
    "__shared__",
    "__personality__",
    "__locale__",
    "__texts__",
    "__sensitive__",
    "__version__",
)


def read_concierge(cls: Any, root: type) -> JourneySpec:
    """Read a concierge class into its spec.

    Raises:
        JourneyDefinitionError: With every fault of the body, and of its journeys together.
    """
    name = cls.__name__
    faults = [*_body_faults(cls, root)]
    whole = read_declared(name, cls, root, faults)
    journeys = _journeys(name, cls.__journeys__, faults)
    guidelines = read_guidelines(name, cls.__guidelines__, faults, journey=None)
    manner = read_manner(name, cls, faults)
    hand_over = _hand_over(name, cls.__hand_over__, faults)
    try:
        spec = compose(
            journey_id(name),
            name,
            docstring(cls, root),
            [journey.spec for journey in journeys],
            otherwise=cls.__otherwise__,
            cancel=cls.__cancel__,
            hand_over=hand_over,
            guidelines=guidelines,
            validation=whole.validation,
            safe_reply=whole.safe_reply,
            degrade=whole.degrade,
            shared=tuple(dict.fromkeys(whole.shared)),
            model=whole.model,
            sensitive=whole.sensitive,
            version=whole.version,
            **manner,
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
                yield Fault(
                    f"{name} is a pathway, and a concierge holds journeys.",
                    remedy="Write it in a Journey, and name that in __journeys__.",
                    where=body.__name__,
                )


def _journeys(owner: str, declared: Any, faults: list[Fault]) -> list[type[Journey]]:
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(
            Fault(
                f"__journeys__ is {shown(declared)}",
                "journeys",
                remedy="it must be a list of journeys.",
                where=owner,
            )
        )
        return []
    journeys = []
    for number, item in enumerate(declared):
        if isinstance(item, type) and issubclass(item, Journey):
            journeys.append(item)
        else:
            said, remedy = (
                f"__journeys__[{number}] is {shown(item)}",
                "it must be a subclass of Journey.",
            )
            faults.append(Fault(said, "journeys", number, remedy=remedy, where=owner))
    return journeys


def _hand_over(owner: str, declared: Any, faults: list[Fault]) -> list[HandOver]:
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(
            Fault("__hand_over__ must be a list of HandOver(...).", "hand_over", where=owner)
        )
        return []
    rules = []
    for number, rule in enumerate(declared):
        if isinstance(rule, HandOver):
            rules.append(rule)
        else:
            said, remedy = (
                f"__hand_over__[{number}] is {shown(rule)}",
                "it must be a HandOver(...).",
            )
            faults.append(Fault(said, "hand_over", number, remedy=remedy, where=owner))
    return rules


class Concierge(Journey, spec=empty_spec("concierge", "Concierge")):
    """Several journeys in one conversation, one of them active at a time.

    While none is, a message is held against what activates them: patterns and conditions for
    nothing, descriptions by the turn's one question to a model. The best above
    `activation_confidence_threshold` begins, and answers in the same turn. A journey that is
    completed, cancelled or handed over leaves the context, but for what it shares, and another may
    begin. A session of it is that of any journey, in every other respect.

    Attributes:
        __journeys__: The journeys; each says with `__activation__` what starts it.
        __otherwise__: What is done with a message that starts none: "ask" which one is meant, give
            a "canned" answer, or let a model answer it "freeform", without tools and context.
        __cancel__: A trigger that gives the active journey up.
        __hand_over__: What leads from one journey to another, a list of `HandOver`.
        __guidelines__: Global ones: of all journeys, and of the concierge itself.
        __shared__: Context names that no journey forgets, beyond what each shares itself.
        __personality__: How it speaks, and each of its journeys that has none itself.
        __locale__: Its locale, and that of each of its journeys for the parts that these leave out.
        __texts__: What it words anew of what the runtime says, also in its journeys.

    Raises:
        JourneyDefinitionError: At class creation, with every fault of the body.

    Source: flow control, journey activation; readings in docs/flow-control.md.

    Example:
        >>> from journeys import IntentTrigger, Pathway
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
    """Return a journey class over a spec, which looks like one that was written out.

    Args:
        spec: The whole journey.
        source: The file that it was read from, if it was.
    """
    classes = {id_: _pathway_class(pathway) for id_, pathway in spec.pathways.items()}
    held = {name: name.strip("_") for name in JOURNEY_ATTRIBUTES}
    body: dict[str, Any] = {
        **{name: getattr(spec, field) for name, field in held.items() if hasattr(spec, field)},
        "__module__": __name__,
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
    said = "a journey from a file has no subclasses."
    raise JourneyDefinitionError([Fault(said, remedy="Change the file.", where=cls.__name__)])


def _transition(spec: TransitionSpec) -> Transition:
    return Transition(
        spec.trigger,
        from_pathway="*" if spec.sources == ("*",) else list(spec.sources),
        to_pathway=spec.target,
        context_update=spec.context_update or None,
        priority=spec.priority,
    )


def _pathway_class(spec: PathwaySpec) -> type[Pathway]:
    read = {attribute(name): getattr(spec, name) for name in spec.known(is_code=True)}
    body = {name: value for name, value in read.items() if name in PATHWAY_ATTRIBUTES}
    body |= {
        "__module__": __name__,
        "__doc__": spec.purpose,
        "__signature__": Signature.of(spec.signature) if spec.signature else None,
        "__fields__": spec.form or (),
        "__pipeline__": spec.pipeline or "sequential",
    }
    return type(f"{camel(spec.id.replace('.', '_'))}Path", (Pathway,), body)
