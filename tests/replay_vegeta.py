"""A stand-in for `vegeta attack`, which cannot be had here: replays a stream that the real one recorded, at its pace.

Usage: replay_vegeta.py FILE.gz [SECONDS] ATTACK-ARGUMENTS...; writes to standard output or to `-output=FILE`, each
record when it was written then. A CSV gets the times of now, a gob stream keeps the recorded ones. Ends like vegeta at
SIGINT: with status 0, everything written.
"""

import gzip
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from loadwatch_collectors.runs.streams import RequestEvent, VegetaGobReader
from loadwatch_formats.gob import read_uint


def read_csv(data: bytes, shift_ns: int | None) -> Iterator[tuple[float, bytes]]:
    """Second of its end since the first start, and bytes, of each row; with the times of now."""
    first = min(int(row.split(b",", 1)[0]) for row in data.splitlines())
    for row in data.splitlines(keepends=True):
        start, code, latency, rest = row.split(b",", 3)
        shifted = int(start) - first + (shift_ns if shift_ns is not None else first)
        yield (int(start) + int(latency) - first) / 1e9, b",".join([str(shifted).encode(), code, latency, rest])


def read_gob(data: bytes) -> Iterator[tuple[float, bytes]]:
    """Second of its end since the first start, and bytes, of each message."""
    reader = VegetaGobReader()
    at = 0
    first: int | None = None
    while at < len(data):
        length, begin = read_uint(data, at)
        message = data[at : begin + length]
        at = begin + length
        events = reader.feed(message)
        end = 0.0
        for event in events:
            assert isinstance(event, RequestEvent)
            first = event.start_ms if first is None else first
            end = (event.start_ms - first) / 1000 + event.latency
        yield end, message


def replay(records: Iterator[tuple[float, bytes]], output: BinaryIO, most: float) -> None:
    """Write each record when its time has come, for at most so many seconds."""
    began = time.monotonic()
    for end, record in records:
        if end > most:
            return
        wait = end - (time.monotonic() - began)
        if wait > 0:
            output.flush()
            time.sleep(wait)
        output.write(record)


def main() -> int:
    """Replay."""
    source = Path(sys.argv[1])
    most = float(sys.argv[2])
    name = next((word.partition("=")[2] for word in sys.argv[3:] if word.startswith("-output=")), "stdout")
    data = gzip.decompress(source.read_bytes())
    records = read_csv(data, time.time_ns()) if ".csv" in source.name else read_gob(data)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    output = sys.stdout.buffer if name == "stdout" else Path(name).open("wb")
    try:
        replay(records, output, most)
        output.flush()
        # Whoever looks at a run while it is under way says when that is over.
        while (until := os.environ.get("REPLAY_LASTS_UNTIL")) and not Path(until).exists():
            time.sleep(0.05)
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
    finally:
        output.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
