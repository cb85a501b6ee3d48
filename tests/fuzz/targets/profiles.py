"""Profiles that people bring or an application sends: read, and folded as the page and the command line fold them."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.profiles.digest import digest_of
from loadwatch_backend.evidence.profiles.merging import merge
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import label_keys, stacks_of, sums_by_label, tree_of

from tests.fuzz.target import Run, Target

_FIXTURES = Path(__file__).parents[3] / "backend" / "tests" / "evidence" / "profiles" / "fixtures"


def _folded() -> Run:
    def run(data: bytes) -> None:
        profile = read_profile(data)
        for key in label_keys(profile):
            sums_by_label(profile, key, profile.default)
        tree = tree_of(stacks_of(profile))
        assert len(tree) <= 2_000
        assert tree.total[0].tolist() == profile.values.sum(axis=0).tolist()
        digest_of(merge([profile, profile]), profile)

    return run


def _read(*patterns: str, unpacked: bool) -> Callable[[], Sequence[bytes]]:
    def read() -> Sequence[bytes]:
        found = [path.read_bytes() for pattern in patterns for path in sorted(_FIXTURES.glob(pattern))]
        assert found, patterns
        return [gzip.decompress(one) if unpacked else one for one in found]

    return read


PROFILES: tuple[Target, ...] = (
    Target(
        name="profile, pprof",
        open=_folded,
        expected=(ProblemError,),
        corpus=_read("go/*.pb.gz", unpacked=True),
        words=(
            b"\x12\x00", b"\x22\x00", b"\x2a\x00", b"\x32\x00", b"\x1a\x00", b"\x0a\x04\x08\x01\x10\x02",
            b"\xff" * 9 + b"\x01",
        ),
    ),
    Target(
        name="profile, pprof compressed",
        open=_folded,
        expected=(ProblemError,),
        corpus=_read("go/*.pb.gz", unpacked=False),
        words=(b"\x1f\x8b\x08\x00", b"\xff\xff\xff\xff", b"\x00" * 8),
    ),
    Target(
        name="profile, collapsed",
        open=_folded,
        expected=(ProblemError,),
        corpus=_read("py-spy/app.collapsed", unpacked=False),
        words=(
            ";", " 1\n", "\n", "main;", " (a.py:3)", "[", "]", "{", "}", ",", '"', "null", "1e999", "-1", "9" * 400,
            "\x00", "é",
        ),
    ),
)  # fmt: skip
