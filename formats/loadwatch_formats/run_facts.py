"""What can be said of a run, each field once.

Options of the command line, the query of an import, documents of the API, rows, archives and the page's form come from
these fields. One is kept in the column of its name where the table of runs has such, else in the run's document.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, get_args

from loadwatch_formats import own_figures

LINE_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What others need to know of a field: its metadata.

    `longest` bounds the characters of a text or of each of several, `most` how many there are. A field with an `option`
    is one of `loadwatch run` and `loadwatch import`, and of the query of an import, there as `query` or by its name. A
    `listed` field stands in the lines of lists and needs a column. All but the load tool's command can be `patched`;
    a `typed` one is typed and read on the page. A field that is listed or typed has a label in the page's texts. Lists
    tell the values in use of those with a `facet`, by that name, and are filtered by the texts among these.
    """

    name: str
    type: object
    make: Callable[[], Any]
    description: str = ""
    examples: tuple[str, ...] = ()
    longest: int | None = LINE_LENGTH
    most: int = 100
    option: str = ""
    help: str = ""
    metavar: str | None = None
    query: str = ""
    listed: bool = False
    patched: bool = True
    typed: bool = False
    facet: str = ""

    @property
    def nullable(self) -> bool:
        return NoneType in get_args(self.type)

    @property
    def several(self) -> bool:
        """Whether it is a list, or pairs."""
        return not self.nullable and self.type is not str


@dataclass(frozen=True, kw_only=True)
class Link:
    url: str
    title: str = ""


# Defaults come from factories only: one on the class would be found by documents of the API that require the field.


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    name: str = field(
        default_factory=str,
        metadata={"option": "--name", "help": "What the run is called.", "listed": True, "typed": True},
    )
    scenario: str = field(
        default_factory=str,
        metadata={
            "description": "Runs of one scenario and version are compared with each other.",
            "option": "--scenario",
            "help": "What is tested; runs of one scenario are compared with each other.",
            "listed": True,
            "typed": True,
            "facet": "scenarios",
        },
    )
    scenario_version: str = field(
        default_factory=str,
        metadata={
            "option": "--scenario-version",
            "help": "Runs of another version are not repeats.",
            "listed": True,
            "typed": True,
        },
    )
    tool: str = field(default_factory=str, metadata={"listed": True, "facet": "tools"})
    target_rate: float | None = field(
        default_factory=NoneType,
        metadata={
            "description": "Requests per second asked for.",
            "option": "--rate",
            "help": "Requests per second asked for. `run` reads it from the arguments.",
            "listed": True,
            "typed": True,
        },
    )
    concurrency: float | None = field(
        default_factory=NoneType,
        metadata={
            "description": "Clients that each wait for an answer before they send again: connections, users, workers.",
            "option": "--concurrency",
            "help": "Clients that wait for answers at the same time. `run` reads it from the arguments.",
        },
    )
    target_duration_seconds: float | None = field(default_factory=NoneType)
    commit: str = field(
        default_factory=str,
        metadata={
            "option": "--commit",
            "help": "Commit under test. Default of `run`: that of the working directory.",
            "listed": True,
            "typed": True,
        },
    )
    branch: str = field(
        default_factory=str,
        metadata={
            "option": "--branch",
            "help": "Branch under test. Default of `run`: that of the working directory.",
            "listed": True,
            "typed": True,
            "facet": "branches",
        },
    )
    dirty: bool | None = field(
        default_factory=NoneType,
        metadata={"description": "Whether the tree had changes that are in no commit.", "listed": True},
    )
    tags: list[str] = field(
        default_factory=list[str],
        metadata={
            "longest": 50,
            "most": 20,
            "option": "--tag",
            "help": "May be given several times.",
            "query": "tag",
            "listed": True,
            "typed": True,
            "facet": "tags",
        },
    )
    parameters: dict[str, str] = field(
        default_factory=dict[str, str],
        metadata={
            "description": "Numeric ones can be swept.",
            "option": "--param",
            "help": "Parameter; numeric ones can be swept.",
            "metavar": "KEY=VALUE",
            "query": "parameter",
            "listed": True,
            "facet": "parameters",
        },
    )
    links: list[Link] = field(default_factory=list[Link], metadata={"most": 20, "typed": True})
    author: str = field(
        default_factory=str, metadata={"description": "Who ran it.", "listed": True, "typed": True, "facet": "authors"}
    )
    host: str = field(default_factory=str, metadata={"description": "Where the load generator ran."})
    command: list[str] = field(default_factory=list[str], metadata={"longest": None, "most": 1_000, "patched": False})


@dataclass(frozen=True, kw_only=True)
class RunFields(RunFacts):
    thresholds: list[str] = field(
        default_factory=list[str],
        metadata={
            "examples": ("p95<300ms", "error_rate<0.1%"),
            "longest": 500,
            "most": 50,
            "option": "--threshold",
            "help": 'Such as "p95<300ms"; the verdict comes from these.',
            "query": "threshold",
            "typed": True,
        },
    )
    expectations: list[str] = field(
        default_factory=list[str],
        metadata={
            "description": "As thresholds; what the team expects, shown beside what was measured.",
            "longest": None,
            "most": 20,
        },
    )
    own_figures: list[str] = field(
        default_factory=list[str],
        metadata={
            "description": "Figures of one's own: `NAME=REGEX`, `NAME=json:$.a.b`, `NAME=promql:EXPR`, or `NAME[ms]=`.",
            "examples": ("score=final score: (\\d+)", "lag=promql:max(lag_seconds)"),
            "longest": own_figures.LONGEST,
            "most": own_figures.MOST,
            "option": "--figure",
            "help": "A figure of your own: the first group of a regular expression in a line of the command's output, "
            "json:$.path in JSON of it, or promql:EXPR at the end, where $window is the run; "
            "NAME[ms]= says the unit. Several times.",
            "metavar": "NAME=WHAT",
            "query": "figure",
        },
    )


def facts_of(kind: type[RunFacts]) -> tuple[Fact, ...]:
    return tuple(Fact(name=one.name, type=one.type, make=_factory(one), **one.metadata) for one in fields(kind))


def _factory(one: Any) -> Callable[[], Any]:
    return one.default_factory


def _place(fact: Fact) -> tuple[bool, bool]:
    return fact.nullable, fact.several


FACTS = facts_of(RunFields)
OPTIONS = tuple(sorted((fact for fact in FACTS if fact.option), key=_place))
"""Those of the command line and of imports: texts, then what can be given several times, then numbers."""
FILTERS = tuple(fact for fact in FACTS if fact.facet and fact.type is str)
