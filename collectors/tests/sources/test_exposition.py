import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.prometheus import ExpositionError, ExpositionParser
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics_reference
from prometheus_client.parser import text_string_to_metric_families as parse_text_reference

PAGE = r"""# HELP http_requests_total Requests,\nby \\ code.
# TYPE http_requests_total counter
http_requests_total{code="200",path="a \"b\" \\ \n}"} 1027
http_requests_total{code="500", path="/x y 1",} 3 1395066363000
# a comment
	weird_spaces	{ a = "1" }	+Inf
no_labels -1.5e-3
"""


def parse(text: str, *, openmetrics: bool = False) -> list[Sample]:
    return ExpositionParser().parse(text, openmetrics=openmetrics).samples


def test_labels_escapes_times_and_blanks() -> None:
    assert parse(PAGE) == [
        Sample("http_requests_total", 1027, (("code", "200"), ("path", 'a "b" \\ \n}'))),
        Sample("http_requests_total", 3, (("code", "500"), ("path", "/x y 1")), 1395066363000),
        Sample("weird_spaces", math.inf, (("a", "1"),)),
        Sample("no_labels", -0.0015),
    ]


def test_type_and_help_are_kept() -> None:
    info = ExpositionParser().parse(PAGE, openmetrics=False).metrics["http_requests_total"]
    assert (info.type, info.help) == ("counter", "Requests,\nby \\ code.")


def test_a_second_page_is_read_like_the_first() -> None:
    parser = ExpositionParser()
    first = parser.parse(PAGE, openmetrics=False).samples
    assert parser.parse(PAGE, openmetrics=False).samples == first
    changed = parser.parse(PAGE.replace("1027", "1028").replace("no_labels", "other"), openmetrics=False).samples
    assert (changed[0].value, changed[3].name) == (1028, "other")


def test_openmetrics_times_exemplars_and_units() -> None:
    text = (
        "# TYPE lag_seconds histogram\n# UNIT lag_seconds seconds\n"
        'lag_seconds_bucket{le="+Inf"} 4 1395066363.123 # {trace_id="a # b"} 0.5 1395066363\n'
        "lag_seconds_count 4\n# EOF\n"
    )
    page = ExpositionParser().parse(text, openmetrics=True)
    assert page.samples == [
        Sample("lag_seconds_bucket", 4, (("le", "+Inf"),), 1395066363123),
        Sample("lag_seconds_count", 4),
    ]
    assert (page.metrics["lag_seconds"].type, page.metrics["lag_seconds"].unit) == ("histogram", "seconds")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ok 1\n9bad 1\n", "line 2: a metric's name"),
        ("a\n", "a value"),
        ("a b\n", "'b' is not a number"),
        ("a 1_000\n", "'1_000' is not a number"),
        ("a 1 2 3\n", "at most a time"),
        ("a 1 soon\n", "'soon' is not a time"),
        ('a{b="1",b="2"} 1\n', "the label b is given twice"),
        ('a{b="1} 1\n', "column 3"),
        ("a{b=1} 1\n", "column 3"),
        ("<html><body>\n", "line 1: a metric's name"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ExpositionError, match=says):
        parse(text)


def test_an_incomplete_openmetrics_page_is_refused() -> None:
    with pytest.raises(ExpositionError, match="without # EOF"):
        parse("a 1\n", openmetrics=True)
    with pytest.raises(ExpositionError, match="line 3: text after # EOF"):
        parse("a 1\n# EOF\nb 2\n", openmetrics=True)


def test_too_many_samples_are_refused() -> None:
    text = "".join(f'a{{n="{n}"}} 1\n' for n in range(11))
    with pytest.raises(ExpositionError, match="more than 10 samples"):
        ExpositionParser(max_samples=10).parse(text, openmetrics=False)


NAMES = st.from_regex(r"[a-z_:][a-z0-9_:]{0,8}", fullmatch=True)
LABEL_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
# prometheus_client splits pages at every line break that Unicode knows, the format only at \n.
LABEL_VALUES = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=8
)
VALUES = st.floats(width=64)
SERIES = st.lists(
    st.tuples(NAMES, st.dictionaries(LABEL_NAMES, LABEL_VALUES, max_size=4), VALUES, st.none() | st.integers(0, 2**41)),
    max_size=8,
)


def escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def go_number(value: float) -> str:
    return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN" if math.isnan(value) else repr(value))


def written(series: list[tuple[str, dict[str, str], float, int | None]]) -> str:
    lines: list[str] = []
    for name, labels, value, timestamp in series:
        body = ",".join(f'{label}="{escape(text)}"' for label, text in labels.items())
        spec = f"{name}{{{body}}}" if labels else name
        lines.append(f"{spec} {go_number(value)}" + (f" {timestamp}" if timestamp is not None else ""))
    return "\n".join(lines) + "\n"


def comparable(name: str, labels: dict[str, str], value: float, timestamp: int | None) -> tuple[object, ...]:
    return name, sorted(labels.items()), repr(value), timestamp


@given(SERIES)
@settings(max_examples=150, deadline=None)
def test_the_reference_parser_reads_the_same(series: list[tuple[str, dict[str, str], float, int | None]]) -> None:
    text = written(series)
    ours = [comparable(s.name, dict(s.labels), s.value, s.timestamp_ms) for s in parse(text)]
    reference = [
        comparable(s.name, s.labels, s.value, None if s.timestamp is None else round(float(s.timestamp) * 1000))
        for family in parse_text_reference(text)
        for s in family.samples
    ]
    assert sorted(ours, key=repr) == sorted(reference, key=repr)
    parser = ExpositionParser()
    parser.parse(text, openmetrics=False)
    again = [
        comparable(s.name, dict(s.labels), s.value, s.timestamp_ms)
        for s in parser.parse(text, openmetrics=False).samples
    ]
    assert again == ours


def reference_families(text: str) -> list[Metric]:
    untyped: Any = openmetrics_reference
    return list(untyped.text_string_to_metric_families(text))


def test_the_reference_parser_reads_openmetrics_the_same() -> None:
    text = (
        '# HELP a Help.\n# TYPE a counter\na_total{x="1"} 5.0 1520879607.789 # {id="7"} 1.0\n'
        '# TYPE b summary\nb{quantile="0.5"} 1\nb_count 2\nb_sum 3\n# TYPE c info\nc_info{v="2"} 1\n# EOF\n'
    )
    reference = [(s.name, s.labels, s.value) for family in reference_families(text) for s in family.samples]
    assert [(s.name, dict(s.labels), s.value) for s in parse(text, openmetrics=True)] == reference


@pytest.mark.parametrize("openmetrics", [False, True])
def test_names_in_quotes(openmetrics: bool) -> None:
    """As Prometheus 3 writes names of other characters than before."""
    text = (
        '# HELP "my.metric" What it \\\\ is.\n# TYPE "my.metric" counter\n'
        '{"my.metric"} 1\n{"my.metric","label with space"="x","b"="\\"y\\""} 2\n{ "日本.総数" , c="d" } 3\n'
        'plain_total{"service.name"="a b",e="f"} 4\n'
    )
    found = ExpositionParser().parse(text + "# EOF\n" * openmetrics, openmetrics=openmetrics)
    assert [(one.name, one.labels, one.value) for one in found.samples] == [
        ("my.metric", (), 1.0),
        ("my.metric", (("label with space", "x"), ("b", '"y"')), 2.0),
        ("日本.総数", (("c", "d"),), 3.0),
        ("plain_total", (("service.name", "a b"), ("e", "f")), 4.0),
    ]
    assert (found.metrics["my.metric"].type, found.metrics["my.metric"].help) == ("counter", "What it \\ is.")


@pytest.mark.parametrize(
    "line", ["{} 1", '{""} 1', '{a="b"} 1', '{"a" 1', '{"a","b"} 1', '{"a","b"="c","b"="d"} 1', '"a" 1']
)
def test_names_in_quotes_that_are_none(line: str) -> None:
    with pytest.raises(ExpositionError, match="line 1: "):
        ExpositionParser().parse(line, openmetrics=False)
