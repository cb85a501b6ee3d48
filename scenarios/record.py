"""A case that was played becomes a recording: the archive of its run, made small and put in its place, and a label."""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from loadwatch_backend.evidence.records.files import RECORDS
from loadwatch_backend.runs.archive.format import ANALYSIS, RUN, SAMPLES, STORED
from loadwatch_collectors.runs.replay import FORMAT, VERSION

from scenarios.case import Case
from scenarios.samples import move_samples

FOLDER = Path(__file__).resolve().parent / "recordings"
FIRST_PLACE_MS = 1_767_225_600_000
"""2026-01-01T00:00Z."""
PLACE_MS = 20 * 60_000
"""From one place to the next: a run with what is seen before and after it has room."""
PLACES = 20_000
MINUTE_MS = 60_000
LEAST_TIME_MS = 10**12
"""A number of milliseconds from which on it is a time, and no length of one."""
LEFT_OUT = frozenset({ANALYSIS, RECORDS})
"""The analysis: whoever takes the archive in is to find for itself. Records of single requests: they are large, and the
figures of each second are there without them."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_recording(
    case: Case, archive: bytes, *, run: str, made: Mapping[str, Any], said: Sequence[str], root: Path
) -> Path:
    """Writes `recordings/<case>.zip` and `.json`; `root` is taken out of all paths. Returns the archive's path."""
    FOLDER.mkdir(exist_ok=True)
    target = FOLDER / f"{case.name}.zip"
    target.write_bytes(place(archive, case.name, root=root))
    label = make_label(case, run=run, made=made, said=said)
    target.with_suffix(".json").write_text(json.dumps(label, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def make_label(case: Case, *, run: str, made: Mapping[str, Any], said: Sequence[str]) -> dict[str, Any]:
    """What is known of a recording: the truth, and what findings said when it was made."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "case": case.name,
        "run": run,
        "title": case.title,
        "purpose": case.purpose.value,
        "kind": case.kind.value,
        "expected": list(case.expected),
        "allowed": sorted(case.allowed),
        "why": case.why,
        "made": dict(made),
        "said": list(said),
        "setup": {
            "apps": [asdict(app) for app in case.apps],
            "load": asdict(case.load),
            "load_environment": dict(case.load_environment),
            "load_seconds": case.seconds,
            "database": {
                "max_connections": case.max_connections,
                "options": list(case.database_options),
                "rows_before": case.rows_before,
            },
            "sysctls": dict(case.sysctls),
            "actions": [{"does": type(action).__name__, **asdict(action)} for action in case.actions],
            "watched_before_seconds": case.settle_seconds,
            "watched_after_seconds": case.after_seconds,
            **_further(case),
        },
    }


def _further(case: Case) -> dict[str, Any]:
    """What only some cases have."""
    found: dict[str, Any] = {}
    if case.thresholds:
        found["thresholds"] = list(case.thresholds)
    if case.parameters:
        found["parameters"] = dict(case.parameters)
    if case.earlier is not None:
        found["earlier"] = asdict(case.earlier)
    if len(case.watched) < 2:
        found["watched"] = sorted(case.watched)
    return found


def place_of(name: str) -> int:
    """Where a case's run lies, in milliseconds since the epoch; by its name, so that all fit on one server.

    Every case has the same instances, and was played minutes after another one: at their real times each would lie in
    what is seen before and after the others.
    """
    return FIRST_PLACE_MS + zlib.crc32(name.encode()) % PLACES * PLACE_MS


def place(archive: bytes, name: str, *, root: Path) -> bytes:
    """The same run, moved to its place by whole minutes, in a tenth of the bytes."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(output, "w") as target:
        started_ms = json.loads(source.read(RUN))["started_ms"]
        by_ms = (place_of(name) - started_ms) // MINUTE_MS * MINUTE_MS
        for member in source.infolist():
            if member.filename in LEFT_OUT:
                continue
            content = source.read(member)
            if member.filename == SAMPLES:
                content = move_samples(content, by_ms)
            elif member.filename.endswith(".json"):
                document = _moved(json.loads(content.replace(f"{root}/".encode(), b"")), by_ms)
                content = json.dumps(_without_records(document), separators=(",", ":"), ensure_ascii=False).encode()
            packed = zipfile.ZipInfo(member.filename, _EPOCH)
            packed.compress_type = zipfile.ZIP_STORED if member.filename in STORED else zipfile.ZIP_DEFLATED
            packed.external_attr = 0o100644 << 16
            target.writestr(packed, content, compresslevel=9)
    return output.getvalue()


def _moved(value: Any, by_ms: int, name: str = "") -> Any:
    """Every time in a document: a large enough number under a name that ends in `_ms`."""
    if isinstance(value, dict):
        return {key: _moved(one, by_ms, key) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_moved(one, by_ms, name) for one in cast("list[Any]", value)]
    if name.endswith("_ms") and isinstance(value, int) and value > LEAST_TIME_MS:
        return value + by_ms
    return value


def _without_records(document: Any) -> Any:
    return {**document, "has_records": False} if "has_records" in document else document
