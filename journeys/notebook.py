"""A live chat with a journey in a cell of a notebook."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.errors import ConfigurationError, JourneyError
from journeygraph.journeys.results import display

if TYPE_CHECKING:
    from journeygraph.journeys.journey import Journey
    from journeygraph.journeys.results.outcomes import JourneyResponse

_WITHOUT_WIDGETS = (
    "Text only: `await chat.say(...)` sends a message, and showing the chat again shows the reply. "
    "For a field and buttons: pip install 'journeygraph[notebook]'."
)
_WRITE = "Write a message"
_PAUSE = 0.05
"""Seconds between two updates of a reply that streams."""


class Chat:
    """A live chat with a journey: the last line of a cell shows it.

    It has a field to write in and a button for each option of the open question, and replies
    appear while they are made. This needs the extra `notebook` (ipywidgets). Without it, the cell
    shows the conversation as text. `await chat.say(...)` sends a message from a cell in both cases.

    Args:
        journey: A journey class, for a new session; or an open journey, whose session continues.
        context: First values of the context, if the session has to be started.
        **options: For a class: the arguments of its constructor, such as `agents` and `tools`. By
            default the session has a new id and the store "memory://".

    Attributes:
        journey: The journey with its session.

    Raises:
        ConfigurationError: `journey` is not a journey, or options were given for an open one.

    Example:
        >>> from journeygraph import Journey, Pathway
        >>> class Greeting(Journey):
        ...     '''Greet the user.'''
        ...
        ...     class HelloPath(Pathway):
        ...         __agents__ = ["porter"]
        >>> async def talk():
        ...     chat = Chat(Greeting, agents={"porter": lambda given: "Hi!"})
        ...     await chat.say("Hello")
        ...     print(chat)
        >>> asyncio.run(talk())
        You: Hello
        Assistant: Hi!
        (in hello, the journey is complete)
    """

    def __init__(
        self,
        journey: Journey | type[Journey],
        *,
        context: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.journey = _opened(journey, options)
        self._context = context
        self._messages: list[dict[str, str]] = []
        self._asked: Mapping[str, Any] = {}
        self._place = ""
        self._is_open = False
        self._turn = asyncio.Lock()
        self._work: asyncio.Task[Any] | None = None
        self._panel: _Panel | None = None

    async def say(self, message: str) -> JourneyResponse:
        """Send a message, show it with the reply, and return the response.

        Raises:
            JourneyError: As of `process_message`; the chat shows it too.
        """
        return await self._send(message, message)

    async def _send(self, message: str, shown: str) -> JourneyResponse:
        """Run a turn; `shown` replaces the message in the chat, such as the label of an option."""
        async with self._one_at_a_time():
            self._add("user", shown)
            return await self._stream(message)

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[None]:
        async with self._turn:
            try:
                await self._begin()
                yield
            except Exception as error:
                kind = "" if isinstance(error, JourneyError) else f"{type(error).__name__}: "
                self._add("error", f"{kind}{error}")
                raise
            finally:
                self._show_question()

    async def _begin(self) -> None:
        if self._is_open:
            return
        session = await self.journey.get_session_state()
        session = session or await self.journey.start(self._context)
        self._is_open = True
        for message in session.conversation_history:
            self._add(str(message["role"]), str(message["content"]))
        self._asked = session.asked or {}
        self._place = _place_of(
            session.current_pathway_id,
            session.pathway_stack,
            session.phase,
            ended=session.is_journey_complete,
        )

    async def _stream(self, message: str) -> JourneyResponse:
        reply: JourneyResponse | None = None
        text, due = "", 0.0
        clock = asyncio.get_running_loop().time
        self._add("assistant", "…")
        try:
            async for event in self.journey.stream_message(message):
                if event.type == "done":
                    reply = event.data["response"]
                elif event.type == "token":
                    text += event.data["text"]
                    if clock() >= due:
                        self._change(text)
                        due = clock() + _PAUSE
        finally:
            self._change(reply.message if reply else text)
        assert reply is not None  # a stream without `done` raises
        about = reply.metadata
        self._asked = about["asked"] or {}
        self._place = _place_of(
            reply.pathway_id,
            about["pathway_stack"],
            about["phase"],
            ended=reply.is_journey_complete,
        )
        return reply

    def _add(self, role: str, text: str) -> None:
        self._messages.append({"role": role, "content": text})
        if self._panel:
            self._panel.add(self._messages[-1])

    def _change(self, text: str) -> None:
        self._messages[-1]["content"] = text
        if not text:
            self._messages.pop()
        if self._panel:
            self._panel.change(self._messages[-1] if text else None)

    def _show_question(self) -> None:
        if self._panel:
            self._panel.ask(self._asked, self._place)

    def __repr__(self) -> str:
        lines = [f"{display.speaker(one['role'])}: {one['content']}" for one in self._messages]
        return "\n".join([*lines, self._place or "(not started)"])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the widgets, and for pages that cannot run them the conversation so far."""
        panel = self._widgets()
        note = "" if panel else _WITHOUT_WIDGETS
        shown = {
            "text/plain": f"{self!r}\n{note}".strip(),
            "text/html": display.chat_html(self._messages, self._place, note),
        }
        return {**panel.box._repr_mimebundle_(), **shown} if panel else shown

    def _widgets(self) -> _Panel | None:
        """Return the widgets; None without ipywidgets, or without a loop that they could use."""
        if self._panel:
            return self._panel
        try:
            asyncio.get_running_loop()
            self._panel = _Panel(lambda *sent: self._start(self._send(*sent)))
        except (ImportError, RuntimeError):
            return None
        for message in self._messages:
            self._panel.add(message)
        if self._is_open:
            self._show_question()
        else:
            self._panel.enable(is_free=False)
            self._start(self._open())
        return self._panel

    async def _open(self) -> None:
        async with self._one_at_a_time():
            pass

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        async def shown() -> None:
            with suppress(Exception):  # the chat shows it; the cell ended long ago
                await work

        self._work = asyncio.get_running_loop().create_task(shown())


