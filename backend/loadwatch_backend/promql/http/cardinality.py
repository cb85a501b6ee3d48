"""Which names and values make the most series, as Prometheus' `status/tsdb` counts them.

Source: MemPostings.Stats of tsdb/index/postings.go. Of equal counts the first name comes first.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from loadwatch_backend.promql.labels import METRIC_NAME
from loadwatch_backend.store.port import Labels


def cardinality(series: Iterable[Labels], most: int) -> dict[str, Any]:
    """The number of series and of pairs of a label and a value, and four lists of `most` entries at most."""
    pairs: Counter[tuple[str, str]] = Counter()
    count = 0
    for labels in series:
        pairs.update(labels.items())
        count += 1
    values: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for name, value in pairs:
        values[name] += 1
        sizes[name] += len(value.encode())
    metrics = {value: number for (name, value), number in pairs.items() if name == METRIC_NAME}
    return {
        "numSeries": count,
        "numLabelPairs": len(pairs),
        "seriesCountByMetricName": _greatest(metrics, most),
        "labelValueCountByLabelName": _greatest(values, most),
        "memoryInBytesByLabelName": _greatest(sizes, most),
        "seriesCountByLabelValuePair": _greatest(
            {f"{name}={value}": number for (name, value), number in pairs.items()}, most
        ),
    }


def _greatest(counts: Mapping[str, int], most: int) -> list[dict[str, Any]]:
    found = heapq.nsmallest(most, counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"name": name, "value": number} for name, number in found]
