import pytest
from loadwatch_backend.promql.http.exposition import Exposed, format_for, lines_of

NEW = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain; version=1.0.0; escaping=allow-utf-8"
SAMPLES = (
    Exposed((("__name__", "a.b"), ("instance", "i"), ("k8s.pod", 'x"\n\\')), 1_000, 1.0),
    Exposed((("__name__", "a.b"), ("job", "j")), 1_000, 1e-9),
    Exposed((("__name__", "level"),), -5, float("inf")),
    Exposed((("job", "nameless"),), 5, 1.0),
)


@pytest.mark.parametrize("accept", ["", "text/plain;version=0.0.4", "text/plain;version=1.0.0;escaping=underscores"])
def test_names_of_old(accept: str) -> None:
    text_format = format_for(accept)
    assert text_format.media_type == "text/plain; version=0.0.4; charset=utf-8"
    assert "".join(lines_of(SAMPLES, text_format)) == (
        "# TYPE a_b untyped\n"
        'a_b{instance="i",k8s_pod="x\\"\\n\\\\"} 1 1000\n'
        'a_b{job="j",instance=""} 1e-09 1000\n'
        "# TYPE level untyped\n"
        'level{instance=""} +Inf -5\n'
    )


def test_names_of_any_letters() -> None:
    text_format = format_for(NEW)
    assert text_format.media_type.startswith("text/plain; version=1.0.0;")
    lines = "".join(lines_of(SAMPLES, text_format)).splitlines()
    assert lines[:2] == ['# TYPE "a.b" untyped', '{"a.b",instance="i","k8s.pod"="x\\"\\n\\\\"} 1 1000']
