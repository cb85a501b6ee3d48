"""Addresses of an alert's page, and of the live page at its moment. No I/O."""

from loadwatch_backend.catalogue.packs.library import shipped_catalogue

BEFORE_MS = 10 * 60_000
AFTER_MS = 5 * 60_000


def moment_path(active_ms: int, resolved_ms: int | None, signal: str) -> str:
    """The live page from ten minutes before the beginning to five after the end, or to now, with the signal's panel.

    The parameters are those of `frontend/src/lib/view/state.ts`, the fragment that of `features/live`.
    """
    to = "now" if resolved_ms is None else str(resolved_ms + AFTER_MS)
    panel = shipped_catalogue().panel_of_signal.get(signal)
    return f"/?from={active_ms - BEFORE_MS}&to={to}" + (f"#panel-{panel}" if panel else "")


def alert_path(alert_id: str) -> str:
    """The page of an alert with its incident, which messages lead to; a route of the front end."""
    return f"/alerts/{alert_id}"
