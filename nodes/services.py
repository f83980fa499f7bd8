"""Services of the steps of a turn, passed by LangGraph's context, never by globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from journeygraph.journeys import Agent, Effect, JourneyConfig, JourneySpec, Texts, Validation
from journeygraph.journeys.languages import texts_of
from journeygraph.journeys.locale import NOWHERE, Locale, in_force, locale_of
from journeygraph.journeys.phrases import Matcher
from journeygraph.nodes.agents.adapters import Callee
from journeygraph.nodes.journal import Journal, Usage
from journeygraph.nodes.replies.scope import validation_of
from journeygraph.nodes.running import Running
from journeygraph.nodes.state.effects import Effects
from journeygraph.nodes.state.session import Turn
from journeygraph.nodes.values.setting import Setting

if TYPE_CHECKING:
    from journeygraph.nodes.llm.models import Models
    from journeygraph.nodes.llm.tools import Toolbox
    from journeygraph.nodes.replies.stream import Filter


def _silent(event: Mapping[str, Any]) -> None:
    """Ignore an event without a listener."""


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that a step works with.

    Attributes:
        agents: Pathway and path of an agent in its pipeline -> how to call it.
        registered: Name -> the agent that the journey registered, with its card.
        matcher: All patterns of the journey as one matcher.
        models: The models that understand messages; None if no model is configured.
        usage: Counts what the models of the running turn are asked; None without a listener.
        listening: True if a listener follows the turn while it runs; else no model has to stream.
        emit: Takes an event of the running turn, for streams.
        toolbox: The tools of the journey itself, which pathways call.
        outlet: Filter for text that is streamed before it is checked; without it, they wait for
            that.
        checks: The checks of every reply; None if replies are not checked.
        texts: The runtime's own texts, in the current language and the journey's words.
        effects: Keeps what was done once; None if a run has no session.
        retrievers: Name -> retriever, where a journey names it.
        locale: The locale that the session brought; other parts are the journey's and the config's.
    """

    spec: JourneySpec
    config: JourneyConfig
    agents: Mapping[tuple[str, str], Callee]
    matcher: Matcher
    registered: Mapping[str, Agent] = field(default_factory=dict)
    models: Models | None = None
    usage: Usage | None = None
    listening: bool = True
    emit: Callable[[Mapping[str, Any]], None] = field(default=_silent)
    toolbox: Toolbox | None = None
    outlet: Outlet | None = None
    checks: Validation | None = None
    texts: Texts = field(default_factory=Texts)
    effects: Effects | None = None
    running: Running = field(default_factory=Running)
    locale: Locale = NOWHERE
    retrievers: Mapping[str, Any] = field(default_factory=dict)

    def tell(self, type_: str, **details: Any) -> None:
        """Pass on an event of the running turn, if there is a listener."""
        if self.listening:
            self.emit({"type": type_, **details})

    @property
    def holds(self) -> bool:
        """Return whether the reply is held back until it is checked or reworded."""
        checks = self.checks
        checked_first = checks and (checks.mode == "before_send" or self.outlet is None)
        return bool(checked_first) or self.rewords

    @property
    def rewords(self) -> bool:
        """Return whether a model may reword texts of the runtime somewhere in this journey."""
        speakers = (self.spec, *self.spec.parts.values())
        return self.models is not None and any(one.personality.reword for one in speakers)

    def say(self, text: str, pathway: str | None = None) -> None:
        """Emit a part of the reply to listeners, unless it is checked or reworded first.

        Args:
            pathway: The pathway of the words, which are masked if its replies are checked. None:
                the runtime's own, of which nothing is masked.
        """
        if self.holds:
            return
        checks, outlet = self.checks, self.outlet
        if checks and outlet and pathway is not None and validation_of(self.spec, pathway):
            text = outlet.let(text, checks)
        elif outlet:
            text = outlet.rest() + text  # what was kept back of the words before it
        if text:
            self.emit({"type": "token", "text": text})

    @property
    def mask(self) -> Callable[[str], str] | None:
        """Return what takes personal data out of a text; None where replies are not checked."""
        checks = self.checks
        return partial(_masked, checks) if checks and checks.pii else None

    def texts_in(self, pathway: str) -> Texts:
        """Return the texts of a pathway: in a concierge, those of the journey there."""
        if not self.spec.parts or pathway not in self.spec.pathways:
            return self.texts
        return texts_of(self.spec.part_of(pathway), self.config, self.locale)

    def locale_in(self, pathway: str) -> Locale:
        """Return the locale that holds in a pathway: in a concierge, first that of its journey."""
        spec = self.spec
        own = (spec.part_of(pathway) if pathway in spec.pathways else spec).locale
        return in_force(own, self.locale, self.config.locale)

    def localized(self, locale: Locale) -> Services:
        """Return them for a session that brought a locale."""
        return replace(self, locale=locale, texts=self._texts(locale))

    def _texts(self, locale: Locale) -> Texts:
        if locale == self.locale:
            return self.texts
        return texts_of(self.spec, self.config, locale)

    def for_turn(self, effects: Effects, *, listening: bool) -> Services:
        """Return them for one turn of a session."""
        return Services(
            self.spec,
            self.config,
            self.agents,
            self.matcher,
            self.registered,
            self.models,
            Usage(),
            listening,
            self.emit,
            self.toolbox,
            Outlet() if listening else None,
            self.checks,
            self.texts,
            effects,
            Running(journal=Journal(), askers={}),
            self.locale,
            self.retrievers,
        )

    def names_used(self, effect: Effect) -> list[str]:
        """Return the names of the context that an effect's tool is called with."""
        if self.toolbox is None or effect.tool not in self.toolbox.tools:
            return list(effect.arguments.values())
        parameters = self.toolbox.tools[effect.tool].parameters
        sources = {name: name for name in parameters.properties[0]} | dict(effect.arguments)
        filled = ((one.source or name) for name, one in parameters.session.items())
        return [*sources.values(), *(name for name in filled if isinstance(name, str))]

    def telling(self, emit: Callable[[Mapping[str, Any]], None], locale: Locale) -> Services:
        """Return a copy for one node of a session, with its own target of events."""
        return Services(
            self.spec,
            self.config,
            self.agents,
            self.matcher,
            self.registered,
            self.models,
            self.usage,
            True,
            emit,
            self.toolbox,
            self.outlet,
            self.checks,
            self.texts if locale is self.locale else self._texts(locale),
            self.effects,
            self.running,
            locale,
            self.retrievers,
        )

    @property
    def fails_fast(self) -> bool:
        """Return whether errors are raised to the caller."""
        return self.config.error_recovery == "fail_fast"


