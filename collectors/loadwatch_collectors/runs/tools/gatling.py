"""Gatling by its script, Maven, Gradle or sbt; its log is `<results>/<simulation>/simulation.log`."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, program_name
from loadwatch_collectors.runs.tools.tool import Plan, RunContext, Target

_BUILDS = ("mvn", "mvnw", "gradle", "gradlew", "sbt")
_TASK = re.compile(r"gatling:|gatlingRun|io\.gatling:gatling-maven-plugin|Gatling/test")
_PROPERTY = re.compile(r"-Dgatling\.(?:resultsFolder|core\.directory\.results)=(.+)")
_FOLDERS = ("target/gatling", "build/reports/gatling", "results")
_LOG = "simulation.log"


class Gatling:
    """Gatling, however it is started."""

    name = "gatling"

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool."""
        at = find_program(command, ("gatling",))
        if at is not None:
            return at
        built = program_name(command[0]) in _BUILDS and any(_TASK.search(word) for word in command[1:])
        if built:
            return 0
        return next((index for index, word in enumerate(command) if word == "io.gatling.app.Gatling"), None)

    def target(self, arguments: Sequence[str]) -> Target:  # noqa: ARG002 - the simulation has it, not the arguments
        """See Tool; both are inside the simulation."""
        return Target()

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: nothing is added, the log is looked for where Gatling writes it."""
        arguments = command[at + 1 :]
        given = find_option(arguments, "-rf", "--results-folder") or next(
            (found[1] for word in arguments if (found := _PROPERTY.fullmatch(word))), None
        )
        if given is not None:
            folders = [context.working_directory / given]
        else:
            folders = [context.working_directory / name for name in _FOLDERS]
            home = context.environment.get("GATLING_HOME")
            folders += [Path(home) / "results"] if home else []
            if os.sep in command[at]:
                folders.append((context.working_directory / command[at]).parent.parent / "results")
        return Plan(command=command, result=_newest_log(folders, context.started_s))


def _newest_log(folders: Sequence[Path], since_s: float) -> Callable[[], Path | None]:
    """Finds the youngest log that was written after the start; builds of several modules have folders below."""

    def logs() -> Iterator[tuple[float, Path]]:
        for folder in folders:
            for path in folder.glob(f"*/{_LOG}"):
                try:
                    changed = path.stat()
                except OSError:
                    continue
                if changed.st_mtime >= since_s - 1 and changed.st_size:
                    yield changed.st_mtime, path

    return lambda: max(logs(), default=(0.0, None))[1]
