"""The features of a journey, as parts of its turns: a turn runs what its journey declares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from journeygraph.journeys import JourneySpec, PathwaySpec
from journeygraph.nodes.draft import Hop, Reading, TurnDraft
from journeygraph.nodes.features import concierge, dialogue
from journeygraph.nodes.features.guidance import apply_guidelines, weigh_guidelines
from journeygraph.nodes.features.read_questions import weigh_questions
from journeygraph.nodes.features.reminders import reopen
from journeygraph.nodes.features.rephrase import reworded
from journeygraph.nodes.features.takeover import hand_over, with_person
from journeygraph.nodes.forms import offer
from journeygraph.nodes.repair import knowledge
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import Position, SessionState, Turn, Update
from journeygraph.nodes.turn.call_tools import keep_saved

Read = Callable[[TurnDraft, Reading], Awaitable[None]]
Gather = Callable[[Hop], None]
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Features:
    """Functions that the features of a journey add to a turn, by the moment they are called.

    Attributes:
        holds: Answer in place of the assistant; the first that does ends the turn.
        stops: Decide at once, before anything is interpreted.
        reads: Read the message.
        weighs: Weigh what was read against the triggers that hold.
        asks: Add what a model is asked.
        decides: Decide the turn; the first that does leaves nothing to the others.
        answers: Answer what the message asks next to what was decided.
        completes: Add to what was decided.
        gathers: Take over what the steps of a pathway noted, by its id.
        prepares: Prepare a hop whose outputs are kept for the decision on the next pathway.
        leads: Lead on from there.
        rewords: Reword the replies.
        closes: Close the record of the turn.
    """

    holds: tuple[Callable[[TurnDraft], Awaitable[Update | None]], ...] = ()
    stops: tuple[Callable[[TurnDraft], bool], ...] = ()
    reads: tuple[Read, ...] = ()
    weighs: tuple[Read, ...] = ()
    asks: tuple[Read, ...] = ()
    decides: tuple[Callable[[TurnDraft, Reading], Awaitable[bool]], ...] = ()
    answers: tuple[Callable[[TurnDraft], Awaitable[None]], ...] = ()
    completes: tuple[Callable[[TurnDraft, Reading], None], ...] = ()
    gathers: Mapping[str, tuple[Gather, ...]] = field(default_factory=dict)
    prepares: tuple[Gather, ...] = ()
    leads: tuple[Gather, ...] = ()
    rewords: tuple[Callable[[SessionState, Services, Turn], Awaitable[Turn]], ...] = ()
    closes: tuple[Callable[[Services, Mapping[str, Any], Turn], tuple[Position, Turn]], ...] = ()


def features_of(spec: JourneySpec) -> Features:
    """Return the features of a journey, in the order in which they act.

    - silence, if it has an effect: a message opens a closed session again.
    - person, if one can be called: holds a turn before all others, and closes it last.
    - dialogue, if the journey collects, acts, repairs, or has a return policy: reads and
      decides where it has the floor.
    - knowledge, if questions are looked up: reads them, and answers behind the decision.
    - guidelines, if there are any: asked before the form, and applied where the turn leads.
    - concierge, if the journey has parts: notes what is near, begun and completed.
    - rewording, if a personality wants it: acts before the turn is closed.

    Forms, effects and tools of a pathway are gathered where that pathway ran. Checks of replies
    are a separate node.
    """
    person, talks = spec.can_escalate, spec.uses_dialogue
    guided, several = bool(spec.guidelines), bool(spec.parts)
    knows = spec.has_knowledge
    rewords = any(part.personality.reword for part in (spec, *spec.parts.values()))
    return Features(
        holds=_present((spec.has_silence, reopen), (person, with_person)),
        stops=_present((person, offer.called_by_word)),
        reads=_present((talks, dialogue.read_message), (person, offer.read_wish)),
        weighs=_present((talks, dialogue.weigh_patterns), (knows, weigh_questions)),
        asks=_present(
            (guided, weigh_guidelines),
            (talks, dialogue.ask_about_form),
            (person, offer.ask_about_person),
        ),
        decides=_present((talks, dialogue.decide_dialogue), (person, offer.decide_wish)),
        answers=_present((knows, knowledge.answer_question)),
        completes=_present(
            (talks, dialogue.use_wording),
            (guided, apply_guidelines),
            (several, concierge.note_journey),
            (talks, dialogue.close_reading),
        ),
        gathers={id_: _gathers(pathway, knows=knows) for id_, pathway in spec.pathways.items()},
        prepares=_present(
            (several, concierge.note_voice),
            (talks, dialogue.record_pathway),
            (knows, knowledge.add_answer_after),
        ),
        leads=_present((talks, dialogue.continue_dialogue), (several, concierge.complete_journey)),
        rewords=_present((rewords, reworded)),
        closes=_present((person, hand_over)),
    )


def _gathers(pathway: PathwaySpec, *, knows: bool) -> tuple[Gather, ...]:
    """Return what takes over what the steps of a pathway noted."""
    acts = bool(pathway.collects or pathway.effects)
    saves = any(call.save for call in pathway.calls)
    return _present(
        (acts and knows, knowledge.add_answer_before),
        (acts, dialogue.gather_form),
        (saves, keep_saved),
    )


def _present(*given: tuple[bool, _Part]) -> tuple[_Part, ...]:
    """Return the parts of those features that are there."""
    return tuple(part for is_there, part in given if is_there)
