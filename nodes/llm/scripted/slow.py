"""An answer that takes its time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nodes.llm.scripted import wire
from nodes.llm.scripted.call import Call
from nodes.llm.scripted.faults import Fault
from nodes.llm.scripted.speech import Speech, Spoken
from nodes.llm.scripted.wire import Piece, Reply


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer at the pace of a model: `Slow("...", before=0.2, over=1.0, tokens=50)`.

    Attributes:
        answer: What is said, or how it fails.
        before: Seconds until the first token.
        over: Seconds from the first token to the end, shared out evenly behind the tokens; a
            caller that wants no stream waits for both together.
        tokens: Pieces that a text is divided into, at most one a character; None: about a word
            each.
    """

    answer: Spoken | Fault
    before: float = 0.0
    over: float = 0.0
    tokens: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.answer, Fault):
            Speech.of(self.answer)
        elif self.tokens is not None:
            raise TypeError("a fault has its own pieces; leave out tokens")

    def reply(self, call: Call) -> Reply:
        """Return the answer with its pauses."""
        planned = self._planned(call)
        if not call.stream:
            return replace(planned, wait=planned.wait + self.before + self.over)
        spoken = [place for place, piece in enumerate(planned.pieces) if piece.spoken]
        pieces = list(planned.pieces)
        for place in spoken:
            if place + 1 < len(pieces):
                pieces[place + 1] = _later(pieces[place + 1], self.over / len(spoken))
        return replace(planned, pieces=tuple(pieces), wait=planned.wait + self.before)

    def _planned(self, call: Call) -> Reply:
        if isinstance(self.answer, Fault):
            return self.answer.reply(call)
        return wire.reply(replace(Speech.of(self.answer), tokens=self.tokens), call)


def _later(piece: Piece, pause: float) -> Piece:
    return replace(piece, wait=piece.wait + pause)
