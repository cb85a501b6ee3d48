"""A server that reads no records and renders no report has not loaded what that takes."""

import json
import subprocess
import sys

import pytest
from loadwatch_backend.core.deferred import Deferred

LARGE = ("pyarrow", "jinja2", "markdown")


def test_a_module_stands_there_as_if_it_were_imported() -> None:
    deferred = Deferred("json")
    assert deferred.loads is json.loads
    assert deferred.loads is json.loads


def test_what_a_module_does_not_have_is_missed_as_always() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = Deferred("json").no_such_thing


def test_a_library_that_is_not_installed_shows_at_its_first_use() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        _ = Deferred("no_such_library").anything


@pytest.mark.parametrize(
    ("command", "libraries"),
    [("server", LARGE), ("up", (*LARGE, "duckdb", "fastapi", "numpy", "sqlalchemy"))],
    ids=["server", "up, which waits for a server and an agent"],
)
def test_a_command_starts_without_what_it_does_not_use(command: str, libraries: tuple[str, ...]) -> None:
    script = f"""if True:
        import sys
        import loadwatch_backend.app.commands.{command}
        print([name for name in {libraries} if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