def _masked(checks: Validation, text: str) -> str:
    from journeygraph.nodes.replies.stream import masked  # noqa: PLC0415 - as for `Outlet`

    return masked(text, checks.pii, checks.allow)[0]


def brought_locale(state: Any) -> Locale:
    """Return the locale that the session brought, as the state keeps it."""
    for name in ("turn", "position") if isinstance(state, dict) else ():
        part = state.get(name)
        if part and (kept := part.get("locale")):
            return locale_of(kept)
    return NOWHERE


def setting_of(services: Services, turn: Turn) -> Setting:
    """Return when and where the user speaks."""
    at = datetime.fromisoformat(turn["at"])
    return setting_at(at, services.locale_in(turn["run"] or turn["begun_in"]))


def setting_at(at: datetime, locale: Locale) -> Setting:
    """Return the setting of a moment, in a locale with all its parts."""
    return Setting(
        at.astimezone(_zone(locale.timezone or "UTC")),
        locale.region or "US",
        locale.language or "en",
        locale.first_day or "",
        locale.date_order or "",
        locale.decimal_sign or "",
        locale.clock or "",
    )


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    # A machine without a database of zones knows that one all the same.
    return UTC if name == "UTC" else ZoneInfo(name)


class Outlet:
    """The way out for the words of one turn: personal data is masked on it."""

    def __init__(self) -> None:
        self._filter: Filter | None = None

    def let(self, text: str, checks: Validation) -> str:
        """Add a piece of the reply; return the text that may be sent."""
        if self._filter is None:
            # Loaded when the graph was built; journeys that check nothing never need it.
            from journeygraph.nodes.replies.stream import Filter  # noqa: PLC0415

            self._filter = Filter(checks.pii, checks.allow)
        return self._filter.feed(text)

    def rest(self) -> str:
        """Return what was kept back; nothing more comes."""
        return self._filter.flush() if self._filter else ""
