"""A database that was away while requests failed is found; a planned restart, and a server that goes on, are not."""

import numpy as np
from loadwatch_backend.findings.detectors.database_connections import went_away as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import BEFORE, START_MS, Values, found, load, over, steps, window

DB = '{job="mysql",instance="db"}'
UP = 'up{job="mysql",instance="db",collector="mysql"}'
ERROR = 'collector_error_info{job="mysql",instance="db",collector="mysql",error="2003: Can\'t connect"}'


def _uptime(*, restart: bool) -> Values:
    uptime = 5_000.0 + np.arange(60.0 + 2 * BEFORE + 1)
    if restart:
        uptime[BEFORE + 20 : BEFORE + 27] = np.nan
        uptime[BEFORE + 27 :] = np.arange(1.0, 60 + BEFORE + 1 - 26)
    return uptime


FAILING = load(50.0, http_5xx=steps((20, 0), (8, 50), (32, 0)))


def test_a_restart_while_requests_failed_is_found_from_the_last_sign_of_the_old_server() -> None:
    series: dict[str, Values] = {f"mysql_global_status_uptime{DB}": _uptime(restart=True)}
    finding = found(DETECTOR, window(series, load=FAILING))
    assert finding.id == "database-down"
    assert finding.from_ms == START_MS + 19_000
    assert finding.certainty is Certainty.LIKELY
    assert "400 requests failed then (8.0 s until it answered again)" in finding.sentence.en
    assert "400" in finding.sentence.ja
    assert finding.labels == {"job": "mysql", "instance": "db"}


def test_a_restart_that_hurt_nobody_is_an_observation() -> None:
    for sent in (None, load(50.0)):
        series: dict[str, Values] = {f"mysql_global_status_uptime{DB}": _uptime(restart=True)}
        seen = DETECTOR.look(window(series, load=sent))
        assert not seen.findings
        assert "restarted" in seen.observations[0].en


def test_a_server_that_nobody_reaches_any_more_is_found() -> None:
    uptime = np.array(_uptime(restart=False))
    uptime[BEFORE + 30 :] = np.nan
    series: dict[str, Values] = {
        f"mysql_global_status_uptime{DB}": uptime,
        UP: over(steps((29, 1.0), (31, 0.0))),
        ERROR: over(steps((29, np.nan), (31, 1.0))),
    }
    finding = found(DETECTOR, window(series, load=load(50.0, http_5xx=steps((29, 0), (31, 50)))))
    assert finding.from_ms == START_MS + 30_000
    assert "Nobody answered at db" in finding.sentence.en


def test_an_agent_that_cannot_read_in_time_is_no_dead_server() -> None:
    slow = ERROR.replace("Can't connect", "timed out")
    series: dict[str, Values] = {
        f"mysql_global_status_uptime{DB}": _uptime(restart=False),
        UP: over(steps((29, 1.0), (31, 0.0))),
        slow: over(steps((29, np.nan), (31, 1.0))),
    }
    seen = DETECTOR.look(window(series, load=FAILING))
    assert not seen.findings
    assert seen.clear is not None


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window({f"mysql_global_status_uptime{DB}": np.nan}, load=FAILING))
    assert not seen.findings
    assert seen.clear is None
