import pytest
from loadwatch_backend.evidence.profiles.model import Profile, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import stacks_of

from backend.tests.evidence.profiles.made import encoded, message


def stacks(profile: Profile) -> list[list[str]]:
    found = stacks_of(profile)
    names = [one.name for one in found.functions]
    return [
        [names[frame] for frame in found.frames[begin:end].tolist()]
        for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]


def dropped(drop: bytes, keep: bytes = b"") -> list[list[str]]:
    made = message([("inner;alloc(int);work;main", [1]), ("alloc(int);keep;main", [2]), ("alloc(int)", [3])])
    made.string_table.extend([drop, keep])
    made.drop_frames = len(made.string_table) - 2
    made.keep_frames = len(made.string_table) - 1
    return stacks(read_profile(encoded(made)))


def test_frames_that_are_dropped_go_with_all_that_they_call() -> None:
    # Of the last one nothing would be left.
    assert dropped(b"al.*c") == [["work", "main"], ["keep", "main"], ["alloc(int)"]]


def test_what_is_kept_stays() -> None:
    assert dropped(b"alloc|inner", b"alloc")[0] == ["alloc(int)", "work", "main"]


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(UnreadableProfileError, match="pattern of frames to drop"):
        dropped(b"(")


def test_of_inlined_functions_only_those_below_go() -> None:
    made = message([("main", [1])])
    made.string_table.extend([b"outer", b"alloc", b"leaf", b"alloc"])
    size = len(made.string_table)
    for number in range(3):
        made.function.add(id=10 + number, name=size - 4 + number)
    location = made.location.add(id=20)
    for number in (12, 11, 10):
        location.line.add(function_id=number)
    made.sample.add(location_id=[20, 1], value=[1])
    made.drop_frames = size - 1
    assert stacks(read_profile(encoded(made))) == [["main"], ["outer", "main"]]
