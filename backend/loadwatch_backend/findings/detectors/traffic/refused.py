"""Connections are refused: nobody listens where the load knocks."""

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import FELT_SHARE, LEAST_FAILED, felt, focused, selector, since_start
from loadwatch_backend.findings.seen.lives import LIFE_METRICS, Death, deaths, torn
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Episode, Window, episodes
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

KIND = Kind(
    id="connections-refused",
    severity=Severity.CRITICAL,
    title=Words("Connections refused", "接続拒否"),
    explanation=Words(
        "The host answered, and no program listens at that port: it has ended, has not begun, or listens elsewhere. "
        "A full queue does not refuse, it keeps silent.",
        "ホストは応答したが、そのポートで待ち受けるプログラムがない。終了したか、起動前か、別のポートで待っている。"
        "キューの飽和では拒否にならず、応答がなくなる。",
    ),
    rule=Rule(
        text=Words(
            "A SYN to a port where nothing listens is answered by a reset; the client sees ECONNREFUSED at once.",
            "待ち受けのないポートへのSYNにはRSTが返り、クライアントは直ちにECONNREFUSEDになる。",
        ),
        source="RFC 9293, 3.5.2 Reset Generation; connect(2)",
    ),
    refuted_by=Words(
        "ss -ltn shows the port listening at that time: then a firewall or a proxy refuses.",
        "その時間にss -ltnで待ち受けが見えること。その場合はファイアウォールやプロキシが拒否している。",
    ),
)


def look(window: Window) -> Look:
    """One finding where the load was refused."""
    load = window.load
    if load is None:
        return Look()
    sent, refused = window.total(load.rate), load.failed("refused")
    times = window.total(refused)
    if times < LEAST_FAILED or times < FELT_SHARE * sent:
        return Look(
            clear=Words(
                f"{count(times)} of {count(sent)} requests were refused.",
                f"リクエスト{count(sent)}件中、拒否は{count(times)}件。",
            )
        )
    found = episodes(focused(window, refused > 0), gap=5)
    episode = window.one_of(found)
    times = window.total(refused, episode.span)
    gone = [death for death in deaths(window) if death.gone_during(episode) and not death.database]
    # Stopped with care, and back: refusals are what a restart costs, and nobody's fault.
    restarted = bool(gone) and all(death.back is not None and not torn(window, death) for death in gone)
    named = gone[0] if len(gone) == 1 else None
    return Look(findings=[_finding(window.during(episode), episode, times, sent, named, restarted=restarted)])


def _finding(
    window: Window, episode: Episode, times: float, sent: float, gone: Death | None, *, restarted: bool
) -> Finding:
    load = window.load
    assert load is not None
    from_ms = window.grid.time_ms(episode.first)
    when, length = since_start(window, from_ms), len(episode) * window.step_seconds
    who = (
        Words("", "") if gone is None else Words(f"; {gone.name} did not run then", f"。{gone.name}は動いていなかった")
    )
    refused = load.failed("refused")
    demand = show(
        window,
        Words(
            f"{count(times)} of {count(sent)} requests were refused ({share(times / sent)}).",
            f"リクエスト{count(sent)}件中{count(times)}件が拒否({share(times / sent)})。",
        ),
        link=Link.DEMAND,
        expression='sum(rate(loadtest_requests_total{outcome="refused"}[5s]))',
        unit=Unit.PER_SECOND,
        values=refused,
    )
    effects = [one for one in felt(window, episode) if 'outcome="refused"' not in one.expression]
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{count(times)} of {count(sent)} requests were refused within {duration(length)} from {when.en}{who.en}.",
            f"{when.ja}から{duration_ja(length)}の間に、リクエスト{count(sent)}件中{count(times)}件が接続拒否{who.ja}。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels={} if gone is None else gone.labels,
        evidence=[*_gone(window, gone), demand, *effects],
        steps=[
            Step(
                text=Words(
                    "See whether the program runs, and where it listens.",
                    "プログラムの稼働と待ち受けポートを確認する。",
                ),
                code="ss -ltnp\nsystemctl status <unit>\njournalctl -u <unit> -n 50",
            )
        ],
        severity=Severity.INFO if restarted else None,
    )


def _gone(window: Window, gone: Death | None) -> list[Evidence]:
    if gone is None:
        return []
    return [
        show(
            window,
            Words(f"{gone.name} did not run.", f"{gone.name}は動いていなかった。"),
            link=Link.LIMIT,
            expression=f"up{selector({**gone.labels, 'collector': 'process'})}",
            unit=Unit.COUNT,
            values=gone.running,
            value=0.0,
            at=min(gone.at, window.grid.count - 1),
        )
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(),
    reads=LIFE_METRICS,
    follows=("process-died", "host-memory-growing", "host-swapping"),
)
