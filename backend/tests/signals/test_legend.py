import pytest
from loadwatch_backend.catalogue.signals.model import name_series, render_legend


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{{a}} {{b}}", "1 2"),
        ("{{ a }}→{{gone}}", "1→"),
        ("{{gone}} {{b}}", "2"),
        ("plain", "plain"),
        ("", ""),
        ("{a} {{}} {{a", "{a} {{}} {{a"),
    ],
)
def test_labels_are_filled_in(template: str, name: str):
    assert render_legend(template, {"a": "1", "b": "2"}) == name


@pytest.mark.parametrize(
    ("quantile", "name"),
    [("0.5", "p50"), ("0.95", "p95"), ("0.999", "p99.9"), ("1", "max"), ("0", "min"), ("high", "high"), ("7", "7")],
)
def test_a_quantile_is_told_as_a_percentile(quantile: str, name: str):
    assert render_legend("{{quantile | percentile}}", {"quantile": quantile}) == name


def test_a_name_is_clear_in_its_chart():
    assert name_series("In use", "{{i}}", {"i": "x"}, shared=False) == "x"
    assert name_series("In use", "{{i}}", {"i": "x"}, shared=True) == "In use · x"
    assert name_series("In use", "{{i}}", {}, shared=True) == "In use"
