"""Profiles beside `go tool pprof`: totals, functions and differences of pairs of real ones, and how fast they are read.

`python -m bench profiles`. The pairs are made by bench/profile_maker, a program under two loads. Both read the same
files; a row is equal when name, flat and cum are, in the same order.
"""

import gzip
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadwatch_backend.evidence.profiles.merging import merge, subtract
from loadwatch_backend.evidence.profiles.model import Ints, Profile
from loadwatch_backend.evidence.profiles.reading.pprof_pb2 import Profile as Message
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import (
    FunctionTable,
    ordered,
    side_by_side,
    stacks_of,
    table_of,
    tree_of,
)

from bench.machine import describe_machine, write_result

ROOT = Path(__file__).resolve().parent.parent
MAKER = ROOT / "bench" / "profile_maker" / "main.go"
PAIRS = 20
MILLISECONDS = 500
ROUNDS = 5
NODES = 20_000
_ROW = re.compile(
    r"\s*(-?[\d.e+]+)[a-zA-Z]*\s+\S+%\s+\S+%\s+(-?[\d.e+]+)[a-zA-Z]*\s+\S+%  (.*?)(?: \((?:partial-)?inline\))?"
)
_TOTAL = re.compile(r"of (-?\d+)[a-zA-Z]* total")

Row = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """What a table of functions says: rows of name, flat, cum; the total is None where pprof prints none."""

    rows: Sequence[Row]
    total: int | None


def make_pairs(folder: Path, pairs: int, milliseconds: int, seed: int) -> None:
    """Has the program write `NN-KIND-base.pb.gz` and `NN-KIND-now.pb.gz`."""
    numbers = ("-pairs", str(pairs), "-milliseconds", str(milliseconds), "-seed", str(seed))
    subprocess.run(["go", "run", "-trimpath", str(MAKER), "-out", str(folder), *numbers], check=True)


def pprof_top(files: Sequence[Path], unit: str, sample_type: str, *more: str) -> Top:
    """`go tool pprof -top` of the files in whole units, with every function."""
    whole = ("-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-symbolize=none")
    named = (f"-unit={unit}", f"-sample_index={sample_type}")
    done = subprocess.run(
        ["go", "tool", "pprof", "-top", *whole, *named, *more, *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
        # Otherwise it looks for settings of whoever runs it; and Go, which builds it at first, has built its parts so.
        env={**os.environ, "PPROF_TMPDIR": tempfile.gettempdir(), "GOFLAGS": "-trimpath"},
    )
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.split()[:1] == ["flat"])
    rows: list[Row] = []
    for line in lines[head + 1 :]:
        found = _ROW.fullmatch(line)
        if found is None:
            raise RuntimeError(f"a line of pprof that cannot be read: {line}")
        rows.append((found[3], int(float(found[1])), int(float(found[2]))))
    total = _TOTAL.search(done.stdout)
    return Top(rows=rows, total=int(total[1]) if total else None)


def our_top(table: FunctionTable, flat: Ints, cum: Ints, total: int) -> Top:
    """The same of ours, in the same order."""
    places = ordered(table, flat, cum, "flat")
    return Top(rows=[(table.functions[one].name, int(flat[one]), int(cum[one])) for one in places], total=total)


def single_top(profile: Profile, column: int) -> Top:
    """One column of a profile."""
    table = table_of(stacks_of(profile, [column]))
    return our_top(table, table.flat[:, 0], table.cum[:, 0], table.total[0])


def difference_top(profile: Profile, base: Profile, sample_type: str) -> Top:
    """One profile less another."""
    sides = side_by_side(profile, base, sample_type)
    return our_top(sides.table, sides.flat, sides.cum, sides.total)


def same(ours: Top, theirs: Top) -> bool:
    """Equal to the sample, in the same order."""
    return list(ours.rows) == list(theirs.rows) and theirs.total in (None, ours.total)


