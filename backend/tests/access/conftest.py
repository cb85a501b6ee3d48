from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.tests.access.people import Town, town


@pytest.fixture
def people(start_server: Callable[..., Any], tmp_path: Path) -> Iterator[Town]:
    """A server of the test's own with users."""
    with town(start_server, tmp_path / "data") as running:
        yield running
