"""Check again what was collected earlier: nothing is done on a value that would be refused now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from journeys import Effect, Field, PathwaySpec
from nodes.draft import TurnDraft
from nodes.forms.filling import emptied, reason_of, refused
from nodes.handoff.offer import effect_of
from nodes.state.effect_outcome import step_of
from nodes.state.form_state import owners


async def take_back_refused(draft: TurnDraft, fields: Iterable[Field]) -> bool:
    """Take back the values that their validators refuse by now, and say why.

    All are judged by what stood before: what is taken back for one does not count against another.
    A field of another pathway is asked for where the session stands.

    Args:
        draft: The turn, whose moment is now.
        fields: Those whose values are checked.

    Returns:
        Whether any was taken back.
    """
    stale: list[tuple[Field, str]] = []
    for field in fields:
        if (value := _value(draft, field)) is None:
            continue
        if refusal := await refused(draft, field, value):
            stale.append((field, reason_of(draft, refusal)))
    for field, reason in stale:
        emptied(draft, field, reason=reason, source="inferred")
        draft.say("outdated", field=field.title, reason=reason)
        _reopen(draft, field)
    return bool(stale)


def _value(draft: TurnDraft, field: Field) -> object:
    value = draft.value(field.name)
    return draft.context.get(field.name) if value is None else value


def _reopen(draft: TurnDraft, field: Field) -> None:
    """Have a field of another pathway asked for; one of the form at hand is open by itself."""
    form = draft.here.form
    names = draft.dialogue.reopened
    if (form is None or field.name not in form) and field.name not in names:
        draft.dialogue.reopened = [*names, field.name]


def collected_so_far(draft: TurnDraft) -> list[Field]:
    """Return the fields of the tasks that are open: the one at hand, and those that wait."""
    places = [draft.here.id, draft.position["pathway"]]
    places += [frame["pathway"] for frame in reversed(draft.position["stack"])]
    finished = draft.dialogue.finished
    found: dict[str, Field] = {}
    for id_ in dict.fromkeys(places):
        if id_ not in finished:
            pathway = draft.spec.pathways[id_]
            found |= {f.name: f for f in used_by_effects(draft, pathway) if f.name not in found}
    return list(found.values())


def used_by_effects(
    draft: TurnDraft, pathway: PathwaySpec, done: Collection[str] = ()
) -> list[Field]:
    """Return the fields of a pathway, and those of others that its effects use.

    What an effect was taken with is a record, and left out.

    Args:
        draft: The turn.
        pathway: The pathway.
        done: Steps that were taken just now.
    """
    taken = {*draft.dialogue.taken, *done}
    records = {
        name
        for effect in pathway.effects
        if step_of(pathway, effect) in taken
        for name in names_in(draft, effect)
    }
    found = {field.name: field for field in draft.sheet(pathway).live}
    for effect in pathway.effects:
        if step_of(pathway, effect) not in taken:
            found |= {f.name: f for f in _of_others(draft, effect) if f.name not in found}
    return [f for name, f in found.items() if name not in records and not effect_of(draft, f)]


def _of_others(draft: TurnDraft, effect: Effect) -> Iterator[Field]:
    part = draft.spec.part_of(draft.here.id).id
    for name in names_in(draft, effect):
        for owner in owners(draft.spec, name):
            if draft.spec.part_of(owner.id).id == part and owner.form:
                yield owner.form[name]
                break


def names_in(draft: TurnDraft, effect: Effect) -> list[str]:
    """Return the names of the context that an effect's tool is called with."""
    toolbox = draft.services.toolbox
    if toolbox is None or effect.tool not in toolbox.tools:
        return list(effect.arguments.values())
    parameters = toolbox.tools[effect.tool].parameters
    sources = {name: name for name in parameters.properties[0]} | dict(effect.arguments)
    filled = ((one.source or name) for name, one in parameters.session.items())
    return [*sources.values(), *(name for name in filled if isinstance(name, str))]
