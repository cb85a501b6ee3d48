"""Rows that were accepted are neither stored nor waiting: nobody will write them."""

from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, since_start, together
from loadwatch_backend.findings.seen.flows import (
    ACCEPTED,
    FAILED,
    FLOW_METRICS,
    QUIET_SECONDS,
    STORED,
    TABLE_ROWS,
    UNTOLD_QUIET_SECONDS,
    Flow,
    answered,
    flows,
    rows_grown,
    tolerance,
)
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

REST_SHARE = 0.05
"""Of the load's rate: requests of a probe that go on after it."""
STILL_SHARE = 0.01
LEAST_SHARE = 0.01
"""While requests come: what is being written at the moment looks like a loss."""
TOLD = 0.9

KIND = Kind(
    id="rows-lost",
    severity=Severity.CRITICAL,
    title=Words("Accepted rows are lost", "受け付けた行の消失"),
    explanation=Words(
        "Requests were accepted and answered, and their rows are not in the database: writing them failed, or the "
        "application dropped them without counting. Waiting does not bring them back.",
        "受け付けて応答したリクエストの行がDBにない。書き込みに失敗したか、数えずに捨てられた。待っても戻らない。",
    ),
    rule=Rule(
        text=Words(
            "Acknowledge only what is stored, or count what is given up: accepted = stored + failed + waiting, always.",
            "保存したものだけを受領とし、諦めた分は数える。常に 受付 = 保存 + 失敗 + 待ち。",
        ),
        source="J. H. Saltzer, D. P. Reed, D. D. Clark, End-to-End Arguments in System Design, ACM TOCS 2 (1984)",
    ),
    refuted_by=Words(
        "Rows that are counted in the table after all, or a second writer that stores them.",
        "テーブルの行数を数えると全部あること、または別の書き手が保存していること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """Requests that were lost, [instant] so far and in all; `quiet` where nothing moves any more."""

    so_far: FloatArray
    silent: float
    failed: float
    first: int
    quiet: bool

    @property
    def total(self) -> float:
        return self.silent + self.failed


def look(window: Window) -> Look:
    """A finding for each instance that has lost rows while it lived."""
    findings: list[Finding] = []
    clear: list[Words] = []
    unjudged: list[Words] = []
    observations: list[Words] = []
    for flow in flows(window):
        taken = window.total(flow.accepted, slice(0, window.grid.count))
        if len(flow.restarts) or not taken or not np.isfinite(flow.stored).any():
            continue
        loss = _loss(window, flow, taken)
        stored = window.total(flow.stored, slice(0, window.grid.count))
        failed = window.total(flow.failed, slice(0, window.grid.count))
        words = Words(
            f"{flow.name} accepted {count(taken)} requests, stored {count(stored)} rows and failed to store "
            f"{count(failed)}.",
            f"{flow.name}は{count(taken)}件を受け付け、{count(stored)}行を保存、失敗{count(failed)}件。",
        )
        left = taken - stored - failed
        if loss is not None:
            findings.append(_finding(window, flow, taken, loss))
        elif window.counts is not None and window.counts.is_open and left > tolerance(taken):
            unjudged.append(
                Words(
                    f"Not known yet: {count(left)} of the {count(taken)} requests that {flow.name} accepted are "
                    "neither stored nor known to be lost.",
                    f"未確定: {flow.name}が受け付けた{count(taken)}件のうち{count(left)}件は未保存(消失かは不明)。",
                )
            )
        elif failed > tolerance(taken):
            observations.append(
                Words(f"{words.en} Their clients were told.", f"{words.ja}失敗はクライアントに通知された。")
            )
        else:
            clear.append(words)
    return Look(findings=findings, clear=together(clear), unjudged=together(unjudged), observations=observations)


def _loss(window: Window, flow: Flow, taken: float) -> _Loss | None:
    known = np.flatnonzero(np.isfinite(flow.accepted) & np.isfinite(flow.stored))
    if len(known) < 3:
        return None
    last = int(known[-1])
    is_told = bool(np.isfinite(flow.queue[last]))
    # In flight and in the queue at once is counted twice, which hides a loss rather than invents one.
    so_far = flow.missing(window) - np.nan_to_num(flow.queue) - np.nan_to_num(flow.in_flight)
    instants = max(round((QUIET_SECONDS if is_told else UNTOLD_QUIET_SECONDS) / window.step_seconds), 3)
    tail = so_far[max(last + 1 - instants, 0) : last + 1]
    load = np.flatnonzero(flow.accepted > REST_SHARE * largest(flow.accepted, window.focus))
    moved = largest(tail, slice(None)) + largest(-tail, slice(None))
    quiet = last - int(load[-1]) >= instants and moved <= max(2.0, STILL_SHARE * so_far[last])
    silent = 0.0
    if last + 1 >= instants and (quiet or (is_told and np.isfinite(flow.in_flight[last]))):
        silent = -largest(-tail, slice(None)) - (0.0 if quiet else _being_written(window, flow))
    counts = window.counts
    if counts is not None and counts.accepted is not None and counts.stored is not None and silent > 0:
        silent = min(silent, counts.accepted - counts.stored)
    rows = rows_grown(window)
    if rows is not None and rows >= taken - tolerance(taken):
        silent = 0.0
    silent = silent if silent > (tolerance(taken) if quiet else max(LEAST_SHARE * taken, 10.0)) else 0.0
    failed = window.total(flow.failed, slice(0, window.grid.count))
    told = 0.0 if window.load is None else window.total(window.load.failed(), slice(0, window.grid.count))
    failed = failed if failed > tolerance(taken) and told < TOLD * failed else 0.0
    if silent + failed <= 0:
        return None
    return _Loss(so_far=so_far, silent=silent, failed=failed, first=_first(window, flow, so_far, silent), quiet=quiet)


def _being_written(window: Window, flow: Flow) -> float:
    """Rows of statements under way, at most: they may be in no queue. Without a queue, their requests are in flight."""
    if not largest(flow.queue, window.focus) > 0:
        return 0.0
    return 2 * largest(flow.accepted, window.focus) * float(np.nan_to_num(largest(flow.lag, window.focus), nan=np.inf))


def _first(window: Window, flow: Flow, so_far: FloatArray, silent: float) -> int:
    """Where the first of them was lost."""
    firsts: list[int] = []
    failing = np.flatnonzero(focused(window, flow.failed > 0))
    if len(failing):
        firsts.append(int(failing[0]))
    if silent:
        small = np.flatnonzero(so_far <= max(0.01 * silent, 1.0))
        firsts.append(min(int(small[-1]) + 1 if len(small) else 0, window.grid.count - 1))
    return max(min(firsts, default=window.focus.start), window.focus.start)


def _finding(window: Window, flow: Flow, taken: float, loss: _Loss) -> Finding:
    from_ms = window.grid.time_ms(loss.first)
    when = since_start(window, from_ms)
    least = Words("", "") if loss.quiet or not loss.silent else Words("at least ", "少なくとも")
    en = f"{flow.name} lost {least.en}{count(loss.total)} of the {count(taken)} requests that it accepted"
    en += f" ({share(loss.total / taken)}), from {when.en}"
    ja = f"{flow.name}は受け付けた{count(taken)}件のうち{least.ja}{count(loss.total)}件"
    ja += f"({share(loss.total / taken)})を失った"
    if loss.failed and loss.silent:
        en += f": {count(loss.failed)} could not be written, {count(loss.silent)} nobody counted"
        ja += f"。{count(loss.failed)}件は書き込み失敗、{count(loss.silent)}件は数えられていない"
    elif loss.failed:
        en += ": they could not be written"
        ja += "。書き込みに失敗した"
    else:
        en += ": they are neither stored, nor counted as failed, nor waiting"
        ja += "。保存も失敗の計数もされず、待ってもいない"
    return Finding(
        kind=KIND,
        sentence=Words(f"{en}.", f"{ja}({when.ja}から)。"),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=flow.labels,
        evidence=_evidence(window, flow, taken, loss),
        steps=_steps(loss),
    )


def _evidence(window: Window, flow: Flow, taken: float, loss: _Loss) -> list[Evidence]:
    stored = window.total(flow.stored, slice(0, window.grid.count))
    found = [
        show(
            window,
            Words(f"{count(taken)} requests were accepted.", f"{count(taken)}件を受付。"),
            link=Link.DEMAND,
            expression=f"{ACCEPTED}{flow.chosen}",
            unit=Unit.PER_SECOND,
            values=flow.accepted,
        ),
        show(
            window,
            Words(
                f"{count(stored)} rows were stored; {count(loss.total)} are missing.",
                f"保存は{count(stored)}行。{count(loss.total)}行が足りない。",
            ),
            link=Link.EFFECT,
            expression=f"{ACCEPTED}{flow.chosen} - {STORED}{flow.chosen}",
            unit=Unit.COUNT,
            values=loss.so_far + np.nancumsum(np.nan_to_num(flow.failed)) * window.step_seconds,
            value=loss.total,
            at=window.focus.stop - 1,
        ),
    ]
    if loss.failed:
        found.append(
            show(
                window,
                Words(f"{count(loss.failed)} could not be written.", f"{count(loss.failed)}件は書き込めなかった。"),
                link=Link.LIMIT,
                expression=f"rate({FAILED}{flow.chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=flow.failed,
            )
        )
    if loss.quiet:
        found.append(
            show(
                window,
                Words(
                    f"Nothing waits, and nothing was written in the last {duration(QUIET_SECONDS)}: no more will come.",
                    f"待ちはなく、最後の{duration_ja(QUIET_SECONDS)}は書き込みもない。これ以上は来ない。",
                ),
                link=Link.LIMIT,
                expression=f"rate({STORED}{flow.chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=flow.stored,
                value=0.0,
                at=window.focus.stop - 1,
            )
        )
    told = answered(window)
    if told is not None and told > stored + tolerance(taken):
        found.append(
            show(
                window,
                Words(
                    f"The client was told {count(told)} times that all is well.",
                    f"クライアントには{count(told)}回成功と応答した。",
                ),
                link=Link.EFFECT,
                expression='sum(loadtest_requests_total{outcome="ok"})',
                unit=Unit.COUNT,
                values=flow.accepted,
                value=told,
                at=window.focus.stop - 1,
            )
        )
    return found


def _steps(loss: _Loss) -> list[Step]:
    steps = [
        Step(
            text=Words(
                "Do not stop the process before you know that nothing is left in its memory.",
                "メモリーに何も残っていないと分かるまでプロセスを止めない。",
            )
        )
    ]
    if loss.failed:
        steps.append(
            Step(
                text=Words(
                    "Read why the statements failed in the application's log, and write those batches again.",
                    "失敗した文の理由をアプリのログで調べ、その分を再度書き込む。",
                )
            )
        )
    if loss.silent:
        steps.append(
            Step(
                text=Words(
                    "Find where rows are given up without being counted: INSERT IGNORE, a channel with a default "
                    "branch, an error that only is logged, a last batch that nobody flushes.",
                    "数えずに捨てている場所を探す: INSERT IGNORE、defaultのあるchannel送信、ログだけのエラー、"
                    "最後に書かれないバッチ。",
                ),
                code="select {\ncase queue <- hit:\ndefault:\n\trejected.Add(1) // and answer 503, never 200\n}",
            )
        )
    return steps


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(ACCEPTED, STORED),
    reads=(*FLOW_METRICS, TABLE_ROWS),
    follows=(
        "database-connections-exhausted",
        "file-descriptors-exhausted",
        "database-storage-full",
        "database-deadlocks",
        "database-lock-waits",
        "pool-exhausted",
        "cancel-storm",
        "queue-full",
        "ephemeral-ports-exhausted",
    ),
    usual=False,
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats  # with ingest.accepted and ingest.stored",
)
