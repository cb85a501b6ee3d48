"""Who wrote and who sent something is who signed in, whatever they say."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow.parquet
from loadwatch_backend.runs.archive.format import sample_schema

from backend.tests.access.people import Town
from backend.tests.conftest import NOW_MS
from backend.tests.runs.sending import imported, vegeta_csv

pq: Any = pyarrow.parquet
START_MS = NOW_MS - 600_000


def test_a_name_that_is_typed_is_not_believed(people: Town):
    ed = people.signed_in("ed")
    run = ed.post("/api/runs", json={}).json()["id"]
    note = {"author": "ann", "text": "deploy", "start_ms": 5}
    written = ed.post("/api/annotations", json=note).json()
    assert written["author"] == "ed"
    ann = people.signed_in("ann").post("/api/annotations", json=note).json()
    assert ed.patch(f"/api/annotations/{ann['id']}", json={"text": "x"}).json()["author"] == "ann"
    assert ed.patch(f"/api/annotations/{ann['id']}", json={"author": "vi"}).json()["author"] == "ed"
    review = {"version": 0, "author": "ann", "approach": "x"}
    assert ed.put(f"/api/runs/{run}/review", json=review).json()["author"] == "ed"
    mute = {"finding_id": "pool-exhausted", "labels": {"job": "a"}, "author": "ann"}
    assert ed.post("/api/findings/marks", json=mute).json()["author"] == "ed"


def test_an_archive_with_samples_needs_the_scope_of_samples(people: Town):
    server = people.server
    admin = people.signed_in("ann")
    server.client.headers.update(people.token("all", "read", "runs:write", "samples:write"))
    run = imported(server, vegeta_csv(START_MS, seconds=5))["id"]
    full = server.client.get(f"/api/runs/{run}/archive").content
    nothing = io.BytesIO()
    pq.write_table(sample_schema().empty_table(), nothing)
    bare = _changed(full, "samples.parquet", lambda _: nothing.getvalue())
    ed = people.signed_in("ed")
    answer = ed.post("/api/archives", params={"as_new": True}, content=full)
    assert (answer.status_code, "samples:write" in answer.json()["detail"]) == (403, True), answer.text
    assert ed.post("/api/archives", params={"as_new": True}, content=bare).status_code == 201
    assert admin.post("/api/archives", params={"as_new": True}, content=full).status_code == 201
    assert server.client.post("/api/archives", params={"as_new": True}, content=full).status_code == 201
    later = {"ended_ms": NOW_MS + 3_600_000}
    future = _changed(full, "run.json", lambda text: json.dumps({**json.loads(text), **later}).encode())
    answer = admin.post("/api/archives", params={"as_new": True}, content=future)
    assert (answer.status_code, "future" in answer.json()["detail"]) == (422, True), answer.text


def _changed(content: bytes, member: str, change: Callable[[bytes], bytes]) -> bytes:
    """The same archive with another member."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            text = source.read(name)
            kind = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            archive.writestr(name, change(text) if name == member else text, kind)
    return target.getvalue()
