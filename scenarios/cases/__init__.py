"""The registry of all cases, in the order in which they are played."""

from scenarios.case import Case
from scenarios.cases import answers, database, healthy, ingest, pairs, pools, processors, sockets

CASES: tuple[Case, ...] = (
    *pools.CASES,
    *sockets.CASES,
    *ingest.CASES,
    *database.CASES,
    *processors.CASES,
    *pairs.CASES,
    *answers.CASES,
    *healthy.CASES,
)


def cases_by_name() -> dict[str, Case]:
    """All cases by their name."""
    return {case.name: case for case in CASES}
