"""Runs benchmarks: `python -m bench [NAME ...]`, all of them when none is named (about a quarter of an hour)."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BENCHMARKS: Mapping[str, Sequence[str]] = {
    "ingest": (sys.executable, "-m", "bench.ingest"),
    "query": (sys.executable, "-m", "bench.query"),
    "query-storm": (sys.executable, "-m", "bench.query_storm"),
    "agent-cost": (sys.executable, "-m", "bench.agent_cost"),
    "charts": ("npm", "run", "--silent", "--prefix", "bench/charts", "bench"),
    "freshness": (sys.executable, "-m", "bench.freshness"),
    "import-result": (sys.executable, "-m", "bench.import_result"),
    "pages": (sys.executable, "-m", "bench.pages"),
    "first-screen": (sys.executable, "-m", "bench.pages.first_screen"),
    "left-open": (sys.executable, "-m", "bench.pages.left_open"),
    "layout-shifts": (sys.executable, "-m", "bench.layout_shifts"),
    "run-page": (sys.executable, "-m", "bench.run_page"),
    "alerts": (sys.executable, "-m", "bench.alerts"),
    "aws": (sys.executable, "-m", "bench.aws"),
    "sealed-formats": (sys.executable, "-m", "bench.sealed_formats"),
    "size-on-disk": (sys.executable, "-m", "bench.size_on_disk"),
    "engine-growth": (sys.executable, "-m", "bench.engine_growth"),
    "series-memory": (sys.executable, "-m", "bench.series_memory"),
    "packs": (sys.executable, "-m", "bench.packs"),
    "explore": (sys.executable, "-m", "bench.explore"),
    "rollups": (sys.executable, "-m", "bench.rollups"),
    "start-up": (sys.executable, "-m", "bench.start_up"),
    "forecast": (sys.executable, "-m", "bench.forecast"),
    "forecast-real": (sys.executable, "-m", "bench.forecast.real"),
    "findings-cost": (sys.executable, "-m", "bench.findings_cost"),
    "compare": (sys.executable, "-m", "bench.compare"),
    "request-cost": (sys.executable, "-m", "bench.request_cost"),
    "flame": ("node", "bench/flame/run.mjs"),
    "profile-cost": (sys.executable, "-m", "bench.profile_cost"),
    "profiles": (sys.executable, "-m", "bench.profiles"),
    "access-log": (sys.executable, "-m", "bench.access_log"),
    "statements": (sys.executable, "-m", "bench.statements"),
    "closed-loop-tools": (sys.executable, "-m", "bench.closed_loop_tools"),
    "faults": (sys.executable, "-m", "bench.faults"),
    "idle": (sys.executable, "-m", "bench.idle"),
    "half-sent": (sys.executable, "-m", "bench.half_sent"),
    "newcomer": (sys.executable, "-m", "bench.newcomer"),
    "access-log-follow": (sys.executable, "-m", "bench.access_log_follow"),
}


def main(names: Sequence[str]) -> int:
    """Runs the named benchmarks one after another; returns the number of those that failed to run."""
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}")
        return 2
    failed = 0
    for name, command in BENCHMARKS.items():
        if not names or name in names:
            print(f"\n==> {name}", flush=True)
            failed += subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
