"""The templates that Prometheus' own expander answers; see `make reference`."""

import json
import sys
from pathlib import Path
from typing import Any

LABELS = {
    "__name__": "m",
    "alertname": "inner",
    "instance": "db-1.example.org:9104",
    "job": "mysql",
    "odd": "<a href='x'>",
}
EXTERNAL_LABELS = {"cluster": "eu-1"}
EXTERNAL_URL = "https://watch.example.org/load"
TIME_MS = 1_700_000_000_123
QUERIES: dict[str, list[dict[str, Any]]] = {
    "up": [
        {"labels": {"__name__": "up", "instance": "b"}, "value": "1"},
        {"labels": {"__name__": "up", "instance": "a"}, "value": "0.5"},
    ],
    "none": [],
    'count_values("version", build)': [{"labels": {"__value__": "v1"}, "value": "2"}],
}


def _lines(name: str) -> list[str]:
    return (Path(__file__).parent / name).read_text().splitlines()


MULTILINE = [
    "a\n  {{- if true }}\n  b\n  {{- end }}\nc",
    '{{ range query "up" }}\n- {{ .Labels.instance }}\n{{ end -}}\nend',
    "{{ if true -}}\n  x\n{{- end }}",
    "{{ print\n 1\n 2 }}",
    '{{ "a\nb" }}',
    "{{ `a\nb` }}",
]


def document() -> dict[str, Any]:
    cases = [{"text": text, "value": "1234.5"} for text in [*_lines("templates.txt"), *MULTILINE]]
    cases += [{"text": text, "value": value} for text in _lines("of_numbers.txt") for value in _lines("numbers.txt")]
    return {
        "engine": "github.com/prometheus/prometheus/template v0.315.0",
        "labels": LABELS,
        "external_labels": EXTERNAL_LABELS,
        "external_url": EXTERNAL_URL,
        "time_ms": TIME_MS,
        "queries": QUERIES,
        "cases": cases,
    }


if __name__ == "__main__":
    json.dump(document(), sys.stdout)
