"""Make the virtual environment of this checkout from a hash-locked file.

The Makefile calls it as ``python3 .ci/bootstrap.py VENV LOCK STAMP``. Stock machines differ in what
they lack (Debian ships no ensurepip and refuses ``pip install``; many have no uv), so three means
are tried in turn. It needs the standard library alone, and no syntax newer than Python 3.6, so that
an old Python can still say that it is too old.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
OLDEST = (3, 11)
# Wheels only: building from source would fetch and run code that no hash of ours covers.
LOCKED = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
# One package has no wheel: plain Python, and a part of LangGraph's development server. Its source
# is hashed as well.
LOCKED += ["--no-binary", "forbiddenfruit"]
# A user's own settings may say where to fetch from, never where to install to.
ELSEWHERE = ["PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV"]
ELSEWHERE += ["PYTHONHOME", "PYTHONPATH"]
# The lines in which uv and pip name a package: uv the large ones first, and all of them at the end.
NAMED = re.compile(r"(?:Collecting|Downloading| \+) ([A-Za-z0-9][\w.-]*)")
WRAPPER = '#!/bin/sh\nexec "$(dirname "$0")/python" -P -m journeygraph.server.cli "$@"\n'
HELP = """
Nothing was set up. Most often the package index is out of reach: check the network, or name your
mirror (PIP_INDEX_URL for pip, UV_DEFAULT_INDEX for uv) or your company's certificates
(SSL_CERT_FILE). Where pip is missing, the system's python3-pip package brings it.
The same command tries again."""


class SetupError(Exception):
    """One means did not work; the text is what its tool said."""


class Progress:
    """Show how many packages a tool has named: one line on a terminal, else a few lines."""

    def __init__(self, count):
        self.count = count
        self.names = set()
        self.live = sys.stdout.isatty()

    def see(self, line):
        """Take up a line of the tool."""
        found = NAMED.match(line)
        before = len(self.names)
        if found:
            self.names.add(re.sub(r"[-_.]+", "-", found.group(1)).lower())
        number = len(self.names)
        if line.startswith("Installing collected packages"):
            self.show("  unpacking them")
        elif number > before and (self.live or number % 25 == 0 or number == self.count):
            self.show(f"  {number} of {self.count} packages: {found.group(1)}")

    def show(self, text):
        """Write a line; on a terminal in the place of the one before."""
        sys.stdout.write("\r\033[K" + text[:78] if self.live else text + "\n")
        sys.stdout.flush()

    def end(self):
        """Leave the line to what comes next."""
        if self.live:
            sys.stdout.write("\r\033[K")


def run(*command, see=None):
    """Run a command quietly; raise SetupError with what it said when it fails."""
    env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    words = [str(word) for word in command]
    lines = []
    try:
        tool = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with tool:
            for raw in tool.stdout:
                lines.append(raw.decode(errors="replace"))
                if see:
                    see(lines[-1])
    except OSError as error:
        raise SetupError(str(error)) from error
    if tool.returncode:
        raise SetupError(gist(" ".join(words), "".join(lines)))


def gist(command, said):
    """Return the end of what a failed command printed, without its account of retries."""
    lines = [line[:160] for line in said.splitlines() if "WARNING" not in line]
    return "\n    ".join([f"  $ {command}", *lines[-6:]])


def python_of(venv):
    return venv / "bin" / "python"


def is_usable(venv):
    """Say whether an environment from an earlier set-up can be installed into."""
    probe = "import sys; sys.exit(sys.prefix == sys.base_prefix or sys.version_info < (3, 11))"
    try:
        run(python_of(venv), "-c", probe)
    except SetupError:
        return False
    return True


def clear(venv):
    """Remove an environment that cannot be used, but nothing that is not one."""
    if not venv.exists() or is_usable(venv):
        return
    if any(venv.iterdir()) and not (venv / "pyvenv.cfg").exists():
        raise SystemExit(f"{venv} exists and is no virtual environment: move it away first.")
    shutil.rmtree(str(venv))


def with_uv(uv, venv, lock, see):
    """Means 1: uv makes the environment and fills it."""
    if not venv.exists():
        wanted = sys.executable if sys.version_info >= OLDEST else ">=3.11"
        run(uv, "venv", "--quiet", "--no-project", "--python", wanted, venv)
    run(uv, "pip", "install", "--python", python_of(venv), *LOCKED, "-r", lock, see=see)


def with_private_uv(venv, lock, see):
    """Means 2: pip puts the uv that the dev lock pins beside the checkout, for means 1."""
    uv = TOOLS / "bin" / "uv"
    if not uv.exists():
        locked = (ROOT / "requirements-dev.lock").read_text()
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "uv.txt"
            wanted.write_text(re.search(r"^uv==.*\n( +--hash.*\n?)+", locked, re.M).group())
            run(sys.executable, "-m", "pip", "install", "--target", TOOLS, *LOCKED, "-r", wanted)
    index = mirror()
    if index:
        os.environ.setdefault("UV_DEFAULT_INDEX", index)
    with_uv(uv, venv, lock, see)


def mirror():
    """Return the index that pip is set to use; empty: its default."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return os.environ.get("PIP_INDEX_URL") or told.stdout.decode().strip()


