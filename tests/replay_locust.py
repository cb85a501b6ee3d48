"""Stands in for Locust: writes a recorded test's files as Locust does, its times moved to now. No Locust is needed.

`python replay_locust.py RECORDING [ARGUMENTS OF LOCUST]`. The CSV files come at once; then it waits for the file that
REPLAY_LASTS_UNTIL names, as if the test went on, and writes the HTML report to LOCUST_HTML at its end.
"""

import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path


def main() -> int:
    recording = Path(sys.argv[1])
    prefix = sys.argv[sys.argv.index("--csv") + 1]
    history = (recording / "run_stats_history.csv").read_text().splitlines(keepends=True)
    later = int(time.time()) - int(history[-1].partition(",")[0])
    moved = [re.sub(r"^\d+", lambda match: str(int(match[0]) + later), line) for line in history]
    for kind in ("stats", "failures", "exceptions"):
        Path(f"{prefix}_{kind}.csv").write_text((recording / f"run_{kind}.csv").read_text())
    Path(f"{prefix}_stats_history.csv").write_text("".join(moved))
    deadline = time.monotonic() + 120
    while not Path(os.environ["REPLAY_LASTS_UNTIL"]).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    page = (recording / "run.html").read_text()

    def shift(match: "re.Match[str]") -> str:
        at = datetime.fromisoformat(match[2]).timestamp() + later
        return f'{match[1]}"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"'

    Path(os.environ["LOCUST_HTML"]).write_text(re.sub(r'("(?:start|end)_time": )"([^"]+)"', shift, page))
    return 1


if __name__ == "__main__":
    sys.exit(main())
