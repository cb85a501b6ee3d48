"""Instances of one job, held against each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.texts.numbers import figure
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.costs import whole
from loadwatch_backend.findings.measures.facts import POOL_METRICS, focused, load_effects
from loadwatch_backend.findings.measures.hosts import HOST_METRICS, cores_of
from loadwatch_backend.findings.measures.ingest_counters import ACCEPTED, FAILED, LAG, OLDEST, QUEUE_LIMIT, REJECTED
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Outcome, detector
from loadwatch_backend.findings.measures.peers import Peers, far_above, instances_of, jobs_of, peers
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding, Severity
from loadwatch_backend.findings.window import Episode, Table, Window, episodes

IN_FLIGHT, PROBED = "http_requests_in_flight", "probe_http_duration_seconds"
WAITING, WAITS = "go_sql_wait_duration_seconds_total", "go_sql_wait_count_total"
SICK_LEAST_SECONDS = 5.0
MORE_LOAD = 1.5
"""One that gets so many times the requests of the others is not ill but loaded unevenly."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """A figure of each instance, said by the message `key`; from `floor` on it is bad."""

    key: str
    metrics: Sequence[str]
    of: Callable[[Window, Mapping[str, str]], FloatArray]
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sick:
    """An instance that is far from its equals in some figures."""

    job: str
    instance: str
    episode: Episode
    of: int
    evidence: Sequence[Evidence]


def _share_of(metric: str) -> Callable[[Window, Mapping[str, str]], FloatArray]:
    def ratio(window: Window, labels: Mapping[str, str]) -> FloatArray:
        part, taken = window[metric].where(**labels).rate, window[ACCEPTED].where(**labels).rate
        whole = taken + part if metric == REJECTED else taken
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)

    return ratio


def _lag(window: Window, labels: Mapping[str, str]) -> FloatArray:
    return np.fmax(window[LAG].where(**labels, stat="max").max, window[OLDEST].where(**labels).max)


def _mean_wait(window: Window, labels: Mapping[str, str]) -> FloatArray:
    waiting, waits = window[WAITING].where(**labels).rate, window[WAITS].where(**labels).rate
    return np.where(waits > 0, waiting / np.where(waits > 0, waits, 1.0), np.where(np.isfinite(waits), 0.0, np.nan))


_MEASURES = (
    _Measure("sick-instance.wait", (WAITING,), _mean_wait, 0.05),
    _Measure("sick-instance.waiting", (WAITING,), lambda window, labels: window[WAITING].where(**labels).rate, 0.5),
    _Measure(
        "sick-instance.in-flight", (IN_FLIGHT,), lambda window, labels: window[IN_FLIGHT].where(**labels).sum, 10.0
    ),
    _Measure("sick-instance.late", (LAG, OLDEST), _lag, 3.0),
    _Measure("sick-instance.failed", (FAILED,), _share_of(FAILED), 0.01),
    _Measure("sick-instance.refused", (REJECTED,), _share_of(REJECTED), 0.01),
    _Measure("sick-instance.probed", (PROBED,), lambda window, labels: window[PROBED].where(**labels).max, 0.1),
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
        levels = np.nanmedian(window.inside(group.values), axis=1)
        for place in np.flatnonzero(far_above(levels, measure.floor)).tolist():
            seen = _bad_episode(window, group, place, measure)
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


def _bad_episode(window: Window, group: Peers, place: int, measure: _Measure) -> tuple[Episode, Evidence] | None:
    own, others = group.values[place], group.others(place)
    bad = focused(window, (own >= measure.floor) & (own >= 2 * others))
    times = episodes(bad, least=max(round(SICK_LEAST_SECONDS / window.step_seconds), 3), gap=3)
    if not times:
        return None
    instance, metric = group.instances[place], measure.metrics[0]
    level, limit = (float(np.nanmedian(window.inside(values))) for values in (own, others))
    draft = Draft(window, None, {"job": group.job, "instance": instance}, instance=instance, metric=metric)
    return window.one_of(times), draft.show(measure.key, own, value=level, limit=limit)


@detector(
    "sick-instance",
    least_seconds=SICK_LEAST_SECONDS,
    needs=tuple(dict.fromkeys(metric for one in _MEASURES for metric in one.metrics)),
    reads=(*POOL_METRICS, ACCEPTED),
)
def sick(window: Window) -> Iterator[Outcome]:
    """One instance of several equal ones is far worse than the others.

    A finding for each instance that is ill.
    """
    found, looked = examine(window)
    ill = {one.job for one in found}
    yield from (_sick_finding(window, one) for one in found)
    for job, count in looked.items():
        if job not in ill:
            yield Clear(message("sick-instance.clear", count=count, job=job))


def _sick_finding(window: Window, sick: Sick) -> Finding:
    reasons = [one.text for one in sick.evidence]
    en = " and ".join(text.en.removeprefix(f"{sick.instance}: ").removesuffix(".") for text in reasons[:2])
    ja = "、".join(text.ja.removeprefix(f"{sick.instance}: ").removesuffix("。") for text in reasons[:2])
    # In English the others are counted, in Japanese all of them.
    of, labels = Words(str(sick.of - 1), str(sick.of)), {"job": sick.job, "instance": sick.instance}
    draft = Draft(window, sick.episode, labels, sick=sick, of=of, reasons=Words(en, ja))
    return draft.finding("sick-instance.sentence", [*sick.evidence, *load_effects(window, sick.episode)])


PROCESS_CPU = "process_cpu_seconds_total"
HOTSPOT_HOT, HOTSPOT_IDLE = 0.85, 0.4
HOTSPOT_LEAST_SECONDS, MOST_OF = 60.0, 0.6
"""So long, or so much of a shorter load: a burst is no hotspot."""


@detector("hotspot", needs=(PROCESS_CPU,), reads=HOST_METRICS)
def hotspot(window: Window) -> Iterator[Outcome]:
    """One node of several does nearly all the work: more load does not spread over the others.

    A finding for each job of which one node is full and the others are not.
    """
    for job, table in jobs_of(window[PROCESS_CPU]):
        group = peers(window, job, _shares(window, job, sorted(instances_of(table))))
        if group is None:
            continue
        hot = [finding for place in range(len(group.instances)) if (finding := _hot(window, group, place)) is not None]
        yield from hot
        if not hot:
            levels = np.nanmedian(window.inside(group.values), axis=1)
            yield Clear(message("hotspot.clear", job=job, lowest=float(levels.min()), highest=float(levels.max())))


def _shares(window: Window, job: str, instances: list[str]) -> dict[str, FloatArray]:
    """[instant]: share of the cores that it may use, for each instance of which these are known."""
    cores = {instance: cores_of(window, {"job": job, "instance": instance}) for instance in instances}
    cpu = window[PROCESS_CPU]
    return {name: cpu.where(job=job, instance=name).rate / number for name, number in cores.items() if number}


def _hot(window: Window, group: Peers, place: int) -> Finding | None:
    own, others = group.values[place], group.others(place)
    holds = focused(window, (own >= HOTSPOT_HOT) & (others <= HOTSPOT_IDLE))
    least = min(HOTSPOT_LEAST_SECONDS / window.step_seconds, MOST_OF * (window.focus.stop - window.focus.start))
    times = episodes(holds, least=max(round(least), 5), gap=3)
    if not times:
        return None
    episode = window.one_of(times)
    effects = load_effects(window, episode)
    if not effects:
        return None
    level, rest = float(np.nanmedian(own[episode.span])), float(np.nanmedian(others[episode.span]))
    instance, seconds = group.instances[place], len(episode) * window.step_seconds
    labels = {"job": group.job, "instance": instance}
    draft = Draft(window, episode, labels, instance=instance, level=level, job=group.job, rest=rest)
    shown = [
        draft.show("hotspot.limit", own, value=level, limit=1.0),
        draft.show("hotspot.demand", others, value=rest, seconds=seconds),
        *effects,
    ]
    return draft.finding("hotspot.sentence", shown, others=len(group.instances) - 1)


BUILD = "go_build_info"
IDENTITY = ("path", "version", "revision")
UNTOLD = frozenset({"", "(devel)", "unknown"})
SHORT = 12
"""Characters of a commit that people say."""

SETTINGS: Mapping[str, str] = {
    "go_sql_max_open_connections": "SetMaxOpenConns",
    "go_sql_max_idle_connections": "SetMaxIdleConns",
    "go_sql_connection_max_lifetime_seconds": "SetConnMaxLifetime",
    "go_sql_connection_max_idle_time_seconds": "SetConnMaxIdleTime",
    "process_max_fds": "LimitNOFILE",
    "go_sched_gomaxprocs_threads": "GOMAXPROCS",
    QUEUE_LIMIT: "queue limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """What differs between instances of a job: who has which value, the most frequent one first."""

    metric: str
    name: str
    holders: Sequence[tuple[str, Sequence[str]]]

    @property
    def odd(self) -> Sequence[str]:
        return [instance for _, instances in self.holders[1:] for instance in instances]


@detector("different-builds", needs=(BUILD,), reads=tuple(SETTINGS))
def builds(window: Window) -> Iterator[Outcome]:
    """Instances that should be equal run different builds, or with different settings.

    One finding for each job whose instances differ all the time; a deploy under way is none.
    """
    ill = {(one.job, one.instance) for one in examine(window)[0]}
    for job, builds in _builds(window):
        differences = [*_differing(BUILD, "build", builds), *_settings(window, job)]
        if differences:
            odd = sorted({instance for one in differences for instance in one.odd})
            yield _build_finding(window, job, differences, odd, any((job, name) in ill for name in odd))
        elif len(builds) > 1:
            build = next(iter(builds.values()))
            yield Clear(message("different-builds.clear", builds=len(builds), job=job, build=build))


def _builds(window: Window) -> Iterator[tuple[str, dict[str, str]]]:
    """The build of each instance of a job; jobs of which one is being deployed are left out."""
    for job, table in jobs_of(window[BUILD]):
        found: dict[str, str] = {}
        for instance, series in instances_of(table).items():
            seen = [row for row in range(len(series)) if np.isfinite(window.inside(series.values[row])).any()]
            told = {_identity(series.labels[row]) for row in seen}
            if len(told) > 1:
                break
            if told and _still_there(window, series):
                found[instance] = told.pop()
        else:
            yield job, {name: build for name, build in sorted(found.items()) if build}


def _identity(labels: Mapping[str, str]) -> str:
    parts = [labels.get(name, "")[:SHORT] if name == "revision" else labels.get(name, "") for name in IDENTITY[1:]]
    return " ".join(part for part in parts if part not in UNTOLD)


def _still_there(window: Window, series: Table) -> bool:
    """Whether it is seen in the first and in the last tenth: one that comes or goes is no equal."""
    held = np.isfinite(window.inside(series.held))
    edge = max(held.shape[1] // 10, 1)
    return bool(held[:, :edge].any()) and bool(held[:, -edge:].any())


def _settings(window: Window, job: str) -> Iterator[_Difference]:
    for metric, name in SETTINGS.items():
        for labels, table in window[metric].where(job=job).by("db_name", "name"):
            values: dict[str, str] = {}
            for instance, series in instances_of(table).items():
                known = window.known(series.max)
                if known.size and known.min() == known.max() and _still_there(window, series):
                    values[instance] = figure(float(known[0]))
            what = " ".join([name, *labels.values()])
            yield from _differing(metric, what, values)


def _differing(metric: str, name: str, values: Mapping[str, str]) -> Iterator[_Difference]:
    by_value: dict[str, list[str]] = {}
    for instance, value in sorted(values.items()):
        by_value.setdefault(value, []).append(instance)
    if len(by_value) > 1:
        holders = sorted(by_value.items(), key=lambda one: (-len(one[1]), one[0]))
        yield _Difference(metric=metric, name=name, holders=holders)


def _build_finding(
    window: Window, job: str, differences: Sequence[_Difference], odd: Sequence[str], ill: bool
) -> Finding:
    said = [_difference_text(one) for one in differences]
    labels = {"job": job, "instance": odd[0]} if len(odd) == 1 else {"job": job}
    draft, shown = Draft(window, whole(window), labels, job=job), list[Evidence]()
    for one, words in zip(differences, said, strict=True):
        values, number = window[one.metric].where(job=job).max, float(len(one.odd))
        shown.append(draft.show("different-builds.limit", values, value=number, said=words, metric=one.metric))
    return draft.finding(
        "different-builds.sentence",
        shown,
        severity=Severity.WARNING if ill else None,
        instances=", ".join(odd[:5]),
        said=Words("; ".join(one.en for one in said[:3]), "、".join(one.ja for one in said[:3])),
    )


def _difference_text(one: _Difference) -> Words:
    holders = [(value, _those(instances)) for value, instances in one.holders[:3]]
    return Words(
        f"{one.name} " + ", ".join(f"{value or 'none'} on {those}" for value, those in holders),
        f"{one.name} " + "、".join(f"{value or 'なし'}({those})" for value, those in holders),
    )


def _those(instances: Sequence[str]) -> str:
    return ", ".join(instances) if len(instances) <= 3 else f"{len(instances)} ×"
