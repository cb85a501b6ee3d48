from loadwatch_backend.series.exports.service import plan_families
from loadwatch_backend.series.store.port import MetricMetadata


def said(kind: str, unit: str = "") -> MetricMetadata:
    return MetricMetadata(type=kind, help="", unit=unit)


def planned(names: list[str], **metadata: MetricMetadata) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {family.name: (family.type, family.metrics) for family in plan_families(names, metadata)}


def test_a_family_has_the_samples_of_its_type() -> None:
    names = ["a_total", "b", "c_bucket", "c_count", "c_sum", "d", "d_count", "d_sum", "e_info", "f_total", "up"]
    assert planned(
        names,
        a_total=said("counter"),
        b=said("gauge"),
        c=said("histogram"),
        d=said("summary"),
        e_info=said("info"),
        f=said("counter"),
    ) == {
        "a": ("counter", ("a_total",)),
        "b": ("gauge", ("b",)),
        "c": ("histogram", ("c_bucket", "c_count", "c_sum")),
        "d": ("summary", ("d", "d_count", "d_sum")),
        "e": ("info", ("e_info",)),
        "f": ("counter", ("f_total",)),
        "up": ("unknown", ("up",)),
    }


def test_a_type_that_the_name_does_not_bear_out_is_unknown() -> None:
    assert planned(["hits"], hits=said("counter")) == {"hits": ("unknown", ("hits",))}
    assert planned(["c_bucket"], c=said("gauge")) == {"c_bucket": ("unknown", ("c_bucket",))}


def test_no_two_families_have_one_name() -> None:
    gauge_beside_counter = planned(["a", "a_total"], a=said("gauge"), a_total=said("counter"))
    assert gauge_beside_counter == {"a": ("gauge", ("a",)), "a_total": ("unknown", ("a_total",))}
    counter_beside_info = planned(["a_total", "a_info"], a_total=said("counter"), a_info=said("info"))
    assert counter_beside_info == {"a_info": ("unknown", ("a_info",)), "a_total": ("unknown", ("a_total",))}


def test_a_unit_stands_where_the_name_ends_in_it() -> None:
    families = plan_families(["a_bytes", "b"], {"a_bytes": said("gauge", "bytes"), "b": said("gauge", "seconds")})
    assert [(family.name, family.unit) for family in families] == [("a_bytes", "bytes"), ("b", "")]
