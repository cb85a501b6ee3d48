"""How far a transfer has come, in a file of the data directory that is on disk before the next samples go out."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from loadwatch_backend.series.store.prometheus.durable_queue import replace_file

STATE_FILE = "migration.json"


class TransferError(Exception):
    """It cannot go on; the text says why and what to do. What was acknowledged so far is not sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferState:
    """All parts before (`hour_ms`, `part`) are acknowledged, or were refused and left out."""

    target: str
    """Where they went: the address and the tenant."""
    rows: int
    """Samples that the store held: with others, hours have other parts."""
    hour_ms: int = 0
    part: int = 0
    sent: int = 0
    """Samples that went out and were taken."""
    present: int = 0
    """Samples that the engine had already."""
    refused: int = 0
    ask: bool = False
    """Whether the engine may have any part already, so that it is asked before each."""


class StateFile:
    """Written as a whole, or not at all."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / STATE_FILE

    def read(self) -> TransferState | None:
        """What is there; None where no transfer was begun.

        Raises:
            TransferError: it cannot be read.
        """
        try:
            document: Any = orjson.loads(self.path.read_bytes())
            match document.pop("format"):
                case 2:
                    return TransferState(**document)
                case 1:
                    # Its hours had other parts.
                    return replace(TransferState(**document), part=0, ask=True)
                case _:
                    raise ValueError("a later version wrote it")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise TransferError(
                f"cannot read {self.path}, which says how far the migration has come: {error}. Begin anew with"
                " --restart; what the engine has already is not sent again"
            ) from error

    def write(self, state: TransferState) -> None:
        """On disk when this returns.

        Raises:
            TransferError: the disk refused; the file is as it was.
        """
        try:
            replace_file(self.path, orjson.dumps({"format": 2, **asdict(state)}))
        except OSError as error:
            raise TransferError(
                f"cannot write {self.path}, which says how far the migration has come: {error.strerror}. Make room or"
                " give this user the right to write there, and run this again: it goes on where it stopped"
            ) from error
