"""Inputs made from others, the same for the same seed."""

import re
from collections.abc import Callable, Sequence
from random import Random

Bytes = bytes | str

_EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBERS = (b"0", b"-1", b"1e999", b"NaN", b"9" * 30, b"9" * 5_000, b"0x", b"1e-9", b"18446744073709551616", b"-0")
_MOST_KEPT = 200


class Mutator:
    """Makes one input after another; what was new to the parser is kept and goes on from there."""

    def __init__(
        self,
        seed: int,
        corpus: Sequence[bytes],
        words: Sequence[Bytes],
        longest: int,
        generate: Callable[[Random], bytes] | None,
    ) -> None:
        self._random = Random(seed)
        self._corpus = [one[:longest] for one in corpus] or [b""]
        self._words = [word.encode() if isinstance(word, str) else word for word in words]
        self._longest = longest
        self._generate = generate
        self._fresh = list(self._corpus)
        self._first = len(self._corpus)

    def next(self) -> bytes:
        """The next input; the corpus itself comes first."""
        if self._fresh:
            return self._fresh.pop()
        random = self._random
        if self._generate is not None and random.random() < 0.3:
            data = self._generate(random)
        elif self._words and random.random() < 0.2:
            data = b"".join(random.choices(self._words, k=random.randrange(1, 200)))
        else:
            data = random.choice(self._corpus)
        for _ in range(random.choice((0, 1, 1, 1, 2, 3, 8))):
            data = random.choice(_MUTATIONS)(self, data)
        return data[: self._longest]

    def keep(self, data: bytes) -> None:
        """Go on from this input too."""
        if len(self._corpus) < self._first + _MOST_KEPT:
            self._corpus.append(data)
        else:
            self._corpus[self._random.randrange(self._first, len(self._corpus))] = data

    def _at(self, data: bytes) -> int:
        return self._random.randrange(len(data) + 1)

    def _piece(self, data: bytes) -> bytes:
        start = self._at(data)
        return data[start : start + self._random.choice((1, 4, 16, 64, 1024))]

    def flip(self, data: bytes) -> bytes:
        """Some bits."""
        changed = bytearray(data)
        for _ in range(self._random.choice((1, 1, 4, 16)) if data else 0):
            changed[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def edge(self, data: bytes) -> bytes:
        """A number at the edge of its type."""
        size = self._random.choice((1, 2, 4, 8))
        value = (self._random.choice(_EDGES) & ((1 << 8 * size) - 1)).to_bytes(
            size, self._random.choice(("big", "little"))
        )
        at = self._at(data)
        return data[:at] + value + data[at + size :]

    def remove(self, data: bytes) -> bytes:
        """A piece less."""
        at = self._at(data)
        return data[:at] + data[at + len(self._piece(data)) :]

    def repeat(self, data: bytes) -> bytes:
        """A piece again and again."""
        piece, at = self._piece(data), self._at(data)
        return data[:at] + piece * self._random.choice((1, 2, 10, 100, 5_000)) + data[at:]

    def cut(self, data: bytes) -> bytes:
        """The beginning."""
        return data[: self._at(data)]

    def splice(self, data: bytes) -> bytes:
        """The beginning of one and the end of another."""
        other = self._random.choice(self._corpus)
        return data[: self._at(data)] + other[self._at(other) :]

    def insert(self, data: bytes) -> bytes:
        """A word of the format, or bytes by chance."""
        random, at = self._random, self._at(data)
        word = random.choice(self._words) if self._words and random.random() < 0.8 else random.randbytes(4)
        return data[:at] + word * random.choice((1, 1, 1, 2, 50, 3_000)) + data[at:]

    def number(self, data: bytes) -> bytes:
        """Another number in a text."""
        found = list(_NUMBER.finditer(data, 0, 4_096))
        if not found:
            return data
        place = self._random.choice(found)
        return data[: place.start()] + self._random.choice(_NUMBERS) + data[place.end() :]


_MUTATIONS: tuple[Callable[[Mutator, bytes], bytes], ...] = (
    Mutator.flip,
    Mutator.flip,
    Mutator.edge,
    Mutator.remove,
    Mutator.repeat,
    Mutator.cut,
    Mutator.splice,
    Mutator.insert,
    Mutator.insert,
    Mutator.number,
)
