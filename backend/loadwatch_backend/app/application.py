"""The application: settings in, a running server out."""

import re
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from loadwatch_backend.access.audit import AuditMiddleware
from loadwatch_backend.access.credentials import CookieKind, cookie_name
from loadwatch_backend.access.modes import access_of
from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.wiring import AccessServices
from loadwatch_backend.app.api import build_routes
from loadwatch_backend.app.observe import ServerMetrics
from loadwatch_backend.app.services import open_services
from loadwatch_backend.core.addresses import parse_cidrs
from loadwatch_backend.core.clock import Clock, system_clock
from loadwatch_backend.core.database.outages import problem_of
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.middleware import (
    REFUSAL,
    BodyLimitMiddleware,
    ClientMiddleware,
    GuardMiddleware,
    HeadMiddleware,
    MistakeMiddleware,
    ObserveMiddleware,
    Observer,
    SecurityHeadersMiddleware,
)
from loadwatch_backend.core.problems import (
    PROMETHEUS_OTLP,
    PROMETHEUS_WRITE,
    error_document,
    problem_of_status,
    problem_of_validation,
)
from loadwatch_backend.core.processes import AgentControl
from loadwatch_backend.core.schemas import Problem
from loadwatch_backend.core.services import find_service
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.core.ui import UI_DIRECTORY, UserInterface
from loadwatch_backend.core.version import RELEASE


def add_error_handlers(app: FastAPI) -> None:
    app.exception_handler(ProblemError)(_respond)
    app.exception_handler(HTTPException)(_answer_http)
    app.exception_handler(RequestValidationError)(_answer_invalid)


async def _respond(request: Request, error: ProblemError) -> JSONResponse:
    request.scope[REFUSAL] = error.code
    headers = error.headers()
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="loadwatch"'
    document, media_type = error_document(error, request.url.path)
    return JSONResponse(document, error.status, headers, media_type=media_type)


async def _answer_http(request: Request, error: HTTPException) -> JSONResponse:
    problem = problem_of_status(error.status_code, str(error.detail), request.method, request.url.path)
    response = await _respond(request, problem)
    if error.headers and "allow" in {name.lower() for name in error.headers}:
        response.headers["Allow"] = dict(error.headers).get("Allow", "")
    return response


async def _answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return await _respond(request, problem_of_validation(error.errors()))


DESCRIPTION = """Samples in by Prometheus remote write, questions in PromQL or by named signals, notes on the time line.

Times are milliseconds since the epoch. Errors are RFC 9457 problem details with a stable `code`; below
`/prometheus/api/v1` they have the shape of Prometheus' HTTP API."""

BODY_BYTES = 1 << 20
"""Largest body of a request to /api."""
OWN_BODY_LIMITS = re.compile(
    rf"{re.escape(PROMETHEUS_WRITE)}|{re.escape(PROMETHEUS_OTLP)}|/api/imports|/api/archives"
    r"|/api/runs/[^/]+/(evidence|profiles)"
    r"|/api/profiles/orders/[^/]+/profile"
)
"""Paths that take files, or samples."""

GZIP_LEAST_BYTES = 4_096
GZIP_LEVEL = 1
"""The answer of a page's query is compressed each second: level 1 takes a third of level 6's time."""


def create_app(
    settings: Settings,
    clock: Clock = system_clock,
    monotonic: Callable[[], float] = time.monotonic,
    setup_secret: str | None = None,
    agent_control: AgentControl | None = None,
) -> FastAPI:
    """The application. Nothing is opened before its lifespan starts.

    `monotonic` tells when `clock` was set; `setup_secret` is that of the first administrator's link, where it is known;
    `agent_control` reaches the agent that `loadwatch up` started beside the server.
    """
    metrics = ServerMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with ExitStack() as stack:
            services = open_services(settings, clock, monotonic, metrics, stack, setup_secret, agent_control)
            app.state.services = services
            try:
                yield
            finally:
                app.state.services = None
                services.end_streams()

    app = FastAPI(
        title="Loadwatch",
        version=RELEASE,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        routes=[*build_routes(_operation_id)],
        redirect_slashes=False,
        middleware=_middleware(settings, metrics.observe),
    )
    add_error_handlers(app)
    # Not a mount: that would answer 404 where a route takes the path and not the method.
    app.router.default = UserInterface(UI_DIRECTORY)
    app.openapi = lambda: _openapi(app)
    return app


def _middleware(settings: Settings, observer: Observer) -> list[Middleware]:
    """From the outside in."""
    proxies = parse_cidrs(settings.proxy_networks, "LOADWATCH_PROXY_NETWORKS")
    return [
        Middleware(ObserveMiddleware, observer=observer),
        Middleware(ClientMiddleware, proxies=proxies, external=settings.external_url),
        Middleware(SecurityHeadersMiddleware),
        Middleware(
            GuardMiddleware,
            loopback_only=access_of(settings) is Access.OPEN,
            allowed_hosts=settings.allowed_hosts,
            cookies=[cookie_name(CookieKind.SESSION, secure=secure) for secure in (False, True)],
        ),
        Middleware(MistakeMiddleware, known=problem_of),
        Middleware(HeadMiddleware),
        Middleware(BodyLimitMiddleware, most=BODY_BYTES, exempt=OWN_BODY_LIMITS.fullmatch),
        Middleware(GZipMiddleware, minimum_size=GZIP_LEAST_BYTES, compresslevel=GZIP_LEVEL),
        Middleware(AuditMiddleware, log_of=lambda app: find_service(app, AccessServices).audit),
    ]


def _operation_id(route: APIRoute) -> str:
    """The handler's name; the Prometheus API has handlers that take a question by GET and by POST."""
    return (
        f"prometheus_{route.name}_{min(route.methods or {'ANY'}).lower()}" if "prometheus" in route.tags else route.name
    )


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        app.openapi_schema = document
    return app.openapi_schema
