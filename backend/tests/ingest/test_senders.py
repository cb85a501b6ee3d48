import numpy as np
from loadwatch_backend.series.ingest.senders import ACTIVE_MINUTES, MINUTE_MS, MOST_SENDERS, OTHERS, Senders

NOW_MS = 1_750_000_000_000
HOUR_MS = ACTIVE_MINUTES * MINUTE_MS


def series(first: int, count: int) -> np.ndarray:
    return np.arange(first, first + count, dtype=np.int64)


def test_new_series_of_an_hour_are_limited_for_each_sender() -> None:
    senders = Senders(most_active=1_000_000, most_new=100)
    assert senders.admit("a", 60, NOW_MS).series == 60
    cut = senders.admit("a", 60, NOW_MS + MINUTE_MS)
    assert (cut.series, cut.active) == (40, False)
    assert cut.problem.startswith("a has sent 60 new series within an hour, and 100 may be new")
    assert "may add two fifths an hour" in cut.problem
    assert senders.admit("b", 60, NOW_MS).series == 60
    # The first 60 are an hour old, the other 40 are not.
    assert senders.admit("a", 100, NOW_MS + HOUR_MS).series == 60


def test_what_was_not_made_is_not_counted() -> None:
    senders = Senders(most_active=1_000_000, most_new=100)
    senders.admit("a", 100, NOW_MS)
    senders.take_back("a", 100, NOW_MS)
    assert senders.admit("a", 100, NOW_MS).problem == ""


def test_active_series_are_limited_for_each_sender() -> None:
    senders = Senders(most_active=100, most_new=1_000_000)
    senders.note("a", series(1, 90), NOW_MS)
    senders.note("a", series(1, 90), NOW_MS)
    cut = senders.admit("a", 20, NOW_MS)
    assert (cut.series, cut.active) == (10, True)
    assert cut.problem.startswith("a has 90 active series, and a sender may have 100")
    assert "LOADWATCH_STORE_SERIES_LIMIT" in cut.problem
    assert senders.admit("b", 20, NOW_MS).series == 20
    assert senders.admit("a", 20, NOW_MS + HOUR_MS).series == 20


def test_a_series_belongs_to_who_sent_it_last() -> None:
    senders = Senders(most_active=100, most_new=100)
    senders.note("a", series(5_000, 10), NOW_MS)
    senders.note("b", series(5_000, 4), NOW_MS)
    figures = senders.figures(NOW_MS)
    assert {name: one.active_series for name, one in figures.items()} == {"a": 6, "b": 4}


def test_more_senders_than_are_told_apart_share_an_account() -> None:
    senders = Senders(most_active=100, most_new=10)
    for number in range(MOST_SENDERS):
        assert senders.admit(f"10.0.0.{number}", 1, NOW_MS).series == 1
    assert senders.admit("late", 6, NOW_MS).series == 6
    assert senders.admit("later", 6, NOW_MS).series == 4
    senders.refuse("later", 7, NOW_MS)
    figures = senders.figures(NOW_MS)
    assert len(figures) == MOST_SENDERS + 1
    assert (figures[OTHERS].new_series, figures[OTHERS].refused_total) == (10, 7)
    # Who has not been heard of for an hour gives way.
    assert senders.admit("tomorrow", 10, NOW_MS + HOUR_MS + MINUTE_MS).series == 10


def test_a_long_name_is_cut() -> None:
    senders = Senders(most_active=100, most_new=10)
    senders.admit("x" * 5_000, 1, NOW_MS)
    assert [len(name) for name in senders.figures(NOW_MS)] == [100]
