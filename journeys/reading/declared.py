"""Declarations of a whole journey or concierge, from a class body or a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, TypeVar

from pydantic import Field

from journeygraph.journeys.declarations.escalation import Escalation
from journeygraph.journeys.declarations.guidelines import GuidelineSpec, Validation
from journeygraph.journeys.declarations.knowledge import Knowledge
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.silence import Silence
from journeygraph.journeys.declarations.transitions import BaseTrigger, HandOver, Triggered
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import ClassBody, wrong
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    Checked,
    ContextName,
    Listed,
    Name,
    OneOf,
    Phrase,
    Short,
    Target,
    Text,
)
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, Path, as_where
from journeygraph.journeys.locale import LANGUAGES, NOWHERE, Locale
from journeygraph.journeys.spec.pathway_values import NextId
from journeygraph.journeys.spec.spec import MOVED, STRANDED, JourneySpec
from journeygraph.journeys.texts import Texts, placeholder_fault

DEGRADATIONS = ("canned", "freeform", "refuse")
"""Valid reactions to a failure of the journey itself (DESIGN section 4)."""
OTHERWISE = ("ask", "canned", "freeform")
"""Options of a concierge for a message that starts none of its journeys."""
Made = TypeVar("Made", bound=Definition)
_NAMES = {"form": "fields", "returns": "return_behavior"}
"""Fields whose attribute in a class body has another name."""


class Declared(Definition):
    """Declarations of a journey or a concierge as a whole.

    Attributes:
        version: Text; a session of another version continues, and this is audited. Default: a hash
            of the definition.
        model: Name of a model for its agents. Default: the config's `agent_model`.
        personality: A `Personality`: name, tone, formality and greeting. Default: neutral.
        locale: A `Locale`: language, region, time zone, first day of the week and formats, each
            independent of the others. Default: the session's, else the config's.
        texts: Replacements for the runtime's own texts: name -> text, or a language -> name ->
            text. Default: the catalogue's.
        validation: A `Validation`: checks of replies. Default: before sending if a guideline is
            critical; otherwise not.
        safe_reply: Replaces a reply that breaks the rules. Default: `texts.unsafe`.
        degrade: Answer of a turn that fails.
        shared: Context names that other journeys of a concierge can still use.
        silence: A `Silence`: reminders, and the end of the session, if the user sends no message.
        sensitive: True: state, transcript and audit are encrypted; this needs an `encryption_key`.
    """

    _: KW_ONLY
    version: Text | None = None
    model: Text | None = None
    personality: Personality | None = None
    locale: Locale = NOWHERE
    texts: Mapping[Name, Annotated[Phrase | Mapping[Name, Phrase], BY_SHAPE]] = Field(
        default_factory=dict
    )
    validation: Validation | None = None
    safe_reply: Text = ""
    degrade: Annotated[str, OneOf(DEGRADATIONS)] = "canned"
    shared: Listed[ContextName] = ()
    silence: Silence | None = None
    sensitive: bool = False

    @rule("degrade", "sensitive")
    def _is_closed(self) -> Iterator[Fault]:
        if self.sensitive and self.degrade == "freeform":
            message = "degrade is 'freeform', which sends messages to a model outside of the "
            message += "journey, but the journey is sensitive."
            yield Fault(message, "degrade", remedy="Choose 'canned' or 'refuse'.")

    @rule()
    def _texts_are_known(self) -> Iterator[Fault]:
        known = tuple(Texts.__dataclass_fields__)
        for path, name, text in self._texts():
            if name not in known:
                hint = did_you_mean(name, known)
                yield Fault(f"the runtime has no text '{name}'.", "texts", *path, remedy=hint)
            elif isinstance(text, str) and (fault := placeholder_fault(name, text)):
                message, remedy = fault
                yield Fault(f"the text '{name}' {message}", "texts", *path, remedy=remedy)

    def _texts(self) -> Iterator[tuple[Path, str, Any]]:
        for key, value in self.texts.items():
            if key in LANGUAGES and isinstance(value, Mapping):
                yield from (((key, name), name, text) for name, text in value.items())
            else:
                yield (key,), key, value

    def manner(self) -> dict[str, Any]:
        """Return the personality, the locale and the texts, by the names of the spec."""
        texts: dict[str, dict[str, str]] = {}
        for path, name, text in self._texts():
            texts.setdefault(str(path[0]) if path[1:] else "", {})[name] = text
        personality = self.personality or Personality()
        return {"personality": personality, "locale": self.locale, "texts": texts}

    def flow(self, guidelines: tuple[GuidelineSpec, ...]) -> dict[str, Any]:
        """Return its flow control, by the names of the spec."""
        # The default is no part of the version, so that it stays what it was without this option.
        silence = {"silence": self.silence} if self.silence else {}
        return {
            **silence,
            "validation": validation_of(self.validation, guidelines),
            "safe_reply": self.safe_reply,
            "degrade": self.degrade,
            "model": self.model,
            "shared": tuple(dict.fromkeys(self.shared)),
        }


def validation_of(
    declared: Validation | None, guidelines: Sequence[GuidelineSpec]
) -> Validation | None:
    """Return how replies are checked: as declared, else before sending if a rule is critical."""
    if declared is None and any(item.critical and item.enabled for item in guidelines):
        return Validation()
    return declared


class OfJourney(Declared):
    """Declarations of a journey or an agent as a whole.

    Attributes:
        activation: Conditions that start it in a concierge: text (a model judges it), or
            `{condition, patterns, confidence}`, or `{when}`. Default: only a hand-over starts it.
        escalation: An `Escalation`: when a person takes over. Default: never.
        knowledge: Source for questions that no pathway answers: a `Knowledge`, or the name of a
            retriever that is passed with the tools; in a class also the retriever itself.
    """

    activation: Listed[Annotated[BaseTrigger, Triggered(in_words=True)]] = Field(
        default=(), validation_alias="activation_conditions"
    )
    escalation: Escalation | None = None
    knowledge: Annotated[Knowledge, Short("retriever")] | None = None

    def flow(self, guidelines: tuple[GuidelineSpec, ...]) -> dict[str, Any]:
        """Return its flow control, by the names of the spec."""
        return {
            **super().flow(guidelines),
            "guidelines": guidelines,
            "activation": tuple(self.activation),
            "escalation": self.escalation,
            "knowledge": self.knowledge,
        }


class OfWholeJourney(OfJourney):
    """Declarations of a journey as a whole.

    Attributes:
        entry_pathway: Id of the pathway in which a session begins; not a detour. Default: the first
            pathway.
        patterns: Repair pattern -> id of the pathway that replaces it, such as `off_topic:
            smalltalk`. Default: the catalogue's texts.
        migrations: Old id of a pathway -> its new id: sessions that are in the old pathway, or have
            paused it, continue in the new one. Default: they continue in the newest paused pathway
            that still exists, else at the entry; the user is informed.
        stranded: "refuse": a session whose pathway does not exist in this version is not moved; its
            turns raise `NeedsMigrationError` until its own version is used.
    """

    unwritten = frozenset({"abstract"})

    _: KW_ONLY
    entry_pathway: NextId | None = Field(default=None, validation_alias="initial_state")
    patterns: Mapping[Target, Target] = Field(default_factory=dict)
    migrations: Mapping[Target, Target] = Field(default_factory=dict)
    stranded: Annotated[str, OneOf(STRANDED)] = MOVED
    abstract: bool = False

    def flow(self, guidelines: tuple[GuidelineSpec, ...]) -> dict[str, Any]:
        """Return its flow control, by the names of the spec."""
        targets = {"patterns": dict(self.patterns), "migrations": dict(self.migrations)}
        # The default is no part of the version, so that it stays what it was without this option.
        stranded = {"stranded": self.stranded} if self.stranded != MOVED else {}
        return {**super().flow(guidelines), **targets, **stranded}


def is_journey(value: Any) -> bool:
    """Return whether a value is a class of a journey."""
    return isinstance(value, type) and isinstance(getattr(value, "spec", None), JourneySpec)


def _journey(value: Any, _: Any) -> Any:
    if is_journey(value):
        return value
    raise wrong("it must be a subclass of Journey.")


class OfConcierge(Declared):
    """Declarations of a concierge.

    Attributes:
        journeys: Its journeys.
        otherwise: Answer to a message that starts none of its journeys: "ask" which one is meant, a
            "canned" answer, or "freeform": a model answers, without tools and context.
        cancel: Trigger that cancels the active journey.
        hand_over: Rules that lead from one of its journeys to another.
    """

    _: KW_ONLY
    journeys: Listed[Annotated[Any, Checked(_journey, {})]] = ()
    otherwise: Annotated[str, OneOf(OTHERWISE)] = "ask"
    cancel: Annotated[BaseTrigger, Triggered()] | None = None
    hand_over: Listed[HandOver] = ()


def attribute(name: str) -> str:
    """Return the attribute of a class body that a field is read from."""
    return f"__{_NAMES.get(name, name)}__"


def attributes_of(kind: type[Definition], *others: str) -> tuple[str, ...]:
    """Return the attributes that a class body may set, with those that are read elsewhere."""
    return (*map(attribute, kind.known(is_code=True)), *others)


class Attributes(ClassBody):
    """The attributes of a class body, as `__name__`."""

    def __init__(self, given: dict[str, Any], owner: str) -> None:
        super().__init__(given)
        self._owner = as_where(owner)

    def named(self, path: Path) -> str:
        """Return what a fault calls a value."""
        return super().named(_path(path))

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of an attribute."""
        path = _path(fault.path)
        self.faults.append(Fault(fault.message, *path, remedy=fault.remedy, where=self._owner))

    def note_inner(self, held: Mapping[str, Any], fault: Fault, path: Path) -> None:
        """Record a fault of a definition that is the value of an attribute."""
        self.faults.append(fault.at(self._owner.inner(f".{self.named(path)}"), *_path(path)))


