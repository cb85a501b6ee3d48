"""Writes docs/guide/promql.md: `python -m loadwatch_backend.promql.parsing.guide docs/guide/promql.md`."""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from loadwatch_backend.promql.engine import EngineSettings
from loadwatch_backend.promql.http.parameters import MAX_SELECTORS
from loadwatch_backend.promql.parsing.catalogue import (
    AGGREGATORS,
    ARITHMETIC_OPERATORS,
    CATALOGUE,
    COMPARISON_OPERATORS,
    SET_OPERATORS,
    FunctionEntry,
)
from loadwatch_backend.promql.parsing.scan import MAX_DEPTH, MAX_LEVELS, MAX_PATTERNS, MAX_TEXT
from loadwatch_backend.store.patterns import MATCHING_SECONDS, MAX_MEMORY

_TEXT = """<!-- Written by `python -m loadwatch_backend.promql.parsing.guide`; do not edit. -->

# PromQL

Loadwatch answers PromQL over Prometheus' HTTP API below `/prometheus/api/v1`: `query`, `query_range`, `series`,
`labels`, `label/<name>/values`, `metadata`, `format_query` and `status/buildinfo`. In Grafana, add a data source of
type Prometheus with the address `http://<server>:8000/prometheus`.

The meaning is that of Prometheus 3: ranges and the look-back are open on the left, a stale marker ends a series,
`rate`, `increase` and `delta` extrapolate. The test suite compares the engine with some 2,200 answers of Prometheus'
own engine (`make reference` writes them again).

## Selectors

`name{{label="value"}}` with `=`, `!=`, `=~`, `!~` (regular expressions in RE2's syntax, anchored at both ends), names
in quotes, `[5m]` for ranges, and `offset`, which may be negative. The newest sample counts for {lookback} minutes; the
parameter `lookback_delta` changes that for one query, up to one day.

## Operators

| kind | operators | modifiers |
| --- | --- | --- |
| arithmetic | {arithmetic} | `on`, `ignoring`, `group_left`, `group_right` |
| comparison | {comparison} | the same, and `bool` |
| sets | {sets} | `on`, `ignoring` |

## Aggregations

{aggregators}, each with `by` or `without`.

## Functions
{functions}
## Limits

| what | limit |
| --- | --- |
| steps of a range query | {steps:,} |
| samples that one query loads, and values of one of its vectors | {samples:,} |
| series that one query selects | {series:,} |
| time | {timeout:g} s |
| characters of an expression | {text:,} |
| brackets within each other, and these together with all operators | {depth}, {levels} |
| regular expressions of an expression, and memory of each when it is compiled | {patterns}, {pattern_memory} MiB |
| time that one regular expression takes for the values of its label | {pattern_seconds:g} s |
| characters of a label that a query makes ({makers}), and of all that it makes | {label_length:,}, {new_labels:,} |
| selectors (`match[]`) of a request | {selectors} |

A query beyond a limit gets an error that names it.

## Not supported yet

An expression with any of these gets an error that names it and where it stands: subqueries (`[10m:1m]`), the modifier
`@`, native histograms and their functions, `or` between label matchers, `fill`, `anchored` and `smoothed`, `limitk` and
`limit_ratio`, and functions that are not in the tables above.

## Differences

- Sums over series and over time are compensated for rounding as in Prometheus, but added in another order; results may
  differ in the last bit. Where a sum may overflow, the order is the same.
- `deriv` and `predict_linear` work with deviations from the mean. With values around 1e15 they are exact where
  Prometheus' formula is off by a percent.
- Of series that tie in `topk` and `bottomk`, those that arrived first are kept; Prometheus leaves it open.
- The vector of an instant query is sorted by its labels, unless `sort`, `sort_desc`, `topk` or `bottomk` orders it.
- Annotations (warnings such as "metric might not be a counter") are not given.
"""


def _table(entries: Sequence[FunctionEntry]) -> str:
    rows = "\n".join(f"| `{entry.name}({entry.arguments})` | {entry.summary} |" for entry in entries)
    return f"\n### {entries[0].family}\n\n| function | gives |\n| --- | --- |\n{rows}\n"


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def format_guide() -> str:
    """The page as it is committed."""
    settings = EngineSettings()
    families = [list(entries) for _, entries in groupby(CATALOGUE, lambda entry: entry.family)]
    return _TEXT.format(
        lookback=settings.lookback_ms // 60_000,
        arithmetic=_codes(ARITHMETIC_OPERATORS),
        comparison=_codes(COMPARISON_OPERATORS),
        sets=_codes(SET_OPERATORS),
        aggregators=_codes(AGGREGATORS),
        functions="".join(_table(entries) for entries in families),
        steps=settings.max_steps,
        samples=settings.max_samples,
        series=settings.max_series,
        timeout=settings.timeout_seconds,
        text=MAX_TEXT,
        depth=MAX_DEPTH,
        levels=MAX_LEVELS,
        patterns=MAX_PATTERNS,
        pattern_memory=MAX_MEMORY >> 20,
        pattern_seconds=MATCHING_SECONDS,
        label_length=settings.max_label_length,
        new_labels=settings.max_new_labels,
        selectors=MAX_SELECTORS,
        makers=_codes(("label_join", "label_replace", "count_values", "group_left", "group_right")),
    )


def main(arguments: Sequence[str]) -> None:
    """Write the page to the file that is named."""
    Path(arguments[0]).write_text(format_guide())


if __name__ == "__main__":
    main(sys.argv[1:])
