"""wrk: the text that it prints (https://github.com/wg/wrk, wrk.c and units.c), and a script's `done()` as JSON.

A timeout in wrk is an answer that came later than `--timeout`: it is among the requests, and in no latency. A request
that is never answered is counted nowhere. Socket errors are not among the requests.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from loadwatch_formats.durations import parse_go_duration
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Endpoint, Latency, RampFacts
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink
from loadwatch_backend.runs.importers.outcomes import figures
from loadwatch_backend.runs.importers.reading.documents import (
    count,
    latency_of,
    mapping,
    number,
    only,
    read_document,
    read_lines,
    scaled,
)
from loadwatch_backend.runs.importers.reading.patterns import Linear

_RUNNING = Linear(r"(?m)^Running (\S+) test @ (\S+)")
_HEAD = Linear(r"(?m)^Running \S+ test @ \S+\r?\n +\d+ threads? and \d+ connections?")
_LATENCY = Linear(r"(?m)^ +Latency +(\S+) +(\S+) +(\S+) ")
_DISTRIBUTION = Linear(r"(?m)^ +([\d.]+)% +([\d.]+(?:us|ms|s|m|h))\s*$")
_TOTALS = Linear(r"(?m)^ +(\d+) requests in ([\d.]+(?:us|ms|s|m|h)), ([\d.]+)([KMGTP]?B) read")
_SOCKET = Linear(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = Linear(r"Non-2xx or 3xx responses: (\d+)")
_RATE = Linear(r"(?m)^Requests/sec: +([\d.]+)")
_JSON = Linear(r"(?m)^\{.*\}\s*$")
_BYTES = {unit: 1024**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB"))}
_ERRORS = ("connect", "read", "write", "status", "timeout")


def parse_time(text: str) -> float | None:
    """`4.51ms` in seconds; None for what wrk could not tell (`-nan%`)."""
    try:
        return parse_go_duration(text)
    except ValueError:
        return None


def is_summary(document: dict[str, Any]) -> bool:
    """Whether a JSON object is what a `done()` in the way of wrk's manual writes."""
    errors = mapping(document.get("errors"))
    return "requests" in document and "duration" in document and all(name in errors for name in _ERRORS)


def _outcomes(requests: int, errors: dict[str, Any]) -> Counter[Outcome]:
    found: Counter[Outcome] = Counter()
    found[Outcome.REFUSED] = count(errors.get("connect"))
    found[Outcome.RESET] = count(errors.get("read")) + count(errors.get("write"))
    late = min(count(errors.get("timeout")), requests)
    status = min(count(errors.get("status")), requests - late)
    found[Outcome.TIMEOUT] = late
    found[Outcome.OTHER] = status
    found[Outcome.OK] = requests - late - status
    return found


def _error_texts(errors: dict[str, Any]) -> list[tuple[str, int]]:
    texts = {
        "status": "Non-2xx or 3xx responses",
        "read": "Socket errors: read",
        "write": "Socket errors: write",
        "connect": "Socket errors: connect",
        "timeout": "Socket errors: timeout",
    }
    found = [(text, count(errors.get(name))) for name, text in texts.items()]
    return sorted((item for item in found if item[1]), key=lambda item: -item[1])


def _latency_of_summary(document: dict[str, Any]) -> Latency:
    latency = mapping(document.get("latency"))
    percentiles = {**mapping(latency.get("percentiles")), **latency}
    if number(latency.get("max")) == 0:  # nothing was answered in time: wrk writes zeros
        return Latency()
    return latency_of({**{f"p{name}": value for name, value in percentiles.items()}, **percentiles}, factor=1e-6)


def _aggregate(sink: Sink, summary: dict[str, Any], name: str, latency: Latency, rate: float | None) -> None:
    errors = mapping(summary.get("errors"))
    requests = count(summary.get("requests"))
    outcomes = _outcomes(requests, errors)
    total = figures(
        outcomes=outcomes,
        duration_seconds=scaled(summary.get("duration"), 1e-6),
        latency=latency,
        bytes_in=count(summary.get("bytes")) if "bytes" in summary else None,
    )
    sink.aggregate(total, (Endpoint(name=name, figures=total),), _error_texts(errors))
    socket = total.requests - requests
    if socket:
        sink.remark(
            "wrk-socket-errors",
            figures={"tool_requests": requests, "ours_requests": total.requests}
            | ({"tool_rate": rate} if rate is not None else {})
            | ({"ours_rate": total.rate} if total.rate is not None else {}),
            socket=socket,
        )
    if outcomes[Outcome.TIMEOUT]:
        sink.remark("wrk-timeouts", figures={"timeouts": outcomes[Outcome.TIMEOUT]})
    if socket or outcomes[Outcome.OTHER]:
        sink.remark("wrk-failure-kinds")
    sink.remark("wrk-no-series")


