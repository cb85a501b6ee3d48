"""k6: points as JSON lines into a file, and the tool's own remote write for its `k6_*` series."""

from collections.abc import Sequence
from pathlib import Path

from loadwatch_collectors.runs.tools.arguments import (
    find_option,
    find_program,
    has_option,
    read_go_duration,
    read_number,
)
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target, existing

_OUT = ("--out", "-o")
_REMOTE_WRITE = "experimental-prometheus-rw"
_TREND_STATS = "p(50),p(90),p(95),p(99),min,max,avg"


class K6:
    """`k6 run`."""

    name = "k6"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        at = find_program(command, ("k6",))
        return at if at is not None and "run" in command[at + 1 :] else None

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; virtual users are no rate, and those of a script are in its result."""
        return Target(
            duration_seconds=read_go_duration(find_option(arguments, "--duration", "-d")),
            concurrency=read_number(find_option(arguments, "--vus", "-u")),
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: outputs that the user gave stay; ours come beside them."""
        arguments = command[at + 1 :]
        outputs = _outputs(arguments) or [name for name in context.environment.get("K6_OUT", "").split(",") if name]
        where = at + 1 + list(arguments).index("run") + 1
        added: list[str] = []
        own = context.directory / "result.json.gz"
        files = [name.partition("=")[2] for name in outputs if name.partition("=")[0] in ("json", "csv")]
        given = next((name for name in files if name), None)
        if given is None:
            added += ["--out", f"json={own}"]
        environment: dict[str, str] = {}
        if context.remote_write is not None and _REMOTE_WRITE not in outputs:
            added += ["--out", _REMOTE_WRITE]
            environment = _remote_write(context)
        if added and not _outputs(arguments):
            # k6 takes no notice of K6_OUT once --out is given.
            added += [word for name in outputs for word in ("--out", name)]
        if not any(tag.startswith("run=") for tag in _values(arguments, "--tag")):
            added += ["--tag", f"run={context.run}"]
        path = own if given is None else Path(context.working_directory / given)
        return Plan(
            command=[*command[:where], *added, *command[where:]],
            environment=environment,
            result=existing(path),
            own=given is None,
        )


def _remote_write(context: RunContext) -> dict[str, str]:
    """Variables of k6's remote write, without those that the user has set."""
    wanted = {
        "K6_PROMETHEUS_RW_SERVER_URL": context.remote_write or "",
        "K6_PROMETHEUS_RW_TREND_STATS": _TREND_STATS,
        "K6_PROMETHEUS_RW_STALE_MARKERS": "true",
        "K6_PROMETHEUS_RW_PUSH_INTERVAL": "1s",
        **({"K6_PROMETHEUS_RW_BEARER_TOKEN": context.token} if context.token else {}),
    }
    if "K6_PROMETHEUS_RW_SERVER_URL" in context.environment:
        return {}
    return {name: value for name, value in wanted.items() if name not in context.environment}


def _outputs(arguments: Sequence[str]) -> list[str]:
    return _values(arguments, *_OUT)


def _values(arguments: Sequence[str], *names: str) -> list[str]:
    """All values of an option that may be given several times."""
    found: list[str] = []
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if argument in names and index + 1 < len(arguments):
            found.append(arguments[index + 1])
        elif name in names and equals and has_option([argument], *names):
            found.append(value)
    return found
