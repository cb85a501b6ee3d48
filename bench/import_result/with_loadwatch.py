"""One import as the server makes it: this process is the server's part, a child reads the file.

`python -m bench.import_result.with_loadwatch FILE DIRECTORY` leaves the run's files and prints a line of JSON.
"""

import json
import sys
import time
from pathlib import Path

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.figures import figures_of
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.runs.importers.reader import ProcessReader


def main(source: str, target: str) -> None:
    """Imports, then asks for a window, as dragging on the page does."""
    directory = Path(target)
    began = time.perf_counter()
    result = ProcessReader()(Path(source), directory, ImportOptions(), lambda _: None)
    done = time.perf_counter()
    first = (result.start_ms or 0) * 1_000_000
    figures_of(RunFiles(directory), first, first + 10**15)
    whole = time.perf_counter()
    figures_of(RunFiles(directory), first + 60 * 10**9, first + 120 * 10**9)
    window = time.perf_counter()
    print(
        json.dumps(
            {
                "requests": result.figures.requests,
                "p99": result.figures.latency.p99,
                "import_seconds": done - began,
                "figures_whole_seconds": whole - done,
                "figures_minute_seconds": window - whole,
                "records_bytes": RunFiles(directory).records.stat().st_size,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
