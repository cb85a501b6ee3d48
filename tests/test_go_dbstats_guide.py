"""The programs and configurations of docs/guide/go-dbstats.md work as they stand there."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from loadwatch_collectors.config import load_config
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.dbstats import (
    DEFAULT_NUMBERS,
    SETTINGS,
    WorkerSums,
    find_pools,
    info_samples,
    is_absent,
    read_path,
    read_pool,
    split_workers,
)
from loadwatch_collectors.sources.registry import sources_by_name

GUIDE = (Path(__file__).resolve().parent.parent / "docs" / "guide" / "go-dbstats.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("program", blocks("go"))
def test_program_compiles(program: str, tmp_path: Path) -> None:
    go = shutil.which("go")
    assert go, "go is missing"
    (tmp_path / "go.mod").write_text("module guide\n\ngo 1.24\n")
    (tmp_path / "main.go").write_text(program)
    command = [go, "vet", "-trimpath", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("configuration", blocks("yaml"))
def test_configuration_is_accepted(configuration: str) -> None:
    config = load_config(parse_document(configuration, "guide"), sources_by_name())
    assert [collector.source.name for collector in config.collectors] == ["dbstats"]


def test_document_is_read() -> None:
    workers, text = blocks("json")
    found = split_workers(find_pools(json.loads(workers), "root"))
    main = WorkerSums().add({(name, worker): read_pool(pool, name) for name, worker, pool in found})["main"]
    assert (main["MaxOpenConnections"], main["InUse"], main["WaitDuration"]) == (10, 6, 0.09)
    document = json.loads(text)
    (name,) = find_pools(document, "main")
    assert name == "hits"
    # 124h35m46.97s, the figure of the team that this is about.
    assert read_pool(document["pools"]["hits"], name)["WaitDuration"] == pytest.approx(448_546.97)
    values = read_pool(document["pools"]["hits"], name)
    assert set(SETTINGS) <= set(values)
    assert values["ConnMaxLifetime"] == 30
    assert {sample.name for sample in info_samples(document)} == {"go_build_info"}
    mapped = [path for path in DEFAULT_NUMBERS if path.startswith("ingest.")]
    assert mapped
    assert not [path for path in mapped if is_absent(read_path(document, path))]
    assert set(document["ingest"]) == {path.removeprefix("ingest.") for path in mapped}
