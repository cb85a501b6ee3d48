"""oha: `--output-format json -o FILE` leaves its summary as JSON, failures included; its CSV has successes only."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import (
    find_option,
    find_program,
    has_option,
    read_go_duration,
    read_number,
)
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_CONNECTIONS = 50.0
_FORMAT = ("--output-format",)
_FILE = ("-o", "--output")


class Oha:
    """`oha`."""

    name = "oha"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        return find_program(command, ("oha",))

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool."""
        return Target(
            rate=read_number(find_option(arguments, "-q", attached=True)) or None,
            duration_seconds=read_go_duration(find_option(arguments, "-z", attached=True)),
            concurrency=read_number(find_option(arguments, "-c", attached=True)) or _CONNECTIONS,
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: what the user set stays; without any, the JSON goes to our file."""
        arguments = command[at + 1 :]
        form = find_option(arguments, *_FORMAT) or ("json" if has_option(arguments, "-j", "--json") else None)
        given = find_option(arguments, *_FILE)
        if given is not None:
            return Plan(command=command, result=existing(context.working_directory / given))
        own = context.directory / f"result.{form or 'json'}"
        if form is not None:
            return Plan(command=command, capture=own, result=existing(own), own=True)
        # Before the address: oha takes what follows it for options, too, but a wrapper may not.
        added = ["--output-format", "json", "-o", str(own)]
        return Plan(
            command=[*command[: at + 1], *added, *command[at + 1 :]],
            result=existing(own),
            own=True,
            note="oha writes either its summary or JSON: the JSON is taken (--untouched leaves the summary)",
        )
