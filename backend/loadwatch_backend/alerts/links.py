"""Addresses of the live page at the moment of an alert. No I/O."""

from collections.abc import Mapping

from loadwatch_backend.signals.catalogue.registry import CATALOGUE

BEFORE_MS = 10 * 60_000
AFTER_MS = 5 * 60_000

PANEL_OF_SIGNAL: Mapping[str, str] = {
    signal.id: panel.id for group in CATALOGUE.groups for panel in group.panels for signal in panel.signals
}


def moment_path(active_ms: int, resolved_ms: int | None, signal: str) -> str:
    """The live page from ten minutes before the beginning to five after the end, or to now, with the signal's panel.

    The parameters are those of `frontend/src/lib/view/state.ts`, the fragment that of `features/live`.
    """
    return _path(active_ms, "now" if resolved_ms is None else str(resolved_ms + AFTER_MS), signal)


def sent_path(active_ms: int, fired_ms: int, signal: str) -> str:
    """The same for a message: to five minutes after it began to fire, whenever it is opened."""
    return _path(active_ms, str(fired_ms + AFTER_MS), signal)


def _path(active_ms: int, to: str, signal: str) -> str:
    panel = PANEL_OF_SIGNAL.get(signal)
    return f"/?from={active_ms - BEFORE_MS}&to={to}" + (f"#panel-{panel}" if panel else "")
