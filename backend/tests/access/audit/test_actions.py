"""Every route that changes something has a name in the audit log."""

from loadwatch_backend.access.audit import ACTIONS
from loadwatch_backend.app.application import create_app
from loadwatch_backend.core.middleware import SAFE_METHODS
from loadwatch_backend.core.settings import Settings


def test_every_route_that_changes_something_has_an_entry_and_no_entry_is_stale():
    paths = create_app(Settings()).openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    changing = {route for route in routes if route.partition(" ")[0] not in SAFE_METHODS}
    assert changing == set(ACTIONS)


def test_names_are_unique():
    names = [action.name for action in ACTIONS.values() if action is not None]
    assert len(names) == len(set(names))
