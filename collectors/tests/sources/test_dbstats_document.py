import pytest
from loadwatch_collectors.sources.dbstats import (
    DocumentError,
    WorkerSums,
    find_pools,
    parse_log_line,
    parse_number_metric,
    read_pool,
    split_workers,
)

A5 = (
    "2021/08/05 12:00:01 main.go:88: {MaxOpenConnections:30 OpenConnections:30 InUse:30 Idle:0 WaitCount:115713 "
    "WaitDuration:124h35m46.97s MaxIdleClosed:12 MaxIdleTimeClosed:3 MaxLifetimeClosed:4}"
)
D7 = (
    "dbStats MaxOpenConnections:0 OpenConnections:0 InUse:0 Idle:0 WaitCount:0 WaitDuration:0s "
    "MaxIdleClosed:1026 MaxLifetimeClosed:0"
)
POOL = {
    "MaxOpenConnections": 30,
    "OpenConnections": 2,
    "InUse": 1,
    "Idle": 1,
    "WaitCount": 7,
    "WaitDuration": 2500000000,
}


def test_the_line_with_braces_is_read() -> None:
    assert parse_log_line(A5) == {
        "MaxOpenConnections": 30,
        "OpenConnections": 30,
        "InUse": 30,
        "Idle": 0,
        "WaitCount": 115713,
        "WaitDuration": pytest.approx(124 * 3600 + 35 * 60 + 46.97),
        "MaxIdleClosed": 12,
        "MaxIdleTimeClosed": 3,
        "MaxLifetimeClosed": 4,
    }


def test_the_line_of_older_go_is_read() -> None:
    values = parse_log_line(D7)
    assert values is not None
    assert values["MaxIdleClosed"] == 1026
    assert values["WaitDuration"] == 0
    assert "MaxIdleTimeClosed" not in values


@pytest.mark.parametrize(
    "line",
    [
        "",
        "GET / 200",
        "{30 30 30 0 115713 124h35m46.97s 12 3 4}",
        A5[:120],
        D7.replace("InUse:0", "InUse:x"),
        D7.replace("InUse:0", "InUse:" + "9" * 400),
    ],
    ids=["empty", "other", "no names", "cut", "no number", "no float"],
)
def test_other_lines_are_passed_over(line: str) -> None:
    assert parse_log_line(line) is None


def test_nanoseconds_become_seconds() -> None:
    assert read_pool(POOL, "main")["WaitDuration"] == 2.5


def test_a_field_that_is_no_number_is_named() -> None:
    with pytest.raises(DocumentError, match=r"main\.InUse is 'one', not a number"):
        read_pool({**POOL, "InUse": "one"}, "main")


def test_pools_are_found_wherever_they_stand() -> None:
    document = {"pools": {"writer": POOL, "reader": POOL}, "old": [{"main": POOL}, {"main": POOL}]}
    assert list(find_pools(document, "main")) == ["writer", "reader", "old.0.main", "old.1.main"]
    assert list(find_pools(POOL, "main")) == ["main"]
    assert find_pools({"a": {"b": 1}}, "main") == {}


def test_a_number_can_have_labels_and_a_factor() -> None:
    metric = parse_number_metric('ingest_lag_seconds{stat="max", queue="a"} * 0.001')
    assert (metric.name, metric.labels, metric.factor) == (
        "ingest_lag_seconds",
        (("stat", "max"), ("queue", "a")),
        0.001,
    )


@pytest.mark.parametrize("text", ["", "a b", "a{", "a{b=c}", "a * x", "9a"])
def test_a_metric_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a metric|must look like|not a factor"):
        parse_number_metric(text)


def by_worker(sums: WorkerSums, **waits: int) -> dict[str, dict[str, float]]:
    document = {"pools": {"main": [{**POOL, "WaitCount": count, "worker": name} for name, count in waits.items()]}}
    found = split_workers(find_pools(document, "root"))
    return sums.add({(name, worker): read_pool(pool, name) for name, worker, pool in found})


def test_workers_of_one_pool_are_added_up_and_counters_never_fall() -> None:
    sums = WorkerSums()
    main = by_worker(sums, a=7, b=10)["main"]
    assert (main["MaxOpenConnections"], main["InUse"], main["WaitCount"], main["WaitDuration"]) == (60, 2, 17, 5)
    assert by_worker(sums, a=8, b=2)["main"]["WaitCount"] == 20  # b began anew
    assert by_worker(sums, a=9)["main"]["WaitCount"] == 21  # b ended
    assert by_worker(sums, a=9, c=0)["main"]["WaitCount"] == 21
    assert by_worker(sums, a=9, c=0)["main"]["MaxOpenConnections"] == 60


def test_a_worker_without_a_limit_is_a_pool_without_one() -> None:
    read = {("main", "a"): read_pool(POOL, "main"), ("main", "b"): read_pool({**POOL, "MaxOpenConnections": 0}, "main")}
    assert WorkerSums().add(read)["main"]["MaxOpenConnections"] == 0


def test_a_pool_without_workers_is_passed_on_as_it_is() -> None:
    sums = WorkerSums()
    for waits in (7, 2):
        pool = read_pool({**POOL, "WaitCount": waits}, "main")
        assert sums.add({("main", ""): pool}) == {"main": pool}
