"""What known functions mean, in the words of a language."""

from collections.abc import Callable

from loadwatch_backend.evidence.profiles.folding.known import known_frame
from loadwatch_backend.evidence.profiles.model import Kind
from loadwatch_backend.kit.language import Language
from loadwatch_backend.texts.profiles import PROFILES
from loadwatch_backend.texts.words import Texts


def known_words(kind: str, language: Language) -> Callable[[str, Callable[[], str | None]], str | None]:
    """What a function means in a profile of a kind, and below whom it lies; None where there is nothing to say.

    The second argument finds the application's own function that it lies below, and is only asked where it is said.
    """
    texts = Texts(PROFILES, language)
    meant = Kind(kind) if kind in {str(one) for one in Kind} else Kind.OTHER

    def words(name: str, find_caller: Callable[[], str | None]) -> str | None:
        key = known_frame(name, meant)
        if key is None:
            return None
        meaning, caller = texts(f"frame.{key}"), find_caller()
        return texts("below", meaning=meaning, function=caller) if caller else meaning

    return words