def compared(base_file: Path, now_file: Path, *, all_types: bool = True) -> Sequence[tuple[str, bool, int]]:
    """What was compared, whether it was equal, and the rows of it: of each type of values of one pair."""
    base, now = read_profile(base_file.read_bytes()), read_profile(now_file.read_bytes())
    found: list[tuple[str, bool, int]] = []
    for column, kind in enumerate(now.types):
        if not all_types and column != now.default:
            continue
        unit, name = kind.unit, kind.name
        cases: Sequence[tuple[str, Top, Top]] = (
            ("-top", single_top(now, column), pprof_top([now_file], unit, name)),
            (
                "-diff_base",
                difference_top(now, base, name),
                pprof_top([now_file], unit, name, "-diff_base", str(base_file)),
            ),
            (
                "-base",
                single_top(subtract(now, base), column),
                pprof_top([now_file], unit, name, "-base", str(base_file)),
            ),
            ("merged", single_top(merge([now, base]), column), pprof_top([now_file, base_file], unit, name)),
        )
        found += [(f"{what} {name}", same(ours, theirs), len(theirs.rows)) for what, ours, theirs in cases]
    return found


def large_profile(nodes: int) -> bytes:
    """A profile whose tree has at least that many nodes: stacks of 3 to 40 of 2,000 functions, the same each time."""
    chance = random.Random(14)
    message = Message()
    texts = [b"", b"cpu", b"nanoseconds"]
    message.sample_type.add(type=1, unit=2)
    for number in range(1, 2_001):
        texts.append(f"example.com/shop/package{number % 40}.(*Service).function{number}".encode())
        message.function.add(id=number, name=len(texts) - 1)
        message.location.add(id=number, address=number * 16).line.add(function_id=number, line=number % 500)
    stacks: list[list[int]] = [[]]
    made = 0
    while made < 1.02 * nodes:  # some stacks come again
        # Goes on from a stack that there is, as programs do.
        begun = chance.choice(stacks[-500:])[: chance.randrange(3, 30)]
        stack = begun + [chance.randrange(1, 2_001) for _ in range(chance.randrange(1, 10))]
        made += len(stack) - len(begun)
        stacks.append(stack)
        message.sample.add(location_id=list(reversed(stack)), value=[chance.randrange(1, 50) * 10_000_000])
    message.string_table.extend(texts)
    return gzip.compress(message.SerializeToString())


def main() -> int:
    """Measures and writes the result."""
    with tempfile.TemporaryDirectory(prefix="lw-profiles-") as name:
        folder = Path(name)
        make_pairs(folder, PAIRS, MILLISECONDS, seed=14)
        pairs = [(base, base.with_name(base.name.replace("-base", "-now"))) for base in sorted(folder.glob("*-base*"))]
        rows: list[dict[str, Any]] = []
        for base, now in pairs:
            found = compared(base, now)
            rows.append(
                {
                    "pair": base.name.removesuffix("-base.pb.gz"),
                    "compared": len(found),
                    "equal": sum(equal for _, equal, _ in found),
                    "rows": sum(count for _, _, count in found),
                    "different": [what for what, equal, _ in found if not equal],
                }
            )
        speed = _speed(pairs)
    compiler = _compiler()
    equal = sum(row["equal"] for row in rows)
    whole = sum(row["compared"] for row in rows)
    same_pairs = sum(row["equal"] == row["compared"] for row in rows)
    document = {"machine": describe_machine(), "pairs": rows, "pairs_equal": same_pairs, **speed, "compiler": compiler}
    text = f"""{PAIRS} pairs of real profiles of a Go program under two loads (cpu, heap, allocs, mutex, block, goroutine; all types of values). Compared with `go tool pprof -top -nodecount=0 -nodefraction=0`, and the same with `-diff_base`, `-base` and two files merged: names, flat, cum, order and total. The times were taken on a machine that did other work too: CPU is user and system time.

| what | measured | goal | |
| --- | ---: | ---: | --- |
| pairs that are equal to the sample in everything | {same_pairs} of {PAIRS} | {PAIRS} of {PAIRS} | {"reached" if same_pairs == PAIRS else "missed"} |
| tables compared, and equal | {whole}, {equal} | | {sum(row["rows"] for row in rows):,} rows |
| a pair read and compared, median: in this process | {speed["pair_ms"]:.0f} ms, CPU {speed["pair_cpu_ms"]:.0f} ms | | |
| the same by `go tool pprof -top -diff_base`, a process each | {speed["pprof_pair_ms"]:.0f} ms, CPU {speed["pprof_pair_cpu_ms"]:.0f} ms | | |
| a profile with a tree of {speed["large_nodes"]:,} nodes ({speed["large_samples"]:,} stacks): read | {speed["large_read_ms"]:.0f} ms, CPU {speed["large_read_cpu_ms"]:.0f} ms | | |
| the same folded to the page's tree of 2,000 nodes | {speed["large_tree_ms"]:.0f} ms, CPU {speed["large_tree_cpu_ms"]:.0f} ms | | |
| the same as the table of functions | {speed["large_table_ms"]:.0f} ms, CPU {speed["large_table_cpu_ms"]:.0f} ms | | |
"""  # noqa: E501 - rows of a table
    if compiler:
        text += (
            f"| the CPU profile that Go's compiler is built with, a tree of {compiler['nodes']:,} nodes: read, table,"
            f" tree | CPU {compiler['read_cpu_ms']:.0f}, {compiler['table_cpu_ms']:.0f}, {compiler['tree_cpu_ms']:.0f} ms"  # noqa: E501 - a row
            f" | | {compiler['rows']:,} rows, {'equal' if compiler['equal'] else 'different'} |\n"
        )
    write_result("profiles", "Profiles beside go tool pprof", text, document)
    print(text)
    return 0 if same_pairs == PAIRS else 1


