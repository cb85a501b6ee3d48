from loadwatch_formats.metrics.model import MetricInfo, metric_info, metrics_of


def test_type_and_unit_follow_from_the_name() -> None:
    assert [metric_info(name, "A.") for name in ("a_seconds_total", "b_bytes", "c_total", "byteseconds")] == [
        MetricInfo(name="a_seconds_total", type="counter", help="A.", unit="seconds"),
        MetricInfo(name="b_bytes", type="gauge", help="A.", unit="bytes"),
        MetricInfo(name="c_total", type="counter", help="A."),
        MetricInfo(name="byteseconds", type="gauge", help="A."),
    ]


def test_what_is_named_otherwise_says_so() -> None:
    about = {"type": "counter", "unit": "bytes", "help": "A name."}
    assert metric_info("type", about) == MetricInfo(name="type", type="counter", help="A name.", unit="bytes")


def test_a_pack_says_what_each_of_its_senders_brings() -> None:
    senders = metrics_of("mysql")
    assert list(senders) == ["mysql", "mysql_statements"]
    help = '1 when the server was read; when it cannot be read, see up{collector="mysql"}.'
    assert senders["mysql"][0] == MetricInfo(name="mysql_up", type="gauge", help=help)
