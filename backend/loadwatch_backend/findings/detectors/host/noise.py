"""Programs that are not watched, or the hypervisor, take the host's CPU: figures of this window say little."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.host_cpu import NOISE_METRICS, STOLEN, HostCpu, host_cpus
from loadwatch_backend.findings.seen.hosts import CPU
from loadwatch_backend.findings.seen.numbers import figure, share
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_WAITING = 0.3
"""Share of the time in which some task waited for a core, from which others were felt."""

KIND = Kind(
    id="host-noise",
    severity=Severity.INFO,
    title=Words("Others use the host", "ホストの他の負荷"),
    explanation=Words(
        "The CPU of this host was taken by programs that are not watched, or by other machines on the same hardware. "
        "Everything that runs here then waits for its turn, and each latency rises at once. That says nothing of the "
        "system under test. A load generator that runs on this host counts among them.",
        "監視対象でないプログラム、または同じ物理マシン上の他の仮想マシンがこのホストのCPUを使っていた。ここで動くものは"
        "すべて順番待ちになり、遅延が一斉に伸びる。テスト対象の問題とはいえない。同じホストの負荷生成ツールも含まれる。",
    ),
    rule=Rule(
        text=Words(
            "Steal is time in which this machine could have run and the hypervisor ran another. Compare only runs of "
            "hosts that were quiet.",
            "stealは、動けたのにハイパーバイザーが他を動かしていた時間。静かなホストでの結果だけを比較する。",
        ),
        source="proc_stat(5), steal; Linux kernel documentation, accounting/psi",
    ),
    refuted_by=Words(
        "The process list (top) at that time: one of the watched programs, or a child of it, used the CPU.",
        "その時間のtopで、CPUを使っていたのが監視対象のプログラムかその子プロセスであること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host whose CPU others took."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for host in host_cpus(window):
        least = least_instants(window.grid, host.interval_ms, seconds=5)
        found = episodes(focused(window, host.noisy), least=least, gap=5)
        if found:
            findings.append(_finding(window, host, found))
            continue
        busy = largest(host.busy, window.focus) / host.cores
        if not np.isfinite(busy):
            continue
        if not np.isfinite(host.foreign[window.focus]).any():
            full = episodes(focused(window, host.full), least=least, gap=5)
            if full:
                observations.append(_nobody_watched(host, busy))
            continue
        others = largest(host.foreign, window.focus)
        clear.append(
            Words(
                f"{host.name} used {share(busy)} of its CPU at most; programs that are not watched took "
                f"{figure(others)} of {host.cores} cores.",
                f"{host.name}のCPU使用率は最大{share(busy)}。監視外のプログラムは{host.cores}コア中{figure(others)}。",
            )
        )
    return Look(findings=findings, clear=together(clear), observations=observations)


def _nobody_watched(host: HostCpu, busy: float) -> Words:
    return Words(
        f"{host.name} used {share(min(busy, 1.0))} of its CPU; no program is watched there, so nothing tells who.",
        f"{host.name}のCPU使用率は{share(min(busy, 1.0))}。監視するプログラムがないため、何が使ったかは不明。",
    )


def _finding(window: Window, host: HostCpu, found: list[Episode]) -> Finding:
    whole = window.one_of(found)
    holds = np.zeros(window.grid.count, dtype=np.bool_)
    for one in found:
        holds[one.span] = True
    inside = slice(whole.first, whole.end)
    stolen = usual(np.where(holds, host.stolen, np.nan), inside)
    foreign = usual(np.where(holds, host.foreign, np.nan), inside)
    by_hypervisor = bool(stolen >= STOLEN * host.cores)
    amount = stolen if by_hypervisor else foreign
    seconds = sum(len(one) for one in found) * window.step_seconds
    when = since_start(window, window.grid.time_ms(whole.first))
    en, ja = (
        ("the hypervisor took", "ハイパーバイザーが")
        if by_hypervisor
        else ("programs that are not watched took", "監視外のプログラムが")
    )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"For {figure(seconds)} s from {when.en}, {en} {figure(amount)} of the {host.cores} cores of {host.name}; "
            "whatever was slow meanwhile may be slow for that alone.",
            f"{when.ja}から{figure(seconds)}秒間、{ja}{host.name}の{host.cores}コア中{figure(amount)}を使用。"
            "その間の遅さはそのためかもしれない。",
        ),
        from_ms=window.grid.time_ms(whole.first),
        to_ms=window.grid.time_ms(whole.end - 1),
        labels=host.labels,
        evidence=[*_evidence(window, host, amount, whole, by_hypervisor=by_hypervisor), *felt(window, whole)],
        steps=[
            Step(
                text=Words("See what else runs on this host.", "このホストで他に何が動いているか確認する。"),
                code="ps -eo pid,user,pcpu,etime,args --sort=-pcpu | head",
            ),
            Step(
                text=Words(
                    "Run the load generator on a host of its own, and repeat this run while the host is quiet.",
                    "負荷生成ツールは別のホストで動かし、静かなときに再実行する。",
                )
            ),
        ],
    )


def _evidence(window: Window, host: HostCpu, amount: float, whole: Episode, *, by_hypervisor: bool) -> list[Evidence]:
    chosen = selector(host.labels)[1:-1]
    found = [
        show(
            window,
            Words(
                f"{figure(largest(host.busy, whole.span))} of {host.cores} cores were at work.",
                f"{host.cores}コア中{figure(largest(host.busy, whole.span))}が稼働。",
            ),
            link=Link.LIMIT,
            expression=f'sum(rate({CPU}{{{chosen},mode!~"idle|iowait|steal"}}[5s]))',
            unit=Unit.COUNT,
            values=host.busy,
            limit=float(host.cores),
        ),
        show(
            window,
            Words(
                f"{figure(amount)} cores were stolen." if by_hypervisor else f"{figure(amount)} cores went to others.",
                f"{figure(amount)}コアがsteal。" if by_hypervisor else f"{figure(amount)}コアは監視外のプログラム。",
            ),
            link=Link.LIMIT,
            expression=f'sum(rate({CPU}{{{chosen},mode="steal"}}[5s]))'
            if by_hypervisor
            else f'sum(rate({CPU}{{{chosen},mode!~"idle|iowait|steal"}}[5s]))'
            " - sum(rate(process_cpu_seconds_total[5s]))",
            unit=Unit.COUNT,
            values=host.stolen if by_hypervisor else host.foreign,
            value=amount,
            at=whole.first,
            limit=float(host.cores),
        ),
    ]
    waiting = usual(host.waiting, whole.span)
    if waiting >= LEAST_WAITING:
        found.append(
            show(
                window,
                Words(
                    f"Tasks waited for a core {share(min(waiting, 1.0))} of the time.",
                    f"時間の{share(min(waiting, 1.0))}でタスクがCPU待ち。",
                ),
                link=Link.DEMAND,
                expression=f"rate(node_pressure_cpu_waiting_seconds_total{{{chosen}}}[5s])",
                unit=Unit.RATIO,
                values=host.waiting,
                value=waiting,
                at=whole.first,
            )
        )
    return found


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(CPU,),
    reads=NOISE_METRICS,
    switched_on_by="host: {}",
)
