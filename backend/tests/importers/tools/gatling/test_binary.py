"""Gatling's binary log, made by Gatling 3.15.1, against the summary that Gatling printed; and made byte by byte."""

import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.pipeline import read_result
from loadwatch_backend.runs.importers.tools.gatling import recognise_binary as recognise
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

LOG = FIXTURES / "gatling" / "binary.log.gz"
START = 1_700_000_000_000


class Log:
    """Writes records as LogFileDataWriter does on a little-endian machine."""

    def __init__(self, version: str = "3.15.1") -> None:
        self._known: dict[str, int] = {}
        self.data = b"\0" + self._string(version) + self._string("demo.Shop") + struct.pack(">q", START)
        self.data += self._string("") + self._int(1) + self._string("shop") + self._int(0)

    def request(
        self, name: str, start: int, end: int, *, ok: bool = True, message: str = "", groups: tuple[str, ...] = ()
    ) -> "Log":
        self.data += b"\1" + self._int(len(groups)) + b"".join(map(self._cached, groups)) + self._cached(name)
        self.data += self._int(start) + self._int(end) + bytes([ok]) + self._cached(message)
        return self

    def user(self, at: int, *, started: bool) -> "Log":
        self.data += b"\2" + self._int(0) + bytes([started]) + self._int(at)
        return self

    def group(self, names: tuple[str, ...]) -> "Log":
        self.data += b"\3" + self._int(len(names)) + b"".join(map(self._cached, names)) + self._int(0) * 3 + b"\1"
        return self

    def error(self, message: str) -> "Log":
        self.data += b"\4" + self._cached(message) + self._int(5)
        return self

    def _int(self, value: int) -> bytes:
        return struct.pack(">i", value)

    def _string(self, text: str) -> bytes:
        try:
            data, coder = text.encode("latin-1"), b"\0"
        except UnicodeEncodeError:
            data, coder = text.encode("utf-16-le"), b"\1"
        return self._int(len(data)) + (data + coder if data else b"")

    def _cached(self, text: str) -> bytes:
        if text in self._known:
            return self._int(-self._known[text])
        self._known[text] = len(self._known) + 1
        return self._int(self._known[text]) + self._string(text)


def test_totals_are_those_that_gatling_printed(imported: Importing) -> None:
    result = imported(LOG).result
    summary = (FIXTURES / "gatling" / "binary.summary.txt").read_text()

    def printed(what: str) -> list[int]:
        line = next(line for line in summary.splitlines() if line.startswith(f"> {what}"))
        return [int(number.strip().replace(",", "")) for number in line.split("|")[1:4]]

    assert (result.tool_version, result.name) == ("3.15.1", "LoadwatchSimulation")
    total, ok, _ = printed("request count")
    assert (result.figures.requests, result.figures.outcomes[Outcome.OK]) == (total, ok)
    latency = result.figures.latency
    assert latency.mean is not None
    assert latency.max is not None
    assert round(latency.mean * 1000) == printed("mean response time")[0]
    assert round(latency.max * 1000) == printed("max response time")[0]
    for text, count in re.findall(r"^> (\S.*?\S) {2,}(\d+) +\(", summary.partition("Errors")[2], re.MULTILINE):
        if not text.startswith("no such key"):
            assert (text, int(count)) in result.errors


