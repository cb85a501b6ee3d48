"""Digests of logs that are kept with runs, as `loadwatch import --access-log` and `--slow-log` send them.

A digest is what `loadwatch digest access --json` or `loadwatch digest statements --json` writes, with `run` (from_ms,
to_ms, file) where only what belongs to the run was counted, and `steady` (from_ms, to_ms, rows) beside it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from loadwatch_backend.evidence.files.schemas import EvidenceKind, EvidenceNotFoundError
from loadwatch_backend.evidence.files.service import EvidenceFiles

MOST_BYTES = 16 << 20
_LARGEST = 2.0**53

MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading a document that is no digest raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDigests:
    files: EvidenceFiles
    kind: EvidenceKind

    def newest(self, run_id: str) -> Path | None:
        kept = self.files.list(run_id, self.kind)
        try:
            return self.files.open(kept[-1].id).path if kept else None
        except EvidenceNotFoundError:
            return None

    def content(self, run_id: str) -> bytes | None:
        path = self.newest(run_id)
        return None if path is None else read_content(path)


def read_content(path: Path) -> bytes:
    """What a file holds; nothing of one that is too large to be a digest.

    Raises:
        OSError: it cannot be read.
    """
    return path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""


class Digest:
    """The document of a digest. Every call raises one of `MALFORMED` where it is none.

    Attributes:
        run: of which run it is a part; None of a whole file.
        steady: the part of the steady window, if that was asked and is in it.
        file: the name of the log, where it is of a run.
        outside: lines outside the run.
    """

    def __init__(self, content: bytes, steady_ms: tuple[int, int] | None) -> None:
        self.document: Any = orjson.loads(content)
        self.lines: Any = self.document.get("lines") or {}
        self.run: Any = self.document.get("run")
        steady: Any = self.document.get("steady")
        is_asked = steady is not None and steady_ms == (int(steady["from_ms"]), int(steady["to_ms"]))
        self.steady: Any = steady if is_asked else None
        self.file = "" if self.run is None else str(self.run.get("file", ""))[:200]
        self.outside = int(number(self.lines.get("outside", 0)))

    def rows(self, name: str) -> Any:
        """Rows of the steady window where the digest has one, else of the whole log."""
        return (self.document if self.steady is None else self.steady)[name]

    def span(self) -> tuple[int, int] | None:
        """From the first line to the last one, ms; None where it says no times."""
        part = self.run if self.steady is None else self.steady
        if part is not None:
            return int(part["from_ms"]), int(part["to_ms"])
        window: Any = self.document.get("window")
        return None if window is None else (int(window["first_ms"]), int(window["last_ms"]))


def number(value: Any) -> float:
    """A count or a measure.

    Raises:
        ValueError: it is neither.
    """
    found = float(value)
    if not 0 <= found <= _LARGEST:
        raise ValueError(f"{value!r} is nothing that was counted or measured")
    return found
