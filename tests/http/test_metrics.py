"""Metrics of a server: at /metrics for Prometheus, and sent by OpenTelemetry's protocol."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from journeygraph import NEVER, ConfigurationError, Journey, Pathway, Pipeline
from journeygraph.graphs.session import jobs
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.nodes.telemetry import measure
from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.http.auth import Keys
from journeygraph.server.settings import Settings
from journeygraph.server.telemetry import ENDPOINT, Metrics, exporting
from tests.http.test_http_access import with_key
from tests.http.test_http_models import Weather
from tests.http.test_http_turns import until
from tests.support import api as helpers
from tests.support import command, model_shop, watching
from tests.support.api import KEY, Api, one
from tests.support.bike_shop import Workshop, clerk
from tests.support.command import ROOT, served, start
from tests.support.watching import Watch

serve, shop, watch = helpers.serve, model_shop.shop, watching.watch
folder, logging_as_before = command.folder, command.logging_as_before
PAGE = (ROOT / "docs" / "how-to" / "observability.md").read_text()


async def shown(api: Api, **headers: str) -> dict[str, list[Any]]:
    """The samples of each metric, by its name in Prometheus."""
    answer = await api.client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    samples: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            samples.setdefault(sample.name, []).append(sample)
    return samples


def total(samples: dict[str, list[Any]], name: str, **labels: str) -> float:
    found = [one for one in samples.get(name, ()) if labels.items() <= one.labels.items()]
    return float(sum(one.value for one in found))


async def test_the_metrics_are_off_unless_they_are_asked_for(serve: Callable[..., Any]) -> None:
    api = await serve()

    answer = await api.client.get("/metrics")

    assert (answer.status_code, answer.json()["code"]) == (404, "metrics_off")
    assert "JOURNEYGRAPH_METRICS=true" in answer.json()["detail"]
    assert Settings().metrics is False


async def test_they_need_a_key_where_one_is_set(serve: Callable[..., Any], watch: Watch) -> None:
    api = await serve(keys=(KEY,), metrics=Metrics())

    assert (await api.client.get("/metrics")).status_code == 401
    assert await shown(api, Authorization=f"Bearer {KEY}")


async def test_a_key_of_another_tenant_sees_no_numbers_of_all_tenants(
    serve: Callable[..., Any], watch: Watch
) -> None:
    api = await serve(keys=Keys(uses_stored=True), metrics=Metrics())
    stored = api.app_state.keys.stored
    own, other = [
        with_key((await stored.create(KeyRequest(("admin",)), tenant)).secret)
        for tenant in ("default", "acme")
    ]

    answer = await api.client.get("/metrics", headers=other)

    assert (answer.status_code, answer.json()["code"]) == (403, "other_tenant")
    assert await shown(api, **own)


async def test_turns_waits_flags_and_streams_are_counted(
    serve: Callable[..., Any], watch: Watch
) -> None:
    api = await serve(metrics=Metrics())
    session = await api.begin()
    begun = asyncio.Event()
    async with api.client.stream("GET", f"{session}/events") as stream:
        begun.set()
        during = await shown(api)
        assert total(during, "journeygraph_stream_active") == 1
        await stream.aclose()
    await asyncio.gather(*(api.says(session, "how much?") for _ in range(3)))

    samples = await shown(api)

    of_parcel = {"journeygraph_journey_id": "parcel", "journeygraph_outcome": "ok"}
    assert total(samples, "journeygraph_turn_duration_seconds_count", **of_parcel) == 3
    assert total(samples, "journeygraph_turn_wait_duration_seconds_count") == 2
    assert total(samples, "journeygraph_turn_active") == 0
    assert total(samples, "journeygraph_turn_waiting") == 0
    assert samples["process_resident_memory_bytes"]
    route = {"http_route": "/v1/sessions/{session_id}/messages"}
    assert total(samples, "http_server_request_duration_seconds_count", **route) == 3


async def test_calls_of_models_and_their_tokens_are_counted(
    serve: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel(always={"response": "Tomorrow."}) as model:
        api = await serve(one(Weather), model=model, metrics=Metrics())
        await api.says(await api.begin("weather"), "When?")
        samples = await shown(api)

    calls = total(samples, "gen_ai_client_operation_duration_seconds_count")
    assert calls == len(model.calls)
    assert total(samples, "gen_ai_client_token_usage_sum", gen_ai_token_type="output") > 0


async def test_what_is_open_in_the_store_is_counted(
    serve: Callable[..., Any], watch: Watch, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "COUNT_SECONDS", 0.02)
    api = await serve(one(Workshop, clerk=clerk), url=store_url, metrics=Metrics())
    other = await serve(one(Workshop, clerk=clerk), url=store_url, metrics=Metrics())

    async def counted(*numbers: float) -> None:
        """Wait until both servers count so many open sessions and calls."""
        names = ("session_open", "escalation_waiting")
        for each in (api, other):
            await until(partial(is_counted, each, dict(zip(names, numbers, strict=True))))

    async def is_counted(each: Api, numbers: dict[str, float]) -> bool:
        samples = await shown(each)
        return all(total(samples, f"journeygraph_{name}") == n for name, n in numbers.items())

    await counted(0, 0)
    for number in (1, 2):
        session = await api.begin("workshop", f"s-{number}")
        await api.says(session, "a person, please")
    await counted(2, 2)
    [call, _] = (await api.client.get("/v1/escalations")).json()["escalations"]
    await api.client.post(f"/v1/escalations/{call['id']}/claim", json={"by": "ann"})
    await counted(2, 1)
    await api.client.delete("/v1/sessions/s-1")
    await api.client.delete("/v1/sessions/s-2")
    await counted(0, 0)


async def test_a_breaker_is_open_until_a_call_succeeds(
    serve: Callable[..., Any], watch: Watch
) -> None:
    clock, fails = [0.0], [True]

    class Fragile(Journey):
        class TalkPath(Pathway):
            __pipeline__ = Pipeline.sequential(["clerk"]).with_limits(
                breaker_failures=2, clock=lambda: clock[0]
            )
            __complete_when__ = NEVER

    async def failing(payload: dict[str, Any]) -> str:
        if fails[0]:
            raise RuntimeError("canary")
        return "Yes."

    api = await serve(one(Fragile, clerk=failing), metrics=Metrics())
    session = await api.begin("fragile")

    async def state() -> list[tuple[float, str]]:
        found = (await shown(api)).get("journeygraph_breaker_open", ())
        return [(one.value, one.labels["gen_ai_agent_name"]) for one in found]

    for _ in range(3):
        await api.says(session, "hi")
    assert await state() == [(1, "clerk")]
    clock[0], fails[0] = 10_000.0, False
    assert (await api.says(session, "hi"))["message"] == "Yes."
    assert await state() == [(0, "clerk")]


SECRET = "tulip"


async def test_no_label_has_a_word_of_a_request(serve: Callable[..., Any], watch: Watch) -> None:
    api = await serve(metrics=Metrics())
    session = await api.begin(session_id=f"s-{SECRET}")
    await api.says(session, f"street={SECRET}")
    await api.client.request(SECRET.upper(), f"/v1/{SECRET}")
    for path in (
        f"/v1/sessions/{SECRET}",
        f"/{SECRET}?{SECRET}={SECRET}",
        f"/v1/journeys/{SECRET}",
    ):
        await api.client.get(path, headers={"Host": "localhost", "X-Request-ID": SECRET})

    text = (await api.client.get("/metrics")).text

    assert "journeygraph_turn_duration_seconds_count" in text
    assert SECRET not in text.lower()


async def test_every_label_of_ours_is_on_the_page(serve: Callable[..., Any], watch: Watch) -> None:
    async with ScriptedModel(always={"response": "Tomorrow."}) as model:
        api = await serve(one(Weather), model=model, metrics=Metrics())
        session = await api.begin("weather")
        await asyncio.gather(api.says(session, "When?"), api.says(session, "And?"))
        samples = await shown(api)
    documented = {name.replace(".", "_") for name in re.findall(r"`([\w.]+)`", PAGE)}

    ours = [one for name, of in samples.items() if name[:3] in ("jou", "gen") for one in of]

    assert len(ours) > 20
    assert {label for one in ours for label in one.labels} - {"le"} <= documented


async def test_a_scraper_that_asks_for_it_gets_openmetrics(
    serve: Callable[..., Any], watch: Watch
) -> None:
    api = await serve(metrics=Metrics())

    accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    answer = await api.client.get("/metrics", headers={"Accept": accept})

    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


async def test_a_server_that_has_ended_collects_no_more(watch: Watch) -> None:
    metrics = Metrics()
    with metrics.collected():
        measure("journeygraph.cache.read", {})
        during, _ = await metrics.shown("")
    after, _ = await metrics.shown("")

    assert b"journeygraph_cache_read" in during
    assert b"journeygraph_cache_read" not in after


def test_without_the_packages_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.prometheus", None)

    with pytest.raises(ConfigurationError, match=re.escape("pip install 'journeygraph[otel]'")):
        Metrics()


# --- OpenTelemetry's protocol ---------------------------------------------------------------------


class Collector:
    """A collector on a loopback socket: what was sent to each of its paths."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, bytes]] = []
        self.url = ""

    def of(self, path: str, kind: Any) -> list[Any]:
        return [kind.FromString(body) for at, body in self.posts if at == path]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            collector.posts.append((self.path, self.rfile.read(length)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "name"), [({}, "journeygraph"), ({"OTEL_SERVICE_NAME": "shop"}, "shop")]
)
def test_spans_and_metrics_go_where_the_environment_says(
    folder: Path, own: dict[str, str], name: str
) -> None:
    """A process of its own: providers are for a whole process."""
    afresh = partial(start, afresh=True)
    with collecting() as collector:
        told = {
            ENDPOINT: collector.url,
            "JOURNEYGRAPH_METRICS": "true",
            **own,
        }
        with served(folder, "orders.py", begin=afresh, **told) as (process, place, lines):
            assert f"Metrics: {place}/metrics\n" in lines
            httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-tulip"})
            said = {"message": "a pear, says tulip"}
            httpx2.post(f"{place}/v1/sessions/s-tulip/messages", json=said)
            text = httpx2.get(f"{place}/metrics").text
            process.send_signal(signal.SIGTERM)
            process.wait(110)

    assert 'journeygraph_turn_duration_seconds_count{journeygraph_journey_id="orders"' in text
    spans = [
        span
        for request in collector.of("/v1/traces", ExportTraceServiceRequest)
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert "invoke_workflow orders" in {span.name for span in spans}
    metrics = [
        (attribute.value.string_value, metric.name)
        for request in collector.of("/v1/metrics", ExportMetricsServiceRequest)
        for resource in request.resource_metrics
        for attribute in resource.resource.attributes
        if attribute.key == "service.name"
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ]
    assert (name, "journeygraph.turn.duration") in metrics
    assert f'service_name="{name}"' in text
    assert b"tulip" not in b"".join(body for _, body in collector.posts)


REFUSED = {
    "another protocol": ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "'http/protobuf'"),
    "another exporter": ("OTEL_TRACES_EXPORTER", "zipkin", "'otlp' or 'none'"),
}


@pytest.mark.parametrize(("name", "value", "remedy"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_exported_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, remedy: str
) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    for taken in ("takes_spans", "takes_metrics"):
        monkeypatch.setattr(f"journeygraph.server.telemetry.{taken}", lambda: False)

    with pytest.raises(ConfigurationError, match=f"{name} is '{value}'.*{remedy}"), exporting():
        pass


def test_nothing_is_set_up_where_the_process_has_providers(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")  # which is then the launcher's

    with collecting() as collector, exporting():
        assert json.dumps(collector.posts) == "[]"
