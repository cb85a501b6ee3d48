"""Gatling's text log, made by Gatling 3.12.0, against the statistics of its own report."""

import gzip
import json
from typing import Any

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.gatling import recognise_text as recognise
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

LOG = FIXTURES / "gatling" / "text.log.gz"
RUN = b"RUN\tdemo.Shop\tshop\t1700000000000\tnightly\t3.9.5\n"


def test_totals_are_those_of_gatlings_report(imported: Importing) -> None:
    result = imported(LOG).result
    reference = json.loads((FIXTURES / "gatling" / "text.global_stats.json").read_text())
    figures = result.figures
    assert (result.tool, result.tool_version, result.name) == ("gatling", "3.12.0", "LoadwatchSimulation")
    assert figures.requests == reference["numberOfRequests"]["total"]
    assert figures.outcomes[Outcome.OK] == reference["numberOfRequests"]["ok"]
    assert figures.latency.max == reference["maxResponseTime"]["total"] / 1000
    assert figures.latency.min == reference["minResponseTime"]["total"] / 1000
    assert figures.latency.mean is not None
    assert round(figures.latency.mean * 1000) == reference["meanResponseTime"]["total"]


def test_each_request_in_its_groups_has_the_counts_of_the_report(imported: Importing) -> None:
    def leaves(node: dict[str, Any]) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for child in node.get("contents", {}).values():
            found |= leaves(child)
        if node["type"] == "REQUEST":
            counts = node["stats"]["numberOfRequests"]
            found[node["path"]] = counts["total"], counts["ok"]
        return found

    reference = leaves(json.loads(gzip.decompress((FIXTURES / "gatling" / "text.stats.json.gz").read_bytes())))
    endpoints = imported(LOG).result.endpoints
    assert {one.name: (one.figures.requests, one.figures.outcomes.get(Outcome.OK, 0)) for one in endpoints} == reference
    assert "買い物 / inner  with comma / café" in reference


def test_failures_are_told_by_their_message(imported: Importing) -> None:
    result = imported(LOG).result
    outcomes = {one.name: set(one.figures.outcomes) for one in result.endpoints}
    assert outcomes["missing"] == {Outcome.HTTP_4XX}
    assert outcomes["expected missing"] == {Outcome.OK}
    assert outcomes["error"] == {Outcome.HTTP_5XX}
    assert outcomes["wrong text"] == {Outcome.ASSERTION}
    assert outcomes["hang"] == {Outcome.TIMEOUT}
    assert outcomes["reset"] == {Outcome.RESET}
    assert outcomes["refused"] == {Outcome.REFUSED}
    assert outcomes["no such host"] == {Outcome.DNS}
    assert ("substring(そんな物はない).find.exists, found nothing", 30) in result.errors


def test_users_errors_and_what_the_log_lacks_are_told(imported: Importing) -> None:
    read = imported(LOG)
    assert read.remark("gatling-errors").figures == {"errors": 6}
    assert "No attribute named 'missing'" in read.remark("gatling-errors").text
    assert read.remark("gatling-no-status").kind is RemarkKind.MISSING
    assert read.result.seconds is not None
    assert read.result.seconds.users is not None
    assert read.result.seconds.users.max() > 1


def test_a_log_that_is_cut_off_gives_its_whole_lines(imported: Importing) -> None:
    whole = imported(LOG).result.figures.requests
    data = unpacked("gatling/text.log.gz")
    cut = data[: data.rindex(b"REQUEST\t") + 20]
    read = imported(cut)
    assert read.result.figures.requests == whole - 1
    assert read.remark("damaged").place == f"line {len(cut.splitlines())}"


