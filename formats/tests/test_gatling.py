import gzip
import struct
from pathlib import Path

import pytest
from loadwatch_formats.gatling import (
    INCOMING,
    CutOffError,
    GatlingError,
    GatlingRecords,
    RequestLine,
    RequestRecord,
    RunStart,
    StrayError,
    UserEvent,
    decode,
    is_binary,
    read_line,
)

FIXTURES = Path(__file__).parents[2] / "backend" / "tests" / "importers" / "fixtures" / "gatling"
START = 1_700_000_000_000
RUN = (
    b"\0\0\0\0\x063.15.1\0" + b"\0\0\0\x09demo.Shop\0" + struct.pack(">q", START) + b"\0\0\0\4 all\0" + b"\0" * 4
) + b"\0\0\0\1\0\0\0\2xy"
REQUEST = b"\1" + b"\0\0\0\1\0\0\0\1\0\0\0\2in\0" + b"\0\0\0\2\0\0\0\3pay\0" + struct.pack(">ii", 5, 9) + b"\1"


def test_names_beyond_latin_1_are_little_endian() -> None:
    assert decode("日本".encode("utf-16-le"), wide=True) == "日本"
    assert decode("café".encode("latin-1"), wide=False) == "café"
    assert decode("閲覧 reader".encode("utf-16-be"), wide=True) == "閲覧 reader"


def test_a_record_that_is_cut_off_is_read_again_as_if_nothing_had_been() -> None:
    log = GatlingRecords()
    data = RUN + REQUEST + b"\0\0\0\3\0\0\0\1!\0" + b"\1" + struct.pack(">iiiii", 0, -2, 7, 8, 1)[:16] + b"\0"
    for end in range(len(RUN)):
        with pytest.raises(CutOffError):
            log.read(data[:end], 0)
    assert log.read(data, 0) == RunStart("Shop: all", "3.15.1")
    assert log.start_ms == START
    first = log.end
    for end in range(first, first + len(REQUEST) + 8):
        with pytest.raises(CutOffError):
            log.read(data[:end], first)
        assert log.strings == [""]
    assert log.read(data, first) == RequestRecord((1, 2), 5, 9, True, 3)
    assert log.strings == ["", "in", "pay", "!"]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (b"\0", "0 is no kind"),
        (b"\5", "5 is no kind"),
        (b"\1\0\0\1\0", "256 cannot be a length"),
        (b"\1\0\0\0\0\xff\xff\xff\xff", "-1 is no number of a string"),
        (b"\4\0\0\0\2", "2 is no number of a string"),
        (b"\2\0\0\0\0\2", "2 is neither"),
    ],
)
def test_what_is_no_record_is_told(record: bytes, text: str) -> None:
    log = GatlingRecords()
    log.read(RUN, 0)
    with pytest.raises(GatlingError, match=text):
        log.read(record + b"\0" * 40, 0)


def test_users_groups_and_errors() -> None:
    log = GatlingRecords()
    log.read(RUN, 0)
    assert log.read(b"\2\0\0\0\0\1\0\0\0\7", 0) == UserEvent(7, True)
    assert log.read(b"\4\0\0\0\1\0\0\0\2no\0\0\0\0\5", 0) == StrayError("no")
    assert log.read(b"\3\0\0\0\1\xff\xff\xff\xff" + b"\0" * 12 + b"\1", 0) is None
    assert log.end == 22


def test_a_log_is_known_by_its_version() -> None:
    data = gzip.decompress((FIXTURES / "binary.log.gz").read_bytes())
    assert is_binary(data[:400])
    assert not is_binary(b"\0\0\0\0\x06abc.de\0")
    assert not is_binary(b"")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("RUN\tdemo.Shop\tshop\t1\tall \t3.11.5", RunStart("Shop: all", "3.11.5")),
        ("RUN\tdemo.Shop\tshop\t1\t ", RunStart("Shop", "")),
        ("USER\tshop\tSTART\t12", UserEvent(12, True)),
        ("USER\tshop\t7\tSTART\t12\t0", UserEvent(12, True)),
        ("USER\tshop\t7\tEND\t12\t15", UserEvent(15, False)),
        ("REQUEST\ta,b\tpay\t1\t3\tOK\t ", RequestLine(1, 3, True, " ")),
        ("REQUEST\t\tpay\t1\t3\tOK", RequestLine(1, 3, True, "")),
        ("REQUEST\t7\t\tpay\t1\t3\tKO\twhy", RequestLine(1, 3, False, "why")),
        ("REQUEST\tshop\t7\t\tpay\t1\t3\tKO\twhy", RequestLine(1, 3, False, "why")),
        ("REQUEST\tshop\t7\t\tpay\t1\t2\t2\t3\tKO\twhy", RequestLine(1, 3, False, "why")),
        (f"REQUEST\t\tpush\t1\t{INCOMING}\tOK\t ", RequestLine(1, INCOMING, True, " ")),
        ("ERROR\tno such key\t5", StrayError("no such key")),
        ("GROUP\ta\t1\t2\t1\tOK", None),
        ("ASSERTION\tAAEC", None),
        ("", None),
    ],
)
def test_lines(line: str, found: object) -> None:
    assert read_line(line) == found


@pytest.mark.parametrize(
    "line",
    [
        "REQUEST\t\tpay\t1\t3\tMAYBE\t ",
        "REQUEST\t\tpay\t1\tOK",
        "REQUEST\t\tpay\tone\t3\tOK\t ",
        f"REQUEST\t\tpay\t1\t{2**63}\tOK\t ",
        "USER\tshop\tSTOP\t12",
        "USER\tshop\tSTART\tnever",
        "ERROR\tno",
        "RUN\tdemo",
    ],
)
def test_damaged_lines_are_told(line: str) -> None:
    with pytest.raises(GatlingError):
        read_line(line)
