import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import FORMATS, recognise

LTSV = "method:GET\turi:/a\tstatus:200\treqtime:0.1\n"


def test_the_kind_of_most_of_the_first_lines() -> None:
    assert recognise('{"not": "it"}\n' + LTSV * 3 + "\nfree text\n").format == "ltsv"


@pytest.mark.parametrize(
    ("sample", "options", "says"),
    [
        ("", LineOptions(), "has no lines"),
        ("\n \n", LineOptions(), "has no lines"),
        ("one\ntwo\n", LineOptions(), "first 2 lines are not what is known"),
        (LTSV, LineOptions(format="json"), r"not what is known \(JSON lines\)"),
        (LTSV, LineOptions(format="tsv"), "no format 'tsv'; there are auto, alb, envoy, combined, ltsv, json"),
        (LTSV + "x\n" * 3, LineOptions(), "not what is known"),
    ],
)
def test_what_is_not_known_is_said(sample: str, options: LineOptions, says: str) -> None:
    with pytest.raises(AccessLogError, match=says):
        recognise(sample, options)


def test_a_format_that_is_named_needs_few_lines() -> None:
    assert recognise(LTSV + "x\n" * 9, LineOptions(format="ltsv")).format == "ltsv"


@given(st.text(alphabet=st.characters(max_codepoint=255)), st.sampled_from(FORMATS))
def test_no_text_breaks_a_reader(text: str, known: object) -> None:
    for one in FORMATS:
        reader = one.open([line for line in text.split("\n") if line.strip()] or ["x"], LineOptions())
        if reader is not None:
            for texts in reader.read(text):
                assert len(texts) == 7
                reader.seconds(texts[5])
