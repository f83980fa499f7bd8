"""The current journeys of a store, updated when other processes change them.

Their texts come from the cache if it has these versions, else from the database; their agents and
tools come from modules, never from the database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from journeygraph.graphs.agents.registry import check_all
from journeygraph.graphs.agents.tools import shared_tools
from journeygraph.graphs.records.data_keys import key_faults
from journeygraph.graphs.records.definitions import (
    DefinitionDraft,
    Definitions,
    DefinitionVersion,
    Epoch,
    UnknownDefinitionError,
    digest_of,
)
from journeygraph.graphs.session.session import prepare
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.journeys import (
    ConfigurationError,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyError,
    JourneySpec,
)
from journeygraph.journeys.concierge import journey_class
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.reading.rule_reader import own_version
from journeygraph.nodes.llm.models import check_model, is_configured
from journeygraph.nodes.telemetry import report
from journeygraph.server.cache import Cache, MemoryCache, VersionedCache
from journeygraph.server.definitions.loader import Read, read_all
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import Served, agents_in, given_in, model_in, module_of


@dataclass(frozen=True, slots=True)
class Providers:
    """Agents and tools by name; each journey takes the ones that it names.

    Attributes:
        model: The argument `model` of `Journey`.
        config: The settings of the sessions.
    """

    agents: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None
    config: JourneyConfig | None = None

    def serving(self, spec: JourneySpec) -> Served:
        """Return a journey with its agents and tools.

        Raises:
            AgentNotRegisteredError: Agents are missing, and no model is configured.
            ConfigurationError: Tools are missing or not valid.
        """
        agents = {name: agent for name, agent in self.agents.items() if name in spec.agents}
        known = {*spec.tools, *spec.retrievers}
        tools = {name: tool for name, tool in self.tools.items() if name in known}
        check_all(spec, agents, has_model=is_configured(self.model, self.config, spec))
        check_model(self.model, self.config, spec)
        shared_tools(spec, tools)
        return Served(journey_class(spec), agents, tools, self.model)


def given_by(names: Iterable[str], config: JourneyConfig | None = None) -> Providers:
    """Return the `AGENTS` (with a model `MODEL_AGENTS` first), `TOOLS` and models of modules.

    Args:
        names: `file.py` or a dotted name.

    Raises:
        CommandError: A module is missing, it has faults, or two modules define the same name.
    """
    agents: dict[str, Any] = {}
    tools: dict[str, Any] = {}
    modules = {name: module_of(name, alone=False) for name in names}
    models = {name: model for name, module in modules.items() if (model := model_in(module))}
    if len(models) > 1:
        raise CommandError(
            f"{' and '.join(models)} each have a model, and all journeys use "
            f"one. Remove one of them."
        )
    model = next(iter(models.values()), None)
    has_model = is_configured(model, config)
    for name, module in modules.items():
        own_agents = agents_in(module, has_model=has_model)
        for all_, own in ((agents, own_agents), (tools, given_in(module, "TOOLS") or {})):
            if twice := [one for one in own if one in all_]:
                raise CommandError(
                    f"{name} has '{twice[0]}', and so has another module. Rename one of them."
                )
            all_.update(own)
    return Providers(agents, tools, model, config)


DEFINITION_KIND = "definition"
"""Kind of the cached values."""
LASTING = 86_400.0
"""Seconds for which the text of a definition stays in the cache."""


class DefinitionTexts:
    """Reader of the texts of definitions, with a cache."""

    def __init__(self, definitions: Definitions, versioned: VersionedCache) -> None:
        self.versioned = versioned
        self._definitions = definitions

    async def drafts(
        self, active: Sequence[DefinitionVersion], epoch: Epoch, faults: dict[str, list[Fault]]
    ) -> list[DefinitionDraft]:
        """Return definitions with their texts; missing ones get faults instead.

        Args:
            epoch: The epoch before that read.
            faults: Gets the fault of each missing definition, by id.
        """
        versions = {one.id: _version(one, epoch) for one in active}
        kept = await self.versioned.get(versions)
        bodies: dict[str, str] = {
            one.id: kept[one.id]
            for one in active
            if isinstance(kept.get(one.id), str) and digest_of(kept[one.id]) == one.digest
        }
        found = await self._stored([one for one in active if one.id not in bodies], faults)
        written = {
            id_: self.versioned.written(id_, versions[id_], body) for id_, body in found.items()
        }
        await self.versioned.put(written, LASTING)
        bodies |= found
        return [DefinitionDraft.of(one, bodies[one.id]) for one in active if one.id in bodies]

    async def _stored(
        self, missing: Sequence[DefinitionVersion], faults: dict[str, list[Fault]]
    ) -> dict[str, str]:
        reads = (self._definitions.body(one) for one in missing)
        found = await asyncio.gather(*reads, return_exceptions=True)
        bodies: dict[str, str] = {}
        for one, body in zip(missing, found, strict=True):
            if isinstance(body, UnknownDefinitionError):
                faults[one.id] = [Fault(str(body))]
            elif isinstance(body, BaseException):
                raise body
            else:
                bodies[one.id] = body
        return bodies


def _version(definition: DefinitionVersion, epoch: Epoch) -> str:
    """Return the version that a cached body must have."""
    dropped = f"{definition.dropped}|{epoch.dropped}"
    return f"{definition.version}|{definition.digest}|{dropped}"


FOLLOW_SECONDS = 1.0
"""Longest wait of a turn for changed definitions; then it uses the previous ones."""


class ActiveDefinitions:
    """The active definitions of a store, with later changes.

    If a new definition has a fault, its previous version stays in use and the fault is reported.
    docs/reference/flow-control.md shows one in a program.

    Attributes:
        served: Journeys and concierges by id, in the version in which new sessions begin.
        loaded: Older versions that sessions continue in, as far as they were asked for, by id and
            version.
        faults: The fault of each definition that was not accepted, by id.
    """

    def __init__(
        self,
        definitions: Definitions,
        config: JourneyConfig,
        given: Providers,
        versioned: VersionedCache,
        taken: Iterable[str] = (),
    ) -> None:
        self.served: Mapping[str, Served] = {}
        self.loaded: dict[tuple[str, str], Served] = {}
        self.faults: Mapping[str, Sequence[Fault]] = {}
        self._definitions = definitions
        self._config = config
        self._given = given
        self._texts = DefinitionTexts(definitions, versioned)
        self._epoch: Epoch | None = None
        self._marks: dict[str, str] = {}
        self._rules: Sequence[DefinitionDraft] = ()
        self._older: dict[str, list[DefinitionVersion]] = {}
        self._loading = asyncio.Lock()
        self._taken = frozenset(taken)
        self._stores: dict[bool, Store] = {}
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        config: JourneyConfig,
        given: Providers | None = None,
        cache: Cache | None = None,
        taken: Iterable[str] = (),
    ) -> Self:
        """Open the store of a config, read it once and return its catalogue.

        Args:
            config: Settings of the store and of the sessions.
            given: Agents and tools of the journeys.
            cache: The cache of definitions.
            taken: Ids that are served from another place and stay there.

        Raises:
            StateError: The store cannot be opened or read.
            JourneyDefinitionError: Guidelines for all journeys cannot be read.
        """
        definitions = await Definitions.open(config)
        versioned = VersionedCache(cache or MemoryCache(), DEFINITION_KIND)
        catalogue = cls(definitions, config, given or Providers(), versioned, taken)
        try:
            await catalogue._read()
        except BaseException:
            await catalogue.close()
            raise
        return catalogue

    async def look(self) -> None:
        """Ask the store for changes and load them; without a change this is one small query.

        Raises:
            StateError: The store could not be read.
        """
        await self.follow(await self._definitions.epoch())

    async def follow(self, epoch: Epoch) -> None:
        """Load the changes up to an epoch that came with another read.

        The work is done once, in a separate task, for all turns that ask for it. They wait for a
        moment and use the previous definitions if the load takes longer or fails.
        """
        # What is being read already may be older than that.
        for _ in range(2):
            if self._epoch is not None and epoch <= self._epoch:
                return
            if self._reading is None or self._reading.done():
                self._reading = asyncio.get_running_loop().create_task(self._followed())
            await asyncio.wait([self._reading], timeout=FOLLOW_SECONDS / 2)

    def versions_of(self, journey_id: str) -> list[str]:
        """Return the older versions that sessions of a journey continue in, the newest first."""
        older = self._older.get(journey_id, ())
        return [one.journey_version for one in older if one.journey_version]

    async def older(self, journey_id: str, version: str) -> Served | None:
        """Return an older version of a journey, read and compiled on its first use.

        Args:
            journey_id: Id of the journey.
            version: The version, without its part for global guidelines.

        Returns:
            The version; None if the store does not have it, if it was replaced or retired, or if it
            cannot be used, which is reported.

        Raises:
            StateError: The store failed.
        """
        place = journey_id, version
        if place not in self.loaded and self._unread(*place):
            async with self._loading:
                older = self._older.get(journey_id, [])
                for definition in self._unread(*place):
                    await self._load(definition, older, self.loaded)
        return self.loaded.get(place)

    def _unread(self, journey_id: str, version: str) -> list[DefinitionVersion]:
        known = (version, None)
        older = self._older.get(journey_id, ())
        unread = [one for one in older if (journey_id, one.journey_version) not in self.loaded]
        return [one for one in unread if one.journey_version in known]

    async def _load(
        self,
        definition: DefinitionVersion,
        older: list[DefinitionVersion],
        loaded: dict[tuple[str, str], Served],
    ) -> None:
        faults: dict[str, list[Fault]] = {}
        place = older.index(definition)
        try:
            draft = DefinitionDraft.of(definition, await self._definitions.body(definition))
        except UnknownDefinitionError as error:
            read, faults[definition.id] = Read(), [Fault(str(error))]
        else:
            read = await asyncio.to_thread(read_all, [*self._rules, draft])
            faults |= read.faults
        served = (await self._serving(read.specs, faults)).get(definition.id)
        if served is None:
            del older[place]  # until the definitions change
        else:
            version = own_version(served.journey.spec.version)
            older[place] = replace(definition, journey_version=version)
            loaded[definition.id, version] = served
        _tell([], faults)

    async def close(self) -> None:
        """Close the store."""
        if self._reading:
            await asyncio.wait([self._reading])
        for store in self._stores.values():
            await store.close()
        await self._definitions.close()

    async def _followed(self) -> None:
        try:
            await self._read()
        except JourneyError as error:
            report(logging.WARNING, "definitions_unread", kind=type(error).__name__)

    async def _read(self) -> None:
        # What changes after this is seen by the next turn, which finds a later epoch.
        epoch = await self._definitions.epoch()
        every = await self._definitions.served()
        active = [one for one in every if one.active]
        marks = _marks(active)
        rules = [one for one in active if one.kind == "guidelines"]
        new = [
            one for one in active if one not in rules and self._marks.get(one.id) != marks[one.id]
        ]
        faults: dict[str, list[Fault]] = {}
        drafts = await self._texts.drafts([*rules, *new], epoch, faults)
        read = await asyncio.to_thread(read_all, drafts)
        faults |= read.faults
        if lost := [one.id for one in rules if one.id in faults]:
            self._keep_to_what_is_served(epoch, faults, lost)
            return
        served = await self._serving(read.specs, faults)
        self._rules = [draft for draft in drafts if draft.kind == "guidelines"]
        self._older, self.loaded = _older(every), {}
        self._marks = {id_: mark for id_, mark in marks.items() if id_ not in faults}
        self._take_up(served, [one.id for one in active])
        self._epoch, self.faults = epoch, faults
        _tell(sorted(served), faults)

    def _keep_to_what_is_served(
        self, epoch: Epoch, faults: dict[str, list[Fault]], lost: Sequence[str]
    ) -> None:
        """Raise an error if global guidelines cannot be read: a critical one may be among them.

        Raises:
            JourneyDefinitionError: Nothing is served yet.
        """
        if self._epoch is None:
            said = [f"{id_}: {fault}" for id_ in lost for fault in faults[id_]]
            remedy = (
                "A journey is not served without its guidelines: load them again, or retire them."
            )
            raise JourneyDefinitionError([*said, remedy])
        self._epoch, self.faults = epoch, faults
        _tell([], faults)

    def _take_up(self, served: Mapping[str, Served], active: Sequence[str]) -> None:
        known = {**self.served, **served}
        self.served = {id_: one for id_, one in known.items() if id_ in active}

    async def _serving(
        self, specs: Mapping[str, JourneySpec], faults: dict[str, list[Fault]]
    ) -> dict[str, Served]:
        served: dict[str, Served] = {}
        for id_, spec in specs.items():
            try:
                if id_ in self._taken:
                    raise ConfigurationError(
                        f"A journey '{id_}' is already served from another place."
                    )
                served[id_] = self._given.serving(spec)
                await self._store_of(spec)
                await prepare(spec, self._config)
            except JourneyError as error:
                served.pop(id_, None)
                faults[id_] = [*getattr(error, "faults", ())] or [Fault(str(error))]
        return served

    async def _store_of(self, spec: JourneySpec) -> Store:
        keys = self._config.encryption_keys
        if spec.sensitive and keys is None:
            raise ConfigurationError(f"{spec.name} is sensitive, and no encryption key is set.")
        if spec.sensitive not in self._stores:
            self._stores[spec.sensitive] = await open_store(
                self._config.persistence,
                keys if spec.sensitive else None,
                self._config.database_pool_size,
            )
        store = self._stores[spec.sensitive]
        if spec.sensitive and (faults := await key_faults(store, store.seals, {spec.id})):
            raise ConfigurationError(" ".join(faults))
        return store


def _marks(active: Sequence[DefinitionVersion]) -> dict[str, str]:
    rules = [f"{one.digest}|{one.dropped}" for one in active if one.kind == "guidelines"]
    made_of = digest_of(" ".join(rules))
    return {
        one.id: f"{one.version}|{one.digest}|{one.dropped}|{made_of}"
        for one in active
        if one.kind != "guidelines"
    }


def _older(every: Sequence[DefinitionVersion]) -> dict[str, list[DefinitionVersion]]:
    older: dict[str, list[DefinitionVersion]] = {}
    for one in reversed(every):
        if not one.active and one.kind != "guidelines":
            older.setdefault(one.id, []).append(one)
    return older


def _tell(changed: Sequence[str], faults: Mapping[str, Sequence[Fault]]) -> None:
    if changed:
        report(logging.INFO, "definitions_changed", journeys=",".join(changed))
    for id_, found in faults.items():
        report(logging.WARNING, "definition_refused", definition=id_, faults=len(found))
