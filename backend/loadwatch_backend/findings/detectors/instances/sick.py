"""One instance of several equal ones is far worse than the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import POOL_METRICS, felt, focused, selector, since_start, together
from loadwatch_backend.findings.seen.flows import ACCEPTED, FAILED, LAG, OLDEST, REJECTED
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, figure, share
from loadwatch_backend.findings.seen.peers import Peers, far_above, instances_of, jobs_of, peers
from loadwatch_backend.findings.window import Episode, Table, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

IN_FLIGHT, PROBED = "http_requests_in_flight", "probe_http_duration_seconds"
WAITING, WAITS = "go_sql_wait_duration_seconds_total", "go_sql_wait_count_total"
LEAST_SECONDS = 5.0
MORE_LOAD = 1.5
"""One that gets so many times the requests of the others is not ill but loaded unevenly."""

KIND = Kind(
    id="sick-instance",
    severity=Severity.WARNING,
    title=Words("One instance does worse than the others", "1台だけ不調なインスタンス"),
    explanation=Words(
        "One instance does far worse than its equals at the same work. Sums and averages over all of them hide it, and "
        "each client that the balancer sends there has a bad time.",
        "同じ仕事をするインスタンスのうち1台だけが大きく劣る。合計や平均では見えず、そこへ振り分けられたクライアントだけが"
        "遅い応答や失敗を受ける。",
    ),
    rule=Rule(
        text=Words(
            "Hold each instance against the median of its equals, never against the mean, which the ill one moves.",
            "各インスタンスは平均ではなく中央値と比べる。平均は不調な1台に引きずられる。",
        ),
        source="P. J. Rousseeuw, C. Croux, Alternatives to the Median Absolute Deviation, JASA 88 (1993)",
    ),
    refuted_by=Words(
        "Failures and slow answers that stay when that instance gets no more requests.",
        "そのインスタンスを振り分けから外しても失敗や遅い応答が残ること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """A figure of each instance; from `floor` on it is bad."""

    metrics: Sequence[str]
    of: Callable[[Window, Mapping[str, str]], FloatArray]
    floor: float
    link: Link
    unit: Unit
    said: Words
    """With {own} and {others}."""
    format: Callable[[float], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sick:
    """An instance that is far from its equals in some figures."""

    job: str
    instance: str
    episode: Episode
    of: int
    evidence: Sequence[Evidence]


def _of(window: Window, metric: str, labels: Mapping[str, str]) -> Table:
    return window[metric].where(**labels)


def _share_of(metric: str) -> Callable[[Window, Mapping[str, str]], FloatArray]:
    def ratio(window: Window, labels: Mapping[str, str]) -> FloatArray:
        part, taken = _of(window, metric, labels).rate, _of(window, ACCEPTED, labels).rate
        whole = taken + part if metric == REJECTED else taken
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)

    return ratio


def _lag(window: Window, labels: Mapping[str, str]) -> FloatArray:
    most, oldest = window[LAG].where(**labels, stat="max").max, _of(window, OLDEST, labels).max
    return np.where(np.isnan(oldest), most, np.where(np.isnan(most), oldest, np.maximum(most, oldest)))


def _mean_wait(window: Window, labels: Mapping[str, str]) -> FloatArray:
    waiting, waits = _of(window, WAITING, labels).rate, _of(window, WAITS, labels).rate
    return np.where(waits > 0, waiting / np.where(waits > 0, waits, 1.0), np.where(np.isfinite(waits), 0.0, np.nan))


_MEASURES: Sequence[_Measure] = (
    _Measure(
        metrics=(WAITING,),
        of=_mean_wait,
        floor=0.05,
        link=Link.DEMAND,
        unit=Unit.SECONDS,
        said=Words("a request waits {own} for a connection (others {others})", "接続待ちの平均{own}(他は{others})"),
        format=duration,
    ),
    _Measure(
        metrics=(WAITING,),
        of=lambda window, labels: _of(window, WAITING, labels).rate,
        floor=0.5,
        link=Link.DEMAND,
        unit=Unit.COUNT,
        said=Words("{own} of its requests wait for a connection (others {others})", "接続待ち{own}件(他は{others})"),
        format=figure,
    ),
    _Measure(
        metrics=(IN_FLIGHT,),
        of=lambda window, labels: _of(window, IN_FLIGHT, labels).sum,
        floor=10.0,
        link=Link.DEMAND,
        unit=Unit.COUNT,
        said=Words("{own} requests are inside at once (others {others})", "処理中{own}件(他は{others})"),
        format=figure,
    ),
    _Measure(
        metrics=(LAG, OLDEST),
        of=_lag,
        floor=3.0,
        link=Link.EFFECT,
        unit=Unit.SECONDS,
        said=Words("its rows come {own} late (others {others})", "行の遅れ{own}(他は{others})"),
        format=duration,
    ),
    _Measure(
        metrics=(FAILED,),
        of=_share_of(FAILED),
        floor=0.01,
        link=Link.EFFECT,
        unit=Unit.RATIO,
        said=Words("{own} of its writes fail (others {others})", "書き込み失敗{own}(他は{others})"),
        format=share,
    ),
    _Measure(
        metrics=(REJECTED,),
        of=_share_of(REJECTED),
        floor=0.01,
        link=Link.EFFECT,
        unit=Unit.RATIO,
        said=Words("it refuses {own} of its requests (others {others})", "拒否{own}(他は{others})"),
        format=share,
    ),
    _Measure(
        metrics=(PROBED,),
        of=lambda window, labels: _of(window, PROBED, labels).max,
        floor=0.1,
        link=Link.EFFECT,
        unit=Unit.SECONDS,
        said=Words("it answers a probe in {own} (others {others})", "プローブへの応答{own}(他は{others})"),
        format=duration,
    ),
)


def examine(window: Window) -> tuple[list[Sick], dict[str, int]]:
    """Instances that are far worse than the others of their job, and how many of each job were held together."""
    jobs = sorted({job for one in _MEASURES for metric in one.metrics for job, _ in jobs_of(window[metric])})
    found: list[Sick] = []
    looked: dict[str, int] = {}
    for job in jobs:
        signs, count = _signs(window, job)
        if count:
            looked[job] = count
        for instance, seen in sorted(signs.items()):
            first = min((episode for episode, _ in seen), key=lambda one: one.first)
            last = max((episode for episode, _ in seen), key=lambda one: one.end)
            evidence = [one for _, one in seen]
            found.append(Sick(job=job, instance=instance, episode=first.joined(last), of=count, evidence=evidence))
    return found, looked


def _signs(window: Window, job: str) -> tuple[dict[str, list[tuple[Episode, Evidence]]], int]:
    found: dict[str, list[tuple[Episode, Evidence]]] = {}
    taken = _taken(window, job)
    most = 0
    for measure in _MEASURES:
        names = {name for metric in measure.metrics for name in instances_of(window[metric].where(job=job))}
        figures = {name: measure.of(window, {"job": job, "instance": name}) for name in names if _at_work(taken, name)}
        group = peers(window, job, figures)
        if group is None:
            continue
        most = max(most, len(group.instances))
        for place in _far(window, group, measure):
            seen = _seen(window, group, place, measure)
            if seen is not None and not _loaded_unevenly(taken, group.instances[place]):
                found.setdefault(group.instances[place], []).append(seen)
    return found, most


def _taken(window: Window, job: str) -> dict[str, float]:
    """Requests that each instance accepted; empty where they do not tell."""
    return {name: window.total(table.rate) for name, table in instances_of(window[ACCEPTED].where(job=job)).items()}


def _at_work(taken: Mapping[str, float], instance: str) -> bool:
    """Whether it is no idle one, beside which all others would seem ill."""
    busy = [value for value in taken.values() if value > 0]
    return not busy or taken.get(instance, 0.0) >= 0.1 * float(np.median(busy))


def _loaded_unevenly(taken: Mapping[str, float], instance: str) -> bool:
    rest = [value for name, value in taken.items() if name != instance and value > 0]
    return bool(rest) and taken.get(instance, 0.0) > MORE_LOAD * float(np.median(rest))


def _far(window: Window, group: Peers, measure: _Measure) -> list[int]:
    levels = np.nanmedian(window.inside(group.values), axis=1)
    return [int(place) for place in np.flatnonzero(far_above(levels, measure.floor))]


def _seen(window: Window, group: Peers, place: int, measure: _Measure) -> tuple[Episode, Evidence] | None:
    own, others = group.values[place], group.others(place)
    bad = focused(window, (own >= measure.floor) & (own >= 2 * others))
    times = episodes(bad, least=max(round(LEAST_SECONDS / window.step_seconds), 3), gap=3)
    if not times:
        return None
    instance = group.instances[place]
    level, usual_one = (float(np.nanmedian(window.inside(values))) for values in (own, others))
    format_ja = duration_ja if measure.format is duration else measure.format
    words = {"own": measure.format(level), "others": measure.format(usual_one)}
    words_ja = {"own": format_ja(level), "others": format_ja(usual_one)}
    labels = {"job": group.job, "instance": instance}
    said = measure.said
    return window.one_of(times), show(
        window,
        Words(f"{instance}: {said.en.format(**words)}.", f"{instance}: {said.ja.format(**words_ja)}。"),
        link=measure.link,
        expression=f"{measure.metrics[0]}{selector(labels)}",
        unit=measure.unit,
        values=own,
        value=level,
        limit=usual_one,
    )


def look(window: Window) -> Look:
    """A finding for each instance that is ill."""
    found, looked = examine(window)
    ill = {one.job for one in found}
    clear = [
        Words(
            f"None of the {count} instances of {job} was far from the others.",
            f"{job}の{count}台に、他と大きく異なるものはない。",
        )
        for job, count in looked.items()
        if job not in ill
    ]
    return Look(findings=[_finding(window, one) for one in found], clear=together(clear))


def _finding(window: Window, sick: Sick) -> Finding:
    from_ms = window.grid.time_ms(sick.episode.first)
    when = since_start(window, from_ms, "at ")
    reasons = [one.text for one in sick.evidence]
    en = " and ".join(text.en.removeprefix(f"{sick.instance}: ").removesuffix(".") for text in reasons[:2])
    ja = "、".join(text.ja.removeprefix(f"{sick.instance}: ").removesuffix("。") for text in reasons[:2])
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{sick.instance} does worse than the other {sick.of - 1} of {sick.job}: {en}. It began {when.en}.",
            f"{sick.job}の{sick.of}台のうち{sick.instance}だけが不調: {ja}。{when.ja}に始まった。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(sick.episode.end - 1),
        labels={"job": sick.job, "instance": sick.instance},
        evidence=[*sick.evidence, *felt(window, sick.episode)],
        steps=[
            Step(
                text=Words(
                    f"Take {sick.instance} out of the balancer, and see whether the failures end.",
                    f"{sick.instance}を振り分けから外し、失敗が止まるか確認する。",
                )
            ),
            Step(
                text=Words(
                    f"Compare its build, its settings and its host with those of another instance of {sick.job}.",
                    f"ビルド、設定、ホストを{sick.job}の別のインスタンスと比べる。",
                )
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=tuple(dict.fromkeys(metric for one in _MEASURES for metric in one.metrics)),
    reads=(*POOL_METRICS, ACCEPTED),
    usual=False,
    switched_on_by="targets:\n  - job: app\n    instance: app-1  # one target for each of three instances or more",
)
