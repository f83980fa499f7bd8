"""A plugin of pytest: it collects files of conversations, one test each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from journeygraph.server.conversations import PATTERNS

if TYPE_CHECKING:
    from journeygraph.server.conversations.player import Played

_OPTION = "conversation_files"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for the names of the files."""
    about = "Names of the files that are conversations with a journey."
    parser.addini(_OPTION, about, type="args", default=list(PATTERNS))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file whose name is one of a conversation."""
    names: list[str] = parent.config.getini(_OPTION)
    if any(fnmatch(file_path.name, name) for name in names):
        made: pytest.Collector = ConversationFile.from_parent(parent, path=file_path)
        return made
    return None


class DifferenceError(Exception):
    """A conversation differs from what is expected."""

    def __init__(self, played: Played) -> None:
        super().__init__(str(played.differences[0]))
        self.played = played


class ConversationFile(pytest.File):
    """A file with a conversation, or with simulated users."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the test of the conversation, or of each simulated one."""
        # A session of pytest without conversations does not import the library.
        from journeygraph.server.conversations.conversation_files import load_conversation  # noqa: PLC0415
        from journeygraph.server.conversations.simulated import talks_of  # noqa: PLC0415
        from journeygraph.server.discover.errors import CommandError  # noqa: PLC0415

        try:
            loaded = load_conversation(self.path)
        except CommandError as error:
            raise self.CollectError(str(error)) from None
        for one in talks_of(loaded) if loaded.conversation.users else [loaded]:
            title = one.conversation.conversation
            yield ConversationItem.from_parent(self, name=title, loaded=one)


class ConversationItem(pytest.Item):
    """The test of a conversation."""

    def __init__(self, *, loaded: Any, **given: Any) -> None:
        super().__init__(**given)
        self.loaded = loaded

    def runtest(self) -> None:
        """Play the conversation; skip it if it needs a live model and none is configured."""
        from journeygraph.server.conversations.player import play  # noqa: PLC0415
        from journeygraph.server.conversations.simulated import Talk, play_talk  # noqa: PLC0415

        playing = play_talk if isinstance(self.loaded, Talk) else play
        played = asyncio.run(playing(self.loaded))
        if played.skipped:
            pytest.skip(played.skipped)
        if not played.passed:
            raise DifferenceError(played)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        """Return the conversation up to the turn that differs."""
        from journeygraph.server.conversations.reports import failure_lines, heading  # noqa: PLC0415
        from journeygraph.server.discover.errors import CommandError  # noqa: PLC0415

        if isinstance(excinfo.value, CommandError):
            return str(excinfo.value)
        if not isinstance(excinfo.value, DifferenceError):
            return super().repr_failure(excinfo, *args)
        played = excinfo.value.played
        return "\n".join([heading(played), *failure_lines(played)])

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place and the name of the test."""
        return self.path, self.loaded.lines[0] - 1, self.name
