"""What `loadwatch run` knows of load tools: how their commands are recognised, what makes them leave a result file."""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from loadwatch_formats.durations import parse_go_duration

from loadwatch_collectors.settings import parse_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a tool's plan may use.

    Attributes:
        run: the run's id.
        directory: an existing folder of this run for the tool's files.
        working_directory: where the command runs.
        environment: the environment that the command inherits.
        stdout_is_terminal: whether the command's output goes to a terminal.
        remote_write: where the tool may send samples itself; None while offline.
        token: bearer token for it.
        started_s: when the run began, seconds since the epoch; result files are younger.
    """

    run: str
    directory: Path
    working_directory: Path
    environment: Mapping[str, str]
    stdout_is_terminal: bool
    remote_write: str | None
    token: str | None
    started_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a command is run so that its result can be read.

    Attributes:
        command: the command, perhaps with arguments added; what the user gave is never changed.
        environment: variables to add.
        capture: file that gets a copy of the command's standard output, which is the result (or holds it).
        pass_output: whether the captured output is shown as well.
        result: finds the result file; None while there is none.
        own: the result is a file of ours in the run's folder; otherwise it is the user's and stays where it is.
        companions: further files of the result, which go to the server with it.
        note: what the user should know of what was added.
    """

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    capture: Path | None = None
    pass_output: bool = True
    result: Callable[[], Path | None] = lambda: None
    own: bool = False
    companions: Callable[[], Sequence[Path]] = lambda: ()
    note: str = ""


class Target(NamedTuple):
    """What the arguments ask for; None where they do not say."""

    rate: float | None = None
    duration_seconds: float | None = None
    concurrency: float | None = None
    """Clients that each wait for an answer before they send again; None for a tool that waits for none."""


class Tool:
    name: str
    programs: tuple[str, ...] = ()
    module: str | None = None
    """Its Python module, where it can be started by `python -m`, too."""
    subcommand: str | None = None

    def recognise(self, command: Sequence[str]) -> int | None:
        """Index of the tool's own word in the command, None when it is another tool's command."""
        at = find_program(command, self.programs or (self.name,), module=self.module)
        return at if at is None or self.subcommand is None or self.subcommand in command[at + 1 :] else None

    def target(self, arguments: Sequence[str]) -> Target:  # noqa: ARG002 - some tools' arguments do not say it
        return Target()

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """What to run; `at` is the tool's word in the command."""
        raise NotImplementedError


def existing(path: Path) -> Callable[[], Path | None]:
    """Finds the file once it is there and not empty."""

    def find() -> Path | None:
        try:
            return path if path.stat().st_size else None
        except OSError:
            return None

    return find


_CLOCK_GRAIN_S = 1.0


def fresh(find: Callable[[], Path | None], started_s: float) -> Callable[[], Path | None]:
    """Wrap `find` to ignore a file that was last written before the run, by an earlier one."""

    def find_fresh() -> Path | None:
        path = find()
        try:
            return path if path is not None and path.stat().st_mtime >= started_s - _CLOCK_GRAIN_S else None
        except OSError:
            return None

    return find_fresh


# Reads options out of a tool's arguments, in the styles of Go's flag package and of GNU's getopt.


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


# Gatling by its script, Maven, Gradle or sbt; its log is `<results>/<simulation>/simulation.log`.


_BUILDS = ("mvn", "mvnw", "gradle", "gradlew", "sbt")
_TASK = re.compile(r"gatling:|gatlingRun|io\.gatling:gatling-maven-plugin|Gatling/test")
_PROPERTY = re.compile(r"-Dgatling\.(?:resultsFolder|core\.directory\.results)=(.+)")
_FOLDERS = ("target/gatling", "build/reports/gatling", "results")
_LOG = "simulation.log"


