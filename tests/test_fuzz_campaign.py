"""The watcher of the fuzzed processes sees each kind of fault: a dead process, a stall, memory, a surprise."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.campaign import run_campaign
from tests.fuzz.target import Run, Target


def _die(_data: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang(_data: bytes) -> None:
    while True:
        pass


def _fill(_data: bytes) -> None:
    kept = bytearray(200 << 20)
    kept[::4096] = b"x" * len(kept[::4096])


def _surprise(_data: bytes) -> None:
    raise KeyError("nobody")


def _refuse(_data: bytes) -> None:
    raise ValueError("not this")


def _opener(run: Run) -> Callable[[], Run]:
    return lambda: run


@pytest.mark.parametrize(
    ("run", "kind"),
    [(_die, "dead process"), (_hang, "stall"), (_fill, "memory"), (_surprise, "KeyError"), (_refuse, None)],
)
def test_faults_are_seen_and_their_inputs_kept(run: Run, kind: str | None, tmp_path: Path) -> None:
    target = Target(
        name="a b",
        open=_opener(run),
        expected=(ValueError,),
        corpus=lambda: [b"the input"],
        memory=100 << 20,
        stall=0.2,
    )
    [result] = run_campaign([target], 0.0, 1, tmp_path, lambda _: None)
    assert result.executions == 1
    assert [fault.kind for fault in result.faults] == ([] if kind is None else [kind])
    kept = [path.read_bytes() for path in tmp_path.glob("a-b-*.bin")]
    assert kept == ([] if kind is None else [b"the input"])
