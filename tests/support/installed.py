"""Virtual environments that have a wheel and what it needs, as those of users; no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from journeygraph.server.projects.pins import constraints


def installed(root: Path, *requirements: str) -> Path:
    """Make a virtual environment, and return its folder of programs.

    Args:
        root: The folder of the environment, that does not exist.
        requirements: Arguments of pip that install the wheel of JourneyGraph.

    Nothing is downloaded: the packages with which a project is made are linked to those of the
    tests, and no others are there. Ours is not: the tests have it as a link to the checkout.
    """
    uv = [str(Path(sys.executable).with_name("uv")), "--quiet", "--offline"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(root)], check=True)
    words = ["pip", "install", "--python", str(root / "bin" / "python"), "--no-deps"]
    subprocess.run([*uv, *words, "--only-binary", ":all:", *requirements], check=True)
    (packages,) = root.glob("lib/python*/site-packages")
    _link(packages, (line.partition("==")[0] for line in constraints().splitlines()))
    return root / "bin"


def _link(packages: Path, names: Iterable[str]) -> None:
    for name in names:
        found = metadata.distribution(name)
        tops = {file.parts[0] for file in found.files or () if file.parts[0] != ".."}
        for top in sorted(tops - {"__pycache__"}):
            if top.endswith(".dist-info"):  # uv passes over links of these
                shutil.copytree(str(found.locate_file(top)), packages / top)
            elif not os.path.lexists(packages / top):
                (packages / top).symlink_to(str(found.locate_file(top)))
