"""The load generator could not send what it was asked to: what was measured is its own limit."""

from collections.abc import Sequence

import numpy as np
from loadwatch_formats.metrics.loadtest import GENERATOR_CPU

from loadwatch_backend.findings.engine import look_of
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, usual
from loadwatch_backend.findings.seen.hosts import CPU, host
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import Episode, Generator, Load, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

JOB = "load-generator"
FAR_BELOW = 0.95
LEAST_SECONDS = 10.0
UNDER_WAY_SECONDS = 40.0
"""A tool tells of a request when it ends: the newest seconds of a run under way are short of those that still wait."""
SLOW_SECONDS = 1.0
"""Answers that take longer may be what the generator waited for."""
BUSY = 0.9
OWN = frozenset({"cpu", "dropped-iterations"})
"""Signs that are the generator's own, whatever the system did."""
UNEVEN = frozenset({"gaps", "late-sends"})
OPEN = frozenset({"vegeta", "k6", "gatling", "artillery", "wrk2"})
"""Tools that send on time whatever the answers do: where these send unevenly it is their own fault."""
WAITING_SECONDS = 0.2
"""Answers that take this long may be what a tool of another kind waited for."""

KIND = Kind(
    id="generator-saturated",
    severity=Severity.WARNING,
    title=Words("The load generator was the limit", "負荷生成側の限界"),
    explanation=Words(
        "The generator sent less than it was asked to, or not in time. The rate that was reached is what it can send, "
        "not what the system bears, and its own waiting is part of the response times.",
        "負荷ツールが要求どおりに送れていない。到達した値はシステムではなく生成側の限界であり、応答時間には生成側の"
        "待ちも含まれる。",
    ),
    rule=Rule(
        text=Words(
            "Keep the generator's CPU below 80 %, and look at what was sent before you look at what was answered.",
            "生成側のCPUは80%未満に保ち、応答を見る前に送信を確認する。",
        ),
        source="Grafana k6 documentation, Running large tests",
    ),
    refuted_by=Words(
        "A second generator beside it that brings no more requests through.",
        "2台目の生成側を加えても通るリクエストが増えないこと。",
    ),
)


def look(window: Window) -> Look:
    """At most one finding: of the run's own check, else of what is streamed."""
    generator, load = window.generator, window.load
    if load is None:
        return Look()
    if generator is not None:
        if generator.state == "saturated":
            return look_of(_finding(window, load, generator), None)
        if generator.state == "unknown":
            return Look()
        return look_of(None, _clear(load, window, generator.target_rate, generator.reached_rate))
    short = _short(window, load, UNDER_WAY_SECONDS)
    if short is None:
        asked = usual(load.target, window.focus)
        return look_of(None, _clear(load, window, asked, usual(load.rate, window.focus)) if asked > 0 else None)
    asked, reached = (usual(values, short.span) for values in (load.target, load.rate))
    slow = largest(load.p95, window.focus)
    if not slow < SLOW_SECONDS:
        return Look()
    told = Generator(state="saturated", reasons=["rate-not-reached"], target_rate=asked, reached_rate=reached)
    return look_of(_finding(window, load, told), None)


def _clear(load: Load, window: Window, asked: float | None, reached: float | None) -> Words:
    if asked and reached:
        return Words(
            f"The generator sent {figure(reached)} of the {figure(asked)} requests/s that it was asked for.",
            f"生成側は要求毎秒{figure(asked)}件に対し毎秒{figure(reached)}件を送信。",
        )
    sent = window.total(load.rate)
    return Words(
        f"The generator sent {count(sent)} requests without a sign of being short of anything.",
        f"生成側は{count(sent)}件を送信し、不足の兆候はない。",
    )


def _short(window: Window, load: Load, newest_seconds: float) -> Episode | None:
    """Where less than was asked for was sent, for long; the newest seconds are left out."""
    holds = focused(window, _over_seconds(load.rate, window) < FAR_BELOW * load.target)
    holds[max(window.focus.stop - round(newest_seconds / window.step_seconds), 0) :] = False
    found = episodes(holds, least=max(round(LEAST_SECONDS / window.step_seconds), 3), gap=2)
    return window.one_of(found) if found else None


def _over_seconds(values: FloatArray, window: Window, seconds: float = 5.0) -> FloatArray:
    """The mean of the last instants, against clocks that cut a second unevenly."""
    width = max(round(seconds / window.step_seconds), 1)
    padded = np.concatenate([np.full(width - 1, np.nan), values])
    view = np.lib.stride_tricks.sliding_window_view(padded, width)
    known = np.isfinite(view)
    held = known.sum(axis=1)
    return np.where(held == width, np.where(known, view, 0.0).sum(axis=1) / np.maximum(held, 1), np.nan)


def _finding(window: Window, load: Load, generator: Generator) -> Finding:
    reasons = set(generator.reasons)
    short = _short(window, load, 0.0)
    episode = short or Episode(window.focus.start, window.focus.stop)
    cpu = _cpu(window)
    own = OWN | UNEVEN if generator.tool in OPEN else OWN
    slow = usual(load.p95, episode.span) >= WAITING_SECONDS or largest(load.p95, window.focus) >= SLOW_SECONDS
    waited = not reasons & own and slow
    en, ja = _said(generator)
    if cpu is not None:
        busiest = largest(cpu, window.focus)
        en += f"; its host's CPU was {share(busiest)} busy"
        ja += f"。そのホストのCPU使用率は{share(busiest)}"
    if waited:
        en += "; answers were slow, so it may have waited for them"
        ja += "。応答が遅く、それを待っていた可能性がある"
    return Finding(
        kind=KIND,
        sentence=Words(f"{en}.", f"{ja}。"),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels={"tool": generator.tool} if generator.tool else {},
        evidence=_evidence(window, load, generator, cpu),
        steps=_steps(generator),
        severity=Severity.INFO if waited else None,
    )


