"""Takes an archive apart and checks all of it, in a process of its own with bounded memory and time.

    python -m loadwatch_backend.runs.archive.check ARCHIVE DIRECTORY

Whatever a hostile file makes zip, numpy or Parquet do, it is this process that ends. Prints one line of JSON: the code
and detail of the problem, or null.
"""

import hashlib
import resource
import stat
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

import orjson

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.room import CHECK_BYTES, check_room
from loadwatch_backend.evidence.files.schemas import MOST_FILE_BYTES, MOST_FILES, MOST_RUN_BYTES, EvidenceFile
from loadwatch_backend.evidence.records.files import RECORDS, RESULT, RunFiles
from loadwatch_backend.evidence.records.parquet import check_records
from loadwatch_backend.evidence.records.result_file import load
from loadwatch_backend.runs.analysis.load import endpoint_out, figures_out
from loadwatch_backend.runs.analysis.schemas import Analysis
from loadwatch_backend.runs.archive.format import (
    ANALYSIS,
    ANNOTATIONS,
    EVIDENCE,
    EVIDENCE_FOLDER,
    MANIFEST,
    MOST_BYTES,
    MOST_SERIES,
    REQUIRED,
    RESULT_FILES,
    REVIEWS,
    RUN,
    SAMPLES,
    SCORES,
    SNAPSHOTS,
    STORED,
    VERSION,
    ArchivedNote,
    ArchivedRun,
    Manifest,
    check_ratio,
    is_evidence,
    read_document,
    read_samples,
)
from loadwatch_backend.runs.errors import ArchiveError
from loadwatch_backend.runs.registry.windows import LONGEST_RUN_MS, LONGEST_RUN_TEXT, window_of
from loadwatch_backend.runs.reviews.schemas import ArchivedScore, ReviewVersion
from loadwatch_backend.runs.schemas import SnapshotOut

MEMORY_BYTES = 4 << 30
CPU_SECONDS = 900
RECORDS_PER_BYTE = 8
PIECE_BYTES = 1 << 20
_ENCRYPTED = 0x1


def check_archive(archive: Path, directory: Path) -> None:
    """Unpack the members into the directory and check every one of them.

    Raises:
        ProblemError: ArchiveError, or of the run's files; the text names the member.
    """
    try:
        with zipfile.ZipFile(archive) as source:
            members = check_members(source.infolist(), archive.stat().st_size)
            (directory / EVIDENCE_FOLDER).mkdir()
            for name, member in members.items():
                with source.open(member) as stream:
                    _unpack(stream, directory / name, member.file_size)
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError) as error:
        raise ArchiveError(f"The file is not a whole archive: {str(error)[:200] or type(error).__name__}.") from error
    _check_documents(directory)
    run = read_document(directory, RUN, ArchivedRun)
    _check_result(directory)
    _check_evidence(directory)
    _check_samples(directory / SAMPLES, run)


