"""What is found at several instances of a job is said once, the instance that differs first."""

from dataclasses import replace

import numpy as np
from loadwatch_backend.findings.documents import findings_out
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.fleet import natural_order
from loadwatch_backend.findings.model import Diagnosis, Finding
from loadwatch_backend.findings.registry import DETECTORS

from backend.tests.findings.windows import START_MS, Values, load, over, rising, window

TEN = [f"web-{number}" for number in range(1, 11)]


def _pool(
    instance: str, *, wait: float, job: str = "web", limit: float = 6.0, waits: float = 10.0
) -> dict[str, Values]:
    """A pool that is full, for which so many requests a second wait so long."""
    labels = f'{{job="{job}",instance="{instance}",db_name="hits"}}'
    target = f'{{job="{job}",instance="{instance}"}}'
    return {
        f"go_sql_in_use_connections{labels}": limit,
        f"go_sql_max_open_connections{labels}": limit,
        f"go_sql_wait_count_total{labels}": rising(waits),
        f"go_sql_wait_duration_seconds_total{labels}": rising(waits * wait),
        f"ingest_accepted_total{target}": rising(20.0),
        f"ingest_stored_total{target}": rising(20.0),
    }


def _fleet(*, sick: float | None = 0.5, limit: float = 6.0, usual: float = 0.048) -> dict[str, Values]:
    series: dict[str, Values] = {}
    for name in TEN:
        ill = name == "web-7" and sick is not None
        series |= _pool(name, wait=sick if ill and sick else usual, limit=limit if ill else 6.0)
    return series


def _said(series: dict[str, Values], *, of_run: bool = True) -> Diagnosis:
    seen = replace(window(series, load=load(200.0, timeout=5.0)), of_run=of_run)
    return diagnose(seen, DETECTORS)


def _of(said: Diagnosis, id: str) -> Finding:
    found = [one for one in said.findings if one.id == id]
    assert len(found) == 1, [one.sentence.en for one in found]
    return found[0]


def test_ten_instances_give_one_finding_that_names_the_one_that_differs_with_figures() -> None:
    said = _said(_fleet())
    pool = _of(said, "pool-exhausted")
    assert pool.sentence.en.startswith("web-7 waits 500 ms for a connection, the other 9 of web 48 ms. ")
    assert pool.sentence.ja.startswith("web-7の接続待ちは500ミリ秒、webの他の9台は48ミリ秒。")
    assert pool.instances[0] == "web-7"
    assert sorted(pool.instances) == sorted(TEN)
    # The same key whoever is worst, so that an alert, a mute and a series are of one thing.
    assert pool.labels == {"job": "web", "db_name": "hits"}
    assert 'instance="web-7"' in pool.evidence[0].expression


def test_the_sick_instance_leads_and_is_the_cause() -> None:
    said = _said(_fleet())
    first = said.findings[0]
    assert first.id == "sick-instance"
    assert first.labels["instance"] == "web-7"
    assert "500 ms" in first.sentence.en
    assert "48 ms" in first.sentence.en
    assert first.key in said.because_of[_of(said, "pool-exhausted").key]
    assert first.weight is _of(said, "pool-exhausted").weight


def test_an_instance_with_a_smaller_pool_is_sick_because_of_its_pool() -> None:
    said = _said(_fleet(limit=2.0))
    first, sick = said.findings[0], _of(said, "sick-instance")
    assert first.id == "pool-exhausted"
    assert first.sentence.en.startswith("web-7 waits 500 ms")
    assert first.key in said.because_of[sick.key]


def test_where_none_differs_all_are_counted_and_the_worst_is_named() -> None:
    series = _fleet(sick=None)
    series |= _pool("web-3", wait=0.063)
    pool = _of(_said(series), "pool-exhausted")
    assert pool.sentence.en.startswith("All 10 instances of web are affected, web-3 most: it waits 63 ms")
    assert "the others 48 ms" in pool.sentence.en
    assert pool.instances[0] == "web-3"


def test_the_worst_is_who_loses_most_time_and_not_who_waited_long_once() -> None:
    series = _fleet(sick=None, usual=0.3)
    series |= _pool("web-2", wait=0.8, waits=0.6)
    assert _of(_said(series), "pool-exhausted").instances[0] != "web-2"


