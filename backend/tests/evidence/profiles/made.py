"""Profiles for tests, as a program would write them."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from loadwatch_backend.evidence.profiles.model import Profile
from loadwatch_backend.evidence.profiles.reading.pprof_pb2 import Profile as Message
from loadwatch_backend.evidence.profiles.reading.read import read_profile

FIXTURES = Path(__file__).parent / "fixtures"
GO = FIXTURES / "go"
PY_SPY = FIXTURES / "py-spy"
KINDS = ("00-cpu", "01-heap", "02-allocs", "03-mutex", "04-block", "05-goroutine")


def message(stacks: Sequence[tuple[str, Sequence[int]]], types: Sequence[str] = ("cpu/nanoseconds",)) -> Message:
    """Stacks as `leaf;caller;root`, each with its values; a location for each function, numbered from 1."""
    made = Message()
    texts: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    for one in types:
        name, unit = one.split("/")
        made.sample_type.add(type=text(name), unit=text(unit))
    functions: dict[str, int] = {}
    for stack, values in stacks:
        places: list[int] = []
        for name in filter(None, stack.split(";")):
            if name not in functions:
                functions[name] = number = len(functions) + 1
                made.function.add(id=number, name=text(name), filename=text(f"{name}.go"))
                made.location.add(id=number, address=number * 16).line.add(function_id=number, line=number)
            places.append(functions[name])
        made.sample.add(location_id=places, value=values)
    made.string_table.extend(one.encode() for one in texts)
    return made


def encoded(made: Message) -> bytes:
    """As it is on disk."""
    return gzip.compress(made.SerializeToString())


def profile(stacks: Sequence[tuple[str, Sequence[int]]], types: Sequence[str] = ("cpu/nanoseconds",)) -> Profile:
    """The profile of such stacks."""
    return read_profile(encoded(message(stacks, types)))


def go(name: str) -> Profile:
    """One of the real ones: `00-cpu-now`."""
    return read_profile((GO / f"{name}.pb.gz").read_bytes())
