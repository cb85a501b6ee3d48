"""The result of a campaign as a page."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from tests.fuzz.campaign import Result
from tests.fuzz.target import STALL_SECONDS

ROOT = Path(__file__).parents[2]


def write_report(results: Sequence[Result], seed: int) -> None:
    """Writes bench/results/fuzz.md and fuzz.json."""
    rows = [
        f"| {one.target} | {one.executions:,} | {one.outcomes} | {one.slowest_seconds:.2f} | {one.slowest_bytes:,}"
        f" | {one.memory / 2**20:.0f} | {one.ceiling >> 20} | {_faults(one)} |"
        for one in results
    ]
    seconds = sum(one.seconds for one in results)
    faults = sum(len(one.faults) for one in results)
    text = f"""
{len(results)} parsers of what others send, {seconds:,.0f} s in all (seed {seed}). Inputs are mutations of real
ones and texts made of the format's words; each goes through the entry point that the product uses, in a process that
may die. A fault is a dead process, an exception that the product does not turn into an
answer, more than {STALL_SECONDS:g} s of processor time for one input, or more memory than the ceiling.

**{sum(one.executions for one in results):,} inputs, {faults} faults.**

| parser | inputs | outcomes | slowest, s | its bytes | memory that it took, MiB | ceiling, MiB | faults |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
{chr(10).join(rows)}

`make fuzz FUZZ_SECONDS=3600` measures again; `make test` runs a short one.
"""
    documents: list[dict[str, Any]] = []
    for one in results:
        document = asdict(one)
        document["faults"] = [
            {"kind": fault.kind, "detail": fault.detail.replace(f"{ROOT}/", "")} for fault in one.faults
        ]
        documents.append(document)
    write_result("fuzz", "Bytes by chance", text, {"machine": describe_machine(), "seed": seed, "targets": documents})


def _faults(result: Result) -> str:
    return ", ".join(fault.kind for fault in result.faults) or "none"
