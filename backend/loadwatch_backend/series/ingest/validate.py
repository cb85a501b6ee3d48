"""The rules for labels and times. Pure."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.ingest.decode import IngestLimits, LabelPairs

_SHOWN = 80
SHOWN_REJECTIONS = 5


class Reason(StrEnum):
    """Why samples or requests are refused; the `reason` label of the counters in /metrics."""

    BAD_LABEL_NAME = "bad_label_name"
    BAD_METRIC_NAME = "bad_metric_name"
    BAD_REFERENCE = "bad_reference"
    BROKEN_OFF = "broken_off"
    BUSY = "busy"
    CONTENT_TYPE = "content_type"
    DUPLICATE_LABEL = "duplicate_label"
    ENCODING = "encoding"
    INVALID_UTF8 = "invalid_utf8"
    JOB = "job"
    DELTA_LATE = "delta_late"
    LABEL_BYTES_LIMIT = "label_bytes_limit"
    LABEL_TOO_LONG = "label_too_long"
    LABELS_TOO_LARGE = "labels_too_large"
    MALFORMED = "malformed"
    NATIVE_HISTOGRAM = "native_histogram"
    NEW_SERIES_LIMIT = "new_series_limit"
    NOT_WRITTEN = "not_written"
    SENDER_NEW_SERIES = "sender_new_series"
    SENDER_SERIES = "sender_series"
    SERIES_LIMIT = "series_limit"
    TOO_FAR_AHEAD = "too_far_ahead"
    TOO_LARGE = "too_large"
    TOO_MANY_LABELS = "too_many_labels"
    TOO_OLD = "too_old"
    UNTRANSLATABLE = "untranslatable"


class RejectedSeriesError(Exception):
    """The label set breaks a rule; never leaves this package."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Rejection(NamedTuple):
    """Samples that were refused, and why; `times` series of them, without a detail if it is one too many to tell."""

    reason: Reason
    samples: int
    detail: str
    times: int = 1


class Rejections:
    def __init__(self) -> None:
        self._told: list[Rejection] = []
        self._samples: Counter[Reason] = Counter()
        self._times: Counter[Reason] = Counter()

    def add(self, reason: Reason, samples: int, detail: str) -> None:
        if len(self._told) < SHOWN_REJECTIONS:
            self._told.append(Rejection(reason=reason, samples=samples, detail=detail))
        else:
            self._samples[reason] += samples
            self._times[reason] += 1

    def all(self) -> tuple[Rejection, ...]:
        rest = (Rejection(reason, self._samples[reason], "", times) for reason, times in self._times.items())
        return (*self._told, *rest)


def check_labels(pairs: LabelPairs, limits: IngestLimits) -> dict[str, str]:
    """The label set of a series, sorted by name and without empty values, as Prometheus 3 has it: names are UTF-8.

    Raises:
        RejectedSeriesError: a rule is broken.
    """
    if len(pairs) > limits.labels:
        raise RejectedSeriesError(
            Reason.TOO_MANY_LABELS, f"{_show(pairs)} has more than {limits.labels} labels, the most that is allowed"
        )
    for raw_name, raw_value in pairs:
        _check_lengths(raw_name, raw_value, pairs, limits)
    size = label_bytes(pairs)
    if size > limits.series_label_bytes:
        raise RejectedSeriesError(
            Reason.LABELS_TOO_LARGE,
            f"the labels of {_show(pairs)} have {size} bytes, and a series has at most {limits.series_label_bytes}",
        )
    labels: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        try:
            name, value = raw_name.decode(), raw_value.decode()
        except UnicodeDecodeError as error:
            text = f"label {_text(raw_name)} of {_show(pairs)} is not valid UTF-8: {error.reason}"
            raise RejectedSeriesError(Reason.INVALID_UTF8, text) from error
        if not name:
            raise RejectedSeriesError(Reason.BAD_LABEL_NAME, f"a label of {_show(pairs)} has no name")
        if name in labels:
            raise RejectedSeriesError(Reason.DUPLICATE_LABEL, f"label {name} is there twice in {_show(pairs)}")
        labels[name] = value
    if not labels.get("__name__"):
        raise RejectedSeriesError(Reason.BAD_METRIC_NAME, f"no metric name in {_show(pairs)}")
    if limits.jobs and labels.get("job") not in limits.jobs:
        allowed = ", ".join(sorted(limits.jobs))
        raise RejectedSeriesError(
            Reason.JOB, f"{_show(pairs)}: this token may send samples of these jobs only: {allowed}"
        )
    return {name: labels[name] for name in sorted(labels) if labels[name]}


def label_bytes(pairs: LabelPairs) -> int:
    return sum(len(name) + len(value) for name, value in pairs)


def check_times(
    timestamps: npt.NDArray[np.int64], earliest_ms: int, now_ms: int, limits: IngestLimits
) -> tuple[npt.NDArray[np.bool_] | None, Sequence[Rejection]]:
    """Which samples have a time that can be stored (None: all of them), and what is wrong with the others.

    It is now between `earliest_ms` and `now_ms`, which are mostly one.
    """
    oldest, newest = max(earliest_ms - limits.retention_ms, 0), now_ms + limits.ahead_ms
    if not len(timestamps) or (int(timestamps.min()) >= oldest and int(timestamps.max()) <= newest):
        return None, ()
    early, late = timestamps < oldest, timestamps > newest
    rejections: list[Rejection] = []
    if late.any():
        worst = int(timestamps[late].max())
        detail = (
            f"the time {worst} ms is {(worst - now_ms) / 1000:.0f} s ahead of the server's clock; at most"
            f" {limits.ahead_ms / 1000:.0f} s are allowed. Are both clocks right?"
        )
        rejections.append(Rejection(reason=Reason.TOO_FAR_AHEAD, samples=int(late.sum()), detail=detail))
    if early.any():
        worst = int(timestamps[early].min())
        detail = (
            f"the time {worst} ms is older than the retention of {limits.retention_ms / 86_400_000:g} days"
            " (LOADWATCH_RETENTION_DAYS)"
        )
        rejections.append(Rejection(reason=Reason.TOO_OLD, samples=int(early.sum()), detail=detail))
    return ~(early | late), rejections


def _check_lengths(name: bytes, value: bytes, pairs: LabelPairs, limits: IngestLimits) -> None:
    if len(name) > limits.label_name_bytes:
        raise RejectedSeriesError(
            Reason.LABEL_TOO_LONG,
            f"a label name of {len(name)} bytes in {_show(pairs)}; at most {limits.label_name_bytes} are allowed",
        )
    if len(value) > limits.label_value_bytes:
        raise RejectedSeriesError(
            Reason.LABEL_TOO_LONG,
            f"label {_text(name)} of {_show(pairs)} has {len(value)} bytes; at most {limits.label_value_bytes} are"
            " allowed",
        )


def _text(raw: bytes) -> str:
    text = raw[:_SHOWN].decode(errors="backslashreplace")
    return text + "..." if len(raw) > _SHOWN else text


def _show(pairs: LabelPairs) -> str:
    """A series in short, safe to print whatever it holds."""
    metric = next((_text(value) for name, value in pairs if name == b"__name__"), "")
    others = [f"{_text(name)}={_text(value)!r}" for name, value in pairs[:8] if name != b"__name__"]
    more = ", ..." if len(pairs) > 8 else ""
    return f"{metric}{{{', '.join(others)}{more}}}"
