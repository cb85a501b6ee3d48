"""What DuckDB says of the disk, as an error of the store."""

from collections.abc import Generator
from contextlib import contextmanager

import duckdb

from loadwatch_backend.store.embedded.codec import DamagedSegmentError
from loadwatch_backend.store.embedded.damage.containment import is_damage
from loadwatch_backend.store.errors import StoreClosedError, StoreReadError


@contextmanager
def disk_errors() -> Generator[None]:
    """Raise StoreClosedError or StoreReadError in their place."""
    try:
        yield
    except duckdb.ConnectionException as error:
        raise StoreClosedError("the store was closed during the query") from error
    except duckdb.Error as error:
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
        f"The file of samples is damaged: {says}. The server looks for the hours; `loadwatch store` and the page Store"
        " name them. Other hours are whole. `loadwatch store repair` saves what can be read."
    )
