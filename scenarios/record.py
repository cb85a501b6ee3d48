# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types; this file is the typed edge around it.
"""A case that was played becomes a recording: the run's archive, made small with all its series, and a label."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from loadwatch_backend.records.files import RECORDS
from loadwatch_backend.runs.archive.format import RUN, SAMPLES, STORED
from loadwatch_backend.runs.archive.samples import SCHEMA
from loadwatch_collectors.runs.replay.labels import FORMAT, VERSION

from scenarios.case import Case

FOLDER = Path(__file__).resolve().parent / "recordings"
MOST_RECORDS_BYTES = 100_000
"""Records of single requests stay out when they are larger: the figures of each second are there without them."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEVEL = 19


def write_recording(
    case: Case, archive: bytes, *, run: str, made: Mapping[str, Any], said: Sequence[str], root: Path
) -> Path:
    """Writes `recordings/<case>.zip` and `.json`; `root` is taken out of all paths. Returns the archive's path."""
    FOLDER.mkdir(exist_ok=True)
    target = FOLDER / f"{case.name}.zip"
    target.write_bytes(shrink(archive, root=root))
    label = make_label(case, run=run, made=made, said=said)
    target.with_suffix(".json").write_text(json.dumps(label, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def make_label(case: Case, *, run: str, made: Mapping[str, Any], said: Sequence[str]) -> dict[str, Any]:
    """What is known of a recording: the truth, and what findings said when it was made."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "case": case.name,
        "run": run,
        "title": case.title,
        "purpose": case.purpose.value,
        "kind": case.kind.value,
        "expected": list(case.expected),
        "allowed": sorted(case.allowed),
        "why": case.why,
        "made": dict(made),
        "said": list(said),
        "setup": {
            "apps": [asdict(app) for app in case.apps],
            "load": asdict(case.load),
            "load_seconds": case.seconds,
            "database": {
                "max_connections": case.max_connections,
                "options": list(case.database_options),
                "rows_before": case.rows_before,
            },
            "sysctls": dict(case.sysctls),
            "actions": [{"does": type(action).__name__, **asdict(action)} for action in case.actions],
            "watched_before_seconds": case.settle_seconds,
            "watched_after_seconds": case.after_seconds,
        },
    }


def shrink(archive: bytes, *, root: Path) -> bytes:
    """The same archive in a tenth of the bytes: the same samples in one row group, sorted by series and time."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(output, "w") as target:
        for member in source.infolist():
            if member.filename == RECORDS and member.file_size > MOST_RECORDS_BYTES:
                continue
            content = source.read(member)
            if member.filename == SAMPLES:
                content = _sorted_samples(content)
            elif member.filename == RUN:
                content = content.replace(f"{root}/".encode(), b"")
            packed = zipfile.ZipInfo(member.filename, _EPOCH)
            packed.compress_type = zipfile.ZIP_STORED if member.filename in STORED else zipfile.ZIP_DEFLATED
            packed.external_attr = 0o100644 << 16
            target.writestr(packed, content, compresslevel=9)
    return output.getvalue()


def _sorted_samples(content: bytes) -> bytes:
    table = pq.read_table(io.BytesIO(content))
    texts = table.column("series").cast(pa.string()).combine_chunks()
    table = table.set_column(0, "series", texts).sort_by([("series", "ascending"), ("time_ms", "ascending")])
    # A chunk for each of the source's row groups would bring each its own dictionary along.
    columns = [
        table.column("series").combine_chunks().dictionary_encode(),
        table.column("time_ms").combine_chunks(),
        table.column("value").combine_chunks(),
    ]
    output = io.BytesIO()
    dictionaries: Any = ["series"]  # the stubs know only yes and no
    pq.write_table(
        pa.Table.from_arrays(columns, schema=SCHEMA),
        output,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=dictionaries,  # A stale marker is a NaN of its own, which a dictionary of doubles would lose.
        write_statistics=False,
        row_group_size=table.num_rows or 1,
    )
    return output.getvalue()
