"""The rules for labels and times."""

import numpy as np
import pytest
from loadwatch_backend.series.ingest.decode import IngestLimits, LabelPairs
from loadwatch_backend.series.ingest.validate import Reason, RejectedSeriesError, check_labels, check_times

from backend.tests.ingest.writing import NOW_MS

LIMITS = IngestLimits(labels=5, label_name_bytes=20, label_value_bytes=100, ahead_ms=600_000, retention_ms=3_600_000)
NAME = (b"__name__", b"http_requests:rate5m")


def test_as_many_labels_as_are_allowed_are_taken() -> None:
    assert len(check_labels([NAME, *((b"l%d" % n, b"x") for n in range(4))], LIMITS)) == 5


def test_labels_are_sorted_and_empty_values_left_out() -> None:
    pairs = [(b"zone", b"b"), NAME, (b"job", "日本\n".encode()), (b"empty", b"")]
    assert list(check_labels(pairs, LIMITS).items()) == [
        ("__name__", "http_requests:rate5m"),
        ("job", "日本\n"),
        ("zone", "b"),
    ]


def test_names_are_utf8() -> None:
    """As Prometheus 3 has them."""
    for name in ("9lives", "my.metric", "日本.総数", "a\n", "label with space"):
        assert check_labels([(b"__name__", name.encode())], LIMITS) == {"__name__": name}
        assert check_labels([NAME, (name.encode(), b"x")], LIMITS)[name] == "x"


@pytest.mark.parametrize(
    ("pairs", "reason", "text"),
    [
        ([], Reason.BAD_METRIC_NAME, "no metric name"),
        ([(b"job", b"a")], Reason.BAD_METRIC_NAME, r"no metric name in \{job='a'\}"),
        ([(b"__name__", b"")], Reason.BAD_METRIC_NAME, "no metric name"),
        ([NAME, (b"", b"x")], Reason.BAD_LABEL_NAME, "a label of http_requests:rate5m.* has no name"),
        ([NAME, (b"job", b"a"), (b"job", b"b")], Reason.DUPLICATE_LABEL, "label job is there twice"),
        ([NAME, NAME], Reason.DUPLICATE_LABEL, "__name__ is there twice"),
        ([NAME, (b"job", b"\xff\xfe")], Reason.INVALID_UTF8, r"label job of .*not valid UTF-8"),
        ([NAME, (b"\xc3", b"x")], Reason.INVALID_UTF8, r"label \\xc3 of"),
        ([NAME, (b"n" * 21, b"x")], Reason.LABEL_TOO_LONG, "a label name of 21 bytes"),
        ([NAME, (b"job", b"x" * 101)], Reason.LABEL_TOO_LONG, "has 101 bytes; at most 100 are allowed"),
        ([NAME, (b"job", b"x" * (1 << 20))], Reason.LABEL_TOO_LONG, "has 1048576 bytes"),
        (
            [NAME, *((b"l%d" % n, b"x") for n in range(5))],
            Reason.TOO_MANY_LABELS,
            "has more than 5 labels",
        ),
    ],
)
def test_a_bad_label_set_is_named(pairs: LabelPairs, reason: Reason, text: str) -> None:
    with pytest.raises(RejectedSeriesError, match=text) as caught:
        check_labels(pairs, LIMITS)
    assert caught.value.reason is reason
    assert len(caught.value.detail) < 1000


def test_times_within_the_limits_need_no_mask() -> None:
    times = np.array([NOW_MS - 3_600_000, NOW_MS, NOW_MS + 600_000], np.int64)
    assert check_times(times, NOW_MS, NOW_MS, LIMITS) == (None, ())
    assert check_times(np.empty(0, np.int64), NOW_MS, NOW_MS, LIMITS) == (None, ())


def test_times_out_of_the_limits_are_counted_and_named() -> None:
    year = 365 * 86_400_000
    times = np.array([NOW_MS + year, NOW_MS, NOW_MS - 3_600_001, -(2**63), 2**63 - 1], np.int64)
    keep, rejections = check_times(times, NOW_MS, NOW_MS, LIMITS)
    assert keep is not None
    assert keep.tolist() == [False, True, False, False, False]
    assert [(rejection.reason, rejection.samples) for rejection in rejections] == [
        (Reason.TOO_FAR_AHEAD, 2),
        (Reason.TOO_OLD, 2),
    ]
    assert "Are both clocks right?" in rejections[0].detail
    assert "LOADWATCH_RETENTION_DAYS" in rejections[1].detail
