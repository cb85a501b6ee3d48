"""Locust: `--csv PREFIX --csv-full-history` leaves `<prefix>_stats_history.csv`, one row a second, and the totals.

The HTML report has the totals of the very end; Locust writes no CSV file after its last second.
"""

from collections.abc import Sequence

from loadwatch_collectors.runs.results import fresh
from loadwatch_collectors.runs.tools.arguments import find_option, find_program, has_option, read_number
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing
from loadwatch_collectors.settings import parse_duration

_COMPANIONS = ("stats", "failures", "exceptions")


class Locust:
    """`locust`, also as `python -m locust`."""

    name = "locust"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        return find_program(command, ("locust",), module="locust")

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; users are no rate."""
        text = find_option(arguments, "-t", "--run-time", attached=True)
        number = read_number(text)
        if number is None and text:
            try:
                number = parse_duration(text)
            except ValueError:
                number = None
        users = read_number(find_option(arguments, "-u", "--users", attached=True))
        return Target(duration_seconds=number, concurrency=users)

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: a prefix that the user gave stays."""
        arguments = command[at + 1 :]
        given = find_option(arguments, "--csv") or context.environment.get("LOCUST_CSV")
        added: list[str] = []
        prefix = str(context.directory / "locust") if given is None else given
        if given is None:
            added += ["--csv", prefix]
        if not has_option(arguments, "--csv-full-history") and "LOCUST_CSV_FULL_HISTORY" not in context.environment:
            added.append("--csv-full-history")
        page = find_option(arguments, "--html") or context.environment.get("LOCUST_HTML")
        environment: dict[str, str] = {}
        if page is None:
            # By the environment: a version that does not know it takes no notice, where an option would end it.
            page = str(context.directory / "locust.html")
            environment["LOCUST_HTML"] = page
        report = fresh(existing(context.working_directory / page), context.started_s)
        history = context.working_directory / f"{prefix}_stats_history.csv"
        others = [context.working_directory / f"{prefix}_{name}.csv" for name in _COMPANIONS]
        return Plan(
            command=[*command, *added],
            result=existing(history),
            own=given is None,
            environment=environment,
            companions=lambda: [path for path in [*others, report()] if path is not None and path.is_file()],
        )
