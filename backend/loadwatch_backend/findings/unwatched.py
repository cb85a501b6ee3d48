"""What a system is seen to use and nobody watches: databases, caches and pools. Pure.

The sockets collector tells which processes talk to which ports; a pack says by which of them it is recognised.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from loadwatch_backend.catalogue.signals.model import Pack
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.measures.log_lines import TEXTS
from loadwatch_backend.findings.messages.read import kind, message
from loadwatch_backend.findings.model import Kind, Missing
from loadwatch_backend.findings.window import Window

PEERS = "tcp_peer_connections"
OWN = "loadwatch"
"""Process of the agent and the server."""
POOLED = 2
"""Connections of one program to a database from which it has a pool."""
POOL_METRICS = ("go_sql_in_use_connections",)


def find_unwatched(window: Window) -> list[Missing]:
    """Packs that are recognised and of which there is no series, then the pools of programs that use a database."""
    packs, names = window.packs, window.names
    found: list[Missing] = []
    databases: set[str] = set()
    for pack in packs:
        if not (pack.detect.ports or pack.detect.processes or pack.detect.logs):
            continue
        seen = next(_places_of(window, pack), None)
        if seen is None:
            continue
        if pack.entity is not None and pack.entity.kind == "database":
            databases |= {seen[1], *(str(port) for port in pack.detect.ports)}
        if names.isdisjoint(pack.there_when):
            host, port = seen
            place = f"{pack.title.en} ({host}:{port})" if port else pack.title.en
            lines = pack.watch_with.replace("{host}", host).replace("{port}", port)
            found.append(_missing(pack.id, Words(place, place.replace(pack.title.en, pack.title.ja)), pack, lines))
    pools = [pack for pack in packs if any(one.kind == "pool" for one in pack.resources)]
    if all(names.isdisjoint(pack.there_when) for pack in pools):
        for program in _programs_of(window, databases):
            title = message("unwatched.pool", program=program)
            lines = next((one.watch_with for one in pools if one.watch_with), "")
            found.append(_missing("pool", title, None, lines.replace("{host}", "127.0.0.1").replace("{port}", "8000")))
    return found


def _missing(id: str, title: Words, pack: Pack | None, lines: str) -> Missing:
    general: Kind = kind("unwatched")
    needs = () if pack is None else pack.there_when[:1]
    return Missing(kind=replace(general, id=id, title=title), needs=needs, switched_on_by=lines.strip(), unwatched=True)


def _places_of(window: Window, pack: Pack) -> Iterator[tuple[str, str]]:
    """Host and port at which a pack's technology is used; both empty where only a log speaks of it."""
    ports = {str(port) for port in pack.detect.ports}
    for labels, values in _peers(window):
        port, is_local = labels.get("port", ""), labels.get("side") == "local"
        if port in ports or (is_local and labels.get("process") in pack.detect.processes):
            host = "127.0.0.1" if is_local else labels.get("peer", "")
            if values > 0 and port.isdecimal():
                yield host, port
    for pattern in pack.detect.logs:
        if any(re.search(pattern, one.get("pattern", "")) for one in window[TEXTS].labels):
            yield "127.0.0.1", next(iter(sorted(ports)), "")


def _programs_of(window: Window, ports: set[str]) -> list[str]:
    """Programs that hold several connections to a database."""
    held: dict[str, float] = {}
    for labels, values in _peers(window):
        program = labels.get("process", "")
        if labels.get("side") == "remote" and labels.get("port") in ports and program not in ("", OWN, "unknown"):
            held[program] = held.get(program, 0.0) + values
    return sorted(program for program, times in held.items() if times >= POOLED)


def _peers(window: Window) -> Iterator[tuple[dict[str, str], float]]:
    table = window[PEERS]
    for row, labels in enumerate(table.labels):
        values = table.values[row, window.focus]
        known = values[np.isfinite(values)]
        if known.size:
            yield dict(labels), float(known.max())
