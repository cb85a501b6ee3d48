"""A run from one server into another."""

import io
import json
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.runs.archive.check import check_archive
from loadwatch_backend.runs.archive.format import MOST_BYTES, sample_schema

from backend.tests.runs.sending import imported, vegeta_csv

# pyarrow comes without complete types.
pa: Any = pyarrow
pq: Any = pyarrow.parquet
NOW_MS = 1_768_550_400_000
START_MS = NOW_MS - 100_000
STALE = float(np.array([0x7FF0000000000002], np.uint64).view(np.float64)[0])


@pytest.fixture
def servers(start_server: Any, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    with start_server(tmp_path / "a") as one, start_server(tmp_path / "b") as other:
        yield one, other


NOTES: list[dict[str, Any]] = [
    {"author": "agent", "text": "app was started again", "start_ms": START_MS + 5_000, "tags": ["restart"]},
    {"author": "葵", "text": "deploy 3f2c1", "start_ms": START_MS, "end_ms": START_MS + 9_000, "tags": ["deploy"]},
]


def full_run(server: Any) -> dict[str, Any]:
    """A run with everything that a run can have."""
    labels = {"__name__": "go_sql_max_open_connections", "job": "app", "instance": "a:1", "db_name": "main"}
    times = range(START_MS - 60_000, START_MS + 120_000, 1_000)
    server.write((labels, [(time, 30.0) for time in times]), ({"__name__": "gone"}, [(START_MS, STALE)]))
    server.write(({"__name__": "outside"}, [(START_MS - 3_600_000, 1.0)]))
    run = imported(server, vegeta_csv(START_MS, failing=2), scenario="s", tag=["a"], threshold=["p95<1s"])
    path = f"/api/runs/{run['id']}"
    review = {"version": 0, "approach": "bound the pool", "expected": [{"expression": "p95<300ms"}]}
    assert server.client.put(f"{path}/review", json=review).status_code == 200
    for kind, name, content in (
        ("patch", "dirty.patch", b"diff --git"),
        ("attachment", "図.png", b"\x89PNG\r\n\x1a\n"),
    ):
        params = {"kind": kind, "name": name, "note": "は", "facts": '{"files": 2}'}
        assert server.client.post(f"{path}/evidence", content=content, params=params).status_code == 201
    for note in NOTES:
        assert server.client.post("/api/annotations", json=note).status_code == 201
    answer = server.client.patch(path, json={"steady_window": {"from_seconds": 2, "to_seconds": 18}})
    assert answer.status_code == 200
    return answer.json()


def samples(server: Any) -> dict[str, tuple[list[int], list[int]]]:
    """All samples by series; values by their bits, since a stale marker is a NaN of its own."""
    found = server.store.select([], 0, NOW_MS * 2)
    return {
        str(sorted(labels.items())): (
            found.timestamps[begin:end].tolist(),
            found.values[begin:end].view(np.uint64).tolist(),
        )
        for labels, begin, end in zip(found.labels, found.offsets[:-1], found.offsets[1:], strict=True)
    }


def test_a_run_is_the_same_on_another_server(servers: tuple[Any, Any]):
    one, other = servers
    run = full_run(one)
    path = f"/api/runs/{run['id']}"
    archive = one.client.get(f"{path}/archive")
    assert archive.headers["content-type"] == "application/zip"
    assert f"{run['id']}.loadwatch.zip" in archive.headers["content-disposition"]
    taken = other.client.post("/api/archives", content=archive.content)
    assert taken.status_code == 201, taken.text
    assert taken.json() == one.client.get(path).json() == run
    for part in ("/seconds", "/review", "/review/history", "/snapshots?everything=true", "/evidence"):
        assert other.client.get(path + part).json() == one.client.get(path + part).json()
    assert other.client.get(f"{path}/snapshots").json()["snapshots"] != []
    records = [server.client.get(f"{path}/records.parquet").content for server in servers]
    assert records[0] == records[1]
    expected = samples(one)
    del expected[str([("__name__", "outside")])]
    assert samples(other) == expected
    assert list((other.data / "imports").iterdir()) == []
    again = other.client.post("/api/archives", content=archive.content)
    assert (again.status_code, again.json()["code"]) == (409, "run-exists")
    assert "as_new" in again.json()["detail"]
    new = other.client.post("/api/archives", content=archive.content, params={"as_new": True})
    assert new.status_code == 201
    assert new.json()["id"] != run["id"]
    assert new.json() | {"id": run["id"]} == run
    files = [files_of(server, id) for server, id in ((one, run["id"]), (other, run["id"]), (other, new.json()["id"]))]
    assert files[0] == files[1] == files[2] != []
    assert [notes_of(server) for server in servers] == [sorted(NOTES, key=lambda note: note["start_ms"])] * 2
    assert other.client.delete(path).status_code == 204
    assert files_of(other, new.json()["id"]) == files[0]


def files_of(server: Any, run: str) -> list[tuple[str, str, str, bytes]]:
    files = server.client.get(f"/api/runs/{run}/evidence").json()["files"]
    return [
        (file["kind"], file["name"], file["note"], server.client.get(f"/api/evidence/{file['id']}").content)
        for file in files
    ]


def notes_of(server: Any) -> list[dict[str, Any]]:
    span = {"start_ms": START_MS - 1_000, "end_ms": START_MS + 60_000}
    found = server.client.get("/api/annotations", params=span).json()["annotations"]
    kept = ("author", "text", "start_ms", "end_ms", "tags")
    return [{name: note[name] for name in kept if note[name] is not None} for note in found]


def test_an_archive_holds_what_was_chosen_of_files_and_annotations(servers: tuple[Any, Any]):
    one, other = servers
    run = full_run(one)
    path = f"/api/runs/{run['id']}"
    patch, _ = one.client.get(f"{path}/evidence").json()["files"]
    archive = one.client.get(f"{path}/archive", params={"files": [patch["id"]], "annotations": False})
    assert other.client.post("/api/archives", content=archive.content).status_code == 201
    assert [name for _, name, _, _ in files_of(other, run["id"])] == [patch["name"]]
    assert notes_of(other) == []


def test_an_annotation_of_an_archive_that_none_may_be_is_refused_and_nothing_is_taken_in(servers: tuple[Any, Any]):
    one, other = servers
    run = full_run(one)
    archive = one.client.get(f"/api/runs/{run['id']}/archive").content
    for note in ({"text": "bell\u0007"}, {"text": "x" * 40_001}, {"start_ms": START_MS + 1, "end_ms": START_MS}):
        member = json.dumps([{**NOTES[0], "end_ms": None, **note}]).encode()
        forged = rebuild(archive, change_member("annotations.json", member))
        answer = other.client.post("/api/archives", content=forged)
        assert (answer.status_code, "annotations.json" in answer.json()["detail"]) == (422, True), answer.text
        assert other.client.get("/api/runs").json()["runs"] == []
        assert notes_of(other) == []
        assert samples(other) == {}


def test_an_archive_without_the_files_of_the_run(servers: tuple[Any, Any]):
    one, other = servers
    run = full_run(one)
    archive = one.client.get(f"/api/runs/{run['id']}/archive", params={"evidence": False})
    assert not any("evidence" in name for name in zipfile.ZipFile(io.BytesIO(archive.content)).namelist())
    assert other.client.post("/api/archives", content=archive.content).status_code == 201
    assert files_of(other, run["id"]) == []


# An archive that was made before facts came from one catalogue, of a run that begins with these and is aborted.
OF_VERSION_1 = Path(__file__).parent / "fixtures" / "run-of-version-1.zip"
FACTS: dict[str, Any] = {
    **{"name": "all of them", "scenario": "checkout", "scenario_version": "2", "tool": "vegeta"},
    **{"target_rate": 600.5, "target_duration_seconds": 30, "parameters": {"pool": "30", "ttl": "5s"}},
    **{"commit": "c0ffee1", "branch": "main", "dirty": True, "tags": ["ci", "は"], "author": "葵"},
    **{"host": "generator-1", "command": ["vegeta", "attack", "-rate=600"]},
    "links": [{"url": "https://example.org/1", "title": "issue"}, {"url": "https://example.org/2", "title": ""}],
}


def test_an_archive_of_before_is_taken_in_and_written_again(server: Any):
    server.clock.now_ms = 1_800_000_000_000  # when it was made
    taken = server.client.post("/api/archives", content=OF_VERSION_1.read_bytes())
    assert taken.status_code == 201, taken.text
    run = taken.json()
    assert {name: run[name] for name in FACTS} == FACTS
    assert (run["id"], run["state"], run["exit_code"]) == ("20261123-060000-fact", "aborted", 3)
    assert (run["abort_reason"], run["started_ms"], run["ended_ms"]) == ("by hand", 1799999969995, 1799999999993)
    assert [one["expression"] for one in run["thresholds"]] == ["p95<300ms"]
    assert [one["expression"] for one in run["expectations"]] == ["error_rate<0.1%"]
    assert run["clock"] == {"skew_seconds": 0.005, "skew_end_seconds": 0.007, "jumped": False}
    path = f"/api/runs/{run['id']}"
    written = server.client.get(f"{path}/archive").content
    with zipfile.ZipFile(OF_VERSION_1) as before, zipfile.ZipFile(io.BytesIO(written)) as after:
        old, new = json.loads(before.read("run.json")), json.loads(after.read("run.json"))
        # Facts that version 1 did not know are not known of it.
        assert not any(new.pop(name) for name in new.keys() - old.keys())
        assert [new["generator"].pop(name) for name in new["generator"].keys() - old["generator"].keys()] == [None]
        assert new == old
    assert server.client.delete(path).status_code == 204


def rebuild(content: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        members = {name: source.read(name) for name in source.namelist()}
    change(members)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in members.items():
            archive.compression = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            archive.writestr(name, text)
    return target.getvalue()


OTHER_SCHEMA = pa.schema([("a", pa.int64())])


def parquet(schema: Any, columns: list[Any], **options: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), target, **options)
    return target.getvalue()


def sample_file(labels: str, time_ms: int) -> bytes:
    series = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([labels]))
    return parquet(sample_schema(), [series, pa.array([time_ms]), pa.array([1.0])])


