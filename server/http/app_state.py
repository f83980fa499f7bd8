"""Composition root: settings, journeys with their agents, store, keys."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from journeygraph.graphs.agents.registry import check_all, services_of
from journeygraph.graphs.agents.tools import check_allowed, shared_tools
from journeygraph.graphs.records.definitions import Epoch
from journeygraph.graphs.records.unsent_audit import UnsentAudit
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.session import is_over, overdue, prepare
from journeygraph.graphs.session.turn import TurnRequest
from journeygraph.graphs.session.webhook import EscalationSender, port_of
from journeygraph.graphs.storage.statements import DIED, thread_of
from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys import (
    AgentNotRegisteredError,
    ConfigurationError,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyResponse,
    JourneySpec,
    NeedsMigrationError,
)
from journeygraph.journeys.config import TENANT
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.reading.rule_reader import own_version
from journeygraph.nodes.llm.models import Models, check_model, is_configured, open_models
from journeygraph.nodes.services import Services
from journeygraph.nodes.telemetry import pseudonym
from journeygraph.server.access.callers import ANYONE, Caller
from journeygraph.server.access.keys import StoredKeys
from journeygraph.server.audit_log import sender_of
from journeygraph.server.cache import Cache, Contexts, open_cache
from journeygraph.server.definitions.stored_journeys import ActiveDefinitions, Providers, given_by
from journeygraph.server.discover.journeys import FoundJourney, Name, Served, example_ids, find
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.problems import no_session
from journeygraph.server.http.readiness import Readiness, not_served
from journeygraph.server.http.turns import RunningTurns
from journeygraph.server.settings import Settings, Way
from journeygraph.server.telemetry import Metrics

if TYPE_CHECKING:
    from journeygraph.server.access.limits import RateLimits
    from journeygraph.server.access.signed_tokens import SignedTokens
    from journeygraph.server.logs import ErrorLog

__all__ = ["AppState", "Served", "wire"]
_T = TypeVar("_T")


class _Kept(NamedTuple):
    """Services that all sessions of a journey share, and their sources."""

    served: Served
    services: Services


class _Part(NamedTuple):
    """The parts of the state that belong to one tenant."""

    config: JourneyConfig
    turns: RunningTurns
    contexts: Contexts | None


@dataclass(slots=True)
class AppState:
    """All that the routes use.

    Attributes:
        journeys: The version of each journey in which new sessions begin, by the journey's id.
        versions: Other versions of these, by id and version, for the sessions that belong to them.
        limits: Limits of what clients ask; None: none are set.
        cors_origins: Origins of pages of other servers that may call this one.
        model: The argument `model` of `Journey`.
        given: Agents and tools of journeys that are stored as definitions; None: definitions are
            not served.
        catalogue: These definitions, while the app runs.
        readiness: The check of what keeps the server from serving, while the app runs.
        cache: A cache that servers share; None: contexts are read from the store.
        metrics: The metrics of the process for Prometheus; None: they are not served.
        audit_log: The way of the audit out of the store: "lines", "otel" or "off".
        errors: The errors of the journeys for their developer; None: in production.
    """

    config: JourneyConfig
    journeys: dict[str, Served]
    keys: Keys
    shows_docs: bool
    turns: RunningTurns
    limits: RateLimits | None = None
    cors_origins: Sequence[str] = ()
    shows_page: bool = False
    versions: Mapping[tuple[str, str], Served] = field(default_factory=dict)
    model: Any = None
    cache: Cache | None = None
    metrics: Metrics | None = None
    audit_log: Way = "off"
    errors: ErrorLog | None = None
    given: Providers | None = None
    catalogue: ActiveDefinitions | None = None
    readiness: Readiness = field(init=False)
    _directory: Directory | None = None
    _awaited: Sequence[str] = ()
    _escalation_sender: EscalationSender | None = None
    _contexts: Contexts | None = None
    _stored: Mapping[str, Served] = field(default_factory=dict)
    _kept: dict[int, _Kept] = field(default_factory=dict)
    _models: dict[int, Models] = field(default_factory=dict)
    _whole: AppState | None = None
    _parts: dict[str, _Part] = field(default_factory=dict)

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
            self._contexts = self._contexts_of(self.config)
        assert self._contexts is not None
        return self._contexts

    @property
    def _unsealed(self) -> list[str]:
        return [id_ for id_, one in self.journeys.items() if not one.journey.spec.sensitive]

    def of(self, tenant: str) -> AppState:
        """Return the state for the clients of a tenant: only the sessions are others."""
        if tenant == self.config.tenant:
            return self
        if tenant not in self._parts:
            config = replace(self.config, tenant=tenant)
            self._parts[tenant] = _Part(config, self.turns.of(tenant), self._contexts_of(config))
        app_state, part = copy(self), self._parts[tenant]
        app_state.config, app_state.turns, app_state._contexts = part
        app_state._directory, app_state._whole = self.directory.of(tenant), self
        return app_state

    def raised_in(self, session_id: str, turn: int) -> list[str]:
        """Return the tracebacks of a turn; they are kept during development."""
        if self.errors is None:
            return []
        who = pseudonym(thread_of(self.config.tenant, session_id), self.config.secret)
        return [one.traceback for one in self.errors.of(who, turn)]

    def forget(self, session_id: str) -> None:
        """Drop the copies of a deleted session in this process and in the cache; end its streams.

        The cache is written in the background.
        """
        self.turns.forget(session_id)
        if self.cache is not None:
            self.contexts.forget(session_id)

    async def erase(self, session_id: str) -> None:
        """Drop the copy of a session in the cache before its user is deleted."""
        if self.cache is not None:
            await self.contexts.erase(session_id)

    def _contexts_of(self, config: JourneyConfig) -> Contexts | None:
        return None if self.cache is None else Contexts.of(self.cache, config)

    def by_model(self) -> list[tuple[Any, list[JourneySpec]]]:
        """Return the models of the journeys, each with its journeys."""
        grouped: dict[int, tuple[Any, list[JourneySpec]]] = {}
        for served in self._served():
            model = self._model_of(served)
            grouped.setdefault(id(model), (model, []))[1].append(served.journey.spec)
        return list(grouped.values())

    async def serving(self, session_id: str, journey_id: str, version: str) -> Served:
        """Return the version of a journey that a session belongs to.

        If that version is not served here, it is the one in which new sessions begin.

        Raises:
            NeedsMigrationError: The journey is not served here.
            StateError: The definition of the version could not be read.
        """
        if journey_id not in self.journeys:
            raise NeedsMigrationError(
                f"Session '{session_id}' belongs to the journey '{journey_id}', which is not "
                "served here. Serve it again, or start another session."
            )
        return await self.version_of(journey_id, version) or self.journeys[journey_id]

    async def version_of(self, journey_id: str, version: str) -> Served | None:
        """Return a version of a served journey; None if this version is not served here."""
        current = self.journeys[journey_id]
        if version == current.journey.spec.version:
            return current
        own = own_version(version)
        if own == own_version(current.journey.spec.version):
            return current
        if self.catalogue and journey_id in self._stored:
            return await self.catalogue.older(journey_id, own)
        return self.versions.get((journey_id, own))

    def versions_of(self, journey_id: str) -> list[str]:
        """Return the served versions of a journey, first the one in which new sessions begin."""
        current = self.journeys[journey_id].journey.spec.version
        older = [version for id_, version in self.versions if id_ == journey_id]
        stored = self.catalogue.versions_of(journey_id) if self.catalogue else []
        return list(dict.fromkeys([current, *older, *stored]))

    def name_of(self, journey_id: str) -> str:
        """Return the id of a journey, with the number of its served versions if it has several."""
        versions = len(self.versions_of(journey_id))
        return f"{journey_id} ({versions} versions)" if versions > 1 else journey_id

    def manager(self, served: Served, session_id: str) -> PathwayManager:
        """Return a handle on a session; cheap, because all share store and graph."""
        manager = PathwayManager(
            served.journey,
            session_id,
            self.config,
            agents=served.agents,
            model=self._model_of(served),
            tools=served.tools,
            services=partial(self._services_of, served),
        )
        if self.cache is not None:
            manager.on_commit = self.contexts.keep
        manager.on_change = self.turns.watched.look
        if self._escalation_sender:
            manager.on_escalation = self._escalation_sender.wake
        return manager

    @asynccontextmanager
    async def session(self, served: Served, session_id: str) -> AsyncIterator[PathwayManager]:
        """Yield a handle on a session, and close it at the end."""
        manager = self.manager(served, session_id)
        try:
            yield manager
        finally:
            await self.turns.let_go(manager)

    async def in_turn(
        self,
        caller: Caller,
        session_id: str,
        act: Callable[[PathwayManager], Awaitable[_T]],
        given: TurnRequest | None = None,
    ) -> _T:
        """Wait for a session's turn, and do something in it with the session.

        A turn whose process died is taken first.

        Raises:
            SessionBusyError: The session is busy, and the request must not or may not wait.
            Problem: There is no such session, or it is not for the caller.
            NeedsMigrationError: Its journey is not served here.
            SessionExpiredError: The session has expired.
        """
        if self.catalogue:
            await self.follow()
        served = await self._serving_itself(caller, session_id, given)
        arrival = given.arrival(self._unsealed) if given else None
        while served is None:
            async with self.directory.store.turn(session_id, arrival) as head:
                if head is None or (
                    caller.user and not caller.reaches(session_id, head["user_id"])
                ):
                    raise no_session()
                found = await self.serving(session_id, head["journey_id"], head["journey_version"])
                session = self.manager(found, session_id)
                try:
                    if is_over(head):
                        await session.restore()  # which refuses it
                    if session.spec.sensitive:  # read by another store, where it takes its turn
                        served = found
                        continue
                    session.hold(head)
                    if head.get(DIED) is None:
                        return await act(self._counted(session, caller))
                    await session.go_on()
                finally:
                    await self.turns.let_go(session)
        async with self.session(served, session_id) as session:
            return await act(self._counted(session, caller))

    def _counted(self, session: PathwayManager, caller: Caller) -> PathwayManager:
        limits = self.limits
        if limits is None or not limits.has_tokens:
            return session

        def spend(response: JourneyResponse) -> None:
            usage = response.metadata["usage"]
            tokens = usage["input_tokens"] + usage["output_tokens"]
            if tokens:
                self.turns.begin(limits.spend(caller, tokens))

        session.on_answer = spend
        return session

    async def _serving_itself(
        self, caller: Caller, session_id: str, given: TurnRequest | None
    ) -> Served | None:
        """Return the version of a session if its manager takes the turn; None: it is taken here.

        There a request that is sent again is answered before it is refused or interrupts a turn.
        A request that may not know of the session must not disturb
        its turns, so that is checked before.
        """
        is_busy = self.directory.store.lock(session_id).is_busy
        is_hasty = given is not None and given.when_busy != "enqueue"
        by_itself = given is not None and is_hasty and bool(given.requests)
        if not by_itself and not (caller.user and (is_busy or is_hasty)):
            return None
        found = await self.directory.found(session_id)
        if found is None or not caller.reaches(session_id, found.user):
            raise no_session()
        listed = found.listed
        if not by_itself:
            return None
        return await self.serving(session_id, listed.journey_id, listed.journey_version)

    def _served(self) -> Iterator[Served]:
        yield from self.journeys.values()
        yield from self.versions.values()
        if self.catalogue:
            yield from self.catalogue.loaded.values()

    def _ids(self) -> list[str]:
        return list(self.journeys)

    def _timed(self) -> set[str]:
        specs = (served.journey.spec for served in self._served())
        return {spec.id for spec in specs if spec.has_timers}

    async def _take_timer(self, tenant: str, session_id: str) -> None:
        """Take the timer of a session; its tokens count for no user, since no user asked."""
        mine = self.of(tenant)
        await self.turns.take(mine.in_turn(ANYONE, session_id, methodcaller("take_timer")))

    def _finish(self, tenant: str, session_id: str) -> None:
        """Begin to take the turn of a process that died."""
        mine = self.of(tenant)
        self.turns.begin(mine.in_turn(ANYONE, session_id, methodcaller("finish")))

    def _model_of(self, served: Served) -> Any:
        return self.model if served.model is None else served.model

    def _services_of(self, served: Served) -> Services:
        if kept := self._kept.get(id(served)):
            return kept.services
        spec, models = served.journey.spec, self._models_of(served)
        services = services_of(
            spec, self.config, served.agents, models, overdue, tools=served.tools
        )
        if any(one is served for one in self._served()):  # not replaced while a turn waited
            self._kept[id(served)] = _Kept(served, services)
        return services

    def _models_of(self, served: Served) -> Models | None:
        model, spec = self._model_of(served), served.journey.spec
        if not is_configured(model, self.config, spec):
            return None
        return self._models.get(id(model)) or self._open_model(model, spec)

    def _open_model(self, model: Any, spec: JourneySpec | None = None) -> Models | None:
        opened = open_models(model, self.config, spec)
        if opened:
            self._models[id(model)] = opened
        return opened

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Keep store and models open; at the end wait for the turns first.

        Raises:
            ConfigurationError: Stored sessions need an encryption key that is not set, or the
                process has a meter provider that cannot be read.
        """
        async with AsyncExitStack() as open_:
            if self.metrics:
                open_.enter_context(self.metrics.collected())
            if self.journeys or self.given:
                self._directory = await Directory.open(self.config)
                open_.push_async_callback(self._directory.close)
                self.keys.stored = StoredKeys(self._directory.store)
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
                open_.push_async_callback(self._written)
            if self.limits is not None:
                open_.push_async_callback(self.limits.close)
            audits = self._audits()
            for audit in audits:  # ended after the turns
                open_.push_async_callback(audit.end)
            open_.push_async_callback(self.turns.finish)
            if self._directory:
                asked = (self._ids, self._timed, self._take_timer, self._finish)
                jobs = self._directory.jobs(*asked, *audits)
                jobs.begin()
                open_.push_async_callback(jobs.end)
            await self.readiness.faults()  # which logs them
            yield

    def _audits(self) -> list[UnsentAudit]:
        """Return the job that sends the audit, if it is to be sent.

        Raises:
            ConfigurationError: Nothing in this process would take it.
        """
        if self._directory is None or self.audit_log == "off":
            return []
        return [UnsentAudit(self._directory.store, sender_of(self.audit_log))]

    async def _written(self) -> None:
        await self.contexts.written()
        for part in self._parts.values():
            if part.contexts:
                await part.contexts.written()

    async def _faults(self) -> list[Fault]:
        if self._directory is None:  # without a store
            return []
        await self.follow()  # a server that gets no requests sees no change otherwise
        served = [one.journey.spec for one in self.journeys.values()]
        faults = await self._directory.faults([spec.id for spec in served if spec.sensitive])
        refused = self.catalogue.faults if self.catalogue else {}
        missing = [id_ for id_ in self._awaited if id_ in refused and id_ not in self.journeys]
        return [*faults, *map(not_served, missing)]

    async def _check_keys(self, directory: Directory) -> None:
        sensitive = {id_ for id_, one in self.journeys.items() if one.journey.spec.sensitive}
        if faults := sensitive and await directory.key_faults(sensitive):
            raise ConfigurationError(
                " ".join([*faults, "If a key is lost: journeygraph encryption drop --key ID"])
            )

    async def _compile(self, open_: AsyncExitStack) -> None:
        """Compile the journeys for their stores, so that no message waits for it."""
        config, stores = self.config, {}
        for spec in [served.journey.spec for served in self._served()]:
            keys = config.encryption_keys if spec.sensitive else None
            if keys not in stores:
                stores[keys] = await open_store(config.persistence, keys, config.database_pool_size)
                open_.push_async_callback(stores[keys].close)
            await prepare(spec, config)

    def _open_models(self) -> None:
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
        if port := port_of(self.config):
            self._escalation_sender = directory.escalation_sender(port)
            self._escalation_sender.wake()
            open_.push_async_callback(self._escalation_sender.end)

    async def follow(self, epoch: Epoch | None = None) -> None:
        """Load definitions up to an epoch; without one, up to now."""
        if self.catalogue is None:
            return
        if self._whole:
            await self._whole.follow(epoch)
            self.journeys, self._stored = self._whole.journeys, self._whole._stored
            self._kept = self._whole._kept
            return
        await (self.catalogue.look() if epoch is None else self.catalogue.follow(epoch))
        self._take_up(self.catalogue)

    async def _open_catalogue(self, given: Providers) -> None:
        self.catalogue = await ActiveDefinitions.open(self.config, given, self.cache, self.journeys)
        self._take_up(self.catalogue)
        self._awaited = [id_ for id_ in self.catalogue.faults if id_ not in self.journeys]

    async def _close_catalogue(self) -> None:
        if self.catalogue:
            await self.catalogue.close()

    def _take_up(self, catalogue: ActiveDefinitions) -> None:
        if catalogue.served is not self._stored:
            gone = self._stored.keys() - catalogue.served.keys()
            kept = {id_: one for id_, one in self.journeys.items() if id_ not in gone}
            self.journeys, self._stored = {**kept, **catalogue.served}, catalogue.served
            there = {id(one) for one in self._served()}  # turns that run keep theirs
            self._kept = {key: one for key, one in self._kept.items() if key in there}


