"""The database uses all the CPU that it may, and more statements wait to be worked on."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, CloudDatabase, cloud_databases, for_minutes
from loadwatch_backend.findings.seen.databases import CONNECTED, RUNNING
from loadwatch_backend.findings.seen.demand import broken, unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.host_cpu import FOREIGN, PROGRAM_CPU, PROGRAM_METRICS, STOLEN, Program, programs
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.92
MOST = 0.5
"""Share of a full host from which the database is the one that fills it."""
LEADING = 0.6
"""Share of its cores from which statements that wait belong to what comes."""
QUEUE = 1.5
"""Statements at work for each core, from which some of them wait for one."""
LEAST_SECONDS = 5.0
CLOUD_FULL = 95.0
"""Percent, as CloudWatch has it: a minute of 95 % has seconds of 100 %."""

CLOUD_CPU = "aws_rds_cpuutilization_average"
CLOUD_LOAD = "aws_rds_dbload_relative_to_num_vcpus_average"

KIND = Kind(
    id="database-cpu-full",
    resource="host_cpu",
    severity=Severity.CRITICAL,
    title=Words("The database's CPU is full", "DBのCPU飽和"),
    explanation=Words(
        "The database computes on all the cores that it may use. Statements wait for a core, hold their connections "
        "for longer, and the pools of the applications run out behind them. More clients make every statement slower, "
        "not the database faster.",
        "DBが使えるコアをすべて使っている。文はコアを待ち、接続を長く保持するため、アプリのプールも枯渇していく。"
        "クライアントを増やしても各文が遅くなるだけで、DBは速くならない。",
    ),
    rule=Rule(
        text=Words(
            "Utilisation law: cores in use = statements per second × CPU seconds of each. Look for the statement with "
            "the most total time, not for the slowest one.",
            "利用率の法則: 使用コア数 = 毎秒の文の数 × 1文あたりのCPU秒。合計時間が最大の文を探す。",
        ),
        source="P. J. Denning, J. P. Buzen, The Operational Analysis of Queueing Network Models, "
        "ACM Computing Surveys 10 (1978)",
    ),
    refuted_by=Words(
        "Statements per second that still rise with the load, or threads that wait for locks or the disk instead.",
        "負荷とともに毎秒の文の数がまだ増えること、またはスレッドがロックやディスクを待っていること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database that had no core left while statements waited."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for program in programs(window):
        most = largest(program.cpu, window.focus)
        if not program.database or not np.isfinite(most + program.allowed):
            continue
        words = Words(
            f"{program.name} used {figure(most)} of {figure(program.allowed)} cores at most.",
            f"{program.name}は{figure(program.allowed)}コア中最大{figure(most)}を使用。",
        )
        _sort(_of_program(window, program), words, findings, clear, observations)
    for database in cloud_databases(window, CLOUD_CPU):
        cpu = database.values(window, CLOUD_CPU)
        most = largest(cpu, window.focus)
        if not np.isfinite(most):
            continue
        words = Words(
            f"{database.name} used {share(most / 100)} of its CPU at most ({BY_MINUTE.en}).",
            f"{database.name}のCPUは最大{share(most / 100)}({BY_MINUTE.ja})。",
        )
        _sort(_of_cloud(window, database, cpu), words, findings, clear, observations)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _sort(
    seen: Finding | bool, words: Words, findings: list[Finding], clear: list[Words], observations: list[Words]
) -> None:
    """A finding, or whether it was full and hurt nobody."""
    if isinstance(seen, Finding):
        findings.append(seen)
    else:
        (observations if seen else clear).append(words)


def _of_program(window: Window, program: Program) -> Finding | bool:
    least = least_instants(window.grid, program.interval_ms, seconds=LEAST_SECONDS)
    found = episodes(focused(window, _full(program)), least=least, gap=5)
    if not found:
        return False
    target = {name: program.labels.get(name, "") for name in ("job", "instance")}
    running = window[RUNNING].where(**target).max
    episode = _led_to(window, program, running, window.one_of(found))
    queued = usual(running, episode.span)
    demand = [_queue_shown(window, program, running, queued)] if queued > QUEUE * program.allowed + 1 else []
    held_up, effects = unmet(window, episode), felt(window, episode) or broken(window, episode)
    demand += [] if held_up is None else [held_up]
    if not demand and not effects:
        return True
    used = usual(program.cpu, episode.span)
    from_ms = window.grid.time_ms(episode.first)
    when, consequence = since_start(window, from_ms), [*demand, *effects][-1].text
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{program.name} used {figure(used)} of {figure(program.allowed)} cores from {when.en}. {consequence.en}",
            f"{program.name}は{when.ja}から{figure(program.allowed)}コア中{figure(used)}を使用。{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=program.labels,
        evidence=[_cores_shown(window, program, used, episode), *demand, *effects],
        steps=_STEPS,
    )


def _full(program: Program) -> BoolArray:
    """Where it uses all that it may, or most of a full host of which others take little."""
    own = program.cpu >= FULL * program.allowed
    host = program.host
    if host is None:
        return own
    alone = (host.foreign < FOREIGN * host.cores) & ~(host.stolen >= STOLEN * host.cores)
    return own | (host.full & alone & (program.cpu >= MOST * host.cores))


def _led_to(window: Window, program: Program, running: FloatArray, episode: Episode) -> Episode:
    """With the instants before, in which statements already waited for cores that were nearly all in use."""
    waited = (running > QUEUE * program.allowed + 1) & (program.cpu >= LEADING * program.allowed)
    first = episode.first
    while first > window.focus.start and waited[first - 1]:
        first -= 1
    return Episode(first, episode.end)


def _of_cloud(window: Window, database: CloudDatabase, cpu: FloatArray) -> Finding | bool:
    episode = for_minutes(window, cpu >= CLOUD_FULL)
    if episode is None:
        return bool(np.nan_to_num(largest(cpu, window.focus)) >= CLOUD_FULL)
    load = database.values(window, CLOUD_LOAD)
    per_core = usual(load, episode.span)
    demand: list[Evidence] = []
    if per_core > 1:
        demand.append(
            show(
                window,
                Words(
                    f"{figure(per_core)} sessions at work for each core ({BY_MINUTE.en}).",
                    f"コアあたり{figure(per_core)}セッションが処理中({BY_MINUTE.ja})。",
                ),
                link=Link.DEMAND,
                expression=f"{CLOUD_LOAD}{selector(database.key)}",
                unit=Unit.COUNT,
                values=load,
                limit=1.0,
            )
        )
    held_up, effects = unmet(window, episode), felt(window, episode) or broken(window, episode)
    demand += [] if held_up is None else [held_up]
    if not demand and not effects:
        return True
    used, consequence = usual(cpu, episode.span) / 100, [*demand, *effects][-1].text
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{database.name} used {share(used)} of its CPU for {_minutes(window, episode)} min ({BY_MINUTE.en}). "
            f"{consequence.en}",
            f"{database.name}のCPUは{_minutes(window, episode)}分間{share(used)}だった({BY_MINUTE.ja})。"
            f"{consequence.ja}",
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=[
            show(
                window,
                Words(f"{share(used)} of the CPU ({BY_MINUTE.en}).", f"CPU {share(used)}({BY_MINUTE.ja})。"),
                link=Link.LIMIT,
                expression=f"{CLOUD_CPU}{selector(database.key)} / 100",
                unit=Unit.RATIO,
                values=cpu / 100,
                limit=1.0,
            ),
            *demand,
            *effects,
        ],
        steps=_STEPS,
    )


def _minutes(window: Window, episode: Episode) -> str:
    return count(len(episode) * window.step_seconds / 60)


def _cores_shown(window: Window, program: Program, used: float, episode: Episode) -> Evidence:
    return show(
        window,
        Words(
            f"{figure(used)} of {figure(program.allowed)} cores in use.",
            f"{figure(program.allowed)}コア中{figure(used)}を使用。",
        ),
        link=Link.LIMIT,
        expression=f"sum(rate({PROGRAM_CPU}{selector(program.labels)}[5s]))",
        unit=Unit.COUNT,
        values=program.cpu,
        value=used,
        at=episode.first,
        limit=program.allowed,
    )


def _queue_shown(window: Window, program: Program, running: FloatArray, queued: float) -> Evidence:
    chosen = selector({name: program.labels[name] for name in ("job", "instance") if name in program.labels})
    return show(
        window,
        Words(
            f"{figure(queued)} statements at work at once shared {figure(program.allowed)} cores (Threads_running).",
            f"同時に処理中の{figure(queued)}文が{figure(program.allowed)}コアを分け合った(Threads_running)。",
        ),
        link=Link.DEMAND,
        expression=f"{RUNNING}{chosen}",
        unit=Unit.COUNT,
        values=running,
        limit=program.allowed,
    )


_STEPS: Sequence[Step] = (
    Step(
        text=Words(
            "Find the statement with the most total time; an index or a cache for it gives the most.",
            "合計時間が最大の文を特定する。そのインデックスやキャッシュが最も効く。",
        ),
        code=(
            "SELECT digest_text, count_star, sum_timer_wait / 1e12 AS seconds\n"
            "FROM performance_schema.events_statements_summary_by_digest\nORDER BY sum_timer_wait DESC LIMIT 10;"
        ),
    ),
    Step(
        text=Words(
            "Write in batches: one INSERT of 100 rows costs a fraction of 100 INSERTs.",
            "まとめて書き込む。100行のINSERT1回は、INSERT100回よりはるかに安い。",
        )
    ),
    Step(
        text=Words(
            "Only then a larger machine: twice the cores carry about twice the statements. A faster disk changes "
            "nothing here.",
            "それでも足りなければ大きなマシンにする。コアが2倍なら約2倍の文を処理できる。ディスクを速くしても変わらない。",
        )
    ),
)

DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(PROGRAM_CPU, CLOUD_CPU),
    reads=(*PROGRAM_METRICS, CONNECTED, RUNNING, CLOUD_LOAD),
    follows=("read-write-imbalance", "n-plus-one", "statement-scans"),
    switched_on_by="host: {}\nprocess:\n  port: 3306",
)
