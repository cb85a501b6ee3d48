"""Whatever stands in a file or a template: an answer or a proper error, never another exception."""

import math

from hypothesis import example, given, settings
from hypothesis import strategies as st
from loadwatch_backend.alerting.rules.gotemplate.formatting import format_value, sprintf
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.alerting.rules.template import TemplateContext, TemplateError, check_template, render

_YAML = st.lists(
    st.sampled_from(
        [
            *("groups:", "- name: a", "  rules:", "  - alert: A", "    expr: up", "    for: 5m", "    labels: {a: b}"),
            *(
                "- ",
                "  ",
                ":",
                "&a",
                "*a",
                "<<: *a",
                "[",
                "]",
                "{",
                "}",
                "!!binary x",
                "? x",
                "---",
                "~",
                "'",
                '"',
                "|",
            ),
            *("    annotations:", "      x: '{{ $value }}'", "tests:", "- input_series:", "  - series: up", "\t", "é"),
        ]
    ),
    max_size=12,
)
_TEMPLATE = st.lists(
    st.sampled_from(
        [
            *("{{", "}}", "{{-", "-}}", " ", "(", ")", "|", ".", "$", "$x", ":=", "=", ",", "nil", "true", "1", "1.5"),
            *('"a"', "'a'", "`b`", "if", "else", "end", "range", "with", "define", "template", "block", "break", "/*"),
            *(
                "*/",
                ".Labels",
                ".Value",
                "$labels",
                "$value",
                "humanize",
                "printf",
                "index",
                "len",
                "slice",
                "eq",
                "and",
            ),
            *("query", "first", "toTime", "args", "title", "text", "\n", '"%d %v %[9]d %*d"', "not", "call", "match"),
        ]
    ),
    max_size=14,
)


@settings(max_examples=200)
@given(_YAML, st.sampled_from(["\n", " ", ""]))
@example(["a: &a [*a]"], "")
@example(["groups: &a\n- *a"], "")
@example(["groups:\n- &a\n  <<: *a"], "")
def test_files(parts: list[str], between: str) -> None:
    content = between.join(parts).encode()
    for fault in read_rules(content, "f", 1_000).all_faults:
        assert fault.line >= 1
        assert fault.column >= 1
        assert fault.text


@given(st.binary(max_size=100))
def test_bytes(content: bytes) -> None:
    read_rules(content, "f", 1_000)


@settings(max_examples=300)
@given(_TEMPLATE, st.sampled_from([" ", ""]))
def test_templates(parts: list[str], between: str) -> None:
    text = between.join(parts)
    context = TemplateContext(labels={"a": "b"}, value=1.5, query=lambda _: [({"a": "b"}, 2.0)])
    rendered = render(text, context)
    try:
        check_template(text)
    except TemplateError:
        assert rendered.startswith("<error expanding template: ")


@given(st.floats())
def test_numbers_are_printed_to_be_read_again(value: float) -> None:
    text = format_value(value)
    assert text == {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, text)
    assert math.isnan(value) or float(text) == value


@given(st.text(alphabet="%vdsqfgtxT+-# 0.*[]123z", max_size=12), st.lists(st.none() | st.integers() | st.floats()))
def test_layouts(layout: str, values: list[float | None]) -> None:
    assert isinstance(sprintf(layout, values), str)


def test_loops_end() -> None:
    context = TemplateContext(labels={}, value=1)
    for text in (
        "{{ range 100000000 }}x{{ end }}",
        "{{ range 1000 }}{{ range 1000 }}{{ range 1000 }}x{{ end }}{{ end }}{{ end }}",
        '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}',
        '{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}',
        "{{ range 100000 }}" + "x" * 1000 + "{{ end }}",
        '{{ printf "%1000000000d" 1 }}{{ range 1000 }}{{ printf "%10000d" 1 }}{{ end }}',
        "{{ if true }}" * 500 + "{{ end }}" * 500,
        "{{ " + "(" * 500 + ")" * 500 + " }}",
    ):
        assert render(text, context).startswith("<error expanding template: ")