def wire(
    settings: Settings,
    names: Iterable[Name] = (),
    store: str | None = None,
    *,
    versions: Iterable[Name] = (),
    examples: bool = True,
    given: Iterable[str] | None = None,
    prepared: Prepared | None = None,
) -> AppState:
    """Create the state of the app from settings and names.

    Args:
        names: Names of journeys, as on the command line, or their classes.
        store: URL that replaces the store of the settings.
        versions: Other versions of these, for the sessions that belong to them.
        examples: True to serve all examples if there is no name.
        given: Modules with agents and tools of stored definitions; if given, these are served.
        prepared: Gives the found journeys with other agents and tools.

    Raises:
        ConfigurationError: A setting is not valid, a sensitive journey has no key, or one of
            `versions` is no other version of a journey that is served.
        CommandError: A journey is missing, or its agents or tools are.
        JourneyDefinitionError: A journey is abstract.
    """
    limits = _limits_of(settings)
    config = settings.config(store)
    keys = keys_of(settings, limits, config.tenant)
    wanted = list(names) or (example_ids() if examples else [])
    found = [find(name) for name in (*wanted, *versions)]
    served = [_served(settings, config, one) for one in (prepared(found) if prepared else found)]
    journeys = _journeys(served[: len(wanted)])
    return AppState(
        config=config,
        journeys=journeys,
        versions=_versions(served[len(wanted) :], journeys),
        given=None if given is None else given_by(given, config),
        keys=keys,
        limits=limits,
        cors_origins=_origins_of(settings, keys),
        shows_docs=not keys if settings.docs is None else settings.docs,
        turns=RunningTurns(settings.max_turns, tenant=config.tenant),
        shows_page=not keys if settings.page is None else settings.page,
        cache=open_cache(settings.redis()),
        metrics=Metrics() if settings.metrics else None,
        audit_log=settings.audit_log,
    )


