"""The digest of a slow log that is kept with a run, as `loadwatch import --slow-log` sends it.

It is what `loadwatch digest statements --json` writes, with `run` (from_ms, to_ms, file) where only executions of the
run were counted, and `steady` (from_ms, to_ms, statements) beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import orjson
from loadwatch_formats.statements.sums import MOST_FINGERPRINTS

from loadwatch_backend.evidence.statements.model import Counted, Source, Window

MOST_BYTES = 16 << 20
_MOST = 1e18


class UnreadableDigestError(Exception):
    """A file was kept as the digest of a slow log, and is none."""


class KeptFiles(Protocol):
    """Where the newest digest of a run is kept."""

    def newest(self, run_id: str) -> Path | None:
        """Its file; None where the run has none."""
        ...


@dataclass(frozen=True, slots=True)
class KeptDigests:
    """Reads digests."""

    files: KeptFiles

    def of_run(self, run_id: str, seconds: float, steady_ms: tuple[int, int] | None) -> Window | None:
        """The statements of the digest, if there is one: of the steady window if that is asked and in it, else of all.

        `seconds` is how long the run took, where the digest says no times.

        Raises:
            UnreadableDigestError: what is kept there is none.
        """
        path = self.files.newest(run_id)
        if path is None:
            return None
        found = parse_digest(path.read_bytes(), seconds, steady_ms) if path.stat().st_size <= MOST_BYTES else None
        if found is None:
            raise UnreadableDigestError
        return found


def parse_digest(content: bytes, seconds: float, steady_ms: tuple[int, int] | None = None) -> Window | None:
    """The statements of a digest; None where it is none, or more than `loadwatch digest` tells apart. Pure."""
    try:
        document: Any = orjson.loads(content)
        run: Any = document.get("run")
        lines: Any = document.get("lines") or {}
        steady: Any = document.get("steady")
        if steady is None or steady_ms != (int(steady["from_ms"]), int(steady["to_ms"])):
            steady = None
        rows: Any = (steady or document)["statements"]
        if len(rows) > MOST_FINGERPRINTS + 1:
            return None
        return Window(
            source=Source.SLOW_LOG,
            seconds=_length(document, steady or run, seconds),
            steady=steady is not None,
            file="" if run is None else str(run.get("file", ""))[:200],
            outside=int(_number(lines.get("outside", 0))),
            statements=[_counted(cast(Mapping[str, Any], row)) for row in rows],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _length(document: Any, part: Any, seconds: float) -> float:
    if part is not None:
        return max((_number(part["to_ms"]) - _number(part["from_ms"])) / 1_000, 1.0)
    window: Any = document.get("window")
    if window is None:
        return seconds
    return max((_number(window["last_ms"]) - _number(window["first_ms"])) / 1_000, 1.0)


def _counted(row: Mapping[str, Any]) -> Counted:
    text = str(row["fingerprint"])
    return Counted(
        schema=str(row.get("schema", "")),
        text=text,
        digests=("other",) if text == "other" else (),
        calls=_number(row["count"]),
        seconds=_number(row["sum"]),
        p95=_known(row, "p95"),
        lock_seconds=_known(row, "lock"),
        errors=_known(row, "failed"),
        rows_affected=_known(row, "rows_affected"),
        rows_sent=_known(row, "rows_sent"),
        rows_examined=_known(row, "rows_examined"),
        tmp_tables=_known(row, "tmp_tables"),
        tmp_disk_tables=_known(row, "tmp_disk_tables"),
        no_index_used=_known(row, "no_index"),
    )


def _known(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return None if value is None else _number(value)


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number < _MOST:
        raise ValueError(f"{value!r} is nothing that was counted or measured")
    return number
