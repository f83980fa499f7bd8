"""Build the wheel and the source distribution in a folder, and check them as an index does.

`make release` runs it. Nothing is uploaded, and no network is needed.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packaging.metadata import Metadata
from readme_renderer import markdown

ROOT = Path(__file__).resolve().parents[1]
TOP = {
    "journeygraph",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "PKG-INFO",
    ".gitignore",
}
"""All that the source distribution may have at its top."""


def main(folder: Path) -> int:
    """Build into a folder, print each fault, and return the exit code."""
    for old in folder.glob("journeygraph-*"):
        old.unlink()
    _build(ROOT, folder, "sdist", "wheel")
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    found = list(faults(wheel, source))
    for fault in found:
        print(f"✗ {fault}")
    if found:
        return 1
    for archive in (wheel, source):
        print(f"{archive}  {archive.stat().st_size / 1_000_000:.1f} MB")
    print("✓ metadata, README, licences; the wheel is the one that the source distribution makes")
    return 0


def faults(wheel: Path, source: Path) -> Iterator[str]:
    """Yield why an index would refuse the two archives, or users could not rely on them."""
    in_wheel, in_source = _of_wheel(wheel), _of_source(source)
    about = f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"
    yield from _of_twine(wheel, source)
    for archive, metadata in (
        (wheel, in_wheel[f"{about}/METADATA"]),
        (source, in_source["PKG-INFO"]),
    ):
        yield from (f"{archive.name}: {fault}" for fault in _of_metadata(metadata))
    for name, text in _licences().items():
        if in_source.get(name) != text:
            yield f"{source.name}: {name} is missing, or changed"
        place = f"{about}/licenses/LICENSE" if name == "LICENSE" else name
        if in_wheel.get(place) != text:
            yield f"{wheel.name}: {place} is missing, or changed"
    yield from _strangers(wheel, in_wheel, {"journeygraph", about})
    yield from _strangers(source, in_source, TOP)
    if _built_from(source) != wheel.read_bytes():
        yield f"{wheel.name}: the wheel that {source.name} makes differs from it"


def _licences() -> dict[str, bytes]:
    """Return all licences of the repository, by their names in the source distribution."""
    packages = [path.resolve() for path in (ROOT / "journeygraph").iterdir() if path.is_dir()]
    files = [file for package in packages for file in package.rglob("LICENSE")]
    found = {
        f"journeygraph/{file.relative_to(ROOT).as_posix()}": file.read_bytes() for file in files
    }
    return {"LICENSE": (ROOT / "LICENSE").read_bytes(), **found}


def _strangers(archive: Path, names: dict[str, bytes], known: set[str]) -> Iterator[str]:
    """Yield names at the top of an archive that are not ours to install."""
    for name in sorted({name.partition("/")[0] for name in names} - known):
        yield f"{archive.name}: '{name}' at its top belongs to others"


def _of_twine(*archives: Path) -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "twine",
        "--no-color",
        "check",
        "--strict",
        *map(str, archives),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"twine check --strict: {done.stdout.strip()} {done.stderr.strip()}"


def _of_metadata(text: bytes) -> Iterator[str]:
    """Yield what is not valid in metadata; an index reads them in the same way."""
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:
        yield from (f"metadata: {error}" for error in group.exceptions)
        return
    description = metadata.description or ""
    if description.strip() != (ROOT / "README.md").read_text("utf-8").strip():
        yield "the description is not README.md"
    if metadata.description_content_type != "text/markdown":
        yield "the description is not declared as text/markdown"
    if not markdown.render(description):
        yield "README.md cannot be rendered"
    if not metadata.license_expression or metadata.license_files != ["LICENSE"]:
        yield "the licence has no expression, or no file"


def _of_wheel(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def _of_source(source: Path) -> dict[str, bytes]:
    """Return the files of a source distribution, without its own folder."""
    with tarfile.open(source) as packed:
        files = {one.name: packed.extractfile(one) for one in packed.getmembers()}
        return {name.partition("/")[2]: file.read() for name, file in files.items() if file}


@cache
def _built_from(source: Path) -> bytes:
    """Return the wheel that is built from a source distribution alone."""
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(source) as packed:
            packed.extractall(temporary, filter="data")
        (unpacked,) = Path(temporary).iterdir()
        _build(unpacked, unpacked / "dist", "wheel")
        (wheel,) = (unpacked / "dist").iterdir()
        return wheel.read_bytes()


def _build(project: Path, folder: Path, *targets: str) -> None:
    wanted = [word for target in targets for word in ("--target", target)]
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), *wanted]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()))
