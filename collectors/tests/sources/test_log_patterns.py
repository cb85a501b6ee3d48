"""A log's lines by their pattern: followed from now on, without what varies, bounded."""

from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.log_patterns import LOG_PATTERNS, LogPatternsCollector, LogPatternsSettings

SERVER = (Path(__file__).parents[1] / "fixtures" / "log_patterns" / "go-server.log").read_text()


def follow(path: Path, patterns: int = 200) -> LogPatternsCollector:
    collector = LOG_PATTERNS.build(LogPatternsSettings(path=str(path), patterns=patterns))
    assert isinstance(collector, LogPatternsCollector)
    return collector


def by_text(samples: "list[Sample]") -> dict[str, tuple[str, float]]:
    """Level and count of each pattern, by its text."""
    texts = {dict(one.labels)["pattern_id"]: dict(one.labels)["pattern"] for one in samples if "info" in one.name}
    found: dict[str, tuple[str, float]] = {}
    for one in samples:
        if one.name == "log_messages_total":
            labels = dict(one.labels)
            found[texts.get(labels["pattern_id"], labels["pattern_id"])] = (labels["level"], one.value)
    return found


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_lines_are_counted_from_now_on_and_over_a_rotation(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("from before\n")
    collector = follow(log)
    assert by_text(list(collector.collect())) == {}
    add(log, SERVER)
    found = by_text(list(collector.collect()))
    accept = "http: Accept error: accept tcp <ip>: accept4: too many open files; retrying in <num>"
    assert found[accept] == ("error", 2)
    assert found["panic: runtime error: index out of range [<num>] with length <num>"] == ("critical", 1)
    assert len(found) == 5
    assert "hunter2" not in str(found)
    assert "aoi" not in str(found)
    log.rename(tmp_path / "app.log.1")
    log.write_text(SERVER)
    assert by_text(list(collector.collect()))[accept] == ("error", 4)
    assert collector.explain()[1] == f"4 × {accept}"
    collector.close()


def test_what_did_not_change_is_sent_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    log = tmp_path / "app.log"
    log.write_text("")
    collector = follow(log)
    collector.collect()
    add(log, "one line\n")
    sent: list[bool] = []
    for _ in range(16):
        now[0] += 1
        of_pattern = [one for one in collector.collect() if one.name == "log_messages_total"]
        assert len(of_pattern) == 1
        sent.append(of_pattern[0].timestamp_ms != KEPT)
    assert sent[0]
    assert sent.count(True) == 2
    collector.close()


def test_patterns_beyond_the_bound_and_long_lines_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("")
    collector = follow(log, patterns=3)
    collector.collect()
    words = ("ant", "bee", "cat", "dog", "eel", "fox")
    add(log, "".join(f"{'x ' * (2 + number)}{word}\n" for number, word in enumerate(words)))
    add(log, "y" * 3_000_000 + "\n")
    with log.open("ab") as file:
        file.write(b"\xff\xfe\x1b[2J bytes\n")
    found = by_text(list(collector.collect()))
    assert len(found) == 4
    assert sum(count for _, count in found.values()) >= 7
    assert found["other"][1] >= 4
    collector.close()


def test_a_log_that_is_not_there_is_an_error_until_it_comes(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    collector = follow(log)
    with pytest.raises(CollectorError, match="No such file"):
        collector.collect()
    log.write_text("first words\n")
    assert by_text(list(collector.collect())) == {"first words": ("", 1)}
    collector.close()
