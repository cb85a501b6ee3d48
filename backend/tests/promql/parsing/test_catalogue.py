"""Names, evaluators, guide and golden file agree on what is supported."""

import re
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.series.promql.evaluate import FUNCTIONS
from loadwatch_backend.series.promql.parsing.catalogue import AGGREGATORS, CATALOGUE, OPERATORS

ROOT = Path(__file__).resolve().parents[4]


def test_every_function_has_an_evaluator_and_a_line_in_the_catalogue() -> None:
    assert sorted(entry.name for entry in CATALOGUE) == sorted(FUNCTIONS)


def test_the_guide_names_every_function_and_operator() -> None:
    guide = (ROOT / "docs/guide/promql.md").read_text(encoding="utf-8")
    assert [name for name in (*FUNCTIONS, *AGGREGATORS, *OPERATORS) if f"`{name}" not in guide] == []


@pytest.mark.parametrize("name", [*FUNCTIONS, *AGGREGATORS])
def test_prometheus_has_answered_a_query_with_every_name(golden: dict[str, Any], name: str) -> None:
    pattern = re.compile(rf"(?<!\w){name}\s*(?:\(|by|without)")
    texts = [query["text"] for query in golden["queries"] if not query.get("error")]
    assert any(pattern.search(text) for text in texts)


@pytest.mark.parametrize("operator", OPERATORS)
def test_prometheus_has_answered_a_query_with_every_operator(golden: dict[str, Any], operator: str) -> None:
    assert any(f" {operator} " in query["text"] and query.get("rows") for query in golden["queries"])
