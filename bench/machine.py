"""What every result says of the machine it was measured on, and how results are written."""

import json
import os
import platform
from collections.abc import Mapping
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


def write_result(stem: str, title: str, text: str, result: Mapping[str, Any]) -> None:
    """Writes `results/<stem>.json` and `.md`; `result` must hold `machine` from `describe_machine`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    machine = result["machine"]
    (RESULTS / f"{stem}.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    where = f"{machine['date']}, {machine['cores']} cores ({machine['cpu']}), {machine['memory_gib']} GiB"
    page = f"# {title}\n\n{where}, Linux {machine['kernel']}, Python {machine['python']}.\n\n{text.strip()}\n"
    (RESULTS / f"{stem}.md").write_text(page, encoding="utf-8")


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
