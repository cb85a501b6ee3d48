"""Every route and what is no route, as probes, programs, browsers and pages of other sites ask for them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from loadwatch_backend.core.paths import HEALTH_PATHS, PAGE_PATHS

PAGES_SOURCE = Path(__file__).parents[3] / "frontend/src/app/pages.tsx"
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FILLED = {"run_id": "0" * 16, "name": "clock-skew", "secret": "x" * 20}


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: FILLED.get(found[1], "1"), path)


@pytest.fixture(scope="module")
def paths(shared_server: Any) -> list[str]:
    documented = shared_server.app.openapi()["paths"]
    return sorted({filled(path) for path, methods in documented.items() if "get" in methods} | HEALTH_PATHS)


def test_head_answers_as_get_does_and_without_a_body(shared_server: Any, paths: list[str]):
    assert len(paths) > 60
    for path in [*paths, "/", "/alerts", "/none", "/api/none", "/prometheus/api/v1/none", "/assets/none.js"]:
        with shared_server.client.stream("GET", path, headers={"accept-encoding": "identity"}) as got:
            pass
        head = shared_server.client.head(path, headers={"accept-encoding": "identity"})
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers.get("content-type") == got.headers.get("content-type"), path
    assert shared_server.services.live.streams <= 1  # the one of GET, until its end is noticed


def test_head_is_for_what_can_be_read(shared_server: Any):
    assert shared_server.client.head("/prometheus/api/v1/write").status_code == 405
    assert shared_server.client.head("/api/signals/query").status_code == 405


# What is no route ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/none", "/healthy", "/alerts/a/b/c", "/runs/x/y", "/wp-login.php", "/index.php"])
def test_an_unknown_page_is_not_found_and_browsers_get_the_page_that_says_so(shared_server: Any, path: str):
    page = shared_server.client.get(path, headers=HTML)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    for headers in ({}, {"accept": "*/*"}, {"accept": "application/json"}):
        answer = shared_server.client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_pages_of_the_browser_are_known_to_the_server(shared_server: Any):
    source = PAGES_SOURCE.read_text()
    there = {re.sub(r":\w+", "*", path) for path in re.findall(r'\bpath: "([^"]+)"', source)}
    assert there | {"/setup"} == set(PAGE_PATHS)
    for path in PAGE_PATHS:
        assert shared_server.client.get(path.replace("*", "some-id")).status_code == 200, path
    assert shared_server.client.get("/alerts/").status_code == 200


@pytest.mark.parametrize("path", ["/prometheus/api/v1/none", "/prometheus/api/v1/", "/prometheus/api/v2/query"])
def test_unknown_paths_of_the_prometheus_api_have_its_form(shared_server: Any, path: str):
    for method in ("GET", "POST"):
        answer = shared_server.client.request(method, path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"
        assert answer.json() == {"status": "error", "errorType": "not_found", "error": f"There is nothing at {path}."}


def test_a_wrong_method_at_the_prometheus_api_has_its_form(shared_server: Any):
    answer = shared_server.client.delete("/prometheus/api/v1/query")
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/json"
    assert {"status": "error", "errorType": "bad_data"}.items() <= answer.json().items()


def test_refusals_at_the_prometheus_api_have_its_form(shared_server: Any):
    foreign = shared_server.client.get("/prometheus/api/v1/query", headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
    assert {"status": "error", "errorType": "forbidden"}.items() <= foreign.json().items()
    large = shared_server.client.post("/prometheus/api/v1/query", content=b"x" * 3_000_000)
    assert large.status_code == 413
    assert {"status": "error", "errorType": "bad_data"}.items() <= large.json().items()


@pytest.mark.parametrize("path", ["/prometheus", "/prometheus/"])
def test_the_address_of_the_data_source_answers(shared_server: Any, path: str):
    answer = shared_server.client.get(path)
    assert answer.status_code == 200
    assert "/prometheus/api/v1/query" in answer.text


# Probes -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(start_server: Callable[..., Any], tmp_path: Path) -> Iterator[Any]:
    with start_server(tmp_path / "data", access="users", allowed_hosts=("loadwatch.example",)) as running:
        yield running


def test_probes_need_no_login_and_no_name(guarded: Any):
    for path in HEALTH_PATHS:
        for method in ("GET", "HEAD"):
            answer = guarded.client.request(method, path, headers={"host": "10.1.2.3:8000"})
            assert answer.status_code == 200, (method, path)
            assert answer.headers["content-type"].startswith("text/plain")
            assert (answer.text == "") == (method == "HEAD")
    assert guarded.client.get("/api/session", headers={"host": "10.1.2.3:8000"}).status_code == 403


def test_a_server_that_is_not_ready_says_so_and_lives(guarded: Any):
    services, guarded.app.state.services = guarded.services, None
    for path in ("/-/ready", "/readyz", "/prometheus/-/ready"):
        answer = guarded.client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
        assert guarded.client.head(path).status_code == 503
    for path in ("/-/healthy", "/healthz", "/livez", "/prometheus/-/healthy"):
        assert guarded.client.get(path).status_code == 200
    guarded.app.state.services = services


# Pages of other sites -------------------------------------------------------------------------------------------------

IMAGE = {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
FETCH = {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
FRAME = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
OPEN_TO_LINKS = ("/share/", "/runbooks")
CALLBACK = "/api/session/oidc/callback"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_no_route_does_work_for_a_page_of_another_site(shared_server: Any, paths: list[str], site: str):
    for path in paths:
        opens = path == CALLBACK or path.startswith(OPEN_TO_LINKS)
        for how in (IMAGE, FETCH, FRAME, LINK):
            for method in ("GET", "HEAD", "OPTIONS"):
                answer = shared_server.client.request(method, path, headers={"sec-fetch-site": site, **how})
                refused = answer.status_code == 403 and (
                    answer.headers["content-type"] == "application/json"
                    or method == "HEAD"
                    or answer.json()["code"] == "foreign-origin"
                )
                allowed = path in HEALTH_PATHS or (opens and how is LINK and method == "GET")
                assert refused != allowed, (method, path, how)


@pytest.mark.parametrize(
    "path", [*PAGE_PATHS, "/?from=1&to=2", "/none", "/share/x", "/runbooks", "/runbooks/clock-skew", CALLBACK]
)
def test_links_on_other_sites_open_pages(shared_server: Any, path: str):
    for site in ("cross-site", "same-site", "none", "same-origin"):
        answer = shared_server.client.get(
            path.replace("*", "some-id"), headers={"sec-fetch-site": site, **LINK, **HTML}
        )
        assert answer.status_code != 403, (site, path)


OLDER: list[tuple[dict[str, str], bool]] = [
    ({"origin": "http://evil.example"}, True),
    ({"origin": "null"}, True),
    ({"referer": "http://evil.example/page"}, True),
    ({"referer": "http://localhost:9/page"}, True),
    ({"sec-fetch-site": "none"}, False),
    ({"sec-fetch-site": "same-origin"}, False),
    ({}, False),
]


@pytest.mark.parametrize(("headers", "refused"), OLDER)
def test_browsers_that_do_not_name_the_site_are_told_by_origin_and_referer(
    shared_server: Any, headers: dict[str, str], refused: bool
):
    for path in ("/api/status", "/metrics", "/prometheus/api/v1/labels"):
        status = shared_server.client.get(path, headers=headers).status_code
        assert status == (403 if refused else 200), path
    assert shared_server.client.get("/alerts", headers=headers).status_code == 200


def test_the_page_itself_may_ask_by_its_referer(shared_server: Any):
    own = {"referer": f"{shared_server.url}/alerts?range=1h"}
    assert shared_server.client.get("/api/status", headers=own).status_code == 200
    assert shared_server.client.get("/api/status", headers={"origin": shared_server.url}).status_code == 200


def test_what_is_refused_is_counted(shared_server: Any):
    def refusals() -> float:
        found = re.search(
            r'loadwatch_http_refusals_total\{code="foreign-origin"\} (\S+)', metrics(shared_server.client)
        )
        return 0.0 if found is None else float(found[1])

    before = refusals()
    shared_server.client.get("/api/status", headers={"sec-fetch-site": "cross-site"})
    assert refusals() == before + 1


def metrics(client: httpx.Client) -> str:
    return client.get("/metrics").text
