"""Does the 90 % interval of a forecast hold the truth in 85 to 95 of 100? `python -m bench.forecast [SYSTEMS]`.

Four of ten systems are M/M/c, three M/G/1, three follow the Universal Scalability Law with noise; 1,000 by default.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.forecast.judge import Judged, judge_scaled, judge_swept
from bench.machine import describe_machine, write_result

SYSTEMS = 1_000


def main(arguments: Sequence[str]) -> int:
    """Judges, prints and writes the result."""
    count = int(arguments[0]) if arguments else SYSTEMS
    began = time.monotonic()
    many, one = count * 4 // 10, count * 3 // 10
    kinds = {
        "M/M/c": judge_swept("M/M/c", range(many)),
        "M/G/1": judge_swept("M/G/1", range(many, many + one)),
        "USL": judge_scaled(range(count - many - one)),
    }
    rows = {kind: _facts(judged) for kind, judged in kinds.items()}
    held, answered = (sum(row[name] for row in rows.values()) for name in ("held", "answered"))
    result = {
        "machine": describe_machine(),
        "systems": count,
        "seconds": round(time.monotonic() - began, 1),
        "coverage": round(held / answered, 4),
        "kinds": rows,
    }
    text = _page(result)
    if count == SYSTEMS:
        write_result("forecast", "How often a forecast's interval holds the truth", text, result)
    print(text)
    return 0


def _facts(judged: Judged) -> dict[str, Any]:
    errors = np.array(judged.errors)
    return {
        "answered": judged.answered,
        "held": judged.held,
        "interval_below_the_truth": judged.low,
        "interval_above_the_truth": judged.high,
        "median_error": round(float(np.median(np.abs(errors))), 4),
        "error_of_nine_in_ten": round(float(np.quantile(np.abs(errors), 0.9)), 4),
        "bias": round(float(np.median(errors)), 4),
        "median_width": round(float(np.median(judged.widths)), 4),
        "refused": dict(judged.refused.most_common()),
    }


def _page(result: Mapping[str, Any]) -> str:
    lines = "\n".join(
        f"| {kind} | {row['answered']} | {row['held'] / row['answered']:.1%} | {row['interval_below_the_truth']} | "
        f"{row['interval_above_the_truth']} | {row['median_error']:.1%} | {row['error_of_nine_in_ten']:.1%} | "
        f"{row['bias']:+.1%} | {row['median_width']:.0%} | {_refused(row['refused'])} |"
        for kind, row in result["kinds"].items()
    )
    return f"""
{result["systems"]:,} synthetic systems whose truth is known, simulated request by request and measured by the second
(`bench/forecast/systems.py`): the 90 % interval holds the truth in **{result["coverage"]:.1%}** of those that get a
number. The goal is 85 to 95 %.

M/M/c and M/G/1 are swept in 4 to 10 steps of 20 to 60 s up to 35 to 95 % of what they can do; half of them use
something without load, steps differ by up to 3 % for no reason, and in a tenth of the sweeps one step is disturbed by
15 % of the limit. Systems after the Universal Scalability Law are swept in 6 to 12 steps up to 0.6 to 1.5 times the
users of their peak, with 0.5 to 4 % of noise. The width is the median of the intervals'.

| system | numbers | hold the truth | below it | above it | median error | nine in ten | bias | width | no number |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
{lines}
"""


def _refused(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "none"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