def keys_of(settings: Settings, limits: RateLimits | None = None, tenant: str = TENANT) -> Keys:
    """Return the keys that clients may send.

    Args:
        tenant: The tenant of clients whose key names none.

    Raises:
        ConfigurationError: A key of the settings is not valid, or the settings of signed tokens are
            not.
    """
    signed = _signed_of(settings, tenant)
    return Keys(
        settings.keys(),
        uses_stored=settings.stored_keys,
        signed=signed,
        limits=limits,
        tenant=tenant,
    )


def _signed_of(settings: Settings, tenant: str) -> SignedTokens | None:
    if settings.jwt_keys is None:
        return None
    from journeygraph.server.access.signed_tokens import Provider, SignedTokens  # noqa: PLC0415 - an extra

    provider = Provider(
        settings.jwt_keys,
        settings.algorithms(),
        settings.jwt_issuer,
        settings.jwt_audience,
        settings.jwt_user_claim,
        settings.jwt_tenant_claim,
        settings.jwt_scope_claim,
        tenant,
    )
    return SignedTokens(provider)


def _limits_of(settings: Settings) -> RateLimits | None:
    is_keyed = settings.keys() or settings.stored_keys or settings.jwt_keys
    wrong_keys = settings.limit_wrong_keys if is_keyed else None
    given = {
        "requests": settings.limit_requests,
        "turns": settings.limit_turns,
        "sessions": settings.limit_sessions,
        "tokens": settings.limit_tokens,
        "wrong_keys": wrong_keys,
    }
    if not any(given.values()):
        return None
    from journeygraph.server.access.limits import RateLimits, read_limits  # noqa: PLC0415 - takes 0.1 s to import

    limits = [limit for counted, text in given.items() for limit in read_limits(counted, text)]
    return RateLimits(limits, settings.redis()) if limits else None