class Gatling(Tool):
    """Gatling, however it is started; what it asks for is inside the simulation."""

    name = "gatling"

    def recognise(self, command: Sequence[str]) -> int | None:
        at = super().recognise(command)
        if at is not None:
            return at
        if program_name(command[0]) in _BUILDS and any(_TASK.search(word) for word in command[1:]):
            return 0
        return next((index for index, word in enumerate(command) if word == "io.gatling.app.Gatling"), None)

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


# hey: its summary on standard output.
#
# With `-o csv` it prints records in place of the summary, which would give figures for each second, but hey leaves
# every failed request out of them (requester/print.go); so that is left to the user.


_HEY_WORKERS = 50.0


class Hey(Tool):
    name = "hey"

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; `-q` is for each of the `-c` workers, of which there are 50 by default."""
        each = read_number(find_option(arguments, "-q"))
        workers = read_number(find_option(arguments, "-c")) or _HEY_WORKERS
        return Target(
            rate=each * workers if each else None,
            duration_seconds=read_go_duration(find_option(arguments, "-z")),
            concurrency=workers,
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: what it prints is copied."""
        own = context.directory / ("result.csv" if find_option(command[at + 1 :], "-o") == "csv" else "result.txt")
        return Plan(command=command, capture=own, result=existing(own), own=True)


# JMeter without its window: `-n`, with `-l FILE` for the JTL.


class JMeter(Tool):
    name = "jmeter"
    programs = ("jmeter", "jmeter-n", "ApacheJMeter")

    def recognise(self, command: Sequence[str]) -> int | None:
        """See Tool; also `java -jar ApacheJMeter.jar`."""
        at = super().recognise(command)
        if at is not None:
            return at
        return next((index for index, word in enumerate(command) if word.endswith("ApacheJMeter.jar")), None)

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; rate and time are inside the test plan, and so are threads unless a property is their number."""
        return Target(concurrency=read_number(find_option(arguments, "-Jthreads", "-Jusers")))

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: `-l` is added where there is none."""
        arguments = command[at + 1 :]
        given = find_option(arguments, "-l", "--logfile")
        if given is not None:
            return Plan(command=command, result=existing(context.working_directory / given))
        if not has_option(arguments, "-n", "--nongui"):
            return Plan(command=command, note="jmeter runs with its window; with -n its results can be read")
        own = context.directory / "result.jtl"
        return Plan(command=[*command, "-l", str(own)], result=existing(own), own=True)


# k6: points as JSON lines into a file, and the tool's own remote write for its `k6_*` series.


_REMOTE_WRITE = "experimental-prometheus-rw"
_TREND_STATS = "p(50),p(90),p(95),p(99),min,max,avg"


class K6(Tool):
    name = "k6"
    subcommand = "run"

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; virtual users are no rate, and those of a script are in its result."""
        return Target(
            duration_seconds=read_go_duration(find_option(arguments, "--duration", "-d")),
            concurrency=read_number(find_option(arguments, "--vus", "-u")),
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: outputs that the user gave stay; ours come beside them."""
        arguments = command[at + 1 :]
        own_outputs = _values(arguments, "--out", "-o")
        outputs = own_outputs or [name for name in context.environment.get("K6_OUT", "").split(",") if name]
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
        if added and not own_outputs:
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


def _values(arguments: Sequence[str], *names: str) -> list[str]:
    found: list[str] = []
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if argument in names and index + 1 < len(arguments):
            found.append(arguments[index + 1])
        elif name in names and equals:
            found.append(value)
    return found


# Locust: `--csv PREFIX --csv-full-history` leaves `<prefix>_stats_history.csv`, one row a second, and the totals.
#
# The HTML report has the totals of the very end; Locust writes no CSV file after its last second.


_COMPANIONS = ("stats", "failures", "exceptions")


class Locust(Tool):
    name = module = "locust"

    def target(self, arguments: Sequence[str]) -> Target:
        text = find_option(arguments, "-t", "--run-time", attached=True)
        number = read_number(text)
        if number is None and text:
            with suppress(ValueError):
                number = parse_duration(text)
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


