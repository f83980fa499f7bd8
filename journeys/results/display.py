"""Representations of sessions, replies and journeys in notebooks.

Colours are those of the page or see-through, so that it reads on light and on dark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import door

if TYPE_CHECKING:
    from journeygraph.journeys.spec.spec import JourneySpec

_SPEAKERS = {"user": "You", "assistant": "Assistant", "error": "Error"}
_FRAME = (
    "font-family:system-ui,sans-serif;line-height:1.45;max-width:46em;padding:.6em .9em;"
    "border:1px solid rgba(128,128,128,.4);border-radius:8px"
)
_FAINT = "opacity:.7;font-size:90%"
_BUBBLE = "white-space:pre-wrap;margin:.35em 0;padding:.4em .7em;border-radius:8px;background:"
_COLOURS = {
    "user": "rgba(59,102,176,.16)",
    "assistant": "rgba(128,128,128,.14)",
    "error": "rgba(200,40,40,.16)",
}


@dataclass(frozen=True, repr=False)
class Drawing:
    """A journey as a picture: notebooks show it as SVG, a terminal as text.

    Attributes:
        here: The current pathway of a session; empty for none.
    """

    spec: JourneySpec
    here: str = ""
    paused: Sequence[str] = ()

    @property
    def svg(self) -> str:
        """The picture as a whole SVG document."""
        return door.svg_of(self.spec, self.here, self.paused)

    def __repr__(self) -> str:
        stands = f"\nThe session is in {self.here}." if self.here else ""
        waits = f" Paused: {', '.join(self.paused)}." if self.paused else ""
        return door.text_of(self.spec) + stands + waits

    def _repr_svg_(self) -> str:
        return self.svg


def session_html(
    journey: str,
    session: str,
    place: str,
    messages: Sequence[Mapping[str, Any]],
    context: Mapping[str, Any],
) -> str:
    """Show a session as a conversation: its place, the latest messages and the context."""
    known = json.dumps(context, indent=2, ensure_ascii=False, default=str)
    body = [
        f'<div><b>{escape(journey)}</b> <span style="{_FAINT}">session {escape(session)}</span>'
        "</div>",
        place,
        *(message_html(message) for message in messages),
        f'<details style="{_FAINT}"><summary>context: '
        f"{escape(', '.join(context) or 'empty')}</summary>"
        f'<pre style="white-space:pre-wrap">{escape(known)}</pre></details>',
    ]
    return _framed(body)


def response_html(message: str, place: str) -> str:
    """Show a reply, and the place of the session after it."""
    return _framed([message_html({"role": "assistant", "content": message}), place])


def chat_html(messages: Sequence[Mapping[str, Any]], place: str, note: str) -> str:
    """Show the messages of a chat, its place, and a note for the reader."""
    return _framed([*map(message_html, messages), *map(faint_html, (place, note))])


def _framed(body: Sequence[str]) -> str:
    return f'<div style="{_FRAME}">' + "\n".join(body) + "</div>"


def place_words(pathway: str, stack: Sequence[str], *, ended: bool) -> list[str]:
    """Return the place of a session in words, and the pathways that are paused."""
    words = [f"in {pathway}", *(f"{paused} is paused" for paused in reversed(stack))]
    return [*words, "the journey is complete"] if ended else words


def place_html(pathway: str, stack: Sequence[str], *, ended: bool) -> str:
    """Show the place of a session, and the pathways that are paused."""
    at, *others = map(escape, place_words(pathway, stack, ended=ended))
    return f'<div style="{_FAINT}">{", ".join([f"in <b>{at[3:]}</b>", *others])}</div>'


def faint_html(text: str) -> str:
    """Show a line about a conversation; nothing for no text."""
    return f'<div style="{_FAINT}">{escape(text)}</div>' if text else ""


def speaker(role: str) -> str:
    """Return the name that is shown for a role."""
    return _SPEAKERS.get(role, role.capitalize())


def message_html(message: Mapping[str, Any]) -> str:
    """Show one message of a conversation."""
    role = str(message.get("role", ""))
    colour = _COLOURS.get(role, _COLOURS["assistant"])
    text = escape(str(message.get("content", "")))
    return f'<div style="{_BUBBLE}{colour}"><b>{escape(speaker(role))}</b>  {text}</div>'
