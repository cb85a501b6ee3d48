"""moto for the whole session (one for each xdist worker), and the proxy before it, clean for each test."""

from collections.abc import Iterator

import pytest

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy, running_proxy
from collectors.tests.sources.aws.moto_server import ENVIRONMENT, MotoServer, running_moto


@pytest.fixture(scope="session")
def shared_moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MotoServer]:
    """A moto that keeps its data; for tests that only read what a fixture of their own has put there."""
    with running_moto(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture
def moto(shared_moto: MotoServer) -> MotoServer:
    """The same moto, empty."""
    shared_moto.reset()
    return shared_moto


@pytest.fixture
def proxy(moto: MotoServer) -> Iterator[FaultProxy]:
    """A proxy before an empty moto."""
    with running_proxy(moto.url) as running:
        yield running


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up credentials and a region, and nothing of the developer's own."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
