from loadwatch_backend.runs.analysis.counters import read_growth, read_largest_growth

from backend.tests.runs.analysis.building import START_MS, Bench, gauge


def test_growth_of_counters(bench: Bench):
    bench.write(
        gauge("c", [5, 7, 9, 2, 4], instance="a"),
        gauge("c", [1, 1, 1, 1, float("nan")], instance="b"),
        ({"__name__": "c", "instance": "gone"}, [(START_MS - 400_000, 4.0), (START_MS - 300_000, 9.0)]),
        ({"__name__": "c", "instance": "late"}, [(START_MS + 2_500, 40.0), (START_MS + 3_500, 45.0)]),
    )
    found = read_growth(bench.store, "c", START_MS + 1_500, START_MS + 4_000)
    assert found is not None
    assert (found.series, found.resets) == (3, 1)
    assert found.at(START_MS + 1_500) == 0
    assert found.at(START_MS + 2_000) == 2
    assert found.at(START_MS + 3_000) == 4
    assert found.at(START_MS + 9_000) == 2 + 2 + 2 + 5
    assert read_growth(bench.store, "nothing", START_MS, START_MS + 4_000) is None


def test_of_several_tables_the_one_that_grew_counts(bench: Bench):
    bench.write(
        gauge("table_rows", [100, 100, 160], table="hits"),
        gauge("table_rows", [9_000, 9_001, 8_000], table="users"),
    )
    found = read_largest_growth(bench.store, "table_rows", START_MS, START_MS + 5_000)
    assert found is not None
    assert found.at(START_MS + 5_000) == 60
