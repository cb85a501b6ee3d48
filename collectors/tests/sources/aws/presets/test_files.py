import pytest
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.presets import InsightsQuery, parse_preset_file

GOOD = """\
title: Queues
source: https://docs.aws.amazon.com/
group: sqs
namespace: AWS/SQS
kind: sqs
dimensions: [QueueName]
permissions: [cloudwatch:GetMetricData]
metrics:
  - {name: A, statistics: [Sum], unit: count, help: A.}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unit: count", "unit: apples", r"x\.yml:9: .*unit is one of bytes.*not 'apples'"),
        ("statistics: [Sum]", "statistics: [Sum], absent: zero", r"x\.yml:9: .*absent is one of gap, zero-when"),
        ("statistics: [Sum]", "statistics: [Sum], priority: 3", r"x\.yml:9: .*priority is 0, 1 or 2"),
        ("statistics: [Sum]", "statistics: [a, b, c, d, e, f]", r"x\.yml:9: .*one to five statistics, not 6"),
        ("statistics: [Sum]", "statistics: [Sum], orientation: up", r"x\.yml:9: .*orientation is one of"),
        ("unit: count", "units: count", r"x\.yml:9: unknown key 'units'.*did you mean 'unit'"),
        ("namespace: AWS/SQS\n", "", r"x\.yml:1: .*needs namespace, dimensions"),
        ("group: sqs", "group: sqs\nreader: magic", r"x\.yml:1: .*reader is one of"),
        ("group: sqs", "group: sqs\nreader: insights", r"x\.yml:1: .*has no namespace"),
        ("group: sqs", "group: sqs\nlog_group: x", r"x\.yml:1: .*belong to the reader enhanced"),
        ("help: A.}\n", "help: A.}\n  - {name: A, statistics: [Sum], unit: count, help: A.}\n", "there twice"),
    ],
)
def test_a_mistake_names_file_and_line(old: str, new: str, message: str) -> None:
    assert parse_preset_file(GOOD, "x.yml").metrics[0].name == "A"
    assert old in GOOD
    with pytest.raises(ConfigError, match=message):
        parse_preset_file(GOOD.replace(old, new), "x.yml")


def test_an_empty_file_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"x\.yml:1: the file is empty"):
        parse_preset_file("", "x.yml")


def test_series_of_insights_are_made_of_their_metric() -> None:
    query = InsightsQuery(metric="db.Users.Threads_running.avg", unit="count", help="Threads.")
    assert query.series_name == "aws_rds_insights_db_users_threads_running_average"
