from typing import Any

import numpy as np
import pytest
from loadwatch_backend.runs.analysis.reconciliation import Witnesses, explain
from loadwatch_backend.runs.analysis.schemas import ReconciliationOut
from loadwatch_formats.outcomes import Outcome

from backend.tests.runs.analysis.building import START_MS, Bench, gauge, per_second, result_of, subject

SECONDS = 60
SENT = 6_000


def witnesses(**fields: Any) -> Witnesses:
    given: dict[str, Any] = {
        "sent": 10_000,
        "ok": 10_000,
        "rejected": 0,
        "accepted": 10_000.0,
        "stored": 10_000.0,
        "failed": None,
        "rows": None,
        "resets": 0,
        "queued": None,
        "source": "result",
    }
    return Witnesses(**(given | fields))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "none"),
        ({"accepted": 9_999.0, "stored": 9_999.0}, "none"),
        # Field notes: rows stored, requests accepted and 200s seen are three numbers.
        ({"ok": 5_033}, "none"),
        ({"accepted": 7_200.0, "stored": 7_200.0, "ok": 7_200}, "network-or-client"),
        ({"accepted": 7_200.0, "stored": 7_200.0, "ok": 7_200, "rejected": 2_500}, "application"),
        ({"stored": 8_000.0, "queued": 1_500.0}, "application-buffer"),
        ({"stored": 8_000.0, "failed": 2_000.0}, "database"),
        ({"rows": 9_000.0}, "database"),
        ({"stored": 4_000.0, "resets": 2}, "counter-reset"),
        ({"stored": 12_000.0, "resets": 1}, "counter-reset"),
        ({"stored": 12_000.0}, "unknown"),
        ({"accepted": 15_000.0, "stored": 15_000.0}, "unknown"),
        ({"accepted": 9_700.0, "stored": 9_700.0}, "unknown"),
        ({"accepted": None, "stored": 9_000.0}, "unknown"),
        ({"accepted": None, "stored": None, "rows": 10_000.0}, "none"),
        ({"stored": None, "rows": 7_000.0}, "application-buffer"),
        ({"sent": None, "ok": None, "stored": 9_000.0}, "application-buffer"),
        ({"sent": None, "ok": None, "stored": None}, "unknown"),
        ({"sent": 0, "ok": 0, "accepted": 0.0, "stored": 0.0}, "none"),
    ],
)
def test_the_place_of_the_largest_difference(fields: dict[str, Any], place: str):
    found = explain(witnesses(**fields))
    assert found.place == place
    assert found.detail


def test_each_step_is_held_against_the_one_before_that_was_counted():
    found = explain(witnesses(ok=9_000, accepted=None, stored=9_500.0, failed=3.0, rows=9_400.0))
    assert [(step.id, step.count, step.missing) for step in found.steps] == [
        ("sent", 10_000, None),
        ("answered_ok", 9_000, 1_000),
        ("accepted", None, None),
        ("stored", 9_500, -500),
        ("rows", 9_400, 100),
        ("failed", 3, None),
    ]


def reconcile(bench: Bench, ok: int = 100, reset: int = 0) -> ReconciliationOut | None:
    load = result_of(per_second([float(ok)] * SECONDS, failed={Outcome.RESET: [float(reset)] * SECONDS}))
    return bench.analyst().analyse(subject(load)).reconciliation


def counts(found: ReconciliationOut | None) -> dict[str, float | None]:
    assert found is not None
    return {step.id: step.count for step in found.steps}


def flow(rate: float, delay: int, before: float = 500.0, length: int = 200) -> np.ndarray:
    """A counter that begins at `before` and grows by `rate` for a minute, `delay` seconds late."""
    seconds = np.arange(length)
    return before + rate * np.clip(seconds - delay, 0, SECONDS)


def test_there_is_nothing_to_say_without_the_applications_counters(bench: Bench):
    assert reconcile(bench) is None


def test_counts_of_all_instances_are_waited_for_until_the_queue_is_empty(bench: Bench):
    bench.write(
        gauge("ingest_accepted_total", flow(60, 0), instance="a"),
        gauge("ingest_accepted_total", flow(40, 0, before=0), instance="b"),
        gauge("ingest_stored_total", flow(60, 45), instance="a"),
        gauge("ingest_stored_total", flow(40, 50, before=0), instance="b"),
        gauge("ingest_queue_length", np.clip(flow(60, 0) - flow(60, 45), 0, None), instance="a"),
    )
    found = reconcile(bench)
    assert counts(found) == {"sent": SENT, "answered_ok": SENT, "accepted": SENT, "stored": SENT, "failed": None}
    assert found is not None
    assert found.place == "none"


