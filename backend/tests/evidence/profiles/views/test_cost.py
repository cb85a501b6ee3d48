"""A view costs no more CPU time than is allowed, whatever it is asked for."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from loadwatch_backend.evidence.profiles.model import ProfileLimitError
from loadwatch_backend.evidence.profiles.reading import limits
from loadwatch_backend.evidence.profiles.reading.limits import check_cpu, cpu_limit
from loadwatch_backend.evidence.profiles.reading.read import read_profile

from backend.tests.evidence.profiles.made import GO, PY_SPY, encoded, message


def collapsed(stacks: int) -> bytes:
    return "\n".join(f"main;handler{number};work{number} 3" for number in range(stacks)).encode()


def pprof(stacks: int) -> bytes:
    return encoded(message([(f"work{number};main", (1,)) for number in range(stacks)]))


def real() -> Sequence[Path]:
    return [*GO.glob("*.pb.gz"), PY_SPY / "app.collapsed"]


@pytest.mark.parametrize("content", [collapsed(3_000), pprof(3_000)], ids=["collapsed", "pprof"])
def test_reading_one_large_file_ends_when_the_time_is_up(content: bytes, monkeypatch: pytest.MonkeyPatch):
    with cpu_limit():
        read_profile(content)
    monkeypatch.setattr(limits, "CPU_SECONDS", 0.0)
    with cpu_limit(), pytest.raises(ProfileLimitError, match="Choose fewer of them"):
        read_profile(content)
    # What is no view has no such limit.
    read_profile(content)
    check_cpu()


def test_real_profiles_are_far_below_the_limit():
    assert len(real()) > 10
    with cpu_limit():
        for path in real():
            read_profile(path.read_bytes())
        check_cpu()
