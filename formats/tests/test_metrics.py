from loadwatch_formats.metrics.model import MetricInfo, describe


def test_type_and_unit_follow_from_the_name() -> None:
    assert describe(a_seconds_total="A.", b_bytes="B.", c_total="C.", byteseconds="D.") == (
        MetricInfo(name="a_seconds_total", type="counter", help="A.", unit="seconds"),
        MetricInfo(name="b_bytes", type="gauge", help="B.", unit="bytes"),
        MetricInfo(name="c_total", type="counter", help="C."),
        MetricInfo(name="byteseconds", type="gauge", help="D."),
    )


def test_what_is_named_otherwise_says_so() -> None:
    assert describe("counter", "bytes", type="A name.") == (
        MetricInfo(name="type", type="counter", help="A name.", unit="bytes"),
    )