def _opened(journey: Any, options: dict[str, Any]) -> Journey:
    if isinstance(journey, type) and hasattr(journey, "spec"):
        given = {"session_id": f"chat-{uuid.uuid4().hex[:8]}", **options}
        given["config"] = options.get("config") or JourneyConfig(persistence="memory://")
        opened: Journey = journey(**given)
        return opened
    if isinstance(journey, type) or not hasattr(journey, "stream_message"):
        message = f"Chat needs a journey, not {type(journey).__name__}: a class, or an open one."
        raise ConfigurationError(message)
    if options:
        names = ", ".join(options)
        raise ConfigurationError(f"Chat has an open journey: give it {names} where it is opened.")
    session: Journey = journey
    return session


def _place_of(pathway: str, stack: Sequence[str], phase: str, *, ended: bool) -> str:
    words = display.place_words(pathway, stack, ended=ended)
    words += ["a person has the conversation"] if phase == "escalated" else []
    return f"({', '.join(words)})"


class _Panel:
    """The widgets of a chat: its messages, options as buttons, and a field to write in.

    Args:
        send: Called with each message of the user, and the text to show for it.
    """

    def __init__(self, send: Callable[[str, str], None]) -> None:
        import ipywidgets  # noqa: PLC0415 - an extra, and slow to import

        self._kit, self._on_send = ipywidgets, send
        self.messages = ipywidgets.VBox()
        self.place = ipywidgets.HTML()
        self.options = ipywidgets.Box(layout={"flex_flow": "row wrap"})
        self.field = ipywidgets.Text(placeholder=_WRITE, layout={"flex": "1"})
        self.button = ipywidgets.Button(description="Send", button_style="primary")
        row = ipywidgets.HBox([self.field, self.button])
        parts = [self.messages, self.place, self.options, row]
        self.box = ipywidgets.VBox(parts, layout={"max_width": "46em"})
        self.button.on_click(lambda _: self.send(self.field.value))
        self.field.on_msg(self._on_enter)

    def add(self, message: Mapping[str, str]) -> None:
        shown = self._kit.HTML(display.message_html(message))
        self.messages.children = (*self.messages.children, shown)
        if message["role"] == "user":
            self.enable(is_free=False)

    def change(self, message: Mapping[str, str] | None) -> None:
        if message is None:
            self.messages.children = self.messages.children[:-1]
        else:
            self.messages.children[-1].value = display.message_html(message)

    def ask(self, asked: Mapping[str, Any], place: str) -> None:
        self.place.value = display.faint_html(place)
        self.field.placeholder = asked.get("hint") or _WRITE
        self.options.children = tuple(map(self._option, asked.get("options", ())))
        self.enable(is_free=True)

    def _option(self, option: Mapping[str, str]) -> Any:
        wide = {"width": "auto"}
        made = self._kit.Button(description=option["label"], tooltip=option["label"], layout=wide)
        made.on_click(lambda _: self.send(option["payload"], option["label"]))
        return made

    def enable(self, *, is_free: bool) -> None:
        for part in (self.field, self.button, *self.options.children):
            part.disabled = not is_free

    def _on_enter(self, _: Any, content: Mapping[str, Any], __: Sequence[Any]) -> None:
        if content.get("event") == "submit":
            self.send(self.field.value)

    def send(self, message: str, shown: str = "") -> None:
        if message.strip() and not self.button.disabled:
            self.field.value = ""
            self.enable(is_free=False)
            self._on_send(message, shown or message)
