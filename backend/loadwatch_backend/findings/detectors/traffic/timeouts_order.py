"""Timeouts end in the wrong order, and requests fail now and then as they do for it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from loadwatch_formats.metrics.timeouts import GIVEN, LONGER

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, since_start, together
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Window, episodes
from loadwatch_backend.kit.language import Language
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words
from loadwatch_backend.timeouts.model import Check, Ladder, OrderVerdict
from loadwatch_backend.timeouts.readings import BALANCER_IDLE, METRICS, Latest, find_paths
from loadwatch_backend.timeouts.rules import check_ladder
from loadwatch_backend.timeouts.rungs import build_rungs
from loadwatch_backend.timeouts.schemas import CheckOut
from loadwatch_backend.timeouts.writing import write_ladder

HURTS: Mapping[str, tuple[str, ...]] = {
    "balancer_idle_before_app": ("http_5xx", "reset"),
    "pool_before_database": ("http_5xx",),
    "client_idle_before_balancer": ("reset",),
    "client_idle_before_app": ("reset",),
}
"""What fails where a rule is broken: connections that idle end under the request that takes them."""
LEAST_FAILED = 3
NOW_AND_THEN = 0.05
"""Share of failed requests up to which they are those of single connections; more have another reason."""

KIND = Kind(
    id="timeouts-out-of-order",
    severity=Severity.WARNING,
    title=Words("Timeouts out of order", "タイムアウトの順序の誤り"),
    explanation=Words(
        "Whoever waits for a connection to be used has to let it go before the other end does. Else a request now and "
        "then takes a connection that the other end is just closing: 502, 504 or a reset, though all are healthy.",
        "接続を使う側は、相手より先にアイドル接続を手放す必要がある。逆だと、相手が閉じる瞬間の接続にリクエストが乗り、"
        "すべて正常でも502、504、リセットが時々起きる。",
    ),
    rule=Rule(
        text=Words(
            "Idle timeouts rise from the client to the server: client, load balancer (60 s at an ALB), application.",
            "アイドルタイムアウトはクライアント、ロードバランサー(ALBは60秒)、アプリの順に長くする。",
        ),
        source="AWS, Application Load Balancers, connection idle timeout; Go, package net/http, type Server",
    ),
    refuted_by=Words(
        "Failures that go on with the order put right, or at a time when no connection was idle for so long.",
        "順序を直しても失敗が続くこと、またはその時間だけアイドルだった接続がないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each order that is wrong and has failures of its kind beside it."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for path in find_paths(_latest(window)):
        rungs = build_rungs(path.readings)
        checks = [one for one in check_ladder(rungs, direct=path.direct) if one.rule in HURTS]
        wrong = [one for one in checks if one.verdict is OrderVerdict.WRONG]
        if not wrong and any(one.verdict is OrderVerdict.RIGHT for one in checks):
            name = path.job or "discovery"
            clear.append(
                Words(f"The timeouts of {name} end in the right order.", f"{name}のタイムアウトの順序は正しい。")
            )
        for check in wrong:
            words = _words(Ladder(job=path.job, direct=path.direct, rungs=rungs, checks=(check,)))
            found = _finding(window, check, path.job, words)
            if found is None:
                observations.append(words.consequence)
            else:
                findings.append(found)
    return Look(findings=findings, clear=together(clear), observations=observations)


class _Said:
    """What the rule says, in both languages."""

    def __init__(self, en: CheckOut, ja: CheckOut) -> None:
        self.consequence = Words(en.consequence, ja.consequence)
        self.remedy = Words(en.remedy, ja.remedy)


def _words(ladder: Ladder) -> _Said:
    return _Said(*(write_ladder(ladder, language).checks[0] for language in (Language.EN, Language.JA)))


def _latest(window: Window) -> Sequence[Latest]:
    """The newest value of each series up to the end of the focus."""
    found: list[Latest] = []
    for metric in METRICS:
        table = window[metric]
        for row, labels in enumerate(table.labels):
            values = table.values[row, : window.focus.stop]
            places = np.flatnonzero(~np.isnan(values))
            if places.size:
                last = int(places[-1])
                named = {"__name__": metric, **labels}
                found.append(Latest(labels=named, value=float(values[last]), time_ms=window.grid.time_ms(last)))
    return found


def _finding(window: Window, check: Check, job: str, words: _Said) -> Finding | None:
    """None where nothing failed as it does for this, or no connection can have idled for so long."""
    load = window.load
    longer = math.inf if check.longer is None else check.longer.seconds
    if load is None or longer > (window.to_ms - window.from_ms) / 1_000:
        return None
    failed = load.failed(*HURTS[check.rule])
    times, sent = window.total(failed), window.total(load.rate)
    if times < LEAST_FAILED or times > NOW_AND_THEN * sent:
        return None
    found = episodes(focused(window, failed > 0), gap=window.grid.count)
    from_ms, to_ms = window.grid.time_ms(found[0].first), window.grid.time_ms(found[-1].end - 1)
    when = since_start(window, from_ms)
    shorter = math.inf if check.shorter is None else check.shorter.seconds
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{count(times)} of {count(sent)} requests failed from {when.en} as they do for timeouts in the wrong "
            f"order. {words.consequence.en}",
            f"{when.ja}からリクエスト{count(sent)}件中{count(times)}件が、タイムアウトの順序の誤りに典型的な形で失敗。"
            f"{words.consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=to_ms,
        labels={"rule": check.rule, **({"job": job} if job else {})},
        evidence=[
            show(
                window,
                Words(
                    f"{duration(shorter)} should be shorter than {duration(longer)}, and is not.",
                    f"{duration_ja(shorter)}は{duration_ja(longer)}より短くなければならない。",
                ),
                link=Link.LIMIT,
                expression="timeout_seconds",
                unit=Unit.SECONDS,
                values=np.full(window.grid.count, longer),
                value=longer,
                at=window.focus.start,
            ),
            show(
                window,
                Words(
                    f"{count(times)} of {count(sent)} requests failed so ({share(times / sent)}), up to "
                    f"{count(largest(failed, window.focus))} a second.",
                    f"リクエスト{count(sent)}件中{count(times)}件が失敗({share(times / sent)})。最大毎秒"
                    f"{count(largest(failed, window.focus))}件。",
                ),
                link=Link.EFFECT,
                expression=_expression(check),
                unit=Unit.PER_SECOND,
                values=failed,
            ),
        ],
        steps=[Step(text=words.remedy)],
    )


def _expression(check: Check) -> str:
    return f'sum(rate(loadtest_requests_total{{outcome=~"{"|".join(HURTS[check.rule])}"}}[5s]))'


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(GIVEN, LONGER, BALANCER_IDLE),
    reads=METRICS,
    usual=False,
    switched_on_by="timeouts:\n  client: {idle: 50s}\n  app: {idle: 75s}",
)
