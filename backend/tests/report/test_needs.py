"""What is collected is said: read from the API and from both reports of runs on a real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loadwatch_formats.numbers import format_value

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.runs.sending import imported, vegeta_csv

APP = {"job": "app", "instance": "app-1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("needs")
    with run_server(folder) as running:
        yield running


def reports(server: RunningServer, run: dict[str, Any], lang: str = "en") -> dict[str, str]:
    return {
        form: server.client.get(f"/api/runs/{run['id']}/report", params={"format": form, "lang": lang}).text
        for form in ("html", "md")
    }


def test_a_limit_that_is_not_in_force_and_new_error_lines_are_said(server: RunningServer) -> None:
    """From its tenth second on the service has no file descriptors, and half of the requests fail."""
    start_ms, full = NOW_MS - 3_600_000, 10
    seconds = range(-60, 30)

    def written(name: str, values: list[float | None], **labels: str) -> None:
        samples = [
            (start_ms + 1_000 * at, value) for at, value in zip(seconds, values, strict=True) if value is not None
        ]
        server.write(({"__name__": name, **APP, **labels}, samples))

    written("process_open_fds", [300.0 if at < full else 1_024.0 for at in seconds])
    written("process_max_fds", [1_024.0 for _ in seconds])
    written("process_max_fds_hard", [4_096.0 for _ in seconds])
    written("http_accept_errors_total", [50.0 * max(at - full, 0) for at in seconds])
    for bound in ("soft", "hard"):
        written("process_unit_max_fds", [65_536.0 for _ in seconds], unit="app.service", bound=bound)
    text = "accept4: too many open files"
    written("log_lines_total", [float(at + 61) for at in seconds], result="counted")
    written("log_messages_total", [None if at <= full else float(at - full) for at in seconds], pattern_id="p")
    written("log_pattern_info", [None if at <= full else 1.0 for at in seconds], pattern_id="p", pattern=text)
    content = vegeta_csv(start_ms, seconds=full) + vegeta_csv(start_ms + 1_000 * full, seconds=20, failing=10)
    run = imported(server, content, name="no descriptors")

    findings = {one["id"]: one for one in run["findings"]}
    said = "LimitNOFILE of app.service was changed to 65,536 and is not in force"
    assert findings["limit-not-in-force"]["sentence"]["en"].startswith(said)
    assert "systemctl restart app.service" in findings["limit-not-in-force"]["steps"][0]["code"]
    quotes = [
        one["text"]["en"] for finding in run["findings"] for one in finding["evidence"] if text in one["text"]["en"]
    ]
    assert any(one.startswith("app-1 logged for the first time") for one in quotes)
    for document in reports(server, run).values():
        assert said in document
        assert "systemctl restart app.service" in document
        assert "app-1 logged for the first time" in document
    for document in reports(server, run, "ja").values():
        assert "app.serviceのLimitNOFILEは65,536に変更されたが反映されていない" in document


def test_who_is_connected_with_whom_stands_in_the_report(server: RunningServer) -> None:
    start_ms = NOW_MS - 7_200_000
    ends = (("app-1", "10.0.0.1", "10.0.0.9", "app", "remote"), ("db", "10.0.0.9", "10.0.0.1", "mysqld", "local"))
    for instance, address, peer, process, side in ends:
        labels = {"__name__": "tcp_peer_connections", "job": "host", "instance": instance, "address": address}
        labels |= {"peer": peer, "process": process, "port": "3306", "side": side}
        server.write((labels, [(start_ms + 1_000 * at, 30.0) for at in range(30)]))
    run = imported(server, vegeta_csv(start_ms, seconds=30), name="connected")
    page = reports(server, run)["html"]
    for line in ("app-1 app → 10.0.0.9:3306", "db mysqld:3306 ← 10.0.0.1", "app-1 → db"):
        assert line in page, line


def test_the_fastest_answer_what_repeats_and_the_mix_of_endpoints_stand_in_the_report(server: RunningServer) -> None:
    facts = {"scenario": "mix", "commit": "c0ffee1"}
    start_ms = NOW_MS - 10_800_000
    equal = [
        imported(server, vegeta_csv(start_ms + 60_000 * place, seconds=30, rate=rate), **facts)
        for place, rate in enumerate((20, 21, 20))
    ]
    server.client.put(f"/api/runs/{equal[0]['id']}/baseline").raise_for_status()
    first, second = vegeta_csv(start_ms + 300_000, seconds=15), vegeta_csv(start_ms + 315_000, seconds=15)
    run = imported(server, first.replace(b"0.1/b,", b"0.1/a,") + second, scenario="mix", commit="deadbee")

    assert run["latency_seconds"]["min"] == 0.01
    fewest, most = sorted(one["requests"] for one in run["endpoints"])
    assert most == 3 * fewest > 0
    document = server.client.get(f"/api/runs/{run['id']}/report", params={"format": "json"}).json()
    rate = next(one for one in document["repeats"] if one["metric"]["id"] == "rate")
    assert (rate["runs"], 0 < rate["scatter"] < 0.1) == (3, True)
    found = reports(server, run)
    assert all(said in text for text in found.values() for said in ("Fastest", "Share in the baseline", "Equal runs"))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found["md"].splitlines()]
    assert next(row for row in rows if row[:1] == ["Fastest"])[1] == "10 ms"
    half, more, less = (format_value(share, "ratio") for share in (0.5, 0.75, 0.25))
    shares = {tuple(row[2:4]) for row in rows if "127.0.0.1/" in "".join(row[:1])}
    assert shares == {(more, half), (less, half)}
    assert [rate["metric"]["title"], f"±{format_value(rate['scatter'], 'ratio')}", "3"] in rows
