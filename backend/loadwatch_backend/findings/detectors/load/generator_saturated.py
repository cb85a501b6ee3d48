"""The load generator could not send what it was asked to: what was measured is its own limit."""

from collections.abc import Sequence

import numpy as np
from loadwatch_formats.metrics.loadtest import GENERATOR_CPU

from loadwatch_backend.findings.engine import look_of
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest
from loadwatch_backend.findings.seen.hosts import CPU, host
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import Episode, Generator, Load, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

JOB = "load-generator"
FAR_BELOW = 0.95
LEAST_SECONDS = 10.0
BUSY = 0.9

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
    """At most one finding, of the run's check of its generator: a rate that is short tells nothing of its cause."""
    generator, load = window.generator, window.load
    if load is None or generator is None or generator.state == "unknown":
        return Look()
    if generator.state == "saturated":
        return look_of(_finding(window, load, generator), None)
    return look_of(None, _clear(load, window, generator))


def _clear(load: Load, window: Window, generator: Generator) -> Words:
    asked, reached = generator.target_rate, generator.reached_rate
    if asked and reached:
        waited = generator.state == "held-back"
        return Words(
            f"The generator sent {figure(reached)} of the {figure(asked)} requests/s that it was asked for"
            + (": its clients waited for answers." if waited else "."),
            f"生成側は要求毎秒{figure(asked)}件に対し毎秒{figure(reached)}件を送信"
            + ("(応答を待っていたため)。" if waited else "。"),
        )
    sent = window.total(load.rate)
    return Words(
        f"The generator sent {count(sent)} requests without a sign of being short of anything.",
        f"生成側は{count(sent)}件を送信し、不足の兆候はない。",
    )


def _short(window: Window, load: Load) -> Episode | None:
    """Where less than was asked for was sent, for long."""
    holds = focused(window, _over_seconds(load.rate, window) < FAR_BELOW * load.target)
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
    episode = _short(window, load) or Episode(window.focus.start, window.focus.stop)
    cpu = _cpu(window)
    en, ja = _said(generator)
    if cpu is not None:
        busiest = largest(cpu, window.focus)
        en += f"; its host's CPU was {share(busiest)} busy"
        ja += f"。そのホストのCPU使用率は{share(busiest)}"
    return Finding(
        kind=KIND,
        sentence=Words(f"{en}.", f"{ja}。"),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels={"tool": generator.tool} if generator.tool else {},
        evidence=_evidence(window, load, generator, cpu),
        steps=_steps(generator),
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
