"""Functions of CPU profiles: for a request, in seconds, by route where stacks are labelled."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.cost.service import MOST_FILES, cpu_files, functions_out
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceKind
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.run_waits import add_up_waits
from loadwatch_backend.evidence.profiles.service import ProfileOut, ProfileView, Side, known_words, make_view
from loadwatch_backend.evidence.runs import Normalised, RunWindow

from backend.tests.evidence.profiles.made import encoded, message

SECOND = 1_000_000_000


def side(stacks: dict[tuple[str, str], int], requests: float | None = None) -> Side:
    """Seconds by stack and route; an empty route is no label."""
    made = message([(stack, [seconds * SECOND]) for (stack, _), seconds in stacks.items()])
    texts = list(made.string_table)

    def text(value: str) -> int:
        if value.encode() not in texts:
            texts.append(value.encode())
            made.string_table.append(value.encode())
        return texts.index(value.encode())

    for sample, (_, route) in zip(made.sample, stacks, strict=True):
        if route:
            sample.label.add(key=text("http.route"), str=text(route))
    return Side(profile=read_profile(encoded(made)), requests=requests, seconds=10.0)


def view(now: Side, base: Side | None = None) -> ProfileView:
    return make_view(now, base, None, "cpu", known_words("cpu", Language.EN))


NOW = side({("scan;handler", "/timeline"): 6, ("encode;handler", "/timeline"): 2, ("login", "/login"): 2}, 100.0)
BASE = side({("scan;handler", "/timeline"): 1, ("encode;handler", "/timeline"): 1, ("login", "/login"): 2}, 50.0)


def test_a_request_takes_so_much_in_each_function() -> None:
    found = functions_out(view(NOW), None, 2)
    assert found is not None
    assert (found.unit, found.per, found.profiles) == ("seconds", Normalised.REQUEST, 2)
    assert (found.total, found.base_total) == (pytest.approx(0.1), None)
    assert [(one.name, one.share, one.cum_share) for one in found.functions] == [
        ("scan", 0.6, 0.6),
        ("encode", 0.2, 0.2),
        ("login", 0.2, 0.2),
    ]
    assert found.functions[0].flat == pytest.approx(0.06)
    assert [(one.name, one.share, one.base_share) for one in found.by_route] == [
        ("/timeline", 0.8, None),
        ("/login", 0.2, None),
    ]


def test_each_is_held_against_the_baseline() -> None:
    found = functions_out(view(NOW, BASE), view(BASE), 1)
    assert found is not None
    first = found.functions[0]
    assert (first.name, first.flat, first.base_flat) == ("scan", pytest.approx(0.06), pytest.approx(0.02))
    assert found.base_total == pytest.approx(0.08)
    assert [(one.name, one.share, one.base_share) for one in found.by_route] == [
        ("/timeline", pytest.approx(0.8), 0.5),
        ("/login", pytest.approx(0.2), 0.5),
    ]


def test_without_labels_or_values_nothing_is_said_of_them() -> None:
    unlabelled = view(side({("scan", ""): 1}))
    found = functions_out(unlabelled, None, 1)
    assert found is not None
    assert (found.by_route, found.per, found.total) == ([], Normalised.NONE, 1.0)
    assert functions_out(view(side({("scan", ""): 0})), None, 1) is None


def test_cpu_profiles_alone_are_read_and_a_few_of_them() -> None:
    usual = dict(
        name="",
        job="",
        instance="",
        at_ms=0,
        seconds=None,
        cause="run",
        asked_by="",
        bytes=1,
        requests=None,
        requests_by=None,
    )
    kinds = ["cpu", "mutex", *["cpu"] * 10]
    listed = [ProfileOut.model_validate({**usual, "id": f"p{place}", "kind": kind}) for place, kind in enumerate(kinds)]
    run = RunWindow(id="r", name="", from_ms=0, to_ms=60_000)
    assert cpu_files(listed, run) == ("p0", *(f"p{place}" for place in range(2, MOST_FILES + 1)))


@pytest.mark.parametrize(
    ("at_ms", "seconds", "counts"),
    [(110_000, 10.0, True), (95_000, 10.0, True), (160_001, 10.0, False), (89_000, 10.0, False), (0, None, False)],
)
def test_a_profile_of_another_time_is_not_of_the_run(at_ms: int, seconds: float | None, counts: bool) -> None:
    run = RunWindow(id="r", name="", from_ms=100_000, to_ms=160_000)
    one = ProfileOut(
        id="p", name="", kind="cpu", job="", instance="", at_ms=at_ms, seconds=seconds, cause="upload", asked_by="",
        bytes=1, requests=None, requests_by=None,
    )  # fmt: skip
    assert cpu_files([one], run) == (("p",) if counts else ())


def stored(path: Path, facts: Mapping[str, Any]) -> StoredEvidence:
    """A profile on disk, with what was said of it."""
    return StoredEvidence(
        file=EvidenceFile(
            id="0" * 32,
            run="r",
            kind=EvidenceKind.PROFILE,
            name="p",
            media_type="",
            bytes=1,
            sha256="0" * 64,
            at_ms=0,
            author="",
            note="",
            facts=dict(facts),
        ),
        path=path,
    )


def test_waits_are_of_a_second_and_of_all_processes_together(tmp_path: Path) -> None:
    mutex = message([("sync.(*Mutex).Unlock;main.save", [1, 20 * SECOND])], ("contentions/count", "delay/nanoseconds"))
    for place in range(4):
        (tmp_path / str(place)).write_bytes(encoded(mutex))
    (tmp_path / "4").write_bytes(b"no profile")
    of = {"kind": "mutex", "job": "app", "seconds": 10.0}
    said = [
        {**of, "instance": "a"},
        {**of, "instance": "a"},
        {**of, "instance": "b"},
        # Since the process began, nobody knows when; and one that cannot be read.
        {"kind": "mutex", "job": "app", "instance": "b"},
        {**of, "instance": "b"},
    ]
    (found,) = add_up_waits([stored(tmp_path / str(place), facts) for place, facts in enumerate(said)])
    assert (found.kind, found.job, found.seconds, found.functions) == (Kind.MUTEX, "app", 4.0, {"main.save": 4.0})
