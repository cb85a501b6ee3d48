"""k6's CSV: the same requests as the JSON of the same run, in every form of its columns and times."""

import csv
import gzip
import io

import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, assert_same, unpacked

RUN = FIXTURES / "k6/run.csv.gz"


def rewritten(drop: tuple[str, ...] = (), quoted: bool = False) -> bytes:
    rows = list(csv.DictReader(io.StringIO(unpacked("k6/run.csv.gz").decode())))
    target = io.StringIO()
    fields = [name for name in rows[0] if name not in drop]
    style = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.DictWriter(target, fields, extrasaction="ignore", lineterminator="\n", quoting=style)
    if quoted:
        target.write(",".join(fields) + "\n")
    else:
        writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()


def test_csv_and_json_of_one_run_agree(imported: Importing) -> None:
    ours, theirs = imported(RUN), imported(FIXTURES / "k6/run.json.gz")
    assert ours.result.figures.outcomes == theirs.result.figures.outcomes
    assert ours.result.figures.status_codes == theirs.result.figures.status_codes
    assert ours.result.figures.latency == theirs.result.figures.latency
    assert ours.result.facts == theirs.result.facts
    assert {e.name: e.figures.requests for e in ours.result.endpoints} == {
        e.name: e.figures.requests for e in theirs.result.endpoints
    }
    apart = np.abs(np.sort(ours.column("time_ns")) - np.sort(theirs.column("time_ns")))
    assert apart.max() <= 1_000_000, "unix_milli cuts to whole milliseconds"


def test_whole_seconds_are_said(imported: Importing) -> None:
    run = imported(FIXTURES / "k6/seconds.csv.gz")
    assert run.result.figures.requests == 118
    assert run.remark("k6-whole-seconds").kind is RemarkKind.MISSING
    assert run.result.figures.outcomes[Outcome.TIMEOUT] == 2, "by error_code: the column error is off"


def test_rfc3339_nano(imported: Importing) -> None:
    run = imported(FIXTURES / "k6/rfc3339.csv.gz")
    assert run.result.figures.requests == 117
    assert not [r for r in run.result.remarks if r.code == "k6-whole-seconds"]
    assert run.result.start_ms is not None
    assert run.result.start_ms // 1000 == 1795272905


def test_older_files_without_the_metadata_column(imported: Importing) -> None:
    assert_same(imported(rewritten(("metadata",))).result, imported(RUN).result)


def test_quoted_fields_give_the_same(imported: Importing) -> None:
    assert_same(imported(rewritten(quoted=True)).result, imported(RUN).result)


def test_a_name_with_comma_quote_and_line_break(imported: Importing) -> None:
    data = unpacked("k6/run.csv.gz").decode().replace(",home,", ',"a ""b"",\nc",')
    run = imported(data.encode())
    assert run.result.figures.requests == 117
    assert 'a "b", c' in {endpoint.name for endpoint in run.result.endpoints}


def test_without_any_tag_of_the_outcome(imported: Importing) -> None:
    run = imported(rewritten(("status", "error", "error_code", "expected_response")))
    assert dict(run.result.figures.outcomes) == {Outcome.OK: 117}
    assert run.remark("k6-no-outcome").figures["requests"] == 117


def test_without_names_the_url_is_taken(imported: Importing) -> None:
    run = imported(rewritten(("name",)))
    assert "GET http://127.0.0.1:18080/slow" in {endpoint.name for endpoint in run.result.endpoints}


@pytest.mark.parametrize("quoted", [False, True])
def test_cut_off_and_damaged_lines(imported: Importing, quoted: bool) -> None:
    lines = rewritten(quoted=quoted).splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if b"http_req_duration" in line][10]
    lines[at] = lines[at][:30] + b"\n" if not quoted else b'"http_req_duration","17"\n'
    run = imported(b"".join(lines)[:-20])
    assert run.result.figures.requests == 116
    places = [remark.place for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert set(places) == {f"line {at + 1}", f"line {len(lines)}"}


def test_fields_of_one_line_do_not_make_up_for_those_of_another(imported: Importing) -> None:
    lines = rewritten().splitlines(keepends=True)
    first, second = [i for i, line in enumerate(lines) if line.startswith(b"http_req_duration,")][2:4]
    lines[first] = b",".join(lines[first].split(b",")[:4]) + b"\n"
    lines[second] = lines[second].rstrip(b"\n") + b"," * (lines[second].count(b",") - 3) + b"\n"
    run = imported(b"".join(lines))
    assert run.result.figures.requests == 115
    places = [remark.place for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE]
    assert places == [f"line {first + 1}", f"line {second + 1}"]


def test_a_figure_that_is_none(imported: Importing) -> None:
    lines = unpacked("k6/run.csv.gz").splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if line.startswith(b"http_req_duration,")][2]
    fields = lines[at].split(b",")
    lines[at] = b",".join([*fields[:2], b"soon", *fields[3:]])
    run = imported(gzip.compress(b"".join(lines)))
    assert run.result.figures.requests == 116
    assert run.remark("damaged").place == f"line {at + 1}"