def _origins_of(settings: Settings, keys: Keys) -> list[str]:
    origins = settings.origins_allowed()
    if "*" in origins and not keys:
        raise ConfigurationError(
            "cors_origins: '*' needs API keys: else every page in a browser of this machine could "
            "use the server. Name the origins, or set keys."
        )
    return origins


def _journeys(found: Iterable[Served]) -> dict[str, Served]:
    journeys: dict[str, Served] = {}
    for served in found:
        id_ = served.journey.spec.id
        if id_ in journeys:
            raise ConfigurationError(
                f"Two journeys have the id '{id_}'. Rename one of them; if one is another version "
                "of the other, serve it with --versions."
            )
        journeys[id_] = served
    return journeys


def _versions(
    found: Iterable[Served], journeys: Mapping[str, Served]
) -> dict[tuple[str, str], Served]:
    versions: dict[tuple[str, str], Served] = {}
    for served in found:
        spec = served.journey.spec
        current = journeys.get(spec.id)
        if current is None:
            raise ConfigurationError(
                f"{spec.name} is to be served as another version of the journey '{spec.id}', but "
                f"there is none. Journeys: {', '.join(journeys)}."
            )
        _check_other(spec, current.journey.spec)
        if (spec.id, spec.version) in versions:
            raise ConfigurationError(_SAME_VERSION.format(spec))
        versions[spec.id, spec.version] = served
    return versions