def _path(path: Path) -> Path:
    return (attribute(str(path[0])), *path[1:]) if path else path


def read_attributes(
    kind: type[Made], owner: str, cls: type, root: type, faults: list[Fault], **known: Any
) -> Made:
    """Return what the body of a class declares, noting every fault.

    Args:
        kind: Definition whose fields are attributes of the class, as `__name__`.
        root: The class that has the defaults.
        known: Fields that are no attributes.
    """
    names = {name: attribute(name) for name in kind.known(is_code=True)}
    given = {name: getattr(cls, at) for name, at in names.items() if hasattr(root, at)}
    set_ = {n: value for n, value in given.items() if value is not getattr(root, names[n])}
    source = Attributes({**set_, **known}, owner)
    made: Made = kind.read(source.given, source)
    faults += source.faults
    return made


def read_whole(kind: type[Made], cls: type, root: type, faults: list[Fault]) -> Made:
    """Return what a journey or a concierge declares as a whole, noting every fault."""
    return read_attributes(kind, cls.__name__, cls, root, faults, locale=_locale_of(cls))


def _locale_of(cls: type) -> Any:
    """Return the locale of a class: its own, with the parts of its bases that it leaves out.

    None in a body removes all parts of its bases.
    """
    read = NOWHERE
    for body in reversed(cls.__mro__):
        declared = vars(body).get("__locale__", NOWHERE)
        if declared is not None and not isinstance(declared, Locale):
            return declared  # which its reader refuses
        read = declared.over(read) if declared else NOWHERE
    return read
