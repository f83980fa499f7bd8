"""The files of a deployment name only what exists: settings, ports, paths, commands, metrics.

No container engine is needed: the steps of the Dockerfile run in a folder, as far as they can.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import promql_parser
import psycopg
import pytest
import yaml
from hatchling import build
from typer.main import get_command
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from journeygraph import NEVER, Journey, Pathway, Pipeline, Validation
from journeygraph.graphs.session import turn
from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from journeygraph.nodes.features import guidance
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from journeygraph.nodes.telemetry import span
from journeygraph.nodes.turn import validate
from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.access.limits import RateLimits, read_limits
from journeygraph.server.app import create_app
from journeygraph.server.cli.command_line import app as command_line
from journeygraph.server.cli.serve import _ANSWER_SECONDS
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.readiness import READY_SECONDS
from journeygraph.server.http.routing import MAX_BODY_BYTES
from journeygraph.server.http.turns import GRACE_SECONDS
from journeygraph.server.settings import Settings, known_settings
from journeygraph.server.telemetry import Metrics
from tests.cli.test_projects import steps_of, version
from tests.http.test_http_models import Weather
from tests.http.test_http_turns import until
from tests.http.test_metrics import shown
from tests.support import api as helpers
from tests.support import command, watching
from tests.support.api import one
from tests.support.bike_shop import Workshop, clerk
from tests.support.command import ROOT, run
from tests.support.installed import installed
from tests.support.postgres import Postgres
from tests.support.watching import Watch

folder, logging_as_before, watch = command.folder, command.logging_as_before, watching.watch
serve = helpers.serve
NAME = "ferry_desk"
PAGE = (ROOT / "docs" / "how-to" / "operate.md").read_text()
OF_POSTGRES = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "SERVER_PASSWORD"}
"""Variables that the image of Postgres and its script take."""
OF_OTHERS = {*OF_POSTGRES, "FORWARDED_ALLOW_IPS"}
"""These, and the one of uvicorn."""


@pytest.fixture
def project(folder: Path) -> Path:
    run("new", NAME, "--deploy")
    return folder / NAME


@pytest.fixture
def compose(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((project / "deploy" / "compose.yaml").read_text())
    return found


@pytest.fixture
def cluster(project: Path) -> dict[str, dict[str, Any]]:
    """The objects of the cluster, by their kind."""
    files = (project / "deploy" / "kubernetes").rglob("*.yaml")
    found = [yaml.safe_load(file.read_text()) for file in files]
    return {one["kind"]: one for one in found if one["kind"] != "Kustomization"}


def pods(cluster: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [cluster[kind]["spec"]["template"] for kind in ("Deployment", "Job")]


def kustomizations(project: Path) -> list[Path]:
    return sorted((project / "deploy" / "kubernetes").glob("*/kustomization.yaml"))


def image(project: Path) -> dict[str, str]:
    """The last step of each word of the Dockerfile."""
    return dict(steps_of(project / "Dockerfile"))


# --- Settings and commands -----------------------------------------------------------------------


def test_every_variable_is_a_setting(
    project: Path, compose: dict[str, Any], cluster: dict[str, dict[str, Any]]
) -> None:
    named = set(re.findall(r"(\w+)=", image(project)["ENV"])) - {"PATH", "SQLITE_TMPDIR"}
    assert named - {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"} == {"JOURNEYGRAPH_STORE"}
    for service in compose["services"].values():
        named |= set(service.get("environment", ()))
    for pod in pods(cluster):
        named |= {one["name"] for one in pod["spec"]["containers"][0].get("env", ())}
    for file in kustomizations(project):
        for made in yaml.safe_load(file.read_text()).get("configMapGenerator", ()):
            named |= {literal.partition("=")[0] for literal in made["literals"]}
        named |= set(re.findall(r"--from-literal=(\w+)=", file.read_text()))
    example = (project / "deploy" / "settings.env.example").read_text()
    asked = set(re.findall(r"^(\w+)=", example, re.M))

    known = {setting.variable for setting in known_settings().values()} | OF_OTHERS

    assert {name for name in named | asked if not name.startswith("PYTHON")} <= known
    used = set(re.findall(r"\$\{(\w+)", (project / "deploy" / "compose.yaml").read_text()))
    assert used == asked


def test_the_settings_of_compose_are_valid(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"SERVER_PASSWORD": "pw", "JOURNEYGRAPH_API_KEYS": "k" * 20}
    monkeypatch.delenv("DATABASE_URL", raising=False)
    for name, value in compose["services"]["server_1"]["environment"].items():
        filled = re.sub(r"\$\{(\w+)[^}]*\}", lambda found: given.get(found[1], ""), value)
        monkeypatch.setenv(name, filled)

    settings = Settings()

    assert settings.metrics
    assert settings.keys() == ["k" * 20]
    assert settings.redis() == "redis://valkey:6379/0"
    store = settings.config().persistence
    assert store == "postgresql://journeygraph_server:pw@postgres:5432/journeygraph"
    assert {"valkey", "postgres"} <= set(compose["services"])


def test_every_command_is_one_of_ours(
    project: Path, compose: dict[str, Any], cluster: dict[str, dict[str, Any]]
) -> None:
    commands = [json.loads(image(project)["CMD"]), compose["services"]["migrate"]["command"]]
    commands.append(cluster["Job"]["spec"]["template"]["spec"]["containers"][0]["command"])
    known = get_command(command_line)

    for program, verb, *words in commands:
        assert program == "journeygraph"
        known.commands[verb].make_context(verb, words)  # type: ignore[attr-defined]
    assert commands[0][2] == NAME


# --- Ports, paths and times ----------------------------------------------------------------------


def test_every_port_and_path_is_served(
    project: Path, compose: dict[str, Any], cluster: dict[str, dict[str, Any]]
) -> None:
    port, proxy = image(project)["EXPOSE"], (project / "deploy" / "proxy.conf").read_text()
    (container,) = cluster["Deployment"]["spec"]["template"]["spec"]["containers"]
    probes = [container[name]["httpGet"] for name in container if name.endswith("Probe")]
    paths = {probe["path"] for probe in probes} | set(re.findall(r"location = (\S+)", proxy))
    paths |= set(re.findall(r"127.0.0.1:\d+(/\w+)", image(project)["HEALTHCHECK"]))
    app = create_app(Settings(), ["table_booking"], "memory://")

    assert paths <= set(app.openapi()["paths"])
    assert len(probes) == 3
    assert json.loads(image(project)["CMD"])[-1] == port
    assert f"127.0.0.1:{port}/" in image(project)["HEALTHCHECK"]
    assert container["ports"] == [{"name": "http", "containerPort": int(port)}]
    assert {probe["port"] for probe in probes} == {"http"}
    assert cluster["Service"]["spec"]["ports"][0]["targetPort"] == "http"
    servers = re.findall(r"^    server (\w+):(\d+) resolve;", proxy, re.M)
    of_ours = [name for name, one in compose["services"].items() if name.startswith("server")]
    assert servers == [(name, port) for name in of_ours]
    (listens,) = re.findall(r"listen (\d+);", proxy)
    assert compose["services"]["proxy"]["ports"] == [f"8080:{listens}"]


def test_the_proxy_hands_events_on_as_they_come_and_refuses_no_valid_body(project: Path) -> None:
    proxy = (project / "deploy" / "proxy.conf").read_text()
    (most,) = re.findall(r"client_max_body_size (\d+)m;", proxy)

    assert "proxy_buffering off;" in proxy
    assert "proxy_http_version 1.1;" in proxy
    assert "non_idempotent" not in re.sub("#.*", "", proxy)
    largest = MAX_BODY_BYTES + Settings().config("memory://").max_context_size_bytes
    assert int(most) * 1024 * 1024 >= largest


def test_the_proxy_of_the_guide_is_that_of_a_project(project: Path) -> None:
    proxy = (project / "deploy" / "proxy.conf").read_text()
    (shown,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/how-to/deploy.md").read_text(), re.S)
    lines = [line for line in shown.splitlines() if line.strip(" {}")]

    assert [line for line in lines if line not in proxy.splitlines()] == []
    for limit in ("client_header_timeout", "large_client_header_buffers", "limit_conn addresses"):
        assert re.search(rf"^    {limit} [\w ]+;$", shown, re.M)


async def test_a_server_behind_the_proxy_knows_the_address_of_its_client(
    project: Path, compose: dict[str, Any]
) -> None:
    proxy = (project / "deploy" / "proxy.conf").read_text()
    trusted = compose["services"]["server_1"]["environment"]["FORWARDED_ALLOW_IPS"]
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    behind: Any = ProxyHeadersMiddleware(app, trusted)
    headers = [(b"x-forwarded-for", b"203.0.113.7")]
    scope = {"type": "http", "scheme": "http", "client": ("172.18.0.5", 1), "headers": headers}
    await behind(scope, None, None)

    assert seen == ["203.0.113.7"]
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in proxy  # and not what it was sent
    assert not any("ports" in one for name, one in compose["services"].items() if name != "proxy")


def test_a_server_has_the_time_to_finish_its_turns(
    compose: dict[str, Any], cluster: dict[str, dict[str, Any]]
) -> None:
    needed = GRACE_SECONDS + _ANSWER_SECONDS
    pod = cluster["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert pod["terminationGracePeriodSeconds"] > needed + before
    for name in ("server_1", "server_2"):
        assert int(compose["services"][name]["stop_grace_period"][:-1]) > needed
    assert container["readinessProbe"]["timeoutSeconds"] > READY_SECONDS


# --- Containers ----------------------------------------------------------------------------------


def test_containers_have_no_rights_and_write_nowhere(
    project: Path, compose: dict[str, Any], cluster: dict[str, dict[str, Any]]
) -> None:
    user = int(image(project)["USER"])
    for pod in pods(cluster):
        spec = pod["spec"]
        (container,) = spec["containers"]
        assert spec["enableServiceLinks"] is False
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == user
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert [one["mountPath"] for one in container["volumeMounts"]] == ["/tmp"]
        assert ["emptyDir" in one for one in spec["volumes"]] == [True]
    for name in ("migrate", "server_1", "server_2"):
        service = compose["services"][name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert (service["tmpfs"], "volumes" in service) == (["/tmp"], False)


async def test_the_role_of_the_servers_serves_its_tenant_and_changes_no_table(
    project: Path,
    compose: dict[str, Any],
    postgres_server: Postgres,
    serve: Callable[..., Any],
) -> None:
    postgres = compose["services"]["postgres"]
    assert "./role.sh:/docker-entrypoint-initdb.d/role.sh:ro" in postgres["volumes"]
    assert set(postgres["environment"]) == OF_POSTGRES
    (role,) = re.findall(r"//(\w+):\$\{SERVER", str(compose["services"]["server_1"]))
    assert f"//{postgres['environment']['POSTGRES_USER']}:" in str(compose["services"]["migrate"])
    url = postgres_server.made()
    mine = f"{role}_{os.getpid()}"  # roles are of a whole server
    script = (project / "deploy" / "role.sh").read_text().replace(role, mine)
    with roles_of(postgres_server, url, script, mine) as of_servers:
        migrate_postgres(url)
        api = await serve(url=of_servers, keys=Keys(uses_stored=True))
        stored = api.app_state.keys.stored
        key = (await stored.create(KeyRequest(("admin",)), "acme")).secret
        begun = await api.client.post(
            "/v1/sessions",
            json={"journey_id": "parcel", "session_id": "s-1"},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert begun.status_code == 201
        with psycopg.connect(of_servers, autocommit=True) as connection:
            assert connection.execute("SELECT session_id FROM sessions").fetchall() == []
            connection.execute("SELECT set_config('journeygraph.tenant', 'acme', false)")
            assert connection.execute("SELECT session_id FROM sessions").fetchall() == [("s-1",)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("DROP TABLE sessions")
        await api.app_state.directory.close()


@contextmanager
def roles_of(server: Postgres, url: str, script: str, role: str) -> Iterator[str]:
    """Run the script of the image on a new database; yield its URL for the role that it makes."""
    parts = urlsplit(url)
    names = {"POSTGRES_USER": parts.username, "POSTGRES_DB": parts.path[1:], "SERVER_PASSWORD": "p"}
    place = {"PGHOST": parts.hostname, "PGPORT": str(parts.port), "PATH": os.environ["PATH"]}
    if server.server:
        place["PATH"] = f"{server.server.programs}{os.pathsep}{place['PATH']}"
    given: Any = {**names, **place}
    subprocess.run(["sh", "-c", script], env=given, check=True, capture_output=True, timeout=110)
    try:
        yield parts._replace(netloc=f"{role}:p@{parts.hostname}:{parts.port}").geturl()
    finally:
        server.drop(url)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {role}")


def test_images_have_versions_and_the_python_is_one_that_we_run_on(
    project: Path, compose: dict[str, Any]
) -> None:
    steps = steps_of(project / "Dockerfile")
    bases = [rest.split()[0] for word, rest in steps if word == "FROM"]
    used = {*bases, *(one["image"] for one in compose["services"].values())} - {NAME}

    assert all(re.fullmatch(r"[\w/]+:\d+(\.\d+)*(-\w+)?", name) for name in used), used
    assert set(bases) == {"python:3.13-slim"}
    workflow = (project / ".github" / "workflows" / "test.yml").read_text()
    assert 'python-version: "3.13"' in workflow  # what the build server tests is what runs
    assert all("--only-binary :all:" in rest for _, rest in steps if "pip install" in rest)


def test_the_objects_of_the_cluster_belong_together(
    project: Path, cluster: dict[str, dict[str, Any]]
) -> None:
    deployment = cluster["Deployment"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    name = deployment["metadata"]["name"]

    assert cluster["Service"]["spec"]["selector"] == labels
    for selector in (deployment["spec"], cluster["PodDisruptionBudget"]["spec"]):
        assert selector["selector"]["matchLabels"] == labels
    target = cluster["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", name)
    assert cluster["HorizontalPodAutoscaler"]["spec"]["minReplicas"] >= 2
    job = cluster["Job"]["spec"]["template"]["metadata"]["labels"]
    assert job != labels  # or the service would send requests to it
    for file in kustomizations(project):
        told = yaml.safe_load(file.read_text())
        there = {one.name for one in file.parent.iterdir()} - {file.name}
        assert set(told["resources"]) == there
        assert told["images"][0]["name"] == NAME
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert [one.popitem()[1]["name"] for one in container["envFrom"]] == ["journeygraph"] * 2


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_builds_both_folders(project: Path) -> None:
    for file in kustomizations(project):
        words = ["kubectl", "kustomize", str(file.parent)]
        built = subprocess.run(words, capture_output=True, text=True, timeout=110, check=True)
        images = re.findall(r"image: (\S+)", built.stdout)
        assert images == [f"{NAME}:1"]


# --- What the image does -------------------------------------------------------------------------


def ignored(project: Path) -> list[str]:
    return (project / ".dockerignore").read_text().split()


def copied(project: Path, target: Path) -> None:
    """Copy what `COPY . .` would, by the patterns of .dockerignore."""
    patterns = [pattern.removeprefix("**/") for pattern in ignored(project)]

    def left_out(_: str, names: list[str]) -> list[str]:
        return [name for name in names if any(fnmatch.fnmatch(name, one) for one in patterns)]

    shutil.copytree(project, target, ignore=left_out)


@pytest.fixture
def built(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, dict[str, str]]:
    """The folder of an image: a virtual environment, the project, and a place for data."""
    monkeypatch.chdir(ROOT)
    build.build_wheel(str(project / "wheels"))  # as the README says, with pip
    monkeypatch.chdir(project)
    root = tmp_path_factory.mktemp("image")
    installed(root / "venv", "-r", "requirements.txt")
    copied(project, root / "app")
    (root / "data").mkdir()
    environment = {
        "PATH": f"{root / 'venv' / 'bin'}{os.pathsep}{os.defpath}",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "JOURNEYGRAPH_STORE": f"sqlite:///{root / 'data' / 'journeys.db'}",
        "JOURNEYGRAPH_API_KEYS": "k" * 20,
        "JOURNEYGRAPH_METRICS": "true",
        "HOME": str(root / "nowhere"),
    }
    return root, environment


@pytest.mark.slow
def test_the_image_serves_without_rights_and_writes_only_its_store(
    project: Path, built: tuple[Path, dict[str, str]]
) -> None:
    root, environment = built
    as_user = _as_user(root, int(image(project)["USER"]))
    before = _files(root)
    words = [*json.loads(image(project)["CMD"])[:-1], "0"]
    serving = subprocess.Popen(
        words, cwd=root / "app", env=environment, stdout=subprocess.PIPE, text=True, **as_user
    )
    try:
        assert serving.stdout
        lines = list(_until(serving.stdout, "Listening"))
        (port,) = re.findall(r":(\d+)", lines[-1])[-1:]
        assert f"Journeys: {NAME}\n" in lines
        checked = json.loads(image(project)["HEALTHCHECK"].partition("CMD ")[2])
        checked[-1] = checked[-1].replace(":8000/", f":{port}/")
        subprocess.run(checked, env=environment, check=True, timeout=110)
        _talk(port, environment["JOURNEYGRAPH_API_KEYS"])
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(110) == 0
    finally:
        serving.kill()
        serving.communicate()

    changed = _files(root) - before
    assert {Path(name).name.partition(".")[0] for name in changed} == {"journeys"}
    assert all(name.startswith("data/") for name in changed)
    assert not (root / "app" / "deploy").exists()
    assert not (root / "app" / "tests").exists()


def _as_user(root: Path, user: int) -> dict[str, Any]:
    """Return how to start a process without rights; as another user, where this one may."""
    if os.getuid() != 0 or not _is_open(Path(sys.prefix)) or not _is_open(root):
        return {}
    os.chown(root / "data", user, user)
    return {"user": user, "group": user, "extra_groups": ()}


def _is_open(path: Path) -> bool:
    for folder in (path, *path.parents):
        if "pytest" in folder.name and folder.owner() == "root":
            folder.chmod(0o755)
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))


def _files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _until(lines: Any, word: str) -> Iterator[str]:
    for line in lines:
        yield line
        if line.startswith(word):
            return
    raise AssertionError(word)


def _talk(port: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    for path, body in (
        ("/v1/sessions", b'{"session_id": "ann"}'),
        ("/v1/sessions/ann/messages", b'{"message": "hello"}'),
        ("/metrics", None),
    ):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
        with urllib.request.urlopen(request, timeout=110) as answer:
            told = answer.read().decode()
    assert "journeygraph_turn_duration_seconds_count" in told


# --- Alerts and the dashboard ---------------------------------------------------------------------

OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus adds, and the one of buckets."""