def test_one_sick_instance_of_several_is_named(bench: Bench):
    bench.write(
        gauge("ingest_accepted_total", flow(50, 0), instance="a"),
        gauge("ingest_stored_total", flow(50, 5), instance="a"),
        gauge("ingest_accepted_total", flow(30, 0), instance="b"),
        gauge("ingest_stored_total", flow(20, 5), instance="b"),
        gauge("ingest_failed_total", flow(2, 5), instance="b"),
        gauge("ingest_accepted_total", np.append(flow(20, 0)[:30], flow(20, 0, before=0)[:170]), instance="c"),
        gauge("ingest_stored_total", flow(20, 5), instance="c"),
    )
    found = reconcile(bench)
    assert found is not None
    assert [(one.instance, one.accepted, one.stored, one.failed, one.missing) for one in found.instances[:2]] == [
        ("a", 3_000, 3_000, None, 0),
        ("b", 1_800, 1_200, 120, 480),
    ]
    assert found.instances[2].missing is None, "its counter began again at zero"
    by_name = {step.id: step.count for step in found.steps}
    for name in ("accepted", "stored"):
        assert sum(getattr(one, name) for one in found.instances) == by_name[name]


def test_a_single_instance_is_the_total(bench: Bench):
    bench.write(gauge("ingest_accepted_total", flow(100, 0)), gauge("ingest_stored_total", flow(100, 5)))
    found = reconcile(bench)
    assert found is not None
    assert found.instances == []


def test_what_is_lost_in_the_buffer_is_told(bench: Bench):
    bench.write(
        gauge("ingest_accepted_total", flow(100, 0)),
        gauge("ingest_stored_total", flow(80, 10)),
        gauge("ingest_queue_length", np.full(200, 1_200.0)),
        gauge("table_rows", 1_000 + flow(80, 30)),
    )
    found = reconcile(bench)
    assert counts(found) == {
        "sent": SENT,
        "answered_ok": SENT,
        "accepted": SENT,
        "stored": 4_800,
        "rows": 4_800,
        "failed": None,
    }
    assert found is not None
    assert found.place == "application-buffer"
    assert "1200 of them still in its queue" in found.detail


def test_requests_that_clients_gave_up_may_still_be_stored(bench: Bench):
    bench.write(gauge("ingest_accepted_total", flow(100, 0)), gauge("ingest_stored_total", flow(100, 0)))
    found = reconcile(bench, ok=40, reset=60)
    assert found is not None
    assert found.place == "none"
    missing = {step.id: step.missing for step in found.steps}
    assert missing == {"sent": None, "answered_ok": 3_600, "accepted": -3_600, "stored": 0, "failed": None}


def test_a_kill_shows_as_a_counter_that_began_again(bench: Bench):
    """After SIGKILL polled counters understate: what was counted since the last reading is gone."""
    accepted = np.concatenate([np.arange(0, 3_000, 100), np.arange(250, 3_000, 100), np.full(100, 2_950)])
    bench.write(gauge("ingest_accepted_total", accepted), gauge("ingest_stored_total", np.maximum(accepted - 40, 0)))
    found = reconcile(bench)
    assert found is not None
    assert found.place == "counter-reset"
    assert counts(found)["accepted"] == 2_900 + 2_950


def test_a_server_that_is_asked_at_once_reads_what_there_is(bench: Bench):
    bench.now_ms = START_MS + SECONDS * 1_000 + 5_000
    bench.write(
        gauge("ingest_accepted_total", flow(100, 0, length=65)), gauge("ingest_stored_total", flow(100, 30, length=65))
    )
    found = reconcile(bench)
    assert found is not None
    assert found.place == "not-known-yet"
    assert found.detail == "Not known yet: 2,600 rows are neither stored nor known to be lost.".replace(",", "")
    assert counts(found)["stored"] == pytest.approx(3_400, abs=100)


def test_what_comes_after_a_restart_behind_the_end_is_not_counted(bench: Bench):
    """The application is started again for the next stage, a minute after this run's end."""
    accepted, stored = flow(100, 0, before=0.0, length=100), flow(80, 0, before=0.0, length=100)
    later = 300.0 * np.arange(1, 100)
    bench.write(
        gauge("ingest_accepted_total", np.concatenate([accepted, later])),
        gauge("ingest_stored_total", np.concatenate([stored, later])),
    )
    found = reconcile(bench)
    assert counts(found)["accepted"] == SENT
    assert counts(found)["stored"] == 4_800
    assert found is not None
    assert found.place == "application-buffer"


