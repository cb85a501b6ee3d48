"""PostgreSQL as our collector and postgres_exporter see it: one row of the limits, one finding, one alert."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.tests.alerts.watched import wait_for
from backend.tests.conftest import RunningServer, run_server

ALERT = "DatabaseConnectionsHigh"
HOSTS = [f"db-{place}.example:5432" for place in range(1, 11)]


@pytest.fixture
def ruled(tmp_path: Path) -> Iterator[RunningServer]:
    with run_server(tmp_path / "data", default_rules=True) as running:
        yield running


def write(
    server: RunningServer,
    used: Mapping[str, float],
    *,
    exporters: Mapping[str, float] | None = None,
    seconds: int = 120,
) -> None:
    """Connections of 97 by address: of our collector each second, and each five seconds of an exporter beside it.

    In one write: rules are read meanwhile, and how often half of it comes would be remembered for 30 s.
    """
    now = server.clock.now_ms
    series: list[tuple[dict[str, str], list[tuple[int, float]]]] = []
    for place, (address, ours) in enumerate(used.items()):
        exporter = {"job": "postgres_exporter", "instance": f"metrics-{place}:9187"}
        seen = [(1, {"job": "postgresql", "instance": address}, ours)]
        theirs = (used if exporters is None else exporters).get(address)
        seen += [] if theirs is None else [(5, exporter, theirs)]
        for step, target, value in seen:
            for name, level in (
                ("pg_stat_database_numbackends", value),
                ("pg_settings_max_connections", 100.0),
                ("pg_settings_superuser_reserved_connections", 3.0),
                ("pg_static", 1.0),
            ):
                named = {"server": address} if name == "pg_static" else {}
                samples = [(now - at * 1_000, level) for at in range(0, seconds, step)]
                series.append(({"__name__": name, **target, **named}, samples))
    server.write(*series)


def rows(server: RunningServer) -> list[tuple[str, str, float]]:
    answer: dict[str, Any] = server.client.get(f"/api/headroom?at_ms={server.clock.now_ms}").raise_for_status().json()
    return [
        (one["labels"]["job"], one["labels"]["instance"], one["used"])
        for one in answer["resources"]
        if one["resource"] == "database_connections"
    ]


def alerts(server: RunningServer, severity: str = "critical") -> list[tuple[str, str]]:
    found = server.client.get("/api/alerts?sparklines=false").raise_for_status().json()["alerts"]
    chosen = [one for one in found if one["name"] == ALERT and one["labels"]["severity"] == severity]
    return sorted((one["labels"]["instance"], one["state"]) for one in chosen)


def evaluate(server: RunningServer) -> None:
    """Let the rules be read at the clock's time."""
    evaluator = server.services.alerts.evaluator
    evaluator.touched(frozenset({"pg_stat_database_numbackends"}))
    wait_for("the evaluation of now", lambda: evaluator.evaluated_ms == server.clock.now_ms)


def test_ten_databases_that_two_sources_see_are_ten_rows_of_the_faster_source(server: RunningServer) -> None:
    write(server, dict.fromkeys(HOSTS, 60.0), exporters=dict.fromkeys(HOSTS, 70.0))
    assert sorted(rows(server)) == sorted(("postgresql", address, 60.0) for address in HOSTS)


def test_two_servers_of_one_host_stay_two_rows(server: RunningServer) -> None:
    ports = {"db.example:5432": 60.0, "db.example:5433": 50.0}
    write(server, ports)
    assert sorted(rows(server)) == [("postgresql", address, used) for address, used in ports.items()]


def test_a_source_that_went_silent_gives_way_to_the_other(server: RunningServer) -> None:
    write(server, {HOSTS[0]: 60.0}, exporters={HOSTS[0]: 61.0})
    server.clock.now_ms += 20_000
    server.write(
        *[
            (
                {"__name__": name, "job": "postgres_exporter", "instance": "metrics-0:9187", **more},
                [(server.clock.now_ms, value)],
            )
            for name, value, more in (
                ("pg_stat_database_numbackends", 62.0, {}),
                ("pg_settings_max_connections", 100.0, {}),
                ("pg_settings_superuser_reserved_connections", 3.0, {}),
                ("pg_static", 1.0, {"server": HOSTS[0]}),
            )
        ]
    )
    assert rows(server) == [("postgres_exporter", "metrics-0:9187", 62.0)]


def test_what_two_sources_see_is_one_alert_of_the_faster_source(ruled: RunningServer) -> None:
    full = dict.fromkeys(HOSTS, 97.0)
    write(ruled, full)
    expected = [(address, "firing") for address in sorted(HOSTS)]
    for _ in range(20):
        ruled.clock.now_ms += 1_000
        write(ruled, full, seconds=6)
        evaluate(ruled)
    wait_for(f"{expected}, not {alerts(ruled)}", lambda: alerts(ruled) == expected)
    assert alerts(ruled, "warning") in ([], expected)


def test_the_faster_source_says_whether_there_is_an_alert(ruled: RunningServer) -> None:
    for _ in range(20):
        write(ruled, {HOSTS[0]: 50.0, HOSTS[1]: 97.0}, exporters={HOSTS[0]: 97.0}, seconds=6)
        evaluate(ruled)
        ruled.clock.now_ms += 1_000
    wait_for(f"one alert, not {alerts(ruled)}", lambda: alerts(ruled) == [(HOSTS[1], "firing")])


def test_an_alert_goes_on_when_its_source_falls_silent_and_the_other_does_not(ruled: RunningServer) -> None:
    alert = [(HOSTS[0], "firing")]
    write(ruled, {HOSTS[0]: 97.0})
    evaluate(ruled)
    for _ in range(10):
        ruled.clock.now_ms += 1_000
        write(ruled, {HOSTS[0]: 97.0}, seconds=6)
        evaluate(ruled)
    assert alerts(ruled) == alert
    for _ in range(90):
        ruled.clock.now_ms += 5_000
        for name, value in (
            ("pg_stat_database_numbackends", 97.0),
            ("pg_settings_max_connections", 100.0),
            ("pg_settings_superuser_reserved_connections", 3.0),
        ):
            target = {"__name__": name, "job": "postgres_exporter", "instance": "metrics-0:9187"}
            ruled.write((target, [(ruled.clock.now_ms, value)]))
        evaluate(ruled)
    assert alerts(ruled) == alert
