"""Read definitions: stored ones into journeys, files and folders into drafts.

A fault in one does not stop the others; every fault of every file is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from journeygraph.graphs.records.definitions import (
    DefinitionDraft,
    Definitions,
    DefinitionVersion,
    UnknownDefinitionError,
)
from journeygraph.journeys import GuidelineSpec, JourneyDefinitionError, JourneySpec
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.files.loading import (
    document_kind,
    read_guidelines_text,
    read_journey_text,
    text_of,
)
from journeygraph.journeys.reading.rule_reader import with_guidelines
from journeygraph.server.discover.definition_files import is_definition, journey_files, placed
from journeygraph.server.discover.errors import CommandError, described
from journeygraph.server.discover.modules import shown


@dataclass(slots=True)
class Read:
    """Result of reading definitions.

    Attributes:
        specs: Journeys and concierges by id, the global guidelines among them.
    """

    specs: dict[str, JourneySpec] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)


def read_all(drafts: Sequence[DefinitionDraft]) -> Read:
    """Read definitions together: global guidelines apply to every journey."""
    read = Read()
    journeys = [draft for draft in drafts if draft.kind != "guidelines"]
    rules = _rules([draft for draft in drafts if draft.kind == "guidelines"], read)
    for draft in journeys:
        try:
            spec = spec_of(draft)
            # Another release may derive another version from the same text.
            spec = replace(spec, version=draft.journey_version or spec.version)
            read.specs[draft.id] = with_guidelines(spec, rules)
        except JourneyDefinitionError as error:
            read.faults[draft.id] = [fault.alone() for fault in error.faults]
    return read


def spec_of(draft: DefinitionDraft) -> JourneySpec:
    """Return the journey, or the concierge, of a draft."""

    def beside(name: str) -> str:
        try:
            return draft.beside[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    return read_journey_text(draft.text, draft.name, beside)


def _rules(drafts: Iterable[DefinitionDraft], read: Read) -> list[GuidelineSpec]:
    rules: dict[str, GuidelineSpec] = {}
    for draft in drafts:
        try:
            found = read_guidelines_text(draft.text, draft.name)
        except JourneyDefinitionError as error:
            read.faults[draft.id] = [fault.alone() for fault in error.faults]
            continue
        twice = [rule for rule in found if rule.id in rules]
        if twice:
            read.faults[draft.id] = [
                Fault(
                    f"the id '{rule.id}' is already used by {rules[rule.id].where}.",
                    where=rule.where,
                ).alone()
                for rule in twice
            ]
            continue
        rules |= {rule.id: rule for rule in found}
    return list(rules.values())


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a definition in a store, read by this release.

    Attributes:
        spec: The journey, or the concierge; None if it has faults.
    """

    definition: DefinitionVersion
    spec: JourneySpec | None
    faults: Sequence[Fault]


async def stored_versions(definitions: Definitions) -> list[StoredVersion]:
    """Return every version of a journey that sessions of a store begin or continue in."""
    every = await definitions.served()
    wanted = [one for one in every if one.active or one.kind != "guidelines"]
    bodies: dict[DefinitionVersion, DefinitionDraft] = {}
    lost: dict[DefinitionVersion, list[Fault]] = {}
    for one in wanted:
        try:
            bodies[one] = DefinitionDraft.of(one, await definitions.body(one))
        except UnknownDefinitionError as error:
            lost[one] = [Fault(str(error))]
    rules = [draft for draft in bodies.values() if draft.kind == "guidelines"]
    found = [StoredVersion(one, None, faults) for one, faults in lost.items()]
    for one, draft in bodies.items():
        read = read_all([draft] if draft.kind == "guidelines" else [*rules, draft])
        found.append(StoredVersion(one, read.specs.get(one.id), read.faults.get(one.id, [])))
    return found


_RESEALED = (
    "'{0}' has another value of `sensitive` in the store: its stored sessions could not be "
    "read any more. Choose another id; or, if these sessions are not needed, retire '{0}' first."
)


def drafts_at(
    paths: Sequence[str],
    stored: Iterable[DefinitionDraft] = (),
    watched: Callable[[list[Path]], Iterable[Path]] = iter,
) -> list[DefinitionDraft]:
    """Return the definitions in files and folders, checked alone and together.

    Args:
        stored: The active definitions of the store, which must fit these.
        watched: Returns the files one after the other; each is read before the next is taken.

    Raises:
        CommandError: A file is missing, or no file has a definition, or files have faults: the text
            has all of them.
    """
    faults: list[str] = []
    found: dict[Path, DefinitionDraft] = {}
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    for file in watched(files):
        try:
            found[file] = _draft(file)
        except JourneyDefinitionError as error:
            faults += placed(file, described(error))
    faults += _twice(found)
    if not faults:
        faults += _misfits(found, stored)
    if faults:
        raise CommandError(*faults)
    if not found:
        raise CommandError(f"There is no definition in {', '.join(paths)}.")
    return list(found.values())


def _files(path: str) -> Iterator[Path]:
    place = Path(path)
    if place.is_dir():
        yield from (file.resolve() for file in journey_files(place) if is_definition(file))
    elif not place.is_file():
        raise CommandError(f"There is no file {path}.", exit_code=2)
    elif is_definition(place):
        yield place.resolve()
    else:
        raise CommandError(f"{path} is not a YAML or JSON file.", exit_code=2)


def _draft(file: Path) -> DefinitionDraft:
    text = text_of(file)
    kind = document_kind(text, file.name)
    if kind == "guidelines":
        read_guidelines_text(text, file.name)
        return DefinitionDraft(kind, re.sub(r"\W+", "_", file.stem), file.name, text)
    beside: dict[str, str] = {}

    def read(name: str) -> str:
        beside[name] = text_of(file.parent / name)
        return beside[name]

    spec = read_journey_text(text, file.name, read)
    return DefinitionDraft(kind, spec.id, file.name, text, beside, spec.version)


def _twice(found: dict[Path, DefinitionDraft]) -> Iterator[str]:
    first: dict[str, Path] = {}
    for file, draft in found.items():
        other = first.setdefault(draft.id, file)
        if other is not file:
            yield f"{shown(file)}: the id '{draft.id}' is already used by {shown(other)}."


def _misfits(
    found: dict[Path, DefinitionDraft], stored: Iterable[DefinitionDraft]
) -> Iterator[str]:
    stored = list(stored)
    drafts = {draft.id: draft for draft in stored}
    files = {draft.id: file for file, draft in found.items()}
    drafts |= {draft.id: draft for draft in found.values()}
    as_before = read_all([one for one in stored if one.id not in files]).faults
    read = read_all(list(drafts.values()))
    for id_ in _resealed(read_all([one for one in stored if one.id in files]), read):
        yield f"{shown(files[id_])}: {_RESEALED.format(id_)}"
    for id_, faults in read.faults.items():
        if faults == as_before.get(id_):
            continue
        if file := files.get(id_):
            yield from placed(file, faults)
        else:
            yield from (f"'{id_}' in the store, with these files: {fault}" for fault in faults)


def _resealed(before: Read, after: Read) -> Iterator[str]:
    """Yield the ids of journeys with sessions that would become unreadable."""
    for id_, spec in after.specs.items():
        if id_ in before.specs and before.specs[id_].sensitive is not spec.sensitive:
            yield id_
