"""`loadwatch replay`: recordings of labelled cases into a server, and how right its findings are."""

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from loadwatch_formats.terminal import echo

from loadwatch_collectors.commands.runs import asking
from loadwatch_collectors.runs.delivery import Client, run_path
from loadwatch_collectors.runs.errors import RefusedError, RunsError
from loadwatch_collectors.runs.replay import (
    Score,
    add_up,
    counting,
    describe,
    describe_totals,
    find_recordings,
    read_label,
    score,
)

EXIT_BELOW = 1
SIDE_BY_SIDE = 2
ANALYSIS_SECONDS = 120.0
"""For an analysis that the server puts off or tries again."""
PAUSE_SECONDS = 1.0


def replay_command(options: Mapping[str, Any]) -> int:
    with asking("replay", options) as client:
        paths: tuple[Path, ...] = options["paths"]
        archives = [path for path in find_recordings(paths) if options["purpose"] in (None, read_label(path).purpose)]
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            scores = list(pool.map(partial(replay_one, client), archives))
    totals = add_up(scores)
    if options["as_json"]:
        document = {"totals": totals._asdict(), "recordings": [_document(one) for one in scores]}
        echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for one in scores:
            echo(describe(one))
        echo(describe_totals(totals))
    return 0 if totals.first_share >= options["at_least"] else EXIT_BELOW


def replay_one(client: Client, archive: Path) -> Score:
    """Import one recording, unless its run is there already, and score what is said of it.

    Raises:
        RunsError: the server does not take it, or says nothing of findings.
    """
    label = read_label(archive)
    try:
        run = _analysed(client, label.run)
    except RefusedError as error:
        if error.code != "run-not-found":
            raise
        with archive.open("rb") as source:
            client.upload("/api/archives", source, kind="application/zip")
        run = _analysed(client, label.run)
    return score(label, counting(label, run))


def _analysed(client: Client, run: str) -> Mapping[str, Any]:
    deadline = time.monotonic() + ANALYSIS_SECONDS
    while True:
        document = client.get(run_path(run))
        if "diagnosis" not in document:
            raise RunsError(f"{client.shown} knows nothing of findings: bring it up to date")
        if document["diagnosis"] is not None:
            return document
        if time.monotonic() > deadline:
            raise RunsError(f"{client.shown} has not analysed run {run} within {ANALYSIS_SECONDS:g} s")
        time.sleep(PAUSE_SECONDS)


def _document(one: Score) -> dict[str, Any]:
    label = one.label
    return {
        **{name: getattr(label, name) for name in ("case", "run", "purpose", "kind")},
        "expected": ["|".join(sorted(ids)) for ids in label.expected],
        "said": list(one.said),
        "right": one.right,
        "first_right": one.first_right,
        "order_right": one.order_right,
        "wrong": list(one.wrong),
    }
