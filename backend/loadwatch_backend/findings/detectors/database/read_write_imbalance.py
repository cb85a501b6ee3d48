"""One part of a replicated database is full while another one has little to do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, PERIOD_MS, SWITCHED_ON_BY, cloud_databases
from loadwatch_backend.findings.seen.demand import unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.host_cpu import PROGRAM_CPU, PROGRAM_METRICS, programs
from loadwatch_backend.findings.seen.numbers import share
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

HOT, COLD = 0.9, 0.4
"""Shares of the CPU."""
LEAST_SECONDS = 5.0

ROLE, CLOUD_INFO = "mysql_server_role_info", "aws_rds_info"
CLOUD_CPU = "aws_rds_cpuutilization_average"

KIND = Kind(
    id="read-write-imbalance",
    severity=Severity.WARNING,
    title=Words("Writer and readers are loaded unequally", "ライターとリーダーの負荷の偏り"),
    explanation=Words(
        "One member of the database is full while another has most of its CPU to spare: statements go to the wrong "
        "one, or to a single reader for lack of balance. The cluster as a whole could carry more than it does.",
        "DBの一部のメンバーだけが飽和し、他のCPUは大半が空いている。文の送り先が偏っているか、1台のリーダーに集中して"
        "いる。クラスター全体にはまだ余力がある。",
    ),
    rule=Rule(
        text=Words(
            "The reader endpoint spreads connections, not statements: a pool that keeps its connections stays with the "
            "readers that it first met.",
            "リーダーエンドポイントが分散するのは文ではなく接続。接続を保持するプールは最初に繋がったリーダーに偏り続ける。",
        ),
        source="Amazon Aurora User Guide, Reader endpoints for Amazon Aurora",
    ),
    refuted_by=Words(
        "A member that is kept free on purpose, for failover or for reports.",
        "フェイルオーバーやレポート用に意図的に空けてあるメンバーであること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A server of a replicated database; `cpu` [instant] is the share of its CPU that it uses."""

    group: tuple[str, str]
    name: str
    role: str
    cpu: FloatArray
    interval_ms: int
    expression: str
    source: Words


def look(window: Window) -> Look:
    """One finding for each cluster (or job) of which one member was full and another one idle."""
    findings: list[Finding] = []
    clear: list[Words] = []
    groups: dict[tuple[str, str], list[_Member]] = {}
    for member in _members(window):
        if np.isfinite(window.inside(member.cpu)).any():
            groups.setdefault(member.group, []).append(member)
    for group, members in sorted(groups.items()):
        # Two writers are two databases, not two members of one.
        if len(members) < 2 or sum(one.role == "writer" for one in members) > 1:
            continue
        finding = _finding(window, group, members)
        if finding is not None:
            findings.append(finding)
            continue
        parts = [f"{one.name} {share(largest(one.cpu, window.focus))}" for one in members[:5]]
        clear.append(Words(f"CPU at most: {', '.join(parts)}.", f"CPUの最大: {', '.join(parts)}。"))
    return Look(findings=findings, clear=together(clear))


def _members(window: Window) -> Iterator[_Member]:
    roles = {(one.get("job", ""), one.get("instance", "")): one.get("role", "") for one in window[ROLE].labels}
    for program in programs(window):
        role = roles.get((program.labels.get("job", ""), program.labels.get("instance", "")), "")
        if program.database and role and np.isfinite(program.allowed):
            yield _Member(
                group=("job", program.labels.get("job", "")),
                name=program.name,
                role=role,
                cpu=program.cpu / program.allowed,
                interval_ms=program.interval_ms,
                expression=f"sum(rate({PROGRAM_CPU}{selector(program.labels)}[5s]))",
                source=Words("", ""),
            )
    facts = {one.get("identifier", ""): one for one in window[CLOUD_INFO].labels}
    for database in cloud_databases(window, CLOUD_CPU):
        known: Mapping[str, str] = facts.get(database.name, {})
        if known.get("role") and known.get("cluster"):
            yield _Member(
                group=("cluster", known["cluster"]),
                name=database.name,
                role=known["role"],
                cpu=database.values(window, CLOUD_CPU) / 100,
                interval_ms=PERIOD_MS,
                expression=f"{CLOUD_CPU}{selector(database.key)} / 100",
                source=Words(f" ({BY_MINUTE.en})", f"({BY_MINUTE.ja})"),
            )


def _finding(window: Window, group: tuple[str, str], members: Sequence[_Member]) -> Finding | None:
    for hot in sorted(members, key=lambda one: -np.nan_to_num(largest(one.cpu, window.focus))):
        least = least_instants(window.grid, hot.interval_ms, seconds=LEAST_SECONDS)
        found = episodes(focused(window, hot.cpu >= HOT), least=least, gap=5)
        if not found:
            continue
        episode = window.one_of(found)
        level = {one.name: usual(one.cpu, episode.span) for one in members}
        cold = [one for one in members if one is not hot and level[one.name] <= COLD]
        asked = unmet(window, episode)
        harm = [*([] if asked is None else [asked]), *felt(window, episode)]
        if not cold or not harm:
            continue
        idlest = min(cold, key=lambda one: level[one.name])
        return _said(window, group, hot, idlest, (level[hot.name], level[idlest.name]), episode, harm)
    return None


def _said(
    window: Window,
    group: tuple[str, str],
    hot: _Member,
    cold: _Member,
    levels: tuple[float, float],
    episode: Episode,
    harm: Sequence[Evidence],
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The {hot.role} {hot.name} used {share(levels[0])} of its CPU from {when.en} while the {cold.role} "
            f"{cold.name} used {share(levels[1])}{hot.source.en}. {harm[-1].text.en}",
            f"{when.ja}から{_ROLES.get(hot.role, hot.role)}{hot.name}のCPUは{share(levels[0])}、"
            f"{_ROLES.get(cold.role, cold.role)}{cold.name}は{share(levels[1])}だった{hot.source.ja}。"
            f"{harm[-1].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels={group[0]: group[1]},
        evidence=[_cpu_shown(window, hot, levels[0], episode), _cpu_shown(window, cold, levels[1], episode), *harm],
        steps=[
            Step(
                text=Words(
                    "Send reads that may be some milliseconds old to the readers, over a pool of their own."
                    if hot.role == "writer"
                    else "Spread the reads over all readers, and let the writer take those that must be fresh.",
                    "数ミリ秒古くてもよい読み取りは、専用のプールでリーダーに向ける。"
                    if hot.role == "writer"
                    else "読み取りを全リーダーに分散し、最新であるべきものはライターに任せる。",
                ),
            ),
            Step(
                text=Words(
                    "Let connections end after a while, so that new ones reach the other members.",
                    "接続を一定時間で閉じ、新しい接続が他のメンバーに届くようにする。",
                ),
                code="db.SetConnMaxLifetime(time.Minute)",
            ),
        ],
    )


_ROLES = {"writer": "ライター", "reader": "リーダー"}


def _cpu_shown(window: Window, member: _Member, level: float, episode: Episode) -> Evidence:
    return show(
        window,
        Words(
            f"{member.name} ({member.role}): {share(level)} of its CPU{member.source.en}.",
            f"{member.name}({_ROLES.get(member.role, member.role)}): CPU {share(level)}{member.source.ja}。",
        ),
        link=Link.LIMIT,
        expression=member.expression,
        unit=Unit.RATIO,
        values=member.cpu,
        value=level,
        at=episode.first,
        limit=1.0,
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(ROLE, CLOUD_INFO),
    reads=(*PROGRAM_METRICS, CLOUD_CPU),
    usual=False,
    switched_on_by=SWITCHED_ON_BY,
)
