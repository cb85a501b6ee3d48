"""Trees of expressions, as Prometheus' own parse_query gives them (see reference/trees)."""

import gzip
import json
from pathlib import Path

import pytest
from loadwatch_backend.kit.errors import BadRequestError
from loadwatch_backend.promql.parsing.parse import expression_tree

GOLDEN = Path(__file__).parents[1] / "golden" / "trees.json.gz"


REFUSED = {
    "rate(requests_total[1m - 1m])": "duration must be greater than 0",
    "foo[5m] smoothed": "not enabled",
    "foo anchored": "not enabled",
    "rate(foo[1m] anchored)": "not enabled",
}
"""The first one Prometheus refuses when it is evaluated, the others unless a flag lets them."""


def test_trees_are_those_of_prometheus() -> None:
    cases = json.loads(gzip.decompress(GOLDEN.read_bytes()))
    assert len(cases) > 800
    for case in cases:
        query = case["query"]
        if query in REFUSED:
            with pytest.raises(BadRequestError, match=REFUSED[query]):
                expression_tree(query)
        else:
            assert expression_tree(query) == case["tree"], query
