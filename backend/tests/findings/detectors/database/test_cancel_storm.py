"""A cancel storm drops and dials connections while clients give up; a killed process and a forgetful one do not."""

import numpy as np
from loadwatch_backend.findings.detectors.database_connections import cancel_storm as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

DB = '{job="mysql",instance="db"}'
POOL = '{job="app",instance="app-1",db_name="hits"}'


def _series(aborted: Values, logins: Values | None = None, *, in_use: Values = 30.0) -> dict[str, Values]:
    return {
        f"mysql_global_status_threads_connected{DB}": 33.0,
        f"mysql_global_variables_max_connections{DB}": 100.0,
        f"mysql_global_status_aborted_clients{DB}": rising(aborted),
        f"mysql_global_status_connections{DB}": rising(aborted if logins is None else logins),
        f"go_sql_in_use_connections{POOL}": in_use,
    }


STORM = steps((10, 0), (50, 20))


def test_connections_dropped_and_dialled_while_clients_give_up_are_found() -> None:
    given_up = load(60.0, timeout=steps((10, 0), (50, 25)), p95=over(steps((10, 0.05), (50, 3.0)))[31:91])
    finding = found(DETECTOR, window(_series(STORM), load=given_up))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 11_000
    assert "gave up after 3.0 s" in finding.sentence.en
    assert "1,000 connections to db were dropped and 1,000 dialled anew" in finding.sentence.en
    assert "1,000本" in finding.sentence.ja
    assert "1500*time.Millisecond" in finding.steps[0].code


def test_a_killed_process_drops_all_at_once() -> None:
    killed = steps((30, 0), (1, 30), (29, 0))
    assert not DETECTOR.look(window(_series(killed), load=load(60.0, refused=20.0))).findings


def test_without_failures_or_without_new_connections_it_is_an_observation() -> None:
    for seen in (
        DETECTOR.look(window(_series(STORM), load=load(60.0))),
        DETECTOR.look(window(_series(STORM, 0.0), load=load(60.0, timeout=25.0))),
    ):
        assert not seen.findings
        assert seen.observations


def test_an_idle_pool_whose_connections_the_server_ends_is_none() -> None:
    assert not DETECTOR.look(window(_series(STORM, in_use=0.0))).findings


def test_a_few_are_clear() -> None:
    seen = DETECTOR.look(window(_series(0.2), load=load(60.0, timeout=25.0)))
    assert not seen.findings
    assert seen.clear is not None
    assert "12 clients" in seen.clear.en


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window(_series(0.0) | {f"mysql_global_status_aborted_clients{DB}": np.nan}))
    assert not seen.findings
    assert seen.clear is None
