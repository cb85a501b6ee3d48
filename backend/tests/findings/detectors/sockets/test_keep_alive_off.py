"""A connection for each request is found; logins to a database and clients that gave up are none of them."""

from loadwatch_backend.findings.detectors.sockets import keep_alive_off as DETECTOR
from loadwatch_backend.findings.model import Severity
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.machines import APP, HOST, counter, host
from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window


def _series(opened: Values, requests: Values = 200.0, waiting: Values = 0.0, logins: Values = 0.0) -> dict[str, Values]:
    return {
        f"node_netstat_Tcp_PassiveOpens{{{HOST}}}": rising(opened),
        f"ingest_accepted_total{{{APP}}}": rising(requests),
        'mysql_global_status_connections{job="mysql",instance="db"}': rising(logins),
        f'tcp_connections{{{HOST},port="8080",side="local",state="time_wait"}}': waiting,
        f"kernel_tcp_max_tw_buckets{{{HOST}}}": 8_192.0,
        f"kernel_ephemeral_ports{{{HOST}}}": 28_232.0,
    }


def _seen(series: dict[str, Values], impact: Load | None = None) -> Window:
    return window(series, load=impact)


def test_a_connection_for_each_request_that_fills_the_buckets_is_found() -> None:
    series = _series(over(steps((20, 0.0), (40, 200.0)))[31:91], waiting=over(steps((20, 0.0), (40, 4_000.0))))
    finding = found(DETECTOR, _seen(series, load(200.0)))
    assert finding.weight is Severity.WARNING
    assert finding.labels == {"job": "host", "instance": "vm-1"}
    assert START_MS + 18_000 <= finding.from_ms <= START_MS + 26_000
    assert "the server closes them" in finding.sentence.en
    assert "サーバー側" in finding.sentence.ja


def test_while_nothing_comes_of_it_it_accuses_nobody() -> None:
    slow = load(200.0, p95=steps((20, 0.02), (40, 0.9)), p50=0.01)
    finding = found(DETECTOR, _seen(_series(200.0), slow))
    assert finding.weight is Severity.INFO
    assert "12,000" in finding.sentence.en


def test_without_counters_of_the_application_those_of_the_load_count() -> None:
    series = _series(200.0)
    del series[f"ingest_accepted_total{{{APP}}}"]
    assert found(DETECTOR, _seen(series, load(200.0)))


def test_kept_connections_logins_and_failures_are_none() -> None:
    for series, impact in (
        (_series(4.0), load(200.0)),
        (_series(210.0, logins=200.0), load(200.0)),
        (_series(180.0), load(20.0, timeout=180.0)),
        (_series(5.0, requests=5.0), load(5.0)),
    ):
        assert not DETECTOR.look(_seen(series, impact)).findings
    seen = DETECTOR.look(_seen(_series(4.0), load(200.0)))
    assert seen.clear is not None
    assert "240 connections for 12,000 requests" in seen.clear.en


def test_what_another_host_serves_is_not_counted_here() -> None:
    other = 'job="host",instance="vm-2"'
    series = _series(200.0) | host(1.0) | host(1.0, labels=other, box="other")
    placed: dict[str, Values] = {
        f"node_netstat_Tcp_PassiveOpens{{{other}}}": counter(1.0),
        f'collector_agent_info{{{APP},collector="process",agent_host="other"}}': 1.0,
    }
    assert not DETECTOR.look(_seen(series | placed, load(200.0))).findings
