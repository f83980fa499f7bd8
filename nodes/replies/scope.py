"""Checks in force: for a whole graph, and for the journey of a pathway."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from threading import Lock

from cachetools import LRUCache, cached

from journeygraph.journeys import JourneySpec, Texts, Validation
from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.nodes.state.session import Guided, Turn

GuidelineSpecs = tuple[GuidelineSpec, ...]


def checks_of(spec: JourneySpec) -> Validation | None:
    """Return what holds for every reply of a graph; None if they are not checked.

    Where several journeys are one, their tokens are held back if one of them wants that, and all
    kinds of personal data that one of them names are masked. Required texts are allowed.
    """
    checks = _together(spec) if spec.parts else spec.validation
    said = _required(spec.guidelines)[1] if checks else ()
    if not checks or not said:
        return checks
    return checks.model_copy(update={"allow": (*checks.allow, *said)})


# By identity: nothing in a spec changes.
@lru_cache(maxsize=256)
def _together(spec: JourneySpec) -> Validation | None:
    declared = [v for v in (spec.validation, *(p.validation for p in spec.parts.values())) if v]
    if not declared:
        return None
    held = any(validation.mode == "before_send" for validation in declared)
    return declared[0].model_copy(
        update={
            "mode": "before_send" if held else "after_send",
            "pii": _all(validation.pii for validation in declared),
            "allow": _all(validation.allow for validation in declared),
        }
    )


# By identity as well: what it holds keeps the guidelines alive, and no pipelines.
@cached(LRUCache[int, "tuple[GuidelineSpecs, tuple[str, ...]]"](512), key=id, lock=Lock())
def _required(guidelines: GuidelineSpecs) -> tuple[GuidelineSpecs, tuple[str, ...]]:
    """Return guidelines with what looks like personal data in the phrases that they require."""
    required = _all(rule.requires for rule in guidelines if rule.critical and rule.enabled)
    return guidelines, tuple(_personal(required)) if required else ()


def _personal(phrases: Sequence[str]) -> Iterator[str]:
    # Few journeys check their replies.
    from journeygraph.nodes.replies.folding import as_read  # noqa: PLC0415
    from journeygraph.nodes.replies.pii import MASKS, Detector  # noqa: PLC0415

    detector = Detector(MASKS)
    for text in map(as_read, phrases):
        yield from (text[seen.start : seen.end] for seen in detector.find(text))


def _all(named: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in named for name in names))


def validation_of(spec: JourneySpec, pathway: str) -> Validation | None:
    """Return how replies of a pathway are checked: as its journey says, else as all of them."""
    return spec.part_of(pathway).validation or spec.validation


def safe_reply_of(spec: JourneySpec, pathway: str) -> str:
    """Return the text in place of a reply that must not be sent; empty if none is set."""
    return spec.part_of(pathway).safe_reply or spec.safe_reply


def place_of(turn: Turn) -> str:
    """Return the pathway that a turn's reply came from."""
    if turn["kind"] == "waiting" and "waiting" in turn:
        return turn["waiting"]["asks"][0]["pathway"]
    return turn["ran"][-1] if turn["ran"] else turn["begun_in"]


def is_own_voice(spec: JourneySpec, texts: Texts, turn: Turn) -> bool:
    """Return whether only the runtime itself speaks in a turn, in texts that its operator wrote."""
    fixed = spec.otherwise != "freeform" or turn["replies"] == [texts.unsure]
    return not turn["ran"] or (fixed and turn["ran"] == [spec.reception])


def counting(turn: Turn, holding: Iterable[Guided]) -> list[Guided]:
    """Return those of the guidelines of a turn that count in what ran."""
    return [guided for guided in holding if any(at in turn["ran"] for at in guided["pathways"])]
