"""Waits for locks by function, of real profiles; workers that wait for work do not count."""

import pytest
from loadwatch_backend.evidence.profiles.known import lock_waits
from loadwatch_backend.evidence.profiles.model import ProfilesDifferError

from backend.tests.evidence.profiles.made import go, profile

TYPES = ("contentions/count", "delay/nanoseconds")


def test_real_profiles_name_the_function_that_holds_and_that_waits() -> None:
    total, held = lock_waits(go("03-mutex-now"))
    assert total == pytest.approx(51.15, abs=0.6)
    assert max(held, key=lambda name: held[name]) == "main.handler.hold"
    total, waited = lock_waits(go("04-block-now"))
    # 17 s of its 69.6 are of channels and groups.
    assert total == pytest.approx(52.5, abs=0.1)
    assert waited == {"main.handler.hold": pytest.approx(total, rel=0.01)}


def test_what_lies_below_nobody_is_in_the_whole_alone() -> None:
    total, functions = lock_waits(profile([("sync.(*Mutex).Unlock;net/http.serve", [1, 2 * 10**9])], TYPES))
    assert (total, functions) == (2.0, {})


def test_another_profile_is_refused() -> None:
    with pytest.raises(ProfilesDifferError):
        lock_waits(go("00-cpu-now"))
