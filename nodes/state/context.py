"""The context channel takes operations; this is what they do.

An operation is `[how, name, value]`. `apply_ops` is pure and is the channel's reducer; `checked`
is asked first, because a reducer must never be the first to raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from journeygraph.journeys import ContextMergeError, ContextSizeExceededError, MergeStrategy
from journeygraph.nodes.json_data import canonical, size

Op = list[Any]
"""`[how, name, value]`, a list because it is stored as JSON."""
Context = dict[str, Any]

_FEW = 8
"""Up to so many new entries it is cheaper to look for each than to make all comparable."""
NEAR_LIMIT = 0.9
"""Share of the size limit from which on prunable lists lose their oldest entries."""


def apply_ops(context: Mapping[str, Any], ops: Sequence[Op] | Mapping[str, Any]) -> Context:
    """Return the context after some operations; the given one stays as it is.

    A plain dict sets its names. None values change nothing, except for `clear`.

    Raises:
        ContextMergeError: A value does not fit its operation; names field, strategy and types.
    """
    result = dict(context)
    if isinstance(ops, Mapping):
        result.update(ops)
        return result
    for how, name, value, *_ in ops:
        if how == "clear":
            result.pop(name, None)
        elif value is not None:
            result[name] = _MERGERS[how](name, result.get(name), value)
    return result


def kept(name: str, value: Any) -> Op:
    """Return the operation that keeps a value in place of an earlier one; None removes it."""
    return ["clear", name, None] if value is None else ["replace", name, value]


def checked(
    context: Mapping[str, Any],
    ops: Sequence[Op],
    limit: int,
    prunable: Sequence[str] = (),
    sized: tuple[Any, int] | None = None,
) -> tuple[Context, list[Op]]:
    """Return the context after some operations, and those that pruned it.

    From 90 % of the limit on, the lists named in `prunable` lose their oldest entries.

    Args:
        limit: Most bytes of the result.
        prunable: Names of lists.
        sized: A context and its size: if it is that before, only what changes is measured.

    Raises:
        ContextSizeExceededError: The result is over `limit` bytes; names the largest fields.
    """
    if not ops:
        return dict(context), []
    result = apply_ops(context, ops)
    if sized and sized[0] is context:
        total = _size_after(sized[1], context, result, ops)
    else:
        total = size(result)
    pruning: list[Op] = []
    if total > limit * NEAR_LIMIT and prunable:
        pruning = _pruned(result, total - int(limit * NEAR_LIMIT), prunable)
        result = apply_ops(result, pruning)
        total = size(result)
    if total > limit:
        sizes = {name: size(value) for name, value in result.items()}
        largest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:3]
        raise ContextSizeExceededError(total, limit, {name: sizes[name] for name in largest})
    return result, pruning


def _size_after(known: int, before: Mapping[str, Any], after: Context, ops: Sequence[Op]) -> int:
    names = names_changed(ops)
    if any(isinstance(before.get(name), (list, dict)) for name in names):
        return size(after)  # what grew in place may be nearly all of it
    # As entries of an object: one more or less has a comma, but for the first.
    commas = max(len(after) - 1, 0) - max(len(before) - 1, 0)
    return known + commas + _size_of(names, after) - _size_of(names, before)


def _size_of(names: Iterable[str], context: Mapping[str, Any]) -> int:
    return sum(size({name: context[name]}) - 2 for name in names if name in context)


def restoring(context: Mapping[str, Any], before: Mapping[str, Any]) -> list[Op]:
    """Return the operations that turn a context back into an earlier one."""
    cleared: list[Op] = [["clear", name, None] for name in context if before.get(name) is None]
    changed: list[Op] = [
        ["replace", name, value]
        for name, value in before.items()
        if value is not None and (name not in context or differ(context[name], value))
    ]
    return cleared + changed


def differ(one: Any, other: Any) -> bool:
    """Return whether two values differ as JSON."""
    return one is not other and canonical(one) != canonical(other)


def _pruned(context: Context, excess: int, prunable: Sequence[str]) -> list[Op]:
    ops: list[Op] = []
    for name in prunable:
        entries = context.get(name)
        if not isinstance(entries, list) or excess <= 0:
            continue
        dropped = 0
        while dropped < len(entries) and excess > 0:
            excess -= size(entries[dropped]) + 1
            dropped += 1
        if dropped:
            ops.append(["replace", name, entries[dropped:]])
    return ops


def _kind(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return type(value).__name__
    return "scalar"


def _mismatch(name: str, how: str, old: Any, new: Any) -> ContextMergeError:
    held = "nothing" if old is None else type(old).__name__
    return ContextMergeError(
        name, how, f"its value is of type {held}, the new one of type {type(new).__name__}."
    )


def _replace(name: str, old: Any, new: Any) -> Any:
    return new


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _append(name: str, old: Any, new: Any) -> Any:
    return ([] if old is None else _listed(old)) + _listed(new)


def _union(name: str, old: Any, new: Any) -> Any:
    return _distinct([] if old is None else _listed(old), _listed(new))


def _distinct(old: list[Any], new: list[Any]) -> list[Any]:
    result = list(old)
    if len(new) <= _FEW:
        for item in new:
            if not _holds(result, item):
                result.append(item)
        return result
    seen = {_identity(item) for item in result}
    for item in new:
        if (key := _identity(item)) not in seen:
            seen.add(key)
            result.append(item)
    return result


def _holds(items: list[Any], item: Any) -> bool:
    # What is equal in JSON is equal in Python, and that is found fast; the other way it may not be.
    return item in items and any(
        _identity(item) == _identity(held) for held in items if held == item
    )


def _identity(item: Any) -> Any:
    # In Python True == 1, in JSON it is not.
    if isinstance(item, (list, dict)):
        return canonical(item)
    return (isinstance(item, bool), item)


def _merge(name: str, old: Any, new: Any) -> Any:
    if not isinstance(new, dict) or not (old is None or isinstance(old, dict)):
        raise _mismatch(name, MergeStrategy.MERGE_DICT, old, new)
    return _deep(old or {}, new, lambda _, __, value: value, name)


def _deep(old: Context, new: Context, leaf: Callable[[str, Any, Any], Any], path: str) -> Context:
    result = dict(old)
    for key, value in new.items():
        held = result.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            result[key] = _deep(held, value, leaf, f"{path}.{key}")
        elif value is not None:
            result[key] = leaf(f"{path}.{key}", held, value)
    return result


def _auto(name: str, old: Any, new: Any) -> Any:
    if old is None:
        return new
    if _kind(old) != _kind(new):
        raise _mismatch(name, "undeclared", old, new)
    if isinstance(old, list):
        return _distinct(old, new)
    if isinstance(old, dict):
        return _deep(old, new, _auto, name)
    return new


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _extreme(how: MergeStrategy, choose: Callable[..., Any]) -> Callable[[str, Any, Any], Any]:
    def merge(name: str, old: Any, new: Any) -> Any:
        held = [] if old is None else [old]
        both = [*held, new]
        if all(_is_number(v) for v in both) or all(isinstance(v, str) for v in both):
            return choose(both)
        raise _mismatch(name, how, old, new)

    return merge


def _sum(name: str, old: Any, new: Any) -> Any:
    if _is_number(new) and (old is None or _is_number(old)):
        total = new if old is None else old + new
        if math.isfinite(total) if isinstance(total, float) else -(2**63) <= total < 2**63:
            return total
        raise ContextMergeError(name, MergeStrategy.SUM, "the sum does not fit in 64 bits.")
    raise _mismatch(name, MergeStrategy.SUM, old, new)


def how_to_merge(strategy: MergeStrategy | None) -> str:
    """Return the operation of a strategy; undeclared is `auto`."""
    return "auto" if strategy is None else strategy.value


def names_changed(ops: Iterable[Op]) -> list[str]:
    """Return the names that operations touch, each once, in order."""
    return list(dict.fromkeys(op[1] for op in ops))


_MERGERS: Mapping[str, Callable[[str, Any, Any], Any]] = {
    "auto": _auto,
    MergeStrategy.REPLACE.value: _replace,
    MergeStrategy.APPEND.value: _append,
    MergeStrategy.UNION.value: _union,
    MergeStrategy.MERGE_DICT.value: _merge,
    MergeStrategy.MAX.value: _extreme(MergeStrategy.MAX, max),
    MergeStrategy.MIN.value: _extreme(MergeStrategy.MIN, min),
    MergeStrategy.SUM.value: _sum,
}
