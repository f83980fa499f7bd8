"""YAML text as events with places: one document of plain data, in YAML 1.2.

Tags, anchors, aliases, merge keys and directives are refused. So nothing in a file can name code,
and no text can grow when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journeys.faults import Place
from journeys.files.documents.places import Event, UnreadableError
from journeys.files.documents.scalars import plain_value, text_fault

_OUTER = ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent")
_OPENING = {"MappingStartEvent": "mapping", "SequenceStartEvent": "list"}
_CLOSING = ("MappingEndEvent", "SequenceEndEvent")
_REMEDIES = {
    "cannot start any token": "Indent by spaces, and quote text that begins with a special sign.",
    "mapping values are not allowed": "Quote text that holds ': ', and look at the indentation.",
    "could not find expected ':'": "Write 'key: value', and look at the indentation.",
    "expected <block end>": "Look at the indentation.",
    "expected ',' or": "Close the bracket, or quote text that holds one.",
    "while scanning a quoted scalar": "Close the quotes.",
}


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of a YAML text.

    Raises:
        UnreadableError: It is no YAML from some place on, or holds a second document.
    """
    documents = 0
    for event in _parsed(text):
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            documents += 1
            _refuse_document(event, documents)
        elif kind == "CommentEvent" or kind in _OUTER:
            continue
        elif kind in _CLOSING:
            yield Event("end", _place(event.start_mark))
        elif kind in _OPENING:
            yield Event(_OPENING[kind], _place(event.start_mark), fault=_marks_fault(event))
        else:
            yield _scalar(event, kind)


def _refuse_document(event: Any, number: int) -> None:
    if number > 1:
        said = "a second document begins here. A file holds one; take the '---' away."
        raise UnreadableError(_place(event.start_mark), said)
    if event.version or event.tags:
        said = "directives such as %YAML are not read. Take them away."
        raise UnreadableError(_place(event.start_mark), said)


def _scalar(event: Any, kind: str) -> Event:
    place = _place(event.start_mark)
    if kind == "AliasEvent":
        said = f"the alias '*{event.anchor}' is not read. Write out what it stands for."
        return Event("scalar", place, fault=said)
    fault = _marks_fault(event)
    if event.style in ("'", '"', "|", ">"):
        return Event("scalar", place, event.value, fault=fault or text_fault(event.value))
    if event.value == "<<":
        said = "merge keys are not read. Write out what they would bring."
        return Event("scalar", place, event.value, fault=fault or said)
    value, wrong = plain_value(event.value)
    raw = None if isinstance(value, str) else event.value
    return Event("scalar", place, value, raw, fault or wrong)


def _marks_fault(event: Any) -> str:
    """Return why a node's tag or anchor is refused."""
    if event.tag is not None and str(event.tag) != "None":
        tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        return f"the tag '{tag}' is not read. Write plain text, numbers, lists and mappings."
    if event.anchor is not None:
        return f"the anchor '&{event.anchor}' is not read. Take it away."
    return ""


def _parsed(text: str) -> Iterator[Any]:
    """Yield ruamel's events; whatever it stumbles over becomes one kind of error."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(mark) if mark else Place(1, 1)
        raise UnreadableError(place, _told(error)) from None
    except ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        said = f"the sign with the number {error.character} may not stand in YAML. Take it out."
        raise UnreadableError(place, said) from None
    except (YAMLError, ValueError, AssertionError, LookupError, TypeError, AttributeError) as error:
        # The scanner lets errors of its own slip out for some texts that are no YAML at all.
        said = " ".join(str(error).split())[:200]
        raise UnreadableError(Place(1, 1), f"it is no YAML: {said or 'unreadable'}.") from None


def _told(error: Any) -> str:
    words = " ".join(str(part) for part in (error.context, error.problem) if part)
    said = " ".join(words.split())[:200].rstrip(".")
    remedy = next((way for sign, way in _REMEDIES.items() if sign in said), "")
    return f"it is no YAML from here: {said}. {remedy}".rstrip()


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)
