import json
from typing import Any

import pytest
from loadwatch_backend.evidence.profiles.errors import ProfileLimitError, UnreadableProfileError
from loadwatch_backend.evidence.profiles.folding.stacks import stacks_of
from loadwatch_backend.evidence.profiles.folding.table import table_of
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.reading.speedscope import read_speedscope

from backend.tests.evidence.profiles.made import PY_SPY

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
FRAMES = [{"name": "main", "file": "a.py", "line": 3}, {"name": "work"}, {"name": "wait"}]


def document(*profiles: dict[str, Any], frames: list[Any] = FRAMES) -> bytes:
    return json.dumps({"$schema": SCHEMA, "shared": {"frames": frames}, "profiles": profiles}).encode()


def sums(data: bytes) -> dict[str, tuple[int, int]]:
    table = table_of(stacks_of(read_profile(data)))
    return {
        one.name: (int(table.flat[place, 0]), int(table.cum[place, 0])) for place, one in enumerate(table.functions)
    }


def evented(*events: tuple[str, int, float], unit: str = "milliseconds", end: float = 10) -> dict[str, Any]:
    made = [{"type": kind, "frame": frame, "at": at} for kind, frame, at in events]
    return {"type": "evented", "unit": unit, "startValue": 0, "endValue": end, "events": made}


def test_py_spys_own_output_of_all_threads() -> None:
    data = (PY_SPY / "app.speedscope.json").read_bytes()
    whole = json.loads(data)
    names = [one["name"] for one in whole["shared"]["frames"]]
    profile = read_profile(data)
    assert (profile.format, profile.types[0].unit) == ("speedscope", "nanoseconds")
    wanted = 0.0
    for one in whole["profiles"]:
        for sample, weight in zip(one["samples"], one["weights"], strict=True):
            wanted += weight * any(names[frame] == "fib" for frame in sample)
    assert sums(data)["fib"][1] == pytest.approx(wanted * 1e9, abs=1_000)
    assert len(whole["profiles"]) > 1


def test_events_give_each_function_the_time_it_was_open() -> None:
    data = document(evented(("O", 0, 0), ("O", 1, 2), ("C", 1, 5.5), ("O", 2, 6), ("C", 2, 7), ("C", 0, 10)))
    assert sums(data) == {
        "main": (5_500_000, 10_000_000),
        "work": (3_500_000, 3_500_000),
        "wait": (1_000_000, 1_000_000),
    }


def test_what_is_open_at_the_end_counts_until_the_end() -> None:
    assert sums(document(evented(("O", 0, 4))))["main"] == (6_000_000, 6_000_000)


def test_threads_are_added_up_and_other_units_left_out_and_said() -> None:
    sampled = {"type": "sampled", "unit": "none", "samples": [[0, 1], []], "weights": [3, 4.5]}
    profile = read_profile(document(sampled, sampled, evented()))
    assert int(profile.values.sum()) == 14  # 4.5 becomes 4
    assert profile.notes == (
        "1 of 3 profiles in the file have another unit and are left out.",
        "2 weights are no whole numbers and are rounded.",
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (document(), "has no profiles"),
        (document(frames=[3]), "has no profiles|a frame is no object"),
        (document({"type": "sampled", "samples": [[0]], "weights": []}), "1 samples with 0 weights"),
        (document({"type": "sampled", "samples": [[9]], "weights": [1]}), "names frame 9"),
        (document({"type": "sampled", "samples": [[-1]], "weights": [1]}), "names frame -1"),
        (document({"type": "sampled", "samples": [[True]], "weights": [1]}), "names frame True"),
        (document({"type": "sampled", "samples": [[0]], "weights": ["x"]}), "a weight is no number"),
        (document({"type": "sampled", "samples": [[0]], "weights": [1e300]}), "no number that can be added up"),
        (document({"type": "tree"}), "type 'tree'"),
        (document(evented(("C", 0, 1))), "closes a frame"),
        (document(evented(("O", 0, 5), ("C", 0, 1))), "back in time"),
        (b'{"$schema": "https://www.speedscope.app/", "shared"', "damaged or cut off"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableProfileError, match=words):
        read_profile(data)


def test_limits_hold_before_the_text_is_parsed() -> None:
    with pytest.raises(ProfileLimitError, match="lists and objects"):
        read_profile(b'{"speedscope": ' + b"[" * 3_000_000)
    with pytest.raises(ProfileLimitError, match="MiB"):
        read_speedscope(document() + b" " * (2 << 20), ProfileLimits(json_bytes=1 << 20))
    deep = document(evented(*(("O", 0, at) for at in range(5_000)), end=5_000))
    with pytest.raises(ProfileLimitError, match="4,000,000 frames"):
        read_profile(deep)
