from collections.abc import Iterator

import pytest
from loadwatch_backend.core.database.relational import Relational, RelationalError, migrate, open_relational
from loadwatch_backend.runs.annotations.schemas import AnnotationIn, AnnotationPatch
from loadwatch_backend.runs.annotations.service import AnnotationService
from sqlalchemy import inspect


@pytest.fixture
def relational(database_url: str) -> Iterator[Relational]:
    relational = open_relational(database_url)
    yield relational
    relational.close()


def test_migrating_again_changes_nothing(relational: Relational):
    before = inspect(relational.engine).get_table_names()
    migrate(relational.engine)
    assert inspect(relational.engine).get_table_names() == before
    assert "annotations" in before


def test_annotations_on_a_real_database(relational: Relational):
    service = AnnotationService(relational, lambda: 7)
    note = service.create(
        AnnotationIn(author="葵😀", text="x" * 4_000, start_ms=10, end_ms=20, tags=["a", "A", "は", "ば"]), "local"
    )
    assert service.read(note.id) == note
    assert note.tags == ["a", "A", "は", "ば"]
    assert [found.id for found in service.list(20, 30, "は")] == [note.id]
    assert service.list(20, 30, "ハ") == []
    changed = service.update(note.id, AnnotationPatch(tags=["b", "a"]), "local")
    assert changed.tags == ["b", "a"]
    service.delete(note.id)
    assert service.list(0, 100, None) == []


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "not a database URL"),
        ("oracle://u:hunter2@h/d", "cannot|no driver"),
        ("mysql+pymysql://u:hunter2@127.0.0.1:1/d", "cannot use the database"),
        ("sqlite:////nonexistent/folder/x.sqlite", "cannot use the database"),
    ],
)
def test_a_database_that_cannot_be_used_is_named_without_its_password(url: str, says: str):
    with pytest.raises(RelationalError, match=says) as raised:
        open_relational(url)
    assert "hunter2" not in str(raised.value)
