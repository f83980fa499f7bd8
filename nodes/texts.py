"""Words of the runtime: texts filled with values, and the voice of a turn."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from journeygraph.journeys import Field, JourneySpec, PathwaySpec
from journeygraph.journeys.declarations.behaviors import ReturnToSpecific
from journeygraph.journeys.phrases import LONGEST_MATCH
from journeygraph.journeys.spec.capability_table import part
from journeygraph.journeys.texts import BRACED
from journeygraph.nodes.services import Services, setting_of
from journeygraph.nodes.state.dialogue_state import Asked, DialogueState, FieldAttempt, Option
from journeygraph.nodes.state.form_state import FormState, current_value, field_named
from journeygraph.nodes.state.session import Position, Turn
from journeygraph.nodes.state.stack import note
from journeygraph.nodes.telemetry import report
from journeygraph.nodes.values.setting import Setting

_PLACE = re.compile(BRACED.pattern + "( ?)")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")


def worded(text: str, /, **values: Any) -> str:
    """Return a text with values in place of its placeholders.

    A placeholder is a bare name in braces: nothing is formatted or looked up in a value, and what
    is in a value stays as it is, braces included. One without a value is left as it is. An
    empty value takes the space next to it along.
    """

    def filled(found: re.Match[str]) -> str:
        name, space = found.groups()
        if name not in values:
            return found[0]
        value = str(values[name])
        return value + space if value else ""

    return _TRAILING.sub("", _PLACE.sub(filled, text))


class Voice:
    """Words of a turn while it is decided; the draft has the record of it.

    Attributes:
        fields: All attempts at fields that the state keeps, with those of this step.
        replies: The runtime's own replies.
        run: The pathway that runs; None: nothing does.
        aside: The pathway that answers in place of a text, where the journey has one for that.
        leads_to: Other pathway that the message leads to, while its answers are taken: then none of
            them ends the turn with a question.
        settled: True if what runs is decided.
    """

    services: Services
    spec: JourneySpec
    turn: Turn
    position: Position
    context: Mapping[str, Any]
    fields: dict[str, list[FieldAttempt]]
    replies: list[str]
    audit: list[dict[str, Any]]
    run: str | None
    aside: str | None
    leads_to: PathwaySpec | None
    settled: bool
    _form_states: dict[str, FormState]
    _place: tuple[Position, PathwaySpec] | None

    @cached_property
    def dialogue(self) -> DialogueState:
        """Dialogue state of the session, read on first use."""
        return DialogueState.of(self.position)

    @cached_property
    def setting(self) -> Setting:
        """Time and locale of the user."""
        return setting_of(self.services, self.turn)

    @property
    def here(self) -> PathwaySpec:
        """The pathway of the conversation: the current one, or the one that it returns to."""
        if self._place is None or self._place[0] is not self.position:
            place = talked_about(self.spec, self.position)
            self._place = (self.position, self.spec.pathways[place])
        return self._place[1]

    @property
    def places(self) -> list[str]:
        """The open pathways: that of the conversation, the current one, the paused, last first."""
        paused = [frame["pathway"] for frame in reversed(self.position["stack"])]
        return list(dict.fromkeys([self.here.id, self.position["pathway"], *paused]))

    def form_state(self, pathway: PathwaySpec | None = None) -> FormState:
        """Return the current form of a pathway; default: of the one that is talked about."""
        pathway = pathway or self.here
        made = self._form_states.get(pathway.id)
        if made is None or made.attempts is not self.fields or made.context is not self.context:
            carried = partial(self._carried, pathway)
            given = (self.fields, self.context, self.dialogue, carried)
            made = FormState.of(self.spec, pathway, *given)
            self._form_states[pathway.id] = made
        return made

    def _carried(self, pathway: PathwaySpec) -> list[Field]:
        guessed = [n for n in self.dialogue.guessed if current_value(self.fields, n) is not None]
        if not guessed:
            return []
        used = {n for effect in pathway.effects for n in self.services.names_used(effect)}
        own = pathway.form or ()
        return [self.field(n) for n in guessed if n in used and n not in own]

    def say(self, name: str, **values: Any) -> None:
        """Return a text of the catalogue, with values for its placeholders."""
        self.replies.append(self.text(name, **values))

    def text(self, name: str, **values: Any) -> str:
        """Return a text of the catalogue."""
        texts = self.services.texts_in(self.position["pathway"])
        if "field" in values:  # its article gives way to that of the text
            cut = part("language").without_article
            values["field"] = cut(values["field"], self.setting.language)
        return worded(getattr(texts, name), **values)

    def repair(self, pattern: str, name: str, **values: Any) -> None:
        """Answer by a repair pattern: by a text, or by the pathway that the journey has for it."""
        self.answer(pattern, self.text(name, **values))

    def answer(self, pattern: str, text: str) -> None:
        """Answer by a repair pattern as `repair` does, with words that are found already."""
        self.note("repaired", trigger=pattern)
        if own := self.spec.pattern_in(self.here.id, pattern):
            self.aside = own
        else:
            self.replies.append(text)

    def ask(self, asked: Asked | None) -> None:
        """Remember what the user is asked; the next message may answer it."""
        self.dialogue.asked = asked

    def rest(self) -> None:
        """Run nothing; the words are the answer."""
        self.run, self.settled = None, True

    def close(self, asked: Asked | None, name: str, **values: Any) -> None:
        """End the turn with a question or a last word, unless the message leads on."""
        if self.leads_to is None:
            self.say(name, **values)
            self.ask(asked)
            self.rest()

    def listed(self, options: Sequence[Option]) -> str:
        """Return options as a list that the user may choose from by number."""
        return "\n".join(f"{n}. {option['label']}" for n, option in enumerate(options, 1))

    def note(self, kind: str, **details: Any) -> None:
        """Audit what happened."""
        self.audit.append(note(kind, self.position, **details))

    def value(self, name: str) -> Any:
        """Return the value of a field; None if it has none."""
        return current_value(self.fields, name)

    def field(self, name: str) -> Field:
        """Return the field of a name: as declared here, else as declared elsewhere."""
        form = self.here.form
        return (form.get(name) if form else None) or field_named(self.spec, name)

    def shown(self, wanted: Field, value: Any) -> str:
        """Return a value as the user reads it."""
        if wanted.sensitive:
            return self.services.texts_in(self.position["pathway"]).hidden
        text: str = part("values").shown(wanted, value, self.setting)
        return text

    def note_stopped_patterns(self) -> None:
        """Audit the fields, one of whose patterns was stopped since the turn's step began."""
        late = self.setting.patterns.late if "setting" in vars(self) else ()
        if late:
            report(logging.WARNING, "pattern_late", fields=", ".join(late))
        reason = f"one of its patterns took longer than {LONGEST_MATCH * 1000:.0f} ms: no match"
        for name in late:
            self.note("pattern_late", trigger=name, reason=reason)


def talked_about(spec: JourneySpec, position: Position) -> str:
    """Return the pathway that the next message is about, if it leads nowhere else.

    It is where the session is if this version of the journey lacks the pathway to return to.
    """
    here = position["pathway"]
    if not position["returning"] or here not in spec.pathways:
        return here
    returns = spec.pathways[here].returns
    if isinstance(returns, ReturnToSpecific):
        return returns.target_pathway
    paused = position["stack"][-1]["pathway"] if position["stack"] else here
    return paused if paused in spec.pathways else here
