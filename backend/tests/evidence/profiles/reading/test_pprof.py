import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from loadwatch_backend.evidence.profiles.model import Profile, ProfileLimitError, SampleType, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits
from loadwatch_backend.evidence.profiles.reading.pprof_pb2 import Profile as Message
from loadwatch_backend.evidence.profiles.reading.read import read_pprof

from backend.tests.evidence.profiles.made import go, message

LIMITS = ProfileLimits()


def read(made: Message, limits: ProfileLimits = LIMITS) -> Profile:
    return read_pprof(made.SerializeToString(), limits)


def test_a_profile_of_go_is_read_with_its_types_lines_and_labels() -> None:
    profile = go("00-cpu-now")
    assert profile.types == (
        SampleType(name="samples", unit="count"),
        SampleType(name="cpu", unit="nanoseconds"),
    )
    assert profile.default == 1
    assert profile.duration_ns > 1_000_000_000
    assert profile.period == 10_000_000
    assert profile.started_ns > 1_700_000_000_000_000_000
    files = {one.name: one.file for one in profile.functions}
    assert files["main.fibonacci"].endswith("main.go")
    assert {label.key for one in profile.label_sets for label in one} == {"route"}
    assert profile.notes == ()


def test_the_type_that_is_meant_is_the_named_one_or_the_last() -> None:
    made = message([("main", [1, 2])], ["alloc_space/bytes", "inuse_space/bytes"])
    assert read(made).default == 1
    made.default_sample_type = made.sample_type[0].type
    assert read(made).default == 0
    # As pprof: a name that no type has is none.
    made.default_sample_type = made.sample_type[0].unit
    assert read(made).default == 1


def test_frames_without_a_name_go_by_their_binary() -> None:
    made = message([("main", [1])])
    made.string_table.append(b"/usr/lib/libc.so.6")
    made.mapping.add(id=7, filename=len(made.string_table) - 1)
    made.location.add(id=50, mapping_id=7, address=99)
    made.location.add(id=51, address=98)
    made.sample.add(location_id=[50, 51, 1], value=[3])
    profile = read(made)
    assert [one.name for one in profile.functions] == ["main", "[libc.so.6]", "<unknown>"]


def test_a_name_that_is_no_utf_8_or_obeys_a_terminal_is_shown_harmlessly() -> None:
    made = message([("main", [1])])
    made.string_table[-2] = b"\xff\x1b[31mred\xe2\x80\xae"
    assert read(made).functions[0].name == "\ufffd\ufffd[31mred\ufffd"


def test_a_long_name_is_cut_and_said_and_two_of_them_stay_two() -> None:
    made = message([("x" * 5_000 + "a;" + "x" * 5_000 + "b", [1])])
    profile = read(made)
    assert len({one.name for one in profile.functions}) == 2
    assert all(len(one.name) < 1_020 for one in profile.functions)
    assert profile.notes == ("4 names were longer than 1,000 characters and are cut.",)


def test_no_samples_are_no_error() -> None:
    profile = read(message([]))
    assert len(profile) == 0
    assert profile.values.shape == (0, 1)


CONTRADICTIONS: Sequence[tuple[Callable[[Message], object], str]] = [
    (lambda made: made.ClearField("sample_type"), "no sample types"),
    (lambda made: made.ClearField("string_table"), "names text 1 for a text, and its table has 0"),
    (lambda made: made.sample_type.add(type=2**62), "names text 4611686018427387904"),
    (lambda made: made.sample_type.add(type=-5), "names text -5"),
    (lambda made: made.sample.add(location_id=[2**64 - 1], value=[1]), "location 18446744073709551615"),
    (lambda made: made.sample.add(location_id=[1], value=[1, 2]), "has 2 values for 1 sample types"),
    (lambda made: made.location.add(id=1), "A location of the profile has the number 1, as another has"),
    (lambda made: made.function.add(id=0), "the number 0, which means none"),
    (lambda made: made.location.add(id=9).line.add(function_id=77), "Location 9 of the profile names function 77"),
    (lambda made: made.string_table.__setitem__(0, b"x"), "first text of the profile's table is not empty"),
    (lambda made: made.sample.add(location_id=[1], value=[2**63 - 1]), "more than any measurement gives"),
]


@pytest.mark.parametrize(("change", "words"), CONTRADICTIONS)
def test_what_contradicts_itself_is_refused_in_words(change: Callable[[Message], object], words: str) -> None:
    made = message([("main", [1])])
    change(made)
    with pytest.raises(UnreadableProfileError, match=words):
        read(made)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ProfileLimits(samples=2), "more than 2 samples"),
        (ProfileLimits(places=2), "more than 2 locations"),
        (ProfileLimits(texts=2), "more than 2 texts"),
        (ProfileLimits(frames=3), "more than 3 frames"),
        (ProfileLimits(sample_bytes=4), "more than 4 bytes in one of its entries"),
        (ProfileLimits(types=1), "more than 1 types"),
    ],
)
def test_limits_are_named(limits: ProfileLimits, words: str) -> None:
    made = message([("a;b;c", [1, 1]), ("a;b", [2, 2]), ("c", [1, 1])], ["x/count", "y/count"])
    with pytest.raises(ProfileLimitError, match=words):
        read(made, limits)


def test_every_cut_is_refused_or_read_and_nothing_else() -> None:
    whole = message([("a;b", [1]), ("c;b", [2])]).SerializeToString()
    for end in range(len(whole)):
        with suppress(UnreadableProfileError):
            read_pprof(whole[:end], LIMITS)


def test_tiny_entries_by_the_million_take_little_memory() -> None:
    # Two bytes each on the wire.
    bomb = message([("main", [1])]).SerializeToString() + b"\x12\x00" * 5_000_000
    tracemalloc.start()
    try:
        with pytest.raises(ProfileLimitError, match="more than 200,000 samples"):
            read_pprof(bomb, LIMITS)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def test_labels_beyond_what_a_sample_may_have_are_left_out_and_counted() -> None:
    made = message([("main", [1])])
    for number in range(70):
        made.sample[0].label.add(key=1, num=number + 1)
    profile = read(made)
    assert len(profile.label_sets[int(profile.labels[0])]) == 64
    assert profile.notes == ("6 labels are left out: a sample may have 64.",)


def test_unpacked_and_packed_numbers_are_alike() -> None:
    made = message([("a;b", [7])])
    data = made.SerializeToString()
    # The same sample with each number in a field of its own.
    alone = data.replace(b"\x12\x07\x0a\x02\x01\x02\x12\x01\x07", b"\x12\x06\x08\x01\x08\x02\x10\x07")
    assert alone != data
    first, second = read_pprof(data, LIMITS), read_pprof(alone, LIMITS)
    assert first.stack.tolist() == second.stack.tolist()
    assert first.values.tolist() == second.values.tolist()
