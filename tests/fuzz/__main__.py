"""Runs targets for a time, or one target on one file."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.campaign import Result, run_campaign
from tests.fuzz.report import write_report
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

_KEPT = Path(__file__).parents[2] / "build" / "fuzz"


def main() -> int:
    """1 when there were faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--report", action="store_true", help="write bench/results/fuzz.md")
    parser.add_argument("--replay", type=Path, help="a file to feed to the target that --only names")
    arguments = parser.parse_args()
    targets = [target for target in TARGETS if arguments.only in target.name]
    if not targets:
        parser.error(f"no target has {arguments.only!r} in its name: {', '.join(one.name for one in TARGETS)}")
    if arguments.replay is not None:
        return _replay(targets, arguments.replay)
    results = run_campaign(targets, arguments.seconds, arguments.seed, _KEPT, _tell)
    if arguments.report:
        write_report(results, arguments.seed)
    faults = sum(len(result.faults) for result in results)
    _print(f"{sum(result.executions for result in results)} inputs, {faults} faults")
    return 1 if faults else 0


def _replay(targets: Sequence[Target], path: Path) -> int:
    for target in targets:
        _print(target.name)
        try:
            target.open()(path.read_bytes())
        except target.expected as error:
            _print(f"{type(error).__name__}: {error}"[:2_000])
    return 0


def _tell(result: Result) -> None:
    _print(
        f"{result.target}: {result.executions} inputs in {result.seconds:.1f} s, slowest {result.slowest_seconds:.2f} s"
        f" ({result.slowest_bytes} bytes), {result.memory >> 20} MiB more, {result.outcomes} outcomes"
    )
    for fault in result.faults:
        _print(f"  FAULT {fault.kind}, {len(fault.data)} bytes {fault.data[:80]!r}: {fault.detail}")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
