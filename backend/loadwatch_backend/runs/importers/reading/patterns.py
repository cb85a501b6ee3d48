"""Regular expressions for what strangers wrote: RE2, whose time is linear in the text whatever stands in it.

Python's own `re` backtracks: of a few hundred kilobytes of the right letters it makes minutes, and nothing ends it.
"""

from typing import Any

import re2


class Linear:
    """A compiled expression of ours in RE2's syntax: no look-around, and flags inside of it, such as `(?im)`.

    The methods are those of `re.Pattern`, and what they give is of its types.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern: Any = re2.compile(pattern)

    def search(self, text: str) -> Any:
        return self._pattern.search(_valid(text))

    def match(self, text: str) -> Any:
        return self._pattern.match(_valid(text))

    def fullmatch(self, text: str) -> Any:
        return self._pattern.fullmatch(_valid(text))

    def findall(self, text: str) -> list[Any]:
        return self._pattern.findall(_valid(text))

    def sub(self, replacement: str, text: str) -> str:
        """The text with all matches replaced; the replacement is ASCII."""
        return self._pattern.sub(replacement, _valid(text))


def _valid(text: str) -> str:
    """RE2 reads UTF-8, which has no lone surrogates; Java's texts and escapes in JSON may bring some."""
    return text if text.isascii() else text.encode(errors="replace").decode()
