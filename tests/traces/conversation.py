"""Conversations as tests: messages, open questions, and the state after them.

A trace is written once, as a function of a `Chat`. It is held on each `Way` (store, with or without
a model) by a new handle before every message, and once more by one handle in memory: both must come
to the same.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from journeygraph import Field, Journey, JourneyConfig, JourneyResponse, Texts
from journeygraph.nodes.commands import Command
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.support.talk import path_in
from tests.traces.meaning import Meant
from tests.traces.world import World

SOURCES = {"user_provided", "corrected", "inferred", "tool", "operator"}
STATUSES = {"valid", "invalid", "pending", "cleared"}


@dataclass(frozen=True)
class Domain:
    """A journey with all that its sessions need; `tools` gives those that act on a world."""

    journey: type[Journey]
    tools: Callable[[World], Mapping[str, Any]] = lambda world: {}
    agents: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Way:
    """How a conversation is held."""

    store: str
    scripted: bool

    def __str__(self) -> str:
        return f"{self.store}-{'scripted' if self.scripted else 'offline'}"

    def url(self, folder: Path, name: str) -> str:
        if self.store == "memory":
            return f"memory://{folder}-{name}"
        return f"sqlite:///{folder / name}.db"


OFFLINE = (Way("sqlite", scripted=False),)  # beside it, every talk is held in memory
SCRIPTED = (Way("memory", scripted=True),)
EVERY_WAY = (*OFFLINE, *SCRIPTED)
IN_MEMORY = (Way("memory", scripted=False), *SCRIPTED)

Body = Callable[["Chat"], Awaitable[None]]


def trace(domain: Domain, ways: Sequence[Way] = EVERY_WAY) -> Callable[[Body], Any]:
    """Make a test of a conversation for each way in which it is held."""

    def made(body: Body) -> Any:
        @pytest.mark.parametrize("way", ways, ids=str)
        async def held(way: Way, tmp_path: Path) -> None:
            records = []
            for store, restarts in (("memory", False), (way.store, True)):
                url = replace(way, store=store).url(tmp_path, f"restarts-{restarts}")
                chat = Chat(domain, url, scripted=way.scripted, restarts=restarts)
                async with opened(chat):
                    await body(chat)
                records.append(chat.record)
            through, restarted = records
            assert restarted == through

        held.__name__ = held.__qualname__ = body.__name__
        held.__module__, held.__doc__ = body.__module__, body.__doc__
        return held

    return made


@asynccontextmanager
async def opened(chat: Chat) -> Any:
    await chat.begin()
    try:
        yield chat
        await chat.check_whole_history()
    finally:
        await chat.close()


@dataclass(repr=False)
class Chat:
    """One session, and its state after the last message."""

    domain: Domain
    url: str
    scripted: bool = False
    restarts: bool = False
    world: World = field(default_factory=World)
    meant: Meant = field(default_factory=Meant)
    replies: list[JourneyResponse] = field(default_factory=list)
    record: list[dict[str, Any]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    fields: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    position: dict[str, Any] = field(default_factory=dict)
    holder: Journey | None = None
    context_now: dict[str, Any] = field(default_factory=dict)
    rolled_back: bool = False

    async def begin(self) -> None:
        self.model = ScriptedModel(always=self.meant) if self.scripted else False
        self.journey = self.domain.journey("s-1", self._config, **self._parts)
        await self.journey.start(self.domain.context)
        await self._hold()
        await self._look()

    async def _hold(self) -> None:
        """Keep a store in memory open, and its graph compiled, while its only session restarts."""
        if self.url.startswith("memory:"):
            self.holder = self.domain.journey("held", self._config, model=False)
            await self.holder.get_session_state()

    async def close(self) -> None:
        await self.journey.close()
        if self.holder:
            await self.holder.close()

    async def take_up(self) -> None:
        """Go on with a session that another process began."""
        self.model = False
        self.journey = await self.domain.journey.restore("s-1", self._config, **self._parts)
        await self._look()

    @property
    def _config(self) -> JourneyConfig:
        settings: dict[str, Any] = {"pathway_timeout_seconds": 2.0, **self.domain.config}
        return JourneyConfig(persistence=self.url, **settings)

    @property
    def _parts(self) -> dict[str, Any]:
        agents, tools = dict(self.domain.agents), dict(self._tools)
        return {"agents": agents, "model": self.model, "tools": tools}

    @cached_property
    def _tools(self) -> Mapping[str, Any]:
        """The same functions for every handle, since the schema of a new one takes 5 ms to find."""
        return self.domain.tools(self.world)

    async def says(self, message: str, *means: Command, calls: int | None = None) -> str:
        """Say something; a scripted model, if it is asked, answers with what it means."""
        if self.restarts:
            await self.restart()
        self.meant.said(message, means)
        before = self.calls
        self.replies.append(await self.journey.process_message(message))
        self.context_now = self.last.accumulated_context
        self.asked_model = self.calls - before
        most = 1 if calls is None else calls
        assert self.asked_model <= most, f"{self.asked_model} calls for {message!r}"
        await self._look()
        self._record(message)
        return self.reply

    async def restart(self, journey: type[Journey] | None = None) -> None:
        """Take the session up as another process would, perhaps by another version of it."""
        await self.journey.close()
        kind = journey or self.domain.journey
        self.journey = await kind.restore("s-1", self._config, **self._parts)
        if journey:
            self.domain = replace(self.domain, journey=journey)
            await self._look()

    async def hears(self, text: str, by: str = "Kim") -> None:
        """Be told something by a person, who takes the conversation if nobody has it."""
        await self.journey.manager.operator_says(text, by)
        await self._look()

    async def release(self, by: str = "Kim") -> str:
        """Be given back to the assistant; return what it says."""
        await self.journey.manager.release(by)
        await self._look()
        return str((await self.journey.transcript())[-1].content)

    async def roll_back(self, version: int) -> None:
        """Go back to that state of the session; the store keeps every attempt."""
        await self.check_whole_history()
        session = await self.journey.rollback(version)
        self.context_now = session.accumulated_context
        self.rolled_back, self.fields = True, {}
        await self._look()

    @property
    def calls(self) -> int:
        return len(self.model.calls) if isinstance(self.model, ScriptedModel) else 0

    # What stands.

    @property
    def reply(self) -> str:
        return self.replies[-1].message

    @property
    def last(self) -> JourneyResponse:
        return self.replies[-1]

    @property
    def at(self) -> str:
        """The pathway of the session."""
        return str(self.position["pathway"])

    @property
    def stack(self) -> list[str]:
        """The paused pathways, the first one lowest."""
        return [frame["pathway"] for frame in self.position["stack"]]

    @property
    def talk(self) -> dict[str, Any]:
        return dict(self.position.get("talk", {}))

    @property
    def asked(self) -> tuple[str, str] | None:
        """What the user was asked last: its kind, and what about."""
        asked = self.talk.get("asked")
        if not asked:
            return None
        return (asked["kind"], "" if asked["kind"] == "unclaimed" else asked["about"])

    @property
    def options(self) -> list[str]:
        """What the options are called that were offered last."""
        asked = self.talk.get("asked")
        return [option["label"] for option in asked["options"]] if asked else []

    @property
    def context(self) -> dict[str, Any]:
        return self.context_now

    def value(self, name: str) -> Any:
        """The last valid value of a field that was not taken back since."""
        settled = [a for a in self.fields.get(name, ()) if a["validation_status"] in SETTLING]
        valid = bool(settled) and settled[-1]["validation_status"] == "valid"
        return settled[-1]["value"] if valid else None

    def attempts(self, name: str) -> list[str]:
        """The statuses of the attempts at a field, oldest first."""
        return [attempt["validation_status"] for attempt in self.fields.get(name, ())]

    def sources(self, name: str) -> list[str]:
        return [attempt["source"] for attempt in self.fields.get(name, ())]

    @property
    def payload(self) -> dict[str, Any]:
        """All that is collected now, as the context has it."""
        return {name: self.context[name] for name in self.declared if name in self.context}

    @property
    def declared(self) -> dict[str, Field]:
        """All fields of the journey, by name."""
        pathways = self.domain.journey.spec.pathways.values()
        return {f.name: f for p in pathways for f in (p.form.fields if p.form else ())}

    def audited(self, *kinds: str) -> list[str]:
        """The kinds of the audit so far, oldest first: all, or only these."""
        return [kind for kind in self.kinds if not kinds or kind in kinds]

    # What is expected.

    @property
    def texts(self) -> Texts:
        """The catalogue of the journey, in its language and words."""
        return self.journey.manager._served().texts

    def text(self, name: str, **values: Any) -> str:
        """Return a text of the catalogue, filled in."""
        return str(getattr(self.texts, name)).format(**values)

    def says_text(self, name: str, **values: Any) -> bool:
        """Whether a text of the catalogue was said; what is not given may stand for anything."""
        parts = re.split(r"\{(\w+)\}", getattr(self.texts, name))
        pattern = "".join(
            (re.escape(str(values[part])) if part in values else ".*?")
            if at % 2
            else re.escape(part)
            for at, part in enumerate(parts)
        )
        # What stands for nothing leaves no gap.
        loose = re.sub(r"(\\ )+", r"\\s*", pattern)
        return re.search(loose, self.reply, re.DOTALL) is not None

    def asks(self, name: str) -> bool:
        """Whether a field is what the user is asked for now, and the reply says so last."""
        title, last = self.declared[name].title, self.reply.split("\n\n")[-1]
        question = self.declared[name].ask or self.text("ask", field=title)
        in_other_words = self.text("hint", field=title, hint="").partition(":")[0]
        is_said = question in last or last.startswith(in_other_words)
        return self.asked == ("field", name) and is_said

    # What holds after every message.

    async def _look(self) -> None:
        """Read the state of the session, and check the rules that always hold."""
        session, head = await self.journey.manager._known()  # what a test sees and a user does not
        values = await session.values(head)
        self._check_grown({name: list(given) for name, given in values.get("fields", {}).items()})
        self.position = dict(values["position"])
        audit = await self.journey.audit()
        self.kinds = [entry.kind for entry in audit]
        places = [row.pathway_id for row in await self.journey.versions()]
        assert path_in(audit, places[0], len(places)) == places, "the audit leads elsewhere"
        assert len(self.stack) <= self._config.max_pathway_depth
        self.world.check()

    def _check_grown(self, now: dict[str, list[dict[str, Any]]]) -> None:
        """See that attempts were only appended, each with a source; and remember all of them."""
        for name, kept in now.items():
            before = self.fields.get(name, [])
            common = next(n for n in range(len(kept), -1, -1) if _ends_with(before, kept[:n]))
            assert common or not before or len(kept) >= WINDOW, (
                f"the history of {name} was rewritten"
            )
            for attempt in kept[common:]:
                assert attempt["source"] in SOURCES
                assert attempt["validation_status"] in STATUSES
                assert attempt["turn"] >= 0
                assert attempt["timestamp"]
            self.fields[name] = [*before, *kept[common:]]
        assert all(name in now for name in self.fields), "a history went away"

    async def check_whole_history(self) -> None:
        """See that the store has every attempt that the state ever had, in order."""
        for name, seen in self.fields.items():
            kept = [item.validation_status for item in await self.journey.attempts(name)]
            shown = [attempt["validation_status"] for attempt in seen]
            if self.rolled_back:  # the store keeps what was said in the turns that were left
                assert len(kept) >= len(shown), name
            else:
                assert kept == shown, name

    def _record(self, message: str) -> None:
        for name in self.declared:
            assert self.context.get(name) in (None, self.value(name)), f"{name} is out of step"
        self.record.append(
            {
                "said": message,
                "reply": self.reply,
                "at": self.at,
                "stack": self.stack,
                "asked": self.asked,
                "options": self.options,
                "values": self.payload,
                "attempts": {name: self.attempts(name) for name in self.fields},
                "sources": {name: self.sources(name) for name in self.fields},
                "audit": self.kinds,
                "effects": [call.tool for call in self.world.calls],
                "calls": self.asked_model,
            }
        )


SETTLING = ("valid", "cleared")
WINDOW = 8
"""Attempts of a field that the state keeps; all of them are in the store."""


def _ends_with(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    return not part or list(whole[-len(part) :]) == list(part)


def parts(reply: str) -> Iterator[str]:
    """The parts of a reply, which a blank line parts."""
    yield from reply.split("\n\n")
