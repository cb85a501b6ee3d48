"""What DuckDB says of the disk: as an error of the store, and what follows from it."""

from collections.abc import Generator
from contextlib import contextmanager

import duckdb

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded.codec import DamagedSegmentError
from loadwatch_backend.series.store.embedded.damage import is_damage
from loadwatch_backend.series.store.errors import StoreClosedError, StoreReadError

NO_ROOM = ("No space left", "File too large", "Disk quota exceeded")
_NEED_REOPENING = (duckdb.FatalException, duckdb.InternalException, duckdb.ConnectionException, DataDirectoryError)
_DURABLE = "FATAL Error: Transaction COMMIT succeeded and is durable"


def needs_reopening(error: BaseException) -> bool:
    """Whether DuckDB refuses every statement from here on until the file is opened again."""
    return isinstance(error, _NEED_REOPENING) or "invalidated" in str(error)


def is_durable(error: BaseException) -> bool:
    """Whether the commit is on disk all the same: only the log could not be folded into the file after it."""
    # Errors after it, of what was not done, quote it.
    return str(error).startswith(_DURABLE)


def reason_of(error: BaseException) -> str:
    """The last part of the text, which has no paths of this machine, with what to do where there is no room."""
    text = str(error)
    if any(word in text for word in NO_ROOM):
        reason = text.rsplit(": ", 1)[-1].strip('".\n ')
        return f"{reason}; make room on the disk"
    return text.partition("\n")[0].rsplit(": ", 1)[-1]


@contextmanager
def disk_errors() -> Generator[None]:
    """Raise StoreClosedError or StoreReadError in their place."""
    try:
        yield
    except duckdb.ConnectionException as error:
        raise StoreClosedError("the store was closed during the query") from error
    except duckdb.Error as error:
        if any(word in str(error) for word in NO_ROOM):
            raise StoreReadError(f"The disk has no room for what the store writes: {reason_of(error)}.") from error
        if not (is_damage(error) or isinstance(error, (duckdb.IOException, duckdb.FatalException))):
            raise
        raise _unreadable(error) from error
    except DamagedSegmentError as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> StoreReadError:
    says = str(error).partition(chr(10))[0]
    if not is_damage(error):
        return StoreReadError(
            f"The samples cannot be read from the disk: {says}. See the kernel's log, and whether the data directory"
            " can be read."
        )
    return StoreReadError(
        f"The file of samples is damaged: {says}. `loadwatch store` and the page Store name the hours; other hours are"
        " answered. Restore a backup, or stop the server and run `loadwatch store salvage`."
    )
