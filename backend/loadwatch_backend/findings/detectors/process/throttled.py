"""A container has used up its CPU quota, and the kernel holds it back."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.host_cpu import smooth
from loadwatch_backend.findings.seen.hosts import PERIOD, QUOTA
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure, share
from loadwatch_backend.findings.window import Episode, Table, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

PERIODS = "container_cpu_cfs_periods_total"
THROTTLED = "container_cpu_cfs_throttled_periods_total"
SECONDS = "container_cpu_cfs_throttled_seconds_total"
HELD_BACK = 0.25
"""Share of the periods in which the group was held back; a burst of garbage collection holds back a few."""

KIND = Kind(
    id="container-throttled",
    severity=Severity.CRITICAL,
    title=Words("Container throttled", "コンテナのCPUスロットリング"),
    explanation=Words(
        "The control group may use its quota of CPU time in each period (100 ms as a rule). Once it has, all its "
        "threads stand still until the next period begins, also while the host is idle: answers get pauses of tens of "
        "milliseconds, and the average use looks moderate.",
        "コントロールグループが1周期(通常100 ms)のCPUクォータを使い切ると、ホストが空いていても次の周期まで全スレッドが"
        "止まる。応答に数十msの停止が入るが、平均使用率は高く見えない。",
    ),
    rule=Rule(
        text=Words(
            "Held back in a quarter of the periods or more, the quota is the limit. Match GOMAXPROCS to the quota.",
            "周期の4分の1以上で止められていれば、クォータが上限。GOMAXPROCSをクォータに合わせる。",
        ),
        source="Linux kernel documentation, scheduler/sched-bwc (CFS Bandwidth Control)",
    ),
    refuted_by=Words(
        "The same latency with a higher quota, or nr_throttled in cpu.stat that does not grow.",
        "クォータを上げても遅延が変わらないこと、またはcpu.statのnr_throttledが増えないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each control group that was held back while somebody waited."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[THROTTLED].by("job", "instance", "id"):
        ratio = _held_back(window, labels, table)
        most = largest(ratio, window.focus)
        if not np.isfinite(most):
            continue
        name = labels.get("instance", labels.get("id", ""))
        least = least_instants(window.grid, table.slowest_ms, seconds=5)
        found = episodes(focused(window, ratio >= HELD_BACK), least=least, gap=5)
        words = Words(
            f"{name} was held back by its CPU quota in {share(most)} of the periods at most.",
            f"{name}がCPUクォータで止められた周期は最大{share(most)}。",
        )
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found, window[QUOTA].where(**labels).max)
        # Without a load that is known, the pauses are harm enough; with one, somebody has to feel them.
        if window.load is not None and not felt(window, episode):
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), labels, name, ratio, episode))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _held_back(window: Window, labels: Mapping[str, str], table: Table) -> FloatArray:
    """[instant], share of the periods; NaN where no period passed: the group was idle."""
    periods = smooth(window, window[PERIODS].where(**labels).rate, table.slowest_ms)
    held = smooth(window, table.rate, table.slowest_ms)
    return np.where(periods > 0, held / np.where(periods > 0, periods, 1.0), np.nan)


def _finding(window: Window, labels: Mapping[str, str], name: str, ratio: FloatArray, episode: Episode) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, most = since_start(window, from_ms), largest(ratio, episode.span)
    paused = window[SECONDS].where(**labels).rate
    lost = window.total(paused, episode.span)
    quota, period = (largest(window[metric].where(**labels).max, window.focus) for metric in (QUOTA, PERIOD))
    cores = quota / period if period > 0 else float("nan")
    allowed = Words(f" of {figure(cores)} cores", f"({figure(cores)}コア)") if np.isfinite(cores) else Words("", "")
    effects = felt(window, episode)
    consequence = effects[0].text if effects else Words("", "")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} used up its CPU quota{allowed.en} from {when.en}: the kernel held it back in {share(most)} of the "
            f"periods, {duration(lost)} in all threads together. {consequence.en}".rstrip(),
            f"{name}は{when.ja}からCPUクォータ{allowed.ja}を使い切り、周期の{share(most)}で停止"
            f"(全スレッド合計{duration_ja(lost)})。{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(f"Held back in {share(most)} of the periods.", f"周期の{share(most)}で停止。"),
                link=Link.LIMIT,
                expression=f"rate({THROTTLED}{selector(labels)}[5s]) / rate({PERIODS}{selector(labels)}[5s])",
                unit=Unit.RATIO,
                values=ratio,
            ),
            show(
                window,
                Words(
                    f"Threads that had work stood still for {duration(lost)}.",
                    f"処理すべきスレッドの停止時間は合計{duration_ja(lost)}。",
                ),
                link=Link.DEMAND,
                expression=f"rate({SECONDS}{selector(labels)}[5s])",
                unit=Unit.COUNT,
                values=paused,
            ),
            *effects,
        ],
        steps=_steps(cores),
    )


def _steps(cores: float) -> list[Step]:
    if not np.isfinite(cores):
        return []
    more, threads = np.ceil(cores * 2), max(int(cores), 1)
    return [
        Step(
            text=Words(
                f"Give the service {count(more)} cores instead of {figure(cores)}, or take the quota away.",
                f"クォータを{figure(cores)}から{count(more)}コアに増やすか、外す。",
            ),
            code=f"# systemctl edit <unit>\n[Service]\nCPUQuota={count(more * 100).replace(',', '')}%\n"
            f"# or: docker update --cpus {count(more)} <container>",
        ),
        Step(
            text=Words(
                f"Until then let Go run {threads} threads at once, so that none is stopped in the middle.",
                f"それまではGoの並列数を{threads}にし、途中で止められないようにする。",
            ),
            code=f"GOMAXPROCS={threads}",
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(THROTTLED,),
    reads=(PERIODS, SECONDS, QUOTA, PERIOD),
    usual=False,
    switched_on_by="process:\n  port: 8080",
)