class Selected(NamedTuple):
    """A metric that an expression asks for, with the labels by which it does."""

    name: str
    labels: set[str]


def selected(node: Any, by: Iterable[str] = ()) -> Iterator[Selected]:
    """Find the metrics of a parsed expression."""
    if isinstance(node, promql_parser.VectorSelector):
        assert node.name
        labels = {one.name for one in node.matchers.matchers}
        yield Selected(node.name, {*labels, *by} - OF_PROMETHEUS)
    elif isinstance(node, promql_parser.AggregateExpr):
        yield from selected(node.expr, node.modifier.labels if node.modifier else by)
    elif isinstance(node, promql_parser.MatrixSelector):
        yield from selected(node.vector_selector, by)
    elif isinstance(node, promql_parser.BinaryExpr):
        yield from (*selected(node.lhs, by), *selected(node.rhs, by))
    elif isinstance(node, promql_parser.Call):
        for argument in node.args:
            yield from selected(argument, by)
    else:
        assert isinstance(node, promql_parser.NumberLiteral), node


def expressions(project: Path) -> list[str]:
    rules = yaml.safe_load((project / "deploy" / "monitoring" / "alerts.yaml").read_text())
    board = json.loads((project / "deploy" / "monitoring" / "dashboard.json").read_text())
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    drawn = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(alerts) > 10
    assert len(drawn) > 15
    return [*alerts, *(one.replace("$__rate_interval", "5m") for one in drawn)]


