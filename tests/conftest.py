"""What every whole-system test runs under: interrupts arrive, and no command outlives its test."""

import gc
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.run_cli import STARTED

# A background job of a shell without job control ignores interrupts, and so would every command started from here.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take minutes: at the end one would run alone."""
    items.sort(key=lambda item: item.path.stem not in ("test_store_migrate", "test_scenarios"))


def pytest_collection_finish() -> None:
    """Leave all test items and modules, which stay, out of later searches for garbage: each takes most of a second."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Otherwise DuckDB's binding reports all that it made as leaked."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def commands_end() -> Iterator[None]:
    """End what a failed test left running."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
