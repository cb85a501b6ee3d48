"""A program computes on one core only, and that core is full while the host has others."""

from dataclasses import replace

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.demand import IN_FLIGHT, broken, queued, unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.host_cpu import PROGRAM_CPU, PROGRAM_METRICS, Program, programs
from loadwatch_backend.findings.seen.lives import lives
from loadwatch_backend.findings.seen.numbers import figure
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST, MOST = 0.95, 1.05
"""Cores: one that is full, and no second one. Mean of five seconds."""
LEAST_SECONDS = 10.0
ROOM = 0.9
"""Cores of the host that are idle meanwhile."""

KIND = Kind(
    id="one-core-busy",
    severity=Severity.WARNING,
    title=Words("One core is full", "1コアの飽和"),
    explanation=Words(
        "This program computes in one thread, as Redis does, or under one lock. Its core is full; the host's others "
        "cannot help, and a bigger host would not either.",
        "このプログラムは1スレッド(Redisなど)または1つのロックの下で動いている。そのコアは飽和し、他のコアも"
        "大きなホストも役に立たない。",
    ),
    rule=Rule(
        text=Words(
            "A host's average hides it: one full core of eight is 12.5 %. Look at cores, not at percent.",
            "ホスト平均では見えない。8コア中1コアの飽和は12.5 %。割合でなくコア数を見る。",
        ),
        source="Redis documentation, Diagnosing latency issues (single threaded nature of Redis)",
    ),
    refuted_by=Words(
        "Several threads that are busy at once (top -H), or a rate that rises when clients ask for more.",
        "top -Hで複数のスレッドが同時に動いていること、または負荷を増やすとスループットが伸びること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each program that stood at one core while the load was held up."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for program in programs(window):
        host = program.host
        most = largest(program.cpu, window.focus)
        if host is None or host.cores < 2 or program.database or not np.isfinite(most):
            continue
        if program.allowed <= 1 and program.why in ("quota", "GOMAXPROCS"):
            continue  # what holds it at one core is known, and told elsewhere
        episode = _one_core(window, program)
        words = Words(
            f"{program.name} used {figure(most)} cores at most, of {host.cores}.",
            f"{program.name}は{host.cores}コア中最大{figure(most)}を使用。",
        )
        if episode is None:
            clear.append(words)
            continue
        alone = replace(program, allowed=1.0)
        effects = felt(window, episode) or queued(window, alone, episode) or broken(window, episode)
        asked = unmet(window, episode)
        if asked is None and not effects:
            observations.append(words)
            continue
        harm = [*([] if asked is None else [asked]), *effects]
        findings.append(_finding(window.during(episode), program, host.cores, episode, harm))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _one_core(window: Window, program: Program) -> Episode | None:
    """Where it stood at one core; None when it ever used more, which one thread cannot."""
    host = program.host
    if host is None or largest(program.cpu, window.focus) > MOST:
        return None
    room = host.busy <= host.cores - ROOM
    holds = (program.cpu >= LEAST) & room
    least = least_instants(window.grid, program.interval_ms, seconds=LEAST_SECONDS)
    found = episodes(focused(window, holds), least=least, gap=3)
    return window.one_of(found, lives(window, program.labels)) if found else None


def _finding(window: Window, program: Program, cores: int, episode: Episode, harm: list[Evidence]) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, used = since_start(window, from_ms), usual(program.cpu, episode.span)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{program.name} used {figure(used)} cores, never more, from {when.en}, and the host has {cores}: it "
            f"computes in one thread. {harm[-1].text.en}",
            f"{program.name}は{when.ja}から{figure(used)}コアで頭打ち(ホストは{cores}コア)。1スレッドで動いている。"
            f"{harm[-1].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=program.labels,
        evidence=[
            show(
                window,
                Words(f"{figure(used)} cores in use, flat.", f"{figure(used)}コアで横ばい。"),
                link=Link.LIMIT,
                expression=f"sum(rate({PROGRAM_CPU}{selector(program.labels)}[5s]))",
                unit=Unit.COUNT,
                values=program.cpu,
                limit=1.0,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words("See that one thread is the busy one.", "1つのスレッドだけが動いているか確認する。"),
                code="top -H -b -n 1 -p $(pgrep -o <program>) | head -20",
            ),
            Step(
                text=Words(
                    "Run several of it and divide the keys among them (shards), or ask it for less: pipelines, "
                    "larger batches, fewer round trips.",
                    "複数起動してキーを分割する(シャーディング)か、パイプラインやバッチで処理回数を減らす。",
                )
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(PROGRAM_CPU,),
    reads=(*PROGRAM_METRICS, IN_FLIGHT),
    follows=(),
    switched_on_by="host: {}\nprocess:\n  name: redis-server",
)
