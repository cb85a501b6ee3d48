"""A login is refused for the limit only where the connections were near it, gaps and restless readings included."""

import numpy as np
from loadwatch_backend.findings.measures.databases import Database, databases, holders_of, refusals

from backend.tests.findings.windows import Values, over, rising, steps, window

DB = '{job="mysql",instance="db"}'


def _database(connected: Values, refused: Values) -> tuple[Database, object]:
    seen = window(
        {
            f"mysql_global_status_threads_connected{DB}": connected,
            f"mysql_global_variables_max_connections{DB}": 60.0,
            f"mysql_global_status_aborted_connects{DB}": rising(refused),
            'mysql_info_schema_processlist_processes_by_user{job="mysql",instance="db",mysql_user="app"}': 50.0,
            'mysql_info_schema_processlist_processes_by_user{job="mysql",instance="db",mysql_user="bi"}': 3.0,
        }
    )
    found = list(databases(seen))
    assert len(found) == 1
    return found[0], refusals(seen, found[0], found[0].refusing)


def test_refusals_at_the_limit_count_though_the_level_reads_less_meanwhile() -> None:
    database, episode = _database(over(steps((20, 10.0), (40, 44.0))), steps((20, 0.0), (40, 5.0)))
    assert episode is not None
    assert int(database.refusing.sum()) == 40


def test_wrong_passwords_far_from_the_limit_do_not() -> None:
    assert _database(10.0, 5.0)[1] is None


def test_one_or_two_do_not() -> None:
    assert _database(60.0, steps((20, 0.0), (2, 1.0), (38, 0.0)))[1] is None


def test_a_gap_in_which_nobody_could_log_in_is_bridged_by_its_ends() -> None:
    connected = over(steps((20, 10.0), (40, 60.0)))
    connected[55:80] = np.nan
    database, _ = _database(connected, steps((20, 0.0), (40, 5.0)))
    assert database.refusing[56:79].all()


def test_holders_come_largest_first() -> None:
    database, _ = _database(60.0, 5.0)
    seen = window({'mysql_info_schema_processlist_processes_by_user{job="mysql",instance="db",mysql_user="bi"}': 3.0})
    assert holders_of(seen, database, seen.focus) == [("bi", 3.0)]
