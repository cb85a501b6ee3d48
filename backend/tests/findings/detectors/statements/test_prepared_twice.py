"""What is prepared for each execution is noted; statements that are kept, and few of them, are none."""

from loadwatch_backend.findings.detectors.statements import prepared_twice as DETECTOR
from loadwatch_backend.findings.model import Severity
from loadwatch_backend.findings.window import Window

from backend.tests.findings.windows import found, load, rising, window

DB = 'job="mysql",instance="db-1"'


def commands(prepared: float, executed: float) -> Window:
    name = "mysql_global_status_commands_total"
    return window(
        {
            f'{name}{{{DB},command="stmt_prepare"}}': rising([prepared] * 60),
            f'{name}{{{DB},command="stmt_execute"}}': rising([executed] * 60),
            f'{name}{{{DB},command="select"}}': rising([executed] * 60),
        },
        load=load(10.0, p95=2.0),
    )


def test_a_preparation_for_each_execution_is_noted_with_what_it_saves_and_where_it_is_dangerous() -> None:
    finding = found(DETECTOR, commands(400.0, 410.0))
    assert finding.weight is Severity.INFO
    assert "24,000 statements were prepared for 24,600 executions" in finding.sentence.en
    assert "400 round trips a second" in finding.sentence.en
    assert "毎秒400回" in finding.sentence.ja
    assert finding.labels == {"job": "mysql", "instance": "db-1"}
    assert "interpolateParams=true" in finding.steps[0].code
    assert "SJIS" in finding.steps[0].text.en
    assert "SJIS" in finding.steps[0].text.ja


def test_statements_that_are_kept_and_few_of_them_are_none() -> None:
    assert not DETECTOR.look(commands(5.0, 400.0)).findings
    assert not DETECTOR.look(commands(200.0, 400.0)).findings
    assert not DETECTOR.look(commands(5.0, 5.0)).findings
    assert not DETECTOR.look(window({"up": 1.0})).findings
