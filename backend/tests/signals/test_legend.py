import pytest
from loadwatch_backend.signals.legend import name_series, render_legend


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


def test_a_name_is_clear_in_its_chart():
    assert name_series("In use", "{{i}}", {"i": "x"}, shared=False) == "x"
    assert name_series("In use", "{{i}}", {"i": "x"}, shared=True) == "In use · x"
    assert name_series("In use", "{{i}}", {}, shared=True) == "In use"
