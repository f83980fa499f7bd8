"""A port for a server that a test starts as a process."""

import socket


def free_port() -> int:
    """Return a port that was free a moment ago; another process may take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
