"""Route of the metrics, in the format of Prometheus."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response

from journeygraph.server.http.deps import CurrentCaller, Deps
from journeygraph.server.http.problems import Problem
from journeygraph.server.http.routing import ApiRoute, accept_of

router = APIRouter(tags=["health"], route_class=ApiRoute)
_FORMAT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/metrics", response_class=Response, responses=_FORMAT)
async def shown(request: Request, app_state: Deps, caller: CurrentCaller) -> Response:
    """Return the metrics of this process, in Prometheus' text format or as OpenMetrics.

    404 `metrics_off` unless the server is started with `JOURNEYGRAPH_METRICS=true`. They are of all
    tenants: 403 `other_tenant` for a key of another tenant than that of the settings.
    """
    if caller.tenant != app_state.keys.anyone.tenant:
        raise Problem(
            HTTPStatus.FORBIDDEN,
            "other_tenant",
            "The metrics are of all tenants. Send a key of the tenant of the server's settings.",
        )
    if app_state.metrics is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "metrics_off",
            "This server shows no metrics. Start it with JOURNEYGRAPH_METRICS=true.",
        )
    text, media_type = await app_state.metrics.shown(accept_of(request.scope))
    return Response(text, headers={"Content-Type": media_type})
