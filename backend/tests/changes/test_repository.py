from collections.abc import Iterator
from dataclasses import replace

import pytest
from loadwatch_backend.app.changes.repository import forget_unseen, load_known, load_places, save_known, save_places
from loadwatch_backend.app.changes.sightings import Known, Subject
from loadwatch_backend.core.database.relational import Relational, open_relational


@pytest.fixture
def relational(database_url: str) -> Iterator[Relational]:
    relational = open_relational(database_url)
    yield relational
    relational.close()


def test_what_is_known_is_kept(relational: Relational):
    known = Known(
        metric="aws_rds_info",
        place="p" * 40,
        title="葵😀",
        fields={"class": "db.r6g.large", "": "7"},
        changed_ms=2**42,
        seen_ms=2**42,
        tags=("scale-out",),
    )
    first, second = Subject("a" * 40, "b" * 40), Subject("a" * 40, "")
    with relational.transaction() as session:
        save_known(session, {first: known, second: known}, {})
        save_places(session, {"x" * 40}, 1)
    with relational.transaction() as session:
        assert load_known(session) == {first: known, second: known}
        save_known(session, {first: replace(known, gone=True, seen_ms=1)}, {first, second})
        save_places(session, {"x" * 40}, 2)
    with relational.transaction() as session:
        assert load_known(session)[first].gone
        assert load_places(session) == {"x" * 40}
        forget_unseen(session, 2, agents_before_ms=2)
    with relational.transaction() as session:
        assert load_known(session) == {second: known}
        save_known(session, {first: known}, {second})
        forget_unseen(session, 2, agents_before_ms=2**42 + 1)
    with relational.transaction() as session:
        assert load_known(session) == {second: known}, "what one agent said is forgotten sooner"
