"""Others are locked out where logins are refused that are none of the application's: its pool does not dial."""

import numpy as np
from loadwatch_backend.findings.detectors.database_connections import clients_locked_out as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import BEFORE, START_MS, Values, found, over, steps, window

DB = '{job="mysql",instance="db"}'
POOL = '{job="app",instance="app-1",db_name="hits"}'
USERS = "mysql_info_schema_processlist_processes_by_user"


def _refused(per_second: Values) -> Values:
    return 1_000.0 + np.cumsum(over(per_second))


def _series(
    *, in_use: Values = 2.0, opened: Values = 56.0, refused: Values, bi: Values = 0.0, limit: float = 57.0
) -> dict[str, Values]:
    return {
        f"mysql_global_status_threads_connected{DB}": np.add(over(opened), 3.0),
        f"mysql_global_variables_max_connections{DB}": 60.0,
        f"mysql_global_status_aborted_connects{DB}": refused,
        f'{USERS}{{job="mysql",instance="db",mysql_user="app"}}': opened,
        f'{USERS}{{job="mysql",instance="db",mysql_user="bi"}}': bi,
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_idle_connections{POOL}": np.subtract(over(opened), over(in_use)),
        f"go_sql_open_connections{POOL}": opened,
        f"go_sql_max_open_connections{POOL}": limit,
    }


def test_logins_refused_while_the_pool_is_idle_are_those_of_others() -> None:
    series = _series(refused=_refused(steps((20, 0.0), (40, 1.0))))
    finding = found(DETECTOR, window(series))
    assert finding.from_ms == START_MS + 21_000
    assert "app held 56 of 60 connections, which used 2 of them" in finding.sentence.en
    assert "56" in finding.sentence.ja
    assert finding.labels == {"job": "mysql", "instance": "db"}
    assert finding.certainty is Certainty.LIKELY


def test_a_client_that_had_connections_before_makes_it_certain() -> None:
    opened = over(steps((20, 30.0), (40, 56.0)))
    bi = over(steps((20, 5.0), (40, 0.0)))
    series = _series(in_use=opened, opened=opened, bi=bi, refused=_refused(steps((20, 0.0), (40, 2.0))))
    finding = found(DETECTOR, window(series))
    assert finding.certainty is Certainty.CERTAIN
    assert "bi fell from 5 connections to none" in finding.sentence.en
    assert finding.steps[0].text.en == "app holds 56 of 60: stop or bound it."


def test_it_is_seen_after_the_load_too() -> None:
    refused = np.full(60 + 2 * BEFORE + 1, 1_000.0)
    refused[BEFORE + 65 :] += np.arange(BEFORE - 4)
    finding = found(DETECTOR, window(_series(refused=refused)))
    assert finding.from_ms > START_MS + 60_000
    assert "after the load had ended" in finding.sentence.en


def test_a_pool_that_dials_itself_is_refused_itself() -> None:
    series = _series(in_use=50.0, opened=50.0, limit=100.0, refused=_refused(5.0))
    assert not DETECTOR.look(window(series)).findings


def test_wrong_passwords_beside_an_idle_pool_are_none() -> None:
    seen = DETECTOR.look(window(_series(opened=30.0, refused=_refused(2.0))))
    assert not seen.findings
    assert seen.clear is not None
    assert "27 connections left" in seen.clear.en


def test_unknown_is_not_zero() -> None:
    unknown = {f"mysql_global_status_threads_connected{DB}": np.nan}
    seen = DETECTOR.look(window(_series(refused=_refused(2.0)) | unknown))
    assert not seen.findings
    assert seen.clear is None
