"""Reads options out of a tool's arguments, in the styles of Go's flag package and of GNU's getopt."""

import re
from collections.abc import Sequence

from loadwatch_formats.durations import parse_go_duration


def find_option(arguments: Sequence[str], *names: str, attached: bool = False) -> str | None:
    """The last value of an option: `-n V`, `-n=V`, with one dash or two as named; None when it is not there.

    With `attached`, also `-nV` for names of one letter. What follows a lone `--` is no option.
    """
    found: str | None = None
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            break
        name, equals, value = argument.partition("=")
        if name in names and equals:
            found = value
        elif argument in names:
            index += 1
            found = arguments[index] if index < len(arguments) else None
        elif attached:
            for short in names:
                if len(short) == 2 and argument.startswith(short) and not argument.startswith("--"):
                    found = argument[2:]
        index += 1
    return found


def has_option(arguments: Sequence[str], *names: str) -> bool:
    """Whether an option is given, with or without a value."""
    return any(argument.partition("=")[0] in names for argument in arguments)


def read_go_duration(text: str | None) -> float | None:
    """Seconds of Go's `1h2m3.5s`; None for what is not one, and for 0, by which tools mean no end."""
    try:
        seconds = parse_go_duration(text or "0")
    except ValueError:
        return None
    return seconds if seconds > 0 else None


def read_number(text: str | None) -> float | None:
    """A number of zero or more; None for what is not one."""
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < float("inf") else None


def program_name(word: str) -> str:
    """The file's name without folders and the usual endings of scripts."""
    name = word.replace("\\", "/").rpartition("/")[2]
    for ending in (".exe", ".sh", ".bat", ".cmd"):
        name = name.removesuffix(ending)
    return name


_WRAPPERS = frozenset({"npx", "env", "time", "nice", "taskset", "nohup", "sudo", "exec", "stdbuf", "uv", "uvx", "run"})
_WRAPPERS_LEFT = 12


def find_program(command: Sequence[str], names: Sequence[str], *, module: str | None = None) -> int | None:
    """Index of the word that is one of the programs, directly or behind `npx`, `env`, `python -m` and the like."""
    first = program_name(command[0])
    if first in names:
        return 0
    if module is not None and re.fullmatch(r"(python|pypy)[\d.]*", first):
        for index in range(1, len(command) - 1):
            if command[index] == "-m" and command[index + 1] == module:
                return index + 1
    if first not in _WRAPPERS:
        return None
    for index, word in enumerate(command[1:_WRAPPERS_LEFT], start=1):
        if program_name(word) in names:
            return index
        if module is not None and word == "-m" and command[index + 1 : index + 2] == [module]:
            return index + 1
    return None
