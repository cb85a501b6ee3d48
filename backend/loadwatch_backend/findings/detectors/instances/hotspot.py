"""One node of several does nearly all the work: more load does not spread over the others."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, selector, since_start, together
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, cores_of
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, share
from loadwatch_backend.findings.seen.peers import Peers, instances_of, jobs_of, peers
from loadwatch_backend.findings.window import Episode, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

PROCESS_CPU = "process_cpu_seconds_total"
HOT, IDLE = 0.85, 0.4
LEAST_SECONDS, MOST_OF = 60.0, 0.6
"""So long, or so much of a shorter load: a burst is no hotspot."""

KIND = Kind(
    id="hotspot",
    severity=Severity.WARNING,
    title=Words("One node does nearly all the work", "負荷が1ノードに集中(ホットスポット)"),
    explanation=Words(
        "The CPU of one node is full while its equals have little to do: keys or connections do not spread, so the "
        "whole is as fast as that one node, and more nodes change nothing.",
        "1ノードのCPUが飽和し、他のノードは空いている。キーや接続が分散していないため、全体の速さはその1ノードで決まり、"
        "ノードを増やしても変わらない。",
    ),
    rule=Rule(
        text=Words(
            "Do not use a key that rises by itself, such as a time or a counter, as the first part of a primary key.",
            "時刻や連番のように単調に増えるキーを主キーの先頭に置かない。",
        ),
        source="Cloud Spanner documentation, Schema design best practices",
    ),
    refuted_by=Words(
        "The same node full without load, or a rate that rises when nodes are added.",
        "負荷がなくても同じノードが飽和していること、またはノードを増やすと処理量が増えること。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each job of which one node is full and the others are not."""
    findings: list[Finding] = []
    clear: list[Words] = []
    for job, table in jobs_of(window[PROCESS_CPU]):
        group = peers(window, job, _shares(window, job, sorted(instances_of(table))))
        if group is None:
            continue
        hot = [finding for place in range(len(group.instances)) if (finding := _hot(window, group, place)) is not None]
        findings.extend(hot)
        if not hot:
            levels = np.nanmedian(window.inside(group.values), axis=1)
            clear.append(
                Words(
                    f"The nodes of {job} used {share(float(levels.min()))} to {share(float(levels.max()))} of CPU.",
                    f"{job}の各ノードのCPU使用率は{share(float(levels.min()))}〜{share(float(levels.max()))}。",
                )
            )
    return Look(findings=findings, clear=together(clear))


def _shares(window: Window, job: str, instances: list[str]) -> dict[str, FloatArray]:
    """[instant]: share of the cores that it may use, for each instance of which these are known."""
    found: dict[str, FloatArray] = {}
    for instance in instances:
        labels = {"job": job, "instance": instance}
        cores = cores_of(window, labels)
        if cores is not None:
            found[instance] = window[PROCESS_CPU].where(**labels).rate / cores
    return found


def _hot(window: Window, group: Peers, place: int) -> Finding | None:
    own, others = group.values[place], group.others(place)
    holds = focused(window, (own >= HOT) & (others <= IDLE))
    least = min(LEAST_SECONDS / window.step_seconds, MOST_OF * (window.focus.stop - window.focus.start))
    times = episodes(holds, least=max(round(least), 5), gap=3)
    if not times:
        return None
    episode = window.one_of(times)
    effects = felt(window, episode)
    if not effects:
        return None
    return _finding(window, group, place, episode)


def _finding(window: Window, group: Peers, place: int, episode: Episode) -> Finding:
    own, others = group.values[place], group.others(place)
    level, rest = float(np.nanmedian(own[episode.span])), float(np.nanmedian(others[episode.span]))
    instance, count = group.instances[place], len(group.instances)
    labels = {"job": group.job, "instance": instance}
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms, "at ")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{instance} used {share(level)} of its CPU and the other {count - 1} nodes of {group.job} about "
            f"{share(rest)}: the load does not spread. It began {when.en}.",
            f"{instance}のCPU使用率は{share(level)}、{group.job}の他の{count - 1}ノードは約{share(rest)}。"
            f"負荷が分散していない({when.ja}から)。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(f"{instance} used {share(level)} of its CPU.", f"{instance}のCPU使用率は{share(level)}。"),
                link=Link.LIMIT,
                expression=f"rate({PROCESS_CPU}{selector(labels)}[5s])",
                unit=Unit.RATIO,
                values=own,
                value=level,
                limit=1.0,
            ),
            show(
                window,
                Words(
                    f"The others used about {share(rest)} for {duration(len(episode) * window.step_seconds)}.",
                    f"その{duration_ja(len(episode) * window.step_seconds)}の間、他は約{share(rest)}。",
                ),
                link=Link.DEMAND,
                expression=f'rate({PROCESS_CPU}{{job="{group.job}"}}[5s])',
                unit=Unit.RATIO,
                values=others,
                value=rest,
            ),
            *felt(window, episode),
        ],
        steps=[
            Step(
                text=Words(
                    f"Find which keys {instance} holds and how requests choose it; spread them by a hash.",
                    f"{instance}が持つキーと振り分け方を調べ、キーの前にハッシュを置くなどして分散させる。",
                ),
                code="PRIMARY KEY (shard, created_at, id) -- shard = MOD(CRC32(id), 16)",
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(PROCESS_CPU,),
    reads=HOST_METRICS,
    usual=False,
    switched_on_by="process:\n  port: 3306  # on each node",
)
