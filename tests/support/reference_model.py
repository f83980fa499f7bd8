"""Reference model of a session: written from DESIGN.md section 4, not from the code.

A plan is a small journey in plain data. `turn` is the whole of the rules: from where a session
stands and what is said, to where it stands then, and what was seen on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

WINDOW = 40
HOPS = 10


@dataclass(frozen=True)
class Stretch:
    """A pathway: `returns` is None, "previous" or the id of a specific target."""

    id: str
    next: str | None = None
    returns: str | None = None
    keeps: bool = True
    max_depth: int | None = None
    complete: str | None = None  # None: undeclared; "never"; else a context name
    arrives: bool = False


@dataclass(frozen=True)
class Rule:
    """A transition: `kind` is says (its word), condition (x is at least 2) or always."""

    word: str
    target: str
    sources: tuple[str, ...] = ("*",)
    kind: str = "says"
    update: tuple[tuple[str, str, str], ...] = ()
    priority: int = 0


@dataclass(frozen=True)
class Plan:
    stretches: dict[str, Stretch]
    rules: tuple[Rule, ...]
    depth: int


@dataclass(frozen=True)
class Visits:
    """Pathways that wrote their mark themselves; for which it is of an earlier visit; completed."""

    own: frozenset[str] = frozenset()
    old: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    def entered(self, name: str) -> Visits:
        if name not in self.done:
            return self
        old = self.old | (self.own & {name})
        return Visits(self.own, old, self.done - {name})

    def wrote(self, name: str) -> Visits:
        return Visits(self.own | {name}, self.old - {name}, self.done)

    def overwritten(self, names: set[str]) -> Visits:
        return Visits(self.own - names, self.old - names, self.done)

    def completed(self, name: str) -> Visits:
        return replace(self, done=self.done | {name})


@dataclass(frozen=True)
class Place:
    """The position of a session. A frame is a paused pathway and the context to go back to."""

    pathway: str
    stack: tuple[tuple[str, tuple[dict[str, Any], Visits] | None], ...] = ()
    returning: bool = False
    ended: bool = False
    context: dict[str, Any] = field(default_factory=dict)
    visits: Visits = field(default_factory=lambda: Visits())
    disarmed: frozenset[str] = frozenset()
    window: tuple[tuple[str, str], ...] = ()

    @property
    def paused(self) -> list[str]:
        return [name for name, _ in self.stack]


@dataclass
class Heard:
    """The visible parts of a turn: pathways that ran with the context they saw, and the move."""

    saw: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    transition_to: str | None = None
    said: str = ""
    moved: bool = False
    failed: bool = False
    too_deep: bool = False

    @property
    def ran(self) -> list[str]:
        return [name for name, _ in self.saw]


def outputs(pathway: str, words: list[str]) -> dict[str, Any]:
    """What every agent of a plan answers; both the model and the journeys use it."""
    if "boom" in words or f"boom_{pathway}" in words:
        raise RuntimeError("the agent broke")
    given: dict[str, Any] = {"response": f"{pathway} heard you", "trail": pathway, "count": 1}
    for word in words:
        if word[0] in "xy" and word[1:].isdigit():
            given[word[0]] = int(word[1:])
        if word == "done":
            given[f"done_{pathway}"] = True
        if word == "tag":
            given |= {"tags": [pathway], "notes": {pathway: {"last": len(words)}, "any": pathway}}
    return given


def accumulated(plan: Plan, context: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    read = {source for rule in plan.rules for _, how, source in rule.update if how in "append copy"}
    after = dict(context)
    for name, value in given.items():
        if name == "trail":
            after[name] = [*after.get(name, []), value]
        elif name == "count":
            after[name] = after.get(name, 0) + value
        elif name == "tags":
            after[name] = list(dict.fromkeys([*after.get(name, []), *value]))
        elif name == "notes":
            after[name] = {**after.get(name, {}), **value}
        elif name == "x" or name.startswith("done_") or name in read:
            after[name] = value
    return after


def updated(rule: Rule, context: dict[str, Any]) -> dict[str, Any]:
    after = dict(context)
    for name, how, source in rule.update:
        if how == "clear":
            after.pop(name, None)
        elif how == "set":
            after[name] = source
        elif context.get(source) is not None:
            listed = context[source] if isinstance(context[source], list) else [context[source]]
            old = after.get(name, [])
            old = old if isinstance(old, list) else [old]
            after[name] = [*old, *listed] if how == "append" else context[source]
    return after


def written(rule: Rule, context: dict[str, Any]) -> set[str]:
    """Pathways whose mark a rule writes or clears."""
    names = [
        name
        for name, how, source in rule.update
        if how in ("clear", "set") or context.get(source) is not None
    ]
    return {name.removeprefix("done_") for name in names if name.startswith("done_")}


def turn(plan: Plan, place: Place, message: str) -> tuple[Place, Heard]:
    """One message. A failure leaves everything but the window as it was."""
    heard = Heard()
    try:
        after, entered = _steered(plan, place, message.split(), heard)
        after = _run(plan, after, entered, message.split(), heard) if entered else after
        if not heard.said:
            heard.said = "\n\n".join(f"{name} heard you" for name in heard.ran)
    except RuntimeError:
        heard = Heard(failed=True, said="sorry")
        after = place
    window = (*place.window, ("user", message), ("assistant", heard.said))[-WINDOW:]
    return replace(after, window=window), heard


def _steered(plan: Plan, place: Place, words: list[str], heard: Heard) -> tuple[Place, str]:
    true = place.context.get("x", 0) >= 2
    if not true:
        place = replace(place, disarmed=frozenset())
    rule = _chosen(plan, place, words, true)
    if rule:
        if rule.kind == "condition":
            place = replace(place, disarmed=place.disarmed | {rule.word})
        after = _followed(plan, place, rule)
        if after is None:
            heard.said, heard.too_deep = "too deep", True
            return place, ""
        heard.transition_to = rule.target
        heard.moved = after.pathway != place.pathway
        return after, "transition"
    if place.returning:
        after = _returned(plan, place)
        heard.moved = True
        place, entered = after, "return"
    else:
        entered = "stay"
    if place.ended and not place.stack:
        heard.said = "closing"
        return place, ""
    return place, entered


def _chosen(plan: Plan, place: Place, words: list[str], true: bool) -> Rule | None:
    here = {"*", place.pathway}
    if place.returning:
        specific = plan.stretches[place.pathway].returns
        here.add(place.paused[-1] if specific == "previous" else str(specific))
    held = [
        rule
        for rule in plan.rules
        if here & set(rule.sources)
        if (rule.kind == "says" and rule.word in words)
        or (rule.kind == "condition" and true and rule.word not in place.disarmed)
        or (rule.kind == "always" and not place.returning)
    ]
    return min(held, key=lambda r: (r.kind == "always", -r.priority), default=None)


def _followed(plan: Plan, place: Place, rule: Rule) -> Place | None:
    """Follow a rule; None if that would be too deep."""
    target = plan.stretches[rule.target]
    if target.id == place.pathway:
        visits = place.visits.entered(target.id)
        ended = place.ended and bool(place.stack)
        after = replace(place, returning=False, ended=ended, visits=visits)
    elif target.id in place.paused:
        after = _unwound(place, target.id, reopens=True)
    elif target.returns:
        frame: tuple[str, Any] = (place.pathway, None)
        stack, context, visits = place.stack, place.context, place.visits
        if place.returning:
            *below, (paused, before) = place.stack
            frame, stack = (paused, None), tuple(below)
            context, visits = (context, visits) if before is None else before
        if len(stack) + 1 > min(plan.depth, target.max_depth or plan.depth):
            return None
        visits = visits.entered(target.id).overwritten(written(rule, context))
        context = updated(rule, context)
        before = None if target.keeps else (context, visits)
        stack = (*stack, (frame[0], before))
        after = replace(place, pathway=target.id, stack=stack, returning=False)
        return replace(after, context=context, visits=visits)
    else:
        after = replace(place, pathway=target.id, stack=(), returning=False, ended=False)
        after = replace(after, visits=after.visits.entered(target.id))
    visits = after.visits.overwritten(written(rule, after.context))
    return replace(after, context=updated(rule, after.context), visits=visits)


def _returned(plan: Plan, place: Place) -> Place:
    specific = plan.stretches[place.pathway].returns
    if specific == "previous":
        return _unwound(place, place.paused[-1], reopens=False)
    if specific in place.paused:
        return _unwound(place, str(specific), reopens=True)
    context, visits = place.stack[-1][1] or (place.context, place.visits)
    moved = replace(place, pathway=str(specific), stack=(), returning=False, ended=False)
    return replace(moved, context=context, visits=visits)


def _unwound(place: Place, target: str, *, reopens: bool) -> Place:
    """Resume a paused pathway; what the detours above it may not keep is undone."""
    at = place.paused.index(target)
    now = (place.context, place.visits)
    context, visits = next((image for _, image in place.stack[at:] if image is not None), now)
    stack = place.stack[:at]
    ended = place.ended and not (reopens and not stack)
    after = replace(place, pathway=target, stack=stack, returning=False, ended=ended)
    return replace(after, context=context, visits=visits)


def _run(plan: Plan, place: Place, entered: str, words: list[str], heard: Heard) -> Place:
    """Run a pathway, and those that run on arrival after it."""
    here = plan.stretches[place.pathway]
    heard.saw.append((here.id, place.context))
    given = outputs(here.id, words)
    context = accumulated(plan, place.context, given)
    visits = place.visits.wrote(here.id) if f"done_{here.id}" in given else place.visits
    place = replace(place, context=context, visits=visits)
    if here.complete == "never":
        complete = False
    elif here.complete:
        complete = context.get(here.complete) is not None and here.id not in visits.old
    else:
        complete = bool(here.returns) or entered not in ("transition", "return")
    if not complete:
        return place
    place = replace(place, visits=visits.completed(here.id))
    if here.returns:
        return replace(place, returning=True)
    if here.next is None:
        return replace(place, ended=True)
    heard.moved = heard.moved or here.next != here.id
    place = replace(place, pathway=here.next, visits=place.visits.entered(here.next))
    if not plan.stretches[here.next].arrives or len(heard.saw) >= HOPS:
        return place
    return _run(plan, place, "arrival", words, heard)
