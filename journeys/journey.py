"""Journeys: whole conversations with a goal, declared as classes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from journeygraph.journeys import door
from journeygraph.journeys.config import AnswerRule, JourneyConfig, WhenBusy
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.locale import Locale
from journeygraph.journeys.notions.escalation import Escalation
from journeygraph.journeys.notions.guidelines import Guideline, Validation
from journeygraph.journeys.notions.personality import Personality
from journeygraph.journeys.notions.silence import Silence
from journeygraph.journeys.notions.transitions import BaseTrigger, Transition
from journeygraph.journeys.pathway import Pathway
from journeygraph.journeys.reading.class_bodies import TRANSITIONS, declared
from journeygraph.journeys.reading.reader import pathway_classes, read_journey
from journeygraph.journeys.spec.spec import JourneySpec

if TYPE_CHECKING:
    from journeygraph.journeys.results.display import Drawing
    from journeygraph.journeys.results.outcomes import (
        AuditedTurn,
        AuditEntry,
        CheckEntry,
        EscalationCase,
        EscalationEntry,
        FieldAttemptEntry,
        FieldVersion,
        FormView,
        JourneyEvent,
        JourneyResponse,
        JourneySession,
        Page,
        TranscriptEntry,
        VersionInfo,
        VersionState,
    )


class Journey:
    """A whole conversation with a goal; declare one by subclassing.

    The body contains `Pathway` subclasses. It is read once, into a frozen `spec`. A journey without
    pathways is abstract: it can be subclassed, not started. Pathways are inherited, also from plain
    mixins; `NamePath = None` removes an inherited one.

    Attributes:
        __entry_pathway__: Id of the pathway in which a session begins; not a detour. Default: the
            first pathway.
        __transitions__: List of `Transition(...)`.
        __version__: Text; a session of another version continues, and this is audited. Default: a
            hash of the definition.
        __abstract__: True: the class holds parts for its subclasses and cannot be started. Its
            pathways come after theirs, its transitions and guidelines are added to theirs.
            Subclasses are not abstract unless they set it too.
        __without__: Names of inherited transitions and ids of inherited guidelines to remove.
        __sensitive__: True: state, transcript and audit are encrypted; this needs an
            `encryption_key`.
        __guidelines__: Rules of behaviour: `Guideline(...)` of the journey, or global ones.
        __validation__: `Validation(...)`: how replies are checked. Default: before sending if a
            guideline is critical; otherwise not.
        __safe_reply__: Replaces a reply that breaks the rules. Default: `texts.unsafe`.
        __degrade__: Answer of a turn that fails: "canned", "freeform" or "refuse".
        __model__: Model of its agents. Default: `agent_model` of the config.
        __activation__: Conditions that start it in a concierge: triggers, or conditions in words.
            Default: only a hand-over starts it.
        __shared__: Context names that other journeys of a concierge can still use.
        __escalation__: `Escalation(...)`: when a person takes over. Default: no person is called.
        __silence__: `Silence(...)`: reminders, and the end of the session, if the user sends no
            message. Default: neither.
        __personality__: `Personality(...)`: name, tone, formality and greeting. Default: neutral.
        __locale__: `Locale(...)`: language, region, time zone, first day of the week and formats,
            each independent of the others. A subclass can replace single parts; None removes all
            inherited parts. Default: the session's, else the config's.
        __texts__: Name of a text -> its words, for all languages; or "en", "de", "es", "fr" ->
            such a dict. Default: the catalogue's.
        __patterns__: Name of a repair pattern -> id of the pathway that replaces it. Default: the
            catalogue's texts.
        __knowledge__: Source for questions that no pathway answers: a retriever, `Knowledge(...)`,
            or the name of a retriever passed in `tools`. Default: "I cannot answer that here."
        __migrations__: Old id of a pathway -> its new id: sessions that are in the old pathway, or
            have paused it, continue in the new one. Default: they continue in the newest paused
            pathway that still exists, else at the entry; the user is informed.
        __stranded__: "refuse": a session whose pathway does not exist in this version is not moved;
            its turns raise `NeedsMigrationError` until its own version is used. Default: "move".

    Args:
        session_id: Id of the session; 1 to 200 printable characters.
        config: Settings; the defaults keep the session in "sqlite:///journeys.db".
        agents: Agent name -> function, Runnable, graph, object with `run` or `arun`, or
            `ModelAgent`.
        model: Model that understands messages, and is the agent of each pathway that has a
            signature and no registered agent. None: the models that the config names, if
            `OPENAI_API_KEY` is set (`OPENAI_BASE_URL` for a compatible server) or one of them is
            another provider's ("anthropic:..."); else no model. A LangChain chat model, or the name
            of a model: that one for every step. False: no model, regardless of other settings.
        tools: Tool name -> function, LangChain tool, or `Tool`: implementations of the tools that
            pathways call and that guidelines and files name. Model agents may use them too. A
            retriever that `__knowledge__` names is passed here as well, and does not become a tool.
        saver: A LangGraph checkpointer of your own for the state; the ledger stays in the store.
        on_end: Called with the response of each turn in which the journey ended.
        on_expire: Called with the id of a session of this journey that is found to have expired.

    Raises:
        JourneyDefinitionError: At class creation, with every fault of the body.
        AgentNotRegisteredError: No pathway uses a given agent.
        ConfigurationError: An agent or the model is nothing that can be one.

    Source: ADR-025 section 5.1.

    Example:
        >>> class Greeting(Journey):
        ...     '''Say hello.'''
        ...
        ...     class HelloPath(Pathway):
        ...         __agents__ = ["greeter"]
        >>> Greeting.spec.entry
        'hello'
        >>> async def talk():
        ...     config = JourneyConfig(persistence="memory://")
        ...     async with Greeting("s-1", config, agents={"greeter": lambda _: "Hi!"}) as journey:
        ...         await journey.start()
        ...         return (await journey.process_message("Hello")).message
        >>> import asyncio
        >>> asyncio.run(talk())
        'Hi!'
    """

    __entry_pathway__: ClassVar[str | None] = None
    __transitions__: ClassVar[Sequence[Transition]] = ()
    __version__: ClassVar[str | None] = None
    __sensitive__: ClassVar[bool] = False
    __abstract__: ClassVar[bool] = False
    __without__: ClassVar[Sequence[str]] = ()
    __guidelines__: ClassVar[Sequence[Guideline]] = ()
    __validation__: ClassVar[Validation | None] = None
    __safe_reply__: ClassVar[str] = ""
    __degrade__: ClassVar[str] = "canned"
    __model__: ClassVar[str | None] = None
    __activation__: ClassVar[Sequence[BaseTrigger | str]] = ()
    __shared__: ClassVar[Sequence[str]] = ()
    __escalation__: ClassVar[Escalation | None] = None
    __silence__: ClassVar[Silence | None] = None
    __personality__: ClassVar[Personality | None] = None
    __locale__: ClassVar[Locale | None] = None
    __texts__: ClassVar[Mapping[str, Any]] = {}
    __patterns__: ClassVar[Mapping[str, str]] = {}
    __knowledge__: ClassVar[Any] = None
    __migrations__: ClassVar[Mapping[str, str]] = {}
    __stranded__: ClassVar[str] = "move"
    spec: ClassVar[JourneySpec]

    def __init_subclass__(cls, *, spec: JourneySpec | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.spec = spec or read_journey(cls, Journey)

    def __init__(
        self,
        session_id: str,
        config: JourneyConfig | None = None,
        *,
        agents: Mapping[str, Any] | None = None,
        model: Any = None,
        tools: Mapping[str, Any] | None = None,
        saver: Any = None,
        on_end: Any = None,
        on_expire: Any = None,
    ) -> None:
        self.config = config or JourneyConfig()
        self.manager = door.open_manager(
            self,
            session_id=session_id,
            config=self.config,
            agents=agents,
            model=model,
            tools=tools,
            saver=saver,
            on_end=on_end,
            on_expire=on_expire,
        )

    @classmethod
    async def restore(
        cls,
        session_id: str,
        config: JourneyConfig | None = None,
        *,
        agents: Mapping[str, Any] | None = None,
        model: Any = None,
        tools: Mapping[str, Any] | None = None,
        saver: Any = None,
        on_end: Any = None,
        on_expire: Any = None,
    ) -> Self:
        """Continue a session from its stored state, in any process.

        Raises:
            SessionNotStartedError: There is no such session in the store.
            SessionExpiredError: The session has expired.
            AgentNotRegisteredError: `agents` was given and leaves names without an agent.
        """
        callbacks = {"on_end": on_end, "on_expire": on_expire}
        given = {"agents": agents, "model": model, "tools": tools, "saver": saver}
        journey = cls(session_id, config, **given, **callbacks)
        try:
            await journey.manager.restore(agents=agents)
        except BaseException:
            await journey.close()
            raise
        return journey

    @classmethod
    def compile(
        cls,
        agents: Mapping[str, Any] | None = None,
        config: JourneyConfig | None = None,
        *,
        model: Any = None,
        tools: Mapping[str, Any] | None = None,
        checkpointer: Any = None,
        **options: Any,
    ) -> Any:
        """Return the journey as a compiled LangGraph graph, without a saver.

        It takes `{"messages": [...]}`, so it opens in LangGraph Studio; an empty thread starts at
        the entry pathway. It is async only, gives LangChain messages, and raises what fails:
        apologies, sessions and checks of the input are the manager's.

        Args:
            agents: Agent name -> agent.
            config: Settings; those of sessions and stores play no part.
            model: As of the journey itself.
            tools: As of the journey itself.
            checkpointer: For a LangGraph program of your own: a saver, or True where the graph is
                a node of another one and is to keep its place between that graph's runs. Without
                it, it refuses to run as a node of a graph that has a saver, unless this is False.
            **options: The other arguments of LangGraph's own `compile`: store, cache,
                interrupt_before, interrupt_after, debug, name, ...

        Raises:
            AgentNotRegisteredError: Names are missing, or not used.
        """
        settings = config or JourneyConfig()
        return door.compile_journey(
            cls.spec,
            agents=agents or {},
            config=settings,
            model=model,
            tools=tools or {},
            checkpointer=checkpointer,
            **options,
        )

    @classmethod
    def draw(cls, session: JourneySession | None = None) -> Drawing:
        """Return a picture of the transitions; a notebook shows it, `print` writes it as text.

        Args:
            session: Session whose active and paused pathways are marked.

        Raises:
            JourneyDefinitionError: The journey has no pathways.
        """
        if not cls.spec.entry:
            raise JourneyDefinitionError([cls.spec.why_abstract])
        from journeygraph.journeys.results.display import Drawing  # noqa: PLC0415 - notebooks alone show journeys

        if session is None:
            return Drawing(cls.spec)
        return Drawing(cls.spec, session.current_pathway_id, session.pathway_stack)

    @property
    def pathways(self) -> dict[str, type[Pathway]]:
        """The pathway classes by id, in order; a copy."""
        return pathway_classes(type(self), Journey)

    @property
    def entry_pathway(self) -> str | None:
        """Id of the pathway where a session begins; None for an abstract journey."""
        return self.spec.entry or None

    @property
    def transitions(self) -> list[Transition]:
        """The transitions as declared, with those of abstract bases; a copy."""
        return [entry.item for entry in declared(type(self), Journey, TRANSITIONS, [])]

    def register_agent(self, agent_id: str, agent: Any) -> None:
        """Give a name its agent; the same as `journey.manager.register_agent`."""
        self.manager.register_agent(agent_id, agent)

    async def start(
        self,
        initial_context: Mapping[str, Any] | None = None,
        *,
        locale: Locale | None = None,
        user: str | None = None,
        idempotency_key: str | None = None,
    ) -> JourneySession:
        """Start the session at the entry pathway; see `PathwayManager.start_session`."""
        return await self.manager.start_session(
            initial_context, locale=locale, user=user, idempotency_key=idempotency_key
        )

    async def process_message(
        self,
        message: str,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: WhenBusy | None = None,
    ) -> JourneyResponse:
        """Run one turn; see `PathwayManager.process_message`."""
        given = {
            "metadata": metadata,
            "tags": tags,
            "callbacks": callbacks,
            "idempotency_key": idempotency_key,
            "when_busy": when_busy,
        }
        return await self.manager.process_message(message, **given)

    def stream_message(
        self,
        message: str,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: WhenBusy | None = None,
    ) -> AsyncIterator[JourneyEvent]:
        """Run one turn and yield its events; see `PathwayManager.stream_message`."""
        given = {
            "metadata": metadata,
            "tags": tags,
            "callbacks": callbacks,
            "idempotency_key": idempotency_key,
            "when_busy": when_busy,
        }
        return self.manager.stream_message(message, **given)

    async def resume(
        self,
        value: Any,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: AnswerRule | None = None,
    ) -> JourneyResponse:
        """Go on where an agent called `interrupt()`; see `PathwayManager.resume`."""
        given = {
            "metadata": metadata,
            "tags": tags,
            "callbacks": callbacks,
            "idempotency_key": idempotency_key,
            "when_busy": when_busy,
        }
        return await self.manager.resume(value, **given)

    def stream_resume(
        self,
        value: Any,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: AnswerRule | None = None,
    ) -> AsyncIterator[JourneyEvent]:
        """Continue as `resume` does, and yield the events of the turn."""
        given = {
            "metadata": metadata,
            "tags": tags,
            "callbacks": callbacks,
            "idempotency_key": idempotency_key,
            "when_busy": when_busy,
        }
        return self.manager.stream_resume(value, **given)

    async def process_event(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
    ) -> JourneyResponse:
        """Take an event from outside; see `PathwayManager.process_event`."""
        given = {
            "metadata": metadata,
            "tags": tags,
            "callbacks": callbacks,
            "idempotency_key": idempotency_key,
        }
        return await self.manager.process_event(name, data, **given)

    async def take_timer(self) -> JourneyResponse | None:
        """Take the timer that is due, if one is; see `PathwayManager.take_timer`."""
        return await self.manager.take_timer()

    async def next_timer(self) -> datetime | None:
        """Return the time of the next timer; see `PathwayManager.next_timer`."""
        return await self.manager.next_timer()

    async def rollback(self, version: int, *, idempotency_key: str | None = None) -> JourneySession:
        """Make a new version with the state of an older one; see `PathwayManager.rollback`."""
        return await self.manager.rollback(version, idempotency_key=idempotency_key)

    async def fork(
        self, version: int, session_id: str | None = None, *, idempotency_key: str | None = None
    ) -> JourneySession:
        """Begin another session in the state of a version; see `PathwayManager.fork`."""
        return await self.manager.fork(version, session_id, idempotency_key=idempotency_key)

    async def list(self, limit: int = 100, after: str | None = None) -> Page[str]:
        """Return the ids of this journey's sessions, newest activity first.

        `after` is `next` of the page before; see `PathwayManager.list`.
        """
        return await self.manager.list(limit, after)

    async def delete(self) -> None:
        """Remove the session, its history and its audit for good."""
        await self.manager.delete()

    async def close(self) -> None:
        """Release the store; the session stays in it."""
        await self.manager.close()

    def _repr_svg_(self) -> str | None:
        return self.draw().svg if self.spec.entry else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def session_id(self) -> str:
        """Id of the session that is talked to."""
        return self.manager.session_id

    async def get_session_state(self) -> JourneySession | None:
        """Return the state of the session; None before it is started."""
        return await self.manager.get_session_state()

    async def snapshot(self) -> dict[str, Any]:
        """Return a copy of the context."""
        return await self.manager.snapshot()

    async def versions(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[VersionInfo]:
        """Return versions of the session, oldest first; see `PathwayManager.versions`."""
        return await self.manager.versions(limit, after)

    async def state_at(self, version: int) -> VersionState:
        """Return the context at a version, and its difference to the version before."""
        return await self.manager.state_at(version)

    async def context_history(
        self, name: str, limit: int | None = None, after: str | None = None
    ) -> Page[FieldVersion]:
        """Return the values that a context name has had, oldest first."""
        return await self.manager.context_history(name, limit, after)

    async def audit(self, limit: int | None = None, after: str | None = None) -> Page[AuditEntry]:
        """Return the audit of the session, oldest first."""
        return await self.manager.audit(limit, after)

    async def turns(self, limit: int | None = None, after: str | None = None) -> Page[AuditedTurn]:
        """Return all records of turns, oldest first: audit, checks, attempts, decision, steps."""
        return await self.manager.turns(limit, after)

    async def checks(self, limit: int | None = None, after: str | None = None) -> Page[CheckEntry]:
        """Return how replies of the session were checked, oldest first."""
        return await self.manager.checks(limit, after)

    async def fields(self) -> FormView:
        """Return what the session has collected, and what it asks for."""
        return await self.manager.fields()

    async def attempts(
        self, name: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page[FieldAttemptEntry]:
        """Return the attempts at a field, or at all of them, oldest first."""
        return await self.manager.attempts(name, limit, after)

    async def escalations(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[EscalationEntry]:
        """Return the calls for a person, oldest first."""
        return await self.manager.escalations(limit, after)

    async def escalation(self) -> EscalationCase | None:
        """Return the last call for a person with all that they get to read; None: there is none."""
        return await self.manager.escalation()

    async def claim(self, by: str) -> JourneySession:
        """Take the conversation as an operator; see `PathwayManager.claim`."""
        return await self.manager.claim(by)

    async def operator_says(self, text: str, by: str) -> JourneySession:
        """Say something to the user as an operator; see `PathwayManager.operator_says`."""
        return await self.manager.operator_says(text, by)

    async def release(self, by: str) -> JourneySession:
        """Give the conversation back to the assistant; see `PathwayManager.release`."""
        return await self.manager.release(by)

    async def transcript(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[TranscriptEntry]:
        """Return the messages and replies, oldest first."""
        return await self.manager.transcript(limit, after)
