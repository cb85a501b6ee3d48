import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from loadwatch_backend.catalogue.signals.late import reduce_extrema, reduce_means

NAN = np.nan


def test_both_extrema_stay_in_their_order():
    values = np.array([[1.0, 9, 2, 3, 5, 1, 4, 4], [NAN, NAN, NAN, NAN, 7, NAN, NAN, NAN]])
    wanted = [[1, 9, 5, 1], [NAN, NAN, 7, 7]]
    np.testing.assert_array_equal(reduce_extrema(values, 4), wanted)


def test_means_of_parts_add_up_to_the_mean_of_the_whole():
    parts = np.array([[1.0, 9, 2, 4, 5, 1, NAN, NAN], [3.0, 1, 2, 0, NAN, NAN, NAN, NAN]])
    np.testing.assert_array_equal(reduce_means(parts, 4, [0, 1]), [[4, 4, 3, 3], [1.5, 1.5, NAN, NAN]])
    np.testing.assert_array_equal(
        reduce_means(parts[:, :4], 4, [0, 0]).sum(axis=0), reduce_means(parts[:, :4].sum(axis=0)[None], 4, [0])[0]
    )


def test_a_part_that_is_there_at_times_is_nothing_at_the_others():
    parts = np.array([[1.0, 1, 1, NAN], [NAN, 6, NAN, NAN], [4.0, 4, 4, 4]])
    # The first two are parts of one whole, which was there for three steps; the third is another's.
    np.testing.assert_array_equal(reduce_means(parts, 4, [0, 0, 1]), [[1, 1], [2, 2], [4, 4]])


def test_infinities_are_values():
    values = np.array([[NAN, np.inf, NAN, -np.inf], [np.inf, np.inf, NAN, NAN], [NAN, -np.inf, NAN, NAN]])
    reduced = reduce_extrema(values, 4)
    np.testing.assert_array_equal(reduced[0], [np.inf, -np.inf])
    np.testing.assert_array_equal(reduced[1], [np.inf, np.inf])
    np.testing.assert_array_equal(reduced[2], [-np.inf, -np.inf])


def test_no_series_are_no_series():
    assert reduce_means(np.empty((0, 8)), 4, []).shape == (0, 4)
    assert reduce_extrema(np.empty((0, 8)), 4).shape == (0, 4)


cells = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(2, 9)), elements=st.floats())


@given(cells)
def test_no_spike_is_lost_and_none_is_made_up(values: npt.NDArray[np.float64]):
    series, buckets, per_bucket = values.shape
    reduced = reduce_extrema(values.reshape(series, -1), per_bucket).reshape(series, buckets, 2)
    for row in range(series):
        for bucket in range(buckets):
            cell = values[row, bucket]
            present = cell[~np.isnan(cell)]
            pair = reduced[row, bucket]
            if not len(present):
                assert np.isnan(pair).all()
                continue
            assert sorted(pair) == [present.min(), present.max()]
            first_max, first_min = np.flatnonzero(cell == present.max())[0], np.flatnonzero(cell == present.min())[0]
            assert pair[0] == (present.max() if first_max < first_min else present.min())
