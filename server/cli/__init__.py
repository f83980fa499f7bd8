"""The `journeygraph` command. Importing this loads nothing yet, so that Ctrl-C is heard at once."""

from __future__ import annotations

import os
import signal

__all__ = ["main"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells count it."""


def main() -> None:
    """Run the command; the entry point of the console script."""
    try:
        # An interrupt would surface in the middle of some import, which may turn it into anything.
        before = signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        from server.cli.app import run  # noqa: PLC0415

        signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
