"""Templates give what Prometheus' own expander gives (golden/templates.json, written by `make reference`)."""

import json
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.rules.template import TemplateContext, TemplateError, check_template, expand, render

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "templates.json").read_text())


def _query(text: str) -> list[tuple[dict[str, str], float]]:
    if text not in GOLDEN["queries"]:
        raise TemplateError(f"no such query: {text}")
    return [(one["labels"], float(one["value"])) for one in GOLDEN["queries"][text]]


def _context(value: float) -> TemplateContext:
    return TemplateContext(
        labels=GOLDEN["labels"],
        value=value,
        external_labels=GOLDEN["external_labels"],
        external_url=GOLDEN["external_url"],
        time_ms=GOLDEN["time_ms"],
        query=_query,
    )


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['text'][:60]} at {case['value']}")
def test_as_prometheus(case: dict[str, Any]) -> None:
    context = _context(float(case["value"]))
    if case["parses"]:
        check_template(case["text"])
    else:
        with pytest.raises(TemplateError):
            check_template(case["text"])
    if case.get("error"):
        with pytest.raises(TemplateError):
            expand(case["text"], context)
        assert render(case["text"], context).startswith("<error expanding template: ")
    else:
        assert expand(case["text"], context) == case["result"]
