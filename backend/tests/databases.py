"""Empty databases of each kind that people have."""

import atexit
import functools
import itertools
import tempfile
from contextlib import ExitStack
from pathlib import Path

from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.postgresql import running_postgresql

DATABASES = ("sqlite", "mariadb", "postgresql")
_numbers = itertools.count()


def make_database(kind: str, folder: Path) -> str:
    """The URL of a new, empty database; the servers are of this process of tests and end with it."""
    name = f"lw{next(_numbers)}"
    match kind:
        case "sqlite":
            return f"sqlite:///{folder / name}.sqlite"
        case "mariadb":
            server = mariadb_server()
            # Not the character set of today: tables must name their own.
            server.run(f"CREATE DATABASE {name} CHARACTER SET latin1")
            return f"mysql+pymysql://app:pass@127.0.0.1:{server.port}/{name}"
        case _:
            return running_postgresql().make(name)


@functools.cache
def mariadb_server() -> MariaDB:
    """The server of this process of tests; its user `app` may do all in databases that begin with `lw`."""
    stack = ExitStack()
    atexit.register(stack.close)
    # Nothing here has to outlive the machine.
    server = stack.enter_context(running_mariadb(Path(tempfile.mkdtemp(prefix="lw-")), "--innodb-flush-method=nosync"))
    server.run(
        "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'pass'",
        "GRANT ALL ON `lw%`.* TO app@'127.0.0.1'",
    )
    return server
