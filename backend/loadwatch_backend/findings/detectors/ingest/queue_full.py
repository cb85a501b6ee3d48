"""The queue before the database is full, and requests are refused for it."""

import math

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import failures, felt, focused, largest, since_start, together
from loadwatch_backend.findings.seen.flows import FLOW_METRICS, QUEUE, REJECTED, Flow, flows
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.95
REFUSED_SHARE = 0.005
"""Of what was sent to the instance: refusals below it are an accident of one instant."""
LEAST_REFUSED = 10

KIND = Kind(
    id="queue-full",
    resource="ingest_queue",
    severity=Severity.CRITICAL,
    title=Words("The queue before the database is full", "DB書き込みキューが満杯"),
    explanation=Words(
        "The application holds accepted requests in a bounded queue until they are written. It is full, so new ones "
        "are refused. That protects what was accepted; the limit that fills the queue is behind it.",
        "受け付けたリクエストは書き込みまで上限のあるキューに入る。満杯になったため新しいリクエストを拒否している。"
        "受け付けた分を守る動きであり、本当の限界はキューの先にある。",
    ),
    rule=Rule(
        text=Words(
            "A longer queue only puts refusal off: time until it is full = length ÷ (accepted - stored per second).",
            "キューを長くしても拒否が遅れるだけ。満杯までの時間 = 長さ ÷ (毎秒の受付 - 毎秒の保存)。",
        ),
        source="L. Kleinrock, Queueing Systems, Volume 1: Theory (1975)",
    ),
    refuted_by=Words(
        "Refusals while the queue is short: then something else refuses.",
        "キューが短いのに拒否されること。その場合は別の原因がある。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each instance whose queue was full while requests were refused."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for flow in flows(window):
        full = focused(window, (flow.queue >= FULL * flow.queue_limit) & (flow.queue_limit > 0))
        episode = _refused(window, flow, full)
        if episode is not None:
            findings.append(_finding(window, flow, episode))
            continue
        most, limit = largest(flow.queue, window.focus), largest(flow.queue_limit, window.focus)
        refused = window.total(flow.rejected)
        if not (math.isfinite(most) and limit > 0):
            continue
        words = Words(
            f"The queue of {flow.name} held {count(most)} of {count(limit)} at most; {count(refused)} requests were "
            "refused for it.",
            f"{flow.name}のキューは最大{count(limit)}件中{count(most)}件、拒否{count(refused)}件。",
        )
        (observations if bool(full.any()) or refused >= 1 else clear).append(words)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _refused(window: Window, flow: Flow, full: BoolArray) -> Episode | None:
    refusing = focused(window, flow.rejected > 0)
    refused, taken = window.total(flow.rejected), window.total(flow.accepted)
    if refused >= max(LEAST_REFUSED, REFUSED_SHARE * (refused + taken)):
        places = np.flatnonzero(refusing)
        return Episode(int(places[0]), int(places[-1]) + 1)
    if np.isfinite(window.inside(flow.rejected)).any():
        return None
    # An application that does not count refusals: 503 while the queue stands at its limit.
    found = episodes(full, least=least_instants(window.grid, flow.interval_ms), gap=5)
    if not found:
        return None
    episode = found[0].joined(found[-1])
    return episode if failures(window, episode, "http_5xx") >= LEAST_REFUSED else None


def _finding(window: Window, flow: Flow, episode: Episode) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms, "at ")
    around = slice(max(episode.first - 2, 0), episode.end)
    most, limit = largest(flow.queue, around), largest(flow.queue_limit, around)
    refused = window.total(flow.rejected, episode.span)
    asked = refused + window.total(flow.accepted, episode.span)
    held = f" of {count(limit)}" if limit > 0 else ""
    en = f"The queue{held} of {flow.name} was full {when.en}"
    ja = f"{flow.name}の{f'{count(limit)}件の' if limit > 0 else ''}キューが{when.ja}に満杯になり"
    if refused:
        en += (
            f"; {count(refused)} requests were refused ({share(refused / max(asked, 1))} of those that came meanwhile)"
        )
        ja += f"、{count(refused)}件を拒否(その間の{share(refused / max(asked, 1))})"
    evidence: list[Evidence] = []
    if limit > 0 and most >= FULL * limit:
        evidence.append(
            show(
                window,
                Words(
                    f"{count(most)} of {count(limit)} places in the queue were taken.",
                    f"キュー{count(limit)}件中{count(most)}件を使用。",
                ),
                link=Link.LIMIT,
                expression=f"{QUEUE}{flow.chosen}",
                unit=Unit.COUNT,
                values=flow.queue,
                limit=limit,
            )
        )
    if refused:
        evidence.append(
            show(
                window,
                Words(f"{count(refused)} requests were refused.", f"{count(refused)}件のリクエストを拒否。"),
                link=Link.DEMAND,
                expression=f"rate({REJECTED}{flow.chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=flow.rejected,
            )
        )
    return Finding(
        kind=KIND,
        sentence=Words(f"{en}.", f"{ja}。"),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=flow.labels,
        evidence=[*evidence, *felt(window, episode)],
        steps=_steps(window, flow, episode, refused),
    )


def _steps(window: Window, flow: Flow, episode: Episode, refused: float) -> list[Step]:
    seconds = max(len(episode) * window.step_seconds, 1.0)
    stored = window.total(flow.stored, episode.span) / seconds
    asked = (window.total(flow.accepted, episode.span) + refused) / seconds
    return [
        Step(
            text=Words(
                f"Look at what writes: it stores {figure(stored)} rows/s and is asked for {figure(asked)}. A longer "
                "queue would only be full later.",
                f"書き込み側を確認する。毎秒{figure(asked)}行が必要なところ{figure(stored)}行しか保存できていない。"
                "キューを長くしても満杯が遅れるだけ。",
            )
        ),
        Step(
            text=Words(
                "Let clients come back later: answer 503 with Retry-After.",
                "Retry-After付きの503を返し、後で再送させる。",
            ),
            code='w.Header().Set("Retry-After", "1")\nw.WriteHeader(http.StatusServiceUnavailable)',
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(REJECTED, QUEUE),
    reads=FLOW_METRICS,
    follows=(
        "ingest-lag-growing",
        "pool-exhausted",
        "database-connections-exhausted",
        "database-cpu-full",
        "database-lock-waits",
        "database-iops-full",
        "database-storage-full",
        "app-lock-stall",
    ),
    usual=False,
    switched_on_by=("dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats  # with ingest.rejected, ingest.queue"),
)
