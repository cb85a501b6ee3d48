from dataclasses import replace

from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.findings.documents import findings_out
from loadwatch_backend.findings.engine import diagnose, find_unwatched
from loadwatch_backend.findings.model import DiagnosisState
from loadwatch_backend.findings.registry import DETECTORS
from loadwatch_backend.findings.window import Totals, Window

from backend.tests.findings.windows import START_MS, window

FLASK = {
    'tcp_peer_connections{process="gunicorn",peer="127.0.0.1",port="5432",side="remote"}': 10,
    'tcp_peer_connections{process="postgres",peer="127.0.0.1",port="5432",side="local"}': 10,
    'tcp_peer_connections{process="gunicorn",peer="10.0.0.7",port="6379",side="remote"}': 2,
    'tcp_peer_connections{process="loadwatch",peer="127.0.0.1",port="3306",side="remote"}': 0,
    'node_cpu_seconds_total{instance="vm",mode="idle",cpu="0"}': 5,
}


def seen(*names: str) -> Window:
    """A run of a Flask application over PostgreSQL and Redis, with what else is there."""
    found = window(FLASK)
    return replace(found, packs=shipped_catalogue().packs, names=frozenset({*found.tables, *names}), of_run=True)


def test_what_is_used_and_not_watched_is_named_with_its_own_lines():
    found = {one.kind.id: one for one in find_unwatched(seen())}
    assert set(found) == {"postgresql", "redis", "pool"}
    assert found["postgresql"].kind.title.en == "PostgreSQL (127.0.0.1:5432)"
    assert "port: 5432" in found["postgresql"].switched_on_by
    assert "redis://10.0.0.7:6379" in found["redis"].switched_on_by
    assert found["pool"].kind.title.en == "the connection pool of gunicorn"


def test_what_is_watched_is_not_named():
    assert find_unwatched(seen("pg_up", "redis_up", "sqlalchemy_pool_checked_out")) == []


def test_a_run_with_a_symptom_ends_as_cannot_tell_and_says_what_is_not_watched():
    run = replace(seen(), totals=Totals(requests=1_000, outcomes={"ok": 900, "http_5xx": 100}))
    out = findings_out(diagnose(run, DETECTORS), START_MS)
    assert out.state is DiagnosisState.CANNOT_TELL
    assert out.cannot_tell is not None
    assert "Not watched: PostgreSQL (127.0.0.1:5432), Redis (10.0.0.7:6379), the connection pool of gunicorn." in (
        out.cannot_tell.en
    )
    # The lines of MySQL are no help here.
    assert not any(one.usual and "mysql" in one.config for one in out.missing)
