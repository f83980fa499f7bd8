"""The HTTP application, made from its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Mount

from journeygraph.server import installed_version
from journeygraph.server.discover.journeys import Name
from journeygraph.server.http.app_state import AppState, wire
from journeygraph.server.http.problems import MEDIA_TYPE, answer_problems
from journeygraph.server.http.request_middleware import RequestMiddleware
from journeygraph.server.http.routes import (
    escalations,
    events,
    fields,
    health,
    metrics,
    reviews,
    sessions,
    tokens,
    turns,
    user_data,
)
from journeygraph.server.http.routes import journeys as journeys_routes
from journeygraph.server.http.schemas import ProblemBody
from journeygraph.server.page.files import page_routes
from journeygraph.server.protocols import ag_ui, ai_sdk, openai_api
from journeygraph.server.protocols.client_turns import SESSION_HEADER
from journeygraph.server.settings import Settings

_ABOUT = """Long conversations with a goal. Start a session, then send messages to it.

Errors are `application/problem+json` with a stable `code` and the `request_id` of the response.
Faults of a request or of a definition are in `faults`, each with `path`, `message` and `remedy`.
"""
_RECEIVED = ("Location", "Retry-After", "Idempotent-Replay", "X-Request-ID", SESSION_HEADER)
"""Headers of answers that these pages may read."""
# Routes check the key themselves, before they read anything; this is how the description says so.
_BEARER = HTTPBearer(auto_error=False, scheme_name="API key")


def create_app(
    settings: Settings | None = None,
    journeys: Iterable[Name] = (),
    store: str | None = None,
    *,
    versions: Iterable[Name] = (),
) -> FastAPI:
    """Return the application; its store is opened when it starts.

    Args:
        settings: Default: from the environment and `.env`.
        journeys: Names of journeys, as on the command line, or their classes. Default: all
            examples.
        store: URL that replaces the store of the settings.
        versions: Other versions of these journeys, by name or as classes: a session continues in
            the version in which it began, if that is served. New sessions begin in `journeys`.

    Raises:
        ConfigurationError: A setting is not valid, or one of `versions` is no other version of a
            journey that is served.
        CommandError: A journey cannot be served.
    """
    settings = settings or Settings()
    # Now, and not on the event loop: LangGraph's development server refuses it there.
    place = _absolute(settings.config(store).persistence)
    return app_of(wire(settings, journeys, place, versions=versions))


def app_of(app_state: AppState, *, follows: bool = False) -> FastAPI:
    """Return the application for a complete app_state.

    Args:
        follows: True for a page that loads again when another start of the server answers.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with app_state.opened():
            yield

    app = _Api(
        title="JourneyGraph",
        version=installed_version(),
        description=_ABOUT,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # it would load its scripts from another address; the page's room has ours
        redoc_url=None,
        openapi_url="/openapi.json" if app_state.shows_docs else None,
        # The framework's own spans hold the path, and in it a session's id; its log, what errors
        # say. Its metrics name routes alone. Older ones know nothing of this, and report nothing.
        telemetry={"tracing": False, "logs": False, "metrics": True},
    )
    app.state.app_state = app_state
    app.add_middleware(RequestMiddleware, keys=app_state.keys)
    if app_state.cors_origins:
        app.add_middleware(  # around the others, so that a page can read each of its problems
            CORSMiddleware,
            allow_origins=app_state.cors_origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=["*"],  # clients add their own; no header but a key gives any right
            expose_headers=_RECEIVED,
        )
    answer_problems(app)
    app.router.routes.extend(_routes(keyed=bool(app_state.keys)))
    shown = page_routes(
        page=app_state.shows_page,
        docs=app_state.shows_docs,
        follows=follows,
        widget=bool(app_state.cors_origins),
    )
    app.router.routes.extend(shown)
    return app


def _absolute(store: str) -> str:
    """Return the URL of a store; the path of a SQLite file no longer depends on the folder."""
    scheme, _, name = store.partition(":///")
    return f"sqlite:///{Path(name).absolute()}" if scheme == "sqlite" else store


def mounted(app: FastAPI, path: str = "/journeygraph") -> Starlette:
    """Return an application that has another one at a path, and opens and closes it.

    The server of LangGraph takes it as `http.app` of `langgraph.json`. The mounted application
    keeps its own headers, errors and keys, and changes none of the server's routes.

    Args:
        app: The application, from `create_app`.
        path: The start of the paths of its routes.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Starlette(routes=[Mount(path, app)], lifespan=lifespan)


class _Api(FastAPI):
    """FastAPI's application, with the schema of problems in its API description."""

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        body = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
        known = {**body.pop("$defs"), ProblemBody.__name__: body}
        schemas = described["components"]["schemas"]
        described["components"]["schemas"] = {**known, **schemas}
        return described


@cache
def _routes(*, keyed: bool) -> Sequence[BaseRoute]:
    """Return the routes of the API; they are made once, because that takes 20 ms."""
    behind_the_key: dict[str, Any] = {"dependencies": [Depends(_BEARER)] if keyed else []}
    api = APIRouter()
    api.include_router(turns.router, responses=_problems(), **behind_the_key)  # asked most often
    api.include_router(turns.events_router)
    api.include_router(events.router, responses=_problems(), **behind_the_key)
    api.include_router(health.router, responses=_problems(503))
    api.include_router(sessions.beginning, responses=_problems(), **behind_the_key)
    api.include_router(sessions.router, responses=_problems(), **behind_the_key)
    api.include_router(fields.router, responses=_problems(), **behind_the_key)
    api.include_router(escalations.router, responses=_problems(), **behind_the_key)
    api.include_router(reviews.router, responses=_problems(), **behind_the_key)
    api.include_router(tokens.router, responses=_problems(), **behind_the_key)
    api.include_router(user_data.router, responses=_problems(), **behind_the_key)
    api.include_router(journeys_routes.router, responses=_problems(), **behind_the_key)
    api.include_router(openai_api.router, responses=openai_api.ERRORS, **behind_the_key)
    api.include_router(metrics.router, responses=_problems(), **behind_the_key)
    api.include_router(ag_ui.router, responses=_problems(), **behind_the_key)
    api.include_router(ai_sdk.router, responses=_problems(), **behind_the_key)
    return tuple(api.routes)


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    schema = {"$ref": f"#/components/schemas/{ProblemBody.__name__}"}
    described = {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": schema}}}
    return dict.fromkeys(statuses, described) or {"4XX": described, "5XX": described}