def test_some_of_a_fleet_are_counted_against_those_that_live() -> None:
    series = _fleet(sick=None)
    for name in TEN[3:]:
        series |= _pool(name, wait=0.0, waits=0.0)
    pool = _of(_said(series), "pool-exhausted")
    assert pool.sentence.en.startswith("3 of 10 instances of web are affected, ")


def test_an_instance_that_is_gone_is_in_no_count_of_the_present() -> None:
    series = _fleet(sick=None)
    for text, values in _pool("web-10", wait=0.048).items():
        gone = over(values)
        gone[40:] = np.nan
        series[text] = gone
    pool = _of(_said(series, of_run=False), "pool-exhausted")
    assert pool.sentence.en.startswith("All 9 instances of web are affected, ")
    assert "web-10" not in pool.instances
    # A run tells of all that took part.
    assert "All 10" in _of(_said(series), "pool-exhausted").sentence.en


def test_one_instance_alone_keeps_its_sentence_and_its_labels() -> None:
    pool = _of(_said(_pool("web-1", wait=0.2)), "pool-exhausted")
    assert pool.labels["instance"] == "web-1"
    assert pool.sentence.en.startswith("The pool of ")
    assert not pool.instances


def test_pools_of_other_jobs_are_no_fleet() -> None:
    said = _said(_pool("a", wait=0.2) | _pool("b", wait=0.2, job="other"))
    assert sorted(one.labels["instance"] for one in said.findings if one.id == "pool-exhausted") == ["a", "b"]


def test_databases_of_one_job_do_not_do_the_same_work() -> None:
    series: dict[str, Values] = {}
    for name in ("orders-db", "users-db"):
        labels = f'{{job="mysql",instance="{name}"}}'
        series |= {
            f"mysql_global_status_threads_connected{labels}": 60.0,
            f"mysql_global_variables_max_connections{labels}": 60.0,
            f"mysql_global_status_connection_errors_max_connections{labels}": rising(20.0),
            f"mysql_global_status_aborted_connects{labels}": rising(20.0),
        }
    said = _said(series)
    found = [one for one in said.findings if one.id in ("database-connections-exhausted", "connections-refused")]
    assert {one.labels.get("instance") for one in found} == {"orders-db", "users-db"}


def test_the_first_step_does_not_begin_with_or_and_no_step_speaks_of_nothing() -> None:
    series = _pool("web-1", wait=0.05)
    labels = '{job="web",instance="web-1",db_name="hits"}'
    series[f"go_sql_in_use_connections{labels}"] = np.where(np.arange(60) % 5 == 0, 6.0, 0.0)
    (pool,) = [one for one in findings_out(_said(series), 0).findings if one.id == "pool-exhausted"]
    texts = [step.text for step in pool.steps]
    assert all("0 µs" not in text.en for text in texts)
    assert texts
    assert not any(text.en.startswith("Or ") or text.ja.startswith("または") for text in texts[:1])


def test_a_run_under_way_is_judged_by_itself_and_not_by_the_quiet_minutes_before_it() -> None:
    series: dict[str, Values] = {}
    for name in TEN:
        rate = np.where(np.arange(60) >= 40, 10.0, 0.0)
        labels = f'{{job="web",instance="{name}",db_name="hits"}}'
        series |= _pool(name, wait=0.0) | {
            f"go_sql_wait_count_total{labels}": rising(rate),
            f"go_sql_wait_duration_seconds_total{labels}": rising(rate * (0.5 if name == "web-7" else 0.048)),
        }
    seen = replace(window(series, load=load(200.0)), from_ms=START_MS + 40_000)
    said = diagnose(seen, DETECTORS)
    assert said.findings[0].id == "sick-instance"
    assert said.findings[0].labels["instance"] == "web-7"
    assert "500ミリ秒" in said.findings[0].sentence.ja
    # Each cause once, however many instances name it.
    assert all(len(set(causes)) == len(causes) for causes in said.because_of.values())


def test_instances_are_ordered_by_their_numbers_however_long_these_are() -> None:
    names = ["web-2", "web-010", "web-10", f"web-{'1' * 5_000}", "web-²"]
    assert sorted(reversed(names), key=natural_order) == [names[0], names[2], names[1], *names[3:]]
