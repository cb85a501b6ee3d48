"""Results of benchmarks say which version each peer had."""

from pathlib import Path

import pytest

from bench import machine


def test_the_versions_of_the_peers_that_a_result_names_stand_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, says in (("prometheus", "prometheus, version 3.16.0 (branch: HEAD)"), ("wrk", "wrk 4.1.0 [epoll]")):
        (programs / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(machine, "RESULTS", tmp_path / "results")
    result = {"machine": machine.describe_machine(), "cells": {"prometheus": 1}}
    machine.write_result("x", "A figure", "Beside it stands what writes samples.", result)
    page = (tmp_path / "results" / "x.md").read_text()
    assert ", Prometheus 3.16.0." in page
    assert "wrk" not in page, "a peer that took no part"
    assert '"Prometheus": "3.16.0"' in (tmp_path / "results" / "x.json").read_text()
    assert "A figure: Prometheus 3.16.0" in capsys.readouterr().out


def test_a_path_or_a_longer_word_names_no_peer() -> None:
    assert machine.peer_versions("/prometheus/api/v1 prometheus-like wrkx") == {}