class Fragile(Journey):
    """One pathway with a breaker, whose replies are checked."""

    __validation__ = Validation()

    class TalkPath(Pathway):
        __pipeline__ = Pipeline.sequential(["broken"]).with_limits(breaker_failures=1)
        __complete_when__ = NEVER


def broken(ask: Any) -> str:
    """Fail at some words."""
    if ask["message"] == "fail":
        raise RuntimeError
    return "Yes."


async def test_alerts_and_dashboard_ask_for_what_a_server_with_traffic_exports(
    project: Path, serve: Callable[..., Any], watch: Watch
) -> None:
    limits = RateLimits(read_limits("sessions", "tenant 3/hour"))
    served = (one(Workshop, clerk=clerk), one(Fragile, broken=broken), one(Weather))
    nowhere = {"escalation_webhook": "http://127.0.0.1:9/", "escalation_secret": "s" * 20}
    async with ScriptedModel({"response": "Sunny."}, always=Fault.status(500)) as model:
        api = await serve(
            *served,
            model=model,
            metrics=Metrics(),
            limits=limits,
            keys=Keys(limits=limits),
            breaker_failures=1,
            **nowhere,
        )
        weather = await api.begin("weather", "s-1")
        for message in ("How is it?", "And now?"):
            await api.says(weather, message)
        await api.says(await api.begin("workshop", "s-2"), "a person, please")
        fragile = await api.begin("fragile", "s-3")
        async with api.client.stream("GET", f"{fragile}/events"):
            await asyncio.gather(*(api.says(fragile, word) for word in ("hi", "hi", "fail")))
        assert (await api.client.post("/v1/sessions", json={})).status_code == 429

        async def told() -> dict[str, list[Any]]:
            samples = await shown(api)
            return samples if {"journeygraph_escalation_sent_total"} <= samples.keys() else {}

        samples = await until(told)

    found = {name: set().union(*(one.labels for one in of)) for name, of in samples.items()}
    asked = [each for one in expressions(project) for each in selected(promql_parser.parse(one))]
    assert len(asked) > 30
    assert {one.name for one in asked} - found.keys() == {"up"}
    wrong = [one for one in asked if one.name != "up" and not one.labels <= found[one.name]]
    assert wrong == []


