"""Read the questions of a message that may be looked up, without a model."""

from __future__ import annotations

from dataclasses import replace

from journeygraph.nodes.capability import Capability
from journeygraph.nodes.commands import Ask, Fill
from journeygraph.nodes.draft import PathwayRun, TurnDraft
from journeygraph.nodes.features.form_reading import parse_of
from journeygraph.nodes.language.proposals import clauses_in, questions_in
from journeygraph.nodes.repair.knowledge import answer_question, say_after, say_before
from journeygraph.nodes.state.interpretation import Interpretation, Parse
from journeygraph.nodes.steer import allowed_transitions, asks_model


class KnowledgeAnswers(Capability):
    """Questions of users that are looked up: read, and answered behind the decision."""

    async def weigh(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Read the questions of a message that may be looked up, without a model.

        A question is no value of the field that was asked for, and nothing that is exact is looked
        up. The rest of the message is read without it.
        """
        if not draft.spec.answers_in(draft.here.id) or not reading.is_read or reading.parse.exact:
            return
        questions = questions_in(draft.message, draft.setting.language)
        if not questions:
            return
        clauses = clauses_in(draft.message)
        rest = ", ".join(clause for clause in clauses if clause not in questions)
        parse = parse_of(draft, rest) if rest else Parse()
        asked = " ".join(questions) if parse.commands else draft.message.strip()
        commands = [replace(c, certain=False) if isinstance(c, Fill) else c for c in parse.commands]
        exact = not rest or parse.exact
        reading.parse = Parse([*commands, Ask(asked)], exact=exact, unread=parse.unread)
        # Whether a pathway of the author's own answers it, a model may have to say.
        is_judged = any(map(asks_model, allowed_transitions(draft.spec, reading.position)))
        reading.is_certain = exact and not is_judged

    async def answer(self, draft: TurnDraft) -> None:
        """Answer the question of the turn: by the journey's own pathway, or from knowledge."""
        await answer_question(draft)

    def gather(self, run: PathwayRun) -> None:
        """Say the answer before the form of the pathway asks on."""
        if run.pathway.collects or run.pathway.effects:
            say_before(run)

    def record(self, run: PathwayRun) -> None:
        """Say the answer behind what the pathway did."""
        say_after(run)
