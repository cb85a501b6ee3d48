"""The database ended, or another one runs in its place, while the load needed it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import SWITCHED_ON_BY
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import LEAST_FAILED, failures, felt, focused, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FELL_SECONDS = 5.0
"""Uptime is whole seconds of the server's own clock."""
AFTER_SECONDS = 5
"""For so long after a new start what fails may still be its doing."""
NOBODY = ("refused", "can't connect", "no such file", "lost connection", "gone away", "broken pipe", "reset by peer")
"""What an agent says where nobody answers; an answer that takes too long under load is no such thing."""

UPTIME, UP, ERROR = "mysql_global_status_uptime", "up", "collector_error_info"

KIND = Kind(
    id="database-down",
    severity=Severity.CRITICAL,
    title=Words("The database went away", "DBの停止・再起動"),
    explanation=Words(
        "The server ended, was stopped or started anew. Everything that needs a row failed or waited meanwhile, what "
        "was not committed is lost, and its buffer pool is cold: the first minutes after it are slower.",
        "DBサーバーが終了、停止、または再起動した。その間DBを必要とする処理は失敗するか待ち、未コミットの内容は失われた。"
        "バッファプールは空のため、再起動直後の数分は遅い。",
    ),
    rule=Rule(
        text=Words(
            "Uptime only grows while one and the same server runs.", "Uptimeは同じサーバーが動いている限り増え続ける。"
        ),
        source="MySQL Reference Manual, Server Status Variables, Uptime",
    ),
    refuted_by=Words(
        "Another server behind the same address (a failover), or a restart that somebody planned for that time.",
        "同じアドレスの背後で別のサーバーに切り替わったこと(フェイルオーバー)、または計画的な再起動であること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Absence:
    """From the last sign of a server to the first one of its successor; without one, to the last look."""

    labels: Mapping[str, str]
    name: str
    episode: Episode
    shown: FloatArray
    expression: str
    back: bool


def look(window: Window) -> Look:
    """One finding for each database that was away while requests failed; a planned restart accuses nobody."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[UPTIME].by("job", "instance"):
        # As it was read: what is held on to hides for how long nobody answered.
        uptime: FloatArray = np.fmax.reduce(table.values, axis=0)
        if not np.isfinite(window.inside(uptime)).any():
            continue
        name = labels.get("instance", "The database")
        absence = _restarted(window, labels, name, uptime) or _silent(window, labels, name)
        if absence is None:
            clear.append(Words(f"{name} ran all the time.", f"{name}は動き続けていた。"))
            continue
        failed = failures(window, _felt_in(window, absence.episode))
        if window.load is None or failed < LEAST_FAILED:
            observations.append(_said(window, absence))
            continue
        findings.append(_finding(window, absence, failed))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _restarted(window: Window, labels: Mapping[str, str], name: str, uptime: FloatArray) -> _Absence | None:
    places = np.flatnonzero(np.isfinite(uptime))
    for before, after in zip(places[:-1].tolist(), places[1:].tolist(), strict=True):
        if uptime[after] > uptime[before] - FELL_SECONDS or not window.focus.start <= after < window.focus.stop:
            continue
        return _Absence(
            labels=labels,
            name=name,
            episode=Episode(before, after + 1),
            shown=uptime,
            expression=f"{UPTIME}{selector(labels)}",
            back=True,
        )
    return None


def _silent(window: Window, labels: Mapping[str, str], name: str) -> _Absence | None:
    table = window[UP].where(**labels, collector="mysql")
    up = table.max
    told = [
        row
        for row, one in enumerate(window[ERROR].labels)
        if all(one.get(key) == value for key, value in labels.items())
        and one.get("collector") == "mysql"
        and any(text in one.get("error", "").lower() for text in NOBODY)
    ]
    if not told:
        return None
    gone = (up == 0) & (window[ERROR].take(told).max > 0)
    found = episodes(focused(window, gone), least=least_instants(window.grid, table.slowest_ms), gap=2)
    if not found:
        return None
    return _Absence(
        labels=labels,
        name=name,
        episode=window.one_of(found),
        shown=up,
        expression=f"up{selector({**labels, 'collector': 'mysql'})}",
        back=False,
    )


def _felt_in(window: Window, episode: Episode) -> Episode:
    return Episode(episode.first, min(episode.end + round(AFTER_SECONDS / window.step_seconds), window.grid.count))


def _said(window: Window, absence: _Absence) -> Words:
    when = since_start(window, window.grid.time_ms(absence.episode.first), "at " if absence.back else "")
    if absence.back:
        return Words(f"{absence.name} was restarted {when.en}.", f"{absence.name}は{when.ja}に再起動した。")
    return Words(f"Nobody answered at {absence.name} from {when.en}.", f"{when.ja}から{absence.name}が応答しなかった。")


def _finding(window: Window, absence: _Absence, failed: float) -> Finding:
    episode, said = absence.episode, _said(window, absence)
    away = (len(episode) - 1) * window.step_seconds
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{said.en} {count(failed)} requests failed then ({duration(away)} until it answered again)."
            if absence.back
            else f"{said.en} {count(failed)} requests failed since.",
            f"{said.ja}{count(failed)}件のリクエストが失敗した"
            + (f"(応答まで{duration_ja(away)})。" if absence.back else "。"),
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=absence.labels,
        evidence=[
            show(
                window,
                said,
                link=Link.LIMIT,
                expression=absence.expression,
                unit=Unit.SECONDS if absence.back else Unit.COUNT,
                values=absence.shown,
                at=episode.end - 1,
            ),
            *felt(window, _felt_in(window, episode)),
        ],
        steps=[
            Step(
                text=Words(
                    "Look in its error log what ended it: lack of memory, a full disk, a signal, or somebody.",
                    "エラーログで原因を確認する(メモリ不足による強制終了、ディスク満杯、シグナル、人の操作)。",
                ),
                code="journalctl -u mariadb --since '15 min ago'\ndmesg -T | grep -i 'killed process'",
            ),
            Step(
                text=Words(
                    "Do not compare this run with others: counters began anew, and the buffer pool was cold.",
                    "この実行を他と比較しない。カウンターは初期化され、バッファプールは空だった。",
                )
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(UPTIME,),
    reads=(UP, ERROR),
    follows=("process-died", "database-memory-low", "database-storage-full", "host-memory-growing"),
    switched_on_by=SWITCHED_ON_BY,
)
