"""hey: prints either its summary or, with `-o csv`, its records; without records there is nothing to compute from."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, read_go_duration, read_number
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_WORKERS = 50


class Hey:
    """`hey`."""

    name = "hey"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        return find_program(command, ("hey",))

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; `-q` is for each of the `-c` workers, of which there are 50 by default."""
        each = read_number(find_option(arguments, "-q"))
        workers = read_number(find_option(arguments, "-c"))
        rate = each * (_WORKERS if workers is None else workers) if each else None
        return Target(rate=rate, duration_seconds=read_go_duration(find_option(arguments, "-z")))

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: `-o csv` is added, and its lines go to the file in place of the terminal."""
        own = context.directory / "result.csv"
        given = find_option(command[at + 1 :], "-o")
        if given is not None:
            return Plan(command=command, capture=own, result=existing(own), own=True)
        return Plan(
            command=[*command[: at + 1], "-o", "csv", *command[at + 1 :]],
            capture=own,
            pass_output=False,
            result=existing(own),
            own=True,
            note="hey prints either its summary or its records: the records are taken (--untouched leaves the summary)",
        )