def _speed(pairs: Sequence[tuple[Path, Path]]) -> dict[str, float]:
    base, now = pairs[0]

    def ours() -> None:
        difference_top(read_profile(now.read_bytes()), read_profile(base.read_bytes()), "cpu")

    def theirs() -> None:
        pprof_top([now], "nanoseconds", "cpu", "-diff_base", str(base))

    data = large_profile(NODES)
    profile = read_profile(data)
    stacks = stacks_of(profile)
    found: dict[str, float] = {"large_nodes": tree_of(stacks).nodes, "large_samples": len(profile)}
    for name, work, who in (
        ("pair", ours, resource.RUSAGE_SELF),
        ("pprof_pair", theirs, resource.RUSAGE_CHILDREN),
        ("large_read", lambda: read_profile(data), resource.RUSAGE_SELF),
        ("large_tree", lambda: tree_of(stacks_of(profile)), resource.RUSAGE_SELF),
        ("large_table", lambda: table_of(stacks_of(profile)), resource.RUSAGE_SELF),
    ):
        wall, cpu = _median(work, who)
        found[f"{name}_ms"], found[f"{name}_cpu_ms"] = round(wall * 1_000, 1), round(cpu * 1_000, 1)
    return found


def _compiler() -> dict[str, float | bool]:
    """A large real one that comes with Go; empty where it does not."""
    where = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    file = Path(where, "src", "cmd", "compile", "default.pgo")
    if not file.is_file():
        return {}
    data = file.read_bytes()
    profile = read_profile(data)
    theirs = pprof_top([file], "nanoseconds", "cpu")
    found: dict[str, float | bool] = {
        "nodes": tree_of(stacks_of(profile)).nodes,
        "rows": len(theirs.rows),
        "equal": same(single_top(profile, profile.default), theirs),
    }
    for name, work in (
        ("read", lambda: read_profile(data)),
        ("table", lambda: table_of(stacks_of(profile))),
        ("tree", lambda: tree_of(stacks_of(profile))),
    ):
        found[f"{name}_cpu_ms"] = round(_median(work, resource.RUSAGE_SELF)[1] * 1_000, 1)
    return found


def _median(work: Callable[[], object], who: int) -> tuple[float, float]:
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(ROUNDS):
        before, begun = resource.getrusage(who), time.perf_counter()
        work()
        walls.append(time.perf_counter() - begun)
        after = resource.getrusage(who)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(walls), statistics.median(cpus)


if __name__ == "__main__":
    sys.exit(main())
