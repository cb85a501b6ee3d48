"""Every text of the server says the same in every language, and is used."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import loadwatch_backend
import pytest
from loadwatch_backend.alerting.notify.senders.registry import SENDERS
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import (
    MESSAGES,
    MessageError,
    Texts,
    Words,
    catalogue,
    message_of,
    read_entries,
    words_of,
)
from loadwatch_backend.runs.compare.metrics import RUN_METRICS

PACKAGE = Path(loadwatch_backend.__path__[0])
SUBJECTS = sorted(file.stem for file in MESSAGES.iterdir())
JAPANESE = re.compile(r"[぀-ヿ一-鿿]")
PLACEHOLDER = re.compile(r"{[^{}]*}")
NAMES = "GOMEMLIMIT|maxmemory|nginx|PgBouncer|PostgreSQL|Redis|CPU|TCP|TIME-WAIT|English"
NO_WORDS = re.compile(rf"[^A-Za-z]*|(p\d+|(HTTP )?\dxx|{NAMES})|(Aborted_|net\.ipv4\.|SetConn).*")
"""What reads the same in every language: percentiles, names of settings and counters, a language's own name."""


def subjects() -> Iterator[tuple[str, Words]]:
    """Texts of the message files, by subject and key."""
    for subject in SUBJECTS:
        yield from ((f"{subject}.{key}", words) for key, words in catalogue(subject).items())


def registries() -> Iterator[tuple[str, Words]]:
    """Texts that stand in what they describe: signals, panels, resources, figures of runs."""
    panels = [panel for group in shipped_catalogue().groups for panel in group.panels]
    signals = [signal for panel in panels for signal in panel.signals]
    for entry in (*shipped_catalogue().groups, *panels, *signals, *shipped_catalogue().resources, *RUN_METRICS):
        yield f"{entry.id}.title", entry.title
    for entry in (*signals, *shipped_catalogue().resources, *RUN_METRICS):
        yield f"{entry.id}.help", entry.help


ALL = [*subjects(), *registries()]


def fields(text: str) -> set[tuple[str, str | None]]:
    """Names of the values in a text, with their formats."""
    return {(name, form) for _, name, form, _ in Formatter().parse(text) if name is not None}


def test_an_entry_is_a_text_in_both_languages_and_nothing_else() -> None:
    for subject in SUBJECTS:
        for key, entry in read_entries(MESSAGES / f"{subject}.yml").items():
            assert list(entry) == ["en", "ja"], f"{subject}.{key}"
            assert all(isinstance(text, str) for text in entry.values()), f"{subject}.{key}"


def test_every_message_is_used() -> None:
    """By a literal of sources or templates, by one that is put together (`kind.{layer}.{kind}`), or in capitals."""
    used: set[str] = set()
    made: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                parts = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".+" for one in node.values]
                made.add("".join(parts))
    for file in PACKAGE.rglob("*.j2"):
        template = file.read_text(encoding="utf-8")
        used |= set(re.findall(r'\("([^"]+)"', template))
        made |= {re.escape(start) + ".+" for start in re.findall(r'"([^"]+)" ?~', template)}
    pattern = re.compile("|".join(made))
    unused = [
        f"{subject}.{key}"
        for subject in SUBJECTS
        for key in catalogue(subject)
        if not {key, key.lower()} & used and not pattern.fullmatch(key)
    ]
    assert unused == []


def test_no_text_is_missing_or_in_the_other_language() -> None:
    wrong = [key for key, words in ALL if not words.en or JAPANESE.search(words.en)]
    said = [(key, PLACEHOLDER.sub("", words.ja)) for key, words in ALL]
    untranslated = [key for key, text in said if not JAPANESE.search(text) and not NO_WORDS.fullmatch(text)]
    assert wrong + untranslated == ["runbooks.other_language"]


def test_every_kind_of_receiver_has_its_name() -> None:
    assert all(sender.title.en and sender.title.ja for sender in SENDERS)


def test_all_languages_have_the_same_placeholders() -> None:
    for key, words in ALL:
        english, japanese = (fields(words.read(language)) for language in Language)
        assert english == japanese, key


def test_a_text_is_read_in_its_language_with_its_values() -> None:
    texts = Texts("notify", Language.JA)
    assert texts("more", count=2) == "ほか 2 件"
    assert texts.known("more", "?", count=3) == "ほか 3 件"
    assert texts.known("of-a-later-version", "?", count=3) == "?"
    with pytest.raises(KeyError):
        texts("of-a-later-version")
    assert Texts("timeouts", Language.EN)("hint.app.read") == "timeouts: {app: {read: 30s}}, in Go ReadTimeout."
    filled = message_of("actions", "by", run=Words("another run", "別の実行"))
    assert filled == Words("by another run", "別の実行 による判定")


def test_lines_of_an_entry_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    file.write_text("long:\n  en: >-\n    one\n    two\n  ja: |-\n    一\n    二\n", encoding="utf-8")
    assert words_of(read_entries(file)["long"]) == Words("one two", "一二")
    file.write_text("[", encoding="utf-8")
    with pytest.raises(MessageError, match=r"mine\.yml: while parsing"):
        read_entries(file)
