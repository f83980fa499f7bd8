"""YAML text as events with places: one document of plain data, in YAML 1.2.

Tags, anchors, aliases, merge keys and directives are refused. So nothing in a file can name code,
and no text can grow when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journeys.faults import Place
from journeys.files.documents.places import Event, UnreadableError, Wrong
from journeys.files.documents.scalars import plain_value, text_fault

_OUTER = ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent")
_OPENING = {"MappingStartEvent": "mapping", "SequenceStartEvent": "list"}
_CLOSING = ("MappingEndEvent", "SequenceEndEvent")
_OPENED = {
    **dict.fromkeys("[{", "Close the bracket, or quote text that contains one."),
    **dict.fromkeys("'\"", "Close the quotes."),
}
"""Way out, by the character where the part with an error begins."""
_FOUND = {
    **dict.fromkeys("@`%|>&*!", "Quote text that begins with a special character."),
    ":": "Quote text that contains ': ', and check the indentation.",
    "\t": "Indent with spaces, not with tabs.",
}
"""Way out, by the character where the error is."""


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of a YAML text.

    Raises:
        UnreadableError: The text is not valid YAML, or has a second document.
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
        message = "a second document begins here, and a file holds one."
        raise UnreadableError(_place(event.start_mark), message, "Remove the '---'.")
    if event.version or event.tags:
        message = "directives such as %YAML are not supported."
        raise UnreadableError(_place(event.start_mark), message, "Remove them.")


def _scalar(event: Any, kind: str) -> Event:
    place = _place(event.start_mark)
    if kind == "AliasEvent":
        message = f"the alias '*{event.anchor}' is not supported."
        return Event("scalar", place, fault=(message, "Write the value itself."))
    fault = _marks_fault(event)
    if event.style in ("'", '"', "|", ">"):
        return Event("scalar", place, event.value, fault=fault or text_fault(event.value))
    if event.value == "<<":
        unmerged = ("merge keys are not supported.", "Write the keys themselves.")
        return Event("scalar", place, event.value, fault=fault or unmerged)
    value, wrong = plain_value(event.value)
    raw = None if isinstance(value, str) else event.value
    return Event("scalar", place, value, raw, fault or wrong)


def _marks_fault(event: Any) -> Wrong | None:
    """Return the fault of a node with a tag or an anchor."""
    if event.tag is not None and str(event.tag) != "None":
        tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        remedy = "Write plain text, numbers, lists and mappings."
        return f"the tag '{tag}' is not supported.", remedy
    if event.anchor is not None:
        return f"the anchor '&{event.anchor}' is not supported.", "Remove it."
    return None


def _parsed(text: str) -> Iterator[Any]:
    """Yield the events of ruamel; all of its errors become one kind."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(mark) if mark else Place(1, 1)
        words = " ".join(str(part) for part in (error.context, error.problem) if part)
        message = f"YAML syntax error here: {_one_line(words).rstrip('.')}."
        raise UnreadableError(place, message, _remedy(text, error)) from None
    except ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"YAML does not allow the character U+{error.character:04X}."
        raise UnreadableError(place, message, "Remove it.") from None
    except (YAMLError, ValueError, AssertionError, LookupError, TypeError, AttributeError) as error:
        # For some texts the scanner raises errors of other kinds.
        said = _one_line(str(error)) or "it cannot be parsed"
        raise UnreadableError(Place(1, 1), f"YAML syntax error: {said}.") from None


def _remedy(text: str, error: Any) -> str:
    """Return the way out, by the characters where the error is and where its context begins."""
    opened, found = (
        text[mark.index : mark.index + 1] if mark else ""
        for mark in (error.context_mark, error.problem_mark)
    )
    known = _OPENED.get(opened) or _FOUND.get(found)
    return known or "Write 'key: value', and check the indentation."


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)
