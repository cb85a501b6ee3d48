"""The processes that profiles can be taken of, as their agents say. Pure but for the store that is read."""

from loadwatch_formats.metrics.pprof import SOURCE
from loadwatch_formats.profile_kinds import MOST_SECONDS, PROFILE_KINDS

from loadwatch_backend.evidence.profiles.capture.planning import Process
from loadwatch_backend.evidence.profiles.capture.tables import NAME_LENGTH
from loadwatch_backend.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator, Reader

HEARD_MS = 120_000
"""An agent says it each quarter of a minute, a slow one each minute."""
AHEAD_MS = 600_000


def read_processes(store: Reader, now_ms: int) -> list[Process]:
    """Those that were heard of lately and have not ended, by job and instance."""
    named = Matcher("__name__", MatchOperator.EQUAL, SOURCE)
    selection = store.select([named], now_ms - HEARD_MS, now_ms + AHEAD_MS)
    found: dict[tuple[str, str], tuple[int, Process]] = {}
    for row, labels in enumerate(selection.labels):
        end = int(selection.offsets[row + 1])
        if end == int(selection.offsets[row]) or int(selection.values[end - 1 : end].view("u8")[0]) == STALE_NAN_BITS:
            continue
        process = _read_labels(labels)
        at_ms = int(selection.timestamps[end - 1])
        if process is not None:
            key = (process.job, process.instance)
            # Of two descriptions (the configuration was changed) the newer one holds.
            found[key] = max(found.get(key, (at_ms, process)), (at_ms, process), key=lambda one: one[0])
    return [found[key][1] for key in sorted(found)]


def _read_labels(labels: Labels) -> Process | None:
    job, instance = labels.get("job", ""), labels.get("instance", "")
    told = labels.get("kinds", "").split(",")
    kinds = tuple(kind for kind in PROFILE_KINDS if kind in told)
    seconds = labels.get("seconds", "")
    if not kinds or not seconds.isdecimal() or max(len(job), len(instance)) > NAME_LENGTH:
        return None
    return Process(job=job, instance=instance, kinds=kinds, seconds=min(max(int(seconds[:4]), 1), MOST_SECONDS))
