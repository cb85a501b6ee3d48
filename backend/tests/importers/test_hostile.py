"""No file keeps the importer busy beyond its size: each ends in a child with a limit of processor time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from loadwatch_backend.runs.importers.outcomes import SORTER, plain_error

SIZE = 300_000
CPU_SECONDS = 60
"""Quadratic ones took minutes and more on a machine where the others take a second."""

HEY = "Summary:\n  Total:\t1 secs\n  Slowest:\t1 secs\n  Requests/sec:\t1\n"
WRK = "Running 1s test @ http://a\n  1 threads and 1 connections\n"
GATLING = "RUN\tsim\tid\t1700000000000\t \t3.9.5\n"
ERRORS = [
    "http://" * 40,
    "check " * 50,
    "status.a " * 40,
    "status.find." * 30,
    "a." * 150,
    "a(.find " * 40,
    ".find, " * 40,
    "lookup a on " * 30,
    "[f" * 150,
    "1.1.1.1:" * 40,
    "server closed " * 25,
    " " * 300,
]
ATOMS = [
    "a",
    "/",
    " ",
    "1",
    ".",
    "%",
    "[",
    "{",
    "}",
    "a ",
    "1 ",
    "1.",
    "a:",
    "{}",
    "{} ",
    "   [1]\t",
    "Latency ",
    '"',
    ",",
]


def fill(atom: str, size: int = SIZE) -> str:
    return (atom * (size // len(atom) + 1))[:size]


def gatling(message: str) -> str:
    line = f"REQUEST\t\tname\t1700000000000\t1700000000001\tKO\t{message}\n"
    return GATLING + fill(line)


HOSTILE: dict[str, tuple[str, str]] = {
    **{
        f"hey {atom!r}": ("hey-text", f"{HEY}  {fill(atom)}\nStatus code distribution:\n  [200]\t1 responses\n")
        for atom in ATOMS
    },
    **{f"hey lines {atom!r}": ("hey-text", HEY + fill(f"  {atom * 20}\n")) for atom in ATOMS},
    **{f"wrk {atom!r}": ("wrk-text", f"{WRK}    {fill(atom)}\n  1 requests in 1s, 1B read\n") for atom in ATOMS},
    **{f"wrk object {atom!r}": ("wrk-text", f"{WRK}{{{fill(atom)}\n  1 requests in 1s, 1B read\n") for atom in ATOMS},
    "wrk socket errors": ("wrk-text", WRK + "  1 requests in 1s, 1B read\n  Socket errors: connect " + fill("1")),
    "json depth": ("k6-json", fill("[")),
    "json keys": ("oha-json", json.dumps({f"k{n}": n for n in range(SIZE // 12)})),
    "artillery depth": ("artillery-json", fill('{"a":')),
    "xml depth": ("jmeter-xml", "<testResults>" + fill("<sample>")),
    "xml entities": (
        "jmeter-xml",
        "<!DOCTYPE t [<!ENTITY a0 'aaaaaaaaaa'>"
        + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
        + "]><testResults><httpSample lb='&a11;'/></testResults>",
    ),
    "csv quotes": ("jmeter-csv", "timeStamp,elapsed,label,responseCode,success\n" + fill('1,1,"')),
    "csv quotes by line": ("jmeter-csv", "timeStamp,elapsed,label,responseCode,success\n" + fill('1,1,"\n')),
    "csv queries": (
        "jmeter-csv",
        'timeStamp,elapsed,label,responseCode,success,URL\n1700000000000,1,a,200,true,"' + fill("?") + '\n x"\n',
    ),
    "csv in one line": (
        "hey-csv",
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset" + fill(",1"),
    ),
    "locust columns": ("locust-csv", "Timestamp,User Count,Type,Name," + fill("1%,") + "\n" + fill("1,")),
    **{f"gatling {message[:12]!r}": ("gatling-text", gatling(message * 10)) for message in ERRORS},
}


READ_ALL = """
import json, resource, sys
from pathlib import Path
from loadwatch_backend.runs.importers.pipeline import read_result
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.contract import ImportOptions

folder, seconds = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
for place, (name, form) in enumerate(json.loads((folder / "cases.json").read_text())):
    print(name, flush=True)
    made = folder / f"run-{place}"
    made.mkdir()
    try:
        read_result(folder / f"{place}", made, ImportOptions(filename="x", format=form), lambda progress: None)
    except ProblemError:
        pass
print("all read")
"""


def test_every_hostile_file_ends(tmp_path: Path) -> None:
    # One child and one limit for all of them: to start a child for each costs more than what is tested.
    (tmp_path / "cases.json").write_text(json.dumps([(name, form) for name, (form, _) in HOSTILE.items()]))
    for place, (_, text) in enumerate(HOSTILE.values()):
        (tmp_path / f"{place}").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(tmp_path), str(CPU_SECONDS)], capture_output=True, text=True, check=False
    )
    last = done.stdout.splitlines()[-1:]
    assert (done.returncode, last) == (0, ["all read"]), (last, done.stderr[-2_000:])


@pytest.mark.parametrize("text", ERRORS)
def test_error_texts_of_any_length_are_read(text: str) -> None:
    SORTER.of_error(fill(text, 3_000_000))
    assert len(plain_error(fill(text, 3_000_000))) <= 300


def test_texts_with_lone_surrogates_are_read() -> None:
    assert SORTER.of_error("\ud800 connection refused").value == "refused"
    assert plain_error("\ud800 http://a/?b") == "? http://a/?..."
