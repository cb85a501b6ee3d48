"""`result.json` and `seconds.npz`: a `LoadResult` on disk, and back. No pickle: archives come from elsewhere."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from loadwatch_formats.outcomes import OUTCOMES, Outcome
from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import (
    Endpoint,
    Figures,
    Latency,
    LoadResult,
    RampFacts,
    Remark,
    RemarkKind,
    Seconds,
)

VERSION = 1
_MOST_SECONDS = LONGEST_RUN_DAYS * 86_400 + 1
_MOST_BYTES = 512 * 1024 * 1024
_AS_WRITTEN = ("format", "tool", "tool_version", "name", "start_ms", "end_ms", "has_records")
_ARRAYS = ("outcomes", "latency", "bytes_in", "bytes_out", "users", "fastest")


class DamagedResultError(InvalidError, code="damaged-result", title="Result of a run cannot be read"):
    """The files of a result are not what `save` wrote."""


def save(result: LoadResult, files: RunFiles) -> None:
    """Writes both files; the arrays first, so that a `result.json` never names seconds that are not there."""
    seconds = result.seconds
    if seconds is not None:
        present = {name: array for name in _ARRAYS if (array := getattr(seconds, name)) is not None}
        with files.seconds.open("wb") as target:
            np.savez_compressed(target, **present)
    else:
        files.seconds.unlink(missing_ok=True)
    document = {"version": VERSION, **asdict(replace(result, seconds=None))}
    if seconds is not None:
        document["seconds"] = {"start_ms": seconds.start_ms, "exact": seconds.exact}
    partial = files.result.with_suffix(".part")
    partial.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    partial.replace(files.result)


def load(files: RunFiles) -> LoadResult:
    """Reads both files.

    Raises:
        DamagedResultError: if one is missing, of a newer version, or not well formed.
    """
    try:
        document: dict[str, Any] = json.loads(files.result.read_text(encoding="utf-8"))
        if document["version"] > VERSION:
            raise DamagedResultError(
                f"{files.result.name} has version {document['version']}, newer than this server's. Update it."
            )
        return LoadResult(
            **{name: document[name] for name in _AS_WRITTEN},
            figures=_figures(document["figures"]),
            endpoints=tuple(Endpoint(name=e["name"], figures=_figures(e["figures"])) for e in document["endpoints"]),
            errors=tuple((text, count) for text, count in document["errors"]),
            seconds=None if document["seconds"] is None else _seconds(document["seconds"], files.seconds),
            remarks=tuple(Remark(**(r | {"kind": RemarkKind(r["kind"])})) for r in document["remarks"]),
            facts=RampFacts(**document["facts"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise DamagedResultError(f"{files.result.name}: {error!r}. Import the result file again.") from error


def _figures(document: Mapping[str, Any]) -> Figures:
    fields: dict[str, Any] = dict(document)
    fields["latency"] = Latency(**document["latency"])
    fields["outcomes"] = {Outcome(name): count for name, count in document["outcomes"].items()}
    return Figures(**fields)


def _seconds(document: Mapping[str, Any], path: Path) -> Seconds:
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
            raise ValueError(f"{path.name} would unpack to more than {_MOST_BYTES} bytes")
    with np.load(path, allow_pickle=False) as archive:
        arrays: dict[str, Any] = {name: archive[name] if name in archive.files else None for name in _ARRAYS}
    rows = len(arrays["outcomes"])
    if rows > _MOST_SECONDS:
        raise ValueError(f"the run has {rows / 86_400:.1f} days; at most {LONGEST_RUN_DAYS}")
    shapes = {"outcomes": (rows, len(OUTCOMES)), "latency": (rows, 5)}
    kinds = {"outcomes": "i", "bytes_in": "i", "bytes_out": "i", "latency": "f", "users": "f", "fastest": "f"}
    for name, array in arrays.items():
        if array is not None and (array.shape != shapes.get(name, (rows,)) or array.dtype.kind != kinds[name]):
            raise ValueError(f"{path.name}: {name} has the shape {array.shape} of {array.dtype}")
    return Seconds(start_ms=document["start_ms"], exact=document["exact"], **arrays)
