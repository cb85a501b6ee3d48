"""What known functions mean, in the words of a language."""

from collections.abc import Callable

from loadwatch_backend.evidence.profiles.folding.known import known_frame
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.kit.language import Language
from loadwatch_backend.texts.profiles import PROFILES
from loadwatch_backend.texts.words import Texts


def known_words(kind: str, language: Language) -> Callable[[str], str | None]:
    """What a function means in a profile of a kind; None where there is nothing to say."""
    texts = Texts(PROFILES, language)
    meant = Kind(kind) if kind in {str(one) for one in Kind} else Kind.OTHER

    def words(name: str) -> str | None:
        key = known_frame(name, meant)
        return None if key is None else texts(f"frame.{key}")

    return words
