import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.presets import dimension_label, series_name

# Written by YACE's own BuildMetricName (pkg/promutil/migrate.go): namespace, metric, statistic, name.
GOLDEN = Path(__file__).parents[3] / "fixtures" / "aws" / "yace_names.tsv"
VALID = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def test_names_are_those_of_yace() -> None:
    rows = [line.split("\t") for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 200
    for namespace, metric, statistic, expected in rows:
        assert series_name(namespace, metric, statistic) == expected


def test_a_name_may_lack_its_statistic() -> None:
    assert series_name("AWS/RDS", "info") == "aws_rds_info"


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(["Sum", "p99.9", "TM(10%:90%)", ""]))
def test_every_name_is_one_that_prometheus_takes(namespace: str, metric: str, statistic: str) -> None:
    assert VALID.fullmatch(series_name(namespace, metric, statistic))
    assert VALID.fullmatch(dimension_label(metric))


def test_labels_of_dimensions_keep_their_capitals() -> None:
    assert dimension_label("DBInstanceIdentifier") == "dimension_DBInstanceIdentifier"
    assert dimension_label("Cache Node-Id") == "dimension_Cache_Node_Id"
