"""wrk and wrk2: a text on standard output."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, read_go_duration, read_number
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_CONNECTIONS = 10.0


class Wrk:
    """`wrk`, and `wrk2`, which has a rate."""

    name = "wrk"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        return find_program(command, ("wrk", "wrk2"))

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; `-R` is wrk2's. A duration without a unit is in seconds; 10 s by default."""
        text = find_option(arguments, "-d", "--duration", attached=True)
        return Target(
            rate=read_number(find_option(arguments, "-R", "--rate", attached=True)),
            concurrency=read_number(find_option(arguments, "-c", "--connections", attached=True)) or _CONNECTIONS,
            duration_seconds=10.0 if text is None else read_number(text) or read_go_duration(text),
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:  # noqa: ARG002 - as Tool says
        """See Tool: the text is copied."""
        own = context.directory / "result.txt"
        return Plan(command=command, capture=own, result=existing(own), own=True)
