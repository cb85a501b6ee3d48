"""Readers at their limit while the writer idles, and the reverse; two databases of one job are no cluster."""

from loadwatch_backend.findings.detectors.database_replicas import read_write_imbalance as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window


def _cloud(identifier: str, role: str, cpu: Values) -> dict[str, Values]:
    return {
        f'aws_rds_info{{name="arn-{identifier}",identifier="{identifier}",cluster="orders",role="{role}"}}': 1.0,
        f'aws_rds_cpuutilization_average{{name="arn-{identifier}",dimension_DBInstanceIdentifier="{identifier}"}}': cpu,
    }


def _server(instance: str, role: str, cores: Values) -> dict[str, Values]:
    labels = f'job="mysql",instance="{instance}"'
    return {
        **host(cores, cores=2, labels=f'job="host",instance="{instance}"', box=instance),
        **program(cores, labels=labels, box=instance),
        f"mysql_global_status_threads_connected{{{labels}}}": 20.0,
        f'mysql_server_role_info{{{labels},role="{role}"}}': 1.0,
    }


SLOW = load(100.0, p95=steps((120, 0.05), (240, 0.8)), seconds=360)


def test_a_full_reader_beside_an_idle_writer_is_found() -> None:
    series = _cloud("orders-1", "writer", 12.0) | _cloud("orders-2", "reader", steps((120, 30.0), (240, 98.0)))
    finding = found(DETECTOR, window(series, load=SLOW, seconds=360, interval=60))
    assert finding.labels == {"cluster": "orders"}
    assert finding.certainty is Certainty.LIKELY
    assert "The reader orders-2 used 98 % of its CPU" in finding.sentence.en
    assert "the writer orders-1 used 12 %" in finding.sentence.en
    assert "orders-2のCPUは98 %" in finding.sentence.ja


def test_a_full_writer_beside_idle_readers_is_found_by_the_second_too() -> None:
    series = _server("db-1", "writer", over(steps((20, 0.3), (40, 1.95)))) | _server("db-2", "reader", 0.2)
    finding = found(DETECTOR, window(series, load=load(100.0, p95=steps((20, 0.05), (40, 0.8)))))
    assert finding.labels == {"job": "mysql"}
    assert START_MS + 19_000 <= finding.from_ms <= START_MS + 24_000
    assert "over a pool of their own" in finding.steps[0].text.en


def test_equal_members_and_full_ones_that_hurt_nobody_are_clear() -> None:
    equal = _cloud("orders-1", "writer", 80.0) | _cloud("orders-2", "reader", 97.0)
    unhurt = _cloud("orders-1", "writer", 12.0) | _cloud("orders-2", "reader", 97.0)
    for series, sent in ((equal, SLOW), (unhurt, load(100.0, seconds=360))):
        seen = DETECTOR.look(window(series, load=sent, seconds=360, interval=60))
        assert not seen.findings
        assert seen.clear is not None


def test_two_writers_are_two_databases() -> None:
    series = _server("db-1", "writer", over(steps((20, 0.3), (40, 1.95)))) | _server("db-2", "writer", 0.2)
    assert not DETECTOR.look(window(series, load=load(100.0, timeout=20.0))).findings
