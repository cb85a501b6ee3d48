"""The golden file was made from the series and queries that stand beside the Go program."""

import json
from typing import Any

from backend.tests.promql.reference.cases import document


def test_the_golden_file_is_of_the_present_cases(golden: dict[str, Any]) -> None:
    # Through JSON, as the Go program read it; it writes whole numbers without a decimal point.
    present: dict[str, Any] = json.loads(json.dumps(document()))
    assert golden["lookback_ms"] == present["lookback_ms"]
    assert golden["series"] == present["series"], "run `make reference`"
    asked = [{name: query[name] for name in ("text", "start", "end", "step")} for query in golden["queries"]]
    assert asked == present["queries"], "run `make reference`"


def test_most_queries_have_answers_and_some_are_refused(golden: dict[str, Any]) -> None:
    refused = [query for query in golden["queries"] if query.get("error")]
    assert len(golden["queries"]) > 1_000
    assert 50 < len(refused) < 200