def test_values_of_labels_in_alerts_are_ones_that_are_reported(project: Path) -> None:
    pairs = re.findall(r'(\w+)[!=]=?~?"([^"]*)"', " ".join(expressions(project)))
    reported = {
        "journeygraph_outcome": {span.OK, span.FAILED, span.CANCELLED},
        "journeygraph_turn_flag": {turn.BYPASSED, guidance.BYPASSED, validate.BYPASSED},
        "journeygraph_escalation_result": {"taken", "failed"},
        "http_route": {"/readyz"},
        "job": {"journeygraph"},
    }

    for label, value in pairs:
        if label in reported:
            assert set(value.split("|")) <= reported[label], (label, value)
    assert {label for label, _ in pairs} - set(reported) == {
        *("error_type", "http_response_status_code"),
    }


def test_every_alert_has_its_remedy_on_the_page(project: Path) -> None:
    rules = yaml.safe_load((project / "deploy" / "monitoring" / "alerts.yaml").read_text())
    alerts = [rule["alert"] for group in rules["groups"] for rule in group["rules"]]

    table = PAGE.partition("\n## Alerts\n")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == alerts


def test_the_release_is_in_the_requirements_with_the_extras_of_a_deployment(project: Path) -> None:
    (wheel,) = re.findall(r"^\./wheels/.*", (project / "requirements.txt").read_text(), re.M)
    declared = (ROOT / "pyproject.toml").read_text()

    assert wheel == f"./wheels/journeygraph-{version()}-py3-none-any.whl[all,fast,otel,redis]"
    assert all(
        re.search(rf"^{extra} = \[", declared, re.M) for extra in ("all", "fast", "otel", "redis")
    )
