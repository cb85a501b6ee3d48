"""What was waited for locks in the profiles that a run kept: the edge to its files."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence
from loadwatch_backend.evidence.profiles.known import LockWaits, lock_waits
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.evidence.profiles.reading.limits import cpu_limit
from loadwatch_backend.evidence.profiles.reading.read import read_profile

MOST_FILES = 16
WAITING = frozenset({Kind.MUTEX, Kind.BLOCK})


def lock_waits_of_run(files: EvidenceFiles, run_id: str) -> Sequence[LockWaits]:
    kept = [one for one in files.list(run_id, EvidenceKind.PROFILE) if _kind(one) in WAITING]
    opened: list[StoredEvidence] = []
    for file in kept[:MOST_FILES]:
        with suppress(ProblemError):
            opened.append(files.open(file.id))
    return add_up_waits(opened)


def add_up_waits(profiles: Sequence[StoredEvidence]) -> Sequence[LockWaits]:
    """By kind and job; of several processes and profiles what they waited together, in each second."""
    seconds: dict[tuple[Kind, str, str], float] = defaultdict(float)
    waited: dict[tuple[Kind, str, str], Counter[str]] = defaultdict(Counter)
    with cpu_limit():
        for one in profiles:
            facts = one.file.facts
            # One that was not taken over a time counts since the process began, not since the run did.
            lasted = facts.get("seconds")
            if not isinstance(lasted, int | float) or lasted <= 0:
                continue
            with suppress(ProblemError):
                total, functions = lock_waits(read_profile(one.path.read_bytes()))
                key = (Kind(_kind(one.file)), str(facts.get("job", "")), str(facts.get("instance", "")))
                seconds[key] += lasted
                waited[key].update({"": total, **functions})
    by_job: dict[tuple[Kind, str], Counter[str]] = defaultdict(Counter)
    for key, functions in waited.items():
        by_job[key[:2]].update({name: value / seconds[key] for name, value in functions.items()})
    return [LockWaits(kind=kind, job=job, seconds=of.pop(""), functions=dict(of)) for (kind, job), of in by_job.items()]


def _kind(file: EvidenceFile) -> str:
    """The kind in the file's facts as text, since an uploader may have stored any value."""
    return str(file.facts.get("kind", ""))
