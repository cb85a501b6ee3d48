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
from loadwatch_backend.promql.parsing.lexer import MAX_DEPTH, MAX_LEVELS, MAX_PATTERNS, MAX_TEXT
from loadwatch_backend.store.patterns import MATCHING_SECONDS, MAX_MEMORY

_TEXT = """<!-- Written by `python -m loadwatch_backend.promql.parsing.guide`; do not edit. -->

# PromQL

Loadwatch answers PromQL over Prometheus' [HTTP API](#paths) below `/prometheus/api/v1`. In Grafana, add a data source
of type Prometheus with the address `http://<server>:8000/prometheus`.

The meaning is that of Prometheus 3: ranges and the look-back are open on the left, a stale marker ends a series,
`rate`, `increase` and `delta` extrapolate. Prometheus' own test scripts run as tests of this engine, and it is compared
with some 2,500 answers of Prometheus' engine (`make reference` writes both again); `make differential` asks both
thousands of random expressions. Warnings and infos are Prometheus', ten of each at most. What Prometheus has behind
flags of its parser (experimental functions, arithmetic of durations, `fill`) is always there.

## Selectors

`name{{label="value"}}` with `=`, `!=`, `=~`, `!~` (regular expressions in RE2's syntax, anchored at both ends), names
in quotes (`{{"any name", "any label"="value"}}`), `[5m]` for ranges, and `offset`, which may be negative.
`@ 1700000000`, `@ start()` and `@ end()` take a selector at one time whatever the step. The newest sample counts for
{lookback} minutes; the parameter `lookback_delta` changes that for one query, up to one day.

`(expression)[30m:1m]` is a subquery: the expression at each multiple of a minute in half an hour; `[30m:]` has a step
of {subquery_step:g} s. It takes `offset` and `@`, too.

A duration may be arithmetic: `[5m * 2]`, `offset (1h - step())`, with `+ - * / % ^`, brackets, `step()` and `range()`
of the query, `min_of(a, b)` and `max_of(a, b)`.

Samples older than the retention are answered from [one-minute rollups](server.md#two-levels): exactly where steps,
start and ranges are whole minutes, otherwise with an info that says by what the answer may be off.

## Operators

| kind | operators | modifiers |
| --- | --- | --- |
| arithmetic | {arithmetic} | `on`, `ignoring`, `group_left`, `group_right`, `fill`, `fill_left`, `fill_right` |
| comparison | {comparison} | the same, and `bool` |
| sets | {sets} | `on`, `ignoring` |

## Aggregations

{aggregators}, each with `by` or `without`.

## Functions
{functions}
## Paths

Below `/prometheus/api/v1`, with Prometheus' parameters, shapes and errors; a real Prometheus stands beside it in tests.

| path | what |
| --- | --- |
| `query`, `query_range` | values of an expression |
| `series`, `labels`, `label/<name>/values` | series, and their labels and values, with `match[]`, times and `limit` |
| `metadata` | type, help and unit: one entry of each metric |
| `query_exemplars` | an empty list: no exemplars are stored |
| `format_query`, `parse_query` | an expression laid out over lines, and as a tree |
| `rules`, `alerts` | [rules](rules.md) with their alerts |
| `targets`, `scrape_pools` | who sent samples within seven days and how that is; what was scraped only they know |
| `alertmanagers` | none: notifications are sent by the server itself |
| `status/buildinfo`, `…/runtimeinfo`, `…/flags`, `…/config` | the server, in Prometheus' words |
| `status/tsdb` | numbers of series by name, label and value, over all that are kept |
| `read` | remote read: `remote_read: [{{url: http://<server>:8000/prometheus/api/v1/read, read_recent: true}}]` |

`/prometheus/federate?match[]=...` is the newest sample of each series within the look-back, with its time, for another
Prometheus to scrape; stale markers end a series there, too. Names that are not plain come in quotes to who takes them,
else with `_` for what is not plain.

Remote read gives STREAMED_XOR_CHUNKS to who accepts it first, else SAMPLES, with stale markers as they are; it waits
for its turn and takes its memory as queries do.

## Limits

| what | limit |
| --- | --- |
| steps of a range query | {steps:,} |
| samples that one query loads, and values of one of its vectors | {samples:,} |
| series that one query selects | {series:,} |
| time | {timeout:g} s |
| characters of an expression | {text:,} |
| brackets within each other, and these together with all operators and ranges | {depth}, {levels} |
| regular expressions of an expression, and memory of each when it is compiled | {patterns}, {pattern_memory} MiB |
| time that one regular expression takes for the values of its label | {pattern_seconds:g} s |
| characters of a label that a query makes ({makers}), and of all that it makes | {label_length:,}, {new_labels:,} |
| selectors (`match[]`) of a request | {selectors} |

A query beyond a limit gets an error that names it.

## Not supported

Native histograms (their functions give nothing, `</` and `>/` an error), the modifiers `anchored` and `smoothed`, and
`start_timestamp()`: times at which counters began are not stored. An error names what is meant, and where it stands.

## Differences

- Sums over series and over time are compensated for rounding as in Prometheus, but added in another order; results may
  differ in the last bit, as those of `exp` and its like do; `count_values` makes other labels of them. Where a sum may
  overflow, the order is the same.
- `deriv` and `predict_linear` work with deviations from the mean. With values around 1e15 they are exact where
  Prometheus' formula is off by a percent.
- Of series that tie in `topk` and `bottomk`, those that arrived first are kept; Prometheus leaves it open.
- The vector of an instant query is sorted by its labels, unless `sort`, `sort_desc`, `topk` or `bottomk` orders it.
- Names are taken away where a value changes its meaning, as Prometheus does by default, and not at the end of the query
  (its flag `promql-delayed-name-removal`).
- `limitk` keeps the first series in the order of their labels. Which series `limit_ratio` keeps differs; as in
  Prometheus they are the same each time, and those of `limit_ratio(0.3, v)` and `limit_ratio(-0.7, v)` make up all.
- Places in messages count characters, in Prometheus bytes.
- `timestamp(x @ 5 offset 1m)` counts the offset, which Prometheus forgets there. `stddev` and `stdvar` are exact where
  values are large and close together (Prometheus is off by 1e-8 around 1e9).
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
        subquery_step=settings.subquery_step_ms / 1_000,
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
