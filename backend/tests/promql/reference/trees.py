"""The expressions whose trees are compared, as a JSON list on standard output; trees/main.go parses them."""

import json
import sys

from backend.tests.promql.reference.cases import QUERIES_FILE

FURTHER = (
    "foo[5m] offset 1m",
    "foo[5m+1m] offset (10m/2)",
    "foo[min_of(max_of(step(),5m+3m),10m-2m)]",
    "foo[range()]",
    "foo[4s+4s:1s*2] offset (5s-8)",
    "foo offset -min_of(5s,step()+8s)",
    "foo offset -5m",
    "foo @ 1700000000.5 offset 1w",
    "foo[5m] @ start()",
    "foo[5m:] @ end()",
    '{"a.b", "c.d"=~"x|y"}',
    '{__name__="foo", job!="a", instance!~"b.*"}',
    "1e300 * -1e-300",
    "-foo ^ +2",
    "NaN + Inf - -Inf",
    "0x1F + 1_000",
    '"a \\n b"',
    "sum without (a, b) (foo)",
    "topk by (a) (3, foo)",
    'count_values("version", foo)',
    "a * on (x) group_left (y) b",
    "a / ignoring (x) group_right () b",
    "a and on () b",
    "a unless b or c",
    "a == bool 1",
    "1 < bool 2",
    "(a + b) * on (x) fill (0) c",
    "a + fill_left (1) fill_right (2) b",
    "foo[5m] smoothed",
    "foo anchored",
    "rate(foo[1m] anchored)",
    "time() - vector(1)",
    "hour() + day_of_week(foo)",
    'label_join(foo, "a", "-", "b", "c")',
    "round(foo, 5)",
    "clamp(foo, 0, 1)",
    'info(foo, {k8s="a"})',
    'sort_by_label(foo, "a", "b")',
    "1h30m + 5",
)


def main() -> None:
    """Write them."""
    lines = (line.strip() for line in QUERIES_FILE.read_text().splitlines())
    json.dump([*(line for line in lines if line and line[0] not in "#@"), *FURTHER], sys.stdout)


if __name__ == "__main__":
    main()
