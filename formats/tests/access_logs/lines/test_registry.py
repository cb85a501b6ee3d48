import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import FORMATS, recognise, recognise_first

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
        (LTSV, LineOptions(format="tsv"), "no format 'tsv'; there are auto, alb, envoy, haproxy, combined, ltsv, json"),
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


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line",
    [
        LTSV,
        "req:GET /a HTTP/1.1\tstatus:200\treqtime:0.1\n",
        '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a HTTP/1.1" 200 512 "-" "curl" 0.012\n',
        '[2026-11-23T01:00:00.3Z] "GET /a HTTP/2" 200 - 154 0 226 100 "-" "-" "-" "-" "-"\n',
        "https 2026-11-23T01:00:00.1Z app/l/5 192.0.2.1:2 - 0.001 0.048 0.002 200 200 34 366 "
        '"GET https://shop.example:443/a HTTP/1.1" "curl"\n',
        '{"uri": "/a", "status": 200, "duration_ms": 1}\n',
        "10.0.1.2:33317 [06/Feb/2026:12:14:14.655] web app/a1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "
        '"GET /a HTTP/1.1"\n',
    ],
)
def test_lines_of_a_megabyte_take_no_time(line: str) -> None:
    reader = recognise(line)
    for piece in ("a", "?", "/", " ", '"', "\\", "\\\\", "[", "0", "0 ", '"a" ', "a=", "{", "://", "\t", "a:"):
        long = piece * (300_000 // len(piece))
        cut = [line[: line.index(begun) + len(begun)] + long for begun in ("/a", "200", "GET") if begun in line]
        for text in (line.replace("/a", "/a" + long), line.replace("200", "200" + long), long + line, *cut):
            for texts in reader.read(text):
                if texts[-1]:
                    reader.again(texts[-1])
                reader.seconds(texts[5])


COMBINED = '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a HTTP/1.1" 200 512 "-" "curl" {}\n'


def test_a_later_sample_decides_what_the_first_leaves_open() -> None:
    nothing = COMBINED.format("-") * 300
    reader, decided = recognise_first([nothing, "odd\n", nothing, nothing + COMBINED.format("0.012")])
    assert reader.durations == "field 3 behind the bytes (of an upstream: not every request has one), in seconds"
    assert recognise(decided, most=len(decided)).durations == reader.durations
    reader, decided = recognise_first([nothing, nothing])
    assert (reader.durations, decided.count("\n") + 1) == (None, 200)
    with pytest.raises(AccessLogError, match="has no lines"):
        recognise_first([])