def test_it_says_the_same_as_the_text_log_of_the_same_simulation(imported: Importing) -> None:
    def counts(name: str) -> dict[str, dict[Outcome, int]]:
        endpoints = imported(FIXTURES / "gatling" / name).result.endpoints
        return {one.name.replace("inner, with", "inner  with"): dict(one.figures.outcomes) for one in endpoints}

    assert counts("binary.log.gz") == counts("text.log.gz")


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["ok", "日本", "café", "x" * 300]),
            st.sampled_from([(), ("basket",), ("basket", "買い物"), ("a", "b", "c")]),
            st.integers(0, 2_000),
            st.sampled_from(["", "status.find.is(200), found 503", "Request timeout to x after 1 ms"]),
            st.integers(0, 3),
        ),
        max_size=400,
    )
)
def test_every_record_is_read_as_it_was_written(
    rows: list[tuple[str, tuple[str, ...], int, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = Log()
    for place, (name, groups, elapsed, message, other) in enumerate(rows):
        log.request(name, place, place + elapsed, ok=not message, message=message, groups=groups)
        if other == 1:
            log.user(place, started=True)
        elif other == 2:
            log.group(("basket", name))
        elif other == 3:
            log.error("no such key")
    directory = tmp_path_factory.mktemp("log")
    (directory / "simulation.log").write_bytes(log.data)
    (directory / "run").mkdir()
    result = read_result(directory / "simulation.log", directory / "run", ImportOptions(), lambda _: None)
    assert result.figures.requests == len(rows)
    assert not [remark for remark in result.remarks if remark.code == "damaged"]
    assert {one.name for one in result.endpoints} == {" / ".join((*groups, name)) for name, groups, *_ in rows}
    failures = {Outcome.HTTP_5XX: 0, Outcome.TIMEOUT: 0}
    for _, _, _, message, _ in rows:
        if message:
            failures[Outcome.HTTP_5XX if message.startswith("status") else Outcome.TIMEOUT] += 1
    assert {kind: result.figures.outcomes.get(kind, 0) for kind in failures} == failures


def test_a_long_log_is_read_in_steps(imported: Importing) -> None:
    log = Log()
    parts = [log.data]
    for number in range(300_000):
        log.data = b""
        log.request(f"page {number % 7}", number // 10, number // 10 + number % 100, groups=("shop",) * (number % 3))
        if number == 150_000:
            log.error("a message of its own")
        parts.append(log.data)
    read = imported(b"".join(parts))
    assert read.result.figures.requests == 300_000
    assert read.result.figures.latency.max == 0.099
    assert len(read.result.endpoints) == 21
    assert read.remark("gatling-errors").figures == {"errors": 1}


def test_a_log_that_is_cut_off_gives_its_whole_records(imported: Importing) -> None:
    log = Log().request("one", 0, 10).request("one", 5, 20)
    read = imported(log.request("one", 7, 30).data[:-3])
    assert read.result.figures.requests == 2
    remark = read.remark("damaged")
    assert remark.place == f"byte {len(log.data) - 22}"
    assert remark.figures == {"skipped_bytes": 19}


def test_what_comes_after_damage_is_not_guessed(imported: Importing) -> None:
    log = Log().request("one", 0, 10)
    place = len(log.data)
    read = imported(log.data + b"\x09garbage" * 500)
    assert read.result.figures.requests == 1
    assert read.remark("damaged").place == f"byte {place}"
    assert read.remark("damaged").figures == {"skipped_bytes": 4000}


def test_incoming_events_without_a_latency_are_not_counted(imported: Importing) -> None:
    sentinel = struct.unpack(">i", struct.pack(">q", -START)[4:])[0]
    read = imported(Log().request("push", 3, sentinel).request("one", 0, 10).data)
    assert read.result.figures.requests == 1
    assert read.remark("gatling-incoming").figures == {"events": 1}


def test_users_are_counted_over_time(imported: Importing) -> None:
    log = Log().user(0, started=True).user(10, started=True).request("one", 20, 30)
    log.user(1500, started=False).request("one", 2500, 2600).user(2700, started=False)
    seconds = imported(log.data).result.seconds
    assert seconds is not None
    assert seconds.users is not None
    assert seconds.users.tolist() == [2.0, 1.0, 0.0]


def test_a_run_of_no_requests_is_a_result(imported: Importing) -> None:
    assert imported(Log().data).result.figures.requests == 0


def test_only_logs_of_gatling_are_recognised() -> None:
    assert recognise(unpacked("gatling/binary.log.gz")[:1000]) == 95
    assert recognise(b"\0\0\0\0\x06abc.de\0") == 0
    assert recognise(b"") == 0


def test_nothing_readable_is_an_error(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="Gatling"):
        imported(b"\x07not a log", format="gatling-binary")


def test_strings_that_skip_a_number_are_damage(imported: Importing) -> None:
    log = Log().request("one", 0, 10)
    # A request whose name brings the string 77, where the next is far below.
    request = b"\x00" * 4 + b"\x00\x00\x00\x4d"
    read = imported(log.data + b"\x01" + request + b"\x00" * 60)
    assert read.result.figures.requests == 1
    assert read.remark("damaged").place == f"byte {len(log.data)}"
