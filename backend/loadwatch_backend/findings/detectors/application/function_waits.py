"""A function holds a lock that others wait for, by the mutex and block profiles that were kept with the run."""

from loadwatch_backend.evidence.profiles.model import Kind as Profiled
from loadwatch_backend.evidence.profiles.waiting import LockWaits
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import state, whole
from loadwatch_backend.findings.seen.facts import felt, usual
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, figure, share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_WAITING = 0.5
"""Requests that wait at once on average, from which it is worth a word."""
LEAST_PART = 0.3
"""Of all waiting for locks."""
MOST = 2

KIND = Kind(
    id="function-waits",
    severity=Severity.WARNING,
    title=Words("A function that others wait for", "ロックを待たせている関数"),
    explanation=Words(
        "Go's profiles say in which function a lock was given back that others waited for, or in which it was waited "
        "for. While one holds it, the others do nothing, however many cores there are.",
        "Goのプロファイルは、他が待っていたロックをどの関数が手放したか、またはどの関数で待ったかを示す。1つが保持する間、"
        "コアがいくつあっても他は進まない。",
    ),
    rule=Rule(
        text=Words(
            "Half a goroutine or more waits at any time, a third of it or more for one function.",
            "常時平均0.5以上のgoroutineがロックを待ち、その3割以上が1つの関数による。",
        ),
        source="Go, package runtime, SetMutexProfileFraction and SetBlockProfileRate",
    ),
    refuted_by=Words(
        "A profile of the same load without that lock, and the same response times.",
        "そのロックがない状態で同じ負荷をかけても、応答時間が変わらないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each function that held locks; for those that waited where only that is known."""
    held = [one for one in window.lock_waits if one.kind is Profiled.MUTEX]
    seen = held or [one for one in window.lock_waits if one.kind is Profiled.BLOCK]
    if not seen:
        return Look()
    found = [(seconds, name, one) for one in seen for name, seconds in one.functions.items()]
    found = [one for one in found if one[0] >= LEAST_WAITING and one[0] >= LEAST_PART * one[2].seconds]
    if not found:
        most = sum(one.seconds for one in seen)
        return Look(
            clear=Words(
                f"In the profiles {figure(most)} goroutines waited for locks at once on average.",
                f"プロファイルでロックを待っていたgoroutineは平均{figure(most)}。",
            )
        )
    found.sort(key=lambda one: (-one[0], one[1]))
    return Look(findings=[_finding(window, *one) for one in found[:MOST]])


def _finding(window: Window, seconds: float, name: str, waits: LockWaits) -> Finding:
    rate = usual(window.load.rate, window.focus) if window.load is not None else float("nan")
    each = seconds / rate if rate > 0 else float("nan")
    # What takes far longer than it makes a request wait has another reason.
    harm = felt(window, whole(window), each) if rate > 0 else []
    part = share(min(seconds / waits.seconds, 1.0))
    request = Words("", "")
    if rate > 0:
        request = Words(f", {duration(each)} a request", f"(1リクエストあたり{duration_ja(each)})")
    if waits.kind is Profiled.MUTEX:
        said = Words(
            f"{name} holds a lock for which {figure(seconds)} others wait at any time{request.en}: {part} of all "
            "waiting for locks.",
            f"{name}が保持するロックを、常に平均{figure(seconds)}のgoroutineが待つ{request.ja}。ロック待ち全体の{part}。",
        )
    else:
        said = Words(
            f"In {name} {figure(seconds)} wait for a lock at any time{request.en}: {part} of all waiting for locks.",
            f"{name}で常に平均{figure(seconds)}のgoroutineがロックを待つ{request.ja}。ロック待ち全体の{part}。",
        )
    labels = {"function": name} | ({"job": waits.job} if waits.job else {})
    job = f'{{job="{waits.job}"}}' if waits.job else ""
    return Finding(
        kind=KIND,
        severity=None if harm else Severity.INFO,
        sentence=Words(
            " ".join([said.en, *(one.text.en for one in harm[:1])]), said.ja + "".join(one.text.ja for one in harm[:1])
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels,
        evidence=[
            state(
                window,
                said,
                link=Link.DEMAND,
                expression=f"rate(go_sync_mutex_wait_total_seconds_total{job}[15s])",
                unit=Unit.COUNT,
                value=seconds,
                limit=LEAST_WAITING,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words(
                    "Do what takes long before the lock or after it; one lock for each key in place of one for all; "
                    "sync.RWMutex where most only read.",
                    "時間のかかる処理はロックの外に出す。全体で1つのロックをキーごとに分ける。読み取りが大半ならsync.RWMutex。",
                ),
                code="value := compute(input) // outside\nmu.Lock()\ncache[key] = value\nmu.Unlock()",
            )
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(), usual=False)