def _said(generator: Generator) -> tuple[str, str]:
    tool, asked, reached = generator.tool or "The load generator", generator.target_rate, generator.reached_rate
    if asked and reached is not None and reached < FAR_BELOW * asked:
        return (
            f"{tool} sent {figure(reached)} of the {figure(asked)} requests/s that it was asked for",
            f"{generator.tool or '負荷ツール'}は要求毎秒{figure(asked)}件に対し{figure(reached)}件しか送れなかった",
        )
    if generator.dropped:
        return (
            f"{tool} dropped {count(generator.dropped)} iterations that it should have begun",
            f"{generator.tool or '負荷ツール'}は始めるべき反復を{count(generator.dropped)}件落とした",
        )
    return (
        f"{tool} was at its own limit while it sent",
        f"{generator.tool or '負荷ツール'}自身が限界に達していた",
    )


def _cpu(window: Window) -> FloatArray | None:
    """[instant]: busy share of the generator's host where it was full for long; None where not, or unknown."""
    shares: list[FloatArray] = [window[GENERATOR_CPU].max]
    for labels, _ in window[CPU].where(job=JOB).by("instance"):
        found = host(window, labels.get("instance", ""))
        if found is not None:
            shares.append(found.busy / found.cores)
    for values in shares:
        least = max(round(LEAST_SECONDS / window.step_seconds), 3)
        if episodes(focused(window, values >= BUSY), least=least, gap=1):
            return values
    return None


def _evidence(window: Window, load: Load, generator: Generator, cpu: FloatArray | None) -> list[Evidence]:
    found: list[Evidence] = []
    asked, reached = generator.target_rate, generator.reached_rate
    if asked and reached is not None and reached < FAR_BELOW * asked:
        found.append(
            show(
                window,
                Words(
                    f"{figure(reached)} requests/s were sent, {figure(asked)} asked for.",
                    f"送信は毎秒{figure(reached)}件、要求は{figure(asked)}件。",
                ),
                link=Link.DEMAND,
                expression="sum(rate(loadtest_requests_total[5s]))",
                unit=Unit.PER_SECOND,
                values=load.rate,
                value=reached,
                limit=asked,
            )
        )
    if generator.dropped:
        found.append(
            show(
                window,
                Words(
                    f"{count(generator.dropped)} iterations were dropped.", f"{count(generator.dropped)}件を落とした。"
                ),
                link=Link.DEMAND,
                expression="sum(k6_dropped_iterations_total)",
                unit=Unit.COUNT,
                values=load.rate,
                value=float(generator.dropped),
            )
        )
    if cpu is not None:
        found.append(
            show(
                window,
                Words("The CPU of the generator's host was used up.", "生成側ホストのCPUを使い切った。"),
                link=Link.LIMIT,
                expression=f'{GENERATOR_CPU} or 1 - avg(rate({CPU}{{job="{JOB}",mode="idle"}}[5s]))',
                unit=Unit.RATIO,
                values=cpu,
                limit=1.0,
            )
        )
    if {"gaps", "late-sends"} & set(generator.reasons):
        least = _least(window.inside(load.rate))
        found.append(
            show(
                window,
                Words(
                    f"It sent unevenly: {figure(least)} requests in its slowest second.",
                    f"送信が不均一。最も少ない1秒は{figure(least)}件。",
                ),
                link=Link.EFFECT,
                expression="sum(rate(loadtest_requests_total[5s]))",
                unit=Unit.PER_SECOND,
                values=load.rate,
                value=least,
            )
        )
    return found


def _least(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.min()) if known.size else 0.0


def _steps(generator: Generator) -> Sequence[Step]:
    rate = figure(generator.reached_rate) if generator.reached_rate else ""
    steps = [
        Step(
            text=Words(
                "Use a larger generator, or a second one on another host, before you believe the figures of this run.",
                "この結果を信じる前に、より大きな生成側を使うか、別のホストに2台目を用意する。",
            )
        )
    ]
    if rate:
        steps.append(
            Step(
                text=Words(
                    f"What this run shows is that the system bears {rate} requests/s at least, and no more than that.",
                    f"この結果から言えるのは、システムが少なくとも毎秒{rate}件に耐えることだけ。",
                )
            )
        )
    if generator.dropped:
        steps.append(
            Step(
                text=Words(
                    "k6: give it more users than rate × the longest answer's seconds, before the run begins.",
                    "k6: 開始前に「レート × 最長応答秒数」より多いユーザーを割り当てる。",
                ),
                code="preAllocatedVUs: 2000, maxVUs: 2000",
            )
        )
    return steps


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(),
    reads=(GENERATOR_CPU, CPU),
    follows=(
        "pool-exhausted",
        "database-connections-exhausted",
        "database-cpu-full",
        "database-lock-waits",
        "file-descriptors-exhausted",
        "accept-queue-full",
        "app-lock-stall",
        "app-cpu-full",
        "ephemeral-ports-exhausted",
    ),
)
