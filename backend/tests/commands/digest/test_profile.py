import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loadwatch_backend.app.commands.digest.profile import profile

from backend.tests.evidence.profiles.made import GO, KINDS, PY_SPY, encoded, message
from bench.profiles import Top, pprof_top, same


def run(*arguments: str | Path, text: bytes | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(profile, [str(one) for one in arguments], input=text)
    return done.exit_code, done.stdout, done.stderr


def document(*arguments: str | Path) -> dict[str, Any]:
    code, out, problems = run(*arguments, "--json")
    assert code == 0, problems
    return json.loads(out)


def top(found: dict[str, Any], total: str = "total") -> Top:
    return Top(rows=[(one["name"], one["flat"], one["cum"]) for one in found["functions"]], total=found[total])


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_is_what_go_tool_pprof_says(kind: str) -> None:
    now, base = GO / f"{kind}-now.pb.gz", GO / f"{kind}-base.pb.gz"
    found = document(now)
    unit, name = found["unit"], found["sample_type"]
    assert same(top(found), pprof_top([now], unit, name))
    found = document(now, "--base", base)
    assert same(top(found, "base_total"), pprof_top([now], unit, name, "-diff_base", str(base)))
    assert found["kind"] == kind[3:]


def test_several_files_are_added_up_and_sorted_as_asked() -> None:
    files = [GO / "00-cpu-now.pb.gz", GO / "00-cpu-base.pb.gz"]
    found = document(*files, "--sort", "cum", "--sample-type", "samples")
    assert found["files"] == 2
    assert same(top(found), pprof_top(files, "count", "samples", "-cum"))
    assert set(found["labels"]["route"]["values"]) == {"/route/0", "/route/1", "/route/2"}


def test_known_frames_have_words_and_the_caller_of_ones_own() -> None:
    functions = {one["name"]: one for one in document(GO / "04-block-now.pb.gz")["functions"]}
    assert functions["sync.(*Mutex).Lock"]["words"] == (
        "waits for a lock of the application itself, below main.handler.hold"
    )
    assert functions["main.handler.hold"]["own"] is True
    assert "words" not in functions["main.handler.hold"]


def test_values_for_each_request_are_of_each_side(tmp_path: Path) -> None:
    now, base = tmp_path / "now", tmp_path / "base"
    now.write_bytes(encoded(message([("work;main", [6_000]), ("same;main", [1_200])])))
    base.write_bytes(encoded(message([("work;main", [2_000]), ("same;main", [200])])))
    found = document(now, "--base", base, "--requests", "30", "--base-requests", "5")
    first = found["functions"][0]
    assert (first["name"], first["flat"], first["flat_per_request"]) == ("work", 4_000, -200)
    assert document(now, "--requests", "30")["functions"][0]["flat_per_request"] == 200
    code, out, _ = run(now, "--base", base, "--requests", "30", "--base-requests", "5")
    assert code == 0
    assert "flat/request" in out
    assert "-200.00ns" in out


def test_the_table_is_for_reading() -> None:
    code, out, problems = run(GO / "04-block-now.pb.gz", "--limit", "5", "--sort", "cum")
    lines = out.splitlines()
    assert (code, problems) == (0, "")
    assert lines[0].startswith("block, delay in nanoseconds: total ")
    assert lines[1].split() == ["flat", "flat%", "sum%", "cum", "cum%", "function"]
    assert lines[-1].startswith("… and ")
    assert "sync.(*Mutex).Lock  (waits for a lock of the application itself" in run(GO / "04-block-now.pb.gz")[1]


def test_new_and_gone_stacks_are_listed(tmp_path: Path) -> None:
    now, base = tmp_path / "now", tmp_path / "base"
    now.write_bytes(encoded(message([("a;main", [9_000]), ("fresh;main", [900])])))
    base.write_bytes(encoded(message([("a;main", [9_000])])))
    _, out, _ = run(now, "--base", base)
    assert "1 stack is new:\n  900.00ns  fresh < main" in out
    assert run(now, "--base", now)[1].endswith("The profiles do not differ.\n")


def test_only_what_is_asked_for_is_shown() -> None:
    names = [one["name"] for one in document(GO / "00-cpu-now.pb.gz", "--match", "json")["functions"]]
    assert names
    assert all("json" in name for name in names)
    assert "No function has that in its name." in run(GO / "00-cpu-now.pb.gz", "--match", "nothing like it")[1]
    code, _, problems = run(GO / "00-cpu-now.pb.gz", "--match", "(")
    assert code == 2
    assert "Invalid value for '-m'" in problems


def test_other_formats_and_standard_input() -> None:
    data = (PY_SPY / "app.collapsed").read_bytes()
    _, out, _ = run("-", text=gzip.compress(data))
    assert out.startswith("other, samples in count: total ")
    assert "fib (app.py)" in out


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    page, missing, heap = tmp_path / "page.html", tmp_path / "none", GO / "01-heap-now.pb.gz"
    page.write_text("<html>404</html>")
    for arguments, words in (
        ([page], f"{page}: This is no profile, but a page of HTML"),
        ([missing], f"{missing}: No such file or directory"),
        ([heap, GO / "00-cpu-now.pb.gz"], "measure different things"),
        ([heap, "--requests", "5"], "inuse_space says how much there is at one moment"),
        ([heap, "--sample-type", "cpu"], "no sample type 'cpu'; it has alloc_objects"),
    ):
        code, out, problems = run(*arguments)
        assert (code, out) == (1, "")
        assert words in problems
    assert run(heap, "--base", heap, "--requests", "5")[0] == 2


def test_a_profile_without_samples_says_what_to_switch_on(tmp_path: Path) -> None:
    empty = tmp_path / "mutex"
    empty.write_bytes(encoded(message([], ["contentions/count", "delay/nanoseconds"])))
    assert "runtime.SetMutexProfileFraction" in run(empty)[1]
