"""What is fuzzed: an entry point of the product and what it may make of bytes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.fuzz.mutate import Bytes

STALL_SECONDS = 5.0
Run = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One parser.

    Attributes:
        name: as in reports.
        open: in the child, makes what the parser needs and gives a function that feeds it with bytes.
        expected: what the product itself turns into an answer; anything else is a fault.
        corpus: real inputs that are mutated.
        words: what the format is made of; put in by chance.
        generate: a whole input by chance.
        longest: bytes of one input; the product's own limit where it has one.
        memory: bytes that the child may grow by.
        stall: seconds of processor time that one input may take.
    """

    name: str
    open: Callable[[], Run]
    expected: tuple[type[Exception], ...]
    corpus: Callable[[], Sequence[bytes]]
    words: Sequence[Bytes] = ()
    generate: Callable[[Random], bytes] | None = None
    longest: int = 64 * 1024
    memory: int = 512 << 20
    stall: float = STALL_SECONDS
