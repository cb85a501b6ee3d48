"""A process ended and took accepted rows with it: its own counters cannot say so, the client's count can."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.engine import look_of
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import selector, since_start
from loadwatch_backend.findings.seen.flows import (
    ACCEPTED,
    QUEUE,
    TABLE_ROWS,
    answered,
    rows_grown,
    tolerance,
)
from loadwatch_backend.findings.seen.numbers import count, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

STARTED = "process_start_time_seconds"
LATER_SECONDS = 1.5
"""A start time that moves by less is the same process, read with another clock."""
GONE_SECONDS = 5.0

KIND = Kind(
    id="rows-lost-at-kill",
    severity=Severity.CRITICAL,
    title=Words("Rows lost when the process ended", "プロセス終了時の行の消失"),
    explanation=Words(
        "The process ended while accepted requests still waited in its memory. Its counters began again at zero, so "
        "what they say understates the loss or hides it; the client's own count and the rows of the table tell it.",
        "受け付けたリクエストがメモリーに残ったままプロセスが終了した。カウンターは0に戻るため損失を少なく見せるか"
        "隠してしまう。クライアント側の件数とテーブルの行数の差が本当の損失。",
    ),
    rule=Rule(
        text=Words(
            "SIGKILL cannot be caught: what is only in memory is gone. SIGTERM can; write the rest before you exit.",
            "SIGKILLは捕捉できず、メモリーだけにあるものは失われる。SIGTERMは捕捉できるので、残りを書いてから終了する。",
        ),
        source="signal(7); net/http, func (*Server) Shutdown",
    ),
    refuted_by=Words(
        "Rows that are found in the table after all, or clients that count requests to another system, too.",
        "テーブルに行が見つかること、またはクライアントの件数に別のシステムへの送信が含まれていること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Death:
    """An instance that ended: `at` is the last instant at which it was seen before."""

    labels: Mapping[str, str]
    at: int
    metric: str
    values: FloatArray


def look(window: Window) -> Look:
    """One finding where a process ended and the table lacks rows that a client was promised."""
    deaths = _deaths(window)
    if not deaths:
        seen = len(window[STARTED]) or len(window[ACCEPTED])
        return Look(
            clear=Words(f"None of {seen} processes began again.", f"{seen}プロセスのうち再起動したものはない。")
        )
    first = min(deaths, key=lambda one: one.at)
    name = first.labels.get("instance", "the process")
    told, rows = answered(window), rows_grown(window)
    waiting = _waiting(window, first)
    if told is None or rows is None:
        words = Words(
            f"{name} ended while {count(waiting)} requests waited in its memory; whether they were written only "
            "table_rows and a client's count can tell.",
            f"{name}は{count(waiting)}件をメモリーに残して終了した。書かれたかどうかはtable_rowsとクライアントの件数が必要。",
        )
        return Look(observations=[words] if waiting >= 1 else [])
    lost = told - rows
    if lost <= tolerance(told):
        return look_of(
            None,
            Words(
                f"{name} ended, and no row is missing: {count(told)} good answers, {count(rows)} rows more.",
                f"{name}は終了したが欠けた行はない。成功応答{count(told)}件、増えた行{count(rows)}行。",
            ),
        )
    return look_of(_finding(window, first, told, rows, waiting), None)


def _deaths(window: Window) -> list[_Death]:
    found: list[_Death] = []
    for metric in (ACCEPTED, STARTED):
        table = window[metric]
        for labels, row in zip(table.labels, table.values, strict=True):
            known = np.flatnonzero(np.isfinite(row))
            if len(known) < 2:
                continue
            steps = np.diff(row[known])
            again = steps < 0 if metric == ACCEPTED else steps > LATER_SECONDS
            places = known[:-1][again]
            places = places[(places >= window.focus.start - 1) & (places < window.focus.stop)]
            ended = _ended(window, int(known[-1]))
            at = int(places[0]) if len(places) else ended
            if at is not None:
                found.append(_Death(labels=labels, at=at, metric=metric, values=row))
    return found


def _ended(window: Window, last: int) -> int | None:
    """The last sight of what is never seen again while load goes on: refused and reset requests say that it died."""
    load = window.load
    if load is None or not window.focus.start <= last < window.focus.stop - GONE_SECONDS / window.step_seconds:
        return None
    after = slice(last, window.focus.stop)
    sent, failed = window.total(load.rate, after), window.total(load.failed("refused", "reset"), after)
    return last if sent > 0 and failed > 0.5 * sent else None


def _waiting(window: Window, death: _Death) -> float:
    """What the queue held when it was last read; 0 where it was not told."""
    labels = {name: death.labels[name] for name in ("job", "instance") if name in death.labels}
    queue = window[QUEUE].where(**labels).sum[: death.at + 1]
    known = queue[np.isfinite(queue)]
    return float(known[-1]) if len(known) else 0.0


def _finding(window: Window, death: _Death, told: float, rows: float, waiting: float) -> Finding:
    from_ms = window.grid.time_ms(death.at)
    when = since_start(window, from_ms, "at ")
    name, lost = death.labels.get("instance", "The process"), told - rows
    labels = {key: death.labels[key] for key in ("job", "instance") if key in death.labels}
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} ended {when.en} and took {count(lost)} rows with it: {count(told)} requests were answered well, "
            f"{count(rows)} rows are in the table ({share(lost / told)} lost).",
            f"{name}が{when.ja}に終了し、{count(lost)}行が失われた。成功応答{count(told)}件に対しテーブルの増加は"
            f"{count(rows)}行({share(lost / told)}の損失)。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=_evidence(window, death, told, rows, waiting),
        steps=[
            Step(
                text=Words(
                    "Stop it with SIGTERM, and let it write what waits before it exits.",
                    "SIGTERMで停止し、残りを書いてから終了させる。",
                ),
                code=(
                    "ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)\n"
                    "defer stop()\n<-ctx.Done()\n"
                    "server.Shutdown(context.Background()) // no new requests\n"
                    "queue.Close() // then the rest"
                ),
            ),
            Step(
                text=Words(
                    "What must survive a kill is stored before it is answered: in the request, or in a log on disk.",
                    "強制終了に耐えるべきものは応答の前に保存する。リクエスト内で書くか、ディスクのログに書く。",
                )
            ),
        ],
    )


def _evidence(window: Window, death: _Death, told: float, rows: float, waiting: float) -> list[Evidence]:
    chosen = selector({key: death.labels[key] for key in ("job", "instance") if key in death.labels})
    found = [
        show(
            window,
            Words("The process ended here.", "ここでプロセスが終了。"),
            link=Link.LIMIT,
            expression=f"{death.metric}{chosen}",
            unit=Unit.COUNT,
            values=death.values,
            at=death.at,
        ),
        show(
            window,
            Words(
                f"{count(told)} requests were answered well, and the table grew by {count(rows)} rows.",
                f"成功応答は{count(told)}件、テーブルの増加は{count(rows)}行。",
            ),
            link=Link.EFFECT,
            expression=TABLE_ROWS,
            unit=Unit.COUNT,
            values=window[TABLE_ROWS].max,
            value=told - rows,
            at=window.focus.stop - 1,
        ),
    ]
    if waiting >= 1:
        labels = {key: death.labels[key] for key in ("job", "instance") if key in death.labels}
        found.append(
            show(
                window,
                Words(
                    f"{count(waiting)} waited in its memory when it was last read; more may have come after.",
                    f"最後に読んだ時点で{count(waiting)}件がメモリーで待機。その後さらに増えた可能性がある。",
                ),
                link=Link.DEMAND,
                expression=f"{QUEUE}{chosen}",
                unit=Unit.COUNT,
                values=window[QUEUE].where(**labels).sum,
                value=waiting,
                at=death.at,
            )
        )
    return found


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(STARTED, ACCEPTED),
    reads=(QUEUE, TABLE_ROWS),
    follows=("process-died", "host-memory-growing", "host-swapping", "file-descriptors-exhausted"),
    usual=False,
    switched_on_by=(
        "process:\n  port: 8080\nfreshness:\n  tables:\n    - name: hits  # its rows are what is there in the end"
    ),
)
