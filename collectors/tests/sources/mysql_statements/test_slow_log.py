from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from loadwatch_collectors.sources.mysql_statements import slow_log
from loadwatch_collectors.sources.mysql_statements.slow_log import SlowLogFollower
from loadwatch_collectors.sources.statements import CALLS, SECONDS, Counts, Key


def heading(more: str = "") -> str:
    return (
        "# User@Host: app[app] @ web-1 [192.0.2.7]  Id: 8\n"
        f"# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 9\n{more}SET timestamp=1795395600;\n"
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "slow.log"
    path.touch()
    return path


@pytest.fixture
def follower(log: Path) -> Iterator[SlowLogFollower]:
    """It has begun at the log's end."""
    made = SlowLogFollower(str(log))
    assert made.collect() == {}
    yield made
    made.close()


def append(log: Path, *texts: str) -> None:
    with log.open("a") as file:
        file.writelines(texts)


def calls(grown: Mapping[Key, Counts]) -> float:
    return sum(counts[CALLS] for counts in grown.values())


def test_that_a_statement_of_a_sample_counts_for_all_that_it_stands_for(log: Path, follower: SlowLogFollower) -> None:
    append(
        log, heading("# Log_slow_rate_type: query  Log_slow_rate_limit: 20\n"), "select 1;\n", heading(), "select 2;\n"
    )
    grown = follower.collect()
    assert calls(grown) == 20
    grown = follower.collect()
    (counts,) = grown.values()
    assert (counts[CALLS], counts[SECONDS], follower.sampled) == (1, 0.5, 1)


def test_that_a_fast_log_is_read_over_several_looks_and_nothing_is_left_out(
    log: Path, follower: SlowLogFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_log, "MOST_BYTES", 10_000)
    monkeypatch.setattr(slow_log, "_BLOCK", 1_000)
    append(log, *(f"{heading()}select * from t where id = {at};\n" for at in range(1_000)))
    found, looks = calls(follower.collect()), 1
    assert follower.behind > 100_000
    while (grown := follower.collect()) or follower.behind:
        found, looks = found + calls(grown), looks + 1
    assert (found, follower.skipped_bytes, follower.unreadable) == (1_000, 0, 0)
    assert looks > 10


def test_that_what_is_left_out_is_counted_and_nothing_of_a_value_is_taken_for_words(
    log: Path, follower: SlowLogFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, f"{heading()}insert into notes values ('", *("x\n" * 30_000))
    append(log, f"{heading()}select s3cret from value;\n", *("x\n" * 1_000), "');\n")
    append(log, f"{heading()}select 1;\n", f"{heading()}select 2;\n", heading())
    monkeypatch.setattr(slow_log, "FARTHEST_BYTES", 20_000)
    grown = follower.collect()
    assert follower.is_skipping
    assert follower.skipped_bytes == log.stat().st_size - 10_000
    assert calls(grown) == 2
    assert not any("s3cret" in text for text in follower.texts.values())
    append(log, "select 3;\n")
    follower.collect()
    assert not follower.is_skipping
