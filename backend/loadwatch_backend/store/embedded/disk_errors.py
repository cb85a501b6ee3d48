"""What DuckDB says of the disk, as an error of the store."""

from collections.abc import Generator
from contextlib import contextmanager

import duckdb

from loadwatch_backend.store.embedded.codec import DamagedSegmentError
from loadwatch_backend.store.errors import StoreClosedError, StoreReadError


@contextmanager
def disk_errors() -> Generator[None]:
    """Raise StoreClosedError or StoreReadError in their place."""
    try:
        yield
    except duckdb.ConnectionException as error:
        raise StoreClosedError("the store was closed during the query") from error
    except (duckdb.IOException, duckdb.FatalException, DamagedSegmentError) as error:
        raise StoreReadError(
            f"The samples cannot be read from the disk: {str(error).partition(chr(10))[0]}. See the kernel's log, "
            "and whether the data directory can be read."
        ) from error