_SAME_VERSION = (
    "Two versions of the journey '{0.id}' are both '{0.version}'. Omit one of them, or give each "
    "its own `__version__`."
)


def _check_other(spec: JourneySpec, current: JourneySpec) -> None:
    if spec.version == current.version:
        raise ConfigurationError(_SAME_VERSION.format(spec))
    if spec.sensitive is not current.sensitive:
        raise ConfigurationError(
            f"Two versions of the journey '{spec.id}' differ in `__sensitive__`, so that one of "
            "them cannot read the sessions of the other. Rename one of them."
        )


Prepared = Callable[[Sequence[FoundJourney]], Sequence[FoundJourney]]


def _served(settings: Settings, config: JourneyConfig, found: FoundJourney) -> Served:
    spec = found.journey.spec
    if not spec.entry:
        raise JourneyDefinitionError([spec.why_abstract])
    settings.require_key(spec)
    agents, tools = _agents_of(found, config), found.checked_tools()
    check_allowed(spec, agents, shared_tools(spec, tools))
    return Served(found.journey, agents, tools, found.model, found)


def _agents_of(found: FoundJourney, config: JourneyConfig) -> Mapping[str, Any]:
    agents = found.agents_for(config)
    check_model(found.model, config, found.journey.spec)
    try:
        check_all(found.journey.spec, agents, has_model=found.has_model(config))
    except AgentNotRegisteredError as error:
        raise found.without_agents(error) from None
    return agents
