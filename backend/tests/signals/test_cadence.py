import numpy as np
from loadwatch_backend.catalogue.signals.cadence import bridged, held, newest_step, tell_apart

NAN = np.nan


def test_the_newest_step_is_that_of_any_series():
    assert newest_step(np.array([[1, NAN, NAN], [NAN, 2, NAN]])) == 1
    assert newest_step(np.array([[NAN, NAN]])) is None
    assert newest_step(np.empty((0, 5))) is None


def test_a_number_holds_until_the_next_one_and_never_before_the_first():
    np.testing.assert_array_equal(held(np.array([[NAN, 1, NAN, 2, NAN], [NAN] * 5])), [[NAN, 1, 1, 2, 2], [NAN] * 5])


def test_names_are_told_apart_by_region_and_then_by_account():
    labels = [
        {"region": "eu-west-1", "account_id": "1"},
        {"region": "ap-northeast-1", "account_id": "1"},
        {"region": "ap-northeast-1", "account_id": "2"},
        {"region": "ap-northeast-1", "account_id": "1"},
    ]
    assert tell_apart(["db", "db", "db", "other"], labels) == [
        *("db eu-west-1", "db ap-northeast-1 1", "db ap-northeast-1 2", "other")
    ]
    assert tell_apart(["db", "db"], [{}, {}]) == ["db", "db"]


def test_holes_of_one_step_are_bridged_and_nothing_at_the_ends_or_in_longer_ones():
    values = np.array([[NAN, 1, NAN, 3, NAN, NAN, 6, NAN]])
    wider = np.array([[0.0, 1, 2, 3, 4, 5, 6, 7]])
    np.testing.assert_array_equal(bridged(values, wider), [[NAN, 1, 2, 3, NAN, NAN, 6, NAN]])
    np.testing.assert_array_equal(bridged(values[:, :1], wider[:, :1]), values[:, :1])
