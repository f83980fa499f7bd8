"""The `journeygraph` command. An import loads nothing else, so that Ctrl-C works at once."""

from __future__ import annotations

import os
import signal

__all__ = ["main"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells count it."""


def main() -> None:
    """Run the command; the entry point of the console script."""
    # An interrupt would surface in the middle of some import, which may turn it into anything. A
    # command that has something to finish takes this back: `interruptible` in `edge.py`.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        from journeygraph.server.cli.command_line import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
