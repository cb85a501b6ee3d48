"""What every result says of the machine it was measured on, and how results are written."""

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def describe_machine() -> dict[str, str | int | float]:
    """Date, cores, memory, kernel and Python of this machine; nothing that names it."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    memory_kib = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count() or 0,
        "cpu": model,
        "memory_gib": round(memory_kib / 2**20, 1),
        "kernel": platform.release().split("-")[0],
        "python": platform.python_version(),
    }


PEERS: Mapping[str, Sequence[str]] = {
    "Prometheus": ("prometheus", "--version"),
    "VictoriaMetrics": ("victoria-metrics", "--version"),
    "Alertmanager": ("prometheus-alertmanager", "--version"),
    "node_exporter": ("prometheus-node-exporter", "--version"),
    "mysqld_exporter": ("prometheus-mysqld-exporter", "--version"),
    "process-exporter": ("prometheus-process-exporter", "--version"),
    "MariaDB": ("mariadbd", "--version"),
    "hey": ("dpkg-query", "-W", "-f", "${Version}", "hey"),
    "wrk": ("wrk", "-v"),
    "oha": ("oha", "--version"),
    "locust": ("locust", "--version"),
    "goaccess": ("goaccess", "--version"),
    "go tool pprof": ("go", "version"),
}
"""Programs that results are held against, by the names under which results mention them."""
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?[\w.+~-]*")


def peer_versions(text: str) -> dict[str, str]:
    """Versions of the peers that a result names; of one that is not here, or does not tell, there is none."""
    found: dict[str, str] = {}
    for name, command in PEERS.items():
        program = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        if program is None or not re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", text, re.IGNORECASE):
            continue
        told = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False, timeout=20)
        if version := _VERSION.search(told.stdout + told.stderr):
            found[name] = version[0]
    return found


def write_result(stem: str, title: str, text: str, result: Mapping[str, Any]) -> None:
    """Writes `results/<stem>.json` and `.md`; `result` must hold `machine` from `describe_machine`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    machine = result["machine"]
    peers = peer_versions(f"{title}\n{text}\n{json.dumps(result)}")
    against = "".join(f", {name} {version}" for name, version in peers.items())
    print(f"{title}: {against.removeprefix(', ') or 'no peer is named'}")
    (RESULTS / f"{stem}.json").write_text(json.dumps({**result, "peers": peers}, indent=2) + "\n", encoding="utf-8")
    where = f"{machine['date']}, {machine['cores']} cores ({machine['cpu']}), {machine['memory_gib']} GiB"
    page = f"# {title}\n\n{where}, Linux {machine['kernel']}, Python {machine['python']}{against}.\n\n{text.strip()}\n"
    (RESULTS / f"{stem}.md").write_text(page, encoding="utf-8")


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
