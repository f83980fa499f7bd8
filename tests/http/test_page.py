"""The page over HTTP: its files, their headers, and no way to another file."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from journeygraph.graphs.drawing.svg import STYLE
from journeygraph.server.http.app_state import wire
from journeygraph.server.page import files
from journeygraph.server.settings import Settings
from tests.support import api as helpers
from tests.support.api import KEY, Api

serve, api = helpers.serve, helpers.api

STATIC = Path(files.__file__).parent / "static"
VENDORED = {
    "preact.js": (b"", "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7"),
    "marked.js": (
        b"//# sourceMappingURL=marked.esm.js.map\n",
        "5371fea86fd0656b4fc7bea7c94c663109d82789b69433eeee78d42895aa44de",
    ),
}
"""The end that each file was published with, and the SHA-256 of both."""


def static_files() -> list[str]:
    """The names of all files that a browser may ask for."""
    found = (path for path in STATIC.rglob("*") if path.is_file() and path.name != "LICENSE")
    return sorted(path.relative_to(STATIC).as_posix() for path in found)


def policy_of(answer: Any) -> dict[str, str]:
    """The directives of an answer's content security policy."""
    policies = answer.headers.get_list("content-security-policy")
    assert len(policies) == 1
    parts = [part.strip().partition(" ") for part in policies[0].split(";")]
    return {name: value for name, _, value in parts}


def test_no_rule_of_the_page_is_for_a_class_of_drawings() -> None:
    rules = re.sub(r"/\*.*?\*/", "", (STATIC / "style.css").read_text(), flags=re.S)
    selectors = [one for rule in re.findall(r"([^{}]+)\{", rules) for one in rule.split(",")]
    classes = [re.findall(r"\.([\w-]+)", selector) for selector in selectors]
    of_drawings = set(re.findall(r"\.drawing \.([\w-]+)", STYLE))

    around = of_drawings | {"session", "view"}
    reaching = [found for found in classes if found and found[0] in around]
    assert len(of_drawings) > 20
    assert [found for found in reaching if of_drawings & {*found}] == []


async def test_the_page_is_at_the_root(api: Api) -> None:
    answer = await api.client.get("/")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert '<script type="module" src="page/app.js">' in answer.text


def place_of(name: str) -> str:
    """The path of a file."""
    return f"/{'docs' if name.startswith('docs.') else 'page'}/{name}"


async def test_every_file_is_served_with_its_type(api: Api) -> None:
    types = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
    types["svg"] = "image/svg+xml"

    for name in static_files():
        answer = await api.client.get(place_of(name))
        assert answer.status_code == 200, name
        assert answer.content == (STATIC / name).read_bytes()
        assert answer.headers["content-type"].startswith(types[name.rpartition(".")[2]])


