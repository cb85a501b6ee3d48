import pytest
from loadwatch_collectors.collector import Labels, TargetIdentity
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.pipeline.sender import encode_rows
from loadwatch_collectors.series import SampleRow, make_series

from collectors.tests.receiver import decode_write_request

TARGET = TargetIdentity(job="app", instance="web-1", labels=(("zone", "a"),))


def labels_of(name: str, labels: Labels) -> dict[str, str]:
    [sample] = decode_write_request(
        encode_rows([SampleRow(1_700_000_000_000, [make_series(name, labels, TARGET)], [1.0])])
    )[0]
    return sample.labels


def test_target_labels_are_added_and_sorted() -> None:
    labels = labels_of("tcp_connections", (("state", "established"), ("port", "80")))
    assert list(labels) == ["__name__", "instance", "job", "port", "state", "zone"]


def test_a_configured_label_wins_and_the_other_is_kept() -> None:
    labels = labels_of("x", (("zone", "b"), ("__name__", "y")))
    assert (labels["zone"], labels["exported_zone"]) == ("a", "b")
    assert (labels["__name__"], labels["exported___name__"]) == ("x", "y")


def test_a_source_may_pass_job_and_instance_on() -> None:
    labels = labels_of("x", (("job", "theirs"), ("instance", "")))
    assert (labels["job"], labels["instance"]) == ("theirs", "web-1")


def test_empty_labels_are_left_out_and_broken_text_is_sent_as_text() -> None:
    assert labels_of("x", (("empty", ""), ("odd", "\ud800ä")))["odd"] == "?ä"
    assert "empty" not in labels_of("x", (("empty", ""),))


def test_names_are_utf8() -> None:
    assert labels_of("my.metric", (("label with space", "1"),))["label with space"] == "1"


@pytest.mark.parametrize(("name", "labels"), [("", ()), ("x", (("", "1"),))])
def test_names_that_no_server_takes_are_refused_here(name: str, labels: Labels) -> None:
    with pytest.raises(CollectorError, match="has no name"):
        make_series(name, labels, TARGET)
