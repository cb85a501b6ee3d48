"""What must change nothing: another time, other names, ten times the load on ten times the limits, an idle target."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.findings.documents import findings_out
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.model import Diagnosis
from loadwatch_backend.findings.registry import DETECTORS
from loadwatch_backend.findings.window import Grid, Load, Table, Window

from backend.tests.findings.windows import Values, load, over, rising, steps, window

APP = 'job="app",instance="app-1"'
POOL = f'{{{APP},db_name="hits"}}'
DATABASE = '{job="mysql",instance="db-1"}'
HOST = 'job="host",instance="host-1"'


def _exhausted_pool() -> Window:
    return window(
        {
            f"go_sql_in_use_connections{POOL}": steps((10, 6), (50, 30)),
            f"go_sql_open_connections{POOL}": 30.0,
            f"go_sql_max_open_connections{POOL}": 30.0,
            f"go_sql_wait_count_total{POOL}": rising(steps((10, 0), (50, 60))),
            f"go_sql_wait_duration_seconds_total{POOL}": rising(steps((10, 0), (50, 72))),
            f"mysql_global_status_threads_connected{DATABASE}": 33.0,
            f"mysql_global_variables_max_connections{DATABASE}": 60.0,
        },
        load=load(100.0, timeout=steps((12, 0), (48, 40)), p95=steps((10, 0.05), (50, 3.0))),
    )


def _refusing_database() -> Window:
    return window(
        {
            f"go_sql_open_connections{POOL}": 0.0,
            f"go_sql_in_use_connections{POOL}": 0.0,
            f"go_sql_max_open_connections{POOL}": 0.0,
            f"mysql_global_status_threads_connected{DATABASE}": steps((5, 20), (55, 60)),
            f"mysql_global_variables_max_connections{DATABASE}": 60.0,
            f"mysql_global_status_aborted_connects{DATABASE}": rising(steps((5, 0), (55, 200))),
            f"mysql_global_status_connections{DATABASE}": rising(300.0),
        },
        load=load(300.0, http_5xx=steps((5, 0), (55, 150))),
    )


def _full_files() -> Window:
    return window(
        {
            f'process_open_fds{{{APP},name="app"}}': steps((8, 40), (52, 150)),
            f'process_max_fds{{{APP},name="app"}}': 150.0,
            f"http_accept_errors_total{{{APP}}}": rising(steps((8, 0), (52, 30))),
            f'tcp_accept_queue{{{HOST},port="8080"}}': steps((8, 0), (52, 90)),
        },
        load=load(200.0, timeout=steps((8, 0), (52, 60)), p95=steps((8, 0.02), (52, 1.0))),
    )


def _healthy() -> Window:
    return window(
        {
            f"go_sql_in_use_connections{POOL}": 6.0,
            f"go_sql_open_connections{POOL}": 30.0,
            f"go_sql_max_open_connections{POOL}": 30.0,
            f"go_sql_wait_count_total{POOL}": rising(0.0),
            f"go_sql_wait_duration_seconds_total{POOL}": rising(0.0),
            f"mysql_global_status_threads_connected{DATABASE}": 33.0,
            f"mysql_global_variables_max_connections{DATABASE}": 60.0,
        },
        load=load(100.0),
    )


WINDOWS: Mapping[str, Callable[[], Window]] = {
    "exhausted pool": _exhausted_pool,
    "refusing database": _refusing_database,
    "full files": _full_files,
    "healthy": _healthy,
}


@pytest.fixture(params=WINDOWS)
def case(request: pytest.FixtureRequest) -> Window:
    return WINDOWS[request.param]()


def _said(diagnosis: Diagnosis) -> list[tuple[str, str, int]]:
    return [(one.id, one.certainty.value, one.from_ms - diagnosis.from_ms) for one in diagnosis.findings]


def _diagnose(seen: Window) -> list[tuple[str, str, int]]:
    return _said(diagnose(seen, DETECTORS))


def _tables(seen: Window, change: Callable[[str, Table], Table]) -> Window:
    return replace(seen, tables={name: change(name, table) for name, table in seen.tables.items()})


def test_the_same_window_says_the_same(case: Window) -> None:
    assert findings_out(diagnose(case, DETECTORS), 0) == findings_out(diagnose(case, DETECTORS), 0)


def test_another_time_changes_nothing(case: Window) -> None:
    later = 86_400_000
    grid = Grid(case.grid.start_ms + later, case.grid.step_ms, case.grid.count)
    shifted = _tables(case, lambda _, table: replace(table, grid=grid))
    shifted = replace(shifted, grid=grid, from_ms=case.from_ms + later, to_ms=case.to_ms + later)
    assert _diagnose(shifted) == _diagnose(case)


def test_other_names_of_instances_change_nothing(case: Window) -> None:
    def renamed(_: str, table: Table) -> Table:
        labels = [{**one, "instance": f"zz-{one['instance'][::-1]}"} for one in table.labels]
        return replace(table, labels=labels)

    assert _diagnose(_tables(case, renamed)) == _diagnose(case)


def test_ten_times_the_load_on_ten_times_the_limits_changes_nothing(case: Window) -> None:
    def grown(_: str, table: Table) -> Table:
        return replace(table, values=table.values * 10)

    scaled = _tables(case, grown)
    sent = case.load
    assert sent is not None
    bigger = Load(
        outcomes={name: values * 10 for name, values in sent.outcomes.items()},
        p50=sent.p50,
        p95=sent.p95,
        p99=sent.p99,
        target=sent.target * 10,
        users=sent.users * 10,
    )
    assert [one[0] for one in _diagnose(replace(scaled, load=bigger))] == [one[0] for one in _diagnose(case)]


def test_an_idle_target_changes_nothing(case: Window) -> None:
    labels = '{job="app",instance="idle",db_name="hits"}'
    idle: dict[str, Values] = {
        f"go_sql_in_use_connections{labels}": 0.0,
        f"go_sql_open_connections{labels}": 1.0,
        f"go_sql_max_open_connections{labels}": 30.0,
        f"go_sql_wait_count_total{labels}": rising(0.0),
        'process_open_fds{job="app",instance="idle",name="app"}': 12.0,
        'process_max_fds{job="app",instance="idle",name="app"}': 1024.0,
    }
    added = window(idle).tables
    tables = dict(case.tables)
    for name, table in added.items():
        other = tables.get(name)
        tables[name] = table if other is None else _joined(other, table)
    assert _diagnose(replace(case, tables=tables)) == _diagnose(case)


@pytest.mark.parametrize("name", sorted({metric for each in WINDOWS.values() for metric in each().tables}))
def test_a_metric_that_is_missing_costs_no_crash_and_brings_no_new_accusation(case: Window, name: str) -> None:
    told = {one[0] for one in _diagnose(case)}
    fewer = replace(case, tables={key: table for key, table in case.tables.items() if key != name})
    assert {one[0] for one in _diagnose(fewer)} <= told


@pytest.mark.parametrize("every", [2, 5, 15])
def test_fewer_samples_say_the_same_or_less(case: Window, every: int) -> None:
    def thinned(_: str, table: Table) -> Table:
        keep = np.arange(table.grid.count) % every == 0
        return replace(
            table, values=np.where(keep, table.values, np.nan), interval_ms=np.full(len(table), every * 1_000)
        )

    assert {one[0] for one in _diagnose(_tables(case, thinned))} <= {one[0] for one in _diagnose(case)}


def test_a_gap_of_the_agent_brings_no_new_accusation(case: Window) -> None:
    def gapped(_: str, table: Table) -> Table:
        values = table.values.copy()
        values[:, 50:70] = np.nan
        return replace(table, values=values)

    assert {one[0] for one in _diagnose(_tables(case, gapped))} <= {one[0] for one in _diagnose(case)}


def test_a_run_of_five_seconds_is_no_crash(case: Window) -> None:
    short = replace(case, to_ms=case.from_ms + 5_000)
    assert {one[0] for one in _diagnose(short)} <= {one[0] for one in _diagnose(case)}


def _joined(one: Table, other: Table) -> Table:
    return Table(
        grid=one.grid,
        labels=[*one.labels, *other.labels],
        values=np.concatenate([one.values, other.values]),
        stale=np.concatenate([one.stale, other.stale]),
        interval_ms=np.concatenate([one.interval_ms, other.interval_ms]),
        back=one.back,
    )


def test_a_counter_that_begins_again_brings_no_new_accusation(case: Window) -> None:
    def restarted(name: str, table: Table) -> Table:
        if not name.endswith("_total") and "aborted" not in name and not name.endswith("connections"):
            return table
        values = table.values.copy()
        if name.endswith("_total") or "aborted" in name:
            values[:, 60:] -= values[:, 60:61]
        return replace(table, values=values)

    assert {one[0] for one in _diagnose(_tables(case, restarted))} <= {one[0] for one in _diagnose(case)}


def test_data_of_each_minute_beside_data_of_each_second_brings_no_new_accusation(case: Window) -> None:
    def by_the_minute(name: str, table: Table) -> Table:
        if not name.startswith("mysql_"):
            return table
        keep = np.arange(table.grid.count) % 60 == 0
        values = np.where(keep, table.values, np.nan)
        return replace(table, values=values, interval_ms=np.full(len(table), 60_000))

    assert {one[0] for one in _diagnose(_tables(case, by_the_minute))} <= {one[0] for one in _diagnose(case)}


def test_a_target_that_appears_in_the_middle_brings_no_new_accusation(case: Window) -> None:
    def late(_: str, table: Table) -> Table:
        values = table.values.copy()
        values[:, :60] = np.nan
        return replace(table, values=values)

    assert {one[0] for one in _diagnose(_tables(case, late))} <= {one[0] for one in _diagnose(case)}


def test_of_ten_instances_a_silent_one_is_not_accused() -> None:
    series: dict[str, Values] = {}
    for number in range(10):
        labels = POOL.replace("app-1", f"app-{number}")
        seen: Values = over(steps((5, 6.0), (55, np.nan))) if number == 4 else 6.0
        series |= {
            f"go_sql_in_use_connections{labels}": seen,
            f"go_sql_open_connections{labels}": seen,
            f"go_sql_max_open_connections{labels}": 30.0,
            f"go_sql_wait_count_total{labels}": rising(0.0),
            f"go_sql_wait_duration_seconds_total{labels}": rising(0.0),
        }
    said = diagnose(window(series, load=load(100.0)), DETECTORS)
    assert [one.id for one in said.findings if one.weight.value != "info"] == []


def test_clocks_that_differ_by_two_seconds_change_no_finding(case: Window) -> None:
    def ahead(name: str, table: Table) -> Table:
        if not name.startswith("mysql_"):
            return table
        values = np.roll(table.values, 2, axis=1)
        values[:, :2] = table.values[:, :1]
        return replace(table, values=values)

    assert {one[0] for one in _diagnose(_tables(case, ahead))} == {one[0] for one in _diagnose(case)}
