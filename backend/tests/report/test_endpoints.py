"""Reports and share links of a run that a real server has imported."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.runs.sending import imported, vegeta_csv

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("report")
    with run_server(folder) as running:
        yield running


@pytest.fixture(scope="module")
def run(server: RunningServer) -> dict[str, Any]:
    content = vegeta_csv(NOW_MS - 3_600_000, seconds=30, failing=2)
    return imported(server, content, name="night run", scenario="s", threshold=["p95<300ms", "error_rate<0.1%"])


def test_the_html_report_is_one_page_under_its_own_policy(server: RunningServer, run: dict[str, Any]) -> None:
    start = run["started_ms"]
    note = {"author": "kana", "text": "failover", "start_ms": start + 5_000}
    assert server.client.post("/api/annotations", json=note).status_code == 201
    answer = server.client.get(f"/api/runs/{run['id']}/report")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    for said in ("night run", "Failed", "error_rate&lt;0.1%", "HTTP 5xx", "failover"):
        assert said in answer.text, said


def test_new_log_lines_and_names_of_files_stand_in_report_and_share_link(server: RunningServer) -> None:
    run = imported(server, vegeta_csv(NOW_MS - 1_800_000, seconds=30), name="noisy")
    path, start = f"/api/runs/{run['id']}", run["started_ms"]
    who = {"job": "shop", "instance": "web-1"}
    server.write(
        ({"__name__": "log_lines_total", "result": "counted", **who}, [(start - 60_000, 5.0), (start + 9_000, 9.0)]),
        ({"__name__": "log_messages_total", "pattern_id": "a", "level": "error", **who}, [(start + 9_000, 84.0)]),
        (
            {"__name__": "log_pattern_info", "pattern_id": "a", "pattern": "accept4: <b>too many</b> | files", **who},
            [(start + 9_000, 1.0)],
        ),
    )
    params = {"name": "<script>.png", "note": "for the team only"}
    assert server.client.post(f"{path}/evidence", content=b"secret content", params=params).status_code == 201
    share = server.client.post(f"{path}/shares", json={}).json()["path"]
    for address in (f"{path}/report", share):
        page = server.client.get(address).text
        assert "accept4: &lt;b&gt;too many&lt;/b&gt; | files" in page
        assert "&lt;script&gt;.png" in page
        assert "secret content" not in page
        assert "for the team only" not in page
    text = server.client.get(f"{path}/report", params={"format": "md", "lang": "ja"}).text
    assert "| 新規 | error | 84 | 0 | accept4: \\<b\\>too many\\</b\\> \\| files |" in text
    assert "## ファイル" in text


def test_routes_of_an_imported_log_stand_in_every_report(server: RunningServer) -> None:
    run = imported(server, vegeta_csv(NOW_MS - 2_400_000, seconds=30), name="logged")
    path, start = f"/api/runs/{run['id']}", run["started_ms"]
    row = {"method": "GET", "route": "/<b>|x", "count": 40, "sum": 8.0, "mean": 0.2, "p50": 0.1, "p90": 0.3, "p99": 0.9}
    row |= {"max": 1.0, "status": {"200": 30, "304": 10}, "bytes": {"sum": 9_000}}
    digest = {
        "routes": [row],
        "lines": {"percentile_error": 0.005, "outside": 7},
        "run": {"from_ms": start, "to_ms": start + 20_000, "file": "access.log"},
    }
    params = {"kind": "access_log", "name": "access.json"}
    content = json.dumps(digest).encode()
    server.client.post(f"{path}/evidence", content=content, params=params).raise_for_status()
    page = server.client.get(f"{path}/report").text
    assert "GET /&lt;b&gt;|x" in page
    assert "2xx 75%, 304 25%" in page
    assert "7 of its lines are outside" in page
    assert "Nobody counted requests" not in page
    markdown = server.client.get(f"{path}/report", params={"format": "md", "lang": "ja"}).text
    assert "| 100 ms | 900 ms | 1 s |" in markdown
    assert "期間外の 7 行" in markdown
    document = server.client.get(f"{path}/report", params={"format": "json"}).json()
    assert document["routes"]["routes"][0]["requests"] == 40


def test_the_other_forms(server: RunningServer, run: dict[str, Any]) -> None:
    path = f"/api/runs/{run['id']}/report"
    markdown = server.client.get(path, params={"format": "md", "lang": "ja"})
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert "不合格" in markdown.text
    document = server.client.get(path, params={"format": "json"}).json()
    assert document.pop("cost")["reason"] == "no-routes"
    assert document.pop("routes")["source"] == "none"
    assert document.pop("statements")["source"] == "none"
    assert document.pop("files") == document.pop("failed") == document.pop("repeats") == []
    assert document == server.client.get(f"/api/runs/{run['id']}").json()
    assert server.client.get(path, params={"format": "pdf"}).status_code == 422


def test_signals_of_the_system_are_drawn(server: RunningServer, run: dict[str, Any]) -> None:
    labels = {"__name__": "process_open_fds", "job": "app", "instance": "a:1", "name": "app"}
    server.write((labels, [(run["started_ms"] + 1_000 * second, 100.0 + second) for second in range(30)]))
    page = server.client.get(f"/api/runs/{run['id']}/report").text
    assert page.count('<svg class="chart"') == 4
    # Its panel does not stand around it: "Open" alone would say nothing.
    assert "File descriptors: Open" in page


def test_a_share_link_shows_the_report_until_it_expires(server: RunningServer, run: dict[str, Any]) -> None:
    made = server.client.post(f"/api/runs/{run['id']}/shares", json={"days": 2}).json()
    answer = server.client.get(made["path"])
    assert answer.status_code == 200
    assert "night run" in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
    server.clock.now_ms += 2 * DAY_MS + 1
    assert server.client.get(made["path"]).status_code == 404
    server.clock.now_ms = NOW_MS


def test_a_link_that_shows_nothing_is_a_page_for_browsers_and_a_problem_for_scripts(
    server: RunningServer, run: dict[str, Any]
) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "ja,en;q=0.5"}
    made = server.client.post(f"/api/runs/{run['id']}/shares", json={}).json()
    assert server.client.delete(f"/api/shares/{made['id']}").status_code == 204
    for path in (made["path"], "/share/abcdef", "/share/" + "a" * 200):
        page = server.client.get(path, headers=browser)
        assert page.status_code == 404
        assert page.headers["content-type"].startswith("text/html")
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert "取り消された" in page.text
        assert "It was revoked" in server.client.get(path, headers=browser, params={"lang": "en"}).text
        problem = server.client.get(path)
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
PAGE = b"<script>alert(1)</script> \x1b[31mred \xe2\x80\xae turned"


def keep(server: RunningServer, run: str, name: str, content: bytes, note: str = "") -> str:
    answer = server.client.post(f"/api/runs/{run}/evidence", content=content, params={"name": name, "note": note})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def test_a_share_link_shows_the_chosen_files_and_no_other(server: RunningServer) -> None:
    run, other = (imported(server, vegeta_csv(NOW_MS - ago, seconds=30))["id"] for ago in (5_400_000, 7_200_000))
    picture = keep(server, run, "graph.png", PNG, "from the balancer")
    page = keep(server, run, "page.html", PAGE)
    hidden = keep(server, run, "hidden.txt", b"not for you", "nor this")
    foreign = keep(server, other, "foreign.txt", b"of another run")
    refused = server.client.post(f"/api/runs/{run}/shares", json={"files": [foreign]})
    assert (refused.status_code, refused.json()["code"]) == (422, "run-rule")
    made = server.client.post(f"/api/runs/{run}/shares", json={"files": [picture, page]}).json()
    assert made["files"] == [picture, page]
    share = made["path"]
    shown = server.client.get(share)
    assert "img-src data:" in shown.headers["content-security-policy"]
    assert "data:image/png;base64," in shown.text
    assert "from the balancer" in shown.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;  [31mred   turned" in shown.text
    assert "not for you" not in shown.text
    assert "nor this" not in shown.text
    assert f'href="{share.rpartition("/")[2]}/files/{picture}"' in shown.text
    download = server.client.get(f"{share}/files/{page}")
    assert download.content == PAGE
    assert download.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in download.headers["content-security-policy"]
    for closed in (hidden, foreign, "0" * 32):
        assert server.client.get(f"{share}/files/{closed}").status_code == 404
    assert server.client.get(f"/share/wrong/files/{page}").status_code == 404
    server.client.delete(f"/api/evidence/{page}")
    assert server.client.get(share).status_code == 200
    assert server.client.get(f"{share}/files/{page}").status_code == 404
    server.client.delete(f"/api/shares/{made['id']}")
    assert server.client.get(f"{share}/files/{picture}").status_code == 404


def test_a_report_holds_the_files_that_are_asked_for(server: RunningServer) -> None:
    run, other = (imported(server, vegeta_csv(NOW_MS - ago, seconds=30))["id"] for ago in (9_000_000, 10_800_000))
    text = keep(server, run, "notes.md", b"a ``` fence\n" + b"x" * 200_000, "read me")
    large = keep(server, run, "large.png", PNG + bytes(9 << 20))
    foreign = keep(server, other, "foreign.txt", b"of another run")
    path = f"/api/runs/{run}/report"
    html = server.client.get(path, params={"files": [text]}).text
    assert "a ``` fence" in html
    assert "The beginning; the rest is left out." in html
    assert "read me" in html
    assert "large.png" in html
    markdown = server.client.get(path, params={"files": [text], "format": "md"}).text
    assert "````\na ``` fence" in markdown
    files = server.client.get(path, params={"format": "json"}).json()["files"]
    assert {one["name"] for one in files} == {"notes.md", "large.png"}
    too_large = server.client.get(path, params={"files": [large]})
    assert (too_large.status_code, too_large.json()["code"]) == (422, "report-files")
    assert server.client.get(path, params={"files": [foreign]}).status_code == 404
    shared = server.client.post(f"/api/runs/{run}/shares", json={"files": [large]}).json()["path"]
    page = server.client.get(shared).text
    assert "data:image/png" not in page
    assert f"/files/{large}" in page
