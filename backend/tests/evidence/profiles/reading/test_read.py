import gzip
from pathlib import Path

import pytest
from loadwatch_backend.evidence.profiles.model import ProfileLimitError, UnknownProfileError, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits
from loadwatch_backend.evidence.profiles.reading.read import read_profile

from backend.tests.evidence.profiles.made import GO, PY_SPY


@pytest.mark.parametrize("path", sorted(GO.glob("*.gz")), ids=lambda path: path.stem)
def test_gos_profiles_are_known_compressed_or_not(path: Path) -> None:
    data = path.read_bytes()
    assert read_profile(data).format == read_profile(gzip.decompress(data)).format == "pprof"


def test_the_others_are_known_compressed_too() -> None:
    assert read_profile(gzip.compress((PY_SPY / "app.collapsed").read_bytes())).format == "collapsed"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (gzip.compress(b"", mtime=0), "empty"),
        (b"goroutine profile: total 4\n1 @ 0x1\n", "without `\\?debug=1`"),
        (b"heap profile: 1: 2 [3: 4] @ heap/1048576\n", "readable form of a heap profile"),
        (b"go 1.26 trace\0\0", "go tool trace"),
        (b"<!doctype html><p>404", "HTML"),
        (b"Could not enable CPU profiling: cpu profiling already in use\n", "somebody else takes a CPU profile"),
        (b"PERFILE2\0", "stackcollapse-perf.pl"),
        (b"404 page not found\n", "no profile that can be read"),
        (bytes(range(256)) * 10, "no profile that can be read"),
        (b'{"$schema": "https://www.speedscope.app/file-format-schema.json"}', "py-spy record -f raw"),
    ],
)
def test_what_is_no_profile_is_named(data: bytes, words: str) -> None:
    with pytest.raises(UnknownProfileError, match=words):
        read_profile(data)


def test_a_file_that_is_too_large_is_not_looked_into() -> None:
    with pytest.raises(ProfileLimitError, match="at most 0 are read"):
        read_profile(b"x" * 2_000, ProfileLimits(file_bytes=1_000))


def test_a_profile_cut_off_by_the_end_of_its_process_says_so() -> None:
    data = (GO / "01-heap-now.pb.gz").read_bytes()
    with pytest.raises(UnreadableProfileError, match="the process may have ended"):
        read_profile(data[: len(data) // 2])
    with pytest.raises(UnreadableProfileError, match="damaged"):
        read_profile(gzip.decompress(data)[:-10])
