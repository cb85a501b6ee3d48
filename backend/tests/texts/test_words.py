"""Every text of the server says the same in every language."""

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import loadwatch_backend.texts
import pytest
from loadwatch_backend.compare.metrics import RUN_METRICS
from loadwatch_backend.kit.language import Language
from loadwatch_backend.notify.senders.registry import SENDERS
from loadwatch_backend.signals.catalogue.registry import CATALOGUE
from loadwatch_backend.texts.words import Texts, Words

JAPANESE = re.compile(r"[぀-ヿ一-鿿]")
PLACEHOLDER = re.compile(r"{[^{}]*}")
NO_WORDS = re.compile(r"[^A-Za-z]*|(p\d+|(HTTP )?\dxx|CPU|TCP|TIME-WAIT|English)|(Aborted_|net\.ipv4\.|SetConn).*")
"""What reads the same in every language: percentiles, names of settings and counters, a language's own name."""


def subjects() -> Iterator[tuple[str, Words]]:
    """Texts of the catalogues, by module and key."""
    for found in iter_modules(loadwatch_backend.texts.__path__):
        module = import_module(f"{loadwatch_backend.texts.__name__}.{found.name}")
        catalogues: list[Any] = [value for value in vars(module).values() if isinstance(value, dict)]
        for catalogue in catalogues:
            yield from ((f"{found.name}.{key}", words) for key, words in catalogue.items() if isinstance(words, Words))


def registries() -> Iterator[tuple[str, Words]]:
    """Texts that stand in what they describe: signals, panels, resources, figures of runs."""
    panels = [panel for group in CATALOGUE.groups for panel in group.panels]
    signals = [signal for panel in panels for signal in panel.signals]
    for entry in (*CATALOGUE.groups, *panels, *signals, *CATALOGUE.resources, *RUN_METRICS):
        yield f"{entry.id}.title", entry.title
    for entry in (*signals, *CATALOGUE.resources, *RUN_METRICS):
        yield f"{entry.id}.help", entry.help


ALL = [*subjects(), *registries()]


def test_there_are_the_subjects() -> None:
    assert {key.partition(".")[0] for key, _ in subjects()} >= {"notify", "report", "timeouts"}


def test_no_text_is_missing_or_in_the_other_language() -> None:
    wrong = [key for key, words in ALL if not words.en or JAPANESE.search(words.en)]
    said = [(key, PLACEHOLDER.sub("", words.ja)) for key, words in ALL]
    untranslated = [key for key, text in said if not JAPANESE.search(text) and not NO_WORDS.fullmatch(text)]
    assert wrong + untranslated == ["runbooks.other_language"]


def test_every_kind_of_receiver_has_its_name() -> None:
    assert all(sender.title.en and sender.title.ja for sender in SENDERS)


def test_all_languages_have_the_same_placeholders() -> None:
    for key, words in ALL:
        english, japanese = (sorted(set(PLACEHOLDER.findall(words.read(language)))) for language in Language)
        assert english == japanese, key


def test_a_text_is_read_in_its_language_with_its_values() -> None:
    catalogue = {
        "more": Words("and {count} more", "ほか {count} 件"),
        "hint": Words("app: {idle: 5s}", "例 app: {idle: 5s}"),
    }
    texts = Texts(catalogue, Language.JA)
    assert texts("more", count=2) == "ほか 2 件"
    assert texts("hint") == "例 app: {idle: 5s}"
    assert texts.known("more", "?", count=3) == "ほか 3 件"
    assert texts.known("of-a-later-version", "?", count=3) == "?"
    with pytest.raises(KeyError):
        texts("of-a-later-version")
