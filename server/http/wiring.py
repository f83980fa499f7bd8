"""Composition root: settings, journeys with their agents, store, keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from graphs.agents.registry import check_all, services_of
from graphs.records.definitions import Epoch
from graphs.session.directory import Directory
from graphs.session.manager import PathwayManager
from graphs.session.session import is_over, overdue, prepare
from graphs.session.webhook import EscalationSender, port_of
from graphs.storage.store import open_store
from journeys import (
    AgentNotRegisteredError,
    ConfigurationError,
    JourneyConfig,
    JourneyDefinitionError,
    JourneySpec,
)
from journeys.faults import Fault
from nodes.llm.models import Models, check_model, is_configured, open_models
from nodes.services import Services
from server.cache import Cache, Contexts, VersionedCache, open_cache
from server.definitions.stored_journeys import Catalogue, Given, given_by
from server.discover.journeys import Found, Served, example_ids, find
from server.http.auth import Keys
from server.http.problems import no_session
from server.http.readiness import Readiness, not_served
from server.http.turns import Turns
from server.settings import Settings

__all__ = ["Served", "Wiring", "wire"]
_T = TypeVar("_T")


class _Kept(NamedTuple):
    """Services that all sessions of a journey share, and their sources."""

    served: Served
    services: Services


@dataclass(slots=True)
class Wiring:
    """All that the routes use.

    Attributes:
        model: The argument `model` of `Journey`.
        given: Agents and tools of journeys that are stored as definitions; None: definitions are
            not served.
        catalogue: These definitions, while the app runs.
        readiness: The check of what keeps the server from serving, while the app runs.
        cache: A cache that servers share; None: contexts are read from the store.
    """

    config: JourneyConfig
    journeys: dict[str, Served]
    keys: Keys
    shows_docs: bool
    turns: Turns
    shows_page: bool = False
    model: Any = None
    cache: Cache | None = None
    given: Given | None = None
    catalogue: Catalogue | None = None
    readiness: Readiness = field(init=False)
    _directory: Directory | None = None
    _awaited: Sequence[str] = ()
    _escalation_sender: EscalationSender | None = None
    _contexts: Contexts | None = None
    _stored: Mapping[str, Served] = field(default_factory=dict)
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _models: dict[int, Models] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the check of the readiness."""
        self.readiness = Readiness(self._faults)

    @property
    def directory(self) -> Directory:
        """The sessions of the store, while the app runs."""
        if self._directory is None:
            raise RuntimeError(
                "The store is not open: the lifespan of the app opens it and has not started."
            )
        return self._directory

    @property
    def contexts(self) -> Contexts:
        """The contexts of sessions in the cache, or None."""
        if self._contexts is None:
            if self.cache is None:
                raise RuntimeError("This server has no cache.")
            versioned = VersionedCache(self.cache, "context", secret=self.config.secret)
            self._contexts = Contexts(versioned, self.config.session_ttl_seconds)
        return self._contexts

    def by_model(self) -> list[tuple[Any, list[JourneySpec]]]:
        """Return the models of the journeys, each with its journeys."""
        grouped: dict[int, tuple[Any, list[JourneySpec]]] = {}
        for served in self.journeys.values():
            model = self._model_of(served)
            grouped.setdefault(id(model), (model, []))[1].append(served.journey.spec)
        return list(grouped.values())

    def manager(self, journey_id: str, session_id: str) -> PathwayManager:
        """Return a handle on a session; cheap, because all share store and graph."""
        served = self.journeys[journey_id]
        manager = PathwayManager(
            served.journey,
            session_id,
            self.config,
            agents=served.agents,
            model=self._model_of(served),
            tools=served.tools,
            services=partial(self._services_of, journey_id, served),
        )
        if self.cache is not None:
            manager.on_commit = self.contexts.keep
        manager.on_change = self.turns.watched.look
        if self._escalation_sender:
            manager.on_escalation = self._escalation_sender.wake
        return manager

    @asynccontextmanager
    async def session(self, journey_id: str, session_id: str) -> AsyncIterator[PathwayManager]:
        """Yield a handle on a session, and close it at the end."""
        manager = self.manager(journey_id, session_id)
        try:
            yield manager
        finally:
            await self.turns.let_go(manager)

    async def in_turn(self, session_id: str, act: Callable[[PathwayManager], Awaitable[_T]]) -> _T:
        """Wait for a session's turn, and do something in it with the session.

        Raises:
            Problem: There is no such session, or its journey is not served here.
            SessionExpiredError: The session has expired.
            StateError: The store failed.
        """
        if self.catalogue:
            await self.follow()
        async with self.directory.store.turn(session_id) as head:
            if head is None or head["journey_id"] not in self.journeys:
                raise no_session()
            session = self.manager(head["journey_id"], session_id)
            try:
                if is_over(head):
                    await session.restore()  # which refuses it
                if not session.spec.sensitive:
                    session.hold(head)
                    return await act(session)
            finally:
                await self.turns.let_go(session)
        # What is sealed is read by another store, where it takes its turn itself.
        async with self.session(session.spec.id, session_id) as session:
            return await act(session)

    def _model_of(self, served: Served) -> Any:
        return self.model if served.model is None else served.model

    def _services_of(self, journey_id: str, served: Served) -> Services:
        """Return the services for turns of a journey, created once for each `Served`."""
        kept = self._kept.get(journey_id)
        if kept and kept.served is served:
            return kept.services
        spec, models = served.journey.spec, self._models_of(served)
        services = services_of(
            spec, self.config, served.agents, models, overdue, tools=served.tools
        )
        if self.journeys.get(journey_id) is served:  # not replaced while a turn waited
            self._kept[journey_id] = _Kept(served, services)
        return services

    def _models_of(self, served: Served) -> Models | None:
        model, spec = self._model_of(served), served.journey.spec
        if not is_configured(model, self.config, spec):
            return None
        return self._models.get(id(model)) or self._open_model(model, spec)

    def _open_model(self, model: Any, spec: JourneySpec | None = None) -> Models | None:
        """Open a model once, for the life of the app."""
        opened = open_models(model, self.config, spec)
        if opened:
            self._models[id(model)] = opened
        return opened

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Keep store and models open; at the end wait for the turns first.

        Raises:
            ConfigurationError: Stored sessions need an encryption key that is not set.
            StateError: The store cannot be opened.
        """
        async with AsyncExitStack() as open_:
            if self.journeys or self.given:
                self._directory = await Directory.open(self.config)
                open_.push_async_callback(self._directory.close)
                self._send_on(open_, self._directory)
                await self._check_keys(self._directory)
            await self._compile(open_)
            if self.given:
                await self._open_catalogue(self.given)
                open_.push_async_callback(self._close_catalogue)
            self._open_models()
            open_.push_async_callback(self._close_models)
            if self.cache is not None:
                open_.push_async_callback(self.cache.close)
                open_.push_async_callback(self.contexts.written)
            open_.push_async_callback(self.turns.finish)
            await self.readiness.faults()  # which logs them
            yield

    async def _faults(self) -> list[Fault]:
        """Return what keeps this server from serving.

        Raises:
            StateError: The store does not respond.
        """
        if self._directory is None:  # without a store
            return []
        await self.follow()  # a server that gets no requests sees no change otherwise
        served = [one.journey.spec for one in self.journeys.values()]
        faults = await self._directory.faults([spec.id for spec in served if spec.sensitive])
        refused = self.catalogue.faults if self.catalogue else {}
        missing = [id_ for id_ in self._awaited if id_ in refused and id_ not in self.journeys]
        return [*faults, *map(not_served, missing)]

    async def _check_keys(self, directory: Directory) -> None:
        """Refuse to serve sensitive journeys whose stored sessions need other keys."""
        sensitive = {id_ for id_, one in self.journeys.items() if one.journey.spec.sensitive}
        if faults := sensitive and await directory.key_faults(sensitive):
            raise ConfigurationError(
                " ".join([*faults, "If a key is lost: journeygraph encryption drop --key ID"])
            )

    async def _compile(self, open_: AsyncExitStack) -> None:
        """Compile the journeys for their stores, so that no message waits for it."""
        config, stores = self.config, {}
        for spec in [served.journey.spec for served in self.journeys.values()]:
            keys = config.encryption_keys if spec.sensitive else None
            if keys not in stores:
                stores[keys] = await open_store(config.persistence, keys, config.database_pool_size)
                open_.push_async_callback(stores[keys].close)
            await prepare(spec, config)

    def _open_models(self) -> None:
        """Open the models of all journeys for the life of the app, to reuse connections."""
        given = [model for model, _ in self.by_model()]
        if self.given:
            given.append(self.given.model)
        for model in given or [self.model]:
            if id(model) not in self._models:
                self._open_model(model)

    async def _close_models(self) -> None:
        self._kept.clear()
        while self._models:
            await self._models.popitem()[1].close()

    def _send_on(self, open_: AsyncExitStack, directory: Directory) -> None:
        """Send escalations to the webhook while the app runs, the oldest first."""
        if port := port_of(self.config):
            self._escalation_sender = directory.escalation_sender(port)
            self._escalation_sender.wake()
            open_.push_async_callback(self._escalation_sender.end)

    async def follow(self, epoch: Epoch | None = None) -> None:
        """Load definitions up to an epoch; without one, up to now.

        Raises:
            StateError: The store could not be read.
        """
        if self.catalogue is None:
            return
        await (self.catalogue.look() if epoch is None else self.catalogue.follow(epoch))
        self._take_up(self.catalogue)

    async def _open_catalogue(self, given: Given) -> None:
        self.catalogue = await Catalogue.open(self.config, given, self.cache, self.journeys)
        self._take_up(self.catalogue)
        self._awaited = [id_ for id_ in self.catalogue.faults if id_ not in self.journeys]

    async def _close_catalogue(self) -> None:
        if self.catalogue:
            await self.catalogue.close()

    def _take_up(self, catalogue: Catalogue) -> None:
        if catalogue.served is not self._stored:
            gone = self._stored.keys() - catalogue.served.keys()
            kept = {id_: one for id_, one in self.journeys.items() if id_ not in gone}
            self.journeys, self._stored = {**kept, **catalogue.served}, catalogue.served
            self._kept = {
                id_: one
                for id_, one in self._kept.items()
                if self.journeys.get(id_) is one.served  # turns that run keep theirs
            }


def wire(
    settings: Settings,
    names: Iterable[str] = (),
    store: str | None = None,
    *,
    examples: bool = True,
    given: Iterable[str] | None = None,
) -> Wiring:
    """Create the wiring from settings and names.

    Args:
        settings: From the environment, or made manually.
        names: Names of journeys, as on the command line.
        store: URL that replaces the store of the settings.
        examples: True to serve all examples if there is no name.
        given: Modules with agents and tools of stored definitions; if given, these are served.

    Raises:
        ConfigurationError: A setting is not valid, or a sensitive journey has no key.
        CommandError: A journey is missing, or its agents or tools are.
        JourneyDefinitionError: A journey is abstract.
    """
    keys = Keys(settings.keys())
    config = settings.config(store)
    wanted = list(names) or (example_ids() if examples else [])
    return Wiring(
        config=config,
        journeys=_served(settings, config, wanted),
        given=None if given is None else given_by(given, config),
        keys=keys,
        shows_docs=not keys if settings.docs is None else settings.docs,
        turns=Turns(),
        shows_page=not keys if settings.page is None else settings.page,
        cache=open_cache(settings.redis()),
    )


def _served(settings: Settings, config: JourneyConfig, names: Iterable[str]) -> dict[str, Served]:
    served: dict[str, Served] = {}
    for found in map(find, names):
        spec = found.journey.spec
        if not spec.entry:
            raise JourneyDefinitionError([spec.why_abstract])
        settings.require_key(spec)
        if spec.id in served:
            raise ConfigurationError(f"Two journeys have the id '{spec.id}'. Rename one of them.")
        agents = _agents_of(found, config)
        tools = found.checked_tools()
        served[spec.id] = Served(found.journey, agents, tools, found.model, found)
    return served


def _agents_of(found: Found, config: JourneyConfig) -> Mapping[str, Any]:
    agents = found.agents_for(config)
    check_model(found.model, config, found.journey.spec)
    try:
        check_all(found.journey.spec, agents, has_model=found.has_model(config))
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    return agents
