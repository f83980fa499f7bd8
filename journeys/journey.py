"""Journeys: whole conversations with a goal, declared as classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from journeygraph.journeys import door
from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.declarations.escalation import Escalation
from journeygraph.journeys.declarations.guidelines import Guideline, Validation
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.silence import Silence
from journeygraph.journeys.declarations.transitions import BaseTrigger, Transition
from journeygraph.journeys.door import SessionMethods
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.locale import Locale
from journeygraph.journeys.pathway import Pathway
from journeygraph.journeys.reading.class_bodies import TRANSITIONS, declared
from journeygraph.journeys.reading.reader import pathway_classes, read_journey
from journeygraph.journeys.spec.spec import JourneySpec

if TYPE_CHECKING:
    from journeygraph.journeys.results.display import Drawing
    from journeygraph.journeys.results.outcomes import JourneySession


class Journey(SessionMethods):
    """A whole conversation with a goal; declare one by subclassing.

    The body contains `Pathway` subclasses. It is read once, into a frozen `spec`. A journey without
    pathways is abstract: it can be subclassed, not started. Pathways are inherited, also from plain
    mixins; `NamePath = None` removes an inherited one.

    Most attributes are those of `journeys/reading/declared.py`, which files have too; a table of
    all of them is in docs/reference/journeys.md.

    Attributes:
        __transitions__: List of `Transition(...)`.
        __abstract__: True: the class holds parts for its subclasses and cannot be started. Its
            pathways come after theirs, its transitions and guidelines are added to theirs.
            Subclasses are not abstract unless they set it too.
        __without__: Names of inherited transitions and ids of inherited guidelines to remove.
        __guidelines__: Rules of behaviour: `Guideline(...)` of the journey, or global ones.
        __activation__: Conditions that start it in a concierge: triggers, or conditions in words.
            Default: only a hand-over starts it.
        __locale__: A `Locale`: language, region, time zone, first day of the week and formats, each
            independent of the others. A subclass can replace single parts; None removes all
            inherited parts. Default: the session's, else the config's.

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

    @property
    def session_id(self) -> str:
        """Id of the session that is talked to."""
        return self.manager.session_id

    def _repr_svg_(self) -> str | None:
        return self.draw().svg if self.spec.entry else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
