"""What the status line says of a run under way, and the summary of one that has ended."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from loadwatch_formats.numbers import format_count, format_score, format_value

from loadwatch_collectors.runs.live_seconds import LiveFigures
from loadwatch_collectors.runs.tools import Target

_LATENCIES = ("p50", "p90", "p95", "p99", "max")


class Nearest(NamedTuple):
    name: str
    used: float
    limit: float


def read_nearest(headroom: Mapping[str, Any]) -> Nearest | None:
    """The first entry of the server's headroom, which is sorted; None when nothing is watched."""
    entries = cast("Sequence[Mapping[str, Any]]", headroom.get("resources") or ())
    if not entries:
        return None
    first = entries[0]
    title, name = str(first["title"]), str(first["name"])
    return Nearest(
        name=f"{title} {name}".strip() if name not in title else title,
        used=float(first["used"]),
        limit=float(first["limit"]),
    )


def describe_progress(
    *, run: str, elapsed: float, target: Target, figures: LiveFigures | None, nearest: Nearest | None, problem: str
) -> str:
    planned = target.duration_seconds
    parts = [run, clock(elapsed) + (f" of {clock(planned)}" if planned else "")]
    if figures is not None:
        parts.append(_rate(figures.rate) + (f" of {_rate(target.rate)}" if target.rate else ""))
        share = figures.failures / figures.requests if figures.requests else 0.0
        failed = f"{format_count(figures.failures)} failed ({percent(share)})" if figures.failures else "none failed"
        parts.append(f"{format_count(figures.requests)} requests, {failed}")
    if nearest is not None:
        ratio = nearest.used / nearest.limit if nearest.limit else 0.0
        parts.append(f"nearest limit: {nearest.name} {percent(ratio)} of {format_value(nearest.limit, 'count')}")
    if problem:
        parts.append(problem)
    return " | ".join(parts)


def describe_run(run: Mapping[str, Any]) -> list[str]:
    verdict = run.get("verdict")
    lines = [f"{run['id']}: {run['state']}" + (f", verdict: {verdict}" if verdict else "")]
    if run.get("requests"):
        ratio = run.get("success_ratio")
        good = f", {percent(ratio)} good" if ratio is not None else ""
        lines.append(f"  {format_count(run['requests'])} requests, {_rate(run.get('rate'))}{good}")
        failures = {name: count for name, count in run["outcomes"].items() if name != "ok" and count}
        if failures:
            lines.append(
                "  failures: " + ", ".join(f"{name} {format_count(count)}" for name, count in failures.items())
            )
        latency = run["latency_seconds"]
        told = [
            f"{name} {format_value(latency[name], 'seconds')}" for name in _LATENCIES if latency.get(name) is not None
        ]
        if told:
            lines.append("  latency: " + ", ".join(told))
    for own in cast("Sequence[Mapping[str, Any]]", run.get("own_figures") or ()):
        shown = "-" if own["value"] is None else format_score(own["value"], own.get("unit", ""))
        lines.append(f"  {own['name']}: {shown}" + (f" ({own['detail']})" if own["detail"] else ""))
    for threshold in cast("Sequence[Mapping[str, Any]]", run.get("thresholds") or ()):
        lines.append("  " + describe_threshold(threshold))
    check = cast("Mapping[str, Any]", run.get("generator") or {})
    if check.get("state") == "held-back":
        lines.append(f"  target rate not reached: clients waited for answers ({check['detail']})")
    if verdict == "invalid":
        lines.append("  the figures cannot tell: " + ", ".join(_reasons(run)))
    return lines


_REASONS = {
    "aborted": "the run was aborted",
    "no-requests": "no request was sent",
    "generator-saturated": "the load generator was the limit",
    "not-measured": "a threshold could not be measured",
}


def _reasons(run: Mapping[str, Any]) -> list[str]:
    check = cast("Mapping[str, Any] | None", run.get("generator"))
    detail = str(check["detail"]) if check else ""
    told = {**_REASONS, "generator-saturated": f"{_REASONS['generator-saturated']} ({detail})"} if detail else _REASONS
    return [told.get(reason, reason) for reason in run.get("verdict_reasons") or ["unknown"]]


def describe_threshold(threshold: Mapping[str, Any]) -> str:
    """`passed p95<300ms: 212ms over steady`."""
    actual = threshold.get("actual")
    shown = "not measured" if actual is None else format_value(float(actual), str(threshold.get("unit") or ""))
    untold = actual is None or threshold["state"] == "unknown"
    detail = f" ({threshold['detail']})" if threshold.get("detail") and untold else ""
    return f"{threshold['state']:7} {threshold['expression']}: {shown} over {threshold['window']}{detail}"


def clock(seconds: float) -> str:
    """`0:42`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def percent(ratio: float) -> str:
    """A ratio in per cent, never rounded up to 100 or down to 0."""
    shown = f"{ratio * 100:.4g}"
    if ratio < 1 and shown == "100":
        return ">99.99%"
    return f"{shown}%"


def _rate(value: float | None) -> str:
    return "-/s" if value is None else format_value(value, "per_second")


def change(delta: float) -> str:
    """A relative change: `+12.5%`, and `x874` from tenfold on."""
    return f"x{delta + 1:.0f}" if delta >= 9 else f"{delta * 100:+.1f}%"
