"""Instances that should be equal run different builds, or with different settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.detectors.instances.sick import examine
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import together
from loadwatch_backend.findings.seen.flows import QUEUE_LIMIT
from loadwatch_backend.findings.seen.numbers import figure
from loadwatch_backend.findings.seen.peers import instances_of, jobs_of
from loadwatch_backend.findings.window import Table, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

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

KIND = Kind(
    id="different-builds",
    severity=Severity.INFO,
    title=Words("Instances that should be equal are not", "同じはずのインスタンスの構成差"),
    explanation=Words(
        "Instances of one job run different builds, or with different settings. A test of them measures a mixture, and "
        "no change can be told from what was there before.",
        "同じジョブのインスタンスでビルドまたは設定が異なる。試験の結果は混合物となり、変更の効果を判断できない。",
    ),
    rule=Rule(
        text=Words(
            "One build per environment: what is tested is what is released, everywhere.",
            "1つの環境には1つのビルド。試験したものをすべての場所に配備する。",
        ),
        source="J. Humble, D. Farley, Continuous Delivery (2010), chapter 5: only build your binaries once",
    ),
    refuted_by=Words("A canary that is meant to differ.", "意図して異なる構成にしたカナリアであること。"),
    is_fact=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """What differs between instances of a job: who has which value, the most frequent one first."""

    metric: str
    name: str
    holders: Sequence[tuple[str, Sequence[str]]]

    @property
    def odd(self) -> Sequence[str]:
        return [instance for _, instances in self.holders[1:] for instance in instances]


def look(window: Window) -> Look:
    """One finding for each job whose instances differ all the time; a deploy under way is none."""
    findings: list[Finding] = []
    clear: list[Words] = []
    ill = {(one.job, one.instance) for one in examine(window)[0]}
    for job, builds in _builds(window):
        differences = [*_differing(BUILD, "build", builds), *_settings(window, job)]
        if differences:
            odd = sorted({instance for one in differences for instance in one.odd})
            findings.append(_finding(window, job, differences, odd, any((job, name) in ill for name in odd)))
        elif len(builds) > 1:
            build = next(iter(builds.values()))
            clear.append(
                Words(f"All {len(builds)} instances of {job} run {build}.", f"{job}の{len(builds)}台はすべて{build}。")
            )
    return Look(findings=findings, clear=together(clear))


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
                inside = window.inside(series.max)
                known = inside[np.isfinite(inside)]
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


def _finding(window: Window, job: str, differences: Sequence[_Difference], odd: Sequence[str], ill: bool) -> Finding:
    en = "; ".join(_said(one) for one in differences[:3])
    ja = "、".join(_said_ja(one) for one in differences[:3])
    labels = {"job": job, "instance": odd[0]} if len(odd) == 1 else {"job": job}
    return Finding(
        kind=KIND,
        sentence=Words(f"The instances of {job} are not equal: {en}.", f"{job}のインスタンスが同じではない: {ja}。"),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(f"{_said(one)}.", f"{_said_ja(one)}。"),
                link=Link.LIMIT,
                expression=f'{one.metric}{{job="{job}"}}',
                unit=Unit.COUNT,
                values=window[one.metric].where(job=job).max,
                value=float(len(one.odd)),
            )
            for one in differences
        ],
        steps=[
            Step(
                text=Words(
                    f"Bring {', '.join(odd[:5])} to what the others run with, then test again.",
                    f"{', '.join(odd[:5])}を他と同じ構成にしてから、もう一度試験する。",
                )
            )
        ],
        severity=Severity.WARNING if ill else None,
    )


def _said(one: _Difference) -> str:
    parts = [f"{value or 'none'} on {_those(instances)}" for value, instances in one.holders[:3]]
    return f"{one.name} " + ", ".join(parts)


def _said_ja(one: _Difference) -> str:
    parts = [f"{value or 'なし'}({_those(instances)})" for value, instances in one.holders[:3]]
    return f"{one.name} " + "、".join(parts)


def _those(instances: Sequence[str]) -> str:
    return ", ".join(instances) if len(instances) <= 3 else f"{len(instances)} ×"


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(BUILD,),
    reads=tuple(SETTINGS),
    usual=False,
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats  # with build.version and build.revision",
)
