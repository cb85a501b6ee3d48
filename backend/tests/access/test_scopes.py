"""Which scope each route needs: the whole table, against the routes that there are and what they answer."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from loadwatch_backend.access.principal import SCOPES_OF, Role
from loadwatch_backend.app.application import create_app
from loadwatch_backend.core.settings import Settings

from backend.tests.access.people import Town, town
from backend.tests.conftest import run_server

OPEN = "open"
"""Anyone: what it gives is no secret, or it asks for a secret of its own."""
SELF = "self"
"""Anyone who is signed in: it is about themselves."""

TABLE = {
    OPEN: """
        GET /-/healthy
        GET /-/ready
        GET /prometheus/
        GET /api/session
        POST /api/session
        DELETE /api/session
        POST /api/session/password
        GET /api/session/oidc
        GET /api/session/oidc/callback
        POST /api/setup
        GET /runbooks
        GET /runbooks/{name}
        GET /share/{secret}
        GET /share/{secret}/files/{file_id}
    """,
    SELF: """
        PUT /api/session/password
        GET /api/session/sessions
        DELETE /api/session/sessions/{session_id}
    """,
    "samples:write": """
        POST /prometheus/api/v1/write
        POST /prometheus/api/v1/otlp/v1/metrics
        GET /api/profiles/orders
        POST /api/profiles/orders/{order_id}/begin
        POST /api/profiles/orders/{order_id}/failure
        POST /api/profiles/orders/{order_id}/profile
    """,
    "read": """
        GET /api/alerts
        GET /api/alerts/history
        GET /api/alerts/{alert_id}
        GET /api/alerts/{alert_id}/series
        GET /api/annotations
        GET /api/annotations/{annotation_id}
        GET /api/compare
        GET /api/deliveries
        GET /api/deliveries/{delivery_id}
        GET /api/evidence/{file_id}
        GET /api/export
        GET /api/findings
        GET /api/findings/marks
        GET /api/forecasts
        GET /api/headroom
        GET /api/imports/{import_id}
        GET /api/live
        GET /api/meetings/next
        GET /api/metrics
        GET /api/pool-advice
        GET /api/receivers
        GET /api/routes
        POST /api/routes/resolve
        GET /api/rules
        GET /api/runs
        GET /api/runs/facets
        GET /api/runs/{run_id}
        GET /api/runs/{run_id}/archive
        GET /api/runs/{run_id}/cost
        GET /api/runs/{run_id}/deletion
        GET /api/runs/{run_id}/difference
        GET /api/profiles/view
        GET /api/runs/{run_id}/profiles
        GET /api/runs/{run_id}/profile-orders
        GET /api/runs/{run_id}/evidence
        GET /api/runs/{run_id}/figures
        GET /api/runs/{run_id}/log-patterns
        GET /api/runs/{run_id}/percentiles
        GET /api/runs/{run_id}/records.parquet
        GET /api/runs/{run_id}/report
        GET /api/runs/{run_id}/review
        GET /api/runs/{run_id}/routes
        GET /api/runs/{run_id}/review/history
        GET /api/runs/{run_id}/seconds
        GET /api/runs/{run_id}/shares
        GET /api/runs/{run_id}/snapshots
        GET /api/runs/{run_id}/statements
        GET /api/signals
        POST /api/signals/query
        GET /api/silences
        GET /api/silences/{silence_id}
        POST /api/silences/preview
        GET /api/status
        GET /api/sweep
        GET /api/store
        GET /api/targets
        GET /api/timeouts
        GET /api/trend
        GET /metrics
        GET /prometheus/api/v1/alerts
        GET /prometheus/api/v1/rules
        GET /alertmanager/api/v2/status
        GET /alertmanager/api/v2/receivers
        GET /alertmanager/api/v2/alerts
        GET /alertmanager/api/v2/alerts/groups
        GET /alertmanager/api/v2/silences
        GET /alertmanager/api/v2/silence/{silence_id}
        GET /prometheus/api/v1/alertmanagers
        GET /prometheus/api/v1/query_exemplars
        POST /prometheus/api/v1/query_exemplars
        GET /prometheus/api/v1/scrape_pools
        GET /prometheus/api/v1/status/config
        GET /prometheus/api/v1/status/flags
        GET /prometheus/api/v1/status/runtimeinfo
        GET /prometheus/api/v1/status/tsdb
        GET /prometheus/api/v1/targets
        GET /prometheus/api/v1/label/{name}/values
        GET /prometheus/api/v1/labels
        POST /prometheus/api/v1/labels
        GET /prometheus/api/v1/metadata
        GET /prometheus/api/v1/query
        POST /prometheus/api/v1/query
        GET /prometheus/api/v1/query_range
        POST /prometheus/api/v1/query_range
        GET /prometheus/api/v1/series
        POST /prometheus/api/v1/series
        GET /prometheus/api/v1/status/buildinfo
    """,
    "notes:write": """
        POST /api/annotations
        PATCH /api/annotations/{annotation_id}
        DELETE /api/annotations/{annotation_id}
    """,
    "runs:write": """
        POST /api/archives
        PATCH /api/evidence/{file_id}
        DELETE /api/evidence/{file_id}
        POST /api/findings/marks
        DELETE /api/findings/marks/{mark_id}
        POST /api/imports
        DELETE /api/imports/{import_id}
        POST /api/meetings
        POST /api/runs
        PATCH /api/runs/{run_id}
        DELETE /api/runs/{run_id}
        PUT /api/runs/{run_id}/baseline
        DELETE /api/runs/{run_id}/baseline
        POST /api/profile-orders
        POST /api/runs/{run_id}/profiles
        POST /api/runs/{run_id}/evidence
        POST /api/runs/{run_id}/findings
        POST /api/runs/{run_id}/finish
        POST /api/runs/{run_id}/progress
        PUT /api/runs/{run_id}/review
        POST /api/runs/{run_id}/shares
        DELETE /api/shares/{share_id}
    """,
    "alerts:write": """
        PUT /api/alerts/{alert_id}/acknowledgement
        DELETE /api/alerts/{alert_id}/acknowledgement
        POST /api/alerts/{alert_id}/dismiss
        POST /api/deliveries/{delivery_id}/retry
        POST /api/deliveries/{delivery_id}/stop
        POST /api/receivers/{name}/integrations/{integration}/retry
        POST /api/receivers/{name}/integrations/{integration}/stop
        POST /api/receivers/{name}/test
        POST /api/silences
        POST /api/targets/answers
        POST /alertmanager/api/v2/silences
        POST /alertmanager/api/v2/alerts
        DELETE /alertmanager/api/v2/silence/{silence_id}
        PUT /api/silences/{silence_id}
        POST /api/silences/{silence_id}/expire
    """,
    "admin": """
        GET /api/audit
        POST /api/backup
        POST /api/store/compact
        GET /api/connect
        POST /api/connect/check
        POST /api/connect/watch
        POST /api/panels
        DELETE /api/panels/{panel_id}
        POST /api/routes/reload
        POST /api/rules/reload
        GET /api/tokens
        POST /api/tokens
        DELETE /api/tokens/{token_id}
        GET /api/users
        POST /api/users
        PATCH /api/users/{user_id}
        DELETE /api/users/{user_id}
        GET /api/users/{user_id}/sessions
        DELETE /api/users/{user_id}/sessions/{session_id}
    """,
}
ROUTES = [(line.strip(), scope) for scope, lines in TABLE.items() for line in lines.strip().splitlines()]
STREAMS = {"GET /api/live"}


def test_the_table_has_every_route_once():
    paths = create_app(Settings()).openapi()["paths"]
    there = sorted(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods)
    assert sorted(route for route, _ in ROUTES) == there


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with town(run_server, tmp_path_factory.mktemp("scopes")) as running:
        yield running


@pytest.fixture(scope="module")
def askers(place: Town) -> dict[str, dict[str, str]]:
    """Headers of a token for each role."""
    return {role.value: place.token(role.value, role=role) for role in Role}


def ask(place: Town, route: str, headers: dict[str, str]) -> int:
    """The status of a request with ids that nobody has and no body: past the gate it is some other refusal."""
    method, path = route.split()
    for name in ("run_id", "secret", "name", "share_id", "session_id", "token_id", "import_id"):
        path = path.replace("{" + name + "}", "nobody")
    for name in ("annotation_id", "user_id", "integration", "delivery_id", "alert_id", "silence_id"):
        path = path.replace("{" + name + "}", "4095")
    with (
        httpx.Client(base_url=place.url, timeout=120, verify=False) as client,
        client.stream(method, path, headers=headers) as answer,
    ):
        return answer.status_code


@pytest.mark.parametrize(("route", "scope"), ROUTES)
def test_each_role_gets_as_far_as_its_scopes(place: Town, askers: dict[str, dict[str, str]], route: str, scope: str):
    """An unfinished slice may still answer 500 to those who may; nobody else gets to see even that."""
    assert (ask(place, route, {}) == 401) == (scope != OPEN), route
    for role in Role:
        status = ask(place, route, askers[role.value])
        if scope == OPEN:
            assert status != 401, (route, role)
        elif scope == SELF or scope in SCOPES_OF[role]:
            assert status != 401, (route, role)
            assert status != 403 or route == "PUT /api/session/password", (route, role)
        else:
            assert status == 403, (route, role, status)


def test_a_token_has_the_scopes_that_it_was_given_and_no_others(place: Town, pick: Callable[[str], str]):
    for scope in ("samples:write", "read", "notes:write", "runs:write", "alerts:write", "admin"):
        headers = place.token(f"only-{scope.replace(':', '-')}", scope)
        for other in ("samples:write", "read", "notes:write", "runs:write", "alerts:write", "admin"):
            assert (ask(place, pick(other), headers) == 403) == (scope != other), (scope, other)


@pytest.fixture
def pick() -> Callable[[str], str]:
    """One route of a scope."""
    found: dict[str, Any] = {scope: next(route for route, asked in ROUTES if asked == scope) for scope in TABLE}
    found["alerts:write"] = "POST /api/silences"
    return lambda scope: str(found[scope])
