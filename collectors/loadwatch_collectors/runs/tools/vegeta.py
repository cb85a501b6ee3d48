"""vegeta: `attack` writes its result stream to standard output or to `-output`."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from loadwatch_collectors.runs.tools.arguments import (
    find_option,
    find_program,
    program_name,
    read_go_duration,
    read_number,
)
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_RATE = re.compile(r"(\d+)(?:/([\d.]*[a-zµμ]+))?")
_DEFAULT_RATE = 50.0
_STANDARD = ("", "-", "stdout", "/dev/stdout")


def read_rate(text: str) -> float | None:
    """Requests per second of `50`, `50/s`, `100/1m`; None for `0` and `infinity`, which mean as fast as it goes."""
    found = _RATE.fullmatch(text)
    if found is None or not int(found[1]):
        return None
    unit = found[2] or "1s"
    seconds = read_go_duration(unit if unit[0].isdigit() or unit[0] == "." else "1" + unit)
    return int(found[1]) / seconds if seconds else None


class Vegeta:
    """`vegeta attack`."""

    name = "vegeta"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        at = find_program(command, ("vegeta",))
        return at if at is not None and "attack" in command[at:] else None

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; without `-rate` vegeta sends 50 a second."""
        text = find_option(arguments, "-rate", "--rate")
        duration = read_go_duration(find_option(arguments, "-duration", "--duration"))
        return Target(
            rate=_DEFAULT_RATE if text is None else read_rate(text),
            duration_seconds=duration,
            concurrency=read_number(find_option(arguments, "-max-workers", "--max-workers")),
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: standard output is copied, unless it is a terminal, which has no use for it."""
        output = find_option(command[at + 1 :], "-output", "--output")
        if output is not None and output not in _STANDARD:
            return Plan(command=command, result=existing(context.working_directory / output))
        own = context.directory / "result.gob"
        if context.stdout_is_terminal and output is None:
            where = command.index("attack", at) + 1
            return Plan(command=[*command[:where], f"-output={own}", *command[where:]], result=existing(own), own=True)
        return Plan(command=command, capture=own, result=existing(own), own=True)


class VegetaShell:
    """`sh -c "vegeta attack … | …"`: only a file that the script itself writes can be read."""

    name = "vegeta"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        script = _script(command)
        return 0 if script is not None and re.search(r"\bvegeta\b[^|;&\n]*\battack\b", script) else None

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool."""
        return Vegeta().target(_attack_words(["sh", *arguments]))

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:  # noqa: ARG002 - as Tool says
        """See Tool: `-output FILE`, `| tee FILE` or `> FILE` right behind the attack tell where the stream goes."""
        words = _attack_words(command)
        found = find_option(words, "-output", "--output") or _file_behind(words)
        if found is None or found in _STANDARD or "$" in found:
            note = "it is not plain where the script keeps vegeta's stream; name the file with --result"
            return Plan(command=command, note=note)
        return Plan(command=command, result=existing(Path(context.working_directory / found)))


def _script(command: Sequence[str]) -> str | None:
    """The text behind `sh -c`."""
    if len(command) >= 3 and program_name(command[0]) in ("sh", "bash", "dash", "zsh", "ksh"):
        for index, word in enumerate(command[1:-1], start=1):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word):
                return command[index + 1]
    return None


def _attack_words(command: Sequence[str]) -> list[str]:
    """Words of the script from `attack` on."""
    lexer = shlex.shlex(_script(command) or "", posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return []
    return words[words.index("attack") + 1 :] if "attack" in words else []


def _file_behind(words: Sequence[str]) -> str | None:
    for index, word in enumerate(words[:-1]):
        if word in (">", ">>"):
            return words[index + 1]
        if word == "|":
            behind = words[index + 1 :]
            if behind[0] != "tee":
                return None
            return next((name for name in behind[1:] if not name.startswith("-")), None)
        if word in (";", "&&", "||", "&"):
            return None
    return None
