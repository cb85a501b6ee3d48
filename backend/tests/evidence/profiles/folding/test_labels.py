from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import label_keys, sums_by_label

from backend.tests.evidence.profiles.made import encoded, go, message


def test_cpu_by_route_adds_up_to_all_of_it() -> None:
    profile = go("00-cpu-now")
    assert label_keys(profile) == ["route"]
    found = sums_by_label(profile, "route", profile.default)
    assert set(found.by_value) == {"/route/0", "/route/1", "/route/2"}
    assert sum(found.by_value.values()) + found.without == int(profile.values[:, profile.default].sum())


def test_numbers_are_no_labels_to_sum_by() -> None:
    # Go's heap profiles have the size of the blocks.
    assert label_keys(go("01-heap-now")) == []


def test_several_texts_of_a_key_are_one_value() -> None:
    made = message([("a", [1]), ("a", [2]), ("b", [4])])
    made.string_table.extend([b"route", b"/x", b"/y"])
    size = len(made.string_table)
    for text in (size - 2, size - 1):
        made.sample[0].label.add(key=size - 3, str=text)
    made.sample[1].label.add(key=size - 3, str=size - 1)
    found = sums_by_label(read_profile(encoded(made)), "route", 0)
    assert (dict(found.by_value), found.without) == ({"/y": 2, "/x, /y": 1}, 4)
    assert dict(sums_by_label(read_profile(encoded(made)), "user", 0).by_value) == {}
