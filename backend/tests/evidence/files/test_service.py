"""Files of runs: on disk, bounded, and gone with their run."""

import io
import resource
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.app.services import Services
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.room import DiskFullError
from loadwatch_backend.core.uploads import UploadTooLargeError
from loadwatch_backend.evidence.files import service
from loadwatch_backend.evidence.files.schemas import (
    EvidenceFile,
    EvidenceKind,
    EvidenceLimitError,
    EvidenceNotFoundError,
)
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.repository import find_run

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(100)


def begin(server: Any, name: str = "r") -> str:
    run: str = server.client.post("/api/runs", json={"name": name, "clock_ms": server.clock()}).json()["id"]
    return run


def post(server: Any, run: str, content: bytes | Iterator[bytes], **params: Any) -> Any:
    return server.client.post(f"/api/runs/{run}/evidence", content=content, params={"name": "a.txt", **params})


def on_disk(server: Any) -> set[str]:
    return {str(path.relative_to(server.data)) for path in (server.data / "evidence").rglob("*") if path.is_file()}


def put(files: EvidenceFiles, run: str, content: bytes, name: str = "a.txt") -> EvidenceFile:
    return files.put(run, EvidenceKind.OUTPUT, name, io.BytesIO(content), {})


@contextmanager
def full_disk(most_bytes: int) -> Generator[None]:
    """The kernel refuses to let files grow beyond this, as it does on a full disk; see store/full_disk.py."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_FILE_BYTES", 1_000)
    monkeypatch.setattr(service, "MOST_RUN_BYTES", 2_500)
    monkeypatch.setattr(service, "MOST_FILES", 4)


def test_a_file_is_kept_with_its_run(server: Any):
    run = begin(server)
    content = "接続が足りない\n".encode()
    answer = post(server, run, content, name="../ログ.txt", note="from web-1", facts='{"pages": 2}')
    assert answer.status_code == 201, answer.text
    kept = answer.json()
    assert (kept["kind"], kept["name"], kept["media_type"]) == ("attachment", "ログ.txt", "text/plain")
    assert (kept["bytes"], kept["note"], kept["facts"]) == (len(content), "from web-1", {"pages": 2})
    assert kept["at_ms"] == server.clock()
    assert server.client.get(f"/api/runs/{run}/evidence").json()["files"] == [kept]
    assert server.client.get(f"/api/runs/{run}/evidence", params={"kind": "patch"}).json()["files"] == []
    assert post(server, run, content, name="ログ.txt").json() == kept
    assert on_disk(server) == {f"evidence/{run}/{kept['id']}"}
    said = server.client.patch(f"/api/evidence/{kept['id']}", json={"note": "from web-2"}).json()
    assert said == {**kept, "note": "from web-2"}
    got = server.client.get(f"/api/evidence/{kept['id']}")
    assert got.content == content
    assert server.client.delete(f"/api/evidence/{kept['id']}").status_code == 204
    gone = server.client.get(f"/api/evidence/{kept['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "evidence-not-found")
    assert on_disk(server) == set()


@pytest.mark.parametrize(
    "content", [b"<!doctype html><script>alert(document.domain)</script>", b"<svg onload='alert(1)'/>"]
)
def test_a_page_that_is_called_a_picture_is_downloaded_and_not_shown(shared_server: Any, content: bytes):
    kept = post(shared_server, begin(shared_server), content, name="graph.png").json()
    assert kept["media_type"] == "text/plain"
    got = shared_server.client.get(f"/api/evidence/{kept['id']}")
    assert got.headers["content-type"] == "text/plain; charset=utf-8"
    assert got.headers["content-disposition"] == 'attachment; filename="graph.png"'
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"


def test_a_picture_is_sent_as_one_and_bytes_as_bytes(shared_server: Any):
    run = begin(shared_server)
    picture = post(shared_server, run, PNG, name="x.html").json()
    got = shared_server.client.get(f"/api/evidence/{picture['id']}")
    assert got.headers["content-type"] == "image/png"
    assert got.headers["content-disposition"].startswith("attachment")
    other = post(shared_server, run, b"%PDF-1.7\n\0", name="x.pdf").json()
    assert other["media_type"] == "application/pdf"
    assert (
        shared_server.client.get(f"/api/evidence/{other['id']}").headers["content-type"] == "application/octet-stream"
    )


def test_names_from_outside_stay_in_the_run_and_out_of_headers(shared_server: Any):
    run = begin(shared_server)
    for name in ("../../../../tmp/escaped", "a\r\nSet-Cookie: x=1", 'quo"te;.txt', "x" * 300 + ".txt", "\u202egpj.exe"):
        kept = post(shared_server, run, b"x", name=name).json()
        got = shared_server.client.get(f"/api/evidence/{kept['id']}")
        assert got.status_code == 200
        assert "set-cookie" not in got.headers
        assert on_disk(shared_server) >= {f"evidence/{run}/{kept['id']}"}
    assert len(on_disk(shared_server)) == len(list((shared_server.data / "evidence").rglob("*/*")))


def test_what_cannot_be_said_of_a_file_is_refused(shared_server: Any):
    run = begin(shared_server)
    refused: list[tuple[dict[str, Any], bytes, int, str]] = [
        ({"kind": "virus"}, b"x", 422, "invalid"),
        ({"facts": "[1]"}, b"x", 422, "evidence-facts"),
        ({"facts": "{"}, b"x", 422, "evidence-facts"),
        ({"note": "a\0b"}, b"x", 422, "evidence-facts"),
        ({}, b"", 400, "upload-broken"),
    ]
    for params, content, status, code in refused:
        answer = post(shared_server, run, content, **params)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    answer = post(shared_server, "no-such-run", b"x")
    assert (answer.status_code, answer.json()["code"]) == (404, "run-not-found")
    assert shared_server.client.get("/api/runs/no-such-run/evidence").status_code == 404
    assert not any(run in path for path in on_disk(shared_server))


def test_a_file_larger_than_other_bodies_may_be_is_taken(server: Any):
    content = bytes(range(256)) * (9 << 12)
    kept = post(server, begin(server), content).json()
    assert server.client.get(f"/api/evidence/{kept['id']}").content == content


@pytest.mark.usefixtures("small")
def test_files_are_bounded_one_by_one_and_together(server: Any):
    run = begin(server)
    for headers in ({}, {"transfer-encoding": "chunked"}):
        content: Any = iter([b"x" * 1_001]) if headers else b"x" * 1_001
        answer = post(server, run, content)
        assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large"), answer.text
    for kept in (b"x" * 1_000, b"y" * 1_000):
        assert post(server, run, kept).status_code == 201
    answer = post(server, run, b"x" * 501)
    assert (answer.status_code, answer.json()["code"]) == (413, "upload-too-large")
    assert "Delete one" in answer.json()["detail"]
    assert post(server, run, b"x").status_code == 201
    assert post(server, run, b"y").status_code == 201
    answer = post(server, run, b"z")
    assert (answer.status_code, answer.json()["code"]) == (422, "evidence-limit")
    listed = server.client.get(f"/api/runs/{run}/evidence").json()
    assert (len(listed["files"]), listed["bytes"], listed["most_files"]) == (4, 2_002, 4)
    assert len(on_disk(server)) == 4


@pytest.mark.usefixtures("small")
def test_files_that_come_together_pass_no_bound_together(server: Any):
    run, files = begin(server), server.services.evidence_files
    refused: list[ProblemError] = []

    def send(name: str) -> None:
        try:
            put(files, run, b"x" * 600, name)
        except ProblemError as error:
            refused.append(error)

    threads = [threading.Thread(target=send, args=(f"{number}.txt",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files.list(run)) == 4
    assert len(on_disk(server)) == 4
    assert all(isinstance(error, EvidenceLimitError | UploadTooLargeError) for error in refused)


def test_a_full_disk_is_said_and_leaves_nothing(server: Any):
    run = begin(server)
    with full_disk(6 << 20):
        answer = post(server, run, bytes(7 << 20))
        assert (answer.status_code, answer.json()["code"]) == (503, "disk-full"), answer.text
        with pytest.raises(DiskFullError):
            put(server.services.evidence_files, run, bytes(7 << 20))
    assert server.client.get(f"/api/runs/{run}/evidence").json()["files"] == []
    assert on_disk(server) == set()
    assert post(server, run, b"x").status_code == 201


def test_a_disk_with_too_little_left_is_said_before_anything_is_sent(server: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("loadwatch_backend.core.room.RESERVE_BYTES", 1 << 60)
    answer = post(server, begin(server), b"x")
    assert (answer.status_code, answer.json()["code"]) == (503, "disk-full")
    assert on_disk(server) == set()


def test_a_sender_that_goes_away_leaves_nothing(server: Any):
    def broken() -> Iterator[bytes]:
        yield b"x" * 100
        raise ConnectionError

    run = begin(server)
    with pytest.raises(ConnectionError):
        post(server, run, broken())
    assert server.client.get(f"/api/runs/{run}/evidence").json()["files"] == []
    until(lambda: on_disk(server) == set())


def until(holds: Callable[[], bool]) -> None:
    done = threading.Event()
    for _ in range(600):
        if holds():
            return
        done.wait(0.1)
    raise AssertionError("did not come to pass within a minute")


def test_files_go_with_their_run(server: Any):
    run, other = begin(server, "one"), begin(server, "other")
    gone, stays = post(server, run, b"gone!").json(), post(server, other, b"stays").json()
    described = server.client.get(f"/api/runs/{run}/deletion").json()
    assert (described["evidence_files"], described["evidence_bytes"]) == (1, 5)
    assert server.client.delete(f"/api/runs/{run}").status_code == 204
    assert server.client.get(f"/api/evidence/{gone['id']}").status_code == 404
    assert server.client.get(f"/api/evidence/{stays['id']}").content == b"stays"
    assert on_disk(server) == {f"evidence/{other}/{stays['id']}"}
    with pytest.raises(RunNotFoundError):
        put(server.services.evidence_files, run, b"late")


def test_a_start_removes_what_has_no_row_and_nothing_else(start_server: Any, tmp_path: Path):
    with start_server(tmp_path / "data") as server:
        kept = post(server, begin(server), b"kept").json()
    evidence = tmp_path / "data" / "evidence"
    (evidence / ".incoming").mkdir(exist_ok=True)
    (evidence / ".incoming" / "half").write_bytes(b"x")
    (evidence / kept["run"] / ("0" * 32)).write_bytes(b"x")
    (evidence / "gone").mkdir()
    (evidence / "gone" / ("1" * 32)).write_bytes(b"x")
    with start_server(tmp_path / "data") as server:
        assert on_disk(server) == {f"evidence/{kept['run']}/{kept['id']}"}
        assert sorted(path.name for path in evidence.iterdir()) == [kept["run"]]
        (evidence / kept["run"] / kept["id"]).unlink()
        answer = server.client.get(f"/api/evidence/{kept['id']}")
        assert answer.status_code == 404
        assert "not in this server's data directory" in answer.json()["detail"]


def test_files_on_a_real_database(database_url: str, tmp_path: Path, start_server: Any):
    with start_server(tmp_path / "data", database_url=database_url) as server:
        services: Services = server.services
        run = begin(server)
        files = EvidenceFiles(services.relational, server.data, find_run, server.clock)
        one = files.put(run, EvidenceKind.PATCH, "é.patch", io.BytesIO(PNG), {"葵": [1]}, at_ms=7)
        assert one.at_ms == 7
        assert files.list(run, EvidenceKind.PATCH) == [one]
        assert files.open(one.id).path.read_bytes() == PNG
        assert server.client.delete(f"/api/runs/{run}").status_code == 204
        with pytest.raises(EvidenceNotFoundError):
            files.open(one.id)