# oha: `--output-format json -o FILE` leaves its summary as JSON, failures included; its CSV has successes only.


_OHA_CONNECTIONS = 50.0


class Oha(Tool):
    name = "oha"

    def target(self, arguments: Sequence[str]) -> Target:
        return Target(
            rate=read_number(find_option(arguments, "-q", attached=True)) or None,
            duration_seconds=read_go_duration(find_option(arguments, "-z", attached=True)),
            concurrency=read_number(find_option(arguments, "-c", attached=True)) or _OHA_CONNECTIONS,
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """See Tool: what the user set stays; without any, the JSON goes to our file."""
        arguments = command[at + 1 :]
        form = find_option(arguments, "--output-format") or ("json" if has_option(arguments, "-j", "--json") else None)
        given = find_option(arguments, "-o", "--output")
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


# vegeta: `attack` writes its result stream to standard output or to `-output`.


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


class Vegeta(Tool):
    name = "vegeta"
    subcommand = "attack"

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; without `-rate` vegeta sends 50 a second."""
        text = find_option(arguments, "-rate", "--rate")
        return Target(
            rate=_DEFAULT_RATE if text is None else read_rate(text),
            duration_seconds=read_go_duration(find_option(arguments, "-duration", "--duration")),
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


class VegetaShell(Tool):
    """`sh -c "vegeta attack … | …"`: only a file that the script itself writes can be read."""

    name = "vegeta"

    def recognise(self, command: Sequence[str]) -> int | None:
        script = _script(command)
        return 0 if script is not None and re.search(r"\bvegeta\b[^|;&\n]*\battack\b", script) else None

    def target(self, arguments: Sequence[str]) -> Target:
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
    if len(command) >= 3 and program_name(command[0]) in ("sh", "bash", "dash", "zsh", "ksh"):
        for index, word in enumerate(command[1:-1], start=1):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word):
                return command[index + 1]
    return None


def _attack_words(command: Sequence[str]) -> list[str]:
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


# wrk and wrk2: a text on standard output.


_WRK_CONNECTIONS = 10.0


class Wrk(Tool):
    name = "wrk"
    programs = ("wrk", "wrk2")

    def target(self, arguments: Sequence[str]) -> Target:
        """See Tool; `-R` is wrk2's. A duration without a unit is in seconds; 10 s by default."""
        text = find_option(arguments, "-d", "--duration", attached=True)
        return Target(
            rate=read_number(find_option(arguments, "-R", "--rate", attached=True)),
            concurrency=read_number(find_option(arguments, "-c", "--connections", attached=True)) or _WRK_CONNECTIONS,
            duration_seconds=10.0 if text is None else read_number(text) or read_go_duration(text),
        )

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:  # noqa: ARG002 - as Tool says
        own = context.directory / "result.txt"
        return Plan(command=command, capture=own, result=existing(own), own=True)


# All load tools that `loadwatch run` knows, in the order in which they are tried.


_CLIENTS = {"ab": ("-c",), "siege": ("-c", "--concurrent"), "measuring-load": ("-clients", "--clients")}
"""Of tools whose result is not read: the options that tell how many clients wait for answers."""

TOOLS: Sequence[Tool] = (Vegeta(), VegetaShell(), K6(), Locust(), Gatling(), JMeter(), Hey(), Oha(), Wrk())


def recognise(command: Sequence[str]) -> tuple[Tool, int] | None:
    for tool in TOOLS:
        at = tool.recognise(command)
        if at is not None:
            return tool, at
    return None


def read_target(command: Sequence[str]) -> Target:
    found = recognise(command)
    if found is not None:
        return found[0].target(command[found[1] + 1 :])
    at = find_program(command, tuple(_CLIENTS))
    if at is None:
        return Target()
    return Target(concurrency=read_number(find_option(command[at + 1 :], *_CLIENTS[program_name(command[at])])))
