"""A server of Ollama's API for tests: a provider that is not OpenAI's, on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


class Ollama:
    """What was asked of the server, and where it is."""

    def __init__(self, answer: Callable[[str, Json], Json]) -> None:
        self.answer = answer
        self.requests: list[Json] = []
        self.url = ""

    @property
    def asked(self) -> list[tuple[str, str]]:
        """The model and the purpose of each request."""
        return [(body["model"], wanted(body)) for body in self.requests]


def wanted(body: Json) -> str:
    """The function that the answer is given by: the last of the tools."""
    name: str = body["tools"][-1]["function"]["name"]
    return name


@contextmanager
def serving_ollama(answer: Callable[[str, Json], Json]) -> Iterator[Ollama]:
    """Answer each request for a chat with what a function says of its purpose and body."""
    ollama = Ollama(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            ollama.requests.append(body)
            function = {"name": wanted(body), "arguments": ollama.answer(wanted(body), body)}
            said = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
            begun = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
            ended = {"done": True, "done_reason": "stop", "eval_count": 3, "prompt_eval_count": 7}
            lines = [
                {**begun, "message": said, "done": False},
                {**begun, "message": {"role": "assistant", "content": ""}, **ended},
            ]
            sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            self.send_response(200)
            self.send_header("content-type", "application/x-ndjson")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        ollama.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield ollama
        finally:
            server.shutdown()
            thread.join()
