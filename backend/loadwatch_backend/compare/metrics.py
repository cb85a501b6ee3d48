"""The figures that every run may have, and how each is read: from its result, second by second, or from the store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.compare.overlay import P50, P95, P99, lane_rates
from loadwatch_backend.compare.schemas import MetricInfo
from loadwatch_backend.records.model import OUTCOME_CODES, Outcome, Seconds
from loadwatch_backend.runs.analysis.schemas import FiguresOut
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.signals.model import Orientation, Unit, Words
from loadwatch_backend.signals.schemas import Language

FloatArray = npt.NDArray[np.float64]
SIGNAL_PREFIX = "signal:"
P90, MAX = 1, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetric:
    """A figure of a run's result.

    `figure` reads it from the figures of a window. `seconds` gives the values of each second whose spread stands for
    its uncertainty; None where single seconds have no such value.
    """

    id: str
    title: Words
    help: Words
    unit: Unit
    orientation: Orientation
    figure: Callable[[RunOut], float | None]
    seconds: Callable[[Seconds], FloatArray] | None = None
    compared: bool = True


def window_figures(run: RunOut) -> FiguresOut | None:
    """Figures of the steady window; of the whole run where none was found; None before there are any."""
    if run.steady is not None:
        return run.steady
    if run.requests is None:
        return None
    return FiguresOut(
        requests=run.requests,
        duration_seconds=run.requests / run.rate if run.rate else 0.0,
        rate=run.rate,
        success_ratio=run.success_ratio,
        latency_seconds=run.latency_seconds,
        outcomes=run.outcomes,
        status_codes=run.status_codes,
        bytes_in=run.bytes_in,
        bytes_out=run.bytes_out,
    )


def _figure(read: Callable[[FiguresOut], float | None]) -> Callable[[RunOut], float | None]:
    def value(run: RunOut) -> float | None:
        figures = window_figures(run)
        return None if figures is None else read(figures)

    return value


def _ok_rate(figures: FiguresOut) -> float | None:
    if figures.duration_seconds <= 0:
        return None
    return figures.outcomes.get(Outcome.OK, 0) / figures.duration_seconds


def _failed_share(*outcomes: Outcome) -> Callable[[FiguresOut], float | None]:
    def share(figures: FiguresOut) -> float | None:
        return sum(figures.outcomes.get(one, 0) for one in outcomes) / figures.requests if figures.requests else None

    return share


def _share_seconds(*outcomes: Outcome) -> Callable[[Seconds], FloatArray]:
    def shares(seconds: Seconds) -> FloatArray:
        requests = seconds.requests
        counted = seconds.outcomes[:, [OUTCOME_CODES[one] for one in outcomes]].sum(axis=1)
        return np.divide(counted, requests, out=np.full(len(requests), np.nan), where=requests > 0)

    return shares


def _latency_seconds(column: int) -> Callable[[Seconds], FloatArray]:
    def values(seconds: Seconds) -> FloatArray:
        return np.full(len(seconds.outcomes), np.nan) if seconds.latency is None else seconds.latency[:, column]

    return values


def _latency(id: str, title: Words, read: Callable[[FiguresOut], float | None], column: int | None) -> RunMetric:
    return RunMetric(
        id=id,
        title=title,
        help=Words("Response time over the steady window, by nearest rank.", "定常区間の応答時間(最近順位法による)。"),
        unit=Unit.SECONDS,
        orientation=Orientation.MORE_IS_WORSE,
        figure=_figure(read),
        seconds=None if column is None else _latency_seconds(column),
    )


_FAILURES = tuple(outcome for outcome in Outcome if outcome is not Outcome.OK)

RUN_METRICS: Sequence[RunMetric] = (
    RunMetric(
        id="rate",
        title=Words("Requests sent", "送信リクエスト"),
        help=Words(
            "Requests per second over the steady window, failed ones included.",
            "定常区間の毎秒リクエスト数(失敗を含む)。",
        ),
        unit=Unit.PER_SECOND,
        orientation=Orientation.MORE_IS_BETTER,
        figure=_figure(lambda figures: figures.rate),
        seconds=lambda seconds: lane_rates(seconds)[0],
    ),
    RunMetric(
        id="ok_rate",
        title=Words("Good answers", "成功応答"),
        help=Words("Good answers per second over the steady window.", "定常区間の毎秒成功応答数。"),
        unit=Unit.PER_SECOND,
        orientation=Orientation.MORE_IS_BETTER,
        figure=_figure(_ok_rate),
        seconds=lambda seconds: lane_rates(seconds)[1],
    ),
    RunMetric(
        id="error_rate",
        title=Words("Failed share", "失敗率"),
        help=Words("Share of requests that failed, whatever the kind.", "種類を問わず失敗したリクエストの割合。"),
        unit=Unit.RATIO,
        orientation=Orientation.MORE_IS_WORSE,
        figure=_figure(_failed_share(*_FAILURES)),
        seconds=_share_seconds(*_FAILURES),
    ),
    RunMetric(
        id="success_ratio",
        title=Words("Success", "成功率"),
        help=Words("Share of requests with a good answer.", "正常応答の割合。"),
        unit=Unit.RATIO,
        orientation=Orientation.MORE_IS_BETTER,
        figure=_figure(lambda figures: figures.success_ratio),
        compared=False,
    ),
    RunMetric(
        id="timeout_rate",
        title=Words("Timeouts", "タイムアウト"),
        help=Words("Share of requests that timed out.", "タイムアウトしたリクエストの割合。"),
        unit=Unit.RATIO,
        orientation=Orientation.MORE_IS_WORSE,
        figure=_figure(_failed_share(Outcome.TIMEOUT)),
        seconds=_share_seconds(Outcome.TIMEOUT),
    ),
    _latency("mean", Words("Mean response", "平均応答時間"), lambda figures: figures.latency_seconds.mean, None),
    _latency("p50", Words("Response p50", "応答時間 p50"), lambda figures: figures.latency_seconds.p50, P50),
    _latency("p90", Words("Response p90", "応答時間 p90"), lambda figures: figures.latency_seconds.p90, P90),
    _latency("p95", Words("Response p95", "応答時間 p95"), lambda figures: figures.latency_seconds.p95, P95),
    _latency("p99", Words("Response p99", "応答時間 p99"), lambda figures: figures.latency_seconds.p99, P99),
    _latency("max", Words("Slowest response", "最大応答時間"), lambda figures: figures.latency_seconds.max, MAX),
    RunMetric(
        id="sustained_rate",
        title=Words("Sustained rate", "持続可能レート"),
        help=Words("Highest rate of good answers that a ramp held.", "ランプ試験で維持できた最大の成功レート。"),
        unit=Unit.PER_SECOND,
        orientation=Orientation.MORE_IS_BETTER,
        figure=lambda run: None if run.ramp is None else run.ramp.sustained_rate,
    ),
    RunMetric(
        id="knee_rate",
        title=Words("Knee", "ニー(屈曲点)"),
        help=Words("Offered rate beyond which latency or failures rise sharply.", "遅延や失敗が急増し始める負荷。"),
        unit=Unit.PER_SECOND,
        orientation=Orientation.MORE_IS_BETTER,
        figure=lambda run: None if run.ramp is None else run.ramp.knee_rate,
    ),
)

METRICS_BY_ID = {metric.id: metric for metric in RUN_METRICS}


def describe_metric(metric: RunMetric, language: Language) -> MetricInfo:
    """The metric as it is told to the page."""
    japanese = language is Language.JA
    return MetricInfo(
        id=metric.id,
        title=metric.title.ja if japanese else metric.title.en,
        unit=metric.unit,
        orientation=metric.orientation,
        help=metric.help.ja if japanese else metric.help.en,
    )
