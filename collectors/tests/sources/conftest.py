import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.measuring_server import build


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """One server for all tests of a worker, with the accounts `watcher` (may see all) and `blind` (no grants)."""
    folder = Path(tempfile.mkdtemp(prefix="lw-"))
    with running_mariadb(folder) as server:
        server.run(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.goods (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(191) NOT NULL)",
            "CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'se''cret'",
            "GRANT PROCESS, SLAVE MONITOR ON *.* TO watcher@'127.0.0.1'",
            "GRANT SELECT ON shop.* TO watcher@'127.0.0.1'",
            "CREATE USER blind@'127.0.0.1'",
            "CREATE USER application@'127.0.0.1'",
            "GRANT ALL ON shop.* TO application@'127.0.0.1'",
        )
        yield server


@pytest.fixture
def password_file(tmp_path: Path) -> str:
    """A file with the password of `watcher`."""
    path = tmp_path / "password"
    path.write_text("se'cret\n")
    return str(path)


@pytest.fixture(scope="session")
def measuring_server_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The measuring server of examples/, built from its source."""
    return build(tmp_path_factory.mktemp("measuring-server"))