def test_damaged_lines_are_left_out_with_their_places(imported: Importing) -> None:
    lines = [
        b"REQUEST\t\tone\t1700000000000\t1700000000010\tOK\t ",
        b"REQUEST\t\tone\tsoon\t1700000000010\tOK\t ",
        b"\x00\x00\x00",
        b'REQUEST\t\t"two"\t1700000000500\t1700000000520\tKO\tjsonPath("$.a").find.exists, found nothing',
    ]
    read = imported(RUN + b"\n".join(lines) + b"\n")
    assert read.result.figures.requests == 2
    assert read.result.name == "Shop: nightly"
    assert sorted(one.name for one in read.result.endpoints) == ['"two"', "one"]
    places = {remark.place for remark in read.result.remarks if remark.kind is RemarkKind.DAMAGE}
    assert places == {"line 3", "line 4"}


@pytest.mark.parametrize(
    ("user", "request_line"),
    [
        ("USER\tshop\t1\tSTART\t1700000000000\t0", "REQUEST\t1\tbasket\tpay\t1700000000000\t1700000000010\tOK\t "),
        ("USER\tshop\t1\tSTART\t1700000000000\t0", "REQUEST\tshop\t1\tbasket\tpay\t1700000000000\t1700000000010\tOK\t"),
    ],
)
def test_older_layouts_are_told_by_the_number_of_fields(imported: Importing, user: str, request_line: str) -> None:
    read = imported(RUN + f"{user}\n{request_line}\n".encode())
    assert [one.name for one in read.result.endpoints] == ["basket / pay"]
    assert read.column("latency_ns").tolist() == [10_000_000]
    assert read.result.seconds is not None
    assert read.result.seconds.users is not None
    assert read.result.seconds.users.tolist() == [1.0]


def test_incoming_events_without_a_latency_are_not_counted(imported: Importing) -> None:
    event = f"REQUEST\t\tpush\t1700000000000\t{-(2**63)}\tOK\t \n".encode()
    request = b"REQUEST\t\tone\t1700000000000\t1700000000010\tOK\t \n"
    read = imported(RUN + event + request)
    assert read.result.figures.requests == 1
    assert read.remark("gatling-incoming").figures == {"events": 1}


def test_a_run_of_no_requests_is_a_result(imported: Importing) -> None:
    assert imported(RUN).result.figures.requests == 0


def test_only_logs_of_gatling_are_recognised() -> None:
    assert recognise(unpacked("gatling/text.log.gz")[:1000]) == 95
    assert recognise(b"RUN away\n") == 0
    assert recognise(unpacked("gatling/binary.log.gz")[:1000]) == 0


def test_nothing_readable_is_an_error(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="Gatling"):
        imported(b"timeStamp,elapsed\n1,2\n", format="gatling-text")


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"a\rb", b"\x00", b'"'])
def test_damaged_messages_cost_at_most_their_own_line(bad: bytes, imported: Importing) -> None:
    lines = [b"REQUEST\t\tone\t1700000000000\t1700000000100\tOK\t \n"] * 3
    lines[1] = b"REQUEST\t\tone\t1700000000000\t1700000000100\tKO\tfound " + bad + b" here\n"
    lines.append(b"REQUEST\t\tone\t" + b"9" * 30 + b"\t1700000000100\tOK\t \n")
    result = imported(RUN + b"".join(lines)).result
    assert result.figures.requests == (2 if b"\r" in bad else 3)


def test_lines_whose_empty_message_an_editor_stripped(imported: Importing) -> None:
    for data in (
        path := FIXTURES / "gatling" / "trailing-space-stripped.log",
        path.read_bytes().replace(b"\n", b"\r\n"),
    ):
        result = imported(data).result
        assert dict(result.figures.outcomes) == {Outcome.OK: 3, Outcome.ASSERTION: 1}
        assert [remark for remark in result.remarks if remark.kind is RemarkKind.DAMAGE] == []
        assert [one.name for one in result.endpoints] == ["g1_newUser", "g1_confirm"]
    whole = unpacked("gatling/text.log.gz")
    stripped = b"\n".join(line.rstrip() for line in whole.split(b"\n"))
    assert imported(stripped).result.figures == imported(whole).result.figures