async def test_every_file_that_is_named_is_there(api: Api) -> None:
    known = set(static_files())

    for name in known:
        text = (STATIC / name).read_text()
        folder = name.rpartition("/")[0]
        for wanted in re.findall(r'(?:from|import) "\./([^"]+)"', text):
            assert f"{folder}/{wanted}".lstrip("/") in known, (name, wanted)
        if name.endswith(".html"):
            for wanted in re.findall(r'(?:href|src)="([^"]+)"', text):
                assert (await api.client.get(f"/{wanted}")).status_code == 200, wanted


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/page/app.js", "/page/vendor/preact.js"),
        *("/docs", "/docs/docs.js", "/docs/swagger/swagger-ui-bundle.js"),
    ],
)
async def test_the_page_takes_nothing_from_elsewhere(api: Api, path: str) -> None:
    answer = await api.client.get(path)
    policy = policy_of(answer)

    assert policy["default-src"] == "'self'"
    assert {policy[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_nothing_is_inline_and_no_address_is_named() -> None:
    for name in static_files():
        text = (STATIC / name).read_text()
        if name.endswith(".html"):
            assert not re.search(r"<script(?![^>]* src=)|<style|\bstyle=|\bon\w+=", text), name
        outside = [url for url in re.findall(r"https?://[^\s\"'`)]+", text) if "w3.org" not in url]
        assert outside == [] or name.startswith("vendor/"), name
        assert "sourceMappingURL" not in text, name


def test_text_is_never_read_as_html() -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"

    for path in STATIC.glob("*.js"):
        assert re.findall(ways, path.read_text()) == [], path.name


async def test_a_browser_asks_whether_a_file_has_changed(api: Api) -> None:
    first = await api.client.get("/page/app.js")
    etag = first.headers["etag"]
    again = await api.client.get("/page/app.js", headers={"If-None-Match": etag})
    other = await api.client.get("/page/app.js", headers={"If-None-Match": '"an-older-one"'})

    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert (other.status_code, other.content) == (200, first.content)


async def test_a_head_has_the_headers_alone(api: Api) -> None:
    answer = await api.client.head("/")

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 100


@pytest.mark.parametrize(
    "path",
    [
        *("/page/", "/page/none.js", "/page/vendor", "/page/vendor/", "/page/vendor/LICENSE"),
        *("/page/../files.py", "/page/..%2ffiles.py", "/page/%2e%2e/files.py", "/page//app.js"),
        *("/page/..\\files.py", "/page/vendor/../../files.py", "/page/app.js%00", "/page/App.js"),
        *("/page//etc/passwd", "/page/%2fetc%2fpasswd", "/page/app.js/", "/page/./app.js"),
        *("/index.html", "/app.js", "/static/app.js", "/page/docs.js", "/docs/app.js", "/docs/"),
        *("/docs/swagger/redoc.standalone.js", "/docs/swagger/..%2f..%2fcore.py"),
        *("/docs/swagger/../../core.py", "/docs/swagger/", "/docs/../page/files.py"),
    ],
)
async def test_no_other_file_can_be_reached(api: Api, path: str) -> None:
    status, headers, body = await api.raw(b"", line=f"GET {path}")

    assert status == 404
    assert headers["content-type"] == "application/problem+json"
    assert b"def " not in body


async def test_the_page_only_reads(api: Api) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert (await api.client.request(method, "/")).status_code == 405
        assert (await api.client.request(method, "/page/app.js")).status_code == 405


PAGE = ("/", "/page/app.js", "/page/index.html", "/page/icon.svg")
DOCS = ("/docs", "/docs/docs.js", "/docs/icon.svg", "/docs/swagger/swagger-ui.css", "/openapi.json")


@pytest.mark.parametrize(
    ("given", "page", "docs"),
    [
        ({}, True, True),
        ({"page": False}, False, True),
        ({"docs": False}, True, False),
        ({"api_keys": KEY}, False, False),
        ({"api_keys": KEY, "page": True}, True, False),
        ({"api_keys": KEY, "docs": True}, False, True),
    ],
)
async def test_page_and_description_are_shown_without_a_key_or_by_setting(
    given: dict[str, Any], page: bool, docs: bool
) -> None:
    app_state = wire(Settings(**given), ["parcel_refund"], "memory://")

    async with helpers.serving(app_state) as api:
        pages = {(await api.client.get(path)).status_code for path in PAGE}
        described = {(await api.client.get(path)).status_code for path in DOCS}
        listed = await api.client.get("/v1/journeys")

    assert pages == {200 if page else 404}
    assert described == {200 if docs else 404}
    assert listed.status_code == (401 if "api_keys" in given else 200)


async def test_the_description_is_shown_with_scripts_of_this_server(api: Api) -> None:
    shown = (await api.client.get("/docs")).text
    wanted = re.findall(r'(?:href|src)="([^"]+)"', shown)

    assert {"docs/swagger/swagger-ui-bundle.js", "docs/swagger/swagger-ui.css"} <= set(wanted)
    for name in wanted:
        answer = await api.client.get(f"/{name}")
        assert answer.status_code == 200, name
    bundle = await api.client.get("/docs/swagger/swagger-ui-bundle.js")
    assert b"SwaggerUIBundle" in bundle.content
    again = {"If-None-Match": f'W/"other", {bundle.headers["etag"]}'}
    assert (await api.client.get(bundle.url.path, headers=again)).status_code == 304


async def test_the_answers_of_the_api_keep_their_own_headers(api: Api) -> None:
    answer = await api.client.get("/v1/journeys")

    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"


def test_the_vendored_files_are_the_published_ones() -> None:
    folder = STATIC / "vendor"
    licences = (folder / "LICENSE").read_text()

    assert {file.name for file in folder.glob("*.js")} == {*VENDORED}
    for name, (end, digest) in VENDORED.items():
        assert hashlib.sha256((folder / name).read_bytes() + end).hexdigest() == digest
        assert name in licences
    assert "The MIT License" in licences
    assert "Apache License" in licences
    assert "MarkedJS" in licences


def test_a_wheel_has_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hatchling.build import build_wheel  # noqa: PLC0415 - for this test alone

    monkeypatch.chdir(Path(__file__).parents[2])
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        packed = set(wheel.namelist())

    files = [*static_files(), "vendor/LICENSE"]
    assert {f"journeygraph/server/page/static/{name}" for name in files} <= packed


def test_the_page_is_light() -> None:
    assert sum((STATIC / name).stat().st_size for name in static_files()) < 300_000
