"""hey: its summary on standard output.

With `-o csv` it prints records in place of the summary, which would give figures for each second, but hey leaves every
failed request out of them (requester/print.go); so that is left to the user.
"""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, read_go_duration, read_number
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_WORKERS = 50.0


class Hey:
    """`hey`."""

    name = "hey"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        return find_program(command, ("hey",))

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; `-q` is for each of the `-c` workers, of which there are 50 by default."""
        each = read_number(find_option(arguments, "-q"))
        workers = read_number(find_option(arguments, "-c")) or _WORKERS
        return Target(
            rate=each * workers if each else None,
            duration_seconds=read_go_duration(find_option(arguments, "-z")),
            concurrency=workers,
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: what it prints is copied."""
        own = context.directory / ("result.csv" if find_option(command[at + 1 :], "-o") == "csv" else "result.txt")
        return Plan(command=command, capture=own, result=existing(own), own=True)
