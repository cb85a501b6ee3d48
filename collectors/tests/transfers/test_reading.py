import struct

import pytest
from loadwatch_collectors.series import encode_labels
from loadwatch_collectors.transfers.errors import TransferError
from loadwatch_collectors.transfers.lines import numbered_lines
from loadwatch_collectors.transfers.reading import Form, SampleReader


def read(reader: SampleReader, text: str) -> list[tuple[bytes, int, float]]:
    return [(series.labels, time, value) for series, time, value in reader.read(numbered_lines([text.encode()]), "f")]


def labels(**pairs: str) -> bytes:
    return encode_labels({"__name__": "m", **pairs})


def test_seconds_and_milliseconds_are_told_apart() -> None:
    reader = SampleReader()
    found = read(reader, "m 1 1700000000.25\nm 2 1700000000250\nm 3 1700000000\n# EOF\n")
    assert [time for _, time, _ in found] == [1_700_000_000_250, 1_700_000_000_250, 1_700_000_000_000]
    assert reader.counts.problems == []
    assert [time for _, time, _ in read(SampleReader(form=Form.PROMETHEUS), "m 1 1700000000\n")] == [1_700_000_000]


def test_a_series_is_read_once() -> None:
    reader = SampleReader()
    found = read(reader, 'm{b="1",a="x y",c=""} 1 1e3\nm{b="1",a="x y",c=""} 2 2e3\n# EOF\n')
    assert found == [(labels(a="x y", b="1"), 1_000_000, 1.0), (labels(a="x y", b="1"), 2_000_000, 2.0)]
    assert len(reader.counts.series) == 1


def test_infinite_and_missing_numbers() -> None:
    found = read(SampleReader(), "m +Inf 1\nm -Inf 2\nm NaN 3\n# EOF\n")
    assert [struct.pack(">d", value).hex() for _, _, value in found] == [
        "7ff0000000000000",
        "fff0000000000000",
        "7ff8000000000000",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('m{a="1" 1 1', "line 2"),
        ("m one 1", "'one' is not a number"),
        ("m 1 soon", "'soon' is not a number"),
        ("m 1 -5", "is not a time of a sample"),
        ("m 1 NaN", "is not a time of a sample"),
        ("m 1 2 3", "a value and a time must follow"),
        ('m{a="1",a="2"} 1 1', "given twice"),
        ("m 1 1\xff", "not a number"),
        ("m{" + ",".join(f'a{i}="1"' for i in range(300)) + "} 1 1", "300 labels"),
    ],
)
def test_a_damaged_line_costs_itself(line: str, said: str) -> None:
    reader = SampleReader()
    assert len(read(reader, f"m 1 1\n{line}\nm 2 2\n# EOF\n")) == 2
    assert reader.counts.damaged == 1
    assert said in reader.counts.problems[0]


def test_a_file_without_its_end_is_said() -> None:
    reader = SampleReader()
    assert len(read(reader, "m 1 1\n")) == 1
    assert "without # EOF" in reader.counts.problems[0]
    after = SampleReader()
    assert len(read(after, "m 1 1\n# EOF\nm 1 2\n")) == 1
    assert "line 3: text after # EOF" in after.counts.problems[0]


def test_samples_without_a_time() -> None:
    reader = SampleReader()
    assert read(reader, "m 1\n") == []
    assert reader.counts.undated == 1
    assert read(SampleReader(at_ms=7), "m 1\n") == [(labels(), 7, 1.0)]


def test_metadata_goes_under_the_names_of_samples() -> None:
    reader = SampleReader()
    text = "# TYPE orders counter\n# HELP orders All \\\\ of\\nthem\norders_total 1 1\n# TYPE old counter\nold 1 1\n"
    read(reader, text + "# TYPE m gauge\n# UNIT m seconds\nm 1 1\n# EOF\n")
    found = {info.name: (info.type, info.help, info.unit) for info in reader.metadata()}
    assert found == {
        "orders_total": ("counter", "All \\ of\nthem", ""),
        "old": ("counter", "", ""),
        "m": ("gauge", "", "seconds"),
    }
    assert reader.metadata() == []


def test_another_kind_of_file_is_given_up() -> None:
    with pytest.raises(TransferError, match="none of 1000 lines is a sample"):
        read(SampleReader(), "{}\n" * 2_000)
