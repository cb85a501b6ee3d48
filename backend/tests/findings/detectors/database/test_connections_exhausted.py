"""Connections are exhausted where logins were refused at the limit; a full house that nobody knocks at is not."""

import numpy as np
from loadwatch_backend.findings.detectors.database_connections import connections_exhausted as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

DB = '{job="mysql",instance="db"}'
USERS = "mysql_info_schema_processlist_processes_by_user"


def _series(connected: Values, refused: Values) -> dict[str, Values]:
    return {
        f"mysql_global_status_threads_connected{DB}": connected,
        f"mysql_global_variables_max_connections{DB}": 60.0,
        f"mysql_global_status_aborted_connects{DB}": rising(refused),
        f'{USERS}{{job="mysql",instance="db",mysql_user="app"}}': 52.0,
        f'{USERS}{{job="mysql",instance="db",mysql_user="bi"}}': 5.0,
    }


def test_refused_logins_at_the_limit_name_who_holds_the_connections() -> None:
    series = _series(over(steps((10, 8.0), (50, 61.0))), steps((10, 0), (50, 20)))
    finding = found(DETECTOR, window(series, load=load(100.0, http_5xx=steps((10, 0), (50, 30)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 11_000
    assert "(app 52, bi 5); it refused 1,000 logins" in finding.sentence.en
    assert "1,000" in finding.sentence.ja
    assert finding.labels == {"job": "mysql", "instance": "db"}


def test_the_first_step_names_who_grew_not_who_holds_most() -> None:
    series = _series(over(steps((30, 68.0), (30, 61.0))), steps((30, 0), (30, 20)))
    series |= {f'{USERS}{{job="mysql",instance="db",mysql_user="night_job"}}': over(steps((20, 1.0), (40, 21.0)))}
    step = found(DETECTOR, window(series)).steps[0].text
    assert step.en == "night_job holds 21 of 60: stop or bound it."
    assert step.ja.startswith("night_jobが60接続中21を保持")


def test_where_nobody_grew_the_pools_come_first() -> None:
    series = _series(over(steps((10, 8.0), (50, 61.0))), steps((10, 0), (50, 20)))
    assert found(DETECTOR, window(series)).steps[0].text.en.startswith("Bound all pools")


def test_a_full_house_that_nobody_knocks_at_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(60.0, 0.0)))
    assert not seen.findings
    assert seen.observations


PEAK = f"mysql_global_status_max_used_connections{DB}"


def test_wrong_passwords_far_from_the_limit_are_none() -> None:
    seen = DETECTOR.look(window(_series(12.0, 5.0) | {PEAK: 14.0}))
    assert not seen.findings
    assert seen.clear is not None
    assert "12 of 60" in seen.clear.en
    assert "300 logins failed, for another reason" in seen.clear.en


def test_failed_logins_that_may_be_refusals_are_not_cleared() -> None:
    seen = DETECTOR.look(window(_series(12.0, 5.0)))
    assert not seen.findings
    assert seen.clear is None
    assert "between two readings" in seen.observations[0].en


def test_bursts_between_two_readings_show_in_the_highest_number_of_connections() -> None:
    refused = steps((10, 0), (50, 20))
    peak = over(steps((12, 6.0), (48, 61.0)))
    finding = found(DETECTOR, window(_series(6.0, refused) | {PEAK: peak}, load=load(100.0, http_5xx=refused)))
    assert "it refused 1,000 logins" in finding.sentence.en


def test_a_limit_that_was_reached_before_explains_no_wrong_passwords() -> None:
    assert not DETECTOR.look(window(_series(6.0, 5.0) | {PEAK: 61.0})).findings
    peak = over(steps((5, 6.0), (55, 61.0)))
    assert not DETECTOR.look(window(_series(6.0, steps((30, 0), (30, 5))) | {PEAK: peak})).findings


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window(_series(np.nan, 5.0)))
    assert not seen.findings
    assert seen.clear is None
