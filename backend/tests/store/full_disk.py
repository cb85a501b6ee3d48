"""Run by test_full_disk.py in a process of its own: a store whose files cannot grow beyond a limit for a while.

The kernel refuses the writes (RLIMIT_FSIZE, EFBIG), as it does on a full disk. Prints what happened as JSON.
"""

import json
import resource
import sys
from pathlib import Path

import numpy as np
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.errors import StoreWriteError
from loadwatch_backend.series.store.port import Batch, Matcher, MatchOperator

NOW_MS = 1_750_000_000_000
SERIES = 200


def put(store: EmbeddedStore, second: int, series: int) -> str | None:
    """Append a sample to each series; the error's text, or None when it is on disk."""
    ids = store.resolve([{"__name__": "m", "i": str(number)} for number in range(series)])
    batch = Batch(
        series=ids,
        timestamps=np.full(series, NOW_MS + second * 1000, np.int64),
        values=np.full(series, float(second)),
    )
    try:
        store.append(batch).result(timeout=120)
    except StoreWriteError as error:
        return error.detail
    return None


def seconds_of(store: EmbeddedStore) -> list[int]:
    """Seconds that the first series has."""
    found = store.select([Matcher("i", MatchOperator.EQUAL, "0")], 0, NOW_MS + 10**9)
    return found.values.astype(int).tolist()


def limit_files(most_bytes: int) -> None:
    """Let no file grow beyond this size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


def main(directory: Path, room: int) -> None:
    """Fill, refuse, seal while full, make room again, open again."""
    settings = EmbeddedSettings(data_directory=directory, head_bytes=1 << 20)
    store = open_embedded(settings, lambda: NOW_MS)
    stored = [second for second in range(50) if put(store, second, SERIES) is None]
    largest = max(path.stat().st_size for path in directory.iterdir())
    limit_files(largest + room)
    errors: list[str] = []
    for second in range(50, 150):
        error = put(store, second, SERIES + second)
        if error is None:
            stored.append(second)
        else:
            errors.append(error)
    try:
        store.seal(NOW_MS + 10**9)
        sealed = "sealed"
    except Exception as error:
        sealed = f"{type(error).__name__}: {error}"
    while_full = seconds_of(store)
    limit_files(resource.RLIM_INFINITY)
    after = {second: put(store, second, SERIES + second) for second in range(150, 160)}
    # One more try is allowed to notice that the file has to be opened again.
    stored += [second for second, error in after.items() if error is None]
    live = seconds_of(store)
    store.close()
    store = open_embedded(settings, lambda: NOW_MS)
    result = {
        "stored": stored,
        "errors": errors[:3],
        "refused": len(errors),
        "sealed": sealed,
        "while_full": while_full,
        "refused_after": [error for error in after.values() if error],
        "live": live,
        "opened_again": seconds_of(store),
        "series": store.statistics().series,
    }
    store.close()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
