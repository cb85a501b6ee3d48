"""Error lines of logs that appear for the first time while requests fail: quoted as evidence. Pure."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.model import Evidence, Finding, Link, Severity
from loadwatch_backend.findings.window import Window

MESSAGES, TEXTS, LINES = "log_messages_total", "log_pattern_info", "log_lines_total"
LOG_METRICS = (MESSAGES, TEXTS, LINES)
MOST_QUOTED = 2
AROUND_MS = 5_000
"""Lines are written when a request is given up, a little after it began to wait."""
READ_BEFORE_MS = 10_000
"""A log that was read for a shorter time before says nothing of what is new."""
ERROR_LEVELS = ("critical", "error")
_ERROR_WORDS = re.compile(r"error|fail|refused|reset|timed? ?out|too many|panic|fatal|exception|denied|deadlock", re.I)
MOST_TEXT = 160


def with_log_lines(window: Window, finding: Finding) -> Finding:
    """The finding with what the logs wrote while it did harm; as it is where nobody felt it, or no log says more.

    A quote stands beside what was felt, and is no further link of the chain.
    """
    load = window.load
    if load is None or finding.weight is Severity.INFO or not any(one.link is Link.EFFECT for one in finding.evidence):
        return finding
    first = window.grid.index(finding.from_ms - AROUND_MS)
    span = slice(first, max(window.grid.index(finding.to_ms + AROUND_MS), first + 1))
    if window.total(load.failed(), span) < 1:
        return finding
    quotes = sorted(_quotes(window, span), key=lambda one: (-one.value, one.text.en))[:MOST_QUOTED]
    return replace(finding, evidence=[*finding.evidence, *quotes]) if quotes else finding


def _quotes(window: Window, span: slice) -> list[Evidence]:
    texts = {
        (one.get("job"), one.get("instance"), one.get("pattern_id")): one.get("pattern", "")
        for one in window[TEXTS].labels
    }
    messages = window[MESSAGES]
    found: list[Evidence] = []
    for row, labels in enumerate(messages.labels):
        text = texts.get((labels.get("job"), labels.get("instance"), labels.get("pattern_id")), "")
        level = labels.get("level", "")
        if not text or not (level in ERROR_LEVELS or (level == "" and _ERROR_WORDS.search(text))):
            continue
        before, during = messages.values[row, : span.start], messages.values[row, span]
        known = during[np.isfinite(during)]
        if np.nan_to_num(before).any() or not known.size or known[-1] < 1 or not _read_before(window, labels, span):
            continue
        name, quoted = labels.get("instance", ""), text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
        found.append(
            evidence(
                window,
                "log-lines.new",
                messages.values[row],
                value=float(known[-1]),
                at=span.start + int(np.flatnonzero(np.nan_to_num(during) > 0)[0]),
                name=name,
                known=known[-1],
                quoted=quoted,
                target=labels,
            )
        )
    return found


def _read_before(window: Window, labels: Mapping[str, str], span: slice) -> bool:
    """Whether the log was followed long enough before, so that a pattern which was not there is a new one."""
    lines = window[LINES].where(job=labels.get("job", ""), instance=labels.get("instance", ""))
    known = np.flatnonzero(np.isfinite(lines.max))
    return bool(known.size) and (span.start - int(known[0])) * window.grid.step_ms >= READ_BEFORE_MS