def add_row_bomb(members: dict[str, bytes]) -> None:
    """A few kilobytes that unpack to a hundred million rows; seconds of work, so not before its test."""
    rows = 1 << 20
    series = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(['{"__name__":"up"}']))
    times = pa.array(np.full(rows, START_MS))
    table = pa.Table.from_arrays([series, times, pa.array(np.zeros(rows))], schema=sample_schema())
    target = io.BytesIO()
    with pq.ParquetWriter(target, sample_schema(), compression="zstd") as writer:
        for _ in range(100):
            writer.write_table(table)
    members["samples.parquet"] = target.getvalue()


def change_member(name: str, text: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.__setitem__(name, text)


def replace_in(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        assert old in members[name]
        members[name] = members[name].replace(old, new)

    return change


def kept_file(members: dict[str, bytes]) -> str:
    return next(name for name in members if name.startswith("evidence/"))


def double(members: dict[str, bytes], name: str) -> None:
    members[name] = json.dumps(json.loads(members[name]) * 2).encode()


HARMFUL: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "path traversal": (change_member("../../escaped.txt", b"x"), "which no archive of a run does"),
    "absolute path": (change_member("/tmp/escaped.txt", b"x"), "which no archive of a run does"),
    "another name": (change_member("run.json.exe", b"x"), "which no archive of a run does"),
    "no manifest": (lambda members: members.__delitem__("manifest.json"), "lacks manifest.json"),
    "newer": (replace_in("manifest.json", b'"version":1', b'"version":2'), "version 2"),
    "no run": (change_member("run.json", b"[]"), "run.json"),
    "an id with a path": (replace_in("run.json", b'"id":"2', b'"id":"../2'), "run.json: id"),
    "a run since 1970": (replace_in("run.json", b'"started_ms":1', b'"started_ms":'), "31 days"),
    "infinity": (replace_in("run.json", b'"target_rate":null', b'"target_rate":1e999'), "too large"),
    "deep": (change_member("analysis.json", b"[" * 100_000), "analysis.json is not JSON"),
    "zip bomb": (change_member("result.json", b"0" * (65 << 20)), "more than such a file may have"),
    "wrong schema": (
        change_member("samples.parquet", parquet(pa.schema([("a", pa.int64())]), [pa.array([1])])),
        "other columns",
    ),
    "row bomb": (add_row_bomb, "no real file does"),
    "not Parquet": (change_member("samples.parquet", b"PAR1" * 100), "damaged"),
    "wrong labels": (change_member("samples.parquet", sample_file('{"__name__":""}', START_MS)), "labels"),
    "foreign samples": (
        change_member("samples.parquet", sample_file('{"__name__":"up"}', START_MS - 9_000_000)),
        "outside of the run's window",
    ),
    "records of another": (change_member("records.parquet", sample_file('{"__name__":"up"}', START_MS)), "columns"),
    "records missing": (lambda members: members.__delitem__("records.parquet"), "contradict"),
    "pickle": (change_member("seconds.npz", b"\x80\x04K\x01."), "seconds.npz|result"),
    "a file that nobody names": (change_member(f"evidence/{'0' * 32}", b"x"), "contradict"),
    "a file elsewhere": (change_member("evidence/../../escaped.txt", b"x"), "which no archive of a run does"),
    "a file without content": (lambda members: members.__delitem__(kept_file(members)), "contradict"),
    "a file of other content": (lambda members: members.__setitem__(kept_file(members), b"diff --git!"), "is not what"),
    "a file twice": (lambda members: double(members, "evidence.json"), "contradict"),
    "a file with a path for an id": (replace_in("evidence.json", b'"id":"', b'"id":"../'), "evidence.json: 0.id"),
    "too large a file": (
        lambda members: members.__setitem__(kept_file(members), b"0" * ((64 << 20) + 1)),
        "more than such a file may have",
    ),
    "too many files": (
        lambda members: members.update({f"evidence/{number:032x}": b"" for number in range(201)}),
        "at most 200",
    ),
    "result of text": (replace_in("result.json", b'"requests":', b'"requests":"x","x":'), "result"),
}


@pytest.fixture(scope="module")
def honest(shared_server: Any) -> bytes:
    run = imported(shared_server, vegeta_csv(START_MS, seconds=5))
    kept = shared_server.client.post(f"/api/runs/{run['id']}/evidence", content=b"diff --git", params={"name": "a"})
    assert kept.status_code == 201
    content: bytes = shared_server.client.get(f"/api/runs/{run['id']}/archive").content
    assert shared_server.client.delete(f"/api/runs/{run['id']}").status_code == 204
    return content


@pytest.mark.parametrize("kind", HARMFUL)
def test_a_harmful_archive_is_recognised(tmp_path: Path, honest: bytes, kind: str):
    change, says = HARMFUL[kind]
    archive = tmp_path / "a.zip"
    archive.write_bytes(rebuild(honest, change))
    (tmp_path / "files").mkdir()
    with pytest.raises(ProblemError, match=says):
        check_archive(archive, tmp_path / "files")
    unpacked = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.name for path in unpacked if path.parent.name != "evidence"} <= {"a.zip", *MOST_BYTES}
    assert all(path.resolve().is_relative_to(tmp_path / "files") for path in unpacked if path.name != "a.zip")


