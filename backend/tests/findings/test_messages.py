"""Messages of findings: complete, alike in both languages, and used."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import loadwatch_backend.findings as findings
import pytest
from loadwatch_backend.catalogue.signals.model import Demand, Resource, Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Formats, MessageError, Words
from loadwatch_backend.findings.messages import FOLDER, messages, read_file
from loadwatch_backend.findings.model import Link

KIND = """
pool-churn:
  severity: warning
  title: {en: Churn, ja: 再接続}
  explanation: {en: Why, ja: 理由}
  rule: {en: Rule, ja: 目安, source: Go}
  refuted_by: {en: Not so, ja: 反証}
"""
TRANSLATED = ("title", "explanation", "rule", "refuted_by")
SOURCES = "".join(
    file.read_text(encoding="utf-8") for file in sorted(Path(findings.__path__[0]).rglob("*.py"), key=str)
)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_fields() -> None:
    texts: dict[str, Mapping[str, Any]] = {}
    for key, entry in messages().items():
        parts = {key: entry} if "." in key else {f"{key} {name}": entry[name] for name in TRANSLATED}
        texts.update(parts)
    assert len(texts) >= 4 * 58
    assert {place for place, part in texts.items() if fields(part["en"]) != fields(part["ja"])} == set()


def test_every_message_is_used_and_every_one_that_is_used_is_there() -> None:
    used = set(re.findall(r'\b(?:message|step|kind)\(\s*"([^"]+)"', SOURCES))
    kinds, demands = (
        get_args(form.model_fields[name].annotation) for form, name in ((Resource, "kind"), (Demand, "what"))
    )
    of_packs = {f"saturation.why-{one}" for one in kinds} | {
        f"saturation.{one}" for one in (*demands, "waiting-seconds")
    }
    steps = {step for entry in messages().values() for step in entry.get("steps", ())}
    assert steps - messages().keys() == set()
    assert {key for key in messages() if f'"{key}"' not in SOURCES} - steps == of_packs
    assert used - messages().keys() == set()


def test_evidence_has_a_link_and_a_unit_that_there_are() -> None:
    shown = [entry for entry in messages().values() if "link" in entry]
    assert len(shown) >= 50
    assert {entry["link"] for entry in shown} <= set(Link)
    assert {entry["unit"] for entry in shown} <= set(Unit)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("pool-churn: [", "mine.yml: while parsing"),
        (KIND.replace("ja: 理由", "jp: 理由"), "mine.yml: pool-churn: explanation: lacks ja"),
        (KIND.replace(", source: Go", ""), "mine.yml: pool-churn: rule: lacks source"),
        (KIND + "  sentence: Churn\n", "mine.yml: pool-churn: has the unknown sentence"),
        ("pool-churn.sentence: {en: Churn}", "mine.yml: pool-churn.sentence: lacks ja"),
        ("pool-churn.sentence: {en: Churn, ja: 3}", "mine.yml: pool-churn.sentence: ja is no text"),
        ("pool-churn.limit: {en: Churn, ja: 再, link: limit}", "mine.yml: pool-churn.limit: lacks expression, unit"),
        ("pool-churn.sentence: Churn", "mine.yml: pool-churn.sentence: is no mapping"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_entry(tmp_path: Path, content: str, error: str) -> None:
    file = tmp_path / "mine.yml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(MessageError, match=re.escape(error)):
        read_file(file)


def test_files_are_part_of_the_package() -> None:
    assert FOLDER == Path(findings.__path__[0]) / "messages"
    assert len(read_file(FOLDER / "pool.yml")) >= 7


@pytest.mark.parametrize(
    ("text", "en", "ja"),
    [
        ("{n:count}, {n:figure}", "2,246, 2,246", "2,246, 2,246"),
        ("{n:counted:request|requests}", "2,246 requests", "2,246 requests"),
        ("{one:counted:request|requests}", "1 request", "1 request"),
        ("{part:duration} {part:share} {n:size}", "120 ms 12 % 2.2 KiB", "120ミリ秒 12 % 2.2 KiB"),
        ("{words}, {part:.2f}, {{}}", "app, 0.12, {}", "アプリ, 0.12, {}"),
    ],
)
def test_figures_read_as_the_language_has_them(text: str, en: str, ja: str) -> None:
    values = {"n": 2_246, "one": 1.0, "part": 0.12, "words": Words("app", "アプリ")}
    assert Formats(Language.EN).vformat(text, (), values) == en
    assert Formats(Language.JA).vformat(text, (), values) == ja