def check_members(found: list[zipfile.ZipInfo], archive_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """Members by name, as far as the archive's own list tells.

    Raises:
        ArchiveError: a member that no archive of ours has, or one that claims more than it may.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in found:
        name = member.filename
        if name not in MOST_BYTES and not is_evidence(name):
            raise ArchiveError(
                f"The archive holds {name[:100]!r}, which no archive of a run does; nothing of it was taken in."
            )
        if name in members:
            raise ArchiveError(f"The archive holds {name!r} twice.")
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or member.flag_bits & _ENCRYPTED:
            raise ArchiveError(f"{name} is not a plain file.")
        if name in STORED and member.compress_type != zipfile.ZIP_STORED:
            raise ArchiveError(f"{name} is compressed twice, which our archives never do.")
        most = MOST_FILE_BYTES if is_evidence(name) else MOST_BYTES[name]
        if member.file_size > (archive_bytes if most is None else most):
            raise ArchiveError(f"{name} would unpack to {member.file_size} bytes, more than such a file may have.")
        members[name] = member
    content = [member.file_size for name, member in members.items() if is_evidence(name)]
    if len(content) > MOST_FILES or sum(content) > MOST_RUN_BYTES:
        raise ArchiveError(
            f"The archive holds {len(content)} files of {sum(content)} bytes; a run keeps at most {MOST_FILES} of"
            f" {MOST_RUN_BYTES} bytes together."
        )
    missing = [name for name in REQUIRED if name not in members]
    if missing:
        raise ArchiveError(f"The archive lacks {', '.join(missing)}: it is not the archive of a run, or not whole.")
    return members


def _unpack(stream: IO[bytes], target: Path, most: int) -> None:
    """A member may be no larger than it claimed, whatever its data unpack to."""
    size, checked = 0, -CHECK_BYTES
    with target.open("xb") as file:
        while piece := stream.read(PIECE_BYTES):
            if size - checked >= CHECK_BYTES:
                check_room(target.parent, len(piece))
                checked = size
            size += len(piece)
            if size > most:
                raise ArchiveError(f"{target.name} unpacks to more bytes than the archive claims.")
            file.write(piece)


def _check_documents(directory: Path) -> None:
    manifest = read_document(directory, MANIFEST, Manifest)
    if manifest.version != VERSION:
        raise ArchiveError(
            f"The archive has version {manifest.version} (made by {manifest.made_by[:50]}), and this server reads"
            f" version {VERSION}: bring the older of both servers up to date."
        )
    if (directory / ANALYSIS).exists():
        read_document(directory, ANALYSIS, Analysis)
    lists: dict[str, type[list[Any]]] = {
        SNAPSHOTS: list[SnapshotOut],
        REVIEWS: list[ReviewVersion],
        SCORES: list[ArchivedScore],
        ANNOTATIONS: list[ArchivedNote],
        EVIDENCE: list[EvidenceFile],
    }
    for name, kind in lists.items():
        read_document(directory, name, kind)


def _check_result(directory: Path) -> None:
    present = [name for name in RESULT_FILES if (directory / name).exists()]
    if not present:
        return
    if RESULT not in present:
        raise ArchiveError(f"The archive holds {', '.join(present)} without {RESULT}.")
    try:
        result = load(RunFiles(directory))
        figures_out(result.figures)
        for endpoint in result.endpoints:
            endpoint_out(endpoint)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ArchiveError(f"{RESULT} does not hold a result: {str(error)[:200]}.") from error
    if result.has_records != (RECORDS in present):
        raise ArchiveError(f"{RESULT} and {RECORDS} contradict each other.")
    if result.has_records:
        check_ratio(directory / RECORDS, RECORDS_PER_BYTE)
        check_records(directory / RECORDS)


def _check_evidence(directory: Path) -> None:
    """Check that the listed files, and no others, are present with their size and digest."""
    known = read_document(directory, EVIDENCE, list[EvidenceFile])
    present = {path.name: path for path in (directory / EVIDENCE_FOLDER).iterdir()}
    if sorted(file.id for file in known) != sorted(present):
        raise ArchiveError(f"{EVIDENCE} and the files of the archive contradict each other.")
    for file in known:
        with present[file.id].open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != file.sha256 or present[file.id].stat().st_size != file.bytes:
            raise ArchiveError(f"{EVIDENCE_FOLDER}/{file.id} is not what {EVIDENCE} says of it.")


def _check_samples(path: Path, run: ArchivedRun) -> None:
    """All samples are inside of the run's window: nobody slips others in, and all of them are pinned."""
    if run.ended_ms < run.started_ms:
        raise ArchiveError(f"{RUN}: the run ends before it starts.")
    if run.ended_ms - run.started_ms > LONGEST_RUN_MS:
        raise ArchiveError(f"{RUN}: {LONGEST_RUN_TEXT}.")
    first, last = window_of(run.started_ms, run.ended_ms)
    series: set[tuple[tuple[str, str], ...]] = set()
    for batch in read_samples(path):
        series.update(tuple(labels.items()) for labels in batch.labels)
        if len(series) > MOST_SERIES:
            raise ArchiveError(f"{path.name} holds more than {MOST_SERIES} series.")
        if len(batch.times) and (int(batch.times.min()) < first or int(batch.times.max()) > last):
            raise ArchiveError(f"{path.name} holds samples from outside of the run's window.")


def main(archive: str, directory: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    found = None
    try:
        check_archive(Path(archive), Path(directory))
    except ProblemError as error:
        found = {"code": error.code, "detail": error.detail}
    except MemoryError:
        detail = "Unpacking the archive takes more memory than it may: it is damaged, or made to do harm."
        found = {"code": ArchiveError.code, "detail": detail}
    sys.stdout.buffer.write(orjson.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