def test_a_restart_before_the_first_reading_loses_nothing(bench: Bench):
    samples = np.concatenate([[90_000.0, 90_000.0], flow(100, 0, before=0.0)])
    labels = ({"__name__": name, "job": "app"} for name in ("ingest_accepted_total", "ingest_stored_total"))
    times = [START_MS - 5_000, START_MS - 1_000, *(START_MS + 1_000 * second for second in range(1, 201))]
    bench.write(*((one, list(zip(times, samples.tolist(), strict=True))) for one in labels))
    found = reconcile(bench)
    assert found is not None
    assert found.place == "none"
    assert counts(found)["accepted"] == SENT


def test_what_the_next_run_sends_is_not_counted(bench: Bench):
    """The second run's requests reach the same counters, and the first one's may still be under way."""
    load = result_of(per_second([100.0] * SECONDS))
    bench.write(
        gauge("ingest_accepted_total", 100.0 * np.arange(200)),
        gauge("ingest_stored_total", 90.0 * np.arange(200)),
        gauge("table_rows", 90.0 * np.arange(200)),
    )
    next_ms = START_MS + SECONDS * 1_000 + 2_000
    found = bench.analyst().analyse(subject(load, next_ms=next_ms)).reconciliation
    assert counts(found) == {
        "sent": SENT,
        "answered_ok": SENT,
        "accepted": pytest.approx(SENT, abs=300),
        "stored": pytest.approx(0.9 * SENT, abs=300),
        "rows": pytest.approx(0.9 * SENT, abs=300),
        "failed": None,
    }
    assert found is not None
    assert found.mixed_with == ["next"]


PAUSE = 8


def sweep(bench: Bench, counted_each: int, delay: int = 1, runs: int = 3) -> list[ReconciliationOut | None]:
    """Runs of a minute a few seconds apart; only the table is counted. Each sends 100/s more than the one before."""
    seconds = np.arange(runs * (SECONDS + PAUSE) + 30)
    starts = [place * (SECONDS + PAUSE) for place in range(runs)]
    rows = sum(100.0 * (place + 1) * np.clip(seconds - start - delay, 0, SECONDS) for place, start in enumerate(starts))
    labels, samples = gauge("table_rows", 7 + np.asarray(rows))
    bench.write((labels, samples[::counted_each]))
    found: list[ReconciliationOut | None] = []
    for place, start in enumerate(starts):
        started = START_MS + 1_000 * start
        load = result_of(per_second([100.0 * (place + 1)] * SECONDS))
        run = subject(
            load,
            started_ms=started,
            ended_ms=started + SECONDS * 1_000,
            previous_ms=started - PAUSE * 1_000 if place else None,
            next_ms=started + (SECONDS + PAUSE) * 1_000 if place < runs - 1 else None,
        )
        found.append(bench.analyst().analyse(run).reconciliation)
    return found


def test_runs_of_a_sweep_have_their_own_rows_where_the_table_stood_still_between_them(bench: Bench):
    found = sweep(bench, counted_each=2)
    assert [counts(one)["stored"] for one in found] == [6_000, 12_000, 18_000]
    assert [one.mixed_with for one in found if one is not None] == [[], [], []]


def test_rows_that_still_come_when_the_next_run_begins_are_said_to_mix(bench: Bench):
    found = sweep(bench, counted_each=2, delay=PAUSE + 4)
    assert [one.mixed_with for one in found if one is not None] == [["next"], ["previous", "next"], ["previous"]]


def test_a_table_that_was_not_counted_between_runs_has_no_count_and_says_why(bench: Bench):
    first, second, third = sweep(bench, counted_each=50)
    assert [one and one.mixed_with for one in (first, second, third)] == [["next"], ["previous", "next"], ["previous"]]
    assert counts(second)["stored"] is None


def dropping(bench: Bench, *, queue: bool = True) -> None:
    """10 % of what is accepted is never stored; the last row comes 2 s after the end."""
    bench.write(
        gauge("ingest_accepted_total", flow(100, 0)),
        gauge("ingest_stored_total", flow(90, 2)),
        *([gauge("ingest_queue_length", np.zeros(200))] if queue else []),
    )


@pytest.mark.parametrize(("queue", "quiet"), [(True, 20), (False, 45)])
def test_whether_rows_are_lost_is_not_known_until_nothing_has_moved_for_long(bench: Bench, queue: bool, quiet: int):
    dropping(bench, queue=queue)
    for after in (1.4, 10, quiet):
        bench.now_ms = START_MS + round(1_000 * (SECONDS + after))
        found = reconcile(bench)
        assert found is not None
        assert (found.place, found.again_ms) == ("not-known-yet", START_MS + 1_000 * (SECONDS + 2 + quiet + 2)) or (
            after < 2 and found.place == "not-known-yet"
        )
    bench.now_ms = found.again_ms or 0
    found = reconcile(bench)
    assert found is not None
    assert (found.place, found.again_ms) == ("application-buffer", None)
    assert found.detail.startswith("600 were accepted and not stored")