def with_pip(venv, lock, see):
    """Means 3: this Python's pip fills an environment that has no pip of its own."""
    if not venv.exists():
        run(sys.executable, "-m", "venv", "--without-pip", venv)
    # Python compiles what is imported, and most of what is installed never is.
    install = [sys.executable, "-m", "pip", "--python", python_of(venv), "install", "--no-compile"]
    run(*install, *LOCKED, "-r", lock, see=see)


def means():
    """Yield (name, expected seconds, installer) in the order in which they are tried."""
    uv = shutil.which("uv")
    if uv:
        yield "uv", 10, lambda venv, lock, see: with_uv(uv, venv, lock, see)
    if sys.version_info >= OLDEST:
        yield "a private copy of uv", 15, with_private_uv
        yield "pip", 45, with_pip


def answers(python):
    """Say whether a command is there and runs; version managers leave names that do not."""
    try:
        run(python, "-c", "")
    except SetupError:
        return False
    return True


def require_python():
    """Stop with a way out when this Python is too old and no uv can find another."""
    if sys.version_info >= OLDEST or shutil.which("uv"):
        return
    found = next(filter(answers, (f"python3.{minor}" for minor in range(19, 10, -1))), None)
    way_out = f"This machine has a newer one: add PYTHON={found} to the same command."
    if not found:
        way_out = "Install a newer Python, or uv, which finds one; PYTHON=... names another one."
    here = f"{sys.executable} is {sys.version_info[0]}.{sys.version_info[1]}"
    raise SystemExit(f"JourneyGraph needs Python 3.11 or newer; {here}.\n{way_out}")


def connect(venv):
    """Link the package of the checkout into the environment.

    A link to the package alone: with the whole checkout on the path, its folders `nodes` and
    `server` would hide a user's modules of these names. The link is a relative one, so that a
    checkout can be moved with its environment; and no build step is needed, whose tools the lock
    does not cover.
    """
    packages = next(venv.glob("lib/python3*/site-packages"))
    link = packages / "journeygraph"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(os.path.relpath(str(ROOT / "journeygraph"), str(packages.resolve())))
    old = packages / "journeygraph.pth"
    if old.exists():
        old.unlink()
    command = venv / "bin" / "journeygraph"
    command.write_text(WRAPPER)
    command.chmod(0o755)


def install(venv, lock):
    """Fill the environment by the first means that works."""
    count = len(re.findall(r"^\S+==", lock.read_text(), re.M))
    failures = []
    for name, seconds, installer in means():
        print(f"Setting up {venv} with {name}: {count} packages, once, about {seconds} s ...")
        sys.stdout.flush()
        began = time.time()
        progress = Progress(count)
        try:
            clear(venv)
            installer(venv, lock, progress.see)
        except SetupError as error:
            progress.end()
            failures.append(f"With {name}:\n{error}")
            print(f"  {name} did not work here.")
            continue
        progress.end()
        print(f"  done in {time.time() - began:.0f} s")
        return
    raise SystemExit("\n".join([*failures, HELP]))


def main(venv, lock, stamp):
    """Set up, and leave the stamp only after everything worked."""
    require_python()
    for old in venv.glob(".ready-*"):
        old.unlink()
    install(venv, lock)
    connect(venv)
    stamp.touch()


if __name__ == "__main__":
    os.chdir(str(ROOT))
    try:
        main(*map(Path, sys.argv[1:]))
    except KeyboardInterrupt:
        raise SystemExit("\nStopped; the same command goes on from here.") from None
