"""A watched application uses all the cores that it may, and the load is held up by it."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.demand import IN_FLIGHT, broken, queued, unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.host_cpu import FOREIGN, PROGRAM_CPU, PROGRAM_METRICS, STOLEN, Program, programs
from loadwatch_backend.findings.seen.lives import lives
from loadwatch_backend.findings.seen.numbers import figure, share
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.88
"""Share of the cores that it may use: scheduling and garbage collection leave holes, 9 % in Go on one core."""
MOST = 0.5
"""Share of a full host from which one program is the one that fills it."""
BY_FAR = 0.6
OTHERS = 0.6
"""What others may take of a full host, as a share of what the program takes."""
LEAST_WAITING = 0.5
LEAST_SECONDS = 5.0

_WHY = {
    "host": Words("all that the host has", "ホストの全コア"),
    "GOMAXPROCS": Words("its GOMAXPROCS", "GOMAXPROCSの値"),
    "quota": Words("its CPU quota", "CPUクォータ"),
    "declared": Words("the limit that is declared for it", "宣言された上限"),
}

KIND = Kind(
    id="app-cpu-full",
    resource="host_cpu",
    severity=Severity.CRITICAL,
    title=Words("The application's CPU is full", "アプリのCPU飽和"),
    explanation=Words(
        "The application computes on all the cores that it may use. Each further request waits until another is done; "
        "answers become slower with each request more, and the rate stays where it is.",
        "アプリが使えるコアをすべて使っている。次のリクエストは他の処理が終わるまで待ち、負荷を増やしても"
        "スループットは伸びず、応答だけが遅くなる。",
    ),
    rule=Rule(
        text=Words(
            "Utilisation law: cores in use = requests per second × CPU seconds of each. The rate ends where that "
            "reaches the cores there are.",
            "利用率の法則: 使用コア数 = 毎秒のリクエスト数 × 1件あたりのCPU秒。これがコア数に達すると頭打ちになる。",
        ),
        source="P. J. Denning, J. P. Buzen, The Operational Analysis of Queueing Network Models, "
        "ACM Computing Surveys 10 (1978)",
    ),
    refuted_by=Words(
        "A rate that rises when clients ask for more, or answers as slow while the process uses fewer cores.",
        "負荷を増やすとスループットが伸びること、またはCPU使用が少なくても応答が同じだけ遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each application that had no core left while the load was held up."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for program in programs(window):
        most = largest(program.cpu, window.focus)
        if program.database or not np.isfinite(most + program.allowed):
            continue
        full = focused(window, _full(program))
        least = least_instants(window.grid, program.interval_ms, seconds=LEAST_SECONDS)
        found = episodes(full, least=least, gap=5)
        words = Words(
            f"{program.name} used {figure(most)} of {figure(program.allowed)} cores at most.",
            f"{program.name}は{figure(program.allowed)}コア中最大{figure(most)}を使用。",
        )
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found, lives(window, program.labels))
        harm = _harm(window, program, episode)
        if harm is None:
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), program, episode, harm))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _full(program: Program) -> BoolArray:
    """Where it uses all that it may, which others then did not take from it, or most of a host that is theirs alone."""
    own = program.cpu >= FULL * program.allowed
    host = program.host
    if host is None:
        return own
    stolen = host.stolen >= STOLEN * host.cores
    alone = host.foreign < FOREIGN * host.cores
    # Others may take something as long as it is the program that fills the host, by far.
    by_far = (program.cpu >= BY_FAR * host.cores) & (host.foreign <= OTHERS * program.cpu)
    return own | (host.full & ~stolen & ((alone & (program.cpu >= MOST * host.cores)) | by_far))


def _harm(window: Window, program: Program, episode: Episode) -> list[Evidence] | None:
    """What shows that more was wanted; None where nothing does."""
    asked = unmet(window, episode)
    effects = felt(window, episode) or queued(window, program, episode) or broken(window, episode)
    if asked is None and not effects:
        return None
    demand = [] if asked is None else [asked]
    host = program.host
    waiting = float("nan") if host is None else usual(host.waiting, episode.span)
    if host is not None and waiting >= LEAST_WAITING:
        demand.append(
            show(
                window,
                Words(
                    f"Tasks waited for a core {share(min(waiting, 1.0))} of the time.",
                    f"時間の{share(min(waiting, 1.0))}でタスクがCPU待ち。",
                ),
                link=Link.DEMAND,
                expression=f"rate(node_pressure_cpu_waiting_seconds_total{selector(host.labels)}[5s])",
                unit=Unit.RATIO,
                values=host.waiting,
                value=waiting,
                at=episode.first,
            )
        )
    return [*demand, *effects]


def _finding(window: Window, program: Program, episode: Episode, harm: list[Evidence]) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, used = since_start(window, from_ms), usual(program.cpu, episode.span)
    why, consequence = _WHY[program.why], harm[-1].text
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{program.name} used {figure(used)} of {figure(program.allowed)} cores ({why.en}) from {when.en}. "
            f"{consequence.en}",
            f"{program.name}は{when.ja}から{figure(program.allowed)}コア({why.ja})中{figure(used)}を使用。"
            f"{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=program.labels,
        evidence=[
            show(
                window,
                Words(
                    f"{figure(used)} of {figure(program.allowed)} cores in use.",
                    f"{figure(program.allowed)}コア中{figure(used)}を使用。",
                ),
                link=Link.LIMIT,
                expression=f"sum(rate({PROGRAM_CPU}{selector(program.labels)}[5s]))",
                unit=Unit.COUNT,
                values=program.cpu,
                limit=program.allowed,
            ),
            *harm,
        ],
        steps=_steps(window, program, episode, used),
    )


def _steps(window: Window, program: Program, episode: Episode, used: float) -> list[Step]:
    steps: list[Step] = []
    if program.why in ("GOMAXPROCS", "quota") and program.host is not None and program.host.cores > program.allowed:
        more = program.host.cores
        steps.append(
            Step(
                text=Words(
                    f"The host has {more} cores: let the application use more of them.",
                    f"ホストは{more}コアある。アプリが使えるコア数を増やす。",
                ),
                code=f"GOMAXPROCS={more}" if program.why == "GOMAXPROCS" else f"CPUQuota={more * 100}%",
            )
        )
    load = window.load
    rate = float("nan") if load is None else usual(load.outcomes.get("ok", load.rate), episode.span)
    if rate > 0:
        steps.append(
            Step(
                text=Words(
                    f"Each request takes {figure(used / rate * 1_000)} ms of CPU now ({figure(used)} cores at "
                    f"{figure(rate)}/s): half of it is twice the rate. Look where it goes.",
                    f"1件あたりCPU {figure(used / rate * 1_000)} ms({figure(used)}コア、毎秒{figure(rate)}件)。"
                    "半分になればスループットは倍になる。プロファイルで確認する。",
                ),
                code="go tool pprof -top 'http://127.0.0.1:8080/debug/pprof/profile?seconds=10'",
            )
        )
    steps.append(
        Step(
            text=Words(
                "Or more instances: twice as many carry about twice the load, until what they share is full.",
                "またはインスタンスを増やす。共有する資源が飽和するまでは台数にほぼ比例する。",
            )
        )
    )
    return steps


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(PROGRAM_CPU,),
    reads=(*PROGRAM_METRICS, IN_FLIGHT),
    follows=("container-throttled", "host-swapping", "pool-per-request", "keep-alive-off"),
    switched_on_by="host: {}\nprocess:\n  port: 8080",
)