def test_rows_that_the_table_holds_were_written_when_the_application_stopped(bench: Bench):
    """Its counters end with 1,200 rows in memory; it writes them before it exits."""
    accepted, stored = (flow(100, delay, length=64) for delay in (0, 12))
    rows = np.concatenate([np.zeros(65), np.full(135, 5_700.0)])
    bench.write(
        gauge("ingest_accepted_total", accepted), gauge("ingest_stored_total", stored), gauge("table_rows", rows)
    )
    found = reconcile(bench)
    assert found is not None
    assert found.place == "stopped-writing"
    assert "300 were accepted and not stored" in found.detail
    assert "still writing when it stopped; the table holds 5700" in found.detail
    stored_step = next(step for step in found.steps if step.id == "stored")
    assert (stored_step.count, stored_step.source, stored_step.missing) == (5_700, "table_rows", 300)
    assert "rows" not in counts(found)


def test_a_table_that_has_all_rows_of_an_application_that_stopped_settles_it(bench: Bench):
    accepted, stored = (flow(100, delay, length=64) for delay in (0, 12))
    bench.write(
        gauge("ingest_accepted_total", accepted),
        gauge("ingest_stored_total", stored),
        gauge("table_rows", np.concatenate([np.zeros(65), np.full(135, 6_000.0)])),
    )
    found = reconcile(bench)
    assert found is not None
    assert found.place == "none"
    assert counts(found)["stored"] == SENT


@pytest.mark.parametrize("deleted", [True, False])
def test_own_probes_are_taken_out(bench: Bench, deleted: bool):
    """One a second, before, during and after the run; `cleanup` deletes their rows."""
    probes = np.arange(200.0)
    bench.write(
        ({"__name__": "probe_requests_total"}, [(START_MS + 1_000 * at, 100.0 + at) for at in range(-30, 200)]),
        gauge("ingest_accepted_total", flow(100, 0) + probes),
        gauge("ingest_stored_total", flow(100, 3) + probes),
        # The table was counted 7 s before the run.
        gauge("table_rows", flow(100, 3) + (0 if deleted else probes + 7 * (np.arange(200) > 0))),
    )
    found = reconcile(bench)
    assert found is not None
    assert found.place == "none"
    assert counts(found) == {
        "sent": SENT,
        "answered_ok": SENT,
        "accepted": SENT,
        "stored": SENT,
        "rows": SENT,
        "failed": None,
    }
    assert found.probes >= 60


def test_what_others_send_is_still_told(bench: Bench):
    bench.write(
        gauge("probe_requests_total", np.arange(200.0)),
        gauge("ingest_accepted_total", flow(110, 0) + np.arange(200.0)),
        gauge("ingest_stored_total", flow(110, 0) + np.arange(200.0)),
    )
    found = reconcile(bench)
    assert found is not None
    assert "accepted 600 more than this run sent: others send to it, too" in found.detail


def test_a_table_that_was_not_counted_since_the_last_row_came_accuses_nobody(bench: Bench):
    bench.write(
        gauge("ingest_accepted_total", flow(100, 0)),
        gauge("ingest_stored_total", flow(100, 3)),
        ({"__name__": "table_rows"}, [(START_MS + 1_000 * at, 100.0 * at) for at in (0, 20, 40, 58)]),
    )
    found = reconcile(bench)
    assert found is not None
    assert found.place == "none"
    assert "rows" not in counts(found)


def test_a_table_alone_tells_once_two_counts_after_the_load_agree(bench: Bench):
    """The application counts nothing, and writes what it has in memory some seconds after the load."""
    rows = [(START_MS + 1_000 * at, value) for at, value in ((-5, 0.0), (58, 5_000.0), (65, 5_400.0), (75, 6_000.0))]
    bench.write(({"__name__": "table_rows"}, [*rows, (START_MS + 85_000, 6_000.0)]))
    for after in (62, 70, 80):
        bench.now_ms = START_MS + 1_000 * after
        found = reconcile(bench)
        assert found is not None
        assert (found.place, found.again_ms) == ("not-known-yet", bench.now_ms + 60_000)
        assert counts(found)["stored"] is None
    bench.now_ms = START_MS + 90_000
    found = reconcile(bench)
    assert found is not None
    assert found.place == "none"
    assert counts(found)["stored"] == SENT
