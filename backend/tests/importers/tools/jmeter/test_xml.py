"""JMeter's XML results, made by JMeter 5.6.3."""

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.tools.jmeter import recognise_xml as recognise
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing, unpacked

XML = FIXTURES / "jmeter" / "results.xml.gz"
OPEN = b'<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
SAMPLE = b'<httpSample t="%d" ts="1795274353248" s="true" lb="one" rc="200" rm="OK" na="2" by="9" sby="3"/>\n'
CLOSE = b"</testResults>\n"


def test_it_says_the_same_as_the_csv_of_the_same_plan(imported: Importing) -> None:
    result = imported(XML).result
    csv = imported(FIXTURES / "jmeter" / "parent.csv.gz").result
    kinds = [{one.name: set(one.figures.outcomes) for one in found.endpoints} for found in (result, csv)]
    assert kinds[0] == kinds[1]
    assert result.figures.requests == 240
    assert result.figures.status_codes == {"0": 48, "200": 144, "404": 24, "500": 24}
    assert ('first line, with comma\nsecond "line"', 24) in result.errors


def test_requests_are_counted_and_not_their_transactions(imported: Importing) -> None:
    read = imported(XML)
    assert read.remark("jmeter-transactions").figures == {"rows": 24}
    assert "purchase" not in {one.name for one in read.result.endpoints}


def test_transactions_alone_are_the_requests(imported: Importing) -> None:
    row = SAMPLE.replace(b'rm="OK"', b'rm="Number of samples in transaction : 2, number of failing samples : 0"') % 5
    read = imported(OPEN + row * 2 + CLOSE)
    assert read.result.figures.requests == 2
    assert read.remark("jmeter-transactions-only").figures == {"rows": 2}


def test_a_file_that_is_cut_off_gives_its_whole_samples(imported: Importing) -> None:
    data = unpacked("jmeter/results.xml.gz")
    cut = data[: data.rindex(b"<httpSample") + 40]
    read = imported(cut)
    assert read.result.figures.requests == 239
    remark = next(one for one in read.result.remarks if one.kind is RemarkKind.DAMAGE)
    assert remark.place == f"line {len(cut.splitlines())}"


def test_samples_without_a_number_are_left_out_with_their_places(imported: Importing) -> None:
    read = imported(OPEN + SAMPLE % 5 + (SAMPLE % 5).replace(b'"5"', b'"soon"') + CLOSE)
    assert read.result.figures.requests == 1
    assert read.remark("damaged").place == "line 4"


def test_a_time_beyond_every_clock_is_damage(imported: Importing) -> None:
    read = imported(OPEN + SAMPLE % 5 + (SAMPLE % 5).replace(b'"5"', b'"' + b"9" * 30 + b'"') + CLOSE)
    assert read.result.figures.requests == 1
    assert read.remark("damaged").place == "line 4"


def test_entities_are_refused(imported: Importing) -> None:
    bomb = b'<?xml version="1.0"?>\n<!DOCTYPE testResults [<!ENTITY a "aaaa">]>\n<testResults>' + SAMPLE % 5 + CLOSE
    with pytest.raises(UnreadableFileError, match="document type"):
        imported(bomb)


def test_users_are_the_threads_of_all_groups(imported: Importing) -> None:
    read = imported(OPEN + SAMPLE % 5 + CLOSE)
    assert read.result.seconds is not None
    assert read.result.seconds.users is not None
    assert read.result.seconds.users.tolist() == [2.0]
    assert read.result.figures.outcomes == {Outcome.OK: 1}


def test_a_run_of_no_requests_is_a_result(imported: Importing) -> None:
    assert imported(OPEN + CLOSE).result.figures.requests == 0


def test_only_results_of_jmeter_are_recognised() -> None:
    assert recognise(unpacked("jmeter/results.xml.gz")[:1000]) == 95
    assert recognise(b'<?xml version="1.0"?><jmeterTestPlan/>') == 0


def test_samples_of_plug_ins_hold_elements_for_attributes(imported: Importing) -> None:
    result = imported(FIXTURES / "jmeter" / "webdriver.jtl").result
    assert (result.figures.requests, dict(result.figures.outcomes)) == (1, {Outcome.HTTP_5XX: 1})
    assert result.figures.latency.max == 1.0
    assert result.start_ms == 1_431_506_202_173
    assert [one.name for one in result.endpoints] == ["http://unknown.host/"]
    pair = (
        (FIXTURES / "jmeter" / "webdriver.jtl").read_bytes().replace(b"</testResults>", SAMPLE % 7 + b"</testResults>")
    )
    assert imported(pair.replace(b"1795274353248", b"1431506202999")).result.figures.requests == 2


@pytest.mark.parametrize(
    "character",
    [b"\x00", b"\x1b", b"&#x1b;", b"&#0;", b"&#xD83D;", b"&#xffff;", b"\xff", b"\xe6\x97", b"&#x9;", b"&amp;"],
)
def test_a_character_that_xml_forbids_costs_nothing(imported: Importing, character: bytes) -> None:
    odd = SAMPLE.replace(b'"OK"', b'"a' + character + b'b"').replace(b'"one"', b'"two"')
    run = imported(OPEN + SAMPLE % 1 + odd % 2 + SAMPLE % 3 + CLOSE)
    assert run.result.figures.requests == 3
    assert [remark for remark in run.result.remarks if remark.kind is RemarkKind.DAMAGE] == []


def test_a_reference_may_be_cut_between_two_pieces(imported: Importing, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 40):
        monkeypatch.setattr("loadwatch_backend.runs.importers.tools.jmeter._CHUNK", size)
        text = OPEN + (SAMPLE % 1).replace(b'"OK"', b'"a&#x0000001b;&lt;b\xe6\x97\xa5"') * 3 + CLOSE
        assert imported(text).result.figures.requests == 3


def test_another_encoding_is_read_as_it_is_declared(imported: Importing) -> None:
    text = (OPEN + (SAMPLE % 1).replace(b'"one"', b'"caf\xe9"') + CLOSE).replace(b"UTF-8", b"ISO-8859-1")
    assert [one.name for one in imported(text).result.endpoints] == ["café"]