@pytest.mark.parametrize("kind", ["path traversal", "row bomb", "zip bomb", "records of another"])
def test_a_harmful_archive_is_refused_and_leaves_nothing(shared_server: Any, honest: bytes, kind: str):
    change, says = HARMFUL[kind]
    refuse(shared_server, rebuild(honest, change), says)


def refuse(server: Any, content: bytes, says: str) -> None:
    answer = server.client.post("/api/archives", content=content)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-archive"), answer.text
    assert any(one in answer.text for one in says.split("|")), answer.text
    assert server.client.get("/api/runs").json()["total"] == 0
    assert list((server.data / "imports").iterdir()) == []
    assert list((server.data / "runs").iterdir()) == []
    assert str(server.data) not in answer.text


def test_a_member_given_twice_or_as_a_link_is_refused(shared_server: Any, honest: bytes):
    with zipfile.ZipFile(io.BytesIO(honest)) as source:
        members = [(info, source.read(info)) for info in source.infolist()]
    for says in ("twice", "not a plain file"):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for info, text in members:
                archive.writestr(info.filename, text)
            if says == "twice":
                with pytest.warns(UserWarning, match="Duplicate"):
                    archive.writestr("run.json", b"{}")
            else:
                link = zipfile.ZipInfo("reviews.json")
                link.external_attr = (stat.S_IFLNK | 0o777) << 16
                archive.filelist = [info for info in archive.filelist if info.filename != "reviews.json"]
                archive.NameToInfo.pop("reviews.json")
                archive.writestr(link, b"/etc/passwd")
        refuse(shared_server, target.getvalue(), says)


def test_a_member_that_unpacks_to_more_than_it_claims_is_refused(shared_server: Any, honest: bytes):
    content = rebuild(honest, dict[str, bytes].copy)
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        size = source.getinfo("run.json").file_size
    lying = content.replace(size.to_bytes(4, "little"), (size // 2).to_bytes(4, "little"))
    assert lying != content
    refuse(shared_server, lying, "whole archive|more bytes|not JSON")


def test_an_archive_that_was_cut_off_is_refused(shared_server: Any, honest: bytes):
    refuse(shared_server, honest[: len(honest) // 2], "not a whole archive")
    refuse(shared_server, b"PK\x03\x04 nonsense", "not a whole archive")


def test_a_running_run_cannot_be_exported(shared_server: Any):
    run = shared_server.client.post("/api/runs", json={}).json()["id"]
    assert shared_server.client.get(f"/api/runs/{run}/archive").json()["code"] == "run-rule"
    assert shared_server.client.delete(f"/api/runs/{run}").status_code == 204