def read_wrk_text(parts: Sequence[Part], sink: Sink) -> None:
    """The printed report; a line of JSON from a `done()` in it has more digits and is preferred."""
    part = only(parts, sink)
    text = read_lines(part, "the text of wrk")
    totals, rate = _TOTALS.search(text), _RATE.search(text)
    if totals is None:
        raise UnreadableFileError(
            f'{parts[0].name}: wrk\'s line "N requests in T, B read" is missing: the text is cut off after '
            f"{len(text.splitlines())} lines. Nothing of it was imported; run wrk to its end."
        )
    if rate is None:
        sink.remark("damaged/wrk-text", place="end of file")
    running = _RUNNING.search(text)
    name = running[2] if running else "wrk"
    for line in _JSON.findall(text):
        document = _json_of(line)
        if is_summary(document):
            _aggregate(sink, document, name, _latency_of_summary(document), number(rate[1]) if rate else None)
            return
    requests, per_second = count(totals[1]), number(rate[1]) if rate else None
    seconds = requests / per_second if per_second else parse_time(totals[2]) or 0.0
    socket, status = _SOCKET.search(text), _STATUS.search(text)
    counts = [int(value) for value in socket.groups()] if socket else [0, 0, 0, 0]
    summary = {
        "requests": requests,
        "duration": seconds * 1e6,
        "bytes": round((number(totals[3]) or 0.0) * _BYTES[totals[4]], 0),
        "errors": dict(zip(("connect", "read", "write", "timeout"), counts, strict=True))
        | {"status": status[1] if status else 0},
    }
    sink.remark("wrk-rounded")
    if running and (planned := parse_time(running[1])):
        sink.describe(facts=RampFacts(duration_seconds=planned))
    _aggregate(sink, summary, name, _latency_of_text(text), per_second)


def _json_of(line: str) -> dict[str, Any]:
    try:
        return mapping(json.loads(line))
    except ValueError:
        return {}


def _latency_of_text(text: str) -> Latency:
    line = _LATENCY.search(text)
    mean, top = (parse_time(line[1]), parse_time(line[3])) if line else (None, None)
    if not top:  # nothing was answered in time: wrk prints zeros
        return Latency()
    found = {number(share): parse_time(value) for share, value in _DISTRIBUTION.findall(text)}
    return Latency(
        mean=mean, p50=found.get(50.0), p90=found.get(90.0), p95=found.get(95.0), p99=found.get(99.0), max=top
    )


def read_wrk_json(parts: Sequence[Part], sink: Sink) -> None:
    """What a script's `done()` wrote: durations and latencies in microseconds."""
    part = only(parts, sink)
    document = read_document(part, "the JSON of a wrk script")
    if not is_summary(document):
        raise UnreadableFileError(
            f"{part.name}: a wrk script's JSON needs requests, duration (µs) and errors with "
            f"{', '.join(_ERRORS)}. docs/guide/importing.md has a done() that writes them."
        )
    url = document.get("url")
    _aggregate(sink, document, url if isinstance(url, str) else "wrk", _latency_of_summary(document), None)


def _recognise_text(head: bytes) -> int:
    return 90 if _HEAD.search(head.decode(errors="replace")) else 0


def _recognise_json(head: bytes) -> int:
    start = head.lstrip()[:1]
    names = (b'"requests"', b'"duration"', b'"errors"', *(f'"{error}"'.encode() for error in _ERRORS))
    return 70 if start == b"{" and all(word in head for word in names) and b'"aggregate"' not in head else 0


WRK_TEXT = Importer("wrk-text", "wrk's printed report", _recognise_text, read_wrk_text)
WRK_JSON = Importer("wrk-json", "JSON of a wrk script's `done()`", _recognise_json, read_wrk_json)
