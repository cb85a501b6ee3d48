"""JMeter without its window: `-n`, with `-l FILE` for the JTL."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, has_option, read_number
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing


class JMeter:
    """`jmeter -n`."""

    name = "jmeter"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        at = find_program(command, ("jmeter", "jmeter-n", "ApacheJMeter"))
        return at if at is not None else _jar(command)

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; rate and time are inside the test plan, and so are threads unless a property is their number."""
        return Target(concurrency=read_number(find_option(arguments, "-Jthreads", "-Jusers")))

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: `-l` is added where there is none."""
        arguments = command[at + 1 :]
        given = find_option(arguments, "-l", "--logfile", attached=False)
        if given is not None:
            return Plan(command=command, result=existing(context.working_directory / given))
        if not has_option(arguments, "-n", "--nongui"):
            return Plan(command=command, note="jmeter runs with its window; with -n its results can be read")
        own = context.directory / "result.jtl"
        return Plan(command=[*command, "-l", str(own)], result=existing(own), own=True)


def _jar(command: Sequence[str]) -> int | None:
    """`java -jar ApacheJMeter.jar`."""
    return next((index for index, word in enumerate(command) if word.endswith("ApacheJMeter.jar")), None)
