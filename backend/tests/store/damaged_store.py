"""A store of some sealed hours, samples in order of arrival and rollups, and damage of chosen blocks."""

import os
import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
from loadwatch_backend.core.database.set_aside import SAMPLES
from loadwatch_backend.series.store.embedded.damage import BLOCK_BYTES, HEADERS_BYTES
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.errors import StoreReadError
from loadwatch_backend.series.store.port import Batch, Matcher, MatchOperator, Selection

HOURS = 5
BEGIN_MS = 1_764_000_000_000 // HOUR_MS * HOUR_MS
NOW_MS = BEGIN_MS + HOURS * HOUR_MS
Samples = dict[str, list[tuple[int, int]]]


def opened(directory: Path, now_ms: int = NOW_MS) -> EmbeddedStore:
    settings = EmbeddedSettings(data_directory=directory, maintenance_ms=20, seal_delay_ms=HOUR_MS)
    return open_embedded(settings, lambda: now_ms)


def fill(directory: Path) -> None:
    """Long rows (in blocks of their own) of 20 series at 1 s, short ones of 2,000 at 60 s; the last is unsealed."""
    # At a time when nothing is due: only the calls below seal, so that all files are alike.
    store = opened(directory, BEGIN_MS)
    chosen = np.random.default_rng(1)
    for name, count, step_ms in (("fast", 20, 1_000), ("slow", 2_000, 60_000)):
        ids = store.resolve([{"__name__": name, "i": str(number)} for number in range(count)])
        times = np.arange(BEGIN_MS, BEGIN_MS + HOURS * HOUR_MS, step_ms)
        store.append(
            Batch(
                series=np.tile(ids, len(times)),
                timestamps=np.repeat(times, count),
                values=chosen.random(len(times) * count),
            )
        ).result(60)
    for hour in range(1, HOURS):
        store.seal(BEGIN_MS + hour * HOUR_MS)
    store.close()


def hour_of(store: EmbeddedStore, hour: int, names: Sequence[str] = ("fast", "slow")) -> Samples:
    found: Samples = {}
    for name in names:
        start_ms = BEGIN_MS + hour * HOUR_MS
        metric, _, label = name.partition("-")
        matchers = [Matcher("__name__", MatchOperator.EQUAL, metric)]
        if label:
            matchers.append(Matcher("i", MatchOperator.EQUAL, label))
        found.update(samples_of(store.select(matchers, start_ms, start_ms + HOUR_MS - 1)))
    return found


def samples_of(selection: Selection) -> Samples:
    bits = selection.values.view(np.int64).tolist()
    times = selection.timestamps.tolist()
    offsets = selection.offsets.tolist()
    return {
        f"{labels['__name__']}-{labels.get('i', labels.get('id'))}": list(
            zip(times[offsets[place] : offsets[place + 1]], bits[offsets[place] : offsets[place + 1]], strict=True)
        )
        for place, labels in enumerate(selection.labels)
    }


def blocks_of(directory: Path, table: str, column: str) -> list[int]:
    """Numbers of the blocks that hold a column, all of them."""
    with duckdb.connect(str(directory / SAMPLES), read_only=True) as connection:
        rows = connection.execute(
            f"SELECT block_id, additional_block_ids FROM pragma_storage_info('{table}') WHERE column_name = ?", [column]
        ).fetchall()
    return sorted({number for block, more in rows for number in (block, *(more or ())) if number >= 0})


def long_block(directory: Path) -> int:
    """One that only long rows of sealed samples are in."""
    with duckdb.connect(str(directory / SAMPLES), read_only=True) as connection:
        row = connection.execute(
            "SELECT max(additional_block_ids[2]) FROM pragma_storage_info('segments') WHERE column_name = 'data'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def cut_off(source: Path, target: Path, share: float) -> None:
    """A copy whose end is missing; names of series lie at its beginning."""
    shutil.copytree(source, target)
    with duckdb.connect(str(target / SAMPLES)) as connection:
        for statement in (
            "CREATE TEMP TABLE names AS FROM series",
            "DELETE FROM series",
            "CHECKPOINT",
            "INSERT INTO series FROM names",
            "CHECKPOINT",
        ):
            # Into the first free block.
            connection.execute(statement)
    os.truncate(target / SAMPLES, int(share * (target / SAMPLES).stat().st_size))


def damage(source: Path, target: Path, number: int, wrong: int = 40) -> None:
    """A copy whose block has so many wrong bytes."""
    shutil.copytree(source, target)
    put_wrong_bytes(target, number, wrong)


def put_wrong_bytes(directory: Path, number: int, wrong: int = 40) -> None:
    """Damage a block in place."""
    with (directory / SAMPLES).open("rb+") as file:
        # The lowest byte of a word in the midst of its data: one that the checksum tells.
        place = HEADERS_BYTES + number * BLOCK_BYTES + BLOCK_BYTES // 2
        file.seek(place)
        content = bytearray(file.read(wrong))
        for at in range(wrong):
            content[at] ^= random.Random(at).randrange(1, 256)
        file.seek(place)
        file.write(content)


def checked(store: EmbeddedStore, hours: int = HOURS) -> dict[int, Samples | str]:
    """Of each hour what it holds or why it does not answer, once the file was looked at."""
    deadline = time.monotonic() + 10
    while store.statistics().checked_blocks_total == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    found: dict[int, Samples | str] = {}
    for hour in range(hours):
        try:
            found[hour] = hour_of(store, hour)
        except StoreReadError as error:
            found[hour] = error.detail
    return found
